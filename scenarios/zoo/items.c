#include "scenarios/zoo/items.h"

#include "primitives/runtime/mem.h"

struct item {
    struct bz_list link;
    uint64_t value;
    int64_t priority;
};

enum bz_status bz_zoo_items_init(void *instance, struct bz_loop *loop, enum bz_queue_order order,
                                 uint32_t maxsize) {
    struct bz_zoo_items *queue = instance;
    queue->loop = loop;
    queue->order = order;
    queue->maxsize = maxsize;
    bz_list_init(&queue->items);
    bz_deque_init(&queue->getters, loop);
    bz_deque_init(&queue->putters, loop);
    bz_deque_init(&queue->joiners, loop);
    return BZ_OK;
}

bool bz_zoo_items_is_full(const struct bz_zoo_items *queue) {
    return queue->maxsize > 0 && queue->count >= queue->maxsize;
}

static enum bz_status store_before(struct bz_zoo_items *queue, struct bz_list *position,
                                   uint64_t value, int64_t priority) {
    struct item *item = bz_mem_alloc(bz_loop_mem(queue->loop), sizeof *item);
    if (item == NULL) {
        return BZ_NO_MEMORY;
    }
    item->value = value;
    item->priority = priority;
    bz_list_insert_before(position, &item->link);
    queue->count++;
    return BZ_OK;
}

enum bz_status bz_zoo_items_store(struct bz_zoo_items *queue, uint64_t value, int64_t priority) {
    return store_before(queue, &queue->items, value, priority);
}

enum bz_status bz_zoo_items_store_first(struct bz_zoo_items *queue, uint64_t value) {
    return store_before(queue, queue->items.next, value, 0);
}

/* The item that was stored first or last, or the first of those with the least priority. */
static struct item *due_item(const struct bz_zoo_items *queue) {
    bool is_lifo = queue->order == BZ_QUEUE_ORDER_LIFO;
    struct bz_list *link = is_lifo ? queue->items.prev : queue->items.next;
    struct item *due = bz_container_of(link, struct item, link);
    while (queue->order == BZ_QUEUE_ORDER_PRIORITY && (link = link->next) != &queue->items) {
        struct item *item = bz_container_of(link, struct item, link);
        due = item->priority < due->priority ? item : due;
    }
    return due;
}

uint64_t bz_zoo_items_take(struct bz_zoo_items *queue) {
    struct item *due = due_item(queue);
    uint64_t value = due->value;
    bz_list_remove(&due->link);
    bz_mem_free(bz_loop_mem(queue->loop), due, sizeof *due);
    queue->count--;
    return value;
}

/* --- put and get ------------------------------------------------------------------------------ */

enum bz_status bz_zoo_items_wait_for_slot(struct bz_zoo_items *queue) {
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && bz_zoo_items_is_full(queue) && !queue->is_closed) {
        struct bz_waiter waiter;
        status = bz_deque_wait(&queue->putters, &waiter);
        if (status != BZ_OK && bz_waiter_was_woken(&waiter) && !bz_zoo_items_is_full(queue)) {
            bz_deque_wake_oldest(&queue->putters);
        }
    }
    return status;
}

enum bz_status bz_zoo_items_wait_for_item(struct bz_zoo_items *queue) {
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && queue->count == 0 && !queue->is_closed) {
        struct bz_waiter waiter;
        status = bz_deque_wait(&queue->getters, &waiter);
        if (status != BZ_OK && bz_waiter_was_woken(&waiter) && queue->count > 0) {
            bz_deque_wake_oldest(&queue->getters);
        }
    }
    return status;
}

enum bz_status bz_zoo_items_add(struct bz_zoo_items *queue, uint64_t value, int64_t priority) {
    enum bz_status status = bz_zoo_items_store(queue, value, priority);
    if (status == BZ_OK) {
        queue->unfinished++;
        bz_deque_wake_oldest(&queue->getters);
    }
    return status;
}

enum bz_status bz_zoo_items_try_put(void *instance, uint64_t value, int64_t priority) {
    struct bz_zoo_items *queue = instance;
    if (queue->is_closed || bz_zoo_items_is_full(queue)) {
        return queue->is_closed ? BZ_CLOSED : BZ_FULL;
    }
    return bz_zoo_items_add(queue, value, priority);
}

enum bz_status bz_zoo_items_put(void *instance, uint64_t value, int64_t priority) {
    enum bz_status status = bz_zoo_items_wait_for_slot(instance);
    return status == BZ_OK ? bz_zoo_items_try_put(instance, value, priority) : status;
}

enum bz_status bz_zoo_items_try_get(void *instance, uint64_t *value) {
    struct bz_zoo_items *queue = instance;
    if (queue->count == 0) {
        return queue->is_closed ? BZ_CLOSED : BZ_EMPTY;
    }
    *value = bz_zoo_items_take(queue);
    bz_deque_wake_oldest(&queue->putters);
    return BZ_OK;
}

enum bz_status bz_zoo_items_get(void *instance, uint64_t *value) {
    enum bz_status status = bz_zoo_items_wait_for_item(instance);
    return status == BZ_OK ? bz_zoo_items_try_get(instance, value) : status;
}

/* --- the end ---------------------------------------------------------------------------------- */

enum bz_status bz_zoo_items_task_done(void *instance) {
    struct bz_zoo_items *queue = instance;
    if (queue->unfinished == 0) {
        return BZ_INVALID_STATE;
    }
    queue->unfinished--;
    while (queue->unfinished == 0 && bz_deque_wake_oldest(&queue->joiners)) {
    }
    return BZ_OK;
}

enum bz_status bz_zoo_items_join(void *instance) {
    struct bz_zoo_items *queue = instance;
    struct bz_waiter waiter;
    return queue->unfinished == 0 ? BZ_OK : bz_deque_wait(&queue->joiners, &waiter);
}

void bz_zoo_items_close(struct bz_zoo_items *queue, bool is_immediate) {
    queue->is_closed = true;
    while (is_immediate && queue->count > 0) {
        (void)bz_zoo_items_take(queue);
        (void)bz_zoo_items_task_done(queue);
    }
}

uint64_t bz_zoo_items_size(void *instance) {
    const struct bz_zoo_items *queue = instance;
    return (uint64_t)queue->count + queue->handed_over;
}

uint32_t bz_zoo_items_queued(void *instance) {
    const struct bz_zoo_items *queue = instance;
    return bz_deque_length(&queue->getters) + bz_deque_length(&queue->putters);
}
