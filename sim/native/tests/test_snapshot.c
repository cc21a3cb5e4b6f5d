/* Snapshots: a run continues from a snapshot exactly as it continued before, and two schedules that
 * reach one state give the same bytes. */
#include "sim/native/snapshot.h"

#include <stdlib.h>

#include "sim/tests/crowd.h"

static void begin_crowd(struct bz_program *program, struct bz_world **world) {
    crowd_program(program, &crowd_sound, BZ_ORDER_ANY);
    program->strategy = &stage_strategy; /* default, but for its draws */
    *world = bz_program_new_world(program);
    cr_assert_not_null(*world);
    stage_begin_run(*world);
    bz_snapshot_begin(*world, true, false);
    (void)program->scenario->setup(*world, &program->args);
    bz_judge_end_step((*world)->judge);
}

/* Runs to the end; returns the digest of this part. */
static uint64_t run_on(struct bz_world *world) {
    world->judge->digest = BZ_DIGEST_SEED;
    while (bz_world_step(world)) {
    }
    cr_assert_eq(world->judge->shadow.unfinished, 0);
    return world->judge->digest;
}

Test(snapshot, a_run_goes_on_from_it_as_it_did) {
    static struct bz_snapshot taken;
    static struct bz_snapshot again;
    struct bz_program program;
    struct bz_world *world;
    bool goes_on = true;
    uint32_t places = 0;
    if (!bz_snapshot_is_supported()) {
        cr_skip_test("there are no snapshots");
    }
    for (; goes_on; places++) {
        begin_crowd(&program, &world);
        for (uint32_t step = 0; step < places && goes_on; step++) {
            goes_on = bz_world_step(world);
        }
        bz_snapshot_normalize(world);
        cr_assert_eq(world->judge->step, 0);
        cr_assert(bz_snapshot_save(world, &taken));
        uint64_t digest = run_on(world);
        for (uint32_t repeat = 0; repeat < 3; repeat++) {
            bz_snapshot_restore(world, &taken);
            cr_assert(bz_snapshot_save(world, &again));
            cr_assert_eq(again.state_bytes, taken.state_bytes);
            cr_assert_eq(memcmp(again.bytes, taken.bytes, taken.state_bytes), 0);
            cr_assert_eq(run_on(world), digest, "from step %u", places);
        }
        bz_world_destroy(world);
    }
    cr_assert_lt(20, places);
    bz_snapshot_fini(&taken);
    bz_snapshot_fini(&again);
}

/* A violation of one continuation is gone in the next one. */
Test(snapshot, a_violation_is_taken_back) {
    struct bz_snapshot taken = {.bytes = NULL};
    struct bz_program program;
    struct bz_world *world;
    if (!bz_snapshot_is_supported()) {
        cr_skip_test("there are no snapshots");
    }
    begin_crowd(&program, &world);
    bz_snapshot_normalize(world);
    cr_assert(bz_snapshot_save(world, &taken));
    uint64_t digest = run_on(world);
    bz_snapshot_restore(world, &taken);
    cr_assert(bz_world_step(world));
    bz_judge_violate(world->judge, "assertion", 0, 0, "of the test");
    cr_assert(world->judge->is_stopped);
    bz_snapshot_restore(world, &taken);
    cr_assert_eq(world->judge->is_stopped, false);
    cr_assert_null((void *)world->judge->violation.oracle);
    cr_assert_eq(world->judge->end, BZ_RUN_PASSED);
    bz_judge_exhaust(world->judge); /* a loop */
    bz_world_end(world);
    tst_text(world->judge->violation.oracle, "livelock");
    bz_snapshot_restore(world, &taken);
    cr_assert_eq(run_on(world), digest);
    bz_world_end(world);
    cr_assert_null((void *)(uintptr_t)world->judge->violation.oracle);
    bz_snapshot_fini(&taken);
    bz_world_destroy(world);
}

/* --- the same state --------------------------------------------------------------------------- */

static uint32_t picks[8]; /* by step */
static uint32_t pick_count;

static uint32_t picks_next(void *state, const struct bz_ready *ready, uint32_t count,
                           uint32_t step) {
    (void)state;
    (void)ready;
    (void)step;
    uint32_t pick = picks[pick_count++];
    cr_assert_lt(pick, count);
    return pick;
}

static enum bz_status meets(void *arg) {
    struct bz_sut_permits *sut = arg;
    enum bz_status status = bz_sut_acquire(sut);
    if (status == BZ_OK) {
        status = bz_yield(sut->world->loop);
        cr_assert_eq(bz_sut_release(sut), BZ_OK);
    }
    return status;
}

/* The stack as the functions that are called next find it. */
static __attribute__((noinline)) void leave_on_stack(uint32_t byte) {
    volatile char left[16384];
    for (size_t index = 0; index < sizeof left; index++) {
        left[index] = (char)byte;
    }
}

/* Two tasks that need different tables make these steps; then the snapshot is taken. */
static void play(const uint32_t *order, uint32_t steps, struct bz_world *world,
                 struct bz_snapshot *taken) {
    stage_begin_run(world);
    bz_snapshot_begin(world, true, false);
    leave_on_stack(order[0] + 1);
    struct bz_sut_permits *suts = bz_world_alloc(world, 2 * sizeof *suts);
    for (uint32_t index = 0; index < 2; index++) {
        tst_status(bz_sut_permits_init(&suts[index], world, BZ_PRIMITIVE_SEMAPHORE, "table", 1),
                   BZ_OK);
    }
    for (uint32_t index = 0; index < 2; index++) {
        cr_assert(bz_task_spawn(world->loop, "guest", index, meets, &suts[index]) != NULL);
    }
    bz_judge_end_step(world->judge);
    pick_count = 0;
    memcpy(picks, order, steps * sizeof *order);
    for (uint32_t step = 0; step < steps; step++) {
        cr_assert(bz_world_step(world));
        bz_snapshot_normalize(world);
    }
    cr_assert(bz_snapshot_save(world, taken));
}

static bool is_same_place(const uint32_t *one, const uint32_t *other, uint32_t steps) {
    static struct bz_snapshot taken[2];
    struct bz_strategy strategy = stage_strategy;
    struct bz_judge_config config = stage_config(BZ_ORDER_ANY);
    strategy.next = picks_next;
    config.strategy = &strategy;
    config.cancels_max = 0;
    struct bz_world *world = bz_world_new(&config, &crowd_sound);
    play(one, steps, world, &taken[0]);
    play(other, steps, world, &taken[1]);
    bz_world_destroy(world);
    return taken[0].state_bytes == taken[1].state_bytes &&
           memcmp(taken[0].bytes, taken[1].bytes, taken[0].state_bytes) == 0;
}

Test(snapshot, two_schedules_to_one_state_give_the_same_bytes) {
    if (!bz_snapshot_is_supported()) {
        cr_skip_test("there are no snapshots");
    }
    /* a b a b and b a b a; then a a and b b, which are two states, and a a b b with b b a a. */
    cr_assert(is_same_place((const uint32_t[]){0, 0, 0, 0}, (const uint32_t[]){1, 0, 0, 0}, 4));
    cr_assert_eq(is_same_place((const uint32_t[]){0, 1}, (const uint32_t[]){1, 1}, 2), false);
    cr_assert(is_same_place((const uint32_t[]){0, 1, 0, 0}, (const uint32_t[]){1, 1, 0, 0}, 4));
    cr_assert_eq(is_same_place((const uint32_t[]){0}, (const uint32_t[]){1}, 1), false);
}

Test(snapshot, works_where_images_do) {
    cr_assert_eq(bz_snapshot_is_supported(), bz_image_is_supported());
}

/* To normalize before a marked object was judged would lose a violation. */
static void normalize_dirty(uint32_t number) {
    if (!bz_snapshot_is_supported()) {
        abort(); /* there is nothing to normalize; the tests below expect this */
    }
    struct bz_program program;
    struct bz_world *world;
    static struct bz_snapshot snapshot;
    begin_crowd(&program, &world);
    while (world->judge->shadow.object_count < 70) {
        bz_shadow_add_object(&world->judge->shadow, (struct bz_shadow_object){.name = "table"});
    }
    (void)bz_shadow_mark_dirty(&world->judge->shadow, number);
    bz_snapshot_normalize(world);
    (void)bz_snapshot_save(world, &snapshot);
    bz_snapshot_fini(&snapshot);
    bz_world_destroy(world);
}

Test(snapshot, an_object_must_be_judged_first, .signal = SIGABRT) {
    normalize_dirty(1);
}

Test(snapshot, so_must_one_that_shares_its_bit, .signal = SIGABRT) {
    normalize_dirty(70);
}
