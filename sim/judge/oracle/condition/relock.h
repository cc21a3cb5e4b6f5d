/* relock (zoo: RELOCK, gh-67159): the wait of a condition returns, with any status, only when its
 * task holds the lock. */
#ifndef BZ_SIM_JUDGE_ORACLE_CONDITION_RELOCK_H
#define BZ_SIM_JUDGE_ORACLE_CONDITION_RELOCK_H
#include "sim/judge/oracle/oracle.h"

static inline bool relock_suspects(const struct bz_judge *judge, const struct bz_moment *moment) {
    (void)judge;
    bool others_hold = moment->numbers[0] != 0;
    bool is_locked = moment->numbers[1] != 0;
    return moment->kind == BZ_MOMENT_RELOCKED && (others_hold || !is_locked);
}

static inline void relock_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    bz_judge_violate(
        judge, "relock", moment->task, moment->object, "the wait of %s for '%s' returned '%s' %s",
        bz_task_label(judge, moment->task).text, bz_judge_label(judge, moment->object).text,
        bz_status_word(moment->status),
        moment->numbers[0] != 0 ? "while another task holds the lock" : "without the lock");
}

#endif

ORACLE(relock, "relock", "the wait of a condition returns without the lock",
       "The wait of a condition has to own its lock when it returns, however it ends.")
