/* Campaigns strike every window: without a cancel in a window, finding nothing proves nothing
 * about it. */
#include "scenarios/tests/seeds.h"
#include "sim/program/settings.h"

#define SEEDS 20000u

static uint64_t hits(const struct bz_run_stats *stats, enum bz_window window) {
    uint64_t total = 0;
    for (unsigned op = 0; op < BZ_OP_COUNT; op++) {
        total += stats->windows[op][window];
    }
    return total;
}

static void expect_hits(const struct bz_scenario *scenario, enum bz_order order,
                        enum bz_window first, enum bz_window last) {
    struct bz_program program = tst_program(scenario, &bz_variant_buzzer, order);
    struct tst_seeds result = tst_run_seeds(&program, SEEDS);
    for (int window = (int)first; window <= (int)last; window++) {
        cr_assert_lt(0, hits(&result.stats, (enum bz_window)window), "%s, order %s: %s",
                     scenario->name, bz_order_name(order), bz_window_name((enum bz_window)window));
    }
    cr_assert_lt(0, result.stats.windows[BZ_OP_ACQUIRE][BZ_WINDOW_WOKEN], "%s, order %s",
                 scenario->name, bz_order_name(order));
}

Test(windows, restaurant_hits_every_one_of_them) {
    expect_hits(&bz_scenario_restaurant, BZ_ORDER_ANY, BZ_WINDOW_UNSTARTED, BZ_WINDOW_DONE);
}

/* A stock loop starts the first tasks before it polls for outside events. So only a task that
 * another task created can be cancelled unstarted. */
Test(windows, fifo_hits_every_one_of_them) {
    expect_hits(&bz_scenario_restaurant, BZ_ORDER_FIFO, BZ_WINDOW_WAITING, BZ_WINDOW_DONE);
    expect_hits(&bz_scenario_taskgroup, BZ_ORDER_FIFO, BZ_WINDOW_UNSTARTED, BZ_WINDOW_WOKEN);
}

/* The host alone, with no help from outside. */
Test(windows, guests_change_their_minds_everywhere) {
    for (int order = BZ_ORDER_ANY; order <= BZ_ORDER_FIFO; order++) {
        struct bz_program program =
            tst_program(&bz_scenario_restaurant, &bz_variant_buzzer, (enum bz_order)order);
        program.cancel_windows = BZ_WINDOWS_NONE;
        struct tst_seeds result = tst_run_seeds(&program, SEEDS);
        const uint64_t *acquire = result.stats.windows[BZ_OP_ACQUIRE];
        cr_assert_eq(result.stats.injected, 0);
        cr_assert_lt(0, acquire[BZ_WINDOW_WAITING], "before the buzzer");
        cr_assert_lt(0, acquire[BZ_WINDOW_WOKEN], "after the buzzer");
        cr_assert_lt(0, hits(&result.stats, BZ_WINDOW_HOLDING), "while seated");
        cr_assert_lt(0, hits(&result.stats, BZ_WINDOW_DONE), "after they have left");
    }
}

/* Likewise a group that cancels siblings, and a deadline. */
Test(windows, groups_and_deadlines_strike_in_the_window) {
    const struct bz_scenario *const scenarios[] = {&bz_scenario_taskgroup, &bz_scenario_timeout};
    for (int order = BZ_ORDER_ANY; order <= BZ_ORDER_FIFO; order++) {
        for (unsigned index = 0; index < 2; index++) {
            struct bz_program program =
                tst_program(scenarios[index], &bz_variant_buzzer, (enum bz_order)order);
            program.cancel_windows = BZ_WINDOWS_NONE;
            struct tst_seeds result = tst_run_seeds(&program, SEEDS);
            const uint64_t *acquire = result.stats.windows[BZ_OP_ACQUIRE];
            cr_assert_lt(0, acquire[BZ_WINDOW_WAITING], "%s", scenarios[index]->name);
            cr_assert_lt(0, acquire[BZ_WINDOW_WOKEN], "%s", scenarios[index]->name);
        }
    }
}

/* At an event, a condition and a barrier, too, and with no help from outside: the cancellers of
 * these scenarios strike before the wake-up and after it. */
Test(windows, those_who_wait_for_each_other_are_struck_in_the_window) {
    const struct bz_scenario *const scenarios[] = {&bz_scenario_event, &bz_scenario_condition,
                                                   &bz_scenario_barrier};
    for (int order = BZ_ORDER_ANY; order <= BZ_ORDER_FIFO; order++) {
        for (unsigned index = 0; index < 3; index++) {
            struct bz_program program =
                tst_program(scenarios[index], &bz_variant_buzzer, (enum bz_order)order);
            program.cancel_windows = BZ_WINDOWS_NONE;
            struct tst_seeds result = tst_run_seeds(&program, SEEDS);
            const uint64_t *wait = result.stats.windows[BZ_OP_WAIT];
            cr_assert_eq(result.stats.injected, 0);
            cr_assert_lt(0, wait[BZ_WINDOW_WAITING], "%s", scenarios[index]->name);
            cr_assert_lt(0, wait[BZ_WINDOW_WOKEN], "%s", scenarios[index]->name);
        }
    }
}

/* One word switches off every cancel and timeout, whatever the parameters say; or it is refused. */
Test(windows, none_is_hit_with_cancel_off) {
    static const char *const settings[] = {"cancels", "manner", "changes"};
    uint32_t accepted = 0;
    for (const struct bz_scenario *const *next = bz_scenarios; *next != NULL; next++) {
        for (int order = BZ_ORDER_ANY; order <= BZ_ORDER_FIFO; order++) {
            char error[BZ_ERROR_BYTES] = "";
            struct bz_program program =
                tst_program(*next, &bz_variant_buzzer, (enum bz_order)order);
            bool is_accepted = bz_program_set(&program, "cancel", "off", error, sizeof error);
            cr_assert_eq(is_accepted, (*next)->runs_uncancelled, "%s", (*next)->name);
            if (!is_accepted) {
                cr_assert(strstr(error, (*next)->name) != NULL, "%s", error);
                continue;
            }
            for (size_t index = 0; index < sizeof settings / sizeof settings[0]; index++) {
                (void)bz_program_set(&program, settings[index], "3", error, sizeof error);
            }
            struct tst_seeds result = tst_run_seeds(&program, 1000);
            uint64_t total = 0;
            for (int window = 0; window < BZ_WINDOW_COUNT; window++) {
                total += hits(&result.stats, (enum bz_window)window);
            }
            cr_assert_eq(total, 0, "%s, order %s", (*next)->name, bz_order_name(order));
            accepted++;
        }
    }
    cr_assert_geq(accepted, 20);
}
