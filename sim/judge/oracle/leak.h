/* leak (zoo: HYGIENE): every task has ended, but a queue still has waiters, which nothing will
 * remove. */
#ifndef BZ_SIM_JUDGE_ORACLE_LEAK_H
#define BZ_SIM_JUDGE_ORACLE_LEAK_H
#include "sim/judge/oracle/oracle.h"

/* Tasks that may wait forever, and do so inside an operation: their entries are no leak. */
static inline uint32_t leak_excused(const struct bz_judge *judge) {
    const struct bz_shadow *shadow = &judge->shadow;
    uint32_t count = 0;
    for (uint32_t id = 1; shadow->helpers > 0 && id <= shadow->task_count; id++) {
        const struct bz_shadow_task *task = &shadow->tasks[id];
        count += task->is_helper && task->object != 0 && task->phase != BZ_PHASE_DONE;
    }
    return count;
}

/* The next object after this one whose queue has more entries than that; 0: none. */
static inline uint32_t leak_next(struct bz_judge *judge, uint32_t number, uint32_t *queued) {
    uint32_t excused = leak_excused(judge);
    while (++number <= judge->shadow.object_count) {
        const struct bz_shadow_object *object = bz_judge_shadow_object(judge, number);
        *queued = 0;
        if (object->look.view != NULL) {
            struct bz_permit_view view = {.level = 0};
            object->look.view(object->look.instance, &view);
            *queued = view.queued;
        } else if (object->look.queued != NULL) {
            *queued = object->look.queued(object->look.instance);
        }
        if (*queued > excused) {
            return number;
        }
    }
    return 0;
}

static inline bool leak_suspects(const struct bz_judge *judge, const struct bz_moment *moment) {
    return moment->kind == BZ_MOMENT_END && judge->shadow.unfinished == 0 &&
           judge->end != BZ_RUN_OUT_OF_STEPS;
}

static inline void leak_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    uint32_t queued;
    uint32_t number = leak_next(judge, 0, &queued);
    (void)moment;
    if (number != 0) {
        bz_judge_violate(judge, "leak", 0, number,
                         "every task has ended, but %u entr%s left in the queue of '%s'", queued,
                         queued == 1 ? "y is" : "ies are", bz_judge_label(judge, number).text);
    }
}

#endif

ORACLE(leak, "leak", "a task, a waiter in a queue, or a resource is left behind at the end",
       "When every task has ended, no waiter may be left in a queue; when a pool is closed, no "
       "resource.")
