/* status: an operation returned a status that it may not return, or not now; or a task ended with
 * one that it cannot have.
 *
 *     any operation  BZ_OK; BZ_NO_MEMORY if the run was refused memory, or if as many other tasks
 *                    as the variant has room for are inside operations
 *     that may wait  BZ_CANCELLED and BZ_TIMED_OUT after a cancel request (judged by
 *                    cancel-delivered); BZ_TIMED_OUT after a wait during which time passed
 *     release        BZ_NOT_HELD if no task holds it, or the task holds nothing; BZ_FULL from a
 *                    plain semaphore that has no space for one more permit
 *     condition      BZ_NOT_HELD from wait and notify if no task holds the lock
 *     barrier        BZ_BROKEN if it was aborted or reset
 *     end of a task  not BZ_NO_MEMORY, nor what the program rules out
 *     queue          BZ_CLOSED after a shutdown; BZ_EMPTY and BZ_FULL from a try, see below;
 *                    BZ_INVALID_STATE from task_done (judged by misuse)
 *
 * A try that finds no item or slot because others wait for it or because the queue moves it
 * elsewhere is right. So BZ_EMPTY and BZ_FULL are judged by the state of the queue only with
 * BZ_CLAIM_TAKES_AT_RETURN, and only while no other task gets or puts. */
#ifndef BZ_SIM_JUDGE_ORACLE_STATUS_H
#define BZ_SIM_JUDGE_ORACLE_STATUS_H
#include "sim/judge/oracle/oracle.h"

#define BZ_STATUSES_BYTES 160u

static inline bool status_suspects(const struct bz_judge *judge, const struct bz_moment *moment) {
    (void)judge;
    return moment->kind == BZ_MOMENT_RETURN
               ? moment->status > BZ_CANCELLED
               : moment->kind == BZ_MOMENT_ANSWERED && moment->status != BZ_OK;
}

static inline bool status_is_return(const struct bz_moment *moment) {
    return moment->kind == BZ_MOMENT_RETURN;
}

/* True if the variant may have no room for the task. A queue or a pool has several objects, and one
 * limit: all tasks count. */
static inline bool status_is_full(const struct bz_judge *judge, uint32_t id) {
    uint32_t count = 0;
    for (uint32_t other = 1; other <= judge->shadow.task_count; other++) {
        count += other != id && judge->shadow.tasks[other].op != BZ_OP_NONE;
    }
    return judge->config.waiters_max > 0 && count >= judge->config.waiters_max;
}

/* As bits. */
static inline uint32_t status_allowed(const struct bz_judge *judge,
                                      const struct bz_moment *moment) {
    uint32_t allowed = status_is_return(moment)
                           ? 1u << BZ_OK | judge->shadow.tasks[moment->task].excused
                           : (uint32_t)moment->numbers[0];
    if (status_is_return(moment) && !moment->is_at_once && judge->now_ns > 0 &&
        judge->shadow.tasks[moment->task].called_step !=
            judge->shadow.tasks[moment->task].next_step) {
        allowed |= 1u << BZ_TIMED_OUT;
    }
    if (bz_claims(bz_judge_shadow_object(judge, moment->object), BZ_CLAIM_MAY_FAIL)) {
        allowed |= 1u << BZ_FAILED;
    }
    bool is_end = !status_is_return(moment) && moment->numbers[1] == BZ_OP_NONE;
    if ((judge->config.memory_was_refused != NULL &&
         judge->config.memory_was_refused(judge->config.source)) ||
        (is_end ? judge->config.waiters_max > 0 : status_is_full(judge, moment->task))) {
        allowed |= 1u << BZ_NO_MEMORY;
    }
    return allowed;
}

/* Why it is wrong here. */
static inline const char *status_text(enum bz_status status, enum bz_op op, bool is_barrier) {
    switch (status) {
    case BZ_CANCELLED:
        return "no cancel was requested meanwhile";
    case BZ_TIMED_OUT:
        return "no time has passed";
    case BZ_NOT_HELD:
        return op == BZ_OP_RELEASE                      ? "the task holds a permit"
               : op == BZ_OP_WAIT || op == BZ_OP_NOTIFY ? "somebody holds the lock"
                                                        : "it needs no lock";
    case BZ_FAILED:
    case BZ_INVALID_STATE:
    case BZ_INVALID_ARGUMENT:
        return op == BZ_OP_NONE ? "no task of this program returns it"
                                : "this operation has no such result";
    case BZ_NO_MEMORY:
        return op == BZ_OP_NONE ? "no memory was refused"
                                : "no memory was refused, and its waiters_max allows this waiter";
    case BZ_BROKEN:
        return is_barrier ? "the barrier is not broken" : "only a barrier breaks";
    case BZ_CLOSED:
        return op == BZ_OP_PUT || op == BZ_OP_GET || op == BZ_OP_JOIN
                   ? "the queue was not shut down"
               : op == BZ_OP_ACQUIRE ? "nothing was closed"
                                     : "only a queue is shut down";
    case BZ_EMPTY:
        return op == BZ_OP_GET ? "it should wait, or the queue has items"
                               : "only a get that must not wait returns it";
    case BZ_FULL:
        return op == BZ_OP_PUT ? "it should wait, or the queue has free slots"
                               : "only a put that must not wait returns it";
    default:
        return status < BZ_STATUS_COUNT ? "this operation has no such result"
                                        : "there is no such status";
    }
}

/* "ok, timed-out" */
static inline void status_list(uint32_t statuses, char *text, size_t bytes) {
    size_t used = 0;
    snprintf(text, bytes, "nothing else");
    for (uint32_t left = statuses; left != 0 && used < bytes; left &= left - 1) {
        used += (size_t)snprintf(text + used, bytes - used, "%s%s", used > 0 ? ", " : "",
                                 bz_status_name((enum bz_status)__builtin_ctz(left)));
    }
}

static inline void status_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    const struct bz_shadow_task *task = &judge->shadow.tasks[moment->task];
    const struct bz_shadow_object *object = bz_judge_shadow_object(judge, moment->object);
    uint32_t allowed = status_allowed(judge, moment);
    if (status_is_return(moment) && !moment->is_at_once && task->cancelled_in_op) {
        return; /* see cancel-delivered */
    }
    if (moment->status < BZ_STATUS_COUNT && (allowed >> moment->status & 1u) != 0) {
        return;
    }
    enum bz_op op = !status_is_return(moment) ? (enum bz_op)moment->numbers[1]
                    : moment->is_at_once      ? (enum bz_op)judge->call.op
                                              : (enum bz_op)task->op;
    char number[BZ_NAME_BYTES];
    char list[BZ_STATUSES_BYTES];
    const char *status = bz_status_name(moment->status);
    bool has_object = moment->object != 0;
    if (op == BZ_OP_NONE) {
        bz_judge_violate(judge, "status", moment->task, 0, "%s ended with %s, but %s",
                         bz_task_label(judge, moment->task).text, status,
                         status_text(moment->status, op, false));
        return;
    }
    snprintf(number, sizeof number, "status %d", (int)moment->status);
    status_list(allowed, list, sizeof list);
    bz_judge_violate(judge, "status", moment->task, moment->object,
                     "%s%s%s%s returned %s to %s, but %s; it may return: %s",
                     has_object ? bz_op_name(op) : "enter", has_object ? " of '" : " of a scope",
                     has_object ? bz_judge_label(judge, moment->object).text : "",
                     has_object ? "'" : "", status == NULL ? number : status,
                     bz_task_label(judge, moment->task).text,
                     status_text(moment->status, op, object->kind == BZ_OBJECT_BARRIER), list);
}

#endif

ORACLE(status, "status", "an operation or a task ended with a status that is not possible here",
       "An operation may return only the statuses that its contract names.")
