/* sem-one-wake: who resumes wakes one waiter, where several would fit.
 *
 * Permits that are released while a woken waiter is on its way are left for newcomers; these see
 * the woken one and queue. When it resumes, it wakes the first of them, and that one the next when
 * it resumes in turn: one permit a turn, while the others lie free and their waiters sleep. Nobody
 * is forgotten, so that nothing hangs; the work is only later than it could be.
 *
 *     three permits are held, A waits; all three are released; B and C come and queue behind A;
 *     A resumes with two permits free, and wakes B alone
 *
 * The cure: wake as long as there are permits and waiters. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

/* Reserves a permit for the oldest waiter. */
static void wake_one(struct bz_zoo_semaphore *semaphore) {
    if (semaphore->value > 0 && bz_zoo_wake_oldest(&semaphore->queue)) {
        semaphore->value--;
    }
}

static enum bz_status acquire(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    if (semaphore->value > 0 && !bz_zoo_has_live(&semaphore->queue)) {
        semaphore->value--;
        return BZ_OK;
    }
    struct bz_zoo_waiter waiter;
    enum bz_status status = bz_zoo_wait(&semaphore->queue, &waiter);
    bz_zoo_leave(&waiter);
    if (status != BZ_OK && bz_zoo_was_woken(&waiter)) {
        semaphore->value++;
    }
    wake_one(semaphore); /* the fault: there may be permits for more */
    return status;
}

static enum bz_status release(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    semaphore->value++;
    wake_one(semaphore);
    return BZ_OK;
}

static bool locked(void *instance) {
    const struct bz_zoo_semaphore *semaphore = instance;
    return semaphore->value == 0 || bz_zoo_has_live(&semaphore->queue);
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
    .locked = locked,
    .view = view,
};

static const struct bz_fault fault = {
    .family = "head of line",
    .project = "CPython asyncio",
    .issue = "gh-111693 (PR 111694)",
    .versions = "3.10.8 to 3.12",
    .summary = "who resumes wakes one waiter, even if several permits are free",
    .property = "work conservation",
    .oracle = "work-conserving",
    .scenario = "restaurant",
    .settings = "tables=5,guests=12,helpings=1,arrival=4,meal=4,meal-ns=1",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_sem_one_wake = {
    .version = BZ_VARIANT_VERSION,
    .claims =
        BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT | BZ_CLAIM_LOCKED_EXACT | BZ_CLAIM_WORK_CONSERVING,
    .name = "zoo/sem-one-wake",
    .summary = "semaphore that hands out one permit a turn",
    .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &semaphore_ops},
    .fault = &fault,
};
