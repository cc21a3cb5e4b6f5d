/* starve: one task is held back for a while, otherwise a random walk (the chaos mode of rr,
 * R. O'Callahan, 2016).
 *
 * Many faults need one task to be late, at the right moment, for long: a random walk, which gives
 * everybody a turn soon, hardly ever does that. At a step drawn among the k of the profile a victim
 * is drawn from the ready handles, and the task that it belongs to is not run while others are
 * ready, for a number of steps drawn as a power of two up to a fifth of a run. Then another one is
 * drawn, after a pause drawn likewise.
 *
 * Guarantee: that of a random walk, for the steps outside; fair with probability 1, because no hold
 * lasts longer than HOLD_MAX steps and the pauses are random walks.
 */
#include "sim/choice/rng.h"

#define SHARE 5u /* of a run that a hold may take, as a divisor */
#define HOLD_MIN 4u
#define HOLD_MAX 4096u
#define NOBODY UINT32_MAX

struct starve_state {
    struct bz_rng rng;
    uint32_t hold_log2_max;
    uint32_t run_steps;
    uint32_t victim;      /* an owner, or NOBODY */
    uint32_t last_victim; /* of the hold before this pause */
    uint32_t until;       /* the first step of what comes next: a hold, or a pause */
};

static void starve_begin(void *state, const struct bz_strategy_start *start) {
    struct starve_state *starve = state;
    bz_rng_begin(&starve->rng, start);
    uint32_t most = start->profile->steps / SHARE;
    most = most < HOLD_MIN ? HOLD_MIN : most > HOLD_MAX ? HOLD_MAX : most;
    starve->hold_log2_max = 31u - (uint32_t)__builtin_clz(most);
    starve->run_steps = start->profile->steps;
    starve->victim = NOBODY;
    starve->last_victim = NOBODY;
    starve->until =
        1 + bz_pcg32_below(&starve->rng.streams[BZ_RNG_PLAN], (starve->run_steps + 1) / 2);
}

/* A hold ends, or begins. Nobody is held twice in a row: one more pause comes instead. */
static void turn(struct starve_state *starve, const struct bz_ready *ready, uint32_t count,
                 uint32_t step) {
    struct bz_pcg32 *plan = &starve->rng.streams[BZ_RNG_PLAN];
    uint32_t log2 = 1 + bz_pcg32_below(plan, starve->hold_log2_max);
    uint32_t drawn = ready[bz_pcg32_below(plan, count)].owner;
    bool is_hold = starve->victim == NOBODY && drawn != starve->last_victim;
    starve->last_victim = starve->victim;
    starve->victim = is_hold ? drawn : NOBODY;
    starve->until = step + (1u << log2);
}

static uint32_t starve_next(void *state, const struct bz_ready *ready, uint32_t count,
                            uint32_t step) {
    struct starve_state *starve = state;
    if (step >= starve->until) {
        turn(starve, ready, count, step);
    }
    uint32_t others = count;
    for (uint32_t index = 0; starve->victim != NOBODY && index < count; index++) {
        others -= ready[index].owner == starve->victim;
    }
    uint32_t drawn =
        bz_pcg32_below(&starve->rng.streams[BZ_CHOICE_NEXT], others == 0 ? count : others);
    if (others == count || others == 0) {
        return drawn;
    }
    uint32_t index = 0;
    for (;; index++) { /* the drawn-th of those that are not the victim's */
        bool is_other = ready[index].owner != starve->victim;
        if (is_other && drawn-- == 0) {
            return index;
        }
    }
}

const struct bz_strategy bz_strategy_starve = {
    .name = "starve",
    .summary = "a random walk in which one task at a time is held back for a while",
    .needs_profile = true,
    .reads_ready = true,
    .state_bytes = sizeof(struct starve_state),
    .begin = starve_begin,
    .next = starve_next,
    .cancel_gap = bz_rng_spread_gap,
    .cancel = bz_rng_cancel,
    .jump_gap = bz_rng_jump_gap,
    .jump = bz_rng_jump,
    .draw = bz_rng_draw,
};
