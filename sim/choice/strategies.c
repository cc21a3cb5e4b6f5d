#include <string.h>

#include "sim/choice/strategy.h"

const struct bz_strategy *const bz_strategies[] = {
    &bz_strategy_fifo,    &bz_strategy_random,
    &bz_strategy_pct,     &bz_strategy_urw,
    &bz_strategy_delay,   &bz_strategy_starve,
    &bz_strategy_swarm,   &bz_strategy_portfolio,
    &bz_strategy_answers, NULL,
};

uint32_t bz_gap_none(void *state) {
    (void)state;
    return 0;
}

const struct bz_strategy *bz_strategy_find(const char *name) {
    for (const struct bz_strategy *const *strategy = bz_strategies; *strategy != NULL; strategy++) {
        if (strcmp((*strategy)->name, name) == 0) {
            return *strategy;
        }
    }
    return NULL;
}
