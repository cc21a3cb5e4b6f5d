/* sem-locked-window: locked() looks at the value alone.
 *
 * A permit that a waiter was woken for is in the value until that waiter has resumed. Until then
 * locked() is false, although an acquire would have to wait behind it.
 *
 *     no permit is free; B waits; A releases: until B has resumed, locked() is false
 *
 * The cure: locked() also asks whether a live waiter is in the queue, as acquire does. */
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
    if (status == BZ_OK) {
        semaphore->value--;
    }
    bz_zoo_semaphore_wake_all_that_fit(semaphore);
    return status;
}

static enum bz_status release(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    semaphore->value++;
    bz_zoo_semaphore_wake_all_that_fit(semaphore);
    return BZ_OK;
}

static bool locked(void *instance) {
    const struct bz_zoo_semaphore *semaphore = instance;
    return semaphore->value == 0; /* the fault: false in the window */
}

static const struct bz_permit_ops semaphore_ops = {
    .instance_bytes = sizeof(struct bz_zoo_semaphore),
    .init = bz_zoo_semaphore_init,
    .acquire = acquire,
    .release = release,
    .locked = locked,
    .view = bz_zoo_semaphore_view,
};

static const struct bz_fault fault = {
    .family = "stuck state",
    .project = "CPython asyncio",
    .issue = "gh-97028",
    .versions = "before 3.10.8 and 3.11.0",
    .summary = "locked() is false while a woken waiter is on its way to the permit",
    .property = "locked() is true exactly when an acquire would wait",
    .oracle = "locked-definition",
    .scenario = "restaurant",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_sem_locked_window = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_LOCKED_EXACT | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/sem-locked-window",
    .summary = "semaphore whose locked() is wrong in the window",
    .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &semaphore_ops},
    .fault = &fault,
};
