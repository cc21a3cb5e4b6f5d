/* The items of a queue, and the order in which they leave it. No waiting here; see queue.h.
 *
 *     BZ_QUEUE_FIFO      a ring        [ . . 3 4 5 . ]     first in, first out
 *     BZ_QUEUE_LIFO      a stack       [ 1 2 3 . . . ]     last in, first out
 *     BZ_QUEUE_PRIORITY  a heap of (priority, number of the put): the lowest priority first, and
 *                        among equals the one that was put first
 *
 * The array is in the arena of the loop. Push and pop are O(1), in a heap O(log n). The capacity is
 * reserved before the push: it doubles, in O(n), and never shrinks.
 */
#ifndef BZ_SYNC_ITEMS_H
#define BZ_SYNC_ITEMS_H

#include <stdbool.h>
#include <stdint.h>

#include "primitives/runtime/mem.h"

BZ_BEGIN_DECLS

enum bz_queue_kind {
    BZ_QUEUE_FIFO = 0,
    BZ_QUEUE_LIFO = 1,
    BZ_QUEUE_PRIORITY = 2,
};

struct bz_items_entry {
    int64_t priority;
    uint64_t order; /* 2^64 puts are never reached */
    uint64_t value;
};

struct bz_items {
    struct bz_mem *mem;
    union {
        uint64_t *values;            /* ring and stack */
        struct bz_items_entry *heap; /* entries[0] leaves next */
    };
    uint64_t puts;
    uint32_t head; /* of the ring */
    uint32_t count;
    uint32_t capacity;
    uint8_t kind; /* enum bz_queue_kind */
};

/* Reserves space for `capacity` items; 0 allocates nothing. False without memory. */
bool bz_items_init(struct bz_items *items, struct bz_mem *mem, enum bz_queue_kind kind,
                   uint32_t capacity);
void bz_items_fini(struct bz_items *items);

/* Reserves space for one more. False, and nothing is changed, without memory. */
bool bz_items_reserve(struct bz_items *items);

/* Needs space. Only the heap uses the priority. */
void bz_items_push(struct bz_items *items, uint64_t value, int64_t priority);

/* Needs an item. */
uint64_t bz_items_pop(struct bz_items *items);

/* Drops all items; keeps the memory. */
void bz_items_clear(struct bz_items *items);

BZ_END_DECLS

#endif
