/* The bank loses payments without a lock, and never with one, whichever primitive it is. */
#include <string.h>

#include "scenarios/tests/seeds.h"
#include "sim/program/settings.h"

#define SEEDS 10000u

static struct bz_program bank_program(uint32_t index, enum bz_order order, const char *settings) {
    struct bz_program program = tst_program(&bz_scenario_bank, &bz_variant_buzzer, order);
    char error[BZ_ERROR_BYTES];
    program.args.primitive = bz_scenario_bank.primitives[index];
    cr_assert(bz_program_set_list(&program, settings, error, sizeof error), "%s", error);
    return program;
}

Test(bank, loses_payments_without_a_lock) {
    for (uint32_t index = 0; index < bz_scenario_bank.primitive_count; index++) {
        for (int order = BZ_ORDER_ANY; order <= BZ_ORDER_FIFO; order++) {
            struct bz_program program = bank_program(index, (enum bz_order)order, "lock=0");
            struct tst_seeds result = tst_run_seeds(&program, SEEDS);
            cr_assert_not_null((void *)result.violation.oracle, "%s, order %s",
                               bz_primitive_name(program.args.primitive),
                               bz_order_name(program.order));
            cr_assert_str_eq((char *)result.violation.oracle, (char *)"assertion");
            cr_assert_not_null(strstr(result.violation.message, "an update is lost"), "%s",
                               result.violation.message);
        }
    }
}

Test(bank, loses_none_with_one) {
    for (uint32_t index = 0; index < bz_scenario_bank.primitive_count; index++) {
        for (int order = BZ_ORDER_ANY; order <= BZ_ORDER_FIFO; order++) {
            struct bz_program program =
                bank_program(index, (enum bz_order)order, "lock=1,payments=2");
            tst_expect_silence(&program, SEEDS);
        }
    }
}

/* Requests that do not overlap need no lock: it is their overlap that loses payments. */
Test(bank, loses_none_with_one_card) {
    struct bz_program program = bank_program(0, BZ_ORDER_ANY, "lock=0,cards=1,payments=4");
    tst_expect_silence(&program, SEEDS);
}
