/* A lock: one holder, strictly first come, first served.
 *
 * Release hands the lock to the oldest waiter before it returns: there is no moment at which it is
 * free while somebody waits, so no newcomer can barge. If that waiter's task is cancelled before it
 * resumes, the lock goes to the next waiter in the very step in which the cancelled task runs. A
 * woken task that is never run again (its loop is abandoned) keeps the lock.
 *
 * Any task may release, as with asyncio's Lock; a release that frees nothing is refused.
 * All operations are O(1) and allocate nothing, whatever the number of waiters.
 *
 * Repaired against asyncio 3.13 to 3.15: bz_lock_locked() is true in the window, too, that is,
 * exactly when an acquire would block (gh-138121); a woken waiter passes the lock on whatever the
 * reason for which it leaves, not only on a cancellation (bpo-32734, review of PR 5466).
 */
#ifndef BZ_SYNC_LOCK_H
#define BZ_SYNC_LOCK_H

#include "primitives/sync/waitq.h"

BZ_BEGIN_DECLS

struct bz_lock {
    struct bz_waitq queue;
    bool is_held; /* by a task that has resumed; false in the window */
};

/* Storage of the caller's. Nothing needs to be released at the end, but nobody may be waiting. */
void bz_lock_init(struct bz_lock *lock, struct bz_loop *loop);

/* BZ_OK: the running task holds the lock. BZ_CANCELLED: it does not. Suspends only if the lock is
 * taken. Not reentrant: a task that acquires twice waits for itself. */
enum bz_status bz_lock_acquire(struct bz_lock *lock) BZ_MUST_USE;

/* BZ_OK, or BZ_NOT_HELD if nobody holds it (also when it was handed to a waiter that has not
 * resumed yet) and nothing is changed. Never suspends. */
enum bz_status bz_lock_release(struct bz_lock *lock) BZ_MUST_USE;

/* True exactly when an acquire now would suspend. */
bool bz_lock_locked(const struct bz_lock *lock);

BZ_END_DECLS

#endif
