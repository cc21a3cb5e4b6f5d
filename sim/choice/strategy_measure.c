#include "sim/choice/strategy_measure.h"

#define STRIKE_LOG2_MIN 3u
#define STRIKE_LOG2_MAX 9u

static void measure_begin(void *state, const struct bz_strategy_start *start) {
    struct bz_measure_state *measure = state;
    bz_rng_seed(&measure->rng, start->seed);
    measure->points = 0;
    measure->strike_point =
        bz_rng_log_gap(&measure->rng.streams[BZ_CHOICE_CANCEL], STRIKE_LOG2_MIN, STRIKE_LOG2_MAX);
}

static uint32_t measure_cancel(void *state, const struct bz_cancel_candidate *candidates,
                               uint32_t count, uint32_t step, uint32_t point) {
    struct bz_measure_state *measure = state;
    return measure->points++ == measure->strike_point
               ? bz_rng_cancel(state, candidates, count, step, point)
               : 0;
}

const struct bz_strategy bz_strategy_measure = {
    .name = "measure",
    .summary = "a random walk that counts the points where a cancel could be injected",
    .state_bytes = sizeof(struct bz_measure_state),
    .begin = measure_begin,
    .next = bz_rng_next,
    .cancel_gap = bz_gap_none,
    .cancel = measure_cancel,
    .jump_gap = bz_rng_rare_jump_gap,
    .jump = bz_rng_jump,
    .draw = bz_rng_draw,
};
