/* The shipped queue in every order, with and without a bound, joined and shut down. */
#include <stdio.h>

#include "scenarios/tests/seeds.h"

#define SEEDS 2000u

Test(queue, is_silent_in_every_order_with_and_without_a_bound_and_whatever_its_end) {
    for (int kind = 0; kind <= 2; kind++) {
        for (int maxsize = 0; maxsize <= 2; maxsize++) {
            for (int shutdown = 0; shutdown <= 2; shutdown++) {
                char settings[64];
                snprintf(settings, sizeof settings, "kind=%d,maxsize=%d,shutdown=%d", kind, maxsize,
                         shutdown);
                tst_expect_silence_with(&bz_scenario_queue, &bz_variant_buzzer, settings, SEEDS);
            }
        }
    }
}
