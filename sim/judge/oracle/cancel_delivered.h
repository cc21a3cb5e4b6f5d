/* cancel-delivered (zoo: CANCEL): an accepted cancel request is delivered exactly once.
 *
 * Swallowed: a task resumes as if there were no request, or an await inside an operation was
 * cancelled by one and the operation returns something else. Invented: an operation returns
 * BZ_CANCELLED without a request, or a second time for one request. An implementation may cancel a
 * future of its own that a task waits for inside an operation; that is no cancel of the task. A
 * runtime may put a request of a woken task off to its next wait (keeps_result). */
#ifndef BZ_SIM_JUDGE_ORACLE_CANCEL_DELIVERED_H
#define BZ_SIM_JUDGE_ORACLE_CANCEL_DELIVERED_H
#include "sim/judge/oracle/oracle.h"

/* True if the status contradicts what happened. An operation that was cancelled inside returns
 * BZ_CANCELLED, or BZ_TIMED_OUT for its own deadline. Another one does not return BZ_CANCELLED; the
 * oracle `status` judges the rest. */
static inline bool cancel_delivered_is_odd(bool was_cancelled, enum bz_status status) {
    return was_cancelled ? status != BZ_CANCELLED && status != BZ_TIMED_OUT
                         : status == BZ_CANCELLED;
}

/* An exception of the operation's own, which it may have. */
static inline bool cancel_delivered_fails(const struct bz_judge *judge,
                                          const struct bz_moment *moment) {
    return moment->status == BZ_FAILED &&
           bz_claims(bz_judge_shadow_object(judge, moment->object), BZ_CLAIM_MAY_FAIL);
}

static inline bool cancel_delivered_suspects(const struct bz_judge *judge,
                                             const struct bz_moment *moment) {
    const struct bz_shadow_task *task = &judge->shadow.tasks[moment->task];
    if (moment->kind == BZ_MOMENT_CANCEL) {
        bool is_put_off = (task->await == BZ_AWAIT_WOKEN && judge->config.keeps_result) ||
                          task->wait == BZ_WAIT_INSIDE; /* no await of its own */
        return moment->status != BZ_CANCELLED && task->cancel_pending && !is_put_off;
    }
    return moment->kind == BZ_MOMENT_RETURN &&
           cancel_delivered_is_odd(!moment->is_at_once & task->cancelled_in_op, moment->status);
}

static inline void cancel_delivered_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    const struct bz_shadow_task *task = &judge->shadow.tasks[moment->task];
    enum bz_op op = moment->is_at_once ? (enum bz_op)judge->call.op : (enum bz_op)task->op;
    const char *status = bz_status_word(moment->status);
    char what[sizeof(struct bz_label) + 32] = "an operation";
    bool is_late = moment->kind == BZ_MOMENT_RETURN && !moment->is_at_once;
    if (is_late && (task->may_answer || cancel_delivered_fails(judge, moment))) {
        return;
    }
    const struct bz_task_label name = bz_task_label(judge, moment->task);
    if (moment->object != 0) {
        snprintf(what, sizeof what, "%s of '%s'", bz_op_name(op),
                 bz_judge_label(judge, moment->object).text);
    }
    if (moment->kind == BZ_MOMENT_CANCEL) {
        bz_judge_violate(judge, "cancel-delivered", moment->task, moment->object,
                         "%s resumed with '%s', although a cancel request was pending; "
                         "'cancelled' was due",
                         name.text, status);
    } else if (!moment->is_at_once && task->cancelled_in_op) {
        bz_judge_violate(judge, "cancel-delivered", moment->task, moment->object,
                         "%s was cancelled in %s, which returned '%s' and swallowed the cancel; "
                         "'cancelled' was due",
                         name.text, what, status);
    } else {
        bz_judge_violate(judge, "cancel-delivered", moment->task, moment->object,
                         "%s got 'cancelled' from %s, which no cancel request had reached",
                         name.text, what);
    }
}

#endif

ORACLE(cancel_delivered, "cancel-delivered",
       "a cancel request was swallowed, invented, or delivered twice",
       "A cancel request has to arrive exactly once: at the next await of its task, as a "
       "result of cancelled that is not swallowed on the way.")
