/* A queue of items in the manner of asyncio's, for the references here and for the zoo.
 *
 * A wake-up is a hint: a woken task looks again, and may have to wait again behind all others. A
 * task that leaves without using its wake-up passes it on. An item is in the queue from the
 * return of its put to the return of its get, so that a variant made of these functions may claim
 * BZ_CLAIM_TAKES_AT_RETURN. As in deque.h, the queue itself has no fault.
 *
 * Handing over: entries of the zoo give an item to the oldest getter that waits, inside the
 * getter's future, where a wake-up and its item are one. Such items are counted as in the queue
 * until that getter has resumed. */
#pragma once

#include "primitives/sync/items.h"
#include "scenarios/variants/deque.h"

struct bz_item_queue {
    struct bz_items items;
    struct bz_deque getters;
    struct bz_deque putters;
    struct bz_deque joiners;
    uint64_t unfinished;
    uint32_t maxsize;
    uint32_t handed_over; /* items in the futures of getters that have not resumed */
    bool is_shut;
    bool is_asyncio; /* a wake-up takes the getter or putter out of its deque, and items of one
                        priority come as a heap without a tie-break leaves them */
};

bool bz_item_queue_is_full(const struct bz_item_queue *queue);

/* Stores an item, and wakes no waiter. With _add it counts as unfinished, and a getter is woken. */
enum bz_status bz_item_queue_store(struct bz_item_queue *queue, uint64_t value, int64_t priority);
enum bz_status bz_item_queue_add(struct bz_item_queue *queue, uint64_t value, int64_t priority);

/* Stores an item in front of all others; in a stack, that is its bottom. */
enum bz_status bz_item_queue_put_back(struct bz_item_queue *queue, uint64_t value);

/* The value at a place of the ring, the stack or the heap. */
uint64_t bz_item_queue_at(const struct bz_item_queue *queue, uint32_t index);

/* Takes the next item, which must exist, and wakes no waiter. */
uint64_t bz_item_queue_take(struct bz_item_queue *queue);

/* Wait until there is a slot, or an item, or the queue is shut. A cancelled waiter passes its
 * wake-up on. */
enum bz_status bz_item_queue_wait_for_slot(struct bz_item_queue *queue);
enum bz_status bz_item_queue_wait_for_item(struct bz_item_queue *queue);

/* A put, or a get, that waits in this way and then calls the given try. */
#define BZ_ITEM_QUEUE_PUT(name, try_put)                                                           \
    static enum bz_status name(void *instance, uint64_t value, int64_t priority) {                 \
        enum bz_status status = bz_item_queue_wait_for_slot(instance);                             \
        return status == BZ_OK ? try_put(instance, value, priority) : status;                      \
    }
#define BZ_ITEM_QUEUE_GET(name, try_get)                                                           \
    static enum bz_status name(void *instance, uint64_t *value) {                                  \
        enum bz_status status = bz_item_queue_wait_for_item(instance);                             \
        return status == BZ_OK ? try_get(instance, value) : status;                                \
    }

/* The first half of a shutdown; the second wakes the tasks that wait. */
void bz_item_queue_close(struct bz_item_queue *queue, bool is_immediate);

enum bz_status bz_item_queue_init(void *instance, struct bz_loop *loop, enum bz_queue_order order,
                                  uint32_t maxsize);
enum bz_status bz_item_queue_put(void *instance, uint64_t value, int64_t priority);
enum bz_status bz_item_queue_get(void *instance, uint64_t *value);
enum bz_status bz_item_queue_try_put(void *instance, uint64_t value, int64_t priority);
enum bz_status bz_item_queue_try_get(void *instance, uint64_t *value);
enum bz_status bz_item_queue_task_done(void *instance);
enum bz_status bz_item_queue_join(void *instance);
void bz_item_queue_shutdown(void *instance, bool is_immediate);
uint64_t bz_item_queue_size(void *instance);
uint32_t bz_item_queue_queued(void *instance);

/* All but init and shutdown. */
#define BZ_ITEM_QUEUE                                                                              \
    .instance_bytes = sizeof(struct bz_item_queue), .put = bz_item_queue_put,                      \
    .get = bz_item_queue_get, .try_put = bz_item_queue_try_put, .try_get = bz_item_queue_try_get,  \
    .task_done = bz_item_queue_task_done, .join = bz_item_queue_join, .size = bz_item_queue_size,  \
    .queued = bz_item_queue_queued
