/* sem-throw-pending: a waiter that leaves puts back a permit that it was never given.
 *
 * On the way out a waiter puts the permit back unless its future was cancelled. A future that is
 * still pending was not cancelled either. With asyncio's own tasks there is none: they cancel what
 * they wait for. But a coroutine may be driven by somebody else, who throws the cancellation into
 * it and leaves the future alone; then each cancelled waiter makes a permit out of nothing.
 *
 * The driver here: what the task waits on is not the future in the queue, but one behind it. A
 * cancel of the task ends that one, and the future in the queue is pending still.
 *
 *     no permit is free; B waits and is cancelled: the value is 1
 *
 * The cure: put back only what was given, that is, if the future has a result. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

struct waiter {
    struct bz_zoo_waiter driver; /* what the task waits on */
    struct bz_future future;     /* what is woken */
};

static struct waiter *waiter_of(struct bz_list *link) {
    return bz_container_of(link, struct waiter, driver.link);
}

/* Reserves permits for the oldest waiters. */
static void wake_all_that_fit(struct bz_zoo_semaphore *semaphore) {
    struct bz_list *entries = &semaphore->queue.entries;
    for (struct bz_list *link = entries->next; link != entries && semaphore->value > 0;
         link = link->next) {
        if (bz_future_set_result(&waiter_of(link)->future, 0) == BZ_OK) {
            semaphore->value--;
            bz_future_set_result(&waiter_of(link)->driver.future, 0);
        }
    }
}

static enum bz_status acquire(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    if (semaphore->value > 0 && !bz_zoo_has_live(&semaphore->queue)) {
        semaphore->value--;
        return BZ_OK;
    }
    struct waiter waiter;
    bz_future_init(&waiter.future, semaphore->queue.loop);
    enum bz_status status = bz_zoo_wait(&semaphore->queue, &waiter.driver);
    bz_zoo_leave(&waiter.driver);
    if (status != BZ_OK && waiter.future.state != BZ_FUTURE_CANCELLED) { /* the fault */
        semaphore->value++;
    }
    wake_all_that_fit(semaphore);
    return status;
}

static enum bz_status release(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    semaphore->value++;
    wake_all_that_fit(semaphore);
    return BZ_OK;
}

static void view(void *instance, struct bz_permit_view *view) {
    struct bz_zoo_semaphore *semaphore = instance;
    struct bz_list *entries = &semaphore->queue.entries;
    bz_zoo_semaphore_view(instance, view);
    for (struct bz_list *link = entries->next; link != entries; link = link->next) {
        view->level += waiter_of(link)->future.state == BZ_FUTURE_RESULT;
    }
}

static const struct bz_permit_ops semaphore_ops = {
    .instance_bytes = sizeof(struct bz_zoo_semaphore),
    .init = bz_zoo_semaphore_init,
    .acquire = acquire,
    .release = release,
    .locked = bz_zoo_semaphore_locked,
    .view = view,
};

static const struct bz_fault fault = {
    .family = "passes on too much",
    .project = "CPython asyncio",
    .issue = "gh-111693 (PR 111694)",
    .versions = "3.10.8 to 3.12",
    .summary = "a waiter that leaves while its future is pending puts back a permit",
    .property = "permits are conserved",
    .oracle = "permit-conservation",
    .scenario = "restaurant",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_sem_throw_pending = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/sem-throw-pending",
    .summary = "semaphore that makes permits of cancelled waiters",
    .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &semaphore_ops},
    .fault = &fault,
};
