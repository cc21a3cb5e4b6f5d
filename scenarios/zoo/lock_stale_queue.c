/* lock-stale-queue: a newcomer takes the lock only if the queue is empty.
 *
 * A cancelled waiter is in the queue until its task resumes. If the lock is released meanwhile,
 * nobody is woken, which is right: nobody waits. But whoever comes before that task resumes sees a
 * queue that is not empty, and lines up behind an entry that is already dead. Nobody will wake it.
 *
 * The cure: the lock is to be had if it is free and every entry of the queue is cancelled. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

static enum bz_status acquire(void *instance) {
    struct bz_zoo_lock *lock = instance;
    if (!lock->is_held && bz_list_is_empty(&lock->queue.entries)) { /* the fault */
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

static const struct bz_permit_ops lock_ops = {
    .instance_bytes = sizeof(struct bz_zoo_lock),
    .init = bz_zoo_lock_init,
    .acquire = acquire,
    .release = bz_zoo_lock_release,
    .locked = bz_zoo_lock_locked,
    .view = bz_zoo_lock_view,
};

static const struct bz_fault fault = {
    .family = "queue hygiene",
    .project = "CPython asyncio",
    .issue = "bpo-27585 (python/asyncio PR 393); made again in anyio 4.5 to 4.13 (anyio 1145)",
    .versions = "3.4.0 to 3.5.2",
    .summary = "the fast path asks for an empty queue, and a cancelled entry is still in it",
    .property = "no lost wake-up",
    .oracle = "lost-wakeup",
    .scenario = "timeout",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_lock_stale_queue = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/lock-stale-queue",
    .summary = "lock whose newcomers line up behind cancelled waiters",
    .permits = {[BZ_PRIMITIVE_LOCK] = &lock_ops},
    .fault = &fault,
};
