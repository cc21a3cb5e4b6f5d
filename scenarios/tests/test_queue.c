/* The shipped queue in every order, with and without a bound, joined and shut down. */
#include <stdio.h>

#include "scenarios/tests/seeds.h"
#include "sim/program/settings.h"

#define SEEDS 2000u

static void expect_silence(int kind, int maxsize, int shutdown) {
    for (int order = BZ_ORDER_ANY; order <= BZ_ORDER_FIFO; order++) {
        struct bz_program program =
            tst_program(&bz_scenario_queue, &bz_variant_buzzer, (enum bz_order)order);
        char settings[64];
        char error[BZ_ERROR_BYTES];
        snprintf(settings, sizeof settings, "kind=%d,maxsize=%d,shutdown=%d", kind, maxsize,
                 shutdown);
        cr_assert(bz_program_set_list(&program, settings, error, sizeof error), "%s", error);
        tst_expect_silence(&program, SEEDS);
    }
}

Test(queue, is_silent_in_every_order_with_and_without_a_bound_and_whatever_its_end) {
    for (int kind = 0; kind <= 2; kind++) {
        for (int maxsize = 0; maxsize <= 2; maxsize++) {
            for (int shutdown = 0; shutdown <= 2; shutdown++) {
                expect_silence(kind, maxsize, shutdown);
            }
        }
    }
}

/* Cancels strike putters and getters before and after their wake-up, injected or not. */
Test(queue, is_struck_in_every_window) {
    struct bz_program program = tst_program(&bz_scenario_queue, &bz_variant_buzzer, BZ_ORDER_FIFO);
    program.cancel_windows = BZ_WINDOWS_NONE;
    struct tst_seeds result = tst_run_seeds(&program, SEEDS);
    cr_assert_lt(0, result.stats.windows[BZ_OP_PUT][BZ_WINDOW_WAITING]);
    cr_assert_lt(0, result.stats.windows[BZ_OP_PUT][BZ_WINDOW_WOKEN]);
    cr_assert_lt(0, result.stats.windows[BZ_OP_GET][BZ_WINDOW_WAITING]);
    cr_assert_lt(0, result.stats.windows[BZ_OP_GET][BZ_WINDOW_WOKEN]);
}
