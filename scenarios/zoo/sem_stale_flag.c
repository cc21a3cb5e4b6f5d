/* sem-stale-flag: locked() is a flag of its own, beside the value, and the two disagree.
 *
 * The flag goes up when an acquire takes the last permit, and down in every release, whoever the
 * permit is for. A constructor with no permits does not put it up at all: Semaphore(0) says that it
 * is not locked, and so does any semaphore whose last permit has just been promised to a waiter.
 *
 *     no permit is free; B waits; A releases: the flag is down until B has resumed
 *
 * The cure: no flag. locked() is computed, of the value and, as of later, of the queue. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

struct flagged {
    struct bz_zoo_semaphore semaphore; /* the first member: the helpers see no more */
    bool is_locked;
};

static void take(struct flagged *flagged) {
    flagged->semaphore.value--;
    if (flagged->semaphore.value == 0) {
        flagged->is_locked = true;
    }
}

static enum bz_status acquire(void *instance) {
    struct flagged *flagged = instance;
    struct bz_zoo_semaphore *semaphore = &flagged->semaphore;
    if (semaphore->value > 0 && !bz_zoo_has_live(&semaphore->queue)) {
        take(flagged);
        return BZ_OK;
    }
    struct bz_zoo_waiter waiter;
    enum bz_status status = bz_zoo_wait(&semaphore->queue, &waiter);
    bz_zoo_leave(&waiter);
    if (status == BZ_OK) {
        take(flagged);
    }
    bz_zoo_semaphore_wake_all_that_fit(semaphore);
    return status;
}

static enum bz_status release(void *instance) {
    struct flagged *flagged = instance;
    flagged->semaphore.value++;
    flagged->is_locked = false; /* the fault: the permit may be somebody's */
    bz_zoo_semaphore_wake_all_that_fit(&flagged->semaphore);
    return BZ_OK;
}

static bool locked(void *instance) {
    const struct flagged *flagged = instance;
    return flagged->is_locked;
}

static const struct bz_permit_ops semaphore_ops = {
    .instance_bytes = sizeof(struct flagged),
    .init = bz_zoo_semaphore_init,
    .acquire = acquire,
    .release = release,
    .locked = locked,
    .view = bz_zoo_semaphore_view,
};

static const struct bz_fault fault = {
    .family = "stuck state",
    .project = "CPython asyncio, as tulip",
    .issue = "python/asyncio f954462, 2ff21d4",
    .versions = "before 2014-01-25",
    .summary = "locked() is a flag that a release takes down, whoever the permit is for",
    .property = "locked() is true exactly when an acquire would wait",
    .oracle = "locked-definition",
    .scenario = "restaurant",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_sem_stale_flag = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_LOCKED_EXACT | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/sem-stale-flag",
    .summary = "semaphore with a flag for locked() beside its value",
    .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &semaphore_ops},
    .fault = &fault,
};
