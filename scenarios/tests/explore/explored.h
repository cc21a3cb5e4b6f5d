/* Shared by the tests of the exhaustive search: one search of a program, and small settings of the
 * scenarios, under which their spaces are small. */
#ifndef BZ_SCENARIOS_TESTS_EXPLORED_H
#define BZ_SCENARIOS_TESTS_EXPLORED_H

#include <criterion/criterion.h>

#include "primitives/tests/long.h"
#include "scenarios/tests/seeds.h"
#include "sim/explore/explore.h"
#include "sim/native/snapshot.h"

/* Without snapshots every prefix is run again, which takes hours, and no state is recognized. */
#define TST_NEEDS_SNAPSHOTS()                                                                      \
    do {                                                                                           \
        if (!bz_snapshot_is_supported()) {                                                         \
            cr_skip_test("there are no snapshots");                                                \
        }                                                                                          \
    } while (0)

/* In any order, with settings "name=value,..."; NULL: the defaults. */
static inline struct bz_program tst_explored_program(const struct bz_scenario *scenario,
                                                     const struct bz_variant *variant,
                                                     const char *settings) {
    return tst_program_with(scenario, variant, BZ_ORDER_ANY, settings);
}

static inline struct bz_explore_result tst_explore(const struct bz_explore_config *config) {
    static struct bz_explore_result result;
    cr_assert(bz_explore(config, &result));
    return result;
}

/* The whole of it, up to so many states, and all that it finds. */
static inline struct bz_explore_result tst_sweep(const struct bz_program *program,
                                                 uint32_t delays_max, uint32_t reductions,
                                                 uint64_t states_max) {
    return tst_explore(&(struct bz_explore_config){.program = program,
                                                   .delays_max = delays_max,
                                                   .reductions = reductions,
                                                   .rounds_before_sweep = 1,
                                                   .keep_going = true,
                                                   .states_max = states_max});
}

/* Two sweeps have found the same, and counted the same schedules, if both count alike: `yields`
 * leaves out schedules that differ in a number of yields alone. */
static inline void tst_expect_same_space(const struct bz_program *program,
                                         const struct bz_explore_result *one,
                                         const struct bz_explore_result *other, const char *what,
                                         uint64_t number) {
    bool counts =
        !one->has_cycles && ((one->reductions ^ other->reductions) & BZ_REDUCE_YIELDS) == 0;
    bool is_same = one->violations_digest == other->violations_digest &&
                   one->outcomes_digest == other->outcomes_digest &&
                   (one->schedules == other->schedules || !counts);
    cr_assert(is_same,
              "%s on %s, %s %llu: %u against %u violation(s), %llu against %llu outcomes, %llu "
              "against %llu schedules",
              program->scenario->name, program->variant->name, what, (unsigned long long)number,
              one->finding_count, other->finding_count, (unsigned long long)one->outcomes,
              (unsigned long long)other->outcomes, (unsigned long long)one->schedules,
              (unsigned long long)other->schedules);
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
