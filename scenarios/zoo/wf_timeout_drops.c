/* wf-timeout-drops: what the second task answers to its cancellation is dropped.
 *
 * When the time of wait_for() is up, it cancels the second task and waits for its end. That task
 * may answer with a result all the same; an acquire that has just been given its lock has good
 * reason to. wait_for() says that the time is up, and drops what it was given.
 *
 * A lock that was given before the time was up, and one that comes when the caller is cancelled by
 * others, is given back here.
 *
 *     A holds; B waits through a second task; A releases to that task, and B's time is up: the task
 * is cancelled, and answers with the lock; B says that it was too late
 *
 * The cure: a result that came is returned, or given back. */
#include "primitives/runtime/timeout.h"
#include "scenarios/scenarios.h"
#include "scenarios/zoo/wrapped.h"

/* An acquire waits no longer than this. */
#define DEADLINE_NS 5u

static enum bz_status acquire(void *instance) {
    struct bz_zoo_wrapped *lock = instance;
    struct bz_zoo_call call = {.lock = lock, .keeps_lock = true};
    struct bz_timeout deadline;
    enum bz_status status = bz_timeout_enter(lock->lock.queue.loop, &deadline, DEADLINE_NS);
    if (status != BZ_OK) {
        return status;
    }
    status = bz_timeout_exit(&deadline, bz_zoo_wrapped_wait(&call));
    bool is_dropped = status == BZ_TIMED_OUT && call.in_spite; /* the fault: dropped as it is */
    if (call.has_lock && (status == BZ_OK || is_dropped)) {
        bz_zoo_wrapped_keep(lock);
    } else if (call.has_lock) {
        bz_zoo_wrapped_give_back(lock);
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
    .project = "CPython asyncio (wait_for)",
    .issue = "gh-84849 (bpo-40607)",
    .versions = "up to 3.8",
    .summary = "the second task answers its cancellation with the lock, and that is dropped",
    .property = "no permit is lost",
    .oracle = "ownership",
    .scenario = "restaurant",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_wf_timeout_drops = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_REFUSES_MISUSE,
    .name = "zoo/wf-timeout-drops",
    .summary = "lock acquired through a wait_for that drops late answers",
    .permits = {[BZ_PRIMITIVE_LOCK] = &lock_ops},
    .fault = &fault,
};
