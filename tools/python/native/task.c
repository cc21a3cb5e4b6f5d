/* Task: the interpreter's own, with a number, and with an eye on cancels. */
#include <stddef.h>

#include "tools/python/native/native.h"

PyTypeObject *bz_py_task_type;

static PyTypeObject *base; /* _asyncio.Task, or asyncio.tasks._PyTask */
static Py_ssize_t tail;    /* where struct bz_py_task begins */

struct bz_py_task *bz_py_task_of(PyObject *task) {
    return (struct bz_py_task *)((char *)task + tail);
}

static PyObject *iscoroutine; /* asyncio.iscoroutine() */

/* False with the exception of asyncio's Task: of a task that never was, the judge knows nothing. */
static bool is_coroutine(PyObject *args, PyObject *kwargs) {
    PyObject *coro = PyTuple_GET_SIZE(args) > 0 ? PyTuple_GET_ITEM(args, 0)
                     : kwargs == NULL           ? NULL
                                                : PyDict_GetItemString(kwargs, "coro");
    if (coro == NULL) {
        PyErr_SetString(PyExc_TypeError, "Task() missing required argument 'coro' (pos 1)");
        return false;
    }
    if (PyCoro_CheckExact(coro)) {
        return true;
    }
    PyObject *result = PyObject_CallFunctionObjArgs(iscoroutine, coro, NULL);
    int is_one = result == NULL ? -1 : PyObject_IsTrue(result);
    Py_XDECREF(result);
    if (is_one == 0) {
        PyErr_Format(PyExc_TypeError, "a coroutine was expected, got %R", coro);
    }
    return is_one > 0;
}

/* In an eager task, the interpreter makes the first step at once. */
static int init_base(struct bz_py_loop *loop, PyObject *self, PyObject *args, PyObject *kwargs) {
    bool is_eager = PyDict_GetItemString(kwargs, "eager_start") == Py_True;
    uint32_t creator = is_eager ? bz_py_loop_begin_eager(loop, bz_py_task_of(self)) : 0;
    int code = base->tp_init(self, args, kwargs);
    if (code == 0 && !is_eager) {
        return 0;
    }
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (!is_eager) { /* the judge knows it already, so it ends */
        creator = bz_py_loop_begin_eager(loop, bz_py_task_of(self));
    }
    bool is_ok = bz_py_loop_end_eager(loop, self, creator, code == 0);
    if (code != 0) {
        PyErr_Restore(type, value, traceback);
    }
    return is_ok ? code : -1;
}

/* Task(coro, *, loop, name, ...): it has its number before its first step is queued. */
static int task_init(PyObject *self, PyObject *args, PyObject *kwargs) {
    struct bz_py_task *task = bz_py_task_of(self);
    PyObject *loop = kwargs == NULL ? NULL : PyDict_GetItemString(kwargs, "loop");
    PyObject *name = kwargs == NULL ? NULL : PyDict_GetItemString(kwargs, "name");
    if (loop == NULL || !PyObject_TypeCheck(loop, bz_py_loop_type) || name == NULL ||
        !PyUnicode_Check(name) || task->number != 0) {
        PyErr_SetString(PyExc_TypeError, "tasks are created by create_task() of Buzzer's loop");
        return -1;
    }
    if (!is_coroutine(args, kwargs)) {
        return -1;
    }
    task->number = bz_py_loop_spawn((struct bz_py_loop *)loop, self, name);
    if (task->number == 0) {
        return -1;
    }
    task->loop = (struct bz_py_loop *)loop;
    return init_base(task->loop, self, args, kwargs);
}

static void report(PyObject *self, enum bz_event_kind kind, enum bz_status status, uint32_t arg) {
    struct bz_py_task *task = bz_py_task_of(self);
    if (task->loop != NULL && task->loop->judge != NULL) {
        bz_judge_event(task->loop->judge, kind, task->number, status, arg);
    }
}

static PyObject *call_base(const char *name, PyObject *self, PyObject *args, PyObject *kwargs) {
    PyObject *method = PyObject_GetAttrString((PyObject *)base, name);
    PyObject *first = method == NULL ? NULL : PyTuple_Pack(1, self);
    PyObject *all = first == NULL ? NULL : PySequence_Concat(first, args);
    PyObject *result = all == NULL ? NULL : PyObject_Call(method, all, kwargs);
    Py_XDECREF(all);
    Py_XDECREF(first);
    Py_XDECREF(method);
    return result;
}

static PyObject *task_cancel(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char msg[] = "msg";
    static char *names[] = {msg, NULL};
    struct bz_py_task *task = bz_py_task_of(self);
    PyObject *message;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:cancel", names, &message)) {
        return NULL;
    }
    if (task->loop != NULL && task->loop->judge != NULL) {
        report(self, BZ_EVENT_CANCEL, BZ_OK, bz_judge_running(task->loop->judge));
    }
    return call_base("cancel", self, args, kwargs);
}

/* Before 3.13 a request that is on its way stays so, although none is left. */
static PyObject *task_uncancel(PyObject *self, PyObject *args) {
    PyObject *left = call_base("uncancel", self, args, NULL);
    if (left != NULL) {
        uint32_t requests = (uint32_t)PyLong_AsUnsignedLong(left);
#if PY_VERSION_HEX < 0x030d0000
        PyObject *must = requests > 0 ? NULL : PyObject_GetAttrString(self, "_must_cancel");
        requests += must == Py_True;
        Py_XDECREF(must);
#endif
        report(self, BZ_EVENT_UNCANCEL, BZ_OK, requests);
    }
    return left;
}

static PyObject *task_set_name(PyObject *self, PyObject *args) {
    struct bz_py_task *task = bz_py_task_of(self);
    PyObject *name;
    if (!PyArg_ParseTuple(args, "O:set_name", &name)) {
        return NULL;
    }
    PyObject *text = PyObject_Str(name);
    const char *copy = text == NULL ? NULL : bz_py_name(text);
    Py_XDECREF(text);
    if (copy == NULL) {
        return NULL;
    }
    if (task->loop != NULL && task->loop->judge != NULL) {
        bz_judge_rename(task->loop->judge, task->number, copy);
    }
    return call_base("set_name", self, args, NULL);
}

static PyObject *task_number(PyObject *self, void *closure) {
    (void)closure;
    return PyLong_FromUnsignedLong(bz_py_task_of(self)->number);
}

static PyObject *task_strikes(PyObject *self, void *closure) {
    (void)closure;
    return PyLong_FromUnsignedLong(bz_py_task_of(self)->strikes);
}

/* Sets of tasks come in the order of their numbers, not of their addresses: TaskGroup._tasks. */
static Py_hash_t task_hash(PyObject *self) {
    return (Py_hash_t)bz_py_task_of(self)->number;
}

/* In a run, asyncio.Task(...) makes one of Buzzer's tasks, and a subclass one that is both. */
static PyObject *task_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *loop = kwargs == NULL ? NULL : PyDict_GetItemString(kwargs, "loop");
    bool is_foreign = loop != NULL && loop != Py_None && !PyObject_TypeCheck(loop, bz_py_loop_type);
    if (bz_py_current == NULL || bz_py_current->judge == NULL || is_foreign ||
        PyType_IsSubtype(type, bz_py_task_type)) {
        return PyType_GenericNew(type, args, kwargs);
    }
    PyObject *followed =
        PyObject_CallMethod((PyObject *)bz_py_current, "_class_for", "O", (PyObject *)type);
    PyObject *self =
        followed == NULL ? NULL : PyType_GenericNew((PyTypeObject *)followed, args, kwargs);
    Py_XDECREF(followed);
    return self;
}

/* Classes that were made before, too. False with an exception. */
static bool hook_new(PyTypeObject *type) {
    if (type == bz_py_task_type) {
        return true;
    }
    if (type->tp_new == PyType_GenericNew) {
        type->tp_new = task_new;
    }
    PyObject *list = PyObject_CallMethod((PyObject *)type, "__subclasses__", NULL);
    bool is_ok = list != NULL;
    for (Py_ssize_t index = 0; is_ok && index < PyList_GET_SIZE(list); index++) {
        is_ok = hook_new((PyTypeObject *)PyList_GET_ITEM(list, index));
    }
    Py_XDECREF(list);
    return is_ok;
}

static PyMethodDef methods[] = {
    {"cancel", (PyCFunction)(void (*)(void))task_cancel, METH_VARARGS | METH_KEYWORDS, NULL},
    {"uncancel", task_uncancel, METH_VARARGS, NULL},
    {"set_name", task_set_name, METH_VARARGS, NULL},
    {0},
};

static PyGetSetDef getters[] = {
    {"number", task_number, NULL, "The judge's number: 1 is the first of a run.", NULL},
    {"_strikes", task_strikes, NULL, "Cancels that were injected into it.", NULL},
    {0},
};

bool bz_py_task_init(PyObject *module) {
    base = (PyTypeObject *)bz_py_attribute("_asyncio", "Task");
    iscoroutine = bz_py_attribute("asyncio", "iscoroutine");
    if (base == NULL || iscoroutine == NULL) {
        return false;
    }
    tail = (base->tp_basicsize + (Py_ssize_t) _Alignof(struct bz_py_task) - 1) &
           ~((Py_ssize_t) _Alignof(struct bz_py_task) - 1);
    bool has_uncancel = PyObject_HasAttrString((PyObject *)base, "uncancel") == 1;
    methods[1].ml_name = has_uncancel ? "uncancel" : "_no_uncancel"; /* 3.10 has none */
    PyType_Slot slots[] = {
        {Py_tp_init, task_init},
        {Py_tp_hash, task_hash},
        {Py_tp_methods, methods},
        {Py_tp_getset, getters},
        {0, NULL},
    };
    PyType_Spec spec = {
        .name = "buzzer._native.Task",
        .basicsize = (int)(tail + (Py_ssize_t)sizeof(struct bz_py_task)),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
        .slots = slots,
    };
    PyObject *bases = PyTuple_Pack(1, base);
    bz_py_task_type = bases == NULL ? NULL : (PyTypeObject *)PyType_FromSpecWithBases(&spec, bases);
    Py_XDECREF(bases);
    return bz_py_task_type != NULL && hook_new(base) &&
           PyModule_AddObjectRef(module, "Task", (PyObject *)bz_py_task_type) == 0;
}
