/* What the zoo's queues have in common: a correct queue in the manner of asyncio's, and beside it
 * the way in which older ones handed items over. Every entry replaces the one function in which its
 * fault lies.
 *
 * By default a wake-up is a hint: who was woken looks again, and may have to wait again behind all
 * others; whoever leaves without using the wake-up passes it on. An item is in the queue from the
 * return of its put to the return of its get, so that a variant made of these functions may claim
 * BZ_CLAIM_TAKES_AT_RETURN.
 *
 * Handing over: a put gives its item to the oldest getter that waits, inside the getter's future,
 * where a wake-up and its item are one. Such items are counted as in the queue until that getter
 * has resumed. */
#ifndef BZ_SCENARIOS_ZOO_ITEMS_H
#define BZ_SCENARIOS_ZOO_ITEMS_H

#include "scenarios/zoo/waiters.h"

struct bz_zoo_item {
    uint64_t value;
    int64_t priority;
};

struct bz_zoo_items {
    struct bz_loop *loop;
    enum bz_queue_order order;
    uint32_t maxsize;
    struct bz_zoo_item *items; /* in the order in which they were stored */
    uint32_t count;
    uint32_t capacity;
    uint32_t handed_over; /* items in the futures of getters that have not resumed */
    uint64_t unfinished;
    bool is_closed; /* for the one entry that can be shut down */
    struct bz_zoo_queue getters;
    struct bz_zoo_queue putters;
    struct bz_zoo_queue joiners;
};

bool bz_zoo_items_is_full(const struct bz_zoo_items *queue);

/* Stores an item, at the end or in front of all others, and wakes nobody. */
enum bz_status bz_zoo_items_store(struct bz_zoo_items *queue, uint64_t value, int64_t priority);
enum bz_status bz_zoo_items_store_first(struct bz_zoo_items *queue, uint64_t value);

/* Takes the item that the order says, of which there is one, and wakes nobody. */
uint64_t bz_zoo_items_take(struct bz_zoo_items *queue);

/* Counts an item that was put and is to be done. */
void bz_zoo_items_expect(struct bz_zoo_items *queue);

/* For struct bz_queue_ops: all of a correct queue. */
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

/* Puts that hand over, for FIFO queues. Their get is the entry's own. */
enum bz_status bz_zoo_items_hand_over(void *instance, uint64_t value, int64_t priority);
enum bz_status bz_zoo_items_try_hand_over(void *instance, uint64_t value, int64_t priority);

/* Gives the item to the oldest getter that waits; false if there is none. */
bool bz_zoo_items_hand_to_oldest(struct bz_zoo_items *queue, uint64_t value);

#endif
