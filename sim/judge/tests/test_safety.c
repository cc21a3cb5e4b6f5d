/* Properties that must hold after every step: mutual-exclusion, ownership, permit-conservation,
 * level-bound, queue-partition, locked-definition, misuse. */
#include "sim/tests/toys.h"

TOY(crowds, TOY_CLAIMS_ALL, .acquire = toy_acquire_at_once);
TOY(crowds_unseen, TOY_CLAIMS_ALL, .acquire = toy_acquire_at_once, .view = NULL);
TOY(takes_nothing, TOY_CLAIMS_ALL, .acquire = toy_acquire_nothing);
TOY(takes_nothing_unseen, TOY_CLAIMS_ALL, .acquire = toy_acquire_nothing, .view = NULL);
TOY(mints, TOY_CLAIMS_ALL, .release = toy_release_two);
TOY(mints_unseen, TOY_CLAIMS_ALL, .release = toy_release_two, .view = NULL);
TOY(herd, 0, TOY_HERD);
TOY(miscounts, TOY_CLAIMS_ALL, .view = toy_view_twice);
TOY(unbounded, TOY_CLAIMS_ALL); /* no lock of the zoo takes what nobody held */
TOY(unbounded_unclaimed, TOY_CLAIMS_ALL & ~BZ_CLAIM_REFUSES_MISUSE);
TOY_OFFERS(window_unclaimed, TOY_CLAIMS_ALL & ~BZ_CLAIM_LOCKED_EXACT,
           .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &bz_zoo_ops_sem_locked_window});

/* Exact: a newcomer takes a permit that no woken waiter needs. */
static bool exact_locked(void *instance) {
    const struct bz_zoo_semaphore *toy = instance;
    return toy->value <= bz_deque_count(&toy->queue, BZ_FUTURE_RESULT) ||
           bz_deque_oldest_asleep(&toy->queue) != NULL;
}

TOY(passes_woken, TOY_CLAIMS_ALL, .locked = exact_locked);
TOY(passes_none, TOY_CLAIMS_ALL | BZ_CLAIM_NO_PASSING, .acquire = bz_zoo_semaphore_acquire,
    .locked = exact_locked);

/* Refuses a release too many, but not the first. */
static enum bz_status lax_release(void *instance) {
    const struct bz_zoo_semaphore *toy = instance;
    return toy->value > toy->permits ? BZ_NOT_HELD : bz_zoo_semaphore_release(instance);
}

TOY(lax, TOY_CLAIMS_ALL, .release = lax_release);

Test(safety, timelines) {
    static const struct stage_row rows[] = {
        /* --- mutual-exclusion --- */
        {"mutual-exclusion/fires_when_one_too_many_is_let_in", &crowds,
         "permits 1; a-b: acquire yield release; a b",
         "mutual-exclusion 2: b acquired 'table' as holder number 2, but it has only 1 permit"},
        {"mutual-exclusion/needs_no_view", &crowds_unseen,
         "permits 2; a-c: acquire yield release; a b c",
         "mutual-exclusion 3: c acquired 'table' as holder number 3"},
        {"mutual-exclusion/is_silent_when_exactly_as_many_are_in_as_fit", &crowds_unseen,
         "permits 2; a-b: acquire yield release; a b"},
        /* One leaves in the step in which the other comes. */
        {"", &bz_variant_buzzer,
         "permits 1; a: acquire yield release; b: acquire release; a b a b"},

        /* --- ownership --- */
        {"ownership/fires_when_ok_came_without_a_permit", &takes_nothing,
         "permits 1; a: yield; b: acquire yield release; a b",
         "ownership 2: returned 'ok' to b, but took no permit: 1 free (its level) and 1 held"},
        {"ownership/fires_when_a_cancelled_acquire_takes_a_permit_with_it", &bz_variant_zoo_mb_160,
         "permits 1; a: acquire yield release; b: ~acquire; a b a !b b",
         "ownership 5: returned 'cancelled' to b, but took a permit: 0 free (its level)"},
        {"ownership/is_silent_without_a_view_and_when_a_cancelled_one_gives_back",
         &takes_nothing_unseen, "permits 1; a: acquire yield release"},
        {"", &bz_variant_buzzer, "permits 1; a: acquire yield release; b: ~acquire; a b a !b b"},
        {"", &bz_variant_buzzer, "permits 1; a: acquire yield release; b: ~acquire; a b !b a b"},

        /* --- permit-conservation --- */
        {"permit-conservation/fires_when_a_release_opens_two_tables", &mints,
         "permits 1; a: acquire yield release; a a",
         "permit-conservation 2: 'table' has 2 permits instead of 1: 2 free (its level) and 0 "
         "held"},
        {"permit-conservation/fires_when_a_cancelled_waiter_makes_a_permit",
         &bz_variant_zoo_sem_throw_pending,
         "permits 1; a: acquire yield release; b: ~acquire; a b !b b",
         "permit-conservation 4: 'table' has 2 permits instead of 1: 1 free (its level) and 1 "
         "held"},
        {"permit-conservation/is_silent_without_a_view_and_while_permits_are_promised",
         &mints_unseen, "permits 1; a: acquire yield release; a a"},
        {"", &bz_variant_buzzer,
         "permits 2; a-b: acquire yield release; c-d: acquire release; a b c d a b c d"},
        /* A task that never acquired may release a plain semaphore: that adds a permit. */
        {"permit-conservation/counts_what_a_plain_semaphore_is_given", &bz_variant_buzzer,
         "permits 1; a: release release; b-d: acquire yield release; a b c d"},
        {"level-bound/fires_at_the_second_promise_of_one_permit", &bz_variant_zoo_lock_double_grant,
         "permits 1; a: acquire yield release; b: acquire release; c: ~acquire; d: acquire "
         "release; a b c d a !c c",
         "level-bound 7: 'table' promises more permits than it has: 2 waiters were woken"},
        {"level-bound/is_silent_where_a_wake_up_is_a_hint_and_when_each_has_its_own", &herd,
         "permits 1; a: acquire yield release; b-c: acquire release; a b c a"},
        {"", &bz_variant_buzzer,
         "permits 2; a-b: acquire yield release; c-d: acquire release; a b c d a b"},

        /* --- queue-partition --- */
        {"queue-partition/fires_when_an_entry_is_counted_twice", &miscounts,
         "permits 1; a: acquire yield release; b-c: acquire release; a b c a",
         "queue-partition 4: has 2 entries, but shows 2 that wait, 1 with a result and 0 "
         "cancelled"},
        {"queue-partition/fires_when_an_entry_outlives_its_waiter", &bz_variant_zoo_an_646,
         "permits 1; a: acquire yield release; b: acquire release; a b a b",
         "queue-partition 4: shows 1 entry with a result, but 0 tasks were woken"},
        {"queue-partition/is_silent_with_all_three_kinds_of_entries_at_once", &bz_variant_buzzer,
         "permits 1; a: acquire yield release; b: acquire release; c: ~acquire; d: acquire "
         "release; a b c d !c a b c d"},

        /* --- locked-definition --- */
        {"locked-definition/fires_when_the_woken_one_is_forgotten",
         &bz_variant_zoo_sem_locked_window,
         "permits 1; a: acquire yield release; b: acquire release; a b a",
         "locked-definition 3: locked() of 'table' is false, and should be true: 0 waiting, 1 "
         "woken, level 1"},
        {"locked-definition/is_silent_without_the_claim_and_outside_the_window", &window_unclaimed,
         "permits 1; a: acquire yield release; b: acquire release; a b a"},
        {"", &bz_variant_zoo_sem_locked_window,
         "permits 1; a: acquire yield release; b: acquire release; a a b"},
        /* One is woken, and level 2. Without BZ_CLAIM_NO_PASSING an acquire would not wait. */
        {"locked-definition/knows_who_lets_newcomers_pass_the_woken", &passes_woken,
         "permits 2; a-b: acquire yield release; c: acquire release; a b c a b c"},
        {"", &passes_none, "permits 2; a-b: acquire yield release; c: acquire release; a b c a b c",
         "locked-definition 5: locked() of 'table' is false, and should be true: 0 waiting, 1 "
         "woken, level 2"},

        /* --- misuse --- */
        {"misuse/fires_when_a_lock_or_bounded_semaphore_takes_what_nobody_held", &unbounded,
         "lock 1; a: yield; b: acquire release release; a b",
         "misuse 2: b released 'table', which nobody held"},
        {"", &bz_variant_zoo_tw_overrelease, "bounded 1; a: yield; b: acquire release release; a b",
         "misuse 2: b released 'table', which nobody held"},
        {"misuse/names_the_task_that_the_lock_was_promised_to", &unbounded,
         "lock 1; a: acquire yield release; b: acquire release; c: yield release; a b c a c",
         "misuse 5: c released 'table', which nobody held, and was not refused; it was promised to "
         "b, which was woken and has not resumed"},
        {"misuse/is_silent_for_plain_semaphores_for_refusals_and_without_the_claim",
         &bz_variant_buzzer, "semaphore 1; a: yield; b: acquire release release; a b"},
        {"", &bz_variant_buzzer,
         "bounded 1; a: yield; b: acquire release ~release release; a b"
         " => b.acquire:ok b.release:ok b.release:not-held b.release:not-held a.yield:ok"},
        {"", &unbounded_unclaimed, "lock 1; a: yield; b: release; a b"},
        /* A refusal must not cover up what was accepted earlier in the same step. */
        {"misuse/fires_although_the_next_release_is_refused", &lax,
         "bounded 1; a: yield; b: release ~release; a b => b.release:ok b.release:not-held",
         "misuse 2: b released 'table', which nobody held"},
        {NULL},
    };
    stage_rows(rows);
}

/* Scenarios ask for it at their end. If the lock is held, a release is in order. */
Test(misuse, probe_releases_what_nobody_holds) {
    static const char *const scripts[] = {"acquire release", "acquire"};
    for (int is_held = 0; is_held < 2; is_held++) {
        struct stage stage;
        stage_begin_as(&stage, &unbounded, "lock 1");
        stage_guest(&stage, scripts[is_held]);
        bz_world_run(stage.world);
        cr_assert_eq(bz_judge_verdict(stage.world->judge), BZ_RUN_PASSED);
        bz_sut_probe_misuse(&stage.sut);
        bz_judge_end(stage.world->judge);
        if (is_held) {
            stage_expect_pass(&stage);
        } else {
            stage_expect_violation(&stage, "misuse", 1, "loop released 'table'");
        }
        stage_end(&stage);
    }
}
