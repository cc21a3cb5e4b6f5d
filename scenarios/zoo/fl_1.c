/* fl-1: a future owns the lock before anybody has polled it, and is dropped.
 *
 * Asking for the lock makes a future, and if the lock is free the future owns it from that moment.
 * What unlocks is the guard, and a guard is made when the future is polled. A future that is
 * dropped before has no guard, and the lock remains with nobody.
 *
 * Between the call and the first poll others may run here: a yield.
 *
 *     A calls acquire on a free lock, and owns it; A is cancelled before it goes on: locked for
 * ever
 *
 * The cure: a future that is dropped gives back what it owns. */
#include "primitives/runtime/task.h"
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

static void hand_over(struct bz_zoo_handoff *lock) {
    lock->is_owned = bz_zoo_wake_oldest(&lock->queue);
    lock->is_promised = lock->is_owned;
}

static enum bz_status acquire(void *instance) {
    struct bz_zoo_handoff *lock = instance;
    enum bz_status status;
    if (!lock->is_owned) {
        lock->is_owned = true;
        lock->is_promised = true;
        status = bz_yield(lock->queue.loop); /* the fault: whoever is cancelled here keeps it */
        lock->is_promised = false;
        return status;
    }
    struct bz_zoo_waiter waiter;
    status = bz_zoo_wait(&lock->queue, &waiter);
    bz_zoo_leave(&waiter);
    if (status == BZ_OK) {
        lock->is_promised = false;
    } else if (bz_zoo_was_woken(&waiter)) {
        hand_over(lock);
    }
    return status;
}

static enum bz_status release(void *instance) {
    struct bz_zoo_handoff *lock = instance;
    if (!lock->is_owned || lock->is_promised) {
        return BZ_NOT_HELD;
    }
    hand_over(lock);
    return BZ_OK;
}

static const struct bz_permit_ops lock_ops = {
    .instance_bytes = sizeof(struct bz_zoo_handoff),
    .init = bz_zoo_handoff_init,
    .acquire = acquire,
    .release = release,
    .locked = bz_zoo_handoff_locked,
    .view = bz_zoo_handoff_view,
};

static const struct bz_fault fault = {
    .family = "woken, cancelled, not passed on",
    .project = "futures-locks",
    .issue = "futures-locks 1",
    .versions = "0.1.0",
    .summary = "a future that owns the lock and is dropped unpolled does not unlock",
    .property = "no permit is lost",
    .oracle = "ownership",
    .scenario = "restaurant",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_fl_1 = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/fl-1",
    .summary = "lock that belongs to futures nobody has polled",
    .permits = {[BZ_PRIMITIVE_LOCK] = &lock_ops},
    .fault = &fault,
};
