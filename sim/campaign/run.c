#include "sim/campaign/run.h"

#include <stddef.h>

#include "sim/campaign/profile.h"
#include "sim/oracle/oracle.h"

void bz_program_init(struct bz_program *program, const struct bz_scenario *scenario,
                     const struct bz_variant *variant, const struct bz_strategy *strategy) {
    *program = (struct bz_program){.scenario = scenario,
                                   .variant = variant,
                                   .strategy = strategy,
                                   .order = BZ_ORDER_ANY,
                                   .cancel_windows = BZ_WINDOWS_ALL,
                                   .cancels_max = BZ_CANCELS_MAX_DEFAULT,
                                   .steps_max = BZ_STEPS_MAX_DEFAULT,
                                   .starvation_bound = BZ_STARVATION_BOUND_DEFAULT};
    for (uint32_t index = 0; scenario->params[index].name != NULL; index++) {
        program->args.values[index] = scenario->params[index].value;
    }
    for (uint32_t index = scenario->primitive_count; index-- > 0;) {
        if (bz_variant_offers(variant, scenario->primitives[index])) {
            program->args.primitive = scenario->primitives[index];
        }
    }
}

struct bz_world *bz_program_new_world(const struct bz_program *program,
                                      const struct bz_strategy *strategy) {
    struct bz_profile profile;
    const struct bz_strategy *chosen = strategy != NULL ? strategy : program->strategy;
    if (chosen->needs_profile && !bz_profile_measure(&profile, program)) {
        return NULL;
    }
    struct bz_world_config config = {
        .strategy = chosen,
        .profile = chosen->needs_profile ? &profile : NULL,
        .variant = program->variant,
        .answers = &program->answers,
        .monitors = bz_oracles,
        .order = program->order,
        .cancel_windows = program->cancel_windows,
        .cancels_max = program->cancels_max,
        .steps_max = program->steps_max,
        .judges_liveness = true,
        .starvation_bound = program->starvation_bound,
    };
    return bz_world_new(&config);
}

enum bz_run_end bz_program_run(const struct bz_program *program, struct bz_world *world,
                               uint64_t seed, const struct bz_tape *tape,
                               struct bz_event_sink *sink) {
    void *state;
    if (!bz_world_begin_again(world, program, seed, tape, sink, &state)) {
        bz_world_begin(world, seed, tape, sink);
        state = program->scenario->setup(world, &program->args);
        bz_world_keep_setup(world, program, offsetof(struct bz_program, args.file_name), state);
    }
    enum bz_run_end end = bz_world_run(world);
    if (end == BZ_RUN_PASSED && world->book.unfinished == 0 && program->scenario->finish != NULL) {
        program->scenario->finish(world, state);
    }
    return bz_world_finish(world);
}
