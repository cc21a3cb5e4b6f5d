/* locked-definition (van Rossum; gh-97028, gh-138121): locked() is (W or R or level == 0), which is
 * true exactly if an acquire would wait. Judges variants with BZ_CLAIM_LOCKED_EXACT.
 *
 * Without BZ_CLAIM_NO_PASSING an acquire need not wait next to a permit that no woken waiter needs,
 * so W or R may be the reason, and only these must be: W if a newcomer must not pass it, R if it is
 * as large as the level. A task that yields inside acquire may have a permit. */
#ifndef BZ_SIM_JUDGE_ORACLE_PERMIT_LOCKED_DEFINITION_H
#define BZ_SIM_JUDGE_ORACLE_PERMIT_LOCKED_DEFINITION_H
#include "sim/judge/oracle/oracle.h"

static inline bool locked_definition_suspects(const struct bz_judge *judge,
                                              const struct bz_moment *moment) {
    const struct bz_shadow_object *object = bz_judge_shadow_object(judge, moment->object);
    bool should_be = ((object->waiting | object->woken) != 0) | (object->view.level == 0);
    return moment->kind == BZ_MOMENT_STEP && (object->shows_locked ^ should_be);
}

/* True if locked() may be as it is: true although no task waits or was woken, or false. */
static inline bool locked_definition_allows(const struct bz_shadow_object *object) {
    bool has_level = object->view.level > 0;
    if (object->shows_locked) {
        return (object->polling | object->cancelled) != 0;
    }
    bool is_by_grant = bz_claims(object, BZ_CLAIM_WAKE_IS_GRANT);
    bool needs_waiting = bz_claims(object, BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT);
    return has_level && !object->is_strict && !(needs_waiting && object->waiting > 0) &&
           !(is_by_grant && object->woken >= object->view.level);
}

static inline void locked_definition_judges(struct bz_judge *judge,
                                            const struct bz_moment *moment) {
    const struct bz_shadow_object *object = bz_judge_shadow_object(judge, moment->object);
    if (object->look.locked != NULL && !locked_definition_allows(object)) {
        bz_judge_violate(judge, "locked-definition", 0, moment->object,
                         "locked() of '%s' is %s, and should be %s: %u waiting, %u woken, level "
                         "%" PRIu64,
                         bz_judge_label(judge, moment->object).text,
                         object->shows_locked ? "true" : "false",
                         object->shows_locked ? "false" : "true", object->waiting, object->woken,
                         object->view.level);
    }
}

#endif

ORACLE(locked_definition, "locked-definition", "locked() differs from (W or R or level == 0)",
       "locked() has to return true exactly when an acquire would have to wait: if a task "
       "waits, if a woken waiter has not resumed, or if no permit is left.")
