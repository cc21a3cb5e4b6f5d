/* Exhaustive search finds every entry of the zoo, by its oracle, on one of the simplest schedules.
 * On the primitives that ship it finds nothing. */
#include "primitives/runtime/coro/san.h"
#include "scenarios/tests/explore/explored.h"
#include "sim/tests/toys.h"

/* --- the zoo ---------------------------------------------------------------------------------- */

/* Its fault needs seven deviations and six guests: the sweep comes after the round that finds it,
 * and smaller settings have the fault all the same. */
static bool is_large(const struct bz_variant *entry) {
    return strcmp(entry->name, "zoo/sem-one-wake") == 0;
}

static const char *settings_of(const struct bz_variant *entry) {
    return is_large(entry) ? "tables=3,guests=6,helpings=1,arrival=2,meal=0,meal-ns=1,changes=0,"
                             "max-cancels=0"
           : strcmp(entry->name, "zoo/eio-356") == 0
               ? "tasks=3,operations=2,pause=0,cancels=0,max-cancels=0"
               : entry->fault->settings;
}

/* An ordinary run of what was found fails in the same way. */
static void expect_repeated(const struct bz_program *program,
                            const struct bz_explore_finding *finding) {
    struct bz_program repeat;
    struct bz_finding found;
    cr_assert(bz_explore_repeat(program, finding, &repeat, &found), "%s: %s",
              program->variant->name, finding->violation.message);
    cr_assert_eq(found.violation.step, finding->violation.step, "%s: %s", program->variant->name,
                 finding->violation.message);
    const char *clause = strstr(finding->violation.message, "; it was called in step");
    clause =
        clause == NULL ? strstr(finding->violation.message, "; last progress in step") : clause;
    size_t length = clause == NULL ? sizeof found.violation.message
                                   : (size_t)(clause - finding->violation.message);
    cr_assert(strncmp(found.violation.message, finding->violation.message, length) == 0, "%s",
              program->variant->name); /* a search counts no steps */
}

/* The round in which it was found is the number of its deviations: rounds with fewer were
 * searched, and had nothing. */
static void expect_found(const struct bz_program *program, const char *oracle, uint32_t rounds) {
    struct bz_explore_config config = {.program = program,
                                       .delays_max = BZ_EXPLORE_UNBOUNDED,
                                       .reductions = BZ_REDUCE_ALL,
                                       .rounds_before_sweep = rounds,
                                       .states_max =
                                           4000000}; /* how many depends on the compiler */
    struct bz_explore_result result = tst_explore(&config);
    const struct bz_explore_finding *finding = &result.findings[0];
    cr_assert_eq(result.end, BZ_EXPLORE_FOUND, "%s: nothing in %llu states, %u rounds",
                 program->variant->name, (unsigned long long)result.states, result.rounds);
    cr_assert(bz_fault_is_caught(&(struct bz_fault){.oracle = oracle}, finding->violation.oracle),
              "%s: %s: %s", program->variant->name, finding->violation.oracle,
              finding->violation.message);
    cr_assert(result.is_minimal, "%s", program->variant->name);
    cr_assert_eq(result.rounds, bz_deviations_sum(&finding->deviations), "%s",
                 program->variant->name);
    cr_assert_eq(bz_explore_is_complete(&result), false);
    expect_repeated(program, finding);
}

Test(explore, finds_every_entry_of_the_zoo) {
    uint32_t count = 0;
    TST_NEEDS_SNAPSHOTS();
    for (const struct bz_variant *const *next = bz_variants; *next != NULL; next++) {
        const struct bz_fault *fault = (*next)->fault;
        if (fault == NULL || tst_is_repeated(*next) || (is_large(*next) && !tst_is_long())) {
            continue;
        }
        struct bz_program program =
            tst_explored_program(tst_scenario(fault->scenario), *next, settings_of(*next));
        expect_found(&program, fault->oracle, is_large(*next) ? 8 : 0);
        count++;
    }
    cr_assert_lt(TST_LONG(35, 70), count, "%u", count);
}

/* Rounds are small at the defaults of every scenario: two of them need no more states than this,
 * also of drawn programs, whose other draws take time. */
Test(explore, two_rounds_of_every_scenario_end_early) {
    TST_NEEDS_SNAPSHOTS();
    for (const struct bz_scenario *const *next = bz_scenarios; *next != NULL; next++) {
        struct bz_program program = tst_explored_program(*next, &bz_variant_buzzer, NULL);
        struct bz_explore_config config = {.program = &program,
                                           .delays_max = BZ_EXPLORE_UNBOUNDED,
                                           .reductions = BZ_REDUCE_ALL,
                                           .states_max = *next == &bz_scenario_program  ? 500
                                                         : *next == &bz_scenario_select ? 8000
                                                                                        : 5000};
        if ((*next)->runtime == NULL) {
            struct bz_explore_result result = tst_explore(&config);
            cr_assert_eq(result.finding_count, 0, "%s", (*next)->name);
            cr_assert(result.rounds >= 2 || result.is_all, "%s", (*next)->name);
        }
    }
}

/* --- proofs ----------------------------------------------------------------------------------- */

static struct bz_explore_result search_all(const struct bz_program *program) {
    struct bz_explore_config config = {.program = program,
                                       .delays_max = BZ_EXPLORE_UNBOUNDED,
                                       .reductions = BZ_REDUCE_ALL,
                                       .states_max = 1000000};
    struct bz_explore_result result = tst_explore(&config);
    cr_assert_eq(result.finding_count, 0, "%s: %s: %s", program->scenario->name,
                 result.findings[0].violation.oracle, result.findings[0].violation.message);
    cr_assert(bz_explore_is_complete(&result), "%s, end %d", program->scenario->name,
              (int)result.end);
    cr_assert(result.is_whole);
    return result;
}

/* In no order of three tasks does a later one get a lock before one that waits for it. */
Test(explore, proves_that_a_third_task_cannot_barge) {
    struct bz_program lock =
        tst_explored_program(&bz_scenario_handoff, &bz_variant_buzzer, "primitive=lock");
    struct bz_program semaphore =
        tst_explored_program(&bz_scenario_handoff, &bz_variant_buzzer, "primitive=semaphore");
    struct bz_explore_result result = search_all(&lock);
    cr_assert_lt(1000, result.schedules);
    cr_assert_lt(1, result.outcomes);
    (void)search_all(&semaphore);
}

/* Ends with the violation that the broken ones have. */
static void expect_barging(const struct bz_variant *variant, const char *settings,
                           const char *oracle) {
    struct bz_program program = tst_explored_program(&bz_scenario_handoff, variant, settings);
    expect_found(&program, oracle, 0);
}

/* A lock whose acquire does not test whether somebody was woken and has not come yet. */
TOY_OFFERS(forgetful_lock, BZ_CLAIM_FIFO | BZ_CLAIM_REFUSES_MISUSE,
           .permits = {[BZ_PRIMITIVE_LOCK] = &bz_zoo_ops_fr_2071});

Test(explore, finds_the_third_task_that_barges) {
    struct bz_variant claims_nothing = bz_variant_zoo_sem_barge;
    claims_nothing.claims = 0;
    expect_barging(&bz_variant_zoo_sem_barge, "primitive=semaphore", "fifo");
    expect_barging(&forgetful_lock, "primitive=lock", "fifo");
    struct bz_program unclaimed =
        tst_explored_program(&bz_scenario_handoff, &claims_nothing, "primitive=semaphore");
    (void)search_all(&unclaimed);
}

Test(explore, proves_a_lock_of_three_workers_and_one_cancel) {
    struct bz_program program = tst_explored_program(
        &bz_scenario_contended, &bz_variant_buzzer,
        !bz_snapshot_is_supported() ? "primitive=lock,workers=2,rounds=1,patience=1,hold=0,"
                                      "max-cancels=0"
                                    : "primitive=lock,workers=3,max-cancels=1");
    (void)search_all(&program);
}

Test(explore, proves_one_round_of_contended) {
    TST_NEEDS_SNAPSHOTS();
    struct bz_program program =
        tst_explored_program(&bz_scenario_contended, &bz_variant_buzzer, "rounds=1,max-cancels=1");
    (void)search_all(&program);
}

/* --- programs without end --------------------------------------------------------------------- */

#define ENDLESS "endless=1,permits=1,max-steps=20000"

/* However long the workers go on, and wherever one cancel strikes: nobody is overtaken without end,
 * and there is no livelock. */
Test(explore, proves_that_workers_without_end_starve_nobody) {
    TST_NEEDS_SNAPSHOTS();
    for (int order = BZ_ORDER_ANY; order <= BZ_ORDER_FIFO; order++) {
        struct bz_program program = tst_explored_program(&bz_scenario_contended, &bz_variant_buzzer,
                                                         ENDLESS ",workers=3,max-cancels=1");
        program.order = (enum bz_order)order;
        struct bz_explore_result result = search_all(&program);
        cr_assert_eq(result.liveness, BZ_LIVENESS_FAIR, "%s", result.liveness_text);
    }
}

Test(explore, finds_what_starves_a_worker_without_end) {
    static const struct bz_variant *const variants[] = {
        &bz_variant_zoo_al_23, &bz_variant_zoo_dn_4267, &bz_variant_zoo_fr_2071};
    TST_NEEDS_SNAPSHOTS();
    for (size_t index = 0; index < sizeof variants / sizeof variants[0]; index++) {
        struct bz_program program = tst_explored_program(&bz_scenario_contended, variants[index],
                                                         ENDLESS ",workers=2,cancels=0");
        program.cancels_max = 0;
        expect_found(&program, "starvation", 1);
    }
}
