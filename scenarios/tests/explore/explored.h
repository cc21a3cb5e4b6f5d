/* Shared by the tests of the exhaustive search: one search of a program, and small settings of the
 * scenarios, under which their spaces are small. */
#ifndef BZ_SCENARIOS_TESTS_EXPLORED_H
#define BZ_SCENARIOS_TESTS_EXPLORED_H

#include <criterion/criterion.h>
#include <string.h>

#include "primitives/tests/long.h"
#include "scenarios/tests/seeds.h"
#include "sim/explore/explore.h"
#include "sim/native/snapshot.h"
#include "sim/program/settings.h"

/* Without snapshots every prefix is run again, which takes hours, and no state is recognized. */
#define TST_NEEDS_SNAPSHOTS()                                                                      \
    do {                                                                                           \
        if (!bz_snapshot_is_supported()) {                                                         \
            cr_skip_test("there are no snapshots");                                                \
        }                                                                                          \
    } while (0)

/* The program of a scenario on a variant, with settings "name=value,..."; NULL: the defaults. */
static inline struct bz_program tst_explored_program(const struct bz_scenario *scenario,
                                                     const struct bz_variant *variant,
                                                     const char *settings) {
    struct bz_program program;
    char error[BZ_ERROR_BYTES];
    bz_program_init(&program, scenario, variant, &bz_strategy_random);
    cr_assert(settings == NULL || bz_program_set_list(&program, settings, error, sizeof error),
              "%s: %s", scenario->name, error);
    return program;
}

static inline struct bz_explore_result tst_explore(const struct bz_explore_config *config) {
    static struct bz_explore_result result;
    cr_assert(bz_explore(config, &result));
    return result;
}

/* Two entries of the zoo for each scenario and oracle suffice, unless there is time for all. */
static inline bool tst_is_repeated(const struct bz_variant *entry) {
    uint32_t alike = 0;
    for (const struct bz_variant *const *next = bz_variants; *next != entry; next++) {
        const struct bz_fault *fault = entry->fault == NULL ? NULL : (*next)->fault;
        alike += fault != NULL && strcmp(fault->scenario, entry->fault->scenario) == 0 &&
                 strcmp(fault->oracle, entry->fault->oracle) == 0;
    }
    return !tst_is_long() && alike >= 2;
}

static inline const char *tst_small_settings(const char *scenario) {
    static const char *const table[][2] = {
        {"bank", "cards=2,latency-ns=1"},
        {"barrier", "parties=2,workers=3,rounds=1,pace=0,patience=2"},
        {"condition",
         "consumers=2,producers=1,rounds=1,batch=1,hold=0,pace-ns=0,patience=1,intrusions=0"},
        {"contended", "permits=1,workers=3,rounds=1,patience=2"},
        {"deferred", "crowd=3,arrival=0,hold=0,patience=1"},
        {"event", "setters=1,waiters=2,rounds=1,latecomers=0,pace=0,patience=1"},
        {"handoff", "turns=0"},
        {"intruder", "workers=2,rounds=1,visits=1,patience=2"},
        {"model", "tasks=3,operations=1,pause=0,patience=1"},
        {"pool", "workers=3,rounds=1,arrival=0,patience=2,keys=1"},
        {"queue", "producers=1,consumers=2,newcomers=1,items=1,tries=1,patience=1,work=0"},
        {"resource-pool", "limit=1,workers=3,rounds=1,arrival=0,patience=2,failing=1,breakage=1"},
        {"restaurant",
         "tables=1,guests=3,arrival=0,helpings=1,meal=0,meal-ns=1,changes=1,patience=2"},
        {"scope", "workers=1,rounds=1,sleep-ns=1,cancels=1"},
        {"select", "tasks=1,rounds=1,deadline-ns=1,hold=0,patience=1,cancels=0"},
        {"taskgroup", "children=3,rounds=1,hold=1"},
        {"timeout", "waiters=2,rounds=1,slack-ns=0"},
    };
    for (size_t index = 0; index < sizeof table / sizeof table[0]; index++) {
        if (strcmp(table[index][0], scenario) == 0) {
            return table[index][1];
        }
    }
    return NULL;
}

#endif
