/* lock-woken-cancel: a woken waiter that is cancelled does not pass the lock on.
 *
 * The window bug in its plainest form: release wakes the oldest waiter, somebody cancels that
 * waiter before it resumes, it leaves, and the lock is free while the next one waits for ever.
 *
 * The cure: whoever was woken and leaves without the lock wakes the next. */
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
    if (status != BZ_OK) {
        return status; /* the fault: it may have been woken, and nobody else is */
    }
    lock->is_held = true;
    return BZ_OK;
}

static const struct bz_permit_ops lock_ops = {
    .instance_bytes = sizeof(struct bz_zoo_lock),
    .init = bz_zoo_lock_init,
    .acquire = acquire,
    .release = bz_zoo_lock_release,
    .locked = bz_zoo_lock_locked,
    .view = bz_zoo_lock_view,
};

static const struct bz_fault fault = {
    .family = "woken, cancelled, not passed on",
    .project = "CPython asyncio",
    .issue = "bpo-27585 (python/asyncio PR 467, cpython PR 1031)",
    .versions = "3.4.0 to 3.5.3, 3.6.0 to 3.6.1",
    .summary = "a woken waiter that is cancelled does not pass the lock on",
    .property = "no lost wake-up",
    .oracle = "lost-wakeup",
    .scenario = "restaurant",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_lock_woken_cancel = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/lock-woken-cancel",
    .summary = "lock that loses the wake-up of a waiter cancelled in the window",
    .permits = {[BZ_PRIMITIVE_LOCK] = &lock_ops},
    .fault = &fault,
};
