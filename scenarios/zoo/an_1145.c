/* an-1145: lock-stale-queue, made again ten years later in a lock that is handed over.
 *
 * release gives the lock to the first waiter that is not cancelled, and leaves the cancelled ones
 * to take themselves out when they resume. But the fast path asks for an empty queue. Who comes
 * after the release and before a cancelled waiter has resumed queues at a lock that nobody owns.
 *
 *     A holds; B waits and is cancelled; A releases; D comes: D waits for ever
 *
 * The cure: cancelled waiters count for nothing on the fast path, too. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

static void hand_over(struct bz_zoo_handoff *lock) {
    lock->is_promised = bz_zoo_wake_oldest(&lock->queue);
    lock->is_owned = lock->is_promised;
}

static enum bz_status acquire(void *instance) {
    struct bz_zoo_handoff *lock = instance;
    if (!lock->is_owned && bz_list_is_empty(&lock->queue.entries)) { /* the fault */
        lock->is_owned = true;
        return BZ_OK;
    }
    struct bz_zoo_waiter waiter;
    enum bz_status status = bz_zoo_wait(&lock->queue, &waiter);
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
    .family = "queue hygiene",
    .project = "anyio",
    .issue = "anyio 1145",
    .versions = "4.5.0 to 4.13.0",
    .summary = "the fast path of a lock that is handed over asks for an empty queue",
    .property = "no lost wake-up",
    .oracle = "lost-wakeup",
    .scenario = "timeout",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_an_1145 = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/an-1145",
    .summary = "lock that nobody owns and whose newcomers queue",
    .permits = {[BZ_PRIMITIVE_LOCK] = &lock_ops},
    .fault = &fault,
};
