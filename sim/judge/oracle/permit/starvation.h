/* starvation (zoo: NOSTARVE): a live waiter is overtaken more often than the bound, under a fair
 * strategy. Variants that claim strict order violate `fifo` earlier. Not if the variant claims
 * UNFAIR. */
#ifndef BZ_SIM_JUDGE_ORACLE_PERMIT_STARVATION_H
#define BZ_SIM_JUDGE_ORACLE_PERMIT_STARVATION_H
#include "sim/judge/oracle/oracle.h"

static inline bool starvation_suspects(const struct bz_judge *judge,
                                       const struct bz_moment *moment) {
    return moment->overtaking != NULL && !judge->config.ignores_starvation &&
           (judge->shadow.objects[moment->object].claims & BZ_CLAIM_UNFAIR) == 0 &&
           judge->shadow.tasks[moment->overtaking->first].overtaken >
               judge->config.starvation_bound;
}

static inline void starvation_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    uint32_t first = moment->overtaking->first;
    bz_judge_violate(judge, "starvation", first, moment->object,
                     "%s was overtaken %u time%s while it waited for '%s'; the bound is %u",
                     bz_task_label(judge, first).text, judge->shadow.tasks[first].overtaken,
                     bz_plural(judge->shadow.tasks[first].overtaken),
                     bz_judge_label(judge, moment->object).text, judge->config.starvation_bound);
}

#endif

ORACLE(starvation, "starvation",
       "a live waiter is overtaken beyond the bound, under a fair schedule",
       "A waiter may be overtaken a few times at most: each release has to bring it nearer.")
