/* The state of futures and tasks. Their getters are called directly, because every step
 * asks: an attribute of the C types is found once, not each time. */
#include <string.h>

#include "tools/python/native/native.h"

/* An attribute: of the type by its getter, of any other by its name. */
struct reader {
    PyTypeObject *type;
    PyObject *name;
    getter get; /* NULL: the type has no such getter */
    void *closure;
};

static PyObject *cancelled_error; /* asyncio.CancelledError */
static struct reader state_of, exception_of, waiter_of, must_cancel_of;
static PyObject *text_pending, *text_finished, *text_cancelled;

static bool find(struct reader *reader, PyObject *type, const char *name) {
    reader->type = (PyTypeObject *)type;
    reader->name = PyUnicode_InternFromString(name);
    PyObject *descriptor = PyObject_GetAttr(type, reader->name);
    if (descriptor == NULL) {
        return false;
    }
    if (Py_IS_TYPE(descriptor, &PyGetSetDescr_Type)) {
        const PyGetSetDef *def = ((PyGetSetDescrObject *)descriptor)->d_getset;
        reader->get = def->get;
        reader->closure = def->closure;
    }
    Py_DECREF(descriptor); /* the type holds it */
    return true;
}

/* --- the exception of a cancel ---------------------------------------------------------------- */

static initproc init_cancelled_error;
static bool watches_cancel;
static PyFrameObject *watched_from; /* borrowed, for the step */
static PyObject *cancel_made;

/* The interpreter makes the exception in the step of the task, before it resumes a coroutine. */
static int note_cancel_made(PyObject *self, PyObject *args, PyObject *kwargs) {
    if (watches_cancel && PyEval_GetFrame() == watched_from) {
        Py_INCREF(self);
        cancel_made = self;
    }
    watches_cancel = false;
    return init_cancelled_error(self, args, kwargs);
}

void bz_py_cancel_watch(void) {
    Py_CLEAR(cancel_made); /* of a step that has run a loop of its own */
    watches_cancel = true;
    watched_from = PyEval_GetFrame();
}

PyObject *bz_py_cancel_take(void) {
    PyObject *made = cancel_made;
    watches_cancel = false;
    cancel_made = NULL;
    return made;
}

static bool watch_cancels(void) {
    if (cancelled_error != NULL && init_cancelled_error == NULL) {
        init_cancelled_error = ((PyTypeObject *)cancelled_error)->tp_init;
        ((PyTypeObject *)cancelled_error)->tp_init = note_cancel_made;
    }
    return cancelled_error != NULL;
}

/* --- their state ------------------------------------------------------------------------------ */

bool bz_py_futures_init(void) {
    PyObject *future = bz_py_attribute("_asyncio", "Future");
    PyObject *task = bz_py_attribute("_asyncio", "Task");
    cancelled_error = bz_py_attribute("asyncio.exceptions", "CancelledError");
    text_pending = PyUnicode_InternFromString("PENDING");
    text_finished = PyUnicode_InternFromString("FINISHED");
    text_cancelled = PyUnicode_InternFromString("CANCELLED");
    return future != NULL && task != NULL && watch_cancels() && text_pending != NULL &&
           text_finished != NULL && text_cancelled != NULL && find(&state_of, future, "_state") &&
           find(&exception_of, future, "_exception") && find(&waiter_of, task, "_fut_waiter") &&
           find(&must_cancel_of, task, "_must_cancel");
}

/* A new reference; NULL without an exception: it has no such attribute. */
static inline PyObject *read_attribute(const struct reader *reader, PyObject *object) {
    PyObject *value = reader->get != NULL && PyObject_TypeCheck(object, reader->type)
                          ? reader->get(object, reader->closure)
                          : PyObject_GetAttr(object, reader->name);
    if (value == NULL) {
        PyErr_Clear();
    }
    return value;
}

static bool is_text(PyObject *object, PyObject *text) {
    return object == text ||
           (object != NULL && PyUnicode_Check(object) && PyUnicode_Compare(object, text) == 0);
}

enum bz_py_state bz_py_future_state(PyObject *future) {
    PyObject *state = read_attribute(&state_of, future);
    enum bz_py_state found = is_text(state, text_pending)     ? BZ_PY_PENDING
                             : is_text(state, text_finished)  ? BZ_PY_FINISHED
                             : is_text(state, text_cancelled) ? BZ_PY_CANCELLED
                                                              : BZ_PY_UNKNOWN;
    Py_XDECREF(state);
    return found;
}

enum bz_status bz_py_future_outcome(PyObject *future) {
    if (bz_py_future_state(future) == BZ_PY_CANCELLED) {
        return BZ_CANCELLED;
    }
    PyObject *exception = read_attribute(&exception_of, future);
    bool has_failed = exception != NULL && exception != Py_None;
    Py_XDECREF(exception);
    return has_failed ? BZ_FAILED : BZ_OK;
}

bool bz_py_task_must_cancel(PyObject *task) {
    PyObject *value = read_attribute(&must_cancel_of, task);
    Py_XDECREF(value);
    return value == Py_True;
}

PyObject *bz_py_task_waiter(PyObject *task) {
    PyObject *future = read_attribute(&waiter_of, task);
    if (future == Py_None) {
        Py_CLEAR(future);
    }
    return future;
}

#if PY_VERSION_HEX >= 0x030b0000
/* An exception that is handled, or one while whose handling it was raised. */
static bool is_of_cancel(PyObject *exception) {
    bool is_one = false;
    Py_XINCREF(exception);
    while (exception != NULL && exception != Py_None && !is_one) {
        is_one = PyErr_GivenExceptionMatches(exception, cancelled_error) != 0;
        PyObject *before = PyException_GetContext(exception);
        Py_DECREF(exception);
        exception = before;
    }
    Py_XDECREF(exception);
    return is_one;
}

/* The object that a coroutine or a generator waits for: a new reference; NULL: it is neither. */
static PyObject *awaited_by(PyObject *code) {
    const char *name = PyCoro_CheckExact(code)       ? "cr_await"
                       : PyGen_CheckExact(code)      ? "gi_yieldfrom"
                       : PyAsyncGen_CheckExact(code) ? "ag_await"
                                                     : NULL;
    PyObject *awaited = name == NULL ? NULL : PyObject_GetAttrString(code, name);
    PyErr_Clear();
    return awaited;
}

bool bz_py_task_handles_cancel(PyObject *task) {
    PyObject *code = PyObject_CallMethod(task, "get_coro", NULL);
    PyObject *awaited;
    bool handles = false;
    while (code != NULL && !handles && (awaited = awaited_by(code)) != NULL) {
        handles = is_of_cancel(((PyGenObject *)code)->gi_exc_state.exc_value);
        Py_DECREF(code);
        code = awaited;
    }
    PyErr_Clear();
    bool is_seen =
        code != NULL && (code == Py_None || strstr(Py_TYPE(code)->tp_name, "FutureIter"));
    Py_XDECREF(code);
    return handles || !is_seen;
}
#else
bool bz_py_task_handles_cancel(PyObject *task) {
    (void)task;
    return true;
}
#endif
