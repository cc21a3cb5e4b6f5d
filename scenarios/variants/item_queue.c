#include "scenarios/variants/item_queue.h"

#include <string.h>

/* Items can be put back in front of so many. */
#define FIRST_PUT UINT32_MAX

enum bz_status bz_item_queue_init(void *instance, struct bz_loop *loop, enum bz_queue_order order,
                                  uint32_t maxsize) {
    struct bz_item_queue *queue = instance;
    bz_deque_init(&queue->getters, loop);
    bz_deque_init(&queue->putters, loop);
    bz_deque_init(&queue->joiners, loop);
    queue->maxsize = maxsize;
    enum bz_queue_kind kind = (enum bz_queue_kind)order; /* they have the same numbers */
    uint32_t capacity = maxsize == BZ_QUEUE_RENDEZVOUS ? 0 : maxsize;
    bool has_memory = bz_items_init(&queue->items, bz_loop_mem(loop), kind, capacity);
    queue->items.puts = FIRST_PUT;
    return has_memory ? BZ_OK : BZ_NO_MEMORY;
}

bool bz_item_queue_is_full(const struct bz_item_queue *queue) {
    return queue->maxsize > 0 && queue->items.count >= queue->maxsize;
}

static void wake(const struct bz_item_queue *queue, struct bz_deque *deque) {
    (void)(queue->is_asyncio ? bz_deque_pop_and_wake(deque) : bz_deque_wake_oldest(deque));
}

/* --- items ------------------------------------------------------------------------------------ */

enum bz_status bz_item_queue_store(struct bz_item_queue *queue, uint64_t value, int64_t priority) {
    if (!bz_items_reserve(&queue->items)) {
        return BZ_NO_MEMORY;
    }
    if (queue->is_asyncio) {
        queue->items.puts = 0; /* so that nothing breaks a tie */
    }
    bz_items_push(&queue->items, value, priority);
    return BZ_OK;
}

enum bz_status bz_item_queue_put_back(struct bz_item_queue *queue, uint64_t value) {
    struct bz_items *items = &queue->items;
    if (!bz_items_reserve(items)) {
        return BZ_NO_MEMORY;
    }
    if (items->kind == BZ_QUEUE_PRIORITY) {
        uint64_t puts = items->puts;
        for (uint32_t index = 0; index < items->count; index++) {
            uint64_t order = items->heap[index].order;
            items->puts = order < items->puts ? order : items->puts;
        }
        items->puts--;
        bz_items_push(items, value, 0);
        items->puts = puts;
        return BZ_OK;
    }
    if (items->kind == BZ_QUEUE_LIFO) {
        memmove(items->values + 1, items->values, items->count * sizeof items->values[0]);
    } else {
        items->head = (items->head == 0 ? items->capacity : items->head) - 1;
    }
    items->values[items->head] = value;
    items->count++;
    return BZ_OK;
}

enum bz_status bz_item_queue_add(struct bz_item_queue *queue, uint64_t value, int64_t priority) {
    enum bz_status status = bz_item_queue_store(queue, value, priority);
    if (status == BZ_OK) {
        queue->unfinished++;
        wake(queue, &queue->getters);
    }
    return status;
}

uint64_t bz_item_queue_take(struct bz_item_queue *queue) {
    return bz_items_pop(&queue->items);
}

uint64_t bz_item_queue_at(const struct bz_item_queue *queue, uint32_t index) {
    const struct bz_items *items = &queue->items;
    uint32_t place = items->head + index;
    return items->kind == BZ_QUEUE_PRIORITY ? items->heap[index].value
           : place < items->capacity        ? items->values[place]
                                            : items->values[place - items->capacity];
}

/* --- put and get ------------------------------------------------------------------------------ */

enum bz_status bz_item_queue_try_put(void *instance, uint64_t value, int64_t priority) {
    struct bz_item_queue *queue = instance;
    if (queue->is_shut || bz_item_queue_is_full(queue)) {
        return queue->is_shut ? BZ_CLOSED : BZ_FULL;
    }
    return bz_item_queue_add(queue, value, priority);
}

/* After each wait they check again. */
enum bz_status bz_item_queue_wait_for_slot(struct bz_item_queue *queue) {
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && bz_item_queue_is_full(queue) && !queue->is_shut) {
        struct bz_waiter waiter;
        status = bz_deque_wait(&queue->putters, &waiter);
        if (status != BZ_OK && bz_waiter_was_woken(&waiter) && !bz_item_queue_is_full(queue)) {
            wake(queue, &queue->putters);
        }
    }
    return status;
}

enum bz_status bz_item_queue_put(void *instance, uint64_t value, int64_t priority) {
    enum bz_status status = bz_item_queue_wait_for_slot(instance);
    return status == BZ_OK ? bz_item_queue_try_put(instance, value, priority) : status;
}

enum bz_status bz_item_queue_try_get(void *instance, uint64_t *value) {
    struct bz_item_queue *queue = instance;
    if (queue->items.count == 0) {
        return queue->is_shut ? BZ_CLOSED : BZ_EMPTY;
    }
    *value = bz_item_queue_take(queue);
    wake(queue, &queue->putters);
    return BZ_OK;
}

enum bz_status bz_item_queue_wait_for_item(struct bz_item_queue *queue) {
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && queue->items.count == 0 && !queue->is_shut) {
        struct bz_waiter waiter;
        status = bz_deque_wait(&queue->getters, &waiter);
        if (status != BZ_OK && bz_waiter_was_woken(&waiter) && queue->items.count > 0) {
            wake(queue, &queue->getters);
        }
    }
    return status;
}

enum bz_status bz_item_queue_get(void *instance, uint64_t *value) {
    enum bz_status status = bz_item_queue_wait_for_item(instance);
    return status == BZ_OK ? bz_item_queue_try_get(instance, value) : status;
}

/* --- the end ---------------------------------------------------------------------------------- */

static void finish(struct bz_item_queue *queue) {
    while (queue->unfinished == 0 && bz_deque_wake_oldest(&queue->joiners)) {
    }
}

enum bz_status bz_item_queue_task_done(void *instance) {
    struct bz_item_queue *queue = instance;
    if (queue->unfinished == 0) {
        return BZ_INVALID_STATE;
    }
    queue->unfinished--;
    finish(queue);
    return BZ_OK;
}

enum bz_status bz_item_queue_join(void *instance) {
    struct bz_item_queue *queue = instance;
    struct bz_waiter waiter;
    return queue->unfinished == 0 ? BZ_OK : bz_deque_wait(&queue->joiners, &waiter);
}

void bz_item_queue_close(struct bz_item_queue *queue, bool is_immediate) {
    queue->is_shut = true;
    if (is_immediate) {
        uint32_t dropped = queue->items.count;
        bz_items_clear(&queue->items);
        queue->unfinished -= dropped < queue->unfinished ? dropped : queue->unfinished;
        finish(queue);
    }
}

void bz_item_queue_shutdown(void *instance, bool is_immediate) {
    struct bz_item_queue *queue = instance;
    bz_item_queue_close(queue, is_immediate);
    while (bz_deque_pop_and_wake(&queue->getters) || bz_deque_pop_and_wake(&queue->putters)) {
    }
}

uint64_t bz_item_queue_size(void *instance) {
    const struct bz_item_queue *queue = instance;
    return (uint64_t)queue->items.count + queue->handed_over;
}

uint32_t bz_item_queue_queued(void *instance) {
    const struct bz_item_queue *queue = instance;
    return bz_deque_length(&queue->getters) + bz_deque_length(&queue->putters) +
           bz_deque_length(&queue->joiners);
}
