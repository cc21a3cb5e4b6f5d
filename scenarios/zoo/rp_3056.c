/* rp-3056: a pool puts a connection back under the lock that it takes for putting it back.
 *
 * The pool is guarded by a lock that is held while a connection is taken out, and while one is put
 * back. Whoever cannot use the connection that it was about to take puts it back, from within: it
 * takes the lock that it holds, and waits for itself. Everybody else then waits for that lock, too.
 *
 * Putting back after use needs no lock here, for a release does not wait. That those who are still
 * waiting are stranded as well would be seen earlier, as a lost wake-up; in the declared scenario
 * there is one waiter, so that what is seen is the circle.
 *
 *     A has the one connection; B waits; A releases; B's time is up: B takes the lock a second time
 *
 * The cure: what is done under the lock takes it for granted. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

struct guarded_pool {
    struct bz_zoo_semaphore pool; /* first: locked() is its own */
    struct bz_zoo_lock guard;
};

static enum bz_status init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct guarded_pool *pool = instance;
    enum bz_status status = bz_zoo_lock_init(&pool->guard, loop, 1);
    return status == BZ_OK ? bz_zoo_semaphore_init(&pool->pool, loop, permits) : status;
}

static enum bz_status enter(struct bz_zoo_lock *guard) {
    enum bz_status status = BZ_OK;
    if (guard->is_held || bz_zoo_has_live(&guard->queue)) {
        struct bz_zoo_waiter waiter;
        status = bz_zoo_wait(&guard->queue, &waiter);
        bz_zoo_leave(&waiter);
        if (status != BZ_OK && bz_zoo_was_woken(&waiter)) {
            bz_zoo_wake_oldest(&guard->queue);
        }
    }
    guard->is_held |= status == BZ_OK;
    return status;
}

static void leave(struct bz_zoo_lock *guard) {
    enum bz_status status = bz_zoo_lock_release(guard);
    (void)status; /* it is held */
}

/* Puts back what a waiter was woken for. */
static enum bz_status put_back(struct guarded_pool *pool) {
    enum bz_status status = enter(&pool->guard); /* the fault: the caller is inside */
    if (status == BZ_OK) {
        bz_zoo_semaphore_wake_all_that_fit(&pool->pool);
        leave(&pool->guard);
    }
    return status;
}

static enum bz_status wait_for_one(struct guarded_pool *pool) {
    struct bz_zoo_waiter waiter;
    leave(&pool->guard);
    enum bz_status status = bz_zoo_wait(&pool->pool.queue, &waiter);
    bz_zoo_leave(&waiter);
    enum bz_status entered = enter(&pool->guard);
    if (entered != BZ_OK) {
        bz_zoo_semaphore_wake_all_that_fit(&pool->pool);
        return entered;
    }
    if (status != BZ_OK) {
        if (bz_zoo_was_woken(&waiter)) {
            enum bz_status put = put_back(pool);
            (void)put; /* cancelled, either way */
        }
        leave(&pool->guard);
    }
    return status;
}

static enum bz_status acquire(void *instance) {
    struct guarded_pool *pool = instance;
    enum bz_status status = enter(&pool->guard);
    if (status == BZ_OK && !bz_zoo_semaphore_has_room(&pool->pool)) {
        status = wait_for_one(pool);
    }
    if (status == BZ_OK) {
        pool->pool.value--;
        leave(&pool->guard);
    }
    return status;
}

static enum bz_status release(void *instance) {
    struct guarded_pool *pool = instance;
    pool->pool.value++;
    bz_zoo_semaphore_wake_all_that_fit(&pool->pool);
    return BZ_OK;
}

static void view(void *instance, struct bz_permit_view *view) {
    struct guarded_pool *pool = instance;
    struct bz_permit_view guard;
    bz_zoo_lock_view(&pool->guard, &guard);
    bz_zoo_semaphore_view(&pool->pool, view);
    view->queued += guard.queued;
    view->waiting += guard.waiting;
    view->woken += guard.woken;
    view->cancelled += guard.cancelled;
}

static const struct bz_permit_ops pool_ops = {
    .instance_bytes = sizeof(struct guarded_pool),
    .init = init,
    .acquire = acquire,
    .release = release,
    .locked = bz_zoo_semaphore_locked,
    .view = view,
};

static const struct bz_fault fault = {
    .family = "re-entrancy",
    .project = "redis-py",
    .issue = "redis-py 3056 (3034)",
    .versions = "5.0.1",
    .summary = "a task takes the lock of the pool a second time, and waits for itself",
    .property = "no deadlock",
    .oracle = "deadlock",
    .scenario = "timeout",
    .settings = "waiters=1,rounds=1",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_rp_3056 = {
    .version = BZ_VARIANT_VERSION,
    .name = "zoo/rp-3056",
    .summary = "pool that puts connections back under its own lock",
    .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &pool_ops},
    .fault = &fault,
};
