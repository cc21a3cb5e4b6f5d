/* Every fault of the zoo is found, by the oracle that its entry names, before any other objects;
 * and the primitives that ship are silent on the same seeds. */
#include <string.h>

#include "scenarios/tests/seeds.h"
#include "sim/campaign/settings.h"

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
    cr_assert(ne(ptr, (void *)result.violation.oracle, NULL), "%s in %s, order %s: nothing found",
              entry->name, scenario->name, bz_order_name(order));
    cr_assert(eq(str, (char *)result.violation.oracle, (char *)entry->fault->oracle),
              "%s in %s, order %s, seed %llu: %s", entry->name, scenario->name,
              bz_order_name(order), (unsigned long long)result.seed, result.violation.message);
    program.variant = &bz_variant_buzzer;
    tst_expect_silence(&program, SEEDS);
}

static void expect_entry(const char *name) {
    const struct bz_variant *entry = bz_variant_find(name);
    cr_assert(entry != NULL, "%s", name);
    const struct bz_scenario *scenario = bz_scenario_find(entry->fault->scenario);
    expect_found(entry, scenario, BZ_ORDER_ANY);
    expect_found(entry, &bz_scenario_contended, BZ_ORDER_ANY);
    if (entry->fault->fifo_reachable) {
        expect_found(entry, scenario, BZ_ORDER_FIFO);
    }
}

Test(zoo, lock_double_grant) {
    expect_entry("zoo/lock-double-grant");
}

Test(zoo, lock_stale_queue) {
    expect_entry("zoo/lock-stale-queue");
}

Test(zoo, lock_woken_cancel) {
    expect_entry("zoo/lock-woken-cancel");
}

Test(zoo, sem_barge) {
    expect_entry("zoo/sem-barge");
}

Test(zoo, sem_flag_stuck) {
    expect_entry("zoo/sem-flag-stuck");
}

Test(zoo, sem_woken_cancel) {
    expect_entry("zoo/sem-woken-cancel");
}

Test(zoo, toy_lifo) {
    expect_entry("zoo/toy-lifo");
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
    cr_assert(ne(ptr, (void *)result.violation.oracle, NULL));
    cr_assert(eq(str, (char *)result.violation.oracle, (char *)"mutual-exclusion"), "seed %llu: %s",
              (unsigned long long)result.seed, result.violation.message);
}

/* A variant that claims no order is judged by the scenario itself. */
Test(zoo, handoff_has_a_check_of_its_own) {
    struct bz_variant claims_nothing = bz_variant_zoo_sem_barge;
    claims_nothing.claims = 0;
    struct bz_program program = tst_program(&bz_scenario_handoff, &claims_nothing, BZ_ORDER_FIFO);
    struct tst_seeds result = tst_run_seeds(&program, SEEDS);
    cr_assert(ne(ptr, (void *)result.violation.oracle, NULL));
    cr_assert(eq(str, (char *)result.violation.oracle, (char *)"assertion"), "seed %llu: %s",
              (unsigned long long)result.seed, result.violation.message);
}

/* Every scenario bites: the window bug is found in each of them. */
Test(zoo, every_scenario_finds_the_window_bug) {
    for (const struct bz_scenario *const *next = bz_scenarios; *next != NULL; next++) {
        for (int order = BZ_ORDER_ANY; order <= BZ_ORDER_FIFO; order++) {
            struct bz_program program =
                tst_program(*next, &bz_variant_zoo_lock_woken_cancel, (enum bz_order)order);
            struct tst_seeds result = tst_run_seeds(&program, SEEDS);
            cr_assert(ne(ptr, (void *)result.violation.oracle, NULL), "%s", (*next)->name);
        }
    }
}
