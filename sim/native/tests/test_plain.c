/* Steps one by one make the same run as a run in one go. */
#include "sim/choice/rng.h"
#include "sim/choice/strategy_replay.h"
#include "sim/tests/crowd.h"

#define SEEDS 200u

/* A variant that breaks the rules: every fifth call of locked() spawns a task. */
static uint32_t chatty_calls;

static enum bz_status say_nothing(void *arg) {
    (void)arg;
    return BZ_OK;
}

static bool chatty_locked(void *instance) {
    struct bz_zoo_semaphore *toy = instance;
    if (++chatty_calls % 5 == 0) {
        struct bz_task *task = bz_task_spawn(toy->queue.loop, "chat", 0, say_nothing, NULL);
        if (task != NULL) {
            bz_task_detach(task);
        }
    }
    return toy_locked(instance);
}

TOY(chatty, TOY_CLAIMS_ALL, .locked = chatty_locked);

/* The run of this seed, driven from outside step by step. */
static void run_singly(const struct bz_program *program, struct bz_world *world, uint64_t seed) {
    chatty_calls = 0;
    bz_judge_begin(world->judge, &(struct bz_run_start){.seed = seed});
    bz_world_begin(world);
    (void)program->scenario->setup(world, &program->args);
    bz_judge_end_step(world->judge);
    bool goes_on = true;
    while (goes_on && !world->judge->is_stopped && world->judge->step < program->steps_max) {
        goes_on = bz_world_step(world);
    }
    if (goes_on && !world->judge->is_stopped) {
        world->judge->end = BZ_RUN_OUT_OF_STEPS;
    }
    bz_judge_end(world->judge);
}

static void expect_same(const struct bz_world *world, const struct bz_world *single,
                        uint64_t seed) {
    cr_assert_eq(world->judge->step, single->judge->step, "seed %u", (unsigned)seed);
    cr_assert_eq(world->judge->digest, single->judge->digest, "seed %u", (unsigned)seed);
    cr_assert_eq(world->judge->end, single->judge->end, "seed %u", (unsigned)seed);
    cr_assert_eq((void *)world->judge->violation.oracle, (void *)single->judge->violation.oracle);
    cr_assert_eq(world->judge->tape.count, single->judge->tape.count);
    for (size_t index = 0; index < world->judge->tape.count; index++) {
        const struct bz_choice *a = &world->judge->tape.choices[index];
        const struct bz_choice *b = &single->judge->tape.choices[index];
        cr_assert_eq(a->step, b->step);
        cr_assert_eq(a->owner, b->owner);
        cr_assert_eq(a->nth, b->nth);
        cr_assert_eq(a->kind, b->kind);
    }
}

/* How many of the runs ended as `end`. */
static uint32_t compare(const struct bz_variant *variant, const struct bz_strategy *strategy,
                        uint32_t steps_max, uint32_t cancels_max, enum bz_run_end end) {
    struct bz_program program;
    crowd_program(&program, variant, BZ_ORDER_ANY);
    program.strategy = strategy;
    program.steps_max = steps_max;
    program.cancels_max = cancels_max;
    cr_assert(bz_program_measure(&program));
    struct bz_world *world = bz_program_new_world(&program);
    struct bz_world *single = bz_program_new_world(&program);
    uint32_t count = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        chatty_calls = 0;
        bz_program_run(&program, world, seed);
        run_singly(&program, single, seed);
        expect_same(world, single, seed);
        count += world->judge->end == end;
    }
    bz_world_destroy(single);
    bz_world_destroy(world);
    return count;
}

Test(plain, runs_are_those_of_single_steps) {
    static const struct bz_strategy *const strategies[] = {
        &bz_strategy_random, &bz_strategy_pct, &bz_strategy_delay, &bz_strategy_measure};
    for (int index = 0; index < 4; index++) {
        for (uint32_t cancels = 0; cancels < 4; cancels++) {
            uint32_t passed =
                compare(&crowd_sound, strategies[index], 1000, cancels, BZ_RUN_PASSED);
            cr_assert_eq(passed, SEEDS);
        }
    }
}

Test(plain, the_limit_of_steps_is_where_it_was) {
    for (uint32_t most = 1; most < 30; most++) {
        (void)compare(&crowd_sound, &bz_strategy_random, most, 2, BZ_RUN_OUT_OF_STEPS);
    }
    uint32_t cut = compare(&crowd_sound, &bz_strategy_random, 10, 2, BZ_RUN_OUT_OF_STEPS);
    cr_assert_eq(cut, SEEDS);
}

Test(plain, a_violation_ends_them_where_it_did) {
    uint32_t violated = compare(&crowd_drops, &bz_strategy_random, 1000, 2, BZ_RUN_VIOLATED);
    cr_assert_lt(0, violated);
}

/* A strategy chooses before the call, a replay after it. Both give the same run. */
Test(plain, a_task_that_is_spawned_while_a_variant_is_looked_at_replays) {
    struct bz_program program;
    crowd_program(&program, &chatty, BZ_ORDER_ANY);
    struct bz_world *world = bz_program_new_world(&program);
    struct bz_world *replay = bz_program_new_world(&program);
    struct bz_program_place place = {.program = &program, .world = replay};
    struct bz_source source = bz_program_source(&place);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        chatty_calls = 0;
        bz_program_run(&program, world, seed);
        chatty_calls = 0;
        (void)bz_judge_run(replay->judge, &source,
                           &(struct bz_run_start){.seed = seed,
                                                  .strategy = &bz_strategy_replay_strict,
                                                  .tape = &world->judge->tape});
        expect_same(world, replay, seed);
    }
    bz_world_destroy(replay);
    bz_world_destroy(world);
}

/* A strategy that, after some choice points, chooses an index beyond the ready queue. */
static uint32_t questions_left;

static uint32_t wrong_next(void *state, const struct bz_ready *ready, uint32_t count,
                           uint32_t step) {
    (void)state;
    (void)ready;
    (void)step;
    return questions_left-- == 0 ? count : 0;
}

static void ask_wrongly(uint32_t question) {
    struct bz_strategy wrong = stage_strategy;
    wrong.next = wrong_next;
    struct bz_program program;
    crowd_program(&program, &crowd_sound, BZ_ORDER_ANY);
    questions_left = question;
    program.strategy = &wrong;
    struct bz_world *world = bz_program_new_world(&program);
    bz_program_run(&program, world, 0);
}

Test(plain, a_choice_beyond_the_queue_stops_the_process, .signal = SIGABRT) {
    ask_wrongly(0);
}

Test(plain, so_does_a_later_one, .signal = SIGABRT) {
    ask_wrongly(3);
}
