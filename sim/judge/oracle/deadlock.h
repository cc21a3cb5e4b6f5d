/* deadlock: nothing can ever run again, and tasks have not ended. With a pending timer there is no
 * deadlock: the clock would advance to it. A task of the variant's own may wait forever. Nor is
 * there one while a task waits on that was asked to cancel, because its wait cannot be cancelled
 * (sim/variant/callback.h): `lost-wakeup` says whether it could continue. */
#ifndef BZ_SIM_JUDGE_ORACLE_DEADLOCK_H
#define BZ_SIM_JUDGE_ORACLE_DEADLOCK_H

#include "sim/judge/oracle/oracle.h"

#define BZ_DEADLOCK_NAMED_MAX 4u

static inline bool deadlock_suspects(const struct bz_judge *judge, const struct bz_moment *moment) {
    return moment->kind == BZ_MOMENT_END && judge->shadow.unfinished > 0 &&
           judge->end != BZ_RUN_OUT_OF_STEPS && bz_shadow_count_waiting_on(&judge->shadow) == 0;
}

static inline void deadlock_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    const struct bz_shadow *shadow = &judge->shadow;
    char list[BZ_MESSAGE_BYTES / 2] = "";
    size_t used = 0;
    uint32_t named = 0;
    uint32_t first = 0;
    (void)moment;
    for (uint32_t id = 1; id <= shadow->task_count && named < BZ_DEADLOCK_NAMED_MAX; id++) {
        const struct bz_shadow_task *task = &shadow->tasks[id];
        if (task->phase == BZ_PHASE_DONE || task->is_helper) {
            continue;
        }
        char name[BZ_NAME_BYTES];
        const struct bz_label label = bz_judge_label(judge, task->object);
        const char *object = label.text;
        first = first == 0 ? id : first;
        int written = snprintf(
            list + used, sizeof list - used, "%s%s (in %s%s%s%s)", named == 0 ? "" : ", ",
            bz_judge_task_name(judge, id, name, sizeof name), bz_op_name(bz_shadow_op(task)),
            *object == '\0' ? "" : " of '", object, *object == '\0' ? "" : "'");
        named++;
        used += written > 0 ? (size_t)written : 0;
        if (used >= sizeof list) {
            break;
        }
    }
    bz_judge_violate(judge, "deadlock", first, shadow->tasks[first].object,
                     "nothing can run, and %u of %u task%s %s not ended: %s%s", shadow->unfinished,
                     shadow->task_count, bz_plural(shadow->task_count),
                     shadow->unfinished == 1 ? "has" : "have", list,
                     shadow->unfinished > named ? ", ..." : "");
}

#endif

ORACLE(deadlock, "deadlock", "nothing can ever run and live tasks wait",
       "At least one task has to be able to run as long as a live task waits.")
