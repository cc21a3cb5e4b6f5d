/* tw-nocancel: a waiter that gives up cannot leave the queue, and is served.
 *
 * A Deferred without a canceller: who gives up is told so, and its entry stays. release takes the
 * lock in the name of the oldest entry, takes that out and fires it; if it has been fired, that is
 * an error, and the lock remains with nobody. Historically the error came out of release; here
 * release says OK. The rest of the queue is stranded.
 *
 * Entries outlive the tasks that gave up, and so are not on their stacks.
 * They are not shown to the oracles that look inside, nor is misuse claimed to be refused: a lock
 * that belongs to nobody is released by anybody. What is seen is who waits for it.
 *
 *     A holds; B and C wait; B gives up; A releases: the lock is B's, who is gone
 *
 * The cure: a canceller, which takes the entry out. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

static struct bz_zoo_request *request_of(struct bz_zoo_waiter *waiter) {
    return bz_container_of(waiter, struct bz_zoo_request, waiter);
}

static void hand_over(struct bz_zoo_handoff *lock) {
    struct bz_zoo_waiter *oldest = bz_zoo_pop(&lock->queue);
    lock->is_owned = oldest != NULL;
    lock->is_promised = false;
    if (oldest != NULL) {
        lock->is_promised = bz_future_set_result(&oldest->future, 0) == BZ_OK;
        bz_zoo_request_drop(lock->queue.loop, request_of(oldest));
    }
}

static enum bz_status acquire(void *instance) {
    struct bz_zoo_handoff *lock = instance;
    if (!lock->is_owned) {
        lock->is_owned = true;
        return BZ_OK;
    }
    struct bz_zoo_request *request = bz_zoo_request_new(lock->queue.loop);
    if (request == NULL) {
        return BZ_NO_MEMORY;
    }
    enum bz_status status = bz_zoo_wait(&lock->queue, &request->waiter);
    if (status == BZ_OK) {
        lock->is_promised = false;
    } else if (bz_zoo_was_woken(&request->waiter)) {
        hand_over(lock);
    } /* the fault: otherwise the entry is still in the queue, and stays there */
    bz_zoo_request_drop(lock->queue.loop, request);
    return status;
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
};

static const struct bz_fault fault = {
    .family = "queue hygiene",
    .project = "Twisted",
    .issue = "commit e699c2b99b, which added the canceller",
    .versions = "DeferredLock before 2010-02",
    .summary = "a waiter that gave up stays in the queue, and the lock is given to it",
    .property = "no lost wake-up",
    .oracle = "lost-wakeup",
    .scenario = "restaurant",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_tw_nocancel = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/tw-nocancel",
    .summary = "lock whose waiters cannot leave",
    .permits = {[BZ_PRIMITIVE_LOCK] = &lock_ops},
    .fault = &fault,
};
