/* notify-count: a condition wakes exactly as many waiters as it was told to, plus one for each that
 * was notified and then cancelled while others waited. Each wake-up comes in the step in which it
 * is due. Judges variants with BZ_CLAIM_EXACT_NOTIFY; most documentations allow spurious wake-ups.
 */
#ifndef BZ_SIM_JUDGE_ORACLE_CONDITION_NOTIFY_COUNT_H
#define BZ_SIM_JUDGE_ORACLE_CONDITION_NOTIFY_COUNT_H
#include "sim/judge/oracle/oracle.h"

static inline bool notify_count_suspects(const struct bz_judge *judge,
                                         const struct bz_moment *moment) {
    const struct bz_shadow_object *object = bz_judge_shadow_object(judge, moment->object);
    return moment->kind == BZ_MOMENT_STEP && object->counts_wakes;
}

static inline void notify_count_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    const struct bz_shadow_object *object = bz_judge_shadow_object(judge, moment->object);
    bool is_too_many = object->wakes > object->wakes_due;
    if (object->wakes != object->wakes_due) {
        bz_judge_violate(
            judge, "notify-count", 0, moment->object,
            "'%s' has woken %u waiter%s so far, but %u %s due: %u too %s",
            bz_judge_label(judge, moment->object).text, object->wakes, bz_plural(object->wakes),
            object->wakes_due, object->wakes_due == 1 ? "was" : "were",
            is_too_many ? object->wakes - object->wakes_due : object->wakes_due - object->wakes,
            is_too_many ? "many" : "few in this step");
    }
}

#endif

ORACLE(notify_count, "notify-count",
       "a condition has woken more or fewer waiters than are due so far",
       "A notification has to wake as many live waiters as it names, and no others.")
