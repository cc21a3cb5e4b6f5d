/* al-23: a woken waiter tries again like anybody, and may be beaten for ever.
 *
 * acquire tries; if there is no permit, it listens for a release, and tries again when it was
 * woken. The permit is there for anybody who tries first. Whoever was beaten listens anew, at the
 * end of the queue: it has lost its place as well, and nothing bounds how often.
 *
 * This is sem-barge in another house. No order is promised here, so that what is left to say is how
 * often a waiter is beaten.
 *
 *     one permit: A has it, B listens; A releases, B is woken, A acquires; B listens again; and so
 * on
 *
 * The cure: the permit is the woken one's from the wake-up on. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

static enum bz_status acquire(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    while (semaphore->value == 0) { /* the fault: nothing is kept for those who were woken */
        struct bz_zoo_waiter listener;
        enum bz_status status = bz_zoo_wait(&semaphore->queue, &listener);
        bz_zoo_leave(&listener);
        if (status != BZ_OK) {
            if (bz_zoo_was_woken(&listener) && semaphore->value > 0) {
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
    .project = "async-lock",
    .issue = "async-lock 23",
    .versions = "all, open",
    .summary = "a woken waiter can be beaten by newcomers for ever",
    .property = "no starvation",
    .oracle = "starvation",
    .scenario = "contended",
    .settings = "permits=1,workers=3,rounds=12,starvation-bound=4",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_al_23 = {
    .version = BZ_VARIANT_VERSION,
    .name = "zoo/al-23",
    .summary = "semaphore whose woken waiters try again",
    .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &semaphore_ops},
    .fault = &fault,
};
