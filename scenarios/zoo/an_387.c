/* an-387: the lock is handed to a waiter that is being cancelled, and is not given back.
 *
 * release makes the oldest waiter the owner and sets its event. If that waiter is cancelled, before
 * the release or after it, in the same turn, it leaves by its exception; the way out takes the
 * entry from the queue if the event is not set, and does nothing if it is. The owner is gone for
 * ever.
 *
 *     A holds; B and C wait; B is cancelled and A releases, in either order: B owns the lock
 *
 * The cure: whoever leaves by an exception and was made the owner releases. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

struct waiter {
    struct bz_zoo_waiter entry;
    bool is_owner;
};

static enum bz_status acquire(void *instance) {
    struct bz_zoo_handoff *lock = instance;
    if (!lock->is_owned) {
        lock->is_owned = true;
        return BZ_OK;
    }
    struct waiter waiter = {.is_owner = false};
    enum bz_status status = bz_zoo_wait(&lock->queue, &waiter.entry);
    if (waiter.is_owner) {
        lock->is_promised = false; /* the fault: whoever does not take it keeps it */
    } else {
        bz_zoo_leave(&waiter.entry);
    }
    return status;
}

static enum bz_status release(void *instance) {
    struct bz_zoo_handoff *lock = instance;
    if (!lock->is_owned || lock->is_promised) {
        return BZ_NOT_HELD;
    }
    struct bz_zoo_waiter *oldest = bz_zoo_pop(&lock->queue);
    if (oldest == NULL) {
        lock->is_owned = false;
        return BZ_OK;
    }
    bz_container_of(oldest, struct waiter, entry)->is_owner = true;
    lock->is_promised = true;
    bz_future_set_result(&oldest->future, 0); /* refused if it is being cancelled */
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
    .family = "woken, cancelled, not passed on",
    .project = "anyio",
    .issue = "anyio 387 (PR 388)",
    .versions = "before 3.4.0",
    .summary = "a waiter that is cancelled when the lock is handed to it keeps it",
    .property = "no permit is lost",
    .oracle = "ownership",
    .scenario = "restaurant",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_an_387 = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/an-387",
    .summary = "lock that is handed to waiters on their way out",
    .permits = {[BZ_PRIMITIVE_LOCK] = &lock_ops},
    .fault = &fault,
};
