//! Memory and time of the loop that runs.
use crate::Loop;
use std::alloc::{GlobalAlloc, Layout};
use std::any::Any;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::null_mut;

extern "C" {
    fn bz_child_panic(text: *const u8) -> !;
    fn bz_loop_mem(on: *mut Loop) -> *mut ();
    fn bz_loop_now_ns(on: *const Loop) -> u64;
    fn bz_mem_alloc_raw(mem: *mut (), size: usize) -> *mut u8;
    fn bz_mem_free(mem: *mut (), block: *mut u8, size: usize);
    fn mmap(at: *mut u8, size: usize, access: i32, flags: i32, file: i32, start: i64) -> *mut u8;
}

/// The loop of an object, and how often code of its has looked at the clock.
pub struct Place {
    pub on: *mut Loop,
    pub looks: u64,
}

/// Of the object that is at work. None between steps, so that nothing but the arena has state.
static mut PLACE: *mut Place = null_mut();

/// The finding of a panic, which no caller catches: none is Rust.
fn end(panic: Box<dyn Any + Send>) -> ! {
    let text = match panic.downcast_ref::<&str>() {
        Some(text) => text,
        None => panic.downcast_ref::<String>().map_or("no text", String::as_str),
    };
    let mut line = [0; 200];
    let length = text.len().min(line.len() - 1);
    line[..length].copy_from_slice(&text.as_bytes()[..length]);
    unsafe { bz_child_panic(line.as_ptr()) }
}

/// Does what the program calls: the object is at work meanwhile. A panic is the finding `crash`,
/// with its text.
pub unsafe fn inside<O>(place: *mut Place, work: impl FnOnce() -> O) -> O {
    let before = PLACE; // null, unless a model is asked in the middle
    PLACE = place;
    let output = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| end(panic));
    PLACE = before;
    output
}

struct Arena;

#[global_allocator]
static ARENA: Arena = Arena;

const ALIGNMENT: usize = 16; // of a block of the arena

/// Bytes of the block, and those in front of a more aligned one, which hold their number.
unsafe fn padded(layout: Layout) -> usize {
    layout.size() + if layout.align() > ALIGNMENT { layout.align() } else { 0 }
}

unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if PLACE.is_null() {
            return mmap(null_mut(), layout.size(), 3, 0x22, -1, 0); // a panic in a model: its text
        }
        let block = bz_mem_alloc_raw(bz_loop_mem((*PLACE).on), padded(layout));
        if block.is_null() || layout.align() <= ALIGNMENT {
            return block;
        }
        let gap = layout.align() - block as usize % layout.align(); // 16 or more
        let aligned = block.add(gap);
        aligned.cast::<usize>().sub(1).write(gap);
        aligned
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if PLACE.is_null() {
            return;
        }
        let gap = if layout.align() > ALIGNMENT { block.cast::<usize>().sub(1).read() } else { 0 };
        bz_mem_free(bz_loop_mem((*PLACE).on), block.sub(gap), padded(layout));
    }
}

#[repr(C)]
pub struct Timespec {
    seconds: i64, // time_t of a 64-bit process
    nanoseconds: i64,
}

/// Instead of the C library's, for `std::time::Instant`, and for this plug-in alone.
#[no_mangle]
pub unsafe extern "C" fn clock_gettime(_clock: i32, time: *mut Timespec) -> i32 {
    let mut now = 0;
    if !PLACE.is_null() {
        (*PLACE).looks += 1;
        now = bz_loop_now_ns((*PLACE).on) + 1_000_000 * (*PLACE).looks;
    }
    (*time).seconds = (now / 1_000_000_000) as i64;
    (*time).nanoseconds = (now % 1_000_000_000) as i64;
    0
}
std::arch::global_asm!(".hidden clock_gettime");
