/* sem-barge: a permit that was given back is there for whoever comes first.
 *
 * release adds to the value and wakes the oldest waiter; acquire takes a permit whenever the value
 * is above 0, and does not look at the queue. So a task that releases and at once acquires again is
 * ahead of the waiter that it has just woken; and that waiter, when it finds nothing, queues again,
 * at the end: it has lost its place, too. It can go on so for ever.
 *
 * The cure: whoever finds somebody in the queue, woken or waiting, goes to its end; and the permit
 * is the woken one's from the wake-up on. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

static enum bz_status acquire(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    while (semaphore->value == 0) { /* the fault: nothing is said of those who were woken */
        struct bz_zoo_waiter waiter;
        enum bz_status status = bz_zoo_wait(&semaphore->queue, &waiter);
        bz_zoo_leave(&waiter);
        if (status != BZ_OK) {
            if (bz_zoo_was_woken(&waiter) && semaphore->value > 0) {
                bz_zoo_wake_oldest(&semaphore->queue);
            }
            return status;
        }
    }
    semaphore->value--;
    return BZ_OK;
}

static enum bz_status release(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    semaphore->value++;
    bz_zoo_wake_oldest(&semaphore->queue);
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
    .family = "grant not reserved",
    .project = "CPython asyncio",
    .issue = "gh-90155 (bpo-45997)",
    .versions = "3.5.1 to 3.9.11, 3.10.0 to 3.10.3, 3.11.0a1 to a6",
    .summary =
        "a freed permit is visible to newcomers, and the woken waiter queues again at the end",
    .property = "first come, first served",
    .oracle = "fifo",
    .scenario = "restaurant",
    .fifo_reachable = true,
};

/* A wake-up is a hint here: the woken one looks again. */
const struct bz_variant bz_variant_zoo_sem_barge = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO,
    .name = "zoo/sem-barge",
    .summary = "semaphore whose newcomers overtake the waiter that was woken",
    .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &semaphore_ops},
    .fault = &fault,
};
