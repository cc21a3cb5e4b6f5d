/* Shared by the runtime's own files. Not installed; driver.h is the contract for users. sim/native
 * also reads it, to take snapshots of a loop and to inline bz_driver_step(). */
#ifndef BZ_RUNTIME_INTERNAL_H
#define BZ_RUNTIME_INTERNAL_H

#include <string.h>

#include "primitives/runtime/check.h"
#include "primitives/runtime/coro/coro.h"
#include "primitives/runtime/driver.h"
#include "primitives/runtime/loop.h"
#include "primitives/runtime/rules.h"
#include "primitives/runtime/task.h"
#include "primitives/runtime/timer.h"

/* An owner of handles, and how many it has made. */
struct bz_actor {
    uint32_t id;
    uint32_t count[BZ_ROLE_COUNT];
};

struct bz_task {
    struct bz_future done;        /* completes when the task ends */
    struct bz_callback wake;      /* its next step, or its entry among a future's callbacks */
    struct bz_future *waiting_on; /* asyncio: _fut_waiter */
    struct bz_coro coro;
    struct bz_stack *stack;
    bz_task_fn *fn;
    void *arg;
    struct bz_list siblings; /* in loop->tasks */
    struct bz_actor actor;
    uint32_t cancel_requests;
    bool must_cancel; /* deliver a request at the next resume */
    bool is_started;
    bool is_detached;
    uint8_t resume_status; /* enum bz_status that the pending await returns */
    bool is_woken;         /* its future is done, and it has not resumed */
    uint32_t name_index;
    const char *name_base;
};

/* See bz_loop_keep_exceptions(). */
struct bz_exceptions {
    void *(*of_thread)(void); /* NULL: they are not kept */
    struct bz_mem **mem;      /* the arena that they are in (sim/variant/new.hpp); NULL: in none */
    bool are_outside;         /* a task was suspended with one that is of none */
};

struct bz_heap_entry {
    uint64_t when_ns;
    uint64_t order;
    struct bz_timer *timer; /* NULL: it was disarmed, see bz_driver_queue_due_timers() */
};

struct bz_loop {
    /* The ready queue, oldest first: ready_count slots from `ready` on. It moves through a block of
     * twice its capacity, and from ready_end back to the front. */
    struct bz_handle **ready;
    struct bz_handle **ready_end;
    struct bz_handle **ready_block;
    uint32_t ready_count;
    uint32_t ready_capacity;
    uint32_t ready_promised;  /* slots reserved for live tasks, armed timers and callbacks */
    uint32_t turn_left;       /* the oldest handles, which belong to the current turn */
    uint32_t ready_withdrawn; /* how often a handle has left the queue without a step */
    uint32_t live_tasks;
    struct bz_task *current;
    struct bz_observer *observer;
    struct bz_exceptions exceptions;
    uint64_t now_ns;
    struct bz_coro driver_coro; /* the side that resumes tasks */
    struct bz_actor actor;      /* id 0: owns the handles that belong to no task */
    struct bz_list tasks;       /* not freed yet, oldest first */
    uint32_t tasks_created;
    uint32_t tasks_max;
    struct bz_heap_entry *heap;
    uint32_t heap_count;
    uint32_t heap_capacity;
    uint32_t heap_disarmed; /* entries without a timer */
    bool has_told_number;   /* the code asked for a task's number or name (sim/explore) */
    bool has_noted;         /* see bz_future_set_result_noted() */
    uint64_t timers_armed;
    const struct bz_rules *rules; /* never NULL */
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

/* Owns the handles that are made now. */
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

/* A task, an armed timer, a registered callback and a call_soon have one reserved ("promised") slot
 * each, from creation to end. So a wake-up can neither fail nor ask for memory. */

/* Makes space for `count` more promises; false, and nothing is changed, without memory. */
bool bz_ready_reserve(struct bz_loop *loop, uint32_t count);

/* Makes one promise. */
static inline bool bz_ready_promise(struct bz_loop *loop) {
    bool has_space = bz_ready_reserve(loop, 1);
    loop->ready_promised += has_space;
    return has_space;
}

/* Moves the queue to the front of its block. */
void bz_ready_slide(struct bz_loop *loop);

/* Appends a handle that has a promised slot. */
static inline void bz_ready_push(struct bz_loop *loop, struct bz_handle *handle) {
    BZ_CHECK(!handle->is_ready);
    BZ_CHECK(loop->ready_count < loop->ready_promised);
    handle->is_ready = true;
    if (__builtin_expect(loop->ready + loop->ready_count == loop->ready_end, 0)) {
        bz_ready_slide(loop);
    }
    loop->ready[loop->ready_count++] = handle;
}

/* --- suspending and waking -------------------------------------------------------------------- */

/* Completes a pending future. */
void bz_future_complete(struct bz_future *future, enum bz_future_state state, enum bz_status status,
                        uint64_t value);

/* bz_future_await() with the reason to report. */
enum bz_status bz_future_await_as(struct bz_future *future, enum bz_wait wait) BZ_MUST_USE;

/* The same as the next, in a program in C++. */
enum bz_status bz_task_suspend_exceptions(struct bz_loop *loop, struct bz_task *task);

/* Suspends the running task; returns what its await returns. The caller reports the suspension. */
static inline enum bz_status bz_task_suspend(struct bz_loop *loop, struct bz_task *task) {
    if (__builtin_expect(loop->exceptions.of_thread != NULL, 0)) {
        return bz_task_suspend_exceptions(loop, task);
    }
    bz_coro_switch(&task->coro, &loop->driver_coro);
    return (enum bz_status)task->resume_status;
}

/* Reports that the task waits on, although it was asked to cancel. */
void bz_task_report_waits_on(struct bz_task *task);

/* Cancels what a suspended task waits for. False: that continues, and so does the wait. */
bool bz_task_cancel_wait(struct bz_task *task);

/* Ends a marked task that has not started. */
void bz_task_end_unstarted(struct bz_loop *loop, struct bz_task *task);

/* Releases what an ended task no longer needs; afterwards the task may be gone. */
void bz_task_reap(struct bz_loop *loop, struct bz_task *task);

/* The functions of the timers of bz_sleep() and bz_timeout_enter(), and of a callback's handle. */
void bz_sleeper_fire(struct bz_timer *timer);
void bz_deadline_fire(struct bz_timer *timer);
void bz_callback_run(struct bz_handle *handle);

/* --- the bodies of bz_driver_take() and bz_driver_step() -------------------------------------- */

/* The usual index is below BZ_READY_SPARE: a table of moves replaces a branch on the index. */
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
    } else {
        __builtin_prefetch(handle, 1); /* of a task that is in no cache, while the others move */
        __builtin_prefetch((const char *)handle + 64, 1);
        if (index <= loop->ready_count / 2) {
            memmove(ready + 1, ready, index * sizeof *ready);
            loop->ready = ready + 1;
        } else {
            memmove(ready + index, ready + index + 1,
                    (loop->ready_count - index - 1) * sizeof *ready);
        }
    }
    loop->ready_count--;
    loop->turn_left -= index < loop->turn_left;
    handle->is_ready = false;
    return handle;
}

/* One step of a task: asyncio's Task.__step. The future that it waited for may be gone by now. */
static inline __attribute__((always_inline)) void bz_loop_step_task(struct bz_loop *loop,
                                                                    struct bz_task *task) {
    enum bz_status status = (enum bz_status)task->resume_status;
    if (task->must_cancel) {
        bool is_put_off =
            task->is_woken && status != BZ_CANCELLED && loop->rules->woken == BZ_WOKEN_KEEPS_RESULT;
        status = is_put_off ? status : BZ_CANCELLED;
        task->must_cancel = is_put_off;
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
    task = loop->current;
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

/* Classes 0 to 63: blocks of 16, 32, ..., 1024 bytes; then one class for each power of two. */
#define BZ_MEM_SMALL_CLASSES 64u
#define BZ_MEM_CLASSES (BZ_MEM_SMALL_CLASSES + 40u)
#define BZ_MEM_GRAIN_BYTES 16u

struct bz_mem_free_block {
    struct bz_mem_free_block *next;
};

struct bz_mem {
    char *base; /* of the range; this struct is its first block */
    size_t used_bytes;
    size_t used_bytes_max; /* over all resets */
    size_t shift_bytes;    /* see bz_mem_shift() */
    size_t limit_bytes;
    size_t mapped_bytes; /* of the limit; more by need (room.h) */
    uint64_t live_blocks;
    size_t classes_used;            /* one more than the highest class with a free block */
    bool is_exhausted;              /* an allocation was refused since the last reset */
    bool lacks_room;                /* likewise, below the limit: the system gave no more */
    bool marks_freed;               /* see bz_mem_mark_freed() */
    void (*on_exhausted)(void);     /* called at once when one is; NULL: nothing is */
    bool (*refuses)(void *context); /* see bz_mem_let_refuse() */
    void *refuses_context;
    struct bz_mem_free_block *free_lists[BZ_MEM_CLASSES];
};

#define BZ_MEM_HEADER_BYTES ((sizeof(struct bz_mem) + 63u) & ~(size_t)63u)

/* True if an address is in its range. */
static inline bool bz_mem_has(const struct bz_mem *mem, const void *address) {
    return (uintptr_t)address - (uintptr_t)mem->base < mem->limit_bytes;
}

struct bz_stack_pool {
    size_t stack_bytes;
    size_t page_bytes;
    struct bz_stack_slab *slabs; /* newest first */
    uint32_t stacks_mapped;
    struct bz_stack *free_stacks;
    struct bz_stack **by_number;
    uint32_t fresh_taken; /* the next number to hand out if no stack was returned */
    bool is_exhausted;    /* no stack could be taken, since the last reset */
    char *window;         /* where the next slab is mapped (place.h); NULL: anywhere */
    uint32_t turn;        /* see bz_stack_pool_turn() */
};

#endif
