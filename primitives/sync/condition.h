/* Condition: tasks that hold a lock wait until another task notifies them of a change.
 *
 *        holds the lock
 *     wait: |  release            notified                re-acquired
 *           o---------> waiting -----------> re-acquiring ------------> holds the lock: BZ_OK
 *                          |                  |  ^   |
 *                 cancelled|        cancelled |  |___| cancelled again
 *                          v                  v
 *                       re-acquiring ---------------------------------> holds it: BZ_CANCELLED
 *
 * The lock is the caller's; several conditions may share one. A notification means that something
 * may have changed: check again, or use bz_condition_wait_for().
 *
 * Guarantees, whatever is cancelled and when:
 *
 *     a wait that returns BZ_OK or BZ_CANCELLED holds the lock
 *     a cancellation is delivered once the lock is re-acquired; requests that arrive until then are
 *         delivered together
 *     a notified waiter that is cancelled before it holds the lock passes its notification to the
 *         oldest waiter, in the step in which it learns of the cancellation
 *     a waiter that was not notified wakes no waiter: each notification ends one wait with BZ_OK,
 * or finds no waiter left
 *
 * A cancellation during the re-acquisition moves the task to the end of the lock's queue.
 *
 * Everything is O(1), except waking k waiters, which is O(k). Nothing allocates.
 * primitives/README.md lists the differences from asyncio.
 */
#ifndef BZ_SYNC_CONDITION_H
#define BZ_SYNC_CONDITION_H

#include "primitives/sync/lock.h"

BZ_BEGIN_DECLS

struct bz_condition {
    struct bz_waitq queue;
    struct bz_lock *lock;
};

/* The caller provides the storage, which must outlive all waits, and a lock that outlives it. */
void bz_condition_init(struct bz_condition *condition, struct bz_lock *lock);

/* Releases the lock, waits for a notification, acquires the lock again. BZ_OK; BZ_CANCELLED, with
 * the lock held; BZ_NOT_HELD at once if no task holds the lock. A lock does not know its holder, so
 * a wait by a task that does not hold it goes unnoticed. */
enum bz_status bz_condition_wait(struct bz_condition *condition) BZ_MUST_USE;

/* Waits until `holds(arg)` is true. It is called with the lock held, first before any wait. BZ_OK,
 * or else what bz_condition_wait() returned. */
enum bz_status bz_condition_wait_for(struct bz_condition *condition, bool (*holds)(void *arg),
                                     void *arg) BZ_MUST_USE;

/* Wakes up to `count` waiters, oldest first; they resume once they get the lock. BZ_OK, or
 * BZ_NOT_HELD, and no waiter is woken, if no task holds the lock. Never suspends. */
enum bz_status bz_condition_notify(struct bz_condition *condition, uint32_t count) BZ_MUST_USE;

/* The same for all waiters. */
enum bz_status bz_condition_notify_all(struct bz_condition *condition) BZ_MUST_USE;

BZ_END_DECLS

#endif
