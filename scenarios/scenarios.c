#include "scenarios/scenarios.h"

#include <stddef.h>

#define SCENARIO_ROW(name) &bz_scenario_##name,
const struct bz_scenario *const bz_scenarios[] = {BZ_SCENARIOS(SCENARIO_ROW) NULL};

#define VARIANT_ROW(name) &bz_variant_##name,
const struct bz_variant *const bz_variants[] = {
    BZ_VARIANTS(VARIANT_ROW)
#define ZOO(entry, ...) &bz_variant_zoo_##entry,
#include "scenarios/zoo/zoo.def"
#undef ZOO
        NULL,
};
