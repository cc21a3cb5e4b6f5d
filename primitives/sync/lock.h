/* A lock: one holder, strictly first come, first served; asyncio.Lock.
 *
 * A release hands the lock to the oldest waiter before it returns, so no newcomer can overtake. If
 * that waiter is cancelled before it resumes, it passes the lock to the next waiter in the step in
 * which it runs. A woken task that never runs again (its loop is abandoned) keeps the lock.
 *
 * Any task may release, as in asyncio. All operations are O(1) and allocate nothing.
 * primitives/README.md lists the differences from asyncio.
 */
#ifndef BZ_SYNC_LOCK_H
#define BZ_SYNC_LOCK_H

#include "primitives/sync/waitq.h"

BZ_BEGIN_DECLS

struct bz_lock {
    struct bz_waitq queue;
    bool is_held; /* by a task that has resumed; false in the window */
};

/* The caller provides the storage, which must outlive all waits. */
void bz_lock_init(struct bz_lock *lock, struct bz_loop *loop);

/* BZ_OK: the running task holds the lock. BZ_CANCELLED: it does not. Suspends only if the lock is
 * locked. Not reentrant: a task that acquires twice waits for itself. */
enum bz_status bz_lock_acquire(struct bz_lock *lock) BZ_MUST_USE;

/* BZ_OK; BZ_NOT_HELD, and nothing is changed, if no task holds the lock, or if it was handed to a
 * waiter that has not resumed. Never suspends. */
enum bz_status bz_lock_release(struct bz_lock *lock) BZ_MUST_USE;

/* True exactly if an acquire now would suspend. */
bool bz_lock_locked(const struct bz_lock *lock);

/* The same as acquire without suspending: BZ_EMPTY where it would suspend. */
static inline BZ_MUST_USE enum bz_status bz_lock_try_acquire(struct bz_lock *lock) {
    return bz_lock_locked(lock) ? BZ_EMPTY : bz_lock_acquire(lock);
}

BZ_END_DECLS

#endif
