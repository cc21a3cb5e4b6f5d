#include "primitives/runtime/loop.h"

#include <stdlib.h>
#include <string.h>

#include "primitives/runtime/internal.h"
#include "primitives/runtime/place.h"

#define READY_CAPACITY_FIRST 16u /* at least BZ_READY_SPARE */
#define HEAP_CAPACITY_FIRST 8u

/* The queue slides back at most once in `capacity` pushes, so a push is O(1). */
static size_t ready_block_bytes(uint32_t capacity) {
    return (2 * (size_t)capacity + BZ_READY_SPARE) * sizeof(struct bz_handle *);
}

/* Moves the queue to a new block. The block before it is still allocated. */
static bool ready_resize(struct bz_loop *loop, uint32_t capacity) {
    struct bz_handle **block = bz_mem_alloc(loop->mem, ready_block_bytes(capacity));
    if (block == NULL) {
        return false;
    }
    if (loop->ready_count > 0) {
        memcpy(block, loop->ready, loop->ready_count * sizeof *block);
    }
    loop->ready_block = block;
    loop->ready = block;
    loop->ready_end = block + 2 * (size_t)capacity;
    loop->ready_capacity = capacity;
    return true;
}

static const struct bz_rules rules_shipped = {0};

/* The queue and the heap are in the arena, so one reset empties everything. */
static bool loop_start(struct bz_loop *loop) {
    *loop = (struct bz_loop){
        .mem = loop->mem,
        .stacks = loop->stacks,
        .tasks_max = loop->tasks_max,
        .exceptions = loop->exceptions,
        .heap_capacity = HEAP_CAPACITY_FIRST,
        .rules = &rules_shipped,
    };
    bz_list_init(&loop->tasks);
    bool has_queue = ready_resize(loop, READY_CAPACITY_FIRST);
    loop->heap = bz_mem_alloc_raw(loop->mem, HEAP_CAPACITY_FIRST * sizeof(struct bz_heap_entry));
    return has_queue && loop->heap != NULL;
}

struct bz_loop *bz_loop_new(const struct bz_loop_config *config) {
    static const struct bz_loop_config defaults = {0};
    config = config == NULL ? &defaults : config;
    struct bz_loop *loop = bz_place_new(sizeof *loop, NULL);
    if (loop == NULL) {
        return NULL;
    }
    loop->mem = bz_mem_new(config->mem_limit_bytes);
    loop->stacks = bz_stack_pool_new(config->stack_bytes);
    loop->tasks_max = config->tasks_max == 0 ? UINT32_MAX - 1 : config->tasks_max;
    if (loop->mem == NULL || loop->stacks == NULL || !loop_start(loop)) {
        bz_loop_destroy(loop);
        return NULL;
    }
    return loop;
}

void bz_loop_destroy(struct bz_loop *loop) {
    if (loop != NULL) {
        bz_stack_pool_destroy(loop->stacks);
        bz_mem_destroy(loop->mem);
        bz_place_free(loop, sizeof *loop);
    }
}

void bz_loop_reset(struct bz_loop *loop) {
    BZ_CHECK(loop->current == NULL);
    bz_mem_reset(loop->mem);
    bz_stack_pool_reset(loop->stacks);
    bool is_started = loop_start(loop);
    BZ_CHECK(is_started); /* as bz_loop_new() did */
}

void bz_loop_set_rules(struct bz_loop *loop, const struct bz_rules *rules) {
    BZ_CHECK(loop->tasks_created == 0 && loop->timers_armed == 0);
    loop->rules = rules == NULL ? &rules_shipped : rules;
}

void bz_loop_keep_exceptions(struct bz_loop *loop, void *(*of_thread)(void)) {
    loop->exceptions = (struct bz_exceptions){.of_thread = of_thread};
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

bool bz_ready_reserve(struct bz_loop *loop, uint32_t count) {
    while (loop->ready_capacity - loop->ready_promised < count) {
        struct bz_handle **block = loop->ready_block;
        uint32_t capacity = loop->ready_capacity;
        if (!ready_resize(loop, 2 * capacity)) {
            return false;
        }
        bz_mem_free(loop->mem, block, ready_block_bytes(capacity));
    }
    return true;
}
