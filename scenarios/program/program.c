/* program: tasks as lists of operations, drawn or from a file.
 *
 * What other scenarios have written in C, this one has as data: see script.h. With no file the
 * script is drawn for every seed, before the first step, so that a campaign searches programs and
 * schedules at once; the draws are on the tape, so that whatever replays a run, or shrinks it, has
 * its program as well. */
#include <assert.h>
#include <string.h>

#include "scenarios/program/interpret.h"
#include "scenarios/program/script.h"
#include "scenarios/scenarios.h"
#include "sim/native/world.h"

enum { TASKS, OPS, OBJECTS, KINDS, NS };

static const struct bz_param params[] = {
    {"tasks", "drawn: tasks", 4, 2, BZ_SCRIPT_DRAW_TASKS_MAX},
    {"ops", "drawn: slots of each task; a slot makes 0 to 3 operations", 8, 2,
     BZ_SCRIPT_DRAW_OPS_MAX},
    {"objects", "drawn: objects; the first is of the set primitive", 2, 1, BZ_SCRIPT_OBJECTS_MAX},
    {"kinds",
     "drawn: what the other objects may be, as a sum: semaphore 1, bounded 2, lock 4, event 8, "
     "condition 16, barrier 32, queue 64, pool 128",
     255, 0, 255},
    {"ns", "drawn: sleeps and timeouts take 0..ns", 8, 0, BZ_SCRIPT_NS_MAX},
    {NULL, NULL, 0, 0, 0},
};

static_assert(sizeof(struct bz_script) <= sizeof((struct bz_scenario_args *)0)->file,
              "a script fits where a file is kept");

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    struct bz_script *script = bz_world_alloc(world, sizeof *script);
    if (args->file_digest != 0) {
        memcpy(script, args->file, sizeof *script);
    } else {
        bz_script_draw(script, world,
                       &(struct bz_script_draw){.first = args->primitive,
                                                .primitives = (uint32_t)args->values[KINDS],
                                                .objects = (uint32_t)args->values[OBJECTS],
                                                .tasks = (uint32_t)args->values[TASKS],
                                                .ops = (uint32_t)args->values[OPS],
                                                .ns = (uint32_t)args->values[NS]});
    }
    return bz_interpreter_new(world, script, args->file_digest == 0);
}

static void finish(struct bz_world *world, void *state) {
    (void)world;
    bz_interpreter_finish(state);
}

static bool read_file(uint64_t *file, const struct bz_variant *variant, const char *text,
                      size_t length, const char *origin, char *error, size_t error_bytes) {
    return bz_script_read((struct bz_script *)(void *)file, variant, text, length, origin, error,
                          error_bytes);
}

static size_t print(const void *state, char *text, size_t text_bytes) {
    return bz_script_print(bz_interpreter_script(state), text, text_bytes);
}

static const struct bz_scenario_file file = {
    .summary = "a program to run, in place of a drawn one; scenarios/program.schema.json",
    .read = read_file,
    .print = print,
};

const struct bz_scenario bz_scenario_program = {
    .name = "program",
    .summary = "tasks as lists of operations, drawn together with the schedule, or from a file",
    .params = params,
    .primitives = {BZ_PRIMITIVE_SEMAPHORE, BZ_PRIMITIVE_BOUNDED, BZ_PRIMITIVE_LOCK,
                   BZ_PRIMITIVE_EVENT, BZ_PRIMITIVE_CONDITION, BZ_PRIMITIVE_BARRIER,
                   BZ_PRIMITIVE_QUEUE, BZ_PRIMITIVE_POOL},
    .primitive_count = 8,
    .setup = setup,
    .finish = finish,
    .file = &file,
};
