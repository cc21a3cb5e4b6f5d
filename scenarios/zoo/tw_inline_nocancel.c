/* tw-inline-nocancel: the cancel of a running function does not reach the acquire that it waits in.
 *
 * The function and the acquire are two Deferreds, one behind the other. A cancel hits the outer one
 * and ends there. The inner one keeps its place in the queue; when it is served, the function goes
 * on, and the section that was called off is run.
 *
 *     A holds; B waits; B is cancelled, and waits on; A releases: B has the lock, as if nothing
 *     had been said
 *
 * A cancel after the hand-over is right here: the lock goes to the next.
 *
 * The cure: a cancel is passed on to what is waited for. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

/* What the task waits on is the outer Deferred: its future. What is in the queue is the inner. */
struct waiter {
    struct bz_zoo_waiter entry;
    bool is_owner;
};

static void hand_over(struct bz_zoo_handoff *lock) {
    struct bz_zoo_waiter *oldest = bz_zoo_pop(&lock->queue);
    lock->is_owned = oldest != NULL;
    lock->is_promised = oldest != NULL;
    if (oldest != NULL) {
        bz_container_of(oldest, struct waiter, entry)->is_owner = true;
        bz_future_set_result(&oldest->future, 0); /* refused if the outer one is cancelled */
    }
}

static enum bz_status acquire(void *instance) {
    struct bz_zoo_handoff *lock = instance;
    if (!lock->is_owned) {
        lock->is_owned = true;
        return BZ_OK;
    }
    struct waiter waiter = {.is_owner = false};
    enum bz_status status = bz_zoo_wait(&lock->queue, &waiter.entry);
    while (!waiter.is_owner) { /* the fault: it is cancelled, and waits on where it stands */
        bz_future_init(&waiter.entry.future, lock->queue.loop);
        status = bz_future_await(&waiter.entry.future);
    }
    lock->is_promised = false;
    if (status != BZ_OK && bz_zoo_was_woken(&waiter.entry)) {
        hand_over(lock);
        return status;
    }
    return BZ_OK;
}

static enum bz_status release(void *instance) {
    struct bz_zoo_handoff *lock = instance;
    if (!lock->is_owned || lock->is_promised) {
        return BZ_NOT_HELD;
    }
    hand_over(lock);
    return BZ_OK;
}

static const struct bz_permit_ops lock_ops = {
    .instance_bytes = sizeof(struct bz_zoo_handoff),
    .init = bz_zoo_handoff_init,
    .acquire = acquire,
    .release = release,
    .locked = bz_zoo_handoff_locked,
    .view = bz_zoo_handoff_view,
};

static const struct bz_fault fault = {
    .family = "second task inside",
    .project = "Twisted",
    .issue = "twisted 4632",
    .versions = "inlineCallbacks before 18.7.0",
    .summary = "a cancel does not reach the acquire, which succeeds later and is made use of",
    .property = "a cancellation surfaces",
    .oracle = "cancel-delivered",
    .scenario = "restaurant",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_tw_inline_nocancel = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/tw-inline-nocancel",
    .summary = "lock whose waiters are not told that they were cancelled",
    .permits = {[BZ_PRIMITIVE_LOCK] = &lock_ops},
    .fault = &fault,
};
