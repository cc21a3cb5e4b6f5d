/* am-54: the mutex says that it is locked while it is handed through those who have gone.
 *
 * A waiter whose time is up stays in the queue. When its turn comes, it is given the mutex and
 * gives it back at once; at once is a turn of the loop for each of them. Meanwhile nobody holds the
 * mutex, and nobody waits, and isLocked() says yes.
 *
 * Entries outlive the tasks that gave up, and so are not on their stacks. (The other report about
 * the same counter, that waitForUnlock() may resolve while the mutex is locked, needs an operation
 * that locks do not have here: async-mutex 52.)
 *
 *     A holds; B waits and gives up; A releases, and asks at once: locked
 *
 * The cure: whoever gives up leaves the queue. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

struct draining_lock {
    struct bz_zoo_handoff lock; /* first: the view is its own */
    struct bz_handle turn;      /* of one who has gone */
};

static void on_turn(struct bz_handle *handle);

static void hand_over(struct draining_lock *draining) {
    struct bz_zoo_handoff *lock = &draining->lock;
    struct bz_zoo_waiter *oldest = bz_zoo_pop(&lock->queue);
    lock->is_owned = oldest != NULL;
    lock->is_promised = oldest != NULL;
    if (oldest != NULL) {
        if (bz_future_set_result(&oldest->future, 0) != BZ_OK) {
            bool is_queued = bz_loop_call_soon(lock->queue.loop, &draining->turn, on_turn);
            BZ_CHECK(is_queued); /* it has gone: the next one is due */
        }
        bz_zoo_request_drop(lock->queue.loop,
                            bz_container_of(oldest, struct bz_zoo_request, waiter));
    }
}

static void on_turn(struct bz_handle *handle) {
    hand_over(bz_container_of(handle, struct draining_lock, turn));
}

static enum bz_status acquire(void *instance) {
    struct draining_lock *draining = instance;
    struct bz_zoo_handoff *lock = &draining->lock;
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
        hand_over(draining);
    } /* who was not woken stays in the queue */
    bz_zoo_request_drop(lock->queue.loop, request);
    return status;
}

static enum bz_status release(void *instance) {
    struct draining_lock *draining = instance;
    if (!draining->lock.is_owned || draining->lock.is_promised) {
        return BZ_NOT_HELD;
    }
    hand_over(draining);
    return BZ_OK;
}

static bool locked(void *instance) {
    const struct draining_lock *draining = instance;
    return draining->lock.is_owned; /* the fault: owned by one who has gone */
}

static const struct bz_permit_ops lock_ops = {
    .instance_bytes = sizeof(struct draining_lock),
    .init = bz_zoo_handoff_init,
    .acquire = acquire,
    .release = release,
    .locked = locked,
    .view = bz_zoo_handoff_view,
};

static const struct bz_fault fault = {
    .family = "queue hygiene",
    .project = "async-mutex",
    .issue = "async-mutex 54",
    .versions = "until 0.4.0",
    .summary = "isLocked() says yes while waiters that have gone are given the lock in turn",
    .property = "locked() is right",
    .oracle = "locked-definition",
    .scenario = "restaurant",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_am_54 = {
    .version = BZ_VARIANT_VERSION,
    .claims =
        BZ_CLAIM_FIFO | BZ_CLAIM_LOCKED_EXACT | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/am-54",
    .summary = "mutex that is locked by those who have gone",
    .permits = {[BZ_PRIMITIVE_LOCK] = &lock_ops},
    .fault = &fault,
};
