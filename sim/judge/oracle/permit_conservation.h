/* permit-conservation (zoo: CONSERVE): after every step, level and holders add up to the permits.
 * The level includes permits that were promised to woken waiters. */
#ifndef BZ_SIM_JUDGE_ORACLE_PERMIT_CONSERVATION_H
#define BZ_SIM_JUDGE_ORACLE_PERMIT_CONSERVATION_H

#include "sim/judge/oracle/oracle.h"

static inline uint64_t permit_conservation_suspects(const struct bz_judge *judge,
                                                    const struct bz_moment *moment) {
    const struct bz_shadow_object *object = bz_judge_shadow_object(judge, moment->object);
    return moment->kind == BZ_MOMENT_STEP ? bz_is_unbalanced(object) : 0;
}

static inline void permit_conservation_judges(struct bz_judge *judge,
                                              const struct bz_moment *moment) {
    const struct bz_shadow_object *object = bz_judge_shadow_object(judge, moment->object);
    if (object->look.view != NULL) {
        bz_judge_object(judge, "permit-conservation", 0, moment->object,
                        "level %" PRIu64 " plus holders %" PRIu64
                        " of '%s' differs from permits %" PRIu64 "; woken waiters: %u",
                        object->view.level, object->holders, object->name, object->permits,
                        object->woken);
    }
}

#endif

ORACLE(permit_conservation, "permit-conservation",
       "level plus holders differs from the permits, after any step")
