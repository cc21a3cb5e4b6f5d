/* Queue: items go from tasks that put to tasks that get; FIFO, LIFO or by priority.
 *
 *     putters                 slots: maxsize                  getters
 *     W W W R R  --put-->  [ item | item | free | free ]  --get-->  R W W W
 *           | |                                 |    |              |
 *           each woken putter was promised a free slot, each woken getter an item
 *
 * Getters are served in order of arrival, and so are putters. Who is woken was promised what it
 * needs: promised items and slots are there for nobody else. A newcomer, whether it may block or
 * not, stands behind those who wait and behind those who were woken and have not resumed.
 *
 * What is promised is one item, or one slot, and not which one: the item is taken when the getter
 * resumes. So an item of a better priority that arrives in between is served first, a cancelled
 * getter has nothing to put back, and no cancellation can change the order of the items. Whoever
 * leaves without taking what it was promised hands it on in that same step.
 *
 *     promised items <= items, while the queue was not emptied by a shutdown
 *     items + promised slots <= maxsize
 *     a getter waits, and no getter was woken: there is no item
 *     a putter waits, and no putter was woken: there is no free slot
 *
 * After bz_queue_shutdown() nothing can be put any more, and what is there can still be got. Then
 * whoever gets or puts is told BZ_CLOSED; a waiting getter as soon as no item can come to it.
 *
 * The semantics are those of asyncio 3.13. Repaired against it: a newcomer cannot take what a woken
 * task was woken for, nor does the woken one lose its place (gh-83055); empty() and full() are true
 * exactly when a get or put would suspend, until the shutdown, as locked() is for a lock
 * (gh-138121). As in asyncio
 * since 3.5.1, nothing travels inside a waiter, so that a cancelled get loses nothing and a
 * cancelled put leaves nothing (bpo-23812, bpo-25233); cancelled waiters leave no trace
 * (bpo-31620, bpo-32574).
 *
 * Items are 64-bit values; a pointer goes through uintptr_t. What it points to is the caller's.
 * Operations are O(1), or O(log n) for a priority queue of n items, apart from waking k tasks,
 * which is O(k). Waiting allocates nothing. A bounded queue has its memory from the beginning; an
 * unbounded one doubles it when it is full.
 */
#ifndef BZ_SYNC_QUEUE_H
#define BZ_SYNC_QUEUE_H

#include "primitives/sync/event.h"
#include "primitives/sync/items.h"

BZ_BEGIN_DECLS

struct bz_queue {
    struct bz_items items;
    struct bz_waitq getters;
    struct bz_waitq putters;
    struct bz_sync_event finished; /* set while unfinished is 0 */
    uint64_t unfinished;           /* puts without their task_done */
    uint32_t maxsize;              /* 0: no bound */
    uint32_t promised_items;       /* to getters that have not resumed */
    uint32_t promised_slots;       /* to putters that have not resumed */
    bool is_closed;
};

/* `maxsize` 0: no bound. BZ_OK, or BZ_NO_MEMORY when the loop has no room for `maxsize` items. */
enum bz_status bz_queue_init(struct bz_queue *queue, struct bz_loop *loop, enum bz_queue_kind kind,
                             uint32_t maxsize) BZ_MUST_USE;

/* Gives the memory back. Nobody may be waiting; items that are left are forgotten. Not needed
 * before the loop is reset or destroyed. */
void bz_queue_fini(struct bz_queue *queue);

/* BZ_OK: the item is in the queue. BZ_CANCELLED, BZ_CLOSED, or BZ_NO_MEMORY (without a bound only):
 * it is not, and never was. Suspends only if full(). In a priority queue its priority is 0. */
enum bz_status bz_queue_put(struct bz_queue *queue, uint64_t value) BZ_MUST_USE;

/* The same without suspending: BZ_FULL where a put would. */
enum bz_status bz_queue_try_put(struct bz_queue *queue, uint64_t value) BZ_MUST_USE;

/* Both with a priority: the lowest leaves first, equals in the order in which they were put. In a
 * queue of another kind the priority has no meaning. */
enum bz_status bz_queue_put_priority(struct bz_queue *queue, uint64_t value,
                                     int64_t priority) BZ_MUST_USE;
enum bz_status bz_queue_try_put_priority(struct bz_queue *queue, uint64_t value,
                                         int64_t priority) BZ_MUST_USE;

/* BZ_OK: *value was taken. BZ_CANCELLED or BZ_CLOSED: nothing was. Suspends only if empty(). */
enum bz_status bz_queue_get(struct bz_queue *queue, uint64_t *value) BZ_MUST_USE;

/* The same without suspending: BZ_EMPTY where a get would. */
enum bz_status bz_queue_try_get(struct bz_queue *queue, uint64_t *value) BZ_MUST_USE;

/* Says that the work on an item that was got is done. BZ_OK, or BZ_INVALID_STATE if it was said as
 * often as items were put already. */
enum bz_status bz_queue_task_done(struct bz_queue *queue) BZ_MUST_USE;

/* Waits until task_done was said for every item that was put. BZ_OK, or BZ_CANCELLED. */
enum bz_status bz_queue_join(struct bz_queue *queue) BZ_MUST_USE;

/* Closes the queue, for good. `is_immediate`: drops all items, promised ones included, as if they
 * had been got and done; who owns what they point to takes them out before. May be called twice,
 * the second time to drop what is left. */
void bz_queue_shutdown(struct bz_queue *queue, bool is_immediate);

/* Items in the queue, promised ones included. */
static inline uint32_t bz_queue_size(const struct bz_queue *queue) {
    return queue->items.count;
}

/* True exactly when a get now would find nothing to take: there are no items, or older getters have
 * a claim to what there is. */
bool bz_queue_empty(const struct bz_queue *queue);

/* True exactly when a put now would find no slot. Never without a bound. */
bool bz_queue_full(const struct bz_queue *queue);

BZ_END_DECLS

#endif
