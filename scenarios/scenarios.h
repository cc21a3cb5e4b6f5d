/* The scenarios and variants that come with Buzzer.
 *
 * To add a scenario: a file with a const struct bz_scenario, and a row below. To add a variant: a
 * file with a const struct bz_variant, and a row in variants/variants.h. To add an entry of the
 * zoo: zoo/README.md.
 */
#pragma once

#include "scenarios/variants/variants.h"
#include "scenarios/zoo/zoo.h"
#include "sim/program/scenario.h"
#include "sim/variant/variant.h"

#define BZ_SCENARIOS(SCENARIO)                                                                     \
    SCENARIO(bank)                                                                                 \
    SCENARIO(barrier)                                                                              \
    SCENARIO(condition)                                                                            \
    SCENARIO(contended)                                                                            \
    SCENARIO(deferred)                                                                             \
    SCENARIO(event)                                                                                \
    SCENARIO(handoff)                                                                              \
    SCENARIO(intruder)                                                                             \
    SCENARIO(model)                                                                                \
    SCENARIO(pool)                                                                                 \
    SCENARIO(program)                                                                              \
    SCENARIO(queue)                                                                                \
    SCENARIO(resource_pool)                                                                        \
    SCENARIO(restaurant)                                                                           \
    SCENARIO(scope)                                                                                \
    SCENARIO(select)                                                                               \
    SCENARIO(taskgroup)                                                                            \
    SCENARIO(timeout)
#define BZ_DECLARE_SCENARIO(name) extern const struct bz_scenario bz_scenario_##name;
BZ_SCENARIOS(BZ_DECLARE_SCENARIO)

/* Both end with NULL and are sorted by name, `buzzer` first. */
extern const struct bz_scenario *const bz_scenarios[];
extern const struct bz_variant *const bz_variants[];
