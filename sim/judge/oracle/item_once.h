/* item-once (zoo: ITEM, ATOMIC): every item whose put said OK is delivered exactly once, and no
 * other: none is made up, none comes twice, none comes out of a put that was cancelled, and at the
 * end none is missing. A get or put that failed must leave the queue with as many items as there
 * were: there a lost item is found at the step that loses it. */
#ifndef BZ_SIM_JUDGE_ORACLE_ITEM_ONCE_H
#define BZ_SIM_JUDGE_ORACLE_ITEM_ONCE_H

#include "sim/judge/oracle/oracle.h"

/* How many items a put or get that failed has left too many, or too few if negative. A variant that
 * hands items over may have let in one whose put has not returned yet, but has no fewer than were
 * put. */
static inline int64_t item_once_surplus(const struct bz_judged_queue *queue) {
    int64_t size = (int64_t)queue->size(queue->instance);
    int64_t least = (int64_t)bz_queue_expected_size(queue);
    int64_t most = least + (bz_queue_is_exact(queue) ? 0 : queue->putting);
    return size < least ? size - least : size > most ? size - most : 0;
}

static inline bool item_once_suspects(const struct bz_judge *judge,
                                      const struct bz_moment *moment) {
    const struct bz_judged_queue *queue = moment->queue;
    (void)judge;
    switch (moment->kind) {
    case BZ_MOMENT_GOT:
        return !bz_queue_may_give(queue, moment->numbers[0]);
    case BZ_MOMENT_PUT_FAILED:
        return queue->ledger[moment->numbers[0]].state == BZ_ITEM_GOT;
    case BZ_MOMENT_NO_EFFECT:
        return !queue->is_closed && item_once_surplus(queue) != 0;
    default:
        return moment->kind == BZ_MOMENT_LEFT_OVER;
    }
}

/* What is wrong with an item that was delivered, or is missing. */
static const char *item_once_text(const struct bz_moment *moment) {
    const struct bz_judged_queue *queue = moment->queue;
    if (moment->kind == BZ_MOMENT_LEFT_OVER) {
        return "was put, and was never delivered, nor is it in the queue";
    }
    if (!bz_queue_knows(queue, moment->numbers[0])) {
        return "was delivered, and nobody had put it";
    }
    if (moment->kind == BZ_MOMENT_PUT_FAILED) {
        return "was delivered, and its put said that it did not happen";
    }
    switch (queue->ledger[moment->numbers[0]].state) {
    case BZ_ITEM_GOT:
        return "was delivered a second time";
    case BZ_ITEM_REFUSED:
        return "was delivered, and its put said that it did not happen";
    default:
        return "was delivered, and a shutdown had dropped it";
    }
}

static inline void item_once_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    const char *queue_name = bz_judge_object_name(judge, moment->object);
    char name[BZ_NAME_BYTES];
    if (moment->kind != BZ_MOMENT_NO_EFFECT) {
        bz_judge_object(judge, "item-once", moment->task, moment->object,
                        "item %" PRIu64 " of '%s' %s", moment->numbers[0], queue_name,
                        item_once_text(moment));
        return;
    }
    int64_t surplus = item_once_surplus(moment->queue);
    bz_judge_object(judge, "item-once", moment->task, moment->object,
                    "%s did not get or put anything, and now '%s' has %" PRId64
                    " item(s) %s than were put and not yet got",
                    bz_judge_task_name(judge, moment->task, name, sizeof name), queue_name,
                    surplus > 0 ? surplus : -surplus, surplus > 0 ? "more" : "fewer");
}

#endif

ORACLE(item_once, "item-once", "an item is lost, made up, or delivered twice")
