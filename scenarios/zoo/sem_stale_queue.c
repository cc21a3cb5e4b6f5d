/* sem-stale-queue: a newcomer takes a free permit only if the queue is empty.
 *
 * lock-stale-queue with a count. A cancelled waiter is in the queue until its task resumes; a
 * permit that is released meanwhile wakes nobody, which is right. But who comes before that task
 * resumes lines up behind the dead entry, beside a free permit, and nobody will wake it.
 *
 *     no permit is free; B waits and is cancelled; A releases; D comes: D waits for ever
 *
 * The cure: a permit is to be had if every entry of the queue is cancelled. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

static enum bz_status acquire(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    if (semaphore->value > 0 && bz_list_is_empty(&semaphore->queue.entries)) { /* the fault */
        semaphore->value--;
        return BZ_OK;
    }
    struct bz_zoo_waiter waiter;
    enum bz_status status = bz_zoo_wait(&semaphore->queue, &waiter);
    bz_zoo_leave(&waiter);
    if (status == BZ_OK) {
        semaphore->value--;
    }
    if (bz_zoo_was_woken(&waiter)) {
        bz_zoo_semaphore_wake_all_that_fit(semaphore);
    }
    return status;
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
    .family = "queue hygiene",
    .project = "CPython asyncio",
    .issue = "bpo-25233, python/asyncio 270",
    .versions = "3.4.0 to 3.5.0",
    .summary = "the fast path asks for an empty queue, and a cancelled entry is still in it",
    .property = "no lost wake-up",
    .oracle = "lost-wakeup",
    .scenario = "timeout",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_sem_stale_queue = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/sem-stale-queue",
    .summary = "semaphore whose newcomers line up behind cancelled waiters",
    .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &semaphore_ops},
    .fault = &fault,
};
