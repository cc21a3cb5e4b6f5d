/* wf-swallow: wait_for() is cancelled when the acquire inside has succeeded, and says OK.
 *
 * The repair of wf-lost-acquire: when the caller is cancelled and the second task has ended
 * already, its result is returned. The lock is not lost. The cancellation is: it was accepted, and
 * nobody will hear of it.
 *
 *     A holds; B waits through a second task; A releases, and the second task has the lock; B is
 *     cancelled before it knows: B goes on as if nothing had been said
 *
 * The cure: give the lock back, and pass the cancellation on. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/wrapped.h"

static enum bz_status acquire(void *instance) {
    struct bz_zoo_wrapped *lock = instance;
    struct bz_zoo_call call = {.lock = lock};
    enum bz_status status = bz_zoo_wrapped_wait(&call);
    if (call.has_lock) {
        bz_zoo_wrapped_keep(lock);
        status = BZ_OK; /* the fault: whatever has happened to the caller */
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
    .issue = "gh-86296 (bpo-42130), gh-107547",
    .versions = "late 3.8 to 3.11",
    .summary = "a cancellation is dropped if the second task has ended already",
    .property = "a cancellation surfaces",
    .oracle = "cancel-delivered",
    .scenario = "restaurant",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_wf_swallow = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_REFUSES_MISUSE,
    .name = "zoo/wf-swallow",
    .summary = "lock acquired through a wait_for that swallows",
    .permits = {[BZ_PRIMITIVE_LOCK] = &lock_ops},
    .fault = &fault,
};
