/* wf-lost-acquire: wait_for() is cancelled when the acquire inside has succeeded already.
 *
 * wait_for(lock.acquire()) runs the acquire in a second task. That task is given the lock and ends;
 * the caller is woken to be told. If the caller is cancelled before it resumes, wait_for() passes
 * the cancellation on and forgets the second task, with its result: the lock is nobody's.
 *
 *     A holds; B waits through a second task; A releases, and the second task has the lock; B is
 *     cancelled before it knows: locked for ever
 *
 * The cure: look whether the second task has ended before it is forgotten; better still, have none.
 */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/wrapped.h"

static enum bz_status acquire(void *instance) {
    struct bz_zoo_wrapped *lock = instance;
    struct bz_zoo_call call = {.lock = lock};
    enum bz_status status = bz_zoo_wrapped_wait(&call);
    if (call.has_lock) {
        bz_zoo_wrapped_keep(lock); /* the fault: even if the caller will not hear of it */
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
    .issue = "bpo-37658",
    .versions = "3.4 to 3.7, early 3.8 and 3.9",
    .summary = "the caller is cancelled when the second task has the lock, which is then nobody's",
    .property = "no permit is lost",
    .oracle = "ownership",
    .scenario = "restaurant",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_wf_lost_acquire = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_REFUSES_MISUSE,
    .name = "zoo/wf-lost-acquire",
    .summary = "lock acquired through a wait_for that forgets",
    .permits = {[BZ_PRIMITIVE_LOCK] = &lock_ops},
    .fault = &fault,
};
