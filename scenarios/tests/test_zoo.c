/* Every fault of the zoo is found by the oracle that its entry names, before any other objects. On
 * the same seeds nothing is found on the primitives that ship. */
#include "primitives/tests/long.h"
#include "scenarios/tests/seeds.h"

#define SEEDS 10000u

static void expect_found(const struct bz_variant *entry, const struct bz_scenario *scenario,
                         enum bz_order order) {
    bool is_its_own = strcmp(scenario->name, entry->fault->scenario) == 0;
    struct bz_program program =
        tst_program_with(scenario, entry, order, is_its_own ? entry->fault->settings : NULL);
    struct tst_seeds result = tst_expect_found(&program, SEEDS, NULL);
    cr_assert(bz_fault_is_caught(entry->fault, result.violation.oracle),
              "%s in %s, order %s, seed %llu: %s: %s", entry->name, scenario->name,
              bz_order_name(order), (unsigned long long)result.seed, result.violation.oracle,
              result.violation.message);
    program.variant = bz_catalog_twin(&tst_catalog, entry, program.args.primitive);
    cr_assert_not_null((void *)program.variant, "%s", entry->name);
    bz_program_use(&program, program.args.primitive); /* in a size that it offers */
    tst_expect_silence(&program, SEEDS);
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
    const struct bz_variant *const entries[] = {
        &bz_variant_zoo_lock_double_grant, &bz_variant_zoo_lock_stale_queue,
        &bz_variant_zoo_lock_woken_cancel, &bz_variant_zoo_sem_barge,
        &bz_variant_zoo_sem_flag_stuck,    &bz_variant_zoo_sem_woken_cancel,
        &bz_variant_zoo_toy_lifo};
    for (size_t index = 0; index < sizeof entries / sizeof entries[0]; index++) {
        expect_found(entries[index], &bz_scenario_contended, BZ_ORDER_ANY);
    }
}

/* The second holder follows the second promise: without the claim that a wake-up is a grant, the
 * same fault is found where it does its damage. */
Test(zoo, lock_double_grant_lets_two_in) {
    struct bz_variant silent_promise = bz_variant_zoo_lock_double_grant;
    silent_promise.claims &= ~BZ_CLAIM_WAKE_IS_GRANT;
    silent_promise.claims &= ~BZ_CLAIM_FIFO;
    struct bz_program program =
        tst_program(&bz_scenario_restaurant, &silent_promise, BZ_ORDER_FIFO);
    (void)tst_expect_found(&program, SEEDS, "mutual-exclusion");
}

/* A semaphore that claims no order lets C in before B, and may. */
Test(zoo, handoff_judges_the_order_of_who_claims_one) {
    struct bz_variant claims_nothing = bz_variant_zoo_sem_barge;
    claims_nothing.claims = 0;
    tst_expect_silence_with(&bz_scenario_handoff, &claims_nothing, NULL, SEEDS);
    tst_expect_found_with(&bz_scenario_handoff, &bz_variant_zoo_sem_barge, NULL, SEEDS, "fifo");
}

/* Every scenario with locks finds the window bug. */
Test(zoo, every_scenario_finds_the_window_bug) {
    for (const struct bz_scenario *const *next = bz_scenarios; *next != NULL; next++) {
        if (bz_scenario_uses(*next, BZ_PRIMITIVE_LOCK)) {
            tst_expect_found_with(*next, &bz_variant_zoo_lock_woken_cancel, NULL, SEEDS, NULL);
        }
    }
}
