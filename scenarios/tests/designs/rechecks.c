/* Waits that cannot be cancelled, and whose woken waiters look again, as those of a futex do: a
 * waiter that was cancelled while woken may wait once more, and for ever, if the program does not
 * end its wait. The faulty sibling counts the rounds of its barrier in one bit, so a slow waiter
 * takes the round after the next for its own. */
#include "scenarios/tests/designs/callback_line.h"

struct futex {
    struct line line;
    uint32_t round_mask; /* what is kept of the number of the round */
    uint32_t round;
    uint32_t count; /* arrived in this round; of a lock, whether it is held */
    uint32_t parties;
};

/* BZ_CANCELLED, if the operation was cancelled here or before. */
static enum bz_status sleeps(struct futex *futex, enum bz_status status) {
    struct waiter own = {.request = {.undo = undo_nothing, .is_cancelled = status != BZ_OK}};
    (void)wait_in(&futex->line, &own, &status);
    return status;
}

static enum bz_status begin(void *instance, struct bz_loop *loop, uint32_t parties, uint32_t mask) {
    struct futex *futex = instance;
    *futex = (struct futex){.parties = parties, .round_mask = mask};
    line_init(&futex->line, loop, NO_FAULT, POSTS);
    return BZ_OK;
}

static enum bz_status rechecks_barrier_init(void *instance, struct bz_loop *loop,
                                            uint32_t parties) {
    return begin(instance, loop, parties, UINT32_MAX);
}

static enum bz_status rechecks_faulty_barrier_init(void *instance, struct bz_loop *loop,
                                                   uint32_t parties) {
    return begin(instance, loop, parties, 1);
}

/* All wake at every arrival and at every end of a wait. */
static enum bz_status rechecks_arrive(void *instance, uint32_t *index) {
    struct futex *futex = instance;
    enum bz_status status = BZ_OK;
    uint32_t round = futex->round;
    *index = futex->count++;
    if (futex->count == futex->parties) {
        futex->round = (futex->round + 1) & futex->round_mask;
        futex->count = 0;
    }
    wake_all(&futex->line, BZ_OK);
    while (futex->round == round) {
        status = sleeps(futex, status);
    }
    wake_all(&futex->line, BZ_OK);
    return status;
}

static enum bz_status rechecks_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    (void)permits;
    return begin(instance, loop, 0, 0);
}

static enum bz_status rechecks_release(void *instance) {
    struct futex *futex = instance;
    futex->count = 0;
    wake_all(&futex->line, BZ_OK);
    return BZ_OK;
}

static enum bz_status rechecks_acquire(void *instance) {
    struct futex *futex = instance;
    enum bz_status status = BZ_OK;
    while (futex->count > 0) {
        status = sleeps(futex, status);
    }
    futex->count = 1;
    if (status != BZ_OK) {
        (void)rechecks_release(instance);
    }
    return status;
}

static const struct bz_permit_ops lock_ops = {.instance_bytes = sizeof(struct futex),
                                              .init = rechecks_init,
                                              .acquire = rechecks_acquire,
                                              .release = rechecks_release};
static const struct bz_barrier_ops barrier_ops = {
    .instance_bytes = sizeof(struct futex), .init = rechecks_barrier_init, .wait = rechecks_arrive};
static const struct bz_barrier_ops faulty_barrier_ops = {.instance_bytes = sizeof(struct futex),
                                                         .init = rechecks_faulty_barrier_init,
                                                         .wait = rechecks_arrive};

DESIGN(rechecks, BZ_CLAIM_UNFAIR, "woken waiters look again, and cannot be cancelled",
       LOCK(&lock_ops), .barrier = &barrier_ops);
DESIGN(rechecks_faulty, BZ_CLAIM_UNFAIR, "the same, and the rounds of the barrier are 0 and 1",
       LOCK(&lock_ops), .barrier = &faulty_barrier_ops);
