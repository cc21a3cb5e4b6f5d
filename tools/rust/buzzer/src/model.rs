//! Primitives of any kind, each with a model that judges it in the scenario `model`.
use crate::arena::inside;
use crate::variant::{text, Object, OK};
use crate::{Boxed, Loop, Status};
use std::mem::size_of;
use std::ptr::{null, null_mut};

/// The arguments of a call; 0 beyond its own.
pub type Arguments = [i64; 3];

/// A sequential model: operations take effect one at a time.
pub trait Model: 'static {
    /// Numbers of 64 bits. States are compared byte by byte, and the first one is all zeros.
    type State: 'static;
    /// An operation is its index here.
    const OPS: &'static [Op];
    fn start(_state: &mut Self::State, _capacity: i64) {}
    /// False: the operation has to wait. True: it takes effect, with the next state and the answer.
    fn step(state: &mut Self::State, op: u32, arguments: &Arguments, answer: &mut i64) -> bool;
}

pub trait Modelled: Sized + 'static {
    type Model: Model;
    fn new(capacity: i64) -> Self;
    /// The answer of an operation. A negative one is a refusal, such as `CLOSED`.
    fn call(&'static self, op: u32, arguments: Arguments) -> Boxed<i64>;
}

pub const NOT_HELD: i64 = -4;
pub const INVALID_STATE: i64 = -5;
pub const CLOSED: i64 = -9;
pub const EMPTY: i64 = -10;
pub const FULL: i64 = -11;

/// Possible effects of a cancelled operation.
#[repr(C)]
#[derive(Clone, Copy)]
pub enum Cancel {
    DoesNothing,
    Undoes,
    MayDoAll,
}

/// `struct bz_model_argument`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Argument {
    name: *const u8,
    least: i64,
    most: i64,
    is_fresh: bool,
    is_chosen: bool,
}

const NO_ARGUMENT: Argument =
    Argument { name: null(), least: 0, most: 0, is_fresh: false, is_chosen: false };

/// `struct bz_model_op`, whose header says what each member means.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Op {
    pub name: *const u8,
    pub line: u32,
    pub bypass: u32,
    pub yields_to: u64,
    pub begins_with: u32,
    pub begins_in_order: bool,
    pub begins_at_call: bool,
    pub cancel: Cancel,
    pub undo: u32,
    pub gives_back: u32,
    pub needs: u32,
    pub or_else: u32,
    pub single: u32,
    pub is_hidden: bool,
    pub is_extra: bool,
    pub zero_refuses: bool,
    pub ends_by_itself: bool,
    pub argument_count: u32,
    pub arguments: [Argument; 3],
}

impl Op {
    /// All other members are zero. `name` ends with `\0`, as those of arguments do.
    pub const fn new(name: &'static str) -> Self {
        Op {
            name: text(name),
            line: 0,
            bypass: 0,
            yields_to: 0,
            begins_with: 0,
            begins_in_order: false,
            begins_at_call: false,
            cancel: Cancel::DoesNothing,
            undo: 0,
            gives_back: 0,
            needs: 0,
            or_else: 0,
            single: 0,
            is_hidden: false,
            is_extra: false,
            zero_refuses: false,
            ends_by_itself: false,
            argument_count: 0,
            arguments: [NO_ARGUMENT; 3],
        }
    }

    /// It ends by itself: `fails` takes effect where it would have to wait.
    pub const fn ends_or(mut self, fails: u32) -> Self {
        self.or_else = 1 + fails;
        self.ends_by_itself = true;
        self
    }

    const fn with(mut self, argument: Argument) -> Self {
        self.arguments[self.argument_count as usize] = argument;
        self.argument_count += 1;
        self
    }

    /// An argument that the schedule draws.
    pub const fn drawn(self, name: &'static str, least: i64, most: i64) -> Self {
        self.with(Argument { name: text(name), least, most, ..NO_ARGUMENT })
    }

    /// Each number once, from 1: an item.
    pub const fn fresh(self, name: &'static str) -> Self {
        let most = i32::MAX as i64;
        self.with(Argument { name: text(name), least: 1, most, is_fresh: true, is_chosen: false })
    }

    /// The library chooses it.
    pub const fn chosen(self, name: &'static str, least: i64, most: i64) -> Self {
        self.with(Argument { name: text(name), least, most, is_fresh: false, is_chosen: true })
    }
}

/// `struct bz_model`.
#[repr(C)]
struct ModelTable<M: Model> {
    name: *const u8,
    state_bytes: u32,
    parameter_count: u32,
    ops: *const Op,
    op_count: u32,
    start: unsafe extern "C" fn(*mut M::State, *const i64),
    step: unsafe extern "C" fn(*mut M::State, u32, *const Arguments, *mut i64) -> bool,
    clock: [usize; 3], // pass, settles_ns, late_ns
}

impl<M: Model> ModelTable<M> {
    const TABLE: Self = ModelTable {
        name: text("model\0"),
        state_bytes: size_of::<M::State>() as u32,
        parameter_count: 1,
        ops: M::OPS.as_ptr(),
        op_count: M::OPS.len() as u32,
        start: Self::start,
        step: Self::step,
        clock: [0; 3],
    };

    unsafe extern "C" fn start(state: *mut M::State, parameters: *const i64) {
        inside(null_mut(), || M::start(&mut *state, *parameters))
    }

    unsafe extern "C" fn step(
        state: *mut M::State,
        op: u32,
        arguments: *const Arguments,
        answer: *mut i64,
    ) -> bool {
        inside(null_mut(), || M::step(&mut *state, op, &*arguments, &mut *answer))
    }
}

/// `struct bz_modelled_ops`.
#[repr(C)]
pub(crate) struct ModelledOps<T: Modelled> {
    bytes: usize,
    model: *const ModelTable<T::Model>,
    init: unsafe extern "C" fn(*mut Object<T>, *mut Loop, *const i64) -> Status,
    call: unsafe extern "C" fn(*mut Object<T>, u32, *const Arguments, *mut i64) -> Status,
}

impl<T: Modelled> ModelledOps<T> {
    pub const TABLE: Self = ModelledOps {
        bytes: size_of::<Object<T>>(),
        model: &ModelTable::TABLE,
        init: Self::init,
        call: Self::call,
    };

    unsafe extern "C" fn init(
        this: *mut Object<T>,
        on: *mut Loop,
        parameters: *const i64,
    ) -> Status {
        Object::init(this, on, || T::new(*parameters))
    }

    unsafe extern "C" fn call(
        this: *mut Object<T>,
        op: u32,
        arguments: *const Arguments,
        answer: *mut i64,
    ) -> Status {
        let status = Object::wait(this, |it| it.call(op, *arguments), |output| *answer = output);
        if status == OK && *answer < 0 {
            -*answer as Status
        } else {
            status
        }
    }
}
