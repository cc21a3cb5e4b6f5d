/* embassy-2766: only the head is ever woken, and it does not wake the one behind.
 *
 * Permits may come back while the head of the queue is on its way. A release wakes the head and
 * nobody else; that it has been woken already makes no difference. When the head has taken its
 * permit, it is for the head to wake the next one, if permits are left. It did not: the others
 * sleep beside them.
 *
 *     no permit is free; B and C wait; two releases, both for B; B takes one of two: C waits for
 * ever
 *
 * A head that is cancelled does wake the next one here; that it did not, either, was repaired later
 * (PR 6964).
 *
 * The cure: whoever leaves the head of the queue wakes the next head, if there is a permit for it.
 */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

static void wake_head(struct bz_zoo_semaphore *semaphore) {
    bool has_woken = bz_zoo_count(&semaphore->queue, BZ_FUTURE_RESULT) > 0;
    if (semaphore->value > 0 && !has_woken) {
        bz_zoo_wake_oldest(&semaphore->queue);
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
    if (status == BZ_OK) {
        semaphore->value--; /* the fault: whatever is left, nobody is woken for it */
    } else if (bz_zoo_was_woken(&waiter)) {
        wake_head(semaphore);
    }
    return status;
}

static enum bz_status release(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    semaphore->value++;
    wake_head(semaphore);
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
    .family = "head of line",
    .project = "embassy-sync (FairSemaphore)",
    .issue = "embassy PR 2766",
    .versions = "until 2024-04",
    .summary = "the head takes its permit and does not wake the second, for whom there is one, too",
    .property = "no lost wake-up",
    .oracle = "lost-wakeup",
    .scenario = "restaurant",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_embassy_2766 = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/embassy-2766",
    .summary = "fair semaphore whose head wakes nobody",
    .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &semaphore_ops},
    .fault = &fault,
};
