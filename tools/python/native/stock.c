/* The state of the stock classes of asyncio, for the judge. */
#include "tools/python/native/native.h"

static PyObject *text_value, *text_locked_flag, *text_waiters, *text_locked, *text_getters,
    *text_putters;
static PyObject *stock_locked[2]; /* locked() of asyncio's semaphore and lock */

static uint64_t number_at(PyObject *target, PyObject *name) {
    PyObject *value = PyObject_GetAttr(target, name);
    uint64_t number = value == NULL ? 0 : PyLong_AsUnsignedLongLong(value);
    PyErr_Clear();
    Py_XDECREF(value);
    return number;
}

uint64_t bz_py_stock_level(const struct bz_py_object *object) {
    return object->has_value ? number_at(object->target, text_value)
                             : number_at(object->target, text_locked_flag) == 0;
}

/* The futures of its waiters, by state. */
static void count_waiters(PyObject *target, PyObject *name, struct bz_permit_view *view) {
    PyObject *waiters = PyObject_GetAttr(target, name);
    PyObject *iterator = waiters == NULL || waiters == Py_None ? NULL : PyObject_GetIter(waiters);
    PyObject *future;
    while (iterator != NULL && (future = Py_TYPE(iterator)->tp_iternext(iterator)) != NULL) {
        enum bz_py_state state = bz_py_future_state(future);
        view->queued++;
        view->waiting += state == BZ_PY_PENDING;
        view->woken += state == BZ_PY_FINISHED;
        view->cancelled += state == BZ_PY_CANCELLED;
        Py_DECREF(future);
    }
    PyErr_Clear();
    Py_XDECREF(iterator);
    Py_XDECREF(waiters);
}

void bz_py_stock_view(void *instance, struct bz_permit_view *view) {
    struct bz_py_object *object = instance;
    *view = (struct bz_permit_view){0};
    count_waiters(object->target, text_waiters, view);
    view->level = bz_py_stock_level(object);
    if (object->has_value && !object->keeps_promised) {
        view->level += view->woken;
    }
    object->seen = *view;
}

static bool call_locked(const struct bz_py_object *object) {
    PyObject *result = PyObject_CallMethodObjArgs(object->target, text_locked, NULL);
    bool is_true = result != NULL && PyObject_IsTrue(result) == 1;
    PyErr_Clear();
    Py_XDECREF(result);
    return is_true;
}

/* The stock locked() depends on nothing but the counts of the view, which was taken right before.
 * So its answers are kept by them. */
bool bz_py_stock_locked(void *instance) {
    struct bz_py_object *object = instance;
    const struct bz_permit_view *seen = &object->seen;
    bool is_small = seen->level < 4 && seen->waiting < 8 && seen->woken < 4 &&
                    seen->cancelled < 4 &&
                    seen->queued == seen->waiting + seen->woken + seen->cancelled;
    if (!object->has_stock_locked || !is_small) {
        return call_locked(object);
    }
    uint32_t place =
        (uint32_t)(seen->level << 7u | seen->waiting << 4u | seen->woken << 2u | seen->cancelled);
    uint8_t *answer = &object->answers[place];
    if (*answer == 0) {
        *answer = call_locked(object) ? 2 : 1;
    }
    return *answer == 2;
}

static bool is_stock_locked(PyObject *target) {
    PyObject *method = PyObject_GetAttr(target, text_locked);
    PyObject *function =
        method != NULL && PyMethod_Check(method) ? PyMethod_GET_FUNCTION(method) : NULL;
    PyErr_Clear();
    Py_XDECREF(method); /* the class holds the function */
    return function != NULL && (function == stock_locked[0] || function == stock_locked[1]);
}

uint32_t bz_py_stock_queued(void *instance) {
    const struct bz_py_object *object = instance;
    struct bz_permit_view view = {0};
    if (object->kind == BZ_PY_QUEUE) {
        count_waiters(object->target, text_getters, &view);
        count_waiters(object->target, text_putters, &view);
    } else {
        count_waiters(object->target, text_waiters, &view);
    }
    return view.queued;
}

uint64_t bz_py_stock_queue_size(void *instance) {
    const struct bz_py_object *object = instance;
    PyObject *size = PyObject_CallMethod(object->target, "qsize", NULL);
    uint64_t number = size == NULL ? 0 : PyLong_AsUnsignedLongLong(size);
    PyErr_Clear();
    Py_XDECREF(size);
    return number;
}

void bz_py_stock_find(struct bz_py_object *object) {
    PyObject *target = object->target;
    object->keeps_promised = PyObject_HasAttrString(target, "_wakeup_scheduled") == 1;
    object->has_value = PyObject_HasAttr(target, text_value) == 1;
    object->has_stock_locked = is_stock_locked(target);
}

/* locked() of a class of asyncio. */
static PyObject *locked_of(const char *type) {
    PyObject *primitive = bz_py_attribute("asyncio.locks", type);
    PyObject *method = primitive == NULL ? NULL : PyObject_GetAttr(primitive, text_locked);
    Py_XDECREF(primitive);
    return method;
}

bool bz_py_stock_init(void) {
    text_value = PyUnicode_InternFromString("_value");
    text_locked_flag = PyUnicode_InternFromString("_locked");
    text_waiters = PyUnicode_InternFromString("_waiters");
    text_getters = PyUnicode_InternFromString("_getters");
    text_putters = PyUnicode_InternFromString("_putters");
    text_locked = PyUnicode_InternFromString("locked");
    stock_locked[0] = locked_of("Semaphore");
    stock_locked[1] = locked_of("Lock");
    return text_putters != NULL && stock_locked[0] != NULL && stock_locked[1] != NULL;
}
