/* fifo: the default answer everywhere. One run is all there is to see: what a stock loop does when
 * nobody interferes and every draw is 0. */
#include "sim/choice/strategy.h"

static void fifo_begin(void *state, const struct bz_strategy_start *start) {
    (void)state;
    (void)start;
}

static uint32_t fifo_next(void *state, const struct bz_ready *ready, uint32_t count,
                          uint32_t step) {
    (void)state;
    (void)ready;
    (void)count;
    (void)step;
    return 0;
}

static uint32_t fifo_gap(void *state) {
    (void)state;
    return BZ_GAP_NEVER;
}

static uint32_t fifo_cancel(void *state, const struct bz_cancel_candidate *candidates,
                            uint32_t count, uint32_t step, uint32_t point) {
    (void)state;
    (void)candidates;
    (void)count;
    (void)step;
    (void)point;
    return 0;
}

static bool fifo_jump(void *state, uint32_t step) {
    (void)state;
    (void)step;
    return false;
}

static uint64_t fifo_draw(void *state, enum bz_choice_kind kind, const struct bz_draw *draw,
                          uint32_t step) {
    (void)state;
    (void)kind;
    (void)draw;
    (void)step;
    return 0;
}

const struct bz_strategy bz_strategy_fifo = {
    .name = "fifo",
    .summary = "the oldest handle first, no cancel, every draw 0: the one default run",
    .state_bytes = 1,
    .begin = fifo_begin,
    .next = fifo_next,
    .cancel_gap = fifo_gap,
    .cancel = fifo_cancel,
    .jump_gap = fifo_gap,
    .jump = fifo_jump,
    .draw = fifo_draw,
};
