/* A sweep by several workers gives what one gives: the same violations, on the same schedules, and
 * where there is none the same outcomes, and without symmetry the same states and transitions. With
 * it, an unused byte of a frame that holds the number of a task makes two classes of one, or not,
 * by which of the interchangeable tasks came first. */
#include "scenarios/tests/explore/explored.h"

#define STATES_MAX 15000u

struct comparison {
    uint32_t whole;
    uint32_t found;
};

static struct bz_explore_result search(const struct bz_program *program, uint32_t reductions,
                                       uint32_t jobs) {
    return tst_explore(&(struct bz_explore_config){.program = program,
                                                   .delays_max = BZ_EXPLORE_UNBOUNDED,
                                                   .reductions = reductions,
                                                   .rounds_before_sweep = 1,
                                                   .jobs = jobs,
                                                   .states_max = STATES_MAX});
}

static void compare(const struct bz_scenario *scenario, const struct bz_variant *variant,
                    const char *settings, uint32_t reductions, struct comparison *sum) {
    char error[BZ_ERROR_BYTES];
    const char *small = tst_small_settings(scenario->name);
    struct bz_program program = tst_explored_program(scenario, variant, settings);
    cr_assert(small != NULL && bz_program_set_list(&program, small, error, sizeof error));
    program.order = BZ_ORDER_ANY;
    program.cancels_max = 1;
    static struct bz_explore_result one;
    one = search(&program, reductions, 1);
    struct bz_explore_result team = search(&program, reductions, 3);
    if (one.end == BZ_EXPLORE_FOUND && team.end == BZ_EXPLORE_STATES_MAX) {
        return; /* the others of a team search meanwhile */
    }
    cr_assert_eq(team.end, one.end, "%s on %s", scenario->name, variant->name);
    cr_assert_eq(team.rounds, one.rounds, "%s on %s", scenario->name, variant->name);
    cr_assert_eq(team.violations_digest, one.violations_digest, "%s", variant->name);
    cr_assert_eq(team.liveness, one.liveness, "%s on %s", scenario->name, variant->name);
    cr_assert_eq(team.has_cycles, one.has_cycles, "%s on %s", scenario->name, variant->name);
    if (one.finding_count > 0) {
        const struct bz_answers *answers = &one.findings[0].answers;
        cr_assert_eq(team.findings[0].answers.count, answers->count, "%s", variant->name);
        cr_assert(memcmp(team.findings[0].answers.entries, answers->entries,
                         answers->count * sizeof answers->entries[0]) == 0,
                  "%s on %s", scenario->name, variant->name);
        sum->found++;
    }
    if (one.end == BZ_EXPLORE_DONE && one.is_sweep_done) {
        cr_assert_eq(team.has_schedules, false, "%s on %s", scenario->name, variant->name);
        if ((reductions & BZ_REDUCE_SYMMETRY) == 0) {
            cr_assert_eq(team.states, one.states, "%s on %s", scenario->name, variant->name);
            cr_assert_eq(team.transitions, one.transitions, "%s on %s", scenario->name,
                         variant->name);
            cr_assert_eq(team.transitions_total, one.transitions_total);
        }
        cr_assert_eq(team.outcomes, one.outcomes, "%s on %s", scenario->name, variant->name);
        cr_assert_eq(team.outcomes_digest, one.outcomes_digest);
        cr_assert_eq(team.is_whole, one.is_whole);
        cr_assert_eq(team.reductions, one.reductions);
        sum->whole++;
    }
}

Test(explore_team, finds_what_one_finds_in_the_zoo) {
    struct comparison sum = {0};
    TST_NEEDS_SNAPSHOTS();
    for (const struct bz_variant *const *next = bz_variants; *next != NULL; next++) {
        const struct bz_fault *fault = (*next)->fault;
        if (fault != NULL && !tst_is_repeated(*next)) {
            compare(tst_scenario(fault->scenario), *next, fault->settings, BZ_REDUCE_ALL, &sum);
        }
    }
    cr_assert_lt(TST_LONG(15u, 30u), sum.found, "%u", sum.found);
}

Test(explore_team, counts_what_one_counts_in_every_scenario) {
    struct comparison sum = {0};
    TST_NEEDS_SNAPSHOTS();
    for (const struct bz_scenario *const *next = bz_scenarios; *next != NULL; next++) {
        if (tst_small_settings((*next)->name) != NULL) {
            compare(*next, &bz_variant_buzzer, NULL, BZ_REDUCE_ALL, &sum);
            compare(*next, &bz_variant_buzzer, NULL, BZ_REDUCE_ALL & ~BZ_REDUCE_SYMMETRY, &sum);
        }
    }
    cr_assert_lt(10, sum.whole, "%u", sum.whole);
}
