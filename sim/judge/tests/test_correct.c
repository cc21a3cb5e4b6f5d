/* Correct semaphores of four kinds, each with its own way of waking. No oracle objects to them,
 * over thousands of runs with cancels in every window. */
#include "sim/tests/crowd.h"

TOY(by_grant, TOY_CLAIMS_ALL);
TOY(by_hint, 0, TOY_HERD);
TOY(by_polling, 0, .acquire = toy_poll);
TOY(by_callback, BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_WAKE_IS_GRANT, TOY_DEFERS);

static void run_many(const struct bz_variant *variant, enum bz_order order, uint64_t runs) {
    struct bz_program program;
    crowd_program(&program, variant, order);
    program.cancels_max = 4;
    struct bz_world *world = bz_program_new_world(&program);
    cr_assert_not_null(world);
    for (uint64_t seed = 0; seed < runs; seed++) {
        bz_program_run(&program, world, seed);
        const struct bz_violation *violation = &world->judge->violation;
        cr_assert_eq(world->judge->end, BZ_RUN_PASSED, "%s, seed %llu, step %u: %s: %s",
                     variant->name, (unsigned long long)seed, violation->step, violation->oracle,
                     violation->message);
    }
    /* The runs prove nothing unless they hit the window. A polling semaphore has none. */
    uint64_t hits = world->judge->stats.windows[BZ_OP_ACQUIRE][BZ_WINDOW_WOKEN];
    cr_assert_eq(hits > 0, variant != &by_polling, "%s", variant->name);
    bz_world_destroy(world);
}

Test(correct, no_oracle_objects) {
    static const struct bz_variant *const variants[] = {&by_grant, &by_hint, &by_polling,
                                                        &by_callback};
    for (size_t index = 0; index < sizeof variants / sizeof variants[0]; index++) {
        run_many(variants[index], BZ_ORDER_ANY, 5000);
        run_many(variants[index], BZ_ORDER_FIFO, 5000);
    }
}

/* The same campaign finds a fault that shows only in the window. */
Test(correct, the_same_runs_find_a_fault) {
    struct bz_program program;
    crowd_program(&program, &crowd_drops, BZ_ORDER_ANY);
    struct bz_world *world = bz_program_new_world(&program);
    uint64_t found = 0;
    for (uint64_t seed = 0; seed < 5000; seed++) {
        if (bz_program_run(&program, world, seed) == BZ_RUN_VIOLATED) {
            tst_text(world->judge->violation.oracle, "lost-wakeup");
            found++;
        }
    }
    cr_assert_lt(0, found);
    bz_world_destroy(world);
}
