/* The driver seam: who picks the next ready handle, and what time is it.
 *
 * The loop is passive. A driver holds the clock, decides which ready handle runs next, and runs it
 * with bz_driver_step(), one handle at a time. bz_loop_run() is the driver that ships: FIFO, on the
 * system's monotonic clock. A simulator is another one.
 *
 * asyncio's order, which a FIFO driver follows turn by turn: events from outside are queued, then
 * the timers that are due; then exactly as many handles run as are in the queue at that moment, and
 * what they queue waits for the next turn.
 *
 * struct bz_loop is open here because the step is inlined into the driver's own loop: with no call
 * between the driver and the context switch, the processor predicts every return (see coro.h).
 */
#ifndef BZ_RUNTIME_DRIVER_H
#define BZ_RUNTIME_DRIVER_H

#include <string.h>

#include "primitives/runtime/check.h"
#include "primitives/runtime/coro/coro.h"
#include "primitives/runtime/loop.h"
#include "primitives/runtime/observe.h"
#include "primitives/runtime/task.h"
#include "primitives/runtime/timer.h"

/* In struct bz_task's wait: the SUSPEND event was emitted before its time, because another event
 * had to come after it. */
#define BZ_WAIT_TOLD 0x80u

/* A heap entry carries its key, so that sifting does not touch the timers. */
struct bz_heap_entry {
    uint64_t when_ns;
    uint64_t order;
    struct bz_timer *timer;
};

struct bz_loop {
    /* The ready queue, oldest first: ready_count slots from `ready` on. It lies in a block of slots
     * that is larger than its capacity, through which it moves as handles are taken and pushed;
     * when it reaches ready_end, it is moved back to the front. So it never wraps around, and the
     * slots behind it exist (BZ_TAKE_UNROLLED). */
    struct bz_handle **ready;
    struct bz_handle **ready_end;
    struct bz_handle **ready_block;
    uint32_t ready_count;
    uint32_t ready_capacity;
    uint32_t ready_promised; /* slots that live tasks, armed timers and callbacks may claim */
    uint32_t live_tasks;
    struct bz_task *current;
    struct bz_task **by_id; /* tasks by number, NULL once freed; see bz_driver_task() */
    uint32_t by_id_capacity;
    struct bz_observer *observer;
    /* A driver that runs in turns keeps them here, so that a handle that leaves the queue early
     * leaves its turn, too: the turn_left oldest handles belong to the current turn, and the last
     * turn_timers of these are its timers. */
    uint32_t turn_left;
    uint32_t turn_timers;
    uint64_t now_ns;
    struct bz_coro driver_coro; /* the side that resumes tasks */
    struct bz_actor actor;      /* owner of handles that belong to no task; its id is 0 */
    uint32_t tasks_created;
    uint32_t tasks_max;
    struct bz_heap_entry *heap;
    uint32_t heap_count;
    uint32_t heap_capacity;
    uint64_t timers_armed;
    struct bz_mem *mem;
    struct bz_stack_pool *stacks;
};

/* The end of time is never reached: what would lie beyond it never comes. */
static inline uint64_t bz_time_after(uint64_t now_ns, uint64_t delay_ns) {
    return delay_ns >= BZ_TIME_NEVER - now_ns ? BZ_TIME_NEVER : now_ns + delay_ns;
}

/* Stores an event in two whole words: a reader that loads words right behind a writer of bytes
 * would wait until the bytes have left the processor's store buffer. */
static inline void bz_event_store(struct bz_event *to, struct bz_event event) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t words[2] = {(uint64_t)event.kind | (uint64_t)event.status << 8u |
                             (uint64_t)event.detail << 16u | (uint64_t)event.window << 24u |
                             (uint64_t)event.task << 32u,
                         (uint64_t)event.object | (uint64_t)event.arg << 32u};
    _Static_assert(sizeof words == sizeof *to, "an event is two words");
    memcpy(to, words, sizeof words);
#else
    *to = event;
#endif
}

static inline void bz_driver_emit(struct bz_loop *loop, struct bz_event event) {
    struct bz_observer *observer = loop->observer;
    if (observer != NULL) {
        bz_event_store(observer->next++, event);
        if (observer->next == observer->end) {
            observer->flush(observer);
        }
    }
}

/* The task of that number, or NULL if there is none, or its memory was given back. The loop keeps
 * this table only of tasks that are created while somebody observes: it grows with every task,
 * which is in order for a run that ends and is not for a program that serves for months. */
static inline struct bz_task *bz_driver_task(const struct bz_loop *loop, uint32_t id) {
    return id < loop->by_id_capacity ? loop->by_id[id] : NULL;
}

/* NULL: nobody listens. The observer must live until the loop is reset or destroyed. */
static inline void bz_driver_observe(struct bz_loop *loop, struct bz_observer *observer) {
    loop->observer = observer;
}

static inline uint32_t bz_driver_ready_count(const struct bz_loop *loop) {
    return loop->ready_count;
}

/* The index-th oldest ready handle, 0 <= index < count. */
static inline struct bz_handle *bz_driver_ready_at(const struct bz_loop *loop, uint32_t index) {
    return loop->ready[index];
}

/* When the first timer is due; BZ_TIME_NEVER without timers. */
static inline uint64_t bz_driver_next_deadline_ns(const struct bz_loop *loop) {
    return loop->heap_count == 0 ? BZ_TIME_NEVER : loop->heap[0].when_ns;
}

/* Sets the clock, which never goes back. Does not touch the timers. */
static inline void bz_driver_set_now(struct bz_loop *loop, uint64_t now_ns) {
    BZ_CHECK(now_ns >= loop->now_ns);
    loop->now_ns = now_ns;
}

/* Queues the timers that are due, in the order (time, arming order); returns how many. */
uint32_t bz_driver_queue_due_timers(struct bz_loop *loop);

/* A turn of a FIFO driver: the handles that are ready now, then the timers that are due, and
 * nothing that comes later.
 *
 *     bz_driver_begin_turn(loop);
 *     while (bz_driver_turn_left(loop) > 0) {
 *         bz_driver_step(loop, bz_driver_take(loop, 0));
 *     }
 *
 * A driver must not count on its own: a due timer that is disarmed leaves the queue before it ran,
 * and still was one of this turn's handles (asyncio skips a cancelled handle and counts it). */
static inline void bz_driver_begin_turn(struct bz_loop *loop) {
    uint32_t carried = loop->ready_count;
    loop->turn_timers = bz_driver_queue_due_timers(loop);
    loop->turn_left = carried + loop->turn_timers;
}

static inline uint32_t bz_driver_turn_left(const struct bz_loop *loop) {
    return loop->turn_left;
}

#define BZ_TAKE_UNROLLED 5u

/* Takes the index-th oldest handle out of the queue. The rest keep their order. O(distance to the
 * nearer end). For a driver that never begins a turn, and has read already which handle it is; it
 * must still be there, and nothing asks whether it is. */
static inline __attribute__((always_inline)) void
bz_driver_take_out(struct bz_loop *loop, uint32_t index, struct bz_handle *handle) {
    struct bz_handle **ready = loop->ready;
    if (__builtin_expect(index < BZ_TAKE_UNROLLED, 1)) {
        /* Nearly always: a fixed number of moves, some of a slot to itself, and no branch that
         * depends on a random index. */
        static const uint8_t kept[BZ_TAKE_UNROLLED][4] = {
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
    handle->is_ready = false;
}

/* The same, for any driver; the handle. */
static inline __attribute__((always_inline)) struct bz_handle *bz_driver_take(struct bz_loop *loop,
                                                                              uint32_t index) {
    BZ_CHECK(index < loop->ready_count);
    struct bz_handle *handle = bz_driver_ready_at(loop, index);
    bz_driver_take_out(loop, index, handle);
    if (index < loop->turn_left) {
        loop->turn_timers -= index >= loop->turn_left - loop->turn_timers;
        loop->turn_left--;
    }
    return handle;
}

/* What is left of a step when a task came back from its coroutine: it is done, or suspended. */
void bz_driver_task_ended(struct bz_loop *loop, struct bz_task *task);
/* A marked task that has not started: it ends without running. */
void bz_driver_task_unstarted_cancel(struct bz_loop *loop, struct bz_task *task);

/* A step of a task in four parts, for a driver that takes note of the step itself, without the
 * detour through the observer's buffer; bz_driver_step() is all four with their events.
 *
 * First: what the pending await returns. The future itself may be gone by now: a joined task is
 * freed by its owner, who need not know who else waited for it. */
static inline __attribute__((always_inline)) enum bz_status
bz_driver_deliver(struct bz_task *task) {
    enum bz_status status = (enum bz_status)task->resume_status;
    if (task->must_cancel) {
        status = BZ_CANCELLED; /* unless it is a cancellation already: either way, one */
        task->must_cancel = false;
    }
    task->resume_status = (uint8_t)status;
    task->wait = BZ_WAIT_NONE;
    return status;
}

/* Second: the task runs until it is suspended or done. Here the RESUME event stands before.
 * `is_clear`: nothing of what the driver has in its registers reaches the task's stack, so that it
 * depends on the task's past alone (image.h). */
static inline __attribute__((always_inline)) void
bz_driver_enter(struct bz_loop *loop, struct bz_task *task, enum bz_status status, bool is_clear) {
    loop->current = task;
    /* The rare condition first: a processor cannot foresee whether a task picked at random started.
     */
    if (__builtin_expect(status == BZ_CANCELLED, 0) && !task->is_started) {
        bz_driver_task_unstarted_cancel(loop, task);
    } else {
        task->is_started = true;
        bz_coro_switch_to(&loop->driver_coro, &task->coro, is_clear);
    }
}

/* Third, right behind it: no task runs. Says which one did, so that a driver need not keep it over
 * a switch that spares no register, and has it in one before. */
static inline __attribute__((always_inline)) struct bz_task *
bz_driver_come_back(struct bz_loop *loop) {
    struct bz_task *task = loop->current;
    loop->current = NULL;
    return task;
}

/* True if the task is suspended and nobody has told so yet: then the SUSPEND event, whose arg is
 * task->wait, comes now. */
static inline bool bz_driver_has_suspended(const struct bz_task *task) {
    return !bz_task_is_done(task) && (task->wait & BZ_WAIT_TOLD) == 0;
}

/* Fourth. The task may be gone after it. */
static inline __attribute__((always_inline)) void bz_driver_leave(struct bz_loop *loop,
                                                                  struct bz_task *task) {
    if (__builtin_expect(bz_task_is_done(task), 0)) {
        bz_driver_task_ended(loop, task);
    }
}

/* One step of a task: asyncio's Task.__step. */
static inline void bz_driver_step_task(struct bz_loop *loop, struct bz_task *task) {
    enum bz_status status = bz_driver_deliver(task);
    bz_driver_emit(loop, (struct bz_event){.kind = BZ_EVENT_RESUME,
                                           .task = task->actor.id,
                                           .status = (uint8_t)status,
                                           .arg = task->wake.handle.nth});
    bz_driver_enter(loop, task, status, false);
    task = bz_driver_come_back(loop);
    if (bz_driver_has_suspended(task)) {
        bz_driver_emit(
            loop,
            (struct bz_event){.kind = BZ_EVENT_SUSPEND, .task = task->actor.id, .arg = task->wait});
    }
    bz_driver_leave(loop, task);
}

/* Runs a handle that is no task's step. */
static inline __attribute__((always_inline)) void bz_driver_call(struct bz_loop *loop,
                                                                 struct bz_handle *handle) {
    bz_driver_emit(
        loop,
        (struct bz_event){.kind = BZ_EVENT_CALLBACK, .task = handle->owner, .arg = handle->role});
    handle->run(handle);
}

/* The task whose step this handle is. */
static inline struct bz_task *bz_driver_task_of(struct bz_handle *handle) {
    return bz_container_of(handle, struct bz_task, wake.handle);
}

/* Runs one handle that was taken: a step. */
static inline void bz_driver_step(struct bz_loop *loop, struct bz_handle *handle) {
    if (handle->role == BZ_ROLE_STEP) {
        bz_driver_step_task(loop, bz_driver_task_of(handle));
    } else {
        bz_driver_call(loop, handle);
    }
}

/* --- for the runtime's own files -------------------------------------------------------------- */

/* Makes room for `count` more promised handles; false, and nothing is changed, when the loop is out
 * of memory. Whoever creates a task, arms a timer or registers a callback promises it a slot of the
 * ready queue, so that a wake-up never has to ask for memory and can never fail. */
bool bz_ready_reserve(struct bz_loop *loop, uint32_t count);

/* Moves the queue to the front of its block. */
void bz_ready_slide(struct bz_loop *loop);

/* Appends a handle. Only one that was not promised a slot (bz_loop_call_soon) can make it grow. */
static inline void bz_ready_push(struct bz_loop *loop, struct bz_handle *handle) {
    BZ_CHECK(!handle->is_ready);
    if (loop->ready_count == loop->ready_capacity) {
        bool has_room = bz_ready_reserve(loop, loop->ready_capacity + 1 - loop->ready_promised);
        BZ_CHECK(has_room); /* the arena's limit leaves no room for the ready queue */
    }
    handle->is_ready = true;
    if (__builtin_expect(loop->ready + loop->ready_count == loop->ready_end, 0)) {
        bz_ready_slide(loop);
    }
    loop->ready[loop->ready_count++] = handle;
}

/* Takes a queued handle out again, wherever it is. O(queue), newest first. */
void bz_ready_remove(struct bz_loop *loop, struct bz_handle *handle);

/* The owner of handles made right now. */
static inline struct bz_actor *bz_loop_actor(struct bz_loop *loop) {
    return loop->current != NULL ? &loop->current->actor : &loop->actor;
}

/* Suspends the running task; returns what its await returns. `wait` says on what; whoever drives
 * the loop tells it to the observer. */
static inline enum bz_status bz_task_suspend(struct bz_loop *loop, struct bz_task *task,
                                             enum bz_wait wait) {
    task->wait |= (uint8_t)wait;
    bz_coro_switch(&task->coro, &loop->driver_coro);
    return (enum bz_status)task->resume_status;
}

/* Queues a timer that is not armed as if it were due, without a detour through the heap: it keeps
 * its place among the handles that are ready now. False when the loop is out of memory. */
bool bz_timer_arm_now(struct bz_timer *timer);

/* Completes a pending future with any state and status. */
void bz_future_complete(struct bz_future *future, enum bz_future_state state, enum bz_status status,
                        uint64_t value);

/* bz_future_await() that says what it waits for. */
enum bz_status bz_future_await_as(struct bz_future *future, enum bz_wait wait) BZ_MUST_USE;

#endif
