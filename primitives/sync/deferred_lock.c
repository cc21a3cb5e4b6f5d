#include "primitives/sync/deferred_lock.h"

void bz_deferred_lock_init(struct bz_deferred_lock *lock, struct bz_trampoline *trampoline) {
    bz_deferred_waitq_init(&lock->queue, trampoline);
    lock->is_locked = false;
}

void bz_deferred_lock_acquire(struct bz_deferred_lock *lock, struct bz_deferred_waiter *waiter) {
    bz_deferred_waiter_init(waiter, &lock->queue);
    if (lock->is_locked) {
        bz_deferred_waitq_push(waiter);
        return;
    }
    lock->is_locked = true;
    (void)bz_deferred_callback(&waiter->deferred, 0);
}

enum bz_status bz_deferred_lock_release(struct bz_deferred_lock *lock) {
    if (!lock->is_locked) {
        return BZ_NOT_HELD;
    }
    /* Locked throughout if somebody waits: the lock is never seen free in between. */
    if (!bz_deferred_waitq_fire_oldest(&lock->queue, 0)) {
        lock->is_locked = false;
    }
    return BZ_OK;
}

static enum bz_status give_back(void *lock) {
    return bz_deferred_lock_release(lock);
}

enum bz_status bz_deferred_lock_run(struct bz_deferred_lock *lock, struct bz_deferred_run *run,
                                    bz_deferred_run_fn *fn, void *arg) {
    if (fn == NULL) {
        return BZ_INVALID_ARGUMENT;
    }
    bz_deferred_lock_acquire(lock, &run->waiter);
    bz_deferred_run_start(run, fn, arg, give_back, lock);
    return BZ_OK;
}
