/* tz-6432: one baton for all that may be said, and whoever resumes first takes it down.
 *
 * To notify a waiter is to wake it and to post the baton; to cancel one is to wake it as well.
 * Whoever resumes looks whether the baton is posted and arms it anew. A waiter that was woken and
 * finds it not posted takes this for a wake-up without a message, and waits on. But somebody else
 * may have armed the baton anew: one that was cancelled, or one that was notified in the same turn,
 * for a baton says nothing twice.
 *
 * Known from its description alone, which names lost and phantom wake-ups; the details are ours.
 *
 *     no permit is free; B and C wait; C is cancelled; a release posts the baton for B; C resumes
 * and arms it anew; B finds nothing, and waits beside a free permit
 *
 * The cure: a state for each waiter, in which the messages are different. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

struct baton_semaphore {
    struct bz_zoo_semaphore semaphore; /* first: locked() and the view are its own */
    bool is_posted;                    /* the fault: one for all */
};

static void post(struct baton_semaphore *baton) {
    baton->is_posted |= bz_zoo_semaphore_wake_all_that_fit(&baton->semaphore);
}

static enum bz_status acquire(void *instance) {
    struct baton_semaphore *baton = instance;
    struct bz_zoo_semaphore *semaphore = &baton->semaphore;
    if (bz_zoo_semaphore_has_room(semaphore)) {
        semaphore->value--;
        return BZ_OK;
    }
    struct bz_zoo_waiter waiter;
    enum bz_status status = bz_zoo_wait(&semaphore->queue, &waiter);
    while (status == BZ_OK && !baton->is_posted) { /* a phantom, it seems */
        bz_future_init(&waiter.future, semaphore->queue.loop);
        status = bz_future_await(&waiter.future);
    }
    baton->is_posted = false; /* armed anew, by whoever comes */
    bz_zoo_leave(&waiter);
    if (status == BZ_OK) {
        semaphore->value--;
    } else if (bz_zoo_was_woken(&waiter)) {
        post(baton);
    }
    return status;
}

static enum bz_status release(void *instance) {
    struct baton_semaphore *baton = instance;
    baton->semaphore.value++;
    post(baton);
    return BZ_OK;
}

static const struct bz_permit_ops semaphore_ops = {
    .instance_bytes = sizeof(struct baton_semaphore),
    .init = bz_zoo_semaphore_init,
    .acquire = acquire,
    .release = release,
    .locked = bz_zoo_semaphore_locked,
    .view = bz_zoo_semaphore_view,
};

static const struct bz_fault fault = {
    .family = "stuck state",
    .project = "tenzir",
    .issue = "tenzir PR 6432",
    .versions = "until its repair",
    .summary = "a notification is taken down by a waiter that was woken for another reason",
    .property = "no lost wake-up",
    .oracle = "lost-wakeup",
    .scenario = "restaurant",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_tz_6432 = {
    .version = BZ_VARIANT_VERSION,
    .name = "zoo/tz-6432",
    .summary = "semaphore with one baton for all messages",
    .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &semaphore_ops},
    .fault = &fault,
};
