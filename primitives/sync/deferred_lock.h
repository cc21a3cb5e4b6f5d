/* A lock that is acquired through a deferred: Twisted's DeferredLock.
 *
 *     struct request {
 *         struct bz_deferred_waiter waiter;
 *         struct bz_deferred_pair pair;
 *     };
 *
 *     bz_deferred_lock_acquire(&lock, &request->waiter);
 *     bz_deferred_add(&request->waiter.deferred, &request->pair, on_granted, on_cancelled);
 *
 * First come, first served. A release hands the lock to the oldest waiter; for those who look on it
 * was locked all the time, and the waiter's callback finds itself out of the queue and the lock
 * locked. A release from outside has run the waiter's callbacks when it returns; a release inside a
 * callback returns before they run (see deferred.h). Either way waiters that release in their
 * callbacks need no deeper stack, however many they are.
 *
 * A cancel of a waiter takes it out of the queue: BZ_CANCELLED, and it owns nothing. A cancel of
 * one that was granted the lock does nothing: it owns the lock and has to release it. Anybody may
 * release. All operations are O(1) and allocate nothing.
 *
 * Repaired against Twisted: the recursion (#9304); a release too many is refused in every build, by
 * a status and not by an assert; a waiter that somebody else has given an error strands nobody (see
 * deferred_waitq.h).
 */
#ifndef BZ_SYNC_DEFERRED_LOCK_H
#define BZ_SYNC_DEFERRED_LOCK_H

#include "primitives/sync/deferred_waitq.h"

BZ_BEGIN_DECLS

struct bz_deferred_lock {
    struct bz_deferred_waitq queue;
    bool is_locked;
};

/* Storage of the caller's; at its end nobody may be waiting. */
void bz_deferred_lock_init(struct bz_deferred_lock *lock, struct bz_trampoline *trampoline);

/* Starts to wait: waiter->deferred fires with BZ_OK and 0 when the lock is the caller's, at once if
 * it is free. */
void bz_deferred_lock_acquire(struct bz_deferred_lock *lock, struct bz_deferred_waiter *waiter);

/* BZ_OK; BZ_NOT_HELD if the lock is free, and nothing is changed. */
enum bz_status bz_deferred_lock_release(struct bz_deferred_lock *lock) BZ_MUST_USE;

/* True exactly when an acquire now would wait. */
static inline bool bz_deferred_lock_locked(const struct bz_deferred_lock *lock) {
    return lock->is_locked;
}

/* Runs a function under the lock; see struct bz_deferred_run. BZ_INVALID_ARGUMENT without one, and
 * nothing happens. */
enum bz_status bz_deferred_lock_run(struct bz_deferred_lock *lock, struct bz_deferred_run *run,
                                    bz_deferred_run_fn *fn, void *arg) BZ_MUST_USE;

BZ_END_DECLS

#endif
