//! Kinds that have a model. With the feature `fault`, there is a mistake as users make it.
use buzzer::models::{self, *};
use buzzer::{Arguments, Boxed, Modelled, Offer, Primitive, Variant, CLOSED, EMPTY, FULL};
use futures_util::future::{self, Either};
use std::cell::RefCell;
use tokio::sync;

const FAULT: bool = cfg!(feature = "fault");

type Cell<T> = RefCell<Option<T>>;

/// A value, or that the channel is closed.
fn answer<E>(result: Result<u64, E>) -> i64 {
    result.map_or(CLOSED, |value| value as i64)
}

/// rwlock!(ITS NAME HERE, ITS CRATE, ITS MODEL, how a try says yes)
macro_rules! rwlock {
    ($name:ident, $library:path, $model:ty, $is:ident) => {
        mod $name {
            use super::*;
            use $library as library;

            pub struct Lock {
                readers: RefCell<Vec<library::RwLockReadGuard<'static, ()>>>,
                writer: Cell<library::RwLockWriteGuard<'static, ()>>,
                lock: library::RwLock<()>,
            }
            impl Modelled for Lock {
                type Model = $model;
                fn new(_: i64) -> Self {
                    let lock = library::RwLock::new(());
                    Lock { readers: RefCell::default(), writer: RefCell::default(), lock }
                }
                fn call(&'static self, op: u32, _: Arguments) -> Boxed<i64> {
                    Box::pin(async move {
                        match op {
                            rwlock::READ => {
                                let reader = self.lock.read().await;
                                self.readers.borrow_mut().push(reader);
                            }
                            rwlock::WRITE => {
                                let writer = self.lock.write().await;
                                self.writer.replace(Some(writer));
                            }
                            rwlock::CONVERT => {
                                let writer = self.lock.write().await;
                                let reader = if FAULT {
                                    drop(writer);
                                    self.lock.read().await
                                } else {
                                    library::RwLockWriteGuard::downgrade(writer)
                                };
                                self.readers.borrow_mut().push(reader);
                            }
                            rwlock::END_WRITE => drop(self.writer.take()),
                            rwlock::TRY_READ => return self.lock.try_read().$is() as i64,
                            rwlock::TRY_WRITE => return self.lock.try_write().$is() as i64,
                            _ => drop(self.readers.borrow_mut().pop()),
                        }
                        0
                    })
                }
            }
        }
    };
}
rwlock!(tokio_rwlock, tokio::sync, models::rwlock::Fair, is_ok);
rwlock!(smol_rwlock, async_lock, models::rwlock::Unordered, is_some);

/// The fault: several permits are acquired one after the other.
pub struct Semaphore {
    held: [RefCell<Vec<sync::SemaphorePermit<'static>>>; 1 + weighted::WEIGHT_MAX as usize],
    semaphore: sync::Semaphore,
}
impl Semaphore {
    async fn acquire(&'static self, permits: u32) -> Result<(), sync::AcquireError> {
        let first = if FAULT { 1 } else { permits };
        let mut permit = self.semaphore.acquire_many(first).await?;
        for _ in first..permits {
            permit.merge(self.semaphore.acquire().await?);
        }
        self.held[permits as usize].borrow_mut().push(permit);
        Ok(())
    }
}
impl Modelled for Semaphore {
    type Model = weighted::Weighted;
    fn new(capacity: i64) -> Self {
        let permits = capacity + weighted::WEIGHT_MAX - 1;
        Semaphore { held: Default::default(), semaphore: sync::Semaphore::new(permits as usize) }
    }
    fn call(&'static self, op: u32, arguments: Arguments) -> Boxed<i64> {
        let permits = arguments[0] as u32;
        let held = &self.held[permits as usize];
        Box::pin(async move {
            match op {
                weighted::ACQUIRE => return self.acquire(permits).await.map_or(CLOSED, |()| 0),
                weighted::RELEASE => drop(held.borrow_mut().pop()),
                weighted::FORGET => held.borrow_mut().pop().expect("it is held").forget(),
                weighted::ADD => self.semaphore.add_permits(permits as usize),
                weighted::TRY_ACQUIRE => {
                    return match self.semaphore.try_acquire_many(permits) {
                        Ok(_) => 1,
                        Err(sync::TryAcquireError::NoPermits) => 0,
                        Err(sync::TryAcquireError::Closed) => CLOSED,
                    }
                }
                _ => self.semaphore.close(),
            }
            0
        })
    }
}

/// The fault: all are woken for one.
pub struct Notify(sync::Notify);
impl Modelled for Notify {
    type Model = notify::Notify;
    fn new(_: i64) -> Self {
        Notify(sync::Notify::new())
    }
    fn call(&'static self, op: u32, _: Arguments) -> Boxed<i64> {
        Box::pin(async move {
            match op {
                notify::WAIT => self.0.notified().await,
                notify::NOTIFY_ONE if !FAULT => self.0.notify_one(),
                _ => self.0.notify_waiters(),
            }
            0
        })
    }
}

/// oneshot!(ITS NAME HERE, ITS CRATE, what waits until it is closed, how it receives at once).
/// The fault: a receive that is cancelled drops the receiver.
macro_rules! oneshot {
    ($name:ident, $library:path, $closed:ident, $try_receive:expr) => {
        mod $name {
            use super::*;
            use $library as library;

            pub struct Oneshot {
                sender: Cell<library::Sender<u64>>,
                receiver: Cell<library::Receiver<u64>>,
            }
            impl Oneshot {
                async fn receive(&self) -> i64 {
                    let mut place = self.receiver.borrow_mut();
                    let mut taken = if FAULT { place.take() } else { None };
                    let receiver = if FAULT { &mut taken } else { &mut *place };
                    match receiver {
                        Some(receiver) => {
                            let got = answer(receiver.await);
                            *place = None;
                            got
                        }
                        None => CLOSED,
                    }
                }
                fn try_receive(&self) -> i64 {
                    let mut place = self.receiver.borrow_mut();
                    let got = place.as_mut().map_or(CLOSED, $try_receive);
                    if got != EMPTY {
                        *place = None;
                    }
                    got
                }
            }
            impl Modelled for Oneshot {
                type Model = models::oneshot::Oneshot;
                fn new(_: i64) -> Self {
                    let (sender, receiver) = library::channel();
                    Oneshot { sender: Some(sender).into(), receiver: Some(receiver).into() }
                }
                fn call(&'static self, op: u32, arguments: Arguments) -> Boxed<i64> {
                    Box::pin(async move {
                        match op {
                            oneshot::RECEIVE => return self.receive().await,
                            oneshot::TRY_RECEIVE => return self.try_receive(),
                            oneshot::CLOSE => {
                                self.receiver.borrow_mut().as_mut().map_or((), |it| it.close())
                            }
                            oneshot::WAIT_CLOSED => match &mut *self.sender.borrow_mut() {
                                Some(sender) => sender.$closed().await,
                                None => return CLOSED,
                            },
                            _ => match self.sender.take() {
                                Some(sender) if op == oneshot::SEND => {
                                    return sender.send(arguments[0] as u64).map_or(CLOSED, |()| 0)
                                }
                                Some(_) => (),
                                None => return CLOSED,
                            },
                        }
                        0
                    })
                }
            }
        }
    };
}
oneshot!(tokio_oneshot, tokio::sync::oneshot, closed, |receiver| {
    let is_empty = sync::oneshot::error::TryRecvError::Empty;
    receiver
        .try_recv()
        .map_or_else(|error| if error == is_empty { EMPTY } else { CLOSED }, |got| got as i64)
});
oneshot!(futures_oneshot, futures_channel::oneshot, cancellation, |receiver| {
    receiver.try_recv().map_or(CLOSED, |got| got.map_or(EMPTY, |got| got as i64))
});

/// The fault: what was received is lost, if it is cancelled after that.
async fn receive(receiver: &mut sync::mpsc::Receiver<u64>) -> i64 {
    let got = receiver.recv().await;
    if FAULT {
        futures_lite::future::yield_now().await;
    }
    answer(got.ok_or(()))
}

pub struct Channel {
    first: Cell<sync::mpsc::Sender<u64>>,
    senders: RefCell<Vec<sync::mpsc::Sender<u64>>>,
    permits: RefCell<Vec<sync::mpsc::OwnedPermit<u64>>>,
    receiver: RefCell<sync::mpsc::Receiver<u64>>,
}
impl Channel {
    /// Of any task, which has it for the length of its call.
    fn sender(&self) -> sync::mpsc::Sender<u64> {
        self.senders.borrow().last().expect("the task has one").clone()
    }
}
impl Modelled for Channel {
    type Model = channel::Channel;
    fn new(capacity: i64) -> Self {
        let (sender, receiver) = sync::mpsc::channel(capacity as usize);
        Channel {
            first: Some(sender).into(),
            senders: RefCell::default(),
            permits: RefCell::default(),
            receiver: receiver.into(),
        }
    }
    fn call(&'static self, op: u32, arguments: Arguments) -> Boxed<i64> {
        use sync::mpsc::error::{TryRecvError, TrySendError};
        let value = arguments[0] as u64;
        Box::pin(async move {
            match op {
                channel::RECEIVE => {
                    return receive(&mut self.receiver.borrow_mut()).await;
                }
                channel::CLONE => match &*self.first.borrow() {
                    Some(sender) => self.senders.borrow_mut().push(sender.clone()),
                    None => return CLOSED,
                },
                channel::DROP => drop(self.senders.borrow_mut().pop()),
                channel::SEND => return self.sender().send(value).await.map_or(CLOSED, |()| 0),
                channel::RESERVE => match self.sender().reserve_owned().await {
                    Ok(permit) => self.permits.borrow_mut().push(permit),
                    Err(_) => return CLOSED,
                },
                channel::SEND_RESERVED => {
                    self.permits.borrow_mut().pop().map(|permit| permit.send(value));
                }
                channel::DROP_RESERVED => drop(self.permits.borrow_mut().pop()),
                channel::WAIT_CLOSED => self.sender().closed().await,
                channel::TRY_SEND => match self.sender().try_send(value) {
                    Ok(()) => (),
                    Err(TrySendError::Full(_)) => return FULL,
                    Err(TrySendError::Closed(_)) => return CLOSED,
                },
                channel::TRY_RECEIVE => match self.receiver.borrow_mut().try_recv() {
                    Ok(got) => return got as i64,
                    Err(TryRecvError::Empty) => return EMPTY,
                    Err(TryRecvError::Disconnected) => return CLOSED,
                },
                channel::CLOSE => self.receiver.borrow_mut().close(),
                _ => drop(self.first.take()),
            }
            0
        })
    }
}

/// Those that are there, at their numbers.
struct Slots<R>([Cell<R>; Subscribers::MOST]);
impl<R> Slots<R> {
    fn new() -> Self {
        Slots([(); Subscribers::MOST].map(|()| RefCell::new(None)))
    }
    fn subscribe(&self, receiver: R) -> i64 {
        let is_free = |slot: &Cell<R>| slot.try_borrow().map_or(false, |slot| slot.is_none());
        let first = self.0.iter().position(is_free).expect("a slot is free");
        self.0[first].replace(Some(receiver));
        first as i64
    }
}

/// The fault: a subscriber that lags begins anew.
pub struct Broadcast {
    sender: Cell<sync::broadcast::Sender<u64>>,
    slots: Slots<sync::broadcast::Receiver<u64>>,
}
impl Modelled for Broadcast {
    type Model = broadcast::Broadcast;
    fn new(capacity: i64) -> Self {
        let sender = sync::broadcast::channel(capacity as usize).0;
        Broadcast { sender: Some(sender).into(), slots: Slots::new() }
    }
    fn call(&'static self, op: u32, arguments: Arguments) -> Boxed<i64> {
        use sync::broadcast::error::{RecvError, TryRecvError};
        Box::pin(async move {
            match op {
                broadcast::SUBSCRIBE => match &*self.sender.borrow() {
                    Some(sender) => return self.slots.subscribe(sender.subscribe()),
                    None => return CLOSED,
                },
                broadcast::SEND => match &*self.sender.borrow() {
                    Some(sender) => {
                        let sent = sender.send(arguments[0] as u64);
                        return answer(sent.map(|count| count as u64));
                    }
                    None => return CLOSED,
                },
                broadcast::DROP_SENDER => drop(self.sender.take()),
                _ => {
                    let mut slot = self.slots.0[arguments[0] as usize].borrow_mut();
                    let receiver = slot.as_mut().expect("it has subscribed");
                    match op {
                        broadcast::UNSUBSCRIBE => *slot = None,
                        broadcast::RECEIVE => match receiver.recv().await {
                            Ok(got) => return got as i64,
                            Err(RecvError::Closed) => return CLOSED,
                            Err(RecvError::Lagged(count)) => {
                                if FAULT {
                                    *receiver = receiver.resubscribe();
                                }
                                return broadcast::LAG + count as i64;
                            }
                        },
                        _ => match receiver.try_recv() {
                            Ok(got) => return got as i64,
                            Err(TryRecvError::Empty) => return EMPTY,
                            Err(TryRecvError::Closed) => return CLOSED,
                            Err(TryRecvError::Lagged(count)) => {
                                return broadcast::LAG + count as i64
                            }
                        },
                    }
                }
            }
            0
        })
    }
}

/// The fault: a copy of the receiver waits.
pub struct Watch {
    sender: Cell<sync::watch::Sender<u64>>,
    slots: Slots<sync::watch::Receiver<u64>>,
}
impl Modelled for Watch {
    type Model = watch::Watch;
    fn new(_: i64) -> Self {
        let sender = sync::watch::channel(0).0;
        Watch { sender: Some(sender).into(), slots: Slots::new() }
    }
    fn call(&'static self, op: u32, arguments: Arguments) -> Boxed<i64> {
        Box::pin(async move {
            match op {
                watch::UNSUBSCRIBE => {
                    self.slots.0[arguments[0] as usize].take();
                }
                watch::CHANGED => {
                    let mut slot = self.slots.0[arguments[0] as usize].borrow_mut();
                    let receiver = slot.as_mut().expect("it has subscribed");
                    let mut copy = FAULT.then(|| receiver.clone());
                    let receiver = copy.as_mut().unwrap_or(receiver);
                    let changed = receiver.changed().await;
                    return answer(changed.map(|()| *receiver.borrow()));
                }
                watch::DROP_SENDER => drop(self.sender.take()),
                _ => match &*self.sender.borrow() {
                    Some(sender) if op == watch::SUBSCRIBE => {
                        return self.slots.subscribe(sender.subscribe())
                    }
                    Some(sender) if op == watch::WAIT_CLOSED => sender.closed().await,
                    Some(sender) => return sender.send(arguments[0] as u64).map_or(CLOSED, |()| 0),
                    None => return CLOSED,
                },
            }
            0
        })
    }
}

/// The fault: the loser of the race has received.
pub struct Select {
    senders: [sync::mpsc::Sender<u64>; select::PORTS],
    receivers: RefCell<[sync::mpsc::Receiver<u64>; select::PORTS]>,
}
impl Modelled for Select {
    type Model = select::Select;
    fn new(capacity: i64) -> Self {
        let ports = [(); select::PORTS].map(|()| sync::mpsc::channel(capacity as usize));
        let [(sender, receiver), (other_sender, other)] = ports;
        Select { senders: [sender, other_sender], receivers: [receiver, other].into() }
    }
    fn call(&'static self, op: u32, arguments: Arguments) -> Boxed<i64> {
        Box::pin(async move {
            if op == select::PUT {
                let sender = &self.senders[arguments[1] as usize];
                return sender.try_send(arguments[0] as u64).map_or(FULL, |()| 0);
            }
            let [first, second] = &mut *self.receivers.borrow_mut();
            let (Either::Left((got, _)) | Either::Right((got, _))) =
                future::select(Box::pin(receive(first)), Box::pin(receive(second))).await;
            got
        })
    }
}

/// variants!(NAME: TYPE, text; ...)
macro_rules! variants {
    ($($name:ident: $type:ty, $text:literal;)+) => {$(
        pub static $name: Variant =
            Variant::new(concat!($text, "\0"), concat!($text, ", by its model\0"), 0)
                .modelled::<$type>()
                .offers(Primitive::Modelled, Offer { least: 1, ..Offer::ANY });
    )+};
}
variants! {
    RWLOCK: tokio_rwlock::Lock, "tokio/rwlock-readers";
    SMOL_RWLOCK: smol_rwlock::Lock, "async-lock/rwlock-readers";
    SEMAPHORE: Semaphore, "tokio/acquire-many";
    NOTIFY: Notify, "tokio/notify-one";
    ONESHOT: tokio_oneshot::Oneshot, "tokio/oneshot";
    FUTURES_ONESHOT: futures_oneshot::Oneshot, "futures/oneshot";
    CHANNEL: Channel, "tokio/mpsc-senders";
    BROADCAST: Broadcast, "tokio/broadcast";
    WATCH: Watch, "tokio/watch";
    SELECT: Select, "tokio/select";
}
