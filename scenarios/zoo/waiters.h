/* What the entries of the zoo have in common: a queue of waiters in the manner of asyncio's deque,
 * and around it the fields of a lock and of a semaphore.
 *
 *     oldest                                  newest
 *     [ R ] <-> [ C ] <-> [ W ] <-> [ W ]
 *
 * Unlike the queue of the primitives that ship (primitives/sync/waitq.h), an entry stays linked
 * after it was woken (R) or cancelled (C), until its task resumes and takes it out. Most faults of
 * the zoo are a wrong answer to the question what such an entry means. Here is no fault: every
 * entry of the zoo has its fault in its own file, and takes its entry out on every way out, so that
 * no untidiness hides the fault that it shows.
 *
 * A waiter lives on the stack of the task that waits; waiting allocates nothing.
 */
#ifndef BZ_SCENARIOS_ZOO_WAITERS_H
#define BZ_SCENARIOS_ZOO_WAITERS_H

#include <stdbool.h>
#include <stdint.h>

#include "primitives/runtime/future.h"
#include "primitives/runtime/list.h"
#include "sim/variant/variant.h"

struct bz_zoo_queue {
    struct bz_loop *loop;
    struct bz_list entries;
};

struct bz_zoo_waiter {
    struct bz_future future;
    struct bz_list link;
};

/* Joins the queue at its end and suspends the running task. When it returns, with what the await
 * said, the entry is still queued: the caller takes it out with bz_zoo_leave(). */
enum bz_status bz_zoo_wait(struct bz_zoo_queue *queue, struct bz_zoo_waiter *waiter) BZ_MUST_USE;
void bz_zoo_leave(struct bz_zoo_waiter *waiter);

/* True if the waiter was woken, even if its task was cancelled afterwards. */
static inline bool bz_zoo_was_woken(const struct bz_zoo_waiter *waiter) {
    return waiter->future.state == BZ_FUTURE_RESULT;
}

/* Wakes the oldest, or the newest, entry whose future is pending. False if there is none. */
bool bz_zoo_wake_oldest(struct bz_zoo_queue *queue);
bool bz_zoo_wake_newest(struct bz_zoo_queue *queue);

/* Entries whose future is in this state; O(queue). */
uint32_t bz_zoo_count(const struct bz_zoo_queue *queue, enum bz_future_state state);

/* True if somebody waits or was woken: an entry that is not cancelled. */
bool bz_zoo_has_live(const struct bz_zoo_queue *queue);

/* --- lock ------------------------------------------------------------------------------------- */

struct bz_zoo_lock {
    struct bz_zoo_queue queue;
    bool is_held; /* by a task that has resumed */
};

/* For struct bz_permit_ops: everything but acquire, which is where asyncio's locks went wrong. The
 * level of a lock is 1 until the task that was woken has resumed; release wakes the oldest. */
enum bz_status bz_zoo_lock_release(void *instance);
enum bz_status bz_zoo_lock_init(void *instance, struct bz_loop *loop, uint32_t permits);
bool bz_zoo_lock_locked(void *instance);
void bz_zoo_lock_view(void *instance, struct bz_permit_view *view);

/* --- semaphore -------------------------------------------------------------------------------- */

/* A woken waiter takes its permit when it resumes: value is the level, and permits that somebody
 * was woken for are still in it. */
struct bz_zoo_semaphore {
    struct bz_zoo_queue queue;
    uint32_t value;
    bool is_wake_scheduled; /* for the one entry that keeps it in a flag */
};

enum bz_status bz_zoo_semaphore_init(void *instance, struct bz_loop *loop, uint32_t permits);
bool bz_zoo_semaphore_locked(void *instance);
void bz_zoo_semaphore_view(void *instance, struct bz_permit_view *view);

/* Wakes as many of the oldest waiters as there are permits that nobody was woken for yet. True if
 * it woke somebody. */
bool bz_zoo_semaphore_wake_all_that_fit(struct bz_zoo_semaphore *semaphore);

#endif
