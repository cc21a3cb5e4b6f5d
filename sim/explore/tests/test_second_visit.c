/* Snapshots have what lies in the world's memory. A variant that keeps state elsewhere is noticed,
 * and the search goes on without them, or says that nothing repeats. */
#include <stdlib.h>

#include "primitives/runtime/loop.h"
#include "sim/campaign/determinism.h"
#include "sim/explore/explore.h"
#include "sim/explore/fingerprint/symmetry.h"
#include "sim/native/snapshot.h"
#include "sim/tests/crowd.h"

/* --- variants with state outside of the world ------------------------------------------------- */

/* Waiters are on the heap, and freed: back at a snapshot, a task resumes into freed memory. */
static enum bz_status acquire_on_heap(void *instance) {
    struct bz_zoo_semaphore *toy = instance;
    if (toy->value > bz_deque_count(&toy->queue, BZ_FUTURE_RESULT) &&
        bz_deque_oldest_asleep(&toy->queue) == NULL) {
        toy->value--;
        return BZ_OK;
    }
    struct bz_waiter *waiter = calloc(1, sizeof *waiter);
    cr_assert_not_null(waiter);
    enum bz_status status = bz_deque_wait(&toy->queue, waiter);
    free(waiter);
    toy->value -= status == BZ_OK;
    bz_zoo_semaphore_wake_all_that_fit(toy);
    return status;
}

/* The number of permits is a static variable, which each set-up sets anew. */
static int64_t level;

static enum bz_status init_static(void *instance, struct bz_loop *loop, uint32_t permits) {
    level = permits;
    return bz_zoo_semaphore_init(instance, loop, permits);
}

static enum bz_status acquire_static(void *instance) {
    enum bz_status status = toy_acquire(instance);
    level -= status == BZ_OK;
    return status == BZ_OK && level < 0 ? BZ_FULL : status;
}

static enum bz_status release_static(void *instance) {
    level++;
    return bz_zoo_semaphore_release(instance);
}

/* No set-up resets it. */
static uint32_t calls;

static enum bz_status acquire_counting(void *instance) {
    struct bz_zoo_semaphore *toy = instance;
    if (++calls % 101 == 0) {
        enum bz_status status = bz_yield(toy->queue.loop);
        if (status != BZ_OK) {
            return status;
        }
    }
    return toy_acquire(instance);
}

TOY(in_world, 0);
TOY(on_heap, 0, .acquire = acquire_on_heap);
TOY(in_static, 0, .init = init_static, .acquire = acquire_static, .release = release_static);
TOY(counting, 0, .acquire = acquire_counting);

/* --- searching -------------------------------------------------------------------------------- */

static struct bz_program program;
static struct bz_explore_result result;
static uint32_t notices;

static void notice(void *context) {
    (void)context;
    notices++;
}

static void search(const struct bz_variant *variant, uint32_t reductions, bool is_foreign) {
    crowd_program(&program, variant, BZ_ORDER_ANY);
    program.args.values[CROWD_PERMITS] = 1;
    program.args.values[CROWD_GUESTS] = 2;
    program.args.values[CROWD_ROUNDS] = 1;
    program.cancels_max = 1;
    program.contain.is_on = is_foreign;
    struct bz_explore_config config = {
        .program = &program, .delays_max = 1, .reductions = reductions, .on_outside_state = notice};
    notices = 0;
    cr_assert(bz_explore(&config, &result));
}

/* As the search of this variant without snapshots, which is right in any case. */
static void expect_as_without_snapshots(const struct bz_variant *variant, bool is_foreign) {
    search(variant, 0, is_foreign);
    struct bz_explore_result slow = result;
    cr_assert_not(slow.has_outside_state);
    search(variant, BZ_REDUCE_ALL, is_foreign);
    cr_assert_eq(result.end, BZ_EXPLORE_DONE);
    cr_assert_eq(result.schedules, slow.schedules);
    cr_assert_eq(result.outcomes_digest, slow.outcomes_digest);
    cr_assert_eq(result.finding_count, slow.finding_count);
}

static void expect_notice(bool is_noticed) {
    is_noticed = is_noticed && bz_snapshot_is_supported();
    cr_assert_eq(result.has_outside_state, is_noticed);
    cr_assert_eq(notices, is_noticed);
    cr_assert_eq(result.reductions == 0, is_noticed || !bz_snapshot_is_supported());
}

Test(second_visit, finds_nothing_in_a_variant_that_keeps_its_state_in_the_world) {
    expect_as_without_snapshots(&in_world, true);
    expect_notice(false);
    expect_as_without_snapshots(&in_world, false);
    expect_notice(false);
}

/* In this process, the second free() would end the test. */
Test(second_visit, notices_memory_of_malloc_before_the_variant_crashes) {
    expect_as_without_snapshots(&on_heap, true);
    expect_notice(true);
    cr_assert_eq(result.finding_count, 0);
}

Test(second_visit, notices_a_static_variable_in_the_search_itself) {
    expect_as_without_snapshots(&in_static, false);
    expect_notice(true);
    cr_assert_eq(result.finding_count, 0);
    search(&in_world, 0, false);
    uint64_t schedules = result.schedules;
    expect_as_without_snapshots(&in_static, true);
    cr_assert_eq(result.schedules, schedules);
}

static void expect_nondeterminism(uint32_t reductions) {
    search(&counting, reductions, true);
    cr_assert_eq(result.end, BZ_EXPLORE_NONDETERMINISM);
    cr_assert_eq(result.rounds, 0);
    cr_assert_eq(result.finding_count, 1);
    tst_text(result.findings[0].violation.oracle, "nondeterminism");
    struct bz_program repeat;
    struct bz_finding found;
    cr_assert(bz_explore_repeat(&program, &result.findings[0], &repeat, &found));
    tst_text(found.violation.oracle, "nondeterminism");
    cr_assert(strstr(found.violation.message, "two runs") != NULL ||
                  strstr(found.violation.message, "two different runs") != NULL,
              "%s", found.violation.message);
}

Test(second_visit, without_snapshots_nothing_repeats_a_static_counter) {
    expect_nondeterminism(BZ_REDUCE_ALL);
    expect_nondeterminism(0);
}

/* --- addresses in disguise -------------------------------------------------------------------- */

static uint64_t *set_up_with_words(struct bz_world *world) {
    bz_judge_begin(world->judge, &(struct bz_run_start){.seed = 1});
    bz_world_begin(world);
    (void)program.scenario->setup(world, &program.args);
    return bz_mem_alloc(bz_loop_mem(world->loop), 64);
}

Test(second_visit, notices_addresses_in_disguise) {
    if (!bz_snapshot_is_supported() || UINTPTR_MAX <= UINT32_MAX) {
        cr_skip_test("there is no symmetry, or addresses are too short");
    }
    crowd_program(&program, &in_world, BZ_ORDER_ANY);
    struct bz_world *worlds[] = {bz_program_new_world(&program), bz_program_new_world(&program)};
    uint64_t *words[] = {set_up_with_words(worlds[0]), set_up_with_words(worlds[1])};
    for (int kind = 0; kind < 10; kind++) {
        for (int which = 0; which < 2; which++) {
            uint64_t address = (uint64_t)(uintptr_t)words[which];
            const uint64_t kinds[] = {address,
                                      address | 1u,
                                      (uint64_t)(uintptr_t)&program,
                                      (uint64_t)(uintptr_t)worlds[which], /* of other memory */
                                      (uint64_t)which,
                                      address << 8u | 1u,
                                      address | UINT64_C(1) << 63u,
                                      (uint32_t)address,
                                      address << 32u | 7u,
                                      address >> 4u};
            words[which][3] = kinds[kind];
        }
        cr_assert_eq(bz_symmetry_has_disguise(worlds[0], worlds[1]), kind >= 5, "%d", kind);
    }
    bz_world_destroy(worlds[0]);
    bz_world_destroy(worlds[1]);
}
