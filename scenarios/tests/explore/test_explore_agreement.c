/* The reductions lose nothing. With all reductions, with snapshots alone, and with every prefix run
 * again, the search finds the same violations and outcomes, and counts the same schedules where
 * nothing was cut short: for every entry of the zoo, what ships, and drawn programs. */
#include "scenarios/tests/designs/designs.h"
#include "scenarios/tests/explore/explored.h"
#include "sim/native/internal.h"

#define STATES_MAX 15000u
#define STEPS_MAX 300u

struct comparison {
    uint64_t states_max; /* 0: STATES_MAX */
    uint32_t compared;
    uint32_t too_large;
    uint32_t with_findings;
};

/* Searches the whole of it in every manner. Does not compare what takes too long in one of them. */
static void compare(const struct bz_program *program, uint32_t delays_max, const char *what,
                    uint64_t number, struct comparison *sum) {
    static const uint32_t manners[] = {BZ_REDUCE_SNAPSHOTS, /* the first to be too large */
                                       0,
                                       BZ_REDUCE_SNAPSHOTS | BZ_REDUCE_STATES | BZ_REDUCE_QUEUE,
                                       BZ_REDUCE_ALL,
                                       BZ_REDUCE_SNAPSHOTS | BZ_REDUCE_STATES,
                                       BZ_REDUCE_SNAPSHOTS | BZ_REDUCE_STATES | BZ_REDUCE_YIELDS};
    static struct bz_explore_result results[sizeof manners / sizeof manners[0]];
    for (size_t manner = 0; manner < sizeof manners / sizeof manners[0]; manner++) {
        results[manner] = tst_sweep(program, delays_max, manners[manner],
                                    sum->states_max == 0 ? STATES_MAX : sum->states_max);
        bool is_whole = results[manner].end == BZ_EXPLORE_DONE && !results[manner].is_out_of_steps;
        if (!is_whole) {
            sum->too_large++;
            return;
        }
        if (manner > 0) {
            tst_expect_same_space(program, &results[manner], &results[0], what, number);
        }
    }
    sum->compared++;
    sum->with_findings += results[0].finding_count > 0;
}

/* --- the zoo, and what ships ------------------------------------------------------------------ */

static void compare_bounds(const struct bz_scenario *scenario, const struct bz_variant *variant,
                           const char *settings, struct comparison *sum) {
    /* Delays and cancels; every second ones are for what is too large for those before them. */
    static const uint32_t bounds[][2] = {{1, 1}, {0, 1}, {2, 0}, {1, 0}};
    const char *small = tst_small_settings(scenario->name);
    uint32_t before = sum->compared;
    for (int order = BZ_ORDER_ANY; order <= BZ_ORDER_FIFO; order++) {
        uint32_t compared = sum->compared;
        for (size_t index = 0; index < sizeof bounds / sizeof bounds[0]; index++) {
            if (index % 2 != 0 && sum->compared > compared) {
                continue;
            }
            compared = sum->compared;
            struct bz_program program = tst_explored_program(scenario, variant, settings);
            tst_set(&program, small);
            program.order = (enum bz_order)order;
            program.steps_max = STEPS_MAX;
            program.cancels_max = bounds[index][1];
            compare(&program, bounds[index][0], "bounds", index, sum);
        }
    }
    cr_assert_lt(before, sum->compared, "%s on %s: nothing was small enough", scenario->name,
                 variant->name);
}

Test(explore_agreement, for_every_entry_of_the_zoo) {
    struct comparison sum = {.states_max = TST_LONG(8000u, STATES_MAX)};
    TST_NEEDS_SNAPSHOTS();
    for (const struct bz_variant *const *next = bz_variants; *next != NULL; next++) {
        const struct bz_fault *fault = (*next)->fault;
        bool ends_at_limit = fault != NULL && strcmp(fault->oracle, "livelock") == 0;
        if (fault != NULL && !ends_at_limit && !tst_is_repeated(*next)) {
            compare_bounds(tst_scenario(fault->scenario), *next, fault->settings, &sum);
        }
    }
    cr_assert_lt(TST_LONG(120u, 250u), sum.compared, "compared %u, left out %u", sum.compared,
                 sum.too_large);
    cr_assert_lt(TST_LONG(70u, 140u), sum.with_findings, "%u", sum.with_findings);
}

Test(explore_agreement, for_what_ships_in_every_scenario) {
    struct comparison sum = {0};
    TST_NEEDS_SNAPSHOTS();
    for (const struct bz_scenario *const *next = bz_scenarios; *next != NULL; next++) {
        if (tst_small_settings((*next)->name) != NULL) {
            compare_bounds(*next, &bz_variant_buzzer, NULL, &sum);
        }
    }
    cr_assert_eq(sum.with_findings, 0);
}

/* States that differ in the lag that is left are one until a jump is refused, and then they are
 * not.
 */
Test(explore_agreement, with_so_little_lag_that_it_runs_out) {
    static const uint64_t lags[] = {BZ_LAG_MAX_NONE_NS, 1, 2, 3, 5, BZ_LAG_MAX_DEFAULT_NS};
    static const char *const names[] = {"restaurant", "timeout", "scope", "event", "barrier"};
    struct comparison sum = {0};
    uint32_t refused = 0;
    TST_NEEDS_SNAPSHOTS();
    for (size_t name = 0; name < sizeof names / sizeof names[0]; name++) {
        for (size_t lag = 0; lag < sizeof lags / sizeof lags[0]; lag++) {
            char error[BZ_ERROR_BYTES];
            struct bz_program program =
                tst_explored_program(tst_scenario(names[name]), &bz_variant_buzzer, NULL);
            cr_assert(bz_program_set_list(&program, tst_small_settings(names[name]), error,
                                          sizeof error));
            program.lag_max_ns = lags[lag];
            program.steps_max = STEPS_MAX;
            program.cancels_max = 0;
            compare(&program, 2, names[name], lag, &sum);
            struct bz_explore_result result =
                tst_explore(&(struct bz_explore_config){.program = &program,
                                                        .delays_max = 2,
                                                        .reductions = BZ_REDUCE_ALL,
                                                        .states_max = STATES_MAX});
            bool keeps_lag = (result.reductions & BZ_REDUCE_LAG) == 0;
            refused += keeps_lag;
            cr_assert_not(keeps_lag && lags[lag] == BZ_LAG_MAX_DEFAULT_NS, "%s", names[name]);
        }
    }
    cr_assert_lt(10, refused, "%u", refused);
    cr_assert_lt(15, sum.compared, "%u, too large %u", sum.compared, sum.too_large);
}

/* How often tasks have asked in vain is part of a state, whether a model judges or not. */
Test(explore_agreement, for_tasks_that_sleep_and_ask_again) {
    static const struct bz_variant *const designs[] = {&design_sleeping, &design_sleeping_blind};
    static const struct {
        const struct bz_scenario *scenario;
        const char *settings;
    } programs[] = {
        {&bz_scenario_model, "tasks=2,operations=1,pause=0,patience=1"},
        {&bz_scenario_contended, "permits=1,workers=2,rounds=1,hold=1,patience=1"},
    };
    TST_NEEDS_SNAPSHOTS();
    for (uint32_t index = 0; index < 4; index++) {
        struct comparison sum = {0};
        struct bz_program program = tst_explored_program(programs[index / 2].scenario,
                                                         designs[index % 2], "primitive=semaphore");
        tst_set(&program, programs[index / 2].settings);
        program.steps_max = 10 * STEPS_MAX;
        program.cancels_max = 0;
        compare(&program, 1, "sleeps", index, &sum);
        cr_assert_eq(sum.compared, 1, "%s", designs[index % 2]->name);
        cr_assert_eq(sum.with_findings, index % 2, "%s", designs[index % 2]->name);
    }
}

/* --- yields in a row -------------------------------------------------------------------------- */

static struct bz_explore_result sweep(const struct bz_program *program, uint32_t reductions) {
    return tst_sweep(program, BZ_EXPLORE_UNBOUNDED, reductions, STATES_MAX);
}

/* Up to three yields in a row, in every scenario without timers, on every variant. */
Test(explore_agreement, for_one_yield_that_stands_for_three) {
    static const struct {
        const struct bz_scenario *scenario;
        const char *settings;
    } programs[] = {
        {&bz_scenario_contended, "permits=1,workers=2,rounds=1,hold=1,patience=4"},
        {&bz_scenario_event, "setters=1,waiters=2,rounds=1,latecomers=0,pace=3,patience=4"},
        {&bz_scenario_pool, "workers=2,rounds=1,arrival=3,patience=4,keys=1"},
        {&bz_scenario_intruder, "workers=2,rounds=1,visits=1,patience=4"},
        {&bz_scenario_queue,
         "producers=1,consumers=1,newcomers=1,items=1,tries=1,patience=4,cancels=0"},
    };
    uint32_t with_findings = 0;
    TST_NEEDS_SNAPSHOTS();
    for (size_t index = 0; index < sizeof programs / sizeof programs[0]; index++) {
        const struct bz_scenario *scenario = programs[index].scenario;
        uint32_t smaller = 0;
        for (const struct bz_variant *const *next = bz_variants; *next != NULL; next++) {
            if (tst_is_repeated(*next) || !bz_variant_offers(*next, scenario->primitives[0])) {
                continue;
            }
            struct bz_program program =
                tst_explored_program(scenario, *next, programs[index].settings);
            program.steps_max = STEPS_MAX;
            for (program.cancels_max = 0; program.cancels_max <= 1; program.cancels_max++) {
                struct bz_explore_result with = sweep(&program, BZ_REDUCE_ALL);
                struct bz_explore_result without =
                    sweep(&program, BZ_REDUCE_ALL & ~BZ_REDUCE_YIELDS);
                if (with.end == BZ_EXPLORE_DONE && without.end == BZ_EXPLORE_DONE) {
                    tst_expect_same_space(&program, &with, &without, "yields", index);
                    cr_assert_leq(with.states, without.states, "%s", (*next)->name);
                    smaller += 4 * with.states < 3 * without.states;
                    with_findings += with.finding_count > 0;
                }
            }
        }
        cr_assert_lt(0, smaller, "%s, %s", scenario->name, programs[index].settings);
    }
    cr_assert_lt(TST_LONG(20u, 30u), with_findings, "searches with findings: %u", with_findings);
}

/* Then the clock may jump once before each yield, so their number matters. */
Test(explore_agreement, yields_are_counted_where_timers_are_armed) {
    TST_NEEDS_SNAPSHOTS();
    struct bz_program program = tst_explored_program(
        &bz_scenario_restaurant, &bz_variant_buzzer,
        "tables=1,guests=2,arrival=3,helpings=1,meal=0,meal-ns=1,changes=0,patience=1");
    program.cancels_max = 0;
    struct bz_explore_result with = sweep(&program, BZ_REDUCE_ALL);
    struct bz_explore_result without = sweep(&program, BZ_REDUCE_ALL & ~BZ_REDUCE_YIELDS);
    cr_assert(with.is_whole);
    cr_assert_eq(with.reductions & BZ_REDUCE_YIELDS, 0);
    cr_assert_eq(with.states, without.states);
    cr_assert_eq(with.schedules, without.schedules);
}

/* --- drawn programs --------------------------------------------------------------------------- */

/* Draws the program of this seed, and has it as if it had been read from a file: so that the search
 * enumerates its schedules, and not all programs. */
static void fix_program(struct bz_program *program, uint64_t seed) {
    const struct bz_scenario *scenario = program->scenario;
    static char text[65536];
    char error[BZ_ERROR_BYTES];
    struct bz_world *world = bz_program_new_world(program);
    cr_assert(world != NULL);
    bz_judge_begin(world->judge, &(struct bz_run_start){.seed = seed});
    bz_world_begin(world);
    const void *state = scenario->setup(world, &program->args);
    size_t length = scenario->file->print(state, text, sizeof text);
    bz_world_destroy(world);
    cr_assert(scenario->file->read(program->args.file, program->variant, text, length, "drawn",
                                   error, sizeof error),
              "seed %llu: %s", (unsigned long long)seed, error);
    program->args.file_digest = 1;
}

static struct comparison compare_drawn(const struct bz_variant *variant, const char *settings,
                                       uint32_t cancels_max, uint64_t count) {
    struct comparison sum = {0};
    count = TST_LONG(count / 2, count);
    for (uint64_t seed = 0; seed < count; seed++) {
        struct bz_program program = tst_explored_program(&bz_scenario_program, variant, settings);
        fix_program(&program, seed);
        program.cancels_max = cancels_max;
        program.steps_max = STEPS_MAX;
        compare(&program, BZ_EXPLORE_UNBOUNDED, "seed", seed, &sum);
    }
    cr_assert_lt(count / 2, sum.compared, "%s: %u of %llu were small enough", settings,
                 sum.compared, (unsigned long long)count);
    return sum;
}

Test(explore_agreement, for_drawn_programs_in_every_order) {
    TST_NEEDS_SNAPSHOTS();
    compare_drawn(&bz_variant_buzzer, "tasks=2,ops=3", 0, 100);
    compare_drawn(&bz_variant_buzzer, "tasks=2,ops=2", 1, 100);
    compare_drawn(&bz_variant_buzzer, "tasks=3,ops=2,ns=1", 0, 100);
}

Test(explore_agreement, for_drawn_programs_with_permits_alone) {
    struct comparison sum;
    TST_NEEDS_SNAPSHOTS();
    compare_drawn(&bz_variant_buzzer, "tasks=3,ops=2,kinds=7,ns=2", 0, 80);
    compare_drawn(&bz_variant_buzzer, "tasks=2,ops=3,kinds=7,ns=2,objects=3", 1, 60);
    sum = compare_drawn(&bz_variant_asyncio_311, "tasks=3,ops=3,kinds=7,ns=3", 0, 100);
    cr_assert_lt(TST_LONG(2u, 5u), sum.with_findings, "%u", sum.with_findings);
    sum = compare_drawn(&bz_variant_zoo_sem_barge, "tasks=3,ops=2,kinds=7", 0, 100);
    cr_assert_lt(0, sum.with_findings, "%u", sum.with_findings);
}

/* Where there are no snapshots, all that is asked for is left out, and what was proved is said. */
Test(explore_agreement, reductions_that_cannot_be_had_are_left_out) {
    struct bz_program program =
        tst_explored_program(&bz_scenario_handoff, &bz_variant_buzzer, "cancel=none");
    struct bz_explore_result result =
        tst_explore(&(struct bz_explore_config){.program = &program,
                                                .delays_max = BZ_EXPLORE_UNBOUNDED,
                                                .reductions = BZ_REDUCE_ALL,
                                                .rounds_before_sweep = 1});
    /* no two tasks are alike */
    uint32_t expected = (BZ_REDUCE_ALL & ~BZ_REDUCE_SYMMETRY) | BZ_REDUCE_LAG;
    cr_assert_eq(result.reductions, bz_snapshot_is_supported() ? expected : 0);
    cr_assert_eq(result.schedules, 12);
    cr_assert(result.is_whole);
}

/* The shadow state of the judge decides the window: who holds, who was woken. */
Test(explore_agreement, for_cancels_into_one_window) {
    static const char *const windows[] = {"cancel=holding", "cancel=woken", "cancel=waiting",
                                          "cancel=sleeping", "cancel=cancelling"};
    struct comparison sum = {0};
    TST_NEEDS_SNAPSHOTS();
    for (uint32_t index = 0; index < sizeof windows / sizeof windows[0]; index++) {
        struct bz_program program =
            tst_explored_program(&bz_scenario_contended, &bz_variant_buzzer, windows[index]);
        tst_set(&program, "permits=1,workers=2,rounds=1,patience=1");
        program.steps_max = STEPS_MAX;
        compare(&program, 2, "window", index, &sum);
        compare(&program, 1, "window", index, &sum);
    }
    cr_assert_leq(5, sum.compared, "%u", sum.compared);
}
