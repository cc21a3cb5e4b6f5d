/* A queue of items whose get() returns through a deferred: Twisted's DeferredQueue.
 *
 *     items:    oldest [ 7 ][ 8 ][ 9 ] newest      or      getters:   oldest  g1  g2  newest
 *
 * Never both: a put gives its item to the oldest getter, if there is one, and stores it otherwise.
 * Both sides have a limit and never block: a put is refused while `size` items are stored, and a
 * get while `backlog` getters wait. Either limit may be 0.
 *
 * A getter owns the item that it was given; a later cancel does nothing. A getter that is cancelled
 * before leaves the queue at once. After a put inside a callback the getter has its item, and its
 * callbacks run once that callback has returned (see deferred.h). All operations are O(1) and
 * allocate nothing.
 */
#ifndef BZ_SYNC_DEFERRED_QUEUE_H
#define BZ_SYNC_DEFERRED_QUEUE_H

#include "primitives/sync/deferred_waitq.h"

BZ_BEGIN_DECLS

#define BZ_DEFERRED_QUEUE_BACKLOG_MAX UINT32_MAX

struct bz_deferred_queue {
    struct bz_deferred_waitq getters;
    uint64_t *items; /* a ring, oldest at `first` */
    uint32_t size;
    uint32_t first;
    uint32_t count;
    uint32_t backlog;
};

/* `items` is the caller's array of `size` items; NULL if size is 0. The caller provides the queue's
 * storage as well, which must outlive all waits. */
void bz_deferred_queue_init(struct bz_deferred_queue *queue, struct bz_trampoline *trampoline,
                            uint64_t *items, uint32_t size, uint32_t backlog);

/* BZ_OK; BZ_FULL, and nothing is changed, if `size` items are stored and no task waits (Twisted:
 * QueueOverflow). */
enum bz_status bz_deferred_queue_put(struct bz_deferred_queue *queue, uint64_t item) BZ_MUST_USE;

/* BZ_OK: getter->deferred fires with BZ_OK and the item, at once if there is one. BZ_EMPTY, and the
 * getter is not touched, if there is none and `backlog` getters wait (Twisted: QueueUnderflow). */
enum bz_status bz_deferred_queue_get(struct bz_deferred_queue *queue,
                                     struct bz_deferred_waiter *getter) BZ_MUST_USE;

BZ_END_DECLS

#endif
