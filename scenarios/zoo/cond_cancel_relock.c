/* cond-cancel-relock: a waiter that is cancelled on its way back to the lock leaves without it.
 *
 * wait gives the lock up, waits to be notified, and acquires the lock again on every way out. If
 * the notifier still has it, that acquire waits, and it can be cancelled like any other; then wait
 * ends without the lock. Its caller believes to have it, and releases it: the lock of whoever holds
 * it by then.
 *
 *     A waits; B acquires, notifies and goes on; A is cancelled: its release frees the lock of B
 *
 * The cure: acquire until it succeeds, and pass the cancellation on afterwards. */
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
    bool owes = bz_zoo_was_woken(&waiter);
    if (status != BZ_OK && owes) {
        bz_zoo_wake_oldest(&condition->queue);
        owes = false;
    }
    enum bz_status acquired = bz_zoo_condition_acquire(condition); /* the fault: it tries once */
    if (acquired != BZ_OK && owes) {
        bz_zoo_wake_oldest(&condition->queue);
    }
    return acquired == BZ_OK ? status : acquired;
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
    .issue = "gh-67159 (bpo-22970), python/asyncio 346",
    .versions = "3.4.x, 3.5.0 to 3.5.1",
    .summary = "a waiter that is cancelled while it acquires the lock again returns without it",
    .property = "a wait returns with the lock",
    .oracle = "relock",
    .scenario = "condition",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_cond_cancel_relock = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/cond-cancel-relock",
    .summary = "condition whose cancelled waiters come back without the lock",
    .condition = &condition_ops,
    .fault = &fault,
};
