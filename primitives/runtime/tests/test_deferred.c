/* Deferreds: the chain, its order, chaining to another deferred, pausing. */
#include "primitives/runtime/tests/stage_deferred.h"

Test(deferred, has_no_result_at_first) {
    struct stage stage;
    struct bz_deferred deferred;
    struct link a = {0};
    stage_begin(&stage);
    bz_deferred_init(&deferred, &stage.trampoline, NULL);
    link_add(&deferred, &a, &stage.log, "a");
    cr_assert(not(bz_deferred_is_fired(&deferred)));
    cr_assert(not(bz_deferred_is_settled(&deferred)));
    bz_deferred_fini(&deferred);
    stage_end(&stage, "");
}

Test(deferred, runs_its_chain_before_the_firing_returns) {
    struct stage stage;
    struct bz_deferred deferred;
    struct link a = {.answers = true, .answer = bz_deferred_ok(8)};
    struct link b = {0};
    stage_begin(&stage);
    bz_deferred_init(&deferred, &stage.trampoline, NULL);
    link_add(&deferred, &a, &stage.log, "a");
    link_add(&deferred, &b, &stage.log, "b");
    tst_status(bz_deferred_callback(&deferred, 7), BZ_OK);
    tst_expect(&stage.log, "a:ok:7 b:ok:8");
    cr_assert(bz_deferred_is_settled(&deferred));
    cr_assert(eq(u64, deferred.value, 8));
    stage_end(&stage, "a:ok:7 b:ok:8");
}

/* One firing, of either kind, and never another. */
Test(deferred, fires_once) {
    struct stage stage;
    stage_begin(&stage);
    for (int first = 0; first < 2; first++) {
        struct bz_deferred deferred;
        struct link a = {0};
        bz_deferred_init(&deferred, &stage.trampoline, NULL);
        link_add(&deferred, &a, &stage.log, "a");
        tst_status(first == 0 ? bz_deferred_callback(&deferred, 3)
                              : bz_deferred_errback(&deferred, BZ_FAILED, 4),
                   BZ_OK);
        tst_status(bz_deferred_callback(&deferred, 5), BZ_INVALID_STATE);
        tst_status(bz_deferred_errback(&deferred, BZ_FAILED, 6), BZ_INVALID_STATE);
        cr_assert(eq(u64, deferred.value, first == 0 ? 3 : 4));
        tst_status((enum bz_status)deferred.status, first == 0 ? BZ_OK : BZ_FAILED);
    }
    stage_end(&stage, "a:ok:3 a:failed:4");
}

Test(deferred, refuses_an_error_that_is_none) {
    struct stage stage;
    struct bz_deferred deferred;
    stage_begin(&stage);
    bz_deferred_init(&deferred, &stage.trampoline, NULL);
    tst_status(bz_deferred_errback(&deferred, BZ_OK, 1), BZ_INVALID_ARGUMENT);
    cr_assert(not(bz_deferred_is_fired(&deferred)));
    stage_end(&stage, "");
}

/* Each pair runs the one of its two functions that fits; one that is missing passes things on. */
Test(deferred, error_passes_by_until_it_is_handled) {
    struct stage stage;
    struct bz_deferred deferred;
    struct link links[5] = {0};
    const char *names[] = {"a", "b", "c", "d", "e"};
    stage_begin(&stage);
    bz_deferred_init(&deferred, &stage.trampoline, NULL);
    for (int index = 0; index < 5; index++) {
        links[index].log = &stage.log;
        links[index].name = names[index];
    }
    links[1].answers = true; /* b fails, d repairs it */
    links[1].answer = bz_deferred_error(BZ_FAILED, 21);
    links[3].answers = true;
    links[3].answer = bz_deferred_ok(22);
    bz_deferred_add(&deferred, &links[0].pair, NULL, link_run);
    bz_deferred_add(&deferred, &links[1].pair, link_run, NULL);
    bz_deferred_add(&deferred, &links[2].pair, link_run, NULL);
    bz_deferred_add(&deferred, &links[3].pair, NULL, link_run);
    bz_deferred_add(&deferred, &links[4].pair, link_run, NULL);
    tst_status(bz_deferred_callback(&deferred, 20), BZ_OK);
    stage_end(&stage, "b:ok:20 d:failed:21 e:ok:22");
}

/* What is added to a deferred that has fired runs at once, with what the chain has come to. */
Test(deferred, late_pair_runs_at_once) {
    struct stage stage;
    struct bz_deferred deferred;
    struct link a = {.answers = true, .answer = bz_deferred_error(BZ_BROKEN, 2)};
    struct link b = {0};
    stage_begin(&stage);
    bz_deferred_init(&deferred, &stage.trampoline, NULL);
    tst_status(bz_deferred_callback(&deferred, 1), BZ_OK);
    link_add(&deferred, &a, &stage.log, "a");
    tst_expect(&stage.log, "a:ok:1");
    link_add(&deferred, &b, &stage.log, "b");
    stage_end(&stage, "a:ok:1 b:broken:2");
}

Test(deferred, pair_that_is_removed_does_not_run) {
    struct stage stage;
    struct bz_deferred deferred;
    struct link links[3] = {0};
    stage_begin(&stage);
    bz_deferred_init(&deferred, &stage.trampoline, NULL);
    link_add(&deferred, &links[0], &stage.log, "a");
    link_add(&deferred, &links[1], &stage.log, "b");
    link_add(&deferred, &links[2], &stage.log, "c");
    cr_assert(bz_deferred_remove(&links[1].pair));
    cr_assert(not(bz_deferred_remove(&links[1].pair)));
    tst_status(bz_deferred_callback(&deferred, 1), BZ_OK);
    cr_assert(not(bz_deferred_remove(&links[0].pair)), "has run");
    stage_end(&stage, "a:ok:1 c:ok:1");
}

/* --- order ------------------------------------------------------------------------------------ */

/* What a callback fires runs behind its body, and before the rest of its own chain. */
Test(deferred_order, callback_is_not_interrupted) {
    struct stage stage;
    struct bz_deferred outer;
    struct bz_deferred inner;
    struct link a = {.does = link_fires, .object = &inner};
    struct link b = {0};
    struct link c = {0};
    stage_begin(&stage);
    bz_deferred_init(&outer, &stage.trampoline, NULL);
    bz_deferred_init(&inner, &stage.trampoline, NULL);
    link_add(&outer, &a, &stage.log, "a");
    link_add(&outer, &b, &stage.log, "b");
    link_add(&inner, &c, &stage.log, "c");
    tst_status(bz_deferred_callback(&outer, 5), BZ_OK);
    stage_end(&stage, "a:ok:5 a. c:ok:1 b:ok:5");
}

static void fires_both(struct link *link) {
    link_fires(link);
    link->object++;
    link_fires(link);
}

/* Two that a callback fires run in the order of firing, each with all that it fires in turn. */
Test(deferred_order, is_that_of_nested_calls) {
    struct stage stage;
    struct bz_deferred first;
    struct bz_deferred pair[2];
    struct bz_deferred last;
    struct link a = {.does = fires_both, .object = pair};
    struct link b = {.does = link_fires, .object = &last};
    struct link c = {0};
    struct link d = {0};
    struct link a2 = {0};
    stage_begin(&stage);
    bz_deferred_init(&first, &stage.trampoline, NULL);
    bz_deferred_init(&pair[0], &stage.trampoline, NULL);
    bz_deferred_init(&pair[1], &stage.trampoline, NULL);
    bz_deferred_init(&last, &stage.trampoline, NULL);
    link_add(&first, &a, &stage.log, "a");
    link_add(&first, &a2, &stage.log, "a2");
    link_add(&pair[0], &b, &stage.log, "b");
    link_add(&pair[1], &c, &stage.log, "c");
    link_add(&last, &d, &stage.log, "d");
    tst_status(bz_deferred_callback(&first, 5), BZ_OK);
    stage_end(&stage, "a:ok:5 a. b:ok:1 b. d:ok:1 c:ok:1 a2:ok:5");
}

/* The same goes for a pair that a callback adds to a deferred that has fired, its own included. */
Test(deferred_order, pair_added_in_a_callback_runs_behind_it) {
    struct stage stage;
    struct bz_deferred outer;
    struct bz_deferred ready;
    struct link c = {.name = "c"};
    struct link d = {.name = "d"};
    struct link a = {.does = link_adds_other, .object = &ready, .other = &c};
    struct link b = {.does = link_adds_other, .object = &outer, .other = &d};
    stage_begin(&stage);
    bz_deferred_init(&outer, &stage.trampoline, NULL);
    bz_deferred_init(&ready, &stage.trampoline, NULL);
    tst_status(bz_deferred_callback(&ready, 9), BZ_OK);
    link_add(&outer, &a, &stage.log, "a");
    link_add(&outer, &b, &stage.log, "b");
    tst_status(bz_deferred_callback(&outer, 5), BZ_OK);
    stage_end(&stage, "a:ok:5 a. c:ok:9 b:ok:5 b. d:ok:5");
}

/* --- waiting for another one ------------------------------------------------------------------ */

Test(deferred_chain, waits_for_the_inner_one) {
    struct stage stage;
    struct bz_deferred outer;
    struct bz_deferred inner;
    struct link a = {.answers = true, .answer = bz_deferred_wait_for(&inner)};
    struct link b = {0};
    struct link c = {.answers = true, .answer = bz_deferred_error(BZ_FAILED, 3)};
    struct link d = {0};
    stage_begin(&stage);
    bz_deferred_init(&outer, &stage.trampoline, NULL);
    bz_deferred_init(&inner, &stage.trampoline, NULL);
    link_add(&outer, &a, &stage.log, "a");
    link_add(&outer, &b, &stage.log, "b");
    link_add(&inner, &c, &stage.log, "c");
    tst_status(bz_deferred_callback(&outer, 1), BZ_OK);
    link_add(&inner, &d, &stage.log, "d");
    tst_expect(&stage.log, "a:ok:1");
    cr_assert(bz_deferred_is_fired(&outer));
    cr_assert(not(bz_deferred_is_settled(&outer)));
    tst_status(bz_deferred_callback(&inner, 2), BZ_OK);
    cr_assert(bz_deferred_is_settled(&outer));
    /* The outer one goes first; the inner one goes on with nothing. */
    stage_end(&stage, "a:ok:1 c:ok:2 b:failed:3 d:ok:0");
}

Test(deferred_chain, takes_over_one_that_is_through) {
    struct stage stage;
    struct bz_deferred outer;
    struct bz_deferred inner;
    struct link a = {.answers = true, .answer = bz_deferred_wait_for(&inner)};
    struct link b = {0};
    stage_begin(&stage);
    bz_deferred_init(&outer, &stage.trampoline, NULL);
    bz_deferred_init(&inner, &stage.trampoline, NULL);
    tst_status(bz_deferred_errback(&inner, BZ_BROKEN, 4), BZ_OK);
    link_add(&outer, &a, &stage.log, "a");
    link_add(&outer, &b, &stage.log, "b");
    tst_status(bz_deferred_callback(&outer, 1), BZ_OK);
    tst_status((enum bz_status)inner.status, BZ_OK);
    stage_end(&stage, "a:ok:1 b:broken:4");
}

/* It has fired in the very callback that waits for it, and its own callbacks are still to run. */
Test(deferred_chain, waits_for_one_that_has_just_fired) {
    struct stage stage;
    struct bz_deferred outer;
    struct bz_deferred inner;
    struct link a = {.does = link_fires,
                     .object = &inner,
                     .answers = true,
                     .answer = bz_deferred_wait_for(&inner)};
    struct link b = {0};
    struct link c = {.answers = true, .answer = bz_deferred_ok(12)};
    stage_begin(&stage);
    bz_deferred_init(&outer, &stage.trampoline, NULL);
    bz_deferred_init(&inner, &stage.trampoline, NULL);
    link_add(&outer, &a, &stage.log, "a");
    link_add(&outer, &b, &stage.log, "b");
    link_add(&inner, &c, &stage.log, "c");
    tst_status(bz_deferred_callback(&outer, 0), BZ_OK);
    stage_end(&stage, "a:ok:0 a. c:ok:1 b:ok:12");
}

/* Two wait for one: the first has the result, the second what is left of it. */
Test(deferred_chain, result_goes_to_the_first_who_waits) {
    struct stage stage;
    struct bz_deferred outers[2];
    struct bz_deferred inner;
    struct link waits[2] = {{.answers = true, .answer = bz_deferred_wait_for(&inner)},
                            {.answers = true, .answer = bz_deferred_wait_for(&inner)}};
    struct link ends[2] = {0};
    stage_begin(&stage);
    bz_deferred_init(&inner, &stage.trampoline, NULL);
    for (int index = 0; index < 2; index++) {
        bz_deferred_init(&outers[index], &stage.trampoline, NULL);
        link_add(&outers[index], &waits[index], &stage.log, index == 0 ? "a" : "b");
        link_add(&outers[index], &ends[index], &stage.log, index == 0 ? "a2" : "b2");
        tst_status(bz_deferred_callback(&outers[index], 1), BZ_OK);
    }
    tst_status(bz_deferred_callback(&inner, 7), BZ_OK);
    stage_end(&stage, "a:ok:1 b:ok:1 a2:ok:7 b2:ok:0");
}

/* A chain that is given up in the middle waits for nobody any more. */
Test(deferred_chain, may_be_given_up) {
    struct stage stage;
    struct bz_deferred outer;
    struct bz_deferred inner;
    struct link a = {.answers = true, .answer = bz_deferred_wait_for(&inner)};
    struct link b = {0};
    stage_begin(&stage);
    bz_deferred_init(&outer, &stage.trampoline, NULL);
    bz_deferred_init(&inner, &stage.trampoline, NULL);
    link_add(&outer, &a, &stage.log, "a");
    link_add(&outer, &b, &stage.log, "b");
    tst_status(bz_deferred_callback(&outer, 1), BZ_OK);
    bz_deferred_fini(&outer);
    memset(&outer, 0xa5, sizeof outer);
    tst_status(bz_deferred_callback(&inner, 2), BZ_OK);
    cr_assert(bz_deferred_is_settled(&inner));
    stage_end(&stage, "a:ok:1");
}

Test(deferred_chain, to_itself_stops_the_process, .signal = SIGABRT) {
    struct stage stage;
    struct bz_deferred deferred;
    struct link a = {.answers = true, .answer = bz_deferred_wait_for(&deferred)};
    stage_begin(&stage);
    bz_deferred_init(&deferred, &stage.trampoline, NULL);
    link_add(&deferred, &a, &stage.log, "a");
    bz_deferred_callback(&deferred, 1);
}

Test(deferred_chain, to_another_loop_stops_the_process, .signal = SIGABRT) {
    struct stage stage;
    struct bz_trampoline elsewhere;
    struct bz_deferred deferred;
    struct bz_deferred stranger;
    struct link a = {.answers = true, .answer = bz_deferred_wait_for(&stranger)};
    stage_begin(&stage);
    bz_trampoline_init(&elsewhere, stage.loop);
    bz_deferred_init(&deferred, &stage.trampoline, NULL);
    bz_deferred_init(&stranger, &elsewhere, NULL);
    link_add(&deferred, &a, &stage.log, "a");
    bz_deferred_callback(&deferred, 1);
}

Test(deferred_chain, end_of_one_that_somebody_waits_for_stops_the_process, .signal = SIGABRT) {
    struct stage stage;
    struct bz_deferred outer;
    struct bz_deferred inner;
    struct link a = {.answers = true, .answer = bz_deferred_wait_for(&inner)};
    stage_begin(&stage);
    bz_deferred_init(&outer, &stage.trampoline, NULL);
    bz_deferred_init(&inner, &stage.trampoline, NULL);
    link_add(&outer, &a, &stage.log, "a");
    tst_status(bz_deferred_callback(&outer, 1), BZ_OK);
    bz_deferred_fini(&inner);
}

/* --- pausing ---------------------------------------------------------------------------------- */

Test(deferred_pause, holds_the_chain_until_the_last_unpause) {
    struct stage stage;
    struct bz_deferred deferred;
    struct link a = {0};
    struct link b = {0};
    stage_begin(&stage);
    bz_deferred_init(&deferred, &stage.trampoline, NULL);
    link_add(&deferred, &a, &stage.log, "a");
    bz_deferred_pause(&deferred);
    bz_deferred_pause(&deferred);
    tst_status(bz_deferred_callback(&deferred, 1), BZ_OK);
    link_add(&deferred, &b, &stage.log, "b");
    bz_deferred_unpause(&deferred);
    tst_expect(&stage.log, "");
    cr_assert(not(bz_deferred_is_settled(&deferred)));
    bz_deferred_unpause(&deferred);
    stage_end(&stage, "a:ok:1 b:ok:1");
}

static void pauses(struct link *link) {
    bz_deferred_pause(link->object);
}

static void pauses_and_unpauses(struct link *link) {
    bz_deferred_pause(link->object);
    bz_deferred_unpause(link->object);
}

/* In its own callback, and in one that runs while it is due. */
Test(deferred_pause, in_a_callback) {
    struct stage stage;
    struct bz_deferred deferred;
    struct link a = {.does = pauses, .object = &deferred};
    struct link b = {.does = pauses_and_unpauses, .object = &deferred};
    struct link c = {0};
    stage_begin(&stage);
    bz_deferred_init(&deferred, &stage.trampoline, NULL);
    link_add(&deferred, &a, &stage.log, "a");
    link_add(&deferred, &b, &stage.log, "b");
    link_add(&deferred, &c, &stage.log, "c");
    tst_status(bz_deferred_callback(&deferred, 1), BZ_OK);
    tst_expect(&stage.log, "a:ok:1 a.");
    bz_deferred_unpause(&deferred);
    stage_end(&stage, "a:ok:1 a. b:ok:1 b. c:ok:1");
}

static void fires_and_pauses(struct link *link) {
    link_fires(link);
    bz_deferred_pause(link->object);
}

Test(deferred_pause, holds_one_that_is_due) {
    struct stage stage;
    struct bz_deferred outer;
    struct bz_deferred inner;
    struct link a = {.does = fires_and_pauses, .object = &inner};
    struct link b = {0};
    stage_begin(&stage);
    bz_deferred_init(&outer, &stage.trampoline, NULL);
    bz_deferred_init(&inner, &stage.trampoline, NULL);
    link_add(&outer, &a, &stage.log, "a");
    link_add(&inner, &b, &stage.log, "b");
    tst_status(bz_deferred_callback(&outer, 3), BZ_OK);
    tst_expect(&stage.log, "a:ok:3 a.");
    bz_deferred_unpause(&inner);
    stage_end(&stage, "a:ok:3 a. b:ok:1");
}

/* One that waits and is paused by hand goes on only when both have ended; meanwhile the inner one
 * runs to its end (in Twisted it stops there). */
Test(deferred_pause, of_one_that_waits_does_not_hold_the_inner_one) {
    struct stage stage;
    struct bz_deferred outer;
    struct bz_deferred inner;
    struct link a = {.answers = true, .answer = bz_deferred_wait_for(&inner)};
    struct link b = {0};
    struct link c = {0};
    stage_begin(&stage);
    bz_deferred_init(&outer, &stage.trampoline, NULL);
    bz_deferred_init(&inner, &stage.trampoline, NULL);
    link_add(&outer, &a, &stage.log, "a");
    link_add(&outer, &b, &stage.log, "b");
    tst_status(bz_deferred_callback(&outer, 1), BZ_OK);
    link_add(&inner, &c, &stage.log, "c");
    bz_deferred_pause(&outer);
    tst_status(bz_deferred_callback(&inner, 2), BZ_OK);
    tst_expect(&stage.log, "a:ok:1 c:ok:0");
    bz_deferred_unpause(&outer);
    stage_end(&stage, "a:ok:1 c:ok:0 b:ok:2");
}

Test(deferred_pause, unpause_too_many_stops_the_process, .signal = SIGABRT) {
    struct stage stage;
    struct bz_deferred deferred;
    stage_begin(&stage);
    bz_deferred_init(&deferred, &stage.trampoline, NULL);
    bz_deferred_unpause(&deferred);
}
