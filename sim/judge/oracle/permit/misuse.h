/* misuse (zoo: BOUND): an invalid call was accepted, or a valid one refused. Invalid are a release
 * of what no task holds, a wait or notify without the lock, a task_done too many. A get must not
 * return BZ_CLOSED while there are items. Any task may release a plain semaphore. Other variants
 * are judged with BZ_CLAIM_REFUSES_MISUSE, queues only with BZ_CLAIM_TAKES_AT_RETURN as well. For
 * other statuses see `status`. */
#ifndef BZ_SIM_JUDGE_ORACLE_PERMIT_MISUSE_H
#define BZ_SIM_JUDGE_ORACLE_PERMIT_MISUSE_H
#include "sim/judge/oracle/oracle.h"

static inline bool misuse_is_judged(const struct bz_judged_queue *queue) {
    return bz_queue_is_exact(queue) && bz_claims(bz_queue_items(queue), BZ_CLAIM_REFUSES_MISUSE);
}

static inline bool misuse_suspects(const struct bz_judge *judge, const struct bz_moment *moment) {
    const struct bz_shadow_object *object = bz_judge_shadow_object(judge, moment->object);
    switch (moment->kind) {
    case BZ_MOMENT_STEP:
        return object->over_released_by != BZ_NO_TASK;
    case BZ_MOMENT_USED:
        return bz_claims(object, BZ_CLAIM_REFUSES_MISUSE) &&
               (moment->numbers[0] != 0 ? moment->status <= BZ_TIMED_OUT
                                        : moment->status == BZ_NOT_HELD);
    case BZ_MOMENT_GET_FAILED:
        return misuse_is_judged(moment->queue) && moment->status == BZ_CLOSED &&
               bz_queue_expected_size(moment->queue) != 0;
    case BZ_MOMENT_SAID_DONE:
        return misuse_is_judged(moment->queue) &&
               moment->status == (moment->queue->unfinished > 0 ? BZ_INVALID_STATE : BZ_OK);
    default:
        return false;
    }
}

/* The call that returned the wrong status, and the contradiction. */
static inline const char *misuse_call(const struct bz_moment *moment) {
    return moment->kind == BZ_MOMENT_GET_FAILED  ? "get of "
           : moment->kind == BZ_MOMENT_SAID_DONE ? "task_done of "
                                                 : "";
}

static inline const char *misuse_state(const struct bz_moment *moment) {
    switch (moment->kind) {
    case BZ_MOMENT_GET_FAILED:
        return "there are items";
    case BZ_MOMENT_SAID_DONE:
        return moment->status == BZ_OK ? "every item is done already"
                                       : "there are items that are not done";
    default:
        return moment->numbers[0] != 0 ? "nobody holds its lock" : "its lock is held";
    }
}

static inline void misuse_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    const struct bz_shadow_object *object = bz_judge_shadow_object(judge, moment->object);
    bool is_release = moment->kind == BZ_MOMENT_STEP;
    if (is_release && (object->primitive == BZ_PRIMITIVE_SEMAPHORE ||
                       !bz_claims(object, BZ_CLAIM_REFUSES_MISUSE))) {
        return;
    }
    uint32_t task = is_release ? object->over_released_by : moment->task;
    const struct bz_task_label name = bz_task_label(judge, task);
    if (is_release) {
        uint32_t promised = bz_shadow_newest_woken(&judge->shadow, object);
        bz_judge_violate(judge, "misuse", task, moment->object,
                         "%s released '%s', which nobody held, and was not refused%s%s%s",
                         name.text, bz_judge_label(judge, moment->object).text,
                         promised == 0 ? "" : "; it was promised to ",
                         promised == 0 ? "" : bz_task_label(judge, promised).text,
                         promised == 0 ? "" : ", which was woken and has not resumed");
    } else {
        bz_judge_violate(judge, "misuse", task, moment->object,
                         "%s got '%s' from %s'%s', although %s", name.text,
                         bz_status_word(moment->status), misuse_call(moment),
                         bz_judge_label(judge, moment->object).text, misuse_state(moment));
    }
}

#endif

ORACLE(misuse, "misuse",
       "an invalid call is accepted, such as a release of what is not held, or a valid one refused",
       "A call that is not allowed has to be refused, and one that is allowed has to be "
       "accepted.")
