/* The scenarios and variants that come with Buzzer, by name.
 *
 * To add a scenario: one file with one const struct bz_scenario, declared here, listed in
 * scenarios.c. To add a variant: the same with struct bz_variant. To add an entry of the zoo:
 * zoo/README.md.
 */
#ifndef BZ_SCENARIOS_SCENARIOS_H
#define BZ_SCENARIOS_SCENARIOS_H

#include "scenarios/variants/variants.h"
#include "scenarios/zoo/zoo.h"
#include "sim/run/scenario.h"
#include "sim/variant/variant.h"

extern const struct bz_scenario bz_scenario_bank;
extern const struct bz_scenario bz_scenario_barrier;
extern const struct bz_scenario bz_scenario_condition;
extern const struct bz_scenario bz_scenario_contended;
extern const struct bz_scenario bz_scenario_deferred;
extern const struct bz_scenario bz_scenario_event;
extern const struct bz_scenario bz_scenario_handoff;
extern const struct bz_scenario bz_scenario_intruder;
extern const struct bz_scenario bz_scenario_pool;
extern const struct bz_scenario bz_scenario_queue;
extern const struct bz_scenario bz_scenario_program;
extern const struct bz_scenario bz_scenario_restaurant;
extern const struct bz_scenario bz_scenario_scope;
extern const struct bz_scenario bz_scenario_taskgroup;
extern const struct bz_scenario bz_scenario_timeout;

/* Both end with NULL and are sorted by name, `buzzer` first. */
extern const struct bz_scenario *const bz_scenarios[];
extern const struct bz_variant *const bz_variants[];

/* NULL if there is none of that name. */
const struct bz_scenario *bz_scenario_find(const char *name);
const struct bz_variant *bz_variant_find(const char *name);

#endif
