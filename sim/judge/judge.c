/* The one path of events: shadow state, oracles, digest, event sink.
 *
 * An event takes effect at once, with one exception: the call of an operation that may wait is held
 * back. If the operation returns before any other event, call and return are one event, which is
 * the usual case. Otherwise the call is reported before the next event.
 */
#include "sim/judge/judge.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/judge/internal.h"
#include "sim/judge/oracle/list.h"

#define PERMITS_MANY ((uint64_t)INT32_MAX)

#undef ORACLE
#define ORACLE(name, text, summary) {text, summary},
const struct bz_oracle bz_oracles[] = {
#include "sim/judge/oracle/list.h"
};
#undef ORACLE
const uint32_t bz_oracle_count = sizeof bz_oracles / sizeof bz_oracles[0];
_Static_assert(sizeof bz_oracles / sizeof bz_oracles[0] <= BZ_ORACLES_MAX, "see violation.also");

/* --- the oracles ------------------------------------------------------------------------------ */

/* Whether one of them suspects something. Inline at every step: the kind is a constant there, so
 * only the oracles of that kind are left, and they share what they read. */
static inline __attribute__((always_inline)) bool is_suspect(const struct bz_judge *judge,
                                                             const struct bz_moment *moment) {
    uint64_t suspicions = 0;
#define ORACLE(name, text, summary) suspicions |= name##_suspects(judge, moment);
#include "sim/judge/oracle/list.h"
#undef ORACLE
    return suspicions != 0;
}

/* Calls the oracles that suspect something. */
static inline __attribute__((always_inline)) void judge_all(struct bz_judge *judge,
                                                            const struct bz_moment *moment) {
#define ORACLE(name, text, summary)                                                                \
    if (name##_suspects(judge, moment)) {                                                          \
        name##_judges(judge, moment);                                                              \
    }
#include "sim/judge/oracle/list.h"
#undef ORACLE
}

/* At the end of a step that named this object. */
static __attribute__((noinline)) void judge_step(struct bz_judge *judge, uint32_t object) {
    judge_all(judge, &(struct bz_moment){.kind = BZ_MOMENT_STEP, .object = object});
}

void bz_judge_moment(struct bz_judge *judge, struct bz_moment moment) {
    bz_judge_settle(judge);
    if (is_suspect(judge, &moment)) {
        bool is_over = moment.kind == BZ_MOMENT_RETURN && moment.is_at_once;
        judge->over = is_over ? judge->call.op : BZ_OP_NONE;
        judge_all(judge, &moment);
        judge->over = BZ_OP_NONE;
    }
}

/* At the other moments of every step: builds no moment in memory unless an oracle suspects. */
static __attribute__((noinline, cold)) void judge_parts(struct bz_judge *judge,
                                                        enum bz_moment_kind kind, uint32_t task,
                                                        uint32_t object, enum bz_status status,
                                                        bool is_at_once) {
    bz_judge_moment(judge, (struct bz_moment){.kind = kind,
                                              .task = task,
                                              .object = object,
                                              .status = status,
                                              .is_at_once = is_at_once});
}

static inline __attribute__((always_inline)) void ask(struct bz_judge *judge,
                                                      struct bz_moment moment) {
    if (__builtin_expect(is_suspect(judge, &moment), 0)) {
        judge_parts(judge, moment.kind, moment.task, moment.object, moment.status,
                    moment.is_at_once);
    }
}

uint32_t bz_oracle_index(const char *name) {
    uint32_t index = 0;
    while (index < bz_oracle_count && strcmp(bz_oracles[index].name, name) != 0) {
        index++;
    }
    return index;
}

const char *bz_oracle_name(const char *name) {
    uint32_t index = bz_oracle_index(name);
    return index < bz_oracle_count ? bz_oracles[index].name : name;
}

/* Its bit in violation.also; 0: the table has no such oracle. */
static uint64_t bit_of(const char *oracle) {
    uint32_t index = bz_oracle_index(oracle);
    return index < bz_oracle_count ? UINT64_C(1) << index : 0;
}

bool bz_oracle_ends_process(const char *name) {
    uint32_t index = bz_oracle_index(name);
    return index < bz_oracle_count && index >= bz_oracle_index("crash"); /* the last ones: died.h */
}

/* What the task of a violation was doing. The shadow state does not have a call that is held back,
 * and never had one that returns at once. */
static void note_place(const struct bz_judge *judge, struct bz_violation *violation) {
    if (violation->task != 0 && violation->task <= judge->shadow.task_count) {
        const struct bz_shadow_task *task = &judge->shadow.tasks[violation->task];
        bool is_calling = judge->call.task == violation->task &&
                          (judge->call.kind != 0 || judge->over != BZ_OP_NONE);
        violation->op = is_calling ? (enum bz_op)judge->call.op : bz_shadow_op(task);
        violation->window = bz_shadow_window(task);
    }
}

static __attribute__((format(printf, 6, 0))) void violate(struct bz_judge *judge,
                                                          const char *oracle, uint64_t bit,
                                                          uint32_t task, uint32_t object,
                                                          const char *format, va_list arguments) {
    struct bz_violation *violation = &judge->violation;
    if (judge->end == BZ_RUN_BAD_SOURCE || judge->end == BZ_RUN_NO_RESOURCE) {
        return;
    }
    if (judge->overtime.is_on) { /* beyond the limit: no trace would show it */
        judge->is_stopped = true;
        return;
    }
    if (violation->oracle != NULL) {
        violation->also |= strcmp(violation->oracle, oracle) != 0 ? bit : 0;
        return;
    }
    *violation = (struct bz_violation){.oracle = bz_oracle_name(oracle),
                                       .step = judge->step,
                                       .task = task,
                                       .object = object,
                                       .time_ns = judge->now_ns};
    note_place(judge, violation);
    vsnprintf(violation->message, sizeof violation->message, format, arguments);
    judge->is_stopped = true;
    judge->pause_at = 0;
    judge->end = BZ_RUN_VIOLATED;
}

void bz_judge_object(struct bz_judge *judge, const char *oracle, uint32_t task, uint32_t number,
                     const char *format, ...) {
    if (oracle == NULL) {
        bz_judge_refuse(judge, "an objection needs the name of an oracle");
        return;
    }
    uint64_t bit = bit_of(oracle);
    if ((judge->config.oracles_off & bit) == 0) {
        va_list arguments;
        va_start(arguments, format);
        violate(judge, oracle, bit, task, number, format, arguments);
        va_end(arguments);
    }
}

void bz_judge_overrule(struct bz_judge *judge, const char *oracle, const char *format, ...) {
    va_list arguments;
    judge->violation.oracle = NULL;
    va_start(arguments, format);
    violate(judge, oracle, 0, 0, 0, format, arguments);
    va_end(arguments);
}

/* Where the run was when its process ended. */
static void describe_place(const struct bz_judge *judge, enum bz_op op, uint32_t object, char *text,
                           size_t bytes) {
    char name[BZ_NAME_BYTES];
    if (judge->shadow.running == 0) {
        snprintf(text, bytes, "%s",
                 judge->step == 0 ? "in the set-up"
                                  : "outside of tasks: in a callback, or when asked for its state");
        return;
    }
    bz_judge_task_name(judge, judge->shadow.running, name, sizeof name);
    if (op == BZ_OP_NONE) {
        snprintf(text, bytes, "in a step of %s", name);
    } else {
        snprintf(text, bytes, "in a step of %s, inside %s of '%.64s'", name, bz_op_name(op),
                 bz_judge_label(judge, object).text);
    }
}

/* Settles last: events may call oracles, which then only note that they object, too. */
void bz_judge_died(struct bz_judge *judge, const char *oracle, const char *how) {
    const struct bz_shadow_task *task = &judge->shadow.tasks[judge->shadow.running];
    bool is_calling = judge->call.kind != 0;
    enum bz_op op = (enum bz_op)(is_calling ? judge->call.op : task->op);
    uint32_t object = is_calling ? judge->call.object : task->object;
    char place[3 * BZ_NAME_BYTES];
    if (how == NULL) {
        judge->end = BZ_RUN_GIVEN_UP;
        judge->is_stopped = true;
    } else if (oracle == NULL) {
        bz_judge_lacks(judge, "a resource", "a run");
        snprintf(judge->violation.message, sizeof judge->violation.message, "%s", how);
    } else if (judge->is_ended) {
        bz_judge_overrule(judge, oracle,
                          "%s, after the run, or when it was repeated at other addresses", how);
    } else {
        describe_place(judge, op, object, place, sizeof place);
        bz_judge_object(judge, oracle, judge->shadow.running, object, "%s, %s", how, place);
        bz_judge_settle(judge);
    }
    judge->stats.steps += judge->is_ended ? 0 : judge->step;
    judge->is_ended = true;
}

/* --- what every event ends with --------------------------------------------------------------- */

static __attribute__((noinline, cold)) void show(struct bz_judge *judge, uint64_t low,
                                                 uint64_t high) {
    struct bz_event event = bz_event_from(low, high);
    /* The clock moves on before the step that it belongs to. */
    uint32_t step = judge->step + (event.kind == BZ_EVENT_CLOCK);
    struct bz_logged_event logged = {.time_ns = judge->now_ns, .step = step, .event = event};
    if (event.kind == BZ_EVENT_SUSPEND) {
        logged.where = judge->where;
        judge->where = NULL;
    }
    judge->sink->event(judge->sink, &logged);
}

static inline __attribute__((always_inline)) void noted(struct bz_judge *judge,
                                                        struct bz_event event) {
    uint64_t low = bz_event_low(event);
    uint64_t high = bz_event_high(event);
    judge->digest = bz_digest_event(judge->digest, low, high);
    if (__builtin_expect(judge->sink != NULL, 0)) {
        show(judge, low, high);
    }
}

/* --- the call that is held back --------------------------------------------------------------- */

static __attribute__((hot, noinline)) void note_call(struct bz_judge *judge) {
    struct bz_shadow *shadow = &judge->shadow;
    struct bz_event event = judge->call;
    struct bz_shadow_task *task = &shadow->tasks[event.task];
    judge->call.kind = 0;
    if (event.task == 0 && event.op != BZ_OP_PUT && event.op != BZ_OP_GET) {
        bz_judge_refuse_call(judge, "call", (enum bz_op)event.op, event.object, BZ_OK);
        return;
    }
    if (event.task == 0) { /* a try: it has woken somebody, and returns before anything else */
        judge->loop_calls = event.object;
        (void)bz_shadow_mark_dirty(shadow, event.object);
        noted(judge, event);
        return;
    }
    task->op = event.op;
    task->called_step = task->next_step;
    task->owes_wake = 0;
    task->was_granted = false;
    task->was_passed_over = false;
    task->object = event.object;
    task->cancelled_in_op = false;
    task->may_answer = false;
    task->op_requests = 0;
    task->overtaken = 0;
    struct bz_shadow_object *object = bz_shadow_mark_dirty(shadow, event.object);
    ask(judge,
        (struct bz_moment){.kind = BZ_MOMENT_SUSPENDS, .task = event.task, .object = event.object});
    bz_shadow_join_line(shadow, object, event.task);
    judge->progress_step = judge->step;
    noted(judge, event);
}

static inline __attribute__((always_inline)) void settle(struct bz_judge *judge) {
    if (__builtin_expect(judge->call.kind != 0, 0)) {
        note_call(judge);
    }
}

void bz_judge_settle(struct bz_judge *judge) {
    settle(judge);
}

/* --- what a runtime reports ------------------------------------------------------------------- */

static inline struct bz_event runtime_event(enum bz_event_kind kind, uint32_t task,
                                            enum bz_status status, uint32_t arg) {
    return (struct bz_event){
        .kind = (uint8_t)kind, .status = (uint8_t)status, .task = task, .arg = arg};
}

/* A notified waiter of a condition is cancelled, in the window or while it waits for the lock:
 * another waiter must be notified in its place (gh-112202), if one was passed over. Whoever began
 * to wait after the notification has seen what it was about. */
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
    noted(judge, runtime_event(BZ_EVENT_RESUME, id, status, nth));
}

/* A task resumes cancelled, or with an undelivered request. */
static __attribute__((noinline)) void resume_cancelled(struct bz_judge *judge, uint32_t id,
                                                       enum bz_status status, uint32_t nth) {
    struct bz_shadow_task *task = &judge->shadow.tasks[id];
    task->phase = BZ_PHASE_RUNNING;
    task->waits_on = false;
    judge->shadow.running = id;
    ask(judge, (struct bz_moment){
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

/* A woken task found nothing and waits again, at its place by arrival. After a notification, a task
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
    } else {
        bz_shadow_wait_again(shadow, id);
    }
    noted(judge, runtime_event(BZ_EVENT_SUSPEND, id, BZ_OK, wait));
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
    if (__builtin_expect(task->is_live & task->cancel_pending, 0)) {
        bz_shadow_leave_line(object, task); /* it was asked to leave before it came */
    }
    if (__builtin_expect(is_again, 0)) {
        suspend_again(judge, id, wait);
    } else {
        noted(judge, runtime_event(BZ_EVENT_SUSPEND, id, BZ_OK, wait));
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
        task->cancel_pending = false; /* passed to the joined task, which ignored it */
    }
    if (task->op != BZ_OP_NONE && task->inside == BZ_INSIDE_WAITING) {
        wake_inside(judge, id, is_cancelled);
    }
    noted(judge, runtime_event(BZ_EVENT_WAKE, id, status, 0));
}

_Static_assert(BZ_OP_COUNT <= 32 && BZ_WINDOW_COUNT <= 16, "a situation has 15 bits");

/* For bz_situation_of(). */
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
    task->op_requests += task->op_requests < UINT8_MAX;
    bool is_by_loop = shadow->running == 0 && judge->injected_step != judge->step;
    task->may_answer =
        is_by_loop && (shadow->objects[task->object].claims & BZ_CLAIM_OWN_DEADLINES) != 0;
    if (task->is_live) { /* it loses its place in the line */
        bz_shadow_leave_line(bz_shadow_mark_dirty(shadow, task->object), task);
    }
}

/* Taking back the last request also clears a mark, unless the runtime says that it has other rules;
 * a future that was cancelled stays so. What takes a request back inside an operation is a scope in
 * there, which has made it, and decides what becomes of it. While there is another request, of
 * somebody else, that one is due. */
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

static void on_task_exit(struct bz_judge *judge, uint32_t id, enum bz_status status) {
    struct bz_shadow *shadow = &judge->shadow;
    shadow->tasks[id].phase = BZ_PHASE_DONE;
    shadow->running = shadow->running == id ? 0 : shadow->running;
    shadow->unfinished -= !shadow->tasks[id].is_helper;
    judge->progress_step = judge->step;
    noted(judge, runtime_event(BZ_EVENT_EXIT, id, status, 0));
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
    noted(judge, event);
}

/* An event that the shadow state contains already, or does not need. */
static void note(struct bz_judge *judge, struct bz_event event) {
    settle(judge);
    noted(judge, event);
}

inline __attribute__((always_inline)) void bz_judge_report(struct bz_judge *judge,
                                                           enum bz_event_kind kind, uint32_t task,
                                                           enum bz_status status, uint32_t arg) {
    settle(judge);
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
        noted(judge, runtime_event(kind, task, status, arg));
    } else {
        on_rare_event(judge, runtime_event(kind, task, status, arg));
    }
}

uint32_t bz_judge_spawn(struct bz_judge *judge, const char *name, uint32_t index) {
    struct bz_shadow *shadow = &judge->shadow;
    settle(judge);
    if (name == NULL || shadow->task_count == BZ_TASKS_MAX) {
        bz_judge_refuse(judge, name == NULL ? "a task needs a name" : "too many tasks");
        return 0;
    }
    bz_shadow_add_task(shadow, name, index);
    noted(judge, (struct bz_event){
                     .kind = BZ_EVENT_SPAWN, .task = shadow->task_count, .arg = shadow->running});
    return shadow->task_count;
}

enum bz_order bz_judge_order(const struct bz_judge *judge) {
    return judge->config.order;
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
    settle(judge);
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

void bz_judge_idle(struct bz_judge *judge, uint64_t until_ns) {
    uint32_t count = judge->shadow.clocks > 0 ? judge->shadow.object_count : 0;
    for (uint32_t number = 1; number <= count; number++) {
        const struct bz_introspection *look = &bz_judge_shadow_object(judge, number)->look;
        if (look->idle != NULL) {
            look->idle(look->instance, until_ns);
        }
    }
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

/* --- operations ------------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) struct bz_event
event_of(const struct bz_judge *judge, enum bz_program_event_kind kind, uint32_t object,
         enum bz_op op, enum bz_status status) {
    return (struct bz_event){.kind = (uint8_t)kind,
                             .task = judge->shadow.running,
                             .object = object,
                             .op = (uint8_t)op,
                             .status = (uint8_t)status};
}

__attribute__((hot)) void bz_judge_calls(struct bz_judge *judge, uint32_t object, enum bz_op op) {
    settle(judge);
    const struct bz_shadow *shadow = &judge->shadow;
    bool is_inside = (shadow->tasks[shadow->running].op != BZ_OP_NONE) | (judge->loop_calls != 0);
    if (__builtin_expect(is_inside | (object - 1 >= shadow->object_count), 0)) {
        bz_judge_refuse_call(judge, "call", op, object, BZ_OK);
        return;
    }
    judge->call = (struct bz_event){
        .kind = BZ_EVENT_CALL, .op = (uint8_t)op, .task = shadow->running, .object = object};
}

/* Whether a return passed somebody over. */
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
        ask(judge, (struct bz_moment){.kind = BZ_MOMENT_RETURN,
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
    judge->progress_step = judge->step;
    noted(judge, event_of(judge, BZ_EVENT_RETURN, number, op, status));
}

/* Whether the loop returns from its call, in which somebody was woken. */
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
    judge->progress_step = judge->step;
    noted(judge, event_of(judge, BZ_EVENT_RETURN, number, op, status));
}

__attribute__((hot)) void bz_judge_returns(struct bz_judge *judge, uint32_t number, enum bz_op op,
                                           enum bz_status status) {
    bool is_at_once = (judge->call.kind != 0) & (judge->call.object == number);
    if (is_at_once || is_of_loop(judge, number, op)) {
        returns_at_once(judge, number, op, status);
    } else {
        returns_late(judge, number, op, status);
    }
}

void bz_judge_returns_or(struct bz_judge *judge, uint32_t object, enum bz_op op,
                         enum bz_status status, uint32_t excused) {
    uint32_t task = judge->shadow.running;
    judge->shadow.tasks[task].excused = (uint16_t)excused;
    bz_judge_returns(judge, object, op, status);
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
    settle(judge);
    if (number - 1 >= judge->shadow.object_count) {
        bz_judge_refuse_call(judge, "call", op, number, BZ_OK);
        return false;
    }
    bz_shadow_mark_dirty(&judge->shadow, number)->had_last = event.task;
    judge->progress_step = judge->step;
    noted(judge, event);
    return true;
}

uint32_t bz_judge_wakes(struct bz_judge *judge, uint32_t object) {
    settle(judge);
    return judge->shadow.objects[object].wakes;
}

/* Counts the release as accepted at the call, because grants happen inside it; a refusal reverts
 * this. */
__attribute__((hot)) void bz_judge_releases(struct bz_judge *judge, uint32_t number) {
    settle(judge);
    if (__builtin_expect(number - 1 >= judge->shadow.object_count, 0)) {
        bz_judge_refuse_call(judge, "call", BZ_OP_RELEASE, number, BZ_OK);
        return;
    }
    struct bz_event event = event_of(judge, BZ_EVENT_CALL, number, BZ_OP_RELEASE, BZ_OK);
    struct bz_shadow_task *task = &judge->shadow.tasks[event.task];
    struct bz_shadow_object *object = bz_shadow_mark_dirty(&judge->shadow, number);
    task->cancelled_in_op = false;
    object->had_last = event.task;
    task->took_back = object->holders > 0;
    task->gave_up = task->holdings > 0;
    object->holders -= task->took_back;
    task->holdings -= task->gave_up;
    if (__builtin_expect(!task->took_back, 0)) {
        task->over_released_before = object->over_released_by;
        object->over_released_by = event.task;
        object->permits++; /* a plain semaphore may be released by a task that never acquired */
    }
    judge->progress_step = judge->step;
    noted(judge, event);
}

/* What a release may return beside BZ_OK: that nobody held it, or that somebody else did; that a
 * plain semaphore has no space for one more permit. */
static uint32_t refusals(const struct bz_shadow_task *task, const struct bz_shadow_object *object) {
    bool is_held = task->took_back && task->gave_up;
    bool is_full = object->primitive == BZ_PRIMITIVE_SEMAPHORE && object->permits > PERMITS_MANY;
    return 1u << BZ_OK | (is_held ? 0 : 1u << BZ_NOT_HELD) | (is_full ? 1u << BZ_FULL : 0);
}

static __attribute__((noinline, cold)) void refused(struct bz_judge *judge, uint32_t number,
                                                    enum bz_status status) {
    settle(judge);
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
    noted(judge, event_of(judge, BZ_EVENT_RETURN, number, BZ_OP_RELEASE, status));
}

void bz_judge_released(struct bz_judge *judge, uint32_t object, enum bz_status status) {
    if (__builtin_expect(status != BZ_OK, 0)) {
        refused(judge, object, status);
    }
}

/* --- the end of a step, and of a run ---------------------------------------------------------- */

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
    if (__builtin_expect(is_suspect(judge, &moment), 0)) {
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

/* Whether the task may still pay: see struct bz_debt. */
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
                                              .numbers = {debt.wakes}});
    if (judge->violation.oracle == NULL) {
        judge->violation = first;
        return;
    }
    judge->violation.op = debt.op;
    judge->violation.window = debt.window;
    if (first.oracle != NULL) {
        judge->violation.also |= first.also | bit_of(first.oracle);
    }
}

/* Nearly every step names one object, or none. */
__attribute__((hot)) void bz_judge_end_step(struct bz_judge *judge) {
    settle(judge);
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

void bz_judge_end(struct bz_judge *judge) {
    if (judge->overtime.is_on) {
        bz_overtime_end(judge);
    }
    bz_judge_end_step(judge); /* for events since the last step */
    if (judge->end == BZ_RUN_PASSED || judge->end == BZ_RUN_OUT_OF_STEPS) {
        judge_all(judge, &(struct bz_moment){.kind = BZ_MOMENT_END});
    }
    judge->stats.steps += judge->step;
    judge->is_ended = true;
}
