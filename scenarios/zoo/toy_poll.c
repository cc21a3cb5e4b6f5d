/* toy-poll: a lock that tries again in a second, for a caller who has gone.
 *
 * There is no queue. Who finds the lock taken asks the loop to try again in a second, for as long
 * as it takes. A caller who is cancelled meanwhile leaves, and its retry stays behind: it takes the
 * lock in the name of nobody.
 *
 * The order of service is that of the timers, and the lock is idle until the next one is due;
 * nothing is claimed of either, and neither is the fault that this entry is for.
 *
 *     A holds; B tries, and will again; B is cancelled; A releases; the retry takes the lock
 *
 * The cure: a caller who leaves cancels its retry. */
#include "primitives/runtime/list.h"
#include "primitives/runtime/mem.h"
#include "primitives/runtime/task.h"
#include "primitives/runtime/timer.h"
#include "scenarios/scenarios.h"

#define RETRY_NS 1000000000u

struct poll_lock {
    struct bz_loop *loop;
    bool is_held;
    bool is_promised; /* a retry has taken it for a caller who has not looked yet */
};

/* One caller's retry. It outlives the caller, who is not on this stack then. */
struct retry {
    struct bz_timer timer;
    struct poll_lock *lock;
    bool has_taken;
    bool has_caller;
};

static void retry_free(struct retry *retry) {
    bz_mem_free(bz_loop_mem(retry->lock->loop), retry, sizeof *retry);
}

static void on_retry(struct bz_timer *timer) {
    struct retry *retry = bz_container_of(timer, struct retry, timer);
    struct poll_lock *lock = retry->lock;
    if (!lock->is_held) {
        lock->is_held = true;
        lock->is_promised = retry->has_caller;
        retry->has_taken = true;
    } else if (bz_timer_arm(timer, bz_loop_now_ns(lock->loop) + RETRY_NS)) {
        return;
    }
    if (!retry->has_caller) {
        retry_free(retry);
    }
}

static enum bz_status init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct poll_lock *lock = instance;
    (void)permits;
    lock->loop = loop;
    return BZ_OK;
}

/* Looks once a second what has become of the retry. */
static enum bz_status wait_for(struct retry *retry) {
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && !retry->has_taken) {
        status = bz_sleep(retry->lock->loop, RETRY_NS);
    }
    return status;
}

static enum bz_status acquire(void *instance) {
    struct poll_lock *lock = instance;
    if (!lock->is_held) {
        lock->is_held = true;
        return BZ_OK;
    }
    struct retry *retry = bz_mem_alloc(bz_loop_mem(lock->loop), sizeof *retry);
    if (retry == NULL) {
        return BZ_NO_MEMORY;
    }
    *retry = (struct retry){.lock = lock, .has_caller = true};
    bz_timer_init(&retry->timer, lock->loop, on_retry);
    if (!bz_timer_arm(&retry->timer, bz_loop_now_ns(lock->loop) + RETRY_NS)) {
        retry_free(retry);
        return BZ_NO_MEMORY;
    }
    enum bz_status status = wait_for(retry);
    if (!retry->has_taken) {
        retry->has_caller = false; /* the fault: the timer stays armed */
        return status;
    }
    lock->is_promised = false;
    lock->is_held = status == BZ_OK;
    retry_free(retry);
    return status;
}

static enum bz_status release(void *instance) {
    struct poll_lock *lock = instance;
    if (!lock->is_held || lock->is_promised) {
        return BZ_NOT_HELD;
    }
    lock->is_held = false;
    return BZ_OK;
}

static bool locked(void *instance) {
    const struct poll_lock *lock = instance;
    return lock->is_held;
}

static void view(void *instance, struct bz_permit_view *view) {
    const struct poll_lock *lock = instance;
    *view = (struct bz_permit_view){.level = lock->is_held && !lock->is_promised ? 0 : 1};
}

static const struct bz_permit_ops lock_ops = {
    .instance_bytes = sizeof(struct poll_lock),
    .init = init,
    .acquire = acquire,
    .release = release,
    .locked = locked,
    .view = view,
};

static const struct bz_fault fault = {
    .family = "second task inside",
    .project = "a mutex of Twisted Deferreds, as printed in an article",
    .issue = "our analysis; a grown-up relative: DeferredFilesystemLock",
    .versions = "as printed",
    .summary = "the retry of a caller who was cancelled takes the lock",
    .property = "no permit is lost",
    .oracle = "permit-conservation",
    .scenario = "restaurant",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_toy_poll = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_REFUSES_MISUSE,
    .name = "zoo/toy-poll",
    .summary = "lock by polling, whose retries outlive their callers",
    .permits = {[BZ_PRIMITIVE_LOCK] = &lock_ops},
    .fault = &fault,
};
