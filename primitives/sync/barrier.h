/* Barrier: tasks wait for each other until `parties` have come, and pass together.
 *
 *                   parties are there                the last one has resumed
 *       FILLING -------------------------> DRAINING ------------------------------> FILLING, ...
 *          |  waiting tasks fill              |  they pass; newcomers are held back
 *          |                                  |
 *          +------- abort ----> BROKEN <------+            reset: FILLING, once all have left
 *
 * The task that completes a round lets it pass: the oldest `parties` tasks receive their indices, 0
 * to parties - 1 in order of arrival. Cancelling a task that fills frees its place. Cancelling a
 * task whose round has passed changes nothing for the others, and no task gets its index.
 *
 * Newcomers are held back until every task of the round has resumed, so that a fast task cannot lap
 * a slow one. From that step on they fill; if there are enough, their round passes at once.
 *
 * Abort and reset fail every wait that has not resumed, even if its round has passed, as in
 * asyncio. A reset while a round drains spares the tasks that are held back: they belong to the
 * next round.
 *
 * Everything is O(1), except waking k tasks, which is O(k). Nothing allocates; only the wait
 * suspends. primitives/README.md lists the differences from asyncio.
 */
#ifndef BZ_SYNC_BARRIER_H
#define BZ_SYNC_BARRIER_H

#include "primitives/sync/waitq.h"

BZ_BEGIN_DECLS

struct bz_barrier {
    struct bz_waitq queue; /* waiting: tasks that fill or are held back; woken: that drain */
    uint32_t parties;
    bool is_broken;
    bool is_round_broken; /* the round that drains has failed */
};

/* BZ_OK, or BZ_INVALID_ARGUMENT if `parties` is 0. The caller provides the storage, which must
 * outlive all waits. */
enum bz_status bz_barrier_init(struct bz_barrier *barrier, struct bz_loop *loop,
                               uint32_t parties) BZ_MUST_USE;

/* BZ_OK: the round passed, and *index (unless NULL) is the task's index in it. BZ_BROKEN: the
 * barrier is broken, or was broken or reset before the task resumed. BZ_CANCELLED: the task does
 * not count. Suspends unless it completes the round, or the barrier is broken. */
enum bz_status bz_barrier_wait(struct bz_barrier *barrier, uint32_t *index) BZ_MUST_USE;

/* Breaks the barrier: all waits, now and later, return BZ_BROKEN until it is reset. */
void bz_barrier_abort(struct bz_barrier *barrier);

/* Returns to the empty, unbroken state. Tasks that fill or drain get BZ_BROKEN; newcomers fill once
 * these have left. */
void bz_barrier_reset(struct bz_barrier *barrier);

static inline bool bz_barrier_is_broken(const struct bz_barrier *barrier) {
    return barrier->is_broken;
}

/* True while newcomers are held back. */
static inline bool bz_barrier_is_draining(const struct bz_barrier *barrier) {
    return barrier->queue.woken_count > 0;
}

/* The number of tasks that fill; 0 while a round drains. */
static inline uint32_t bz_barrier_waiting(const struct bz_barrier *barrier) {
    return bz_barrier_is_draining(barrier) ? 0 : barrier->queue.waiting_count;
}

BZ_END_DECLS

#endif
