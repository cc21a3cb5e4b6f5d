/* Findings of one oracle have FIFO witnesses of their own, which fail in the same way. */
#include <criterion/criterion.h>
#include <string.h>

#include "scenarios/tests/seeds.h"
#include "sim/campaign/campaign.h"
#include "sim/campaign/witness.h"
#include "sim/program/replay.h"

static struct bz_failure failure_of(const struct bz_program *program, uint64_t seed) {
    struct bz_trace trace;
    struct bz_replay_report report;
    struct bz_failure failure;
    bz_trace_init(&trace);
    cr_assert(bz_record(program, seed, &trace, &report));
    bz_trace_fini(&trace);
    failure.violation = report.violation;
    memcpy(failure.object, report.object, sizeof failure.object);
    return failure;
}

/* Returns how many findings have another witness than an earlier one of the same oracle. */
static uint32_t search_witnesses(const char *scenario, const char *variant) {
    static struct bz_campaign_result result;
    static struct bz_failure failures[BZ_FINDINGS_MAX];
    const struct bz_budget unlimited = {.steps = 0};
    struct bz_witness witness;
    struct bz_program program = tst_program(
        tst_scenario(scenario), bz_catalog_variant(&tst_catalog, variant), BZ_ORDER_ANY);
    uint64_t digests[BZ_FINDINGS_MAX] = {0};
    uint32_t siblings = 0;
    program.strategy = &bz_strategy_portfolio;
    const struct bz_campaign_config config = {.program = &program, .runs = 400, .keep_going = true};
    cr_assert(bz_campaign_run(&config, &result));
    for (uint32_t index = 0; index < result.finding_count; index++) {
        failures[index] = failure_of(&program, result.findings[index].seed);
        cr_assert(bz_witness_search(&program, &failures[index], &unlimited, &witness));
        cr_assert(witness.is_found, "%s: %s", variant, failures[index].violation.message);
        struct bz_failure got = failure_of(&witness.program, witness.finding.seed);
        cr_assert(bz_failures_are_alike(&failures[index], &got), "%s: %s, and %s", variant,
                  failures[index].violation.message, got.violation.message);
        digests[index] = witness.finding.digest;
        for (uint32_t other = 0; other < index; other++) {
            bool is_same = bz_failures_are_alike(&failures[other], &failures[index]);
            cr_assert_eq(digests[other] == digests[index], is_same, "%s: %u and %u", variant, other,
                         index);
            siblings += !is_same && strcmp(failures[other].violation.oracle,
                                           failures[index].violation.oracle) == 0;
        }
    }
    return siblings;
}

Test(witness_of_the_zoo, fails_in_the_same_way_as_its_finding) {
    static const char *const cases[][2] = {{"contended", "zoo/tk-8365"},
                                           {"condition", "zoo/an-1075"},
                                           {"queue", "zoo/q-barge"},
                                           {"pool", "zoo/ah-4562"},
                                           {"pool", "zoo/pool-lru-held"}};
    uint32_t siblings = 0;
    for (size_t index = 0; index < sizeof cases / sizeof cases[0]; index++) {
        siblings += search_witnesses(cases[index][0], cases[index][1]);
    }
    cr_assert_lt(1, siblings, "%u", siblings);
}
