/* livelock: the run repeats itself without progress: no operation is called or returns, and no task
 * ends. Judged at the step limit only. There the run continues in a fair order, and a state that
 * comes a second time is the proof (overtime.c). A run that is merely cut short is out of steps.
 * One in which tasks ask again by yields to the end, as often as a fair order lets them, is one
 * too, if one of them could go on. */
#ifndef BZ_SIM_JUDGE_ORACLE_LIVELOCK_H
#define BZ_SIM_JUDGE_ORACLE_LIVELOCK_H
#include "sim/judge/oracle/oracle.h"

static inline bool livelock_suspects(const struct bz_judge *judge, const struct bz_moment *moment) {
    return moment->kind == BZ_MOMENT_END && judge->overtime.is_livelock;
}

static inline void livelock_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    const struct bz_task_list list = bz_list_tasks(judge, bz_shadow_is_ready);
    (void)moment;
    bz_judge_violate(judge, "livelock", 0, 0,
                     "%s: no operation is called or returns, and no "
                     "task ends; last progress in step %u of %u; what runs: %s%s",
                     judge->overtime.in_vain
                         ? "tasks ask again and again, and one of them could go on"
                         : "the run repeats itself for ever",
                     judge->progress_step, judge->step, list.first == 0 ? "timers" : list.text,
                     list.has_more ? ", ..." : "");
}

#endif

ORACLE(livelock, "livelock", "the run repeats itself forever without progress",
       "Tasks that run have to make progress: the run must not repeat a cycle of states.")
