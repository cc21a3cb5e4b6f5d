/* Steps: what a loop does in a turn, with the judge in the place of the selector. */
#include <signal.h>

#include "sim/contain/contain.h"
#include "tools/python/native/native.h"

static PyObject *gathering_type; /* what asyncio.gather() waits for */

/* After the end of the test, other tasks continue for so many steps. */
#define STEPS_AFTER_MAX 1000u
/* Of these, the garbage is collected each time. */
#define STEPS_PER_COLLECTION 8192u
#define ROUNDED_NS 999999u
#define POLLS 1000u   /* of a suite: so many steps without progress take as long as they need to */
#define LATE_NS 1000u /* a real loop wakes later than its timers say */

/* --- tasks ------------------------------------------------------------------------------------ */

void bz_py_loop_wake(struct bz_py_loop *loop, struct bz_py_task *task, enum bz_status status) {
    if (task->is_waiting) {
        task->is_waiting = false;
        bz_judge_event(loop->judge, BZ_EVENT_WAKE, task->number, status, 0);
    } else if (task->number == bz_judge_running(loop->judge)) {
        loop->woken = task->number; /* before it is suspended: reported right after that */
        loop->woken_status = status;
    }
}

void bz_py_loop_set_helper(struct bz_py_loop *loop, uint32_t task) {
    loop->root->owners[task].is_helper = true;
    bz_judge_set_helper(loop->judge, task, true);
}

uint32_t bz_py_loop_spawn(struct bz_py_loop *loop, PyObject *task, PyObject *name) {
    const char *text = bz_py_name(name);
    if (text == NULL) {
        return 0;
    }
    if (loop->judge == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "the run is over: no task can begin");
        return 0;
    }
    if (!bz_py_loop_has_room(loop->root)) {
        return 0;
    }
    uint32_t number = bz_judge_spawn(loop->judge, text, 0);
    if (number == 0) {
        PyErr_SetString(PyExc_RuntimeError, "too many tasks");
        return 0;
    }
    const struct bz_py_owner *creator = &loop->root->owners[bz_judge_running(loop->judge)];
    if (creator->inside != NULL || creator->is_inner) { /* it belongs to the code under test */
        loop->root->owners[number].is_inner = true;
        bz_py_loop_set_helper(loop, number);
    }
    Py_INCREF(task);
    loop->root->tasks[loop->root->task_count++] = task;
    return number;
}

static enum bz_wait wait_of(const struct bz_py_loop *loop, PyObject *future) {
    if (future == loop->sleep) {
        return BZ_WAIT_SLEEP;
    }
    bool is_join = bz_py_is_task(future) || (PyObject *)Py_TYPE(future) == gathering_type;
    return is_join ? BZ_WAIT_JOIN : BZ_WAIT_FUTURE;
}

/* A cancel is swallowed in two steps: the task waits after it, and no handler is left; and
 * then the task returns. Between, it may still raise a CancelledError or take the request back.
 * error: that it got in this step, if it is known. */
static bool note_swallow(struct bz_py_loop *loop, PyObject *self, struct bz_py_task *task,
                         PyObject *error) {
    if (!task->was_notified || task->goes_on) {
        return true;
    }
    task->goes_on = !bz_py_task_handles_cancel(self);
    if (!task->goes_on && error == NULL) {
        return true;
    }
    PyObject *result =
        PyObject_CallMethod((PyObject *)loop, task->goes_on ? "_goes_on" : "_handles", "OO", self,
                            error == NULL ? Py_None : error);
    Py_XDECREF(result);
    return result != NULL;
}

/* The task has ended, or asyncio has refused to create it. */
static void forget_task(struct bz_py_loop *loop, struct bz_py_task *task, enum bz_status status) {
    bz_judge_event(loop->judge, BZ_EVENT_EXIT, task->number, status, 0);
    bz_judge_event(loop->judge, BZ_EVENT_FREE, task->number, BZ_OK, 0);
    task->loop = NULL;
    Py_CLEAR(loop->root->tasks[task->number - 1]);
}

static bool end_task(struct bz_py_loop *loop, PyObject *self, struct bz_py_task *task) {
    enum bz_status status = bz_py_future_outcome(self);
    bool is_ok = status != BZ_FAILED || bz_py_loop_call(loop, "_has_failed", self);
    if (status == BZ_OK && task->goes_on) {
        is_ok = bz_py_loop_call(loop, "_has_swallowed", self) && is_ok;
    }
    if (task->number == 1 && loop == loop->root) { /* the test */
        is_ok = bz_py_loop_call(loop, "_main_done", self) && is_ok;
    }
    forget_task(loop, task, status);
    return is_ok;
}

/* Where the task is suspended, for the trace of the run. */
static void note_place(struct bz_py_loop *loop, PyObject *self) {
    if (!bz_judge_is_recorded(loop->judge) || PyErr_Occurred()) {
        return;
    }
    PyObject *where = PyObject_CallMethod((PyObject *)loop, "_place_of", "O", self);
    const char *text = where == NULL || where == Py_None ? NULL : bz_py_name(where);
    PyErr_Clear(); /* then it is unknown */
    Py_XDECREF(where);
    bz_judge_where(loop->judge, text);
}

static bool end_step(struct bz_py_loop *loop, PyObject *self, struct bz_py_task *task,
                     PyObject *error) {
    if (bz_py_future_state(self) != BZ_PY_PENDING) {
        return end_task(loop, self, task);
    }
    PyObject *future = bz_py_task_waiter(self);
    enum bz_wait wait = future != NULL ? wait_of(loop, future) : BZ_WAIT_YIELD;
    Py_XDECREF(future);
    note_place(loop, self);
    bz_judge_event(loop->judge, BZ_EVENT_SUSPEND, task->number, BZ_OK, wait);
    task->is_waiting = future != NULL;
    if (loop->woken == task->number) {
        loop->woken = 0;
        bz_py_loop_wake(loop, task, loop->woken_status);
    }
    return note_swallow(loop, self, task, error);
}

uint32_t bz_py_loop_begin_eager(struct bz_py_loop *loop, struct bz_py_task *task) {
    uint32_t creator = bz_judge_running(loop->judge);
    if (creator != 0) {
        bz_judge_event(loop->judge, BZ_EVENT_SUSPEND, creator, BZ_OK, BZ_WAIT_YIELD);
    }
    bz_judge_event(loop->judge, BZ_EVENT_RESUME, task->number, BZ_OK, ++task->steps);
    return creator;
}

bool bz_py_loop_end_eager(struct bz_py_loop *loop, PyObject *self, uint32_t creator,
                          bool is_created) {
    bool is_ok = !is_created || end_step(loop, self, bz_py_task_of(self), NULL);
    if (!is_created) {
        forget_task(loop, bz_py_task_of(self), BZ_FAILED);
    }
    if (creator != 0) {
        struct bz_py_task *task = bz_py_task_of(loop->root->tasks[creator - 1]);
        bz_judge_event(loop->judge, BZ_EVENT_RESUME, creator, BZ_OK, ++task->steps);
    }
    return is_ok;
}

/* --- the step --------------------------------------------------------------------------------- */

bool bz_py_is_interrupt(void) {
    struct sigaction action;
    return PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) && !bz_child_is_this() &&
           sigaction(SIGINT, NULL, &action) == 0 && action.sa_handler != SIG_IGN;
}

/* An exception that no task has caught: the loop's handler decides, as in asyncio. */
static bool hand_to_handler(struct bz_py_loop *loop, struct bz_py_handle *handle) {
    PyObject *type, *value, *traceback;
    bool is_raised = loop != loop->root && (PyErr_ExceptionMatches(PyExc_SystemExit) ||
                                            PyErr_ExceptionMatches(PyExc_KeyboardInterrupt));
    if (is_raised || bz_py_is_interrupt()) {
        return false;
    }
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback != NULL) {
        PyException_SetTraceback(value, traceback);
    }
    PyObject *args = bz_py_handle_args(handle);
    PyObject *result =
        args == NULL ? NULL
                     : PyObject_CallMethod((PyObject *)loop, "_callback_failed", "OOOO", value,
                                           handle->callback == NULL ? Py_None : handle->callback,
                                           args, handle);
    Py_XDECREF(args);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    Py_XDECREF(result);
    return result != NULL;
}

static bool run_step(struct bz_py_loop *loop, struct bz_py_handle *handle) {
    PyObject *self = handle->task;
    struct bz_py_task *task = bz_py_task_of(self);
    enum bz_status status = BZ_OK;
    if (bz_py_task_must_cancel(self)) {
        status = BZ_CANCELLED;
    } else if (handle->is_wakeup) {
        status = bz_py_future_outcome(PyTuple_GET_ITEM(handle->args, 0));
    }
    Py_INCREF(self);
    task->steps++;
    task->is_waiting = false;
    bz_judge_event(loop->judge, BZ_EVENT_RESUME, task->number, status, task->steps);
    if (task->strikes > 0 && status == BZ_CANCELLED) {
        task->was_notified = true;
        if (!bz_py_loop_call(loop, "_is_notified", self)) {
            PyErr_Clear(); /* then no task is blamed */
        }
        bz_py_cancel_watch();
    }
    bool is_ok = bz_py_handle_call(handle) || hand_to_handler(loop, handle);
    PyObject *type = NULL, *value = NULL, *traceback = NULL;
    if (!is_ok) {
        PyErr_Fetch(&type, &value, &traceback);
    }
    PyObject *error = bz_py_cancel_take();
    bool has_ended = end_step(loop, self, task, error);
    Py_XDECREF(error);
    if (!is_ok) {
        PyErr_Restore(type, value, traceback);
    }
    Py_DECREF(self);
    return is_ok && has_ended;
}

static bool run_handle(struct bz_py_loop *loop, struct bz_py_handle *handle) {
    if (handle->callback == NULL) {
        return true;
    }
    if (handle->task != NULL && bz_py_task_of(handle->task)->loop == loop) {
        return run_step(loop, handle);
    }
    bz_judge_event(loop->judge, BZ_EVENT_CALLBACK, handle->name.owner, BZ_OK, handle->name.role);
    return bz_py_handle_call(handle) || hand_to_handler(loop, handle);
}

/* --- the order of steps ----------------------------------------------------------------------- */

static bool strike(struct bz_py_loop *loop) {
    uint32_t victim = bz_judge_cancel(loop->judge);
    if (victim == 0) {
        return false;
    }
    PyObject *task = loop->root->tasks[victim - 1];
    PyObject *result = task == NULL ? NULL : PyObject_CallMethod(task, "cancel", NULL);
    if (result == NULL) {
        PyErr_WriteUnraisable(task); /* a future of the program's own refuses it */
    } else {
        bz_py_task_of(task)->strikes += result == Py_True;
    }
    Py_XDECREF(result);
    bz_judge_end_step(loop->judge);
    return true;
}

static bool timer_is_due(const struct bz_py_loop *loop) {
    const struct bz_py_handle *timer = bz_py_ready_timer(loop);
    return timer != NULL && timer->when_ns <= (int64_t)loop->root->now_ns;
}

/* If what is left waits for time or for the outside, those who wait for that may go on. False: none
 * does. */
static bool wake_idle(struct bz_py_loop *loop) {
    if (!loop->awaits_idle) {
        return false;
    }
    bz_py_timers_sweep(loop);
    bool is_busy = timer_is_due(loop);
    for (uint32_t index = 0; index < loop->count && !is_busy; index++) {
        is_busy = !loop->ready[index]->is_outside;
    }
    if (is_busy) {
        return false;
    }
    loop->awaits_idle = false;
    PyObject *wakes = PyObject_GetAttrString((PyObject *)loop, "_wake_idle");
    PyObject *handle = wakes == NULL ? NULL : bz_py_call_soon((PyObject *)loop, &wakes, 1, NULL);
    Py_XDECREF(wakes);
    Py_XDECREF(handle);
    return handle != NULL;
}

static void set_clock(struct bz_py_loop *loop, uint64_t now_ns) {
    if (now_ns > loop->root->now_ns) {
        loop->root->now_ns = now_ns;
        loop->root->late_ns += loop->root->is_suite ? LATE_NS : 0;
        bz_judge_clock(loop->judge, now_ns);
        bz_py_timers_choose_clock(loop);
    }
}

/* The first task is the test, but those who call run_forever() say when it stops. */
static bool is_test_on(const struct bz_py_loop *loop) {
    return loop != loop->root || loop->tasks[0] != NULL;
}

/* The time of the next timer, if the clock may go there. Not after the end of the test: what is
 * left then, only time could end. */
static bool find_time(const struct bz_py_loop *loop, uint64_t *when_ns) {
    const struct bz_py_handle *timer = bz_py_ready_timer(loop);
    if (timer == NULL || timer->when_ns > (int64_t)BZ_TIME_MAX_NS || !is_test_on(loop)) {
        return false;
    }
    *when_ns = timer->when_ns < 0 ? 0 : (uint64_t)timer->when_ns;
    return true;
}

static void jump_clock(struct bz_py_loop *loop) {
    uint64_t when_ns;
    if (find_time(loop, &when_ns) && when_ns > loop->root->now_ns &&
        ((loop->root->is_suite && bz_judge_polls(loop->judge, POLLS)) ||
         bz_judge_jump(loop->judge, when_ns - loop->root->now_ns))) {
        set_clock(loop, when_ns);
    }
}

static bool advance_clock(struct bz_py_loop *loop) {
    uint64_t when_ns;
    if (!find_time(loop, &when_ns)) {
        return false;
    }
    set_clock(loop, when_ns);
    return true;
}

/* An idle loop waits in a selector, which rounds up to milliseconds: then more timers are due.
 * False: none is, of those that may be. */
static bool wake(struct bz_py_loop *loop) {
    uint64_t until_ns = loop->root->now_ns + ROUNDED_NS, when_ns;
    (void)bz_py_ready_add_due(loop, true);
    while (find_time(loop, &when_ns) && when_ns > loop->root->now_ns && when_ns <= until_ns) {
        if (!bz_judge_retimes(loop->judge)) {
            return false;
        }
        set_clock(loop, when_ns);
        (void)bz_py_ready_add_due(loop, true);
    }
    return true;
}

/* Order any: a cancel, a timer, the end. False: no handle runs now. */
static bool prepare_any(struct bz_py_loop *loop) {
    if (strike(loop)) {
        return false;
    }
    bz_py_ready_drop_cancelled(loop);
    if (!wake_idle(loop) && bz_py_ready_timer(loop) != NULL) {
        bz_py_timers_sweep(loop);
        if (loop->count > 0) {
            jump_clock(loop);
        } else if (advance_clock(loop)) {
            (void)wake(loop);
        }
        (void)bz_py_ready_add_due(loop, true);
    }
    loop->is_over = loop->count == 0;
    return loop->count > 0;
}

static bool is_newer(const struct bz_py_loop *loop) {
    return bz_judge_is_newer(loop->judge, BZ_OLDER_WAKES_ON_TIME);
}

static bool begin_turn(struct bz_py_loop *loop) {
    bz_py_timers_sweep(loop);
    (void)wake_idle(loop);
    bool waits_outside = loop->outside_count > 0;
    if (loop->count == 0 && (waits_outside || bz_py_ready_timer(loop) != NULL) && strike(loop)) {
        return false;
    }
    bool is_idle = loop->count == 0 && !waits_outside;
    if (is_idle && !advance_clock(loop)) {
        loop->is_over = true;
        return false;
    }
    bool may_jump =
        !is_idle ||
        ((wake(loop) || !bz_judge_is_newer(loop->judge, BZ_OLDER_NEVER_RETIMES)) && is_newer(loop));
    uint64_t was_ns = loop->root->now_ns;
    if (may_jump) { /* an idle loop may wake even later */
        jump_clock(loop);
    }
    bool has_moved = loop->root->now_ns > was_ns;
    (void)bz_py_ready_add_outside(loop, loop->count == 0 && !timer_is_due(loop));
    if (!is_idle || has_moved) {
        (void)bz_py_ready_add_due(loop, has_moved || loop->count == 0);
    }
    loop->turn_left = loop->count;
    loop->is_outside_past = false;
    return true;
}

/* Order fifo, asyncio's turn: the handles carried over, then events from outside, then timers. A
 * signal handler, or a thread by call_soon_threadsafe(), may also cancel between two handles. */
static bool prepare_fifo(struct bz_py_loop *loop) {
    for (;;) {
        bz_py_ready_drop_cancelled(loop);
        if (loop->turn_left > 0 && (loop->is_outside_past || !loop->ready[0]->is_timer)) {
            return !is_newer(loop) || !strike(loop);
        }
        if (!loop->is_outside_past) {
            loop->is_outside_past = true;
            if (strike(loop)) {
                loop->is_outside_past = false;
                return false;
            }
        }
        if (loop->turn_left > 0) {
            return true;
        }
        if (loop->is_stopping || !begin_turn(loop)) {
            return false;
        }
    }
}

/* After the test, what cannot end soon is left behind. */
static bool goes_on(struct bz_py_loop *loop) {
    if (loop->is_over || loop->root->refusal[0] != '\0' || !bz_judge_goes_on(loop->judge)) {
        return false;
    }
    if (is_test_on(loop)) {
        return !loop->is_stopping || loop->turn_left > 0;
    }
    bool is_left = bz_judge_unfinished(loop->judge) > 0 || bz_py_callback_is_ready(loop);
    return is_left && loop->steps_after++ < STEPS_AFTER_MAX;
}

bool bz_py_loop_drive(struct bz_py_loop *loop, bool is_fifo) {
    uint32_t steps_left = STEPS_PER_COLLECTION;
    loop->is_over = false;
    loop->is_fifo = is_fifo;
    loop->is_outside_past = true;
    loop->turn_left = loop->is_stopping ? loop->count : 0;
    bz_judge_end_step(loop->judge); /* for the events of the set-up */
    while (goes_on(loop)) {
        if (!(is_fifo ? prepare_fifo(loop) : prepare_any(loop))) {
            continue;
        }
        uint32_t index = bz_judge_next(loop->judge, loop->names, is_fifo ? 1 : loop->count);
        struct bz_py_handle *handle = bz_py_ready_take(loop, index);
        bool is_ok = run_handle(loop, handle);
        bz_py_handle_drop(handle);
        Py_DECREF(handle);
        bz_judge_end_step(loop->judge);
        if (!is_ok || (--steps_left == 0 && !bz_py_loop_call(loop, "_collect", NULL))) {
            return false;
        }
        steps_left = steps_left == 0 ? STEPS_PER_COLLECTION : steps_left;
    }
    return true;
}

bool bz_py_steps_init(void) {
    gathering_type = bz_py_attribute("asyncio.tasks", "_GatheringFuture");
    return gathering_type != NULL;
}
