/* The loop and the task under which Python code runs as a source of events (sim/judge/judge.h).
 *
 *     Loop    the ready queue and the timers of an asyncio loop, on virtual time. A class in Python
 *             derives from it and adds the rest of asyncio.AbstractEventLoop.
 *     Task    a subclass of the interpreter's own C Task: every step is the interpreter's. It has a
 *             number, and reports cancels to the judge before they take effect.
 *     Handle  what call_soon() and call_at() return: one entry of the ready queue or of the timers.
 *
 * A handle is a step of a task, a timer, or a callback. It is named as those of the C runtime are:
 * owner, role, number. So tapes, tokens and traces mean the same for both.
 *
 * Everything here runs in one thread, with the interpreter's lock. */
#ifndef BZ_PYTHON_NATIVE_H
#define BZ_PYTHON_NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

#include "sim/judge/judge.h"

#if PY_VERSION_HEX < 0x030a0000
static inline int PyModule_AddObjectRef(PyObject *module, const char *name, PyObject *value) {
    Py_XINCREF(value);
    return PyModule_AddObject(module, name, value);
}
#endif

struct bz_py_handle {
    PyObject_HEAD PyObject *callback; /* NULL: it was cancelled, or has run */
    PyObject *args;                   /* a tuple; NULL with the callback */
    PyObject *context;
    PyObject *task;          /* of a step; borrowed from the callback; NULL: it is no step */
    struct bz_py_loop *loop; /* while it is in that loop's queue; NULL */
    struct bz_ready name;
    int64_t when_ns;
    double when_s;    /* as the program has said it */
    PyObject *when;   /* the same; NULL: it is no timer */
    uint64_t reading; /* of the clock, from which when_ns was made: see timers.c */
    uint64_t origin;  /* the reading behind the timer that had brought the clock there */
    uint8_t turns;    /* order fifo, from outside: of the loop, before it arrives */
    bool is_timer;
    bool is_ahead; /* it was armed before its time */
    bool is_outside;
    bool is_armed; /* among the timers */
    bool is_cancelled;
    bool is_running;
    bool is_wakeup; /* of a task that waits for a future, which is the argument */
};

#define BZ_PY_REFUSAL_BYTES 256u

enum bz_py_answer { BZ_PY_UNASKED, BZ_PY_NO, BZ_PY_YES };

/* The counts of a task's handles; 0 stands for the loop. */
struct bz_py_owner {
    uint32_t timers;
    uint32_t callbacks;
    const void *inside; /* the watched object in whose method it is; NULL: none */
    bool is_helper;     /* it may be left behind */
    bool is_inner;      /* a method of a watched object has created it, or such a task has */
};

/* A run begins with one loop, its root. A test that makes more has them of its own: each with its
 * queue and its timers, and with the root's clock and numbers of tasks. */
struct bz_py_loop {
    PyObject_HEAD PyObject *dict;
    PyObject *weakrefs;
    struct bz_py_loop *root; /* owned, unless it is this one */
    struct bz_py_loop *next; /* of the run, which begins with the root */
    struct bz_judge *judge;  /* NULL: the run is over */
    struct bz_py_handle **ready;
    struct bz_ready *names; /* of `ready` */
    uint32_t count;
    uint32_t capacity;
    uint32_t turn_left;            /* order fifo: of `ready`, those of this turn */
    struct bz_py_handle **outside; /* order fifo: what has yet to arrive from outside */
    uint32_t outside_count;
    uint32_t outside_capacity;
    struct bz_py_handle **heap; /* as heapq: the stock loop's order of equal times */
    uint32_t heap_count;
    uint32_t heap_capacity;
    uint32_t cancelled_timers; /* in the heap, as asyncio counts them */
    uint64_t now_ns;
    uint64_t late_ns;  /* of a suite: the module time shows so much more, as no timer is on time */
    uint64_t readings; /* of the clock, by the program */
    /* Of the time that the clock shows since instant_ns: the origin of the timers that fired (0:
     * none), the last reading before them, and the origin of the last reading. */
    uint64_t instant_ns, origin, own_origin, read_origin;
    enum bz_py_answer is_prompt, is_coarse; /* of the root: see timers.c */
    PyObject **tasks;                       /* by number - 1; NULL: done */
    struct bz_py_owner *owners;
    uint32_t task_count;
    uint32_t task_capacity;
    PyObject *sleep; /* the future of the last asyncio.sleep() */
    uint32_t
        woken; /* the running task's wait was over before it began: reported after the suspend */
    enum bz_status woken_status;
    uint32_t steps_after; /* the end of the test */
    uint64_t chaos; /* what os.urandom() and the like continue from; 0: nothing was drawn yet */
    bool is_random_drawn; /* the state of the module random */
    bool has_cancelled;   /* perhaps: a handle in `ready` was cancelled */
    bool is_debugged;
    bool awaits_idle; /* a task waits until nothing else can run */
    bool is_fifo;
    bool is_suite;
    bool is_outside_past;
    bool is_over;
    bool is_stopping; /* it is to return to run_forever() */
    bool is_closed;
    char refusal[BZ_PY_REFUSAL_BYTES]; /* why the run is none; empty: it is one */
};

/* The tail of a Task, behind what the interpreter has in it. */
struct bz_py_task {
    struct bz_py_loop *loop; /* borrowed; NULL: it is done, or the run is over */
    uint32_t number;         /* the judge's */
    uint32_t steps;          /* begun so far */
    bool is_waiting;         /* suspended on a future that is not done */
    uint32_t strikes;        /* cancels that Buzzer has injected */
    bool was_notified;       /* of one, by a CancelledError */
    bool goes_on;            /* it has waited since, outside of any handler of a CancelledError */
};

extern PyTypeObject *bz_py_loop_type;
extern PyTypeObject *bz_py_task_type;
extern PyTypeObject *bz_py_handle_type;

/* Of a Task, for which bz_py_is_task() is true. */
struct bz_py_task *bz_py_task_of(PyObject *task);
static inline bool bz_py_is_task(PyObject *object) {
    return PyObject_TypeCheck(object, bz_py_task_type);
}

/* A copy of a name that lasts forever, in this process and in those that share the judge. NULL
 * without memory. */
const char *bz_py_name(PyObject *name);

/* False with an exception. */
bool bz_py_names_init(void);
bool bz_py_futures_init(void);
bool bz_py_handle_init(PyObject *module);
bool bz_py_task_init(PyObject *module);
bool bz_py_ready_init(void);
bool bz_py_steps_init(void);
bool bz_py_loop_init(PyObject *module);
bool bz_py_objects_init(PyObject *module);
bool bz_py_acquire_init(void);
bool bz_py_stock_init(void);
bool bz_py_pins_init(void);

/* An attribute of a module; NULL with an exception. */
PyObject *bz_py_attribute(const char *module, const char *name);

/* --- the loop --------------------------------------------------------------------------------- */

/* The loop of the run that continues; NULL: none. */
extern struct bz_py_loop *bz_py_current;

/* Runs until nothing can run, or the run has ended. False with an exception that no task caught,
 * such as KeyboardInterrupt. */
bool bz_py_loop_drive(struct bz_py_loop *loop, bool is_fifo);

/* No handle or timer of the run's loops does anything any more. */
void bz_py_loop_silence(struct bz_py_loop *root);

/* Ends the run: silence, and the tasks are forgotten. */
void bz_py_loop_end(struct bz_py_loop *loop);

/* The first step of an eager task, which the interpreter makes while it creates the task. The task
 * that creates it is suspended for so long, as the judge sees it. Returns that task's number, for
 * the end. The end returns false with an exception. `is_created`: false if asyncio has refused. */
uint32_t bz_py_loop_begin_eager(struct bz_py_loop *loop, struct bz_py_task *task);
bool bz_py_loop_end_eager(struct bz_py_loop *loop, PyObject *self, uint32_t creator,
                          bool is_created);

bool bz_py_callback_is_ready(const struct bz_py_loop *loop);

/* Registers a task that begins: its number. 0 with an exception. */
uint32_t bz_py_loop_spawn(struct bz_py_loop *loop, PyObject *task, PyObject *name);

/* During the run: see bz_judge_set_helper(). */
void bz_py_loop_set_helper(struct bz_py_loop *loop, uint32_t task);

/* The program has left the simulation: the run ends without a verdict. Sets an exception with the
 * sentence and the place; returns NULL. */
PyObject *bz_py_loop_refuse(struct bz_py_loop *loop, const char *sentence);

/* In a child process: reports to its parent where the program is, for a message about its end. */
void bz_py_note_place(void);

/* True if the exception is Control-C. That does not reach a child process, so there the test has
 * raised it itself. */
bool bz_py_is_interrupt(void);

/* A handle in one of its queues was cancelled. */
void bz_py_loop_note_cancelled(struct bz_py_handle *handle);

/* Calls a method of the loop in Python; NULL: no argument. False with an exception. */
bool bz_py_loop_call(struct bz_py_loop *loop, const char *method, PyObject *argument);

/* For one more task, and for the counts of its handles and those of the loop. False with an
 * exception. */
bool bz_py_loop_has_room(struct bz_py_loop *root);

/* The future that the task waits for is done. */
void bz_py_loop_wake(struct bz_py_loop *loop, struct bz_py_task *task, enum bz_status status);

/* --- the ready queue -------------------------------------------------------------------------- */

/* Makes an array larger, with zeros. False with an exception. */
bool bz_py_grow(void **array, uint32_t *capacity, size_t entry_bytes);

/* At the end of the queue. False with an exception. */
bool bz_py_ready_push(struct bz_py_loop *loop, struct bz_py_handle *handle);
/* The handle leaves the queue; the caller owns it. */
struct bz_py_handle *bz_py_ready_take(struct bz_py_loop *loop, uint32_t index);
/* Handles that were cancelled in the queue do nothing: they are no steps. */
void bz_py_ready_drop_cancelled(struct bz_py_loop *loop);
/* The first timer, which at the begin of a turn is none that was cancelled; NULL: none. */
struct bz_py_handle *bz_py_ready_timer(const struct bz_py_loop *loop);
/* The timers whose time has come; `is_sure`: the first one has. False with an exception. */
bool bz_py_ready_add_due(struct bz_py_loop *loop, bool is_sure);
/* Order fifo, at the begin of a turn: what has arrived from outside. `is_idle`: nothing else can
 * run, so something arrives. False with an exception. */
bool bz_py_ready_add_outside(struct bz_py_loop *loop, bool is_idle);

/* call_soon(callback, *args, context=None) */
PyObject *bz_py_call_soon(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
/* _call_outside(callback, *args, context=None): an event from outside of the loop, such as that
 * bytes have arrived. It comes at a moment that the strategy chooses. */
PyObject *bz_py_call_outside(PyObject *self, PyObject *const *args, Py_ssize_t count,
                             PyObject *names);
/* _call_at_ns(when_ns, when, callback, *args, context=None): in nanoseconds, and as the program has
 * it. */
PyObject *bz_py_call_at_ns(PyObject *self, PyObject *const *args, Py_ssize_t count,
                           PyObject *names);

/* --- watched primitives ----------------------------------------------------------------------- */

enum bz_py_kind { BZ_PY_PERMITS, BZ_PY_EVENT, BZ_PY_CONDITION, BZ_PY_BARRIER, BZ_PY_QUEUE };

/* One type for all kinds: which calls make sense depends on how it was made. */
struct bz_py_object {
    PyObject_HEAD struct bz_py_loop *loop;
    PyObject *target; /* of asyncio, which it may look into; NULL: it may not */
    uint32_t number;
    enum bz_py_kind kind;
    bool keeps_promised; /* semaphore: _value counts a permit until its waiter resumes */
    bool has_value;      /* a semaphore, not a lock */
    bool has_stock_locked;
    bool is_checked;            /* only its own methods change its level */
    uint64_t left;              /* its level, when a method returned last */
    struct bz_permit_view seen; /* last */
    uint8_t answers[512];       /* of the stock locked(), see bz_py_stock_locked(); 0: not known */
    struct bz_judged_wakes wakes;
    struct bz_judged_condition condition;
    struct bz_judged_barrier barrier;
    struct bz_judged_queue queue;
};

/* Notes what the target of a new object shows. */
void bz_py_stock_find(struct bz_py_object *object);
/* Permits, less those that were promised if the object counts so. */
uint64_t bz_py_stock_level(const struct bz_py_object *object);
/* For struct bz_introspection and bz_judge_add_queue(); an instance is a struct bz_py_object. */
void bz_py_stock_view(void *instance, struct bz_permit_view *view);
bool bz_py_stock_locked(void *instance);
uint32_t bz_py_stock_queued(void *instance);
uint64_t bz_py_stock_queue_size(void *instance);

/* An Object of objects.c: the real method, which is reported to the judge. */
PyObject *bz_py_wrap_acquire(PyObject *object, PyObject *method);
PyObject *bz_py_wrap_release(PyObject *object, PyObject *method);

/* Operations of programs on an object. buzzer/watch.py has them by name. */
enum bz_py_operation {
    BZ_PY_ACQUIRE,
    BZ_PY_RELEASE,
    BZ_PY_WAIT,
    BZ_PY_SET,
    BZ_PY_CLEAR,
    BZ_PY_CONDITION_WAIT,
    BZ_PY_NOTIFY,
    BZ_PY_BARRIER_WAIT,
    BZ_PY_ABORT,
    BZ_PY_RESET,
    BZ_PY_PUT,
    BZ_PY_GET,
    BZ_PY_TASK_DONE,
    BZ_PY_JOIN,
    BZ_PY_SHUTDOWN,
};

/* Before and after the call of a method. The first one returns what the second one is given; 0: the
 * call is part of another one of the object, and not reported; -1: an exception. */
int64_t bz_py_object_begin(PyObject *object, enum bz_py_operation operation, long argument);
void bz_py_object_end(PyObject *object, enum bz_py_operation operation, int64_t begun,
                      enum bz_status status, uint64_t value);

/* Methods of the loop: _enter_scope(outer or None, due_ns, cancelling) returns the scope that the
 * running task enters; _leave_scope(scope, due_ns, cancelling) comes right before the exit, and
 * _left_scope(scope, status of the body, status, cancelling) right after it. */
PyObject *bz_py_scope_enter(PyObject *self, PyObject *args);
PyObject *bz_py_scope_leave(PyObject *self, PyObject *args);
PyObject *bz_py_scope_left(PyObject *self, PyObject *args);

/* --- handles and timers ----------------------------------------------------------------------- */

/* NULL with an exception. `context` NULL: a copy of the current one. */
struct bz_py_handle *bz_py_handle_new(PyObject *callback, PyObject *const *args, Py_ssize_t count,
                                      PyObject *context);
/* The arguments of the callback as a tuple; NULL with an exception. */
PyObject *bz_py_handle_args(const struct bz_py_handle *handle);
/* Runs the callback in its context. False with its exception. */
bool bz_py_handle_call(struct bz_py_handle *handle);
/* Lets go of the callback and what belongs to it. */
void bz_py_handle_drop(struct bz_py_handle *handle);

/* A timer at NaN, which compares as NaN does: it is before no other, and no other before it. */
static inline bool bz_py_is_nan(int64_t when_ns) {
    return when_ns < INT64_MIN / 2;
}

/* A reading of the clock by the program. */
void bz_py_timers_read(struct bz_py_loop *loop);
/* The clock has come to the time of the first timer. */
void bz_py_timers_choose_clock(struct bz_py_loop *loop);
/* Order fifo: the timer is due. True if it fires in a later turn than `before`, which fires in this
 * one; NULL: none does. */
bool bz_py_timers_split(const struct bz_py_handle *timer, const struct bz_py_handle *before);
bool bz_py_timers_push(struct bz_py_loop *loop, struct bz_py_handle *handle);
/* The first of at least one; the caller owns it. */
struct bz_py_handle *bz_py_timers_pop(struct bz_py_loop *loop);
/* At the begin of a turn: drops cancelled timers, as the stock loop does. */
void bz_py_timers_sweep(struct bz_py_loop *loop);

/* --- futures ---------------------------------------------------------------------------------- */

enum bz_py_state { BZ_PY_PENDING, BZ_PY_FINISHED, BZ_PY_CANCELLED, BZ_PY_UNKNOWN };

/* Of asyncio's futures, or of what has their attributes. */
enum bz_py_state bz_py_future_state(PyObject *future);
/* The result of an await of the future. */
enum bz_status bz_py_future_outcome(PyObject *future);

bool bz_py_task_must_cancel(PyObject *task);
/* True if the code of a suspended task is in a handler of a CancelledError: in `except`, `finally`
 * or `__aexit__`. True where it cannot be seen. Since 3.11. */
bool bz_py_task_handles_cancel(PyObject *task);

/* The step of a task that gets a CancelledError begins; and after it, that exception, as a new
 * reference. NULL: it was made before. */
void bz_py_cancel_watch(void);
PyObject *bz_py_cancel_take(void);
/* A new reference to the future that a task waits for; NULL: none. */
PyObject *bz_py_task_waiter(PyObject *task);

#endif
