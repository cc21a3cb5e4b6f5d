/* fifo and starvation: the order in which tasks are served. */
#include "sim/tests/toys.h"

TOY_OFFERS(lifo_unclaimed, BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_WAKE_IS_GRANT,
           .permits = {[BZ_PRIMITIVE_LOCK] = &bz_zoo_ops_toy_lifo});

TOY_OFFERS(lifo_unfair, BZ_CLAIM_WAKE_IS_GRANT | BZ_CLAIM_UNFAIR,
           .permits = {[BZ_PRIMITIVE_LOCK] = &bz_zoo_ops_toy_lifo});

TOY(polls, 0, .acquire = toy_poll, .view = NULL);

static const char *const three_guests[] = {"acquire yield release", "acquire release",
                                           "acquire release", NULL};

/* --- fifo ------------------------------------------------------------------------------------- */

Test(fifo, fires_at_the_grant_that_passes_over_an_earlier_waiter) {
    toy_fails(
        &bz_variant_zoo_toy_lifo, 1, three_guests, "a b c a", "fifo", 4,
        "c was granted a permit of 'table' before b, which still waits; waiters overtaken: 1");
}

/* gh-90155: a newcomer takes the permit of a woken waiter that has not resumed. */
Test(fifo, fires_when_a_newcomer_takes_what_a_woken_one_was_promised) {
    toy_fails(&bz_variant_zoo_sem_barge, 1, three_guests, "a b a c", "fifo", 4,
              "c was granted a permit of 'table' before b, which had been woken");
}

Test(fifo, is_silent_without_the_claim) {
    toy_passes(&lifo_unclaimed, 1, three_guests, "a b c a");
    toy_passes(&bz_variant_zoo_al_23, 1, three_guests, "a b a c");
}

/* Grants come in order. The schedule then resumes the later one first. */
Test(fifo, is_silent_when_tasks_resume_in_another_order_than_they_were_granted) {
    struct stage stage;
    stage_begin(&stage, &bz_variant_buzzer, 2);
    stage_act(&stage,
              STAGE_SCRIPTS("acquire yield release", "acquire yield release", "acquire release",
                            "acquire release"),
              "a b c d a b d c");
    stage_expect_pass(&stage);
    tst_expect(&stage.log, "a.acquire:ok b.acquire:ok a.yield:ok a.release:ok b.yield:ok "
                           "b.release:ok d.acquire:ok d.release:ok c.acquire:ok c.release:ok");
    stage_end(&stage);
}

/* A cancelled waiter may be overtaken, even before it resumes. */
Test(fifo, is_silent_when_the_one_passed_over_is_cancelled) {
    toy_passes(&bz_variant_buzzer, 1,
               STAGE_SCRIPTS("acquire yield release", "~acquire", "acquire release"),
               "a b c !b a c b");
    toy_passes(&bz_variant_zoo_toy_lifo, 1,
               STAGE_SCRIPTS("acquire yield release", "~acquire", "acquire release"),
               "a b c !b a c b");
}

/* A newcomer takes one permit, and another one is left for the woken waiter. */
Test(fifo, is_silent_when_there_is_a_permit_for_both) {
    toy_passes(&bz_variant_zoo_sem_barge, 2,
               STAGE_SCRIPTS("acquire yield release", "acquire yield release", "acquire release",
                             "acquire release"),
               "a b c a b d c");
}

/* The woken waiter has been cancelled: it will not take the permit that the newcomer took. */
Test(fifo, is_silent_when_the_woken_waiter_was_cancelled) {
    toy_passes(&bz_variant_zoo_sem_barge, 1,
               STAGE_SCRIPTS("acquire yield release", "~acquire", "acquire release"),
               "a b a !b c b");
}

/* --- starvation ------------------------------------------------------------------------------- */

static void starve(struct stage *stage, const struct bz_variant *variant,
                   const struct bz_judge_config *config) {
    stage_begin_with(stage, variant, config, BZ_PRIMITIVE_LOCK, 1);
    stage_guest(stage, "acquire yield release acquire yield release acquire yield release "
                       "acquire yield release");
    stage_guest(stage, "acquire release");
    stage_guest(stage, "acquire yield release acquire yield release acquire yield release "
                       "acquire yield release");
    stage_play(stage, "a b c a c a c a c a c a c a");
}

Test(starvation, fires_beyond_the_bound_and_not_at_it) {
    struct bz_judge_config config = stage_config(BZ_ORDER_ANY);
    struct stage stage;
    uint32_t step_before = 0;
    for (uint32_t bound = 1; bound <= 5; bound++) {
        config.starvation_bound = bound;
        starve(&stage, &lifo_unclaimed, &config);
        char text[64];
        snprintf(text, sizeof text, "b was overtaken %u times while it waited for 'table'",
                 bound + 1);
        uint32_t step = stage.world->judge->violation.step;
        stage_expect_violation(&stage, "starvation", step, text);
        cr_assert_lt(step_before, step, "a larger bound lasts longer");
        step_before = step;
        stage_end(&stage);
    }
    config.starvation_bound = 20;
    starve(&stage, &lifo_unclaimed, &config);
    stage_expect_pass(&stage);
    stage_end(&stage);
}

Test(starvation, is_silent_with_the_waiver) {
    struct bz_judge_config config = stage_config(BZ_ORDER_ANY);
    config.starvation_bound = 1;
    struct stage stage;
    starve(&stage, &lifo_unfair, &config);
    stage_expect_pass(&stage);
    stage_end(&stage);
}

/* An unfair schedule can starve any task. */
Test(starvation, is_silent_where_liveness_is_not_judged) {
    struct bz_judge_config config = stage_config(BZ_ORDER_ANY);
    config.ignores_starvation = true;
    config.starvation_bound = 1;
    struct stage stage;
    starve(&stage, &lifo_unclaimed, &config);
    stage_expect_pass(&stage);
    stage_end(&stage);
}

/* b is ready all the time. How often a takes the permit before b runs is up to the schedule;
 * whether b finds it taken each time it runs is up to the primitive. */
static void rob(const struct bz_variant *variant, const char *plan, const char *oracle) {
    struct bz_judge_config config = stage_config(BZ_ORDER_ANY);
    config.starvation_bound = 2;
    struct stage stage;
    stage_begin_with(&stage, variant, &config, BZ_PRIMITIVE_SEMAPHORE, 1);
    stage_guest(&stage, "acquire yield release acquire yield release acquire yield release "
                        "acquire yield release");
    stage_guest(&stage, "acquire release");
    stage_guest(&stage, "acquire release");
    stage_play(&stage, plan);
    const char *found = stage.world->judge->violation.oracle;
    tst_text(found == NULL ? "" : found, oracle);
    stage_end(&stage);
}

Test(starvation, counts_once_until_the_waiter_runs) {
    rob(&bz_variant_zoo_al_23, "a b a a a a b", "");
    rob(&bz_variant_zoo_al_23, "a b c a a a a b c", ""); /* c stands behind b */
    rob(&bz_variant_zoo_al_23, "a b a b a b a b", "starvation");
    rob(&polls, "a b a a a a b", "");
    rob(&polls, "a b a b a b a b", "starvation");
}
