/* Strategies as such: what they choose, and that equal seeds choose equally. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "sim/choice/strategy.h"

#define ANSWERS 400u

/* Draws data `extra_draws` times before each other choice. */
static void interview(const struct bz_strategy *strategy, uint64_t seed, uint32_t extra_draws,
                      uint32_t answers[ANSWERS]) {
    static const struct bz_cancel_candidate candidates[] = {
        {1, 1, BZ_WINDOW_WAITING}, {2, 1, BZ_WINDOW_WAITING}, {3, 1, BZ_WINDOW_WOKEN}};
    void *state = calloc(1, strategy->state_bytes);
    struct bz_draw draw = {.bound = 1000, .label = "test", .owner = 1, .nth = 1};
    strategy->begin(state, &(struct bz_strategy_start){.seed = seed});
    for (uint32_t step = 0; step + 4 <= ANSWERS; step += 4) {
        for (uint32_t extra = 0; extra < extra_draws; extra++) {
            (void)strategy->draw(state, BZ_CHOICE_DATA, &draw, step);
        }
        answers[step] = strategy->next(state, NULL, 7, step);
        answers[step + 1] = strategy->cancel_gap(state);
        answers[step + 2] = strategy->cancel(state, candidates, 3, step, 0);
        answers[step + 3] = strategy->jump_gap(state);
    }
    free(state);
}

static uint32_t differences(const uint32_t *a, const uint32_t *b) {
    uint32_t count = 0;
    for (uint32_t index = 0; index < ANSWERS; index++) {
        count += a[index] != b[index];
    }
    return count;
}

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
    uint32_t answers[ANSWERS];
    interview(&bz_strategy_fifo, 5, 1, answers);
    for (uint32_t index = 0; index < ANSWERS; index++) {
        cr_assert_eq(answers[index], index % 2 == 0 ? 0 : BZ_GAP_NEVER);
    }
    void *state = calloc(1, bz_strategy_fifo.state_bytes);
    struct bz_draw draw = {.bound = 1000, .label = "test"};
    cr_assert_eq(bz_strategy_fifo.draw(state, BZ_CHOICE_DATA, &draw, 1), 0);
    cr_assert_not(bz_strategy_fifo.jump(state, 1));
    free(state);
}

Test(strategies, random_depends_on_its_seed_alone) {
    uint32_t first[ANSWERS];
    uint32_t second[ANSWERS];
    for (uint64_t seed = 0; seed < 50; seed++) {
        interview(&bz_strategy_random, seed, 0, first);
        interview(&bz_strategy_random, seed, 0, second);
        cr_assert_eq(differences(first, second), 0);
        interview(&bz_strategy_random, seed + 1, 0, second);
        cr_assert_lt(ANSWERS / 2, differences(first, second));
    }
}

/* Every kind has its own stream: more draws leave schedule, cancels and jumps alone. */
Test(strategies, random_draws_of_data_do_not_shift_the_schedule) {
    uint32_t without[ANSWERS];
    uint32_t with[ANSWERS];
    for (uint32_t extra = 1; extra <= 3; extra++) {
        interview(&bz_strategy_random, 11, 0, without);
        interview(&bz_strategy_random, 11, extra, with);
        cr_assert_eq(differences(without, with), 0);
    }
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
