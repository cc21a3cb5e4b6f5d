/* lock-order: a task acquires a lock while it holds one that comes later in the order. Another task
 * that acquires both in the order may hold the first and wait for the second: a deadlock in some
 * schedule, though not in this one. As lockdep in Linux, but without a declaration (BZ_RANK_OF_RUN)
 * it judges one run alone. */
#ifndef BZ_SIM_JUDGE_ORACLE_PERMIT_LOCK_ORDER_H
#define BZ_SIM_JUDGE_ORACLE_PERMIT_LOCK_ORDER_H
#include "sim/judge/oracle/oracle.h"

static inline uint64_t lock_order_suspects(const struct bz_judge *judge,
                                           const struct bz_moment *moment) {
    bool is_acquire = (moment->kind == BZ_MOMENT_SUSPENDS) | (moment->kind == BZ_MOMENT_RETURN);
    return is_acquire ? bz_judge_shadow_object(judge, moment->object)->rank : 0;
}

/* True if tasks of this run acquired the lock `last` behind the lock `first`, in one or more steps
 * from lock to lock. */
static inline bool lock_order_was(const struct bz_judge *judge, uint32_t first, uint32_t last) {
    uint64_t reached = judge->shadow.objects[first].followers;
    for (uint64_t seen = 0; seen != reached;) {
        uint64_t next = reached & ~seen;
        seen = reached;
        for (; next != 0; next &= next - 1) {
            reached |= judge->shadow.objects[__builtin_ctzll(next)].followers;
        }
    }
    return (reached >> last & 1u) != 0;
}

static inline void lock_order_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    const struct bz_shadow_object *object = bz_judge_shadow_object(judge, moment->object);
    if (moment->status != BZ_OK || judge->shadow.tasks[moment->task].tries) {
        return;
    }
    for (uint32_t number = 1; number <= judge->shadow.object_count; number++) {
        const struct bz_shadow_object *held = bz_judge_shadow_object(judge, number);
        bool is_of_run = object->rank == BZ_RANK_OF_RUN;
        if (held->owner != moment->task || number == moment->object ||
            is_of_run != (held->rank == BZ_RANK_OF_RUN) ||
            (is_of_run ? !lock_order_was(judge, moment->object, number)
                       : held->rank < object->rank)) {
            continue;
        }
        char why[BZ_NAME_BYTES];
        snprintf(why, sizeof why, "their ranks are %" PRIu32 " and %" PRIu32, object->rank,
                 held->rank);
        bz_judge_violate(
            judge, "lock-order", moment->task, moment->object,
            "%s acquires '%s' while it holds '%s', and %s", bz_task_label(judge, moment->task).text,
            bz_judge_label(judge, moment->object).text, bz_judge_label(judge, number).text,
            is_of_run ? "in this run they were acquired in the opposite order" : why);
        return;
    }
}

#endif

ORACLE(lock_order, "lock-order", "a task acquires a lock while it holds one that comes later",
       "Tasks that hold several locks have to acquire them in one order.")
