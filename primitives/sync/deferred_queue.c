#include "primitives/sync/deferred_queue.h"

void bz_deferred_queue_init(struct bz_deferred_queue *queue, struct bz_trampoline *trampoline,
                            uint64_t *items, uint32_t size, uint32_t backlog) {
    *queue = (struct bz_deferred_queue){.items = items, .size = size, .backlog = backlog};
    bz_deferred_waitq_init(&queue->getters, trampoline);
}

enum bz_status bz_deferred_queue_put(struct bz_deferred_queue *queue, uint64_t item) {
    if (bz_deferred_waitq_fire_oldest(&queue->getters, item)) {
        return BZ_OK;
    }
    if (queue->count == queue->size) {
        return BZ_FULL;
    }
    /* The sum may not fit 32 bits. */
    queue->items[((uint64_t)queue->first + queue->count) % queue->size] = item;
    queue->count++;
    return BZ_OK;
}

enum bz_status bz_deferred_queue_get(struct bz_deferred_queue *queue,
                                     struct bz_deferred_waiter *getter) {
    if (queue->count > 0) {
        uint64_t item = queue->items[queue->first];
        queue->first = queue->first + 1 == queue->size ? 0 : queue->first + 1;
        queue->count--;
        bz_deferred_waiter_init(getter, &queue->getters);
        (void)bz_deferred_callback(&getter->deferred, item);
        return BZ_OK;
    }
    if (queue->getters.waiting_count >= queue->backlog) {
        return BZ_EMPTY;
    }
    bz_deferred_waiter_init(getter, &queue->getters);
    bz_deferred_waitq_push(getter);
    return BZ_OK;
}
