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

static PyObject *handle_when(PyObject *self, PyObject *unused) {
    (void)unused;
    int64_t when_ns = ((struct bz_py_handle *)self)->when_ns;
    return PyFloat_FromDouble(bz_py_is_nan(when_ns) ? Py_NAN : (double)when_ns / 1e9);
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

static PyGetSetDef getters[] = {
    {"__class__", handle_class, NULL, NULL, NULL},
    {0},
};

static PyMethodDef methods[] = {
    {"cancel", handle_cancel, METH_NOARGS, "Cancels the callback."},
    {"cancelled", handle_cancelled, METH_NOARGS, "Whether it was cancelled."},
    {"when", handle_when, METH_NOARGS, "When it is due, on the loop's clock, in seconds."},
    {"get_context", handle_context, METH_NOARGS, "The context in which it runs."},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, handle_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, getters},
    {0, NULL},
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
