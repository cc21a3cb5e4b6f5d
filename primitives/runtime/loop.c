#include "primitives/runtime/loop.h"

#include <stdlib.h>
#include <string.h>

#include "primitives/runtime/internal.h"

#define READY_CAPACITY_FIRST 16u /* at least BZ_READY_SPARE */
#define HEAP_CAPACITY_FIRST 8u

/* A block of slots for a queue of that capacity: it slides back at most once in `capacity` pushes,
 * so that a push is O(1). */
static size_t ready_block_slots(uint32_t capacity) {
    return 2 * (size_t)capacity + BZ_READY_SPARE;
}

static struct bz_handle **ready_block_new(struct bz_loop *loop, uint32_t capacity) {
    return bz_mem_alloc(loop->mem, ready_block_slots(capacity) * sizeof(struct bz_handle *));
}

static void ready_block_set(struct bz_loop *loop, struct bz_handle **block, uint32_t capacity) {
    loop->ready_block = block;
    loop->ready = block;
    loop->ready_end = block + 2 * (size_t)capacity;
    loop->ready_capacity = capacity;
}

/* The queue and the heap live in the arena, so that one reset empties everything. */
static bool loop_start(struct bz_loop *loop) {
    struct bz_handle **block = ready_block_new(loop, READY_CAPACITY_FIRST);
    loop->heap = bz_mem_alloc_raw(loop->mem, HEAP_CAPACITY_FIRST * sizeof(struct bz_heap_entry));
    if (block == NULL || loop->heap == NULL) {
        return false;
    }
    ready_block_set(loop, block, READY_CAPACITY_FIRST);
    loop->ready_count = 0;
    loop->ready_promised = 0;
    loop->turn_left = 0;
    loop->heap_count = 0;
    loop->heap_capacity = HEAP_CAPACITY_FIRST;
    loop->timers_armed = 0;
    loop->live_tasks = 0;
    loop->tasks_created = 0;
    bz_list_init(&loop->tasks);
    loop->current = NULL;
    loop->observer = NULL;
    loop->now_ns = 0;
    loop->actor = (struct bz_actor){0};
    return true;
}

struct bz_loop *bz_loop_new(const struct bz_loop_config *config) {
    struct bz_loop_config defaults = {0};
    if (config == NULL) {
        config = &defaults;
    }
    struct bz_loop *loop = calloc(1, sizeof *loop);
    if (loop == NULL) {
        return NULL;
    }
    loop->mem = bz_mem_new(config->mem_limit_bytes);
    loop->stacks = bz_stack_pool_new(config->stack_bytes);
    if (loop->mem == NULL || loop->stacks == NULL) {
        bz_loop_destroy(loop);
        return NULL;
    }
    loop->tasks_max = config->tasks_max == 0 ? UINT32_MAX - 1 : config->tasks_max;
    if (!loop_start(loop)) {
        bz_loop_destroy(loop);
        return NULL;
    }
    return loop;
}

void bz_loop_destroy(struct bz_loop *loop) {
    if (loop != NULL) {
        bz_stack_pool_destroy(loop->stacks);
        bz_mem_destroy(loop->mem);
        free(loop);
    }
}

void bz_loop_reset(struct bz_loop *loop) {
    BZ_CHECK(loop->current == NULL);
    bz_mem_reset(loop->mem);
    bz_stack_pool_reset(loop->stacks);
    bool is_started = loop_start(loop);
    BZ_CHECK(is_started); /* there was room for it before */
}

uint64_t bz_loop_now_ns(const struct bz_loop *loop) {
    return loop->now_ns;
}

struct bz_mem *bz_loop_mem(struct bz_loop *loop) {
    return loop->mem;
}

struct bz_task *bz_loop_current(const struct bz_loop *loop) {
    return loop->current;
}

uint32_t bz_loop_live_tasks(const struct bz_loop *loop) {
    return loop->live_tasks;
}

bool bz_loop_call_soon(struct bz_loop *loop, struct bz_handle *handle,
                       void (*run)(struct bz_handle *handle)) {
    if (!bz_ready_promise(loop)) {
        return false;
    }
    bz_handle_init(handle, bz_loop_actor(loop), BZ_ROLE_CALLBACK, run);
    bz_ready_push(loop, handle);
    return true;
}

void bz_ready_slide(struct bz_loop *loop) {
    memmove(loop->ready_block, loop->ready, loop->ready_count * sizeof *loop->ready);
    loop->ready = loop->ready_block;
}

/* Doubles the capacity. */
static bool ready_grow(struct bz_loop *loop) {
    uint32_t capacity = loop->ready_capacity;
    struct bz_handle **larger = ready_block_new(loop, 2 * capacity);
    if (larger == NULL) {
        return false;
    }
    memcpy(larger, loop->ready, loop->ready_count * sizeof *loop->ready);
    bz_mem_free(loop->mem, loop->ready_block,
                ready_block_slots(capacity) * sizeof(struct bz_handle *));
    ready_block_set(loop, larger, 2 * capacity);
    return true;
}

bool bz_ready_reserve(struct bz_loop *loop, uint32_t count) {
    while (loop->ready_capacity - loop->ready_promised < count) {
        if (!ready_grow(loop)) {
            return false;
        }
    }
    return true;
}

void bz_ready_remove(struct bz_loop *loop, struct bz_handle *handle) {
    for (uint32_t index = loop->ready_count; index-- > 0;) {
        if (loop->ready[index] == handle) {
            bz_driver_take(loop, index);
            return;
        }
    }
    BZ_CHECK(!"the handle is not in the ready queue");
}
