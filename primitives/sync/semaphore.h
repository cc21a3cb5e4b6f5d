/* Semaphore and BoundedSemaphore: a number of permits, strictly first come, first served.
 *
 * A waking release reserves a permit for the woken waiter: value counts permits that are neither
 * held nor reserved. W, R and C are the waiters that wait, that were woken and have not resumed,
 * and that were cancelled and have not resumed; level is value + |R| (G. van Rossum, "Reasoning
 * about asyncio.Semaphore", 2022):
 *
 *     W, R, C partition the waiters
 *     level >= |R|
 *     locked() == (W or R or level == 0)
 *     W is empty or value == 0, except while R is not empty
 *
 * A newcomer queues whenever locked() is true, so no task overtakes. A woken task that is cancelled
 * before it resumes returns its permit in the step in which it runs, and that step wakes everyone
 * who fits.
 *
 * All operations are O(1), except waking k waiters, which is O(k). Nothing allocates.
 * primitives/README.md lists the differences from asyncio 3.13.
 */
#ifndef BZ_SYNC_SEMAPHORE_H
#define BZ_SYNC_SEMAPHORE_H

#include "primitives/sync/waitq.h"

BZ_BEGIN_DECLS

#define BZ_SEMAPHORE_PERMITS_MAX UINT32_MAX

struct bz_semaphore {
    struct bz_waitq queue;
    uint32_t value; /* permits neither held nor reserved */
    uint32_t bound; /* BZ_SEMAPHORE_PERMITS_MAX for a plain semaphore */
};

/* A plain semaphore that begins with `permits`, which may be 0; releases may add more. The caller
 * provides the storage, which must outlive all waits. */
void bz_semaphore_init(struct bz_semaphore *semaphore, struct bz_loop *loop, uint32_t permits);

/* A bounded semaphore: never more permits than at the beginning. */
void bz_semaphore_init_bounded(struct bz_semaphore *semaphore, struct bz_loop *loop,
                               uint32_t permits);

/* BZ_OK: the running task has a permit. BZ_CANCELLED: it has none. Suspends only if locked. */
enum bz_status bz_semaphore_acquire(struct bz_semaphore *semaphore) BZ_MUST_USE;

/* BZ_OK. BZ_NOT_HELD if the semaphore is bounded and all its permits are free, or BZ_FULL at
 * BZ_SEMAPHORE_PERMITS_MAX: nothing is changed. Never suspends. */
enum bz_status bz_semaphore_release(struct bz_semaphore *semaphore) BZ_MUST_USE;

/* True exactly if an acquire now would suspend. */
bool bz_semaphore_locked(const struct bz_semaphore *semaphore);

/* The same as acquire without suspending: BZ_EMPTY where it would suspend. */
static inline BZ_MUST_USE enum bz_status bz_semaphore_try_acquire(struct bz_semaphore *semaphore) {
    return bz_semaphore_locked(semaphore) ? BZ_EMPTY : bz_semaphore_acquire(semaphore);
}

/* Permits that no task holds, reserved ones included. */
static inline uint64_t bz_semaphore_level(const struct bz_semaphore *semaphore) {
    return (uint64_t)semaphore->value + semaphore->queue.woken_count;
}

BZ_END_DECLS

#endif
