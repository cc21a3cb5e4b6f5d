/* The primitives that ship violate nothing: every scenario, every primitive, both loop orders, with
 * cancels into every window. */
#include "scenarios/tests/seeds.h"

#define SEEDS 20000u

static void expect_silence_everywhere(const struct bz_scenario *scenario) {
    for (uint32_t index = 0; index < scenario->primitive_count; index++) {
        bool is_offered = bz_variant_offers(&bz_variant_buzzer, scenario->primitives[index]);
        for (int order = BZ_ORDER_ANY; is_offered && order <= BZ_ORDER_FIFO; order++) {
            struct bz_program program =
                tst_program(scenario, &bz_variant_buzzer, (enum bz_order)order);
            program.args.primitive = scenario->primitives[index];
            tst_expect_silence(&program, SEEDS);
        }
    }
}

#define IS_SILENT(scenario_)                                                                       \
    Test(silent, scenario_) {                                                                      \
        expect_silence_everywhere(&bz_scenario_##scenario_);                                       \
    }
IS_SILENT(barrier)
IS_SILENT(condition)
IS_SILENT(bank)
IS_SILENT(contended)
IS_SILENT(deferred)
IS_SILENT(event)
IS_SILENT(handoff)
IS_SILENT(model)
IS_SILENT(pool)
IS_SILENT(queue)
IS_SILENT(restaurant)
IS_SILENT(scope)
IS_SILENT(taskgroup)
IS_SILENT(timeout)

/* Variants that ship and that a model alone judges. */
Test(silent, modelled) {
    uint32_t count = 0;
    for (const struct bz_variant *const *next = bz_variants; *next != NULL; next++) {
        if ((*next)->fault == NULL && bz_variant_offers(*next, BZ_PRIMITIVE_MODELLED)) {
            tst_expect_silence_with(&bz_scenario_model, *next, NULL, SEEDS / 4);
            count++;
        }
    }
    cr_assert_lt(5, count);
}

/* The check follows what ships to the end, also where thousands of configurations explain it. */
Test(silent, modelled_by_many_configurations) {
    struct bz_program program = tst_program_with(
        &bz_scenario_model, bz_catalog_variant(&tst_catalog, "buzzer/rate-limiter"), BZ_ORDER_ANY,
        "tasks=5,operations=2");
    program.strategy = &bz_strategy_portfolio;
    tst_expect_silence(&program, SEEDS / 4);
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
        cr_assert_null((void *)result.violation.oracle, "%s, seed %llu: %s", (*next)->name,
                       (unsigned long long)result.seed, result.violation.message);
    }
}

/* With turns, C may come before the release, too. */
Test(silent, handoff_with_a_late_release) {
    struct bz_program program = tst_program(&bz_scenario_handoff, &bz_variant_buzzer, BZ_ORDER_ANY);
    program.args.values[0] = 3;
    tst_expect_silence(&program, SEEDS);
}

/* A break throws out tasks that drain or fill, not those held back, and rounds go on. */
Test(silent, barrier_that_is_broken_and_reset) {
    static const char *const settings[] = {"aborts=2", "resets=2", "aborts=1,resets=2,rounds=3",
                                           "parties=1,resets=1", "parties=2,workers=6,aborts=2"};
    for (size_t index = 0; index < sizeof settings / sizeof settings[0]; index++) {
        tst_expect_silence_with(&bz_scenario_barrier, &bz_variant_buzzer, settings[index],
                                SEEDS / 2);
    }
}

/* Under the portfolio's strategies. No violation; how often it was cut short. */
static uint64_t expect_no_violation(const struct bz_scenario *scenario, const char *settings,
                                    enum bz_order order, uint32_t steps_max, uint64_t runs) {
    struct bz_program program = tst_program_with(scenario, &bz_variant_buzzer, order, settings);
    program.strategy = &bz_strategy_portfolio;
    program.steps_max = steps_max != 0 ? steps_max : program.steps_max;
    cr_assert(bz_program_measure(&program));
    struct tst_seeds result = tst_run_seeds(&program, runs);
    cr_assert_null((void *)result.violation.oracle, "%s, %s, %u steps, seed %llu: %s",
                   scenario->name, settings, steps_max, (unsigned long long)result.seed,
                   result.violation.message);
    return result.out_of_steps;
}

/* The clock jumps while guests are on their way: the host waits until they have come. */
Test(silent, barrier_whose_guests_take_their_time) {
    static const char *const settings[] = {"pace=1000", "parties=64", "cancels=1000,patience=1000",
                                           "resets=1000"};
    for (size_t index = 0; index < sizeof settings / sizeof settings[0]; index++) {
        (void)expect_no_violation(&bz_scenario_barrier, settings[index], BZ_ORDER_ANY, 0,
                                  BZ_SAN_ADDRESS ? 10 : 250);
    }
}

/* A run that is cut short is no livelock, however short it is and whatever the strategy. */
Test(silent, when_the_step_limit_comes_at_once) {
    for (const struct bz_scenario *const *next = bz_scenarios; *next != NULL; next++) {
        for (uint32_t steps_max = 1; steps_max <= 8; steps_max++) {
            for (int order = BZ_ORDER_ANY; order <= BZ_ORDER_FIFO; order++) {
                uint64_t cut =
                    expect_no_violation(*next, NULL, (enum bz_order)order, steps_max, 25);
                cr_assert_lt(0, cut, "%s, %u steps", (*next)->name, steps_max);
            }
        }
    }
}

/* Tasks that yield a thousand times between two operations are busy. */
Test(silent, when_the_step_limit_comes_in_the_middle_of_work) {
    uint64_t runs = BZ_SAN_ADDRESS ? 1 : 5;
    cr_assert_lt(0,
                 expect_no_violation(&bz_scenario_restaurant, "guests=300,arrival=1000,changes=0",
                                     BZ_ORDER_ANY, 0, runs));
    cr_assert_lt(0, expect_no_violation(&bz_scenario_barrier, "workers=300,pace=1000", BZ_ORDER_ANY,
                                        0, runs));
}
