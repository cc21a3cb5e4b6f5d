/* Strategies as such: their names, what they cancel, what they draw. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "sim/choice/strategy.h"

Test(strategies, are_found_by_name) {
    for (size_t index = 0; bz_strategies[index] != NULL; index++) {
        const struct bz_strategy *strategy = bz_strategies[index];
        cr_assert_eq((void *)bz_strategy_find(strategy->name), (void *)strategy);
        cr_assert_not_null((void *)strategy->summary);
    }
    cr_assert_eq((void *)bz_strategy_find("fifo"), (void *)&bz_strategy_fifo);
    cr_assert_eq((void *)bz_strategy_find("random"), (void *)&bz_strategy_random);
    cr_assert_null((void *)bz_strategy_find("rand"));
}

Test(strategies, fifo_takes_every_default) {
    static const struct bz_cancel_candidate candidate = {1, 1, BZ_WINDOW_WAITING};
    const struct bz_strategy *fifo = &bz_strategy_fifo;
    void *state = calloc(1, fifo->state_bytes);
    struct bz_draw draw = {.bound = 1000, .label = "test", .owner = 1, .nth = 1};
    fifo->begin(state, &(struct bz_strategy_start){.seed = 5});
    for (uint32_t step = 1; step <= 100; step++) {
        cr_assert_eq(fifo->next(state, NULL, 7, step), 0);
        cr_assert_eq(fifo->cancel_gap(state), BZ_GAP_NEVER);
        cr_assert_eq(fifo->cancel(state, &candidate, 1, step, 0), 0);
        cr_assert_eq(fifo->jump_gap(state), BZ_GAP_NEVER);
        cr_assert_not(fifo->jump(state, step));
        cr_assert_eq(fifo->draw(state, BZ_CHOICE_DATA, &draw, step), 0);
    }
    free(state);
}

/* 1 task is woken, 2 sleep, 17 wait: every window is equally likely, and so is every task in it. */
Test(strategies, random_cancels_weigh_windows_before_tasks) {
    enum { CANDIDATES = 20, ROUNDS = 30000 };
    struct bz_cancel_candidate candidates[CANDIDATES];
    uint32_t hits[CANDIDATES] = {0};
    for (uint32_t index = 0; index < CANDIDATES; index++) {
        uint8_t window = index < 17    ? BZ_WINDOW_WAITING
                         : index == 17 ? BZ_WINDOW_WOKEN
                                       : BZ_WINDOW_SLEEPING;
        candidates[index] = (struct bz_cancel_candidate){index + 1, 1, window};
    }
    void *state = calloc(1, bz_strategy_random.state_bytes);
    bz_strategy_random.begin(state, &(struct bz_strategy_start){.seed = 1});
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t answer = bz_strategy_random.cancel(state, candidates, CANDIDATES, round, 0);
        cr_assert_lt(0, answer);
        cr_assert_leq(answer, CANDIDATES);
        hits[answer - 1]++;
    }
    free(state);
    uint32_t waiting = 0;
    for (uint32_t index = 0; index < 17; index++) {
        waiting += hits[index];
        cr_assert_lt(450, hits[index]); /* 588 expected, deviation 24 */
        cr_assert_lt(hits[index], 730);
    }
    uint32_t shares[] = {waiting, hits[17], hits[18] + hits[19]};
    for (int index = 0; index < 3; index++) {
        cr_assert_lt(9600, shares[index]); /* 10000 expected, deviation 82 */
        cr_assert_lt(shares[index], 10400);
    }
    cr_assert_lt(4600, hits[18]);
    cr_assert_lt(hits[18], 5400);
}

/* How often each of 100 values was drawn, in 4000 runs of one draw each. */
static void draw_favoured(const struct bz_strategy *strategy, uint64_t favoured,
                          uint32_t counts[100]) {
    static const struct bz_profile profile = {.steps = 20, .tasks = 4, .points = 20};
    void *state = calloc(1, strategy->state_bytes);
    struct bz_draw draw = {.bound = 100, .favoured = favoured, .label = "test", .nth = 1};
    for (uint64_t seed = 0; seed < 4000; seed++) {
        strategy->begin(state, &(struct bz_strategy_start){.seed = seed, .profile = &profile});
        counts[strategy->draw(state, BZ_CHOICE_DATA, &draw, 1)]++;
    }
    free(state);
}

/* Three of four seeds draw one of the favoured values, each as often; the others draw any. */
Test(strategies, draw_what_the_program_favours) {
    static const struct bz_strategy *const drawing[] = {&bz_strategy_random, &bz_strategy_urw,
                                                        &bz_strategy_delay,  &bz_strategy_starve,
                                                        &bz_strategy_pct,    &bz_strategy_swarm};
    for (size_t index = 0; index < sizeof drawing / sizeof drawing[0]; index++) {
        uint32_t counts[100] = {0};
        draw_favoured(drawing[index], UINT64_C(1) << 63u | 1u << 10u | 1u << 9u, counts);
        const uint32_t hits[] = {counts[9], counts[10], counts[63]};
        uint32_t others = 4000 - hits[0] - hits[1] - hits[2];
        cr_assert_lt(800, others, "%s", drawing[index]->name); /* 970 expected, deviation 27 */
        cr_assert_lt(others, 1150, "%s", drawing[index]->name);
        for (size_t favoured = 0; favoured < 3; favoured++) {
            cr_assert_lt(700, hits[favoured]); /* 1010 without a bias */
        }
    }
    uint32_t counts[100] = {0};
    draw_favoured(&bz_strategy_fifo, 1u << 9u, counts);
    cr_assert_eq(counts[0], 4000);
}

/* A run is another one only where a value that is not favoured was drawn. */
Test(strategies, keep_a_drawn_value_that_is_favoured) {
    void *state = calloc(1, bz_strategy_random.state_bytes);
    for (uint64_t seed = 0; seed < 1000; seed++) {
        struct bz_draw draw = {.bound = 5, .label = "test", .nth = 1};
        bz_strategy_random.begin(state, &(struct bz_strategy_start){.seed = seed});
        uint64_t usual = bz_strategy_random.draw(state, BZ_CHOICE_DATA, &draw, 1);
        uint64_t next = bz_strategy_random.draw(state, BZ_CHOICE_DATA, &draw, 1);
        bz_strategy_random.begin(state, &(struct bz_strategy_start){.seed = seed});
        draw.favoured = 1u << 1u | 1u << 4u;
        uint64_t drawn = bz_strategy_random.draw(state, BZ_CHOICE_DATA, &draw, 1);
        cr_assert(drawn == usual || (draw.favoured >> usual & 1u) == 0);
        draw.favoured = 0;
        cr_assert_eq(bz_strategy_random.draw(state, BZ_CHOICE_DATA, &draw, 1), next);
    }
    free(state);
}
