/* cancel-delivered (zoo: CANCEL): an accepted cancel request is delivered exactly once.
 *
 * Swallowed: a task resumes as if there were no request, or an await inside an operation was
 * cancelled by one and the operation returns something else. Invented: an operation returns
 * BZ_CANCELLED without a request, or a second time for one request. An implementation may cancel a
 * future of its own that a task waits for inside an operation; that is no cancel of the task. */
#ifndef BZ_SIM_JUDGE_ORACLE_CANCEL_DELIVERED_H
#define BZ_SIM_JUDGE_ORACLE_CANCEL_DELIVERED_H

#include "sim/judge/oracle/oracle.h"

/* Whether the status contradicts what happened. An operation that was cancelled inside returns
 * BZ_CANCELLED, or BZ_TIMED_OUT for its own deadline. Another one does not return BZ_CANCELLED; the
 * oracle `status` judges the rest. */
static inline bool cancel_delivered_is_odd(bool was_cancelled, enum bz_status status) {
    return was_cancelled ? status != BZ_CANCELLED && status != BZ_TIMED_OUT
                         : status == BZ_CANCELLED;
}

static inline bool cancel_delivered_suspects(const struct bz_judge *judge,
                                             const struct bz_moment *moment) {
    const struct bz_shadow_task *task = &judge->shadow.tasks[moment->task];
    if (moment->kind == BZ_MOMENT_CANCEL) {
        return moment->status != BZ_CANCELLED && task->cancel_pending;
    }
    return moment->kind == BZ_MOMENT_RETURN &&
           cancel_delivered_is_odd(!moment->is_at_once & task->cancelled_in_op, moment->status);
}

static const char *cancel_delivered_text(const struct bz_moment *moment,
                                         const struct bz_shadow_task *task) {
    if (moment->kind == BZ_MOMENT_CANCEL) {
        return "resumed as if nothing had happened, although a cancel request was pending";
    }
    return task->cancelled_in_op ? "was cancelled inside an operation, which swallowed the cancel"
                                 : "got 'cancelled' from an operation that no cancel had reached";
}

static inline void cancel_delivered_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    const struct bz_shadow_task *task = &judge->shadow.tasks[moment->task];
    bool has_object = moment->object != 0;
    char name[BZ_NAME_BYTES];
    bz_judge_object(judge, "cancel-delivered", moment->task, moment->object, "%s%s%s %s",
                    bz_judge_task_name(judge, moment->task, name, sizeof name),
                    has_object ? " on " : "",
                    has_object ? bz_judge_object_name(judge, moment->object) : "",
                    cancel_delivered_text(moment, task));
}

#endif

ORACLE(cancel_delivered, "cancel-delivered",
       "a cancel request was swallowed, invented, or delivered twice")
