#include "tools/report/warnings.h"

#include "sim/choice/strategy.h"

/* A campaign of so many runs is judged. With the defaults, an operation waits in two of three runs
 * of any scenario, and a cancel strikes one that did in one of six; under `pct`, contended has one
 * of thirty and one of a hundred. */
#define RUNS_TO_WAIT 50u
#define RUNS_TO_CANCEL 100u
#define RUNS_TO_DIFFER 20u /* also with --strict: two may be alike by chance */

const char *bz_warning_no_wait(const struct bz_program *program) {
    return program->scenario->runtime != NULL
               ? "no operation ever waited, so waiting, waking and handing over were not tested; "
                 "more tasks or fewer permits make them wait"
               : "no operation ever waited, so waiting, waking and handing over were not tested; "
                 "more tasks or fewer permits make them wait (--set)";
}

/* Of a test that watches nothing, any cancel counts: it has no operation that waits.
 * `fifo` makes no choice, and `answers` those that it was given. */
static bool never_cancelled(const struct bz_program *program,
                            const struct bz_campaign_result *result) {
    uint32_t dangerous = 1u << BZ_WINDOW_WAITING | 1u << BZ_WINDOW_WOKEN;
    bool is_on = program->cancels_max > 0 && (program->cancel_windows & dangerous) != 0 &&
                 program->strategy != &bz_strategy_fifo &&
                 program->strategy != &bz_strategy_answers &&
                 program->args.primitive != BZ_PRIMITIVE_SCOPE;
    uint64_t hits = 0;
    for (unsigned op = 0; op < BZ_OP_COUNT; op++) {
        hits += result->stats.windows[op][BZ_WINDOW_WAITING];
        hits += result->stats.windows[op][BZ_WINDOW_WOKEN];
    }
    if (program->scenario->runtime != NULL) {
        hits += result->stats.injected;
    }
    return is_on && hits == 0;
}

static const char *one_schedule(const struct bz_program *program) {
    return program->scenario->runtime != NULL
               ? "every run made the same steps, so all of them prove as much as one: "
                 "order=\"any\", "
                 "cancels of tasks of sim.spawn(), slow steps (max_lag) and draws make others"
               : "every run made the same steps, so all of them prove as much as one: other "
                 "orders, "
                 "cancels, slow steps and draws make others (--order any, --cancel any, --max-lag, "
                 "--set; --strategy fifo has one run)";
}

void bz_warnings_find(const struct bz_program *program, const struct bz_campaign_result *result,
                      bool is_strict, struct bz_warnings *warnings) {
    warnings->count = 0;
    if (result->violations > 0 || result->runs == 0) {
        return;
    }
    if ((is_strict || result->runs >= RUNS_TO_WAIT) && result->waited == 0) {
        warnings->items[warnings->count++] =
            (struct bz_warning){"no-wait", bz_warning_no_wait(program)};
    }
    if ((is_strict || result->runs >= RUNS_TO_CANCEL) && never_cancelled(program, result)) {
        warnings->items[warnings->count++] = (struct bz_warning){
            "no-cancel", program->scenario->runtime != NULL
                             ? "cancels are on, and none was injected: only tasks of sim.spawn() "
                               "are cancelled; or turn cancels off (cancel=\"none\")"
                             : "cancels are on, and none struck a task that was waiting or woken; "
                               "other settings let one (--set, --max-cancels), or turn cancels off "
                               "(--cancel none)"};
    }
    if (result->runs >= RUNS_TO_DIFFER && result->distinct == 1) {
        warnings->items[warnings->count++] =
            (struct bz_warning){"one-schedule", one_schedule(program)};
    }
}
