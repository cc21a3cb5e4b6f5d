/* A profile is a fact of the program; and strategies that need one are as repeatable as others. */
#include "sim/campaign/campaign.h"
#include "sim/tests/crowd.h"

static struct bz_profile measure(const struct bz_program *program) {
    struct bz_program measured = *program;
    measured.strategy = &bz_strategy_pct; /* which needs one */
    memset(&measured.profile, 0xa5, sizeof measured.profile);
    measured.profile.steps = 0; /* not measured */
    cr_assert(bz_program_measure(&measured));
    return measured.profile;
}

/* The mean length of runs under random, to compare with. */
static uint64_t mean_steps(const struct bz_program *program) {
    struct bz_world *world = bz_program_new_world(program); /* whose strategy is random */
    for (uint64_t seed = 0; seed < 500; seed++) {
        bz_program_run(program, world, seed);
    }
    uint64_t mean = world->judge->stats.steps / world->judge->stats.runs;
    bz_world_destroy(world);
    return mean;
}

Test(profile, tells_how_long_runs_are) {
    for (int order = 0; order < 2; order++) {
        struct bz_program program;
        crowd_program(&program, &crowd_sound, (enum bz_order)order);
        struct bz_profile profile = measure(&program);
        uint64_t mean = mean_steps(&program);
        cr_assert_lt(mean * 3 / 4, profile.steps);
        cr_assert_lt(profile.steps, mean * 5 / 4);
        cr_assert_eq(profile.tasks, 4);
        uint32_t sum = 0;
        for (uint32_t task = 0; task < BZ_PROFILE_TASKS_MAX; task++) {
            cr_assert_eq(profile.task_steps[task] > 1, task >= 1 && task <= 4);
            sum += profile.task_steps[task];
        }
        cr_assert_leq(sum, profile.steps); /* the rest are timers and cancels */
        cr_assert_lt(profile.steps / 2, sum);
        cr_assert_neq(profile.cancellers, 0); /* guests 2 to 4, into guest 1 */
        cr_assert_eq(profile.cancellers & ~UINT64_C(0x1c), 0);
        cr_assert_lt(2, profile.points);
        cr_assert_leq(profile.points, 2 * profile.steps);
    }
}

Test(profile, is_the_same_every_time) {
    struct bz_program program;
    crowd_program(&program, &crowd_drops, BZ_ORDER_ANY);
    struct bz_profile once = measure(&program);
    program.strategy = &bz_strategy_pct;
    program.cancels_max = 7;
    struct bz_profile again = measure(&program);
    cr_assert_eq(memcmp(&once, &again, sizeof once), 0);
    program.cancel_windows = BZ_WINDOWS_NONE;
    cr_assert_eq(measure(&program).points, 0);
}

/* A program whose runs are long costs one run that is cut short, and none is no length. */
Test(profile, has_limits) {
    struct bz_program program;
    crowd_program(&program, &crowd_sound, BZ_ORDER_ANY);
    program.args.values[CROWD_ROUNDS] = 1000;
    program.args.values[CROWD_GUESTS] = 100;
    program.steps_max = 10000000;
    program.cancel_windows = BZ_WINDOWS_NONE;
    struct bz_profile profile = measure(&program);
    cr_assert_eq(profile.steps, 20000);
    cr_assert_eq(profile.tasks, 100);
    program.steps_max = 1;
    cr_assert_eq(measure(&program).steps, 1);
}

/* Code that writes over the judge, or dies, once in its process, in one of the measured runs. */
enum strike { NO_STRIKE, AT_SUMS, AT_STRATEGY, AT_CANCELS, AT_STEPS, AN_END, STRIKES };
static enum strike strike;
static uint32_t calls; /* of this process */
static struct bz_judge *struck;

static void *setup_of_struck(struct bz_world *world, const struct bz_scenario_args *args) {
    struck = world->judge;
    return crowd_scenario.setup(world, args);
}

static enum bz_status strikes(void *instance) {
    calls++;
    if (calls == 40 && strike == AT_SUMS) {
        memset(&struck->sums->runs, 0x5a, 64);
    } else if (calls == 40 && strike == AT_STRATEGY) {
        memset(struck->strategy_state, 0x5a, struck->strategy_bytes);
    } else if (calls == 40 && strike == AT_CANCELS) {
        struck->config.cancels_max = 0;
    } else if (calls == 40 && strike == AT_STEPS) {
        struck->step += 1000;
    } else if (calls == 40 && strike == AN_END) {
        abort();
    }
    return bz_zoo_ops_sem_woken_cancel.acquire(instance);
}

Test(profile, is_that_of_runs_that_were_not_struck) {
    struct bz_scenario scenario = crowd_scenario;
    struct bz_permit_ops ops = bz_zoo_ops_sem_woken_cancel;
    struct bz_variant variant = crowd_drops;
    scenario.setup = setup_of_struck;
    ops.acquire = strikes;
    variant.permits[BZ_PRIMITIVE_SEMAPHORE] = &ops;
    struct bz_program program;
    crowd_program(&program, &variant, BZ_ORDER_ANY);
    program.scenario = &scenario;
    const struct bz_profile wanted = measure(&program);
    program.contain.is_on = true;
    for (strike = NO_STRIKE; strike < STRIKES; strike++) {
        calls = 0;
        struct bz_profile profile = measure(&program);
        cr_assert_eq(memcmp(&wanted, &profile, sizeof wanted), 0, "%d", (int)strike);
    }
}

/* Under every strategy a seed means the same run, whoever runs it, and after whatever. */
Test(profile, campaigns_do_not_depend_on_workers_or_on_what_came_before) {
    for (size_t which = 0; bz_strategies[which] != NULL; which++) {
        for (int order = 0; order < 2; order++) {
            struct bz_program program;
            crowd_program(&program, &crowd_drops, (enum bz_order)order);
            program.strategy = bz_strategies[which];
            struct bz_campaign_result one = crowd_campaign(&program, 0, 1000, 1, true);
            struct bz_campaign_result many = crowd_campaign(&program, 0, 1000, 3, true);
            bool is_default =
                program.strategy == &bz_strategy_fifo || program.strategy == &bz_strategy_answers;
            cr_assert_eq(one.stats.injected > 150, !is_default, "%s", program.strategy->name);
            cr_assert_eq(one.digest, many.digest, "%s", program.strategy->name);
            cr_assert_eq(one.violations, many.violations);
            cr_assert_eq(one.by_oracle[0], many.by_oracle[0]);
            struct bz_world *world = bz_program_new_world(&program);
            struct bz_world *late = bz_program_new_world(&program);
            for (uint64_t seed = 0; seed < 200; seed++) {
                bz_program_run(&program, world, seed);
            }
            bz_program_run(&program, late, 199);
            cr_assert_eq(world->judge->digest, late->judge->digest, "%s", program.strategy->name);
            bz_world_destroy(world);
            bz_world_destroy(late);
        }
    }
}

/* --- liveness --------------------------------------------------------------------------------- */

struct wait {
    struct bz_world *world;
    bool is_over;
};

static enum bz_status spin(void *arg) {
    struct wait *wait = arg;
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && !wait->is_over) {
        status = bz_yield(wait->world->loop);
    }
    return status;
}

static enum bz_status end_wait(void *arg) {
    struct wait *wait = arg;
    enum bz_status status = bz_yield(wait->world->loop);
    wait->is_over = true;
    return status;
}

static void *spin_setup(struct bz_world *world, const struct bz_scenario_args *args) {
    struct wait *wait = bz_world_alloc(world, sizeof *wait);
    (void)args;
    wait->world = world;
    bz_task_spawn(world->loop, "spinner", 1, spin, wait);
    bz_task_spawn(world->loop, "other", 1, end_wait, wait);
    return wait;
}

static const struct bz_param spin_params[] = {{0}};
static const struct bz_scenario spin_scenario = {.name = "spin",
                                                 .summary = "one polls for what the other does",
                                                 .params = spin_params,
                                                 .primitives = {BZ_PRIMITIVE_SEMAPHORE},
                                                 .primitive_count = 1,
                                                 .setup = spin_setup};

/* However few steps a run may take: the unfair part of it must be over in time. */
Test(profile, a_short_budget_makes_nobody_a_livelock) {
    for (size_t which = 0; bz_strategies[which] != NULL; which++) {
        for (uint32_t most = 60; most <= 1000; most += 94) {
            struct bz_program program;
            bz_program_init(&program, &spin_scenario, &crowd_sound, bz_strategies[which]);
            program.steps_max = most;
            program.cancel_windows = BZ_WINDOWS_NONE;
            struct bz_campaign_result result = crowd_campaign(&program, 0, 500, 1, true);
            cr_assert_eq(result.violations, 0, "%s, %u steps: %s", program.strategy->name, most,
                         result.findings[0].violation.message);
        }
    }
}
