/* What the runtime's own files share. Not installed, and not for users: driver.h is the contract.
 *
 * The one other reader is the simulator's sim/native, which takes snapshots of a loop with all that
 * is on it, and has bz_driver_step() inlined into its own loop.
 */
#ifndef BZ_RUNTIME_INTERNAL_H
#define BZ_RUNTIME_INTERNAL_H

#include <string.h>

#include "primitives/runtime/check.h"
#include "primitives/runtime/coro/coro.h"
#include "primitives/runtime/driver.h"
#include "primitives/runtime/loop.h"
#include "primitives/runtime/task.h"
#include "primitives/runtime/timer.h"

/* --- tasks ------------------------------------------------------------------------------------ */

/* Counts the handles of one owner, by role. */
struct bz_actor {
    uint32_t id;
    uint32_t count[BZ_ROLE_COUNT];
};

struct bz_task {
    struct bz_future done;        /* completes when the task ends */
    struct bz_callback wake;      /* its next step, or its place among a future's callbacks */
    struct bz_future *waiting_on; /* asyncio: _fut_waiter */
    struct bz_coro coro;
    struct bz_stack *stack;
    bz_task_fn *fn;
    void *arg;
    struct bz_list siblings; /* in loop->tasks */
    struct bz_actor actor;
    uint32_t cancel_requests;
    bool must_cancel; /* a request to deliver at the next resume */
    bool is_started;
    bool is_detached;
    uint8_t resume_status; /* enum bz_status the pending await returns */
    uint32_t name_index;
    const char *name_base;
};

/* --- the loop --------------------------------------------------------------------------------- */

/* A heap entry carries its key, so that sifting does not touch the timers. */
struct bz_heap_entry {
    uint64_t when_ns;
    uint64_t order;
    struct bz_timer *timer;
};

struct bz_loop {
    /* The ready queue, oldest first: ready_count slots from `ready` on. It moves through a block of
     * twice its capacity as handles are taken and pushed, and back to the front at ready_end. */
    struct bz_handle **ready;
    struct bz_handle **ready_end;
    struct bz_handle **ready_block;
    uint32_t ready_count;
    uint32_t ready_capacity;
    uint32_t ready_promised; /* slots that live tasks, armed timers and callbacks may claim */
    uint32_t turn_left;      /* handles at the head of the queue that belong to the current turn */
    uint32_t live_tasks;
    struct bz_task *current;
    struct bz_observer *observer;
    uint64_t now_ns;
    struct bz_coro driver_coro; /* the side that resumes tasks */
    struct bz_actor actor;      /* owner of handles that belong to no task; its id is 0 */
    struct bz_list tasks;       /* all whose memory was not given back, oldest first */
    uint32_t tasks_created;
    uint32_t tasks_max;
    struct bz_heap_entry *heap;
    uint32_t heap_count;
    uint32_t heap_capacity;
    uint64_t timers_armed;
    struct bz_mem *mem;
    struct bz_stack_pool *stacks;
};

/* Slots behind the end of the ready queue's block, for bz_driver_take(). */
#define BZ_READY_SPARE 5u

/* A program that compiles these files with BZ_REPORT has an observer of that name: it is called
 * directly, and so the compiler may inline it (sim/CMakeLists.txt). */
#ifdef BZ_REPORT
void BZ_REPORT(struct bz_observer *observer, enum bz_event_kind kind, uint32_t task, uint8_t status,
               uint32_t arg);
#define BZ_IS_DIRECT(observer) ((observer)->report == BZ_REPORT)
#else
#define BZ_REPORT(observer, kind, task, status, arg) ((void)0)
#define BZ_IS_DIRECT(observer) false
#endif

static inline void bz_report(struct bz_loop *loop, enum bz_event_kind kind, uint32_t task,
                             enum bz_status status, uint32_t arg) {
    struct bz_observer *observer = loop->observer;
    if (observer == NULL) {
        return;
    }
    if (BZ_IS_DIRECT(observer)) {
        BZ_REPORT(observer, kind, task, (uint8_t)status, arg);
    } else {
        observer->report(observer, kind, task, (uint8_t)status, arg);
    }
}

/* The owner of handles made right now. */
static inline struct bz_actor *bz_loop_actor(struct bz_loop *loop) {
    return loop->current != NULL ? &loop->current->actor : &loop->actor;
}

static inline void bz_handle_init(struct bz_handle *handle, struct bz_actor *owner,
                                  enum bz_role role, void (*run)(struct bz_handle *)) {
    handle->run = run;
    handle->owner = owner->id;
    handle->nth = ++owner->count[role];
    handle->role = (uint8_t)role;
    handle->is_ready = false;
}

/* --- the ready queue -------------------------------------------------------------------------- */

/* A task, an armed timer, a registered callback and a call_soon are promised one slot each from
 * their creation to their end. So a wake-up never asks for memory and can never fail. */

/* Makes room for `count` more promises; false, and nothing is changed, when the loop is out of
 * memory. */
bool bz_ready_reserve(struct bz_loop *loop, uint32_t count);

/* The same, and makes one. */
static inline bool bz_ready_promise(struct bz_loop *loop) {
    bool has_room = bz_ready_reserve(loop, 1);
    loop->ready_promised += has_room;
    return has_room;
}

/* Moves the queue to the front of its block. */
void bz_ready_slide(struct bz_loop *loop);

/* Appends a handle, which was promised a slot. */
static inline void bz_ready_push(struct bz_loop *loop, struct bz_handle *handle) {
    BZ_CHECK(!handle->is_ready);
    BZ_CHECK(loop->ready_count < loop->ready_promised);
    handle->is_ready = true;
    if (__builtin_expect(loop->ready + loop->ready_count == loop->ready_end, 0)) {
        bz_ready_slide(loop);
    }
    loop->ready[loop->ready_count++] = handle;
}

/* Takes a queued handle out again, wherever it is. O(queue), newest first. */
void bz_ready_remove(struct bz_loop *loop, struct bz_handle *handle);

/* --- suspending and waking -------------------------------------------------------------------- */

/* Completes a pending future with any state and status. */
void bz_future_complete(struct bz_future *future, enum bz_future_state state, enum bz_status status,
                        uint64_t value);

/* bz_future_await() that says what it waits for. */
enum bz_status bz_future_await_as(struct bz_future *future, enum bz_wait wait) BZ_MUST_USE;

/* Suspends the running task, whose suspension was reported; returns what its await returns. */
static inline enum bz_status bz_task_suspend(struct bz_loop *loop, struct bz_task *task) {
    bz_coro_switch(&task->coro, &loop->driver_coro);
    return (enum bz_status)task->resume_status;
}

/* A marked task that has not started: it ends without running. */
void bz_task_end_unstarted(struct bz_loop *loop, struct bz_task *task);

/* What is left of a step in which a task has ended. The task may be gone after it. */
void bz_task_reap(struct bz_loop *loop, struct bz_task *task);

/* --- the bodies of bz_driver_take() and bz_driver_step() ---------------------------------------
 */
/* For a driver that makes many steps a second: a call between its loop and the context switch is a
 * return that the processor cannot predict. */

/* A handle among the first BZ_READY_SPARE, nearly always: a fixed number of moves, some of a slot
 * to itself, and no branch that depends on a random index. */
static inline __attribute__((always_inline)) struct bz_handle *bz_loop_take(struct bz_loop *loop,
                                                                            uint32_t index) {
    BZ_CHECK(index < loop->ready_count);
    struct bz_handle **ready = loop->ready;
    struct bz_handle *handle = ready[index];
    if (__builtin_expect(index < BZ_READY_SPARE, 1)) {
        static const uint8_t kept[BZ_READY_SPARE][4] = {
            {1, 2, 3, 4}, {0, 2, 3, 4}, {0, 1, 3, 4}, {0, 1, 2, 4}, {0, 1, 2, 3}};
        ready[4] = ready[kept[index][3]];
        ready[3] = ready[kept[index][2]];
        ready[2] = ready[kept[index][1]];
        ready[1] = ready[kept[index][0]];
        loop->ready = ready + 1;
    } else if (index <= loop->ready_count / 2) {
        memmove(ready + 1, ready, index * sizeof *ready);
        loop->ready = ready + 1;
    } else {
        memmove(ready + index, ready + index + 1, (loop->ready_count - index - 1) * sizeof *ready);
    }
    loop->ready_count--;
    loop->turn_left -= index < loop->turn_left;
    handle->is_ready = false;
    return handle;
}

/* One step of a task: asyncio's Task.__step. The future that it waited for may be gone by now: a
 * joined task is freed by its owner, who need not know who else waited for it. */
static inline __attribute__((always_inline)) void bz_loop_step_task(struct bz_loop *loop,
                                                                    struct bz_task *task) {
    enum bz_status status = (enum bz_status)task->resume_status;
    if (task->must_cancel) {
        status = BZ_CANCELLED; /* unless it is a cancellation already: either way, one */
        task->must_cancel = false;
    }
    task->resume_status = (uint8_t)status;
    bz_report(loop, BZ_EVENT_RESUME, task->actor.id, status, task->wake.handle.nth);
    loop->current = task;
    if (__builtin_expect(status == BZ_CANCELLED && !task->is_started, 0)) {
        bz_task_end_unstarted(loop, task);
    } else {
        task->is_started = true;
        bz_coro_switch(&loop->driver_coro, &task->coro);
    }
    task = loop->current; /* read again: the switch spares no register */
    loop->current = NULL;
    if (__builtin_expect(bz_future_is_done(&task->done), 0)) {
        bz_task_reap(loop, task);
    }
}

static inline __attribute__((always_inline)) void bz_loop_step(struct bz_loop *loop,
                                                               struct bz_handle *handle) {
    if (__builtin_expect(handle->role == BZ_ROLE_STEP, 1)) {
        bz_loop_step_task(loop, bz_container_of(handle, struct bz_task, wake.handle));
    } else {
        loop->ready_promised--;
        bz_report(loop, BZ_EVENT_CALLBACK, handle->owner, BZ_OK, handle->role);
        handle->run(handle);
    }
}

/* --- memory ----------------------------------------------------------------------------------- */

/* Classes 0..63 hold blocks of 16, 32, ..., 1024 bytes; above, one class per power of two. */
#define BZ_MEM_SMALL_CLASSES 64u
#define BZ_MEM_CLASSES (BZ_MEM_SMALL_CLASSES + 40u)
#define BZ_MEM_GRAIN_BYTES 16u

struct bz_mem_free_block {
    struct bz_mem_free_block *next;
};

struct bz_mem {
    char *base; /* of the range, which begins with this struct */
    size_t used_bytes;
    size_t used_bytes_max; /* over all resets: what lies above was never touched */
    size_t limit_bytes;
    uint64_t live_blocks;
    size_t classes_used; /* highest class with a free block, plus one */
    struct bz_mem_free_block *free_lists[BZ_MEM_CLASSES];
};

#define BZ_MEM_HEADER_BYTES ((sizeof(struct bz_mem) + 63u) & ~(size_t)63u)

struct bz_stack_pool {
    size_t stack_bytes;
    size_t page_bytes;
    struct bz_stack_slab *slabs; /* newest first */
    uint32_t stacks_mapped;
    struct bz_stack *free_stacks;
    /* Every stack by number, and how many were handed out since the reset: a reset pool hands out
     * the same stacks in the same order, whatever the run before returned. */
    struct bz_stack **by_number;
    uint32_t fresh_taken;
};

#endif
