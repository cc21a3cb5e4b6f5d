/* sem-noncancel-exit: a waiter that was given a permit and leaves by anything but a cancellation
 * keeps it.
 *
 * The wake-up takes the permit out of the value; a waiter that is cancelled in the window puts it
 * back. One whose coroutine is closed, or is given another exception, does not: the permit is gone.
 *
 * A status stands for the exception here. An acquire of this semaphore has a deadline of its own:
 * when it comes in the window, the acquire ends with BZ_TIMED_OUT, and that is not BZ_CANCELLED.
 *
 *     no permit is free; B waits; A releases; B's deadline comes before B has resumed: none is left
 *
 * The cure: whoever leaves without the permit that was reserved for it puts it back. */
#include "primitives/runtime/timeout.h"
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

/* An acquire waits no longer than this. */
#define DEADLINE_NS 100u

/* Reserves permits for the oldest waiters. */
static void wake_all_that_fit(struct bz_zoo_semaphore *semaphore) {
    while (semaphore->value > 0 && bz_zoo_wake_oldest(&semaphore->queue)) {
        semaphore->value--;
    }
}

static enum bz_status acquire(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    if (semaphore->value > 0 && !bz_zoo_has_live(&semaphore->queue)) {
        semaphore->value--;
        return BZ_OK;
    }
    struct bz_timeout deadline;
    struct bz_zoo_waiter waiter;
    enum bz_status status = bz_timeout_enter(semaphore->queue.loop, &deadline, DEADLINE_NS);
    if (status != BZ_OK) {
        return status;
    }
    status = bz_timeout_exit(&deadline, bz_zoo_wait(&semaphore->queue, &waiter));
    bz_zoo_leave(&waiter);
    if (status == BZ_CANCELLED && bz_zoo_was_woken(&waiter)) { /* the fault: no other way */
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
    const struct bz_zoo_semaphore *semaphore = instance;
    bz_zoo_semaphore_view(instance, view);
    view->level = (uint64_t)semaphore->value + view->woken;
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
    .family = "woken, cancelled, not passed on",
    .project = "CPython asyncio",
    .issue = "no issue; our analysis",
    .versions = "3.10.8 to 3.15.0rc1",
    .summary =
        "a waiter that was given a permit and leaves by anything but a cancellation keeps it",
    .property = "no permit is lost",
    .oracle = "ownership",
    .scenario = "contended",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_sem_noncancel_exit = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/sem-noncancel-exit",
    .summary = "semaphore with a deadline, which swallows permits",
    .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &semaphore_ops},
    .fault = &fault,
};
