/* go-63615: whoever is cancelled in the window is told that all went well.
 *
 * A waiter whose context is done when it has just been given its permit pretends not to have
 * noticed: acquire says OK. The permit is not lost, but the cancellation is: nobody will say it
 * again.
 *
 *     no permit is free; B waits; a release gives B a permit; B is cancelled: acquire says OK
 *
 * The cure: give the permit back, wake the next, and say that it was cancelled. */
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
    if (bz_zoo_was_woken(&waiter)) {
        semaphore->promised--;
        return BZ_OK; /* the fault: whatever the status is */
    }
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
    .project = "golang.org/x/sync",
    .issue = "golang 63615",
    .versions = "until 2024",
    .summary = "a cancellation in the window is ignored, and acquire says OK",
    .property = "a cancellation surfaces",
    .oracle = "cancel-delivered",
    .scenario = "restaurant",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_go_63615 = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/go-63615",
    .summary = "semaphore that does not notice a cancellation in the window",
    .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &semaphore_ops},
    .fault = &fault,
};
