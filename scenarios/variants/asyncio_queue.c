/* The queue of the asyncio references. */
#include "scenarios/variants/asyncio.h"

enum bz_status bz_asyncio_queue_init(void *instance, struct bz_loop *loop,
                                     enum bz_queue_order order, uint32_t maxsize) {
    static const enum bz_queue_kind kinds[] = {[BZ_QUEUE_ORDER_FIFO] = BZ_QUEUE_FIFO,
                                               [BZ_QUEUE_ORDER_LIFO] = BZ_QUEUE_LIFO,
                                               [BZ_QUEUE_ORDER_PRIORITY] = BZ_QUEUE_PRIORITY};
    struct bz_asyncio_queue *queue = instance;
    bz_deque_init(&queue->getters, loop);
    bz_deque_init(&queue->putters, loop);
    queue->maxsize = maxsize;
    enum bz_status status = bz_asyncio_event_ops.init(&queue->finished, loop);
    queue->finished.is_set = true;
    return bz_items_init(&queue->items, bz_loop_mem(loop), kinds[order], maxsize) ? status
                                                                                  : BZ_NO_MEMORY;
}

static bool is_full(const struct bz_asyncio_queue *queue) {
    return queue->maxsize > 0 && queue->items.count >= queue->maxsize;
}

/* Takes entries out until it has woken one. */
static bool wake_next(struct bz_deque *waiters) {
    struct bz_waiter *waiter;
    while ((waiter = bz_deque_pop(waiters)) != NULL) {
        if (bz_future_set_result(&waiter->future, 0) == BZ_OK) {
            return true;
        }
    }
    return false;
}

/* One wait; the caller looks again what it was good for. `was_woken` is true if a wake-up went to a
 * task that leaves: it must pass it on. */
static enum bz_status wait_once(struct bz_deque *waiters, bool *was_woken) {
    struct bz_waiter waiter;
    enum bz_status status = bz_deque_wait(waiters, &waiter);
    *was_woken = bz_waiter_was_woken(&waiter);
    return status;
}

static void finish(struct bz_asyncio_queue *queue) {
    if (queue->unfinished == 0) {
        bz_asyncio_event_ops.set(&queue->finished);
    }
}

enum bz_status bz_asyncio_queue_try_put(void *instance, uint64_t value, int64_t priority) {
    struct bz_asyncio_queue *queue = instance;
    if (queue->is_shut) {
        return BZ_CLOSED;
    }
    if (is_full(queue)) {
        return BZ_FULL;
    }
    if (!bz_items_reserve(&queue->items)) {
        return BZ_NO_MEMORY;
    }
    bz_items_push(&queue->items, value, priority);
    queue->unfinished++;
    bz_asyncio_event_ops.clear(&queue->finished);
    wake_next(&queue->getters);
    return BZ_OK;
}

enum bz_status bz_asyncio_queue_put(void *instance, uint64_t value, int64_t priority) {
    struct bz_asyncio_queue *queue = instance;
    while (is_full(queue) && !queue->is_shut) {
        bool was_woken;
        enum bz_status status = wait_once(&queue->putters, &was_woken);
        if (status != BZ_OK) {
            if (was_woken && !is_full(queue)) {
                wake_next(&queue->putters);
            }
            return status;
        }
    }
    return bz_asyncio_queue_try_put(instance, value, priority);
}

enum bz_status bz_asyncio_queue_try_get(void *instance, uint64_t *value) {
    struct bz_asyncio_queue *queue = instance;
    if (queue->items.count == 0) {
        return queue->is_shut ? BZ_CLOSED : BZ_EMPTY;
    }
    *value = bz_items_pop(&queue->items);
    wake_next(&queue->putters);
    return BZ_OK;
}

enum bz_status bz_asyncio_queue_get(void *instance, uint64_t *value) {
    struct bz_asyncio_queue *queue = instance;
    while (queue->items.count == 0 && !queue->is_shut) {
        bool was_woken;
        enum bz_status status = wait_once(&queue->getters, &was_woken);
        if (status != BZ_OK) {
            if (was_woken && queue->items.count > 0) {
                wake_next(&queue->getters);
            }
            return status;
        }
    }
    return bz_asyncio_queue_try_get(instance, value);
}

enum bz_status bz_asyncio_queue_task_done(void *instance) {
    struct bz_asyncio_queue *queue = instance;
    if (queue->unfinished == 0) {
        return BZ_INVALID_STATE;
    }
    queue->unfinished--;
    finish(queue);
    return BZ_OK;
}

enum bz_status bz_asyncio_queue_join(void *instance) {
    struct bz_asyncio_queue *queue = instance;
    return queue->unfinished == 0 ? BZ_OK : bz_asyncio_event_ops.wait(&queue->finished);
}

void bz_asyncio_queue_shutdown(void *instance, bool is_immediate) {
    struct bz_asyncio_queue *queue = instance;
    queue->is_shut = true;
    if (is_immediate) {
        uint32_t dropped = queue->items.count;
        bz_items_clear(&queue->items);
        queue->unfinished -= dropped < queue->unfinished ? dropped : queue->unfinished;
        finish(queue);
    }
    while (wake_next(&queue->getters)) {
    }
    while (wake_next(&queue->putters)) {
    }
}

uint64_t bz_asyncio_queue_size(void *instance) {
    const struct bz_asyncio_queue *queue = instance;
    return queue->items.count;
}

uint32_t bz_asyncio_queue_queued(void *instance) {
    struct bz_asyncio_queue *queue = instance;
    struct bz_permit_view getters;
    struct bz_permit_view putters;
    bz_deque_view(&queue->getters, &getters);
    bz_deque_view(&queue->putters, &putters);
    return getters.queued + putters.queued + bz_asyncio_event_ops.queued(&queue->finished);
}
