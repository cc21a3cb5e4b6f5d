/* A watched object, and what the stock classes of asyncio show of themselves. Private to objects.c
 * and stock.c. */
#ifndef BZ_TOOLS_PYTHON_NATIVE_WATCHED_H
#define BZ_TOOLS_PYTHON_NATIVE_WATCHED_H

#include "tools/python/native/native.h"

/* One type for all kinds: which calls make sense depends on how it was made. */
struct bz_py_object {
    PyObject_HEAD struct bz_py_loop *loop;
    PyObject *target; /* of asyncio, which it may look into; NULL: it may not */
    uint32_t number;
    uint8_t kind;
    bool keeps_promised; /* semaphore: _value counts a permit until its waiter resumes */
    bool has_value;      /* a semaphore, not a lock */
    bool has_stock_locked;
    bool is_checked;            /* only its own methods change its level */
    uint64_t left;              /* its level, when a method returned last */
    struct bz_permit_view seen; /* last */
    uint8_t answers[512];       /* of the stock locked(), see bz_py_stock_locked(); 0: not known */
    struct bz_judged_wakes wakes;
    struct bz_judged_condition condition;
    struct bz_judged_barrier barrier;
    struct bz_judged_queue queue;
};

enum kind { PERMITS, EVENT, CONDITION, BARRIER, QUEUE };

static inline struct bz_judge *bz_py_judge_of(const struct bz_py_object *object) {
    return object->loop->judge;
}

/* The lock of a condition is acquired and released as permits are. */
static inline uint32_t bz_py_permits_of(const struct bz_py_object *object) {
    return object->kind == CONDITION ? object->condition.lock : object->number;
}

/* --- stock.c: looking into asyncio's own -------------------------------------------------------
 */

bool bz_py_stock_init(void);

/* Notes what the target of a new object shows. */
void bz_py_stock_find(struct bz_py_object *object);

/* Permits, less those that were promised if the object counts so. */
uint64_t bz_py_stock_level(const struct bz_py_object *object);

/* For struct bz_introspection and bz_judge_add_queue(); an instance is a struct bz_py_object. */
void bz_py_stock_view(void *instance, struct bz_permit_view *view);
bool bz_py_stock_locked(void *instance);
uint32_t bz_py_stock_queued(void *instance);
uint64_t bz_py_stock_queue_size(void *instance);

#endif
