/* item-order (zoo: ORDER): items leave in the order of the queue. A get of a variant with
 * BZ_CLAIM_TAKES_AT_RETURN must return the next item; among equal priorities, the one put first,
 * or any with BZ_CLAIM_UNORDERED_TIES.
 * Other variants hand items over at the wake-up, and the takers may resume in any order. So only
 * FIFO queues are judged: one task gets the items of another task in the order of their puts. A
 * queue with BZ_CLAIM_UNORDERED_ITEMS is not judged. */
#ifndef BZ_SIM_JUDGE_ORACLE_QUEUE_ITEM_ORDER_H
#define BZ_SIM_JUDGE_ORACLE_QUEUE_ITEM_ORDER_H
#include "sim/judge/oracle/oracle.h"

static inline bool item_order_comes_before(enum bz_queue_order order,
                                           const struct bz_judged_item *item,
                                           const struct bz_judged_item *other) {
    if (order == BZ_QUEUE_ORDER_LIFO) {
        return item->entered > other->entered;
    }
    if (order == BZ_QUEUE_ORDER_PRIORITY && item->priority != other->priority) {
        return item->priority < other->priority;
    }
    return item->entered < other->entered;
}

/* The next item in the queue's order; 0 if the queue is empty. O(items). */
static inline uint32_t item_order_next(const struct bz_judged_queue *queue) {
    uint32_t next = 0;
    for (uint32_t value = 1; value <= queue->item_count; value++) {
        const struct bz_judged_item *item = &queue->ledger[value];
        if (item->state == BZ_ITEM_IN &&
            (next == 0 || item_order_comes_before(queue->order, item, &queue->ledger[next]))) {
            next = value;
        }
    }
    return next;
}

/* True if the order of the two is left open. */
static inline bool item_order_is_tie(const struct bz_judged_queue *queue, uint32_t next,
                                     uint64_t value) {
    return queue->order == BZ_QUEUE_ORDER_PRIORITY &&
           queue->ledger[next].priority == queue->ledger[value].priority &&
           bz_claims(bz_queue_items(queue), BZ_CLAIM_UNORDERED_TIES);
}

/* A later item of the same producer that the same consumer has got already; 0 if there is none. */
static inline uint32_t item_order_later(const struct bz_judged_queue *queue, uint32_t value,
                                        uint32_t consumer) {
    const struct bz_judged_item *item = &queue->ledger[value];
    for (uint32_t later = value + 1; later <= queue->item_count; later++) {
        const struct bz_judged_item *other = &queue->ledger[later];
        if (other->producer == item->producer && other->state == BZ_ITEM_GOT &&
            other->consumer == consumer) {
            return later;
        }
    }
    return 0;
}

/* The item that should have come before this one; 0: none. */
static inline uint32_t item_order_earlier(const struct bz_judged_queue *queue, uint64_t value,
                                          uint32_t consumer) {
    if (!bz_queue_may_give(queue, value) ||
        bz_claims(bz_queue_items(queue), BZ_CLAIM_UNORDERED_ITEMS)) {
        return 0;
    }
    if (bz_queue_is_exact(queue) && queue->ledger[value].state == BZ_ITEM_IN) {
        uint32_t next = item_order_next(queue);
        return next != value && !item_order_is_tie(queue, next, value) ? next : 0;
    }
    return queue->order == BZ_QUEUE_ORDER_FIFO ? item_order_later(queue, (uint32_t)value, consumer)
                                               : 0;
}

static inline bool item_order_suspects(const struct bz_judge *judge,
                                       const struct bz_moment *moment) {
    (void)judge;
    return moment->kind == BZ_MOMENT_GOT &&
           item_order_earlier(moment->queue, moment->numbers[0], moment->task) != 0;
}

static inline void item_order_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    const struct bz_judged_queue *queue = moment->queue;
    bz_judge_violate(judge, "item-order", moment->task, moment->object,
                     "%s got item %" PRIu64 " of '%s' out of order: item %u %s",
                     bz_task_label(judge, moment->task).text, moment->numbers[0],
                     bz_judge_label(judge, moment->object).text,
                     item_order_earlier(queue, moment->numbers[0], moment->task),
                     bz_queue_is_exact(queue) ? "should have come first" : "came before it");
}

#endif

ORACLE(item_order, "item-order", "items of a queue are delivered out of order",
       "Items have to come out in the order in which the queue keeps them.")
