/* livelock: the run repeats itself without progress: no operation is called or returns, and no task
 * ends. Judged at the step limit only. There the run continues in a fair order, and a state that
 * comes a second time is the proof (overtime.c). A run that is merely cut short is out of steps. */
#ifndef BZ_SIM_JUDGE_ORACLE_LIVELOCK_H
#define BZ_SIM_JUDGE_ORACLE_LIVELOCK_H

#include "sim/judge/oracle/oracle.h"

#define BZ_LIVELOCK_NAMED_MAX 4u

static inline bool livelock_suspects(const struct bz_judge *judge, const struct bz_moment *moment) {
    return moment->kind == BZ_MOMENT_END && judge->overtime.is_livelock;
}

/* The tasks that take part, with what they do. */
static inline void livelock_list(const struct bz_judge *judge, char *list, size_t bytes) {
    const struct bz_shadow *shadow = &judge->shadow;
    size_t used = 0;
    uint32_t named = 0;
    for (uint32_t id = 1; id <= shadow->task_count && used < bytes; id++) {
        const struct bz_shadow_task *task = &shadow->tasks[id];
        if (!bz_shadow_is_ready(task)) {
            continue;
        }
        char name[BZ_NAME_BYTES];
        bool has_object = task->object != 0;
        bool is_more = named++ == BZ_LIVELOCK_NAMED_MAX;
        used +=
            (size_t)snprintf(list + used, bytes - used, "%s%s%s%s%s%s%s", named > 1 ? ", " : "",
                             is_more ? "..." : bz_judge_task_name(judge, id, name, sizeof name),
                             is_more ? "" : " (in ", is_more ? "" : bz_op_name(bz_shadow_op(task)),
                             is_more || !has_object ? "" : " of '",
                             is_more || !has_object ? "" : bz_judge_label(judge, task->object).text,
                             is_more      ? ""
                             : has_object ? "')"
                                          : ")");
        if (is_more) {
            return;
        }
    }
}

static inline void livelock_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    char list[BZ_MESSAGE_BYTES / 2] = "";
    (void)moment;
    livelock_list(judge, list, sizeof list);
    bz_judge_violate(judge, "livelock", 0, 0,
                     "the run repeats itself for ever: no operation is called or returns, and no "
                     "task ends; last progress in step %u of %u; what runs: %s",
                     judge->progress_step, judge->step, *list == '\0' ? "timers" : list);
}

#endif

ORACLE(livelock, "livelock", "the run repeats itself forever without progress",
       "Tasks that run have to make progress: the run must not repeat a cycle of states.")
