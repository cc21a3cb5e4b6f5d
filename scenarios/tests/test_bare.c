/* The bare loop of `buzzer bench` runs the schedules that `contended` runs, seed by seed: the same
 * steps, so the ratio of their times is that of the same work with and without the simulator. */
#include <criterion/criterion.h>

#include "scenarios/bare_loop.h"
#include "scenarios/scenarios.h"
#include "sim/program/program.h"

#define SEEDS 5000u

Test(bare, takes_the_steps_that_contended_takes) {
    struct bz_bare *bare = bz_bare_new();
    struct bz_program program;
    bz_program_init(&program, &bz_scenario_contended, &bz_variant_buzzer, &bz_strategy_random);
    program.cancel_windows = 0;
    struct bz_world *world = bz_program_new_world(&program);
    cr_assert(bare != NULL && world != NULL);
    uint32_t least = UINT32_MAX;
    uint32_t most = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        cr_assert_eq(bz_program_run(&program, world, seed), BZ_RUN_PASSED);
        uint32_t steps = bz_bare_run(bare, seed);
        cr_assert_eq(steps, bz_judge_steps(world->judge), "seed %u", (unsigned)seed);
        least = steps < least ? steps : least;
        most = steps > most ? steps : most;
    }
    cr_assert_lt(least, most); /* the seeds differ */
    bz_world_destroy(world);
    bz_bare_destroy(bare);
}
