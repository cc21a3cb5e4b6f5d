/* Loop: what an asyncio loop does in a turn, with the judge in the place of the selector. */
#include "tools/python/native/native.h"

#include <string.h>
#include <structmember.h> /* after Python.h */

PyTypeObject *bz_py_loop_type;
PyTypeObject *bz_py_handle_type;

static PyObject *text_self;         /* "__self__" */
static PyObject *text_waiter;       /* "_fut_waiter" */
static PyObject *text_must;         /* "_must_cancel" */
static PyObject *text_state;        /* "_state" */
static PyObject *text_exception;    /* "_exception" */
static PyObject *sleep_callback;    /* asyncio.futures._set_result_unless_cancelled */
static PyObject *future_type;       /* asyncio.Future */
static PyObject *gathering_type;    /* what asyncio.gather() waits for */
static PyTypeObject *step_types[2]; /* of callbacks that are a task's step; NULL: none seen yet */

/* --- handles ---------------------------------------------------------------------------------- */

static void handle_drop(struct bz_py_handle *handle) {
    Py_CLEAR(handle->callback);
    Py_CLEAR(handle->args);
    Py_CLEAR(handle->context);
}

static void handle_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    handle_drop((struct bz_py_handle *)self);
    type->tp_free(self);
    Py_DECREF(type);
}

static int handle_traverse(PyObject *self, visitproc visit, void *arg) {
    struct bz_py_handle *handle = (struct bz_py_handle *)self;
    Py_VISIT(handle->callback);
    Py_VISIT(handle->args);
    Py_VISIT(handle->context);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static int handle_clear(PyObject *self) {
    handle_drop((struct bz_py_handle *)self);
    return 0;
}

static PyObject *handle_cancel(PyObject *self, PyObject *unused) {
    struct bz_py_handle *handle = (struct bz_py_handle *)self;
    (void)unused;
    handle->is_cancelled = true;
    handle_drop(handle);
    Py_RETURN_NONE;
}

static PyObject *handle_cancelled(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyBool_FromLong(((struct bz_py_handle *)self)->is_cancelled);
}

static PyObject *handle_when(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyFloat_FromDouble((double)((struct bz_py_handle *)self)->when_ns / 1e9);
}

static PyObject *handle_context(PyObject *self, PyObject *unused) {
    PyObject *context = ((struct bz_py_handle *)self)->context;
    (void)unused;
    context = context == NULL ? Py_None : context;
    Py_INCREF(context);
    return context;
}

static PyMethodDef handle_methods[] = {
    {"cancel", handle_cancel, METH_NOARGS, "Cancels the callback."},
    {"cancelled", handle_cancelled, METH_NOARGS, "Whether it was cancelled."},
    {"when", handle_when, METH_NOARGS, "When it is due, on the loop's clock, in seconds."},
    {"get_context", handle_context, METH_NOARGS, "The context in which it runs."},
    {0},
};

static PyType_Slot handle_slots[] = {
    {Py_tp_dealloc, handle_dealloc},
    {Py_tp_traverse, handle_traverse},
    {Py_tp_clear, handle_clear},
    {Py_tp_methods, handle_methods},
    {0, NULL},
};

static PyType_Spec handle_spec = {
    .name = "buzzer._native.Handle",
    .basicsize = sizeof(struct bz_py_handle),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = handle_slots,
};

/* --- what a future says ----------------------------------------------------------------------- */

static bool is_text(PyObject *object, const char *text) {
    return object != NULL && PyUnicode_Check(object) &&
           PyUnicode_CompareWithASCIIString(object, text) == 0;
}

/* What an await of the future returns. */
static enum bz_status outcome(PyObject *future) {
    PyObject *state = PyObject_GetAttr(future, text_state);
    PyObject *exception = NULL;
    enum bz_status status = BZ_OK;
    if (is_text(state, "CANCELLED")) {
        status = BZ_CANCELLED;
    } else {
        exception = PyObject_GetAttr(future, text_exception);
        status = exception != NULL && exception != Py_None ? BZ_FAILED : BZ_OK;
    }
    PyErr_Clear(); /* a future of another kind has other names */
    Py_XDECREF(exception);
    Py_XDECREF(state);
    return status;
}

static bool is_true(PyObject *object, PyObject *name) {
    PyObject *value = PyObject_GetAttr(object, name);
    bool is_set = value == Py_True;
    PyErr_Clear();
    Py_XDECREF(value);
    return is_set;
}

/* --- the queues ------------------------------------------------------------------------------- */

static bool grow(void **array, uint32_t *capacity, size_t entry_bytes) {
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
        if (!grow((void **)&loop->ready, &capacity, sizeof *loop->ready) ||
            !grow((void **)&loop->names, &loop->capacity, sizeof *loop->names)) {
            return false;
        }
    }
    Py_INCREF(handle);
    loop->names[loop->count] = handle->name;
    loop->ready[loop->count++] = handle;
    return true;
}

/* The handle leaves the queue; the caller owns it. */
static struct bz_py_handle *take(struct bz_py_loop *loop, uint32_t index) {
    struct bz_py_handle *handle = loop->ready[index];
    loop->count--;
    loop->turn_left -= loop->turn_left > 0;
    memmove(&loop->ready[index], &loop->ready[index + 1],
            (loop->count - index) * sizeof *loop->ready);
    memmove(&loop->names[index], &loop->names[index + 1],
            (loop->count - index) * sizeof *loop->names);
    return handle;
}

/* The timers are a heap with the very moves of the module heapq, which asyncio uses: the order of
 * timers of one time is that of the stock loop. */
static void sift_down(struct bz_py_handle **heap, uint32_t first, uint32_t place) {
    struct bz_py_handle *item = heap[place];
    while (place > first) {
        uint32_t parent = (place - 1) / 2;
        if (item->when_ns >= heap[parent]->when_ns) {
            break;
        }
        heap[place] = heap[parent];
        place = parent;
    }
    heap[place] = item;
}

static void sift_up(struct bz_py_handle **heap, uint32_t count, uint32_t place) {
    struct bz_py_handle *item = heap[place];
    uint32_t first = place;
    uint32_t child = 2 * place + 1;
    while (child < count) {
        uint32_t right = child + 1;
        if (right < count && heap[child]->when_ns >= heap[right]->when_ns) {
            child = right;
        }
        heap[place] = heap[child];
        place = child;
        child = 2 * place + 1;
    }
    heap[place] = item;
    sift_down(heap, first, place);
}

static bool push_timer(struct bz_py_loop *loop, struct bz_py_handle *handle) {
    if (loop->heap_count == loop->heap_capacity &&
        !grow((void **)&loop->heap, &loop->heap_capacity, sizeof *loop->heap)) {
        return false;
    }
    Py_INCREF(handle);
    loop->heap[loop->heap_count++] = handle;
    sift_down(loop->heap, 0, loop->heap_count - 1);
    return true;
}

static struct bz_py_handle *pop_timer(struct bz_py_loop *loop) {
    struct bz_py_handle *first = loop->heap[0];
    loop->heap[0] = loop->heap[--loop->heap_count];
    if (loop->heap_count > 0) {
        sift_up(loop->heap, loop->heap_count, 0);
    }
    return first;
}

/* The first timer that was not cancelled; NULL: none. */
static struct bz_py_handle *next_timer(struct bz_py_loop *loop) {
    while (loop->heap_count > 0 && loop->heap[0]->is_cancelled) {
        Py_DECREF(pop_timer(loop));
    }
    return loop->heap_count == 0 ? NULL : loop->heap[0];
}

static bool queue_due_timers(struct bz_py_loop *loop) {
    struct bz_py_handle *timer;
    while ((timer = next_timer(loop)) != NULL && timer->when_ns <= loop->now_ns) {
        bool is_queued = push_ready(loop, pop_timer(loop));
        Py_DECREF(timer);
        if (!is_queued) {
            return false;
        }
    }
    return true;
}

/* --- new handles ------------------------------------------------------------------------------ */

/* Whether callbacks of this type begin a task, or wake one (3.9). Since 3.12 the name of the module
 * is in front. */
static bool is_step_type(PyTypeObject *type) {
    if (type == step_types[0] || type == step_types[1]) {
        return true;
    }
    const char *dot = strrchr(type->tp_name, '.');
    const char *name = dot == NULL ? type->tp_name : dot + 1;
    if (strcmp(name, "TaskStepMethWrapper") != 0 && strcmp(name, "TaskWakeupMethWrapper") != 0) {
        return false;
    }
    step_types[step_types[0] != NULL] = type;
    return true;
}

/* The task that the callback begins or wakes; NULL: it is no step. */
static PyObject *stepped_task(PyObject *callback) {
    PyTypeObject *type = Py_TYPE(callback);
    if (type == &PyCFunction_Type) {
        PyObject *self = PyCFunction_GET_SELF(callback);
        return self != NULL && bz_py_is_task(self) ? self : NULL;
    }
    if (is_step_type(type)) {
        PyObject *self = PyObject_GetAttr(callback, text_self);
        PyErr_Clear();
        Py_XDECREF(self); /* the callback holds it */
        return self != NULL && bz_py_is_task(self) ? self : NULL;
    }
    return NULL;
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

static void name_handle(struct bz_py_loop *loop, struct bz_py_handle *handle) {
    PyObject *self = handle->is_timer ? NULL : stepped_task(handle->callback);
    if (self != NULL) {
        struct bz_py_task *task = bz_py_task_of(self);
        handle->name =
            (struct bz_ready){.owner = task->number, .nth = task->steps + 1, .role = BZ_ROLE_STEP};
        handle->is_wakeup = handle->args != NULL && PyTuple_GET_SIZE(handle->args) == 1;
        if (handle->is_wakeup) {
            wake(loop, task, outcome(PyTuple_GET_ITEM(handle->args, 0)));
        }
        return;
    }
    uint32_t owner = bz_judge_running(loop->judge);
    struct bz_py_owner *counts = &loop->owners[owner];
    handle->name =
        (struct bz_ready){.owner = owner,
                          .nth = handle->is_timer ? ++counts->timers : ++counts->callbacks,
                          .role = handle->is_timer ? BZ_ROLE_TIMER : BZ_ROLE_CALLBACK};
}

/* A new handle at the end of the ready queue, or among the timers. */
static PyObject *add(struct bz_py_loop *loop, PyObject *callback, PyObject *const *args,
                     Py_ssize_t count, PyObject *context, const uint64_t *when_ns) {
    struct bz_py_handle *handle = PyObject_GC_New(struct bz_py_handle, bz_py_handle_type);
    if (handle == NULL) {
        return NULL;
    }
    memset((char *)handle + sizeof(PyObject), 0, sizeof *handle - sizeof(PyObject));
    Py_INCREF(callback);
    handle->callback = callback;
    if (count > 0) {
        handle->args = PyTuple_New(count);
        for (Py_ssize_t index = 0; handle->args != NULL && index < count; index++) {
            Py_INCREF(args[index]);
            PyTuple_SET_ITEM(handle->args, index, args[index]);
        }
    }
    if (context != NULL && context != Py_None) {
        Py_INCREF(context);
        handle->context = context;
    } else {
        handle->context = PyContext_CopyCurrent();
    }
    handle->loop = loop;
    handle->is_timer = when_ns != NULL;
    handle->when_ns = when_ns == NULL ? 0 : *when_ns;
    PyObject_GC_Track(handle);
    if (loop->judge == NULL) { /* the run is over: nothing happens any more */
        return (PyObject *)handle;
    }
    name_handle(loop, handle);
    if ((count > 0 && handle->args == NULL) || handle->context == NULL ||
        !(when_ns == NULL ? push_ready(loop, handle) : push_timer(loop, handle))) {
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
    if (PyTuple_GET_SIZE(names) > 1 || !is_text(PyTuple_GET_ITEM(names, 0), "context")) {
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
    uint64_t when_ns = PyLong_AsUnsignedLongLong(args[0]);
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
           (grow((void **)&loop->tasks, &capacity, sizeof *loop->tasks) &&
            grow((void **)&loop->owners, &loop->task_capacity, sizeof *loop->owners));
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

static void end_task(struct bz_py_loop *loop, PyObject *self, struct bz_py_task *task) {
    bz_judge_event(loop->judge, BZ_EVENT_EXIT, task->number, outcome(self), 0);
    bz_judge_event(loop->judge, BZ_EVENT_FREE, task->number, BZ_OK, 0);
    task->loop = NULL;
    Py_CLEAR(loop->tasks[task->number - 1]);
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

static void end_step(struct bz_py_loop *loop, PyObject *self, struct bz_py_task *task) {
    PyObject *state = PyObject_GetAttr(self, text_state);
    bool is_done = !is_text(state, "PENDING");
    Py_XDECREF(state);
    if (is_done) {
        end_task(loop, self, task);
        return;
    }
    PyObject *future = PyObject_GetAttr(self, text_waiter);
    PyErr_Clear();
    bool waits = future != NULL && future != Py_None;
    enum bz_wait wait = waits ? wait_of(loop, future) : BZ_WAIT_YIELD;
    Py_XDECREF(future);
    note_place(loop, self);
    bz_judge_event(loop->judge, BZ_EVENT_SUSPEND, task->number, BZ_OK, wait);
    task->is_waiting = waits;
    if (loop->woken == task->number) {
        loop->woken = 0;
        wake(loop, task, loop->woken_status);
    }
}

/* --- the step --------------------------------------------------------------------------------- */

static bool call(struct bz_py_handle *handle) {
    PyObject *callback = handle->callback;
    PyObject *args = handle->args;
    PyObject *context = handle->context;
    if (PyContext_Enter(context) != 0) {
        return false;
    }
    PyObject *result =
        args == NULL ? PyObject_CallNoArgs(callback) : PyObject_Call(callback, args, NULL);
    Py_XDECREF(result);
    return (PyContext_Exit(context) == 0) & (result != NULL);
}

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

static bool run_step(struct bz_py_loop *loop, struct bz_py_handle *handle, PyObject *self) {
    struct bz_py_task *task = bz_py_task_of(self);
    enum bz_status status = BZ_OK;
    if (is_true(self, text_must)) {
        status = BZ_CANCELLED;
    } else if (handle->is_wakeup) {
        status = outcome(PyTuple_GET_ITEM(handle->args, 0));
    }
    task->steps++;
    task->is_waiting = false;
    bz_judge_event(loop->judge, BZ_EVENT_RESUME, task->number, status, task->steps);
    bool is_ok = call(handle) || hand_to_handler(loop, handle);
    end_step(loop, self, task);
    return is_ok;
}

static bool run_handle(struct bz_py_loop *loop, struct bz_py_handle *handle) {
    if (handle->callback == NULL) {
        return true;
    }
    PyObject *self = handle->name.role == BZ_ROLE_STEP ? stepped_task(handle->callback) : NULL;
    if (self != NULL) {
        Py_INCREF(self);
        bool is_ok = run_step(loop, handle, self);
        Py_DECREF(self);
        return is_ok;
    }
    bz_judge_event(loop->judge, BZ_EVENT_CALLBACK, handle->name.owner, BZ_OK, handle->name.role);
    return call(handle) || hand_to_handler(loop, handle);
}

/* Handles that were cancelled in the ready queue do nothing: they are no steps. */
static void drop_cancelled(struct bz_py_loop *loop) {
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

static void jump_clock(struct bz_py_loop *loop) {
    const struct bz_py_handle *timer = next_timer(loop);
    if (timer != NULL && timer->when_ns > loop->now_ns && timer->when_ns <= BZ_TIME_MAX_NS &&
        bz_judge_jump(loop->judge)) {
        set_clock(loop, timer->when_ns);
    }
}

static bool advance_clock(struct bz_py_loop *loop) {
    const struct bz_py_handle *timer = next_timer(loop);
    if (timer == NULL || timer->when_ns > BZ_TIME_MAX_NS) {
        return false;
    }
    set_clock(loop, timer->when_ns);
    return true;
}

/* Order any: a cancel, a timer, the end. False: no handle runs now. */
static bool prepare_any(struct bz_py_loop *loop) {
    if (strike(loop)) {
        return false;
    }
    drop_cancelled(loop);
    if (next_timer(loop) != NULL) {
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

bool bz_py_loop_drive(struct bz_py_loop *loop, bool is_fifo) {
    loop->is_over = false;
    loop->is_outside_past = true;
    bz_judge_end_step(loop->judge); /* for the events of the set-up */
    while (!loop->is_over && bz_judge_goes_on(loop->judge)) {
        if (!(is_fifo ? prepare_fifo(loop) : prepare_any(loop))) {
            continue;
        }
        uint32_t index = bz_judge_next(loop->judge, loop->names, is_fifo ? 1 : loop->count);
        struct bz_py_handle *handle = take(loop, index);
        bool is_ok = run_handle(loop, handle);
        handle_drop(handle);
        Py_DECREF(handle);
        bz_judge_end_step(loop->judge);
        if (!is_ok) {
            return false;
        }
    }
    return true;
}

void bz_py_loop_end(struct bz_py_loop *loop) {
    loop->judge = NULL;
    while (loop->count > 0) {
        struct bz_py_handle *handle = loop->ready[--loop->count];
        handle_drop(handle);
        Py_DECREF(handle);
    }
    while (loop->heap_count > 0) {
        struct bz_py_handle *handle = loop->heap[--loop->heap_count];
        handle_drop(handle);
        Py_DECREF(handle);
    }
    for (uint32_t index = 0; index < loop->task_count; index++) {
        if (loop->tasks[index] != NULL) {
            bz_py_task_of(loop->tasks[index])->loop = NULL;
            Py_CLEAR(loop->tasks[index]);
        }
    }
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

/* _object_to(oracle, task number, message): a violation. */
static PyObject *loop_object_to(PyObject *self, PyObject *args) {
    const char *oracle, *message;
    unsigned task;
    if (!PyArg_ParseTuple(args, "sIs", &oracle, &task, &message)) {
        return NULL;
    }
    struct bz_judge *judge = ((struct bz_py_loop *)self)->judge;
    if (judge != NULL && bz_oracle_index(oracle) < bz_oracle_count) {
        bz_judge_object(judge, oracle, task, 0, "%s", message);
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

static PyObject *loop_running(PyObject *self, void *closure) {
    const struct bz_judge *judge = ((struct bz_py_loop *)self)->judge;
    (void)closure;
    return PyLong_FromUnsignedLong(judge == NULL ? 0 : bz_judge_running(judge));
}

/* --- the type --------------------------------------------------------------------------------- */

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
    for (uint32_t index = 0; index < loop->count; index++) {
        Py_VISIT(loop->ready[index]);
    }
    for (uint32_t index = 0; index < loop->heap_count; index++) {
        Py_VISIT(loop->heap[index]);
    }
    for (uint32_t index = 0; index < loop->task_count; index++) {
        Py_VISIT(loop->tasks[index]);
    }
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
    {"time", loop_time, METH_NOARGS, "The virtual time, in seconds."},
    {0},
};

static PyGetSetDef loop_getters[] = {
    {"_running", loop_running, NULL, "The number of the running task; 0: none.", NULL},
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
    text_waiter = PyUnicode_InternFromString("_fut_waiter");
    text_must = PyUnicode_InternFromString("_must_cancel");
    text_state = PyUnicode_InternFromString("_state");
    text_exception = PyUnicode_InternFromString("_exception");
    sleep_callback = attribute("asyncio.futures", "_set_result_unless_cancelled");
    future_type = attribute("asyncio", "Future");
    gathering_type = attribute("asyncio.tasks", "_GatheringFuture");
    bz_py_handle_type = (PyTypeObject *)PyType_FromSpec(&handle_spec);
    bz_py_loop_type = (PyTypeObject *)PyType_FromSpec(&loop_spec);
    return text_exception != NULL && sleep_callback != NULL && future_type != NULL &&
           gathering_type != NULL && bz_py_handle_type != NULL && bz_py_loop_type != NULL &&
           PyModule_AddObjectRef(module, "Handle", (PyObject *)bz_py_handle_type) == 0 &&
           PyModule_AddObjectRef(module, "Loop", (PyObject *)bz_py_loop_type) == 0;
}
