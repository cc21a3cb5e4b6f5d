#include "primitives/sync/semaphore.h"

void bz_semaphore_init(struct bz_semaphore *semaphore, struct bz_loop *loop, uint32_t permits) {
    bz_waitq_init(&semaphore->queue, loop);
    semaphore->value = permits;
    semaphore->bound = BZ_SEMAPHORE_PERMITS_MAX;
}

void bz_semaphore_init_bounded(struct bz_semaphore *semaphore, struct bz_loop *loop,
                               uint32_t permits) {
    bz_semaphore_init(semaphore, loop, permits);
    semaphore->bound = permits;
}

bool bz_semaphore_locked(const struct bz_semaphore *semaphore) {
    return (semaphore->value == 0) | (semaphore->queue.woken_count > 0) |
           (semaphore->queue.waiting_count > 0);
}

/* Reserves the free permits for the oldest waiters. */
static void wake_all_that_fit(struct bz_semaphore *semaphore) {
    while (semaphore->value > 0 && bz_waitq_has_waiting(&semaphore->queue)) {
        semaphore->value--;
        bz_waitq_wake_oldest(&semaphore->queue, 0);
    }
}

static __attribute__((noinline, flatten)) enum bz_status
wait_for_permit(struct bz_semaphore *semaphore) {
    struct bz_wait_outcome outcome = bz_waitq_wait(&semaphore->queue);
    if (outcome.was_woken && outcome.status != BZ_OK) {
        semaphore->value++; /* leaves without the reserved permit */
    }
    /* Newcomers that queued behind woken waiters may fit now. */
    wake_all_that_fit(semaphore);
    return outcome.status;
}

enum bz_status bz_semaphore_acquire(struct bz_semaphore *semaphore) {
    if (!bz_semaphore_locked(semaphore)) {
        semaphore->value--;
        return BZ_OK;
    }
    return wait_for_permit(semaphore);
}

enum bz_status bz_semaphore_release(struct bz_semaphore *semaphore) {
    uint64_t level = bz_semaphore_level(semaphore);
    if (level >= semaphore->bound) {
        return semaphore->bound == BZ_SEMAPHORE_PERMITS_MAX ? BZ_FULL : BZ_NOT_HELD;
    }
    semaphore->value++;
    wake_all_that_fit(semaphore);
    return BZ_OK;
}
