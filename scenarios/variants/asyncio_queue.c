/* The queue of asyncio.h. */
#include "primitives/runtime/heapq.h"
#include "scenarios/variants/asyncio.h"

static enum bz_status queue_init(void *instance, struct bz_loop *loop, enum bz_queue_order order,
                                 uint32_t maxsize) {
    struct queue *queue = instance;
    bz_deque_init(&queue->getters, loop);
    bz_deque_init(&queue->putters, loop);
    bz_deque_init(&queue->joiners, loop);
    queue->maxsize = maxsize;
    enum bz_queue_kind kind = (enum bz_queue_kind)order; /* they have the same numbers */
    bool has_memory = bz_items_init(&queue->items, bz_loop_mem(loop), kind, maxsize);
    return has_memory ? BZ_OK : BZ_NO_MEMORY;
}

static bool has_lower_priority(const void *left, const void *right) {
    return ((const struct bz_items_entry *)left)->priority <
           ((const struct bz_items_entry *)right)->priority;
}

static struct bz_heapq heap_of(const struct queue *queue) {
    return (struct bz_heapq){queue->items.heap, sizeof queue->items.heap[0], has_lower_priority};
}

static void push_item(struct queue *queue, uint64_t value, int64_t priority) {
    struct bz_items *items = &queue->items;
    if (items->kind != BZ_QUEUE_PRIORITY) {
        bz_items_push(items, value, priority);
        return;
    }
    struct bz_heapq heap = heap_of(queue);
    items->heap[items->count] = (struct bz_items_entry){.priority = priority, .value = value};
    bz_heapq_to_root(&heap, 0, items->count++);
}

static uint64_t pop_item(struct queue *queue) {
    struct bz_items *items = &queue->items;
    if (items->kind != BZ_QUEUE_PRIORITY) {
        return bz_items_pop(items);
    }
    struct bz_heapq heap = heap_of(queue);
    uint64_t value = items->heap[0].value;
    bz_heapq_drop_first(&heap, items->count--);
    return value;
}

static bool is_full(const struct queue *queue) {
    return queue->maxsize > 0 && queue->items.count >= queue->maxsize;
}

static enum bz_status queue_try_put(void *instance, uint64_t value, int64_t priority) {
    struct queue *queue = instance;
    if (queue->is_shut) {
        return BZ_CLOSED;
    }
    if (is_full(queue)) {
        return BZ_FULL;
    }
    if (!bz_items_reserve(&queue->items)) {
        return BZ_NO_MEMORY;
    }
    push_item(queue, value, priority);
    queue->unfinished++;
    bz_deque_pop_and_wake(&queue->getters);
    return BZ_OK;
}

/* After each wait it checks again. A task that leaves with a wake-up it does not use passes it on.
 */
static enum bz_status queue_put(void *instance, uint64_t value, int64_t priority) {
    struct queue *queue = instance;
    while (is_full(queue) && !queue->is_shut) {
        struct bz_waiter waiter;
        enum bz_status status = bz_deque_wait(&queue->putters, &waiter);
        if (status != BZ_OK) {
            if (bz_waiter_was_woken(&waiter) && !is_full(queue)) {
                bz_deque_pop_and_wake(&queue->putters);
            }
            return status;
        }
    }
    return queue_try_put(instance, value, priority);
}

static enum bz_status queue_try_get(void *instance, uint64_t *value) {
    struct queue *queue = instance;
    if (queue->items.count == 0) {
        return queue->is_shut ? BZ_CLOSED : BZ_EMPTY;
    }
    *value = pop_item(queue);
    bz_deque_pop_and_wake(&queue->putters);
    return BZ_OK;
}

static enum bz_status queue_get(void *instance, uint64_t *value) {
    struct queue *queue = instance;
    while (queue->items.count == 0 && !queue->is_shut) {
        struct bz_waiter waiter;
        enum bz_status status = bz_deque_wait(&queue->getters, &waiter);
        if (status != BZ_OK) {
            if (bz_waiter_was_woken(&waiter) && queue->items.count > 0) {
                bz_deque_pop_and_wake(&queue->getters);
            }
            return status;
        }
    }
    return queue_try_get(instance, value);
}

static void finish(struct queue *queue) {
    while (queue->unfinished == 0 && bz_deque_wake_oldest(&queue->joiners)) {
    }
}

static enum bz_status queue_task_done(void *instance) {
    struct queue *queue = instance;
    if (queue->unfinished == 0) {
        return BZ_INVALID_STATE;
    }
    queue->unfinished--;
    finish(queue);
    return BZ_OK;
}

static enum bz_status queue_join(void *instance) {
    struct queue *queue = instance;
    struct bz_waiter waiter;
    return queue->unfinished == 0 ? BZ_OK : bz_deque_wait(&queue->joiners, &waiter);
}

static void queue_shutdown(void *instance, bool is_immediate) {
    struct queue *queue = instance;
    queue->is_shut = true;
    if (is_immediate) {
        uint32_t dropped = queue->items.count;
        bz_items_clear(&queue->items);
        queue->unfinished -= dropped < queue->unfinished ? dropped : queue->unfinished;
        finish(queue);
    }
    while (bz_deque_pop_and_wake(&queue->getters) || bz_deque_pop_and_wake(&queue->putters)) {
    }
}

static uint64_t queue_size(void *instance) {
    const struct queue *queue = instance;
    return queue->items.count;
}

static uint32_t queue_queued(void *instance) {
    const struct queue *queue = instance;
    return bz_deque_length(&queue->getters) + bz_deque_length(&queue->putters) +
           bz_deque_length(&queue->joiners);
}

#define QUEUE_OPS(shutdown_)                                                                       \
    {                                                                                              \
        .instance_bytes = sizeof(struct queue), .init = queue_init, .put = queue_put,              \
        .get = queue_get, .try_put = queue_try_put, .try_get = queue_try_get,                      \
        .task_done = queue_task_done, .join = queue_join, .shutdown = shutdown_,                   \
        .size = queue_size, .queued = queue_queued                                                 \
    }

const struct bz_queue_ops bz_asyncio_queue_ops_311 = QUEUE_OPS(NULL);
const struct bz_queue_ops bz_asyncio_queue_ops_313 = QUEUE_OPS(queue_shutdown);
