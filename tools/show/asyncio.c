/* A Python program that makes the schedule of a run with asyncio: tables of the objects, of what
 * each task does and of what happens in which order, and player.py, which plays them. Sleeps, joins
 * and futures of the recorded program are pauses: the schedule says when they end. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/runtime/check.h"
#include "sim/judge/record.h"
#include "tools/cli/embedded.h"
#include "tools/show/show.h"
#include "traces/lack.h"
#include "traces/text.h"

/* Something that a task does. Numbers of acts begin with 1; 0: none. */
struct act {
    const char *verb;    /* of the player; NULL: no such program can be made */
    const char *name;    /* of the object, or of the task that is cancelled; NULL: none */
    const char *outcome; /* a status, or "unknown"; NULL: it had not returned */
    uint32_t object;     /* its number; 0: none */
    uint32_t count;      /* notify: for how many it is */
    uint32_t next;       /* of the same task */
    uint64_t step;       /* in which it begins */
    uint64_t end;        /* in which it ends, if it does */
};

/* A task: its acts, and those that have not ended. */
struct actor {
    uint32_t first;
    uint32_t last;
    uint32_t suspended; /* the yield or the pause */
    uint32_t pending;   /* the operation */
    bool is_cancelled;  /* and has not resumed since */
};

struct script {
    struct bz_ledger ledger; /* before the event that is read; at last, after all of them */
    struct act *acts;        /* by number - 1, in the order of the run */
    size_t act_count;
    size_t act_capacity;
    struct actor *actors; /* by task */
    struct bz_text moves; /* rows of SCHEDULE */
    uint64_t step;        /* that is read */
    uint32_t running;     /* the task that runs in it; 0: none */
};

/* A run of a test in Python: asyncio itself ran. */
static bool is_of_python(const struct bz_trace *trace) {
    return trace->variant != NULL && strncmp(trace->variant, "python-", 7) == 0;
}

/* A text of JSON is one of Python. Comments have no text of a trace but such. */
static void put_string(struct bz_text *out, const char *text) {
    if (text == NULL) {
        bz_text_put(out, "None");
    } else {
        bz_text_put_json(out, text);
    }
}

static void put_head(const struct bz_trace *trace, struct bz_text *out) {
    bz_text_add(out,
                "#!/usr/bin/env python3\n"
                "# A schedule that was recorded by Buzzer, made again with asyncio. Needs Python "
                "3.9 or later, and\n# nothing else.\n"
                "# Exit status: 1 %s shows a fault; 0 it does not; 3 it does not either, and "
                "goes another way\n# than the recorded run.\n#\n"
                "# scenario  ",
                is_of_python(trace) ? "it" : "asyncio");
    bz_text_put_json(out, trace->scenario);
    bz_text_put(out, "\n# recorded  ");
    bz_text_put_json(out, trace->variant);
    bz_text_put(out, is_of_python(trace)
                         ? ": asyncio itself, under Buzzer's loop\n# order     "
                         : ", an implementation other than the one that runs here\n# order     ");
    bz_text_put_json(out, trace->order);
    bz_text_put(out, "\n# verdict   ");
    bz_text_put_json(out, bz_show_verdict(trace));
    bz_text_add(out, ", at step %" PRIu64 ", seed 0x%" PRIx64 "\n", trace->verdict.step,
                trace->seed);
    if (trace->verdict.message != NULL) {
        bz_text_put(out, "# message   ");
        bz_text_put_json(out, trace->verdict.message);
        bz_text_put(out, "\n");
    }
}

static void put_tasks(const struct bz_trace *trace, struct bz_text *out) {
    size_t width = 4;
    bz_text_put(out, "\nTASKS = [");
    for (size_t index = 0; index < trace->task_count; index++) {
        bz_text_put(out, index > 0 ? ",\n         " : "");
        put_string(out, trace->tasks[index]);
        size_t length = strlen(trace->tasks[index]);
        width = length > width ? length : width;
    }
    bz_text_add(out, "]\nWIDTH = %zu\n", width);
}

/* --- the script --------------------------------------------------------------------------------
 */

static const char *const instant_verbs[] = {
    "release", "release-unheld", "notify",   "set",  "clear",
    "abort",   "reset",          "shutdown", "done", NULL};
static const char *const waiting_verbs[] = {"acquire", "wait", "put", "get", NULL};

/* The word of the list; NULL: it has none such. */
static const char *find_verb(const char *const *verbs, const char *op) {
    while (*verbs != NULL && !bz_is(*verbs, op)) {
        verbs++;
    }
    return *verbs;
}

static const char *verb_of(const char *op) {
    const char *verb = find_verb(waiting_verbs, op);
    return verb != NULL ? verb : find_verb(instant_verbs, op);
}

static const char *task_name(const struct script *script, uint32_t task) {
    return bz_trace_task_name(script->ledger.trace, task, "loop");
}

/* The name of the object in the program, where the slots of a queue are the queue. */
static const char *name_of(const struct script *script, uint32_t number) {
    const struct bz_trace_object *object = &script->ledger.trace->objects[number - 1];
    bool is_slots = script->ledger.objects[number].kind == BZ_KIND_SLOTS;
    return is_slots && object->partner != NULL ? object->partner : object->name;
}

static struct act *add_act(struct script *script, uint32_t task, const char *verb) {
    struct actor *actor = &script->actors[task];
    script->acts = bz_lack_grow(script->acts, script->act_count, &script->act_capacity,
                                sizeof *script->acts, "a picture");
    struct act *act = &script->acts[script->act_count++];
    uint32_t number = (uint32_t)script->act_count;
    *act = (struct act){
        .verb = verb, .count = 1, .step = script->step, .end = script->step, .outcome = "ok"};
    *(actor->last != 0 ? &script->acts[actor->last - 1].next : &actor->first) = number;
    actor->last = number;
    return act;
}

static void add_move(struct script *script, uint32_t task, const char *move) {
    bz_text_add(&script->moves, "    (%" PRIu64 ", \"%s\", ", script->step, move);
    put_string(&script->moves, task_name(script, task));
    bz_text_put(&script->moves, "),\n");
}

/* Adds the operation of the event, as one that has not ended. */
static struct act *add_operation(struct script *script, uint32_t task,
                                 const struct bz_trace_event *event) {
    uint32_t object = bz_trace_find_object(script->ledger.trace, event->object);
    bool is_unheld = object != 0 && bz_is(event->op, "release") &&
                     bz_ledger_owned(&script->ledger, task, object) == 0;
    struct act *act = add_act(script, task,
                              object == 0 ? NULL
                              : is_unheld ? "release-unheld"
                                          : verb_of(event->op));
    act->name = object == 0 ? NULL : name_of(script, object);
    act->object = object;
    act->count = event->n == BZ_TRACE_ABSENT ? 1 : (uint32_t)event->n;
    script->actors[task].pending = (uint32_t)script->act_count;
    return act;
}

/* A trace does not record whether a notification is refused, because no task owns the lock. */
static bool is_unrecorded(const struct script *script, const struct act *act) {
    const struct bz_ledger_object *objects = script->ledger.objects;
    return bz_is(act->verb, "done") ||
           (bz_is(act->verb, "notify") && objects[objects[act->object].partner].count == 0);
}

static void read_call(struct script *script, uint32_t task, const struct bz_trace_event *event) {
    struct act *act = add_operation(script, task, event);
    act->outcome = is_unrecorded(script, act)                    ? "unknown"
                   : find_verb(instant_verbs, act->verb) != NULL ? "ok"
                                                                 : NULL;
}

/* An accepted release does not return: the next return is that of another operation. */
static struct act *pending_act(const struct script *script, uint32_t task, const char *op) {
    uint32_t pending = script->actors[task].pending;
    struct act *act = pending == 0 ? NULL : &script->acts[pending - 1];
    const char *verb = act == NULL                          ? NULL
                       : bz_is(act->verb, "release-unheld") ? "release"
                                                            : act->verb;
    return act != NULL && (verb == NULL || bz_is(verb, op)) ? act : NULL;
}

static void read_return(struct script *script, uint32_t task, const struct bz_trace_event *event) {
    struct act *act = pending_act(script, task, event->op);
    act = act != NULL ? act : add_operation(script, task, event);
    script->actors[task].pending = 0;
    act->outcome = event->status;
    act->end = script->step;
    if (bz_is(event->status, "full") && bz_is(act->verb, "put")) {
        act->verb = "try-put";
    } else if (bz_is(event->status, "empty") && bz_is(act->verb, "get")) {
        act->verb = "try-get";
    }
}

static void read_suspend(struct script *script, uint32_t task, const struct bz_trace_event *event) {
    struct actor *actor = &script->actors[task];
    uint32_t pending = actor->pending;
    if (pending == 0 || find_verb(instant_verbs, script->acts[pending - 1].verb) != NULL) {
        actor->pending = 0;
        add_act(script, task, bz_is(event->wait, "yield") ? "yield" : "pause")->outcome = NULL;
        actor->suspended = (uint32_t)script->act_count;
    }
}

static void read_resume(struct script *script, uint32_t task, const struct bz_trace_event *event) {
    struct actor *actor = &script->actors[task];
    script->running = task;
    add_move(script, task, "step");
    if (actor->suspended != 0) { /* a pause also ends with the status of a task that it joins */
        struct act *act = &script->acts[actor->suspended - 1];
        act->outcome = actor->is_cancelled ? event->status : "ok";
        act->end = script->step;
        actor->suspended = 0;
    }
    actor->is_cancelled = false;
}

static void read_cancel(struct script *script, uint32_t task, const struct bz_trace_event *event) {
    uint32_t by = bz_trace_find_task(script->ledger.trace, event->by);
    if (event->status != NULL && !bz_is(event->status, "ok")) {
        return; /* it was too late */
    }
    script->actors[task].is_cancelled = true;
    if (by != 0 && by == script->running) {
        add_act(script, by, "cancel")->name = task_name(script, task);
    } else {
        add_move(script, task, "cancel");
    }
}

/* A cancel ends a pause by itself. */
static void read_wake(struct script *script, uint32_t task, const struct bz_trace_event *event) {
    const struct actor *actor = &script->actors[task];
    (void)event;
    if (actor->suspended != 0 && bz_is(script->acts[actor->suspended - 1].verb, "pause") &&
        !actor->is_cancelled) {
        add_move(script, task, "wake");
    }
}

static void read_event(struct script *script, const struct bz_trace_event *event) {
    static const struct {
        const char *event;
        void (*read)(struct script *script, uint32_t task, const struct bz_trace_event *event);
    } readers[] = {{"resume", read_resume},   {"call", read_call},     {"return", read_return},
                   {"suspend", read_suspend}, {"cancel", read_cancel}, {"wake", read_wake}};
    uint32_t task = bz_trace_find_task(script->ledger.trace, event->task);
    script->running = event->step != script->step ? 0 : script->running;
    script->step = event->step;
    for (size_t index = 0; task != 0 && index < sizeof readers / sizeof readers[0]; index++) {
        if (bz_is(event->event, readers[index].event)) {
            readers[index].read(script, task, event);
        }
    }
    bz_ledger_read(&script->ledger, event);
}

static void init_script(struct script *script, const struct bz_trace *trace) {
    *script = (struct script){.act_count = 0};
    script->actors = bz_lack_new(trace->task_count + 1, sizeof *script->actors, "a picture");
    bz_ledger_init(&script->ledger, trace);
    for (size_t index = 0; index < trace->event_count; index++) {
        if (bz_ledger_is_over(trace, &trace->events[index])) {
            break;
        }
        read_event(script, &trace->events[index]);
    }
}

static void fini_script(struct script *script) {
    free(script->acts);
    free(script->actors);
    bz_text_fini(&script->moves);
    bz_ledger_fini(&script->ledger);
}

/* --- the program ------------------------------------------------------------------------------ */

static void put_object(const struct script *script, uint32_t number, struct bz_text *out) {
    const struct bz_trace_object *object = &script->ledger.trace->objects[number - 1];
    enum bz_kind kind = script->ledger.objects[number].kind;
    bz_text_put(out, "    (");
    put_string(out, object->name);
    bz_text_add(out, ", \"%s\", %" PRIu64 ", ",
                kind == BZ_KIND_ITEMS  ? "queue"
                : kind == BZ_KIND_POOL ? "lock"
                                       : object->kind,
                object->size == BZ_TRACE_ABSENT ? 0 : object->size);
    put_string(out, object->order);
    bz_text_put(out, ", ");
    put_string(out, kind == BZ_KIND_ITEMS ? NULL : object->partner);
    bz_text_put(out, "),\n");
}

static void put_objects(const struct script *script, struct bz_text *out) {
    bz_text_put(out, "\n# name, kind, permits or parties or size, order of a queue, lock of a "
                     "condition\nOBJECTS = [\n");
    for (unsigned pass = 0; pass < 2; pass++) { /* locks before their conditions */
        for (uint32_t number = 1; number <= script->ledger.trace->object_count; number++) {
            enum bz_kind kind = script->ledger.objects[number].kind;
            if (kind != BZ_KIND_SLOTS && (kind == BZ_KIND_CONDITION) == (pass == 1)) {
                put_object(script, number, out);
            }
        }
    }
    bz_text_put(out, "]\n");
}

static void put_act(const struct act *act, struct bz_text *out) {
    /* A time-out of the recorded program is a cancel from outside here. */
    bool is_timeout = bz_is(act->outcome, "timed-out");
    bz_text_add(out, "        (\"%s\", ", act->verb);
    put_string(out, act->name);
    bz_text_add(out, ", %" PRIu32 ", ", act->count);
    put_string(out, is_timeout ? "cancelled" : act->outcome);
    bz_text_add(out, ", %" PRIu64 "),  # step %" PRIu64 "\n", act->end, act->step);
}

static void put_programs(const struct script *script, struct bz_text *out) {
    bz_text_put(out, "\n# what each task does: verb, object or task, how many are notified, what "
                     "came of it in the\n# recorded run (None: it had not returned), and in which "
                     "step\n"
                     "PROGRAMS = {\n");
    for (uint32_t task = 1; task <= script->ledger.trace->task_count; task++) {
        bz_text_put(out, "    ");
        put_string(out, task_name(script, task));
        bz_text_put(out, ": [\n");
        for (uint32_t at = script->actors[task].first; at != 0; at = script->acts[at - 1].next) {
            put_act(&script->acts[at - 1], out);
        }
        bz_text_put(out, "    ],\n");
    }
    bz_text_put(out, "}\n");
}

/* The program lacks everything that the test in Python did beside its operations. */
static void put_test(const struct script *script, struct bz_text *out) {
    bool is_own = is_of_python(script->ledger.trace);
    bz_text_add(out, "\n# tasks that ended, and kept what they owned\nKEPT = [");
    for (uint32_t task = 1; is_own && task <= script->ledger.trace->task_count; task++) {
        if (script->ledger.tasks[task].has_ended && script->ledger.tasks[task].hold != 0) {
            put_string(out, task_name(script, task));
            bz_text_put(out, ", ");
        }
    }
    bz_text_add(out,
                "]\n# the run was of a test in Python, whose own code is not in here\n"
                "IS_OF_PYTHON = %s\n",
                is_own ? "True" : "False");
}

void bz_show_asyncio(const struct bz_view *view, struct bz_text *out) {
    struct script script;
    const char *player = bz_embedded_text(bz_show_templates, "player.py");
    BZ_CHECK(player != NULL);
    init_script(&script, view->trace);
    put_head(view->trace, out);
    put_tasks(view->trace, out);
    put_objects(&script, out);
    put_programs(&script, out);
    put_test(&script, out);
    bz_text_put(out, "\n# which task makes a step, ends a pause or is cancelled from outside, in "
                     "this order\nSCHEDULE = [\n");
    bz_text_put(out, bz_or(script.moves.bytes, ""));
    bz_text_put(out, "]\n");
    bz_text_put(out, player);
    fini_script(&script);
}

/* --- what a trace does not record --------------------------------------------------------------
 */

static bool has_other_act(const struct bz_trace *trace) {
    struct script script;
    bool has_one = false;
    init_script(&script, trace);
    for (size_t index = 0; index < script.act_count; index++) {
        has_one |= script.acts[index].verb == NULL;
    }
    fini_script(&script);
    return has_one;
}

/* Why an object has no counterpart in asyncio; NULL: it has one. */
static const char *problem_of(const struct bz_trace_object *object) {
    static const struct {
        enum bz_kind kind;
        bool has_size;
        bool has_partner;
    } needs[] = {{BZ_KIND_SEMAPHORE, true, false}, {BZ_KIND_BOUNDED, true, false},
                 {BZ_KIND_BARRIER, true, false},   {BZ_KIND_ITEMS, true, true},
                 {BZ_KIND_SLOTS, false, true},     {BZ_KIND_CONDITION, false, true}};
    bool lacks = false;
    for (size_t index = 0; index < sizeof needs / sizeof needs[0]; index++) {
        lacks |= bz_is(object->kind, bz_kind_name(needs[index].kind)) &&
                 ((needs[index].has_size && object->size == BZ_TRACE_ABSENT) ||
                  (needs[index].has_partner && object->partner == NULL));
    }
    bool meets = bz_is(object->kind, bz_kind_name(BZ_KIND_ITEMS)) && object->size == UINT32_MAX;
    return bz_is(object->kind, bz_kind_name(BZ_KIND_MODELLED)) ? "is judged by a model"
           : meets                                             ? "is a rendezvous"
           : bz_is(object->kind, bz_kind_name(BZ_KIND_RESOURCE_POOL))
               ? "is a pool of resources, which asyncio does not have"
           : lacks ? "has no \"size\" or no \"partner\" in the trace"
                   : NULL;
}

bool bz_asyncio_refuses(const struct bz_view *view, char *reason, size_t size_bytes) {
    const struct bz_trace *trace = view->trace;
    const struct bz_trace_object *odd = NULL;
    for (size_t index = trace->object_count; index-- > 0;) {
        odd = problem_of(&trace->objects[index]) != NULL ? &trace->objects[index] : odd;
    }
    if (trace->version == 1 && trace->object_count > 0) {
        snprintf(reason, size_bytes,
                 "a trace of version 1 does not say what its objects are ('buzzer replay TRACE -o "
                 "FILE' records the run again)");
    } else if (odd != NULL) {
        snprintf(reason, size_bytes, "object '%s' %s", odd->name, problem_of(odd));
    } else if (has_other_act(trace)) {
        snprintf(reason, size_bytes, "the run has an operation that such a program cannot make");
    } else if (trace->object_count == 0 && !is_of_python(trace)) {
        snprintf(reason, size_bytes,
                 "it has no lock, semaphore, condition, event, queue or barrier");
    } else {
        return false;
    }
    return true;
}
