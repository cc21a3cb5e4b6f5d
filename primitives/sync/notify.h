/* Notify: wakes tasks, and keeps one notification for a task that comes later. It is
 * tokio::sync::Notify.
 *
 * bz_notify_one() wakes the oldest waiter; if no task waits, it leaves a permit for the next wait.
 * There is never more than one permit, however many notifications came. bz_notify_waiters() wakes
 * all who wait now and leaves nothing.
 *
 * A waiter that bz_notify_one() woke, and that is cancelled before it resumes, passes its
 * notification on in the step in which it runs: to the oldest waiter, or as the permit. One that
 * bz_notify_waiters() woke passes nothing on.
 *
 *     a task waits: there is no permit
 *
 * Unlike tokio's Notified, a wait takes part from its call on, not from an earlier moment at which
 * it is created. Everything is O(1), except waking k waiters, which is O(k). Nothing allocates. */
#ifndef BZ_SYNC_NOTIFY_H
#define BZ_SYNC_NOTIFY_H

#include "primitives/sync/waitq.h"

BZ_BEGIN_DECLS

struct bz_notify {
    struct bz_waitq queue;
    bool has_permit;
};

/* Without a permit at first. The caller provides the storage, which must outlive all waits. */
void bz_notify_init(struct bz_notify *notify, struct bz_loop *loop);

/* BZ_OK: the task has used up the permit, or was notified. BZ_CANCELLED: neither. Suspends only if
 * there is no permit. */
enum bz_status bz_notify_wait(struct bz_notify *notify) BZ_MUST_USE;

/* Neither suspends. */
void bz_notify_one(struct bz_notify *notify);
void bz_notify_waiters(struct bz_notify *notify);

BZ_END_DECLS

#endif
