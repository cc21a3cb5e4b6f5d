/* A heap with the very moves of Python's module heapq. They decide in which order equal entries
 * leave it, and asyncio leaves that order to them.
 *
 * `entries` is an array of at most 32 bytes each; the caller keeps the count. Not installed. */
#ifndef BZ_RUNTIME_HEAPQ_H
#define BZ_RUNTIME_HEAPQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "primitives/runtime/check.h"

#define BZ_HEAPQ_ENTRY_BYTES_MAX 32u

struct bz_heapq {
    void *entries;
    size_t entry_bytes;
    bool (*before)(const void *left, const void *right); /* false for equal ones */
};

static inline void *bz_heapq_at(const struct bz_heapq *heap, uint32_t index) {
    return (char *)heap->entries + index * heap->entry_bytes;
}

static inline void bz_heapq_move(const struct bz_heapq *heap, uint32_t to, uint32_t from) {
    memcpy(bz_heapq_at(heap, to), bz_heapq_at(heap, from), heap->entry_bytes);
}

/* heapq._siftdown(): towards the root. heapq.heappush() is an append, and this. */
static inline void bz_heapq_to_root(const struct bz_heapq *heap, uint32_t first, uint32_t place) {
    char entry[BZ_HEAPQ_ENTRY_BYTES_MAX];
    BZ_CHECK(heap->entry_bytes <= sizeof entry);
    memcpy(entry, bz_heapq_at(heap, place), heap->entry_bytes);
    while (place > first) {
        uint32_t parent = (place - 1) / 2;
        if (!heap->before(entry, bz_heapq_at(heap, parent))) {
            break;
        }
        bz_heapq_move(heap, place, parent);
        place = parent;
    }
    memcpy(bz_heapq_at(heap, place), entry, heap->entry_bytes);
}

/* heapq._siftup(): down to a leaf, and back. */
static inline void bz_heapq_to_leaf(const struct bz_heapq *heap, uint32_t count, uint32_t place) {
    char entry[BZ_HEAPQ_ENTRY_BYTES_MAX];
    uint32_t first = place;
    BZ_CHECK(heap->entry_bytes <= sizeof entry);
    memcpy(entry, bz_heapq_at(heap, place), heap->entry_bytes);
    for (uint32_t child = 2 * place + 1; child < count; child = 2 * place + 1) {
        uint32_t right = child + 1;
        if (right < count && !heap->before(bz_heapq_at(heap, child), bz_heapq_at(heap, right))) {
            child = right;
        }
        bz_heapq_move(heap, place, child);
        place = child;
    }
    memcpy(bz_heapq_at(heap, place), entry, heap->entry_bytes);
    bz_heapq_to_root(heap, first, place);
}

/* heapq.heappop() without its result: the first of `count` entries leaves. */
static inline void bz_heapq_drop_first(const struct bz_heapq *heap, uint32_t count) {
    if (count > 1) {
        bz_heapq_move(heap, 0, count - 1);
        bz_heapq_to_leaf(heap, count - 1, 0);
    }
}

/* heapq.heapify() */
static inline void bz_heapq_order(const struct bz_heapq *heap, uint32_t count) {
    for (uint32_t place = count / 2; place-- > 0;) {
        bz_heapq_to_leaf(heap, count, place);
    }
}

#endif
