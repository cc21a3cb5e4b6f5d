/* an-1075: the event of a cancelled waiter is set, and nobody else is notified.
 *
 * Every waiter of this condition has an event of its own; notify takes the oldest out of the queue
 * and sets it. A waiter that is cancelled takes its event out of the queue if it is still there. If
 * it is not, it has been notified, and it leaves all the same. The lock is acquired again behind a
 * shield, which no cancellation gets through, so that only the window itself is left for the fault:
 * a cancellation after it comes when the wait is over.
 *
 *     A and B wait; C notifies one, which takes A out; A is cancelled in the same turn: B sleeps
 *
 * The cure: whoever is cancelled and finds its event set notifies another one. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/conditions.h"

static enum bz_status notify(void *instance, uint32_t count) {
    struct bz_zoo_condition *condition = instance;
    if (!condition->lock.is_held) {
        return BZ_NOT_HELD;
    }
    struct bz_zoo_waiter *oldest = NULL;
    while (count > 0 && (oldest = bz_zoo_pop(&condition->queue)) != NULL) {
        bz_future_set_result(&oldest->future, 0); /* refused if it is being cancelled already */
        count--;
    }
    return BZ_OK;
}

static enum bz_status wait(void *instance) {
    struct bz_zoo_condition *condition = instance;
    enum bz_status released = bz_zoo_condition_release(condition);
    if (released != BZ_OK) {
        return released;
    }
    struct bz_zoo_waiter waiter;
    enum bz_status status = bz_zoo_wait(&condition->queue, &waiter);
    if (bz_list_is_linked(&waiter.link)) {
        bz_zoo_leave(&waiter);
    }
    /* The fault: if it was cancelled, and is not linked, somebody else had to be notified. */
    return bz_zoo_condition_relock(condition, status, status == BZ_OK);
}

static const struct bz_condition_ops condition_ops = {
    .instance_bytes = sizeof(struct bz_zoo_condition),
    .init = bz_zoo_condition_init,
    .acquire = bz_zoo_condition_acquire,
    .release = bz_zoo_condition_release,
    .locked = bz_zoo_condition_locked,
    .wait = wait,
    .notify = notify,
    .queued = bz_zoo_condition_queued,
};

static const struct bz_fault fault = {
    .family = "woken, cancelled, not passed on",
    .project = "anyio",
    .issue = "anyio 1075",
    .versions = "before 4.13.0",
    .summary = "a waiter cancelled between the notification and its resume keeps the notification",
    .property = "no notification is lost",
    .oracle = "lost-notification",
    .scenario = "condition",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_an_1075 = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/an-1075",
    .summary =
        "condition of events that loses the notification of a waiter cancelled in the window",
    .condition = &condition_ops,
    .fault = &fault,
};
