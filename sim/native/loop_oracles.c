/* Oracles judge the loop itself, beyond what holds for every source of events.
 *
 * `timer` takes the heap of the loop as a set, so it knows the timer that has to fire without the
 * order in which the heap keeps them. `cancel-delivered` knows the rules by which the runtime
 * delivers a cancel request (primitives/runtime/rules.h). `leak` counts at the end of a run what
 * the loop keeps: its tasks, timers and handles have to explain it. */
#include <inttypes.h>
#include <stdio.h>

#include "primitives/runtime/coro/stack.h"
#include "sim/native/internal.h"

/* --- timer ------------------------------------------------------------------------------------ */

#define ARMED_READ_MAX 64u /* of more armed timers, so many are read each time */

static __attribute__((noinline, cold)) void
object_to(struct bz_native *native, const struct bz_timer *timer, const char *fault) {
    struct bz_judge *judge = native->world.judge;
    char name[64];
    bz_judge_task_name(judge, timer->handle.owner, name, sizeof name);
    bz_judge_violate(judge, "timer", timer->handle.owner, 0,
                     "a timer that %s armed for %" PRIu64 " ns %s; the clock shows %" PRIu64 " ns",
                     name, timer->when_ns, fault, native->world.loop->now_ns);
}

/* Of a timer that became due; `before`: after that one, NULL if it was the first. */
static const char *fault_of_due(const struct bz_native *native, const struct bz_timer *timer,
                                const struct bz_timer *before, bool has_advanced) {
    const struct bz_loop *loop = native->world.loop;
    bool has_order = loop->rules->timers == BZ_TIMERS_BY_ARMING;
    if (timer->when_ns > loop->now_ns) {
        return "fires early";
    }
    if (has_advanced && timer->when_ns < loop->now_ns) {
        return "fires late";
    }
    if (before != NULL && before->when_ns > timer->when_ns) {
        return "fires after a later one";
    }
    if (has_order &&
        (timer->order >= loop->timers_armed ||
         (before != NULL && before->when_ns == timer->when_ns && before->order >= timer->order))) {
        return "fires after one of the same time that was armed later";
    }
    return NULL;
}

static void judge_due(struct bz_native *native, uint32_t queued, bool has_advanced) {
    const struct bz_loop *loop = native->world.loop;
    const struct bz_timer *before = NULL;
    for (uint32_t index = loop->ready_count - queued; index < loop->ready_count; index++) {
        const struct bz_timer *timer =
            bz_container_of(loop->ready[index], const struct bz_timer, handle);
        const char *fault = fault_of_due(native, timer, before, has_advanced);
        if (fault != NULL) {
            object_to(native, timer, fault);
        }
        before = timer;
    }
}

static void judge_armed(struct bz_native *native) {
    const struct bz_loop *loop = native->world.loop;
    uint32_t count = loop->heap_count;
    uint32_t left = count < ARMED_READ_MAX ? count : ARMED_READ_MAX;
    uint32_t index = left < count ? native->world.judge->step * left % count : 0;
    for (; left > 0; left--) {
        const struct bz_heap_entry *entry = &loop->heap[index];
        if (entry->timer != NULL && entry->when_ns <= loop->now_ns) {
            object_to(native, entry->timer, "does not fire");
        }
        index = index + 1 < count ? index + 1 : 0;
    }
}

bool bz_native_judge_timers(struct bz_native *native, uint64_t was_ns, uint32_t queued) {
    const struct bz_loop *loop = native->world.loop;
    struct bz_judge *judge = native->world.judge;
    judge_due(native, queued, loop->now_ns > was_ns);
    judge_armed(native);
    if (loop->ready_promised > loop->ready_capacity) {
        bz_judge_violate(judge, "timer", 0, 0,
                         "the loop has reserved %u slots of a ready queue that has %u",
                         loop->ready_promised, loop->ready_capacity);
    }
    if (queued > 0 && judge->config.order == BZ_ORDER_FIFO &&
        loop->turn_left != loop->ready_count) {
        const struct bz_handle *last = loop->ready[loop->ready_count - 1];
        object_to(native, bz_container_of(last, const struct bz_timer, handle),
                  "does not fire in the turn in which it is due");
    }
    return !judge->is_stopped;
}

/* In a frame of its own, which is gone afterwards: `due_ns` is no part of later states. */
__attribute__((noinline)) enum bz_status bz_world_sleep(const struct bz_world *world,
                                                        uint64_t delay_ns) {
    uint64_t due_ns = world->loop->now_ns + delay_ns;
    enum bz_status status = bz_sleep(world->loop, delay_ns);
    uint64_t now_ns = world->loop->now_ns;
    if (status == BZ_OK && (now_ns < due_ns || bz_judge_is_late(world->judge, due_ns))) {
        bz_judge_violate(world->judge, "timer", world->judge->shadow.running, 0,
                         "a sleep until %" PRIu64 " ns ended at %" PRIu64 " ns", due_ns, now_ns);
    }
    return status;
}

/* --- cancel-delivered ------------------------------------------------------------------------- */

/* A request that was not delivered becomes the outcome of its task. */
static const char *fault_of_exit(const struct bz_shadow_task *task, enum bz_status status) {
    return status == BZ_OK && task->cancel_pending
               ? "ended with 'ok', although a cancel request was pending; 'cancelled' was due"
               : NULL;
}

/* A yield, a sleep and a task that has not started have no future that anything else cancels, and a
 * future that is done with something else was not cancelled. */
static const char *fault_of_resume(const struct bz_native *native,
                                   const struct bz_shadow_task *task, enum bz_status status) {
    bool is_woken = task->await == BZ_AWAIT_WOKEN;
    if (status == BZ_CANCELLED && is_woken && native->world.judge->config.keeps_result) {
        return "resumed with 'cancelled', although it was woken, and should have kept its result";
    }
    bool is_own = task->phase == BZ_PHASE_UNSTARTED || task->wait == BZ_WAIT_YIELD ||
                  task->wait == BZ_WAIT_SLEEP || is_woken;
    return status == BZ_CANCELLED && is_own && !task->cancel_pending
               ? "resumed with 'cancelled', although no cancel request was pending"
               : NULL;
}

/* The running task may take back its last request before it was delivered. A request that is left,
 * or a task that has ended, is no reason to say so. */
static const char *fault_of_uncancel(const struct bz_native *native,
                                     const struct bz_shadow_task *task, enum bz_status status,
                                     uint32_t requests_left) {
    bool is_running = task->phase == BZ_PHASE_RUNNING;
    bool is_clear = is_running || task->phase == BZ_PHASE_DONE || requests_left > 0;
    bool stays = is_running && requests_left == 0 && task->cancel_pending &&
                 native->world.loop->rules->uncancel == BZ_UNCANCEL_COUNTS;
    return !is_clear || (status != BZ_OK) == stays ? NULL
           : stays ? "took back its last cancel request, which should have stayed undelivered"
                   : "took back a cancel request, and it stayed to be delivered";
}

static const char *fault_of(const struct bz_native *native, enum bz_event_kind kind,
                            const struct bz_shadow_task *task, enum bz_status status,
                            uint32_t arg) {
    switch (kind) {
    case BZ_EVENT_EXIT:
        return fault_of_exit(task, status);
    case BZ_EVENT_RESUME:
        return fault_of_resume(native, task, status);
    case BZ_EVENT_UNCANCEL:
        return fault_of_uncancel(native, task, status, arg);
    default:
        return NULL;
    }
}

__attribute__((noinline)) void bz_native_report_delivery(struct bz_native *native,
                                                         enum bz_event_kind kind, uint32_t id,
                                                         enum bz_status status, uint32_t arg) {
    struct bz_judge *judge = native->world.judge;
    const struct bz_shadow_task *task = &judge->shadow.tasks[id];
    const char *fault = fault_of(native, kind, task, status, arg);
    if (__builtin_expect(fault != NULL, 0)) {
        char name[64];
        bz_judge_violate(judge, "cancel-delivered", id, task->object, "%s %s",
                         bz_judge_task_name(judge, id, name, sizeof name), fault);
    }
    bz_judge_report(judge, kind, id, status, arg);
}

/* --- leak ------------------------------------------------------------------------------------- */

/* The things that a loop keeps; what its tasks, timers and handles need of that. */
struct kept {
    uint32_t live;      /* tasks: each has a stack and a slot of the ready queue */
    uint32_t abandoned; /* detached tasks that have ended: the loop should have freed them */
    uint32_t stacks;
    uint32_t disarmed; /* entries of the heap */
    uint32_t slots;    /* needed; a callback that waits for its future needs one more */
    bool is_exact;     /* no callback was ever made */
};

static void count_tasks(const struct bz_loop *loop, struct kept *kept) {
    uint32_t listed = 0;
    uint32_t callbacks = loop->actor.count[BZ_ROLE_CALLBACK];
    const struct bz_task *task = NULL;
    while (listed < loop->tasks_created && (task = bz_driver_next_task(loop, task)) != NULL) {
        bool is_done = bz_task_is_done(task);
        kept->live += !is_done;
        kept->abandoned += is_done && task->is_detached;
        callbacks |= task->actor.count[BZ_ROLE_CALLBACK];
        listed++;
    }
    kept->is_exact = callbacks == 0 && listed == loop->tasks_created; /* else some are forgotten */
}

static struct kept count_kept(const struct bz_loop *loop) {
    struct kept kept = {.stacks = loop->stacks->fresh_taken};
    count_tasks(loop, &kept);
    for (const struct bz_stack *stack = loop->stacks->free_stacks; stack != NULL && kept.stacks > 0;
         stack = stack->next_free) {
        kept.stacks--;
    }
    kept.slots = kept.live;
    for (uint32_t index = 0; index < loop->heap_count; index++) {
        bool is_armed = loop->heap[index].timer != NULL;
        kept.slots += is_armed;
        kept.disarmed += !is_armed;
    }
    for (uint32_t index = 0; index < loop->ready_count; index++) {
        kept.slots += loop->ready[index]->role != BZ_ROLE_STEP;
    }
    return kept;
}

void bz_native_judge_kept(struct bz_native *native) {
    const struct bz_loop *loop = native->world.loop;
    struct bz_judge *judge = native->world.judge;
    if (bz_judge_verdict(judge) != BZ_RUN_PASSED) {
        return;
    }
    struct kept kept = count_kept(loop);
    if (kept.stacks != kept.live || loop->live_tasks != kept.live) {
        bz_judge_violate(judge, "leak", 0, 0,
                         "the loop keeps %u stacks and counts %u live tasks; it has %u",
                         kept.stacks, loop->live_tasks, kept.live);
    } else if (kept.abandoned > 0) {
        bz_judge_violate(judge, "leak", 0, 0, "the loop keeps %u detached tasks that have ended",
                         kept.abandoned);
    } else if (loop->heap_disarmed != kept.disarmed) {
        bz_judge_violate(judge, "leak", 0, 0, "the loop counts %u disarmed timers; it has %u",
                         loop->heap_disarmed, kept.disarmed);
    } else if (loop->ready_promised < kept.slots ||
               (kept.is_exact && loop->ready_promised > kept.slots)) {
        bz_judge_violate(judge, "leak", 0, 0,
                         "the loop reserves %u slots of the ready queue; it needs %u",
                         loop->ready_promised, kept.slots);
    }
}
