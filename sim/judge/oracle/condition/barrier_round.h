/* barrier-round (gh-155233): each round of a barrier gives each index once, and no task passes
 * before all parties of its round have come. With BZ_CLAIM_BREAKS_ALL, no task passes whose wait an
 * abort or a reset has failed. */
#ifndef BZ_SIM_JUDGE_ORACLE_CONDITION_BARRIER_ROUND_H
#define BZ_SIM_JUDGE_ORACLE_CONDITION_BARRIER_ROUND_H
#include "sim/judge/oracle/oracle.h"

/* More have passed than complete rounds have parties. */
static inline bool barrier_round_is_early(const struct bz_judged_barrier *barrier) {
    return barrier->passed > barrier->arrived / barrier->parties * barrier->parties;
}

static inline bool barrier_round_suspects(const struct bz_judge *judge,
                                          const struct bz_moment *moment) {
    const struct bz_judged_barrier *barrier = moment->barrier;
    (void)judge;
    return moment->kind == BZ_MOMENT_PASSED &&
           (moment->numbers[1] != 0 || barrier_round_is_early(barrier) ||
            moment->numbers[0] >= barrier->parties ||
            barrier->given[moment->numbers[0]] > barrier->arrived / barrier->parties);
}

static inline void barrier_round_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    const struct bz_judged_barrier *barrier = moment->barrier;
    const struct bz_label barrier_name = bz_judge_label(judge, moment->object);
    const struct bz_task_label name = bz_task_label(judge, moment->task);
    if (moment->numbers[1] != 0) {
        bz_judge_violate(judge, "barrier-round", moment->task, moment->object,
                         "%s passed '%s', although it was %s", name.text, barrier_name.text,
                         barrier->is_aborted ? "aborted" : "reset while it waited");
    } else if (barrier_round_is_early(barrier)) {
        bz_judge_violate(judge, "barrier-round", moment->task, moment->object,
                         "%s passed '%s' with only %" PRIu64 " of %u parties there", name.text,
                         barrier_name.text, barrier->arrived % barrier->parties, barrier->parties);
    } else {
        bz_judge_violate(judge, "barrier-round", moment->task, moment->object,
                         "%s got index %" PRIu64 " of '%s', which %s", name.text,
                         moment->numbers[0], barrier_name.text,
                         moment->numbers[0] < barrier->parties ? "another task of its round has"
                                                               : "is not in 0 to parties - 1");
    }
}

#endif

ORACLE(barrier_round, "barrier-round",
       "a barrier gives an index twice in a round, opens too early, or although it is broken",
       "A barrier has to open when all parties have come, and to give each of them another "
       "index. An abort or a reset has to fail those who wait.")
