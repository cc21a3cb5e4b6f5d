/* notify-count: a condition wakes exactly as many waiters as it was told to, plus one for each that
 * was notified and then cancelled while others waited. Each wake-up comes in the step in which it
 * is due. Judges variants with BZ_CLAIM_EXACT_NOTIFY; most documentations allow spurious wake-ups.
 */
#ifndef BZ_SIM_JUDGE_ORACLE_NOTIFY_COUNT_H
#define BZ_SIM_JUDGE_ORACLE_NOTIFY_COUNT_H

#include "sim/judge/oracle/oracle.h"

static inline bool notify_count_suspects(const struct bz_judge *judge,
                                         const struct bz_moment *moment) {
    const struct bz_shadow_object *object = bz_judge_shadow_object(judge, moment->object);
    return moment->kind == BZ_MOMENT_STEP && object->counts_wakes;
}

static inline void notify_count_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    const struct bz_shadow_object *object = bz_judge_shadow_object(judge, moment->object);
    if (object->wakes != object->wakes_due) {
        bz_judge_object(judge, "notify-count", 0, moment->object,
                        "wake-ups by '%s' so far: %u, but %u were due", object->name, object->wakes,
                        object->wakes_due);
    }
}

#endif

ORACLE(notify_count, "notify-count", "a condition wakes too many waiters, or too late")
