/* The queue of waiters that every blocking primitive of this folder uses.
 *
 *     oldest                     newest
 *     [ W ] <-> [ W ] <-> [ W ]            waiting: pending futures, in order of arrival
 *       |          \
 *       | wake      \ the task is cancelled (the future's on_cancel hook)
 *       v            v
 *       R            C                     woken / cancelled: counted, no longer linked, until
 *                                          their tasks resume
 *
 * W, R and C partition the waiters: a waiter is linked exactly while it is in W. Waking the oldest,
 * cancelling any waiter and counting each class are O(1). A waiter is on the stack of its task:
 * waiting allocates nothing.
 *
 * A woken waiter whose task is cancelled before it resumes (the window) returns with was_woken and
 * BZ_CANCELLED. The caller must then hand on at once what the waiter was given.
 */
#ifndef BZ_SYNC_WAITQ_H
#define BZ_SYNC_WAITQ_H

#include <stdbool.h>
#include <stdint.h>

#include "primitives/runtime/future.h"
#include "primitives/runtime/list.h"
#include "primitives/runtime/status.h"

BZ_BEGIN_DECLS

struct bz_waitq {
    struct bz_loop *loop;
    struct bz_list waiting;
    uint32_t waiting_count;
    uint32_t woken_count;
    uint32_t cancelled_count;
};

/* The result of one wait. */
struct bz_wait_outcome {
    enum bz_status status; /* BZ_OK, or BZ_CANCELLED */
    uint32_t was_woken;    /* or 0; possibly with BZ_CANCELLED. No bool: behind it would be padding,
                              with what a register happened to hold. */
    uint64_t value;        /* from the waker; only if was_woken */
};

void bz_waitq_init(struct bz_waitq *queue, struct bz_loop *loop);

/* True if W is not empty. */
static inline bool bz_waitq_has_waiting(const struct bz_waitq *queue) {
    return queue->waiting_count > 0;
}

/* Joins the end of the queue and suspends the running task until it is woken or cancelled. */
struct bz_wait_outcome bz_waitq_wait(struct bz_waitq *queue);

/* The same for a task that wants a certain amount. */
struct bz_wait_outcome bz_waitq_wait_for(struct bz_waitq *queue, uint64_t amount);

/* The number that the oldest waiter wants: 0 after bz_waitq_wait(). W must not be empty. */
uint64_t bz_waitq_oldest_amount(const struct bz_waitq *queue);

/* Wakes the oldest waiter, which resumes in a later step. False if no task waits. O(1). */
bool bz_waitq_wake_oldest(struct bz_waitq *queue, uint64_t value);

/* Wakes all waiters, oldest first; returns their number. O(their number). */
uint32_t bz_waitq_wake_all(struct bz_waitq *queue, uint64_t value);

BZ_END_DECLS

#endif
