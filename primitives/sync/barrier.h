/* Barrier: tasks wait for each other until there are `parties` of them, and pass together.
 *
 *                   parties are there                the last of them has resumed
 *       FILLING -------------------------> DRAINING ------------------------------> FILLING, ...
 *          |  who waits, fills                |  who was there, passes; newcomers are held back
 *          |                                  |
 *          +------- abort ----> BROKEN <------+            reset: FILLING, once all have left
 *
 * A round passes by the hand of the task that completes it: at that moment the oldest `parties`
 * are given their indices, 0 to parties - 1 in order of arrival, and nobody can be added or taken
 * away. Cancelling a task that fills removes it, and a place is open again; cancelling one whose
 * round has passed lets the others pass, and nobody gets its index.
 *
 * Newcomers of the next round are held back until everybody of this one has resumed, so that a fast
 * task cannot lap a slow one. If enough are held back by then, their round passes at once, oldest
 * first.
 *
 * Abort and reset make every wait fail that has not resumed yet, also where the round had passed,
 * as asyncio's do. A reset while a round drains spares those that are held back: theirs is the next
 * one. From the step in which the last has resumed they fill, and a reset finds them.
 *
 * Repaired against asyncio 3.11 to 3.15: a cancelled filler makes no two tasks get one index
 * (gh-155233); indices are given when the round passes.
 *
 * Everything is O(1), apart from waking k tasks, which is O(k); nothing allocates, and nothing but
 * the wait suspends.
 */
#ifndef BZ_SYNC_BARRIER_H
#define BZ_SYNC_BARRIER_H

#include "primitives/sync/waitq.h"

BZ_BEGIN_DECLS

struct bz_barrier {
    struct bz_waitq queue; /* waiting: those who fill, or are held back; woken: those who drain */
    uint32_t parties;
    bool is_broken;
    bool is_round_broken; /* those who drain have failed */
};

/* BZ_OK, or BZ_INVALID_ARGUMENT if `parties` is 0. Storage of the caller's; at its end nobody may
 * be waiting. */
enum bz_status bz_barrier_init(struct bz_barrier *barrier, struct bz_loop *loop,
                               uint32_t parties) BZ_MUST_USE;

/* BZ_OK: all are there, and *index (NULL: not wanted) tells this task from the others of its round.
 * BZ_BROKEN: the barrier is, or was broken or reset before the task resumed. BZ_CANCELLED: this
 * task does not count. Suspends unless it completes the round, or the barrier is broken. */
enum bz_status bz_barrier_wait(struct bz_barrier *barrier, uint32_t *index) BZ_MUST_USE;

/* Breaks the barrier: all waits fail with BZ_BROKEN, now and later, until it is reset. */
void bz_barrier_abort(struct bz_barrier *barrier);

/* Back to the empty, unbroken state. Who fills fails with BZ_BROKEN, and so does who has not
 * resumed yet from a round that had passed; newcomers fill once these have left. */
void bz_barrier_reset(struct bz_barrier *barrier);

static inline bool bz_barrier_is_broken(const struct bz_barrier *barrier) {
    return barrier->is_broken;
}

/* True while newcomers are held back. */
static inline bool bz_barrier_is_draining(const struct bz_barrier *barrier) {
    return barrier->queue.woken_count > 0;
}

/* How many fill; 0 while a round drains. */
static inline uint32_t bz_barrier_waiting(const struct bz_barrier *barrier) {
    return bz_barrier_is_draining(barrier) ? 0 : barrier->queue.waiting_count;
}

BZ_END_DECLS

#endif
