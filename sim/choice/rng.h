/* What the strategies that draw have in common: streams, gaps, victims.
 *
 * The state of such a strategy begins with a struct bz_rng, so that it can take any function
 * below into its table as it is.
 *
 * Where cancels come is planned per seed. The first comes at a point drawn uniformly among the
 * points that a run of the program has by its profile, or twice as many, so that none may come at
 * all, or an early half, quarter or eighth of them. A later one comes soon after the one before, or
 * anywhere, half and half: faults that need two cancels often need them close together. How many a
 * run gets at most is the world's affair.
 *
 * How often the clock jumps is drawn per seed, too; after DENSE_JUMPS it jumps as rarely as under
 * random, because a clock that runs ahead for ever is no fair schedule: whoever is patient for a
 * number of ticks would have lost his patience before anybody else had moved. In some seeds draws
 * of data and delays lean to one side.
 */
#ifndef BZ_SIM_CHOICE_RNG_H
#define BZ_SIM_CHOICE_RNG_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/choice/pcg.h"
#include "sim/choice/strategy.h"

/* A stream for each kind of choice, and one for what is planned when the run begins: so that one
 * more draw of data leaves the schedule alone. */
#define BZ_RNG_PLAN BZ_CHOICE_KIND_COUNT
#define BZ_RNG_STREAMS (BZ_CHOICE_KIND_COUNT + 1)

/* How draws of data and delays lean, in a whole run. */
enum bz_bias {
    BZ_BIAS_NONE = 0,
    BZ_BIAS_SMALL = 1, /* the smaller of two */
    BZ_BIAS_LARGE = 2, /* the larger of two */
    BZ_BIAS_SAME = 3,  /* always the same share of the bound */
};
#define BZ_BIAS_COUNT 4u

struct bz_rng {
    struct bz_pcg32 streams[BZ_RNG_STREAMS];
    uint32_t points;      /* for cancels, that a run is expected to have */
    uint32_t first_bound; /* the first cancel passes fewer points */
    uint32_t jump_log2;   /* of the longest gap between clock jumps, while they are dense */
    uint32_t dense_jumps; /* to come */
    bool has_struck;      /* the first gap has been drawn */
    enum bz_bias bias;
    uint32_t share; /* BZ_BIAS_SAME: of the bound, of 2^32 */
};

/* Starts the streams but for that of the plan: all that a strategy without a plan needs. */
void bz_rng_seed(struct bz_rng *rng, uint64_t seed);

/* The same, and plans cancels and jumps by the profile that `start` has. */
void bz_rng_begin(struct bz_rng *rng, const struct bz_strategy_start *start);

/* The gaps between clock jumps under random, and under others after the dense ones. */
uint32_t bz_rng_rare_jump_gap(void *state);

/* A gap below 2^n, n drawn uniformly between the limits, both inclusive; log2_min is at least 1. */
static inline uint32_t bz_rng_log_gap(struct bz_pcg32 *stream, uint32_t log2_min,
                                      uint32_t log2_max) {
    uint32_t log2 = log2_min + bz_pcg32_below(stream, log2_max - log2_min + 1);
    return bz_pcg32_next(stream) >> (32u - log2);
}

/* A victim plus 1: the window first, then the task, so that rare windows are as likely as crowded
 * ones. `windows` is a mask of those that count; 0 if no candidate is in one of them. */
uint32_t bz_rng_victim(struct bz_pcg32 *stream, const struct bz_cancel_candidate *candidates,
                       uint32_t count, uint32_t windows);

/* A hash of the seed and of what a handle is, whatever its place in the queue. */
static inline uint64_t bz_rng_hash(uint64_t seed, uint64_t a, uint64_t b) {
    return bz_seed_mix(seed ^ bz_seed_mix(a ^ bz_seed_mix(b)));
}

/* For tables. The first: every ready handle is equally likely. */
uint32_t bz_rng_next(void *state, const struct bz_ready *ready, uint32_t count, uint32_t step);
uint32_t bz_rng_spread_gap(void *state);
uint32_t bz_rng_cancel(void *state, const struct bz_cancel_candidate *candidates, uint32_t count,
                       uint32_t step, uint32_t point);
uint32_t bz_rng_jump_gap(void *state);
bool bz_rng_jump(void *state, uint32_t step);
uint64_t bz_rng_draw(void *state, enum bz_choice_kind kind, const struct bz_draw *draw,
                     uint32_t step);

#endif
