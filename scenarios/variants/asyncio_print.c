/* The state of an object of asyncio.h as text, for a comparison with the real one. */
#include <inttypes.h>

#include "scenarios/variants/asyncio.h"

static void put_deque(struct bz_cut_text *text, const struct bz_deque *deque) {
    static const char states[] = {
        [BZ_FUTURE_PENDING] = 'P', [BZ_FUTURE_RESULT] = 'R', [BZ_FUTURE_CANCELLED] = 'C'};
    struct bz_waiter *waiter = NULL;
    bz_cut_add(text, "[");
    while ((waiter = bz_deque_next(deque, waiter)) != NULL) {
        bz_cut_add(text, "%c", states[waiter->future.state]);
    }
    bz_cut_add(text, "]");
}

static void put_lock(struct bz_cut_text *text, const struct lock *lock) {
    bz_cut_add(text, "%d", lock->is_locked);
    put_deque(text, &lock->queue);
}

static void put_condition(struct bz_cut_text *text, const struct condition *condition) {
    put_lock(text, condition->lock);
    put_deque(text, &condition->queue);
}

static void put_queue(struct bz_cut_text *text, const struct bz_item_queue *queue) {
    bz_cut_add(text, "%" PRIu64 ",%d[", queue->unfinished, queue->is_shut);
    for (uint32_t index = 0; index < queue->items.count; index++) {
        bz_cut_add(text, "%s%" PRIu64, index == 0 ? "" : " ", bz_item_queue_at(queue, index));
    }
    bz_cut_add(text, "]");
    put_deque(text, &queue->getters);
    put_deque(text, &queue->putters);
    put_deque(text, &queue->joiners);
}

void bz_asyncio_print(struct bz_cut_text *text, enum bz_primitive primitive, void *instance) {
    static const char *const barrier_states[] = {
        [FILLING] = "filling",
        [DRAINING] = "draining",
        [RESETTING] = "resetting",
        [BROKEN] = "broken",
    };
    switch (primitive) {
    case BZ_PRIMITIVE_LOCK:
        put_lock(text, instance);
        break;
    case BZ_PRIMITIVE_SEMAPHORE:
    case BZ_PRIMITIVE_BOUNDED:
        bz_cut_add(text, "%d,%u", bz_asyncio_semaphore_locked(instance),
                   ((struct semaphore *)instance)->value);
        put_deque(text, &((struct semaphore *)instance)->queue);
        break;
    case BZ_PRIMITIVE_EVENT:
        bz_cut_add(text, "%d", ((struct bz_flag *)instance)->is_set);
        put_deque(text, &((struct bz_flag *)instance)->waiters);
        break;
    case BZ_PRIMITIVE_CONDITION:
        put_condition(text, instance);
        break;
    case BZ_PRIMITIVE_BARRIER:
        bz_cut_add(text, "%u,%s,", ((struct barrier *)instance)->count,
                   barrier_states[((struct barrier *)instance)->state]);
        put_condition(text, &((struct barrier *)instance)->condition);
        break;
    default:
        put_queue(text, instance);
        break;
    }
}
