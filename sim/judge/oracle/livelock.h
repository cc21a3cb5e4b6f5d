/* livelock: the run hit the step limit without progress for at least half of its steps: no
 * operation was called or returned, and no task ended. A holder that works between two operations
 * counts as progress. A run that hits the limit with progress is no violation; the campaign counts
 * it as out of steps. */
#ifndef BZ_SIM_JUDGE_ORACLE_LIVELOCK_H
#define BZ_SIM_JUDGE_ORACLE_LIVELOCK_H

#include "sim/judge/oracle/oracle.h"

/* A task that holds something yields or sleeps between two operations. */
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
                    "%u steps were run without progress since step %u: no operation was called or "
                    "returned, and no task ended",
                    judge->step, judge->progress_step);
}

#endif

ORACLE(livelock, "livelock", "the step budget ends with no progress")
