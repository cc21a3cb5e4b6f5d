/* Starvation and livelock in a complete search. Each program is small; what it shows, its name
 * says. */
#include <criterion/criterion.h>
#include <string.h>

#include "primitives/runtime/task.h"
#include "sim/explore/explore.h"
#include "sim/native/snapshot.h"
#include "sim/tests/toys.h"

#define TASKS_MAX 4u

static bz_task_fn *const *tasks; /* of the program; each test is a process of its own */

struct scene {
    struct bz_world *world;
    struct bz_sut_permits sut;
    uint32_t turn; /* how many came in time */
    bool is_raised[2];
};

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    struct scene *scene = bz_world_alloc(world, sizeof *scene);
    scene->world = world;
    enum bz_status status = bz_sut_permits_init(&scene->sut, world, args->primitive, "permits", 1);
    cr_assert_eq(status, BZ_OK);
    for (uint32_t index = 0; index < TASKS_MAX && tasks[index] != NULL; index++) {
        cr_assert(bz_task_spawn(world->loop, "task", index + 1, tasks[index], scene) != NULL);
    }
    return scene;
}

static const struct bz_param no_params[] = {{NULL, NULL, 0, 0, 0}};
static const struct bz_scenario scenario = {.name = "live",
                                            .summary = "what the test wants",
                                            .params = no_params,
                                            .primitives = {BZ_PRIMITIVE_SEMAPHORE},
                                            .primitive_count = 1,
                                            .setup = setup};

TOY(polling, 0, .acquire = toy_poll);
TOY(barging, 0, TOY_HERD);

static struct bz_program program;
static struct bz_explore_result result;
static uint32_t told;

static void on_finding(void *context, uint32_t place, const struct bz_explore_finding *finding) {
    (void)context;
    (void)place;
    (void)finding;
    told++;
}

/* Round 0 and then the sweep. */
static void search(const struct bz_variant *variant, enum bz_order order,
                   bz_task_fn *const *of_program) {
    if (!bz_snapshot_is_supported()) {
        cr_skip_test("no state is recognized");
    }
    tasks = of_program;
    bz_program_init(&program, &scenario, variant, &bz_strategy_random);
    program.order = order;
    program.cancels_max = 0;
    program.steps_max = 2000;
    struct bz_explore_config config = {.program = &program,
                                       .delays_max = BZ_EXPLORE_UNBOUNDED,
                                       .reductions = BZ_REDUCE_ALL,
                                       .rounds_before_sweep = 1,
                                       .on_finding = on_finding};
    told = 0;
    cr_assert(bz_explore(&config, &result));
}

static void expect_live(enum bz_liveness liveness) {
    cr_assert_eq(result.finding_count, 0, "%s", result.findings[0].violation.message);
    cr_assert(bz_explore_is_complete(&result));
    cr_assert_eq(result.liveness, liveness, "%s: %s", bz_liveness_name(result.liveness),
                 result.liveness_text);
}

/* The sweep found it, and a round after it as well: the simplest one, of so many delays. */
static void expect_found(const char *oracle, uint32_t delays) {
    struct bz_program repeat;
    struct bz_finding found;
    cr_assert_eq(result.finding_count, 1);
    cr_assert_str_eq((char *)result.findings[0].violation.oracle, (char *)oracle);
    cr_assert_eq(told, 2);
    cr_assert(result.is_minimal);
    cr_assert_eq(result.findings[0].deviations.delays, delays);
    cr_assert_eq(result.liveness, BZ_LIVENESS_UNJUDGED);
    cr_assert(bz_explore_repeat(&program, &result.findings[0], &repeat, &found));
}

/* --- schedules that end ----------------------------------------------------------------------- */

static enum bz_status works(void *arg) {
    struct scene *scene = arg;
    enum bz_status status = bz_sut_acquire(&scene->sut);
    if (status == BZ_OK) {
        status = bz_yield(scene->world->loop);
        cr_assert_eq(bz_sut_release(&scene->sut), BZ_OK);
    }
    return status;
}

static bz_task_fn *const workers[] = {works, works, works, NULL};

Test(liveness, without_cycles_every_schedule_ends) {
    search(&bz_variant_buzzer, BZ_ORDER_ANY, workers);
    cr_assert_not(result.has_cycles);
    expect_live(BZ_LIVENESS_ENDS);
    search(&bz_variant_buzzer, BZ_ORDER_FIFO, workers);
    expect_live(BZ_LIVENESS_ENDS);
}

/* --- livelock --------------------------------------------------------------------------------- */

static enum bz_status comes(void *arg) {
    ((struct scene *)arg)->turn++;
    return BZ_OK;
}

/* Goes round if all three others came before it: three delays. */
static enum bz_status comes_last(void *arg) {
    const struct scene *scene = arg;
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && scene->turn == 3) {
        status = bz_yield(scene->world->loop);
    }
    return status;
}

Test(liveness, finds_a_livelock_that_no_round_has_come_to) {
    static bz_task_fn *const crowd[] = {comes_last, comes, comes, comes};
    search(&bz_variant_buzzer, BZ_ORDER_ANY, crowd);
    expect_found("livelock", 3);
}

/* Two that are polite: each raises a flag, and lowers it again if the other one's is up. In
 * lockstep they never pass; one that is a step ahead passes. */
static enum bz_status is_polite(struct scene *scene, uint32_t self) {
    enum bz_status status = BZ_OK;
    while (status == BZ_OK) {
        scene->is_raised[self] = true;
        status = bz_yield(scene->world->loop);
        if (!scene->is_raised[1 - self]) {
            break;
        }
        scene->is_raised[self] = false;
        status = status == BZ_OK ? bz_yield(scene->world->loop) : status;
    }
    scene->is_raised[self] = false;
    return status;
}

static enum bz_status is_polite_left(void *arg) {
    return is_polite(arg, 0);
}

static enum bz_status is_polite_right(void *arg) {
    return is_polite(arg, 1);
}

Test(liveness, a_cycle_that_only_some_fair_orders_follow_is_open) {
    static bz_task_fn *const pair[] = {is_polite_left, is_polite_right, NULL};
    search(&bz_variant_buzzer, BZ_ORDER_ANY, pair);
    expect_live(BZ_LIVENESS_OPEN);
    cr_assert(strstr(result.liveness_text, "without progress") != NULL);
    cr_assert(result.liveness_token[0] != '\0');
    search(&bz_variant_buzzer, BZ_ORDER_FIFO, pair);
    expect_live(BZ_LIVENESS_ENDS);
}

/* Every draw goes round, so no order and no draw leads out. An ordinary run cannot know that. */
static enum bz_status turns_whatever_is_drawn(void *arg) {
    const struct scene *scene = arg;
    enum bz_status status = BZ_OK;
    while (status == BZ_OK) {
        (void)bz_world_draw(scene->world, "in vain", 2);
        status = bz_yield(scene->world->loop);
    }
    return status;
}

static enum bz_status turns_until_drawn(void *arg) {
    const struct scene *scene = arg;
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && bz_world_draw(scene->world, "ends", 2) == 0) {
        status = bz_yield(scene->world->loop);
    }
    return status;
}

Test(liveness, a_draw_may_lead_out_of_a_cycle_or_not) {
    static bz_task_fn *const ends[] = {turns_until_drawn, NULL};
    static bz_task_fn *const never[] = {turns_whatever_is_drawn, NULL};
    for (int order = BZ_ORDER_ANY; order <= BZ_ORDER_FIFO; order++) {
        search(&bz_variant_buzzer, (enum bz_order)order, ends);
        cr_assert(result.has_cycles);
        expect_live(BZ_LIVENESS_FAIR);
        search(&bz_variant_buzzer, (enum bz_order)order, never);
        expect_live(BZ_LIVENESS_OPEN);
        cr_assert(strstr(result.liveness_text, "no order leads out of it") != NULL);
    }
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

Test(liveness, a_pending_timer_leads_out_of_a_cycle) {
    static bz_task_fn *const pair[] = {turns_until_late, sleeps, NULL};
    search(&bz_variant_buzzer, BZ_ORDER_ANY, pair);
    cr_assert(result.has_cycles);
    expect_live(BZ_LIVENESS_FAIR);
}

/* --- starvation ------------------------------------------------------------------------------- */

/* A task that polls goes round while the permit is taken, and its holder is ready all the time. */
Test(liveness, is_silent_about_waiters_that_poll) {
    for (int order = BZ_ORDER_ANY; order <= BZ_ORDER_FIFO; order++) {
        search(&polling, (enum bz_order)order, workers);
        cr_assert_eq(result.has_cycles, order == BZ_ORDER_ANY);
        expect_live(order == BZ_ORDER_ANY ? BZ_LIVENESS_FAIR : BZ_LIVENESS_ENDS);
    }
}

static enum bz_status works_for_ever(void *arg) {
    enum bz_status status = BZ_OK;
    while (status == BZ_OK) {
        status = works(arg);
    }
    return status;
}

/* It lets others in between two rounds. */
static enum bz_status works_with_pauses(void *arg) {
    const struct scene *scene = arg;
    enum bz_status status = BZ_OK;
    while (status == BZ_OK) {
        status = works(arg);
        status = status == BZ_OK ? bz_yield(scene->world->loop) : status;
    }
    return status;
}

static bz_task_fn *const endless[] = {works_for_ever, works_for_ever, works_for_ever, NULL};
static bz_task_fn *const pausing[] = {works_with_pauses, works_with_pauses, NULL};

Test(liveness, proves_that_a_queue_starves_nobody_in_a_program_without_end) {
    for (int order = BZ_ORDER_ANY; order <= BZ_ORDER_FIFO; order++) {
        search(&bz_variant_buzzer, (enum bz_order)order, endless);
        cr_assert(result.has_cycles);
        expect_live(BZ_LIVENESS_FAIR);
    }
}

/* Releases and takes again in one step, so whoever waits has no chance in any order. It begins only
 * if two others came before it: two delays. */
static enum bz_status hogs_if_it_is_late(void *arg) {
    return ((struct scene *)arg)->turn == 2 ? works_for_ever(arg) : BZ_OK;
}

Test(liveness, finds_a_starvation_that_no_round_has_come_to) {
    static bz_task_fn *const crowd[] = {hogs_if_it_is_late, comes, comes, works};
    search(&barging, BZ_ORDER_ANY, crowd);
    expect_found("starvation", 2);
}

Test(liveness, finds_a_starvation_in_the_order_of_a_loop) {
    search(&barging, BZ_ORDER_FIFO, endless);
    cr_assert_eq(result.finding_count, 1);
    cr_assert_str_eq((char *)result.findings[0].violation.oracle, (char *)"starvation");
}

/* In a fair order, it is just never the waiter's turn while the permit is free. */
Test(liveness, a_waiter_that_other_orders_serve_is_open) {
    static const struct bz_variant *const variants[] = {&polling, &barging};
    for (size_t index = 0; index < 2; index++) {
        search(variants[index], BZ_ORDER_ANY, pausing);
        expect_live(BZ_LIVENESS_OPEN);
        cr_assert(strstr(result.liveness_text, "can be overtaken forever") != NULL);
        cr_assert(strstr(result.liveness_text, "'permits'") != NULL);
    }
}

/* --- what proves nothing, and what has no states -----------------------------------------------
 */

/* A search that was not complete says nothing of schedules that never end. */
Test(liveness, is_not_judged_after_a_search_that_was_cut_short) {
    struct bz_explore_config config = {
        .program = &program, .delays_max = BZ_EXPLORE_UNBOUNDED, .reductions = BZ_REDUCE_ALL};
    search(&bz_variant_buzzer, BZ_ORDER_ANY, endless);
    config.states_max = result.states / 2;
    cr_assert(bz_explore(&config, &result));
    cr_assert_eq(result.end, BZ_EXPLORE_STATES_MAX);
    cr_assert_eq(result.liveness, BZ_LIVENESS_UNJUDGED);
}

/* Without snapshots each schedule is run to its end. */
Test(liveness, is_known_without_snapshots_if_every_schedule_ends) {
    search(&bz_variant_buzzer, BZ_ORDER_ANY, workers);
    struct bz_explore_config config = {.program = &program, .delays_max = BZ_EXPLORE_UNBOUNDED};
    cr_assert(bz_explore(&config, &result));
    expect_live(BZ_LIVENESS_ENDS);
}
