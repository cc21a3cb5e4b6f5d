//! Crates that people use, from Debian's packages, unchanged. A variant claims what its library promises.
mod kinds;

use buzzer::{Barrier, Boxed, Event, Permits, Queue, Variant, FIFO, NO_BOUND, WAKE_IS_GRANT};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// permits!(ITS NAME HERE, ITS TYPE, ITS GUARD, permits => a new one, it => its acquire)
macro_rules! permits {
    ($name:ident, $type:ty, $guard:ty, $permits:ident => $new:expr, $it:ident => $acquire:expr) => {
        struct $name($type);
        impl Permits for $name {
            type Guard = $guard;
            fn new($permits: usize) -> Self {
                $name($new)
            }
            fn acquire(&'static self) -> Boxed<Self::Guard> {
                let $it = &self.0;
                Box::pin($acquire)
            }
        }
    };
}

// --- tokio: "This Semaphore is fair", "a queue to ensure fairness"; a permit is the waiter's before
// it is woken

permits!(TokioSemaphore, tokio::sync::Semaphore, tokio::sync::SemaphorePermit<'static>,
    permits => tokio::sync::Semaphore::new(permits),
    it => async move { it.acquire().await.expect("it is never closed") });
permits!(TokioMutex, tokio::sync::Mutex<()>, tokio::sync::MutexGuard<'static, ()>,
    _permits => tokio::sync::Mutex::new(()), it => it.lock());
permits!(TokioWriter, tokio::sync::RwLock<()>, tokio::sync::RwLockWriteGuard<'static, ()>,
    _permits => tokio::sync::RwLock::new(()), it => it.write());

static TOKIO: Variant =
    Variant::new("tokio\0", "tokio's Semaphore and Mutex\0", FIFO | WAKE_IS_GRANT)
        .semaphore::<TokioSemaphore>()
        .lock::<TokioMutex>();
static TOKIO_RWLOCK: Variant =
    Variant::new("tokio/rwlock\0", "tokio's RwLock, for writers\0", FIFO | WAKE_IS_GRANT)
        .lock::<TokioWriter>();

struct TokioBarrier(tokio::sync::Barrier);
impl Barrier for TokioBarrier {
    fn new(parties: usize) -> Self {
        TokioBarrier(tokio::sync::Barrier::new(parties))
    }
    fn wait(&'static self) -> Boxed<()> {
        Box::pin(async move { drop(self.0.wait().await) })
    }
}
static TOKIO_BARRIER: Variant =
    Variant::new("tokio/barrier\0", "tokio's Barrier\0", 0).barrier::<TokioBarrier>();

/// The use of `Notify` that its documentation shows: the flag is looked at after `notified()`.
struct TokioNotify(tokio::sync::Notify, AtomicBool);
impl Event for TokioNotify {
    fn new() -> Self {
        TokioNotify(tokio::sync::Notify::new(), AtomicBool::new(false))
    }
    fn set(&self) {
        self.1.store(true, SeqCst);
        self.0.notify_waiters();
    }
    fn clear(&self) {
        self.1.store(false, SeqCst);
    }
    fn is_set(&self) -> bool {
        self.1.load(SeqCst)
    }
    fn wait(&'static self) -> Boxed<()> {
        Box::pin(async move {
            let notified = self.0.notified();
            if !self.is_set() {
                notified.await;
            }
        })
    }
}
static TOKIO_NOTIFY: Variant =
    Variant::new("tokio/notify\0", "tokio's Notify with a flag\0", 0).event::<TokioNotify>();

/// `mpsc`, whose only receiver is behind a Mutex, as its documentation says.
struct TokioChannel {
    sender: tokio::sync::mpsc::Sender<u64>,
    receiver: tokio::sync::Mutex<tokio::sync::mpsc::Receiver<u64>>,
}
impl Queue for TokioChannel {
    fn new(capacity: usize) -> Self {
        let (sender, receiver) = tokio::sync::mpsc::channel(capacity);
        TokioChannel { sender, receiver: tokio::sync::Mutex::new(receiver) }
    }
    fn put(&'static self, item: u64) -> Boxed<()> {
        Box::pin(async move { self.sender.send(item).await.expect("it is never closed") })
    }
    fn get(&'static self) -> Boxed<u64> {
        Box::pin(async move { self.receiver.lock().await.recv().await.expect("nor the sender") })
    }
    fn try_put(&self, item: u64) -> bool {
        self.sender.try_send(item).is_ok()
    }
    fn try_get(&self) -> Option<u64> {
        self.receiver.try_lock().ok()?.try_recv().ok()
    }
    fn size(&self) -> usize {
        self.sender.max_capacity() - self.sender.capacity()
    }
}
static TOKIO_MPSC: Variant =
    Variant::new("tokio/mpsc\0", "tokio's bounded channel\0", 0).queue::<TokioChannel>();

// --- async-lock: promises no order; a woken waiter tries again

permits!(SmolSemaphore, async_lock::Semaphore, async_lock::SemaphoreGuard<'static>,
    permits => async_lock::Semaphore::new(permits), it => it.acquire());
permits!(SmolMutex, async_lock::Mutex<()>, async_lock::MutexGuard<'static, ()>,
    _permits => async_lock::Mutex::new(()), it => it.lock());
permits!(SmolWriter, async_lock::RwLock<()>, async_lock::RwLockWriteGuard<'static, ()>,
    _permits => async_lock::RwLock::new(()), it => it.write());

static SMOL: Variant = Variant::new("async-lock\0", "async-lock's Semaphore and Mutex\0", 0)
    .semaphore::<SmolSemaphore>()
    .lock::<SmolMutex>();
static SMOL_RWLOCK: Variant =
    Variant::new("async-lock/rwlock\0", "async-lock's RwLock, for writers\0", 0)
        .lock::<SmolWriter>();

struct SmolChannel(async_channel::Sender<u64>, async_channel::Receiver<u64>);
impl Queue for SmolChannel {
    fn new(capacity: usize) -> Self {
        let (sender, receiver) = match capacity {
            NO_BOUND => async_channel::unbounded(),
            _ => async_channel::bounded(capacity),
        };
        SmolChannel(sender, receiver)
    }
    fn put(&'static self, item: u64) -> Boxed<()> {
        Box::pin(async move { self.0.send(item).await.expect("it is never closed") })
    }
    fn get(&'static self) -> Boxed<u64> {
        Box::pin(async move { self.1.recv().await.expect("nor here") })
    }
    fn try_put(&self, item: u64) -> bool {
        self.0.try_send(item).is_ok()
    }
    fn try_get(&self) -> Option<u64> {
        self.1.try_recv().ok()
    }
    fn size(&self) -> usize {
        self.1.len()
    }
}
static CHANNEL: Variant =
    Variant::new("async-channel\0", "async-channel's channels\0", 0).queue::<SmolChannel>();

struct SmolBarrier(async_lock::Barrier);
impl Barrier for SmolBarrier {
    fn new(parties: usize) -> Self {
        SmolBarrier(async_lock::Barrier::new(parties))
    }
    fn wait(&'static self) -> Boxed<()> {
        Box::pin(async move { drop(self.0.wait().await) })
    }
}
static SMOL_BARRIER: Variant =
    Variant::new("async-lock/barrier\0", "async-lock's Barrier\0", 0).barrier::<SmolBarrier>();

/// The example of event-listener's documentation.
struct Listener(event_listener::Event, AtomicBool);
impl Event for Listener {
    fn new() -> Self {
        Listener(event_listener::Event::new(), AtomicBool::new(false))
    }
    fn set(&self) {
        self.1.store(true, SeqCst);
        self.0.notify(usize::MAX);
    }
    fn clear(&self) {
        self.1.store(false, SeqCst);
    }
    fn is_set(&self) -> bool {
        self.1.load(SeqCst)
    }
    fn wait(&'static self) -> Boxed<()> {
        Box::pin(async move {
            while !self.is_set() {
                let listener = self.0.listen();
                if !self.is_set() {
                    listener.await;
                }
            }
        })
    }
}
static LISTENER: Variant =
    Variant::new("event-listener\0", "event-listener's Event with a flag\0", 0).event::<Listener>();

// --- futures: promises no order

permits!(FuturesMutex, futures_util::lock::Mutex<()>, futures_util::lock::MutexGuard<'static, ()>,
    _permits => futures_util::lock::Mutex::new(()), it => it.lock());

static FUTURES: Variant =
    Variant::new("futures\0", "the Mutex of futures\0", 0).lock::<FuturesMutex>();

buzzer::plugin!(
    TOKIO,
    TOKIO_RWLOCK,
    TOKIO_BARRIER,
    TOKIO_NOTIFY,
    TOKIO_MPSC,
    SMOL,
    SMOL_RWLOCK,
    SMOL_BARRIER,
    CHANNEL,
    LISTENER,
    FUTURES,
    kinds::RWLOCK,
    kinds::SMOL_RWLOCK,
    kinds::SEMAPHORE,
    kinds::NOTIFY,
    kinds::ONESHOT,
    kinds::FUTURES_ONESHOT,
    kinds::CHANNEL,
    kinds::BROADCAST,
    kinds::WATCH,
    kinds::SELECT,
);
