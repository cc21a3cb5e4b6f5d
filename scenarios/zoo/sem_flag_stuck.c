/* sem-flag-stuck: a flag that says "a wake-up is under way", and stays up.
 *
 * To keep newcomers from barging, a flag is raised at each wake-up and turns newcomers away; the
 * woken waiter takes it down when it resumes. A woken waiter that was cancelled passes the wake-up
 * on, but if there is nobody to take it, the flag stays up: from then on everybody who comes waits
 * for a wake-up that is not under way, next to a free permit.
 *
 * The historical code also took the flag down while others were still on their way, and woke one
 * waiter where two would fit; both are left out here, so that the stuck flag is the only fault.
 *
 * The cure: look at the queue instead of at a flag. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

static void wake_all_that_fit(struct bz_zoo_semaphore *semaphore) {
    if (bz_zoo_semaphore_wake_all_that_fit(semaphore)) {
        semaphore->is_wake_scheduled = true;
    }
}

static enum bz_status acquire(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    if (semaphore->value > 0 && !semaphore->is_wake_scheduled) {
        semaphore->value--;
        return BZ_OK;
    }
    struct bz_zoo_waiter waiter;
    enum bz_status status = bz_zoo_wait(&semaphore->queue, &waiter);
    bz_zoo_leave(&waiter);
    if (status == BZ_OK) {
        semaphore->value--;
        semaphore->is_wake_scheduled = bz_zoo_count(&semaphore->queue, BZ_FUTURE_RESULT) > 0;
    }
    wake_all_that_fit(semaphore); /* the fault: who was cancelled leaves the flag as it is */
    return status;
}

static enum bz_status release(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    semaphore->value++;
    wake_all_that_fit(semaphore);
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
    .family = "stuck state",
    .project = "CPython asyncio",
    .issue = "gh-90155, gh-97545 (PR 93222, PR 97549)",
    .versions = "3.9.12 to 3.9.18, 3.10.4 to 3.10.7, 3.11.0a7 to rc2",
    .summary = "a cancelled winner never clears the flag that a wake-up is scheduled",
    .property = "no lost wake-up",
    .oracle = "lost-wakeup",
    .scenario = "timeout",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_sem_flag_stuck = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/sem-flag-stuck",
    .summary = "semaphore that stays shut after a waiter was cancelled in the window",
    .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &semaphore_ops},
    .fault = &fault,
};
