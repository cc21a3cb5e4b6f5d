/* Every strategy keeps the rules of strategy.h, and each does what its file says. The loop here is
 * a queue of handles: tasks that are always ready, unless a test takes one out. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/runtime/driver.h"
#include "sim/choice/strategy.h"

#define TASKS_MAX 8u
#define STEPS_MAX 4000u

struct stage {
    const struct bz_strategy *named;
    const struct bz_strategy *strategy; /* the same, or what it selects */
    void *state;
    struct bz_profile profile;
    struct bz_ready ready[TASKS_MAX]; /* the oldest first */
    uint32_t ready_count;
    uint32_t owners[STEPS_MAX + 1];  /* who ran, by step */
    uint32_t indices[STEPS_MAX + 1]; /* what next() said */
};

/* Tasks 1 to `tasks`, of which each is expected to take an equal part of `steps`. */
static struct stage *stage_new(const struct bz_strategy *strategy, uint32_t tasks, uint32_t steps) {
    struct stage *stage = calloc(1, sizeof *stage);
    stage->named = strategy;
    stage->strategy = strategy;
    stage->state = calloc(1, strategy->state_bytes);
    stage->profile = (struct bz_profile){.steps = steps, .tasks = tasks, .points = steps};
    stage->ready_count = tasks;
    for (uint32_t task = 1; task <= tasks; task++) {
        stage->profile.task_steps[task] = steps / tasks;
    }
    return stage;
}

static void stage_free(struct stage *stage) {
    free(stage->state);
    free(stage);
}

static void stage_begin(struct stage *stage, uint64_t seed) {
    for (uint32_t index = 0; index < stage->ready_count; index++) {
        stage->ready[index] = (struct bz_ready){.owner = index + 1, .nth = 1, .role = BZ_ROLE_STEP};
    }
    stage->strategy = stage->named->select == NULL ? stage->named : stage->named->select(seed);
    cr_assert_leq(stage->strategy->state_bytes, stage->named->state_bytes);
    stage->strategy->begin(stage->state,
                           &(struct bz_strategy_start){.seed = seed, .profile = &stage->profile});
}

/* One step: the handle that ran goes to the end of the queue. */
static void stage_step(struct stage *stage, uint32_t step) {
    uint32_t count = stage->ready_count;
    uint32_t index = stage->strategy->next(stage->state, stage->ready, count, step);
    cr_assert_lt(index, count, "%s", stage->strategy->name);
    struct bz_ready handle = stage->ready[index];
    stage->indices[step] = index;
    stage->owners[step] = handle.owner;
    handle.nth++;
    memmove(&stage->ready[index], &stage->ready[index + 1],
            (count - index - 1) * sizeof stage->ready[0]);
    stage->ready[count - 1] = handle;
}

static void stage_run(struct stage *stage, uint64_t seed, uint32_t steps) {
    stage_begin(stage, seed);
    for (uint32_t step = 1; step <= steps; step++) {
        stage_step(stage, step);
    }
}

/* The longest time that a task was ready and did not run. */
static uint32_t longest_wait(const struct stage *stage, uint32_t steps) {
    uint32_t last[TASKS_MAX + 1] = {0};
    uint32_t longest = 0;
    for (uint32_t step = 1; step <= steps + 1; step++) {
        for (uint32_t task = 1; task <= stage->ready_count; task++) {
            bool has_run = step <= steps && stage->owners[step] == task;
            uint32_t wait = step - last[task] - 1;
            longest = has_run || step == steps + 1 ? (wait > longest ? wait : longest) : longest;
            last[task] = has_run ? step : last[task];
        }
    }
    return longest;
}

static uint32_t switches(const struct stage *stage, uint32_t steps) {
    uint32_t count = 0;
    for (uint32_t step = 2; step <= steps; step++) {
        count += stage->owners[step] != stage->owners[step - 1];
    }
    return count;
}

/* --- rules for all ---------------------------------------------------------------------------- */

static const struct bz_cancel_candidate candidates[] = {
    {1, 3, BZ_WINDOW_WAITING}, {2, 1, BZ_WINDOW_WAITING}, {3, 2, BZ_WINDOW_WOKEN}};
#define CANDIDATES 3u

static uint64_t mix(uint64_t hash, uint64_t value) {
    return (hash ^ value) * UINT64_C(0x9fb21c651e98df25) + 1;
}

/* A run with every kind of choice; a hash of the choices. */
static uint64_t interview(struct stage *stage, uint64_t seed, uint32_t extra_draws) {
    static const uint64_t bounds[] = {1, 2, 1000, UINT64_C(1) << 40u, (UINT64_C(1) << 53u) - 1};
    uint64_t hash = 0;
    stage_begin(stage, seed);
    const struct bz_strategy *strategy = stage->strategy;
    for (uint32_t step = 1; step <= 60; step++) {
        stage_step(stage, step);
        hash = mix(hash, stage->indices[step]);
        for (uint32_t extra = 0; extra < extra_draws; extra++) {
            struct bz_draw draw = {.bound = 9, .label = "extra", .owner = 1, .nth = 1};
            (void)strategy->draw(stage->state, BZ_CHOICE_DATA, &draw, step);
        }
        uint32_t gap = strategy->cancel_gap(stage->state);
        uint32_t victim = strategy->cancel(stage->state, candidates, CANDIDATES, step, 0);
        cr_assert_leq(victim, CANDIDATES, "%s", strategy->name);
        hash = mix(mix(hash, gap), victim);
        hash = mix(hash, strategy->jump_gap(stage->state));
        hash = mix(hash, strategy->jump(stage->state, step));
        struct bz_draw draw = {.bound = bounds[step % 5], .label = "x", .owner = 1, .nth = step};
        uint64_t drawn = strategy->draw(stage->state, BZ_CHOICE_DELAY, &draw, step);
        cr_assert_lt(drawn, draw.bound, "%s", strategy->name);
        hash = mix(hash, drawn);
    }
    return hash;
}

Test(searching, answers_depend_on_seed_and_profile_alone) {
    for (size_t which = 0; bz_strategies[which] != NULL; which++) {
        struct stage *one = stage_new(bz_strategies[which], 5, 50);
        struct stage *other = stage_new(bz_strategies[which], 5, 50);
        memset(other->state, 0xa5, bz_strategies[which]->state_bytes); /* what a run left behind */
        uint32_t changes = 0;
        for (uint64_t seed = 1; seed < 90; seed++) {
            uint64_t hash = interview(one, seed, 0);
            cr_assert_eq(hash, interview(other, seed, 0), "%s", one->strategy->name);
            changes += hash != interview(other, seed + 1, 0);
        }
        bool is_default = one->named == &bz_strategy_fifo || one->named == &bz_strategy_answers;
        cr_assert_eq(changes > 80, !is_default, "%s: %u", one->strategy->name, changes);
        stage_free(one);
        stage_free(other);
    }
}

Test(searching, draws_of_data_shift_nothing_else) {
    for (size_t which = 0; bz_strategies[which] != NULL; which++) {
        struct stage *stage = stage_new(bz_strategies[which], 5, 50);
        for (uint64_t seed = 0; seed < 50; seed++) {
            uint64_t hash = interview(stage, seed, 0);
            cr_assert_eq(hash, interview(stage, seed, 3), "%s", stage->strategy->name);
        }
        stage_free(stage);
    }
}

/* No task waits for long after the unfair prefix: four times the length of a run, and a slack. */
Test(searching, strategies_let_everybody_run) {
    for (size_t which = 0; bz_strategies[which] != NULL; which++) {
        struct stage *stage = stage_new(bz_strategies[which], 4, 100);
        for (uint64_t seed = 0; seed < 200; seed++) {
            stage_run(stage, seed, STEPS_MAX);
            uint32_t longest = longest_wait(stage, STEPS_MAX);
            cr_assert_lt(longest, 464 + 120, "%s, seed %llu: %u", stage->strategy->name,
                         (unsigned long long)seed, longest);
        }
        stage_free(stage);
    }
}

/* --- cancels and holds that are planned, see rng.h ---------------------------------------------
 */

#define PLANNED_SEEDS 600u

static bool is_woken(const void *judge, uint32_t task) {
    return task == *(const uint32_t *)judge;
}

/* Begins a run of `delay` with a judge who says that one task is woken: the number there. */
static void begin_woken(struct stage *stage, uint64_t seed, const uint32_t *woken) {
    struct bz_strategy_start start = {.seed = seed,
                                      .profile = &stage->profile,
                                      .is_woken = is_woken,
                                      .last_woken = woken,
                                      .judge = woken};
    stage->strategy->begin(stage->state, &start);
}

Test(searching, cancels_of_a_third_of_the_seeds_wait_for_a_woken_task) {
    struct stage *stage = stage_new(&bz_strategy_delay, 4, 40);
    const struct bz_strategy *delay = stage->strategy;
    uint32_t aimed = 0;
    for (uint64_t seed = 0; seed < PLANNED_SEEDS; seed++) {
        uint32_t woken = 0;
        uint32_t waited = 0;
        begin_woken(stage, seed, &woken);
        while (delay->passes(stage->state)) {
            waited++;
        }
        cr_assert(waited == 0 || waited == 8, "seed %u", (unsigned)seed);
        aimed += waited > 0;
        /* The next one waits again; it strikes where the woken task is. */
        (void)delay->cancel(stage->state, candidates, CANDIDATES, 1, 0);
        cr_assert_eq(delay->passes(stage->state), waited > 0);
        woken = 3;
        cr_assert_not(delay->passes(stage->state));
        uint32_t victim = delay->cancel(stage->state, candidates, CANDIDATES, 1, 0);
        cr_assert(waited > 0 ? victim == 3 : victim != 0, "seed %u", (unsigned)seed);
    }
    cr_assert_lt(PLANNED_SEEDS * 28 / 100, aimed);
    cr_assert_lt(aimed, PLANNED_SEEDS * 38 / 100);
    stage_free(stage);
}

Test(searching, tasks_that_cancel_go_first_while_somebody_is_woken) {
    struct stage *stage = stage_new(&bz_strategy_urw, 4, 40);
    const struct bz_strategy *urw = stage->strategy;
    static const struct bz_ready canceller = {.owner = 2, .nth = 2, .role = BZ_ROLE_STEP};
    static const struct bz_ready other_step = {.owner = 4, .nth = 2, .role = BZ_ROLE_STEP};
    uint32_t rushing = 0;
    for (uint64_t seed = 0; seed < PLANNED_SEEDS; seed++) {
        uint32_t woken = 0;
        stage->profile.cancellers = UINT64_C(1) << 2;
        begin_woken(stage, seed, &woken);
        cr_assert_eq(urw->instead(stage->state, &other_step, 1), 0);
        if (urw->instead(stage->state, &canceller, 1) == 0) { /* it holds woken tasks back */
            continue;
        }
        rushing++;
        cr_assert_eq(urw->instead(stage->state, &canceller, 2), 0, "put off once");
        for (uint32_t wakes = 0; wakes < 3; wakes++) {
            uint32_t steps = 0;
            woken = 3;
            while (urw->instead(stage->state, &other_step, 3) == UINT64_C(1) << 2) {
                steps++;
            }
            cr_assert_eq(steps, 16, "or a task that spins would keep the woken one waiting");
            woken = 0; /* it has resumed */
            cr_assert_eq(urw->instead(stage->state, &other_step, 4), 0);
        }
        stage->profile.cancellers = 0;
        begin_woken(stage, seed, &woken);
        cr_assert_eq(urw->instead(stage->state, &canceller, 1), 0, "nobody cancels");
    }
    cr_assert_lt(PLANNED_SEEDS * 44 / 100, rushing);
    cr_assert_lt(rushing, PLANNED_SEEDS * 56 / 100);
    stage_free(stage);
}

Test(searching, woken_tasks_are_held_back_in_half_of_the_seeds) {
    struct stage *stage = stage_new(&bz_strategy_delay, 4, 40);
    const struct bz_strategy *delay = stage->strategy;
    static const struct bz_ready woken_step = {.owner = 3, .nth = 2, .role = BZ_ROLE_STEP};
    static const struct bz_ready other_step = {.owner = 2, .nth = 2, .role = BZ_ROLE_STEP};
    static const struct bz_ready callback = {.owner = 3, .nth = 1, .role = BZ_ROLE_CALLBACK};
    uint32_t holding = 0;
    uint32_t lengths = 0; /* those seen: bit n is n steps */
    for (uint64_t seed = 0; seed < PLANNED_SEEDS; seed++) {
        uint32_t woken = 3;
        uint32_t step = 1;
        begin_woken(stage, seed, &woken);
        cr_assert_not(delay->instead(stage->state, &other_step, step));
        cr_assert_not(delay->instead(stage->state, &callback, step));
        while (delay->instead(stage->state, &woken_step, step)) {
            step++;
        }
        if (step == 1) {
            continue;
        }
        holding++;
        cr_assert_eq(step % 2, 1); /* a pause of no steps joins two holds */
        lengths |= step <= 17 ? 1u << (step - 1) : 0;
        uint32_t pause_end = step + 4;
        while (!delay->instead(stage->state, &woken_step, step)) {
            step++;
        }
        cr_assert_leq(step, pause_end);
        woken = 0; /* it is cancelled */
        cr_assert_not(delay->instead(stage->state, &woken_step, step + 1));
    }
    cr_assert_eq(lengths & 0x10114u, 0x10114u, "2, 4, 8 and 16 steps");
    cr_assert_lt(PLANNED_SEEDS * 44 / 100, holding);
    cr_assert_lt(holding, PLANNED_SEEDS * 56 / 100);
    stage_free(stage);
}

/* --- pct -------------------------------------------------------------------------------------- */

/* Strict priorities change at most three times, so tasks run in few pieces. */
Test(searching, pct_switches_at_its_change_points_only) {
    struct stage *stage = stage_new(&bz_strategy_pct, 6, 100);
    uint32_t seen[4] = {0};
    for (uint64_t seed = 0; seed < 400; seed++) {
        stage_run(stage, seed, 400);
        uint32_t count = switches(stage, 400);
        cr_assert_lt(count, 4);
        seen[count]++;
        cr_assert_eq(switches(stage, 101), count, "a change after the expected end");
    }
    for (int count = 0; count < 4; count++) {
        cr_assert_lt(60, seen[count], "%d changes: %u of 400", count, seen[count]);
    }
    stage_free(stage);
}

/* A task that becomes ready with the highest priority runs at once. */
Test(searching, pct_priorities_belong_to_tasks) {
    struct stage *stage = stage_new(&bz_strategy_pct, 5, 1000);
    uint32_t undisturbed = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        stage_begin(stage, seed);
        stage_step(stage, 1);
        uint32_t highest = stage->owners[1];
        stage->ready_count--; /* it went to the end: it is not ready */
        stage_step(stage, 2);
        cr_assert_neq(stage->owners[2], highest);
        stage->ready_count++;
        stage_step(stage, 3);
        undisturbed += stage->owners[3] == highest;
    }
    cr_assert_lt(190, undisturbed);
    stage_free(stage);
}

/* In half of the seeds a task that has yielded runs after those that have not; in the others it
 * keeps its priority. A test says who has yielded by a bit mask. */
static bool is_in_mask(const void *mask, uint32_t task) {
    return (*(const uint32_t *)mask >> task & 1u) != 0;
}

Test(searching, pct_lowers_those_that_yield_in_half_of_the_seeds) {
    struct stage *stage = stage_new(&bz_strategy_pct, 5, 1000);
    uint32_t lowered = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        uint32_t mask = 0;
        stage_begin(stage, seed);
        stage->strategy->begin(stage->state, &(struct bz_strategy_start){.seed = seed,
                                                                         .profile = &stage->profile,
                                                                         .has_yielded = is_in_mask,
                                                                         .judge = &mask});
        for (uint32_t step = 1; step <= 5; step++) { /* everybody yields once, or one five times */
            stage_step(stage, step);
            mask |= 1u << stage->owners[step];
        }
        lowered += mask == 0x3e;
        stage_step(stage, 6); /* the oldest of those that have yielded, or the highest again */
        cr_assert_eq(stage->indices[6] == 0, mask == 0x3e || stage->indices[5] == 0);
    }
    cr_assert_lt(160, lowered);
    cr_assert_lt(lowered, 240);
    stage_free(stage);
}

/* --- urw -------------------------------------------------------------------------------------- */

/* One task has 9 steps, another one step, which is equally likely in each of the ten places. In a
 * random walk, half of the runs have it in the first place. */
Test(searching, urw_draws_interleavings_evenly) {
    enum { SEEDS = 10000 };
    struct stage *stage = stage_new(&bz_strategy_urw, 2, 10);
    uint32_t places[11] = {0};
    stage->profile.task_steps[1] = 9;
    stage->profile.task_steps[2] = 1;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        uint32_t place = 0;
        stage_begin(stage, seed);
        for (uint32_t step = 1; place == 0 && step < 10; step++) {
            stage_step(stage, step);
            place = stage->owners[step] == 2 ? step : 0;
        }
        places[place == 0 ? 10 : place]++; /* only one is left */
    }
    for (int place = 1; place <= 10; place++) {
        cr_assert_lt(850, places[place], "%d: %u", place, places[place]);
        cr_assert_lt(places[place], 1150, "%d: %u", place, places[place]);
    }
    stage_free(stage);
}

/* --- delay ------------------------------------------------------------------------------------ */

Test(searching, delay_counts_its_delays) {
    struct stage *stage = stage_new(&bz_strategy_delay, 5, 100);
    uint32_t seen[9] = {0};
    for (uint64_t seed = 0; seed < 1000; seed++) {
        uint32_t delays = 0;
        stage_run(stage, seed, 200);
        for (uint32_t step = 1; step <= 200; step++) {
            delays += stage->indices[step] != 0;
            cr_assert(stage->indices[step] == 0 || step <= 100 + 8);
        }
        cr_assert_leq(delays, 8);
        seen[delays]++;
    }
    static const uint32_t counts[] = {0, 1, 2, 4, 8};
    uint32_t sum = 0;
    for (int index = 0; index < 5; index++) {
        cr_assert_lt(120, seen[counts[index]], "%u", counts[index]);
        sum += seen[counts[index]];
    }
    cr_assert_eq(sum, 1000);
    stage_free(stage);
}

/* --- starve ----------------------------------------------------------------------------------- */

/* The longest hold in a run of 400 steps is 64 steps, and it is drawn often enough. In a random
 * walk, none of three tasks waits half as long. */
Test(searching, starve_holds_back_and_releases) {
    struct stage *starve = stage_new(&bz_strategy_starve, 3, 400);
    struct stage *random = stage_new(&bz_strategy_random, 3, 400);
    uint32_t held = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        stage_run(starve, seed, 400);
        stage_run(random, seed, 400);
        held += longest_wait(starve, 400) >= 40;
        cr_assert_lt(longest_wait(random, 400), 40);
        cr_assert_lt(longest_wait(starve, 400), 64 + 40);
    }
    cr_assert_lt(100, held, "%u", held);
    stage_free(starve);
    stage_free(random);
}

/* A victim runs if it alone is ready. */
Test(searching, starve_yields_when_nobody_else_is_ready) {
    struct stage *stage = stage_new(&bz_strategy_starve, 2, 400);
    for (uint64_t seed = 0; seed < 50; seed++) {
        stage_begin(stage, seed);
        stage->ready[1].owner = 1; /* two handles of one task */
        for (uint32_t step = 1; step <= 400; step++) {
            stage_step(stage, step);
        }
    }
    stage_free(stage);
}

/* --- swarm ------------------------------------------------------------------------------------ */

/* Some seeds never cancel in a window. In some, all draws are small, large, or the same. */
Test(searching, swarm_leaves_things_out) {
    enum { SEEDS = 400, DRAWS = 100, BOUND = 1000 };
    struct stage *stage = stage_new(&bz_strategy_swarm, 4, 100);
    uint32_t without = 0;
    uint32_t small = 0;
    uint32_t large = 0;
    uint32_t same = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        uint64_t sum = 0;
        uint64_t first = 0;
        bool differs = false;
        stage_begin(stage, seed);
        without += stage->strategy->cancel(stage->state, candidates, 2, 1, 0) == 0;
        for (uint32_t nth = 1; nth <= DRAWS; nth++) {
            struct bz_draw draw = {.bound = BOUND, .label = "x", .owner = 1, .nth = nth};
            uint64_t drawn = stage->strategy->draw(stage->state, BZ_CHOICE_DATA, &draw, 1);
            first = nth == 1 ? drawn : first;
            differs |= drawn != first;
            sum += drawn;
        }
        same += !differs;
        small += differs && sum < DRAWS * BOUND * 2 / 5;
        large += differs && sum > DRAWS * BOUND * 3 / 5;
    }
    cr_assert_lt(90, without); /* 3/8 of 400 */
    cr_assert_lt(without, 210);
    uint32_t shares[] = {small, large, same};
    for (int index = 0; index < 3; index++) {
        cr_assert_lt(60, shares[index], "%d: %u", index, shares[index]);
        cr_assert_lt(shares[index], 140, "%d: %u", index, shares[index]);
    }
    stage_free(stage);
}

/* --- portfolio -------------------------------------------------------------------------------- */

/* Each seed gives the run of one member with that seed, and each member has its share. */
Test(searching, portfolio_gives_every_member_its_share) {
    static const struct {
        const struct bz_strategy *member;
        uint32_t share; /* of 100 seeds */
    } members[] = {{&bz_strategy_delay, 36}, {&bz_strategy_random, 16}, {&bz_strategy_pct, 4},
                   {&bz_strategy_urw, 23},   {&bz_strategy_starve, 16}, {&bz_strategy_swarm, 4},
                   {&bz_strategy_fifo, 1}};
    enum { MEMBERS = sizeof members / sizeof members[0] };
    struct stage *portfolio = stage_new(&bz_strategy_portfolio, 4, 60);
    uint32_t shares[MEMBERS] = {0};
    uint32_t owners[301];
    portfolio->profile.task_steps[1] = 50; /* so that urw is no random walk */
    for (uint64_t seed = 1000; seed < 1100; seed++) {
        stage_run(portfolio, seed, 300);
        memcpy(owners, portfolio->owners, sizeof owners);
        uint32_t matches = 0;
        for (int index = 0; index < MEMBERS; index++) {
            struct stage *member = stage_new(members[index].member, 4, 60);
            member->profile = portfolio->profile;
            stage_run(member, seed, 300);
            bool is_it = memcmp(member->owners, owners, sizeof owners) == 0;
            if (members[index].member == &bz_strategy_fifo) {
                is_it &= seed % 100 == 1; /* delay without a delay is first in, first out, too */
            } else {
                is_it &= interview(member, seed, 0) == interview(portfolio, seed, 0);
            }
            shares[index] += is_it;
            matches += is_it;
            stage_free(member);
        }
        cr_assert_eq(matches, 1, "seed %llu", (unsigned long long)seed);
    }
    for (int index = 0; index < MEMBERS; index++) {
        cr_assert_eq(shares[index], members[index].share, "%s", members[index].member->name);
    }
    stage_free(portfolio);
}
