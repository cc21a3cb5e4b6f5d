/* Ready: the queue of what is to run, and how a handle gets there and gets its name. */
#include <string.h>

#include "tools/python/native/native.h"

static PyObject *text_context;   /* "context" */
static PyObject *sleep_callback; /* asyncio.futures._set_result_unless_cancelled */
static PyObject *slow_task_type; /* the tasks of asyncio that are written in Python */

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

bool bz_py_ready_push(struct bz_py_loop *loop, struct bz_py_handle *handle) {
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

struct bz_py_handle *bz_py_ready_take(struct bz_py_loop *loop, uint32_t index) {
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

struct bz_py_handle *bz_py_ready_timer(const struct bz_py_loop *loop) {
    return loop->heap_count == 0 ? NULL : loop->heap[0];
}

bool bz_py_ready_add_due(struct bz_py_loop *loop, bool is_sure) {
    struct bz_py_handle *timer;
    const struct bz_py_handle *before = NULL;
    while ((timer = bz_py_ready_timer(loop)) != NULL &&
           timer->when_ns <= (int64_t)loop->root->now_ns) {
        if (loop->is_fifo && (before != NULL || !is_sure) && bz_py_timers_split(timer, before)) {
            break;
        }
        before = timer;
        bool is_cancelled = timer->is_cancelled;
        loop->cancelled_timers -= is_cancelled;
        bool is_queued = bz_py_ready_push(loop, bz_py_timers_pop(loop));
        loop->has_cancelled |= is_cancelled;
        Py_DECREF(timer);
        if (!is_queued) {
            return false;
        }
    }
    return true;
}

bool bz_py_ready_add_outside(struct bz_py_loop *loop, bool is_idle) {
    uint32_t least = is_idle ? UINT32_MAX : 0, kept = 0;
    for (uint32_t index = 0; is_idle && index < loop->outside_count; index++) {
        least = loop->outside[index]->turns < least ? loop->outside[index]->turns : least;
    }
    bool is_ok = true;
    for (uint32_t index = 0; index < loop->outside_count; index++) {
        struct bz_py_handle *handle = loop->outside[index];
        if (handle->turns > least) {
            handle->turns = (uint8_t)(handle->turns - least - 1);
            loop->outside[kept++] = handle;
            continue;
        }
        is_ok = bz_py_ready_push(loop, handle) && is_ok;
        loop->has_cancelled |= handle->is_cancelled;
        Py_DECREF(handle);
    }
    loop->outside_count = kept;
    return is_ok;
}

void bz_py_loop_note_cancelled(struct bz_py_handle *handle) {
    struct bz_py_loop *loop = handle->loop;
    if (loop == NULL) {
        return;
    }
    loop->cancelled_timers += handle->is_armed;
    loop->has_cancelled |= !handle->is_armed;
}

void bz_py_ready_drop_cancelled(struct bz_py_loop *loop) {
    if (!loop->has_cancelled) {
        return;
    }
    loop->has_cancelled = false;
    for (uint32_t index = 0; index < loop->count; index++) {
        if (loop->ready[index]->is_cancelled) {
            uint32_t left = loop->turn_left;
            Py_DECREF(bz_py_ready_take(loop, index));
            loop->turn_left = index < left ? left - 1 : left;
            index--;
        }
    }
}

bool bz_py_callback_is_ready(const struct bz_py_loop *loop) {
    if (loop->outside_count > 0) {
        return true;
    }
    for (uint32_t index = 0; index < loop->count; index++) {
        if (loop->names[index].role == BZ_ROLE_CALLBACK) {
            return true;
        }
    }
    return false;
}

/* --- new handles ------------------------------------------------------------------------------ */

static int find_task(PyObject *object, void *found) {
    bool is_one = bz_py_is_task(object);
    if (is_one) {
        *(PyObject **)found = object;
    }
    return is_one;
}

/* True if it is a type of the module _asyncio whose instances step a task. Its name has the module
 * in front since 3.12. */
static bool is_wrapper(PyTypeObject *type) {
    static PyTypeObject *known[2]; /* begins a step; wakes, in 3.9 */
    if (type == known[0] || type == known[1]) {
        return true;
    }
    const char *dot = strrchr(type->tp_name, '.');
    const char *name = dot == NULL ? type->tp_name : dot + 1;
    uint32_t place = strcmp(name, "TaskStepMethWrapper") == 0     ? 0
                     : strcmp(name, "TaskWakeupMethWrapper") == 0 ? 1
                                                                  : 2;
    if (place == 2) {
        return false;
    }
    known[place] = type;
    return true;
}

/* True if the callback is a step of a task: its begin, or its wake-up. `task` is NULL for one that
 * Buzzer's loop has not created. The callback holds the task. */
static bool is_step(PyObject *callback, PyObject **task) {
    PyTypeObject *type = Py_TYPE(callback);
    *task = NULL;
    if (type == &PyCFunction_Type) {
        PyObject *self = PyCFunction_GET_SELF(callback);
        if (strcmp(((PyCFunctionObject *)callback)->m_ml->ml_name, "task_wakeup") != 0) {
            return false; /* such as task.cancel */
        }
        *task = self != NULL && bz_py_is_task(self) ? self : NULL;
        return true;
    }
    if (is_wrapper(type)) {
        (void)type->tp_traverse(callback, find_task, task);
        return true;
    }
    return PyMethod_Check(callback) &&
           PyObject_TypeCheck(PyMethod_GET_SELF(callback), (PyTypeObject *)slow_task_type);
}

static void name_step(struct bz_py_loop *loop, struct bz_py_handle *handle, PyObject *self) {
    struct bz_py_task *task = bz_py_task_of(self);
    handle->task = self;
    handle->name =
        (struct bz_ready){.owner = task->number, .nth = task->steps + 1, .role = BZ_ROLE_STEP};
    handle->is_wakeup = PyTuple_GET_SIZE(handle->args) == 1;
    if (handle->is_wakeup) {
        bz_py_loop_wake(loop, task, bz_py_future_outcome(PyTuple_GET_ITEM(handle->args, 0)));
    }
}

/* False with an exception: the step of a strange task. */
static bool name_handle(struct bz_py_loop *loop, struct bz_py_handle *handle) {
    PyObject *task;
    if (!handle->is_timer && is_step(handle->callback, &task)) {
        if (task != NULL && bz_py_task_of(task)->number != 0) {
            name_step(loop, handle, task);
            return true;
        }
        bz_py_loop_refuse(loop, "a task that Buzzer cannot follow, because its class is not "
                                "asyncio.Task: use asyncio.create_task()");
        return false;
    }
    uint32_t owner = bz_judge_running(loop->judge);
    struct bz_py_owner *counts = &loop->root->owners[owner];
    handle->name =
        (struct bz_ready){.owner = owner,
                          .nth = handle->is_timer ? ++counts->timers : ++counts->callbacks,
                          .role = handle->is_timer ? BZ_ROLE_TIMER : BZ_ROLE_CALLBACK};
    return true;
}

static bool outside_push(struct bz_py_loop *loop, struct bz_py_handle *handle) {
    static const uint8_t turns[] = {0, 0, 0, 1, 1, 2, 4, 9};
    if (loop->outside_count == loop->outside_capacity &&
        !bz_py_grow((void **)&loop->outside, &loop->outside_capacity, sizeof *loop->outside)) {
        return false;
    }
    handle->turns = turns[bz_judge_draw(loop->judge, "arrival", sizeof turns / sizeof *turns)];
    Py_INCREF(handle);
    handle->loop = loop;
    loop->outside[loop->outside_count++] = handle;
    return true;
}

struct moment {
    int64_t ns;
    double s;
    PyObject *object;
};

/* A new handle at the end of the ready queue, among the timers, or from outside. */
static PyObject *add(struct bz_py_loop *loop, PyObject *callback, PyObject *const *args,
                     Py_ssize_t count, PyObject *context, const struct moment *when,
                     bool is_outside) {
    struct bz_py_handle *handle = bz_py_handle_new(callback, args, count, context);
    if (handle == NULL) {
        return NULL;
    }
    handle->is_timer = when != NULL;
    handle->is_outside = is_outside;
    if (when != NULL) {
        handle->when_ns = when->ns;
        handle->when_s = when->s;
        handle->when = when->object;
        Py_INCREF(handle->when);
    }
    if (loop->is_closed) {
        PyErr_SetString(PyExc_RuntimeError, "Event loop is closed");
        Py_DECREF(handle);
        return NULL;
    }
    if (loop->judge == NULL) { /* the run is over: nothing happens any more */
        bz_py_handle_drop(handle);
        return (PyObject *)handle;
    }
    if (!name_handle(loop, handle) ||
        !(when != NULL                  ? bz_py_timers_push(loop, handle)
          : is_outside && loop->is_fifo ? outside_push(loop, handle)
                                        : bz_py_ready_push(loop, handle))) {
        Py_DECREF(handle);
        return NULL;
    }
    return (PyObject *)handle;
}

/* The named arguments of call_soon(): `context`, and `callback` if it is not NULL already. False
 * with an exception. */
static bool take_names(PyObject *const *values, PyObject *names, PyObject **callback,
                       PyObject **context) {
    Py_ssize_t count = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    for (Py_ssize_t index = 0; index < count; index++) {
        PyObject *name = PyTuple_GET_ITEM(names, index);
        if (PyUnicode_Compare(name, text_context) == 0) {
            *context = values[index];
        } else if (*callback == NULL && PyUnicode_CompareWithASCIIString(name, "callback") == 0) {
            *callback = values[index];
        } else {
            PyErr_Format(PyExc_TypeError,
                         "Loop.call_soon() got an unexpected keyword argument '%U'", name);
            return false;
        }
    }
    if (*callback == NULL) {
        PyErr_SetString(PyExc_TypeError,
                        "Loop.call_soon() missing 1 required positional argument: 'callback'");
    }
    return *callback != NULL;
}

/* In debug mode, asyncio refuses what is no function, and coroutine functions. */
static bool is_refused(struct bz_py_loop *loop, PyObject *callback, const char *method) {
    if (!loop->is_debugged) {
        return false;
    }
    PyObject *result =
        PyObject_CallMethod((PyObject *)loop, "_check_callback", "Os", callback, method);
    Py_XDECREF(result);
    return result == NULL;
}

static PyObject *call_soon(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names,
                           bool is_outside) {
    struct bz_py_loop *loop = (struct bz_py_loop *)self;
    PyObject *callback = count < 1 ? NULL : args[0];
    PyObject *context = NULL;
    if (!take_names(args + count, names, &callback, &context) ||
        is_refused(loop, callback, "call_soon")) {
        return NULL;
    }
    return add(loop, callback, args + 1, count < 1 ? 0 : count - 1, context, NULL, is_outside);
}

PyObject *bz_py_call_soon(PyObject *self, PyObject *const *args, Py_ssize_t count,
                          PyObject *names) {
    return call_soon(self, args, count, names, false);
}

PyObject *bz_py_call_outside(PyObject *self, PyObject *const *args, Py_ssize_t count,
                             PyObject *names) {
    return call_soon(self, args, count, names, true);
}

PyObject *bz_py_call_at_ns(PyObject *self, PyObject *const *args, Py_ssize_t count,
                           PyObject *names) {
    struct bz_py_loop *loop = (struct bz_py_loop *)self;
    PyObject *callback = count < 3 ? NULL : args[2];
    PyObject *context = NULL;
    struct moment when = {.ns = count < 2 ? 0 : PyLong_AsLongLong(args[0]),
                          .object = count < 2 ? NULL : args[1]};
    when.s = count < 2 || PyErr_Occurred() ? 0 : PyFloat_AsDouble(args[1]);
    if (PyErr_Occurred() || !take_names(args + count, names, &callback, &context) ||
        is_refused(loop, callback, "call_at")) {
        return NULL;
    }
    if (callback == sleep_callback && count > 3) {
        Py_INCREF(args[3]);
        Py_XSETREF(loop->sleep, args[3]);
    }
    return add(loop, args[2], args + 3, count - 3, context, &when, false);
}

bool bz_py_ready_init(void) {
    text_context = PyUnicode_InternFromString("context");
    sleep_callback = bz_py_attribute("asyncio.futures", "_set_result_unless_cancelled");
    slow_task_type = bz_py_attribute("asyncio.tasks", "_PyTask");
    return text_context != NULL && sleep_callback != NULL && slow_task_type != NULL;
}
