/* The lock of the asyncio references, and what the semaphores of both have in common. */
#include "scenarios/variants/asyncio.h"

/* --- lock ------------------------------------------------------------------------------------- */

static enum bz_status lock_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct bz_asyncio_lock *lock = instance;
    (void)permits;
    bz_deque_init(&lock->queue, loop);
    return BZ_OK;
}

/* The head alone is looked at. If it is done already, its task will go on with the chain when it
 * resumes: it takes the lock, or comes here again. */
static void wake_first(struct bz_asyncio_lock *lock) {
    struct bz_list *first = lock->queue.entries.next;
    if (first != &lock->queue.entries) {
        struct bz_waiter *waiter = bz_container_of(first, struct bz_waiter, link);
        enum bz_status status = bz_future_set_result(&waiter->future, 0);
        (void)status; /* refused if it is done */
    }
}

enum bz_status bz_asyncio_lock_acquire(void *instance) {
    struct bz_asyncio_lock *lock = instance;
    struct bz_waiter waiter;
    if (!lock->is_locked && !bz_deque_has_live(&lock->queue)) {
        lock->is_locked = true;
        return BZ_OK;
    }
    enum bz_status status = bz_deque_wait(&lock->queue, &waiter);
    if (status == BZ_OK) {
        lock->is_locked = true;
    } else if (status == BZ_CANCELLED && !lock->is_locked) {
        wake_first(lock);
    }
    return status;
}

enum bz_status bz_asyncio_lock_release(void *instance) {
    struct bz_asyncio_lock *lock = instance;
    if (!lock->is_locked) {
        return BZ_NOT_HELD;
    }
    lock->is_locked = false;
    wake_first(lock);
    return BZ_OK;
}

static bool lock_locked(void *instance) {
    const struct bz_asyncio_lock *lock = instance;
    return lock->is_locked;
}

static void lock_view(void *instance, struct bz_permit_view *view) {
    const struct bz_asyncio_lock *lock = instance;
    view->level = lock->is_locked ? 0 : 1;
    bz_deque_view(&lock->queue, view);
}

const struct bz_permit_ops bz_asyncio_lock_ops = {
    .instance_bytes = sizeof(struct bz_asyncio_lock),
    .init = lock_init,
    .acquire = bz_asyncio_lock_acquire,
    .release = bz_asyncio_lock_release,
    .locked = lock_locked,
    .view = lock_view,
};

const struct bz_fault bz_asyncio_fault_locked = {
    .family = "stuck state",
    .project = "CPython asyncio",
    .issue = "gh-138121",
    .versions = "3.4 to 3.15",
    .summary = "locked() of a lock is false while a woken waiter is about to take it",
    .property = "locked() is true exactly when an acquire would wait",
    .oracle = "locked-definition",
    .scenario = "contended",
    .settings = "primitive=lock",
    .fifo_reachable = true,
    .primitives = 1u << BZ_PRIMITIVE_LOCK,
};

/* --- semaphore -------------------------------------------------------------------------------- */

enum bz_status bz_asyncio_semaphore_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct bz_asyncio_semaphore *semaphore = instance;
    bz_deque_init(&semaphore->queue, loop);
    semaphore->value = permits;
    return BZ_OK;
}

enum bz_status bz_asyncio_bounded_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct bz_asyncio_semaphore *semaphore = instance;
    semaphore->is_bounded = true;
    semaphore->bound = permits;
    return bz_asyncio_semaphore_init(instance, loop, permits);
}

bool bz_asyncio_semaphore_wake_next(struct bz_asyncio_semaphore *semaphore) {
    if (!bz_deque_wake_oldest(&semaphore->queue)) {
        return false;
    }
    semaphore->value--;
    return true;
}

enum bz_status bz_asyncio_semaphore_release(void *instance) {
    struct bz_asyncio_semaphore *semaphore = instance;
    if (semaphore->is_bounded && semaphore->value >= semaphore->bound) {
        return BZ_NOT_HELD;
    }
    semaphore->value++;
    bz_asyncio_semaphore_wake_next(semaphore);
    return BZ_OK;
}

bool bz_asyncio_semaphore_locked(void *instance) {
    const struct bz_asyncio_semaphore *semaphore = instance;
    return semaphore->value == 0 || bz_deque_has_live(&semaphore->queue);
}

void bz_asyncio_semaphore_view(void *instance, struct bz_permit_view *view) {
    const struct bz_asyncio_semaphore *semaphore = instance;
    bz_deque_view(&semaphore->queue, view);
    view->level = semaphore->value + (uint64_t)view->woken;
}

/* Seen here first. The permit left the value at the wake-up, so that for the bound somebody holds
 * it already; the release of a task that holds nothing is taken for that one's, and then two tasks
 * get the one permit. */
const struct bz_fault bz_asyncio_fault_bound = {
    .family = "passes on too much",
    .project = "CPython asyncio",
    .issue = "no issue known",
    .versions = "3.10.8 to 3.15",
    .summary = "a bounded semaphore takes a release too many while a woken waiter has not resumed",
    .property = "no more releases than acquires",
    .oracle = "misuse",
    .scenario = "intruder",
    .settings = "primitive=bounded",
    .fifo_reachable = true,
    .primitives = 1u << BZ_PRIMITIVE_BOUNDED,
};
