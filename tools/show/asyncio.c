/* A Python program that makes the schedule of a run with asyncio: tables of what each task does and
 * of what happens in which order, and player.py, which plays them. For some scenarios, tables of
 * what was drawn and of the order, whole_program.py, which plays them, and the program of the
 * scenario.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "primitives/runtime/check.h"
#include "tools/cli/embedded.h"
#include "tools/show/schedule_script.h"
#include "tools/show/show.h"
#include "tools/show/whole_program.h"

/* A text of JSON is one of Python. Comments have no text of a trace but such. */
static void put_string(struct bz_paper *paper, const char *text) {
    if (text == NULL) {
        bz_paper_put(paper, "None");
    } else {
        bz_paper_json(paper, text);
    }
}

/* `needs`: the end of a sentence, and what is tested. */
static void put_head(const struct bz_trace *trace, struct bz_paper *paper, const char *needs,
                     const char *tested) {
    bz_paper_printf(paper,
                    "#!/usr/bin/env python3\n"
                    "# A schedule that was recorded by Buzzer, made again with asyncio. Needs %s.\n"
                    "# Exit status: 1 %s shows a fault; 0 it does not; 3 it does not either, and "
                    "goes another way\n# than the recorded run.\n#\n"
                    "# scenario  ",
                    needs, tested);
    bz_paper_json(paper, trace->scenario);
    bz_paper_put(paper, "\n# recorded  ");
    bz_paper_json(paper, trace->variant);
    bz_paper_put(paper,
                 bz_is_of_python(trace)
                     ? ": asyncio itself, under Buzzer's loop\n# order     "
                     : ", an implementation other than the one that runs here\n# order     ");
    bz_paper_json(paper, trace->order);
    bz_paper_put(paper, "\n# verdict   ");
    bz_paper_json(paper, bz_show_verdict(trace));
    bz_paper_printf(paper, ", at step %" PRIu64 ", seed 0x%" PRIx64 "\n", trace->verdict.step,
                    trace->seed);
    if (trace->verdict.message != NULL) {
        bz_paper_put(paper, "# message   ");
        bz_paper_json(paper, trace->verdict.message);
        bz_paper_put(paper, "\n");
    }
}

static void put_tasks(const struct bz_trace *trace, struct bz_paper *paper) {
    size_t width = 4;
    bz_paper_put(paper, "\nTASKS = [");
    for (size_t index = 0; index < trace->task_count; index++) {
        bz_paper_put(paper, index > 0 ? ",\n         " : "");
        put_string(paper, trace->tasks[index]);
        size_t length = strlen(trace->tasks[index]);
        width = length > width ? length : width;
    }
    bz_paper_printf(paper, "]\nWIDTH = %zu\n", width);
}

static void put_object(const struct bz_script *script, struct bz_paper *paper, uint32_t number) {
    const struct bz_object *object = &script->objects.objects[number];
    bz_paper_put(paper, "    (");
    put_string(paper, object->name);
    bz_paper_printf(paper, ", \"%s\", %" PRIu32 ", %" PRIu32 ", ",
                    bz_object_kind_name(object->kind), object->number, object->order);
    put_string(paper, object->lock != 0 ? script->objects.objects[object->lock].name : NULL);
    bz_paper_put(paper, "),\n");
}

static void put_objects(const struct bz_script *script, struct bz_paper *paper) {
    bz_paper_put(paper, "\n# name, kind, permits or parties or size, order of a queue, lock of a "
                        "condition\nOBJECTS = [\n");
    for (unsigned pass = 0; pass < 2; pass++) { /* locks before their conditions */
        for (uint32_t number = 1; number <= script->objects.count; number++) {
            const struct bz_object *object = &script->objects.objects[number];
            bool is_condition = object->kind == BZ_OBJECT_CONDITION;
            if (object->items == 0 && is_condition == (pass == 1)) {
                put_object(script, paper, number);
            }
        }
    }
    bz_paper_put(paper, "]\n");
}

static void put_act(const struct bz_script *script, struct bz_paper *paper,
                    const struct bz_act *act) {
    const char *name = act->kind == BZ_ACT_CANCEL ? bz_show_task(script->trace, act->victim)
                       : act->object != 0         ? script->objects.objects[act->object].name
                                                  : NULL;
    /* A time-out of the recorded program is a cancel from outside here. */
    bool is_timeout = act->outcome != NULL && strcmp(act->outcome, "timed-out") == 0;
    bz_paper_printf(paper, "        (\"%s\", ", bz_act_name(act->kind));
    put_string(paper, name);
    bz_paper_printf(paper, ", %" PRIu32 ", ", act->number);
    put_string(paper, is_timeout ? "cancelled" : act->outcome);
    bz_paper_printf(paper, ", %" PRIu64 "),  # step %" PRIu64 "\n", act->end, act->step);
}

static void put_programs(const struct bz_script *script, struct bz_paper *paper) {
    bz_paper_put(paper,
                 "\n# what each task does: verb, object or task, how many are notified, what "
                 "came of it in the\n# recorded run (None: it had not returned), and in which "
                 "step\n"
                 "PROGRAMS = {\n");
    for (uint32_t task = 1; task <= script->trace->task_count; task++) {
        bz_paper_put(paper, "    ");
        put_string(paper, bz_show_task(script->trace, task));
        bz_paper_put(paper, ": [\n");
        for (uint32_t at = script->first[task]; at != 0; at = script->acts[at - 1].next) {
            put_act(script, paper, &script->acts[at - 1]);
        }
        bz_paper_put(paper, "    ],\n");
    }
    bz_paper_put(paper, "}\n");
}

static void put_schedule(const struct bz_script *script, struct bz_paper *paper) {
    static const char *const moves[] = {"step", "wake", "cancel"};
    bz_paper_put(paper,
                 "\n# which task makes a step, ends a pause or is cancelled from outside, in "
                 "this order\nSCHEDULE = [\n");
    for (size_t index = 0; index < script->move_count; index++) {
        const struct bz_move *move = &script->moves[index];
        bz_paper_printf(paper, "    (%" PRIu64 ", \"%s\", ", move->step, moves[move->kind]);
        put_string(paper, bz_show_task(script->trace, move->task));
        bz_paper_put(paper, "),\n");
    }
    bz_paper_put(paper, "]\n");
}

/* --- scenarios whose programs are written out --------------------------------------------------
 */

static void put_values(const struct bz_trace *trace, const struct bz_scene_program *program,
                       struct bz_paper *paper) {
    bz_paper_put(paper, "\nVALUES = {");
    for (size_t at = 0; at < BZ_SCENE_VALUES && program->values[at] != NULL; at++) {
        uint64_t value = 0;
        BZ_CHECK(bz_scene_value(trace, program->values[at], &value));
        bz_paper_printf(paper, "%s\"%s\": %" PRIu64, at > 0 ? ", " : "", program->values[at],
                        value);
    }
    bz_paper_put(paper, "}\n\n# what was drawn, other than 0: by task and the number of its draw\n"
                        "DRAWS = {\n");
    for (size_t index = 0; index < trace->choice_count; index++) {
        const struct bz_trace_choice *choice = &trace->choices[index];
        if (choice->label != NULL) {
            bz_paper_put(paper, "    (");
            put_string(paper, choice->task);
            bz_paper_printf(paper, ", %" PRIu64 "): (", choice->n);
            put_string(paper, choice->label);
            bz_paper_printf(paper, ", %" PRIu64 "),  # step %" PRIu64 "\n", choice->value,
                            choice->step);
        }
    }
    bz_paper_put(paper, "}\n");
}

static void put_moves(const struct bz_trace *trace, struct bz_paper *paper) {
    static const char *const kinds[] = {"step", "timer", "cancel"};
    struct bz_scene scene;
    bz_scene_init(&scene, trace);
    bz_paper_put(paper,
                 "\n# step, time, what happens: a task makes a step, one of its timers fires "
                 "(which; 0: the first that\n# is due), or it is cancelled from outside\n"
                 "SCHEDULE = [\n");
    for (size_t index = 0; index < scene.move_count; index++) {
        const struct bz_scene_move *move = &scene.moves[index];
        bz_paper_printf(paper, "    (%" PRIu64 ", %" PRIu64 ", \"%s\", ", move->step, move->time_ns,
                        kinds[move->kind]);
        put_string(paper, bz_show_task(trace, move->task));
        bz_paper_printf(paper, ", %" PRIu64 "),\n", move->nth);
    }
    bz_paper_put(paper, "]\n");
    bz_scene_fini(&scene);
}

/* Up to the violation. */
static void put_ended(const struct bz_trace *trace, struct bz_paper *paper) {
    bz_paper_put(paper, "\n# tasks that ended in the schedule\nENDED = [");
    for (size_t index = 0; index < trace->event_count; index++) {
        const struct bz_trace_event *event = &trace->events[index];
        bool is_late = trace->verdict.oracle != NULL && event->step > trace->verdict.step;
        if (!is_late && strcmp(event->event, "exit") == 0) {
            put_string(paper, event->task);
            bz_paper_put(paper, ", ");
        }
    }
    bz_paper_put(paper, "]\n");
}

static void put_scene(const struct bz_trace *trace, const struct bz_scene_program *program,
                      struct bz_paper *paper) {
    char file[32];
    bool is_deferred = strcmp(program->name, "deferred") == 0;
    snprintf(file, sizeof file, "%s.py", program->name);
    const char *player = bz_embedded_text(bz_show_templates, "whole_program.py");
    const char *text = bz_embedded_text(bz_show_templates, file);
    BZ_CHECK(player != NULL && text != NULL);
    put_head(trace, paper,
             is_deferred ? "Python 3.9 or later, and Twisted\n# (Debian: python3-twisted)"
                         : "Python 3.11 or later, and\n# nothing else",
             is_deferred ? "Twisted" : "asyncio");
    put_tasks(trace, paper);
    put_values(trace, program, paper);
    put_moves(trace, paper);
    put_ended(trace, paper);
    bz_paper_put(paper, player);
    bz_paper_put(paper, text);
}

/* --- all others ------------------------------------------------------------------------------- */

/* Other actions of the test in Python are not in the program. */
static void put_test(const struct bz_script *script, struct bz_paper *paper) {
    bool is_own = bz_is_of_python(script->trace);
    bz_paper_printf(paper, "\n# tasks that ended, and kept what they owned\nKEPT = [");
    for (uint32_t task = 1; is_own && task <= script->trace->task_count; task++) {
        if (script->has_kept[task]) {
            put_string(paper, bz_show_task(script->trace, task));
            bz_paper_put(paper, ", ");
        }
    }
    bz_paper_printf(paper,
                    "]\n# the run was of a test in Python, whose own code is not in here\n"
                    "IS_OF_PYTHON = %s\n",
                    is_own ? "True" : "False");
}

static void put_script(const struct bz_trace *trace, struct bz_paper *paper) {
    struct bz_script script;
    const char *player = bz_embedded_text(bz_show_templates, "player.py");
    BZ_CHECK(player != NULL);
    bz_script_init(&script, trace);
    put_head(trace, paper, "Python 3.9 or later, and\n# nothing else",
             bz_is_of_python(trace) ? "it" : "asyncio");
    put_tasks(trace, paper);
    put_objects(&script, paper);
    put_programs(&script, paper);
    put_test(&script, paper);
    put_schedule(&script, paper);
    bz_paper_put(paper, player);
    bz_script_fini(&script);
}

void bz_show_asyncio(const struct bz_view *view, struct bz_paper *paper) {
    const struct bz_scene_program *program = bz_scene_program_of(view->trace);
    if (program != NULL) {
        put_scene(view->trace, program, paper);
    } else {
        put_script(view->trace, paper);
    }
}
