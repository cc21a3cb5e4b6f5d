/* A finding under the order `any` is looked for under `fifo`, and only what fails in the same way
 * counts. */
#include "sim/campaign/witness.h"

#include <string.h>

#include "sim/program/replay.h"
#include "sim/tests/crowd.h"

static const struct bz_budget unlimited = {.steps = 0};

static struct bz_failure first_failure(const struct bz_program *program) {
    const struct bz_campaign_config config = {.program = program, .runs = 5000};
    struct bz_campaign_result result;
    struct bz_trace trace;
    struct bz_replay_report report;
    struct bz_failure failure;
    cr_assert(bz_campaign_run(&config, &result));
    cr_assert_eq(result.violations, 1);
    bz_trace_init(&trace);
    cr_assert(bz_record(program, result.findings[0].seed, &trace, &report));
    bz_trace_fini(&trace);
    failure.violation = report.violation;
    memcpy(failure.object, report.object, sizeof failure.object);
    cr_assert_neq(failure.object[0], '\0');
    return failure;
}

Test(witness, is_found_and_reproduces) {
    struct bz_program program;
    struct bz_witness witness;
    crowd_program(&program, &crowd_drops, BZ_ORDER_ANY);
    struct bz_failure wanted = first_failure(&program);
    cr_assert(bz_witness_search(&program, &wanted, &unlimited, &witness));
    cr_assert_eq(witness.is_searched, true);
    cr_assert_eq(witness.is_found, true);
    cr_assert_eq(witness.program.order, BZ_ORDER_FIFO);
    struct bz_world *world = bz_program_new_world(&witness.program);
    bz_program_run(&witness.program, world, witness.finding.seed);
    cr_assert_eq(world->judge->digest, witness.finding.digest);
    cr_assert(bz_fails_likewise(&wanted.violation, wanted.object, world->judge));
    bz_world_destroy(world);
}

static void expect_none(const struct bz_program *program, const struct bz_failure *wanted,
                        bool is_searched) {
    struct bz_witness witness;
    cr_assert(bz_witness_search(program, wanted, &unlimited, &witness));
    cr_assert_eq(witness.is_searched, is_searched);
    cr_assert_eq(witness.is_found, false);
}

Test(witness, is_not_another_failure_nor_needed_under_fifo) {
    struct bz_program program;
    crowd_program(&program, &crowd_drops, BZ_ORDER_ANY);
    const struct bz_failure lost = first_failure(&program);
    struct bz_failure other = lost;
    other.violation.oracle = "mutual-exclusion";
    expect_none(&program, &other, true);
    other = lost;
    other.violation.op = BZ_OP_PUT;
    expect_none(&program, &other, true);
    other = lost;
    other.violation.window = BZ_WINDOW_CANCELLING;
    expect_none(&program, &other, true);
    other = lost;
    other.object[0] = '\0';
    expect_none(&program, &other, true);
    crowd_program(&program, &crowd_sound, BZ_ORDER_ANY);
    expect_none(&program, &lost, true);
    crowd_program(&program, &crowd_drops, BZ_ORDER_FIFO);
    expect_none(&program, &lost, false);
}

/* However many steps it would take to find one, the search ends with its budget, at the same place
 * everywhere. */
Test(witness, ends_with_its_budget) {
    struct bz_program program;
    struct bz_witness witness;
    crowd_program(&program, &crowd_drops, BZ_ORDER_ANY);
    const struct bz_failure lost = first_failure(&program);
    crowd_program(&program, &crowd_sound, BZ_ORDER_ANY);
    cr_assert(bz_witness_search(&program, &lost, &(struct bz_budget){.steps = 1}, &witness));
    cr_assert(witness.is_searched && witness.is_cut);
    cr_assert_eq(witness.is_found, false);
    cr_assert_lt(witness.runs, BZ_WITNESS_RUNS);
    struct bz_budget budget = {.steps = UINT64_C(1) << 40u};
    cr_assert(bz_witness_search(&program, &lost, &budget, &witness));
    cr_assert_eq(witness.is_cut, false);
    cr_assert_eq(witness.runs, BZ_WITNESS_RUNS);
}
