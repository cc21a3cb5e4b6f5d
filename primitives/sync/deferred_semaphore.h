/* A number of tokens that are acquired through deferreds: Twisted's DeferredSemaphore.
 *
 *     struct request {
 *         struct bz_deferred_waiter waiter;
 *         struct bz_deferred_pair pair;
 *     };
 *
 *     bz_deferred_semaphore_acquire(&semaphore, &request->waiter);
 *     bz_deferred_add(&request->waiter.deferred, &request->pair, on_granted, on_cancelled);
 *
 * Strictly first come, first served. A release passes its token to the oldest waiter, so a token is
 * free only while no task waits. A release from outside has run the waiter's callbacks when it
 * returns; a release inside a callback returns before they run (see deferred.h). Waiters that
 * release in their callbacks need no deeper stack, however many they are.
 *
 * A cancelled waiter leaves the queue at once with BZ_CANCELLED, and owns nothing. Cancelling a
 * waiter that was granted a token does nothing: it has to release the token. Anybody may release.
 * All operations are O(1) and allocate nothing. primitives/README.md lists the differences from
 * Twisted.
 */
#ifndef BZ_SYNC_DEFERRED_SEMAPHORE_H
#define BZ_SYNC_DEFERRED_SEMAPHORE_H

#include "primitives/sync/deferred_waitq.h"

BZ_BEGIN_DECLS

struct bz_deferred_semaphore {
    struct bz_deferred_waitq queue;
    uint32_t tokens; /* that no task owns */
    uint32_t limit;
};

/* Begins with `tokens`, which is also the limit. BZ_OK, or BZ_INVALID_ARGUMENT if it is 0. The
 * caller provides the storage, which must outlive all waits. */
enum bz_status bz_deferred_semaphore_init(struct bz_deferred_semaphore *semaphore,
                                          struct bz_trampoline *trampoline,
                                          uint32_t tokens) BZ_MUST_USE;

/* Starts to wait: waiter->deferred fires with BZ_OK and 0 when it gets a token, at once if one is
 * free. */
void bz_deferred_semaphore_acquire(struct bz_deferred_semaphore *semaphore,
                                   struct bz_deferred_waiter *waiter);

/* BZ_OK; BZ_NOT_HELD, and nothing is changed, if all tokens are free. */
enum bz_status bz_deferred_semaphore_release(struct bz_deferred_semaphore *semaphore) BZ_MUST_USE;

/* True exactly if an acquire now would wait. */
static inline bool bz_deferred_semaphore_locked(const struct bz_deferred_semaphore *semaphore) {
    return semaphore->tokens == 0;
}

/* Runs a function with a token; see struct bz_deferred_run. BZ_INVALID_ARGUMENT, and nothing is
 * done, if `fn` is NULL. */
enum bz_status bz_deferred_semaphore_run(struct bz_deferred_semaphore *semaphore,
                                         struct bz_deferred_run *run, bz_deferred_run_fn *fn,
                                         void *arg) BZ_MUST_USE;

BZ_END_DECLS

#endif
