/* Condition: tasks that hold a lock wait until another one tells them that something has changed.
 *
 *        holds the lock
 *     wait: |  release            notified                re-acquired
 *           o---------> waiting -----------> re-acquiring ------------> holds the lock: BZ_OK
 *                          |                  |  ^   |
 *                 cancelled|        cancelled |  |___| cancelled again
 *                          v                  v
 *                       re-acquiring ---------------------------------> holds it: BZ_CANCELLED
 *
 * The lock is the caller's, who acquires and releases it with its own functions; conditions may
 * share one. A notification says "look again", not "it is true": re-check what you wait for, or use
 * bz_condition_wait_for().
 *
 * What holds, whatever is cancelled and when:
 *
 *     a wait that returns BZ_OK or BZ_CANCELLED returns with the lock held
 *     a cancellation is delivered, after the lock was re-acquired; requests that strike on the way
 *         out are delivered together, as one
 *     a waiter that was notified and is cancelled before it holds the lock again gives its
 *         notification to the oldest live waiter, in the step in which it learns of the
 *         cancellation, and returns BZ_CANCELLED
 *     a waiter that was not notified wakes nobody: each notification ends exactly one wait with
 *         BZ_OK, or finds nobody left
 *
 * A cancellation during the re-acquisition costs the task its place in the queue of the lock, which
 * it joins again at the end.
 *
 * Repaired against asyncio: up to 3.12 the notification of a cancelled waiter was lost (gh-112202);
 * from 3.13 on any cancelled waiter notifies another one, notified or not, so that waits end for no
 * reason (the same issue), and the hand-over waits for the lock. Kept from its earlier repairs: the
 * lock is held after a cancellation (gh-67159), which is not swallowed either (gh-77022).
 *
 * Everything is O(1), apart from waking k waiters, which is O(k); nothing allocates.
 */
#ifndef BZ_SYNC_CONDITION_H
#define BZ_SYNC_CONDITION_H

#include "primitives/sync/lock.h"

BZ_BEGIN_DECLS

struct bz_condition {
    struct bz_waitq queue;
    struct bz_lock *lock;
};

/* Storage of the caller's, and so is the lock, which must outlive the condition. At its end nobody
 * may be waiting. */
void bz_condition_init(struct bz_condition *condition, struct bz_lock *lock);

/* Releases the lock, waits for a notification, acquires the lock again. BZ_OK, BZ_CANCELLED (the
 * lock is held all the same), or BZ_NOT_HELD at once if nobody holds the lock. That it is the
 * running task who holds it is not checked: a lock does not know its holder. */
enum bz_status bz_condition_wait(struct bz_condition *condition) BZ_MUST_USE;

/* Waits until `holds(arg)` is true, which is asked with the lock held, at first without waiting.
 * BZ_OK: it is true. Else what bz_condition_wait() said. */
enum bz_status bz_condition_wait_for(struct bz_condition *condition, bool (*holds)(void *arg),
                                     void *arg) BZ_MUST_USE;

/* Wakes the `count` oldest waiters, or as many as there are; they resume once they get the lock.
 * BZ_OK, or BZ_NOT_HELD, and nobody is woken, if nobody holds the lock. Never suspends. */
enum bz_status bz_condition_notify(struct bz_condition *condition, uint32_t count) BZ_MUST_USE;

/* The same for all that wait now. */
enum bz_status bz_condition_notify_all(struct bz_condition *condition) BZ_MUST_USE;

BZ_END_DECLS

#endif
