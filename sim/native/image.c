#include "sim/native/image.h"

#include <string.h>

#include "primitives/runtime/internal.h"
#include "sim/judge/event.h"

#define CLEARED_BELOW_BYTES 768u /* the depth of the frames of primitives */
#define RANKED_TIMERS_MAX 256u   /* ranking them is quadratic; more keep their numbers */

bool bz_image_is_supported(void) {
#ifdef BZ_SWITCH_UCONTEXT
    return false;
#else
    return !BZ_SAN_ADDRESS && !BZ_SAN_THREAD;
#endif
}

/* --- stacks ----------------------------------------------------------------------------------- */

/* The project is compiled without a red zone below the stack pointer. */
static inline size_t live_bytes(const struct bz_task *task) {
    const char *top = bz_stack_top(task->stack);
    return (size_t)(top - (const char *)task->coro.sp);
}

struct bz_image_stack bz_image_stack_of(const struct bz_task *task) {
    return (struct bz_image_stack){.stack = task->stack,
                                   .low = task->coro.sp,
                                   .bytes = (uint32_t)live_bytes(task),
                                   .task = task->actor.id};
}

/* Where a suspended task's stack begins to matter. */
static const void *stack_pointer(const struct bz_task *task) {
#ifdef BZ_SWITCH_UCONTEXT
    return task->coro.ucontext == NULL ? bz_stack_top(task->stack) : task->coro.ucontext;
#else
    return task->coro.sp;
#endif
}

void bz_image_forget_stacks(const struct bz_loop *loop) {
    for (uint32_t number = 0; number < loop->stacks->stacks_mapped; number++) {
        loop->stacks->by_number[number]->cleared_below = NULL;
    }
}

/* Functions do not write all bytes of their frames. The rest comes from below the stack pointer,
 * and would depend on the steps that were undone. */
static void clear_below(const struct bz_task *task) {
    if (task->stack->cleared_below == task->coro.sp) {
        return;
    }
    task->stack->cleared_below = task->coro.sp;
    size_t room = (size_t)((char *)task->coro.sp - (char *)task->stack->base);
    size_t bytes = room < CLEARED_BELOW_BYTES ? room : CLEARED_BELOW_BYTES;
    memset((char *)task->coro.sp - bytes, 0, bytes);
}

struct bz_task *bz_image_next_stack(const struct bz_loop *loop, const struct bz_task *task) {
    struct bz_task *next = bz_driver_next_task(loop, task);
    while (next != NULL && next->stack == NULL) {
        next = bz_driver_next_task(loop, next);
    }
    return next;
}

/* --- arenas ----------------------------------------------------------------------------------- */

struct arena_record {
    size_t used_bytes;
    uint64_t live_blocks;
    size_t classes_used;
};

static char *put(char *to, const void *from, size_t bytes) {
    memcpy(to, from, bytes);
    return to + bytes;
}

static const char *get(void *to, const char *from, size_t bytes) {
    memcpy(to, from, bytes);
    return from + bytes;
}

/* The header is the arena's first block. */
char *bz_arena_blocks(const struct bz_mem *mem) {
    return mem->base + BZ_MEM_HEADER_BYTES + mem->shift_bytes;
}

size_t bz_arena_blocks_bytes(const struct bz_mem *mem) {
    return mem->used_bytes - BZ_MEM_HEADER_BYTES - mem->shift_bytes;
}

size_t bz_arena_record_bytes(const struct bz_mem *mem) {
    return sizeof(struct arena_record) + mem->classes_used * sizeof mem->free_lists[0];
}

char *bz_arena_save_blocks(const struct bz_mem *mem, char *to) {
    return put(to, bz_arena_blocks(mem), bz_arena_blocks_bytes(mem));
}

const char *bz_arena_restore_blocks(struct bz_mem *mem, const char *from, size_t bytes) {
    return get(bz_arena_blocks(mem), from, bytes);
}

static void note_used(struct bz_mem *mem) {
    if (mem->used_bytes > mem->used_bytes_max) {
        mem->used_bytes_max = mem->used_bytes;
    }
}

char *bz_arena_save_record(const struct bz_mem *mem, char *to) {
    struct arena_record record = {mem->used_bytes, mem->live_blocks, mem->classes_used};
    to = put(to, &record, sizeof record);
    return put(to, mem->free_lists, mem->classes_used * sizeof mem->free_lists[0]);
}

const char *bz_arena_restore_record(struct bz_mem *mem, const char *from) {
    struct arena_record record;
    from = get(&record, from, sizeof record);
    note_used(mem);
    for (size_t index = record.classes_used; index < mem->classes_used; index++) {
        mem->free_lists[index] = NULL;
    }
    mem->used_bytes = record.used_bytes;
    mem->live_blocks = record.live_blocks;
    mem->classes_used = record.classes_used;
    return get(mem->free_lists, from, mem->classes_used * sizeof mem->free_lists[0]);
}

void bz_arena_save(const struct bz_mem *mem, void *copy) {
    BZ_CHECK(!BZ_SAN_ADDRESS);
    memcpy(copy, mem->base, mem->used_bytes);
}

void bz_arena_restore(struct bz_mem *mem, const void *copy, size_t copy_bytes) {
    const struct bz_mem *was = copy;
    note_used(mem);
    memset(mem->free_lists, 0, mem->classes_used * sizeof mem->free_lists[0]);
    memcpy(mem->free_lists, was->free_lists, was->classes_used * sizeof mem->free_lists[0]);
    mem->used_bytes = was->used_bytes;
    mem->live_blocks = was->live_blocks;
    mem->classes_used = was->classes_used;
    mem->is_exhausted = was->is_exhausted;
    memcpy(bz_arena_blocks(mem), (const char *)copy + BZ_MEM_HEADER_BYTES,
           copy_bytes - BZ_MEM_HEADER_BYTES);
}

void bz_arena_wipe(struct bz_mem *mem) {
    note_used(mem);
    memset(mem->base + mem->used_bytes, 0, mem->used_bytes_max - mem->used_bytes);
    mem->used_bytes_max = mem->used_bytes;
}

/* --- the pool of stacks ----------------------------------------------------------------------- */

/* The number of stacks taken, the number returned, and the returned ones in list order. */
static char *save_stacks_record(const struct bz_stack_pool *pool, char *to) {
    size_t counts[2] = {pool->fresh_taken, 0};
    char *list = to + sizeof counts;
    for (struct bz_stack *stack = pool->free_stacks; stack != NULL; stack = stack->next_free) {
        list = put(list, &stack, sizeof stack);
        counts[1]++;
    }
    (void)put(to, counts, sizeof counts);
    return list;
}

static void restore_stacks_record(struct bz_stack_pool *pool, const char *from) {
    size_t counts[2];
    from = get(counts, from, sizeof counts);
    pool->fresh_taken = (uint32_t)counts[0];
    struct bz_stack **link = &pool->free_stacks;
    for (; counts[1] > 0; counts[1]--) {
        from = get(link, from, sizeof *link);
        link = &(*link)->next_free;
    }
    *link = NULL;
}

/* --- saving ----------------------------------------------------------------------------------- */

/* The loop, the blocks of its arena and the stacks are the state. The descriptions of
 * the stacks and the records of arena and pool follow. */
size_t bz_image_bytes(const struct bz_loop *loop) {
    size_t bytes = sizeof *loop + bz_arena_blocks_bytes(loop->mem) +
                   bz_arena_record_bytes(loop->mem) + 2 * sizeof(size_t);
    for (const struct bz_stack *stack = loop->stacks->free_stacks; stack != NULL;
         stack = stack->next_free) {
        bytes += sizeof stack;
    }
    for (const struct bz_task *task = bz_image_next_stack(loop, NULL); task != NULL;
         task = bz_image_next_stack(loop, task)) {
        bytes += live_bytes(task) + sizeof(struct bz_image_stack);
    }
    return bytes;
}

size_t bz_image_save(const struct bz_loop *loop, void *image, struct bz_image_layout *layout) {
    char *const begin = image;
    char *to = put(begin, loop, sizeof *loop);
    to = bz_arena_save_blocks(loop->mem, to);
    layout->stacks_offset = (size_t)(to - begin);
    for (const struct bz_task *task = bz_image_next_stack(loop, NULL); task != NULL;
         task = bz_image_next_stack(loop, task)) {
        to = put(to, task->coro.sp, live_bytes(task));
    }
    layout->state_bytes = (size_t)(to - begin);
    layout->stack_count = 0;
    for (const struct bz_task *task = bz_image_next_stack(loop, NULL); task != NULL;
         task = bz_image_next_stack(loop, task)) {
        struct bz_image_stack stack = bz_image_stack_of(task);
        to = put(to, &stack, sizeof stack);
        layout->stack_count++;
    }
    layout->record_offset = (size_t)(to - begin);
    to = bz_arena_save_record(loop->mem, to);
    return (size_t)(save_stacks_record(loop->stacks, to) - begin);
}

/* Restores the blocks first, because they hold the list of stacks. */
void bz_image_restore(struct bz_loop *loop, const void *image,
                      const struct bz_image_layout *layout) {
    const char *from = get(loop, image, sizeof *loop);
    from = bz_arena_restore_blocks(loop->mem, from, layout->stacks_offset - sizeof *loop);
    for (const struct bz_task *task = bz_image_next_stack(loop, NULL); task != NULL;
         task = bz_image_next_stack(loop, task)) {
        from = get(task->coro.sp, from, live_bytes(task));
        clear_below(task);
    }
    from = bz_arena_restore_record(loop->mem, (const char *)image + layout->record_offset);
    restore_stacks_record(loop->stacks, from);
}

/* --- forgetting ------------------------------------------------------------------------------- */

static void forget_numbers(struct bz_actor *actor) {
    memset(actor->count, 0, sizeof actor->count);
}

/* True if a callback was ever made. */
static bool made_callbacks(const struct bz_loop *loop) {
    uint32_t callbacks = loop->actor.count[BZ_ROLE_CALLBACK];
    const struct bz_task *task = NULL;
    while ((task = bz_driver_next_task(loop, task)) != NULL) {
        callbacks |= task->actor.count[BZ_ROLE_CALLBACK];
    }
    return callbacks != 0;
}

/* The maker of a handle, and when; but a step is its task's. */
static void forget_name(struct bz_handle *handle) {
    handle->nth = 0;
    if (handle->role != BZ_ROLE_STEP) {
        handle->owner = 0;
    }
}

static void canonicalize_queue(struct bz_loop *loop) {
    bz_ready_slide(loop);
    loop->ready_withdrawn = 0;
    size_t stale = (size_t)(loop->ready_end - loop->ready) + BZ_READY_SPARE - loop->ready_count;
    memset(loop->ready + loop->ready_count, 0, stale * sizeof *loop->ready);
    for (uint32_t index = 0; index < loop->ready_count; index++) {
        struct bz_handle *handle = loop->ready[index];
        forget_name(handle);
        if (handle->role == BZ_ROLE_TIMER) {
            bz_container_of(handle, struct bz_timer, handle)->order = 0; /* it is due */
        }
    }
}

/* In the order in which timers fire, which is one of several layouts of the heap. */
static void sort_timers(struct bz_loop *loop) {
    struct bz_heap_entry *heap = loop->heap;
    for (uint32_t index = 1; index < loop->heap_count; index++) {
        struct bz_heap_entry entry = heap[index];
        uint32_t place = index;
        for (; place > 0 &&
               (heap[place - 1].when_ns > entry.when_ns ||
                (heap[place - 1].when_ns == entry.when_ns && heap[place - 1].order > entry.order));
             place--) {
            heap[place] = heap[place - 1];
        }
        heap[place] = entry;
    }
    for (uint32_t index = 0; index < loop->heap_count; index++) {
        heap[index].timer->heap_index = index;
    }
}

/* Ranks armed timers: by arming order among those of one time. */
static void rank_timers(struct bz_loop *loop) {
    uint64_t rank = 0;
    for (uint32_t index = 0; index < loop->heap_count; index++) {
        struct bz_heap_entry *entry = &loop->heap[index];
        rank = index > 0 && entry[-1].when_ns == entry->when_ns ? rank + 1 : 0;
        entry->order = rank;
        entry->timer->order = rank;
        forget_name(&entry->timer->handle);
    }
}

/* asyncio's heap breaks ties by its layout, and keeps entries without a timer: they keep their
 * places. */
static void rank_heapq(struct bz_loop *loop) {
    uint64_t ranks[RANKED_TIMERS_MAX];
    for (uint32_t index = 0; index < loop->heap_count; index++) {
        ranks[index] = 0;
        for (uint32_t other = 0; other < loop->heap_count; other++) {
            ranks[index] += loop->heap[other].order < loop->heap[index].order;
        }
    }
    for (uint32_t index = 0; index < loop->heap_count; index++) {
        struct bz_timer *timer = loop->heap[index].timer;
        loop->heap[index].order = ranks[index];
        if (timer != NULL) {
            timer->order = ranks[index];
            forget_name(&timer->handle);
        }
    }
}

static void canonicalize_timers(struct bz_loop *loop) {
    memset(loop->heap + loop->heap_count, 0,
           (loop->heap_capacity - loop->heap_count) * sizeof *loop->heap);
    if (loop->heap_count > RANKED_TIMERS_MAX) {
        return;
    }
    if (loop->rules->timers == BZ_TIMERS_BY_HEAPQ) {
        rank_heapq(loop);
    } else {
        sort_timers(loop);
        rank_timers(loop);
    }
    loop->timers_armed = loop->heap_count;
}

/* The names of those that wait for the end of a task. */
static void forget_callbacks(struct bz_future *future) {
    for (struct bz_list *link = future->callbacks.next; link != &future->callbacks;
         link = link->next) {
        forget_name(&bz_container_of(link, struct bz_callback, link)->handle);
    }
}

static void canonicalize_tasks(struct bz_loop *loop) {
    for (struct bz_task *task = bz_driver_next_task(loop, NULL); task != NULL;
         task = bz_driver_next_task(loop, task)) {
        forget_numbers(&task->actor);
        forget_name(&task->wake.handle);
        forget_callbacks(&task->done);
        if (task->stack == NULL) {
            memset(&task->coro, 0, sizeof task->coro);
        } else if (bz_image_is_supported()) {
            clear_below(task);
        }
    }
}

void bz_image_normalize(struct bz_loop *loop) {
    BZ_CHECK(loop->current == NULL);
    memset(&loop->driver_coro, 0, sizeof loop->driver_coro);
    bool has_callbacks = made_callbacks(loop);
    forget_numbers(&loop->actor);
    canonicalize_tasks(loop);
    loop->actor.count[BZ_ROLE_CALLBACK] = has_callbacks; /* loop_oracles.c asks for it */
    canonicalize_queue(loop);
    canonicalize_timers(loop);
}

/* --- fingerprints ----------------------------------------------------------------------------- */

typedef uintptr_t __attribute__((may_alias)) any_word;

/* Also reads memory that the sanitizers guard. */
__attribute__((no_sanitize("address", "thread"))) static uint64_t
fold(uint64_t print, const void *from, const void *end) {
    for (const any_word *word = from; word < (const any_word *)end; word++) {
        print = bz_digest_word(print, *word);
    }
    return print;
}

bool bz_image_fingerprint(const struct bz_loop *loop, uint64_t *fingerprint) {
    const struct bz_mem *mem = loop->mem;
    uint64_t print = fold(BZ_DIGEST_SEED, loop, loop + 1);
    print = bz_digest_word(print, mem->used_bytes);
    print = bz_digest_word(print, mem->live_blocks);
    print = fold(print, bz_arena_blocks(mem), mem->base + mem->used_bytes);
    for (const struct bz_task *task = bz_image_next_stack(loop, NULL); task != NULL;
         task = bz_image_next_stack(loop, task)) {
        if (task->coro.fake_stack != NULL) {
            return false;
        }
        print = fold(print, stack_pointer(task), bz_stack_top(task->stack));
    }
    *fingerprint = print;
    return true;
}

/* --- a step ----------------------------------------------------------------------------------- */

/* A task saves callee-saved registers on its stack, and a state must depend on the past of the task
 * alone: so these are zero when it begins, and hold no values of the driver. */
#if defined(__x86_64__) && !defined(BZ_SWITCH_UCONTEXT)
__attribute__((naked, noinline)) static void begin_clear(void) {
    __asm__ volatile("xorl %ebx, %ebx\n\t"
                     "xorl %r12d, %r12d\n\t"
                     "xorl %r13d, %r13d\n\t"
                     "xorl %r14d, %r14d\n\t"
                     "xorl %r15d, %r15d\n\t"
                     "retq"); /* to the entry function, which is on the stack */
}

static inline __attribute__((always_inline)) void clear_registers(struct bz_task *task) {
    if (!task->is_started) {
        uintptr_t *sp = (uintptr_t *)task->coro.sp - 1;
        *sp = (uintptr_t)task->coro.pc;
        task->coro.sp = sp;
        task->coro.pc = (void *)(uintptr_t)begin_clear;
    }
}
#else
static inline __attribute__((always_inline)) void clear_registers(struct bz_task *task) {
    (void)task;
#if defined(__aarch64__)
    __asm__ volatile("mov x19, xzr\n\tmov x20, xzr\n\tmov x21, xzr\n\tmov x22, xzr\n\t"
                     "mov x23, xzr\n\tmov x24, xzr\n\tmov x25, xzr\n\tmov x26, xzr\n\t"
                     "mov x27, xzr\n\tmov x28, xzr"
                     :
                     :
                     : "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28");
#endif
}
#endif

void bz_image_step(struct bz_loop *loop, struct bz_handle *handle) {
    if (handle->role == BZ_ROLE_STEP) {
        struct bz_task *task = bz_container_of(handle, struct bz_task, wake.handle);
        task->stack->cleared_below = NULL;
        clear_registers(task);
    }
    bz_driver_step(loop, handle);
}
