/* deadlock: nothing can ever run again, and tasks have not ended. With a pending timer there is no
 * deadlock: the clock would advance to it. A task of the variant's own may wait forever. Nor is
 * there one while a task waits on that was asked to cancel, because its wait cannot be cancelled
 * (sim/variant/callback.h): `lost-wakeup` says whether it could continue. */
#ifndef BZ_SIM_JUDGE_ORACLE_DEADLOCK_H
#define BZ_SIM_JUDGE_ORACLE_DEADLOCK_H
#include "sim/judge/oracle/oracle.h"

static inline bool deadlock_suspects(const struct bz_judge *judge, const struct bz_moment *moment) {
    return moment->kind == BZ_MOMENT_END && judge->shadow.unfinished > 0 &&
           judge->end != BZ_RUN_OUT_OF_STEPS && bz_shadow_count_waiting_on(&judge->shadow) == 0;
}

static inline bool deadlock_concerns(const struct bz_shadow_task *task) {
    return task->phase != BZ_PHASE_DONE && !task->is_helper;
}

static inline void deadlock_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    const struct bz_shadow *shadow = &judge->shadow;
    const struct bz_task_list list = bz_list_tasks(judge, deadlock_concerns);
    (void)moment;
    bz_judge_violate(judge, "deadlock", list.first, shadow->tasks[list.first].object,
                     "nothing can run, and %u of %u task%s %s not ended: %s%s", shadow->unfinished,
                     shadow->task_count, bz_plural(shadow->task_count),
                     shadow->unfinished == 1 ? "has" : "have", list.text,
                     list.has_more ? ", ..." : "");
}

#endif

ORACLE(deadlock, "deadlock", "nothing can ever run and live tasks wait",
       "At least one task has to be able to run as long as a live task waits.")
