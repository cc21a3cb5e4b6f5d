/* livelock: the step limit was hit, and for at least half of the run no operation was called or
 * returned and no task ended; nor does a holder work on between two operations, as in a scenario
 * with long meals. A run that hits the limit while it still gets somewhere is no violation; the
 * campaign reports it as out of steps. */
#ifndef BZ_SIM_JUDGE_ORACLE_LIVELOCK_H
#define BZ_SIM_JUDGE_ORACLE_LIVELOCK_H

#include "sim/judge/oracle/oracle.h"

/* Somebody is on the way between two operations: what takes so long is the program's own work. */
static inline bool livelock_somebody_works(const struct bz_shadow *shadow) {
    for (uint32_t id = 1; id <= shadow->task_count; id++) {
        const struct bz_shadow_task *task = &shadow->tasks[id];
        bool waits_for_somebody = task->wait == BZ_WAIT_FUTURE || task->wait == BZ_WAIT_JOIN;
        if (task->phase == BZ_PHASE_SUSPENDED && task->op == BZ_OP_NONE && task->holdings > 0 &&
            !waits_for_somebody) {
            return true;
        }
    }
    return false;
}

static inline bool livelock_suspects(const struct bz_judge *judge, const struct bz_moment *moment) {
    return moment->kind == BZ_MOMENT_END && judge->end == BZ_RUN_OUT_OF_STEPS &&
           judge->progress_step <= judge->step / 2 && !livelock_somebody_works(&judge->shadow);
}

static inline void livelock_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    (void)moment;
    bz_judge_object(judge, "livelock", 0, 0,
                    "%u steps were run, and nothing was achieved since step %u: no operation was "
                    "called or returned, no task ended",
                    judge->step, judge->progress_step);
}

#endif

ORACLE(livelock, "livelock", "the step budget ends with no progress")
