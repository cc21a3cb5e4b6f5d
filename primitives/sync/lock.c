#include "primitives/sync/lock.h"

void bz_lock_init(struct bz_lock *lock, struct bz_loop *loop) {
    bz_waitq_init(&lock->queue, loop);
    lock->is_held = false;
}

bool bz_lock_locked(const struct bz_lock *lock) {
    /* Tasks wait only behind a holder or a woken waiter. */
    return lock->is_held | (lock->queue.woken_count > 0);
}

static __attribute__((noinline, flatten)) enum bz_status wait_for_lock(struct bz_lock *lock) {
    struct bz_wait_outcome outcome = bz_waitq_wait(&lock->queue);
    if (outcome.status == BZ_OK) {
        lock->is_held = true;
    } else if (outcome.was_woken) {
        bz_waitq_wake_oldest(&lock->queue, 0); /* hand the lock on, or free it */
    }
    return outcome.status;
}

enum bz_status bz_lock_acquire(struct bz_lock *lock) {
    if (!bz_lock_locked(lock)) {
        lock->is_held = true;
        return BZ_OK;
    }
    return wait_for_lock(lock);
}

enum bz_status bz_lock_release(struct bz_lock *lock) {
    if (!lock->is_held) {
        return BZ_NOT_HELD;
    }
    lock->is_held = false;
    bz_waitq_wake_oldest(&lock->queue, 0);
    return BZ_OK;
}
