/* A test for Criterion that makes the schedule of a run with the primitives that ship: tables of
 * what each task does and of what happens in which order, and player.c.in, which plays them. For
 * some scenarios, tables of what was drawn and of the order, scene.c.in, which plays them, and the
 * program of the scenario.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "primitives/runtime/check.h"
#include "tools/embedded.h"
#include "tools/show/scene.h"
#include "tools/show/script.h"
#include "tools/show/show.h"

/* A string literal in ASCII. A question mark is escaped as well, for it may begin a trigraph. */
static void put_string(struct bz_paper *paper, const char *text) {
    bz_paper_put(paper, "\"");
    for (; *text != '\0'; text++) {
        unsigned byte = (unsigned char)*text;
        if (byte < ' ' || byte > '~' || strchr("\"\\?", *text) != NULL) {
            bz_paper_printf(paper, "\\%03o", byte);
        } else {
            bz_paper_add(paper, text, 1);
        }
    }
    bz_paper_put(paper, "\"");
}

static void put_head(const struct bz_trace *trace, struct bz_paper *paper, const char *includes) {
    bz_paper_put(
        paper,
        "/* A schedule that was recorded by Buzzer, made again with the primitives that ship, as a "
        "test\n"
        " * for Criterion. It fails if they show a fault.\n"
        " *\n"
        " *     cc schedule.c $(pkg-config --cflags --libs buzzer-primitives criterion)\n"
        " */\n"
        "#include <criterion/criterion.h>\n"
        "#include <stdbool.h>\n"
        "#include <stddef.h>\n"
        "#include <stdint.h>\n"
        "#include <string.h>\n\n"
        "#include \"primitives/runtime/driver.h\"\n"
        "#include \"primitives/runtime/loop.h\"\n"
        "#include \"primitives/runtime/task.h\"\n");
    bz_paper_put(paper, includes);
    bz_paper_put(paper,
                 "\n"
                 "/* The recorded run: scenario, variant, order, verdict, and what was wrong. */\n"
                 "extern const char *const recorded[];\n"
                 "const char *const recorded[] = {\n    ");
    const char *const facts[] = {trace->scenario, trace->variant, trace->order,
                                 bz_show_verdict(trace),
                                 trace->verdict.message != NULL ? trace->verdict.message : ""};
    for (size_t index = 0; index < sizeof facts / sizeof facts[0]; index++) {
        put_string(paper, facts[index]);
        bz_paper_put(paper, ",\n    ");
    }
    bz_paper_printf(paper, "/* at step %" PRIu64 ", seed 0x%" PRIx64 " */\n};\n\n",
                    trace->verdict.step, trace->seed);
}

static void put_objects(const struct bz_script *script, struct bz_paper *paper) {
    static const char *const kinds[BZ_OBJECT_KIND_COUNT] = {
        "LOCK", "LOCK", "SEMAPHORE", "SEMAPHORE", "EVENT", "CONDITION", "BARRIER", "QUEUE"};
    bz_paper_printf(paper, "enum kind { LOCK, SEMAPHORE, EVENT, CONDITION, BARRIER, QUEUE };\n\n"
                           "static const struct {\n"
                           "    const char *name;\n"
                           "    enum kind kind;\n"
                           "    bool is_bounded;\n"
                           "    uint32_t number; /* permits, parties, the size of a queue */\n"
                           "    uint32_t order;  /* of a queue: 0 fifo, 1 lifo, 2 by priority */\n"
                           "    uint32_t lock;   /* of a condition */\n"
                           "} object_table[] = {\n    {\"\", LOCK, false, 1, 0, 0},\n");
    for (uint32_t number = 1; number <= script->objects.count; number++) {
        const struct bz_object *object = &script->objects.objects[number];
        bz_paper_put(paper, "    {");
        put_string(paper, object->name);
        bz_paper_printf(paper, ", %s, %s, %" PRIu32 ", %" PRIu32 ", %" PRIu32 "},\n",
                        kinds[object->kind], object->kind == BZ_OBJECT_BOUNDED ? "true" : "false",
                        object->number, object->order, object->lock);
    }
    /* A condition needs a lock, even if nobody used it. */
    bz_paper_put(paper,
                 "};\n#define OBJECT_COUNT (sizeof object_table / sizeof object_table[0])\n\n");
}

static void put_tasks(const struct bz_trace *trace, struct bz_paper *paper) {
    bz_paper_put(paper, "static const char *const task_names[] = {\n    \"\",\n");
    for (size_t index = 0; index < trace->task_count; index++) {
        bz_paper_put(paper, "    ");
        put_string(paper, trace->tasks[index]);
        bz_paper_put(paper, ",\n");
    }
    bz_paper_printf(paper, "};\n#define TASK_COUNT %zuu\n\n", trace->task_count);
}

static void put_acts(const struct bz_script *script, struct bz_paper *paper) {
    static const char *const verbs[BZ_ACT_COUNT] = {
        "YIELD", "PAUSE", "CANCEL", "ACQUIRE", "RELEASE",  "RELEASE_UNHELD",
        "WAIT",  "PUT",   "GET",    "TRY_PUT", "TRY_GET",  "NOTIFY",
        "SET",   "CLEAR", "ABORT",  "RESET",   "SHUTDOWN", "DONE"};
    size_t count = 0;
    bz_paper_put(paper, "enum verb {");
    for (unsigned verb = 0; verb < BZ_ACT_OTHER; verb++) {
        bz_paper_printf(paper, "%s%s", verb % 9 == 0 ? "\n    " : " ", verbs[verb]);
        bz_paper_put(paper, verb + 1 < BZ_ACT_OTHER ? "," : "\n};\n\n");
    }
    bz_paper_put(paper, "/* What each task does, one task after the other; the number is that of a "
                        "victim, or how many\n * are notified. */\n"
                        "static const struct act {\n    enum verb verb;\n    uint32_t object;\n"
                        "    uint32_t number;\n} act_table[] = {\n");
    for (uint32_t task = 1; task <= script->trace->task_count; task++) {
        for (uint32_t at = script->first[task]; at != 0; at = script->acts[at - 1].next) {
            const struct bz_act *act = &script->acts[at - 1];
            bz_paper_printf(paper, "    {%s, %" PRIu32 ", %" PRIu32 "}, /* step %" PRIu64 " */\n",
                            verbs[act->kind], act->object,
                            act->kind == BZ_ACT_CANCEL ? act->victim : act->number, act->step);
        }
    }
    bz_paper_put(paper, "    {YIELD, 0, 0},\n};\n\nstatic const unsigned first_act[] = {\n    0,");
    for (uint32_t task = 1; task <= script->trace->task_count; task++) {
        for (uint32_t at = script->first[task]; at != 0; at = script->acts[at - 1].next) {
            count++;
        }
        bz_paper_printf(paper, "%s%zu,", task % 12 == 0 ? "\n    " : " ", count);
    }
    bz_paper_put(paper, "\n};\n\n");
}

static void put_moves(const struct bz_script *script, struct bz_paper *paper) {
    static const char letters[] = "swc";
    bz_paper_put(paper,
                 "/* A task makes a step ('s'), its pause ends ('w'), or it is cancelled from "
                 "outside ('c'). */\n"
                 "static const struct move {\n    unsigned long step;\n    uint32_t task;\n"
                 "    char kind;\n} move_table[] = {\n");
    for (size_t index = 0; index < script->move_count; index++) {
        const struct bz_move *move = &script->moves[index];
        bz_paper_printf(paper, "    {%" PRIu64 ", %" PRIu32 ", '%c'},\n", move->step, move->task,
                        letters[move->kind]);
    }
    bz_paper_put(paper, "    {0, 0, 0},\n};\n");
}

/* --- scenarios whose programs are written out --------------------------------------------------
 */

/* "sleep-ns" is SLEEP_NS. */
static void put_values(const struct bz_trace *trace, const struct bz_scene_program *program,
                       struct bz_paper *paper) {
    for (size_t at = 0; at < BZ_SCENE_VALUES && program->values[at] != NULL; at++) {
        uint64_t value = 0;
        BZ_CHECK(bz_scene_value(trace, program->values[at], &value));
        bz_paper_put(paper, "#define ");
        for (const char *name = program->values[at]; *name != '\0'; name++) {
            bz_paper_printf(paper, "%c", *name == '-' ? '_' : *name - 'a' + 'A');
        }
        bz_paper_printf(paper, " %" PRIu64 "u\n", value);
    }
    bz_paper_printf(paper, "#define TASK_COUNT %zuu\n\n", trace->task_count);
}

static void put_draws(const struct bz_trace *trace, struct bz_paper *paper) {
    bz_paper_put(paper, "/* What was drawn, other than 0: the task, the number of its draw. */\n"
                        "static const struct drawn {\n    unsigned task;\n    unsigned long nth;\n"
                        "    const char *label;\n    uint64_t value;\n} draw_table[] = {\n");
    for (size_t index = 0; index < trace->choice_count; index++) {
        const struct bz_trace_choice *choice = &trace->choices[index];
        if (choice->label != NULL) {
            bz_paper_printf(paper, "    {%" PRIu32 ", %" PRIu64 ", ",
                            bz_trace_find_task(trace, choice->task), choice->n);
            put_string(paper, choice->label);
            bz_paper_printf(paper, ", %" PRIu64 "u}, /* step %" PRIu64 " */\n", choice->value,
                            choice->step);
        }
    }
    bz_paper_put(paper, "    {0, 0, NULL, 0},\n};\n\n");
}

static void put_scene_moves(const struct bz_trace *trace, struct bz_paper *paper) {
    static const char letters[] = "stc";
    struct bz_scene scene;
    bz_scene_init(&scene, trace);
    bz_paper_put(paper,
                 "/* A task makes a step ('s'), one of its timers fires ('t': which; 0: the first "
                 "that is due), or it\n * is cancelled from outside ('c'). */\n"
                 "static const struct move {\n    unsigned long step;\n    uint64_t time_ns;\n"
                 "    uint32_t task;\n    char kind;\n    uint32_t nth;\n} move_table[] = {\n");
    for (size_t index = 0; index < scene.move_count; index++) {
        const struct bz_scene_move *move = &scene.moves[index];
        bz_paper_printf(paper, "    {%" PRIu64 ", %" PRIu64 "u, %" PRIu32 ", '%c', %" PRIu32 "},\n",
                        move->step, move->time_ns, move->task, letters[move->kind],
                        (uint32_t)move->nth);
    }
    bz_paper_put(paper, "    {0, 0, 0, 0, 0},\n};\n");
    bz_scene_fini(&scene);
}

static void put_scene(const struct bz_trace *trace, const struct bz_scene_program *program,
                      struct bz_paper *paper) {
    char file[32];
    snprintf(file, sizeof file, "%s.c", program->name);
    const char *player = bz_embedded_text(bz_show_templates, "scene.c");
    const char *text = bz_embedded_text(bz_show_templates, file);
    BZ_CHECK(player != NULL && text != NULL);
    put_head(trace, paper, program->includes);
    put_values(trace, program, paper);
    put_draws(trace, paper);
    put_scene_moves(trace, paper);
    bz_paper_put(paper, player);
    bz_paper_put(paper, text);
}

/* --- all others ------------------------------------------------------------------------------- */

static void put_script(const struct bz_trace *trace, struct bz_paper *paper) {
    struct bz_script script;
    const char *player = bz_embedded_text(bz_show_templates, "player.c");
    BZ_CHECK(player != NULL);
    bz_script_init(&script, trace);
    put_head(trace, paper,
             "#include \"primitives/runtime/future.h\"\n"
             "#include \"primitives/sync/barrier.h\"\n"
             "#include \"primitives/sync/condition.h\"\n"
             "#include \"primitives/sync/event.h\"\n"
             "#include \"primitives/sync/lock.h\"\n"
             "#include \"primitives/sync/queue.h\"\n"
             "#include \"primitives/sync/semaphore.h\"\n");
    put_objects(&script, paper);
    put_tasks(trace, paper);
    put_acts(&script, paper);
    put_moves(&script, paper);
    bz_paper_put(paper, player);
    bz_script_fini(&script);
}

void bz_show_criterion(const struct bz_view *view, struct bz_paper *paper) {
    const struct bz_scene_program *program = bz_scene_program_of(view->trace);
    if (program != NULL) {
        put_scene(view->trace, program, paper);
    } else {
        put_script(view->trace, paper);
    }
}
