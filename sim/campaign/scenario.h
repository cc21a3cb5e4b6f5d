/* A scenario: a program under test, written against subjects, with its parameters.
 *
 * setup() runs before the first step: it creates subjects and tasks, and returns the scenario's
 * state, which must come from bz_world_alloc(). finish() runs when nothing can run any more and no
 * monitor has objected; it may check and probe, and must not wait. All drawing goes through
 * bz_world_draw() and bz_world_draw_delay_ns().
 */
#ifndef BZ_SIM_CAMPAIGN_SCENARIO_H
#define BZ_SIM_CAMPAIGN_SCENARIO_H

#include <stdint.h>

#include "sim/variant/variant.h"

struct bz_world;

#define BZ_PARAMS_MAX 16u

/* A whole number that a user may set; inclusive limits. */
struct bz_param {
    const char *name; /* NULL ends a list */
    const char *summary;
    int64_t value; /* default */
    int64_t least;
    int64_t most;
};

/* What a setup is called with: values in the order of the scenario's params. */
struct bz_scenario_args {
    enum bz_primitive primitive;
    int64_t values[BZ_PARAMS_MAX];
};

struct bz_scenario {
    const char *name;
    const char *summary;
    const struct bz_param *params;
    /* Primitives that it can be run with; the first that the variant offers is the default. */
    enum bz_primitive primitives[BZ_PRIMITIVE_COUNT];
    uint32_t primitive_count;
    void *(*setup)(struct bz_world *world, const struct bz_scenario_args *args);
    void (*finish)(struct bz_world *world, void *state); /* NULL: nothing */
};

#endif
