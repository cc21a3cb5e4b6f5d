/* A Python program that makes the schedule of a run with asyncio: tables of what each task does and
 * of what happens in which order, and player.py, which plays them. For some scenarios, tables of
 * what was drawn and of the order, whole_program.py, which plays them, and the program of the
 * scenario.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "primitives/runtime/check.h"
#include "sim/judge/record.h"
#include "tools/cli/embedded.h"
#include "tools/show/schedule_script.h"
#include "tools/show/show.h"
#include "traces/text.h"

#define VALUES 8u

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

/* `needs`: the end of a sentence, and what is tested. */
static void put_head(const struct bz_trace *trace, struct bz_text *out, const char *needs,
                     const char *tested) {
    bz_text_add(out,
                "#!/usr/bin/env python3\n"
                "# A schedule that was recorded by Buzzer, made again with asyncio. Needs %s.\n"
                "# Exit status: 1 %s shows a fault; 0 it does not; 3 it does not either, and "
                "goes another way\n# than the recorded run.\n#\n"
                "# scenario  ",
                needs, tested);
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

/* The name of the object in the program, where the slots of a queue are the queue. */
static const char *name_of(const struct bz_script *script, uint32_t number) {
    const struct bz_trace_object *object = &script->trace->objects[number - 1];
    bool is_slots = script->ledger.objects[number].kind == BZ_KIND_SLOTS;
    return is_slots && object->partner != NULL ? object->partner : object->name;
}

static void put_object(const struct bz_script *script, uint32_t number, struct bz_text *out) {
    const struct bz_trace_object *object = &script->trace->objects[number - 1];
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

static void put_objects(const struct bz_script *script, struct bz_text *out) {
    bz_text_put(out, "\n# name, kind, permits or parties or size, order of a queue, lock of a "
                     "condition\nOBJECTS = [\n");
    for (unsigned pass = 0; pass < 2; pass++) { /* locks before their conditions */
        for (uint32_t number = 1; number <= script->trace->object_count; number++) {
            enum bz_kind kind = script->ledger.objects[number].kind;
            if (kind != BZ_KIND_SLOTS && (kind == BZ_KIND_CONDITION) == (pass == 1)) {
                put_object(script, number, out);
            }
        }
    }
    bz_text_put(out, "]\n");
}

static void put_act(const struct bz_script *script, struct bz_text *out, const struct bz_act *act) {
    const char *name = act->kind == BZ_ACT_CANCEL
                           ? bz_trace_task_name(script->trace, act->victim, "loop")
                       : act->object != 0 ? name_of(script, act->object)
                                          : NULL;
    /* A time-out of the recorded program is a cancel from outside here. */
    bool is_timeout = act->outcome != NULL && strcmp(act->outcome, "timed-out") == 0;
    bz_text_add(out, "        (\"%s\", ", bz_act_name(act->kind));
    put_string(out, name);
    bz_text_add(out, ", %" PRIu32 ", ", act->number);
    put_string(out, is_timeout ? "cancelled" : act->outcome);
    bz_text_add(out, ", %" PRIu64 "),  # step %" PRIu64 "\n", act->end, act->step);
}

static void put_programs(const struct bz_script *script, struct bz_text *out) {
    bz_text_put(out, "\n# what each task does: verb, object or task, how many are notified, what "
                     "came of it in the\n# recorded run (None: it had not returned), and in which "
                     "step\n"
                     "PROGRAMS = {\n");
    for (uint32_t task = 1; task <= script->trace->task_count; task++) {
        bz_text_put(out, "    ");
        put_string(out, bz_trace_task_name(script->trace, task, "loop"));
        bz_text_put(out, ": [\n");
        for (uint32_t at = script->first[task]; at != 0; at = script->acts[at - 1].next) {
            put_act(script, out, &script->acts[at - 1]);
        }
        bz_text_put(out, "    ],\n");
    }
    bz_text_put(out, "}\n");
}

static void put_schedule(const struct bz_script *script, struct bz_text *out) {
    static const char *const moves[] = {"step", "wake", "cancel"};
    bz_text_put(out, "\n# which task makes a step, ends a pause or is cancelled from outside, in "
                     "this order\nSCHEDULE = [\n");
    for (size_t index = 0; index < script->move_count; index++) {
        const struct bz_move *move = &script->moves[index];
        bz_text_add(out, "    (%" PRIu64 ", \"%s\", ", move->step, moves[move->kind]);
        put_string(out, bz_trace_task_name(script->trace, move->task, "loop"));
        bz_text_put(out, "),\n");
    }
    bz_text_put(out, "]\n");
}

/* --- scenarios whose programs are written out --------------------------------------------------
 */

/* Programs that a trace tells too little of to be played act by act, because timeout scopes and
 * callbacks leave no events. They are written out (scope.py, deferred.py), and get what the trace
 * has: settings, draws, and the order of steps, timers and cancels. */
static const struct whole_program {
    const char *name;           /* of the scenario; its file is NAME.py */
    const char *values[VALUES]; /* the settings that it needs; then NULL */
} programs[] = {
    {"scope", {"workers", "rounds", "sleep-ns", "cancels"}},
    {"deferred",
     {"crowd", "permits", "rounds", "arrival", "hold", "nesting", "patience", "cancels"}},
};

/* The setting as a number; false: there is none, or it is out of the scenario's range. */
static bool value_of(const struct bz_trace *trace, const char *name, uint64_t *value) {
    bool is_crowd = bz_is(name, "workers") || bz_is(name, "crowd"); /* and a canceller */
    bool may_be_none = bz_is(name, "sleep-ns") || bz_is(name, "cancels") ||
                       bz_is(name, "arrival") || bz_is(name, "hold");
    uint64_t most = bz_is(name, "sleep-ns") ? 1000000000u : 1000u;
    most = is_crowd && trace->task_count <= most ? trace->task_count - 1 : most;
    for (size_t index = 0; index < trace->param_count; index++) {
        if (bz_is(trace->params[index].name, name)) {
            return bz_parse_u64(trace->params[index].value, value) && *value <= most &&
                   (*value > 0 || may_be_none) && trace->task_count > 0;
        }
    }
    return false;
}

/* NULL: the trace is of another scenario, or lacks one of the settings. */
static const struct whole_program *program_of(const struct bz_trace *trace) {
    for (size_t index = 0; index < sizeof programs / sizeof programs[0]; index++) {
        const struct whole_program *program = &programs[index];
        bool is_known = bz_is(trace->scenario, program->name);
        for (size_t at = 0; is_known && at < VALUES && program->values[at] != NULL; at++) {
            uint64_t value;
            is_known = value_of(trace, program->values[at], &value);
        }
        if (is_known) {
            return program;
        }
    }
    return NULL;
}

/* The timer that was chosen for the step; 0: the oldest one went. */
static uint64_t chosen_timer(const struct bz_trace *trace, size_t *cursor, uint64_t step) {
    while (*cursor < trace->choice_count && trace->choices[*cursor].step < step) {
        ++*cursor;
    }
    for (size_t at = *cursor; at < trace->choice_count && trace->choices[at].step == step; at++) {
        const struct bz_trace_choice *choice = &trace->choices[at];
        if (bz_is(choice->kind, "next") && bz_is(choice->role, "timer")) {
            return choice->n;
        }
    }
    return 0;
}

static void put_values(const struct bz_trace *trace, const struct whole_program *program,
                       struct bz_text *out) {
    bz_text_put(out, "\nVALUES = {");
    for (size_t at = 0; at < VALUES && program->values[at] != NULL; at++) {
        uint64_t value = 0;
        BZ_CHECK(value_of(trace, program->values[at], &value));
        bz_text_add(out, "%s\"%s\": %" PRIu64, at > 0 ? ", " : "", program->values[at], value);
    }
    bz_text_put(out, "}\n\n# what was drawn, other than 0: by task and the number of its draw\n"
                     "DRAWS = {\n");
    for (size_t index = 0; index < trace->choice_count; index++) {
        const struct bz_trace_choice *choice = &trace->choices[index];
        if (choice->label != NULL) {
            bz_text_put(out, "    (");
            put_string(out, choice->task);
            bz_text_add(out, ", %" PRIu64 "): (", choice->n);
            put_string(out, choice->label);
            bz_text_add(out, ", %" PRIu64 "),  # step %" PRIu64 "\n", choice->value, choice->step);
        }
    }
    bz_text_put(out, "}\n");
}

static void put_moves(const struct bz_trace *trace, struct bz_text *out) {
    size_t cursor = 0;
    bz_text_put(out, "\n# step, time, what happens: a task makes a step, one of its timers fires "
                     "(which; 0: the first that\n# is due), or it is cancelled from outside\n"
                     "SCHEDULE = [\n");
    for (size_t index = 0; index < trace->event_count; index++) {
        const struct bz_trace_event *event = &trace->events[index];
        bool is_timer = bz_is(event->event, "callback") && bz_is(event->role, "timer");
        bool is_cancel = bz_is(event->event, "inject");
        bool is_move = is_timer || is_cancel || bz_is(event->event, "resume");
        if (is_move && bz_trace_find_task(trace, event->task) != 0 &&
            !bz_ledger_is_over(trace, event)) {
            bz_text_add(out, "    (%" PRIu64 ", %" PRIu64 ", \"%s\", ", event->step, event->time_ns,
                        is_timer    ? "timer"
                        : is_cancel ? "cancel"
                                    : "step");
            put_string(out, event->task);
            bz_text_add(out, ", %" PRIu64 "),\n",
                        is_timer ? chosen_timer(trace, &cursor, event->step) : 0);
        }
    }
    bz_text_put(out, "]\n");
}

/* Up to the violation. */
static void put_ended(const struct bz_trace *trace, struct bz_text *out) {
    bz_text_put(out, "\n# tasks that ended in the schedule\nENDED = [");
    for (size_t index = 0; index < trace->event_count; index++) {
        const struct bz_trace_event *event = &trace->events[index];
        if (!bz_ledger_is_over(trace, event) && bz_is(event->event, "exit")) {
            put_string(out, event->task);
            bz_text_put(out, ", ");
        }
    }
    bz_text_put(out, "]\n");
}

static void put_scene(const struct bz_trace *trace, const struct whole_program *program,
                      struct bz_text *out) {
    char file[32];
    bool is_deferred = strcmp(program->name, "deferred") == 0;
    snprintf(file, sizeof file, "%s.py", program->name);
    const char *player = bz_embedded_text(bz_show_templates, "whole_program.py");
    const char *text = bz_embedded_text(bz_show_templates, file);
    BZ_CHECK(player != NULL && text != NULL);
    put_head(trace, out,
             is_deferred ? "Python 3.9 or later, and Twisted\n# (Debian: python3-twisted)"
                         : "Python 3.11 or later, and\n# nothing else",
             is_deferred ? "Twisted" : "asyncio");
    put_tasks(trace, out);
    put_values(trace, program, out);
    put_moves(trace, out);
    put_ended(trace, out);
    bz_text_put(out, player);
    bz_text_put(out, text);
}

/* --- all others ------------------------------------------------------------------------------- */

/* What the test in Python did beside its operations is not in the program. */
static void put_test(const struct bz_script *script, struct bz_text *out) {
    bool is_own = is_of_python(script->trace);
    bz_text_add(out, "\n# tasks that ended, and kept what they owned\nKEPT = [");
    for (uint32_t task = 1; is_own && task <= script->trace->task_count; task++) {
        if (script->ledger.tasks[task].has_ended && script->ledger.tasks[task].hold != 0) {
            put_string(out, bz_trace_task_name(script->trace, task, "loop"));
            bz_text_put(out, ", ");
        }
    }
    bz_text_add(out,
                "]\n# the run was of a test in Python, whose own code is not in here\n"
                "IS_OF_PYTHON = %s\n",
                is_own ? "True" : "False");
}

static void put_script(const struct bz_trace *trace, struct bz_text *out) {
    struct bz_script script;
    const char *player = bz_embedded_text(bz_show_templates, "player.py");
    BZ_CHECK(player != NULL);
    bz_script_init(&script, trace);
    put_head(trace, out, "Python 3.9 or later, and\n# nothing else",
             is_of_python(trace) ? "it" : "asyncio");
    put_tasks(trace, out);
    put_objects(&script, out);
    put_programs(&script, out);
    put_test(&script, out);
    put_schedule(&script, out);
    bz_text_put(out, player);
    bz_script_fini(&script);
}

void bz_show_asyncio(const struct bz_view *view, struct bz_text *out) {
    const struct whole_program *program = program_of(view->trace);
    if (program != NULL) {
        put_scene(view->trace, program, out);
    } else {
        put_script(view->trace, out);
    }
}

/* --- what a trace does not record --------------------------------------------------------------
 */

static bool has_other_act(const struct bz_trace *trace) {
    struct bz_script script;
    bool has_one = false;
    bz_script_init(&script, trace);
    for (size_t index = 0; index < script.act_count; index++) {
        has_one |= script.acts[index].kind == BZ_ACT_OTHER;
    }
    bz_script_fini(&script);
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
    return bz_is(object->kind, bz_kind_name(BZ_KIND_MODELLED)) ? "is judged by a model"
           : lacks ? "has no \"size\" or no \"partner\" in the trace"
                   : NULL;
}

bool bz_asyncio_refuses(const struct bz_view *view, char *reason, size_t size_bytes) {
    const struct bz_trace *trace = view->trace;
    const struct bz_trace_object *odd = NULL;
    if (program_of(trace) != NULL) {
        return false;
    }
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
        snprintf(reason, size_bytes, "the trace has no operation on an object");
    } else {
        return false;
    }
    return true;
}
