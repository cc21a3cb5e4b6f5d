/* A queue of items whose get() answers through a deferred: Twisted's DeferredQueue.
 *
 *     items:    oldest [ 7 ][ 8 ][ 9 ] newest      or      getters:   oldest  g1  g2  newest
 *
 * Never both: an item that is put goes to the oldest getter, if there is one, and is stored
 * otherwise. Both sides have a limit, and neither waits beyond it: a put that finds `size` items
 * stored is refused, and so is a get that finds `backlog` getters waiting. Either limit may be 0.
 *
 * An item that was given to a getter is its own, and is never taken back: a cancel comes too late.
 * A getter that is cancelled before is out of the queue at once, and no later put is wasted on it.
 * Put inside a callback: the getter has the item, and its callbacks run when that callback has
 * returned (see deferred.h). All operations are O(1) and allocate nothing.
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

/* `items` is room for `size` items, the caller's, as is the queue; it may be NULL if size is 0. At
 * its end nobody may be waiting. */
void bz_deferred_queue_init(struct bz_deferred_queue *queue, struct bz_trampoline *trampoline,
                            uint64_t *items, uint32_t size, uint32_t backlog);

/* BZ_OK; BZ_FULL, and nothing is changed, if `size` items are stored and nobody waits (Twisted:
 * QueueOverflow). */
enum bz_status bz_deferred_queue_put(struct bz_deferred_queue *queue, uint64_t item) BZ_MUST_USE;

/* BZ_OK: getter->deferred fires with BZ_OK and the item, at once if there is one. BZ_EMPTY if there
 * is none and `backlog` getters wait (Twisted: QueueUnderflow): the getter was not touched. */
enum bz_status bz_deferred_queue_get(struct bz_deferred_queue *queue,
                                     struct bz_deferred_waiter *getter) BZ_MUST_USE;

BZ_END_DECLS

#endif
