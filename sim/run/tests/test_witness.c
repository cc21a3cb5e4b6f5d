/* A finding under the order `any` is looked for under `fifo`, and only what is the same counts. */
#include "sim/run/witness.h"

#include "sim/tests/crowd.h"

Test(witness, is_found_and_reproduces) {
    struct bz_program program;
    struct bz_witness witness;
    crowd_program(&program, &crowd_drops, BZ_ORDER_ANY);
    struct bz_campaign_config config = {.program = &program, .runs = 5000};
    struct bz_campaign_result result;
    cr_assert(bz_campaign_run(&config, &result));
    cr_assert(eq(u64, result.violations, 1));
    const char *oracle = result.findings[0].violation.oracle;
    cr_assert(bz_witness_search(&program, oracle, NULL, &witness));
    cr_assert(eq(int, witness.is_searched, true));
    cr_assert(eq(int, witness.is_found, true));
    cr_assert(eq(int, witness.program.order, BZ_ORDER_FIFO));
    struct bz_world *world = bz_program_new_world(&witness.program);
    bz_program_run(&witness.program, world, witness.finding.seed);
    cr_assert(eq(u64, world->judge->digest, witness.finding.digest));
    tst_text(world->judge->violation.oracle, oracle);
    bz_world_destroy(world);
}

Test(witness, is_not_another_oracle_nor_needed_under_fifo) {
    struct bz_program program;
    struct bz_witness witness;
    crowd_program(&program, &crowd_drops, BZ_ORDER_ANY);
    cr_assert(bz_witness_search(&program, "mutual-exclusion", NULL, &witness));
    cr_assert(eq(int, witness.is_searched, true));
    cr_assert(eq(int, witness.is_found, false));
    crowd_program(&program, &crowd_sound, BZ_ORDER_ANY);
    cr_assert(bz_witness_search(&program, "lost-wakeup", NULL, &witness));
    cr_assert(eq(int, witness.is_searched, true));
    cr_assert(eq(int, witness.is_found, false));
    crowd_program(&program, &crowd_drops, BZ_ORDER_FIFO);
    cr_assert(bz_witness_search(&program, "lost-wakeup", NULL, &witness));
    cr_assert(eq(int, witness.is_searched, false));
    cr_assert(eq(int, witness.is_found, false));
}
