/* Every fault of the zoo is found by the oracle that its entry names, before any other objects. On
 * the same seeds nothing is found on the primitives that ship. */
#include <string.h>

#include "primitives/tests/long.h"
#include "scenarios/tests/seeds.h"
#include "sim/program/settings.h"

#define SEEDS 10000u

static struct bz_program program_of(const struct bz_variant *entry,
                                    const struct bz_scenario *scenario, enum bz_order order) {
    struct bz_program program = tst_program(scenario, entry, order);
    const char *settings = entry->fault->settings;
    if (settings != NULL && strcmp(scenario->name, entry->fault->scenario) == 0) {
        char error[BZ_ERROR_BYTES];
        cr_assert(bz_program_set_list(&program, settings, error, sizeof error), "%s", error);
    }
    return program;
}

static void expect_found(const struct bz_variant *entry, const struct bz_scenario *scenario,
                         enum bz_order order) {
    struct bz_program program = program_of(entry, scenario, order);
    struct tst_seeds result = tst_run_seeds(&program, SEEDS);
    cr_assert_not_null((void *)result.violation.oracle, "%s in %s, order %s: nothing found",
                       entry->name, scenario->name, bz_order_name(order));
    cr_assert(bz_fault_is_caught(entry->fault, result.violation.oracle),
              "%s in %s, order %s, seed %llu: %s: %s", entry->name, scenario->name,
              bz_order_name(order), (unsigned long long)result.seed, result.violation.oracle,
              result.violation.message);
    program.variant = bz_catalog_twin(&tst_catalog, entry, program.args.primitive);
    cr_assert_not_null((void *)program.variant, "%s", entry->name);
    bz_program_use(&program, program.args.primitive); /* in a size that it offers */
    tst_expect_silence(&program, TST_LONG(SEEDS / 4, SEEDS));
}

/* In the scenario that it names, under both orders; only under `any` if no FIFO loop gets there. */
Test(zoo, every_entry_is_found) {
    for (const struct bz_variant *const *next = bz_variants; *next != NULL; next++) {
        const struct bz_fault *fault = (*next)->fault;
        if (fault == NULL) {
            continue;
        }
        const struct bz_scenario *scenario = tst_scenario(fault->scenario);
        cr_assert(scenario != NULL, "%s names no scenario", (*next)->name);
        expect_found(*next, scenario, BZ_ORDER_ANY);
        if (fault->fifo_reachable) {
            expect_found(*next, scenario, BZ_ORDER_FIFO);
        }
    }
}

/* The seven that the harness was built around are found by the canceller of `contended`, too. */
Test(zoo, contended_finds_the_first_seven) {
    expect_found(&bz_variant_zoo_lock_double_grant, &bz_scenario_contended, BZ_ORDER_ANY);
    expect_found(&bz_variant_zoo_lock_stale_queue, &bz_scenario_contended, BZ_ORDER_ANY);
    expect_found(&bz_variant_zoo_lock_woken_cancel, &bz_scenario_contended, BZ_ORDER_ANY);
    expect_found(&bz_variant_zoo_sem_barge, &bz_scenario_contended, BZ_ORDER_ANY);
    expect_found(&bz_variant_zoo_sem_flag_stuck, &bz_scenario_contended, BZ_ORDER_ANY);
    expect_found(&bz_variant_zoo_sem_woken_cancel, &bz_scenario_contended, BZ_ORDER_ANY);
    expect_found(&bz_variant_zoo_toy_lifo, &bz_scenario_contended, BZ_ORDER_ANY);
}

/* The second holder follows the second promise: without the claim that a wake-up is a grant, the
 * same fault is found where it does its damage. */
Test(zoo, lock_double_grant_lets_two_in) {
    struct bz_variant silent_promise = bz_variant_zoo_lock_double_grant;
    silent_promise.claims &= ~BZ_CLAIM_WAKE_IS_GRANT;
    silent_promise.claims &= ~BZ_CLAIM_FIFO;
    struct bz_program program =
        tst_program(&bz_scenario_restaurant, &silent_promise, BZ_ORDER_FIFO);
    struct tst_seeds result = tst_run_seeds(&program, SEEDS);
    cr_assert_not_null((void *)result.violation.oracle);
    cr_assert_str_eq((char *)result.violation.oracle, (char *)"mutual-exclusion", "seed %llu: %s",
                     (unsigned long long)result.seed, result.violation.message);
}

/* A semaphore that claims no order lets C in before B, and may. */
Test(zoo, handoff_judges_the_order_of_who_claims_one) {
    struct bz_variant claims_nothing = bz_variant_zoo_sem_barge;
    claims_nothing.claims = 0;
    for (int order = BZ_ORDER_ANY; order <= BZ_ORDER_FIFO; order++) {
        struct bz_program program =
            tst_program(&bz_scenario_handoff, &claims_nothing, (enum bz_order)order);
        tst_expect_silence(&program, SEEDS);
        program.variant = &bz_variant_zoo_sem_barge;
        struct tst_seeds result = tst_run_seeds(&program, SEEDS);
        cr_assert_not_null((void *)result.violation.oracle);
        cr_assert_str_eq((char *)result.violation.oracle, (char *)"fifo", "seed %llu: %s",
                         (unsigned long long)result.seed, result.violation.message);
    }
}

static bool takes_locks(const struct bz_scenario *scenario) {
    for (uint32_t index = 0; index < scenario->primitive_count; index++) {
        if (scenario->primitives[index] == BZ_PRIMITIVE_LOCK) {
            return true;
        }
    }
    return false;
}

/* Every scenario with locks finds the window bug. */
Test(zoo, every_scenario_finds_the_window_bug) {
    for (const struct bz_scenario *const *next = bz_scenarios; *next != NULL; next++) {
        for (int order = BZ_ORDER_ANY; order <= BZ_ORDER_FIFO && takes_locks(*next); order++) {
            struct bz_program program =
                tst_program(*next, &bz_variant_zoo_lock_woken_cancel, (enum bz_order)order);
            struct tst_seeds result = tst_run_seeds(&program, SEEDS);
            cr_assert_not_null((void *)result.violation.oracle, "%s", (*next)->name);
        }
    }
}
