/* toy-lifo: a mutex that serves the last waiter first.
 *
 * The list of waiters is a stack: release takes its last element. Correct in everything else, a
 * cancellation in the window included, and fine in a test with one waiter; under load the first to
 * come is the last to be served, or never.
 *
 * The cure: take the first element. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

static enum bz_status acquire(void *instance) {
    struct bz_zoo_lock *lock = instance;
    if (!lock->is_held && !bz_zoo_has_live(&lock->queue)) {
        lock->is_held = true;
        return BZ_OK;
    }
    struct bz_zoo_waiter waiter;
    enum bz_status status = bz_zoo_wait(&lock->queue, &waiter);
    bz_zoo_leave(&waiter);
    if (status == BZ_OK) {
        lock->is_held = true;
    } else if (bz_zoo_was_woken(&waiter)) {
        bz_zoo_wake_newest(&lock->queue);
    }
    return status;
}

static enum bz_status release(void *instance) {
    struct bz_zoo_lock *lock = instance;
    if (!lock->is_held) {
        return BZ_NOT_HELD;
    }
    lock->is_held = false;
    bz_zoo_wake_newest(&lock->queue); /* the fault */
    return BZ_OK;
}

static const struct bz_permit_ops lock_ops = {
    .instance_bytes = sizeof(struct bz_zoo_lock),
    .init = bz_zoo_lock_init,
    .acquire = acquire,
    .release = release,
    .locked = bz_zoo_lock_locked,
    .view = bz_zoo_lock_view,
};

static const struct bz_fault fault = {
    .family = "order of service",
    .project = "a mutex of Twisted Deferreds, as printed in an article",
    .issue = "our analysis; relatives: futures-rs PR 1345",
    .versions = "as printed",
    .summary = "release serves the last waiter instead of the first",
    .property = "first come, first served",
    .oracle = "fifo",
    .scenario = "restaurant",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_toy_lifo = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/toy-lifo",
    .summary = "mutex whose release serves the last waiter first",
    .permits = {[BZ_PRIMITIVE_LOCK] = &lock_ops},
    .fault = &fault,
};
