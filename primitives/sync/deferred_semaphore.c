#include "primitives/sync/deferred_semaphore.h"

enum bz_status bz_deferred_semaphore_init(struct bz_deferred_semaphore *semaphore,
                                          struct bz_trampoline *trampoline, uint32_t tokens) {
    if (tokens == 0) {
        return BZ_INVALID_ARGUMENT;
    }
    bz_deferred_waitq_init(&semaphore->queue, trampoline);
    semaphore->tokens = tokens;
    semaphore->limit = tokens;
    return BZ_OK;
}

void bz_deferred_semaphore_acquire(struct bz_deferred_semaphore *semaphore,
                                   struct bz_deferred_waiter *waiter) {
    bz_deferred_waiter_init(waiter, &semaphore->queue);
    if (semaphore->tokens == 0) {
        bz_deferred_waitq_push(waiter);
        return;
    }
    semaphore->tokens--;
    (void)bz_deferred_callback(&waiter->deferred, 0);
}

enum bz_status bz_deferred_semaphore_release(struct bz_deferred_semaphore *semaphore) {
    if (semaphore->tokens == semaphore->limit) {
        return BZ_NOT_HELD;
    }
    /* A token that changes hands is never counted as free. */
    if (!bz_deferred_waitq_fire_oldest(&semaphore->queue, 0)) {
        semaphore->tokens++;
    }
    return BZ_OK;
}

static enum bz_status give_back(void *semaphore) {
    return bz_deferred_semaphore_release(semaphore);
}

enum bz_status bz_deferred_semaphore_run(struct bz_deferred_semaphore *semaphore,
                                         struct bz_deferred_run *run, bz_deferred_run_fn *fn,
                                         void *arg) {
    if (fn == NULL) {
        return BZ_INVALID_ARGUMENT;
    }
    bz_deferred_semaphore_acquire(semaphore, &run->waiter);
    bz_deferred_run_start(run, fn, arg, give_back, semaphore);
    return BZ_OK;
}
