#include "traces/ledger.h"

#include <stdlib.h>
#include <string.h>

#include "traces/lack.h"
#include "traces/text.h"
#include "traces/trace_fields.h"

/* A search among the permits of one task ends after this many: a hostile trace has a million. */
#define SEARCH_MAX 1000u
#define PURPOSE "who owns what in a run"

bool bz_op_never_waits(const char *op) {
    unsigned number = op == NULL ? BZ_OP_COUNT : bz_vocabulary_find(&bz_vocabulary_op, op);
    return number == BZ_OP_RELEASE || (number >= BZ_OP_NOTIFY && number < BZ_OP_COUNT);
}

/* --- permits ---------------------------------------------------------------------------------- */

static void link_hold(struct bz_ledger *ledger, uint32_t number) {
    struct bz_hold *hold = &ledger->holds[number];
    struct bz_ledger_object *object = &ledger->objects[hold->object];
    hold->end = UINT64_MAX;
    hold->below = ledger->tasks[hold->task].hold;
    hold->older = object->newest;
    hold->newer = 0;
    *(hold->older != 0 ? &ledger->holds[hold->older].newer : &object->oldest) = number;
    object->newest = number;
    object->count++;
    ledger->tasks[hold->task].hold = number;
}

static void begin_hold(struct bz_ledger *ledger, uint32_t task, uint32_t object) {
    ledger->holds = bz_lack_grow(ledger->holds, ledger->hold_count, &ledger->hold_capacity,
                                 sizeof *ledger->holds, PURPOSE);
    uint32_t number = (uint32_t)ledger->hold_count++;
    ledger->holds[number] = (struct bz_hold){.task = task, .object = object, .step = ledger->step};
    link_hold(ledger, number);
    ledger->begun = number;
}

/* The place of the number of the task's newest permit of the object, of any object for 0. */
static uint32_t *find_hold(const struct bz_ledger *ledger, uint32_t task, uint32_t object) {
    uint32_t *place = &ledger->tasks[task].hold;
    for (unsigned count = 0; *place != 0 && count < SEARCH_MAX; count++) {
        if (object == 0 || ledger->holds[*place].object == object) {
            return place;
        }
        place = &ledger->holds[*place].below;
    }
    return NULL;
}

uint32_t bz_ledger_owned(const struct bz_ledger *ledger, uint32_t task, uint32_t object) {
    const uint32_t *place = object == 0 ? NULL : find_hold(ledger, task, object);
    return place == NULL ? 0 : *place;
}

/* Returns the permit that ends; 0 for the place NULL. */
static uint32_t end_hold(struct bz_ledger *ledger, uint32_t *place) {
    if (place == NULL) {
        return 0;
    }
    uint32_t number = *place;
    struct bz_hold *hold = &ledger->holds[number];
    struct bz_ledger_object *object = &ledger->objects[hold->object];
    *(hold->newer != 0 ? &ledger->holds[hold->newer].older : &object->newest) = hold->older;
    *(hold->older != 0 ? &ledger->holds[hold->older].newer : &object->oldest) = hold->newer;
    *place = hold->below;
    object->count--;
    hold->end = ledger->step;
    return number;
}

/* How many are out is known: a permit of somebody else has moved. */
static void correct(struct bz_ledger *ledger, uint32_t task, uint32_t object, uint64_t held) {
    const struct bz_ledger_object *state = &ledger->objects[object];
    if (held == BZ_TRACE_ABSENT || object == 0) {
        return;
    }
    if (state->count < held && ledger->begun == 0) { /* one an event at most */
        begin_hold(ledger, task, object);
    } else if (state->count > held) {
        uint32_t owner = ledger->holds[state->oldest].task;
        ledger->tasks[task].released = end_hold(ledger, find_hold(ledger, owner, object));
    }
}

/* The wait of a condition gives its lock back. If that is not known, nothing is said of what the
 * waiter owns. */
static void lend_lock(struct bz_ledger *ledger, uint32_t task, uint32_t lock) {
    while (lock == 0 && end_hold(ledger, find_hold(ledger, task, 0)) != 0) {
    }
    ledger->tasks[task].released = lock == 0 ? 0 : end_hold(ledger, find_hold(ledger, task, lock));
}

/* --- queues ----------------------------------------------------------------------------------- */

static void join_queue(struct bz_ledger *ledger, uint32_t task) {
    struct bz_ledger_task *state = &ledger->tasks[task];
    struct bz_ledger_object *object = &ledger->objects[state->object];
    if (task == 0 || state->is_queued) {
        return;
    }
    state->is_queued = true;
    state->before = object->last;
    state->after = 0;
    ledger->tasks[object->last].after = task;
    object->last = task;
}

static void leave_queue(struct bz_ledger *ledger, uint32_t task) {
    struct bz_ledger_task *state = &ledger->tasks[task];
    if (state->is_queued) {
        *(state->after != 0 ? &ledger->tasks[state->after].before
                            : &ledger->objects[state->object].last) = state->before;
        ledger->tasks[state->before].after = state->after;
        state->is_queued = false;
    }
}

/* --- spans and places ------------------------------------------------------------------------- */

static void end_place(struct bz_ledger *ledger, const struct bz_place *place, uint64_t step) {
    if (place->kind != 0 && step > place->step) {
        ledger->places = bz_lack_grow(ledger->places, ledger->place_count, &ledger->place_capacity,
                                      sizeof *ledger->places, PURPOSE);
        ledger->places[ledger->place_count] = *place;
        ledger->places[ledger->place_count++].end = step;
    }
}

static void begin_place(struct bz_ledger *ledger, uint32_t task, enum bz_span_kind kind,
                        uint32_t object) {
    struct bz_place *place = &ledger->tasks[task].place;
    bool is_place = object != 0 && kind >= BZ_SPAN_WAITING && kind <= BZ_SPAN_STRUCK;
    bool goes_on = place->kind != 0 && place->object == object;
    end_place(ledger, place, ledger->step);
    *place =
        (struct bz_place){.task = task,
                          .object = object,
                          .step = ledger->step,
                          .since = goes_on ? place->since : ledger->step,
                          .kind = is_place ? kind : BZ_SPAN_UNSTARTED,
                          .was_woken = kind == BZ_SPAN_STRUCK && ledger->tasks[task].was_woken};
}

static void end_span(struct bz_ledger *ledger, struct bz_span *span, uint64_t step) {
    if (step > span->step) {
        ledger->spans = bz_lack_grow(ledger->spans, ledger->span_count, &ledger->span_capacity,
                                     sizeof *ledger->spans, PURPOSE);
        span->end = step;
        ledger->spans[ledger->span_count++] = *span;
        span->step = step;
    }
}

static void begin_span(struct bz_ledger *ledger, uint32_t task, uint64_t step,
                       enum bz_span_kind kind, uint32_t object) {
    struct bz_span *span = &ledger->tasks[task].span;
    if (task != 0) {
        end_span(ledger, span, step);
        span->kind = kind;
        span->object = object;
        span->is_holding = ledger->tasks[task].hold != 0;
        begin_place(ledger, task, kind, object);
    }
}

/* --- events ----------------------------------------------------------------------------------- */

/* The object whose permits an operation on this one moves. */
static uint32_t permits_of(const struct bz_ledger *ledger, uint32_t object) {
    const struct bz_ledger_object *state = &ledger->objects[object];
    return state->kind == BZ_KIND_CONDITION ? state->partner : object;
}

static bool is_wait_of_condition(const struct bz_ledger *ledger, uint32_t object, const char *op) {
    return ledger->objects[object].kind == BZ_KIND_CONDITION && bz_is(op, "wait");
}

static void read_call(struct bz_ledger *ledger, uint32_t task, uint32_t object,
                      const struct bz_trace_event *event) {
    struct bz_ledger_task *state = &ledger->tasks[task];
    if (bz_is(event->op, "release")) {
        state->released = end_hold(ledger, find_hold(ledger, task, object));
    } else if (!bz_op_never_waits(event->op)) {
        leave_queue(ledger, task);
        state->op = event->op;
        state->object = object;
    }
    if (is_wait_of_condition(ledger, object, event->op)) {
        lend_lock(ledger, task, permits_of(ledger, object));
    }
    correct(ledger, task, permits_of(ledger, object), event->held);
}

static void read_return(struct bz_ledger *ledger, uint32_t task, uint32_t object,
                        const struct bz_trace_event *event) {
    struct bz_ledger_task *state = &ledger->tasks[task];
    bool is_ok = bz_is(event->status, "ok");
    bool is_release = bz_is(event->op, "release");
    if (bz_is(event->op, "acquire") && is_ok) {
        begin_hold(ledger, task, object);
    } else if (is_release && !is_ok && state->released != 0) {
        link_hold(ledger, state->released); /* nothing was given back */
    } else if (is_wait_of_condition(ledger, object, event->op) && state->op != NULL &&
               state->released != 0) {
        begin_hold(ledger, task, permits_of(ledger, object));
    }
    state->released = 0;
    if (!bz_op_never_waits(event->op)) {
        leave_queue(ledger, task);
        state->op = NULL;
    }
    correct(ledger, task, permits_of(ledger, object), event->held);
}

static void read_suspend(struct bz_ledger *ledger, uint32_t task,
                         const struct bz_trace_event *event) {
    struct bz_ledger_task *state = &ledger->tasks[task];
    bool is_future = bz_is(event->wait, "future");
    enum bz_span_kind kind = bz_is(event->wait, "yield") ? BZ_SPAN_READY : BZ_SPAN_SLEEPING;
    state->waits_for_future = is_future || bz_is(event->wait, "join");
    if (state->op != NULL && is_future) {
        kind = BZ_SPAN_WAITING;
        join_queue(ledger, task);
    }
    begin_span(ledger, task, ledger->step + 1, state->is_struck ? BZ_SPAN_STRUCK : kind,
               kind == BZ_SPAN_WAITING ? state->object : 0);
}

static void read_resume(struct bz_ledger *ledger, uint32_t task) {
    struct bz_ledger_task *state = &ledger->tasks[task];
    ledger->running = task;
    state->has_started = true;
    state->is_struck = state->was_woken = state->waits_for_future = false;
    begin_span(ledger, task, ledger->step, BZ_SPAN_RUNNING, 0);
}

static void read_wake(struct bz_ledger *ledger, uint32_t task) {
    struct bz_ledger_task *state = &ledger->tasks[task];
    state->was_woken = state->waits_for_future;
    begin_span(ledger, task, ledger->step, state->waits_for_future ? BZ_SPAN_WOKEN : BZ_SPAN_READY,
               state->span.object);
}

static void read_cancel(struct bz_ledger *ledger, uint32_t task) {
    struct bz_ledger_task *state = &ledger->tasks[task];
    state->is_struck = true;
    if (ledger->running != task) {
        begin_span(ledger, task, ledger->step, BZ_SPAN_STRUCK, state->span.object);
    }
}

void bz_ledger_read(struct bz_ledger *ledger, const struct bz_trace_event *event) {
    uint32_t task = bz_trace_find_task(ledger->trace, event->task);
    struct bz_ledger_task *state = &ledger->tasks[task];
    unsigned kind = bz_vocabulary_find(&bz_vocabulary_event, event->event);
    ledger->running = event->step != ledger->step ? 0 : ledger->running;
    ledger->step = event->step;
    ledger->begun = 0;
    if (kind == BZ_EVENT_CALL) {
        read_call(ledger, task, bz_trace_find_object(ledger->trace, event->object), event);
    } else if (kind == BZ_EVENT_RETURN) {
        read_return(ledger, task, bz_trace_find_object(ledger->trace, event->object), event);
    } else if (kind == BZ_EVENT_SUSPEND) {
        read_suspend(ledger, task, event);
    } else if (kind == BZ_EVENT_RESUME) {
        read_resume(ledger, task);
    } else if (kind == BZ_EVENT_WAKE && !bz_is(event->status, "cancelled")) {
        read_wake(ledger, task);
    } else if (kind == BZ_EVENT_CANCEL && (event->status == NULL || bz_is(event->status, "ok"))) {
        read_cancel(ledger, task);
    } else if (kind == BZ_EVENT_SPAWN && !state->has_started) {
        state->span.step = ledger->step; /* before that, there is no task */
    } else if (kind == BZ_EVENT_EXIT) {
        state->has_ended = true;
        begin_span(ledger, task, ledger->step + (ledger->running == task), BZ_SPAN_DONE, 0);
    }
}

/* --- the whole -------------------------------------------------------------------------------- */

void bz_ledger_init(struct bz_ledger *ledger, const struct bz_trace *trace) {
    *ledger = (struct bz_ledger){.trace = trace, .hold_count = 1};
    ledger->tasks = bz_lack_new(trace->task_count + 1, sizeof *ledger->tasks, PURPOSE);
    ledger->objects = bz_lack_new(trace->object_count + 1, sizeof *ledger->objects, PURPOSE);
    for (uint32_t number = 1; number <= trace->task_count; number++) {
        ledger->tasks[number].span.task = number;
    }
    for (uint32_t number = 1; number <= trace->object_count; number++) {
        const struct bz_trace_object *object = &trace->objects[number - 1];
        ledger->objects[number] = (struct bz_ledger_object){
            .kind = object->kind == NULL ? BZ_KIND_UNKNOWN
                                         : bz_vocabulary_find(&bz_vocabulary_kind, object->kind),
            .partner = bz_trace_find_object(trace, object->partner)};
    }
}

void bz_ledger_finish(struct bz_ledger *ledger) {
    for (uint32_t task = 1; task <= ledger->trace->task_count; task++) {
        end_place(ledger, &ledger->tasks[task].place, UINT64_MAX);
        end_span(ledger, &ledger->tasks[task].span, ledger->step + 1);
    }
}

bool bz_ledger_is_over(const struct bz_trace *trace, const struct bz_trace_event *event) {
    return trace->verdict.oracle != NULL && event->step > trace->verdict.step;
}

void bz_ledger_fini(struct bz_ledger *ledger) {
    free(ledger->tasks);
    free(ledger->objects);
    free(ledger->holds);
    free(ledger->spans);
    free(ledger->places);
    *ledger = (struct bz_ledger){.trace = NULL};
}
