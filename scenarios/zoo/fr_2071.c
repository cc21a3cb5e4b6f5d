/* fr-2071: who unlocks and locks again has the lock again, and those who wait are beaten each time.
 *
 * Unlocking makes the mutex free and wakes a waiter, which tries again when it runs. The task that
 * has just unlocked is running already. If it locks again at once, the waiter finds the mutex
 * locked, and waits on, in its old place; so it can go on for as long as the other likes. The
 * project has written into its documentation that the mutex is not fair.
 *
 *     A holds; B waits; A releases, B is woken, A acquires; B finds nothing; and so on
 *
 * The cure is another promise: the mutex is the woken one's from the wake-up on. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

static enum bz_status acquire(void *instance) {
    struct bz_zoo_lock *lock = instance;
    if (!lock->is_held) { /* the fault: others may have been woken */
        lock->is_held = true;
        return BZ_OK;
    }
    struct bz_zoo_waiter waiter;
    enum bz_status status = bz_zoo_wait(&lock->queue, &waiter);
    while (status == BZ_OK && lock->is_held) {
        bz_future_init(&waiter.future, lock->queue.loop); /* in its old place */
        status = bz_future_await(&waiter.future);
    }
    bz_zoo_leave(&waiter);
    if (status == BZ_OK) {
        lock->is_held = true;
    } else if (bz_zoo_was_woken(&waiter) && !lock->is_held) {
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
    .family = "grant not reserved",
    .project = "futures-rs",
    .issue = "futures-rs 2071 (PR 2073)",
    .versions = "all: documented as unfair",
    .summary = "who unlocks and locks again at once beats those who wait, for ever",
    .property = "no starvation",
    .oracle = "starvation",
    .scenario = "contended",
    .settings = "workers=3,rounds=12,starvation-bound=4",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_fr_2071 = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_REFUSES_MISUSE,
    .name = "zoo/fr-2071",
    .summary = "mutex that is kept by who unlocks and locks",
    .permits = {[BZ_PRIMITIVE_LOCK] = &lock_ops},
    .fault = &fault,
};
