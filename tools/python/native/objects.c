/* The objects under test, as the proxies of buzzer.watch report them: each method is a call of
 * sim/judge/objects.h. After the run they do nothing. */
#include <string.h>

#include "tools/python/native/watched.h"

static PyTypeObject *object_type;

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
    struct bz_judge *judge = bz_py_judge_of(object);
    if (lock == NULL) {
        object->condition = bz_judge_add_condition(judge, name, other_name, claims, look);
        return;
    }
    lock->is_checked = false;
    object->condition =
        bz_judge_add_condition_on(judge, name, bz_py_permits_of(lock), claims, look);
}

static void add_object(struct bz_py_object *object, enum bz_primitive primitive, const char *name,
                       const char *other_name, uint32_t claims, uint64_t size,
                       enum bz_queue_order order, struct bz_py_object *lock) {
    struct bz_judge *judge = bz_py_judge_of(object);
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
        object->kind = EVENT;
        object->number = bz_judge_add_event(judge, name, claims, &look);
        break;
    case BZ_PRIMITIVE_CONDITION:
        object->kind = CONDITION;
        add_condition(object, name, other_name, claims, lock, &look);
        object->number = object->condition.object;
        break;
    case BZ_PRIMITIVE_BARRIER:
        object->kind = BARRIER;
        bz_judge_add_barrier(judge, &object->barrier, name, (uint32_t)size, claims, NULL);
        object->number = object->barrier.object;
        break;
    case BZ_PRIMITIVE_QUEUE:
        object->kind = QUEUE;
        bz_judge_add_queue(judge, &object->queue, name, other_name, order, (uint32_t)size, claims,
                           &look, shows ? bz_py_stock_queue_size : NULL);
        object->queue.instance = object;
        object->number = object->queue.items;
        break;
    default:
        object->kind = PERMITS;
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
    if (bz_py_judge_of(object) == NULL) {
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
 * how it works, and only the outer call is told. */

static const void **inside(const struct bz_py_object *object) {
    return &object->loop->owners[bz_judge_running(bz_py_judge_of(object))].inside;
}

static bool is_of(const struct bz_py_object *outer, const struct bz_py_object *inner) {
    bool is_lock = outer->kind == CONDITION && (inner->kind == CONDITION || inner->kind == PERMITS);
    return outer == inner || (is_lock && bz_py_permits_of(outer) == bz_py_permits_of(inner));
}

static bool is_as_left(const struct bz_py_object *object) {
    if (!object->is_checked || bz_py_stock_level(object) == object->left) {
        return true;
    }
    PyErr_Format(PyExc_RuntimeError,
                 "'%s' has changed without a watched call: some object has kept a method of it "
                 "from before sim.watch(), as asyncio.Condition(lock) does; watch it first",
                 bz_judge_object_name(bz_py_judge_of(object), object->number));
    return false;
}

/* 1: the call is told. 0: it is not, as part of another one, or after the run. -1: an exception. */
static int enters(struct bz_py_object *object) {
    if (bz_py_judge_of(object) == NULL) {
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
                 bz_judge_object_name(bz_py_judge_of(object), object->number),
                 bz_judge_object_name(bz_py_judge_of(object), outer->number));
    return -1;
}

/* False: the call was not told, so its return is not. */
static bool leaves(struct bz_py_object *object) {
    if (bz_py_judge_of(object) == NULL || *inside(object) != object) {
        return false;
    }
    *inside(object) = NULL;
    object->left = object->is_checked ? bz_py_stock_level(object) : 0;
    return true;
}

static bool status_of(PyObject *argument, enum bz_status *status) {
    *status = (enum bz_status)PyLong_AsLong(argument);
    return PyErr_Occurred() == NULL;
}

/* --- what the program does with it ------------------------------------------------------------ */

/* The call of a method: whether it is told. */
#define CALL(name, statement)                                                                      \
    static PyObject *object_##name(PyObject *self, PyObject *unused) {                             \
        struct bz_py_object *object = (struct bz_py_object *)self;                                 \
        struct bz_judge *judge = bz_py_judge_of(object);                                           \
        int is_told = enters(object);                                                              \
        (void)unused;                                                                              \
        if (is_told > 0) {                                                                         \
            statement;                                                                             \
        }                                                                                          \
        (void)judge;                                                                               \
        return is_told < 0 ? NULL : PyBool_FromLong(is_told);                                      \
    }
/* Its return, with a status. */
#define RETURN(name, statement)                                                                    \
    static PyObject *object_##name(PyObject *self, PyObject *argument) {                           \
        struct bz_py_object *object = (struct bz_py_object *)self;                                 \
        struct bz_judge *judge = bz_py_judge_of(object);                                           \
        enum bz_status status;                                                                     \
        if (!status_of(argument, &status)) {                                                       \
            return NULL;                                                                           \
        }                                                                                          \
        if (leaves(object)) {                                                                      \
            statement;                                                                             \
        }                                                                                          \
        (void)judge;                                                                               \
        Py_RETURN_NONE;                                                                            \
    }
/* The event. */
#define TELL(name, statement)                                                                      \
    static PyObject *object_##name(PyObject *self, PyObject *unused) {                             \
        struct bz_py_object *object = (struct bz_py_object *)self;                                 \
        struct bz_judge *judge = bz_py_judge_of(object);                                           \
        (void)unused;                                                                              \
        if (judge != NULL) {                                                                       \
            statement;                                                                             \
        }                                                                                          \
        Py_RETURN_NONE;                                                                            \
    }

int bz_py_object_acquires(PyObject *self) {
    struct bz_py_object *object = (struct bz_py_object *)self;
    int is_told = enters(object);
    if (is_told > 0) {
        bz_judge_acquire_begin(bz_py_judge_of(object), bz_py_permits_of(object));
    }
    return is_told;
}

void bz_py_object_acquired(PyObject *self, enum bz_status status) {
    struct bz_py_object *object = (struct bz_py_object *)self;
    if (leaves(object)) {
        bz_judge_acquire_end(bz_py_judge_of(object), bz_py_permits_of(object), status);
    }
}

int bz_py_object_releases(PyObject *self) {
    struct bz_py_object *object = (struct bz_py_object *)self;
    int is_told = enters(object);
    if (is_told > 0) {
        bz_judge_release_begin(bz_py_judge_of(object), bz_py_permits_of(object));
    }
    return is_told;
}

void bz_py_object_released(PyObject *self, enum bz_status status) {
    struct bz_py_object *object = (struct bz_py_object *)self;
    if (leaves(object)) {
        bz_judge_release_end(bz_py_judge_of(object), bz_py_permits_of(object), status);
    }
}

static PyObject *object_wrap_acquire(PyObject *self, PyObject *method) {
    return bz_py_wrap_acquire(self, method);
}

static PyObject *object_wrap_release(PyObject *self, PyObject *method) {
    return bz_py_wrap_release(self, method);
}

CALL(acquires, bz_judge_acquire_begin(judge, bz_py_permits_of(object)))
RETURN(acquired, bz_judge_acquire_end(judge, bz_py_permits_of(object), status))
CALL(releases, bz_judge_release_begin(judge, bz_py_permits_of(object)))
RETURN(released, bz_judge_release_end(judge, bz_py_permits_of(object), status))
CALL(waits, bz_judge_wait_begin(judge, object->number))
RETURN(waited, bz_judge_wait_end(judge, object->number, status))
CALL(sets, object->wakes = bz_judge_set_begin(judge, object->number))
RETURN(set, bz_judge_set_end(judge, object->number, object->wakes))
TELL(clears, bz_judge_clear(judge, object->number))
CALL(condition_waits, bz_judge_condition_wait_begin(&object->condition))
CALL(condition_misuses, bz_judge_condition_misuse_begin(&object->condition))
RETURN(condition_misused, bz_judge_condition_misuse_end(&object->condition, status))
RETURN(notified, bz_judge_notify_end(&object->condition, object->wakes, status))
TELL(aborts, bz_judge_barrier_break(&object->barrier, BZ_OP_ABORT))
TELL(resets, bz_judge_barrier_break(&object->barrier, BZ_OP_RESET))
CALL(says_done, bz_judge_task_done_begin(&object->queue))
RETURN(said_done, bz_judge_task_done_end(&object->queue, status))

/* Of the lock of a condition, or of permits. */
static PyObject *object_holders(PyObject *self, PyObject *unused) {
    struct bz_py_object *object = (struct bz_py_object *)self;
    struct bz_judge *judge = bz_py_judge_of(object);
    (void)unused;
    return PyLong_FromUnsignedLongLong(
        judge == NULL ? 0 : bz_judge_holders(judge, bz_py_permits_of(object)));
}

static PyObject *object_condition_waited(PyObject *self, PyObject *args) {
    struct bz_py_object *object = (struct bz_py_object *)self;
    int is_held, status;
    if (!PyArg_ParseTuple(args, "pi", &is_held, &status)) {
        return NULL;
    }
    if (leaves(object)) {
        bz_judge_condition_wait_end(&object->condition, is_held != 0, (enum bz_status)status);
    }
    Py_RETURN_NONE;
}

/* notifies(count): -1 for all */
static PyObject *object_notifies(PyObject *self, PyObject *argument) {
    struct bz_py_object *object = (struct bz_py_object *)self;
    long count = PyLong_AsLong(argument);
    int is_told = PyErr_Occurred() ? -1 : enters(object);
    if (is_told > 0) {
        object->wakes =
            bz_judge_notify_begin(&object->condition, count < 0 ? BZ_NOTIFY_ALL : (uint32_t)count);
    }
    return is_told < 0 ? NULL : PyBool_FromLong(is_told);
}

/* barrier_waits(): what barrier_waited() is to be given; None: the call is not told. */
static PyObject *object_barrier_waits(PyObject *self, PyObject *unused) {
    struct bz_py_object *object = (struct bz_py_object *)self;
    int is_told = enters(object);
    (void)unused;
    if (is_told <= 0) {
        return is_told < 0 ? NULL : Py_BuildValue("");
    }
    struct bz_judged_pass pass = bz_judge_barrier_wait_begin(&object->barrier);
    return Py_BuildValue("II", pass.steps, pass.breaks);
}

/* barrier_waited(pass, index, status) */
static PyObject *object_barrier_waited(PyObject *self, PyObject *args) {
    struct bz_py_object *object = (struct bz_py_object *)self;
    struct bz_judged_pass pass;
    unsigned index;
    int status;
    if (!PyArg_ParseTuple(args, "(II)Ii", &pass.steps, &pass.breaks, &index, &status)) {
        return NULL;
    }
    if (leaves(object)) {
        bz_judge_barrier_wait_end(&object->barrier, pass, index, (enum bz_status)status);
    }
    Py_RETURN_NONE;
}

/* puts(is_try): the number of the item, which put() is to be given; 0: the call is not told. */
static PyObject *object_puts(PyObject *self, PyObject *is_try) {
    struct bz_py_object *object = (struct bz_py_object *)self;
    int is_told = enters(object);
    uint32_t value = 0;
    if (is_told > 0) {
        if (is_try == Py_True) {
            bz_judge_try(&object->queue);
        }
        value = bz_judge_put_begin(&object->queue, 0);
    }
    return is_told < 0 ? NULL : PyLong_FromUnsignedLong(value);
}

static PyObject *object_put(PyObject *self, PyObject *args) {
    struct bz_py_object *object = (struct bz_py_object *)self;
    unsigned value;
    int status;
    if (!PyArg_ParseTuple(args, "Ii", &value, &status)) {
        return NULL;
    }
    if (leaves(object)) {
        bz_judge_put_end(&object->queue, value, (enum bz_status)status);
    }
    Py_RETURN_NONE;
}

/* gets(is_try) */
static PyObject *object_gets(PyObject *self, PyObject *is_try) {
    struct bz_py_object *object = (struct bz_py_object *)self;
    int is_told = enters(object);
    if (is_told > 0) {
        if (is_try == Py_True) {
            bz_judge_try(&object->queue);
        }
        bz_judge_get_begin(&object->queue);
    }
    return is_told < 0 ? NULL : PyBool_FromLong(is_told);
}

static PyObject *object_got(PyObject *self, PyObject *args) {
    struct bz_py_object *object = (struct bz_py_object *)self;
    unsigned long long value;
    int status;
    if (!PyArg_ParseTuple(args, "Ki", &value, &status)) {
        return NULL;
    }
    if (leaves(object)) {
        bz_judge_get_end(&object->queue, value, (enum bz_status)status);
    }
    Py_RETURN_NONE;
}

/* joins(): what joined() is to be given. */
static PyObject *object_joins(PyObject *self, PyObject *unused) {
    struct bz_py_object *object = (struct bz_py_object *)self;
    struct bz_judged_join join = {0};
    (void)unused;
    if (bz_py_judge_of(object) != NULL) {
        join = bz_judge_join_begin(&object->queue);
    }
    return Py_BuildValue("Ii", join.cancels, join.was_pending);
}

/* joined(join, status) */
static PyObject *object_joined(PyObject *self, PyObject *args) {
    struct bz_py_object *object = (struct bz_py_object *)self;
    struct bz_judged_join join;
    int was_pending, status;
    if (!PyArg_ParseTuple(args, "(Ii)i", &join.cancels, &was_pending, &status)) {
        return NULL;
    }
    join.was_pending = was_pending != 0;
    if (bz_py_judge_of(object) != NULL) {
        bz_judge_join_end(&object->queue, join, (enum bz_status)status);
    }
    Py_RETURN_NONE;
}

/* shuts_down(is_immediate): whether it is told. */
static PyObject *object_shuts_down(PyObject *self, PyObject *is_immediate) {
    struct bz_py_object *object = (struct bz_py_object *)self;
    int is_told = enters(object);
    if (is_told > 0) {
        bz_judge_shutdown_begin(&object->queue, PyObject_IsTrue(is_immediate) == 1);
    }
    return is_told < 0 ? NULL : PyBool_FromLong(is_told);
}

static PyObject *object_shut_down(PyObject *self, PyObject *is_immediate) {
    struct bz_py_object *object = (struct bz_py_object *)self;
    if (leaves(object)) {
        bz_judge_shutdown_end(&object->queue, PyObject_IsTrue(is_immediate) == 1);
    }
    Py_RETURN_NONE;
}

#define METHOD(name, flags)                                                                        \
    { #name, object_##name, flags, NULL }
static PyMethodDef methods[] = {
    METHOD(wrap_acquire, METH_O),
    METHOD(wrap_release, METH_O),
    METHOD(acquires, METH_NOARGS),
    METHOD(acquired, METH_O),
    METHOD(releases, METH_NOARGS),
    METHOD(released, METH_O),
    METHOD(holders, METH_NOARGS),
    METHOD(waits, METH_NOARGS),
    METHOD(waited, METH_O),
    METHOD(sets, METH_NOARGS),
    METHOD(set, METH_O),
    METHOD(clears, METH_NOARGS),
    METHOD(condition_waits, METH_NOARGS),
    METHOD(condition_waited, METH_VARARGS),
    METHOD(condition_misuses, METH_NOARGS),
    METHOD(condition_misused, METH_O),
    METHOD(notifies, METH_O),
    METHOD(notified, METH_O),
    METHOD(aborts, METH_NOARGS),
    METHOD(resets, METH_NOARGS),
    METHOD(barrier_waits, METH_NOARGS),
    METHOD(barrier_waited, METH_VARARGS),
    METHOD(puts, METH_O),
    METHOD(put, METH_VARARGS),
    METHOD(gets, METH_O),
    METHOD(got, METH_VARARGS),
    METHOD(joins, METH_NOARGS),
    METHOD(joined, METH_VARARGS),
    METHOD(says_done, METH_NOARGS),
    METHOD(said_done, METH_O),
    METHOD(shuts_down, METH_O),
    METHOD(shut_down, METH_O),
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
    return bz_py_stock_init() && object_type != NULL &&
           PyModule_AddObjectRef(module, "Object", (PyObject *)object_type) == 0;
}
