#include "primitives/runtime/image.h"

#include <string.h>

#include "primitives/runtime/driver.h"

#define CLEARED_BELOW_BYTES 768u /* as deep as frames of primitives go */
#define RANKED_TIMERS_MAX 256u   /* ranking them is quadratic; more keep their numbers */

bool bz_image_is_supported(void) {
#ifdef BZ_SWITCH_UCONTEXT
    return false;
#else
    return !BZ_SAN_ADDRESS && !BZ_SAN_THREAD;
#endif
}

/* --- stacks ----------------------------------------------------------------------------------- */

/* The live part of a task's stack; the project is compiled without a red zone below it. */
static size_t live_bytes(const struct bz_task *task) {
    const char *top = bz_stack_top(task->stack);
    return (size_t)(top - (const char *)task->coro.sp);
}

static bool has_stack(const struct bz_task *task) {
    return task != NULL && task->stack != NULL;
}

/* --- saving ----------------------------------------------------------------------------------- */

/* An image begins with this. */
struct image_head {
    size_t blocks_bytes; /* of the arena */
    struct bz_loop loop;
};

size_t bz_image_bytes(const struct bz_loop *loop) {
    size_t blocks_bytes;
    (void)bz_mem_blocks(loop->mem, &blocks_bytes);
    size_t bytes = sizeof(struct image_head) + blocks_bytes + bz_mem_record_bytes(loop->mem) +
                   bz_stack_pool_record_bytes(loop->stacks);
    for (uint32_t id = 1; id <= loop->tasks_created; id++) {
        const struct bz_task *task = bz_driver_task(loop, id);
        bytes += has_stack(task) ? live_bytes(task) : 0;
    }
    return bytes;
}

static char *put(char *to, const void *from, size_t bytes) {
    memcpy(to, from, bytes);
    return to + bytes;
}

size_t bz_image_save(const struct bz_loop *loop, void *image, struct bz_image_layout *layout) {
    struct image_head *head = image;
    char *to = (char *)image + sizeof *head;
    const char *blocks = bz_mem_blocks(loop->mem, &head->blocks_bytes);
    head->loop = *loop;
    layout->queue_offset = sizeof *head + (size_t)((const char *)loop->ready - blocks);
    layout->queue_count = loop->ready_count;
    to = put(to, blocks, head->blocks_bytes);
    for (uint32_t id = 1; id <= loop->tasks_created; id++) {
        const struct bz_task *task = bz_driver_task(loop, id);
        if (has_stack(task)) {
            to = put(to, task->coro.sp, live_bytes(task));
        }
    }
    layout->state_bytes = (size_t)(to - (char *)image);
    to += bz_mem_save_record(loop->mem, to);
    to += bz_stack_pool_save_record(loop->stacks, to);
    return (size_t)(to - (char *)image);
}

/* Functions leave gaps in their frames that they never write. What is found there comes from below
 * the stack pointer, and would tell of the steps that were taken back. */
static void clear_below(const struct bz_task *task) {
    size_t room = (size_t)((char *)task->coro.sp - (char *)task->stack->base);
    size_t bytes = room < CLEARED_BELOW_BYTES ? room : CLEARED_BELOW_BYTES;
    memset((char *)task->coro.sp - bytes, 0, bytes);
}

/* The blocks first: they say which stacks there are. */
void bz_image_restore(struct bz_loop *loop, const void *image) {
    const struct image_head *head = image;
    const char *from = (const char *)image + sizeof *head;
    size_t bytes;
    *loop = head->loop;
    memcpy(bz_mem_blocks(loop->mem, &bytes), from, head->blocks_bytes);
    from += head->blocks_bytes;
    for (uint32_t id = 1; id <= loop->tasks_created; id++) {
        const struct bz_task *task = bz_driver_task(loop, id);
        if (has_stack(task)) {
            bytes = live_bytes(task);
            memcpy(task->coro.sp, from, bytes);
            clear_below(task);
            from += bytes;
        }
    }
    from += bz_mem_restore_record(loop->mem, from);
    (void)bz_stack_pool_restore_record(loop->stacks, from);
}

/* --- forgetting ------------------------------------------------------------------------------- */

static void forget_numbers(struct bz_actor *actor) {
    memset(actor->count, 0, sizeof actor->count);
}

static void canonicalize_queue(struct bz_loop *loop) {
    bz_ready_slide(loop);
    size_t stale = (size_t)(loop->ready_end - loop->ready) + BZ_TAKE_UNROLLED - loop->ready_count;
    memset(loop->ready + loop->ready_count, 0, stale * sizeof *loop->ready);
    for (uint32_t index = 0; index < loop->ready_count; index++) {
        struct bz_handle *handle = loop->ready[index];
        handle->nth = 0;
        if (handle->role == BZ_ROLE_TIMER) {
            bz_container_of(handle, struct bz_timer, handle)->order = 0; /* it is due */
        }
    }
}

/* The order in which timers were armed counts among those that are armed: as ranks. */
static void canonicalize_timers(struct bz_loop *loop) {
    uint64_t ranks[RANKED_TIMERS_MAX];
    memset(loop->heap + loop->heap_count, 0,
           (loop->heap_capacity - loop->heap_count) * sizeof *loop->heap);
    if (loop->heap_count > RANKED_TIMERS_MAX) {
        return;
    }
    for (uint32_t index = 0; index < loop->heap_count; index++) {
        ranks[index] = 0;
        for (uint32_t other = 0; other < loop->heap_count; other++) {
            ranks[index] += loop->heap[other].order < loop->heap[index].order;
        }
    }
    for (uint32_t index = 0; index < loop->heap_count; index++) {
        struct bz_timer *timer = loop->heap[index].timer;
        loop->heap[index].order = ranks[index];
        timer->order = ranks[index];
        timer->handle.nth = 0;
    }
    loop->timers_armed = loop->heap_count;
}

static void canonicalize_tasks(struct bz_loop *loop) {
    for (uint32_t id = 1; id <= loop->tasks_created; id++) {
        struct bz_task *task = bz_driver_task(loop, id);
        if (task == NULL) {
            continue;
        }
        forget_numbers(&task->actor);
        task->wake.handle.nth = 0;
        if (task->stack == NULL) {
            memset(&task->coro, 0, sizeof task->coro);
        }
    }
}

void bz_image_canonicalize(struct bz_loop *loop) {
    BZ_CHECK(loop->current == NULL);
    memset(&loop->driver_coro, 0, sizeof loop->driver_coro);
    forget_numbers(&loop->actor);
    canonicalize_tasks(loop);
    canonicalize_queue(loop);
    canonicalize_timers(loop);
    bz_mem_scrub(loop->mem);
}
