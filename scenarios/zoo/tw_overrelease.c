/* tw-overrelease: what forbids a release too many is an assertion, and assertions are off.
 *
 * The bound of the semaphore is checked by an assert statement, which an optimizing interpreter
 * leaves out. A release of what nobody holds is accepted then, and adds a permit for good.
 *
 *     every permit is free; A releases, and is told OK: one more than there should be
 *
 * The cure: an error that does not depend on how the program is run. */
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
    semaphore->value++; /* the fault: no look at the bound */
    bz_zoo_semaphore_wake_all_that_fit(semaphore);
    return BZ_OK;
}

static const struct bz_permit_ops bounded_ops = {
    .instance_bytes = sizeof(struct bz_zoo_semaphore),
    .init = bz_zoo_semaphore_init,
    .acquire = acquire,
    .release = release,
    .locked = bz_zoo_semaphore_locked,
    .view = bz_zoo_semaphore_view,
};

static const struct bz_fault fault = {
    .family = "passes on too much",
    .project = "Twisted",
    .issue = "DeferredSemaphore.release, no ticket; our analysis",
    .versions = "all, under python -O",
    .summary = "a release too many is accepted, if assertions are off",
    .property = "no more releases than acquires",
    .oracle = "misuse",
    .scenario = "restaurant",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_tw_overrelease = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/tw-overrelease",
    .summary = "bounded semaphore without a bound",
    .permits = {[BZ_PRIMITIVE_BOUNDED] = &bounded_ops},
    .fault = &fault,
};
