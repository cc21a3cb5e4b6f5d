//! The faults of ../../../../../scenarios/FINDINGS.md, without Buzzer: futures are polled by hand.
use futures_util::task::{noop_waker, ArcWake};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::Arc;
use std::task::{Context, Poll};

struct Woken(AtomicUsize);

impl ArcWake for Woken {
    fn wake_by_ref(this: &Arc<Self>) {
        this.0.fetch_add(1, SeqCst);
    }
}

fn poll<F: Future>(future: &mut Pin<Box<F>>) -> Poll<F::Output> {
    future.as_mut().poll(&mut Context::from_waker(&noop_waker()))
}

/// How many of two waiters are woken when both permits come back, one after the other.
fn woken_by_two_permits() -> usize {
    let woken = Arc::new(Woken(AtomicUsize::new(0)));
    let waker = futures_util::task::waker(woken.clone());
    let semaphore = async_lock::Semaphore::new(2);
    let held = (semaphore.try_acquire(), semaphore.try_acquire());
    let mut waiters = [Box::pin(semaphore.acquire()), Box::pin(semaphore.acquire())];
    for waiter in &mut waiters {
        assert!(waiter.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    }
    drop(held);
    woken.0.load(SeqCst)
}

/// How often a waiter is polled in vain, once after each of a thousand releases, while another task
/// releases and acquires again without a pause.
fn overtaken<G, F: Future<Output = G>>(acquire: impl Fn() -> F) -> usize {
    let mut held = match poll(&mut Box::pin(acquire())) {
        Poll::Ready(guard) => guard,
        Poll::Pending => unreachable!(),
    };
    let mut waiter = Box::pin(acquire());
    assert!(poll(&mut waiter).is_pending());
    for count in 0..1000 {
        drop(held);
        held = match poll(&mut Box::pin(acquire())) {
            Poll::Ready(guard) => guard,
            Poll::Pending => return count,
        };
        if poll(&mut waiter).is_ready() {
            return count;
        }
    }
    1000
}

/// True if the second of two guests passes, when the first one has left.
fn passes_alone<F: Future>(wait: impl Fn() -> F) -> bool {
    assert!(poll(&mut Box::pin(wait())).is_pending());
    poll(&mut Box::pin(wait())).is_ready()
}

/// How often two readers that wait are woken and polled, while a third one holds the lock and a
/// writer waits for that one.
fn polled_in_vain() -> usize {
    let lock = async_lock::RwLock::new(());
    let writer = lock.try_write();
    let counts = [(); 2].map(|()| Arc::new(Woken(AtomicUsize::new(1))));
    let wakers = counts.clone().map(futures_util::task::waker);
    let mut readers = [Box::pin(lock.read()), Box::pin(lock.read())];
    let mut later = (writer, None, Box::pin(lock.write()));
    for polls in 0..1000 {
        if polls == 2 {
            later.0 = None;
            later.1 = lock.try_read();
            assert!(poll(&mut later.2).is_pending());
        }
        let is_woken = |count: &Arc<Woken>| count.0.swap(0, SeqCst) > 0;
        let next = match counts.iter().position(is_woken) {
            Some(next) => next,
            None => return polls,
        };
        assert!(readers[next].as_mut().poll(&mut Context::from_waker(&wakers[next])).is_pending());
    }
    1000
}

fn main() {
    println!("async-lock semaphore: 2 permits come back, {} waiter woken", woken_by_two_permits());
    let semaphore = async_lock::Semaphore::new(1);
    println!("async-lock semaphore: overtaken {} times", overtaken(|| semaphore.acquire()));
    println!("async-lock rwlock: readers that wait are polled {} times", polled_in_vain());
    let mutex = futures_util::lock::Mutex::new(());
    println!("futures mutex: overtaken {} times", overtaken(|| mutex.lock()));
    let mutex = tokio::sync::Mutex::new(());
    println!("tokio mutex: overtaken {} times", overtaken(|| mutex.lock()));
    let barrier = tokio::sync::Barrier::new(2);
    println!("tokio barrier: passed alone: {}", passes_alone(|| barrier.wait()));
    let barrier = async_lock::Barrier::new(2);
    println!("async-lock barrier: passed alone: {}", passes_alone(|| barrier.wait()));
}
