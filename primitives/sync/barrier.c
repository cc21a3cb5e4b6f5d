#include "primitives/sync/barrier.h"

enum bz_status bz_barrier_init(struct bz_barrier *barrier, struct bz_loop *loop, uint32_t parties) {
    if (parties == 0) {
        return BZ_INVALID_ARGUMENT;
    }
    *barrier = (struct bz_barrier){.parties = parties};
    bz_waitq_init(&barrier->queue, loop);
    return BZ_OK;
}

/* Lets the `count` oldest tasks pass, each with its index. */
static void pass(struct bz_barrier *barrier, uint32_t count) {
    for (uint32_t index = 0; index < count; index++) {
        bz_waitq_wake_oldest(&barrier->queue, index);
    }
}

/* A task has left. After the last one the tasks that were held back fill. */
static void leave(struct bz_barrier *barrier) {
    if (bz_barrier_is_draining(barrier)) {
        return;
    }
    barrier->is_round_broken = false;
    if (barrier->queue.waiting_count >= barrier->parties) {
        pass(barrier, barrier->parties);
    }
}

static enum bz_status fill(struct bz_barrier *barrier, uint32_t *index) {
    struct bz_wait_outcome outcome = bz_waitq_wait(&barrier->queue);
    if (!outcome.was_woken) {
        return outcome.status; /* cancelled while it filled or was held back */
    }
    enum bz_status status = outcome.status;
    if (status == BZ_OK && barrier->is_round_broken) {
        status = BZ_BROKEN;
    }
    if (status == BZ_OK && index != NULL) {
        *index = (uint32_t)outcome.value;
    }
    leave(barrier);
    return status;
}

enum bz_status bz_barrier_wait(struct bz_barrier *barrier, uint32_t *index) {
    if (barrier->is_broken) {
        return BZ_BROKEN;
    }
    uint32_t others = barrier->parties - 1;
    if (bz_barrier_is_draining(barrier) || barrier->queue.waiting_count < others) {
        return fill(barrier, index);
    }
    pass(barrier, others);
    if (index != NULL) {
        *index = others;
    }
    return BZ_OK;
}

void bz_barrier_abort(struct bz_barrier *barrier) {
    barrier->is_broken = true;
    bz_waitq_wake_all(&barrier->queue, 0);
    barrier->is_round_broken = bz_barrier_is_draining(barrier);
}

void bz_barrier_reset(struct bz_barrier *barrier) {
    barrier->is_broken = false;
    if (!bz_barrier_is_draining(barrier)) {
        bz_waitq_wake_all(&barrier->queue, 0);
    }
    barrier->is_round_broken = bz_barrier_is_draining(barrier);
}
