/* portfolio: a run is given to one of several strategies, and the next seed to the next. */
#include "sim/choice/chance.h"

#define STATE_WORDS 64u

static const struct bz_strategy *const members[] = {
    &bz_strategy_random, &bz_strategy_pct,    &bz_strategy_pos,   &bz_strategy_urw,
    &bz_strategy_delay,  &bz_strategy_starve, &bz_strategy_swarm,
};
#define MEMBER_COUNT (sizeof members / sizeof members[0])

struct portfolio_state {
    const struct bz_strategy *member;
    uint64_t words[STATE_WORDS]; /* the member's state */
};

static void portfolio_begin(void *state, const struct bz_strategy_start *start) {
    struct portfolio_state *portfolio = state;
    portfolio->member = members[start->seed % MEMBER_COUNT];
    portfolio->member->begin(portfolio->words, start);
}

static uint32_t portfolio_next(void *state, const struct bz_loop *loop, uint32_t count,
                               uint32_t step) {
    struct portfolio_state *portfolio = state;
    return portfolio->member->next(portfolio->words, loop, count, step);
}

static uint32_t portfolio_cancel_gap(void *state) {
    struct portfolio_state *portfolio = state;
    return portfolio->member->cancel_gap(portfolio->words);
}

static uint32_t portfolio_cancel(void *state, const struct bz_loop *loop,
                                 const struct bz_cancel_candidate *candidates, uint32_t count,
                                 uint32_t step, uint32_t point) {
    struct portfolio_state *portfolio = state;
    return portfolio->member->cancel(portfolio->words, loop, candidates, count, step, point);
}

static uint32_t portfolio_jump_gap(void *state) {
    struct portfolio_state *portfolio = state;
    return portfolio->member->jump_gap(portfolio->words);
}

static bool portfolio_jump(void *state, uint32_t step) {
    struct portfolio_state *portfolio = state;
    return portfolio->member->jump(portfolio->words, step);
}

static uint64_t portfolio_draw(void *state, enum bz_choice_kind kind, const struct bz_draw *draw,
                               uint32_t step) {
    struct portfolio_state *portfolio = state;
    return portfolio->member->draw(portfolio->words, kind, draw, step);
}

const struct bz_strategy bz_strategy_portfolio = {
    .name = "portfolio",
    .summary = "the strategies above in turn, from one seed to the next",
    .is_fair = true,
    .needs_profile = true,
    .state_bytes = sizeof(struct portfolio_state),
    .begin = portfolio_begin,
    .next = portfolio_next,
    .cancel_gap = portfolio_cancel_gap,
    .cancel = portfolio_cancel,
    .jump_gap = portfolio_jump_gap,
    .jump = portfolio_jump,
    .draw = portfolio_draw,
};
