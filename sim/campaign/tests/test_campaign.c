/* A campaign gives one result, whatever the number of workers. */
#include "sim/campaign/campaign.h"

#include <malloc.h>

#include "sim/tests/crowd.h"

static void expect_same(const struct bz_campaign_result *a, const struct bz_campaign_result *b) {
    cr_assert_eq(a->runs, b->runs);
    cr_assert_eq(a->violations, b->violations);
    cr_assert_eq(a->digest, b->digest);
    cr_assert_eq(a->distinct, b->distinct);
    cr_assert_eq(a->handoff_orders, b->handoff_orders);
    cr_assert_eq(a->handoff_orders_once, b->handoff_orders_once);
    cr_assert_eq(a->handoff_new_ppm, b->handoff_new_ppm);
    cr_assert_eq(a->stats.steps, b->stats.steps);
    cr_assert_eq(a->stats.injected, b->stats.injected);
    cr_assert_eq(memcmp(a->stats.windows, b->stats.windows, sizeof a->stats.windows), 0);
    cr_assert_eq(memcmp(a->by_oracle, b->by_oracle, sizeof a->by_oracle), 0);
    cr_assert_eq(a->finding_count, b->finding_count);
    for (uint32_t index = 0; index < a->finding_count; index++) {
        cr_assert_eq(a->findings[index].seed, b->findings[index].seed);
        cr_assert_eq(a->findings[index].digest, b->findings[index].digest);
        cr_assert_eq(a->findings[index].count, b->findings[index].count);
        tst_text(a->findings[index].violation.message, b->findings[index].violation.message);
    }
}

Test(campaign, result_does_not_depend_on_the_number_of_workers) {
    static const struct bz_variant *const variants[] = {&crowd_sound, &crowd_drops};
    for (int which = 0; which < 4; which++) {
        struct bz_program program;
        crowd_program(&program, variants[which / 2], BZ_ORDER_ANY);
        bool keep_going = which % 2 == 1;
        struct bz_campaign_result one = crowd_campaign(&program, 100, 5000, 1, keep_going);
        cr_assert_eq(one.violations > 0, which / 2 == 1);
        static const uint32_t jobs[] = {0, 2, 5};
        for (int index = 0; index < 3; index++) {
            struct bz_campaign_result many =
                crowd_campaign(&program, 100, 5000, jobs[index], keep_going);
            expect_same(&one, &many);
        }
    }
}

Test(campaign, ends_exactly_with_its_first_violation) {
    struct bz_program program;
    crowd_program(&program, &crowd_drops, BZ_ORDER_ANY);
    struct bz_world *world = bz_program_new_world(&program);
    uint64_t first = 0;
    while (bz_program_run(&program, world, first) != BZ_RUN_VIOLATED) {
        first++;
    }
    struct bz_campaign_result result = crowd_campaign(&program, 0, first + 5000, 2, false);
    cr_assert_eq(result.runs, first + 1);
    cr_assert_eq(result.violations, 1);
    cr_assert_eq(result.findings[0].seed, first);
    cr_assert_eq(result.findings[0].digest, world->judge->digest);
    cr_assert_not(result.is_interrupted);
    struct bz_campaign_result before = crowd_campaign(&program, 0, first, 2, false);
    cr_assert_eq(before.violations, 0);
    cr_assert_eq(before.runs, first);
    bz_world_destroy(world);
}

/* Runs that never come to their end: the campaign ends exactly there, unless one of them did. */
Test(campaign, ends_when_all_of_its_first_runs_were_cut) {
    for (uint32_t jobs = 1; jobs <= 3; jobs++) {
        struct bz_program program;
        struct bz_campaign_result result;
        crowd_program(&program, &crowd_sound, BZ_ORDER_ANY);
        struct bz_campaign_config config = {
            .program = &program, .seed_first = 7, .runs = 1000, .jobs = jobs, .cut_runs_max = 21};
        cr_assert(bz_campaign_run(&config, &result));
        cr_assert_eq(result.runs, 1000);
        cr_assert_not(result.is_cut_off);
        program.steps_max = 5;
        cr_assert(bz_campaign_run(&config, &result));
        cr_assert_eq(result.runs, 21);
        cr_assert_eq(result.out_of_steps, 21);
        cr_assert_eq(result.seed_cut, 7);
        cr_assert(result.is_cut_off);
        cr_assert_not(result.is_interrupted);
        config.runs = 21; /* all that were asked for */
        cr_assert(bz_campaign_run(&config, &result));
        cr_assert_eq(result.runs, 21);
        cr_assert_not(result.is_cut_off);
        config.runs = 1000;
        config.cut_runs_max = 0;
        cr_assert(bz_campaign_run(&config, &result));
        cr_assert_eq(result.runs, 1000);
    }
}

/* Seeds wrap: the last one is followed by 0. */
Test(campaign, seeds_wrap) {
    struct bz_program program;
    crowd_program(&program, &crowd_sound, BZ_ORDER_ANY);
    struct bz_campaign_result result = crowd_campaign(&program, UINT64_MAX - 9, 20, 2, false);
    cr_assert_eq(result.runs, 20);
    cr_assert_eq(result.distinct, 20);
}

static bool stops_at_once(void *context, const struct bz_campaign_result *so_far) {
    uint64_t *calls = context;
    (void)so_far;
    ++*calls;
    return false;
}

static bool goes_on(void *context, const struct bz_campaign_result *so_far) {
    uint64_t *last = context;
    cr_assert_leq(*last, so_far->runs);
    *last = so_far->runs;
    return true;
}

Test(campaign, can_be_interrupted_and_says_so) {
    struct bz_program program;
    crowd_program(&program, &crowd_sound, BZ_ORDER_ANY);
    uint64_t calls = 0;
    struct bz_campaign_config config = {.program = &program,
                                        .runs = UINT64_C(1) << 40,
                                        .jobs = 2,
                                        .poll = stops_at_once,
                                        .context = &calls};
    struct bz_campaign_result result;
    cr_assert(bz_campaign_run(&config, &result));
    cr_assert(result.is_interrupted);
    cr_assert_lt(0, calls);
    cr_assert_lt(result.runs, 1000000);
    uint64_t last = 0;
    config.runs = 5000;
    config.poll = goes_on;
    config.context = &last;
    cr_assert(bz_campaign_run(&config, &result));
    cr_assert_not(result.is_interrupted);
    cr_assert_eq(result.runs, 5000);
    sig_atomic_t stop = 1;
    config.stop = &stop;
    cr_assert(bz_campaign_run(&config, &result));
    cr_assert(result.is_interrupted);
    cr_assert_eq(result.runs, 0);
}

/* A task that would go on for longer than anybody waits; at its 100,000th step somebody has had
 * enough. */
static sig_atomic_t enough;

static enum bz_status run_for_ever(void *arg) {
    struct bz_world *world = arg;
    while (bz_yield(world->loop) == BZ_OK) {
        enough = world->judge->step >= 100000;
    }
    return BZ_CANCELLED;
}

static void *endless_setup(struct bz_world *world, const struct bz_scenario_args *args) {
    (void)args;
    (void)bz_task_spawn(world->loop, "a", 0, run_for_ever, world);
    (void)bz_task_spawn(world->loop, "b", 0, run_for_ever, world);
    return NULL;
}

Test(campaign, can_be_interrupted_in_the_middle_of_a_run) {
    static const struct bz_scenario endless = {.name = "endless",
                                               .summary = "two tasks that never end",
                                               .params = crowd_params,
                                               .primitives = {BZ_PRIMITIVE_SEMAPHORE},
                                               .primitive_count = 1,
                                               .setup = endless_setup};
    static const enum bz_order orders[] = {BZ_ORDER_ANY, BZ_ORDER_FIFO};
    for (int index = 0; index < 2; index++) {
        struct bz_program program;
        bz_program_init(&program, &endless, &crowd_sound, &bz_strategy_random);
        program.order = orders[index];
        program.steps_max = BZ_STEPS_LIMIT;
        program.cancel_windows = BZ_WINDOWS_NONE;
        enough = 0;
        struct bz_campaign_config config = {.program = &program, .runs = 10, .stop = &enough};
        struct bz_campaign_result result;
        cr_assert(bz_campaign_run(&config, &result));
        cr_assert(result.is_interrupted);
        cr_assert_eq(result.runs, 0);
        cr_assert_eq(result.violations, 0);
        cr_assert_leq(100000, result.stats.steps);
        cr_assert_lt(result.stats.steps, 100000 + 2 * BZ_STEPS_BETWEEN_LOOKS);
    }
}

/* Looking for a stop, again and again in a long run, changes nothing: step by step, without a look,
 * it is the same run. */
Test(campaign, long_runs_are_those_of_single_steps) {
    static const enum bz_order orders[] = {BZ_ORDER_ANY, BZ_ORDER_FIFO};
    sig_atomic_t never = 0;
    for (uint64_t seed = 0; seed < 4; seed++) {
        struct bz_program program;
        crowd_program(&program, &crowd_sound, orders[seed % 2]);
        program.args.values[CROWD_GUESTS] = 20;
        program.args.values[CROWD_ROUNDS] = 1000;
        program.steps_max = BZ_STEPS_BETWEEN_LOOKS + 1000 * (uint32_t)seed;
        struct bz_world *world = bz_program_new_world(&program);
        bz_judge_watch_stop(world->judge, &never);
        bz_program_run(&program, world, seed);
        struct bz_world *single = bz_program_new_world(&program);
        bz_judge_begin(single->judge, &(struct bz_run_start){.seed = seed});
        bz_world_begin(single);
        (void)program.scenario->setup(single, &program.args);
        bz_judge_end_step(single->judge);
        while (!single->judge->is_stopped && single->judge->step < program.steps_max &&
               bz_world_step(single)) {
        }
        cr_assert_eq(world->judge->step, single->judge->step);
        cr_assert_eq(world->judge->digest, single->judge->digest);
        bz_world_destroy(single);
        bz_world_destroy(world);
    }
}

/* One default run is all that fifo has to show. */
Test(campaign, counts_different_runs) {
    struct bz_program program;
    crowd_program(&program, &crowd_sound, BZ_ORDER_ANY);
    program.strategy = &bz_strategy_fifo;
    struct bz_campaign_result result = crowd_campaign(&program, 0, 1000, 2, false);
    cr_assert_eq(result.distinct, 1);
    cr_assert(result.distinct_is_exact);
    program.strategy = &bz_strategy_random;
    result = crowd_campaign(&program, 0, 1000, 2, false);
    cr_assert_lt(900, result.distinct);
    cr_assert_leq(result.distinct, 1000);
}

/* A campaign reports its runs; and its estimate is near what further runs show. */
Test(campaign, counts_orders_of_hand_offs_and_foretells_new_ones) {
    enum { RUNS = 4000, SEEDS = 2 * RUNS };
    static uint64_t seen[SEEDS];
    struct bz_program program;
    crowd_program(&program, &crowd_sound, BZ_ORDER_ANY);
    struct bz_world *world = bz_program_new_world(&program);
    uint64_t distinct = 0;
    uint64_t once = 0;
    uint64_t new_ones = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        bz_program_run(&program, world, seed);
        seen[seed] = bz_shadow_handoffs(&world->judge->shadow);
        uint32_t before = 0;
        for (uint64_t other = 0; other < RUNS; other++) {
            before += other < seed && seen[other] == seen[seed];
        }
        distinct += seed < RUNS && before == 0;
        new_ones += seed >= RUNS && before == 0;
    }
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        uint32_t twins = 0;
        for (uint64_t other = 0; other < RUNS; other++) {
            twins += seen[other] == seen[seed];
        }
        once += twins == 1;
    }
    bz_world_destroy(world);
    struct bz_campaign_result result = crowd_campaign(&program, 0, RUNS, 1, false);
    cr_assert(result.handoff_is_exact);
    cr_assert_eq(result.handoff_orders, distinct);
    cr_assert_eq(result.handoff_orders_once, once);
    cr_assert_eq(result.handoff_new_ppm, (once * 1000000 + RUNS / 2) / RUNS);
    uint64_t foretold = (uint64_t)result.handoff_new_ppm * RUNS / 1000000;
    cr_assert_lt(100, new_ones, "too few to compare");
    cr_assert_leq(foretold > new_ones ? foretold - new_ones : new_ones - foretold, RUNS / 40,
                  "foretold %u, and there were %u", (unsigned)foretold, (unsigned)new_ones);
}

Test(campaign, keeps_no_memory) {
    struct bz_program program;
    crowd_program(&program, &crowd_sound, BZ_ORDER_ANY);
    crowd_campaign(&program, 0, 1000, 2, false);
    size_t before = mallinfo2().uordblks;
    crowd_campaign(&program, 0, 20000, 2, false);
    size_t after = mallinfo2().uordblks;
    cr_assert_leq(after, before + 4096);
}

/* --- findings --------------------------------------------------------------------------------- */

/* Each run fails, in one of many ways; the rarest is of another oracle. */
enum { WAYS = 40, RARE_WAY = WAYS - 1 };

static enum bz_status fail_somehow(void *arg) {
    struct bz_world *world = arg;
    uint32_t way = (uint32_t)bz_world_draw(world, "way", WAYS);
    uint32_t half = way == RARE_WAY ? (uint32_t)bz_world_draw(world, "half", 2) : 0;
    bz_judge_violate(world->judge, way == RARE_WAY && half == 1 ? "misuse" : "assertion", 1, way,
                     "way %u", way);
    return BZ_OK;
}

static void *ways_setup(struct bz_world *world, const struct bz_scenario_args *args) {
    (void)args;
    (void)bz_task_spawn(world->loop, "a", 0, fail_somehow, world);
    return NULL;
}

static const struct bz_scenario ways = {.name = "ways",
                                        .summary = "fails in many ways",
                                        .params = crowd_params,
                                        .primitives = {BZ_PRIMITIVE_SEMAPHORE},
                                        .primitive_count = 1,
                                        .setup = ways_setup};

struct seen {
    uint64_t runs; /* after the last finding; the next state has as many */
    uint64_t findings;
    uint64_t states;
};

static void see_finding(void *context, uint32_t place, const struct bz_finding *finding) {
    struct seen *seen = context;
    cr_assert_lt(place, BZ_FINDINGS_MAX);
    cr_assert_lt(seen->runs, finding->seed + 1, "a finding before an earlier one");
    seen->runs = finding->seed + 1;
    seen->findings++;
}

static void see_state(void *context, const struct bz_campaign_state *state, bool is_last) {
    struct seen *seen = context;
    (void)is_last;
    cr_assert(seen->findings == seen->states || state->result.runs >= seen->runs);
    if (seen->findings > seen->states) {
        cr_assert_eq(state->result.runs, seen->runs, "not the state right after the finding");
        seen->states++;
    }
}

/* Checks the header run by run. */
static void expect_findings(const struct bz_program *program,
                            const struct bz_campaign_result *result) {
    struct bz_finding kept[BZ_FINDINGS_MAX];
    uint32_t count = 0;
    struct bz_world *world = bz_program_new_world(program);
    for (uint64_t seed = 0; seed < result->runs; seed++) {
        cr_assert(bz_program_run(program, world, seed) == BZ_RUN_VIOLATED);
        const struct bz_violation *violation = bz_judge_violation(world->judge);
        bool is_misuse = strcmp(violation->oracle, "misuse") == 0;
        bool has_misuse = false;
        uint32_t place = 0;
        while (place < count && (kept[place].violation.object != violation->object ||
                                 strcmp(kept[place].violation.oracle, violation->oracle) != 0)) {
            has_misuse |= strcmp(kept[place].violation.oracle, "misuse") == 0;
            place++;
        }
        if (place < count) {
            kept[place].count++;
        } else if (count < BZ_FINDINGS_MAX || (is_misuse && !has_misuse)) {
            place = count < BZ_FINDINGS_MAX ? count++ : BZ_FINDINGS_MAX - 1;
            kept[place] = (struct bz_finding){.seed = seed, .count = 1, .violation = *violation};
        }
    }
    bz_world_destroy(world);
    cr_assert_eq(result->finding_count, count);
    for (uint32_t index = 0; index < count; index++) {
        cr_assert_eq(result->findings[index].seed, kept[index].seed);
        cr_assert_eq(result->findings[index].count, kept[index].count);
    }
}

Test(campaign, equal_findings_are_counted_and_passed_on_in_order_of_seeds) {
    struct bz_program program;
    bz_program_init(&program, &ways, &crowd_sound, &bz_strategy_random);
    program.cancels_max = 0;
    for (uint32_t jobs = 1; jobs <= 5; jobs += 2) {
        struct seen seen = {.runs = 0};
        struct bz_campaign_config config = {.program = &program,
                                            .runs = 3000,
                                            .jobs = jobs,
                                            .keep_going = true,
                                            .on_finding = see_finding,
                                            .on_state = see_state,
                                            .context = &seen};
        struct bz_campaign_result result;
        cr_assert(bz_campaign_run(&config, &result));
        cr_assert_eq(result.violations, 3000);
        cr_assert_eq(seen.findings, BZ_FINDINGS_MAX + 1, "the rare one came too soon");
        expect_findings(&program, &result);
    }
}
