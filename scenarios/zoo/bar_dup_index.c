/* bar-dup-index: a task that gives up while the barrier fills makes two others share an index.
 *
 * The index of a task is the number of those that are there already. Who is cancelled takes itself
 * off that number again, but the others keep what they were given: the next one that comes gets an
 * index that somebody has.
 *
 *     three parties; A gets 0, B gets 1; A is cancelled; C gets 1, D gets 2, and they pass: 1, 1, 2
 *
 * The cure: hand the indices out when the round is complete. All else here is as it should be: who
 * comes while a round drains is held back at the entrance until the last one has left, and looks
 * again then. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

struct barrier {
    struct bz_zoo_queue entrance;
    struct bz_zoo_queue hall;
    uint32_t parties;
    uint32_t count; /* in the hall, until they have left it */
    bool is_draining;
};

static enum bz_status init(void *instance, struct bz_loop *loop, uint32_t parties) {
    struct barrier *barrier = instance;
    bz_zoo_queue_init(&barrier->entrance, loop);
    bz_zoo_queue_init(&barrier->hall, loop);
    barrier->parties = parties;
    return BZ_OK;
}

static void wake_all(struct bz_zoo_queue *queue) {
    while (bz_zoo_wake_oldest(queue)) {
    }
}

static enum bz_status wait_in(struct bz_zoo_queue *queue) {
    struct bz_zoo_waiter waiter;
    enum bz_status status = bz_zoo_wait(queue, &waiter);
    bz_zoo_leave(&waiter);
    return status;
}

static void leave_hall(struct barrier *barrier) {
    if (--barrier->count == 0 && barrier->is_draining) {
        barrier->is_draining = false;
        wake_all(&barrier->entrance);
    }
}

static enum bz_status wait(void *instance, uint32_t *index) {
    struct barrier *barrier = instance;
    while (barrier->is_draining) {
        enum bz_status status = wait_in(&barrier->entrance);
        if (status != BZ_OK) {
            return status;
        }
    }
    enum bz_status status = BZ_OK;
    *index = barrier->count++; /* the fault: the number falls, and comes again */
    if (barrier->count == barrier->parties) {
        barrier->is_draining = true;
        wake_all(&barrier->hall);
    } else {
        status = wait_in(&barrier->hall);
    }
    leave_hall(barrier);
    return status;
}

static uint32_t queued(void *instance) {
    const struct barrier *barrier = instance;
    struct bz_permit_view entrance = {0};
    struct bz_permit_view hall = {0};
    bz_zoo_queue_view(&barrier->entrance, &entrance);
    bz_zoo_queue_view(&barrier->hall, &hall);
    return entrance.queued + hall.queued;
}

static const struct bz_barrier_ops barrier_ops = {
    .instance_bytes = sizeof(struct barrier),
    .init = init,
    .wait = wait,
    .queued = queued,
};

static const struct bz_fault fault = {
    .family = "stuck state",
    .project = "CPython asyncio",
    .issue = "gh-155233 (open, PR 155235)",
    .versions = "3.11.0 to 3.15.0rc1",
    .summary = "a cancelled filler makes the next one get an index that is in use",
    .property = "an index is handed out once a round",
    .oracle = "barrier-round",
    .scenario = "barrier",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_bar_dup_index = {
    .version = BZ_VARIANT_VERSION,
    .claims = 0,
    .name = "zoo/bar-dup-index",
    .summary = "barrier that hands indices out on arrival",
    .barrier = &barrier_ops,
    .fault = &fault,
};
