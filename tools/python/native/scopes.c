/* Timeout scopes, as buzzer.watch reports them: capsules. After the run they do nothing. */
#include "tools/python/native/native.h"

struct scope {
    struct bz_judged_scope judged;
    PyObject *outer; /* the watched scope that its task is in already; None: none */
};

static const char name[] = "scope";

static struct scope *scope_of(PyObject *capsule) {
    return PyCapsule_GetPointer(capsule, name);
}

static void drop(PyObject *capsule) {
    struct scope *scope = scope_of(capsule);
    Py_DECREF(scope->outer);
    PyMem_Free(scope);
}

PyObject *bz_py_scope_enter(PyObject *self, PyObject *args) {
    struct bz_judge *judge = ((struct bz_py_loop *)self)->judge;
    PyObject *outer;
    unsigned long long due_ns;
    unsigned cancelling;
    if (!PyArg_ParseTuple(args, "OKI", &outer, &due_ns, &cancelling)) {
        return NULL;
    }
    struct scope *scope = PyMem_Calloc(1, sizeof *scope);
    if (scope == NULL) {
        return PyErr_NoMemory();
    }
    Py_INCREF(outer);
    scope->outer = outer;
    if (judge != NULL) {
        bz_judge_scope_enter_begin(judge, &scope->judged,
                                   outer == Py_None ? NULL : &scope_of(outer)->judged, due_ns,
                                   cancelling);
        bz_judge_scope_enter_end(&scope->judged, BZ_OK);
    }
    return PyCapsule_New(scope, name, drop);
}

PyObject *bz_py_scope_leave(PyObject *self, PyObject *args) {
    PyObject *capsule;
    unsigned long long due_ns;
    unsigned cancelling;
    if (!PyArg_ParseTuple(args, "OKI", &capsule, &due_ns, &cancelling)) {
        return NULL;
    }
    if (((struct bz_py_loop *)self)->judge != NULL) {
        scope_of(capsule)->judged.due_ns = due_ns;
        bz_judge_scope_exit_begin(&scope_of(capsule)->judged, cancelling);
    }
    Py_RETURN_NONE;
}

PyObject *bz_py_scope_left(PyObject *self, PyObject *args) {
    PyObject *capsule;
    int body, status;
    unsigned cancelling;
    if (!PyArg_ParseTuple(args, "OiiI", &capsule, &body, &status, &cancelling)) {
        return NULL;
    }
    if (((struct bz_py_loop *)self)->judge != NULL) {
        bz_judge_scope_exit_end(&scope_of(capsule)->judged, (enum bz_status)body,
                                (enum bz_status)status, cancelling);
    }
    Py_RETURN_NONE;
}
