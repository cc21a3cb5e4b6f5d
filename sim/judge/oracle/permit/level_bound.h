/* level-bound (van Rossum: level >= |R|): more waiters hold a result than the level, so a permit is
 * promised twice. Found at the second promise, before a task is let in. Judges variants with
 * BZ_CLAIM_WAKE_IS_GRANT; elsewhere a wake-up promises nothing. */
#ifndef BZ_SIM_JUDGE_ORACLE_PERMIT_LEVEL_BOUND_H
#define BZ_SIM_JUDGE_ORACLE_PERMIT_LEVEL_BOUND_H
#include "sim/judge/oracle/oracle.h"

BZ_ORACLE_OF_STEP(level_bound, bz_is_overpromised)

static inline void level_bound_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    const struct bz_shadow_object *object = bz_judge_shadow_object(judge, moment->object);
    if (object->look.view != NULL && bz_claims(object, BZ_CLAIM_WAKE_IS_GRANT)) {
        bz_judge_violate(judge, "level-bound", bz_shadow_newest_woken(&judge->shadow, object),
                         moment->object,
                         "'%s' promises more permits than it has: %u waiter%s %s woken and %s not "
                         "resumed, but its level is %" PRIu64,
                         bz_judge_label(judge, moment->object).text, object->woken,
                         bz_plural(object->woken), object->woken == 1 ? "was" : "were",
                         object->woken == 1 ? "has" : "have", object->view.level);
    }
}

#endif

ORACLE(level_bound, "level-bound", "the level is below the number of waiters that hold a result",
       "The level has to cover every waiter that holds a result: a permit that is promised "
       "must not be promised again.")
