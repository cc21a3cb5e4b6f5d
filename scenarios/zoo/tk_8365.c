/* tk-8365: whoever has no budget left queues later than it came.
 *
 * A task may do so much before it has to let others run. An acquire asks for this budget first: if
 * it is used up, the task yields, and is queued when it comes back. Who calls acquire in the
 * meantime is served before it, though the mutex promises the order of the calls.
 *
 * Budgets belong to tasks and are larger; here every fourth acquire of the lock finds none.
 *
 *     A holds; B calls acquire and has to yield; C calls acquire, and is queued; B comes back: C, B
 *
 * The cure: the place in the queue comes first, and then the question of the budget. */
#include "primitives/runtime/task.h"
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

/* One acquire in so many finds the budget used up. */
#define BUDGET 4u

struct budget_lock {
    struct bz_zoo_lock lock; /* first: all but acquire are the lock's own */
    uint32_t spent;
};

static enum bz_status acquire(void *instance) {
    struct budget_lock *budget = instance;
    struct bz_zoo_lock *lock = &budget->lock;
    if (++budget->spent % BUDGET == 0) { /* the fault: not queued, and others may run */
        enum bz_status yielded = bz_yield(lock->queue.loop);
        if (yielded != BZ_OK) {
            return yielded;
        }
    }
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

static const struct bz_permit_ops lock_ops = {
    .instance_bytes = sizeof(struct budget_lock),
    .init = bz_zoo_lock_init,
    .acquire = acquire,
    .release = bz_zoo_lock_release,
    .locked = bz_zoo_lock_locked,
    .view = bz_zoo_lock_view,
};

static const struct bz_fault fault = {
    .family = "order of service",
    .project = "tokio",
    .issue = "tokio 8365",
    .versions = "all, open in 2026-08",
    .summary = "an acquire whose task has no budget left is queued later than it was called",
    .property = "first come, first served",
    .oracle = "fifo",
    .scenario = "contended",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_tk_8365 = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/tk-8365",
    .summary = "mutex that queues callers when they have budget",
    .permits = {[BZ_PRIMITIVE_LOCK] = &lock_ops},
    .fault = &fault,
};
