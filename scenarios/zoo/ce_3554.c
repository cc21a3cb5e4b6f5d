/* ce-3554: a waiter of a mutex is notified at the moment in which it is cancelled, and tells
 * nobody.
 *
 * release frees the mutex and notifies one waiter, which tries again like anybody: a newcomer may
 * be faster, and then the waiter waits once more. So a notification is a hint, and nothing is
 * claimed of the order of service. But it is the only hint: if the notified waiter is cancelled
 * before it has tried, the mutex is free, and those who still wait are never told.
 *
 *     A holds; B and C wait; A releases: B is notified; B is cancelled: C waits for ever
 *
 * The cure: whoever leaves with a notification notifies the next. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

static enum bz_status acquire(void *instance) {
    struct bz_zoo_lock *lock = instance;
    while (lock->is_held) {
        struct bz_zoo_waiter waiter;
        enum bz_status status = bz_zoo_wait(&lock->queue, &waiter);
        bz_zoo_leave(&waiter);
        if (status != BZ_OK) {
            return status; /* the fault: it may have been notified */
        }
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
    .project = "cats-effect",
    .issue = "cats-effect 3554 (3555, 3562)",
    .versions = "early 2023, until its repair",
    .summary = "a waiter that is notified and cancelled at once loses the notification",
    .property = "no lost wake-up",
    .oracle = "lost-wakeup",
    .scenario = "restaurant",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_ce_3554 = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_REFUSES_MISUSE,
    .name = "zoo/ce-3554",
    .summary = "mutex whose cancelled waiters take notifications with them",
    .permits = {[BZ_PRIMITIVE_LOCK] = &lock_ops},
    .fault = &fault,
};
