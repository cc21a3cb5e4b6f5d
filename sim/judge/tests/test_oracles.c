/* The list of oracles, and assertions of a scenario. */
#include "sim/tests/toys.h"

TOY(crowds, TOY_CLAIMS_ALL, .acquire = toy_acquire_at_once);

/* Scripts and traces rely on these names, and verdicts on their order. New ones may stand between
 * them. */
static const char stable_names[] =
    "mutual-exclusion relock item-once item-order bound barrier-round "
    "lost-notification fifo ownership cancel-delivered cancel-count misuse status "
    "lost-wakeup starvation work-conserving notify-count level-bound "
    "permit-conservation queue-size queue-partition locked-definition deadlock "
    "livelock leak pool-entry spec assertion linearizability nondeterminism crash "
    "stack-overflow hang memory exit";

Test(oracles, have_stable_names_in_a_stable_order) {
    char names[sizeof stable_names];
    uint32_t last = 0;
    memcpy(names, stable_names, sizeof names);
    for (const char *name = strtok(names, " "); name != NULL; name = strtok(NULL, " ")) {
        uint32_t index = bz_oracle_index(name);
        cr_assert(index < bz_oracle_count && index >= last, "'%s' is gone, or elsewhere", name);
        last = index;
    }
    cr_assert_eq(last, bz_oracle_count - 1);
    for (uint32_t index = 0; index < bz_oracle_count; index++) {
        cr_assert_eq(bz_oracle_index(bz_oracles[index].name), index);
        cr_assert_neq(bz_oracles[index].summary[0], '\0');
        cr_assert_eq(bz_oracle_ends_process(bz_oracles[index].name), index >= last - 4);
    }
    cr_assert_eq(bz_oracle_index("mutual"), bz_oracle_count);
    cr_assert_eq(bz_oracle_index(""), bz_oracle_count);
}

Test(assertion, is_reported_with_its_step_and_task_and_ends_the_run) {
    struct stage stage;
    stage_begin(&stage, &bz_variant_buzzer, 1);
    stage_act(&stage, STAGE_SCRIPTS("yield yield", "yield refuse yield"), "a b b");
    stage_expect_violation(&stage, "assertion", 3, "b refuses");
    cr_assert_eq(stage.world->judge->violation.task, 2);
    cr_assert_eq(stage.world->judge->step, 3);
    tst_expect(&stage.log, "b.yield:ok");
    stage_end(&stage);
}

/* The first objection is the verdict; `also` has the further ones of the same step. */
Test(oracles, other_objections_of_the_step_are_noted) {
    struct stage stage;
    stage_begin(&stage, &crowds, 1);
    stage_act(&stage, STAGE_SCRIPTS("acquire yield release", "acquire yield release"), "a b");
    stage_expect_violation(&stage, "mutual-exclusion", 2, "b acquired 'table' as holder");
    uint64_t also = stage.world->judge->violation.also;
    cr_assert_eq(also,
                 1u << bz_oracle_index("ownership") | 1u << bz_oracle_index("permit-conservation"));
    stage_end(&stage);
}
