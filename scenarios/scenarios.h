/* The scenarios and variants that come with Buzzer.
 *
 * To add a scenario: one file with one const struct bz_scenario, declared here and listed in
 * scenarios.c. To add a variant: one file with one const struct bz_variant, declared in
 * variants/variants.h and listed in scenarios.c. To add an entry of the zoo: zoo/README.md.
 */
#ifndef BZ_SCENARIOS_SCENARIOS_H
#define BZ_SCENARIOS_SCENARIOS_H

#include "scenarios/variants/variants.h"
#include "scenarios/zoo/zoo.h"
#include "sim/program/scenario.h"
#include "sim/variant/variant.h"

extern const struct bz_scenario bz_scenario_bank, bz_scenario_barrier, bz_scenario_condition,
    bz_scenario_contended, bz_scenario_deferred, bz_scenario_event, bz_scenario_handoff,
    bz_scenario_intruder, bz_scenario_model, bz_scenario_pool, bz_scenario_program,
    bz_scenario_queue, bz_scenario_restaurant, bz_scenario_scope, bz_scenario_taskgroup,
    bz_scenario_timeout;

/* Both end with NULL and are sorted by name, `buzzer` first. */
extern const struct bz_scenario *const bz_scenarios[];
extern const struct bz_variant *const bz_variants[];

#endif
