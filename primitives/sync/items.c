#include "primitives/sync/items.h"

#include <string.h>

#include "primitives/runtime/heapq.h"

#define CAPACITY_FIRST 16u

static uint64_t bytes_of(const struct bz_items *items, uint32_t capacity) {
    uint64_t slot_bytes =
        items->kind == BZ_QUEUE_PRIORITY ? sizeof(struct bz_items_entry) : sizeof(uint64_t);
    return capacity * slot_bytes;
}

/* An array for `capacity` items, or NULL. */
static void *slots_new(struct bz_items *items, uint32_t capacity) {
    uint64_t size_bytes = bytes_of(items, capacity);
    return size_bytes > SIZE_MAX ? NULL : bz_mem_alloc_raw(items->mem, (size_t)size_bytes);
}

bool bz_items_init(struct bz_items *items, struct bz_mem *mem, enum bz_queue_kind kind,
                   uint32_t capacity) {
    *items = (struct bz_items){.mem = mem, .kind = (uint8_t)kind};
    items->values = capacity == 0 ? NULL : slots_new(items, capacity);
    items->capacity = items->values == NULL ? 0 : capacity;
    return items->capacity == capacity;
}

void bz_items_fini(struct bz_items *items) {
    bz_mem_free(items->mem, items->values, (size_t)bytes_of(items, items->capacity));
    *items = (struct bz_items){.mem = items->mem, .kind = items->kind};
}

bool bz_items_reserve(struct bz_items *items) {
    if (items->count < items->capacity) {
        return true;
    }
    if (items->capacity > UINT32_MAX / 2) {
        return false;
    }
    uint32_t capacity = items->capacity == 0 ? CAPACITY_FIRST : items->capacity * 2;
    void *larger = slots_new(items, capacity);
    if (larger == NULL) {
        return false;
    }
    if (items->count > 0) {
        /* It is full: copy from the head on, then what precedes it. Stack and heap begin at 0. */
        uint64_t first_bytes = bytes_of(items, items->count - items->head);
        uint64_t second_bytes = bytes_of(items, items->head);
        memcpy(larger, (char *)items->values + second_bytes, (size_t)first_bytes);
        memcpy((char *)larger + first_bytes, items->values, (size_t)second_bytes);
    }
    bz_mem_free(items->mem, items->values, (size_t)bytes_of(items, items->capacity));
    items->values = larger;
    items->capacity = capacity;
    items->head = 0;
    return true;
}

/* --- the heap --------------------------------------------------------------------------------- */

static bool leaves_before(const void *left, const void *right) {
    const struct bz_items_entry *a = left;
    const struct bz_items_entry *b = right;
    return a->priority != b->priority ? a->priority < b->priority : a->order < b->order;
}

static struct bz_heapq heap_of(struct bz_items *items) {
    return (struct bz_heapq){items->heap, sizeof items->heap[0], leaves_before};
}

/* --- push and pop ----------------------------------------------------------------------------- */

/* Avoids head + offset, which may not fit 32 bits. */
static uint32_t ring_index(const struct bz_items *items, uint32_t offset) {
    uint32_t until_end = items->capacity - items->head;
    return offset < until_end ? items->head + offset : offset - until_end;
}

void bz_items_push(struct bz_items *items, uint64_t value, int64_t priority) {
    BZ_CHECK(items->count < items->capacity);
    if (items->kind == BZ_QUEUE_PRIORITY) {
        struct bz_heapq heap = heap_of(items);
        items->heap[items->count] =
            (struct bz_items_entry){.priority = priority, .order = items->puts++, .value = value};
        bz_heapq_to_root(&heap, 0, items->count);
    } else {
        items->values[ring_index(items, items->count)] = value; /* a stack's head stays at 0 */
    }
    items->count++;
}

uint64_t bz_items_pop(struct bz_items *items) {
    BZ_CHECK(items->count > 0);
    items->count--;
    if (items->kind == BZ_QUEUE_PRIORITY) {
        struct bz_heapq heap = heap_of(items);
        uint64_t value = items->heap[0].value;
        bz_heapq_drop_first(&heap, items->count + 1);
        return value;
    }
    if (items->kind == BZ_QUEUE_LIFO) {
        return items->values[items->count];
    }
    uint64_t value = items->values[items->head];
    items->head = ring_index(items, 1);
    return value;
}

void bz_items_clear(struct bz_items *items) {
    items->count = 0;
    items->head = 0;
}
