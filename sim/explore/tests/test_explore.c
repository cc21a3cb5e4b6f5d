/* The search, on programs whose schedules are counted by hand or by a short recursion. */
#include "sim/explore/explore.h"
#include "sim/program/budget.h"

#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "primitives/runtime/future.h"
#include "primitives/runtime/internal.h"
#include "primitives/runtime/task.h"
#include "sim/native/snapshot.h"
#include "sim/tests/toys.h"

#define TASKS_MAX 4u
#define EVERY_DELAY 100u /* more than there are */

/* The scenario of a test runs this; each test is a process of its own. */
struct play {
    bz_task_fn *tasks[TASKS_MAX];
    uint32_t yields[TASKS_MAX];
    uint64_t bounds[2]; /* of draws; 0: none */
    void (*finish)(struct bz_world *world, void *state);
};
static struct play play;

/* Its state, in the world's memory. */
struct scene {
    struct bz_world *world;
    struct bz_future future;
    bool a_has_started;
    bool b_was_first;
    bool a_was_cancelled;
    uint64_t sum; /* of what was drawn */
};

static enum bz_status yields(void *arg) {
    const struct scene *scene = arg;
    uint32_t left = play.yields[bz_judge_running(scene->world->judge) - 1];
    enum bz_status status = BZ_OK;
    for (; status == BZ_OK && left > 0; left--) {
        status = bz_yield(scene->world->loop);
    }
    return status;
}

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    struct scene *scene = bz_world_alloc(world, sizeof *scene);
    (void)args;
    scene->world = world;
    bz_future_init(&scene->future, world->loop);
    for (uint32_t index = 0; index < TASKS_MAX && play.tasks[index] != NULL; index++) {
        cr_assert(bz_task_spawn(world->loop, "task", index + 1, play.tasks[index], scene) != NULL);
    }
    return scene;
}

static void finish(struct bz_world *world, void *state) {
    if (play.finish != NULL) {
        play.finish(world, state);
    }
}

static const struct bz_param no_params[] = {{NULL, NULL, 0, 0, 0}};
static const struct bz_scenario scenario = {
    .name = "play",
    .summary = "what the test wants",
    .params = no_params,
    .primitives = {BZ_PRIMITIVE_SEMAPHORE},
    .primitive_count = 1,
    .setup = setup,
    .finish = finish,
};

static struct bz_program program_of(enum bz_order order, uint32_t cancels_max) {
    struct bz_program program;
    bz_program_init(&program, &scenario, &bz_variant_buzzer, &bz_strategy_random);
    program.order = order;
    program.cancels_max = cancels_max;
    program.steps_max = 200;
    return program;
}

static struct bz_explore_result result;

static void search(const struct bz_program *program, uint32_t delays_max, uint32_t reductions) {
    struct bz_explore_config config = {
        .program = program, .delays_max = delays_max, .reductions = reductions};
    cr_assert(bz_explore(&config, &result));
    cr_assert_eq(bz_explore_is_complete(&result), result.end == BZ_EXPLORE_DONE &&
                                                      result.sampled_draw == NULL &&
                                                      !result.is_out_of_steps);
}

/* This number of schedules, whichever reductions are used. */
static void expect_schedules(const struct bz_program *program, uint32_t delays_max,
                             uint64_t expected) {
    static const uint32_t manners[] = {BZ_REDUCE_ALL, BZ_REDUCE_SNAPSHOTS | BZ_REDUCE_STATES,
                                       BZ_REDUCE_SNAPSHOTS, 0};
    for (size_t index = 0; index < sizeof manners / sizeof manners[0]; index++) {
        search(program, delays_max, manners[index]);
        cr_assert_eq(result.end, BZ_EXPLORE_DONE);
        cr_assert_eq(result.schedules, expected, "reductions %u, at most %u delays", manners[index],
                     delays_max);
    }
}

/* --- counting --------------------------------------------------------------------------------- */

/* The number of schedules of the tasks in this queue, which have these steps left, with at most so
 * many delays. */
static uint64_t count(const uint32_t *steps, const uint32_t *queue, uint32_t length,
                      uint32_t delays) {
    uint64_t sum = length == 0;
    for (uint32_t picked = 0; picked < length && picked <= delays; picked++) {
        uint32_t left[TASKS_MAX];
        uint32_t next[TASKS_MAX];
        uint32_t next_length = 0;
        memcpy(left, steps, sizeof left);
        for (uint32_t index = 0; index < length; index++) {
            if (index != picked) {
                next[next_length++] = queue[index];
            }
        }
        if (--left[queue[picked]] > 0) {
            next[next_length++] = queue[picked];
        }
        sum += count(left, next, next_length, delays - picked);
    }
    return sum;
}

static void set_play(uint32_t tasks, const uint32_t *counts) {
    play = (struct play){.finish = NULL};
    for (uint32_t index = 0; index < tasks; index++) {
        play.tasks[index] = yields;
        play.yields[index] = counts[index];
    }
}

static bool is_always_due(void *context) {
    (void)context;
    return true;
}

static void count_kept(void *context, const struct bz_search *search) {
    (void)search;
    ++*(uint32_t *)context;
}

/* One path of 3,000 states, and a pause is due before the search has come back to its end. */
Test(explore, a_search_with_pauses_gets_ahead) {
    static const uint32_t manners[] = {BZ_REDUCE_ALL, BZ_REDUCE_SNAPSHOTS};
    if (!bz_snapshot_is_supported()) {
        return;
    }
    set_play(1, (uint32_t[]){3000});
    struct bz_program program = program_of(BZ_ORDER_ANY, 0);
    program.steps_max = 10000;
    for (size_t index = 0; index < sizeof manners / sizeof manners[0]; index++) {
        uint32_t kept = 0;
        struct bz_explore_config config = {.program = &program,
                                           .delays_max = BZ_EXPLORE_UNBOUNDED,
                                           .reductions = manners[index],
                                           .keep = count_kept,
                                           .is_due = is_always_due,
                                           .context = &kept};
        cr_assert(bz_explore(&config, &result));
        cr_assert(bz_explore_is_complete(&result));
        cr_assert_gt(kept, 1);
        cr_assert_lt(kept, 20);
    }
}

Test(explore, two_tasks_interleave_as_often_as_binomials_say) {
    static const uint64_t binomials[][4] = {{2, 3, 4, 5}, {3, 6, 10, 15}, {4, 10, 20, 35}};
    struct bz_program program = program_of(BZ_ORDER_ANY, 0);
    for (uint32_t a = 0; a < 3; a++) {
        for (uint32_t b = 0; b < 4; b++) {
            set_play(2, (const uint32_t[]){a, b});
            expect_schedules(&program, BZ_EXPLORE_UNBOUNDED, binomials[a][b]);
            cr_assert(result.is_whole);
            cr_assert_eq(result.depth, a + b + 2);
            cr_assert_eq(result.outcomes, 1);
        }
    }
}

Test(explore, bounds_on_delays_count_the_tasks_passed_over) {
    static const uint32_t plays[][3] = {{0, 0, 0}, {1, 1, 0}, {2, 0, 1}, {1, 2, 1}};
    static const uint32_t queue[] = {0, 1, 2};
    struct bz_program program = program_of(BZ_ORDER_ANY, 0);
    for (size_t index = 0; index < sizeof plays / sizeof plays[0]; index++) {
        uint32_t steps[TASKS_MAX] = {0};
        set_play(3, plays[index]);
        for (uint32_t task = 0; task < 3; task++) {
            steps[task] = plays[index][task] + 1;
        }
        for (uint32_t delays = 0; delays < 5; delays++) {
            expect_schedules(&program, delays, count(steps, queue, 3, delays));
            cr_assert(result.is_whole || result.rounds == (delays < 3 ? delays + 1 : 3));
        }
        expect_schedules(&program, BZ_EXPLORE_UNBOUNDED, count(steps, queue, 3, EVERY_DELAY));
    }
}

/* Where no cancel can be injected, none is counted: round 1 has the schedules with one delay. */
Test(explore, rounds_have_their_delays_without_windows_for_cancels) {
    struct bz_program program = program_of(BZ_ORDER_ANY, 2);
    program.cancel_windows = BZ_WINDOWS_NONE;
    set_play(2, (const uint32_t[]){1, 1});
    search(&program, 1, BZ_REDUCE_ALL);
    cr_assert_eq(result.rounds, 2);
    cr_assert_eq(result.schedules,
                 count((const uint32_t[TASKS_MAX]){2, 2}, (const uint32_t[]){0, 1}, 2, 1));
}

/* A cancel may come before every step; a second one only directly after it, for then the task ends.
 */
Test(explore, cancels_are_placed_before_every_step) {
    for (uint32_t count = 0; count < 5; count++) {
        set_play(1, &count);
        struct bz_program program = program_of(BZ_ORDER_ANY, 0);
        expect_schedules(&program, BZ_EXPLORE_UNBOUNDED, 1);
        program.cancels_max = 1;
        expect_schedules(&program, BZ_EXPLORE_UNBOUNDED, 1 + (count + 1));
        program.cancels_max = 2;
        expect_schedules(&program, BZ_EXPLORE_UNBOUNDED, 1 + 2 * (count + 1));
        program.cancels_max = 1;
        program.cancel_windows = 1u << BZ_WINDOW_SLEEPING;
        expect_schedules(&program, BZ_EXPLORE_UNBOUNDED, 1 + count);
    }
}

Test(explore, a_fifo_loop_has_one_order) {
    struct bz_program program = program_of(BZ_ORDER_FIFO, 0);
    set_play(3, (const uint32_t[]){2, 0, 1});
    expect_schedules(&program, BZ_EXPLORE_UNBOUNDED, 1);
    cr_assert(result.is_whole);
    cr_assert_eq(result.rounds, 1);
}

/* --- draws ------------------------------------------------------------------------------------ */

static enum bz_status draws(void *arg) {
    struct scene *scene = arg;
    scene->sum = 0;
    for (uint32_t index = 0; index < 2 && play.bounds[index] != 0; index++) {
        scene->sum += bz_world_draw(scene->world, "number", play.bounds[index]);
    }
    return scene->sum == 0 ? BZ_OK : BZ_FAILED;
}

static void expect_draws(uint64_t first, uint64_t second, uint64_t schedules, bool is_sampled) {
    struct bz_program program = program_of(BZ_ORDER_ANY, 0);
    play = (struct play){.tasks = {draws}, .bounds = {first, second}};
    expect_schedules(&program, BZ_EXPLORE_UNBOUNDED, schedules);
    cr_assert_eq(result.sampled_draw != NULL, is_sampled);
    cr_assert_eq(result.outcomes, 2);
}

Test(explore, every_value_of_a_draw_is_tried_or_it_says_so) {
    expect_draws(2, 0, 2, false);
    expect_draws(3, 4, 12, false);
    expect_draws(BZ_EXPLORE_DRAWS_MAX, 0, BZ_EXPLORE_DRAWS_MAX, false);
    expect_draws(BZ_EXPLORE_DRAWS_MAX + 1, 0, 3, true);
    expect_draws(2, UINT64_C(1) << 52u, 6, true);
}

static void refuses_three(struct bz_world *world, void *state) {
    const struct scene *scene = state;
    bz_world_assert(world, scene->sum != 3, "three");
}

/* A value other than the first is one deviation, however large it is. */
Test(explore, rounds_count_the_draws_that_are_not_the_first_value) {
    struct bz_program program = program_of(BZ_ORDER_ANY, 0);
    static const struct {
        uint64_t bounds[2];
        uint32_t draws;
    } rows[] = {{{4, 4}, 1}, {{2, 4}, 1}, {{2, 3}, 2}};
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        play = (struct play){.tasks = {draws}, .finish = refuses_three};
        memcpy(play.bounds, rows[row].bounds, sizeof play.bounds);
        search(&program, BZ_EXPLORE_UNBOUNDED, BZ_REDUCE_ALL);
        cr_assert_eq(result.end, BZ_EXPLORE_FOUND);
        cr_assert(result.is_minimal);
        cr_assert_eq(result.rounds, rows[row].draws);
        cr_assert_eq(result.findings[0].deviations.draws, rows[row].draws);
        cr_assert_eq(bz_deviations_sum(&result.findings[0].deviations), rows[row].draws);
    }
}

/* Round r has the schedules with r draws above the least; a bound on delays leaves out none. */
Test(explore, a_bound_on_delays_is_none_on_draws) {
    struct bz_program program = program_of(BZ_ORDER_ANY, 0);
    play = (struct play){.tasks = {draws, draws}, .bounds = {3, 3}};
    search(&program, 0, BZ_REDUCE_ALL);
    cr_assert_eq(result.schedules, 81);
    cr_assert_eq(result.rounds, BZ_EXPLORE_ROUNDS_DEFAULT);
    cr_assert(result.is_all);
    cr_assert_eq(result.is_whole, false);
}

/* --- what is found ---------------------------------------------------------------------------- */

static enum bz_status notes_its_cancel(void *arg) {
    struct scene *scene = arg;
    scene->a_has_started = true;
    enum bz_status status = bz_yield(scene->world->loop);
    scene->a_was_cancelled = status == BZ_CANCELLED;
    return status;
}

static enum bz_status notes_who_was_first(void *arg) {
    struct scene *scene = arg;
    scene->b_was_first = !scene->a_has_started;
    return BZ_OK;
}

static void refuses_both(struct bz_world *world, void *state) {
    const struct scene *scene = state;
    bz_world_assert(world, !scene->b_was_first || !scene->a_was_cancelled, "both");
}

/* The fault needs one delay and one cancel: rounds 0 and 1 are silent. */
Test(explore, finds_the_simplest_first) {
    struct bz_program program = program_of(BZ_ORDER_ANY, 2);
    play = (struct play){.tasks = {notes_its_cancel, notes_who_was_first}, .finish = refuses_both};
    for (uint32_t manner = 0; manner < 2; manner++) {
        search(&program, BZ_EXPLORE_UNBOUNDED, manner == 0 ? BZ_REDUCE_ALL : 0);
        cr_assert_eq(result.end, BZ_EXPLORE_FOUND);
        cr_assert_eq(result.rounds, 2);
        cr_assert(result.is_minimal);
        cr_assert_eq(result.findings[0].deviations.delays, 1);
        cr_assert_eq(result.findings[0].deviations.cancels, 1);
        cr_assert_eq(result.findings[0].answers.count, 2);
        cr_assert_str_eq((char *)result.findings[0].violation.oracle, (char *)"assertion");
        search(&program, 0, manner == 0 ? BZ_REDUCE_ALL : 0);
        cr_assert_eq(result.finding_count, 0);
        cr_assert_eq(result.end, BZ_EXPLORE_DONE);
    }
}

/* The first finding of the sweep has more delays than it needs; then the rounds go on. */
Test(explore, simplifies_what_the_sweep_has_found) {
    struct bz_program program = program_of(BZ_ORDER_ANY, 1);
    struct bz_explore_config config = {.program = &program,
                                       .delays_max = BZ_EXPLORE_UNBOUNDED,
                                       .reductions = BZ_REDUCE_ALL,
                                       .rounds_before_sweep = 1};
    play = (struct play){.tasks = {notes_its_cancel, notes_who_was_first}, .finish = refuses_both};
    cr_assert(bz_explore(&config, &result));
    cr_assert_eq(result.end, BZ_EXPLORE_FOUND);
    cr_assert(result.is_minimal);
    cr_assert_eq(result.findings[0].deviations.delays + result.findings[0].deviations.cancels, 2);
    cr_assert_eq(result.finding_count, 1);
}

static enum bz_status waits(void *arg) {
    struct scene *scene = arg;
    return scene->b_was_first ? bz_future_await(&scene->future) : BZ_OK;
}

static volatile uint32_t spins; /* of a step that takes its time */

static enum bz_status comes_first(void *arg) {
    struct scene *scene = arg;
    for (uint32_t left = spins; left > 0; left--) {
        spins = spins; /* a load and a store */
    }
    scene->b_was_first = true;
    return BZ_OK;
}

Test(explore, finds_a_deadlock) {
    struct bz_program program = program_of(BZ_ORDER_ANY, 0);
    struct bz_program repeat;
    struct bz_finding found;
    play = (struct play){.tasks = {waits, comes_first}};
    search(&program, BZ_EXPLORE_UNBOUNDED, BZ_REDUCE_ALL);
    cr_assert_str_eq((char *)result.findings[0].violation.oracle, (char *)"deadlock");
    cr_assert_eq(result.findings[0].deviations.delays, 1);
    cr_assert(bz_explore_repeat(&program, &result.findings[0], &repeat, &found));
    volatile sig_atomic_t stop = BZ_STOP_INTERRUPT; /* it is a finding all the same */
    spins = 200000000;
    program.contain = (struct bz_contain){.is_on = true, .step_ns = UINT64_MAX, .stop = &stop};
    cr_assert(bz_explore_repeat(&program, &result.findings[0], &repeat, &found));
    cr_assert_eq((void *)repeat.contain.stop, (void *)&stop);
    program.contain = (struct bz_contain){.is_on = false};
    spins = 0;
    cr_assert_eq(found.violation.step, result.findings[0].violation.step);
    result.findings[0].answers.count = 0; /* a default run does not fail */
    cr_assert_eq(bz_explore_repeat(&program, &result.findings[0], &repeat, &found), false);
}

static enum bz_status keeps_a_slot(void *arg) {
    const struct scene *scene = arg;
    scene->world->loop->ready_promised += scene->b_was_first;
    return BZ_OK;
}

Test(explore, finds_what_the_loop_keeps_at_the_end) {
    struct bz_program program = program_of(BZ_ORDER_ANY, 0);
    play = (struct play){.tasks = {keeps_a_slot, comes_first}};
    search(&program, BZ_EXPLORE_UNBOUNDED, BZ_REDUCE_ALL);
    cr_assert_str_eq((char *)result.findings[0].violation.oracle, (char *)"leak");
    cr_assert_eq(result.findings[0].deviations.delays, 1);
}

static enum bz_status turns_round(void *arg) {
    const struct scene *scene = arg;
    enum bz_status status = BZ_OK;
    while (status == BZ_OK) {
        status = bz_yield(scene->world->loop);
    }
    return status;
}

Test(explore, finds_a_livelock_as_a_loop) {
    struct bz_program program = program_of(BZ_ORDER_ANY, 0);
    struct bz_program repeat;
    struct bz_finding found;
    if (!bz_snapshot_is_supported()) {
        cr_skip_test("no state is recognized");
    }
    play = (struct play){.tasks = {turns_round}};
    search(&program, BZ_EXPLORE_UNBOUNDED, BZ_REDUCE_ALL);
    cr_assert_str_eq((char *)result.findings[0].violation.oracle, (char *)"livelock");
    cr_assert_eq(result.rounds, 0);
    cr_assert_lt(result.transitions, 10);
    cr_assert(bz_explore_repeat(&program, &result.findings[0], &repeat, &found));
}

/* Another draw, or a clock that goes on, would end these. */
static enum bz_status turns_until_drawn(void *arg) {
    const struct scene *scene = arg;
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && bz_world_draw(scene->world, "ends", 2) == 0) {
        status = bz_yield(scene->world->loop);
    }
    return status;
}

static enum bz_status turns_until_late(void *arg) {
    const struct scene *scene = arg;
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && bz_loop_now_ns(scene->world->loop) < 5) {
        status = bz_yield(scene->world->loop);
    }
    return status;
}

static enum bz_status sleeps(void *arg) {
    const struct scene *scene = arg;
    return bz_sleep(scene->world->loop, 5);
}

Test(explore, takes_no_loop_for_a_livelock_that_a_draw_or_the_clock_would_end) {
    struct bz_program program = program_of(BZ_ORDER_ANY, 0);
    struct bz_world *world;
    static bz_task_fn *const tasks[][2] = {{turns_until_drawn, NULL}, {turns_until_late, sleeps}};
    program.steps_max = 200;
    program.strategy = bz_strategy_find("fifo");
    for (size_t index = 0; index < 2; index++) {
        play = (struct play){.tasks = {tasks[index][0], tasks[index][1]}};
        search(&program, 1, BZ_REDUCE_ALL);
        cr_assert_eq(result.finding_count, 0, "%s", result.findings[0].violation.message);
        world = bz_program_new_world(&program);
        cr_assert_eq(bz_program_run(&program, world, 0), BZ_RUN_OUT_OF_STEPS);
        bz_world_destroy(world);
    }
}

/* --- limits ----------------------------------------------------------------------------------- */

Test(explore, the_step_limit_is_no_proof) {
    struct bz_program program = program_of(BZ_ORDER_ANY, 0);
    program.steps_max = 3;
    set_play(1, (const uint32_t[]){3});
    search(&program, BZ_EXPLORE_UNBOUNDED, BZ_REDUCE_ALL);
    cr_assert(result.is_out_of_steps);
    program.steps_max = 5;
    search(&program, BZ_EXPLORE_UNBOUNDED, BZ_REDUCE_ALL);
    cr_assert_eq(result.is_out_of_steps, false);
}

/* 551,368 states, and three times as many transitions: the first sweep is put off. */
Test(explore, a_long_sweep_waits_for_one_more_round) {
    struct bz_program program = program_of(BZ_ORDER_ANY, 0);
    if (!bz_snapshot_is_supported()) {
        cr_skip_test("without snapshots it takes minutes");
    }
    program.steps_max = 1000;
    set_play(3, (const uint32_t[]){81, 81, 81});
    search(&program, BZ_EXPLORE_UNBOUNDED, BZ_REDUCE_ALL);
    cr_assert_eq(result.rounds, BZ_EXPLORE_ROUNDS_DEFAULT + 1);
    cr_assert(result.is_whole);
    cr_assert_lt(UINT64_C(1) << 20u, result.transitions);
    cr_assert_lt(result.transitions, result.transitions_total - (UINT64_C(1) << 20u));
}

Test(explore, the_limit_on_states_ends_it) {
    struct bz_program program = program_of(BZ_ORDER_ANY, 0);
    struct bz_explore_config config = {.program = &program,
                                       .delays_max = BZ_EXPLORE_UNBOUNDED,
                                       .reductions = BZ_REDUCE_ALL,
                                       .states_max = 10};
    set_play(3, (const uint32_t[]){2, 2, 2});
    cr_assert(bz_explore(&config, &result));
    cr_assert_eq(result.end, BZ_EXPLORE_STATES_MAX);
    cr_assert_eq(bz_explore_is_complete(&result), false);
    cr_assert_eq(result.rounds, 1); /* round 0 has 9 states */
}

/* 10,646 states: a table of 128 KiB has places for 3,072. */
static void search_within(const struct bz_program *program, uint64_t memory_max_bytes) {
    struct bz_explore_config config = {.program = program,
                                       .delays_max = BZ_EXPLORE_UNBOUNDED,
                                       .reductions = BZ_REDUCE_ALL,
                                       .memory_max_bytes = memory_max_bytes};
    cr_assert(bz_explore(&config, &result));
}

Test(explore, ends_at_the_limit_on_memory) {
    struct bz_program program = program_of(BZ_ORDER_ANY, 0);
    if (!bz_snapshot_is_supported()) {
        cr_skip_test("there is no table without snapshots");
    }
    set_play(3, (const uint32_t[]){21, 21, 21});
    search_within(&program, 0);
    cr_assert(bz_explore_is_complete(&result));
    cr_assert_eq(result.liveness, BZ_LIVENESS_ENDS);
    search_within(&program, 128u << 10u);
    cr_assert_eq(result.end, BZ_EXPLORE_MEMORY_MAX);
    cr_assert_not(bz_explore_is_complete(&result));
    cr_assert_eq(result.liveness, BZ_LIVENESS_UNJUDGED);
    cr_assert_eq(result.rounds, BZ_EXPLORE_ROUNDS_DEFAULT);
    search_within(&program, 16u << 20u);
    cr_assert(bz_explore_is_complete(&result), "that is enough for the table");
}

static uint32_t polls;

static bool stop_later(void *context, const struct bz_explore_progress *progress) {
    (void)context;
    (void)progress;
    return ++polls < 5;
}

Test(explore, can_be_interrupted) {
    struct bz_program program = program_of(BZ_ORDER_ANY, 0);
    static volatile sig_atomic_t stop = 1;
    struct bz_explore_config config = {.program = &program,
                                       .delays_max = BZ_EXPLORE_UNBOUNDED,
                                       .reductions = BZ_REDUCE_SNAPSHOTS,
                                       .stop = &stop};
    set_play(4, (const uint32_t[]){3, 3, 3, 3});
    cr_assert(bz_explore(&config, &result));
    cr_assert_eq(result.end, BZ_EXPLORE_INTERRUPTED);
    cr_assert_eq(result.rounds, 0);
    stop = 0;
    config.poll = stop_later;
    cr_assert(bz_explore(&config, &result));
    cr_assert_eq(result.end, BZ_EXPLORE_INTERRUPTED);
    cr_assert_eq(polls, 5);
    cr_assert_eq(bz_explore_is_complete(&result), false);
}
