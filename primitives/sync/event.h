/* Event: a flag that tasks wait for.
 *
 * Setting it wakes everybody who waits and lets everybody pass who comes later, until it is
 * cleared. Who was woken passes, even if the event is cleared again before it resumes. A cancelled
 * wait has no effect, whenever the cancellation strikes: a wake-up here is nobody else's.
 *
 * The semantics are those of asyncio's Event. The name has a `sync` in it because `struct bz_event`
 * is what the runtime tells its observer (observe.h).
 *
 * Everything is O(1) but bz_sync_event_set(), which is O(waiters); nothing allocates.
 */
#ifndef BZ_SYNC_EVENT_H
#define BZ_SYNC_EVENT_H

#include "primitives/sync/waitq.h"

BZ_BEGIN_DECLS

struct bz_sync_event {
    struct bz_waitq queue;
    bool is_set;
};

/* Not set. Storage of the caller's; at its end nobody may be waiting. */
void bz_sync_event_init(struct bz_sync_event *event, struct bz_loop *loop);

/* Sets the flag and wakes all that wait, in order of arrival. Never suspends. */
void bz_sync_event_set(struct bz_sync_event *event);

/* Takes the flag back; wakes nobody, and stops nobody who was woken. */
void bz_sync_event_clear(struct bz_sync_event *event);

static inline bool bz_sync_event_is_set(const struct bz_sync_event *event) {
    return event->is_set;
}

/* BZ_OK: the event is set, or was set while we waited. BZ_CANCELLED: give up. Suspends only if the
 * event is not set. */
enum bz_status bz_sync_event_wait(struct bz_sync_event *event) BZ_MUST_USE;

BZ_END_DECLS

#endif
