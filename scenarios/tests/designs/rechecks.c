/* Waits that cannot be cancelled, and whose woken waiters look again, as those of a futex do: a
 * waiter that was cancelled while woken may wait once more, and for ever, if the program does not
 * end its wait. The faulty sibling counts the rounds of its barrier in one bit, so a slow waiter
 * takes the round after the next for its own. */
#include "scenarios/tests/designs/designs.h"
#include "sim/variant/callback.h"

struct futex {
    struct bz_loop *loop;
    struct bz_list sleepers;
    uint32_t round_mask; /* what is kept of the number of the round */
    uint32_t round;
    uint32_t count; /* arrived in this round; of a lock, whether it is held */
    uint32_t parties;
};

struct sleeper {
    struct bz_request request;
    struct bz_list link;
};

static void wake_all(struct futex *futex) {
    while (!bz_list_is_empty(&futex->sleepers)) {
        struct bz_list *first = futex->sleepers.next;
        bz_list_remove(first);
        bz_request_post(&bz_container_of(first, struct sleeper, link)->request);
    }
}

static void deliver(void *sleeper) {
    bz_request_done(&((struct sleeper *)sleeper)->request, BZ_OK);
}

static void keep(void *sleeper) {
    (void)sleeper;
}

/* BZ_CANCELLED, if the operation was cancelled here or before. */
static enum bz_status sleeps(struct futex *futex, enum bz_status status) {
    struct sleeper own = {.request = {.undo = keep, .is_cancelled = status == BZ_CANCELLED}};
    bz_list_push_back(&futex->sleepers, &own.link);
    return bz_request_wait(&own.request, futex->loop, &own, deliver, NULL);
}

static enum bz_status begin(void *instance, struct bz_loop *loop, uint32_t parties, uint32_t mask) {
    struct futex *futex = instance;
    *futex = (struct futex){.loop = loop, .parties = parties, .round_mask = mask};
    bz_list_init(&futex->sleepers);
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
    wake_all(futex);
    while (futex->round == round) {
        status = sleeps(futex, status);
    }
    wake_all(futex);
    return status;
}

static enum bz_status rechecks_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    (void)permits;
    return begin(instance, loop, 0, 0);
}

static enum bz_status rechecks_release(void *instance) {
    struct futex *futex = instance;
    futex->count = 0;
    wake_all(futex);
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

PERMIT_OPS(rechecks, futex)
static const struct bz_barrier_ops barrier_ops = {
    .instance_bytes = sizeof(struct futex), .init = rechecks_barrier_init, .wait = rechecks_arrive};
static const struct bz_barrier_ops faulty_barrier_ops = {.instance_bytes = sizeof(struct futex),
                                                         .init = rechecks_faulty_barrier_init,
                                                         .wait = rechecks_arrive};

DESIGN(rechecks, BZ_CLAIM_UNFAIR, "woken waiters look again, and cannot be cancelled",
       LOCK(&rechecks_ops), .barrier = &barrier_ops);
DESIGN(rechecks_faulty, BZ_CLAIM_UNFAIR, "the same, and the rounds of the barrier are 0 and 1",
       LOCK(&rechecks_ops), .barrier = &faulty_barrier_ops);
