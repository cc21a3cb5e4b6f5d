/* One-shot: a channel for one value. It is tokio::sync::oneshot.
 *
 * Either side closes it. Once the sender has closed it, a receive returns BZ_CLOSED. Once the
 * receiver has closed it, a send is refused. A value that was sent before stays, and can still be
 * received. To learn that the receiver has lost interest, the sender waits for the close.
 *
 * The value stays in the channel until a receiver takes it; it never travels in a wake-up. So a
 * receiver that is woken and cancelled before it resumes leaves the value where it is, and wakes
 * the next receiver in the step in which it runs. Several tasks may receive: the oldest gets the
 * value, the others get BZ_CLOSED.
 *
 * Everything is O(1), except waking k waiters, which is O(k). Nothing allocates. */
#ifndef BZ_SYNC_ONESHOT_H
#define BZ_SYNC_ONESHOT_H

#include "primitives/sync/event.h"

BZ_BEGIN_DECLS

enum bz_oneshot_state {
    BZ_ONESHOT_OPEN = 0,
    BZ_ONESHOT_SENT = 1,   /* and not received yet */
    BZ_ONESHOT_CLOSED = 2, /* received, or never sent */
};

struct bz_oneshot {
    struct bz_waitq receivers;
    struct bz_sync_event closed; /* set unless OPEN */
    enum bz_oneshot_state state;
    uint64_t value;
};

/* The caller provides the storage, which must outlive all waits. */
void bz_oneshot_init(struct bz_oneshot *channel, struct bz_loop *loop);

/* BZ_OK: the value can be received. BZ_CLOSED: it was closed, or a value was sent before. Never
 * suspends. */
enum bz_status bz_oneshot_send(struct bz_oneshot *channel, uint64_t value) BZ_MUST_USE;

/* BZ_OK: *value is the value. BZ_CLOSED: none is there or will come. BZ_CANCELLED: none was taken.
 */
enum bz_status bz_oneshot_receive(struct bz_oneshot *channel, uint64_t *value) BZ_MUST_USE;

/* The same without suspending: BZ_EMPTY where a receive would suspend. */
enum bz_status bz_oneshot_try_receive(struct bz_oneshot *channel, uint64_t *value) BZ_MUST_USE;

/* Closes the channel, from either side. No effect after a send or another close. Never suspends. */
void bz_oneshot_close(struct bz_oneshot *channel);

/* Waits until a send would return BZ_CLOSED. BZ_OK, or BZ_CANCELLED. */
enum bz_status bz_oneshot_wait_closed(struct bz_oneshot *channel) BZ_MUST_USE;

BZ_END_DECLS

#endif
