/* permit-conservation (zoo: CONSERVE): after every step, level and holders add up to the permits.
 * The level includes permits that were promised to woken waiters. */
#ifndef BZ_SIM_JUDGE_ORACLE_PERMIT_PERMIT_CONSERVATION_H
#define BZ_SIM_JUDGE_ORACLE_PERMIT_PERMIT_CONSERVATION_H
#include "sim/judge/oracle/oracle.h"

BZ_ORACLE_OF_STEP(permit_conservation, bz_is_unbalanced)

static inline void permit_conservation_judges(struct bz_judge *judge,
                                              const struct bz_moment *moment) {
    const struct bz_shadow_object *object = bz_judge_shadow_object(judge, moment->object);
    if (object->look.view == NULL) {
        return;
    }
    uint64_t sum = object->view.level + object->holders;
    uint64_t free = object->permits > object->holders ? object->permits - object->holders : 0;
    char woken[BZ_MESSAGE_BYTES / 4] = "";
    if (object->woken > free) {
        snprintf(woken, sizeof woken,
                 "; %u waiter%s woken for a permit, although %" PRIu64 " %s free", object->woken,
                 bz_plural(object->woken), free, free == 1 ? "was" : "were");
    }
    bz_judge_violate(judge, "permit-conservation", 0, moment->object,
                     "'%s' has %" PRIu64 " permit%s instead of %" PRIu64 ": %" PRIu64
                     " free (its level) and %" PRIu64 " held%s",
                     bz_judge_label(judge, moment->object).text, sum, bz_plural(sum),
                     object->permits, object->view.level, object->holders, woken);
}

#endif

ORACLE(permit_conservation, "permit-conservation",
       "level plus holders differ from the permits after a step",
       "After every step the level and the holders together are the permits: none may appear, "
       "and none may get lost.")
