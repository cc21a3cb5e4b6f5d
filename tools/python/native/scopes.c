/* Timeout scopes, as buzzer.watch reports them. After the run they do nothing. */
#include "tools/python/native/native.h"

struct scope {
    PyObject_HEAD struct bz_py_loop *loop;
    struct scope *outer; /* the watched scope that its task is in already; NULL: none */
    struct bz_judged_scope judged;
};

static PyTypeObject *scope_type;

/* Scope(loop, outer, due_ns, cancelling): a task enters it. */
static int scope_init(PyObject *self, PyObject *args, PyObject *kwargs) {
    struct scope *scope = (struct scope *)self;
    PyObject *loop, *outer;
    unsigned long long due_ns;
    unsigned cancelling;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "O!OKI", bz_py_loop_type, &loop, &outer, &due_ns, &cancelling)) {
        return -1;
    }
    Py_INCREF(loop);
    scope->loop = (struct bz_py_loop *)loop;
    if (outer != Py_None && PyObject_TypeCheck(outer, scope_type)) {
        Py_INCREF(outer);
        scope->outer = (struct scope *)outer;
    }
    if (scope->loop->judge != NULL) {
        bz_judge_scope_enter_begin(scope->loop->judge, &scope->judged,
                                   scope->outer == NULL ? NULL : &scope->outer->judged, due_ns,
                                   cancelling);
        bz_judge_scope_enter_end(&scope->judged, BZ_OK);
    }
    return 0;
}

static void scope_dealloc(PyObject *self) {
    struct scope *scope = (struct scope *)self;
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(scope->loop);
    Py_XDECREF(scope->outer);
    type->tp_free(self);
    Py_DECREF(type);
}

/* leaves(due_ns, cancelling): right before the exit. */
static PyObject *scope_leaves(PyObject *self, PyObject *args) {
    struct scope *scope = (struct scope *)self;
    unsigned long long due_ns;
    unsigned cancelling;
    if (!PyArg_ParseTuple(args, "KI", &due_ns, &cancelling)) {
        return NULL;
    }
    if (scope->loop->judge != NULL) {
        scope->judged.due_ns = due_ns;
        bz_judge_scope_exit_begin(&scope->judged, cancelling);
    }
    Py_RETURN_NONE;
}

/* left(body, status, cancelling): right after it. */
static PyObject *scope_left(PyObject *self, PyObject *args) {
    struct scope *scope = (struct scope *)self;
    int body, status;
    unsigned cancelling;
    if (!PyArg_ParseTuple(args, "iiI", &body, &status, &cancelling)) {
        return NULL;
    }
    if (scope->loop->judge != NULL) {
        bz_judge_scope_exit_end(&scope->judged, (enum bz_status)body, (enum bz_status)status,
                                cancelling);
    }
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"leaves", scope_leaves, METH_VARARGS, NULL},
    {"left", scope_left, METH_VARARGS, NULL},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_init, scope_init},
    {Py_tp_dealloc, scope_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "buzzer._native.Scope",
    .basicsize = sizeof(struct scope),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

bool bz_py_scopes_init(PyObject *module) {
    scope_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return scope_type != NULL &&
           PyModule_AddObjectRef(module, "Scope", (PyObject *)scope_type) == 0;
}
