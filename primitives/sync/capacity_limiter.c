#include "primitives/sync/capacity_limiter.h"

void bz_capacity_limiter_init(struct bz_capacity_limiter *limiter, struct bz_loop *loop,
                              uint32_t total) {
    *limiter = (struct bz_capacity_limiter){.total = total};
    bz_waitq_init(&limiter->queue, loop);
}

static void serve(struct bz_capacity_limiter *limiter) {
    while (limiter->borrowed < limiter->total && bz_waitq_has_waiting(&limiter->queue)) {
        limiter->borrowed++;
        bz_waitq_wake_oldest(&limiter->queue, 0);
    }
}

enum bz_status bz_capacity_limiter_try_acquire(struct bz_capacity_limiter *limiter,
                                               struct bz_borrower *borrower) {
    if (borrower->limiter != NULL) {
        return BZ_INVALID_STATE;
    }
    if (limiter->borrowed >= limiter->total) { /* so it is if a task waits */
        return BZ_EMPTY;
    }
    limiter->borrowed++;
    *borrower = (struct bz_borrower){.limiter = limiter, .has_token = true};
    return BZ_OK;
}

enum bz_status bz_capacity_limiter_acquire(struct bz_capacity_limiter *limiter,
                                           struct bz_borrower *borrower) {
    enum bz_status status = bz_capacity_limiter_try_acquire(limiter, borrower);
    if (status != BZ_EMPTY) {
        return status;
    }
    borrower->limiter = limiter;
    struct bz_wait_outcome outcome = bz_waitq_wait(&limiter->queue);
    if (outcome.status == BZ_OK) {
        borrower->has_token = true;
        return BZ_OK;
    }
    borrower->limiter = NULL;
    if (outcome.was_woken) {
        limiter->borrowed--;
        serve(limiter);
    }
    return outcome.status;
}

enum bz_status bz_capacity_limiter_release(struct bz_capacity_limiter *limiter,
                                           struct bz_borrower *borrower) {
    if (borrower->limiter != limiter || !borrower->has_token) {
        return BZ_NOT_HELD;
    }
    *borrower = (struct bz_borrower){.limiter = NULL};
    limiter->borrowed--;
    serve(limiter);
    return BZ_OK;
}

void bz_capacity_limiter_set_total(struct bz_capacity_limiter *limiter, uint32_t total) {
    limiter->total = total;
    serve(limiter);
}
