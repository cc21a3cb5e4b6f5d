/* The primitives that ship violate nothing: every scenario, every primitive, both loop orders, with
 * cancels into every window. */
#include "scenarios/tests/seeds.h"

#define SEEDS 20000u

static void expect_silence_everywhere(const struct bz_scenario *scenario) {
    for (uint32_t index = 0; index < scenario->primitive_count; index++) {
        for (int order = BZ_ORDER_ANY; order <= BZ_ORDER_FIFO; order++) {
            struct bz_program program =
                tst_program(scenario, &bz_variant_buzzer, (enum bz_order)order);
            program.args.primitive = scenario->primitives[index];
            tst_expect_silence(&program, SEEDS);
        }
    }
}

Test(silent, contended) {
    expect_silence_everywhere(&bz_scenario_contended);
}

Test(silent, handoff) {
    expect_silence_everywhere(&bz_scenario_handoff);
}

Test(silent, restaurant) {
    expect_silence_everywhere(&bz_scenario_restaurant);
}

Test(silent, taskgroup) {
    expect_silence_everywhere(&bz_scenario_taskgroup);
}

Test(silent, timeout) {
    expect_silence_everywhere(&bz_scenario_timeout);
}

/* More cancels than anybody plans for. */
Test(silent, under_a_hail_of_cancels) {
    for (const struct bz_scenario *const *next = bz_scenarios; *next != NULL; next++) {
        struct bz_program program = tst_program(*next, &bz_variant_buzzer, BZ_ORDER_ANY);
        program.cancels_max = 20;
        tst_expect_silence(&program, SEEDS / 4);
    }
}

/* The ends of the ranges of parameters that are cheap to run: one of everything, and none. */
Test(silent, at_the_least_of_every_parameter) {
    for (const struct bz_scenario *const *next = bz_scenarios; *next != NULL; next++) {
        struct bz_program program = tst_program(*next, &bz_variant_buzzer, BZ_ORDER_ANY);
        for (uint32_t index = 0; (*next)->params[index].name != NULL; index++) {
            program.args.values[index] = (*next)->params[index].least;
        }
        struct tst_seeds result = tst_run_seeds(&program, SEEDS / 4);
        cr_assert(eq(ptr, (void *)result.violation.oracle, NULL), "%s, seed %llu: %s",
                  (*next)->name, (unsigned long long)result.seed, result.violation.message);
    }
}

/* With turns, C may come before the release, too. */
Test(silent, handoff_with_a_late_release) {
    struct bz_program program = tst_program(&bz_scenario_handoff, &bz_variant_buzzer, BZ_ORDER_ANY);
    program.args.values[0] = 3;
    tst_expect_silence(&program, SEEDS);
}
