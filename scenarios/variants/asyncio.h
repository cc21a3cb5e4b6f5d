/* asyncio's primitives as references: what the variants asyncio-3.11 and asyncio-3.13 have in
 * common. What they do differently is in the file of each.
 *
 * They follow the algorithms of CPython's Lib/asyncio/locks.py and queues.py, known faults
 * included, and are written from a description of these. The difference to the primitives that ship
 * is in the bookkeeping:
 *
 *     lock        is free from the release until the woken waiter resumes; newcomers queue behind
 *                 that one; locked() says "no" meanwhile (gh-138121)
 *     semaphore   the permit is taken out of the value when a waiter is woken
 *     queue       nothing is promised to a woken task: it looks again, and may be overtaken and
 *                 have to queue again at the end (gh-83055, declined: a queue is not fair)
 *     barrier     an index is how many fill at the moment of arrival (gh-155233)
 *
 * Entries stay in their queue until the waiter has resumed, but for those of a queue of items,
 * which whoever wakes them takes out. Fields that nobody outside may touch begin at `queue`.
 *
 * Left out: abort() and reset() of the barrier. asyncio's wait for the lock of its condition, and
 * what a scenario can call does not. */
#ifndef BZ_SCENARIOS_VARIANTS_ASYNCIO_H
#define BZ_SCENARIOS_VARIANTS_ASYNCIO_H

#include "primitives/sync/items.h"
#include "scenarios/variants/deque.h"
#include "sim/variant/variant.h"

/* What both keep. A lock's locked() is claimed to be exact, because it is meant to be: that it is
 * not is a fault that both declare. */
#define BZ_ASYNCIO_CLAIMS                                                                          \
    (BZ_CLAIM_FIFO | BZ_CLAIM_LOCKED_EXACT | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_WAKE_IS_GRANT |    \
     BZ_CLAIM_WORK_CONSERVING | BZ_CLAIM_TAKES_AT_RETURN)

/* What some do not. A lock whose head was cancelled leaves it to that one, when it resumes, to wake
 * the next. Those who are held back at a barrier are woken together, and who comes then
 * may be ahead of them. */
#define BZ_ASYNCIO_LOCK_WAIVES BZ_CLAIM_WORK_CONSERVING
#define BZ_ASYNCIO_BARRIER_WAIVES BZ_CLAIM_FIFO
#define BZ_ASYNCIO_QUEUE_WAIVES (BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT)

/* --- lock ------------------------------------------------------------------------------------- */

struct bz_asyncio_lock {
    struct bz_deque queue;
    bool is_locked; /* by a task that has resumed */
};

enum bz_status bz_asyncio_lock_acquire(void *instance);
enum bz_status bz_asyncio_lock_release(void *instance);

extern const struct bz_permit_ops bz_asyncio_lock_ops;

/* --- semaphore -------------------------------------------------------------------------------- */

struct bz_asyncio_semaphore {
    struct bz_deque queue;
    uint32_t value; /* permits that nobody holds and nobody was woken for */
    uint32_t bound;
    bool is_bounded;
};

enum bz_status bz_asyncio_semaphore_init(void *instance, struct bz_loop *loop, uint32_t permits);
enum bz_status bz_asyncio_bounded_init(void *instance, struct bz_loop *loop, uint32_t permits);
enum bz_status bz_asyncio_semaphore_release(void *instance);
bool bz_asyncio_semaphore_locked(void *instance);
void bz_asyncio_semaphore_view(void *instance, struct bz_permit_view *view);

/* Takes a permit for the oldest waiter that is asleep, and wakes it; false if there is none. */
bool bz_asyncio_semaphore_wake_next(struct bz_asyncio_semaphore *semaphore);

/* --- event ------------------------------------------------------------------------------------ */

struct bz_asyncio_event {
    struct bz_deque queue;
    bool is_set;
};

extern const struct bz_event_ops bz_asyncio_event_ops;

/* --- condition -------------------------------------------------------------------------------- */

struct bz_asyncio_condition {
    struct bz_asyncio_lock lock;
    struct bz_deque queue;
};

enum bz_status bz_asyncio_condition_init(void *instance, struct bz_loop *loop);
enum bz_status bz_asyncio_condition_notify(void *instance, uint32_t count);
bool bz_asyncio_condition_locked(void *instance);
uint32_t bz_asyncio_condition_queued(void *instance);

/* Waits, and acquires the lock again, whatever happens. A cancellation comes out at the end. */
enum bz_status bz_asyncio_condition_sleep(struct bz_asyncio_condition *condition);

/* Wakes `count` waiters, whoever holds the lock. */
void bz_asyncio_condition_wake(struct bz_asyncio_condition *condition, uint32_t count);

/* --- barrier ---------------------------------------------------------------------------------- */

struct bz_asyncio_barrier {
    struct bz_asyncio_condition condition;
    enum bz_status (*wait)(void *condition); /* of this version */
    uint32_t parties;
    uint32_t count; /* fill, or have yet to leave */
    bool is_draining;
};

enum bz_status bz_asyncio_barrier_init(struct bz_asyncio_barrier *barrier, struct bz_loop *loop,
                                       uint32_t parties, enum bz_status (*wait)(void *condition));
enum bz_status bz_asyncio_barrier_wait(void *instance, uint32_t *index);
uint32_t bz_asyncio_barrier_queued(void *instance);

/* --- queue ------------------------------------------------------------------------------------ */

struct bz_asyncio_queue {
    struct bz_items items;
    struct bz_deque getters;
    struct bz_deque putters;
    struct bz_asyncio_event finished;
    uint64_t unfinished;
    uint32_t maxsize;
    bool is_shut;
};

enum bz_status bz_asyncio_queue_init(void *instance, struct bz_loop *loop,
                                     enum bz_queue_order order, uint32_t maxsize);
enum bz_status bz_asyncio_queue_put(void *instance, uint64_t value, int64_t priority);
enum bz_status bz_asyncio_queue_get(void *instance, uint64_t *value);
enum bz_status bz_asyncio_queue_try_put(void *instance, uint64_t value, int64_t priority);
enum bz_status bz_asyncio_queue_try_get(void *instance, uint64_t *value);
enum bz_status bz_asyncio_queue_task_done(void *instance);
enum bz_status bz_asyncio_queue_join(void *instance);
void bz_asyncio_queue_shutdown(void *instance, bool is_immediate); /* since 3.13 */
uint64_t bz_asyncio_queue_size(void *instance);
uint32_t bz_asyncio_queue_queued(void *instance);

/* --- faults that both have -------------------------------------------------------------------- */

extern const struct bz_fault bz_asyncio_fault_locked;  /* gh-138121 */
extern const struct bz_fault bz_asyncio_fault_bound;   /* of a bounded semaphore, in the window */
extern const struct bz_fault bz_asyncio_fault_barrier; /* gh-155233 */

#endif
