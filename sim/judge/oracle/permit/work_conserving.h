/* work-conserving (zoo: WORKCONS, gh-111693): a woken waiter took its permit, and an earlier
 * arrival still waits next to a free permit that was not promised. No wake-up is lost,
 * because each waiter wakes the next one, but tasks that could run at once run one after another. A
 * task that yields inside acquire may have a permit. Judges variants with BZ_CLAIM_WORK_CONSERVING.
 */
#ifndef BZ_SIM_JUDGE_ORACLE_PERMIT_WORK_CONSERVING_H
#define BZ_SIM_JUDGE_ORACLE_PERMIT_WORK_CONSERVING_H
#include "sim/judge/oracle/oracle.h"

BZ_ORACLE_OF_STEP(work_conserving, bz_is_spare)

static inline void work_conserving_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    struct bz_shadow_object *object = bz_judge_shadow_object(judge, moment->object);
    uint64_t taken = object->holders + object->woken + object->polling;
    if (object->handed_on == 0 || object->permits <= taken ||
        !bz_claims(object, BZ_CLAIM_WORK_CONSERVING)) {
        return;
    }
    uint32_t waiter = bz_shadow_oldest_live(&judge->shadow, object);
    const struct bz_shadow_task *task = &judge->shadow.tasks[waiter];
    if (task->arrival >= object->handed_on || task->inside == BZ_INSIDE_POLLING) {
        return; /* it came later, or may have a permit */
    }
    bz_judge_violate(
        judge, "work-conserving", waiter, moment->object,
        "%" PRIu64 " free %s%s of '%s' %s promised to nobody, but %s waits (first of %u "
        "waiter%s)",
        object->permits - taken, bz_goods(object), bz_plural(object->permits - taken),
        bz_judge_label(judge, moment->object).text, bz_is_or_are(object->permits - taken),
        bz_task_label(judge, waiter).text, object->live, bz_plural(object->live));
}

#endif

ORACLE(work_conserving, "work-conserving",
       "a woken waiter took what it was woken for, and others wait although some are free",
       "A task that waits while a permit is free has to get it.")
