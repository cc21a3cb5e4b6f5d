/* cond-swallow: a cancellation that strikes on the way back to the lock is forgotten.
 *
 * The repair of cond-cancel-relock: wait acquires the lock again in a loop, and a cancellation of
 * that acquire only means another turn of the loop. In the end the lock is there, and wait says
 * that it was notified, which is true. That somebody wanted the task to stop is nowhere any more.
 *
 *     A waits; B acquires, notifies and goes on; A is cancelled; B releases: A goes on as ever
 *
 * The cure: remember the cancellation, and pass it on once the lock is there. */
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
    if (status != BZ_OK && bz_zoo_was_woken(&waiter)) {
        bz_zoo_wake_oldest(&condition->queue);
    }
    while (bz_zoo_condition_acquire(condition) != BZ_OK) {
        /* the fault: nobody will hear of it */
    }
    return status;
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
    .family = "re-acquire loop",
    .project = "CPython asyncio",
    .issue = "gh-77022 (bpo-32841)",
    .versions = "3.5.2 to 3.5.x, 3.6.0 to 3.6.4, 3.7.0a1 to b1",
    .summary = "a cancellation while the lock is acquired again is swallowed",
    .property = "a cancellation is delivered",
    .oracle = "cancel-delivered",
    .scenario = "condition",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_cond_swallow = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/cond-swallow",
    .summary = "condition that swallows cancellations on the way back to the lock",
    .condition = &condition_ops,
    .fault = &fault,
};
