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

/* --- mutual-exclusion ------------------------------------------------------------------------- */

Test(mutual_exclusion, fires_when_one_too_many_is_let_in) {
    toy_fails(&crowds, 1, STAGE_SCRIPTS("acquire yield release", "acquire yield release"), "a b",
              "mutual-exclusion", 2,
              "b acquired 'table' as holder number 2, but it has only 1 permit");
}

Test(mutual_exclusion, needs_no_view) {
    toy_fails(
        &crowds_unseen, 2,
        STAGE_SCRIPTS("acquire yield release", "acquire yield release", "acquire yield release"),
        "a b c", "mutual-exclusion", 3, "c acquired 'table' as holder number 3");
}

Test(mutual_exclusion, is_silent_when_exactly_as_many_are_in_as_fit) {
    toy_passes(&crowds_unseen, 2, STAGE_SCRIPTS("acquire yield release", "acquire yield release"),
               "a b");
    /* One leaves in the step in which the other comes. */
    toy_passes(&bz_variant_buzzer, 1, STAGE_SCRIPTS("acquire yield release", "acquire release"),
               "a b a b");
}

/* --- ownership -------------------------------------------------------------------------------- */

Test(ownership, fires_when_ok_came_without_a_permit) {
    toy_fails(&takes_nothing, 1, STAGE_SCRIPTS("yield", "acquire yield release"), "a b",
              "ownership", 2,
              "returned 'ok' to b, but took no permit: 1 free (its level) and 1 held");
}

Test(ownership, fires_when_a_cancelled_acquire_takes_a_permit_with_it) {
    toy_fails(&bz_variant_zoo_mb_160, 1, STAGE_SCRIPTS("acquire yield release", "~acquire"),
              "a b a !b b", "ownership", 5,
              "returned 'cancelled' to b, but took a permit: 0 free (its level)");
}

Test(ownership, is_silent_without_a_view_and_when_a_cancelled_one_gives_back) {
    toy_passes(&takes_nothing_unseen, 1, STAGE_SCRIPTS("acquire yield release"), "");
    toy_passes(&bz_variant_buzzer, 1, STAGE_SCRIPTS("acquire yield release", "~acquire"),
               "a b a !b b");
    toy_passes(&bz_variant_buzzer, 1, STAGE_SCRIPTS("acquire yield release", "~acquire"),
               "a b !b a b");
}

/* --- permit-conservation ---------------------------------------------------------------------- */

Test(permit_conservation, fires_when_a_release_opens_two_tables) {
    toy_fails(&mints, 1, STAGE_SCRIPTS("acquire yield release"), "a a", "permit-conservation", 2,
              "'table' has 2 permits instead of 1: 2 free (its level) and 0 held");
}

Test(permit_conservation, fires_when_a_cancelled_waiter_makes_a_permit) {
    toy_fails(&bz_variant_zoo_sem_throw_pending, 1,
              STAGE_SCRIPTS("acquire yield release", "~acquire"), "a b !b b", "permit-conservation",
              4, "'table' has 2 permits instead of 1: 1 free (its level) and 1 held");
}

Test(permit_conservation, is_silent_without_a_view_and_while_permits_are_promised) {
    toy_passes(&mints_unseen, 1, STAGE_SCRIPTS("acquire yield release"), "a a");
    toy_passes(&bz_variant_buzzer, 2,
               STAGE_SCRIPTS("acquire yield release", "acquire yield release", "acquire release",
                             "acquire release"),
               "a b c d a b c d");
}

/* A task that never acquired may release a plain semaphore: that adds a permit. */
Test(permit_conservation, counts_what_a_plain_semaphore_is_given) {
    toy_passes(&bz_variant_buzzer, 1,
               STAGE_SCRIPTS("release release", "acquire yield release", "acquire yield release",
                             "acquire yield release"),
               "a b c d");
}

/* --- level-bound ------------------------------------------------------------------------------ */

static const char *const three_guests[] = {"acquire yield release", "acquire release",
                                           "acquire release", NULL};

Test(level_bound, fires_at_the_second_promise_of_one_permit) {
    toy_fails(
        &bz_variant_zoo_lock_double_grant, 1,
        STAGE_SCRIPTS("acquire yield release", "acquire release", "~acquire", "acquire release"),
        "a b c d a !c c", "level-bound", 7,
        "'table' promises more permits than it has: 2 waiters were woken");
}

Test(level_bound, is_silent_where_a_wake_up_is_a_hint_and_when_each_has_its_own) {
    toy_passes(&herd, 1, three_guests, "a b c a");
    toy_passes(&bz_variant_buzzer, 2,
               STAGE_SCRIPTS("acquire yield release", "acquire yield release", "acquire release",
                             "acquire release"),
               "a b c d a b");
}

/* --- queue-partition -------------------------------------------------------------------------- */

Test(queue_partition, fires_when_an_entry_is_counted_twice) {
    toy_fails(&miscounts, 1, three_guests, "a b c a", "queue-partition", 4,
              "has 2 entries, but shows 2 that wait, 1 with a result and 0 cancelled");
}

Test(queue_partition, fires_when_an_entry_outlives_its_waiter) {
    toy_fails(&bz_variant_zoo_an_646, 1, STAGE_SCRIPTS("acquire yield release", "acquire release"),
              "a b a b", "queue-partition", 4,
              "shows 1 entry with a result, but 0 tasks were woken");
}

Test(queue_partition, is_silent_with_all_three_kinds_of_entries_at_once) {
    toy_passes(
        &bz_variant_buzzer, 1,
        STAGE_SCRIPTS("acquire yield release", "acquire release", "~acquire", "acquire release"),
        "a b c d !c a b c d");
}

/* --- locked-definition ------------------------------------------------------------------------ */

Test(locked_definition, fires_when_the_woken_one_is_forgotten) {
    toy_fails(&bz_variant_zoo_sem_locked_window, 1,
              STAGE_SCRIPTS("acquire yield release", "acquire release"), "a b a",
              "locked-definition", 3,
              "locked() of 'table' is false, and should be true: 0 waiting, 1 woken, level 1");
}

Test(locked_definition, is_silent_without_the_claim_and_outside_the_window) {
    toy_passes(&window_unclaimed, 1, STAGE_SCRIPTS("acquire yield release", "acquire release"),
               "a b a");
    toy_passes(&bz_variant_zoo_sem_locked_window, 1,
               STAGE_SCRIPTS("acquire yield release", "acquire release"), "a a b");
}

/* One is woken, and level 2. Without BZ_CLAIM_NO_PASSING an acquire would not wait. */
Test(locked_definition, knows_who_lets_newcomers_pass_the_woken) {
    static const char *const guests[] = {"acquire yield release", "acquire yield release",
                                         "acquire release", NULL};
    toy_passes(&passes_woken, 2, guests, "a b c a b c");
    toy_fails(&passes_none, 2, guests, "a b c a b c", "locked-definition", 5,
              "locked() of 'table' is false, and should be true: 0 waiting, 1 woken, level 2");
}

/* --- misuse ----------------------------------------------------------------------------------- */

static void release_too_often(struct stage *stage, const struct bz_variant *variant,
                              enum bz_primitive primitive, const char *script) {
    struct bz_judge_config config = stage_config(BZ_ORDER_ANY);
    stage_begin_with(stage, variant, &config, primitive, 1);
    stage_guest(stage, "yield");
    stage_guest(stage, script);
    stage_play(stage, "a b");
}

Test(misuse, fires_when_a_lock_or_bounded_semaphore_takes_what_nobody_held) {
    static const struct bz_variant *const variants[] = {&unbounded, &bz_variant_zoo_tw_overrelease};
    static const enum bz_primitive kinds[] = {BZ_PRIMITIVE_LOCK, BZ_PRIMITIVE_BOUNDED};
    for (int index = 0; index < 2; index++) {
        struct stage stage;
        release_too_often(&stage, variants[index], kinds[index], "acquire release release");
        stage_expect_violation(&stage, "misuse", 2, "b released 'table', which nobody held");
        stage_end(&stage);
    }
}

Test(misuse, is_silent_for_plain_semaphores_for_refusals_and_without_the_claim) {
    struct stage stage;
    release_too_often(&stage, &bz_variant_buzzer, BZ_PRIMITIVE_SEMAPHORE,
                      "acquire release release");
    stage_expect_pass(&stage);
    stage_end(&stage);
    release_too_often(&stage, &bz_variant_buzzer, BZ_PRIMITIVE_BOUNDED,
                      "acquire release ~release release");
    stage_expect_pass(&stage);
    tst_expect(&stage.log, "b.acquire:ok b.release:ok b.release:not-held b.release:not-held "
                           "a.yield:ok");
    stage_end(&stage);
    release_too_often(&stage, &unbounded_unclaimed, BZ_PRIMITIVE_LOCK, "release");
    stage_expect_pass(&stage);
    stage_end(&stage);
}

/* A refusal must not cover up what was accepted earlier in the same step. */
Test(misuse, fires_although_the_next_release_is_refused) {
    struct stage stage;
    release_too_often(&stage, &lax, BZ_PRIMITIVE_BOUNDED, "release ~release");
    tst_expect(&stage.log, "b.release:ok b.release:not-held");
    stage_expect_violation(&stage, "misuse", 2, "b released 'table', which nobody held");
    stage_end(&stage);
}

/* Scenarios ask for it at their end. */
Test(misuse, probe_releases_what_nobody_holds) {
    struct stage stage;
    struct bz_judge_config config = stage_config(BZ_ORDER_ANY);
    stage_begin_with(&stage, &unbounded, &config, BZ_PRIMITIVE_LOCK, 1);
    stage_guest(&stage, "acquire release");
    bz_world_run(stage.world);
    cr_assert_eq(bz_judge_verdict(stage.world->judge), BZ_RUN_PASSED);
    bz_sut_probe_misuse(&stage.sut);
    bz_judge_end(stage.world->judge);
    stage_expect_violation(&stage, "misuse", 1, "loop released 'table'");
    stage_end(&stage);

    stage_begin_with(&stage, &unbounded, &config, BZ_PRIMITIVE_LOCK, 1);
    stage_guest(&stage, "acquire"); /* it is held: a release would be in order */
    bz_world_run(stage.world);
    cr_assert_eq(bz_judge_verdict(stage.world->judge), BZ_RUN_PASSED);
    bz_sut_probe_misuse(&stage.sut);
    bz_judge_end(stage.world->judge);
    stage_expect_pass(&stage);
    stage_end(&stage);
}
