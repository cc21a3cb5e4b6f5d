//! The tables of `sim/variant/variant.h`, for primitives of Rust.
use crate::arena::{inside, Place};
use crate::model::{Modelled, ModelledOps};
use crate::{wait, Boxed, Loop, Status};
use std::cell::Cell;
use std::mem::{align_of, size_of};
use std::ptr::null;

/// The claims of a variant, `BZ_CLAIM_...`: an oracle judges only what was claimed.
pub type Claims = u32;
pub const FIFO: Claims = 0x1;
pub const WAKE_IS_GRANT: Claims = 0x8;
pub const SINGLE_CONSUMER: Claims = 0x10000;
pub const SINGLE_PRODUCER: Claims = 0x20000;

pub(crate) const OK: Status = 0;
const NOT_HELD: Status = 4;
const INVALID_ARGUMENT: Status = 6;
const EMPTY: Status = 10;
const FULL: Status = 11;

/// The text as C reads it.
pub(crate) const fn text(text: &'static str) -> *const u8 {
    assert!(text.as_bytes()[text.len() - 1] == 0, "the text does not end with \\0");
    text.as_ptr()
}

/// A lock, or a semaphore. Objects stay where they are: `&'static` is for as long as their run.
pub trait Permits: Sized + 'static {
    /// Its drop is the release.
    type Guard;
    fn new(permits: usize) -> Self;
    fn acquire(&'static self) -> Boxed<Self::Guard>;
}

/// A flag that tasks wait for.
pub trait Event: Sized + 'static {
    fn new() -> Self;
    fn set(&self);
    fn clear(&self);
    fn is_set(&self) -> bool;
    fn wait(&'static self) -> Boxed<()>;
}

pub trait Barrier: Sized + 'static {
    fn new(parties: usize) -> Self;
    fn wait(&'static self) -> Boxed<()>;
}

/// The capacity of a channel that has no bound.
pub const NO_BOUND: usize = usize::MAX >> 3;
/// The bound of a queue that keeps no item, if the variant offers it (`OFFERS_RENDEZVOUS`).
pub const RENDEZVOUS: usize = u32::MAX as usize;

/// A channel, the oldest item first.
pub trait Queue: Sized + 'static {
    fn new(capacity: usize) -> Self;
    fn put(&'static self, item: u64) -> Boxed<()>;
    fn get(&'static self) -> Boxed<u64>;
    fn try_put(&self, item: u64) -> bool;
    fn try_get(&self) -> Option<u64>;
    fn size(&self) -> usize;
}

/// An object in the memory that `init` receives.
pub(crate) struct Object<T, G = ()> {
    guards: Vec<G>, // of the holders of permits; any one is released
    it: T,
    place: Place,
}

impl<T: 'static, G> Object<T, G> {
    const IS_ALIGNED: () = assert!(align_of::<Self>() <= 16);

    pub unsafe fn init(this: *mut Self, on: *mut Loop, new: impl FnOnce() -> T) -> Status {
        let () = Self::IS_ALIGNED;
        let mut place = Place { on, looks: 0 };
        let it = inside(&mut place, new);
        this.write(Object { guards: Vec::new(), it, place });
        OK
    }

    unsafe extern "C" fn fini(this: *mut Self) {
        let mut place = Place { on: (*this).place.on, looks: 0 };
        inside(&mut place, || this.drop_in_place());
    }

    unsafe fn call<O>(this: *mut Self, function: impl FnOnce(&'static T) -> O) -> O {
        inside(&mut (*this).place, || function(&(*this).it))
    }

    pub unsafe fn wait<O>(
        this: *mut Self,
        future: impl FnOnce(&'static T) -> Boxed<O>,
        then: impl FnOnce(O),
    ) -> Status {
        let future = Self::call(this, future);
        match wait(&mut (*this).place, future) {
            Ok(output) => {
                Self::call(this, |_| then(output));
                OK
            }
            Err(status) => status,
        }
    }
}

/// `struct bz_permit_ops`.
#[repr(C)]
struct PermitOps<T: Permits> {
    bytes: usize,
    init: unsafe extern "C" fn(*mut Object<T, T::Guard>, *mut Loop, u32) -> Status,
    fini: unsafe extern "C" fn(*mut Object<T, T::Guard>),
    acquire: unsafe extern "C" fn(*mut Object<T, T::Guard>) -> Status,
    release: unsafe extern "C" fn(*mut Object<T, T::Guard>) -> Status,
    locked: usize,
    view: usize,
}

impl<T: Permits> PermitOps<T> {
    const TABLE: Self = PermitOps {
        bytes: size_of::<Object<T, T::Guard>>(),
        init: Self::init,
        fini: Object::fini,
        acquire: Self::acquire,
        release: Self::release,
        locked: 0,
        view: 0,
    };

    unsafe extern "C" fn init(this: *mut Object<T, T::Guard>, on: *mut Loop, count: u32) -> Status {
        Object::init(this, on, || T::new(count as usize))
    }

    unsafe extern "C" fn acquire(this: *mut Object<T, T::Guard>) -> Status {
        Object::wait(this, T::acquire, |guard| (*this).guards.push(guard))
    }

    unsafe extern "C" fn release(this: *mut Object<T, T::Guard>) -> Status {
        Object::call(this, |_| (*this).guards.pop().map_or(NOT_HELD, |_guard| OK))
    }
}

/// `struct bz_event_ops`.
#[repr(C)]
struct EventOps<T: Event> {
    bytes: usize,
    init: unsafe extern "C" fn(*mut Object<T>, *mut Loop) -> Status,
    set: unsafe extern "C" fn(*mut Object<T>),
    clear: unsafe extern "C" fn(*mut Object<T>),
    is_set: unsafe extern "C" fn(*mut Object<T>) -> bool,
    wait: unsafe extern "C" fn(*mut Object<T>) -> Status,
    queued: usize,
}

impl<T: Event> EventOps<T> {
    const TABLE: Self = EventOps {
        bytes: size_of::<Object<T>>(),
        init: Self::init,
        set: Self::set,
        clear: Self::clear,
        is_set: Self::is_set,
        wait: Self::wait,
        queued: 0,
    };

    unsafe extern "C" fn init(this: *mut Object<T>, on: *mut Loop) -> Status {
        Object::init(this, on, T::new)
    }

    unsafe extern "C" fn set(this: *mut Object<T>) {
        Object::call(this, T::set)
    }

    unsafe extern "C" fn clear(this: *mut Object<T>) {
        Object::call(this, T::clear)
    }

    unsafe extern "C" fn is_set(this: *mut Object<T>) -> bool {
        Object::call(this, T::is_set)
    }

    unsafe extern "C" fn wait(this: *mut Object<T>) -> Status {
        Object::wait(this, T::wait, drop)
    }
}

/// Barriers of Rust give no numbers, so guests are counted when they come.
struct Round<T> {
    it: T,
    parties: u32,
    arrived: Cell<u32>,
}

/// `struct bz_barrier_ops`.
#[repr(C)]
struct BarrierOps<T: Barrier> {
    bytes: usize,
    init: unsafe extern "C" fn(*mut Object<Round<T>>, *mut Loop, u32) -> Status,
    wait: unsafe extern "C" fn(*mut Object<Round<T>>, *mut u32) -> Status,
    others: [usize; 3], // abort, reset, queued
}

impl<T: Barrier> BarrierOps<T> {
    const TABLE: Self = BarrierOps {
        bytes: size_of::<Object<Round<T>>>(),
        init: Self::init,
        wait: Self::wait,
        others: [0; 3],
    };

    unsafe extern "C" fn init(this: *mut Object<Round<T>>, on: *mut Loop, parties: u32) -> Status {
        let new = || Round { it: T::new(parties as usize), parties, arrived: Cell::new(0) };
        Object::init(this, on, new)
    }

    unsafe extern "C" fn wait(this: *mut Object<Round<T>>, index: *mut u32) -> Status {
        let round: *const Round<T> = &(*this).it;
        let arrived = (*round).arrived.get();
        (*round).arrived.set((arrived + 1) % (*round).parties);
        Object::wait(this, |round| round.it.wait(), |()| *index = arrived)
    }
}

/// `struct bz_queue_ops`.
#[repr(C)]
struct QueueOps<T: Queue> {
    bytes: usize,
    init: unsafe extern "C" fn(*mut Object<T>, *mut Loop, u32, u32) -> Status,
    put: unsafe extern "C" fn(*mut Object<T>, u64, i64) -> Status,
    get: unsafe extern "C" fn(*mut Object<T>, *mut u64) -> Status,
    try_put: unsafe extern "C" fn(*mut Object<T>, u64, i64) -> Status,
    try_get: unsafe extern "C" fn(*mut Object<T>, *mut u64) -> Status,
    others: [usize; 3], // task_done, join, shutdown
    size: unsafe extern "C" fn(*mut Object<T>) -> u64,
    queued: usize,
}

impl<T: Queue> QueueOps<T> {
    const TABLE: Self = QueueOps {
        bytes: size_of::<Object<T>>(),
        init: Self::init,
        put: Self::put,
        get: Self::get,
        try_put: Self::try_put,
        try_get: Self::try_get,
        others: [0; 3],
        size: Self::size,
        queued: 0,
    };

    unsafe extern "C" fn init(
        this: *mut Object<T>,
        on: *mut Loop,
        order: u32,
        size: u32,
    ) -> Status {
        if order != 0 {
            return INVALID_ARGUMENT;
        }
        Object::init(this, on, || T::new(if size > 0 { size as usize } else { NO_BOUND }))
    }

    unsafe extern "C" fn put(this: *mut Object<T>, item: u64, _priority: i64) -> Status {
        Object::wait(this, |it| it.put(item), drop)
    }

    unsafe extern "C" fn get(this: *mut Object<T>, item: *mut u64) -> Status {
        Object::wait(this, T::get, |got| *item = got)
    }

    unsafe extern "C" fn try_put(this: *mut Object<T>, item: u64, _priority: i64) -> Status {
        Object::call(this, |it| if it.try_put(item) { OK } else { FULL })
    }

    unsafe extern "C" fn try_get(this: *mut Object<T>, item: *mut u64) -> Status {
        Object::call(this, |it| {
            it.try_get().map_or(EMPTY, |got| {
                *item = got;
                OK
            })
        })
    }

    unsafe extern "C" fn size(this: *mut Object<T>) -> u64 {
        Object::call(this, T::size) as u64
    }
}

/// `struct bz_offer`: the sizes that an init offers. All zero: any.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Offer {
    pub least: u32,
    /// 0: no limit.
    pub most: u32,
    /// Of a queue: `OFFERS_BOUND`, `OFFERS_NO_BOUND`, or both; 0: both, or a bound if there is a `most`.
    pub bounds: u32,
    /// Of a queue.
    pub orders: u32,
}

pub const OFFERS_BOUND: u32 = 1;
pub const OFFERS_NO_BOUND: u32 = 2;
pub const OFFERS_RENDEZVOUS: u32 = 4;

impl Offer {
    pub const ANY: Offer = Offer { least: 0, most: 0, bounds: 0, orders: 0 };
}

/// Of `enum bz_primitive`, those that have sizes.
#[repr(usize)]
pub enum Primitive {
    Semaphore = 1,
    Barrier = 5,
    Queue = 6,
    /// Its capacity.
    Modelled = 10,
}

/// `struct bz_variant`.
#[repr(C)]
pub struct Variant {
    version: u32,
    claims: Claims,
    name: *const u8,
    summary: *const u8,
    permits: [*const (); 3], // semaphore, bounded semaphore, lock
    event: *const (),
    condition: *const (),
    barrier: *const (),
    queue: *const (),
    others: [*const (); 3], // pool, deferred, scope
    modelled: *const (),
    fault: *const (),
    waives: [u32; 12],
    declared: *const (),
    rules: *const (),
    waiters_max: u32,
    offers: [Offer; 12],
    resource_pool: *const (),
}

unsafe impl Sync for Variant {}

const VERSION: u32 = 11; // BZ_VARIANT_VERSION
const RULES_THAT_KEEP: &[u8; 8] = &[0, 0, 0, 0, 0, 0, 1, 0]; // struct bz_rules: `woken`

impl Variant {
    /// `name` and `summary` end with `\0`.
    pub const fn new(name: &'static str, summary: &'static str, claims: Claims) -> Self {
        Variant {
            version: VERSION,
            claims,
            name: text(name),
            summary: text(summary),
            permits: [null(); 3],
            event: null(),
            condition: null(),
            barrier: null(),
            queue: null(),
            others: [null(); 3],
            modelled: null(),
            fault: null(),
            waives: [0; 12],
            declared: null(),
            rules: null(),
            waiters_max: 0,
            offers: [Offer::ANY; 12],
            resource_pool: null(),
        }
    }

    /// At most so many tasks wait in an object at the same time.
    pub const fn waiters_max(mut self, count: u32) -> Self {
        self.waiters_max = count;
        self
    }

    /// A task that is cancelled after its waker was called polls its future all the same, and its next wait is
    /// cancelled: `BZ_WOKEN_KEEPS_RESULT` of `primitives/runtime/rules.h`.
    pub const fn keeps_result(mut self) -> Self {
        self.rules = RULES_THAT_KEEP.as_ptr() as *const ();
        self
    }

    /// Only these sizes of the primitive.
    pub const fn offers(mut self, primitive: Primitive, offer: Offer) -> Self {
        self.offers[primitive as usize] = offer;
        self
    }

    /// A release needs a guard, so it is never released too often.
    pub const fn semaphore<T: Permits>(mut self) -> Self {
        self.permits[1] = &PermitOps::<T>::TABLE as *const _ as *const ();
        self
    }

    pub const fn lock<T: Permits>(mut self) -> Self {
        self.permits[2] = &PermitOps::<T>::TABLE as *const _ as *const ();
        self
    }

    pub const fn event<T: Event>(mut self) -> Self {
        self.event = &EventOps::<T>::TABLE as *const _ as *const ();
        self
    }

    pub const fn barrier<T: Barrier>(mut self) -> Self {
        self.barrier = &BarrierOps::<T>::TABLE as *const _ as *const ();
        self
    }

    pub const fn queue<T: Queue>(mut self) -> Self {
        self.queue = &QueueOps::<T>::TABLE as *const _ as *const ();
        self
    }

    pub const fn modelled<T: Modelled>(mut self) -> Self {
        self.modelled = &ModelledOps::<T>::TABLE as *const _ as *const ();
        self
    }
}

/// `struct bz_plugin`. A program whose structures have other sizes refuses the plug-in.
#[repr(C)]
pub struct Plugin {
    version: u32,
    variant_bytes: u32,
    future_bytes: u32,
    timer_bytes: u32,
    variants: *const Option<&'static Variant>,
}

unsafe impl Sync for Plugin {}

impl Plugin {
    pub const fn new(variants: &'static [Option<&'static Variant>]) -> Self {
        assert!(variants[variants.len() - 1].is_none());
        Plugin {
            version: VERSION,
            variant_bytes: size_of::<Variant>() as u32,
            future_bytes: 48, // struct bz_future and struct bz_timer of a 64-bit process
            timer_bytes: 64,
            variants: variants.as_ptr(),
        }
    }
}

/// Defines the table that a plug-in exports. For use once in a plug-in.
#[macro_export]
macro_rules! plugin {
    ($($variant:expr),+ $(,)?) => {
        #[no_mangle]
        #[allow(non_upper_case_globals)]
        pub static bz_plugin: $crate::variant::Plugin =
            $crate::variant::Plugin::new(&[$(Some(&$variant)),+, None]);
    };
}
