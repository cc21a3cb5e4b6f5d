/* lock-double-grant: a cancelled waiter wakes somebody although somebody has been woken already.
 *
 * The repair of lock-woken-cancel went too far. Whoever is cancelled while the lock is free wakes
 * the first waiter that is not done. But the lock is also free in the window, between a release and
 * the resume of the waiter that it woke: that waiter is done, is skipped, and the one behind it is
 * woken as well. Both take the lock.
 *
 * The cure: only who was woken passes the wake-up on; or, as asyncio does, look at the head of the
 * queue alone, and do nothing if it is done. */
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
    if (status == BZ_OK) {
        lock->is_held = true;
    } else if (!lock->is_held) {
        bz_zoo_wake_oldest(&lock->queue); /* the fault: the lock may be promised to another */
    }
    bz_zoo_leave(&waiter);
    return status;
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
    .family = "passes on too much",
    .project = "CPython asyncio",
    .issue = "gh-76915 (bpo-32734, PR 5466)",
    .versions = "3.5.4, 3.6.2 to 3.6.4, 3.7.0a1 to b1",
    .summary = "a cancelled waiter wakes the next although another one is woken already",
    .property = "mutual exclusion",
    .oracle = "level-bound",
    .scenario = "restaurant",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_lock_double_grant = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/lock-double-grant",
    .summary = "lock that a cancelled waiter grants a second time",
    .permits = {[BZ_PRIMITIVE_LOCK] = &lock_ops},
    .fault = &fault,
};
