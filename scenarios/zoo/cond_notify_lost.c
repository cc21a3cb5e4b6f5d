/* cond-notify-lost: a waiter that was notified and is cancelled takes the notification along.
 *
 * notify(1) chooses the oldest waiter. If that one is cancelled, in the window or while it waits
 * for the lock, it leaves with the cancellation, as it should, and without having looked at what it
 * was notified of. The next waiter would have, but nobody notifies it.
 *
 *     A and B wait; C puts a token down and notifies one; A is cancelled: B sleeps beside the token
 *
 * The cure: whoever leaves with a notification and a cancellation notifies another one. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/conditions.h"

static enum bz_status wait(void *instance) {
    struct bz_zoo_condition *condition = instance;
    enum bz_status released = bz_zoo_condition_release(condition);
    if (released != BZ_OK) {
        return released;
    }
    struct bz_zoo_waiter waiter;
    enum bz_status status = bz_zoo_wait(&condition->queue, &waiter);
    bz_zoo_leave(&waiter);
    return bz_zoo_condition_relock(condition, status, false); /* the fault: it may have one */
}

static const struct bz_condition_ops condition_ops = {
    .instance_bytes = sizeof(struct bz_zoo_condition),
    .init = bz_zoo_condition_init,
    .acquire = bz_zoo_condition_acquire,
    .release = bz_zoo_condition_release,
    .locked = bz_zoo_condition_locked,
    .wait = wait,
    .notify = bz_zoo_condition_notify,
    .queued = bz_zoo_condition_queued,
};

static const struct bz_fault fault = {
    .family = "woken, cancelled, not passed on",
    .project = "CPython asyncio",
    .issue = "gh-112202 (PR 112201), foreseen in the review of PR 1031",
    .versions = "3.4.0 to 3.12.x",
    .summary = "a notified waiter that is cancelled does not notify another one",
    .property = "no notification is lost",
    .oracle = "lost-notification",
    .scenario = "condition",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_cond_notify_lost = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/cond-notify-lost",
    .summary = "condition that loses the notification of a cancelled waiter",
    .condition = &condition_ops,
    .fault = &fault,
};
