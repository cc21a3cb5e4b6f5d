#include "sim/choice/rng.h"

#define JUMP_LOG2_MAX 6u
#define DENSE_JUMPS 8u
#define RARE_JUMP_LOG2_MIN 2u
#define RARE_JUMP_LOG2_MAX 10u
#define SOON_LOG2_MAX 4u
#define BIASED_OF_8 3u
#define AIMED_OF 3u
#define FAVOURS_OF 4u /* all seeds but one of so many */
#define PATIENCE 8u
#define HOLD_LOG2_COUNT 4u /* 2 to 16 steps */
#define PAUSE_MAX 4u
#define RUSH_MAX 16u /* so that a task which spins does not keep the woken one from running */
#define DENSITIES 5u /* 2n to n/8, see rng.h */

void bz_rng_seed(struct bz_rng *rng, uint64_t seed) {
    uint64_t mixed = bz_seed_mix(seed);
    for (unsigned stream = 0; stream < BZ_CHOICE_KIND_COUNT; stream++) {
        bz_pcg32_seed(&rng->streams[stream], mixed, stream);
    }
    rng->bias = BZ_BIAS_NONE;
    rng->favours = bz_seed_mix(mixed) % FAVOURS_OF != 0;
    rng->is_aimed = false;
    rng->holds = false;
    rng->rushed = 0;
}

void bz_rng_begin(struct bz_rng *rng, const struct bz_strategy_start *start) {
    bz_rng_seed(rng, start->seed);
    struct bz_pcg32 *plan = &rng->streams[BZ_RNG_PLAN];
    bz_pcg32_seed(plan, bz_seed_mix(start->seed), BZ_RNG_PLAN);
    rng->points = start->profile->points;
    rng->first_bound = 1 + (2 * rng->points >> bz_pcg32_below(plan, DENSITIES));
    rng->jump_log2 = 1 + bz_pcg32_below(plan, JUMP_LOG2_MAX);
    rng->dense_jumps = DENSE_JUMPS;
    rng->has_struck = false;
    uint32_t bias = bz_pcg32_below(plan, 8);
    rng->bias = bias < BIASED_OF_8 ? (enum bz_bias)(1 + bias) : BZ_BIAS_NONE;
    rng->share = bz_pcg32_next(plan);
    rng->is_aimed = bz_pcg32_below(plan, AIMED_OF) == 0 && start->last_woken != NULL;
    rng->patience = PATIENCE;
    rng->is_woken = start->is_woken;
    rng->judge = start->judge;
    rng->last_woken = start->last_woken;
    rng->holds = bz_pcg32_below(plan, 2) == 0 && start->last_woken != NULL;
    rng->held = 0;
    rng->until = 0;
    rng->rushed = rng->holds || start->last_woken == NULL ? 0 : start->profile->cancellers;
    rng->rush_of_4 = 4;
    rng->rush_left = RUSH_MAX + 1;
    rng->has_put_off = false;
}

uint32_t bz_rng_victim(struct bz_pcg32 *stream, const struct bz_cancel_candidate *candidates,
                       uint32_t count, uint32_t windows) {
    uint32_t present = 0;
    for (uint32_t index = 0; index < count; index++) {
        present |= 1u << candidates[index].window;
    }
    present &= windows;
    if (present == 0) {
        return 0;
    }
    uint32_t skip = bz_pcg32_below(stream, (uint32_t)__builtin_popcount(present));
    for (; skip > 0; skip--) {
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

__attribute__((hot)) uint32_t bz_rng_next(void *state, const struct bz_ready *ready, uint32_t count,
                                          uint32_t step) {
    struct bz_rng *rng = state;
    (void)ready;
    (void)step;
    return bz_pcg32_below(&rng->streams[BZ_CHOICE_NEXT], count);
}

uint32_t bz_rng_spread_gap(void *state) {
    struct bz_rng *rng = state;
    struct bz_pcg32 *stream = &rng->streams[BZ_CHOICE_CANCEL];
    if (!rng->has_struck) {
        rng->has_struck = true;
        return bz_pcg32_below(stream, rng->first_bound);
    }
    return (bz_pcg32_next(stream) >> 31u) != 0 ? bz_rng_log_gap(stream, 1, SOON_LOG2_MAX)
                                               : bz_pcg32_below(stream, rng->points + 1);
}

/* Looks at the task that was woken last only: a look at each task would be O(n). */
static bool is_anybody_woken(const struct bz_rng *rng) {
    return *rng->last_woken != 0 && rng->is_woken(rng->judge, *rng->last_woken);
}

bool bz_rng_passes(void *state) {
    struct bz_rng *rng = state;
    if (!rng->is_aimed || rng->patience == 0 || is_anybody_woken(rng)) {
        return false;
    }
    rng->patience--;
    return true;
}

uint32_t bz_rng_cancel(void *state, const struct bz_cancel_candidate *candidates, uint32_t count,
                       uint32_t step, uint32_t point) {
    struct bz_rng *rng = state;
    struct bz_pcg32 *stream = &rng->streams[BZ_CHOICE_CANCEL];
    (void)step;
    (void)point;
    rng->patience = PATIENCE;
    uint32_t victim =
        rng->is_aimed ? bz_rng_victim(stream, candidates, count, 1u << BZ_WINDOW_WOKEN) : 0;
    return victim != 0 ? victim : bz_rng_victim(stream, candidates, count, BZ_WINDOWS_ALL);
}

static bool holds_back(struct bz_rng *rng, const struct bz_ready *chosen, uint32_t step) {
    struct bz_pcg32 *plan = &rng->streams[BZ_RNG_PLAN];
    if (step >= rng->until && rng->held != 0) {
        rng->held = 0;
        rng->until = step + bz_pcg32_below(plan, PAUSE_MAX + 1);
    }
    bool may_begin = step >= rng->until;
    uint32_t task = may_begin ? *rng->last_woken : rng->held;
    if (task == 0 || chosen->owner != task || chosen->role != BZ_ROLE_STEP ||
        !rng->is_woken(rng->judge, task)) {
        return false;
    }
    if (may_begin) {
        rng->held = task;
        rng->until = step + (2u << bz_pcg32_below(plan, HOLD_LOG2_COUNT));
    }
    return true;
}

static uint64_t rush(struct bz_rng *rng, const struct bz_ready *chosen) {
    if (is_anybody_woken(rng)) {
        rng->rush_left -= rng->rush_left > 0;
        bool is_rush =
            rng->rush_left > 0 &&
            (rng->rush_of_4 == 4 || bz_pcg32_below(&rng->streams[BZ_RNG_PLAN], 4) < rng->rush_of_4);
        return is_rush ? rng->rushed : 0;
    }
    rng->rush_left = RUSH_MAX + 1;
    if (rng->has_put_off || !bz_is_step_of(chosen, rng->rushed)) {
        return 0;
    }
    rng->has_put_off = true;
    return BZ_INSTEAD_BEHIND;
}

uint64_t bz_rng_instead(void *state, const struct bz_ready *chosen, uint32_t step) {
    struct bz_rng *rng = state;
    if (rng->holds) {
        return holds_back(rng, chosen, step) ? BZ_INSTEAD_BEHIND : 0;
    }
    return rng->rushed == 0 ? 0 : rush(rng, chosen);
}

uint32_t bz_rng_rare_jump_gap(void *state) {
    struct bz_rng *rng = state;
    return bz_rng_log_gap(&rng->streams[BZ_CHOICE_DELAY], RARE_JUMP_LOG2_MIN, RARE_JUMP_LOG2_MAX);
}

uint32_t bz_rng_jump_gap(void *state) {
    struct bz_rng *rng = state;
    if (rng->dense_jumps == 0) {
        return bz_rng_rare_jump_gap(state);
    }
    rng->dense_jumps--;
    return bz_rng_log_gap(&rng->streams[BZ_CHOICE_DELAY], 1, rng->jump_log2);
}

bool bz_rng_jump(void *state, uint32_t step) {
    (void)state;
    (void)step;
    return true;
}

static uint64_t draw_biased(struct bz_rng *rng, struct bz_pcg32 *stream, uint64_t bound) {
    uint64_t drawn = bz_pcg32_below64(stream, bound);
    if (rng->bias == BZ_BIAS_NONE) {
        return drawn;
    }
    if (rng->bias == BZ_BIAS_SAME) {
        uint64_t share = rng->share;
        return (bound >> 32u) * share + ((bound & UINT32_MAX) * share >> 32u);
    }
    return bz_rng_of_two(stream, bound, drawn, rng->bias == BZ_BIAS_SMALL);
}

/* The drawn value if it is favoured, else another one that is. */
static uint64_t favoured_of(uint64_t favoured, uint64_t drawn) {
    if (drawn < 64 && (favoured >> drawn & 1u) != 0) {
        return drawn;
    }
    for (uint64_t skip = drawn % (unsigned)__builtin_popcountll(favoured); skip > 0; skip--) {
        favoured &= favoured - 1;
    }
    return (uint64_t)__builtin_ctzll(favoured);
}

uint64_t bz_rng_draw(void *state, enum bz_choice_kind kind, const struct bz_draw *draw,
                     uint32_t step) {
    struct bz_rng *rng = state;
    uint64_t drawn = draw_biased(rng, &rng->streams[kind], draw->bound);
    (void)step;
    if (draw->favoured == 0 || !rng->favours) {
        return drawn;
    }
    return favoured_of(draw->favoured, drawn);
}
