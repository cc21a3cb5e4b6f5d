/* lock-order: declared ranks, and the order of the run. */
#include "sim/judge/tests/teller.h"

/* Tasks a, b, c; the objects 1, 2 and 3 have these ranks. */
static void begin_ranked(struct teller *teller, const uint32_t *ranks) {
    begin(teller, &plain, 0, 1, false);
    bz_judge_rank(teller->judge, 1, ranks[0]);
    for (uint32_t number = 2; number <= 3; number++) {
        uint32_t object =
            bz_judge_add_permits(teller->judge, "table", BZ_PRIMITIVE_LOCK, 0, 1, NULL);
        cr_assert_eq(object, number);
        bz_judge_rank(teller->judge, object, ranks[number - 1]);
    }
}

static const uint32_t declared[] = {1, 2, 3};
static const uint32_t of_run[] = {BZ_RANK_OF_RUN, BZ_RANK_OF_RUN, BZ_RANK_OF_RUN};
static const uint32_t of_some[] = {2, 0, 1};

static void expect(const uint32_t *ranks, const char *words, const char *text) {
    struct teller teller;
    begin_ranked(&teller, ranks);
    tell(&teller, words);
    if (text == NULL) {
        end_silently(&teller);
    } else {
        end_violated(&teller, "lock-order", text);
    }
}

#define TAKE(number) " at-" #number " call ok"
#define GIVE(number) " at-" #number " release"

Test(lock_order, fires_at_an_acquire_of_a_lower_rank) {
    struct teller teller;
    begin_ranked(&teller, declared);
    tell(&teller, "+a" TAKE(1) TAKE(3) " yield +b yield +a");
    cr_assert(bz_judge_violation(teller.judge)->oracle == NULL);
    tell(&teller, "at-2 call ok");
    cr_assert_eq(bz_judge_violation(teller.judge)->step, 3);
    cr_assert_eq(bz_judge_violation(teller.judge)->task, 1);
    cr_assert_eq(bz_judge_violation(teller.judge)->object, 2);
    end_violated(&teller, "lock-order",
                 "a acquires 'table#2' while it holds 'table#3', and their ranks are 2 and 3");
}

Test(lock_order, fires_when_the_acquire_waits) {
    expect(declared, "+b" TAKE(1) " yield +a" TAKE(2) " at-1 call wait",
           "a acquires 'table' while it holds 'table#2', and their ranks are 1 and 2");
}

Test(lock_order, fires_at_equal_ranks) {
    expect((const uint32_t[]){1, 1, 0}, "+a" TAKE(1) TAKE(2), "their ranks are 1 and 1");
}

Test(lock_order, is_silent_in_the_order_and_about_what_is_not_held) {
    expect(declared, "+a" TAKE(1) TAKE(2) TAKE(3) GIVE(2) GIVE(1) GIVE(3) TAKE(1), NULL);
    expect(declared, "+a" TAKE(3) " yield +b" TAKE(1) " yield +a" GIVE(3) TAKE(2), NULL);
    /* Not acquired: cancelled while it waits, in the order. */
    expect(declared,
           "+b" TAKE(3) " yield +a" TAKE(1) " at-3 call wait +b cancel-a yield +a! no" TAKE(2),
           NULL);
}

Test(lock_order, is_silent_about_locks_without_a_rank_and_tries) {
    expect(of_some, "+a" TAKE(1) TAKE(2) " yield +b yield +a" GIVE(1) TAKE(3), NULL);
    expect((const uint32_t[]){0, 0, 0}, "+a" TAKE(3) TAKE(2) TAKE(1), NULL);
    expect(declared, "+a" TAKE(3) " at-2 try call ok", NULL);
    expect(declared, "+a at-3 try call ok" TAKE(2), "their ranks are 2 and 3");
}

/* After a release that was refused, nobody knows which task holds it. */
Test(lock_order, is_silent_after_a_release_that_was_refused) {
    expect(declared, "+a" TAKE(3) " yield +b at-3 refused yield +a" TAKE(1), NULL);
}

Test(lock_order, of_the_run_fires_at_a_circle) {
    expect(of_run, "+a" TAKE(1) TAKE(2) GIVE(1) GIVE(2) " yield +b" TAKE(2) TAKE(1),
           "b acquires 'table' while it holds 'table#2', and in this run they were acquired in "
           "the opposite order");
    expect(of_run,
           "+a" TAKE(1) TAKE(2) GIVE(1) GIVE(2) " yield +b" TAKE(2) TAKE(3) GIVE(2)
               GIVE(3) " yield +c" TAKE(3) TAKE(1),
           "c acquires 'table' while it holds 'table#3'");
}

Test(lock_order, of_the_run_is_silent_without_a_circle) {
    expect(of_run, "+a" TAKE(2) TAKE(1) GIVE(1) GIVE(2) " yield +b" TAKE(2) TAKE(1), NULL);
    expect(of_run, "+a" TAKE(1) TAKE(2) GIVE(1) GIVE(2) " yield +b" TAKE(2) GIVE(2) TAKE(1), NULL);
    expect(of_run, "+a" TAKE(1) TAKE(2) GIVE(1) GIVE(2) " yield +b" TAKE(3) TAKE(1), NULL);
}

Test(lock_order, refuses_a_rank_of_what_is_no_lock) {
    struct teller teller;
    begin(&teller, &plain, 0, 2, false);
    bz_judge_rank(teller.judge, 1, 1);
    cr_assert_not_null((void *)bz_judge_error(teller.judge));
    bz_judge_destroy(teller.judge);
}
