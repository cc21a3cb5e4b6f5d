#include "primitives/sync/queue.h"

#include "primitives/runtime/loop.h"

/* Why a getter or putter was woken. */
enum wake_reason {
    WAKE_PROMISED = 1, /* an item or a slot */
    WAKE_CLOSED = 2,
};

enum bz_status bz_queue_init(struct bz_queue *queue, struct bz_loop *loop, enum bz_queue_kind kind,
                             uint32_t maxsize) {
    *queue = (struct bz_queue){.maxsize = maxsize};
    bz_waitq_init(&queue->getters, loop);
    bz_waitq_init(&queue->putters, loop);
    bz_sync_event_init(&queue->finished, loop);
    bz_sync_event_set(&queue->finished);
    return bz_items_init(&queue->items, bz_loop_mem(loop), kind, maxsize) ? BZ_OK : BZ_NO_MEMORY;
}

void bz_queue_fini(struct bz_queue *queue) {
    bz_items_fini(&queue->items);
}

/* --- promises --------------------------------------------------------------------------------- */

static bool has_free_slot(const struct bz_queue *queue) {
    return queue->maxsize == 0 ||
           (uint64_t)queue->items.count + queue->promised_slots < queue->maxsize;
}

bool bz_queue_empty(const struct bz_queue *queue) {
    return queue->items.count == 0 || queue->getters.woken_count > 0;
}

bool bz_queue_full(const struct bz_queue *queue) {
    return !has_free_slot(queue) || queue->putters.woken_count > 0;
}

/* Promises free items to the oldest getters. In a closed queue the rest wait until no promise can
 * come back, and then get BZ_CLOSED. */
static void serve_getters(struct bz_queue *queue) {
    while (queue->promised_items < queue->items.count && bz_waitq_has_waiting(&queue->getters)) {
        queue->promised_items++;
        bz_waitq_wake_oldest(&queue->getters, WAKE_PROMISED);
    }
    if (queue->is_closed && queue->items.count == 0) {
        bz_waitq_wake_all(&queue->getters, WAKE_CLOSED);
    }
}

/* Promises free slots to the oldest putters. */
static void serve_putters(struct bz_queue *queue) {
    while (bz_waitq_has_waiting(&queue->putters) && has_free_slot(queue)) {
        queue->promised_slots++;
        bz_waitq_wake_oldest(&queue->putters, WAKE_PROMISED);
    }
}

/* --- put -------------------------------------------------------------------------------------- */

/* A bounded queue must have a slot. */
static enum bz_status store(struct bz_queue *queue, uint64_t value, int64_t priority) {
    if (queue->maxsize == 0 && !bz_items_reserve(&queue->items)) {
        return BZ_NO_MEMORY;
    }
    bz_items_push(&queue->items, value, priority);
    queue->unfinished++;
    bz_sync_event_clear(&queue->finished);
    serve_getters(queue);
    return BZ_OK;
}

enum bz_status bz_queue_try_put_priority(struct bz_queue *queue, uint64_t value, int64_t priority) {
    if (queue->is_closed) {
        return BZ_CLOSED;
    }
    return bz_queue_full(queue) ? BZ_FULL : store(queue, value, priority);
}

enum bz_status bz_queue_put_priority(struct bz_queue *queue, uint64_t value, int64_t priority) {
    if (queue->is_closed || !bz_queue_full(queue)) {
        return bz_queue_try_put_priority(queue, value, priority);
    }
    struct bz_wait_outcome outcome = bz_waitq_wait(&queue->putters);
    enum bz_status status = outcome.status;
    if (outcome.was_woken && outcome.value == WAKE_PROMISED) {
        queue->promised_slots--; /* filled, or free again */
    }
    if (status == BZ_OK) {
        status = queue->is_closed ? BZ_CLOSED : store(queue, value, priority);
    }
    serve_putters(queue);
    return status;
}

enum bz_status bz_queue_put(struct bz_queue *queue, uint64_t value) {
    return bz_queue_put_priority(queue, value, 0);
}

enum bz_status bz_queue_try_put(struct bz_queue *queue, uint64_t value) {
    return bz_queue_try_put_priority(queue, value, 0);
}

/* --- get -------------------------------------------------------------------------------------- */

/* Needs an item that this task may take. */
static enum bz_status take(struct bz_queue *queue, uint64_t *value) {
    *value = bz_items_pop(&queue->items);
    serve_putters(queue);
    return BZ_OK;
}

enum bz_status bz_queue_try_get(struct bz_queue *queue, uint64_t *value) {
    if (!bz_queue_empty(queue)) {
        return take(queue, value);
    }
    return queue->is_closed && queue->items.count == 0 ? BZ_CLOSED : BZ_EMPTY;
}

enum bz_status bz_queue_get(struct bz_queue *queue, uint64_t *value) {
    enum bz_status status = bz_queue_try_get(queue, value);
    if (status != BZ_EMPTY) {
        return status;
    }
    struct bz_wait_outcome outcome = bz_waitq_wait(&queue->getters);
    status = outcome.status;
    if (outcome.was_woken && outcome.value == WAKE_PROMISED) {
        queue->promised_items--; /* taken, or free again */
    }
    if (status == BZ_OK) {
        /* Only a shutdown can drop a promised item. */
        status = queue->items.count == 0 ? BZ_CLOSED : take(queue, value);
    }
    serve_getters(queue);
    return status;
}

/* --- the end ---------------------------------------------------------------------------------- */

static void finish(struct bz_queue *queue, uint64_t count) {
    queue->unfinished -= count;
    if (queue->unfinished == 0) {
        bz_sync_event_set(&queue->finished);
    }
}

enum bz_status bz_queue_task_done(struct bz_queue *queue) {
    if (queue->unfinished == 0) {
        return BZ_INVALID_STATE;
    }
    finish(queue, 1);
    return BZ_OK;
}

enum bz_status bz_queue_join(struct bz_queue *queue) {
    return bz_sync_event_wait(&queue->finished);
}

void bz_queue_shutdown(struct bz_queue *queue, bool is_immediate) {
    queue->is_closed = true;
    if (is_immediate) {
        uint64_t dropped = queue->items.count;
        bz_items_clear(&queue->items);
        /* Some items may have been reported as done before their get. */
        finish(queue, dropped < queue->unfinished ? dropped : queue->unfinished);
    }
    serve_getters(queue);
    bz_waitq_wake_all(&queue->putters, WAKE_CLOSED);
}
