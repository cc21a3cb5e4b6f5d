/* Semaphore and BoundedSemaphore: a number of permits, strictly first come, first served.
 *
 * A permit is reserved for a waiter at the moment in which it is woken: value counts the permits
 * that nobody holds and nobody was promised. With W, R, C the waiters that wait, that were woken
 * and have not resumed, and that were cancelled and have not resumed (G. van Rossum, "Reasoning
 * about asyncio.Semaphore", 2022), and level = value + |R| the open tables:
 *
 *     W, R, C partition the waiters
 *     level >= |R|
 *     locked() == (W or R or level == 0)
 *     W is empty or value == 0, except while R is not empty
 *
 * A newcomer queues whenever locked() is true, so that nobody overtakes. A woken task that is
 * cancelled before it resumes gives its permit back in the step in which it runs, and whoever fits
 * is woken in that same step.
 *
 * The semantics are those of asyncio 3.13 (gh-90155, gh-97545, gh-111693). Repaired against it: a
 * bounded semaphore counts promised permits, too, so that a release too many is refused in the
 * window as well; a permit is given back whatever the reason for which a woken waiter leaves.
 *
 * All operations are O(1), apart from waking k waiters, which is O(k), and allocate nothing.
 */
#ifndef BZ_SYNC_SEMAPHORE_H
#define BZ_SYNC_SEMAPHORE_H

#include "primitives/sync/waitq.h"

BZ_BEGIN_DECLS

#define BZ_SEMAPHORE_PERMITS_MAX UINT32_MAX

struct bz_semaphore {
    struct bz_waitq queue;
    uint32_t value; /* permits neither held nor promised */
    uint32_t bound; /* BZ_SEMAPHORE_PERMITS_MAX for a plain semaphore */
};

/* A plain semaphore with `permits` to begin with, 0 allowed; releases may add to them. Storage of
 * the caller's; at its end nobody may be waiting. */
void bz_semaphore_init(struct bz_semaphore *semaphore, struct bz_loop *loop, uint32_t permits);

/* A bounded semaphore: never more than the `permits` it began with. */
void bz_semaphore_init_bounded(struct bz_semaphore *semaphore, struct bz_loop *loop,
                               uint32_t permits);

/* BZ_OK: the running task has a permit. BZ_CANCELLED: it has none. Suspends only if locked. */
enum bz_status bz_semaphore_acquire(struct bz_semaphore *semaphore) BZ_MUST_USE;

/* BZ_OK; BZ_NOT_HELD if the semaphore is bounded and no permit is out, or BZ_FULL at
 * BZ_SEMAPHORE_PERMITS_MAX: then nothing is changed. Never suspends. */
enum bz_status bz_semaphore_release(struct bz_semaphore *semaphore) BZ_MUST_USE;

/* True exactly when an acquire now would suspend. */
bool bz_semaphore_locked(const struct bz_semaphore *semaphore);

/* Permits that nobody holds, promised ones included: Guido van Rossum's level. */
static inline uint64_t bz_semaphore_level(const struct bz_semaphore *semaphore) {
    return (uint64_t)semaphore->value + semaphore->queue.woken_count;
}

BZ_END_DECLS

#endif
