/* A lock that is acquired through a deferred: Twisted's DeferredLock. It is a semaphore with one
 * token; deferred_semaphore.h describes every operation. */
#ifndef BZ_SYNC_DEFERRED_LOCK_H
#define BZ_SYNC_DEFERRED_LOCK_H

#include "primitives/sync/deferred_semaphore.h"

BZ_BEGIN_DECLS

struct bz_deferred_lock {
    struct bz_deferred_semaphore semaphore;
};

static inline void bz_deferred_lock_init(struct bz_deferred_lock *lock,
                                         struct bz_trampoline *trampoline) {
    enum bz_status status = bz_deferred_semaphore_init(&lock->semaphore, trampoline, 1);
    BZ_CHECK(status == BZ_OK);
}

static inline void bz_deferred_lock_acquire(struct bz_deferred_lock *lock,
                                            struct bz_deferred_waiter *waiter) {
    bz_deferred_semaphore_acquire(&lock->semaphore, waiter);
}

BZ_MUST_USE static inline enum bz_status bz_deferred_lock_release(struct bz_deferred_lock *lock) {
    return bz_deferred_semaphore_release(&lock->semaphore);
}

static inline bool bz_deferred_lock_locked(const struct bz_deferred_lock *lock) {
    return bz_deferred_semaphore_locked(&lock->semaphore);
}

BZ_MUST_USE static inline enum bz_status bz_deferred_lock_run(struct bz_deferred_lock *lock,
                                                              struct bz_deferred_run *run,
                                                              bz_deferred_run_fn *fn, void *arg) {
    return bz_deferred_semaphore_run(&lock->semaphore, run, fn, arg);
}

BZ_END_DECLS

#endif
