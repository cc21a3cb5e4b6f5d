/* The methods acquire() and release() of a watched primitive: the real ones, which are reported to
 * the judge. They are in C, because programs under test call little else.
 *
 * The object that acquire() returns is awaited instead of the real coroutine, and passes everything
 * on to it. */
#include "tools/python/native/native.h"

#include <structmember.h> /* after Python.h */

struct acquire {
    PyObject_HEAD PyObject *object;
    PyObject *coroutine; /* the real one */
    bool has_begun;
    bool is_reported; /* and not over */
};

static PyTypeObject *acquire_type;
static PyObject *cancelled_error;
static PyObject *text_send;

/* --- what is awaited -------------------------------------------------------------------------- */

/* False with an exception. */
static bool begin(struct acquire *acquire) {
    if (!acquire->has_begun) {
        int64_t begun = bz_py_object_begin(acquire->object, BZ_PY_ACQUIRE, 0);
        acquire->has_begun = true;
        acquire->is_reported = begun > 0;
        return begun >= 0;
    }
    return true;
}

static void finish(struct acquire *acquire, enum bz_status status) {
    if (acquire->is_reported) {
        acquire->is_reported = false;
        bz_py_object_end(acquire->object, BZ_PY_ACQUIRE, 1, status, 0);
    }
}

/* The judge looks into the primitive, which clears a pending exception. */
static void finish_beside_error(struct acquire *acquire, enum bz_status status) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    finish(acquire, status);
    PyErr_Restore(type, value, traceback);
}

static void fail(struct acquire *acquire) {
    bool is_cancelled = PyErr_ExceptionMatches(cancelled_error) != 0;
    finish_beside_error(acquire, is_cancelled ? BZ_CANCELLED : BZ_FAILED);
}

/* After a call that returned what the coroutine yields, or raised what ends it. */
static PyObject *passed_on(struct acquire *acquire, PyObject *yielded) {
    if (yielded == NULL) {
        if (PyErr_Occurred() == NULL || PyErr_ExceptionMatches(PyExc_StopIteration)) {
            finish_beside_error(acquire, BZ_OK);
        } else {
            fail(acquire);
        }
    }
    return yielded;
}

#if PY_VERSION_HEX >= 0x030a0000
static PySendResult acquire_am_send(PyObject *self, PyObject *value, PyObject **result) {
    struct acquire *acquire = (struct acquire *)self;
    if (!begin(acquire)) {
        *result = NULL;
        return PYGEN_ERROR;
    }
    PySendResult outcome = PyIter_Send(acquire->coroutine, value, result);
    if (outcome == PYGEN_RETURN) {
        finish(acquire, BZ_OK);
    } else if (outcome == PYGEN_ERROR) {
        fail(acquire);
    }
    return outcome;
}
#endif

static PyObject *acquire_send(PyObject *self, PyObject *value) {
    struct acquire *acquire = (struct acquire *)self;
    if (!begin(acquire)) {
        return NULL;
    }
    return passed_on(acquire,
                     PyObject_CallMethodObjArgs(acquire->coroutine, text_send, value, NULL));
}

static PyObject *acquire_next(PyObject *self) {
    return acquire_send(self, Py_None);
}

static PyObject *acquire_throw(PyObject *self, PyObject *args) {
    struct acquire *acquire = (struct acquire *)self;
    PyObject *method = PyObject_GetAttrString(acquire->coroutine, "throw");
    PyObject *yielded = method == NULL ? NULL : PyObject_CallObject(method, args);
    Py_XDECREF(method);
    return passed_on(acquire, yielded);
}

static PyObject *acquire_close(PyObject *self, PyObject *unused) {
    struct acquire *acquire = (struct acquire *)self;
    (void)unused;
    PyObject *result = PyObject_CallMethod(acquire->coroutine, "close", NULL);
    finish_beside_error(acquire, BZ_FAILED);
    return result;
}

static PyObject *acquire_await(PyObject *self) {
    Py_INCREF(self);
    return self;
}

static int acquire_traverse(PyObject *self, visitproc visit, void *arg) {
    struct acquire *acquire = (struct acquire *)self;
    Py_VISIT(acquire->object);
    Py_VISIT(acquire->coroutine);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static int acquire_clear(PyObject *self) {
    struct acquire *acquire = (struct acquire *)self;
    Py_CLEAR(acquire->object);
    Py_CLEAR(acquire->coroutine);
    return 0;
}

static void acquire_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    (void)acquire_clear(self);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyObject *acquire_new(PyObject *object, PyObject *coroutine) {
    struct acquire *acquire = PyObject_GC_New(struct acquire, acquire_type);
    if (acquire == NULL) {
        return NULL;
    }
    Py_INCREF(object);
    Py_INCREF(coroutine);
    acquire->object = object;
    acquire->coroutine = coroutine;
    acquire->has_begun = false;
    acquire->is_reported = false;
    PyObject_GC_Track(acquire);
    return (PyObject *)acquire;
}

static PyMethodDef acquire_methods[] = {
    {"send", acquire_send, METH_O, NULL},
    {"throw", acquire_throw, METH_VARARGS, NULL},
    {"close", acquire_close, METH_NOARGS, NULL},
    {0},
};

/* For those who look where a task is suspended. */
static PyMemberDef acquire_members[] = {
    {"cr_await", T_OBJECT, offsetof(struct acquire, coroutine), READONLY, "The real coroutine."},
    {0},
};

static PyType_Slot acquire_slots[] = {
    {Py_tp_dealloc, acquire_dealloc},
    {Py_tp_traverse, acquire_traverse},
    {Py_tp_clear, acquire_clear},
    {Py_tp_iter, acquire_await},
    {Py_tp_iternext, acquire_next},
    {Py_am_await, acquire_await},
#if PY_VERSION_HEX >= 0x030a0000
    {Py_am_send, (void *)(uintptr_t)acquire_am_send},
#endif
    {Py_tp_methods, acquire_methods},
    {Py_tp_members, acquire_members},
    {0, NULL},
};

static PyType_Spec acquire_spec = {
    .name = "buzzer._native.Acquire",
    .basicsize = sizeof(struct acquire),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = acquire_slots,
};

/* --- the methods ------------------------------------------------------------------------------ */

/* The real coroutine, or the iterator of what else can be awaited. */
static PyObject *iterator_of(PyObject *awaitable) {
    PyAsyncMethods *methods = Py_TYPE(awaitable)->tp_as_async;
    if (PyCoro_CheckExact(awaitable) || methods == NULL || methods->am_await == NULL) {
        return awaitable;
    }
    PyObject *iterator = methods->am_await(awaitable);
    Py_DECREF(awaitable);
    return iterator;
}

/* A wrapped method is a function of the pair of an object and the real method. */
static PyObject *call_acquire(PyObject *pair, PyObject *unused) {
    (void)unused;
    PyObject *awaitable = PyObject_CallNoArgs(PyTuple_GET_ITEM(pair, 1));
    PyObject *coroutine = awaitable == NULL ? NULL : iterator_of(awaitable);
    if (coroutine == NULL) {
        return NULL;
    }
    PyObject *acquire = acquire_new(PyTuple_GET_ITEM(pair, 0), coroutine);
    Py_DECREF(coroutine);
    return acquire;
}

static PyObject *call_release(PyObject *pair, PyObject *unused) {
    PyObject *object = PyTuple_GET_ITEM(pair, 0);
    (void)unused;
    int64_t begun = bz_py_object_begin(object, BZ_PY_RELEASE, 0);
    PyObject *result = begun < 0 ? NULL : PyObject_CallNoArgs(PyTuple_GET_ITEM(pair, 1));
    if (begun <= 0) {
        return result;
    }
    if (result != NULL) {
        bz_py_object_end(object, BZ_PY_RELEASE, begun, BZ_OK, 0);
        return result;
    }
    bool is_refused = PyErr_ExceptionMatches(PyExc_RuntimeError) != 0 ||
                      PyErr_ExceptionMatches(PyExc_ValueError) != 0;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    bz_py_object_end(object, BZ_PY_RELEASE, begun, is_refused ? BZ_NOT_HELD : BZ_FAILED, 0);
    PyErr_Restore(type, value, traceback);
    return NULL;
}

static PyObject *wrap(PyMethodDef *function, PyObject *object, PyObject *method) {
    PyObject *pair = PyTuple_Pack(2, object, method);
    PyObject *result = pair == NULL ? NULL : PyCFunction_New(function, pair);
    Py_XDECREF(pair);
    return result;
}

PyObject *bz_py_wrap_acquire(PyObject *object, PyObject *method) {
    static PyMethodDef function = {"acquire", call_acquire, METH_NOARGS, NULL};
    return wrap(&function, object, method);
}

PyObject *bz_py_wrap_release(PyObject *object, PyObject *method) {
    static PyMethodDef function = {"release", call_release, METH_NOARGS, NULL};
    return wrap(&function, object, method);
}

bool bz_py_acquire_init(void) {
    cancelled_error = bz_py_attribute("asyncio", "CancelledError");
    text_send = PyUnicode_InternFromString("send");
    acquire_type = (PyTypeObject *)PyType_FromSpec(&acquire_spec);
    return cancelled_error != NULL && text_send != NULL && acquire_type != NULL;
}
