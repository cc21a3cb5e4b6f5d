/* lock-locked-window: locked() says that the lock is free while a woken waiter is about to take it.
 *
 * release takes the mark down and wakes a waiter, who puts it up again when it resumes. In between
 * locked() is false, although an acquire would have to wait. Whoever decides by it decides wrongly:
 * a pool that drops the locks that are not locked drops one that is in use.
 *
 *     A holds; B waits; A releases: until B has resumed, locked() is false
 *
 * The cure: locked() also asks whether a live waiter is in the queue, as acquire does. */
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
        bz_zoo_wake_oldest(&lock->queue);
    }
    return status;
}

static bool locked(void *instance) {
    const struct bz_zoo_lock *lock = instance;
    return lock->is_held; /* the fault: false in the window */
}

static const struct bz_permit_ops lock_ops = {
    .instance_bytes = sizeof(struct bz_zoo_lock),
    .init = bz_zoo_lock_init,
    .acquire = acquire,
    .release = bz_zoo_lock_release,
    .locked = locked,
    .view = bz_zoo_lock_view,
};

static const struct bz_fault fault = {
    .family = "stuck state",
    .project = "CPython asyncio",
    .issue = "gh-138121 (PR 153989); gh-97028 cured the semaphore alone",
    .versions = "all, 3.15.0rc1 included",
    .summary = "locked() is false between a release and the resume of the waiter that it woke",
    .property = "locked() is true exactly when an acquire would wait",
    .oracle = "locked-definition",
    .scenario = "handoff",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_lock_locked_window = {
    .version = BZ_VARIANT_VERSION,
    .claims =
        BZ_CLAIM_FIFO | BZ_CLAIM_LOCKED_EXACT | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/lock-locked-window",
    .summary = "lock that says it is free while a woken waiter owns the next turn",
    .permits = {[BZ_PRIMITIVE_LOCK] = &lock_ops},
    .fault = &fault,
};
