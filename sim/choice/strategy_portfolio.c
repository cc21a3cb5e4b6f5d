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
#include "sim/choice/strategy.h"

#define STATE_BYTES 512u /* enough for every member */
#define FIFO_EVERY 100u
#define FIFO_AT 1u

/* 9 delay, 6 urw, 4 random, 4 starve, 1 pct, 1 swarm. */
static const char turns[] = "DURDSDUDRPDUSDRUDWSDURDUS";
#define TURN_COUNT (sizeof turns - 1)

static const struct bz_strategy *const members['W' + 1] = {
    ['D'] = &bz_strategy_delay,  ['P'] = &bz_strategy_pct, ['R'] = &bz_strategy_random,
    ['S'] = &bz_strategy_starve, ['U'] = &bz_strategy_urw, ['W'] = &bz_strategy_swarm,
};

static const struct bz_strategy *portfolio_select(uint64_t seed) {
    return seed % FIFO_EVERY == FIFO_AT ? &bz_strategy_fifo_jumping
                                        : members[(size_t)turns[seed % TURN_COUNT]];
}

const struct bz_strategy bz_strategy_portfolio = {
    .name = "portfolio",
    .summary = "delay, urw, random, starve, pct, swarm and fifo in turn, seed by seed: the default",
    .needs_profile = true,
    .state_bytes = STATE_BYTES,
    .select = portfolio_select,
};
