/* Event: a flag that tasks wait for (asyncio.Event). `struct bz_event` is the simulator's.
 *
 * Setting the flag wakes every waiting task. A woken task passes even if the flag is cleared before
 * it resumes. A cancelled wait has no effect on others.
 *
 * Everything is O(1), except bz_sync_event_set(), which is O(waiters). Nothing allocates.
 */
#ifndef BZ_SYNC_EVENT_H
#define BZ_SYNC_EVENT_H

#include "primitives/sync/waitq.h"

BZ_BEGIN_DECLS

struct bz_sync_event {
    struct bz_waitq queue;
    bool is_set;
};

/* Not set at first. The caller provides the storage, which must outlive all waits. */
void bz_sync_event_init(struct bz_sync_event *event, struct bz_loop *loop);

/* Sets the flag and wakes all waiting tasks, in order of arrival. Never suspends. */
void bz_sync_event_set(struct bz_sync_event *event);

/* Clears the flag. Tasks that were woken still pass. */
void bz_sync_event_clear(struct bz_sync_event *event);

static inline bool bz_sync_event_is_set(const struct bz_sync_event *event) {
    return event->is_set;
}

/* BZ_OK: the flag is set, or was set during the wait. BZ_CANCELLED. Suspends only if the flag is
 * not set. */
enum bz_status bz_sync_event_wait(struct bz_sync_event *event) BZ_MUST_USE;

BZ_END_DECLS

#endif
