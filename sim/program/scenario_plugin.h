/* Scenarios in a plug-in, for `buzzer run NAME --plugin FILE.so`. It is the one header to include;
 * it brings everything that a scenario needs.
 *
 *     #include "sim/program/scenario_plugin.h"
 *     ...
 *     static const struct bz_scenario mine = {.name = "mine", ...};
 *     BZ_SCENARIO_PLUGIN(&mine);
 *
 * A plug-in may have variants, too (sim/variant/plugin.h). The rules of that header hold here: it
 * is compiled against the installed headers, is linked with nothing, and runs in processes of its
 * own.
 *
 * A scenario keeps nothing in static variables: setup() runs once for each run, or once for many of
 * them, and a search goes back and forth between steps. All its state is from bz_world_alloc().
 * setup() and the tasks use bz_world_...() (sim/native/world.h), bz_sut_...() (sim/native/sut.h)
 * and what primitives/runtime declares for users.
 */
#ifndef BZ_SIM_PROGRAM_SCENARIO_PLUGIN_H
#define BZ_SIM_PROGRAM_SCENARIO_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#include "primitives/runtime/future.h"
#include "primitives/runtime/group.h"
#include "primitives/runtime/loop.h"
#include "primitives/runtime/task.h"
#include "primitives/runtime/timeout.h"
#include "primitives/runtime/timer.h"
#include "sim/native/sut.h"
#include "sim/native/world.h"
#include "sim/program/scenario.h"

BZ_BEGIN_DECLS

#define BZ_SCENARIO_VERSION 4u

/* `version` stays the first member forever. The sizes check that both sides were compiled with the
 * same structures. */
struct bz_scenario_plugin {
    uint32_t version; /* BZ_SCENARIO_VERSION */
    uint32_t scenario_bytes;
    uint32_t args_bytes;
    uint32_t world_bytes;
    const struct bz_scenario *const *scenarios; /* ends with NULL */
};

#define BZ_SCENARIO_PLUGIN_SYMBOL "bz_scenario_plugin"

extern __attribute__((__visibility__("default")))
const struct bz_scenario_plugin bz_scenario_plugin;

/* Defines the table, from pointers to the scenarios. For use once in a plug-in, outside of
 * functions. */
#define BZ_SCENARIO_PLUGIN(...)                                                                    \
    static const struct bz_scenario *const bz_plugin_scenarios[] = {__VA_ARGS__, NULL};            \
    const struct bz_scenario_plugin bz_scenario_plugin = {                                         \
        BZ_SCENARIO_VERSION, sizeof(struct bz_scenario), sizeof(struct bz_scenario_args),          \
        sizeof(struct bz_world), bz_plugin_scenarios}

BZ_END_DECLS

#endif
