/* dn-4267: a loop of release and wait starves those who wait.
 *
 * release adds to the count and wakes as many as there are permits; who is woken has to come back
 * and take one, while the task that released is running and takes it at the next wait. The woken
 * one waits on, in its old place. One busy loop is enough to keep all others out.
 *
 *     one permit: A has it, B waits; A releases, B is woken, A waits no longer than a call; and so
 * on
 *
 * The cure: what a waiter was woken for is not there for others. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

struct slim {
    struct bz_zoo_semaphore semaphore; /* first: locked() and the view are its own */
    uint32_t most;
};

static enum bz_status init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct slim *slim = instance;
    slim->most = permits;
    return bz_zoo_semaphore_init(&slim->semaphore, loop, permits);
}

static enum bz_status acquire(void *instance) {
    struct slim *slim = instance;
    struct bz_zoo_semaphore *semaphore = &slim->semaphore;
    if (semaphore->value > 0) { /* the fault: somebody may have been woken for it */
        semaphore->value--;
        return BZ_OK;
    }
    struct bz_zoo_waiter waiter;
    enum bz_status status = bz_zoo_wait(&semaphore->queue, &waiter);
    while (status == BZ_OK && semaphore->value == 0) {
        bz_future_init(&waiter.future, semaphore->queue.loop); /* in its old place */
        status = bz_future_await(&waiter.future);
    }
    bz_zoo_leave(&waiter);
    if (status == BZ_OK) {
        semaphore->value--;
    } else {
        bz_zoo_semaphore_wake_all_that_fit(semaphore);
    }
    return status;
}

static enum bz_status release(void *instance) {
    struct slim *slim = instance;
    if (slim->semaphore.value == slim->most) {
        return BZ_NOT_HELD;
    }
    slim->semaphore.value++;
    bz_zoo_semaphore_wake_all_that_fit(&slim->semaphore);
    return BZ_OK;
}

static const struct bz_permit_ops semaphore_ops = {
    .instance_bytes = sizeof(struct slim),
    .init = init,
    .acquire = acquire,
    .release = release,
    .locked = bz_zoo_semaphore_locked,
    .view = bz_zoo_semaphore_view,
};

static const struct bz_fault fault = {
    .family = "grant not reserved",
    .project = ".NET (SemaphoreSlim)",
    .issue = "dotnet/coreclr 4267",
    .versions = "as of the report",
    .summary = "a task that releases and waits in a loop starves all others",
    .property = "no starvation",
    .oracle = "starvation",
    .scenario = "contended",
    .settings = "permits=1,workers=3,rounds=12,starvation-bound=4",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_dn_4267 = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_REFUSES_MISUSE,
    .name = "zoo/dn-4267",
    .summary = "bounded semaphore that is kept by a busy loop",
    .permits = {[BZ_PRIMITIVE_BOUNDED] = &semaphore_ops},
    .fault = &fault,
};
