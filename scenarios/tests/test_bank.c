/* The bank loses payments without a lock, and never with one, whichever primitive it is. */
#include "scenarios/tests/seeds.h"

#define SEEDS 10000u

static const char *const primitives[] = {"primitive=lock", "primitive=semaphore", "primitive=pool"};
#define PRIMITIVES (sizeof primitives / sizeof primitives[0])

static struct bz_program bank_program(size_t index, int order, const char *settings) {
    struct bz_program program = tst_program_with(&bz_scenario_bank, &bz_variant_buzzer,
                                                 (enum bz_order)order, primitives[index]);
    tst_set(&program, settings);
    return program;
}

Test(bank, loses_payments_without_a_lock_and_none_with_one) {
    cr_assert_eq(PRIMITIVES, bz_scenario_bank.primitive_count);
    for (size_t index = 0; index < PRIMITIVES; index++) {
        for (int order = BZ_ORDER_ANY; order <= BZ_ORDER_FIFO; order++) {
            struct bz_program program = bank_program(index, order, "lock=0");
            struct tst_seeds result = tst_expect_found(&program, SEEDS, "assertion");
            cr_assert_not_null(strstr(result.violation.message, "an update is lost"), "%s",
                               result.violation.message);
            program = bank_program(index, order, "lock=1,payments=2");
            tst_expect_silence(&program, SEEDS);
        }
    }
}

/* Requests that do not overlap need no lock: it is their overlap that loses payments. */
Test(bank, loses_none_with_one_card) {
    struct bz_program program = bank_program(0, BZ_ORDER_ANY, "lock=0,cards=1,payments=4");
    tst_expect_silence(&program, SEEDS);
}
