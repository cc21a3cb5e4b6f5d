/* Campaigns strike every window: without a cancel in a window, finding nothing proves nothing
 * about it. */
#include "scenarios/tests/seeds.h"

#define SEEDS 20000u

static uint64_t hits(const struct bz_run_stats *stats, enum bz_window window) {
    uint64_t total = 0;
    for (unsigned op = 0; op < BZ_OP_COUNT; op++) {
        total += stats->windows[op][window];
    }
    return total;
}

#define BIT(window) (1u << BZ_WINDOW_##window)
#define FROM_TO(first, behind_last) (BIT(behind_last) - BIT(first))
#define WAITING_AND_WOKEN (BIT(WAITING) | BIT(WOKEN))

static void expect_hits(const struct tst_seeds *result, const uint64_t *of_op, uint32_t windows,
                        const char *scenario, const char *order) {
    for (unsigned window = 0; window < BZ_WINDOW_COUNT; window++) {
        uint64_t count =
            of_op != NULL ? of_op[window] : hits(&result->stats, (enum bz_window)window);
        cr_assert(count > 0 || (windows >> window & 1u) == 0, "%s, order %s: %s", scenario, order,
                  bz_window_name((enum bz_window)window));
    }
}

/* Cancels strike in these windows, of any operation and of one. A stock loop starts the first tasks
 * before it polls for outside events: in order `fifo` only a task that another task created can be
 * cancelled unstarted. Without cancels from outside, those of the program do it: of a host, a
 * group, a deadline, a canceller. */
Test(windows, are_struck) {
    static const struct {
        const struct bz_scenario *scenario;
        bool in_any, in_fifo, is_injected;
        uint32_t of_any;
        enum bz_op op;
        uint32_t of_op;
    } rows[] = {
        {&bz_scenario_restaurant, true, false, true, FROM_TO(UNSTARTED, RUNNING), BZ_OP_ACQUIRE,
         BIT(WOKEN)},
        {&bz_scenario_restaurant, false, true, true, FROM_TO(WAITING, RUNNING), BZ_OP_ACQUIRE,
         BIT(WOKEN)},
        {&bz_scenario_restaurant, true, true, false, BIT(HOLDING) | BIT(DONE), BZ_OP_ACQUIRE,
         WAITING_AND_WOKEN},
        {&bz_scenario_taskgroup, false, true, true, FROM_TO(UNSTARTED, SLEEPING), BZ_OP_ACQUIRE,
         BIT(WOKEN)},
        {&bz_scenario_taskgroup, true, true, false, 0, BZ_OP_ACQUIRE, WAITING_AND_WOKEN},
        {&bz_scenario_timeout, true, true, false, 0, BZ_OP_ACQUIRE, WAITING_AND_WOKEN},
        {&bz_scenario_event, true, true, false, 0, BZ_OP_WAIT, WAITING_AND_WOKEN},
        {&bz_scenario_condition, true, true, false, 0, BZ_OP_WAIT, WAITING_AND_WOKEN},
        {&bz_scenario_barrier, true, true, false, 0, BZ_OP_WAIT, WAITING_AND_WOKEN},
        {&bz_scenario_queue, false, true, false, 0, BZ_OP_PUT, WAITING_AND_WOKEN},
        {&bz_scenario_queue, false, true, false, 0, BZ_OP_GET, WAITING_AND_WOKEN},
    };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        for (int order = BZ_ORDER_ANY; order <= BZ_ORDER_FIFO; order++) {
            if (!(order == BZ_ORDER_ANY ? rows[row].in_any : rows[row].in_fifo)) {
                continue;
            }
            const char *scenario = rows[row].scenario->name;
            struct bz_program program =
                tst_program(rows[row].scenario, &bz_variant_buzzer, (enum bz_order)order);
            program.cancel_windows =
                rows[row].is_injected ? program.cancel_windows : BZ_WINDOWS_NONE;
            struct tst_seeds result = tst_run_seeds(&program, SEEDS);
            cr_assert(rows[row].is_injected || result.stats.injected == 0);
            expect_hits(&result, NULL, rows[row].of_any, scenario, bz_order_name(program.order));
            expect_hits(&result, result.stats.windows[rows[row].op], rows[row].of_op, scenario,
                        bz_order_name(program.order));
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
