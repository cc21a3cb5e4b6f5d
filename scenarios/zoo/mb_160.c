/* mb-160: a permit is given to a waiter that is cancelled before it has it in hand.
 *
 * A release gives the permit to the oldest waiter, and it is in the semaphore no longer. If the
 * waiter is cancelled before it resumes, it leaves like any cancelled waiter, and the permit has
 * gone.
 *
 *     no permit is free; B waits; a release gives B a permit; B is cancelled: there is one permit
 * less
 *
 * The cure: a cancelled waiter that was given a permit passes it on. (The project chose another: a
 * cancellation does not strike there, but at the next point at which it can.) */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

static enum bz_status acquire(void *instance) {
    struct bz_zoo_reserving *semaphore = instance;
    if (bz_zoo_reserving_try(semaphore)) {
        return BZ_OK;
    }
    struct bz_zoo_waiter waiter;
    enum bz_status status = bz_zoo_wait(&semaphore->queue, &waiter);
    bz_zoo_leave(&waiter);
    semaphore->promised -= bz_zoo_was_woken(&waiter); /* the fault: even if it is not taken up */
    return status;
}

static const struct bz_permit_ops semaphore_ops = {
    .instance_bytes = sizeof(struct bz_zoo_reserving),
    .init = bz_zoo_reserving_init,
    .acquire = acquire,
    .release = bz_zoo_reserving_release,
    .locked = bz_zoo_reserving_locked,
    .view = bz_zoo_reserving_view,
};

static const struct bz_fault fault = {
    .family = "woken, cancelled, not passed on",
    .project = "moonbitlang/async",
    .issue = "moonbitlang/async PR 160",
    .versions = "until 2025-10",
    .summary = "a permit that was given to a waiter is lost with the waiter",
    .property = "permits are conserved",
    .oracle = "ownership",
    .scenario = "restaurant",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_mb_160 = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/mb-160",
    .summary = "semaphore whose permits go with cancelled waiters",
    .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &semaphore_ops},
    .fault = &fault,
};
