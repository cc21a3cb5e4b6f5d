/* deadlock: nothing can ever run again, and tasks have not ended. With a pending timer there is no
 * deadlock: the clock would advance to it. A task of the variant's own may wait forever. Nor is
 * there one while a task waits on that was asked to cancel, because its wait cannot be cancelled
 * (sim/variant/callback.h): `lost-wakeup` says whether it could continue.
 *
 * The message also names the tasks that hold permits, if nobody has released those of others. */
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

static inline bool deadlock_holds(const struct bz_shadow_task *task) {
    return task->holdings > 0;
}

/* True if every permit is held by the task that acquired it; the number of the only object that
 * has such permits, 0 if several have. */
static inline bool deadlock_knows_holders(const struct bz_shadow *shadow, uint32_t *only) {
    uint64_t held = 0;
    uint32_t objects = 0;
    for (uint32_t number = 1; number <= shadow->object_count; number++) {
        const struct bz_shadow_object *object = &shadow->objects[number];
        if (object->is_owned && object->holders > 0) {
            held += object->holders;
            *only = objects++ == 0 ? number : 0;
        }
    }
    for (uint32_t task = 1; task <= shadow->task_count; task++) {
        held -= shadow->tasks[task].holdings;
    }
    return objects > 0 && held == 0;
}

static inline void deadlock_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    const struct bz_shadow *shadow = &judge->shadow;
    const struct bz_task_list list = bz_list_tasks(judge, deadlock_concerns);
    struct bz_task_list holders = {.text = ""};
    char held[BZ_NAME_BYTES + 24] = "";
    uint32_t only = 0;
    (void)moment;
    if (deadlock_knows_holders(shadow, &only)) {
        holders = bz_list_tasks(judge, deadlock_holds);
        snprintf(held, sizeof held, only == 0 ? "; permits are held by %s" : "; '%s' is held by ",
                 only == 0 ? "" : bz_judge_label(judge, only).text);
    }
    bz_judge_violate(judge, "deadlock", list.first, shadow->tasks[list.first].object,
                     "nothing can run, and %u of %u task%s %s not ended: %s%s%s%s%s",
                     shadow->unfinished, shadow->task_count, bz_plural(shadow->task_count),
                     shadow->unfinished == 1 ? "has" : "have", list.text,
                     list.has_more ? ", ..." : "", held, holders.text,
                     holders.has_more ? ", ..." : "");
}

#endif

ORACLE(deadlock, "deadlock", "nothing can ever run and live tasks wait",
       "At least one task has to be able to run as long as a live task waits.")
