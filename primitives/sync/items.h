/* The items of a queue, and the order in which they leave it. No waiting here; see queue.h.
 *
 *     BZ_QUEUE_FIFO      a ring        [ . . 3 4 5 . ]     first in, first out
 *     BZ_QUEUE_LIFO      a stack       [ 1 2 3 . . . ]     last in, first out
 *     BZ_QUEUE_PRIORITY  a heap of (priority, number of the put): the lowest priority first, and
 *                        among equals the one that was put first
 *
 * The array lies in the arena of the loop. Push and pop are O(1), in a heap O(log n). Room is made
 * before the push, by doubling, which is O(n) but rare; it is never given back before the end.
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

/* Room for `capacity` items; 0 allocates nothing. False when the arena has not that much. */
bool bz_items_init(struct bz_items *items, struct bz_mem *mem, enum bz_queue_kind kind,
                   uint32_t capacity);
void bz_items_fini(struct bz_items *items);

/* Makes room for one more. False, and nothing is changed, when the arena has none. */
bool bz_items_reserve(struct bz_items *items);

/* There must be room. The priority is the heap's alone. */
void bz_items_push(struct bz_items *items, uint64_t value, int64_t priority);

/* There must be an item. */
uint64_t bz_items_pop(struct bz_items *items);

/* Forgets all items; keeps the room. */
void bz_items_clear(struct bz_items *items);

BZ_END_DECLS

#endif
