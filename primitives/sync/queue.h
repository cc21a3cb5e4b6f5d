/* Queue: items go from tasks that put to tasks that get; FIFO, LIFO or by priority.
 *
 *     putters                 slots: maxsize                  getters
 *     W W W R R  --put-->  [ item | item | free | free ]  --get-->  R W W W
 *           | |                                 |    |              |
 *           each woken putter was promised a free slot, each woken getter an item
 *
 * Getters are served in order of arrival, and so are putters. A wake-up promises an item or a slot,
 * and no other task may take it. A newcomer, even if it must not block, stands behind all who wait
 * or were woken and have not resumed.
 *
 * The promise is for one item or slot, not for a certain one: a getter takes its item when it
 * resumes. So an item of better priority that arrives meanwhile is served first, and cancellations
 * do not change the order of items. A woken task that leaves without its item or slot hands the
 * promise on in that step.
 *
 *     promised items <= items, unless an immediate shutdown has dropped the items
 *     items + promised slots <= maxsize
 *     a getter waits, and no getter was woken: there is no item
 *     a putter waits, and no putter was woken: there is no free slot
 *
 * After bz_queue_shutdown() puts return BZ_CLOSED. Gets return the remaining items, then BZ_CLOSED;
 * a waiting getter gets BZ_CLOSED as soon as no item can come to it.
 *
 * Items are 64-bit values; store a pointer through uintptr_t. Operations are O(1), or O(log n) in a
 * priority queue of n items, except waking k tasks, which is O(k). Waiting allocates nothing. A
 * bounded queue allocates at initialization; an unbounded one doubles its memory when it is full.
 * primitives/README.md lists the differences from asyncio 3.13.
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

/* `maxsize` 0: no bound. BZ_OK, or BZ_NO_MEMORY if the loop has none for `maxsize` items. */
enum bz_status bz_queue_init(struct bz_queue *queue, struct bz_loop *loop, enum bz_queue_kind kind,
                             uint32_t maxsize) BZ_MUST_USE;

/* Frees the memory and drops the items. No task may be waiting. Not needed before the loop is reset
 * or destroyed. */
void bz_queue_fini(struct bz_queue *queue);

/* BZ_OK: the item is in the queue. BZ_CANCELLED, BZ_CLOSED, or BZ_NO_MEMORY (without a bound only):
 * it never was. Suspends only if full(). In a priority queue its priority is 0. */
enum bz_status bz_queue_put(struct bz_queue *queue, uint64_t value) BZ_MUST_USE;

/* The same without suspending: BZ_FULL where a put would. */
enum bz_status bz_queue_try_put(struct bz_queue *queue, uint64_t value) BZ_MUST_USE;

/* Both with a priority: the lowest leaves first, equals in the order of their puts. Other kinds of
 * queue ignore the priority. */
enum bz_status bz_queue_put_priority(struct bz_queue *queue, uint64_t value,
                                     int64_t priority) BZ_MUST_USE;
enum bz_status bz_queue_try_put_priority(struct bz_queue *queue, uint64_t value,
                                         int64_t priority) BZ_MUST_USE;

/* BZ_OK: *value is the item. BZ_CANCELLED or BZ_CLOSED: none was taken. Suspends only if empty().
 */
enum bz_status bz_queue_get(struct bz_queue *queue, uint64_t *value) BZ_MUST_USE;

/* The same without suspending: BZ_EMPTY where a get would. */
enum bz_status bz_queue_try_get(struct bz_queue *queue, uint64_t *value) BZ_MUST_USE;

/* Reports that the work on one item is done. BZ_OK, or BZ_INVALID_STATE if there were as many
 * reports as puts already. */
enum bz_status bz_queue_task_done(struct bz_queue *queue) BZ_MUST_USE;

/* Waits until the work on every item is done. BZ_OK, or BZ_CANCELLED. */
enum bz_status bz_queue_join(struct bz_queue *queue) BZ_MUST_USE;

/* Closes the queue for good. `is_immediate` also drops all items, promised ones included, and
 * counts them as done; take items that own memory out before. May be called again, to drop the
 * rest. */
void bz_queue_shutdown(struct bz_queue *queue, bool is_immediate);

/* Items in the queue, promised ones included. */
static inline uint32_t bz_queue_size(const struct bz_queue *queue) {
    return queue->items.count;
}

/* True exactly if a get now would find no item: there is none, or older getters come first. */
bool bz_queue_empty(const struct bz_queue *queue);

/* True exactly if a put now would find no slot. Never without a bound. */
bool bz_queue_full(const struct bz_queue *queue);

BZ_END_DECLS

#endif
