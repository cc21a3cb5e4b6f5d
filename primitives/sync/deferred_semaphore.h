/* A number of tokens that are acquired through deferreds: Twisted's DeferredSemaphore.
 *
 * `limit` tokens to begin with, and never more. A release passes its token to the oldest waiter, so
 * a token is free only while nobody waits: tokens > 0 means that the queue is empty. Everything
 * else is as with the lock of deferred_lock.h: strictly first come, first served; what a release
 * inside a callback sets off runs when that callback has returned; a cancelled waiter leaves at
 * once and one that was granted keeps its token; a release too many is refused in every build.
 * All operations are O(1) and allocate nothing.
 */
#ifndef BZ_SYNC_DEFERRED_SEMAPHORE_H
#define BZ_SYNC_DEFERRED_SEMAPHORE_H

#include "primitives/sync/deferred_waitq.h"

BZ_BEGIN_DECLS

struct bz_deferred_semaphore {
    struct bz_deferred_waitq queue;
    uint32_t tokens; /* that nobody owns */
    uint32_t limit;
};

/* BZ_OK, or BZ_INVALID_ARGUMENT for no tokens. Storage of the caller's; at its end nobody may be
 * waiting. */
enum bz_status bz_deferred_semaphore_init(struct bz_deferred_semaphore *semaphore,
                                          struct bz_trampoline *trampoline,
                                          uint32_t tokens) BZ_MUST_USE;

/* Starts to wait: waiter->deferred fires with BZ_OK and 0 when a token is the caller's, at once if
 * one is free. */
void bz_deferred_semaphore_acquire(struct bz_deferred_semaphore *semaphore,
                                   struct bz_deferred_waiter *waiter);

/* BZ_OK; BZ_NOT_HELD if no token is out, and nothing is changed. */
enum bz_status bz_deferred_semaphore_release(struct bz_deferred_semaphore *semaphore) BZ_MUST_USE;

/* True exactly when an acquire now would wait. */
static inline bool bz_deferred_semaphore_locked(const struct bz_deferred_semaphore *semaphore) {
    return semaphore->tokens == 0;
}

/* Runs a function with a token; see struct bz_deferred_run. BZ_INVALID_ARGUMENT without one, and
 * nothing happens. */
enum bz_status bz_deferred_semaphore_run(struct bz_deferred_semaphore *semaphore,
                                         struct bz_deferred_run *run, bz_deferred_run_fn *fn,
                                         void *arg) BZ_MUST_USE;

BZ_END_DECLS

#endif
