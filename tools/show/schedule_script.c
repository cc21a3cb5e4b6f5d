#include "tools/show/schedule_script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/show/whole_program.h"
#include "traces/lack.h"

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
    uint32_t *held; /* by task and object: permits that it owns */
    uint32_t running;
    uint64_t step;
    uint32_t notify; /* the last notify of this step, number + 1; 0: none */
};

static const char *const act_names[BZ_ACT_COUNT] = {
    "yield",    "pause",   "cancel",  "acquire", "release", "release-unheld", "wait",  "put",
    "get",      "try-put", "try-get", "notify",  "set",     "clear",          "abort", "reset",
    "shutdown", "done",    "other"};

const char *bz_act_name(enum bz_act_kind kind) {
    return act_names[kind];
}

static bool is(const char *text, const char *word) {
    return text != NULL && strcmp(text, word) == 0;
}

static void *more(void *array, size_t count, size_t *capacity, size_t element_bytes) {
    if (count < *capacity) {
        return array;
    }
    *capacity = *capacity == 0 ? 64 : 2 * *capacity;
    return bz_lack_check(realloc(array, *capacity * element_bytes), "a picture");
}

/* --- acts and moves --------------------------------------------------------------------------- */

static struct bz_act *add_act(struct writer *writer, uint32_t task, enum bz_act_kind kind) {
    struct bz_script *script = writer->script;
    script->acts =
        more(script->acts, script->act_count, &writer->act_capacity, sizeof *script->acts);
    struct bz_act *act = &script->acts[script->act_count++];
    *act = (struct bz_act){
        .kind = kind, .task = task, .step = writer->step, .end = writer->step, .outcome = "ok"};
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
    script->moves =
        more(script->moves, script->move_count, &writer->move_capacity, sizeof *script->moves);
    script->moves[script->move_count++] =
        (struct bz_move){.step = writer->step, .task = task, .kind = kind};
}

static enum bz_act_kind kind_of_op(const char *op) {
    for (unsigned kind = BZ_ACT_ACQUIRE; kind < BZ_ACT_OTHER; kind++) {
        if (is(op, act_names[kind])) {
            return (enum bz_act_kind)kind;
        }
    }
    return BZ_ACT_OTHER;
}

static uint32_t *held(struct writer *writer, uint32_t task, uint32_t object) {
    return &writer->held[(size_t)task * (BZ_OBJECTS_MAX + 1) + object];
}

/* Adds the operation of the event; returns its number + 1. */
static uint32_t add_operation(struct writer *writer, uint32_t task,
                              const struct bz_trace_event *event) {
    uint32_t object = bz_objects_find(&writer->script->objects, event->object);
    struct bz_act *act = add_act(writer, task, object == 0 ? BZ_ACT_OTHER : kind_of_op(event->op));
    act->object = object;
    act->number = 1;
    writer->notify = 0; /* further wake-ups are not its own */
    if (act->kind == BZ_ACT_RELEASE) {
        uint32_t *own = held(writer, task, object);
        act->kind = *own > 0 ? BZ_ACT_RELEASE : BZ_ACT_RELEASE_UNHELD;
        *own -= *own > 0;
    } else if (act->kind == BZ_ACT_NOTIFY) {
        writer->notify = (uint32_t)writer->script->act_count;
        act->number = 0;
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
    act->outcome = is_instant(act->kind) ? "ok" : NULL;
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
    if (act->kind == BZ_ACT_RELEASE && !is(event->status, "ok")) {
        (*held(writer, task, act->object))++; /* it was refused */
    }
    if (is(event->status, "full") && act->kind == BZ_ACT_PUT) {
        act->kind = BZ_ACT_TRY_PUT;
    } else if (is(event->status, "empty") && act->kind == BZ_ACT_GET) {
        act->kind = BZ_ACT_TRY_GET;
    } else if (act->kind == BZ_ACT_ACQUIRE && is(event->status, "ok") && act->object != 0) {
        (*held(writer, task, act->object))++;
    }
}

static void read_suspend(struct writer *writer, uint32_t task, const struct bz_trace_event *event) {
    struct actor *actor = &writer->actors[task];
    if (actor->pending != 0 && is_instant(writer->script->acts[actor->pending - 1].kind)) {
        actor->pending = 0;
    }
    if (actor->pending == 0) {
        add_act(writer, task, is(event->wait, "yield") ? BZ_ACT_YIELD : BZ_ACT_PAUSE)->outcome =
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
    if (event->status != NULL && !is(event->status, "ok")) {
        return; /* it was too late */
    }
    writer->actors[task].is_cancelled = true;
    if (by != 0 && by == writer->running) {
        add_act(writer, by, BZ_ACT_CANCEL)->victim = task;
    } else {
        add_move(writer, task, BZ_MOVE_CANCEL);
    }
}

static void read_wake(struct writer *writer, uint32_t task, const struct bz_trace_event *event) {
    const struct actor *actor = &writer->actors[task];
    uint32_t suspended = actor->suspended;
    if (suspended != 0 && writer->script->acts[suspended - 1].kind == BZ_ACT_PAUSE) {
        if (!actor->is_cancelled) { /* a cancel ends it by itself */
            add_move(writer, task, BZ_MOVE_WAKE);
        }
    } else if (writer->notify != 0 && is(event->status, "ok")) {
        writer->script->acts[writer->notify - 1].number++;
    }
}

static void read_exit(struct writer *writer, uint32_t task) {
    for (uint32_t object = 1; object <= BZ_OBJECTS_MAX; object++) {
        writer->script->has_kept[task] |= *held(writer, task, object) > 0;
    }
}

static void read_event(struct writer *writer, const struct bz_trace_event *event) {
    uint32_t task = bz_trace_find_task(writer->script->trace, event->task);
    if (event->step != writer->step) {
        writer->step = event->step;
        writer->running = 0;
        writer->notify = 0;
    }
    if (task == 0) {
        return;
    }
    if (is(event->event, "resume")) {
        read_resume(writer, task, event);
    } else if (is(event->event, "call")) {
        read_call(writer, task, event);
    } else if (is(event->event, "return")) {
        read_return(writer, task, event);
    } else if (is(event->event, "suspend")) {
        read_suspend(writer, task, event);
    } else if (is(event->event, "cancel")) {
        read_cancel(writer, task, event);
    } else if (is(event->event, "wake")) {
        read_wake(writer, task, event);
    } else if (is(event->event, "exit")) {
        read_exit(writer, task);
    }
}

/* --- the whole -------------------------------------------------------------------------------- */

/* The slots of a queue are another name of the queue; a notify wakes one task at least. A trace
 * does not record whether a notify that woke no task, or a done, was refused. */
static void finish_acts(struct bz_script *script) {
    for (size_t index = 0; index < script->act_count; index++) {
        struct bz_act *act = &script->acts[index];
        uint32_t items = script->objects.objects[act->object].items;
        bool is_unrecorded =
            act->kind == BZ_ACT_DONE || (act->kind == BZ_ACT_NOTIFY && act->number == 0);
        act->outcome = is_unrecorded ? "unknown" : act->outcome;
        act->number = act->number == 0 ? 1 : act->number;
        act->object = items != 0 ? items : act->object;
    }
}

void bz_script_init(struct bz_script *script, const struct bz_trace *trace) {
    struct writer writer = {.script = script};
    size_t tasks = trace->task_count + 1;
    *script = (struct bz_script){.trace = trace};
    script->first = bz_lack_check(calloc(tasks, sizeof *script->first), "a picture");
    script->has_kept = bz_lack_check(calloc(tasks, sizeof *script->has_kept), "a picture");
    script->last = bz_lack_check(calloc(tasks, sizeof *script->last), "a picture");
    writer.actors = bz_lack_check(calloc(tasks, sizeof *writer.actors), "a picture");
    writer.held =
        bz_lack_check(calloc(tasks * (BZ_OBJECTS_MAX + 1), sizeof *writer.held), "a picture");
    bz_objects_init(&script->objects, trace);
    for (size_t index = 0; index < trace->event_count; index++) {
        if (trace->verdict.oracle == NULL || trace->events[index].step <= trace->verdict.step) {
            read_event(&writer, &trace->events[index]);
        }
    }
    finish_acts(script);
    free(writer.actors);
    free(writer.held);
}

void bz_script_fini(struct bz_script *script) {
    free(script->acts);
    free(script->moves);
    free(script->first);
    free(script->last);
    free(script->has_kept);
    *script = (struct bz_script){0};
}

/* --- what a trace does not record --------------------------------------------------------------
 */

static bool has_other_act(const struct bz_script *script) {
    for (size_t index = 0; index < script->act_count; index++) {
        if (script->acts[index].kind == BZ_ACT_OTHER) {
            return true;
        }
    }
    return false;
}

bool bz_script_refuses(const struct bz_view *view, char *reason, size_t size_bytes) {
    struct bz_script script;
    bool is_refused = true;
    if (bz_scene_program_of(view->trace) != NULL) {
        return false;
    }
    bz_script_init(&script, view->trace);
    const struct bz_object *lacking = NULL;
    for (uint32_t number = script.objects.count; number > 0; number--) {
        const struct bz_object *object = &script.objects.objects[number];
        lacking = object->lacks != NULL ? object : lacking;
    }
    if (script.objects.is_cut) {
        snprintf(reason, size_bytes, "the run has more than %u objects", BZ_OBJECTS_MAX);
    } else if (lacking != NULL) {
        snprintf(reason, size_bytes, "the trace does not record %s of '%s'", lacking->lacks,
                 lacking->name);
    } else if (has_other_act(&script)) {
        snprintf(reason, size_bytes, "the run has an operation that such a program cannot make");
    } else if (script.objects.count == 0 && !bz_is_of_python(view->trace)) {
        snprintf(reason, size_bytes, "the trace has no operation on an object");
    } else {
        is_refused = false;
    }
    bz_script_fini(&script);
    return is_refused;
}
