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
 * A waiter lives on the stack of the task that waits; waiting allocates nothing, but
 * for the requests below.
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

void bz_zoo_queue_init(struct bz_zoo_queue *queue, struct bz_loop *loop);

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

/* Takes the oldest entry out of the queue, whatever has become of it; NULL if there is none. For
 * the queues of events, whose entries are taken out by who wakes them. */
struct bz_zoo_waiter *bz_zoo_pop(struct bz_zoo_queue *queue);

/* Entries whose future is in this state; O(queue). */
uint32_t bz_zoo_count(const struct bz_zoo_queue *queue, enum bz_future_state state);

/* True if somebody waits or was woken: an entry that is not cancelled. */
bool bz_zoo_has_live(const struct bz_zoo_queue *queue);

/* Fills in everything but the level. */
void bz_zoo_queue_view(const struct bz_zoo_queue *queue, struct bz_permit_view *view);

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

/* --- hand-off --------------------------------------------------------------------------------- */

/* A lock that a release gives away: the waiter that is chosen owns it at once, before it resumes,
 * as with Twisted's DeferredLock and anyio's Lock. */
struct bz_zoo_handoff {
    struct bz_zoo_queue queue;
    bool is_owned;
    bool is_promised; /* by a waiter that has not resumed yet, and will take it */
};

enum bz_status bz_zoo_handoff_init(void *instance, struct bz_loop *loop, uint32_t permits);
bool bz_zoo_handoff_locked(void *instance);
void bz_zoo_handoff_view(void *instance, struct bz_permit_view *view);

/* --- request ---------------------------------------------------------------------------------- */

/* A waiter that may outlive the call which it waits for: some faults leave it behind. The queue and
 * the task have one use of it each; whoever drops the last one frees it. */
struct bz_zoo_request {
    struct bz_zoo_waiter waiter;
    uint32_t uses;
};

/* With two uses; NULL when the loop is out of memory. */
struct bz_zoo_request *bz_zoo_request_new(struct bz_loop *loop);
void bz_zoo_request_drop(struct bz_loop *loop, struct bz_zoo_request *request);

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

/* True if a newcomer may take a permit: nobody waits, and there is one that nobody was woken for.
 */
bool bz_zoo_semaphore_has_room(const struct bz_zoo_semaphore *semaphore);

/* --- reserving semaphore ---------------------------------------------------------------------- */

/* A permit is taken in the name of a waiter when it is woken: value is what is left. */
struct bz_zoo_reserving {
    struct bz_zoo_queue queue;
    uint32_t value;
    uint32_t promised; /* to waiters that were woken and have not resumed */
};

/* For struct bz_permit_ops: everything but acquire. Whoever resumes lowers `promised` if it was
 * woken, whatever it then does with the permit. */
enum bz_status bz_zoo_reserving_init(void *instance, struct bz_loop *loop, uint32_t permits);
enum bz_status bz_zoo_reserving_release(void *instance);
bool bz_zoo_reserving_locked(void *instance);
void bz_zoo_reserving_view(void *instance, struct bz_permit_view *view);

/* Takes a permit if there is one and nobody waits for it. */
bool bz_zoo_reserving_try(struct bz_zoo_reserving *semaphore);

/* One permit is free again: wakes the oldest waiters for as many as there are. */
void bz_zoo_reserving_put(struct bz_zoo_reserving *semaphore);

#endif
