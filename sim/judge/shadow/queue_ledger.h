/* The items of a queue under test, by value. queue.c writes them, the oracles of items read them.
 * Private to sim/judge. */
#pragma once

#include "sim/judge/internal.h"

enum bz_item_state {
    BZ_ITEM_PUTTING = 0, /* its put has not returned */
    BZ_ITEM_IN = 1,
    BZ_ITEM_GOT = 2,
    BZ_ITEM_REFUSED = 3, /* its put failed */
    BZ_ITEM_DROPPED = 4, /* by an immediate shutdown */
    /* its put at a rendezvous was cancelled too late, or in time; or its put had been woken, and an
     * immediate shutdown dropped it, or did not */
    BZ_ITEM_EITHER = 5,
    BZ_ITEM_MAYBE = 6, /* its put was cancelled: it is in and has a slot, or neither */
};

struct bz_judged_item {
    int64_t priority;
    uint32_t producer;
    uint32_t consumer;
    uint32_t entered; /* when its put returned, counted in puts */
    uint8_t state;    /* enum bz_item_state */
};

static inline const struct bz_shadow_object *bz_queue_items(const struct bz_judged_queue *queue) {
    return bz_judge_shadow_object(queue->judge, queue->items);
}

static inline const struct bz_shadow_object *bz_queue_slots(const struct bz_judged_queue *queue) {
    return bz_judge_shadow_object(queue->judge, queue->slots);
}

/* The queue holds an item exactly from the return of its put to the return of its get. */
static inline bool bz_queue_is_exact(const struct bz_judged_queue *queue) {
    return !queue->is_rendezvous && (bz_queue_items(queue)->claims & BZ_CLAIM_TAKES_AT_RETURN) != 0;
}

/* Puts that have returned with BZ_OK, less such gets. At a rendezvous: items that are offered. */
static inline uint64_t bz_queue_expected_size(const struct bz_judged_queue *queue) {
    return bz_queue_items(queue)->permits - bz_queue_items(queue)->holders;
}

static inline bool bz_queue_knows(const struct bz_judged_queue *queue, uint64_t value) {
    return value != 0 && value <= queue->item_count;
}

/* A shutdown does not drop items that were handed over before. */
static inline bool bz_queue_may_give(const struct bz_judged_queue *queue, uint64_t value) {
    if (!bz_queue_knows(queue, value)) {
        return false;
    }
    uint8_t state = queue->ledger[value].state;
    return state == BZ_ITEM_PUTTING || state == BZ_ITEM_IN || state == BZ_ITEM_EITHER ||
           state == BZ_ITEM_MAYBE || (state == BZ_ITEM_DROPPED && !bz_queue_is_exact(queue));
}
