/* lock-noncancel-exit: a woken waiter that leaves by anything but a cancellation keeps the wake-up.
 *
 * The repair of lock-woken-cancel passes the wake-up on where the cancellation arrives, and nowhere
 * else. In asyncio, a waiter whose coroutine is closed, or is given another exception, in the
 * window leaves another way; the lock is free, and the next waiter sleeps.
 *
 * A status stands for the exception here. An acquire of this lock has a deadline of its own: when
 * it comes in the window, the acquire ends with BZ_TIMED_OUT, and that is not BZ_CANCELLED.
 *
 *     A holds; B and C wait; A releases; B's deadline comes before B has resumed: C waits for ever
 *
 * The cure: whoever leaves with a wake-up passes it on, however it leaves. */
#include "primitives/runtime/timeout.h"
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

/* An acquire waits no longer than this. */
#define DEADLINE_NS 100u

static enum bz_status acquire(void *instance) {
    struct bz_zoo_lock *lock = instance;
    if (!lock->is_held && !bz_zoo_has_live(&lock->queue)) {
        lock->is_held = true;
        return BZ_OK;
    }
    struct bz_timeout deadline;
    struct bz_zoo_waiter waiter;
    enum bz_status status = bz_timeout_enter(lock->queue.loop, &deadline, DEADLINE_NS);
    if (status != BZ_OK) {
        return status;
    }
    status = bz_timeout_exit(&deadline, bz_zoo_wait(&lock->queue, &waiter));
    bz_zoo_leave(&waiter);
    if (status == BZ_OK) {
        lock->is_held = true;
    } else if (status == BZ_CANCELLED && bz_zoo_was_woken(&waiter)) { /* the fault: no other way */
        bz_zoo_wake_oldest(&lock->queue);
    }
    return status;
}

static const struct bz_permit_ops lock_ops = {
    .instance_bytes = sizeof(struct bz_zoo_lock),
    .init = bz_zoo_lock_init,
    .acquire = acquire,
    .release = bz_zoo_lock_release,
    .locked = bz_zoo_lock_locked,
    .view = bz_zoo_lock_view,
};

static const struct bz_fault fault = {
    .family = "woken, cancelled, not passed on",
    .project = "CPython asyncio",
    .issue = "the review of PR 5466 (bpo-32734)",
    .versions = "all, 3.15.0rc1 included",
    .summary =
        "a woken waiter that leaves by anything but a cancellation does not pass the lock on",
    .property = "no lost wake-up",
    .oracle = "lost-wakeup",
    .scenario = "contended",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_lock_noncancel_exit = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/lock-noncancel-exit",
    .summary = "lock with a deadline, which swallows wake-ups",
    .permits = {[BZ_PRIMITIVE_LOCK] = &lock_ops},
    .fault = &fault,
};
