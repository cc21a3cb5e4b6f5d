/* Handle: a callback that is to run. Only the queues of a loop hold what can run, and a run that
 * ends empties them, so the garbage collector need not know handles. */
#include "tools/python/native/native.h"

#include <string.h>

PyTypeObject *bz_py_handle_type;

void bz_py_handle_drop(struct bz_py_handle *handle) {
    Py_CLEAR(handle->callback);
    Py_CLEAR(handle->args);
    Py_CLEAR(handle->context);
    handle->task = NULL;
}

static void handle_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    bz_py_handle_drop((struct bz_py_handle *)self);
    Py_XDECREF(((struct bz_py_handle *)self)->when);
    PyObject_Free(self);
    Py_DECREF(type);
}

struct bz_py_handle *bz_py_handle_new(PyObject *callback, PyObject *const *args, Py_ssize_t count,
                                      PyObject *context) {
    struct bz_py_handle *handle = PyObject_New(struct bz_py_handle, bz_py_handle_type);
    if (handle == NULL) {
        return NULL;
    }
    memset((char *)handle + sizeof(PyObject), 0, sizeof *handle - sizeof(PyObject));
    Py_INCREF(callback);
    handle->callback = callback;
    handle->args = PyTuple_New(count);
    for (Py_ssize_t index = 0; handle->args != NULL && index < count; index++) {
        Py_INCREF(args[index]);
        PyTuple_SET_ITEM(handle->args, index, args[index]);
    }
    if (context != NULL && context != Py_None) {
        Py_INCREF(context);
        handle->context = context;
    } else {
        handle->context = PyContext_CopyCurrent();
    }
    if (handle->context == NULL || handle->args == NULL) {
        Py_DECREF(handle);
        return NULL;
    }
    return handle;
}

PyObject *bz_py_handle_args(const struct bz_py_handle *handle) {
    Py_XINCREF(handle->args);
    return handle->args == NULL ? PyTuple_New(0) : handle->args;
}

/* Asyncio calls context.run(callback, *args), which is there in no other object, or is its own. */
static bool call_in_stranger(struct bz_py_handle *handle) {
    PyObject *run = PyObject_GetAttrString(handle->context, "run");
    PyObject *before = run == NULL ? NULL : PyTuple_Pack(1, handle->callback);
    PyObject *args = before == NULL ? NULL : bz_py_handle_args(handle);
    PyObject *all = args == NULL ? NULL : PySequence_Concat(before, args);
    PyObject *result = all == NULL ? NULL : PyObject_CallObject(run, all);
    Py_XDECREF(run);
    Py_XDECREF(before);
    Py_XDECREF(args);
    Py_XDECREF(all);
    Py_XDECREF(result);
    return result != NULL;
}

bool bz_py_handle_call(struct bz_py_handle *handle) {
    PyObject *context = handle->context;
    PyObject *args = handle->args;
    if (!PyContext_CheckExact(context)) {
        return call_in_stranger(handle);
    }
    if (PyContext_Enter(context) != 0) {
        return false;
    }
    handle->is_running = true;
    PyObject *result = PyObject_Call(handle->callback, args, NULL);
    handle->is_running = false;
    bool is_ok = result != NULL;
    Py_XDECREF(result);
    if (is_ok) {
        return PyContext_Exit(context) == 0;
    }
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    (void)PyContext_Exit(context);
    PyErr_Restore(type, value, traceback);
    return false;
}

static PyObject *handle_cancel(PyObject *self, PyObject *unused) {
    struct bz_py_handle *handle = (struct bz_py_handle *)self;
    (void)unused;
    if (!handle->is_cancelled) {
        handle->is_cancelled = true;
        bz_py_loop_note_cancelled(handle);
        if (!handle->is_running) { /* else the callback cancels its own handle, as anyio's does */
            bz_py_handle_drop(handle);
        }
    }
    Py_RETURN_NONE;
}

static PyObject *handle_cancelled(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyBool_FromLong(((struct bz_py_handle *)self)->is_cancelled);
}

static PyObject *handle_context(PyObject *self, PyObject *unused) {
    PyObject *context = ((struct bz_py_handle *)self)->context;
    (void)unused;
    context = context == NULL ? Py_None : context;
    Py_INCREF(context);
    return context;
}

static PyObject *of_asyncio[2]; /* its classes Handle and TimerHandle, of which isinstance() asks */

static PyObject *handle_class(PyObject *self, void *closure) {
    PyObject *class = of_asyncio[((struct bz_py_handle *)self)->is_timer];
    (void)closure;
    Py_INCREF(class);
    return class;
}

static PyObject *when_of(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyFloat_FromDouble(((struct bz_py_handle *)self)->when_s);
}

/* The method of a timer; other handles have none. */
static PyObject *handle_when(PyObject *self, void *closure) {
    static PyMethodDef method = {"when", when_of, METH_NOARGS,
                                 "When it is due, on the loop's clock, in seconds."};
    (void)closure;
    return ((struct bz_py_handle *)self)->is_timer
               ? PyCFunction_New(&method, self)
               : PyErr_Format(PyExc_AttributeError, "'Handle' object has no attribute 'when'");
}

static bool is_equal_object(PyObject *left, PyObject *right) {
    return left == right ||
           (left != NULL && right != NULL && PyObject_RichCompareBool(left, right, Py_EQ) == 1);
}

/* As asyncio.TimerHandle; other handles are equal only to themselves. */
static PyObject *handle_compare(PyObject *self, PyObject *object, int op) {
    const struct bz_py_handle *left = (struct bz_py_handle *)self;
    const struct bz_py_handle *right = (struct bz_py_handle *)object;
    if (!PyObject_TypeCheck(object, bz_py_handle_type) || !left->is_timer || !right->is_timer) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    bool is_equal = left->when_s == right->when_s && left->is_cancelled == right->is_cancelled &&
                    is_equal_object(left->callback, right->callback) &&
                    is_equal_object(left->args, right->args);
    if (PyErr_Occurred()) {
        return NULL;
    }
    bool is_less = left->when_s < right->when_s;
    bool is_greater = left->when_s > right->when_s;
    return PyBool_FromLong(op == Py_EQ   ? is_equal
                           : op == Py_NE ? !is_equal
                           : op == Py_LT ? is_less
                           : op == Py_GT ? is_greater
                           : op == Py_LE ? is_less || is_equal
                                         : is_greater || is_equal);
}

static Py_hash_t handle_hash(PyObject *self) {
    const struct bz_py_handle *handle = (struct bz_py_handle *)self;
    return handle->is_timer ? (Py_hash_t)handle->when_ns >> 1
                            : ((Py_hash_t)handle->name.owner << 24) + handle->name.nth;
}

static PyGetSetDef getters[] = {
    {"when", handle_when, NULL, NULL, NULL},
    {"__class__", handle_class, NULL, NULL, NULL},
    {0},
};

static PyMethodDef methods[] = {
    {"cancel", handle_cancel, METH_NOARGS, "Cancels the callback."},
    {"cancelled", handle_cancelled, METH_NOARGS, "Whether it was cancelled."},
    {"get_context", handle_context, METH_NOARGS, "The context in which it runs."},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, handle_dealloc}, {Py_tp_hash, handle_hash}, {Py_tp_richcompare, handle_compare},
    {Py_tp_methods, methods},        {Py_tp_getset, getters},   {0, NULL},
};

static PyType_Spec spec = {
    .name = "buzzer._native.Handle",
    .basicsize = sizeof(struct bz_py_handle),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

bool bz_py_handle_init(PyObject *module) {
    of_asyncio[0] = bz_py_attribute("asyncio", "Handle");
    of_asyncio[1] = bz_py_attribute("asyncio", "TimerHandle");
    bz_py_handle_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return of_asyncio[0] != NULL && of_asyncio[1] != NULL && bz_py_handle_type != NULL &&
           PyModule_AddObjectRef(module, "Handle", (PyObject *)bz_py_handle_type) == 0;
}
