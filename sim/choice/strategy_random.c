/* random: every ready handle is equally likely, at every step (a random walk).
 *
 * Cancels and clock jumps come after gaps whose length is drawn log-uniformly, up to 2^GAP_LOG2_MAX
 * points: so short and long runs get some, although no profile says how long a run is. Draws are
 * uniform, but in three of four seeds among the values that the program favours (rng.h).
 *
 * Guarantee: a given schedule of k steps with at most n ready handles has probability at least
 * n^-k. Fair with probability 1.
 */
#include "sim/choice/rng.h"

#define GAP_LOG2_MIN 3u
#define GAP_LOG2_MAX 9u

static void random_begin(void *state, const struct bz_strategy_start *start) {
    bz_rng_seed(state, start->seed);
}

static uint32_t random_cancel_gap(void *state) {
    struct bz_rng *rng = state;
    return bz_rng_log_gap(&rng->streams[BZ_CHOICE_CANCEL], GAP_LOG2_MIN, GAP_LOG2_MAX);
}

const struct bz_strategy bz_strategy_random = {
    .name = "random",
    .summary = "every ready handle equally likely at every step, cancels after log-uniform gaps",
    .state_bytes = sizeof(struct bz_rng),
    .begin = random_begin,
    .next = bz_rng_next,
    .cancel_gap = random_cancel_gap,
    .cancel = bz_rng_cancel,
    .jump_gap = bz_rng_rare_jump_gap,
    .jump = bz_rng_jump,
    .draw = bz_rng_draw,
};

/* --- measure ---------------------------------------------------------------------------------- */

static void measure_begin(void *state, const struct bz_strategy_start *start) {
    struct bz_measure_state *measure = state;
    bz_rng_seed(&measure->rng, start->seed);
    measure->rng.favours = false;
    measure->points = 0;
    measure->strike_point =
        bz_rng_log_gap(&measure->rng.streams[BZ_CHOICE_CANCEL], GAP_LOG2_MIN, GAP_LOG2_MAX);
}

static bool measure_passes(void *state) {
    struct bz_measure_state *measure = state;
    return measure->points++ != measure->strike_point;
}

const struct bz_strategy bz_strategy_measure = {
    .name = "measure",
    .summary = "a random walk that counts the points where a cancel could be injected",
    .state_bytes = sizeof(struct bz_measure_state),
    .begin = measure_begin,
    .next = bz_rng_next,
    .cancel_gap = bz_gap_none,
    .passes = measure_passes,
    .cancel = bz_rng_cancel,
    .jump_gap = bz_rng_rare_jump_gap,
    .jump = bz_rng_jump,
    .draw = bz_rng_draw,
};
