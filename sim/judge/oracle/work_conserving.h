/* work-conserving (zoo: WORKCONS, gh-111693): a woken waiter took its permit, and beside it permits
 * are free that nobody was woken for, while others sleep that came before it went on; newcomers may
 * queue behind a woken waiter. Nobody is lost: each wakes the next one. But what could run at once
 * runs one after the other. Judges variants that claim otherwise. */
#ifndef BZ_SIM_JUDGE_ORACLE_WORK_CONSERVING_H
#define BZ_SIM_JUDGE_ORACLE_WORK_CONSERVING_H

#include "sim/judge/oracle/oracle.h"

static inline uint64_t work_conserving_suspects(const struct bz_judge *judge,
                                                const struct bz_moment *moment) {
    struct bz_shadow_object *object = bz_judge_shadow_object(judge, moment->object);
    return moment->kind == BZ_MOMENT_STEP ? bz_is_spare(object) : 0;
}

static inline void work_conserving_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    struct bz_shadow_object *object = bz_judge_shadow_object(judge, moment->object);
    char name[BZ_NAME_BYTES];
    if (object->handed_on == 0 || !bz_claims(object, BZ_CLAIM_WORK_CONSERVING)) {
        return;
    }
    uint32_t waiter = bz_shadow_oldest_live(&judge->shadow, object);
    if (judge->shadow.tasks[waiter].arrival >= object->handed_on) {
        return; /* it came later */
    }
    bz_judge_object(judge, "work-conserving", waiter, moment->object,
                    "%" PRIu64 " permit(s) of '%s' are free and promised to nobody, but %s sleeps "
                    "(first of %u)",
                    object->permits - object->holders - object->woken, object->name,
                    bz_judge_task_name(judge, waiter, name, sizeof name), object->live);
}

#endif

ORACLE(work_conserving, "work-conserving",
       "a woken waiter goes on, and others sleep beside permits that nobody is to get")
