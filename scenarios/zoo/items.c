#include "scenarios/zoo/items.h"

#include <string.h>

#include "primitives/runtime/mem.h"

#define CAPACITY_FIRST 8u

enum bz_status bz_zoo_items_init(void *instance, struct bz_loop *loop, enum bz_queue_order order,
                                 uint32_t maxsize) {
    struct bz_zoo_items *queue = instance;
    queue->loop = loop;
    queue->order = order;
    queue->maxsize = maxsize;
    queue->capacity = CAPACITY_FIRST;
    queue->items = bz_mem_alloc(bz_loop_mem(loop), CAPACITY_FIRST * sizeof *queue->items);
    bz_zoo_queue_init(&queue->getters, loop);
    bz_zoo_queue_init(&queue->putters, loop);
    bz_zoo_queue_init(&queue->joiners, loop);
    return queue->items != NULL ? BZ_OK : BZ_NO_MEMORY;
}

/* --- items ------------------------------------------------------------------------------------ */

bool bz_zoo_items_is_full(const struct bz_zoo_items *queue) {
    return queue->maxsize > 0 && queue->count >= queue->maxsize;
}

static bool make_room(struct bz_zoo_items *queue) {
    if (queue->count < queue->capacity) {
        return true;
    }
    struct bz_mem *mem = bz_loop_mem(queue->loop);
    size_t bytes = queue->capacity * sizeof *queue->items;
    struct bz_zoo_item *larger = bz_mem_alloc(mem, 2 * bytes);
    if (larger == NULL) {
        return false;
    }
    memcpy(larger, queue->items, bytes);
    bz_mem_free(mem, queue->items, bytes);
    queue->items = larger;
    queue->capacity *= 2;
    return true;
}

enum bz_status bz_zoo_items_store(struct bz_zoo_items *queue, uint64_t value, int64_t priority) {
    if (!make_room(queue)) {
        return BZ_NO_MEMORY;
    }
    queue->items[queue->count++] = (struct bz_zoo_item){.value = value, .priority = priority};
    return BZ_OK;
}

enum bz_status bz_zoo_items_store_first(struct bz_zoo_items *queue, uint64_t value) {
    if (!make_room(queue)) {
        return BZ_NO_MEMORY;
    }
    memmove(queue->items + 1, queue->items, queue->count * sizeof *queue->items);
    queue->items[0] = (struct bz_zoo_item){.value = value};
    queue->count++;
    return BZ_OK;
}

static uint32_t due_index(const struct bz_zoo_items *queue) {
    uint32_t due = queue->order == BZ_QUEUE_ORDER_LIFO ? queue->count - 1 : 0;
    if (queue->order == BZ_QUEUE_ORDER_PRIORITY) {
        for (uint32_t index = 1; index < queue->count; index++) {
            due = queue->items[index].priority < queue->items[due].priority ? index : due;
        }
    }
    return due;
}

uint64_t bz_zoo_items_take(struct bz_zoo_items *queue) {
    uint32_t due = due_index(queue);
    uint64_t value = queue->items[due].value;
    queue->count--;
    memmove(queue->items + due, queue->items + due + 1,
            (queue->count - due) * sizeof *queue->items);
    return value;
}

/* --- put and get ------------------------------------------------------------------------------ */

void bz_zoo_items_expect(struct bz_zoo_items *queue) {
    queue->unfinished++;
}

enum bz_status bz_zoo_items_try_put(void *instance, uint64_t value, int64_t priority) {
    struct bz_zoo_items *queue = instance;
    if (bz_zoo_items_is_full(queue)) {
        return BZ_FULL;
    }
    enum bz_status status = bz_zoo_items_store(queue, value, priority);
    if (status == BZ_OK) {
        bz_zoo_items_expect(queue);
        bz_zoo_wake_oldest(&queue->getters);
    }
    return status;
}

/* Who leaves with a wake-up that it has no use for passes it on. */
static enum bz_status wait_for_slot(struct bz_zoo_items *queue) {
    struct bz_zoo_waiter waiter;
    enum bz_status status = bz_zoo_wait(&queue->putters, &waiter);
    bz_zoo_leave(&waiter);
    if (status != BZ_OK && bz_zoo_was_woken(&waiter) && !bz_zoo_items_is_full(queue)) {
        bz_zoo_wake_oldest(&queue->putters);
    }
    return status;
}

static enum bz_status wait_for_item(struct bz_zoo_items *queue) {
    struct bz_zoo_waiter waiter;
    enum bz_status status = bz_zoo_wait(&queue->getters, &waiter);
    bz_zoo_leave(&waiter);
    if (status != BZ_OK && bz_zoo_was_woken(&waiter) && queue->count > 0) {
        bz_zoo_wake_oldest(&queue->getters);
    }
    return status;
}

enum bz_status bz_zoo_items_put(void *instance, uint64_t value, int64_t priority) {
    struct bz_zoo_items *queue = instance;
    while (bz_zoo_items_is_full(queue)) {
        enum bz_status status = wait_for_slot(queue);
        if (status != BZ_OK) {
            return status;
        }
    }
    return bz_zoo_items_try_put(queue, value, priority);
}

enum bz_status bz_zoo_items_try_get(void *instance, uint64_t *value) {
    struct bz_zoo_items *queue = instance;
    if (queue->count == 0) {
        return BZ_EMPTY;
    }
    *value = bz_zoo_items_take(queue);
    bz_zoo_wake_oldest(&queue->putters);
    return BZ_OK;
}

enum bz_status bz_zoo_items_get(void *instance, uint64_t *value) {
    struct bz_zoo_items *queue = instance;
    while (queue->count == 0) {
        enum bz_status status = wait_for_item(queue);
        if (status != BZ_OK) {
            return status;
        }
    }
    return bz_zoo_items_try_get(queue, value);
}

/* --- handing over ----------------------------------------------------------------------------- */

bool bz_zoo_items_hand_to_oldest(struct bz_zoo_items *queue, uint64_t value) {
    struct bz_list *entries = &queue->getters.entries;
    for (struct bz_list *link = entries->next; link != entries; link = link->next) {
        struct bz_zoo_waiter *waiter = bz_container_of(link, struct bz_zoo_waiter, link);
        if (bz_future_set_result(&waiter->future, value) == BZ_OK) {
            queue->handed_over++;
            return true;
        }
    }
    return false;
}

enum bz_status bz_zoo_items_try_hand_over(void *instance, uint64_t value, int64_t priority) {
    struct bz_zoo_items *queue = instance;
    if (bz_zoo_items_is_full(queue)) {
        return BZ_FULL;
    }
    bool is_handed = queue->count == 0 && bz_zoo_items_hand_to_oldest(queue, value);
    if (is_handed) {
        bz_zoo_wake_oldest(&queue->putters); /* it takes no slot: that is for the next one */
    }
    enum bz_status status = is_handed ? BZ_OK : bz_zoo_items_store(queue, value, priority);
    if (status == BZ_OK) {
        bz_zoo_items_expect(queue);
    }
    return status;
}

enum bz_status bz_zoo_items_hand_over(void *instance, uint64_t value, int64_t priority) {
    struct bz_zoo_items *queue = instance;
    while (bz_zoo_items_is_full(queue)) {
        enum bz_status status = wait_for_slot(queue);
        if (status != BZ_OK) {
            return status;
        }
    }
    return bz_zoo_items_try_hand_over(queue, value, priority);
}

/* --- the end ---------------------------------------------------------------------------------- */

enum bz_status bz_zoo_items_task_done(void *instance) {
    struct bz_zoo_items *queue = instance;
    if (queue->unfinished == 0) {
        return BZ_INVALID_STATE;
    }
    queue->unfinished--;
    while (queue->unfinished == 0 && bz_zoo_wake_oldest(&queue->joiners)) {
    }
    return BZ_OK;
}

enum bz_status bz_zoo_items_join(void *instance) {
    struct bz_zoo_items *queue = instance;
    if (queue->unfinished == 0) {
        return BZ_OK;
    }
    struct bz_zoo_waiter waiter;
    enum bz_status status = bz_zoo_wait(&queue->joiners, &waiter);
    bz_zoo_leave(&waiter);
    return status;
}

uint64_t bz_zoo_items_size(void *instance) {
    const struct bz_zoo_items *queue = instance;
    return (uint64_t)queue->count + queue->handed_over;
}

static uint32_t entries_of(const struct bz_zoo_queue *queue) {
    uint32_t count = 0;
    const struct bz_list *entries = &queue->entries;
    for (const struct bz_list *link = entries->next; link != entries; link = link->next) {
        count++;
    }
    return count;
}

uint32_t bz_zoo_items_queued(void *instance) {
    const struct bz_zoo_items *queue = instance;
    return entries_of(&queue->getters) + entries_of(&queue->putters);
}
