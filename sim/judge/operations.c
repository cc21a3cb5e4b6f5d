/* Operations on objects under test: calls, returns, releases. */
#include "sim/judge/event_path.h"

#define PERMITS_MANY ((uint64_t)INT32_MAX)

/* --- the oracles, the sink and the call that is held back --------------------------------------
 */

void bz_judge_moment(struct bz_judge *judge, struct bz_moment moment) {
    bz_judge_settle(judge);
    if (bz_judge_is_suspect(judge, &moment)) {
        bool is_over = moment.kind == BZ_MOMENT_RETURN && moment.is_at_once;
        judge->over = is_over ? judge->call.op : BZ_OP_NONE;
        bz_judge_all(judge, &moment);
        judge->over = BZ_OP_NONE;
    }
}

/* At the other moments of every step: builds no moment in memory unless an oracle suspects. */
__attribute__((noinline, cold)) void bz_judge_parts(struct bz_judge *judge,
                                                    enum bz_moment_kind kind, uint32_t task,
                                                    uint32_t object, enum bz_status status,
                                                    bool is_at_once) {
    bz_judge_moment(judge, (struct bz_moment){.kind = kind,
                                              .task = task,
                                              .object = object,
                                              .status = status,
                                              .is_at_once = is_at_once});
}

/* Of the object, or of a condition's lock. */
static uint64_t held_after(const struct bz_judge *judge, const struct bz_event *event) {
    const struct bz_shadow_object *object = &judge->shadow.objects[0];
    if (event->kind == BZ_EVENT_CALL || event->kind == BZ_EVENT_RETURN) {
        object = &judge->shadow.objects[event->object];
        object =
            object->kind == BZ_OBJECT_CONDITION ? &judge->shadow.objects[object->partner] : object;
    }
    return object->is_owned ? object->holders : UINT64_MAX;
}

__attribute__((noinline, cold)) void bz_judge_show(struct bz_judge *judge, uint64_t low,
                                                   uint64_t high) {
    struct bz_event event = bz_event_from(low, high);
    /* The clock moves on before the step that it belongs to. */
    uint32_t step = judge->step + (event.kind == BZ_EVENT_CLOCK);
    struct bz_logged_event logged = {
        .time_ns = judge->now_ns, .step = step, .event = event, .held = held_after(judge, &event)};
    if (event.kind == BZ_EVENT_SUSPEND) {
        logged.where = judge->where;
        judge->where = NULL;
    } else if (event.kind == BZ_EVENT_CALL || event.kind == BZ_EVENT_RETURN) {
        memcpy(logged.said, judge->said, sizeof logged.said);
        judge->said[0] = '\0';
    }
    judge->sink->event(judge->sink, &logged);
}

__attribute__((hot, noinline)) void bz_judge_note_call(struct bz_judge *judge) {
    struct bz_shadow *shadow = &judge->shadow;
    struct bz_event event = judge->call;
    struct bz_shadow_task *task = &shadow->tasks[event.task];
    judge->call.kind = 0;
    if (event.task == 0 && event.op != BZ_OP_PUT && event.op != BZ_OP_GET) {
        bz_judge_refuse_call(judge, "call", (enum bz_op)event.op, event.object, BZ_OK);
        return;
    }
    if (event.task == 0) { /* a try: it has woken a task, and returns before anything else */
        judge->loop_calls = event.object;
        (void)bz_shadow_mark_dirty(shadow, event.object);
        bz_judge_noted(judge, event);
        return;
    }
    bz_shadow_clear_task(task, BZ_LIFE_OP);
    task->op = event.op;
    task->object = event.object;
    task->called_step = task->next_step;
    struct bz_shadow_object *object = bz_shadow_mark_dirty(shadow, event.object);
    bz_judge_ask(
        judge,
        (struct bz_moment){.kind = BZ_MOMENT_SUSPENDS, .task = event.task, .object = event.object});
    bz_shadow_join_line(shadow, object, event.task);
    bz_judge_progresses(judge);
    bz_judge_noted(judge, event);
}

void bz_judge_settle(struct bz_judge *judge) {
    bz_judge_settle_call(judge);
}

/* --- operations ------------------------------------------------------------------------------- */

__attribute__((hot)) void bz_judge_call_begin(struct bz_judge *judge, uint32_t object,
                                              enum bz_op op) {
    bz_judge_settle_call(judge);
    const struct bz_shadow *shadow = &judge->shadow;
    bool is_inside = (shadow->tasks[shadow->running].op != BZ_OP_NONE) | (judge->loop_calls != 0);
    if (__builtin_expect(is_inside | (object - 1 >= shadow->object_count), 0)) {
        bz_judge_refuse_call(judge, "call", op, object, BZ_OK);
        return;
    }
    judge->call = (struct bz_event){
        .kind = BZ_EVENT_CALL, .op = (uint8_t)op, .task = shadow->running, .object = object};
}

/* True if a return passed a waiter over. */
static __attribute__((noinline)) bool judge_passing(struct bz_judge *judge, uint32_t number,
                                                    uint32_t id, enum bz_grant grant) {
    struct bz_overtaking overtaking = bz_order_of_grant(&judge->shadow, number, id, grant);
    if (overtaking.count == 0) {
        return false;
    }
    bz_judge_moment(judge, (struct bz_moment){.kind = BZ_MOMENT_RETURN,
                                              .task = id,
                                              .object = number,
                                              .status = BZ_OK,
                                              .is_at_once = grant == BZ_GRANT_AT_ONCE,
                                              .overtaking = &overtaking});
    return true;
}

/* Calls the oracles for a return; `grant` says how the permit, if any, was granted. */
static inline __attribute__((always_inline)) void judge_return(struct bz_judge *judge,
                                                               uint32_t number, uint32_t id,
                                                               enum bz_status status,
                                                               enum bz_grant grant) {
    bool may_pass = status == BZ_OK && bz_order_may_pass(&judge->shadow, number, id, grant);
    if (__builtin_expect(!may_pass, 1) || !judge_passing(judge, number, id, grant)) {
        bz_judge_ask(judge, (struct bz_moment){.kind = BZ_MOMENT_RETURN,
                                               .task = id,
                                               .object = number,
                                               .status = status,
                                               .is_at_once = grant == BZ_GRANT_AT_ONCE});
    }
}

/* A return after other events; usually the task was suspended. Or the operation was refused. */
static __attribute__((hot, noinline)) void returns_late(struct bz_judge *judge, uint32_t number,
                                                        enum bz_op op, enum bz_status status) {
    struct bz_shadow *shadow = &judge->shadow;
    uint32_t id = shadow->running;
    struct bz_shadow_task *task = &shadow->tasks[id];
    if ((judge->call.kind != 0) | (task->op != op) | (task->object != number)) {
        bz_judge_refuse_call(judge, "return", op, number, status);
        return;
    }
    struct bz_shadow_object *object = bz_shadow_mark_dirty(shadow, number);
    object->return_task = id;
    object->return_step = judge->step;
    object->return_status = (uint8_t)status;
    if (status == BZ_OK) {
        object->holders += object->is_counted;
        task->holdings += object->is_owned;
        object->handed_on = object->line_end;
    }
    judge_return(judge, number, id, status, BZ_GRANT_RETURN);
    bz_shadow_leave_line(object, task);
    task->op = BZ_OP_NONE;
    task->object = 0;
    if (status == BZ_OK) {
        bz_shadow_hand_over(shadow, number, id);
    }
    bz_judge_progresses(judge);
    bz_judge_noted(judge, event_of(judge, BZ_EVENT_RETURN, number, op, status));
}

/* True if the loop returns from its call, in which a task was woken. */
static bool is_of_loop(struct bz_judge *judge, uint32_t number, enum bz_op op) {
    uint32_t called = judge->loop_calls;
    judge->loop_calls = 0;
    return called != 0 && called == number && judge->shadow.running == 0 && judge->call.kind == 0 &&
           judge->call.object == number && judge->call.op == (uint8_t)op;
}

/* A return at once: the task arrived behind all live ones, and never joined the line. */
static __attribute__((hot, noinline)) void returns_at_once(struct bz_judge *judge, uint32_t number,
                                                           enum bz_op op, enum bz_status status) {
    struct bz_shadow *shadow = &judge->shadow;
    uint32_t id = shadow->running;
    struct bz_shadow_task *task = &shadow->tasks[id];
    struct bz_shadow_object *object = bz_shadow_mark_dirty(shadow, number);
    bool is_ok = status == BZ_OK;
    judge->call.kind = 0;
    task->overtaken = 0;
    task->arrival = object->line_end;
    task->holdings += is_ok & object->is_owned;
    object->holders += is_ok & object->is_counted;
    object->return_task = id;
    object->return_step = judge->step;
    object->return_status = (uint8_t)status;
    judge_return(judge, number, id, status, BZ_GRANT_AT_ONCE);
    if (is_ok) {
        bz_shadow_hand_over(shadow, number, id);
    }
    bz_judge_progresses(judge);
    bz_judge_noted(judge, event_of(judge, BZ_EVENT_RETURN, number, op, status));
}

__attribute__((hot)) void bz_judge_call_end(struct bz_judge *judge, uint32_t number, enum bz_op op,
                                            enum bz_status status) {
    bool is_at_once = (judge->call.kind != 0) & (judge->call.object == number);
    if (is_at_once || is_of_loop(judge, number, op)) {
        returns_at_once(judge, number, op, status);
    } else {
        returns_late(judge, number, op, status);
    }
}

void bz_judge_call_end_or(struct bz_judge *judge, uint32_t object, enum bz_op op,
                          enum bz_status status, uint32_t excused) {
    uint32_t task = judge->shadow.running;
    judge->shadow.tasks[task].excused = (uint16_t)excused;
    bz_judge_call_end(judge, object, op, status);
    judge->shadow.tasks[task].excused = 0;
}

void bz_judge_answers(struct bz_judge *judge, uint32_t object, enum bz_op op, enum bz_status status,
                      uint32_t allowed) {
    bz_judge_moment(judge, (struct bz_moment){.kind = BZ_MOMENT_ANSWERED,
                                              .task = judge->shadow.running,
                                              .object = object,
                                              .status = status,
                                              .numbers = {allowed, (uint64_t)op}});
}

bool bz_judge_does(struct bz_judge *judge, uint32_t number, enum bz_op op, uint32_t arg) {
    struct bz_event event = event_of(judge, BZ_EVENT_CALL, number, op, BZ_OK);
    event.arg = arg;
    bz_judge_settle_call(judge);
    if (number - 1 >= judge->shadow.object_count) {
        bz_judge_refuse_call(judge, "call", op, number, BZ_OK);
        return false;
    }
    bz_shadow_mark_dirty(&judge->shadow, number)->had_last = event.task;
    bz_judge_progresses(judge);
    bz_judge_noted(judge, event);
    return true;
}

/* Counts the release as accepted at the call, because grants happen inside it; a refusal reverts
 * this. */
__attribute__((hot)) void bz_judge_release_begin(struct bz_judge *judge, uint32_t number) {
    bz_judge_settle_call(judge);
    if (__builtin_expect(number - 1 >= judge->shadow.object_count, 0)) {
        bz_judge_refuse_call(judge, "call", BZ_OP_RELEASE, number, BZ_OK);
        return;
    }
    struct bz_event event = event_of(judge, BZ_EVENT_CALL, number, BZ_OP_RELEASE, BZ_OK);
    struct bz_shadow_task *task = &judge->shadow.tasks[event.task];
    struct bz_shadow_object *object = bz_shadow_mark_dirty(&judge->shadow, number);
    task->cancelled_in_op = false;
    object->had_last = event.task;
    object->owner = BZ_NO_TASK; /* also if it is refused: then its owner is not known */
    task->took_back = object->holders > 0;
    task->gave_up = task->holdings > 0;
    object->holders -= task->took_back;
    task->holdings -= task->gave_up;
    if (__builtin_expect(!task->took_back, 0)) {
        task->over_released_before = object->over_released_by;
        object->over_released_by = event.task;
        object->permits++; /* a plain semaphore may be released by a task that never acquired */
    }
    bz_judge_progresses(judge);
    bz_judge_noted(judge, event);
}

/* The statuses of a release besides BZ_OK: that no task held it, or that another did; that a
 * plain semaphore has no space for one more permit. */
static uint32_t refusals(const struct bz_shadow_task *task, const struct bz_shadow_object *object) {
    bool is_held = task->took_back && task->gave_up;
    bool is_full = object->primitive == BZ_PRIMITIVE_SEMAPHORE && object->permits > PERMITS_MANY;
    return 1u << BZ_OK | (is_held ? 0 : 1u << BZ_NOT_HELD) | (is_full ? 1u << BZ_FULL : 0);
}

static __attribute__((noinline, cold)) void refused(struct bz_judge *judge, uint32_t number,
                                                    enum bz_status status) {
    bz_judge_settle_call(judge);
    if (number - 1 >= judge->shadow.object_count) {
        bz_judge_refuse_call(judge, "return", BZ_OP_RELEASE, number, status);
        return;
    }
    struct bz_shadow_task *task = &judge->shadow.tasks[judge->shadow.running];
    struct bz_shadow_object *object = bz_shadow_mark_dirty(&judge->shadow, number);
    bz_judge_answers(judge, number, BZ_OP_RELEASE, status, refusals(task, object));
    object->holders += task->took_back;
    if (!task->took_back) {
        object->permits--;
        object->over_released_by = task->over_released_before;
    }
    task->holdings += task->gave_up;
    task->op = BZ_OP_NONE;
    task->object = 0;
    bz_judge_noted(judge, event_of(judge, BZ_EVENT_RETURN, number, BZ_OP_RELEASE, status));
}

void bz_judge_release_end(struct bz_judge *judge, uint32_t object, enum bz_status status) {
    if (__builtin_expect(status != BZ_OK, 0)) {
        refused(judge, object, status);
    }
}
