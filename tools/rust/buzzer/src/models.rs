//! Models of kinds that libraries of Rust have in common, each with its operations. Tasks do not
//! call those whose names end with `_`.
use crate::model::*;
use crate::variant::text;

/// Numbers, the oldest first; 0 beyond their count.
#[repr(C)]
pub struct Line {
    count: i64,
    numbers: [i64; 16], // as many as the scenario has tasks
}

impl Line {
    fn push(&mut self, number: i64) {
        self.numbers[self.count as usize] = number;
        self.count += 1;
    }

    /// False: it is not there.
    fn remove(&mut self, number: i64) -> bool {
        let count = self.count as usize;
        let place = self.numbers[..count].iter().position(|other| *other == number);
        if let Some(place) = place {
            self.numbers.copy_within(place + 1..count, place);
            self.count -= 1;
            self.numbers[count - 1] = 0;
        }
        place.is_some()
    }

    /// The oldest, which is taken out; 0: there is none.
    fn pop(&mut self) -> i64 {
        let oldest = self.numbers[0];
        self.remove(oldest);
        oldest
    }
}

/// A try that finds nothing.
const FAIL_: Op = Op { is_hidden: true, ..Op::new("fail_\0") };

/// A lock of readers and writers.
pub mod rwlock {
    use super::*;

    pub const READ: u32 = 0;
    pub const END_READ: u32 = 1;
    pub const WRITE: u32 = 2;
    pub const END_WRITE: u32 = 3;
    /// Obtains the lock for writing, and downgrades at once.
    pub const CONVERT: u32 = 4;
    pub const END_CONVERT: u32 = 5;
    /// Ends at once what it obtains: 1. Or it fails: 0.
    pub const TRY_READ: u32 = 6;
    pub const TRY_WRITE: u32 = 7;
    const FAIL: u32 = 8;
    const ARRIVE: u32 = 9;

    #[repr(C)]
    pub struct State {
        readers: i64,
        writers: i64,
        waiting: i64, // writers that hold readers up
    }

    const fn ops(line: u32, begins_with: u32) -> [Op; 10] {
        let write = Op { line, begins_with, cancel: Cancel::Undoes, ..Op::new("write\0") };
        let tries = Op { line, is_extra: true, ..Op::new("try_read\0") }.ends_or(FAIL);
        [
            Op { line, cancel: Cancel::Undoes, undo: END_READ, ..Op::new("read\0") },
            Op { gives_back: 1 + READ, ..Op::new("end_read\0") },
            Op { undo: END_WRITE, ..write },
            Op { gives_back: 1 + WRITE, ..Op::new("end_write\0") },
            Op { undo: END_CONVERT, name: text("convert\0"), ..write },
            Op { gives_back: 1 + CONVERT, ..Op::new("end_convert\0") },
            tries,
            Op { name: text("try_write\0"), ..tries },
            FAIL_,
            Op { is_hidden: true, ..Op::new("arrive_\0") },
        ]
    }

    fn step(state: &mut State, op: u32, answer: &mut i64) -> bool {
        let has_arrived = std::mem::take(answer); // the ticket
        let is_free = state.writers == 0 && state.readers == 0;
        match op {
            READ | TRY_READ => {
                state.readers += (op == READ) as i64;
                *answer = (op == TRY_READ) as i64;
                return state.writers == 0 && state.waiting == 0;
            }
            WRITE | CONVERT | TRY_WRITE => {
                state.waiting -= has_arrived;
                state.writers += (op == WRITE) as i64;
                state.readers += (op == CONVERT) as i64;
                *answer = (op == TRY_WRITE) as i64;
                return is_free && (op != TRY_WRITE || state.waiting == 0);
            }
            ARRIVE => {
                state.waiting += 1;
                *answer = 1;
            }
            FAIL => (),
            _ if has_arrived == 1 => state.waiting -= 1,
            END_WRITE => state.writers -= 1,
            _ => state.readers -= 1,
        }
        true
    }

    /// In order of arrival.
    pub struct Fair;
    impl Model for Fair {
        type State = State;
        const OPS: &'static [Op] = &ops(1, 0);
        fn step(state: &mut State, op: u32, _: &Arguments, answer: &mut i64) -> bool {
            step(state, op, answer)
        }
    }

    /// In any order. A writer that waits may hold readers up.
    pub struct Unordered;
    impl Model for Unordered {
        type State = State;
        const OPS: &'static [Op] = &ops(0, 1 + ARRIVE);
        fn step(state: &mut State, op: u32, _: &Arguments, answer: &mut i64) -> bool {
            step(state, op, answer)
        }
    }
}

/// A semaphore whose acquire takes several permits, in order of arrival.
pub mod weighted {
    use super::*;

    pub const ACQUIRE: u32 = 0;
    pub const RELEASE: u32 = 1;
    pub const FORGET: u32 = 2;
    pub const ADD: u32 = 3;
    /// Releases at once what it acquires: 1. Or it fails: 0.
    pub const TRY_ACQUIRE: u32 = 4;
    pub const CLOSE: u32 = 5;
    const FAIL: u32 = 6;
    /// Permits that may be acquired at once. There are two more than the capacity.
    pub const WEIGHT_MAX: i64 = 3;

    #[repr(C)]
    pub struct State {
        free: i64,
        closed: i64,
    }

    const fn op(name: &'static str) -> Op {
        Op::new(name).drawn("permits\0", 1, WEIGHT_MAX)
    }

    pub struct Weighted;
    impl Model for Weighted {
        type State = State;
        const OPS: &'static [Op] = &[
            Op { line: 1, cancel: Cancel::Undoes, undo: RELEASE, ..op("acquire\0") },
            Op { gives_back: 1 + ACQUIRE, ..op("release\0") },
            Op { gives_back: 1 + ACQUIRE, is_extra: true, ..op("forget\0") },
            Op { is_extra: true, ..op("add\0") },
            Op { line: 1, is_extra: true, ..op("try_acquire\0") }.ends_or(FAIL),
            Op { is_extra: true, ..Op::new("close\0") },
            FAIL_,
        ];
        fn start(state: &mut State, capacity: i64) {
            state.free = capacity + WEIGHT_MAX - 1;
        }
        fn step(state: &mut State, op: u32, arguments: &Arguments, answer: &mut i64) -> bool {
            let permits = arguments[0];
            *answer = 0;
            match op {
                ACQUIRE | TRY_ACQUIRE if state.closed == 1 => *answer = CLOSED,
                ACQUIRE => {
                    state.free -= permits;
                    return state.free >= 0;
                }
                TRY_ACQUIRE => {
                    *answer = 1;
                    return state.free >= permits;
                }
                RELEASE | ADD => state.free += permits,
                CLOSE => state.closed = 1,
                _ => (),
            }
            true
        }
    }
}

/// Wake-ups: a stored permit, and the waiters.
pub mod notify {
    use super::*;

    pub const WAIT: u32 = 0;
    pub const NOTIFY_ONE: u32 = 1;
    pub const NOTIFY_ALL: u32 = 2;
    const ARRIVE: u32 = 3;
    const LEAVE: u32 = 4;

    #[repr(C)]
    pub struct State {
        permit: i64,
        arrivals: i64,
        waiting: Line, // arrivals, which are tickets
        by_one: Line,  // those that were notified
        by_all: Line,
    }

    impl State {
        fn notify_one(&mut self) {
            match self.waiting.pop() {
                0 => self.permit = 1,
                waiter => self.by_one.push(waiter),
            }
        }
    }

    /// A waiter that was notified by NOTIFY_ONE and is cancelled passes that on.
    pub struct Notify;
    impl Model for Notify {
        type State = State;
        const OPS: &'static [Op] = &[
            Op {
                begins_with: 1 + ARRIVE,
                begins_at_call: true,
                cancel: Cancel::Undoes,
                undo: LEAVE,
                ..Op::new("wait\0")
            },
            Op::new("notify\0"),
            Op::new("notify_all\0"),
            Op { is_hidden: true, ..Op::new("arrive_\0") },
            Op { is_hidden: true, ..Op::new("leave_\0") },
        ];
        fn step(state: &mut State, op: u32, _: &Arguments, answer: &mut i64) -> bool {
            let ticket = std::mem::take(answer);
            match op {
                WAIT => return state.by_one.remove(ticket) || state.by_all.remove(ticket),
                NOTIFY_ONE => state.notify_one(),
                NOTIFY_ALL => {
                    while state.waiting.count > 0 {
                        let waiter = state.waiting.pop();
                        state.by_all.push(waiter);
                    }
                }
                ARRIVE => {
                    state.arrivals += 1;
                    *answer = state.arrivals;
                    let line =
                        if state.permit == 1 { &mut state.by_one } else { &mut state.waiting };
                    line.push(*answer);
                    state.permit = 0;
                }
                _ if state.by_one.remove(ticket) => state.notify_one(),
                _ => return state.by_all.remove(ticket) || state.waiting.remove(ticket),
            }
            true
        }
    }
}

/// One value, from one sender to one receiver. Each is gone after its use.
pub mod oneshot {
    use super::*;

    pub const RECEIVE: u32 = 0;
    pub const SEND: u32 = 1;
    pub const CLOSE: u32 = 2;
    /// Of the sender.
    pub const WAIT_CLOSED: u32 = 3;
    pub const DROP_SENDER: u32 = 4;
    pub const TRY_RECEIVE: u32 = 5;

    #[repr(C)]
    pub struct State {
        value: i64,
        gone: i64,   // the sender
        closed: i64, // by the receiver, or it is gone
    }

    const RECEIVER: u32 = 1;
    const SENDER: u32 = 2;

    pub struct Oneshot;
    impl Model for Oneshot {
        type State = State;
        const OPS: &'static [Op] = &[
            Op { single: RECEIVER, ..Op::new("receive\0") },
            Op { single: SENDER, ..Op::new("send\0") }.fresh("value\0"),
            Op { single: RECEIVER, ..Op::new("close\0") },
            Op { single: SENDER, ..Op::new("wait_closed\0") },
            Op { single: SENDER, is_extra: true, ..Op::new("drop_sender\0") },
            Op { single: RECEIVER, is_extra: true, ..Op::new("try_receive\0") },
        ];
        fn step(state: &mut State, op: u32, arguments: &Arguments, answer: &mut i64) -> bool {
            *answer = 0;
            match op {
                RECEIVE | TRY_RECEIVE => {
                    let is_over = state.value != 0 || state.gone == 1 || state.closed == 1;
                    *answer = match std::mem::take(&mut state.value) {
                        0 if is_over => CLOSED,
                        0 => EMPTY,
                        value => value,
                    };
                    state.closed |= is_over as i64;
                    return is_over || op == TRY_RECEIVE;
                }
                CLOSE => state.closed = 1,
                _ if state.gone == 1 => *answer = CLOSED,
                WAIT_CLOSED => return state.closed == 1,
                DROP_SENDER => state.gone = 1,
                _ => {
                    state.gone = 1;
                    if state.closed == 1 {
                        *answer = CLOSED;
                    } else {
                        state.value = arguments[0];
                    }
                }
            }
            true
        }
    }
}

/// A bounded channel of several senders and one receiver.
pub mod channel {
    use super::*;

    pub const RECEIVE: u32 = 0;
    /// A sender for the task, which the next ones need.
    pub const CLONE: u32 = 1;
    pub const DROP: u32 = 2;
    pub const SEND: u32 = 3;
    /// A permit, for the value that SEND_RESERVED then sends.
    pub const RESERVE: u32 = 4;
    pub const SEND_RESERVED: u32 = 5;
    pub const DROP_RESERVED: u32 = 6;
    pub const WAIT_CLOSED: u32 = 7;
    pub const TRY_SEND: u32 = 8;
    pub const TRY_RECEIVE: u32 = 9;
    /// The receiver's.
    pub const CLOSE: u32 = 10;
    /// Drops the sender that others are cloned from.
    pub const DROP_FIRST: u32 = 11;
    const FAIL: u32 = 12;

    #[repr(C)]
    pub struct State {
        capacity: i64,
        senders: i64,
        permits: i64,
        closed: i64,
        over: i64, // the receiver knows it
        first: i64,
        values: Line,
    }

    pub struct Channel;
    impl Model for Channel {
        type State = State;
        const OPS: &'static [Op] = &[
            Op { single: 1, line: 1, ..Op::new("receive\0") },
            Op::new("clone\0"),
            Op { gives_back: 1 + CLONE, ..Op::new("drop\0") },
            Op { line: 2, needs: 1 + CLONE, ..Op::new("send\0") }.fresh("value\0"),
            Op {
                line: 2,
                needs: 1 + CLONE,
                cancel: Cancel::Undoes,
                undo: DROP_RESERVED,
                ..Op::new("reserve\0")
            }
            .fresh("value\0"),
            Op { gives_back: 1 + RESERVE, ..Op::new("send_reserved\0") }.fresh("value\0"),
            Op { gives_back: 1 + RESERVE, ..Op::new("drop_reserved\0") }.fresh("value\0"),
            Op { needs: 1 + CLONE, ..Op::new("wait_closed\0") },
            Op { line: 2, needs: 1 + CLONE, ..Op::new("try_send\0") }
                .ends_or(FAIL)
                .fresh("value\0"),
            Op { single: 1, is_extra: true, ..Op::new("try_receive\0") }.chosen("fails\0", 0, 1),
            Op { single: 1, is_extra: true, ..Op::new("close\0") },
            Op::new("drop_first\0"),
            FAIL_,
        ];
        fn start(state: &mut State, capacity: i64) {
            *state = State { capacity, first: 1, ..unsafe { std::mem::zeroed() } };
        }
        fn step(state: &mut State, op: u32, arguments: &Arguments, answer: &mut i64) -> bool {
            let has_room = state.values.count + state.permits < state.capacity;
            let is_gone = state.first + state.senders + state.permits == 0;
            *answer = 0;
            match op {
                // A send that was promised room, and does not know that the channel is closed.
                TRY_RECEIVE if arguments[0] == 1 => {
                    *answer = EMPTY;
                    return state.values.count == 0 && !is_gone && state.over == 0;
                }
                RECEIVE | TRY_RECEIVE => {
                    let is_over = is_gone || (state.closed == 1 && state.permits == 0);
                    *answer = match state.values.pop() {
                        0 if is_over => CLOSED,
                        value => value,
                    };
                    state.over = (*answer == CLOSED) as i64;
                    return *answer != 0;
                }
                CLONE if state.first == 0 => *answer = CLOSED,
                CLONE => state.senders += 1,
                DROP => state.senders -= 1,
                SEND | TRY_SEND | RESERVE if state.closed == 1 => *answer = CLOSED,
                SEND | TRY_SEND => {
                    if has_room {
                        state.values.push(arguments[0]);
                    }
                    return has_room;
                }
                RESERVE => {
                    state.permits += 1;
                    return has_room;
                }
                SEND_RESERVED => {
                    state.permits -= 1;
                    state.values.push(arguments[0]);
                }
                DROP_RESERVED => state.permits -= 1,
                WAIT_CLOSED => return state.closed == 1,
                CLOSE => state.closed = 1,
                DROP_FIRST => state.first = 0,
                _ => *answer = FULL,
            }
            true
        }
    }
}

/// Subscribers, each of which has a number, its ticket: the first one that is free.
#[repr(C)]
pub struct Subscribers {
    is_there: [i64; Subscribers::MOST],
    seen: [i64; Subscribers::MOST],
}

impl Subscribers {
    pub const MOST: usize = 16;

    const SUBSCRIBE: Op = Op::new("subscribe\0").chosen("subscriber\0", 0, Self::MOST as i64 - 1);

    fn subscribe(&mut self, ticket: i64, seen: i64) -> bool {
        let first = self.is_there.iter().position(|is_there| *is_there == 0);
        self.is_there[ticket as usize] = 1;
        self.seen[ticket as usize] = seen;
        first == Some(ticket as usize)
    }

    fn unsubscribe(&mut self, ticket: i64) {
        self.is_there[ticket as usize] = 0;
        self.seen[ticket as usize] = 0;
    }

    fn count(&self) -> i64 {
        self.is_there.iter().sum()
    }
}

/// Each value goes to each subscriber, unless that lags too far behind.
pub mod broadcast {
    use super::*;

    pub const SUBSCRIBE: u32 = 0;
    pub const UNSUBSCRIBE: u32 = 1;
    pub const RECEIVE: u32 = 2;
    /// Answers how many subscribers there are.
    pub const SEND: u32 = 3;
    pub const TRY_RECEIVE: u32 = 4;
    pub const DROP_SENDER: u32 = 5;
    /// The answer to a receive that has missed so many values is LAG plus that.
    pub const LAG: i64 = 1 << 40;

    #[repr(C)]
    pub struct State {
        capacity: i64,
        sent: i64,
        gone: i64,
        values: [i64; 16],
        subscribers: Subscribers,
    }

    const fn op(name: &'static str) -> Op {
        Op::new(name).drawn("subscriber\0", 0, Subscribers::MOST as i64 - 1)
    }

    /// The capacity is the next power of two.
    pub struct Broadcast;
    impl Model for Broadcast {
        type State = State;
        const OPS: &'static [Op] = &[
            Subscribers::SUBSCRIBE,
            Op { gives_back: 1 + SUBSCRIBE, ..op("unsubscribe\0") },
            Op { needs: 1 + SUBSCRIBE, ..op("receive\0") },
            Op::new("send\0").fresh("value\0"),
            Op { needs: 1 + SUBSCRIBE, is_extra: true, ..op("try_receive\0") },
            Op { is_extra: true, ..Op::new("drop_sender\0") },
        ];
        fn start(state: &mut State, capacity: i64) {
            state.capacity = (capacity as u64).next_power_of_two() as i64;
        }
        fn step(state: &mut State, op: u32, arguments: &Arguments, answer: &mut i64) -> bool {
            let ticket = arguments[0];
            *answer = 0;
            match op {
                SUBSCRIBE if state.gone == 1 => *answer = CLOSED,
                SUBSCRIBE => {
                    *answer = ticket;
                    return state.subscribers.subscribe(ticket, state.sent);
                }
                UNSUBSCRIBE => state.subscribers.unsubscribe(ticket),
                RECEIVE | TRY_RECEIVE => {
                    let seen = &mut state.subscribers.seen[ticket as usize];
                    if *seen == state.sent {
                        *answer = if state.gone == 1 { CLOSED } else { EMPTY };
                        return state.gone == 1 || op == TRY_RECEIVE;
                    }
                    let lag = state.sent - state.capacity - *seen;
                    if lag > 0 {
                        *seen += lag;
                        *answer = LAG + lag;
                    } else {
                        *answer = state.values[(*seen % state.capacity) as usize];
                        *seen += 1;
                    }
                }
                DROP_SENDER => state.gone = 1,
                _ if state.gone == 1 || state.subscribers.count() == 0 => *answer = CLOSED,
                _ => {
                    state.values[(state.sent % state.capacity) as usize] = arguments[0];
                    state.sent += 1;
                    *answer = state.subscribers.count();
                }
            }
            true
        }
    }
}

/// The latest value, for each subscriber that has not seen it.
pub mod watch {
    use super::*;

    pub const SUBSCRIBE: u32 = 0;
    pub const UNSUBSCRIBE: u32 = 1;
    /// Waits for a value that the subscriber has not seen.
    pub const CHANGED: u32 = 2;
    pub const SEND: u32 = 3;
    /// Waits until no subscriber is there.
    pub const WAIT_CLOSED: u32 = 4;
    pub const DROP_SENDER: u32 = 5;

    #[repr(C)]
    pub struct State {
        value: i64,
        gone: i64,
        subscribers: Subscribers,
    }

    const fn op(name: &'static str) -> Op {
        Op::new(name).drawn("subscriber\0", 0, Subscribers::MOST as i64 - 1)
    }

    pub struct Watch;
    impl Model for Watch {
        type State = State;
        const OPS: &'static [Op] = &[
            Subscribers::SUBSCRIBE,
            Op { gives_back: 1 + SUBSCRIBE, ..op("unsubscribe\0") },
            Op { needs: 1 + SUBSCRIBE, ..op("changed\0") },
            Op::new("send\0").fresh("value\0"),
            Op { single: 1, is_extra: true, ..Op::new("wait_closed\0") },
            Op { single: 1, is_extra: true, ..Op::new("drop_sender\0") },
        ];
        fn step(state: &mut State, op: u32, arguments: &Arguments, answer: &mut i64) -> bool {
            let ticket = arguments[0];
            *answer = 0;
            match op {
                SUBSCRIBE | SEND | WAIT_CLOSED if state.gone == 1 => *answer = CLOSED,
                SUBSCRIBE => {
                    *answer = ticket;
                    return state.subscribers.subscribe(ticket, state.value);
                }
                UNSUBSCRIBE => state.subscribers.unsubscribe(ticket),
                CHANGED => {
                    let seen = &mut state.subscribers.seen[ticket as usize];
                    let is_old = *seen == state.value;
                    *seen = state.value;
                    *answer = if is_old { CLOSED } else { state.value };
                    return !is_old || state.gone == 1;
                }
                SEND if state.subscribers.count() == 0 => *answer = CLOSED,
                SEND => state.value = arguments[0],
                WAIT_CLOSED => return state.subscribers.count() == 0,
                _ => state.gone = 1,
            }
            true
        }
    }
}

/// The first of two channels that has a value.
pub mod select {
    use super::*;

    pub const SELECT: u32 = 0;
    pub const PUT: u32 = 1;
    /// Channels.
    pub const PORTS: usize = 2;

    #[repr(C)]
    pub struct State {
        capacity: i64,
        values: [Line; PORTS],
    }

    pub struct Select;
    impl Model for Select {
        type State = State;
        const OPS: &'static [Op] = &[
            Op { single: 1, ..Op::new("select\0") }.chosen("port\0", 0, PORTS as i64 - 1),
            Op::new("put\0").fresh("value\0").drawn("port\0", 0, PORTS as i64 - 1),
        ];
        fn start(state: &mut State, capacity: i64) {
            state.capacity = capacity;
        }
        fn step(state: &mut State, op: u32, arguments: &Arguments, answer: &mut i64) -> bool {
            if op == SELECT {
                *answer = state.values[arguments[0] as usize].pop();
                return *answer != 0;
            }
            let values = &mut state.values[arguments[1] as usize];
            *answer = 0;
            if values.count == state.capacity {
                *answer = FULL;
            } else {
                values.push(arguments[0]);
            }
            true
        }
    }
}
