/* ap-467: a pool takes the connection in a second task, and is too late to pass it on.
 *
 * pool.acquire() with a time limit waits for the connection in a second task. The task takes it and
 * ends; in the same turn the time of the caller is up, and what the caller is told is that. Nobody
 * looks whether the second task has brought something: the pool has one connection less.
 *
 * A second task that is cancelled leaves empty-handed here, and one whose caller is cancelled by
 * others gives its lock back: only the limit of the caller's own loses something.
 *
 *     A holds; B waits through a second task; A releases, the second task has the lock and has
 * ended; B's time is up before B knows: locked for ever
 *
 * The cure: no second task; the limit is set around the steps of acquire themselves. */
#include "primitives/runtime/timeout.h"
#include "scenarios/scenarios.h"
#include "scenarios/zoo/wrapped.h"

/* An acquire waits no longer than this. */
#define DEADLINE_NS 5u

static enum bz_status acquire(void *instance) {
    struct bz_zoo_wrapped *lock = instance;
    struct bz_zoo_call call = {.lock = lock};
    struct bz_timeout deadline;
    enum bz_status status = bz_timeout_enter(lock->lock.queue.loop, &deadline, DEADLINE_NS);
    if (status != BZ_OK) {
        return status;
    }
    status = bz_timeout_exit(&deadline, bz_zoo_wrapped_wait(&call));
    if (call.has_lock && status == BZ_CANCELLED) {
        bz_zoo_wrapped_give_back(lock);
    } else if (call.has_lock) {
        bz_zoo_wrapped_keep(lock); /* the fault: even if it is too late */
    }
    return status;
}

static const struct bz_permit_ops lock_ops = {
    .instance_bytes = sizeof(struct bz_zoo_wrapped),
    .init = bz_zoo_handoff_init,
    .acquire = acquire,
    .release = bz_zoo_wrapped_release,
    .locked = bz_zoo_handoff_locked,
    .view = bz_zoo_wrapped_view,
};

static const struct bz_fault fault = {
    .family = "second task inside",
    .project = "asyncpg",
    .issue = "asyncpg 467, 955 (PR 1052)",
    .versions = "until PR 1052",
    .summary = "a connection that comes in the instant of the time limit is lost",
    .property = "no permit is lost",
    .oracle = "ownership",
    .scenario = "restaurant",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_ap_467 = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_REFUSES_MISUSE,
    .name = "zoo/ap-467",
    .summary = "pool of one that loses it to a time limit",
    .permits = {[BZ_PRIMITIVE_LOCK] = &lock_ops},
    .fault = &fault,
};
