/* fifo and starvation: the order in which tasks are served. */
#include "sim/tests/toys.h"

TOY_OFFERS(lifo_unclaimed, BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_WAKE_IS_GRANT,
           .permits = {[BZ_PRIMITIVE_LOCK] = &bz_zoo_ops_toy_lifo});

TOY_OFFERS(lifo_unfair, BZ_CLAIM_WAKE_IS_GRANT | BZ_CLAIM_UNFAIR,
           .permits = {[BZ_PRIMITIVE_LOCK] = &bz_zoo_ops_toy_lifo});

TOY(polls, 0, .acquire = toy_poll, .view = NULL);

Test(order, timelines) {
    static const struct stage_row rows[] = {
        /* --- fifo --- */
        {"fifo/fires_at_the_grant_that_passes_over_an_earlier_waiter", &bz_variant_zoo_toy_lifo,
         "permits 1; a: acquire yield release; b-c: acquire release; a b c a",
         "fifo 4: c was granted a permit of 'table' before b, which still waits; waiters "
         "overtaken: 1"},
        /* gh-90155: a newcomer takes the permit of a woken waiter that has not resumed. */
        {"fifo/fires_when_a_newcomer_takes_what_a_woken_one_was_promised",
         &bz_variant_zoo_sem_barge,
         "permits 1; a: acquire yield release; b-c: acquire release; a b a c",
         "fifo 4: c was granted a permit of 'table' before b, which had been woken"},
        {"fifo/is_silent_without_the_claim", &lifo_unclaimed,
         "permits 1; a: acquire yield release; b-c: acquire release; a b c a"},
        {"", &bz_variant_zoo_al_23,
         "permits 1; a: acquire yield release; b-c: acquire release; a b a c"},
        /* A cancelled waiter may be overtaken, even before it resumes. */
        {"fifo/is_silent_when_the_one_passed_over_is_cancelled", &bz_variant_buzzer,
         "permits 1; a: acquire yield release; b: ~acquire; c: acquire release; a b c !b a c b"},
        {"", &bz_variant_zoo_toy_lifo,
         "permits 1; a: acquire yield release; b: ~acquire; c: acquire release; a b c !b a c b"},
        /* A newcomer takes one permit, and another one is left for the woken waiter. */
        {"fifo/is_silent_when_there_is_a_permit_for_both", &bz_variant_zoo_sem_barge,
         "permits 2; a-b: acquire yield release; c-d: acquire release; a b c a b d c"},
        /* The woken waiter has been cancelled: it will not take the permit that the newcomer
         * took. */
        {"fifo/is_silent_when_the_woken_waiter_was_cancelled", &bz_variant_zoo_sem_barge,
         "permits 1; a: acquire yield release; b: ~acquire; c: acquire release; a b a !b c b"},
        /* Grants come in order. The schedule then resumes the later one first. */
        {"fifo/is_silent_when_tasks_resume_in_another_order_than_they_were_granted",
         &bz_variant_buzzer,
         "permits 2; a-b: acquire yield release; c-d: acquire release; a b c d a b d c"
         " => a.acquire:ok b.acquire:ok a.yield:ok a.release:ok b.yield:ok b.release:ok"
         " d.acquire:ok d.release:ok c.acquire:ok c.release:ok"},
        {NULL},
    };
    stage_rows(rows);
}

/* In each row b waits for the lock, which a and c hand to each other. */
#define FOUR_MEALS                                                                                 \
    "acquire yield release acquire yield release acquire yield release acquire yield release"
#define STARVES                                                                                    \
    "; a: " FOUR_MEALS "; b: acquire release; c: " FOUR_MEALS "; a b c a c a c a c a c a c a"

Test(starvation, fires_beyond_the_bound_and_not_at_it) {
    uint32_t step_before = 0;
    for (uint32_t bound = 1; bound <= 5; bound++) {
        char timeline[400];
        char verdict[80];
        snprintf(timeline, sizeof timeline, "lock 1 starvation-bound=%u" STARVES, bound);
        snprintf(verdict, sizeof verdict,
                 "starvation: b was overtaken %u times while it waited for 'table'", bound + 1);
        const struct stage_row row = {"starvation", &lifo_unclaimed, timeline, verdict};
        struct stage stage;
        stage_row_begin(&stage, &row, stage_word);
        cr_assert_lt(step_before, stage.world->judge->step, "a larger bound lasts longer");
        step_before = stage.world->judge->step;
        stage_end(&stage);
    }
}

/* b is ready all the time. How often a takes the permit before b runs is up to the schedule;
 * whether b finds it taken each time it runs is up to the primitive. */
#define ROBS "semaphore 1 starvation-bound=2; a: " FOUR_MEALS "; b-c: acquire release; "

Test(starvation, timelines) {
    static const struct stage_row rows[] = {
        {"starvation/is_silent_below_the_bound", &lifo_unclaimed,
         "lock 1 starvation-bound=20" STARVES},
        {"starvation/is_silent_with_the_waiver", &lifo_unfair, "lock 1 starvation-bound=1" STARVES},
        /* An unfair schedule can starve any task. */
        {"starvation/is_silent_where_liveness_is_not_judged", &lifo_unclaimed,
         "lock 1 starvation-bound=1 ignores-starvation" STARVES},
        {"starvation/counts_once_until_the_waiter_runs", &bz_variant_zoo_al_23,
         ROBS "a b a a a a b"},
        /* c stands behind b. */
        {"", &bz_variant_zoo_al_23, ROBS "a b c a a a a b c"},
        {"", &bz_variant_zoo_al_23, ROBS "a b a b a b a b", "starvation: b was overtaken 3 times"},
        {"", &polls, ROBS "a b a a a a b"},
        {"", &polls, ROBS "a b a b a b a b", "starvation: b was overtaken 3 times"},
        {NULL},
    };
    stage_rows(rows);
}
