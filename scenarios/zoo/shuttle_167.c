/* shuttle-167: a permit that was given and is not wanted goes back, and nobody is woken for it.
 *
 * The semaphore of a tool that tests programs under random schedules, which models the semaphore of
 * another library. A release gives the permit to the head of the queue. If that one is dropped
 * before it has looked, its permit is put back; but in strict fairness nobody takes a permit past
 * those who wait, and those who wait sleep.
 *
 *     no permit is free; B and C wait; a release gives B a permit; B is dropped: one is free, C
 * waits
 *
 * The cure: when the head leaves, those whom it held up are served. */
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
        semaphore->value += status != BZ_OK; /* the fault: it is put back, and nobody is told */
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
    .family = "head of line",
    .project = "awslabs/shuttle (BatchSemaphore)",
    .issue = "shuttle PR 167",
    .versions = "until 2024-12",
    .summary = "a head that is dropped puts its permit back and wakes nobody",
    .property = "no lost wake-up",
    .oracle = "lost-wakeup",
    .scenario = "restaurant",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_shuttle_167 = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/shuttle-167",
    .summary = "strictly fair semaphore that puts permits back silently",
    .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &semaphore_ops},
    .fault = &fault,
};
