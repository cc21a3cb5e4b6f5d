/* States that differ in the order of interchangeable tasks alone are one state, and nothing is lost
 * by that: with and without this reduction the search finds the same violations and outcomes, and
 * counts the same schedules. A wrong merger of two states hardly leaves that number as it is. */
#include "scenarios/tests/explore/explored.h"
#include "sim/tests/toys.h"

#define STATES_MAX 45000u
#define STEPS_MAX 300u

static const uint32_t without = BZ_REDUCE_ALL & ~BZ_REDUCE_SYMMETRY;

struct pair {
    struct bz_explore_result with;
    struct bz_explore_result without;
};

static struct bz_explore_result search(const struct bz_program *program, uint32_t reductions) {
    return tst_sweep(program, BZ_EXPLORE_UNBOUNDED, reductions, STATES_MAX);
}

/* False: one of them is too large. */
static bool compare_in(const struct bz_scenario *scenario, const struct bz_variant *variant,
                       const char *settings, uint32_t cancels_max, struct pair *pair) {
    struct bz_program program = tst_explored_program(scenario, variant, settings);
    program.cancels_max = cancels_max;
    program.steps_max = STEPS_MAX;
    pair->with = search(&program, BZ_REDUCE_ALL);
    if (pair->with.end != BZ_EXPLORE_DONE || pair->with.is_out_of_steps) {
        return false;
    }
    pair->without = search(&program, without);
    if (pair->without.end != BZ_EXPLORE_DONE) {
        return false;
    }
    tst_expect_same_space(&program, &pair->with, &pair->without, settings, cancels_max);
    cr_assert_eq(pair->with.has_cycles, pair->without.has_cycles, "%s, %s", variant->name,
                 settings);
    cr_assert_leq(pair->with.states, pair->without.states, "%s, %s", variant->name, settings);
    return true;
}

static bool compare(const struct bz_variant *variant, const char *settings, uint32_t cancels_max,
                    struct pair *pair) {
    return compare_in(&bz_scenario_contended, variant, settings, cancels_max, pair);
}

static bool is_symmetric(const struct pair *pair) {
    return (pair->with.reductions & BZ_REDUCE_SYMMETRY) != 0;
}

/* --- every variant ---------------------------------------------------------------------------- */

Test(explore_symmetry, loses_nothing_on_any_variant) {
    static const char *const settings[] = {
        "primitive=semaphore,permits=1,workers=3,rounds=1,patience=2",
        "primitive=semaphore,permits=2,workers=3,rounds=2,patience=1,cancels=0",
        "primitive=lock,workers=3,rounds=1,hold=0,patience=1,cancels=1",
        "primitive=bounded,permits=2,workers=4,rounds=1,hold=0,patience=1,cancels=1"};
    static const enum bz_primitive primitives[] = {BZ_PRIMITIVE_SEMAPHORE, BZ_PRIMITIVE_SEMAPHORE,
                                                   BZ_PRIMITIVE_LOCK, BZ_PRIMITIVE_BOUNDED};
    uint32_t compared = 0;
    uint32_t with_findings = 0;
    uint32_t smaller = 0;
    TST_NEEDS_SNAPSHOTS();
    for (const struct bz_variant *const *next = bz_variants; *next != NULL; next++) {
        for (uint32_t index = 0; index < 2 * sizeof settings / sizeof settings[0]; index++) {
            struct pair pair;
            if (tst_is_repeated(*next) || !bz_variant_offers(*next, primitives[index / 2]) ||
                !compare(*next, settings[index / 2], index % 2, &pair)) {
                continue;
            }
            compared++;
            with_findings += pair.with.finding_count > 0;
            smaller += is_symmetric(&pair) && 2 * pair.with.states < pair.without.states;
        }
    }
    cr_assert_lt(TST_LONG(80u, 120u), compared, "%u", compared);
    cr_assert_lt(TST_LONG(20u, 40u), with_findings, "%u", with_findings);
    cr_assert_lt(compared / 2, smaller, "%u of %u", smaller, compared);
}

/* Two or three of each role, so that groups change places beside each other. */
Test(explore_symmetry, loses_nothing_in_any_scenario) {
    static const struct {
        const struct bz_scenario *scenario;
        const char *settings;
    } programs[] = {
        {&bz_scenario_condition, "consumers=2,producers=1,rounds=1,batch=1,hold=0,pace-ns=0,"
                                 "patience=1,intrusions=0,cancels=0"},
        {&bz_scenario_event,
         "setters=2,waiters=2,rounds=1,latecomers=2,pace=0,delay=0,patience=1,cancels=0"},
        {&bz_scenario_event, "setters=1,waiters=3,rounds=1,latecomers=0,pace=1,patience=2"},
        {&bz_scenario_intruder, "workers=3,rounds=1,visits=1,patience=2"},
        {&bz_scenario_pool, "workers=3,rounds=1,arrival=0,patience=2,keys=2"},
        {&bz_scenario_restaurant, "tables=1,guests=3,arrival=0,helpings=1,meal=0,meal-ns=1,"
                                  "changes=1,patience=1"},
        {&bz_scenario_scope, "workers=2,rounds=1,sleep-ns=0,cancels=0"},
        /* if there is time */
        {&bz_scenario_bank, "accounts=1,cards=2,latency-ns=1,payments=1"},
        {&bz_scenario_condition, "consumers=1,producers=2,rounds=1,batch=1,hold=0,pace-ns=0,"
                                 "patience=1,intrusions=0,cancels=0"},
    };
    size_t count = sizeof programs / sizeof programs[0] - TST_LONG(2, 0);
    uint32_t compared = 0;
    uint32_t with_findings = 0;
    TST_NEEDS_SNAPSHOTS();
    for (size_t index = 0; index < count; index++) {
        const struct bz_scenario *scenario = programs[index].scenario;
        uint32_t smaller = 0;
        for (const struct bz_variant *const *next = bz_variants; *next != NULL; next++) {
            for (uint32_t cancels_max = 0; cancels_max <= TST_LONG(0u, 1u); cancels_max++) {
                struct pair pair;
                if (tst_is_repeated(*next) || !bz_variant_offers(*next, scenario->primitives[0]) ||
                    !compare_in(scenario, *next, programs[index].settings, cancels_max, &pair)) {
                    continue;
                }
                compared++;
                with_findings += pair.with.finding_count > 0;
                smaller += is_symmetric(&pair) && 4 * pair.with.states < 3 * pair.without.states;
            }
        }
        cr_assert_lt(0, smaller, "%s, %s", scenario->name, programs[index].settings);
    }
    cr_assert_lt(60, compared, "%u", compared);
    cr_assert_lt(15, with_findings, "%u", with_findings);
}

/* --- who it is matters ------------------------------------------------------------------------ */

/* Waits twice if this task got the last permit, too. That task matters while others have as much
 * or as little left to do. */
struct remembering {
    struct bz_zoo_semaphore semaphore; /* first */
    const struct bz_task *last;
};

static enum bz_status acquire_remembering(void *instance) {
    struct remembering *toy = instance;
    struct bz_loop *loop = toy->semaphore.queue.loop;
    enum bz_status status = bz_yield(loop);
    if (status == BZ_OK && toy->last == bz_loop_current(loop)) {
        status = bz_yield(loop);
    }
    status = status == BZ_OK ? toy_acquire(instance) : status;
    if (status == BZ_OK) {
        toy->last = bz_loop_current(loop);
    }
    return status;
}

/* The first task waits longer, and it is its number that says so. */
static enum bz_status acquire_by_number(void *instance) {
    const struct bz_zoo_semaphore *toy = instance;
    struct bz_loop *loop = toy->queue.loop;
    enum bz_status status = bz_task_id(bz_loop_current(loop)) == 1 ? bz_yield(loop) : BZ_OK;
    return status == BZ_OK ? toy_acquire(instance) : status;
}

/* The same by its name, and only when somebody else holds a permit. */
static enum bz_status acquire_by_name(void *instance) {
    const struct bz_zoo_semaphore *toy = instance;
    struct bz_loop *loop = toy->queue.loop;
    char name[32];
    enum bz_status status = BZ_OK;
    if (toy->value < toy->permits &&
        strcmp(bz_task_name(bz_loop_current(loop), name, sizeof name), "worker-1") == 0) {
        status = bz_yield(loop);
    }
    return status == BZ_OK ? toy_acquire(instance) : status;
}

TOY(remembering, 0, .instance_bytes = sizeof(struct remembering), .acquire = acquire_remembering);
TOY(by_number, 0, .acquire = acquire_by_number);
TOY(by_name, 0, .acquire = acquire_by_name);

#define TOY_SETTINGS "permits=1,workers=3,rounds=2,hold=0,patience=1,cancels=0"

Test(explore_symmetry, follows_a_pointer_to_a_task) {
    struct pair pair;
    TST_NEEDS_SNAPSHOTS();
    cr_assert(compare(&remembering, "permits=1,workers=3,rounds=3,hold=0,patience=1,cancels=0", 0,
                      &pair));
    cr_assert(is_symmetric(&pair));
    cr_assert_lt(4 * pair.with.states, pair.without.states);
}

Test(explore_symmetry, is_off_for_code_that_asks_for_the_number_or_the_name) {
    struct pair pair;
    TST_NEEDS_SNAPSHOTS();
    cr_assert(compare(&by_number, TOY_SETTINGS, 0, &pair));
    cr_assert_not(is_symmetric(&pair));
    cr_assert(compare(&by_name, "permits=1,workers=3,rounds=1,patience=1,cancels=0", 0, &pair));
    cr_assert_not(is_symmetric(&pair));
}

/* Six workers in all orders: with 720 permutations, the space of unpermuted states is no longer
 * one that a test could search. */
Test(explore_symmetry, searches_what_is_too_large_without) {
    TST_NEEDS_SNAPSHOTS();
    struct bz_program program = tst_explored_program(&bz_scenario_contended, &bz_variant_buzzer,
                                                     "workers=6,rounds=1,patience=4");
    program.cancels_max = 0;
    struct bz_explore_result result = search(&program, BZ_REDUCE_ALL);
    cr_assert_eq(result.end, BZ_EXPLORE_DONE);
    cr_assert(result.is_whole);
    result = search(&program, without);
    cr_assert_eq(result.end, BZ_EXPLORE_STATES_MAX);
}
