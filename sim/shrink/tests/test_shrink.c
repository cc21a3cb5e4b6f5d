/* Shrinking: the result fails in the same way, is small, does not depend on the start, and cannot
 * be made smaller by hand. */
#include "sim/shrink/shrink.h"

#include <stdlib.h>
#include <unistd.h>

#include "scenarios/tests/seeds.h"
#include "sim/judge/internal.h"
#include "sim/program/replay.h"
#include "sim/program/settings.h"
#include "sim/program/sizes.h"
#include "sim/shrink/edits.h"
#include "sim/shrink/why.h"
#include "sim/tests/stage.h"

static void find_program(struct bz_program *program, const char *scenario, const char *variant) {
    char error[BZ_ERROR_BYTES];
    cr_assert(bz_program_find(program, &tst_catalog, scenario, variant, NULL, error, sizeof error),
              "%s", error);
}

/* The first run from a seed on that violates the oracle, recorded. */
static uint64_t find_failure(const struct bz_program *program, uint64_t seed, const char *oracle,
                             struct bz_trace *trace) {
    struct bz_replay_report report;
    for (;; seed++) {
        bz_trace_init(trace);
        cr_assert(bz_record(program, seed, trace, &report));
        if (trace->verdict.oracle != NULL && strcmp(trace->verdict.oracle, oracle) == 0) {
            return seed;
        }
        bz_trace_fini(trace);
    }
}

static bool fails_likewise(const struct bz_program *program, const struct bz_violation *wanted) {
    struct bz_world *world = bz_program_new_world(program);
    const struct bz_violation *got = bz_judge_violation(world->judge);
    bool is_same = bz_program_run(program, world, 0) == BZ_RUN_VIOLATED &&
                   strcmp(got->oracle, wanted->oracle) == 0 && got->op == wanted->op &&
                   got->window == wanted->window;
    bz_world_destroy(world);
    return is_same;
}

static void shrink(const struct bz_program *program, const struct bz_trace *trace,
                   struct bz_shrink_result *result) {
    struct bz_shrink_config config = {.program = program, .trace = trace};
    cr_assert(bz_shrink(&config, result));
}

Test(shrink, gives_the_same_smallest_run_for_many_starts) {
    static const struct {
        const char *scenario, *variant, *oracle;
        uint32_t deviations, cancels, tasks;
    } rows[] = {{"contended", "zoo/sem-woken-cancel", "lost-wakeup", 0, 1, 3},
                {"contended", "zoo/sem-barge", "fifo", 0, 0, 3},
                {"restaurant", "zoo/lock-noncancel-exit", "lost-wakeup", 1, 1, 4}};
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        uint64_t digest = 0;
        uint64_t seed = 0;
        enum bz_window window = BZ_WINDOW_NONE;
        struct bz_program program;
        find_program(&program, rows[row].scenario, rows[row].variant);
        for (unsigned start = 0; start < 4; start++) {
            struct bz_trace trace;
            struct bz_shrink_result result;
            seed = find_failure(&program, seed, rows[row].oracle, &trace) + 1;
            shrink(&program, &trace, &result);
            tst_text(result.violation.oracle, rows[row].oracle);
            cr_assert(result.has_answers);
            cr_assert(fails_likewise(&result.program, &result.violation));
            cr_assert_leq(result.after.deviations, rows[row].deviations);
            cr_assert_leq(result.after.cancels, rows[row].cancels);
            cr_assert_leq(result.after.tasks, rows[row].tasks);
            if (digest == 0) {
                digest = result.digest;
                window = result.violation.window;
            }
            /* another window is another failure */
            cr_assert(result.violation.window != window || result.digest == digest,
                      "%s from seed %u", rows[row].variant, (unsigned)seed - 1);
            bz_shrink_fini(&result);
            bz_trace_fini(&trace);
        }
    }
}

/* By hand: without any one choice, and with any one parameter a little smaller. */
Test(shrink, leaves_nothing_that_could_be_left_out) {
    struct bz_program program;
    struct bz_trace trace;
    struct bz_shrink_result result;
    find_program(&program, "program", "zoo/sem-woken-cancel");
    find_failure(&program, 0, "lost-wakeup", &trace);
    shrink(&program, &trace, &result);
    cr_assert_leq((int)result.end, BZ_SHRINK_ONE_MINIMAL);
    cr_assert_leq(result.after.tasks, 3);
    cr_assert_leq(result.after.draws, 8);
    cr_assert_lt(50, result.before.draws);
    struct bz_program again = result.program;
    cr_assert(fails_likewise(&again, &result.violation));
    for (uint32_t left_out = 0; left_out < result.program.answers.count; left_out++) {
        again = result.program;
        again.answers.count = 0;
        for (uint32_t index = 0; index < result.program.answers.count; index++) {
            if (index != left_out) {
                again.answers.entries[again.answers.count++] =
                    result.program.answers.entries[index];
            }
        }
        cr_assert_not(fails_likewise(&again, &result.violation), "without answer %u", left_out);
    }
    bz_shrink_fini(&result);
    bz_trace_fini(&trace);
}

Test(shrink, records_its_result_as_a_trace_that_replays) {
    struct bz_program program;
    struct bz_trace trace;
    struct bz_trace smallest;
    struct bz_shrink_result result;
    struct bz_replay_report report;
    char error[BZ_ERROR_BYTES];
    find_program(&program, "contended", "zoo/sem-woken-cancel");
    find_failure(&program, 0, "lost-wakeup", &trace);
    shrink(&program, &trace, &result);
    bz_trace_init(&smallest);
    cr_assert(bz_shrink_record(&result, &smallest, error, sizeof error), "%s", error);
    struct bz_program named;
    cr_assert(bz_trace_program(&smallest, &tst_catalog, &named, error, sizeof error));
    cr_assert(bz_replay_trace(&smallest, &named, &report, error, sizeof error), "%s", error);
    cr_assert_eq((int)report.result, BZ_REPLAY_MATCHED);
    cr_assert_lt(smallest.event_count, trace.event_count);
    bz_trace_fini(&smallest);
    bz_shrink_fini(&result);
    bz_trace_fini(&trace);
}

Test(shrink, refuses_what_does_not_fail) {
    struct bz_program program;
    struct bz_trace trace;
    struct bz_replay_report report;
    struct bz_shrink_result result;
    char text[BZ_ERROR_BYTES];
    find_program(&program, "contended", "buzzer");
    bz_trace_init(&trace);
    cr_assert(bz_record(&program, 0, &trace, &report));
    struct bz_shrink_config config = {.program = &program, .trace = &trace};
    cr_assert_not(bz_shrink(&config, &result));
    cr_assert_eq((int)result.end, BZ_SHRINK_UNREPEATABLE);
    cr_assert(strstr(bz_shrink_end_text(&result, text, sizeof text), "not shrunk") != NULL);
    bz_shrink_fini(&result);
    bz_trace_fini(&trace);
}

/* The best so far is a result, whenever it ends. */
Test(shrink, ends_with_its_budget_or_when_it_is_stopped) {
    struct bz_program program;
    struct bz_trace trace;
    struct bz_shrink_result result;
    volatile sig_atomic_t stop = BZ_STOP_INTERRUPT;
    find_program(&program, "contended", "zoo/sem-woken-cancel");
    find_failure(&program, 0, "lost-wakeup", &trace);
    for (uint64_t runs = 3; runs < 200; runs = runs * 3 / 2) {
        struct bz_shrink_config config = {.program = &program, .trace = &trace, .runs_max = runs};
        cr_assert(bz_shrink(&config, &result));
        cr_assert_leq(result.runs, runs + 2); /* the last two confirm */
        cr_assert(fails_likewise(&result.program, &result.violation));
        bz_shrink_fini(&result);
    }
    for (; stop <= BZ_STOP_TIME; stop++) {
        struct bz_shrink_config config = {
            .program = &program, .trace = &trace, .budget.stop = &stop};
        cr_assert(bz_shrink(&config, &result));
        cr_assert_eq((int)result.end,
                     stop == BZ_STOP_TIME ? BZ_SHRINK_OUT_OF_TIME : BZ_SHRINK_INTERRUPTED);
        cr_assert(fails_likewise(&result.program, &result.violation));
        bz_shrink_fini(&result);
    }
    bz_trace_fini(&trace);
}

/* A result that a budget of steps cut short is not called minimal, and names what to raise. */
Test(shrink, says_that_its_budget_was_spent) {
    struct bz_program program;
    struct bz_trace trace;
    struct bz_shrink_result result;
    char text[BZ_ERROR_BYTES];
    find_program(&program, "contended", "zoo/sem-woken-cancel");
    find_failure(&program, 0, "lost-wakeup", &trace);
    for (uint64_t steps = 1; steps < 300000; steps *= 8) {
        struct bz_shrink_config config = {
            .program = &program, .trace = &trace, .budget.steps = steps};
        cr_assert(bz_shrink(&config, &result));
        cr_assert_eq((int)result.end, BZ_SHRINK_OUT_OF_BUDGET, "%u", (unsigned)steps);
        bz_shrink_end_text(&result, text, sizeof text);
        cr_assert(strstr(text, "not minimal: the budget of ") == text, "%s", text);
        cr_assert(strstr(text, " steps was spent (--shrink-steps)") != NULL, "%s", text);
        bz_shrink_fini(&result);
    }
    bz_trace_fini(&trace);
}

/* The runs with fewest deviations and cancels have 11 steps, and some given ones 9. So these end
 * elsewhere, and that is not called minimal. */
Test(shrink, makes_no_run_longer_and_calls_one_run_minimal) {
    struct bz_program program;
    struct bz_trace trace;
    struct bz_shrink_result result;
    uint64_t minimal[BZ_WINDOW_COUNT] = {0};
    unsigned others = 0;
    find_program(&program, "contended", "zoo/tk-8365");
    uint64_t seed = 100000;
    for (unsigned start = 0; start < 6; start++) {
        seed = find_failure(&program, seed, "fifo", &trace) + 1;
        shrink(&program, &trace, &result);
        uint64_t *known = &minimal[result.violation.window];
        cr_assert_leq(result.after.steps, result.before.steps, "seed %u", (unsigned)seed - 1);
        if (result.end == BZ_SHRINK_MINIMAL) {
            bool is_alike = *known == 0 || *known == result.digest;
            cr_assert(is_alike, "seed %u", (unsigned)seed - 1);
            *known = result.digest;
        } else {
            cr_assert_eq((int)result.end, BZ_SHRINK_ONE_MINIMAL);
            others++;
        }
        bz_shrink_fini(&result);
        bz_trace_fini(&trace);
    }
    cr_assert_lt(0, others);
    cr_assert_lt(others, 6);
}

/* Shrinks the run of a seed of a campaign, and releases the result. */
static void shrink_seed(const char *scenario, const char *variant, uint64_t seed,
                        struct bz_shrink_result *result) {
    struct bz_program usual;
    struct bz_program program;
    struct bz_trace trace;
    struct bz_replay_report report;
    find_program(&usual, scenario, variant);
    bz_sizes_draw(&usual, seed, &program);
    bz_trace_init(&trace);
    cr_assert(bz_record(&program, seed, &trace, &report));
    shrink(&program, &trace, result);
    bz_shrink_fini(result);
    bz_trace_fini(&trace);
}

/* Runs with drawn sizes and with the usual ones end with the same smallest run. */
Test(shrink, does_not_depend_on_the_sizes_of_the_given_run) {
    static const struct {
        const char *scenario, *variant;
        uint64_t seeds[3];
    } rows[] = {{"restaurant", "zoo/lock-double-grant", {0x6, 0x186a0, 0x186a0}},
                {"restaurant", "zoo/embassy-2766", {0x2, 0x186a0, 0x186a0}},
                {"pool", "zoo/ah-4562", {0x19, 0x1874e, 0x1874e}},
                {"queue", "zoo/an-728", {0x4, 0x3d0904, 0x4c4b46}},
                {"queue", "zoo/an-728-swallow", {0x4, 0x3d0904, 0x4c4b46}},
                {"queue", "zoo/q-handoff-lost", {0x4, 0x3d0904, 0x4c4b46}}};
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        uint64_t digest = 0;
        for (unsigned start = 0; start < 3; start++) {
            struct bz_shrink_result result;
            shrink_seed(rows[row].scenario, rows[row].variant, rows[row].seeds[start], &result);
            cr_assert_eq((int)result.end, BZ_SHRINK_MINIMAL);
            cr_assert(start == 0 || result.digest == digest, "%s", rows[row].variant);
            digest = result.digest;
        }
    }
}

/* --- a process that ends ---------------------------------------------------------------------- */

static enum bz_status end_process(void *argument) {
    (void)argument;
    _exit(3);
}

static void *spawn_ends(struct bz_world *world, uint32_t count) {
    for (uint32_t number = 1; number <= count; number++) {
        bz_task_spawn(world->loop, "end", number, end_process, NULL);
    }
    return world;
}

static void *setup_one(struct bz_world *world, const struct bz_scenario_args *args) {
    (void)args;
    return spawn_ends(world, 1);
}

static void *setup_drawn(struct bz_world *world, const struct bz_scenario_args *args) {
    (void)args;
    return spawn_ends(world, bz_world_draw(world, "few", 2) == 0 ? 3 : 1);
}

/* A run that makes no choice is the smallest one, unless a draw leads to another with fewer tasks.
 */
Test(shrink, seeks_nothing_below_a_run_without_choices) {
    static const struct bz_param none[] = {{0}};
    static const struct bz_scenario scenarios[] = {
        {"one", "ends the process", none, {BZ_PRIMITIVE_LOCK}, 1, setup_one},
        {"drawn", "ends the process", none, {BZ_PRIMITIVE_LOCK}, 1, setup_drawn}};
    for (unsigned index = 0; index < 2; index++) {
        struct bz_program program;
        struct bz_trace trace;
        struct bz_shrink_result result;
        bz_program_init(&program, &scenarios[index], bz_catalog_variant(&tst_catalog, "buzzer"),
                        &bz_strategy_answers);
        program.contain.is_on = true;
        find_failure(&program, 0, "exit", &trace);
        shrink(&program, &trace, &result);
        cr_assert_eq((int)result.end, BZ_SHRINK_ONE_MINIMAL);
        cr_assert_eq(result.after.tasks, 1);
        cr_assert_eq(result.runs < 12, index == 0, "%u runs", (unsigned)result.runs);
        bz_shrink_fini(&result);
        bz_trace_fini(&trace);
    }
}

/* --- why -------------------------------------------------------------------------------------- */

#define SMALLEST "permits=1,workers=2,patience=1,cancels=0,answers=8-2"

static void explain(const char *scenario, const char *variant, const char *settings,
                    struct bz_why *why) {
    char error[BZ_ERROR_BYTES];
    struct bz_program program;
    find_program(&program, scenario, variant);
    program.strategy = &bz_strategy_answers;
    cr_assert(bz_program_set_list(&program, settings, error, sizeof error), "%s", error);
    cr_assert(bz_why_find(&program, NULL, why));
}

static void check_passing(const struct bz_why *why) {
    cr_assert(why->has_passing);
    struct bz_world *world = bz_program_new_world(&why->passing);
    cr_assert_eq((int)bz_program_run(&why->passing, world, 0), (int)BZ_RUN_PASSED);
    cr_assert_eq(bz_judge_digest(world->judge), why->passing_digest);
    bz_world_destroy(world);
}

static void check_choices(const struct bz_why *why, const struct bz_why *wanted) {
    cr_assert_eq(why->digest, wanted->digest);
    cr_assert_eq(why->choice_count, wanted->choice_count);
    for (uint32_t place = 0; place < wanted->choice_count; place++) {
        cr_assert_eq(why->choices[place].others, wanted->choices[place].others);
        cr_assert_eq(why->choices[place].failing, wanted->choices[place].failing);
        cr_assert_eq(why->choices[place].fails_without, wanted->choices[place].fails_without);
    }
    cr_assert(why->has_passing && why->passing_change == wanted->passing_change);
    cr_assert_eq(why->passing_edit.step, wanted->passing_edit.step);
    cr_assert_eq(why->passing_digest, wanted->passing_digest);
}

/* A draw of waiter-2 is left out: the cancel of waiter-1 comes later, and it fails all the same. By
 * the number of its choice point, the cancel would strike another task, and nothing would fail. */
Test(why, keeps_the_later_choices_by_what_they_choose) {
    struct bz_why *why = calloc(1, sizeof *why);
    explain("timeout", "zoo/ah-9670", "rounds=1,hold-ns=1,answers=7-1+12-1+17-1+23-3", why);
    cr_assert_eq(why->choice_count, 4);
    for (unsigned place = 0; place < 4; place++) {
        bool is_needless = place == 1 || place == 2;
        cr_assert_eq(why->choices[place].fails_without, is_needless, "choice %u", place);
        cr_assert_eq(bz_why_is_essential(&why->choices[place]), !is_needless);
    }
    free(why);
}

Test(why, finds_the_run_that_passes_with_one_choice_more) {
    struct bz_why *why = calloc(1, sizeof *why);
    explain("contended", "zoo/toy-lifo", "permits=1,workers=3,rounds=1,patience=1,cancels=0", why);
    cr_assert_eq(why->choice_count, 0);
    cr_assert(why->has_passing && why->passing_change == BZ_WHY_ADDED);
    cr_assert_eq(why->passing.answers.count, 1);
    check_passing(why);
    free(why);
}

/* A run that the step limit cuts neither fails nor passes. */
Test(why, does_not_take_a_run_that_was_cut_for_one_that_passes) {
    struct bz_why *why = calloc(1, sizeof *why);
    explain("contended", "zoo/sem-woken-cancel",
            "permits=1,workers=2,patience=1,cancels=0,max-steps=7,answers=8-2", why);
    cr_assert_eq(why->choice_count, 1);
    cr_assert_eq(why->choices[0].failing, 0);
    cr_assert_lt(0, why->choices[0].cut);
    cr_assert_not(bz_why_is_essential(&why->choices[0]));
    check_passing(why);
    free(why);
}

/* A variant that counts the processes that make runs, and may end or change one that has made some.
 */
enum manner { CALM, ENDS, CHANGES };
static enum manner manner;
static const struct bz_permit_ops *original;
static uint32_t *processes; /* shared */

static enum bz_status acquire_in_process(void *instance) {
    static pid_t process;
    static uint32_t acquires; /* of the process */
    *processes += process != getpid();
    acquires = process == getpid() ? acquires + 1 : 1;
    process = getpid();
    bool is_late = manner != CALM && acquires > 40; /* not in the first runs */
    if (is_late && manner == ENDS) {
        _exit(0);
    }
    enum bz_status status = original->acquire(instance);
    return is_late && status == BZ_OK ? original->acquire(instance) : status;
}

/* Returns how many processes have made runs. */
static uint32_t explain_contained(enum manner how, struct bz_why *why) {
    char error[BZ_ERROR_BYTES];
    struct bz_program program;
    find_program(&program, "contended", "zoo/sem-woken-cancel");
    struct bz_variant variant = *program.variant;
    original = variant.permits[program.args.primitive];
    struct bz_permit_ops ops = *original;
    ops.acquire = acquire_in_process;
    variant.permits[program.args.primitive] = &ops;
    program.variant = &variant;
    program.strategy = &bz_strategy_answers;
    program.contain.is_on = true;
    manner = how;
    cr_assert(bz_program_set_list(&program, SMALLEST, error, sizeof error), "%s", error);
    processes = bz_shared_alloc(sizeof *processes);
    cr_assert(bz_why_find(&program, NULL, why));
    uint32_t count = *processes;
    bz_shared_free(processes, sizeof *processes);
    return count;
}

/* All runs in one process, but for the run itself and the one that passes; or each in its own, if
 * a run ends that process, or if what ran before changes a run. The answer is the same. */
Test(why, asks_a_contained_program_in_one_process) {
    struct bz_why *wanted = calloc(1, sizeof *wanted);
    struct bz_why *why = calloc(1, sizeof *why);
    explain("contended", "zoo/sem-woken-cancel", SMALLEST, wanted);
    cr_assert_eq(explain_contained(CALM, why), 3);
    check_choices(why, wanted);
    cr_assert_eq(why->odds_count, wanted->odds_count);
    *wanted = *why;
    for (unsigned how = ENDS; how <= CHANGES; how++) {
        cr_assert_lt(20, explain_contained((enum manner)how, why));
        check_choices(why, wanted);
        cr_assert_eq(memcmp(why->odds, wanted->odds, sizeof why->odds), 0);
        cr_assert_eq(why->turning_step, wanted->turning_step);
    }
    free(why);
    free(wanted);
}

/* --- edits ------------------------------------------------------------------------------------ */

/* Edits lead to the run that they were noted in, in both orders and with draws, jumps, cancels. */
Test(edits, repeat_the_run_that_they_were_noted_in) {
    static const char *const scenarios[] = {"contended", "restaurant", "timeout", "program",
                                            "queue"};
    struct bz_board *board = calloc(1, sizeof *board);
    for (unsigned number = 0; number < 2 * sizeof scenarios / sizeof scenarios[0]; number++) {
        struct bz_program program;
        find_program(&program, scenarios[number / 2], "buzzer");
        program.order = number % 2 == 0 ? BZ_ORDER_ANY : BZ_ORDER_FIFO;
        program.cancels_max = 4;
        struct bz_world *world = bz_program_new_world(&program);
        for (uint64_t seed = 0; seed < 60; seed++) {
            struct bz_tape tape;
            bz_tape_init(&tape, NULL);
            bz_program_run(&program, world, seed);
            uint64_t digest = bz_judge_digest(world->judge);
            cr_assert(bz_tape_copy(&tape, &world->judge->tape));
            struct bz_run_start start = {
                .strategy = &bz_strategy_edits, .tape = &tape, .context = board};
            board->source = BZ_EDIT_BY_TAPE;
            bz_program_run_from(&program, world, &start);
            cr_assert_eq(bz_judge_digest(world->judge), digest);
            cr_assert_eq((size_t)board->made.count, tape.count);
            board->edits = board->made;
            board->source = BZ_EDIT_BY_EDITS;
            bz_program_run_from(&program, world, &start);
            cr_assert_eq(bz_judge_digest(world->judge), digest, "%s, seed %u",
                         program.scenario->name, (unsigned)seed);
            if (bz_edits_script(&board->made, &board->script)) {
                board->source = BZ_EDIT_BY_SCRIPT;
                bz_program_run_from(&program, world, &start);
                cr_assert_eq(bz_judge_digest(world->judge), digest);
            }
            bz_tape_fini(&tape);
        }
        bz_world_destroy(world);
    }
    free(board);
}

/* Eight bytes of noise anywhere in what was chosen: what is taken over fits the tape, or nothing
 * is. */
Test(edits, take_nothing_from_a_board_that_was_written_over) {
    struct bz_board *board = calloc(1, sizeof *board);
    struct bz_board *shared = calloc(1, sizeof *shared);
    struct bz_board *spoilt = calloc(1, sizeof *spoilt);
    struct bz_tape tape;
    struct bz_pcg32 random;
    struct bz_program program;
    find_program(&program, "queue", "buzzer");
    struct bz_world *world = bz_program_new_world(&program);
    for (uint64_t seed = 0; world->judge->tape.count <= 5; seed++) {
        bz_program_run(&program, world, seed);
    }
    bz_tape_init(&tape, NULL);
    cr_assert(bz_tape_copy(&tape, &world->judge->tape));
    board->source = BZ_EDIT_BY_TAPE;
    bz_board_give(shared, board);
    struct bz_run_start start = {.strategy = &bz_strategy_edits, .tape = &tape, .context = shared};
    bz_program_run_from(&program, world, &start);
    cr_assert(bz_board_take(board, shared, &tape));
    cr_assert_eq((size_t)board->made.count, tape.count);
    bz_pcg32_seed(&random, 1, 1);
    size_t first = offsetof(struct bz_board, made);
    size_t used[] = {tape.count * sizeof(struct bz_edit) + 16, sizeof *shared - first - 8};
    unsigned refused = 0;
    for (unsigned round = 0; round < 2000; round++) {
        uint32_t noise[] = {bz_pcg32_next(&random), bz_pcg32_next(&random)};
        memcpy(spoilt, shared, sizeof *spoilt);
        memcpy((char *)spoilt + first + bz_pcg32_below(&random, (uint32_t)used[round % 2]), noise,
               sizeof noise);
        bool is_taken = bz_board_take(board, spoilt, &tape);
        refused += !is_taken;
        cr_assert_eq(is_taken, !board->is_full);
        cr_assert_leq(board->point_count, BZ_EDITS_POINTS_MAX);
        cr_assert_eq((size_t)board->made.count, is_taken ? tape.count : 0);
        for (uint32_t index = 0; index < board->made.count; index++) {
            cr_assert(board->made.items[index].label == tape.choices[index].label);
        }
    }
    cr_assert_lt(300, refused);
    bz_tape_fini(&tape);
    bz_world_destroy(world);
    free(spoilt);
    free(shared);
    free(board);
}
