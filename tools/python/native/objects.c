/* The objects under test, as the proxies of buzzer.watch report them: each operation is a pair of
 * calls of sim/judge/objects.h. After the run they do nothing. */
#include <string.h>

#include "tools/python/native/native.h"

static PyTypeObject *object_type;

static struct bz_judge *judge_of(const struct bz_py_object *object) {
    return object->loop->judge;
}

/* The lock of a condition is acquired and released as permits are. */
static uint32_t permits_of(const struct bz_py_object *object) {
    return object->kind == BZ_PY_CONDITION ? object->condition.lock : object->number;
}

/* --- new objects ------------------------------------------------------------------------------ */

/* Of the names: "lock" and so on. */
static bool find_primitive(const char *name, enum bz_primitive *primitive) {
    for (unsigned index = 0; index < BZ_PRIMITIVE_COUNT; index++) {
        if (strcmp(bz_primitive_name((enum bz_primitive)index), name) == 0) {
            *primitive = (enum bz_primitive)index;
            return true;
        }
    }
    PyErr_Format(PyExc_ValueError, "no primitive is called '%s'", name);
    return false;
}

/* A condition, on a lock of its own or on one that is watched already. */
static void add_condition(struct bz_py_object *object, const char *name, const char *other_name,
                          uint32_t claims, struct bz_py_object *lock,
                          const struct bz_introspection *look) {
    struct bz_judge *judge = judge_of(object);
    if (lock == NULL) {
        object->condition = bz_judge_add_condition(judge, name, other_name, claims, look);
        return;
    }
    lock->is_checked = false;
    object->condition = bz_judge_add_condition_on(judge, name, permits_of(lock), claims, look);
}

static void add_object(struct bz_py_object *object, enum bz_primitive primitive, const char *name,
                       const char *other_name, uint32_t claims, uint64_t size,
                       enum bz_queue_order order, struct bz_py_object *lock) {
    struct bz_judge *judge = judge_of(object);
    bool shows = object->target != NULL;
    bool is_permits = primitive < BZ_PERMIT_PRIMITIVES;
    bool asks = (claims & BZ_CLAIM_LOCKED_EXACT) != 0;
    struct bz_introspection look = {.instance = object,
                                    .view = shows && is_permits ? bz_py_stock_view : NULL,
                                    .locked =
                                        shows && is_permits && asks ? bz_py_stock_locked : NULL,
                                    .queued = shows && !is_permits ? bz_py_stock_queued : NULL};
    switch (primitive) {
    case BZ_PRIMITIVE_EVENT:
        object->kind = BZ_PY_EVENT;
        object->number = bz_judge_add_event(judge, name, claims, &look);
        break;
    case BZ_PRIMITIVE_CONDITION:
        object->kind = BZ_PY_CONDITION;
        add_condition(object, name, other_name, claims, lock, &look);
        object->number = object->condition.object;
        break;
    case BZ_PRIMITIVE_BARRIER:
        object->kind = BZ_PY_BARRIER;
        bz_judge_add_barrier(judge, &object->barrier, name, (uint32_t)size, claims, NULL);
        object->number = object->barrier.object;
        break;
    case BZ_PRIMITIVE_QUEUE:
        object->kind = BZ_PY_QUEUE;
        bz_judge_add_queue(judge, &object->queue, name, other_name, order, (uint32_t)size, claims,
                           &look, shows ? bz_py_stock_queue_size : NULL);
        object->queue.instance = object;
        object->number = object->queue.items;
        break;
    default:
        object->kind = BZ_PY_PERMITS;
        object->number = bz_judge_add_permits(judge, name, primitive, claims, size, &look);
        break;
    }
}

/* Permits, parties, or the bound of a queue. False with an exception. */
static bool take_size(PyObject *number, enum bz_primitive primitive, uint64_t *size) {
    *size = PyLong_AsUnsignedLongLong(number);
    if (PyErr_Occurred()) {
        return false;
    }
    if (primitive == BZ_PRIMITIVE_BARRIER && (*size == 0 || *size > BZ_BARRIER_PARTIES_MAX)) {
        PyErr_Format(PyExc_ValueError, "a barrier for %S parties: 1 to %u can be watched", number,
                     BZ_BARRIER_PARTIES_MAX);
        return false;
    }
    return true;
}

/* Object(loop, primitive, name, other_name, claims, size, order, target, lock, is_checked) */
static int object_init(PyObject *self, PyObject *args, PyObject *kwargs) {
    struct bz_py_object *object = (struct bz_py_object *)self;
    const char *primitive_name;
    PyObject *loop, *name, *other_name, *number, *target, *lock;
    int is_checked;
    enum bz_primitive primitive;
    unsigned claims, order;
    uint64_t size;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "O!sUUIO!IOOp", bz_py_loop_type, &loop, &primitive_name, &name,
                          &other_name, &claims, &PyLong_Type, &number, &order, &target, &lock,
                          &is_checked) ||
        !find_primitive(primitive_name, &primitive) || !take_size(number, primitive, &size)) {
        return -1;
    }
    if (lock != Py_None && !PyObject_TypeCheck(lock, object_type)) {
        PyErr_SetString(PyExc_TypeError, "the lock is no watched object");
        return -1;
    }
    const char *text = bz_py_name(name);
    const char *other = bz_py_name(other_name);
    if (text == NULL || other == NULL) {
        return -1;
    }
    Py_INCREF(loop);
    object->loop = (struct bz_py_loop *)loop;
    if (target != Py_None) {
        Py_INCREF(target);
        object->target = target;
        bz_py_stock_find(object);
    }
    if (judge_of(object) == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "the run is over");
        return -1;
    }
    add_object(object, primitive, text, other, claims, size, (enum bz_queue_order)order,
               lock == Py_None ? NULL : (struct bz_py_object *)lock);
    object->is_checked = is_checked != 0 && object->target != NULL;
    object->left = object->is_checked ? bz_py_stock_level(object) : 0;
    return 0;
}

static int object_traverse(PyObject *self, visitproc visit, void *arg) {
    struct bz_py_object *object = (struct bz_py_object *)self;
    Py_VISIT(object->loop);
    Py_VISIT(object->target);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static void object_dealloc(PyObject *self) {
    struct bz_py_object *object = (struct bz_py_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_XDECREF(object->loop);
    Py_XDECREF(object->target);
    type->tp_free(self);
    Py_DECREF(type);
}

/* --- inside a method -------------------------------------------------------------------------- */
/* A method of a watched object may call others of that object, and a condition its lock: that is
 * how it works, and only the outer call is reported. */

static const void **inside(const struct bz_py_object *object) {
    return &object->loop->root->owners[bz_judge_running(judge_of(object))].inside;
}

static bool is_of(const struct bz_py_object *outer, const struct bz_py_object *inner) {
    bool is_lock = outer->kind == BZ_PY_CONDITION &&
                   (inner->kind == BZ_PY_CONDITION || inner->kind == BZ_PY_PERMITS);
    return outer == inner || (is_lock && permits_of(outer) == permits_of(inner));
}

static bool is_as_left(const struct bz_py_object *object) {
    if (!object->is_checked || bz_py_stock_level(object) == object->left) {
        return true;
    }
    PyErr_Format(PyExc_RuntimeError,
                 "'%s' has changed without a watched call: some object has kept a method of it "
                 "from before sim.watch(), as asyncio.Condition(lock) does; watch it first",
                 bz_judge_object_name(judge_of(object), object->number));
    return false;
}

/* 1: the call is reported. 0: it is not, as part of another one, or after the run. -1: an
 * exception.
 */
static int enters(struct bz_py_object *object) {
    if (judge_of(object) == NULL) {
        return 0;
    }
    const void **place = inside(object);
    const struct bz_py_object *outer = *place;
    if (outer == NULL) {
        if (!is_as_left(object)) {
            return -1;
        }
        *place = object;
        return 1;
    }
    if (is_of(outer, object)) {
        return 0;
    }
    PyErr_Format(PyExc_RuntimeError,
                 "'%s' is used inside a method of '%s': watch one of the two, not both",
                 bz_judge_object_name(judge_of(object), object->number),
                 bz_judge_object_name(judge_of(object), outer->number));
    return -1;
}

/* False: the call was not reported, so its return is not. */
static bool leaves(struct bz_py_object *object) {
    if (judge_of(object) == NULL || *inside(object) != object) {
        return false;
    }
    *inside(object) = NULL;
    object->left = object->is_checked ? bz_py_stock_level(object) : 0;
    return true;
}

/* --- operations ------------------------------------------------------------------------------- */

/* As constants of the module. */
static const char *const operation_names[] = {
    [BZ_PY_ACQUIRE] = "ACQUIRE",
    [BZ_PY_RELEASE] = "RELEASE",
    [BZ_PY_WAIT] = "WAIT",
    [BZ_PY_SET] = "SET",
    [BZ_PY_CLEAR] = "CLEAR",
    [BZ_PY_CONDITION_WAIT] = "CONDITION_WAIT",
    [BZ_PY_NOTIFY] = "NOTIFY",
    [BZ_PY_BARRIER_WAIT] = "BARRIER_WAIT",
    [BZ_PY_ABORT] = "ABORT",
    [BZ_PY_RESET] = "RESET",
    [BZ_PY_PUT] = "PUT",
    [BZ_PY_GET] = "GET",
    [BZ_PY_TASK_DONE] = "TASK_DONE",
    [BZ_PY_JOIN] = "JOIN",
    [BZ_PY_SHUTDOWN] = "SHUTDOWN",
};
#define OPERATION_COUNT (sizeof operation_names / sizeof operation_names[0])

/* These wait for what other calls do, or are no calls for the judge: other methods may run inside.
 */
static bool is_entered(enum bz_py_operation operation) {
    return operation != BZ_PY_CLEAR && operation != BZ_PY_ABORT && operation != BZ_PY_RESET &&
           operation != BZ_PY_JOIN;
}

/* A wait of a condition whose lock no task holds is refused. */
enum { HELD = 1, NOT_HELD = 2 };

static int64_t begin_condition_wait(struct bz_py_object *object) {
    if (bz_judge_holders(judge_of(object), object->condition.lock) > 0) {
        bz_judge_condition_wait_begin(&object->condition);
        return HELD;
    }
    bz_judge_condition_misuse_begin(&object->condition);
    return NOT_HELD;
}

static void end_condition_wait(struct bz_py_object *object, int64_t begun, enum bz_status status,
                               bool is_locked) {
    if (begun == NOT_HELD) {
        bz_judge_condition_misuse_end(&object->condition, status);
    } else {
        bz_judge_condition_wait_end(&object->condition, is_locked,
                                    status == BZ_NOT_HELD ? BZ_FAILED : status);
    }
}

/* A state of two numbers as one that is not 0. */
static int64_t pack(uint32_t high, uint32_t low) {
    return ((int64_t)high << 32u | low) + 1;
}

static uint32_t high_of(int64_t packed) {
    return (uint32_t)((packed - 1) >> 32u);
}

static uint32_t low_of(int64_t packed) {
    return (uint32_t)(packed - 1);
}

/* Reports the call; returns what its end needs, which is not 0. */
static int64_t report_begin(struct bz_py_object *object, enum bz_py_operation operation,
                            long argument) {
    struct bz_judge *judge = judge_of(object);
    struct bz_judged_pass pass;
    struct bz_judged_join join;
    switch (operation) {
    case BZ_PY_ACQUIRE:
        bz_judge_acquire_begin(judge, permits_of(object));
        return 1;
    case BZ_PY_RELEASE:
        bz_judge_release_begin(judge, permits_of(object));
        return 1;
    case BZ_PY_WAIT:
        bz_judge_wait_begin(judge, object->number);
        return 1;
    case BZ_PY_SET:
        object->wakes = bz_judge_set_begin(judge, object->number);
        return 1;
    case BZ_PY_CLEAR:
        bz_judge_clear(judge, object->number);
        return 1;
    case BZ_PY_CONDITION_WAIT:
        return begin_condition_wait(object);
    case BZ_PY_NOTIFY: /* argument: of how many; -1: all */
        object->wakes = bz_judge_notify_begin(&object->condition,
                                              argument < 0 ? BZ_NOTIFY_ALL : (uint32_t)argument);
        return 1;
    case BZ_PY_BARRIER_WAIT:
        pass = bz_judge_barrier_wait_begin(&object->barrier);
        return pack(pass.steps, pass.breaks);
    case BZ_PY_PUT: /* argument: it must not wait; returns the number of the item */
    case BZ_PY_GET:
        if (argument != 0) {
            bz_judge_try(&object->queue);
        }
        if (operation == BZ_PY_PUT) {
            return bz_judge_put_begin(&object->queue, 0);
        }
        bz_judge_get_begin(&object->queue);
        return 1;
    case BZ_PY_TASK_DONE:
        bz_judge_task_done_begin(&object->queue);
        return 1;
    case BZ_PY_JOIN:
        join = bz_judge_join_begin(&object->queue);
        return pack(join.cancels, join.was_pending);
    case BZ_PY_SHUTDOWN: /* argument: it is immediate */
        bz_judge_shutdown_begin(&object->queue, argument != 0);
        return 1 + (argument != 0);
    default: /* an abort and a reset take effect in the step in which they return */
        return 1;
    }
}

static void report_end(struct bz_py_object *object, enum bz_py_operation operation, int64_t begun,
                       enum bz_status status, uint64_t value) {
    struct bz_judge *judge = judge_of(object);
    switch (operation) {
    case BZ_PY_ACQUIRE:
        bz_judge_acquire_end(judge, permits_of(object), status);
        break;
    case BZ_PY_RELEASE:
        bz_judge_release_end(judge, permits_of(object), status);
        break;
    case BZ_PY_WAIT:
        bz_judge_wait_end(judge, object->number, status);
        break;
    case BZ_PY_SET:
        bz_judge_set_end(judge, object->number, object->wakes);
        break;
    case BZ_PY_CONDITION_WAIT: /* value: the lock is held */
        end_condition_wait(object, begun, status, value != 0);
        break;
    case BZ_PY_NOTIFY:
        bz_judge_notify_end(&object->condition, object->wakes, status);
        break;
    case BZ_PY_BARRIER_WAIT: /* value: the index */
        bz_judge_barrier_wait_end(&object->barrier,
                                  (struct bz_judged_pass){high_of(begun), low_of(begun)},
                                  (uint32_t)value, status);
        break;
    case BZ_PY_ABORT:
    case BZ_PY_RESET:
        if (status == BZ_OK) {
            (void)bz_judge_barrier_break(&object->barrier,
                                         operation == BZ_PY_ABORT ? BZ_OP_ABORT : BZ_OP_RESET);
        }
        break;
    case BZ_PY_PUT:
        bz_judge_put_end(&object->queue, (uint32_t)begun, status);
        break;
    case BZ_PY_GET: /* value: the number of the item */
        bz_judge_get_end(&object->queue, value, status);
        break;
    case BZ_PY_TASK_DONE:
        bz_judge_task_done_end(&object->queue, status);
        break;
    case BZ_PY_JOIN:
        bz_judge_join_end(&object->queue,
                          (struct bz_judged_join){high_of(begun), low_of(begun) != 0}, status);
        break;
    case BZ_PY_SHUTDOWN:
        bz_judge_shutdown_end(&object->queue, begun > 1);
        break;
    default: /* a clear has no end */
        break;
    }
}

int64_t bz_py_object_begin(PyObject *self, enum bz_py_operation operation, long argument) {
    struct bz_py_object *object = (struct bz_py_object *)self;
    int is_reported = is_entered(operation) ? enters(object) : judge_of(object) != NULL;
    return is_reported > 0 ? report_begin(object, operation, argument) : is_reported;
}

void bz_py_object_end(PyObject *self, enum bz_py_operation operation, int64_t begun,
                      enum bz_status status, uint64_t value) {
    struct bz_py_object *object = (struct bz_py_object *)self;
    if (is_entered(operation) ? leaves(object) : judge_of(object) != NULL) {
        report_end(object, operation, begun, status, value);
    }
}

/* begin(operation, argument=0): what end() is to be given; 0: the call is not reported. */
static PyObject *object_begin(PyObject *self, PyObject *args) {
    int operation;
    long argument = 0;
    if (!PyArg_ParseTuple(args, "i|l", &operation, &argument)) {
        return NULL;
    }
    int64_t begun = bz_py_object_begin(self, (enum bz_py_operation)operation, argument);
    return begun < 0 ? NULL : PyLong_FromLongLong(begun);
}

/* end(operation, begun, status, value=0) */
static PyObject *object_end(PyObject *self, PyObject *args) {
    int operation, status;
    long long begun;
    unsigned long long value = 0;
    if (!PyArg_ParseTuple(args, "iLi|K", &operation, &begun, &status, &value)) {
        return NULL;
    }
    bz_py_object_end(self, (enum bz_py_operation)operation, begun, (enum bz_status)status, value);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"wrap_acquire", bz_py_wrap_acquire, METH_O, NULL},
    {"wrap_release", bz_py_wrap_release, METH_O, NULL},
    {"begin", object_begin, METH_VARARGS, NULL},
    {"end", object_end, METH_VARARGS, NULL},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_init, object_init},
    {Py_tp_dealloc, object_dealloc},
    {Py_tp_traverse, object_traverse},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "buzzer._native.Object",
    .basicsize = sizeof(struct bz_py_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = slots,
};

bool bz_py_objects_init(PyObject *module) {
    object_type = (PyTypeObject *)PyType_FromSpec(&spec);
    for (int index = 0; index < (int)OPERATION_COUNT; index++) {
        if (PyModule_AddIntConstant(module, operation_names[index], index) != 0) {
            return false;
        }
    }
    return bz_py_stock_init() && object_type != NULL &&
           PyModule_AddObjectRef(module, "Object", (PyObject *)object_type) == 0;
}
