/* item-once (zoo: ITEM, ATOMIC): every item whose put returned BZ_OK is delivered exactly once, and
 * no other item is. A get or put that failed must leave the number of items as it was, so a lost
 * item is found at the step that loses it. Of resources judge/resources.c says what is wrong. */
#ifndef BZ_SIM_JUDGE_ORACLE_QUEUE_ITEM_ONCE_H
#define BZ_SIM_JUDGE_ORACLE_QUEUE_ITEM_ONCE_H
#include "sim/judge/oracle/oracle.h"

/* How many items there are too many after a get or put that failed; negative: too few. If a variant
 * hands items over, an item may be in the queue before its put returns. */
static inline int64_t item_once_surplus(const struct bz_judged_queue *queue) {
    int64_t size = (int64_t)queue->size(queue->instance);
    int64_t least = (int64_t)bz_queue_expected_size(queue);
    int64_t most = least + (int64_t)bz_queue_slots(queue)->maybe +
                   (bz_queue_is_exact(queue) ? 0 : queue->putting);
    return size < least ? size - least : size > most ? size - most : 0;
}

static inline bool item_once_suspects(const struct bz_judge *judge,
                                      const struct bz_moment *moment) {
    const struct bz_judged_queue *queue = moment->queue;
    switch (moment->kind) {
    case BZ_MOMENT_GOT:
        return !bz_queue_may_give(queue, moment->numbers[0]);
    case BZ_MOMENT_PUT_FAILED:
        return queue->ledger[moment->numbers[0]].state == BZ_ITEM_GOT;
    case BZ_MOMENT_NO_EFFECT:
        return queue->size != NULL && !queue->is_rendezvous && !queue->is_closed &&
               judge->shadow.inside == 0 && item_once_surplus(queue) != 0;
    default:
        return moment->kind == BZ_MOMENT_LEFT_OVER;
    }
}

/* The error of an item that was delivered, or is missing. */
static const char *item_once_text(const struct bz_moment *moment) {
    const struct bz_judged_queue *queue = moment->queue;
    if (moment->kind == BZ_MOMENT_LEFT_OVER) {
        return "was put, but never delivered, and is not in the queue";
    }
    if (!bz_queue_knows(queue, moment->numbers[0])) {
        return "was delivered, but nobody had put it";
    }
    if (moment->kind == BZ_MOMENT_PUT_FAILED) {
        return "was delivered, but its put had failed";
    }
    switch (queue->ledger[moment->numbers[0]].state) {
    case BZ_ITEM_GOT:
        return "was delivered a second time";
    case BZ_ITEM_REFUSED:
        return "was delivered, but its put had failed";
    default:
        return "was delivered, but a shutdown had dropped it";
    }
}

static inline void item_once_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    const struct bz_label queue_name = bz_judge_label(judge, moment->object);
    if (moment->kind != BZ_MOMENT_NO_EFFECT) {
        bz_judge_violate(judge, "item-once", moment->task, moment->object,
                         "item %" PRIu64 " of '%s' %s", moment->numbers[0], queue_name.text,
                         item_once_text(moment));
        return;
    }
    uint64_t size = moment->queue->size(moment->queue->instance);
    bool is_get = moment->numbers[0] == BZ_OP_GET;
    bool was_promised =
        moment->status == BZ_CANCELLED && judge->shadow.tasks[moment->task].was_granted;
    bz_judge_violate(judge, "item-once", moment->task, moment->object,
                     "after the %s of %s, which returned '%s', '%s' has %" PRIu64
                     " item%s instead of %" PRId64 "%s",
                     bz_op_name((enum bz_op)moment->numbers[0]),
                     bz_task_label(judge, moment->task).text, bz_status_word(moment->status),
                     queue_name.text, size, bz_plural(size),
                     (int64_t)size - item_once_surplus(moment->queue),
                     !was_promised ? ""
                     : is_get      ? "; an item was promised to it before the cancel"
                                   : "; a slot was promised to it before the cancel");
}

#endif

ORACLE_AFTER_CANCEL(
    "item-once", "woken",
    "An item that was handed to a getter which is cancelled before it resumes has to go "
    "back to its place, or to the next getter.")
ORACLE(item_once, "item-once",
       "an item is lost, invented, or delivered twice; a resource is lent twice, or after its end",
       "Every item that was put has to be got exactly once, and a resource has to be lent to one "
       "task at a time, as long as it is good.")
