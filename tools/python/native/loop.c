/* Loop: what an asyncio loop does in a turn, with the judge in the place of the selector. */
#include "tools/python/native/native.h"

#include <string.h>
#include <structmember.h> /* after Python.h */

PyTypeObject *bz_py_loop_type;
struct bz_py_loop *bz_py_current;

static PyObject *text_self;      /* "__self__" */
static PyObject *text_loop;      /* "loop", as a tuple of keywords */
static PyObject *text_context;   /* "context" */
static PyObject *sleep_callback; /* asyncio.futures._set_result_unless_cancelled */
static PyObject *future_type;    /* asyncio.Future */
static PyObject *gathering_type; /* what asyncio.gather() waits for */
static PyObject *slow_task_type; /* the tasks of asyncio that are written in Python */
static PyTypeObject *step_type;  /* of the callback that begins a task; NULL: none seen yet */

/* After the end of the test, other tasks go on for so many steps. */
#define STEPS_AFTER_MAX 10000u
/* Of these, the garbage is collected each time. */
#define STEPS_PER_COLLECTION 8192u

/* --- the queues ------------------------------------------------------------------------------- */

bool bz_py_grow(void **array, uint32_t *capacity, size_t entry_bytes) {
    uint32_t larger = *capacity == 0 ? 16 : 2 * *capacity;
    void *block = PyMem_Realloc(*array, larger * entry_bytes);
    if (block == NULL) {
        PyErr_NoMemory();
        return false;
    }
    memset((char *)block + *capacity * entry_bytes, 0, (larger - *capacity) * entry_bytes);
    *array = block;
    *capacity = larger;
    return true;
}

static bool push_ready(struct bz_py_loop *loop, struct bz_py_handle *handle) {
    if (loop->count == loop->capacity) {
        uint32_t capacity = loop->capacity;
        if (!bz_py_grow((void **)&loop->ready, &capacity, sizeof *loop->ready) ||
            !bz_py_grow((void **)&loop->names, &loop->capacity, sizeof *loop->names)) {
            return false;
        }
    }
    Py_INCREF(handle);
    handle->loop = loop;
    loop->names[loop->count] = handle->name;
    loop->ready[loop->count++] = handle;
    return true;
}

/* The handle leaves the queue; the caller owns it. */
static struct bz_py_handle *take(struct bz_py_loop *loop, uint32_t index) {
    struct bz_py_handle *handle = loop->ready[index];
    handle->loop = NULL;
    loop->count--;
    loop->turn_left -= loop->turn_left > 0;
    memmove(&loop->ready[index], &loop->ready[index + 1],
            (loop->count - index) * sizeof *loop->ready);
    memmove(&loop->names[index], &loop->names[index + 1],
            (loop->count - index) * sizeof *loop->names);
    return handle;
}

/* The first timer, which at the begin of a turn is none that was cancelled; NULL: none. */
static struct bz_py_handle *next_timer(const struct bz_py_loop *loop) {
    return loop->heap_count == 0 ? NULL : loop->heap[0];
}

static bool queue_due_timers(struct bz_py_loop *loop) {
    struct bz_py_handle *timer;
    while ((timer = next_timer(loop)) != NULL && timer->when_ns <= (int64_t)loop->now_ns) {
        bool is_cancelled = timer->is_cancelled;
        loop->cancelled_timers -= is_cancelled;
        bool is_queued = push_ready(loop, bz_py_timers_pop(loop));
        loop->has_cancelled |= is_cancelled;
        Py_DECREF(timer);
        if (!is_queued) {
            return false;
        }
    }
    return true;
}

void bz_py_loop_note_cancelled(struct bz_py_handle *handle) {
    struct bz_py_loop *loop = handle->loop;
    if (loop == NULL) {
        return;
    }
    loop->cancelled_timers += handle->is_armed;
    loop->has_cancelled |= !handle->is_armed;
}

/* --- new handles ------------------------------------------------------------------------------ */

/* The task that the callback begins or wakes; NULL: it is no step. */
static PyObject *stepped_task(PyObject *callback) {
    PyTypeObject *type = Py_TYPE(callback);
    if (type == &PyCFunction_Type) {
        return PyCFunction_GET_SELF(callback);
    }
    if (type == step_type ||
        (step_type == NULL && strcmp(type->tp_name, "TaskStepMethWrapper") == 0)) {
        PyObject *self = PyObject_GetAttr(callback, text_self);
        step_type = type;
        PyErr_Clear();
        Py_XDECREF(self); /* the callback holds it */
        return self;
    }
    return PyMethod_Check(callback) ? PyMethod_GET_SELF(callback) : NULL;
}

/* Whether it is a task that Buzzer's loop has not created. */
static bool is_strange(PyObject *task, PyObject *callback) {
    return (PyObject *)Py_TYPE(callback) == (PyObject *)step_type ||
           PyObject_TypeCheck(task, (PyTypeObject *)slow_task_type);
}

/* What the task waits for is done. */
static void wake(struct bz_py_loop *loop, struct bz_py_task *task, enum bz_status status) {
    if (task->is_waiting) {
        task->is_waiting = false;
        bz_judge_event(loop->judge, BZ_EVENT_WAKE, task->number, status, 0);
    } else if (task->number == bz_judge_running(loop->judge)) {
        loop->woken = task->number; /* before it is suspended: told right after that */
        loop->woken_status = status;
    }
}

static void name_step(struct bz_py_loop *loop, struct bz_py_handle *handle, PyObject *self) {
    struct bz_py_task *task = bz_py_task_of(self);
    handle->task = self;
    handle->name =
        (struct bz_ready){.owner = task->number, .nth = task->steps + 1, .role = BZ_ROLE_STEP};
    handle->is_wakeup = handle->count == 1 && handle->few[0] != NULL;
    if (handle->is_wakeup) {
        wake(loop, task, bz_py_future_outcome(handle->few[0]));
    }
}

/* False with an exception: the step of a strange task. */
static bool name_handle(struct bz_py_loop *loop, struct bz_py_handle *handle) {
    PyObject *self = handle->is_timer ? NULL : stepped_task(handle->callback);
    if (self != NULL && bz_py_is_task(self)) {
        name_step(loop, handle, self);
        return true;
    }
    if (self != NULL && is_strange(self, handle->callback)) {
        bz_py_loop_refuse(loop, "a task that the loop did not create, which Buzzer cannot follow: "
                                "use asyncio.create_task(), not the class Task");
        return false;
    }
    uint32_t owner = bz_judge_running(loop->judge);
    struct bz_py_owner *counts = &loop->owners[owner];
    handle->name =
        (struct bz_ready){.owner = owner,
                          .nth = handle->is_timer ? ++counts->timers : ++counts->callbacks,
                          .role = handle->is_timer ? BZ_ROLE_TIMER : BZ_ROLE_CALLBACK};
    return true;
}

/* A new handle at the end of the ready queue, or among the timers. */
static PyObject *add(struct bz_py_loop *loop, PyObject *callback, PyObject *const *args,
                     Py_ssize_t count, PyObject *context, const int64_t *when_ns) {
    struct bz_py_handle *handle = bz_py_handle_new(callback, args, count, context);
    if (handle == NULL) {
        return NULL;
    }
    handle->is_timer = when_ns != NULL;
    handle->when_ns = when_ns == NULL ? 0 : *when_ns;
    if (loop->judge == NULL) { /* the run is over: nothing happens any more */
        bz_py_handle_drop(handle);
        return (PyObject *)handle;
    }
    if (!name_handle(loop, handle) ||
        !(when_ns == NULL ? push_ready(loop, handle) : bz_py_timers_push(loop, handle))) {
        Py_DECREF(handle);
        return NULL;
    }
    return (PyObject *)handle;
}

/* The keyword argument `context`, the only one; false with an exception for another. */
static bool context_of(PyObject *const *args, Py_ssize_t count, PyObject *names,
                       PyObject **context) {
    *context = NULL;
    if (names == NULL || PyTuple_GET_SIZE(names) == 0) {
        return true;
    }
    if (PyTuple_GET_SIZE(names) > 1 ||
        PyUnicode_Compare(PyTuple_GET_ITEM(names, 0), text_context) != 0) {
        PyErr_SetString(PyExc_TypeError, "a callback takes the keyword argument 'context' alone");
        return false;
    }
    *context = args[count];
    return true;
}

static PyObject *loop_call_soon(PyObject *self, PyObject *const *args, Py_ssize_t count,
                                PyObject *names) {
    PyObject *context;
    if (count < 1) {
        PyErr_SetString(PyExc_TypeError, "call_soon() needs a callback");
        return NULL;
    }
    if (!context_of(args, count, names, &context)) {
        return NULL;
    }
    return add((struct bz_py_loop *)self, args[0], args + 1, count - 1, context, NULL);
}

/* _call_at_ns(when_ns, callback, *args, context=None) */
static PyObject *loop_call_at_ns(PyObject *self, PyObject *const *args, Py_ssize_t count,
                                 PyObject *names) {
    struct bz_py_loop *loop = (struct bz_py_loop *)self;
    PyObject *context;
    if (count < 2) {
        PyErr_SetString(PyExc_TypeError, "call_at() needs a time and a callback");
        return NULL;
    }
    int64_t when_ns = PyLong_AsLongLong(args[0]);
    if (PyErr_Occurred() || !context_of(args, count, names, &context)) {
        return NULL;
    }
    if (args[1] == sleep_callback && count > 2) {
        Py_INCREF(args[2]);
        Py_XSETREF(loop->sleep, args[2]);
    }
    return add(loop, args[1], args + 2, count - 2, context, &when_ns);
}

/* --- tasks ------------------------------------------------------------------------------------ */

/* For one more task, and for the counts of its handles and those of the loop. */
static bool has_room(struct bz_py_loop *loop) {
    uint32_t capacity = loop->task_capacity;
    return loop->task_count + 2 <= capacity ||
           (bz_py_grow((void **)&loop->tasks, &capacity, sizeof *loop->tasks) &&
            bz_py_grow((void **)&loop->owners, &loop->task_capacity, sizeof *loop->owners));
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
    if (!has_room(loop)) {
        return 0;
    }
    uint32_t number = bz_judge_spawn(loop->judge, text, 0);
    if (number == 0) {
        PyErr_SetString(PyExc_RuntimeError, "too many tasks");
        return 0;
    }
    Py_INCREF(task);
    loop->tasks[loop->task_count++] = task;
    return number;
}

static enum bz_wait wait_of(const struct bz_py_loop *loop, PyObject *future) {
    if (future == loop->sleep) {
        return BZ_WAIT_SLEEP;
    }
    bool is_join = bz_py_is_task(future) || (PyObject *)Py_TYPE(future) == gathering_type;
    return is_join ? BZ_WAIT_JOIN : BZ_WAIT_FUTURE;
}

/* Keeps a task that failed: somebody may still ask for its exception. */
static bool keep_failed(struct bz_py_loop *loop, PyObject *self) {
    if (loop->failed == NULL) {
        loop->failed = PyList_New(0);
    }
    return loop->failed != NULL && PyList_Append(loop->failed, self) == 0;
}

/* The first task is the test. */
static bool end_test(struct bz_py_loop *loop, PyObject *self) {
    PyObject *result = PyObject_CallMethod((PyObject *)loop, "_main_done", "O", self);
    Py_XDECREF(result);
    return result != NULL;
}

static bool end_task(struct bz_py_loop *loop, PyObject *self, struct bz_py_task *task) {
    enum bz_status status = bz_py_future_outcome(self);
    bool is_ok = status != BZ_FAILED || keep_failed(loop, self);
    if (task->number == 1) {
        is_ok = end_test(loop, self) && is_ok;
    }
    bz_judge_event(loop->judge, BZ_EVENT_EXIT, task->number, status, 0);
    bz_judge_event(loop->judge, BZ_EVENT_FREE, task->number, BZ_OK, 0);
    task->loop = NULL;
    Py_CLEAR(loop->tasks[task->number - 1]);
    return is_ok;
}

static bool end_step(struct bz_py_loop *loop, PyObject *self, struct bz_py_task *task) {
    if (bz_py_future_state(self) != BZ_PY_PENDING) {
        return end_task(loop, self, task);
    }
    PyObject *future = bz_py_task_waiter(self);
    enum bz_wait wait = future != NULL ? wait_of(loop, future) : BZ_WAIT_YIELD;
    Py_XDECREF(future);
    bz_judge_event(loop->judge, BZ_EVENT_SUSPEND, task->number, BZ_OK, wait);
    task->is_waiting = future != NULL;
    if (loop->woken == task->number) {
        loop->woken = 0;
        wake(loop, task, loop->woken_status);
    }
    return true;
}

/* --- the step --------------------------------------------------------------------------------- */

/* An exception that no task has caught: the loop's handler decides, as in asyncio. */
static bool hand_to_handler(struct bz_py_loop *loop, struct bz_py_handle *handle) {
    PyObject *type, *value, *traceback;
    if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
        return false;
    }
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback != NULL) {
        PyException_SetTraceback(value, traceback);
    }
    PyObject *result = PyObject_CallMethod((PyObject *)loop, "_callback_failed", "OO", value,
                                           handle->callback == NULL ? Py_None : handle->callback);
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
        status = bz_py_future_outcome(handle->few[0]);
    }
    Py_INCREF(self);
    task->steps++;
    task->is_waiting = false;
    bz_judge_event(loop->judge, BZ_EVENT_RESUME, task->number, status, task->steps);
    bool is_ok = bz_py_handle_call(handle) || hand_to_handler(loop, handle);
    PyObject *type = NULL, *value = NULL, *traceback = NULL;
    if (!is_ok) {
        PyErr_Fetch(&type, &value, &traceback);
    }
    bool has_ended = end_step(loop, self, task);
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

/* Handles that were cancelled in the ready queue do nothing: they are no steps. */
static void drop_cancelled(struct bz_py_loop *loop) {
    if (!loop->has_cancelled) {
        return;
    }
    loop->has_cancelled = false;
    for (uint32_t index = 0; index < loop->count; index++) {
        if (loop->ready[index]->is_cancelled) {
            uint32_t left = loop->turn_left;
            Py_DECREF(take(loop, index));
            loop->turn_left = index < left ? left - 1 : left;
            index--;
        }
    }
}

/* --- the order of steps ----------------------------------------------------------------------- */

static bool strike(struct bz_py_loop *loop) {
    uint32_t victim = bz_judge_cancel(loop->judge);
    if (victim == 0) {
        return false;
    }
    PyObject *task = loop->tasks[victim - 1];
    PyObject *result = task == NULL ? NULL : PyObject_CallMethod(task, "cancel", NULL);
    if (result == NULL) {
        PyErr_WriteUnraisable(task); /* a future of the program's own refuses it */
    }
    Py_XDECREF(result);
    bz_judge_end_step(loop->judge);
    return true;
}

static void set_clock(struct bz_py_loop *loop, uint64_t now_ns) {
    if (now_ns > loop->now_ns) {
        loop->now_ns = now_ns;
        bz_judge_clock(loop->judge, now_ns);
    }
}

/* The time of the next timer, if the clock may go there. Not after the end of the test: what is
 * left then, only time could end. */
static bool find_time(const struct bz_py_loop *loop, uint64_t *when_ns) {
    const struct bz_py_handle *timer = next_timer(loop);
    if (timer == NULL || timer->when_ns > (int64_t)BZ_TIME_MAX_NS || loop->tasks[0] == NULL) {
        return false;
    }
    *when_ns = timer->when_ns < 0 ? 0 : (uint64_t)timer->when_ns;
    return true;
}

static void jump_clock(struct bz_py_loop *loop) {
    uint64_t when_ns;
    if (find_time(loop, &when_ns) && when_ns > loop->now_ns && bz_judge_jump(loop->judge)) {
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

/* Order any: a cancel, a timer, the end. False: no handle runs now. */
static bool prepare_any(struct bz_py_loop *loop) {
    if (strike(loop)) {
        return false;
    }
    drop_cancelled(loop);
    if (next_timer(loop) != NULL) {
        bz_py_timers_sweep(loop);
        if (loop->count > 0) {
            jump_clock(loop);
        } else {
            (void)advance_clock(loop);
        }
        (void)queue_due_timers(loop);
    }
    loop->is_over = loop->count == 0;
    return loop->count > 0;
}

static bool is_due_timer(const struct bz_py_handle *handle) {
    return handle->is_timer;
}

static bool begin_turn(struct bz_py_loop *loop) {
    bz_py_timers_sweep(loop);
    if (loop->count > 0) {
        jump_clock(loop);
    } else if (next_timer(loop) != NULL && strike(loop)) {
        return false;
    } else if (!advance_clock(loop)) {
        loop->is_over = true;
        return false;
    }
    (void)queue_due_timers(loop);
    loop->turn_left = loop->count;
    loop->is_outside_past = false;
    return true;
}

/* Order fifo, asyncio's turn: the handles carried over, then events from outside, then timers. */
static bool prepare_fifo(struct bz_py_loop *loop) {
    for (;;) {
        drop_cancelled(loop);
        if (loop->turn_left > 0 && !is_due_timer(loop->ready[0])) {
            return true;
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
        if (!begin_turn(loop)) {
            return false;
        }
    }
}

/* After the test, what cannot end soon is left behind. */
static bool goes_on(struct bz_py_loop *loop) {
    if (loop->is_over || loop->refusal[0] != '\0' || !bz_judge_goes_on(loop->judge)) {
        return false;
    }
    if (loop->tasks[0] != NULL) {
        return true;
    }
    bool is_left = bz_judge_unfinished(loop->judge) > 0 || bz_py_callback_is_ready(loop);
    return is_left && loop->steps_after++ < STEPS_AFTER_MAX;
}

static bool collect_garbage(struct bz_py_loop *loop) {
    PyObject *result = PyObject_CallMethod((PyObject *)loop, "_collect", NULL);
    Py_XDECREF(result);
    return result != NULL;
}

bool bz_py_loop_drive(struct bz_py_loop *loop, bool is_fifo) {
    uint32_t steps_left = STEPS_PER_COLLECTION;
    loop->is_over = false;
    loop->is_outside_past = true;
    bz_judge_end_step(loop->judge); /* for the events of the set-up */
    while (goes_on(loop)) {
        if (!(is_fifo ? prepare_fifo(loop) : prepare_any(loop))) {
            continue;
        }
        uint32_t index = bz_judge_next(loop->judge, loop->names, is_fifo ? 1 : loop->count);
        struct bz_py_handle *handle = take(loop, index);
        bool is_ok = run_handle(loop, handle);
        bz_py_handle_drop(handle);
        Py_DECREF(handle);
        bz_judge_end_step(loop->judge);
        if (!is_ok || (--steps_left == 0 && !collect_garbage(loop))) {
            return false;
        }
        steps_left = steps_left == 0 ? STEPS_PER_COLLECTION : steps_left;
    }
    return true;
}

static void empty(struct bz_py_handle **handles, uint32_t *count) {
    while (*count > 0) {
        struct bz_py_handle *handle = handles[--*count];
        handle->loop = NULL;
        bz_py_handle_drop(handle);
        Py_DECREF(handle);
    }
}

void bz_py_loop_end(struct bz_py_loop *loop) {
    loop->judge = NULL;
    empty(loop->ready, &loop->count);
    empty(loop->heap, &loop->heap_count);
    for (uint32_t index = 0; index < loop->task_count; index++) {
        if (loop->tasks[index] != NULL) {
            bz_py_task_of(loop->tasks[index])->loop = NULL;
            Py_CLEAR(loop->tasks[index]);
        }
    }
    Py_CLEAR(loop->failed);
    Py_CLEAR(loop->sleep);
}

bool bz_py_callback_is_ready(const struct bz_py_loop *loop) {
    for (uint32_t index = 0; index < loop->count; index++) {
        if (loop->names[index].role == BZ_ROLE_CALLBACK) {
            return true;
        }
    }
    return false;
}

/* --- what the program says to the judge --------------------------------------------------------
 */

/* The text in UTF-8, cut to fit a message between two characters, in one line. */
static bool copy_text(PyObject *text, char *copy, size_t bytes) {
    PyObject *encoded = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
    if (encoded == NULL) {
        return false;
    }
    size_t length = (size_t)PyBytes_GET_SIZE(encoded);
    const char *from = PyBytes_AS_STRING(encoded);
    bool is_cut = length >= bytes;
    length = is_cut ? bytes - 1 : length;
    while (is_cut && length > 0 && ((unsigned char)from[length] & 0xc0u) == 0x80) {
        length--;
    }
    for (size_t index = 0; index < length; index++) {
        copy[index] = (unsigned char)from[index] < ' ' ? ' ' : from[index];
    }
    copy[length] = '\0';
    Py_DECREF(encoded);
    return true;
}

/* _object_to(oracle, task number, message): a violation. */
static PyObject *loop_object_to(PyObject *self, PyObject *args) {
    const char *oracle;
    PyObject *message;
    unsigned task;
    char text[BZ_MESSAGE_BYTES];
    if (!PyArg_ParseTuple(args, "sIU", &oracle, &task, &message) ||
        !copy_text(message, text, sizeof text)) {
        return NULL;
    }
    struct bz_judge *judge = ((struct bz_py_loop *)self)->judge;
    if (judge != NULL && bz_oracle_index(oracle) < bz_oracle_count) {
        bz_judge_object(judge, oracle, task, 0, "%s", text);
    }
    Py_RETURN_NONE;
}

/* _draw(label, bound) */
static PyObject *loop_draw(PyObject *self, PyObject *args) {
    PyObject *label;
    unsigned long long bound;
    if (!PyArg_ParseTuple(args, "UK", &label, &bound)) {
        return NULL;
    }
    const char *text = bz_py_name(label);
    struct bz_judge *judge = ((struct bz_py_loop *)self)->judge;
    if (text == NULL) {
        return NULL;
    }
    if (bound == 0 || bound >= UINT64_C(1) << 53) {
        return PyErr_Format(PyExc_ValueError, "a draw has from 1 to 2**53 - 1 outcomes");
    }
    return PyLong_FromUnsignedLongLong(judge == NULL ? 0 : bz_judge_draw(judge, text, bound));
}

/* _protect(task number): no cancel is injected into it. */
static PyObject *loop_protect(PyObject *self, PyObject *number) {
    struct bz_judge *judge = ((struct bz_py_loop *)self)->judge;
    unsigned long task = PyLong_AsUnsignedLong(number);
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (judge != NULL) {
        bz_judge_protect(judge, (uint32_t)task);
    }
    Py_RETURN_NONE;
}

/* _set_helper(task number): it may wait for ever, and nobody cancels it. */
static PyObject *loop_set_helper(PyObject *self, PyObject *number) {
    struct bz_judge *judge = ((struct bz_py_loop *)self)->judge;
    unsigned long task = PyLong_AsUnsignedLong(number);
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (judge != NULL) {
        bz_judge_set_helper(judge, (uint32_t)task, true);
    }
    Py_RETURN_NONE;
}

/* _left(): the tasks that have not ended, in order. */
static PyObject *loop_left(PyObject *self, PyObject *unused) {
    const struct bz_py_loop *loop = (struct bz_py_loop *)self;
    PyObject *list = PyList_New(0);
    (void)unused;
    for (uint32_t index = 0; list != NULL && index < loop->task_count; index++) {
        if (loop->tasks[index] != NULL && PyList_Append(list, loop->tasks[index]) != 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

/* _unretrieved(): the tasks that ended with an exception which nobody has asked for, in order. */
static PyObject *loop_unretrieved(PyObject *self, PyObject *unused) {
    const struct bz_py_loop *loop = (struct bz_py_loop *)self;
    PyObject *list = PyList_New(0);
    Py_ssize_t count = loop->failed == NULL ? 0 : PyList_GET_SIZE(loop->failed);
    (void)unused;
    for (Py_ssize_t index = 0; list != NULL && index < count; index++) {
        PyObject *task = PyList_GET_ITEM(loop->failed, index);
        if (bz_py_future_is_unretrieved(task) && PyList_Append(list, task) != 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

/* _end_without_verdict(sentence): the first one stands. */
static PyObject *loop_end_without_verdict(PyObject *self, PyObject *sentence) {
    struct bz_py_loop *loop = (struct bz_py_loop *)self;
    char text[BZ_PY_REFUSAL_BYTES];
    if (!copy_text(sentence, text, sizeof text)) {
        return NULL;
    }
    if (loop->judge != NULL && loop->refusal[0] == '\0') {
        memcpy(loop->refusal, text, sizeof text);
    }
    Py_RETURN_NONE;
}

PyObject *bz_py_loop_refuse(struct bz_py_loop *loop, const char *sentence) {
    PyObject *result = PyObject_CallMethod((PyObject *)loop, "_refuse", "s", sentence);
    Py_XDECREF(result); /* it raises */
    return NULL;
}

static PyObject *loop_create_future(PyObject *self, PyObject *unused) {
    PyObject *args[] = {self};
    (void)unused;
    return PyObject_Vectorcall(future_type, args, 0, text_loop);
}

static PyObject *loop_get_debug(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyBool_FromLong(((struct bz_py_loop *)self)->is_debugged);
}

static PyObject *loop_set_debug(PyObject *self, PyObject *enabled) {
    ((struct bz_py_loop *)self)->is_debugged = PyObject_IsTrue(enabled) == 1;
    Py_RETURN_NONE;
}

static PyObject *loop_running(PyObject *self, void *closure) {
    const struct bz_judge *judge = ((struct bz_py_loop *)self)->judge;
    (void)closure;
    return PyLong_FromUnsignedLong(judge == NULL ? 0 : bz_judge_running(judge));
}

/* --- the type --------------------------------------------------------------------------------- */

/* Whether more steps could follow, at a later time or now. */
static PyObject *loop_can_go_on(PyObject *self, void *closure) {
    const struct bz_py_loop *loop = (struct bz_py_loop *)self;
    (void)closure;
    return PyBool_FromLong(loop->count > 0 || loop->heap_count > loop->cancelled_timers);
}

static PyObject *loop_now_ns(PyObject *self, void *closure) {
    (void)closure;
    return PyLong_FromUnsignedLongLong(((struct bz_py_loop *)self)->now_ns);
}

static PyObject *loop_time(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyFloat_FromDouble((double)((struct bz_py_loop *)self)->now_ns / 1e9);
}

static PyObject *loop_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *self = type->tp_alloc(type, 0);
    struct bz_py_loop *loop = (struct bz_py_loop *)self;
    (void)args;
    (void)kwargs;
    if (self != NULL && !has_room(loop)) {
        Py_DECREF(self);
        return NULL;
    }
    return self;
}

static int loop_traverse(PyObject *self, visitproc visit, void *arg) {
    struct bz_py_loop *loop = (struct bz_py_loop *)self;
    for (uint32_t index = 0; index < loop->task_count; index++) {
        Py_VISIT(loop->tasks[index]);
    }
    Py_VISIT(loop->failed);
    Py_VISIT(loop->sleep);
    Py_VISIT(loop->dict);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static int loop_clear(PyObject *self) {
    struct bz_py_loop *loop = (struct bz_py_loop *)self;
    bz_py_loop_end(loop);
    Py_CLEAR(loop->dict);
    return 0;
}

static void loop_dealloc(PyObject *self) {
    struct bz_py_loop *loop = (struct bz_py_loop *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (loop->weakrefs != NULL) {
        PyObject_ClearWeakRefs(self);
    }
    (void)loop_clear(self);
    PyMem_Free(loop->ready);
    PyMem_Free(loop->names);
    PyMem_Free(loop->heap);
    PyMem_Free(loop->tasks);
    PyMem_Free(loop->owners);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMethodDef loop_methods[] = {
    {"call_soon", (PyCFunction)(void (*)(void))loop_call_soon, METH_FASTCALL | METH_KEYWORDS, NULL},
    {"_call_at_ns", (PyCFunction)(void (*)(void))loop_call_at_ns, METH_FASTCALL | METH_KEYWORDS,
     NULL},
    {"_object_to", loop_object_to, METH_VARARGS, NULL},
    {"_draw", loop_draw, METH_VARARGS, NULL},
    {"_protect", loop_protect, METH_O, NULL},
    {"_set_helper", loop_set_helper, METH_O, NULL},
    {"_left", loop_left, METH_NOARGS, NULL},
    {"_unretrieved", loop_unretrieved, METH_NOARGS, NULL},
    {"_end_without_verdict", loop_end_without_verdict, METH_O, NULL},
    {"create_future", loop_create_future, METH_NOARGS, "A future of this loop."},
    {"get_debug", loop_get_debug, METH_NOARGS, NULL},
    {"set_debug", loop_set_debug, METH_O, NULL},
    {"time", loop_time, METH_NOARGS, "The virtual time, in seconds."},
    {0},
};

static PyGetSetDef loop_getters[] = {
    {"_running", loop_running, NULL, "The number of the running task; 0: none.", NULL},
    {"_can_go_on", loop_can_go_on, NULL, NULL, NULL},
    {"now_ns", loop_now_ns, NULL, "The virtual time, in nanoseconds.", NULL},
    {0},
};

static PyMemberDef loop_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(struct bz_py_loop, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(struct bz_py_loop, weakrefs), READONLY, NULL},
    {0},
};

static PyType_Slot loop_slots[] = {
    {Py_tp_new, loop_new},           {Py_tp_dealloc, loop_dealloc},
    {Py_tp_traverse, loop_traverse}, {Py_tp_clear, loop_clear},
    {Py_tp_methods, loop_methods},   {Py_tp_getset, loop_getters},
    {Py_tp_members, loop_members},   {0, NULL},
};

static PyType_Spec loop_spec = {
    .name = "buzzer._native.Loop",
    .basicsize = sizeof(struct bz_py_loop),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = loop_slots,
};

static PyObject *attribute(const char *module, const char *name) {
    PyObject *imported = PyImport_ImportModule(module);
    PyObject *value = imported == NULL ? NULL : PyObject_GetAttrString(imported, name);
    Py_XDECREF(imported);
    return value;
}

bool bz_py_loop_init(PyObject *module) {
    text_self = PyUnicode_InternFromString("__self__");
    text_context = PyUnicode_InternFromString("context");
    text_loop = Py_BuildValue("(s)", "loop");
    sleep_callback = attribute("asyncio.futures", "_set_result_unless_cancelled");
    future_type = attribute("asyncio", "Future");
    gathering_type = attribute("asyncio.tasks", "_GatheringFuture");
    slow_task_type = attribute("asyncio.tasks", "_PyTask");
    bz_py_loop_type = (PyTypeObject *)PyType_FromSpec(&loop_spec);
    return text_self != NULL && text_context != NULL && text_loop != NULL &&
           sleep_callback != NULL && future_type != NULL && gathering_type != NULL &&
           slow_task_type != NULL && bz_py_loop_type != NULL &&
           PyModule_AddObjectRef(module, "Loop", (PyObject *)bz_py_loop_type) == 0;
}
