/* The one path of events: shadow state, oracles, digest, event sink.
 *
 * An event takes effect at once, with one exception: the call of an operation that may wait is held
 * back. If the operation returns before any other event, call and return are one event, which is
 * the usual case. Otherwise the call is reported before the next event.
 *
 * Here: what a runtime reports, and the end of a step. Operations are in operations.c.
 */
#include "sim/judge/judge.h"

#include <inttypes.h>

#include "sim/judge/event_path.h"

/* --- what a runtime reports ------------------------------------------------------------------- */

static inline struct bz_event runtime_event(enum bz_event_kind kind, uint32_t task,
                                            enum bz_status status, uint32_t arg) {
    return (struct bz_event){
        .kind = (uint8_t)kind, .status = (uint8_t)status, .task = task, .arg = arg};
}

/* A notified waiter of a condition is cancelled, in the window or while it waits for the lock:
 * another waiter must be notified in its place (gh-112202), if one was passed over. The task that
 * began to wait after the notification has seen what it was about. */
static void note_debt(const struct bz_shadow *shadow, struct bz_shadow_object *object,
                      struct bz_shadow_task *task) {
    if (object->kind == BZ_OBJECT_CONDITION && task->was_granted && !task->cancelled_in_op &&
        object->live > 0) {
        task->owes_wake = bz_shadow_passed_over(shadow, object) > 0 ? object->wakes + 1 : 0;
        object->wakes_due++;
    }
}

static inline void resume(struct bz_judge *judge, uint32_t id, enum bz_status status,
                          uint32_t nth) {
    struct bz_shadow *shadow = &judge->shadow;
    struct bz_shadow_task *task = &shadow->tasks[id];
    task->phase = BZ_PHASE_RUNNING;
    shadow->running = id;
    struct bz_shadow_object *object = bz_shadow_mark_dirty(shadow, task->object);
    object->inside[task->inside]--;
    object->was_overtaken = false;
    task->was_overtaken = false;
    bz_judge_noted(judge, runtime_event(BZ_EVENT_RESUME, id, status, nth));
}

/* A task resumes cancelled, or with an undelivered request. */
static __attribute__((noinline)) void resume_cancelled(struct bz_judge *judge, uint32_t id,
                                                       enum bz_status status, uint32_t nth) {
    struct bz_shadow_task *task = &judge->shadow.tasks[id];
    task->phase = BZ_PHASE_RUNNING;
    task->waits_on = false;
    judge->shadow.running = id;
    bz_judge_ask(
        judge, (struct bz_moment){
                   .kind = BZ_MOMENT_CANCEL, .task = id, .object = task->object, .status = status});
    if (status == BZ_CANCELLED && task->cancel_pending) {
        struct bz_shadow_object *object = &judge->shadow.objects[task->object];
        note_debt(&judge->shadow, object, task);
        task->cancelled_in_op = true;
        task->cancel_pending = false;
    }
    resume(judge, id, status, nth);
}

static inline void on_resume(struct bz_judge *judge, uint32_t id, enum bz_status status,
                             uint32_t nth) {
    if (__builtin_expect((status == BZ_CANCELLED) | judge->shadow.tasks[id].cancel_pending, 0)) {
        resume_cancelled(judge, id, status, nth);
    } else {
        resume(judge, id, status, nth);
    }
}

/* A woken task found nothing and waits again, at its place by arrival, unless it makes what it
 * wants. After a notification, a task
 * waits for the lock of its condition instead. */
static __attribute__((noinline, cold)) void suspend_again(struct bz_judge *judge, uint32_t id,
                                                          uint32_t wait) {
    struct bz_shadow *shadow = &judge->shadow;
    struct bz_shadow_task *task = &shadow->tasks[id];
    struct bz_shadow_object *object = &shadow->objects[task->object];
    if (object->kind == BZ_OBJECT_CONDITION) {
        object->inside[task->inside]--;
        task->inside = BZ_INSIDE_POLLING;
        object->polling++;
    } else if (!task->makes) {
        bz_shadow_wait_again(shadow, id);
    }
    bz_judge_noted(judge, runtime_event(BZ_EVENT_SUSPEND, id, BZ_OK, wait));
}

static inline void on_suspend(struct bz_judge *judge, uint32_t id, uint32_t wait) {
    struct bz_shadow *shadow = &judge->shadow;
    struct bz_shadow_task *task = &shadow->tasks[id];
    struct bz_shadow_object *object = bz_shadow_mark_dirty(shadow, task->object);
    bool is_again = (task->object != 0) & !task->is_live & !task->cancelled_in_op;
    task->phase = BZ_PHASE_SUSPENDED;
    task->next_step++;
    task->wait = (uint8_t)wait;
    task->await = BZ_AWAIT_PENDING;
    task->inside = wait == BZ_WAIT_FUTURE ? BZ_INSIDE_WAITING : BZ_INSIDE_POLLING;
    object->inside[task->inside]++;
    shadow->running = 0;
    if (__builtin_expect(bz_judge_counts_poll(task), 0)) {
        task->has_polled = 1;
        shadow->poll_rounds += shadow->poll_rounds == 0;
    }
    if (__builtin_expect(task->is_live & task->cancel_pending, 0)) {
        bz_shadow_leave_line(object, task); /* it was asked to leave before it came */
    }
    if (__builtin_expect(is_again, 0)) {
        suspend_again(judge, id, wait);
    } else {
        bz_judge_noted(judge, runtime_event(BZ_EVENT_SUSPEND, id, BZ_OK, wait));
    }
}

/* A task that waits for an object is woken. */
static inline void wake_inside(struct bz_judge *judge, uint32_t id, bool is_cancelled) {
    struct bz_shadow *shadow = &judge->shadow;
    struct bz_shadow_task *task = &shadow->tasks[id];
    struct bz_shadow_object *object = &shadow->objects[task->object];
    object->waiting--;
    task->inside = is_cancelled ? BZ_INSIDE_CANCELLED : BZ_INSIDE_WOKEN;
    object->inside[task->inside]++;
    if (is_cancelled) {
        bz_shadow_leave_line(object, task);
        return;
    }
    struct bz_overtaking overtaking;
    overtaking.count = 0;
    if (task->is_live) {
        task->was_granted = true;
        object->wakes++;
        if (__builtin_expect(bz_order_may_pass(shadow, task->object, id, BZ_GRANT_WAKE), 0)) {
            overtaking = bz_order_of_grant(shadow, task->object, id, BZ_GRANT_WAKE);
        }
    }
    bz_shadow_leave_line(object, task);
    object->first_woken = task->arrival < object->first_woken ? task->arrival : object->first_woken;
    if (__builtin_expect(overtaking.count > 0, 0)) {
        bz_judge_moment(judge, (struct bz_moment){.kind = BZ_MOMENT_OVERTAKES,
                                                  .task = id,
                                                  .object = task->object,
                                                  .overtaking = &overtaking});
    }
}

static __attribute__((noinline)) void on_wake(struct bz_judge *judge, uint32_t id,
                                              enum bz_status status) {
    struct bz_shadow_task *task = &judge->shadow.tasks[id];
    bool is_cancelled = status == BZ_CANCELLED;
    (void)bz_shadow_mark_dirty(&judge->shadow, task->object);
    task->await = is_cancelled ? BZ_AWAIT_CANCELLED : BZ_AWAIT_WOKEN;
    judge->last_woken = is_cancelled ? judge->last_woken : id;
    if (task->wait == BZ_WAIT_JOIN && !is_cancelled) {
        /* else passed to the joined task, which ignored it */
        task->cancel_pending = task->waits_on;
    }
    task->waits_on = false;
    if (task->op != BZ_OP_NONE && task->inside == BZ_INSIDE_WAITING) {
        wake_inside(judge, id, is_cancelled);
    }
    bz_judge_noted(judge, runtime_event(BZ_EVENT_WAKE, id, status, 0));
}

_Static_assert(BZ_OP_COUNT <= 32 && BZ_WINDOW_COUNT <= 16, "a situation has 15 bits");

/* Bits: operation 5, window 4, waiting 2, woken 2, cancelled 1, free 1. */
static void note_strike(struct bz_judge *judge, const struct bz_event *event) {
    const struct bz_shadow_object *object =
        &judge->shadow.objects[judge->shadow.tasks[event->task].object];
    if (judge->strike_count < BZ_STRIKES_MAX) {
        uint32_t waiting = object->waiting < 2 ? object->waiting : 2;
        uint32_t woken = object->woken < 2 ? object->woken : 2;
        uint32_t bits = waiting << 4u | woken << 2u | (uint32_t)(object->cancelled > 0) << 1u |
                        (uint32_t)(object->permits > object->holders);
        judge->strikes[judge->strike_count++] =
            (uint16_t)((uint32_t)event->op << 10u | (uint32_t)event->window << 6u | bits);
    }
}

#define ASKED_MAX 127u /* they have 7 bits */
#define OP_REQUESTS_MAX 127u

/* Fills in where the cancel strikes, before the shadow state changes. */
static void on_cancel(struct bz_judge *judge, struct bz_event *event) {
    struct bz_shadow *shadow = &judge->shadow;
    struct bz_shadow_task *task = &shadow->tasks[event->task];
    event->window = (uint8_t)bz_shadow_window(task);
    event->op = (uint8_t)bz_shadow_op(task);
    judge->stats.windows[event->op][event->window]++;
    judge->is_setup_fixed = false;
    if (event->status != BZ_OK) {
        return;
    }
    note_strike(judge, event);
    task->cancel_pending = true;
    task->cancels++;
    task->op_requests += task->op_requests < OP_REQUESTS_MAX;
    bool is_by_loop = shadow->running == 0 && judge->injected_step != judge->step;
    bool is_by_helper = shadow->running != 0 && shadow->tasks[shadow->running].is_helper;
    if (!is_by_loop && !is_by_helper && task->asked < ASKED_MAX) {
        task->asked++;
    }
    task->may_answer =
        is_by_loop && (shadow->objects[task->object].claims & BZ_CLAIM_OWN_DEADLINES) != 0;
    if (task->is_live) { /* it loses its place in the line */
        bz_shadow_leave_line(bz_shadow_mark_dirty(shadow, task->object), task);
    }
}

/* Taking back the last request also clears a mark, unless the runtime says that it has other rules;
 * a future that was cancelled stays so. A scope inside an operation may take back a request
 * that it has made, and decides its fate. While there is another request, of
 * another task, that one is due. */
static void on_uncancel(struct bz_shadow_task *task, uint32_t requests_left,
                        enum bz_status status) {
    bool is_on_its_way = task->phase == BZ_PHASE_SUSPENDED && task->await == BZ_AWAIT_CANCELLED;
    task->cancel_pending &= requests_left > 0 || is_on_its_way || status == BZ_CANCELLED;
    task->waits_on &= task->cancel_pending;
    if (task->op != BZ_OP_NONE && task->op_requests > 0) {
        task->op_requests--;
        task->may_answer |= task->op_requests == 0;
    }
}

/* A task of the program has ended in another way than most: with a status that it has from an
 * operation, or from the program. */
static __attribute__((noinline, cold)) void judge_end(struct bz_judge *judge, uint32_t id,
                                                      enum bz_status status) {
    const struct bz_shadow *shadow = &judge->shadow;
    uint32_t refused = (uint32_t)shadow->refused_ends | 1u << BZ_NO_MEMORY;
    for (uint32_t number = 1; number <= shadow->object_count; number++) {
        if ((shadow->objects[number].claims & BZ_CLAIM_MAY_FAIL) != 0) {
            refused &= ~(1u << BZ_FAILED);
        }
    }
    if (!shadow->tasks[id].is_helper && status < BZ_STATUS_COUNT) {
        bz_judge_moment(judge, (struct bz_moment){.kind = BZ_MOMENT_ANSWERED,
                                                  .task = id,
                                                  .status = status,
                                                  .numbers = {~refused, (uint64_t)BZ_OP_NONE}});
    }
}

static void on_task_exit(struct bz_judge *judge, uint32_t id, enum bz_status status) {
    if (__builtin_expect(status > BZ_CANCELLED, 0)) {
        judge_end(judge, id, status);
    }
    struct bz_shadow *shadow = &judge->shadow;
    shadow->tasks[id].phase = BZ_PHASE_DONE;
    shadow->running = shadow->running == id ? 0 : shadow->running;
    shadow->unfinished -= !shadow->tasks[id].is_helper;
    bz_judge_progresses(judge);
    bz_judge_noted(judge, runtime_event(BZ_EVENT_EXIT, id, status, 0));
}

static __attribute__((noinline)) void on_rare_event(struct bz_judge *judge, struct bz_event event) {
    struct bz_shadow *shadow = &judge->shadow;
    struct bz_shadow_task *task = &shadow->tasks[event.task];
    switch (event.kind) {
    case BZ_EVENT_CANCEL:
        on_cancel(judge, &event);
        break;
    case BZ_EVENT_UNCANCEL:
        on_uncancel(task, event.arg, (enum bz_status)event.status);
        break;
    case BZ_EVENT_CALLBACK: /* no event says which objects it changes */
        for (uint32_t number = 1; number <= shadow->object_count; number++) {
            bz_shadow_mark_dirty(shadow, number);
        }
        break;
    default:
        break;
    }
    bz_judge_noted(judge, event);
}

/* An event that the shadow state contains already, or does not need. */
static void note(struct bz_judge *judge, struct bz_event event) {
    bz_judge_settle_call(judge);
    bz_judge_noted(judge, event);
}

inline __attribute__((always_inline)) void bz_judge_report(struct bz_judge *judge,
                                                           enum bz_event_kind kind, uint32_t task,
                                                           enum bz_status status, uint32_t arg) {
    bz_judge_settle_call(judge);
    if (kind == BZ_EVENT_RESUME) {
        on_resume(judge, task, status, arg);
    } else if (kind == BZ_EVENT_SUSPEND) {
        on_suspend(judge, task, arg);
    } else if (kind == BZ_EVENT_WAKE) {
        on_wake(judge, task, status);
    } else if (kind == BZ_EVENT_EXIT) {
        on_task_exit(judge, task, status);
    } else if (kind == BZ_EVENT_FREE) {
        judge->shadow.tasks[task].is_freed = true;
        bz_judge_noted(judge, runtime_event(kind, task, status, arg));
    } else {
        on_rare_event(judge, runtime_event(kind, task, status, arg));
    }
}

uint32_t bz_judge_spawn(struct bz_judge *judge, const char *name, uint32_t index) {
    struct bz_shadow *shadow = &judge->shadow;
    bz_judge_settle_call(judge);
    if (name == NULL || shadow->task_count == BZ_TASKS_MAX) {
        bz_judge_refuse(judge, name == NULL ? "a task needs a name" : "too many tasks");
        return 0;
    }
    bz_shadow_add_task(shadow, name, index);
    bz_judge_noted(judge, (struct bz_event){.kind = BZ_EVENT_SPAWN,
                                            .task = shadow->task_count,
                                            .arg = shadow->running});
    return shadow->task_count;
}

static bool is_task(struct bz_judge *judge, const char *call, uint32_t task) {
    if (task == 0 || task > judge->shadow.task_count) {
        bz_judge_refuse(judge, "%s of task %u of %u", call, task, judge->shadow.task_count);
        return false;
    }
    return true;
}

void bz_judge_set_helper(struct bz_judge *judge, uint32_t task, bool is_helper) {
    if (is_task(judge, "bz_judge_set_helper()", task)) {
        bz_shadow_set_helper(&judge->shadow, task, is_helper);
    }
}

void bz_judge_refuse_ends(struct bz_judge *judge, uint32_t statuses) {
    judge->shadow.refused_ends = statuses;
}

void bz_judge_protect(struct bz_judge *judge, uint32_t task) {
    if (is_task(judge, "bz_judge_protect()", task)) {
        judge->shadow.tasks[task].is_protected = true;
    }
}

void bz_judge_waits_on(struct bz_judge *judge, uint32_t id) {
    if (!is_task(judge, "bz_judge_waits_on()", id)) {
        return;
    }
    struct bz_shadow_task *task = &judge->shadow.tasks[id];
    bz_judge_settle_call(judge);
    task->waits_on = true;
    bool was_live = task->op != BZ_OP_NONE && task->inside == BZ_INSIDE_WAITING &&
                    !task->cancelled_in_op; /* else it has left the line before */
    if (was_live && !task->is_live) {
        bz_shadow_wait_again(&judge->shadow, id);
    }
}

void bz_judge_rename(struct bz_judge *judge, uint32_t task, const char *name) {
    if (is_task(judge, "bz_judge_rename()", task) && name != NULL) {
        judge->shadow.tasks[task].name_base = name;
        judge->shadow.tasks[task].name_index = 0;
    }
}

void bz_judge_clock(struct bz_judge *judge, uint64_t now_ns) {
    if (now_ns < judge->now_ns || now_ns > BZ_TIME_MAX_NS) {
        bz_judge_refuse(judge, "the clock goes from %" PRIu64 " to %" PRIu64 " ns", judge->now_ns,
                        now_ns);
        return;
    }
    judge->now_ns = now_ns;
    judge->clock_step = judge->step;
    note(judge, (struct bz_event){.kind = BZ_EVENT_CLOCK,
                                  .arg = (uint32_t)now_ns,
                                  .object = (uint32_t)(now_ns >> 32u)});
}

void bz_judge_sleep(struct bz_judge *judge, uint64_t now_ns) {
    judge->has_spun = true;
    bz_judge_clock(judge, now_ns);
}

void bz_judge_note(struct bz_judge *judge, uint32_t number) {
    note(judge,
         (struct bz_event){.kind = BZ_EVENT_NOTE, .task = judge->shadow.running, .arg = number});
}

void bz_judge_note_draw(struct bz_judge *judge, enum bz_choice_kind kind, uint64_t value) {
    note(judge, (struct bz_event){.kind = BZ_EVENT_DRAW,
                                  .task = judge->shadow.running,
                                  .op = (uint8_t)kind,
                                  .arg = (uint32_t)value,
                                  .object = (uint32_t)(value >> 32u)});
}

void bz_judge_note_inject(struct bz_judge *judge, uint32_t task) {
    note(judge, (struct bz_event){.kind = BZ_EVENT_INJECT, .task = task, .arg = judge->point});
}

/* --- the end of a step, and of a run ---------------------------------------------------------- */

/* At the end of a step that named this object. */
static __attribute__((noinline)) void judge_step(struct bz_judge *judge, uint32_t object) {
    bz_judge_all(judge, &(struct bz_moment){.kind = BZ_MOMENT_STEP, .object = object});
}

static inline __attribute__((always_inline)) void judge_object(struct bz_judge *judge,
                                                               uint32_t number) {
    struct bz_shadow_object *object = bz_judge_shadow_object(judge, number);
    if (__builtin_expect(object->look.view != NULL, 1)) {
        object->view = (struct bz_permit_view){.level = 0};
        object->look.view(object->look.instance, &object->view);
        object = bz_judge_shadow_object(judge, number);
    }
    if (__builtin_expect(object->look.locked != NULL, 1)) {
        bool is_locked = object->look.locked(object->look.instance);
        object = bz_judge_shadow_object(judge, number);
        object->shows_locked = is_locked;
    }
    struct bz_moment moment = {.kind = BZ_MOMENT_STEP, .object = number};
    if (__builtin_expect(bz_judge_is_suspect(judge, &moment), 0)) {
        judge_step(judge, number);
    }
    object->over_released_by = BZ_NO_TASK;
    object->handed_on = 0;
}

static __attribute__((noinline)) void judge_objects(struct bz_judge *judge, uint64_t dirty) {
    const struct bz_shadow *shadow = &judge->shadow;
    dirty = (dirty & 1u) != 0 && shadow->helpers > 0 ? UINT64_MAX : dirty;
    for (; dirty != 0; dirty &= dirty - 1) {
        uint32_t number = (uint32_t)__builtin_ctzll(dirty);
        for (; number <= shadow->object_count; number += BZ_DIRTY_BITS) {
            if (number != 0) {
                judge_object(judge, number);
            }
        }
    }
}

static __attribute__((noinline, cold)) void judge_refused(struct bz_judge *judge) {
    bz_judge_moment(judge, (struct bz_moment){.kind = BZ_MOMENT_STEP_END});
    judge->refused.guards = 0;
}

/* True if the task may still pay: see struct bz_debt. */
static bool may_pay(const struct bz_judge *judge, const struct bz_debt *debt) {
    const struct bz_shadow_task *task = &judge->shadow.tasks[debt->task];
    return judge->config.fingerprint == NULL &&
           (judge->shadow.objects[debt->lock].holders > 0 ||
            (task->op == BZ_OP_ACQUIRE && task->object == debt->lock));
}

/* The violation takes precedence over others of its step: the debt was there before them. */
static __attribute__((noinline, cold)) void judge_debt(struct bz_judge *judge) {
    struct bz_debt debt = judge->debt;
    struct bz_violation first = judge->violation;
    if (may_pay(judge, &debt)) {
        return;
    }
    judge->debt.task = 0;
    judge->violation.oracle = NULL;
    bz_judge_moment(judge, (struct bz_moment){.kind = BZ_MOMENT_OWES,
                                              .task = debt.task,
                                              .object = debt.object,
                                              .numbers = {debt.wakes, debt.is_late}});
    if (judge->violation.oracle == NULL) {
        judge->violation = first;
        return;
    }
    judge->violation.op = debt.op;
    judge->violation.window = debt.window;
    if (first.oracle != NULL) {
        judge->violation.also |= first.also | bz_oracle_bit(first.oracle);
    }
}

/* Nearly every step names one object, or none. */
__attribute__((hot)) void bz_judge_end_step(struct bz_judge *judge) {
    bz_judge_settle_call(judge);
    uint64_t dirty = judge->shadow.dirty & judge->shadow.dirty_mask;
    judge->shadow.dirty = 0;
    if (dirty != 0) {
        if (__builtin_expect(judge->debt.task != 0, 0)) {
            judge_debt(judge);
        }
        if (__builtin_expect(
                (dirty & (dirty - 1)) == 0 && judge->shadow.dirty_mask == BZ_DIRTY_ALONE, 1)) {
            judge_object(judge, (uint32_t)__builtin_ctzll(dirty));
        } else {
            judge_objects(judge, dirty);
        }
        if (__builtin_expect(judge->refused.guards != 0, 0)) {
            judge_refused(judge);
        }
        if (__builtin_expect(judge->loop_calls != 0, 0)) { /* it cannot wait */
            bz_judge_refuse_call(judge, "call", (enum bz_op)judge->call.op, judge->loop_calls,
                                 BZ_OK);
        }
    }
}

/* The wait of a condition may be notified inside its own call, unseen: from then on, nobody knows
 * if its task waits for that or for the lock, and which waiters are left. */
static void lose_count(struct bz_shadow_object *object, struct bz_shadow_task *task) {
    if (object->kind == BZ_OBJECT_CONDITION) {
        bz_shadow_leave_line(object, task);
        object->never_stuck = true;
        object->counts_wakes = false;
    }
}

void bz_judge_begin_inside(struct bz_judge *judge, struct bz_outer_step *outer, uint32_t id) {
    struct bz_shadow_task *task = &judge->shadow.tasks[id];
    bz_judge_settle_call(judge);
    lose_count(&judge->shadow.objects[task->object], task);
    *outer = (struct bz_outer_step){.call = judge->call, .loop_calls = judge->loop_calls};
    judge->loop_calls = 0;
    judge->shadow.inside++;
    judge->step++;
}

void bz_judge_end_inside(struct bz_judge *judge, const struct bz_outer_step *outer) {
    bz_judge_settle_call(judge);
    judge->call = outer->call;
    judge->loop_calls = outer->loop_calls;
    judge->shadow.inside--;
    judge->step++;
}

void bz_judge_end(struct bz_judge *judge) {
    if (judge->overtime.is_on) {
        bz_overtime_end(judge);
    }
    bz_judge_end_step(judge); /* for events since the last step */
    if (judge->end == BZ_RUN_PASSED || judge->end == BZ_RUN_OUT_OF_STEPS) {
        bz_judge_all(judge, &(struct bz_moment){.kind = BZ_MOMENT_END});
    }
    judge->stats.steps += judge->step;
    judge->is_ended = true;
}
