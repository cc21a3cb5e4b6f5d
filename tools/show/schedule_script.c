#include "tools/show/schedule_script.h"

#include <stdlib.h>
#include <string.h>

#include "traces/lack.h"
#include "traces/text.h"

/* The operation that a task is in. */
struct actor {
    uint32_t suspended; /* the yield or the pause that it is in, number + 1; 0: none */
    uint32_t pending;   /* the operation that has not returned, number + 1; 0: none */
    bool is_cancelled;  /* and has not resumed since */
};

struct writer {
    struct bz_script *script;
    size_t act_capacity;
    size_t move_capacity;
    struct actor *actors;
    uint32_t running;
    uint64_t step;
};

static const char *const act_names[BZ_ACT_COUNT] = {
    "yield",    "pause",   "cancel",  "acquire", "release", "release-unheld", "wait",  "put",
    "get",      "try-put", "try-get", "notify",  "set",     "clear",          "abort", "reset",
    "shutdown", "done",    "other"};

const char *bz_act_name(enum bz_act_kind kind) {
    return act_names[kind];
}

/* --- acts and moves --------------------------------------------------------------------------- */

static struct bz_act *add_act(struct writer *writer, uint32_t task, enum bz_act_kind kind) {
    struct bz_script *script = writer->script;
    script->acts = bz_lack_grow(script->acts, script->act_count, &writer->act_capacity,
                                sizeof *script->acts, "a picture");
    struct bz_act *act = &script->acts[script->act_count++];
    *act = (struct bz_act){.kind = kind,
                           .task = task,
                           .number = 1,
                           .step = writer->step,
                           .end = writer->step,
                           .outcome = "ok"};
    uint32_t number = (uint32_t)script->act_count;
    if (script->last[task] != 0) {
        script->acts[script->last[task] - 1].next = number;
    } else {
        script->first[task] = number;
    }
    script->last[task] = number;
    return act;
}

static void add_move(struct writer *writer, uint32_t task, enum bz_move_kind kind) {
    struct bz_script *script = writer->script;
    script->moves = bz_lack_grow(script->moves, script->move_count, &writer->move_capacity,
                                 sizeof *script->moves, "a picture");
    script->moves[script->move_count++] =
        (struct bz_move){.step = writer->step, .task = task, .kind = kind};
}

static enum bz_act_kind kind_of_op(const char *op) {
    for (unsigned kind = BZ_ACT_ACQUIRE; kind < BZ_ACT_OTHER; kind++) {
        if (bz_is(op, act_names[kind])) {
            return (enum bz_act_kind)kind;
        }
    }
    return BZ_ACT_OTHER;
}

/* Whether a task owns the lock that a notification needs. */
static bool is_locked(const struct writer *writer, uint32_t condition) {
    const struct bz_ledger_object *objects = writer->script->ledger.objects;
    return objects[objects[condition].partner].count > 0;
}

/* Adds the operation of the event; returns its number + 1. */
static uint32_t add_operation(struct writer *writer, uint32_t task,
                              const struct bz_trace_event *event) {
    uint32_t object = bz_trace_find_object(writer->script->trace, event->object);
    struct bz_act *act = add_act(writer, task, object == 0 ? BZ_ACT_OTHER : kind_of_op(event->op));
    act->object = object;
    act->number = event->n == BZ_TRACE_ABSENT ? 1 : (uint32_t)event->n;
    if (act->kind == BZ_ACT_RELEASE &&
        bz_ledger_owned(&writer->script->ledger, task, object) == 0) {
        act->kind = BZ_ACT_RELEASE_UNHELD;
    }
    return (uint32_t)writer->script->act_count;
}

static bool is_instant(enum bz_act_kind kind) {
    return kind == BZ_ACT_RELEASE || kind == BZ_ACT_RELEASE_UNHELD || kind >= BZ_ACT_NOTIFY;
}

/* --- events ----------------------------------------------------------------------------------- */

static void read_call(struct writer *writer, uint32_t task, const struct bz_trace_event *event) {
    uint32_t number = add_operation(writer, task, event);
    struct bz_act *act = &writer->script->acts[number - 1];
    writer->actors[task].pending = number;
    /* A trace does not record whether these were refused. */
    bool is_unrecorded =
        act->kind == BZ_ACT_DONE || (act->kind == BZ_ACT_NOTIFY && !is_locked(writer, act->object));
    act->outcome = is_unrecorded ? "unknown" : is_instant(act->kind) ? "ok" : NULL;
}

/* An accepted release does not return: what returns next is another operation. */
static bool is_pending(const struct writer *writer, uint32_t task, const char *op) {
    uint32_t pending = writer->actors[task].pending;
    if (pending == 0) {
        return false;
    }
    enum bz_act_kind kind = writer->script->acts[pending - 1].kind;
    kind = kind == BZ_ACT_RELEASE_UNHELD ? BZ_ACT_RELEASE : kind;
    return kind == kind_of_op(op) || kind == BZ_ACT_OTHER;
}

static void read_return(struct writer *writer, uint32_t task, const struct bz_trace_event *event) {
    struct actor *actor = &writer->actors[task];
    if (!is_pending(writer, task, event->op)) {
        actor->pending = add_operation(writer, task, event);
    }
    struct bz_act *act = &writer->script->acts[actor->pending - 1];
    actor->pending = 0;
    act->outcome = event->status;
    act->end = writer->step;
    if (bz_is(event->status, "full") && act->kind == BZ_ACT_PUT) {
        act->kind = BZ_ACT_TRY_PUT;
    } else if (bz_is(event->status, "empty") && act->kind == BZ_ACT_GET) {
        act->kind = BZ_ACT_TRY_GET;
    }
}

static void read_suspend(struct writer *writer, uint32_t task, const struct bz_trace_event *event) {
    struct actor *actor = &writer->actors[task];
    if (actor->pending != 0 && is_instant(writer->script->acts[actor->pending - 1].kind)) {
        actor->pending = 0;
    }
    if (actor->pending == 0) {
        add_act(writer, task, bz_is(event->wait, "yield") ? BZ_ACT_YIELD : BZ_ACT_PAUSE)->outcome =
            NULL;
        actor->suspended = (uint32_t)writer->script->act_count;
    }
}

static void read_resume(struct writer *writer, uint32_t task, const struct bz_trace_event *event) {
    struct actor *actor = &writer->actors[task];
    writer->running = task;
    add_move(writer, task, BZ_MOVE_STEP);
    if (actor->suspended != 0) { /* a pause also ends with the status of a task that it joins */
        struct bz_act *act = &writer->script->acts[actor->suspended - 1];
        act->outcome = actor->is_cancelled ? event->status : "ok";
        act->end = writer->step;
        actor->suspended = 0;
    }
    actor->is_cancelled = false;
}

static void read_cancel(struct writer *writer, uint32_t task, const struct bz_trace_event *event) {
    uint32_t by = bz_trace_find_task(writer->script->trace, event->by);
    if (event->status != NULL && !bz_is(event->status, "ok")) {
        return; /* it was too late */
    }
    writer->actors[task].is_cancelled = true;
    if (by != 0 && by == writer->running) {
        add_act(writer, by, BZ_ACT_CANCEL)->victim = task;
    } else {
        add_move(writer, task, BZ_MOVE_CANCEL);
    }
}

static void read_wake(struct writer *writer, uint32_t task) {
    const struct actor *actor = &writer->actors[task];
    uint32_t suspended = actor->suspended;
    if (suspended != 0 && writer->script->acts[suspended - 1].kind == BZ_ACT_PAUSE &&
        !actor->is_cancelled) { /* a cancel ends it by itself */
        add_move(writer, task, BZ_MOVE_WAKE);
    }
}

static void read_event(struct writer *writer, const struct bz_trace_event *event) {
    uint32_t task = bz_trace_find_task(writer->script->trace, event->task);
    if (event->step != writer->step) {
        writer->step = event->step;
        writer->running = 0;
    }
    if (task == 0) {
        return;
    }
    if (bz_is(event->event, "resume")) {
        read_resume(writer, task, event);
    } else if (bz_is(event->event, "call")) {
        read_call(writer, task, event);
    } else if (bz_is(event->event, "return")) {
        read_return(writer, task, event);
    } else if (bz_is(event->event, "suspend")) {
        read_suspend(writer, task, event);
    } else if (bz_is(event->event, "cancel")) {
        read_cancel(writer, task, event);
    } else if (bz_is(event->event, "wake")) {
        read_wake(writer, task);
    }
}

/* --- the whole -------------------------------------------------------------------------------- */

void bz_script_init(struct bz_script *script, const struct bz_trace *trace) {
    struct writer writer = {.script = script};
    size_t tasks = trace->task_count + 1;
    *script = (struct bz_script){.trace = trace};
    script->first = bz_lack_new(tasks, sizeof *script->first, "a picture");
    script->last = bz_lack_new(tasks, sizeof *script->last, "a picture");
    writer.actors = bz_lack_new(tasks, sizeof *writer.actors, "a picture");
    bz_ledger_init(&script->ledger, trace);
    for (size_t index = 0; index < trace->event_count; index++) {
        if (bz_ledger_is_over(trace, &trace->events[index])) {
            break;
        }
        read_event(&writer, &trace->events[index]);
        bz_ledger_read(&script->ledger, &trace->events[index]);
    }
    free(writer.actors);
}

void bz_script_fini(struct bz_script *script) {
    free(script->acts);
    free(script->moves);
    free(script->first);
    free(script->last);
    bz_ledger_fini(&script->ledger);
    *script = (struct bz_script){0};
}
