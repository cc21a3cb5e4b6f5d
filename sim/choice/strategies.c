#include <string.h>

#include "sim/choice/strategy.h"

#define ROW(name) &bz_strategy_##name,
const struct bz_strategy *const bz_strategies[] = {BZ_STRATEGIES(ROW) NULL};

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
