/* The queue that entries of the zoo are made of. It is correct, and works like asyncio's. As in
 * parts.h, an entry replaces the operations that have its fault.
 *
 * A wake-up is a hint: a woken task looks again, and may have to wait again behind all others. A
 * task that leaves without using its wake-up passes it on. An item is in the queue from the
 * return of its put to the return of its get, so that a variant made of these functions may claim
 * BZ_CLAIM_TAKES_AT_RETURN.
 *
 * Handing over: a put gives its item to the oldest getter that waits, inside the getter's future,
 * where a wake-up and its item are one. Such items are counted as in the queue until that getter
 * has resumed. */
#ifndef BZ_SCENARIOS_ZOO_ITEMS_H
#define BZ_SCENARIOS_ZOO_ITEMS_H

#include "scenarios/zoo/parts.h"

struct bz_zoo_items {
    struct bz_loop *loop;
    enum bz_queue_order order;
    uint32_t maxsize;
    struct bz_list items; /* in the order in which they were stored */
    uint32_t count;
    uint32_t handed_over; /* items in the futures of getters that have not resumed */
    uint64_t unfinished;
    bool is_closed; /* by the shutdown of an entry */
    struct bz_deque getters;
    struct bz_deque putters;
    struct bz_deque joiners;
};

bool bz_zoo_items_is_full(const struct bz_zoo_items *queue);

/* Stores an item, at the end or in front of all others, and wakes no waiter. */
enum bz_status bz_zoo_items_store(struct bz_zoo_items *queue, uint64_t value, int64_t priority);
enum bz_status bz_zoo_items_store_first(struct bz_zoo_items *queue, uint64_t value);

/* Stores an item that counts as unfinished, and wakes a getter. */
enum bz_status bz_zoo_items_add(struct bz_zoo_items *queue, uint64_t value, int64_t priority);

/* Takes the next item, which must exist, and wakes no waiter. */
uint64_t bz_zoo_items_take(struct bz_zoo_items *queue);

/* Wait until there is a slot, or an item. A cancelled waiter passes its wake-up on. */
enum bz_status bz_zoo_items_wait_for_slot(struct bz_zoo_items *queue);
enum bz_status bz_zoo_items_wait_for_item(struct bz_zoo_items *queue);

enum bz_status bz_zoo_items_init(void *instance, struct bz_loop *loop, enum bz_queue_order order,
                                 uint32_t maxsize);
enum bz_status bz_zoo_items_put(void *instance, uint64_t value, int64_t priority);
enum bz_status bz_zoo_items_get(void *instance, uint64_t *value);
enum bz_status bz_zoo_items_try_put(void *instance, uint64_t value, int64_t priority);
enum bz_status bz_zoo_items_try_get(void *instance, uint64_t *value);
enum bz_status bz_zoo_items_task_done(void *instance);
enum bz_status bz_zoo_items_join(void *instance);
uint64_t bz_zoo_items_size(void *instance);
uint32_t bz_zoo_items_queued(void *instance);

/* The first half of a shutdown; the second wakes who waits. */
void bz_zoo_items_close(struct bz_zoo_items *queue, bool is_immediate);

#define BZ_ZOO_QUEUE                                                                               \
    .instance_bytes = sizeof(struct bz_zoo_items), .init = bz_zoo_items_init,                      \
    .put = bz_zoo_items_put, .get = bz_zoo_items_get, .try_put = bz_zoo_items_try_put,             \
    .try_get = bz_zoo_items_try_get, .task_done = bz_zoo_items_task_done,                          \
    .join = bz_zoo_items_join, .size = bz_zoo_items_size, .queued = bz_zoo_items_queued

#endif
