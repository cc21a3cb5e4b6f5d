//! Puts Rust's futures into Buzzer's cage: a primitive becomes a plug-in, `buzzer ... --plugin
//! libmine.so`. It needs no other crate. The functions below are those of the program that loads the
//! plug-in; `sim/variant/poll.h` says what a wake-up, a poll and a drop are there.
//!
//! Memory comes from the loop's arena, by the global allocator, so that a search can go back to
//! snapshots. Time is the loop's; each look at the clock takes another millisecond, so that code
//! that gives up patience after some time does so.
#![allow(clippy::missing_safety_doc)]

mod arena;
pub mod model;
pub mod models;
pub mod variant;

use arena::{inside, Place};
use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

pub use model::*;
pub use variant::*;

/// `enum bz_status`.
type Status = u32;

/// The thing that an operation waits for.
pub type Boxed<T> = Pin<Box<dyn Future<Output = T>>>;

/// `struct bz_loop`.
#[repr(C)]
pub struct Loop([u8; 0]);

type Callback = unsafe extern "C" fn(*mut ());

extern "C" {
    #[cfg_attr(feature = "spurious", link_name = "bz_poll_wait_spuriously")]
    fn bz_poll_wait(
        on: *mut Loop,
        future: *mut (),
        poll: unsafe extern "C" fn(*mut (), *const ()) -> bool,
        drop: Callback,
    ) -> Status;
    fn bz_waker_clone(waker: *const ()) -> *const ();
    fn bz_waker_drop(waker: *const ());
    fn bz_waker_wake(waker: *const ());
}

static WAKER: RawWakerVTable = RawWakerVTable::new(
    |waker| unsafe { RawWaker::new(bz_waker_clone(waker), &WAKER) },
    |waker| unsafe {
        bz_waker_wake(waker);
        bz_waker_drop(waker);
    },
    |waker| unsafe { bz_waker_wake(waker) },
    |waker| unsafe { bz_waker_drop(waker) },
);

struct Waiting<T> {
    place: *mut Place,
    future: Option<Boxed<T>>,
    output: Option<T>,
}

unsafe extern "C" fn poll<T>(waiting: *mut (), waker: *const ()) -> bool {
    let waiting = &mut *waiting.cast::<Waiting<T>>();
    inside(waiting.place, || {
        let waker = ManuallyDrop::new(Waker::from_raw(RawWaker::new(waker, &WAKER)));
        let future = waiting.future.as_mut().expect("it is polled after its end");
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            waiting.output = Some(output);
            waiting.future = None;
        }
        waiting.output.is_some()
    })
}

unsafe extern "C" fn drop_future<T>(waiting: *mut ()) {
    let waiting = &mut *waiting.cast::<Waiting<T>>();
    inside(waiting.place, || waiting.future = None);
}

/// Suspends the running task until the future is ready. If the task is cancelled, the future is
/// dropped, and what the operation then returns is the error.
unsafe fn wait<T>(place: *mut Place, future: Boxed<T>) -> Result<T, Status> {
    let mut waiting = Waiting { place, future: Some(future), output: None };
    let pointer: *mut Waiting<T> = &mut waiting;
    let status = bz_poll_wait((*place).on, pointer.cast(), poll::<T>, drop_future::<T>);
    waiting.output.ok_or(status)
}
