#include "primitives/sync/weighted_semaphore.h"

void bz_weighted_semaphore_init(struct bz_weighted_semaphore *semaphore, struct bz_loop *loop,
                                uint32_t permits) {
    *semaphore = (struct bz_weighted_semaphore){.value = permits, .bound = permits};
    bz_waitq_init(&semaphore->queue, loop);
}

/* Reserves permits for the oldest waiters that fit, up to the first one that does not. */
static void serve(struct bz_weighted_semaphore *semaphore) {
    while (bz_waitq_has_waiting(&semaphore->queue)) {
        uint64_t permits = bz_waitq_oldest_amount(&semaphore->queue);
        if (permits > semaphore->value) {
            return;
        }
        semaphore->value -= (uint32_t)permits;
        semaphore->reserved += (uint32_t)permits;
        bz_waitq_wake_oldest(&semaphore->queue, 0);
    }
}

enum bz_status bz_weighted_semaphore_try_acquire(struct bz_weighted_semaphore *semaphore,
                                                 uint32_t permits) {
    if (permits == 0 || permits > semaphore->bound) {
        return BZ_INVALID_ARGUMENT;
    }
    if (permits > semaphore->value || bz_waitq_has_waiting(&semaphore->queue)) {
        return BZ_EMPTY;
    }
    semaphore->value -= permits;
    return BZ_OK;
}

enum bz_status bz_weighted_semaphore_acquire(struct bz_weighted_semaphore *semaphore,
                                             uint32_t permits) {
    enum bz_status status = bz_weighted_semaphore_try_acquire(semaphore, permits);
    if (status != BZ_EMPTY) {
        return status;
    }
    struct bz_wait_outcome outcome = bz_waitq_wait_for(&semaphore->queue, permits);
    if (outcome.was_woken) {
        semaphore->reserved -= permits;
    }
    if (outcome.status != BZ_OK) {
        semaphore->value += outcome.was_woken ? permits : 0;
        serve(semaphore); /* it may have blocked smaller requests */
    }
    return outcome.status;
}

enum bz_status bz_weighted_semaphore_release(struct bz_weighted_semaphore *semaphore,
                                             uint32_t permits) {
    if (permits > semaphore->bound - semaphore->value - semaphore->reserved) {
        return BZ_NOT_HELD;
    }
    semaphore->value += permits;
    serve(semaphore);
    return BZ_OK;
}
