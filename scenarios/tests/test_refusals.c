/* Allocations that fail by choice: `refusals`. The primitives that ship survive them, a fault
 * behind one is found, and a variant that does not claim to survive them has none. */
#include "scenarios/tests/seeds.h"
#include "scenarios/variants/variants.h"

#define SEEDS 2000u

static uint32_t refused; /* acquires that were told that there is no memory */
static bool hides;       /* acquire says that it has the key all the same */

static enum bz_status acquire(void *instance, uint64_t key) {
    enum bz_status status = bz_variant_buzzer.pool->acquire(instance, key);
    refused += status == BZ_NO_MEMORY;
    return hides && status == BZ_NO_MEMORY ? BZ_OK : status;
}

static struct tst_seeds run_pool(uint32_t claims, bool is_hidden) {
    struct bz_pool_ops pool = *bz_variant_buzzer.pool;
    struct bz_variant variant = bz_variant_buzzer;
    pool.acquire = acquire;
    variant.pool = &pool;
    variant.claims = claims;
    hides = is_hidden;
    refused = 0;
    struct bz_program program =
        tst_program_with(&bz_scenario_pool, &variant, BZ_ORDER_ANY, "refusals=2");
    return tst_run_seeds(&program, SEEDS);
}

Test(refusals, are_survived_by_what_ships) {
    static const char *const programs[][2] = {{"pool", "refusals=4"},
                                              {"queue", "refusals=4,maxsize=0"},
                                              {"scope", "refusals=4,workers=6"},
                                              {"taskgroup", "refusals=4,body=1,sitters=1"},
                                              {"taskgroup", "refusals=4,peers=6"}};
    for (size_t index = 0; index < sizeof programs / sizeof programs[0]; index++) {
        struct bz_program program = tst_program_with(
            tst_scenario(programs[index][0]), &bz_variant_buzzer, BZ_ORDER_ANY, programs[index][1]);
        tst_expect_silence(&program, SEEDS);
    }
}

Test(refusals, show_a_fault_behind_them) {
    struct tst_seeds found = run_pool(bz_variant_buzzer.claims, true);
    cr_assert_not_null((void *)found.violation.oracle);
    cr_assert_gt(refused, 0);
}

Test(refusals, come_where_they_are_survived) {
    cr_assert_null((void *)run_pool(bz_variant_buzzer.claims, false).violation.oracle);
    cr_assert_gt(refused, SEEDS / 2);
    uint32_t others = bz_variant_buzzer.claims & ~BZ_CLAIM_SURVIVES_NO_MEMORY;
    cr_assert_null((void *)run_pool(others, true).violation.oracle);
    cr_assert_eq(refused, 0);
}
