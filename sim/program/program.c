#include "sim/program/program.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "sim/judge/internal.h"
#include "sim/native/exceptions.h"
#include "traces/lack.h"

#define STEP_NS 250u /* of CPU time, in C */

/* The parameter is less than the size of the object by so much; -1: it is not the size. */
static int64_t size_beside(const struct bz_program *program, uint32_t index) {
    const struct bz_scenario *scenario = program->scenario;
    bool is_size = scenario->size != NULL &&
                   strcmp(scenario->params[index].name, scenario->size) == 0 &&
                   program->args.primitive != BZ_PRIMITIVE_LOCK;
    bool is_barrier = program->args.primitive == BZ_PRIMITIVE_BARRIER;
    return !is_size ? -1 : is_barrier ? (int64_t)scenario->parties_more : 0;
}

bool bz_program_offers(const struct bz_program *program, uint32_t index, int64_t value) {
    int64_t beside = size_beside(program, index);
    return beside < 0 ||
           bz_variant_offers_size(program->variant, program->args.primitive, value + beside);
}

int64_t bz_program_offered(const struct bz_program *program, uint32_t index, int64_t value) {
    const struct bz_param *param = &program->scenario->params[index];
    int64_t beside = size_beside(program, index);
    return beside < 0
               ? value
               : bz_variant_nearest_size(program->variant, program->args.primitive, value + beside,
                                         param->least + beside, param->most + beside) -
                     beside;
}

bool bz_program_is_offered(const struct bz_program *program) {
    bool is_offered = true;
    for (uint32_t index = 0; program->scenario->params[index].name != NULL; index++) {
        is_offered = is_offered && bz_program_offers(program, index, program->args.values[index]);
    }
    return is_offered;
}

void bz_program_offered_text(const struct bz_program *program, uint32_t index, char *text,
                             size_t text_bytes) {
    const struct bz_param *param = &program->scenario->params[index];
    size_t used = (size_t)snprintf(text, text_bytes, "none");
    int64_t first = param->least;
    for (int64_t value = param->least; value <= param->most && used < text_bytes; value++) {
        bool is_offered = bz_program_offers(program, index, value);
        bool is_last = value == param->most || !bz_program_offers(program, index, value + 1);
        first = is_offered ? first : value + 1;
        if (is_offered && is_last) {
            used = memcmp(text, "none", 5) == 0 ? 0 : used;
            used += (size_t)snprintf(text + used, text_bytes - used, "%s%" PRId64,
                                     used > 0 ? ", " : "", first);
            if (first < value && used < text_bytes) {
                used += (size_t)snprintf(text + used, text_bytes - used, " to %" PRId64, value);
            }
        }
    }
}

void bz_program_use(struct bz_program *program, enum bz_primitive primitive) {
    const struct bz_param *params = program->scenario->params;
    program->args.primitive = primitive;
    for (uint32_t index = 0; params[index].name != NULL; index++) {
        if (size_beside(program, index) >= 0 && (program->pinned >> index & 1u) == 0) {
            program->args.values[index] = bz_program_offered(program, index, params[index].value);
        }
    }
}

void bz_program_init(struct bz_program *program, const struct bz_scenario *scenario,
                     const struct bz_variant *variant, const struct bz_strategy *strategy) {
    *program = (struct bz_program){.scenario = scenario,
                                   .variant = variant,
                                   .strategy = strategy,
                                   .order = BZ_ORDER_ANY,
                                   .cancel_windows = BZ_WINDOWS_ALL,
                                   .cancels_max = BZ_CANCELS_MAX_DEFAULT,
                                   .steps_max = BZ_STEPS_MAX_DEFAULT,
                                   .starvation_bound = BZ_STARVATION_BOUND_DEFAULT,
                                   .lag_max_ns = BZ_LAG_MAX_DEFAULT_NS};
    for (uint32_t index = 0; scenario->params[index].name != NULL; index++) {
        program->args.values[index] = scenario->params[index].value;
    }
    for (uint32_t index = scenario->primitive_count; index-- > 0;) {
        if (bz_variant_offers(variant, scenario->primitives[index])) {
            bz_program_use(program, scenario->primitives[index]);
        }
    }
}

uint64_t bz_program_steps_in(const struct bz_program *program, uint64_t time_ns) {
    const struct bz_runtime *runtime = program->scenario->runtime;
    return time_ns / (runtime != NULL && runtime->step_ns != 0 ? runtime->step_ns : STEP_NS);
}

struct bz_world *bz_program_new_world(const struct bz_program *program) {
    struct bz_judge_config config = {
        .program = program->scenario->name,
        .variant = program->variant->name,
        .strategy = program->strategy,
        .order = program->order,
        .cancel_windows = program->cancel_windows,
        .cancels_max = program->cancels_max,
        .steps_max = program->steps_max,
        .starvation_bound = program->starvation_bound,
        .lag_max_ns = program->lag_max_ns,
        .older = program->older,
        .profile = program->profile.steps == 0 ? NULL : &program->profile,
        .answers = &program->answers,
    };
    const struct bz_runtime *runtime = program->scenario->runtime;
    if (runtime != NULL) {
        config.callback_is_ready = runtime->callback_is_ready;
        config.variant_is_busy = runtime->variant_is_busy;
        config.source = runtime->context;
    }
    struct bz_world *world = bz_world_new(&config, program->variant);
    if (world != NULL) {
        world->is_uncancelled = program->is_uncancelled;
        bz_exceptions_find(world->loop, program->scenario);
    }
    if (world != NULL && program->scenario->stack_bytes != 0 &&
        !bz_world_set_loop(
            world, &(struct bz_loop_config){.stack_bytes = program->scenario->stack_bytes})) {
        bz_world_destroy(world);
        return NULL;
    }
    return world;
}

/* From the end of setup to the verdict. */
static void run_on(const struct bz_program *program, struct bz_world *world, void *state) {
    struct bz_judge *judge = world->judge;
    bz_world_run(world);
    if (bz_judge_verdict(judge) == BZ_RUN_PASSED && bz_judge_unfinished(judge) == 0 &&
        program->scenario->finish != NULL) {
        program->scenario->finish(world, state);
    }
    bz_world_end(world);
}

static void run_all(void *context, struct bz_judge *judge) {
    const struct bz_program_place *place = context;
    const struct bz_program *program = place->program;
    const struct bz_runtime *runtime = program->scenario->runtime;
    if (runtime != NULL) {
        runtime->run(runtime->context, judge);
        return;
    }
    bz_world_begin(place->world);
    void *state = program->scenario->setup(place->world, &program->args);
    bz_world_keep_setup(place->world, program, offsetof(struct bz_program, args.file_name), state);
    run_on(program, place->world, state);
}

static void run_in_child(void *context) {
    const struct bz_program_place *place = context;
    run_all(context, place->world->judge);
}

static void run_contained(void *context, struct bz_judge *judge) {
    const struct bz_program_place *place = context;
    struct bz_death death;
    switch (
        bz_contain_call(&place->program->contain, place->world, run_in_child, context, &death)) {
    case BZ_CHILD_DONE:
        break;
    case BZ_CHILD_RUNS:
        bz_judge_died(judge, NULL, NULL);
        break;
    default:
        if (!death.is_killed || !bz_judge_void(judge)) {
            bz_judge_died(judge, death.oracle, death.how);
        }
        break;
    }
}

struct bz_source bz_program_source(struct bz_program_place *place) {
    return (struct bz_source){.run = place->program->contain.is_on ? run_contained : run_all,
                              .context = place};
}

void bz_program_enter(const struct bz_program *program, struct bz_world *world) {
    bz_judge_adapt(world->judge, program->profile.steps == 0 ? NULL : &program->profile,
                   program->starvation_bound);
}

/* --- the profile ------------------------------------------------------------------------------ */

static bool renew(struct bz_world **world, const struct bz_program *program, char *lack) {
    bz_world_destroy(*world);
    *world = bz_program_new_world(program);
    if (*world == NULL) {
        bz_lack_text(lack, BZ_LACK_BYTES, NULL, "a world to run in");
    }
    return *world != NULL;
}

static void measure_in_child(struct bz_program_place *place, struct bz_profile *profile) {
    struct bz_source source = {.run = run_all, .context = place};
    place->world->judge->measures_twice = true;
    bz_judge_measure(place->world->judge, &source, profile);
}

static void measure_one_in_child(void *context) {
    struct bz_profile profile; /* the parent takes it from the judge */
    measure_in_child(context, &profile);
}

/* All runs in one child process: to start one takes longer than most runs. No other child has the
 * world, whose profile it could write over. Returns what became of it, as bz_judge_died() wants it.
 */
static enum bz_child_state measure_contained(struct bz_program *program, struct bz_world *world,
                                             struct bz_death *death) {
    struct bz_program_place place = {.program = program, .world = world};
    bz_judge_inherit(world->judge, true);
    enum bz_child_state state =
        bz_contain_call(&program->contain, world, measure_one_in_child, &place, death);
    bz_judge_inherit(world->judge, false);
    if (state == BZ_CHILD_RUNS) {
        bz_judge_died(world->judge, NULL, NULL);
    } else if (state != BZ_CHILD_DONE) {
        bz_judge_died(world->judge, death->oracle, death->how);
    }
    bz_judge_measured(world->judge, &program->profile);
    if (state == BZ_CHILD_DIED && program->profile.steps == 0) { /* nothing is left of its runs */
        program->profile = (struct bz_profile){.steps = 1, .steps_max = program->steps_max};
    }
    return state;
}

/* Every run in the process of the source: each in a child of its own, if the program is contained.
 */
static void measure_each(struct bz_program *program, struct bz_world *world) {
    struct bz_program_place place = {.program = program, .world = world};
    struct bz_source source = bz_program_source(&place);
    bz_judge_measure(world->judge, &source, &program->profile);
}

/* The end of the process of all runs counts only if a run that is alone ends so, too: its cause may
 * be something that the runs before it have left, or a kill from outside. A hang would take its
 * time again. */
static bool measure_in(struct bz_program *program, struct bz_world **world,
                       const volatile sig_atomic_t *stop, char *lack) {
    struct bz_death death;
    enum bz_child_state state = BZ_CHILD_DONE;
    bz_program_enter(program, *world);
    bz_judge_watch_stop((*world)->judge, stop);
    if (!program->contain.is_on) {
        measure_each(program, *world);
    } else {
        state = measure_contained(program, *world, &death);
    }
    if (state == BZ_CHILD_DIED && strcmp(death.oracle, "hang") != 0) {
        program->profile.steps = 0;
        if (!renew(world, program, lack)) {
            return false;
        }
        bz_judge_watch_stop((*world)->judge, stop);
        measure_each(program, *world);
    }
    if (program->profile.steps == 0) {
        const char *error = bz_judge_error((*world)->judge);
        bool is_stopped = bz_judge_verdict((*world)->judge) == BZ_RUN_GIVEN_UP;
        bz_lack_copy(lack, error != NULL ? error
                           : is_stopped  ? ""
                                         : "the program cannot be measured");
    }
    if (state != BZ_CHILD_DONE) { /* what died may have left it in any state */
        bz_world_destroy(*world);
        *world = NULL;
    }
    return program->profile.steps != 0;
}

bool bz_program_measure_in(struct bz_program *program, struct bz_world **world,
                           const volatile sig_atomic_t *stop, char *lack) {
    lack[0] = '\0';
    if (!program->strategy->needs_profile || program->profile.steps != 0) {
        return true;
    }
    bool is_quiet = program->contain.is_quiet;
    program->contain.is_quiet = true; /* the runs that follow print the same */
    bool is_ok =
        (*world != NULL || renew(world, program, lack)) && measure_in(program, world, stop, lack);
    program->contain.is_quiet = is_quiet;
    return is_ok;
}

struct together {
    const struct bz_measuring *measuring;
    struct bz_world *world;
    struct bz_profile *shared; /* each, and then each again */
};

static void measure_all_in_child(void *context) {
    const struct together *together = context;
    const struct bz_measuring *measuring = together->measuring;
    for (uint32_t index = 0; index < measuring->count; index++) {
        struct bz_program_place place = {.program = measuring->program(measuring->context, index),
                                         .world = together->world};
        struct bz_profile profile;
        bz_program_enter(place.program, together->world);
        measure_in_child(&place, &profile);
        together->shared[index] = profile;
        together->shared[measuring->count + index] = profile;
    }
}

bool bz_program_measure_together(const struct bz_measuring *measuring, struct bz_world *world,
                                 const struct bz_contain *contain) {
    size_t bytes = measuring->count * sizeof *measuring->profiles;
    struct together together = {measuring, world, bz_shared_alloc(2 * bytes)};
    struct bz_contain quiet = *contain;
    struct bz_death death;
    if (together.shared == NULL) {
        return false;
    }
    quiet.is_quiet = true;
    bz_judge_inherit(world->judge, true);
    enum bz_child_state state =
        bz_contain_call(&quiet, world, measure_all_in_child, &together, &death);
    bz_judge_inherit(world->judge, false);
    bool is_sound = state == BZ_CHILD_DONE &&
                    memcmp(together.shared, together.shared + measuring->count, bytes) == 0;
    if (is_sound) {
        memcpy(measuring->profiles, together.shared, bytes);
    }
    bz_shared_free(together.shared, 2 * bytes);
    return is_sound;
}

bool bz_program_measure(struct bz_program *program) {
    char lack[BZ_LACK_BYTES];
    return bz_program_measure_or(program, lack);
}

bool bz_program_measure_or(struct bz_program *program, char *lack) {
    struct bz_world *world = NULL;
    bool is_ok = bz_program_measure_in(program, &world, NULL, lack);
    bz_world_destroy(world);
    return is_ok;
}

/* --- runs ------------------------------------------------------------------------------------- */

enum bz_run_end bz_program_run(const struct bz_program *program, struct bz_world *world,
                               uint64_t seed) {
    return bz_program_run_from(program, world,
                               &(struct bz_run_start){.seed = seed, .strategy = program->strategy});
}

enum bz_run_end bz_program_run_from(const struct bz_program *program, struct bz_world *world,
                                    const struct bz_run_start *start) {
    void *state;
    if (!program->contain.is_on && bz_world_begin_again(world, program, start, &state)) {
        run_on(program, world, state);
        return bz_judge_verdict(world->judge);
    }
    struct bz_program_place place = {.program = program, .world = world};
    struct bz_source source = bz_program_source(&place);
    return bz_judge_run(world->judge, &source, start);
}
