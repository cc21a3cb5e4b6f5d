/* portfolio: one strategy for one seed, another for the next. The default.
 *
 * No strategy is the best for every fault: a mixture finds each fault at a small multiple of the
 * schedules that the best strategy needs. The remainder of the seed selects the member, which gets
 * the same seed. Members and shares were chosen by measurement (sim/README.md). One of FIFO_EVERY
 * seeds is the default run: seed 1, the second of a campaign, so that a fault that needs no choice
 * is found at once.
 *
 * Guarantee: what a member finds with probability p is found with p times its share. Fair, since
 * every member is.
 */
#include "primitives/runtime/check.h"
#include "sim/choice/strategy.h"

#define STATE_WORDS 64u
#define FIFO_EVERY 100u
#define FIFO_AT 1u
#define FIFO_JUMP_GAP 10000u /* lets a task end that spins until a time comes */

#define D &bz_strategy_delay
#define P &bz_strategy_pct
#define R &bz_strategy_random
#define S &bz_strategy_starve
#define U &bz_strategy_urw
#define W &bz_strategy_swarm
/* 9 delay, 6 random, 3 urw, 3 starve, 2 pct, 2 swarm, in the order that measured best. */
static const struct bz_strategy *const turns[] = {D, U, P, R, D, R, D, D, S, S, W, D, U,
                                                  P, R, W, U, R, D, D, R, R, S, D, D};
#undef D
#undef P
#undef R
#undef S
#undef U
#undef W
#define TURN_COUNT (sizeof turns / sizeof turns[0])

struct portfolio_state {
    const struct bz_strategy *member;
    uint64_t words[STATE_WORDS]; /* the member's state */
};

static void portfolio_begin(void *state, const struct bz_strategy_start *start) {
    struct portfolio_state *portfolio = state;
    portfolio->member =
        start->seed % FIFO_EVERY == FIFO_AT ? &bz_strategy_fifo : turns[start->seed % TURN_COUNT];
    BZ_CHECK(portfolio->member->state_bytes <= sizeof portfolio->words);
    portfolio->member->begin(portfolio->words, start);
}

static uint32_t portfolio_next(void *state, const struct bz_ready *ready, uint32_t count,
                               uint32_t step) {
    struct portfolio_state *portfolio = state;
    return portfolio->member->next(portfolio->words, ready, count, step);
}

static uint32_t portfolio_cancel_gap(void *state) {
    struct portfolio_state *portfolio = state;
    return portfolio->member->cancel_gap(portfolio->words);
}

static uint32_t portfolio_cancel(void *state, const struct bz_cancel_candidate *candidates,
                                 uint32_t count, uint32_t step, uint32_t point) {
    struct portfolio_state *portfolio = state;
    return portfolio->member->cancel(portfolio->words, candidates, count, step, point);
}

static uint32_t portfolio_jump_gap(void *state) {
    struct portfolio_state *portfolio = state;
    uint32_t gap = portfolio->member->jump_gap(portfolio->words);
    return gap == BZ_GAP_NEVER ? FIFO_JUMP_GAP : gap;
}

static bool portfolio_jump(void *state, uint32_t step) {
    struct portfolio_state *portfolio = state;
    return portfolio->member == &bz_strategy_fifo ||
           portfolio->member->jump(portfolio->words, step);
}

static uint64_t portfolio_draw(void *state, enum bz_choice_kind kind, const struct bz_draw *draw,
                               uint32_t step) {
    struct portfolio_state *portfolio = state;
    return portfolio->member->draw(portfolio->words, kind, draw, step);
}

const struct bz_strategy bz_strategy_portfolio = {
    .name = "portfolio",
    .summary = "delay, random, pct, urw, starve, swarm and fifo in turn, seed by seed: the default",
    .needs_profile = true,
    .reads_ready = true,
    .state_bytes = sizeof(struct portfolio_state),
    .begin = portfolio_begin,
    .next = portfolio_next,
    .cancel_gap = portfolio_cancel_gap,
    .cancel = portfolio_cancel,
    .jump_gap = portfolio_jump_gap,
    .jump = portfolio_jump,
    .draw = portfolio_draw,
};
