/* sem-woken-cancel: a woken waiter that is cancelled keeps the wake-up to itself.
 *
 * release adds to the value and wakes the oldest waiter, who takes the permit when it resumes. If
 * it is cancelled in between, it leaves, the permit stays in the value, and the next waiter is not
 * told. In the restaurant: the guest whose buzzer goes off walks out with it.
 *
 * The cure: whoever leaves without the permit it was woken for wakes the next. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

static enum bz_status acquire(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    if (semaphore->value > 0 && !bz_zoo_has_live(&semaphore->queue)) {
        semaphore->value--;
        return BZ_OK;
    }
    struct bz_zoo_waiter waiter;
    enum bz_status status = bz_zoo_wait(&semaphore->queue, &waiter);
    bz_zoo_leave(&waiter);
    if (status != BZ_OK) {
        return status; /* the fault: it may have been woken, and nobody else is */
    }
    semaphore->value--;
    bz_zoo_semaphore_wake_all_that_fit(semaphore); /* newcomers that queued behind us */
    return BZ_OK;
}

static enum bz_status release(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    semaphore->value++;
    bz_zoo_semaphore_wake_all_that_fit(semaphore);
    return BZ_OK;
}

static const struct bz_permit_ops semaphore_ops = {
    .instance_bytes = sizeof(struct bz_zoo_semaphore),
    .init = bz_zoo_semaphore_init,
    .acquire = acquire,
    .release = release,
    .locked = bz_zoo_semaphore_locked,
    .view = bz_zoo_semaphore_view,
};

static const struct bz_fault fault = {
    .family = "woken, cancelled, not passed on",
    .project = "CPython asyncio",
    .issue = "bpo-25233, python/asyncio 270",
    .versions = "3.4.0 to 3.5.0",
    .summary = "a woken waiter that is cancelled does not pass the wake-up on",
    .property = "no lost wake-up",
    .oracle = "lost-wakeup",
    .scenario = "restaurant",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_sem_woken_cancel = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/sem-woken-cancel",
    .summary = "semaphore that loses the wake-up of a waiter cancelled in the window",
    .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &semaphore_ops},
    .fault = &fault,
};
