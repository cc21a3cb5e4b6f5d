//! The semaphore, for one thread. Nothing here knows of Buzzer.
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

enum State {
    New,
    Waiting(Waker),
    Granted,
    Ended,
}

pub struct Semaphore {
    free: Cell<usize>,
    waiters: RefCell<VecDeque<Rc<RefCell<State>>>>, // the oldest first
}

impl Semaphore {
    pub fn new(permits: usize) -> Self {
        Semaphore { free: Cell::new(permits), waiters: RefCell::default() }
    }

    pub fn acquire(&self) -> Acquire<'_> {
        Acquire { semaphore: self, state: Rc::new(RefCell::new(State::New)) }
    }

    fn release(&self) {
        let oldest = self.waiters.borrow_mut().pop_front();
        match oldest.map(|state| state.replace(State::Granted)) {
            Some(State::Waiting(waker)) => waker.wake(),
            _ => self.free.set(self.free.get() + 1),
        }
    }
}

pub struct Permit<'a>(&'a Semaphore);

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.0.release();
    }
}

pub struct Acquire<'a> {
    semaphore: &'a Semaphore,
    state: Rc<RefCell<State>>,
}

impl<'a> Future for Acquire<'a> {
    type Output = Permit<'a>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Permit<'a>> {
        let semaphore = self.semaphore;
        let state = &mut *self.state.borrow_mut();
        if matches!(state, State::New) {
            if semaphore.free.get() == 0 {
                semaphore.waiters.borrow_mut().push_back(self.state.clone());
            } else {
                semaphore.free.set(semaphore.free.get() - 1);
                *state = State::Granted;
            }
        }
        if matches!(state, State::Granted) {
            *state = State::Ended;
            return Poll::Ready(Permit(semaphore));
        }
        *state = State::Waiting(context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Acquire<'_> {
    fn drop(&mut self) {
        match self.state.replace(State::Ended) {
            State::Waiting(_) => {
                self.semaphore.waiters.borrow_mut().retain(|other| !Rc::ptr_eq(other, &self.state))
            }
            // The permit goes to the next one.
            State::Granted if !cfg!(feature = "fault") => self.semaphore.release(),
            _ => {}
        }
    }
}
