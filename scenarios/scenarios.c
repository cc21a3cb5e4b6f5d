#include "scenarios/scenarios.h"

#include <stddef.h>

const struct bz_scenario *const bz_scenarios[] = {
    &bz_scenario_bank,
    &bz_scenario_barrier,
    &bz_scenario_condition,
    &bz_scenario_contended,
    &bz_scenario_deferred,
    &bz_scenario_event,
    &bz_scenario_handoff,
    &bz_scenario_intruder,
    &bz_scenario_model,
    &bz_scenario_pool,
    &bz_scenario_program,
    &bz_scenario_queue,
    &bz_scenario_restaurant,
    &bz_scenario_scope,
    &bz_scenario_taskgroup,
    &bz_scenario_timeout,
    NULL,
};

const struct bz_variant *const bz_variants[] = {
    &bz_variant_buzzer,
    &bz_variant_asyncio_311,
    &bz_variant_asyncio_313,
    &bz_variant_capacity_limiter,
    &bz_variant_channel,
    &bz_variant_notify,
    &bz_variant_oneshot,
    &bz_variant_rate_limiter,
    &bz_variant_rwlock,
    &bz_variant_rwlock_readers,
    &bz_variant_weighted_semaphore,
    &bz_variant_twisted,
#define ZOO(entry, ...) &bz_variant_zoo_##entry,
#include "scenarios/zoo/zoo.def"
#undef ZOO
    NULL,
};
