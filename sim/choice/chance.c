#include "sim/choice/chance.h"

#define JUMP_LOG2_MAX 6u
#define DENSE_JUMPS 8u
#define RARE_JUMP_LOG2_MIN 2u
#define RARE_JUMP_LOG2_MAX 10u
#define SOON_LOG2_MAX 4u
#define BIASED_OF_8 3u
#define DENSITIES 5u /* from twice the points of a run to an eighth of them */

void bz_chance_seed(struct bz_chance *chance, uint64_t seed) {
    uint64_t mixed = bz_seed_mix(seed);
    for (unsigned stream = 0; stream < BZ_CHOICE_KIND_COUNT; stream++) {
        bz_pcg32_seed(&chance->streams[stream], mixed, stream);
    }
    chance->bias = BZ_BIAS_NONE;
}

void bz_chance_begin(struct bz_chance *chance, const struct bz_strategy_start *start) {
    bz_chance_seed(chance, start->seed);
    struct bz_pcg32 *plan = &chance->streams[BZ_CHANCE_PLAN];
    bz_pcg32_seed(plan, bz_seed_mix(start->seed), BZ_CHANCE_PLAN);
    chance->points = start->profile->points;
    chance->first_bound = 1 + (2 * chance->points >> bz_pcg32_below(plan, DENSITIES));
    chance->jump_log2 = 1 + bz_pcg32_below(plan, JUMP_LOG2_MAX);
    chance->dense_jumps = DENSE_JUMPS;
    chance->has_struck = false;
    uint32_t bias = bz_pcg32_below(plan, 8);
    chance->bias = bias < BIASED_OF_8 ? (enum bz_bias)(1 + bias) : BZ_BIAS_NONE;
    chance->share = bz_pcg32_next(plan);
}

uint32_t bz_chance_victim(struct bz_pcg32 *stream, const struct bz_cancel_candidate *candidates,
                          uint32_t count, uint32_t windows) {
    uint32_t present = 0;
    for (uint32_t index = 0; index < count; index++) {
        present |= 1u << candidates[index].window;
    }
    present &= windows;
    if (present == 0) {
        return 0;
    }
    for (uint32_t skip = bz_pcg32_below(stream, (uint32_t)__builtin_popcount(present)); skip > 0;
         skip--) {
        present &= present - 1;
    }
    uint32_t window = (uint32_t)__builtin_ctz(present);
    uint32_t first = 0;
    uint32_t inside = 0;
    for (uint32_t index = 0; index < count; index++) {
        first += candidates[index].window < window;
        inside += candidates[index].window == window;
    }
    return 1 + first + bz_pcg32_below(stream, inside);
}

__attribute__((hot)) uint32_t bz_chance_next(void *state, const struct bz_ready *ready,
                                             uint32_t count, uint32_t step) {
    struct bz_chance *chance = state;
    (void)ready;
    (void)step;
    return bz_pcg32_below(&chance->streams[BZ_CHOICE_NEXT], count);
}

uint32_t bz_chance_spread_gap(void *state) {
    struct bz_chance *chance = state;
    struct bz_pcg32 *stream = &chance->streams[BZ_CHOICE_CANCEL];
    if (!chance->has_struck) {
        chance->has_struck = true;
        return bz_pcg32_below(stream, chance->first_bound);
    }
    return (bz_pcg32_next(stream) >> 31u) != 0 ? bz_chance_log_gap(stream, 1, SOON_LOG2_MAX)
                                               : bz_pcg32_below(stream, chance->points + 1);
}

uint32_t bz_chance_cancel(void *state, const struct bz_cancel_candidate *candidates, uint32_t count,
                          uint32_t step, uint32_t point) {
    struct bz_chance *chance = state;
    (void)step;
    (void)point;
    return bz_chance_victim(&chance->streams[BZ_CHOICE_CANCEL], candidates, count, BZ_WINDOWS_ALL);
}

uint32_t bz_chance_rare_jump_gap(void *state) {
    struct bz_chance *chance = state;
    return bz_chance_log_gap(&chance->streams[BZ_CHOICE_DELAY], RARE_JUMP_LOG2_MIN,
                             RARE_JUMP_LOG2_MAX);
}

uint32_t bz_chance_jump_gap(void *state) {
    struct bz_chance *chance = state;
    if (chance->dense_jumps == 0) {
        return bz_chance_rare_jump_gap(state);
    }
    chance->dense_jumps--;
    return bz_chance_log_gap(&chance->streams[BZ_CHOICE_DELAY], 1, chance->jump_log2);
}

bool bz_chance_jump(void *state, uint32_t step) {
    (void)state;
    (void)step;
    return true;
}

uint64_t bz_chance_draw(void *state, enum bz_choice_kind kind, const struct bz_draw *draw,
                        uint32_t step) {
    struct bz_chance *chance = state;
    struct bz_pcg32 *stream = &chance->streams[kind];
    uint64_t drawn = bz_pcg32_below64(stream, draw->bound);
    (void)step;
    if (chance->bias == BZ_BIAS_NONE) {
        return drawn;
    }
    if (chance->bias == BZ_BIAS_SAME) {
        uint64_t share = chance->share;
        return (draw->bound >> 32u) * share + ((draw->bound & UINT32_MAX) * share >> 32u);
    }
    uint64_t other = bz_pcg32_below64(stream, draw->bound);
    bool is_first = (drawn < other) == (chance->bias == BZ_BIAS_SMALL);
    return is_first ? drawn : other;
}
