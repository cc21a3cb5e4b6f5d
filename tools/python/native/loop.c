/* Loop: the type, the reports of the program to the judge, and the end of a run. */
#include "tools/python/native/native.h"

#include <stdio.h>
#include <structmember.h> /* after Python.h */

#include "scenarios/program/script.h"
#include "sim/judge/inspect.h"

PyTypeObject *bz_py_loop_type;
struct bz_py_loop *bz_py_current;

static PyObject *text_loop;   /* "loop", as a tuple of keywords */
static PyObject *future_type; /* asyncio.Future */

/* --- what the program says to the judge --------------------------------------------------------
 */

/* _report(oracle, task number, message): a violation. */
static PyObject *loop_report(PyObject *self, PyObject *args) {
    const char *oracle, *message;
    unsigned task;
    if (!PyArg_ParseTuple(args, "sIy", &oracle, &task, &message)) {
        return NULL;
    }
    struct bz_judge *judge = ((struct bz_py_loop *)self)->judge;
    if (judge != NULL && bz_oracle_index(oracle) < bz_oracle_count) {
        bz_judge_violate(judge, oracle, task, 0, "%s", message);
    }
    Py_RETURN_NONE;
}

/* _draw(label, bound) */
static PyObject *loop_draw(PyObject *self, PyObject *args) {
    PyObject *label, *number;
    if (!PyArg_ParseTuple(args, "UO!", &label, &PyLong_Type, &number)) {
        return NULL;
    }
    const char *text = bz_py_name(label);
    struct bz_judge *judge = ((struct bz_py_loop *)self)->judge;
    if (text == NULL) {
        return NULL;
    }
    unsigned long long bound = PyLong_AsUnsignedLongLong(number);
    PyErr_Clear(); /* a number that does not fit is (unsigned long long)-1 */
    if (bound == 0 || bound >= UINT64_C(1) << 53) {
        return PyErr_Format(PyExc_ValueError, "a draw has from 1 to 2**53 - 1 outcomes");
    }
    return PyLong_FromUnsignedLongLong(judge == NULL ? 0 : bz_judge_draw(judge, text, bound));
}

/* _choose_child(bound): of those that a group has to cancel, the next one. */
static PyObject *loop_choose_child(PyObject *self, PyObject *number) {
    struct bz_judge *judge = ((struct bz_py_loop *)self)->judge;
    unsigned long bound = PyLong_AsUnsignedLong(number);
    if (PyErr_Occurred()) {
        return NULL;
    }
    return PyLong_FromUnsignedLongLong(judge == NULL ? 0
                                                     : bz_judge_pick(judge, "group-order", bound));
}

/* _say_draw(text): what came of the last draws. */
static PyObject *loop_say_draw(PyObject *self, PyObject *text) {
    struct bz_judge *judge = ((struct bz_py_loop *)self)->judge;
    const char *copy = judge == NULL ? NULL : bz_py_name(text);
    if (copy != NULL) {
        bz_judge_say_draw(judge, copy);
    }
    if (PyErr_Occurred()) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* _draw_program(kind of the first object, objects, tasks, ops, ns, more): a program as the
 * scenario `program` draws it, which is JSON. */
static PyObject *loop_draw_program(PyObject *self, PyObject *args) {
    struct bz_judge *judge = ((struct bz_py_loop *)self)->judge;
    struct bz_script_draw draw = {.primitives = ~(1u << BZ_PRIMITIVE_POOL)};
    unsigned int first;
    if (!PyArg_ParseTuple(args, "IIIIII", &first, &draw.objects, &draw.tasks, &draw.ops, &draw.ns,
                          &draw.more)) {
        return NULL;
    }
    draw.first = (enum bz_primitive)first;
    if (judge == NULL || first >= BZ_SCRIPT_PRIMITIVES || draw.objects == 0 ||
        draw.objects > BZ_SCRIPT_OBJECTS_MAX || draw.tasks == 0 ||
        draw.tasks > BZ_SCRIPT_DRAW_TASKS_MAX || draw.ops == 0 ||
        draw.ops > BZ_SCRIPT_DRAW_OPS_MAX || draw.ns > BZ_SCRIPT_NS_MAX || draw.more > 1) {
        return PyErr_Format(PyExc_ValueError, "no such program can be drawn");
    }
    struct bz_script *script = PyMem_Calloc(1, sizeof *script);
    if (script == NULL) {
        return PyErr_NoMemory();
    }
    bz_script_draw(script, judge, NULL, &draw);
    size_t bytes = bz_script_print(script, NULL, 0) + 1;
    char *text = PyMem_Malloc(bytes);
    if (text != NULL) {
        bz_script_print(script, text, bytes);
    }
    PyMem_Free(script);
    PyObject *result = text == NULL ? PyErr_NoMemory() : PyUnicode_FromString(text);
    PyMem_Free(text);
    return result;
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

/* _set_helper(task number): it may wait forever, and is never cancelled. */
static PyObject *loop_set_helper(PyObject *self, PyObject *number) {
    struct bz_py_loop *loop = (struct bz_py_loop *)self;
    unsigned long task = PyLong_AsUnsignedLong(number);
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (loop->judge != NULL && task <= loop->root->task_count) {
        bz_py_loop_set_helper(loop, (uint32_t)task);
    }
    Py_RETURN_NONE;
}

/* _left(with_helpers=False): the tasks that have not ended, in order. */
static PyObject *loop_left(PyObject *self, PyObject *args) {
    const struct bz_py_loop *loop = (struct bz_py_loop *)self;
    int with_helpers = 0;
    PyObject *list = PyArg_ParseTuple(args, "|p", &with_helpers) ? PyList_New(0) : NULL;
    for (uint32_t index = 0; list != NULL && index < loop->root->task_count; index++) {
        if (loop->root->tasks[index] != NULL &&
            (with_helpers || !loop->root->owners[index + 1].is_helper) &&
            PyList_Append(list, loop->root->tasks[index]) != 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

/* _queues(): what can run, now and later, as (when, how, ..., callback, arguments), behind what the
 * loop itself keeps. The order is that of the queues. */
static bool add_queue(PyObject *list, struct bz_py_handle *const *handles, uint32_t count,
                      uint32_t turn_left) {
    for (uint32_t index = 0; index < count; index++) {
        const struct bz_py_handle *handle = handles[index];
        int flags = handle->is_timer | handle->is_outside << 1 | handle->is_wakeup << 2 |
                    (index < turn_left) << 3 | handle->is_ahead << 4 | handle->turns << 8;
        PyObject *item =
            handle->callback == NULL
                ? NULL
                : Py_BuildValue("LiKKOO", (long long)handle->when_ns, flags,
                                (unsigned long long)handle->reading,
                                (unsigned long long)handle->origin, handle->callback, handle->args);
        bool is_ok = handle->callback == NULL || (item != NULL && PyList_Append(list, item) == 0);
        Py_XDECREF(item);
        if (!is_ok) {
            return false;
        }
    }
    return true;
}

static PyObject *loop_queues(PyObject *self, PyObject *unused) {
    const struct bz_py_loop *loop = (struct bz_py_loop *)self;
    const struct bz_py_loop *root = loop->root;
    PyObject *list =
        Py_BuildValue("[(iiiKKKKK)]", root->is_prompt, root->is_coarse,
                      root->awaits_idle | root->is_outside_past << 1 | root->is_random_drawn << 2,
                      (unsigned long long)root->chaos, (unsigned long long)root->instant_ns,
                      (unsigned long long)root->origin, (unsigned long long)root->own_origin,
                      (unsigned long long)root->read_origin);
    (void)unused;
    if (list != NULL && (!add_queue(list, loop->ready, loop->count, loop->turn_left) ||
                         !add_queue(list, loop->outside, loop->outside_count, 0) ||
                         !add_queue(list, loop->heap, loop->heap_count, 0))) {
        Py_CLEAR(list);
    }
    return list;
}

/* _meet(text): of sim.state(). */
static PyObject *loop_meet(PyObject *self, PyObject *text) {
    const struct bz_py_loop *loop = (struct bz_py_loop *)self;
    if (loop->judge != NULL) {
        bz_judge_meet(loop->judge, PyBytes_AS_STRING(text), (size_t)PyBytes_GET_SIZE(text));
    }
    Py_RETURN_NONE;
}

/* _end_run(sentence): without a verdict. The first one stands. */
static PyObject *loop_end_run(PyObject *self, PyObject *sentence) {
    struct bz_py_loop *loop = (struct bz_py_loop *)self;
    const char *text = PyBytes_AsString(sentence);
    if (text == NULL) {
        return NULL;
    }
    if (loop->judge != NULL && loop->root->refusal[0] == '\0') {
        snprintf(loop->root->refusal, sizeof loop->root->refusal, "%s", text);
    }
    Py_RETURN_NONE;
}

bool bz_py_loop_call(struct bz_py_loop *loop, const char *method, PyObject *argument) {
    PyObject *result = argument == NULL
                           ? PyObject_CallMethod((PyObject *)loop, method, NULL)
                           : PyObject_CallMethod((PyObject *)loop, method, "(O)", argument);
    Py_XDECREF(result);
    return result != NULL;
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

static PyObject *loop_running(PyObject *self, void *closure) {
    const struct bz_judge *judge = ((struct bz_py_loop *)self)->judge;
    (void)closure;
    return PyLong_FromUnsignedLong(judge == NULL ? 0 : bz_judge_running(judge));
}

/* --- the type --------------------------------------------------------------------------------- */

bool bz_py_loop_has_room(struct bz_py_loop *root) {
    uint32_t capacity = root->task_capacity;
    return root->task_count + 2 <= capacity ||
           (bz_py_grow((void **)&root->tasks, &capacity, sizeof *root->tasks) &&
            bz_py_grow((void **)&root->owners, &root->task_capacity, sizeof *root->owners));
}

static void empty(struct bz_py_handle **handles, uint32_t *count) {
    while (*count > 0) {
        struct bz_py_handle *handle = handles[--*count];
        handle->loop = NULL;
        bz_py_handle_drop(handle);
        Py_DECREF(handle);
    }
}

static void empty_queues(struct bz_py_loop *loop) {
    empty(loop->ready, &loop->count);
    empty(loop->heap, &loop->heap_count);
    empty(loop->outside, &loop->outside_count);
    loop->turn_left = 0;
    loop->cancelled_timers = 0;
}

void bz_py_loop_silence(struct bz_py_loop *root) {
    for (struct bz_py_loop *loop = root; loop != NULL; loop = loop->next) {
        loop->judge = NULL; /* for all, before a callback is dropped */
    }
    for (struct bz_py_loop *loop = root; loop != NULL; loop = loop->next) {
        empty_queues(loop);
    }
}

void bz_py_loop_end(struct bz_py_loop *loop) {
    bz_py_loop_silence(loop);
    for (uint32_t index = 0; index < loop->task_count; index++) {
        if (loop->tasks[index] != NULL) {
            bz_py_task_of(loop->tasks[index])->loop = NULL;
            Py_CLEAR(loop->tasks[index]);
        }
    }
    Py_CLEAR(loop->sleep);
}

/* _shut(): what is in its queues is dropped, and new handles are refused. */
static PyObject *loop_close(PyObject *self, PyObject *unused) {
    (void)unused;
    ((struct bz_py_loop *)self)->is_closed = true;
    empty_queues((struct bz_py_loop *)self);
    Py_RETURN_NONE;
}

/* _drive(): runs until stop(). False: the run is over. */
static PyObject *loop_drive(PyObject *self, PyObject *unused) {
    struct bz_py_loop *loop = (struct bz_py_loop *)self;
    struct bz_judge *judge = loop->judge;
    (void)unused;
    if (judge == NULL) {
        Py_RETURN_FALSE;
    }
    bool is_ok = bz_py_loop_drive(loop, bz_judge_order(judge) == BZ_ORDER_FIFO);
    bool is_stopped = loop->is_stopping;
    loop->is_stopping = false;
    if (!is_ok) {
        return NULL;
    }
    bool has_refusal = loop->root->refusal[0] != '\0';
    if (is_stopped && !has_refusal && bz_judge_verdict(judge) == BZ_RUN_PASSED) {
        Py_RETURN_TRUE;
    }
    if (!has_refusal) {
        bz_judge_end(judge);
    }
    bz_py_loop_silence(loop->root);
    Py_RETURN_FALSE;
}

/* True if more steps could follow, at a later time or now. */
static PyObject *loop_can_go_on(PyObject *self, void *closure) {
    const struct bz_py_loop *loop = (struct bz_py_loop *)self;
    (void)closure;
    return PyBool_FromLong(loop->count > 0 || loop->outside_count > 0 ||
                           loop->heap_count > loop->cancelled_timers);
}

static PyObject *loop_now_ns(PyObject *self, void *closure) {
    (void)closure;
    bz_py_timers_read((struct bz_py_loop *)self);
    return PyLong_FromUnsignedLongLong(((struct bz_py_loop *)self)->root->now_ns);
}

static PyObject *loop_time(PyObject *self, PyObject *unused) {
    (void)unused;
    bz_py_timers_read((struct bz_py_loop *)self);
    return PyFloat_FromDouble((double)((struct bz_py_loop *)self)->root->now_ns / 1e9);
}

/* asyncio's would close it. */
static void loop_finalize(PyObject *self) {
    (void)self;
}

static PyObject *loop_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *self = type->tp_alloc(type, 0);
    struct bz_py_loop *loop = (struct bz_py_loop *)self;
    (void)args;
    (void)kwargs;
    if (self == NULL) {
        return NULL;
    }
    loop->root = loop;
    if (bz_py_current != NULL) {
        loop->root = bz_py_current;
        Py_INCREF(loop->root);
        loop->judge = loop->root->judge;
        loop->is_fifo = loop->root->is_fifo;
        loop->next = loop->root->next;
        loop->root->next = loop;
    } else if (!bz_py_loop_has_room(loop)) {
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
    if (loop->root != loop) {
        Py_VISIT(loop->root);
    }
    Py_VISIT(loop->sleep);
    Py_VISIT(loop->dict);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static void leave_run(struct bz_py_loop *loop) {
    if (loop->root == NULL || loop->root == loop) {
        return;
    }
    struct bz_py_loop *before = loop->root;
    while (before->next != NULL && before->next != loop) {
        before = before->next;
    }
    before->next = loop->next;
    Py_CLEAR(loop->root);
}

static int loop_clear(PyObject *self) {
    struct bz_py_loop *loop = (struct bz_py_loop *)self;
    struct bz_py_loop *next = loop->next;
    loop->next = NULL; /* those have an end of their own */
    bz_py_loop_end(loop);
    loop->next = next;
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
    PyMem_Free(loop->outside);
    PyMem_Free(loop->tasks);
    PyMem_Free(loop->owners);
    leave_run(loop);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMethodDef loop_methods[] = {
    {"call_soon", (PyCFunction)(void (*)(void))bz_py_call_soon, METH_FASTCALL | METH_KEYWORDS,
     NULL},
    {"_call_at_ns", (PyCFunction)(void (*)(void))bz_py_call_at_ns, METH_FASTCALL | METH_KEYWORDS,
     NULL},
    {"_call_outside", (PyCFunction)(void (*)(void))bz_py_call_outside,
     METH_FASTCALL | METH_KEYWORDS, NULL},
    {"_report", loop_report, METH_VARARGS, NULL},
    {"_draw", loop_draw, METH_VARARGS, NULL},
    {"_choose_child", loop_choose_child, METH_O, NULL},
    {"_say_draw", loop_say_draw, METH_O, NULL},
    {"_draw_program", loop_draw_program, METH_VARARGS, NULL},
    {"_protect", loop_protect, METH_O, NULL},
    {"_set_helper", loop_set_helper, METH_O, NULL},
    {"_left", loop_left, METH_VARARGS, NULL},
    {"_end_run", loop_end_run, METH_O, NULL},
    {"_enter_scope", bz_py_scope_enter, METH_VARARGS, NULL},
    {"_leave_scope", bz_py_scope_leave, METH_VARARGS, NULL},
    {"_left_scope", bz_py_scope_left, METH_VARARGS, NULL},
    {"_queues", loop_queues, METH_NOARGS, NULL},
    {"_meet", loop_meet, METH_O, NULL},
    {"_shut", loop_close, METH_NOARGS, NULL},
    {"_drive", loop_drive, METH_NOARGS, NULL},
    {"create_future", loop_create_future, METH_NOARGS, "A future of this loop."},
    {"get_debug", loop_get_debug, METH_NOARGS, NULL},
    {"time", loop_time, METH_NOARGS, "The virtual time, in seconds."},
    {0},
};

static PyObject *loop_is_recorded(PyObject *self, void *closure) {
    (void)closure;
    const struct bz_judge *judge = ((struct bz_py_loop *)self)->judge;
    return PyBool_FromLong(judge != NULL && bz_judge_is_recorded(judge));
}

static PyObject *loop_merges(PyObject *self, void *closure) {
    (void)closure;
    return PyBool_FromLong(((struct bz_py_loop *)self)->judge != NULL && bz_judge_on_state != NULL);
}

static PyGetSetDef loop_getters[] = {
    {"_merges", loop_merges, NULL, "Something may come of sim.state().", NULL},
    {"_is_recorded", loop_is_recorded, NULL, NULL, NULL},
    {"_running", loop_running, NULL, "The number of the running task; 0: none.", NULL},
    {"_can_go_on", loop_can_go_on, NULL, NULL, NULL},
    {"now_ns", loop_now_ns, NULL, "The virtual time, in nanoseconds.", NULL},
    {0},
};

static PyMemberDef loop_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(struct bz_py_loop, dict), READONLY, NULL},
    {"_is_fifo", T_BOOL, offsetof(struct bz_py_loop, is_fifo), READONLY, NULL},
    {"_is_suite", T_BOOL, offsetof(struct bz_py_loop, is_suite), 0, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(struct bz_py_loop, weakrefs), READONLY, NULL},
    {"_root", T_OBJECT, offsetof(struct bz_py_loop, root), READONLY, NULL},
    {"_debug", T_BOOL, offsetof(struct bz_py_loop, is_debugged), 0, NULL},
    {"_stopping", T_BOOL, offsetof(struct bz_py_loop, is_stopping), 0, NULL},
    {"_awaits_idle", T_BOOL, offsetof(struct bz_py_loop, awaits_idle), 0, NULL},
    {"_closed", T_BOOL, offsetof(struct bz_py_loop, is_closed), READONLY, NULL},
    {0},
};

static PyType_Slot loop_slots[] = {
    {Py_tp_new, loop_new},         {Py_tp_dealloc, loop_dealloc},   {Py_tp_traverse, loop_traverse},
    {Py_tp_clear, loop_clear},     {Py_tp_methods, loop_methods},   {Py_tp_getset, loop_getters},
    {Py_tp_members, loop_members}, {Py_tp_finalize, loop_finalize}, {0, NULL},
};

static PyType_Spec loop_spec = {
    .name = "buzzer._native.Loop",
    .basicsize = sizeof(struct bz_py_loop),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = loop_slots,
};

PyObject *bz_py_attribute(const char *module, const char *name) {
    PyObject *imported = PyImport_ImportModule(module);
    PyObject *value = imported == NULL ? NULL : PyObject_GetAttrString(imported, name);
    Py_XDECREF(imported);
    return value;
}

bool bz_py_loop_init(PyObject *module) {
    text_loop = Py_BuildValue("(s)", "loop");
    future_type = bz_py_attribute("asyncio", "Future");
    bz_py_loop_type = (PyTypeObject *)PyType_FromSpec(&loop_spec);
    return text_loop != NULL && future_type != NULL && bz_py_loop_type != NULL &&
           bz_py_ready_init() && bz_py_steps_init() &&
           PyModule_AddIntConstant(module, "MESSAGE_BYTES", BZ_MESSAGE_BYTES) == 0 &&
           PyModule_AddIntConstant(module, "REFUSAL_BYTES", BZ_PY_REFUSAL_BYTES) == 0 &&
           PyModule_AddObjectRef(module, "Loop", (PyObject *)bz_py_loop_type) == 0;
}
