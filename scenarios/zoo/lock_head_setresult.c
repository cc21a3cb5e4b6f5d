/* lock-head-setresult: release wakes the head of the queue, and does not look whether it is alive.
 *
 * A waiter that was cancelled stays in the queue until its task resumes. A release in that same
 * turn sets a result on it, which is refused; historically the refusal came out of release as an
 * exception, with the lock open by then. Here release says OK, so that what is seen is what the
 * refusal meant: the lock is free, the waiter behind the dead one sleeps, and nobody will wake it.
 *
 *     A holds; B and C wait; B is cancelled; A releases before B has resumed: C waits for ever
 *
 * The cure: wake the first waiter that is not done. */
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

static enum bz_status release(void *instance) {
    struct bz_zoo_lock *lock = instance;
    if (!lock->is_held) {
        return BZ_NOT_HELD;
    }
    lock->is_held = false;
    if (!bz_list_is_empty(&lock->queue.entries)) {
        struct bz_zoo_waiter *head =
            bz_container_of(lock->queue.entries.next, struct bz_zoo_waiter, link);
        bz_future_set_result(&head->future, 0); /* the fault: refused if it is cancelled */
    }
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
    .family = "queue hygiene",
    .project = "CPython asyncio, as tulip",
    .issue = "python/asyncio 461d3ae",
    .versions = "before 2013-08-31",
    .summary = "release wakes a head of the queue that was cancelled, and nobody behind it",
    .property = "no lost wake-up",
    .oracle = "lost-wakeup",
    .scenario = "timeout",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_lock_head_setresult = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/lock-head-setresult",
    .summary = "lock whose release spends the wake-up on a cancelled head",
    .permits = {[BZ_PRIMITIVE_LOCK] = &lock_ops},
    .fault = &fault,
};
