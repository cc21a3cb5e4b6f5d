/* Shared by the tests of this folder: one program, many seeds, and the first violation. */
#ifndef BZ_SCENARIOS_TESTS_SEEDS_H
#define BZ_SCENARIOS_TESTS_SEEDS_H

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "primitives/runtime/coro/san.h"
#include "primitives/tests/long.h"
#include "scenarios/scenarios.h"
#include "sim/program/catalog.h"
#include "sim/program/program.h"
#include "sim/program/settings.h"

static const struct bz_catalog tst_catalog = {.scenarios = bz_scenarios, .variants = bz_variants};

static inline const struct bz_scenario *tst_scenario(const char *name) {
    return bz_catalog_scenario(&tst_catalog, name);
}

struct tst_seeds {
    uint64_t runs; /* until the first violation, that one included */
    uint64_t out_of_steps;
    uint64_t seed; /* of the violation; violation.oracle is NULL if there is none */
    struct bz_violation violation;
    struct bz_run_stats stats;
};

static inline struct bz_program tst_program(const struct bz_scenario *scenario,
                                            const struct bz_variant *variant, enum bz_order order) {
    struct bz_program program;
    bz_program_init(&program, scenario, variant, bz_strategy_find("random"));
    program.order = order;
    return program;
}

/* Settings "name=value,..."; NULL: the defaults. */
static inline void tst_set(struct bz_program *program, const char *settings) {
    char error[BZ_ERROR_BYTES];
    cr_assert(settings == NULL || bz_program_set_list(program, settings, error, sizeof error),
              "%s: %s", program->scenario->name, error);
}

static inline struct bz_program tst_program_with(const struct bz_scenario *scenario,
                                                 const struct bz_variant *variant,
                                                 enum bz_order order, const char *settings) {
    struct bz_program program = tst_program(scenario, variant, order);
    tst_set(&program, settings);
    return program;
}

/* JSON that a test writes with ' for ". Valid until the next call. */
static inline const char *tst_json(const char *text) {
    static char json[BZ_FILE_BYTES_MAX + 2];
    size_t length = strlen(text);
    cr_assert_lt(length, sizeof json);
    for (size_t index = 0; index <= length; index++) {
        json[index] = text[index];
        if (text[index] == '\'') {
            json[index] = '"';
        }
    }
    return json;
}

/* Runs seeds 0 to `count` - 1, or to the first violation. */
static inline struct tst_seeds tst_run_seeds(const struct bz_program *program, uint64_t count) {
    struct tst_seeds result = {0};
    struct bz_world *world = bz_program_new_world(program);
    cr_assert_not_null(world);
    for (uint64_t seed = 0; seed < count && result.violation.oracle == NULL; seed++) {
        enum bz_run_end end = bz_program_run(program, world, seed);
        result.runs++;
        result.out_of_steps += end == BZ_RUN_OUT_OF_STEPS;
        if (end == BZ_RUN_VIOLATED) {
            result.seed = seed;
            result.violation = *bz_judge_violation(world->judge);
        }
    }
    result.stats = *bz_judge_stats(world->judge);
    bz_world_destroy(world);
    return result;
}

/* Demands that nothing is found, and that something was done. A part of the runs, unless there is
 * time for all. */
static inline void tst_expect_silence(const struct bz_program *program, uint64_t count) {
    count /= BZ_SAN_ADDRESS ? 10 : TST_LONG(4, 1); /* ten times as slow there */
    struct tst_seeds result = tst_run_seeds(program, count);
    cr_assert_null((void *)result.violation.oracle,
                   "%s on %s, %s, order %s, seed %llu, step %u: %s: %s", program->scenario->name,
                   program->variant->name, bz_primitive_name(program->args.primitive),
                   bz_order_name(program->order), (unsigned long long)result.seed,
                   result.violation.step, result.violation.oracle, result.violation.message);
    cr_assert_eq(result.runs, count);
    cr_assert_eq(result.out_of_steps, 0);
    cr_assert_lt(count, result.stats.steps);
    cr_assert_lt(0, result.stats.injected, "no cancel was injected");
}

/* Demands that this oracle objects before any other; NULL: that any does. */
static inline struct tst_seeds tst_expect_found(const struct bz_program *program, uint64_t count,
                                                const char *oracle) {
    struct tst_seeds result = tst_run_seeds(program, count);
    cr_assert_not_null((void *)result.violation.oracle, "%s on %s, %s, order %s: nothing found",
                       program->scenario->name, program->variant->name,
                       bz_primitive_name(program->args.primitive), bz_order_name(program->order));
    cr_assert(oracle == NULL || strcmp(result.violation.oracle, oracle) == 0,
              "%s on %s, order %s, seed %llu: %s: %s", program->scenario->name,
              program->variant->name, bz_order_name(program->order),
              (unsigned long long)result.seed, result.violation.oracle, result.violation.message);
    return result;
}

/* Both in either order. */
static inline void tst_expect_silence_with(const struct bz_scenario *scenario,
                                           const struct bz_variant *variant, const char *settings,
                                           uint64_t count) {
    for (int order = BZ_ORDER_ANY; order <= BZ_ORDER_FIFO; order++) {
        struct bz_program program =
            tst_program_with(scenario, variant, (enum bz_order)order, settings);
        tst_expect_silence(&program, count);
    }
}

static inline void tst_expect_found_with(const struct bz_scenario *scenario,
                                         const struct bz_variant *variant, const char *settings,
                                         uint64_t count, const char *oracle) {
    for (int order = BZ_ORDER_ANY; order <= BZ_ORDER_FIFO; order++) {
        struct bz_program program =
            tst_program_with(scenario, variant, (enum bz_order)order, settings);
        (void)tst_expect_found(&program, count, oracle);
    }
}

#endif
