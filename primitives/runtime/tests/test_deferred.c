/* Deferreds: the chain, its order, chaining to another deferred, pausing. */
#include "primitives/runtime/tests/stage_deferred.h"

Test(deferred, timelines) {
    static const struct tst_row rows[] = {
        {"has_no_result_at_first", "add-xa fired-x=no settled-x=no fini-x"},
        {"runs_its_chain_before_the_firing_returns",
         "+a: answer-ok8; add-xa add-xb fire-x7 -> a:ok:7 b:ok:8; settled-x=yes result-x=ok/8"},
        /* One firing, of either kind, and never another. */
        {"fires_once",
         "add-xa fire-x3 fire-x5:invalid-state err-x6:invalid-state result-x=ok/3 -> a:ok:3"},
        {"fires_once", "add-xa err-x4 fire-x5:invalid-state err-x6:invalid-state result-x=failed/4"
                       " -> a:failed:4"},
        /* Each pair runs the one of its two functions that fits; one that is missing passes
         * things on. b fails, d repairs it. */
        {"error_passes_by_until_it_is_handled",
         "+b: answer-failed21; +d: answer-ok22;"
         "add-error-xa add-ok-xb add-ok-xc add-error-xd add-ok-xe"
         " fire-x20 -> b:ok:20 d:failed:21 e:ok:22"},
        /* A pair that is added after the firing runs at once, with the current result of the
         * chain. */
        {"late_pair_runs_at_once",
         "+a: answer-broken2; fire-x1 add-xa -> a:ok:1; add-xb -> b:broken:2"},
        {"pair_that_is_removed_does_not_run",
         "add-xa add-xb add-xc remove-b remove-b:invalid-state;"
         "fire-x1 -> a:ok:1 c:ok:1; remove-a:invalid-state"},
        {NULL, NULL},
    };
    tst_play_rows(rows, play);
}

Test(deferred, refuses_an_error_that_is_none) {
    struct deferreds deferreds;
    deferreds_begin(&deferreds);
    struct bz_deferred *x = &source_named(&deferreds, 'x')->deferred;
    tst_status(bz_deferred_errback(x, BZ_OK, 1), BZ_INVALID_ARGUMENT);
    tst_act(&deferreds.stage, "fired-x=no");
    deferreds_end(&deferreds);
}

/* --- order ------------------------------------------------------------------------------------ */

Test(deferred_order, timelines) {
    static const struct tst_row rows[] = {
        /* Chains that a callback fires run after its body, and before the rest of its own chain. */
        {"callback_is_not_interrupted",
         "+a: fire-y1; add-xa add-xb add-yc fire-x5 -> a:ok:5 a. c:ok:1 b:ok:5"},
        /* Two that a callback fires run in the order of firing, each with all that it fires in
         * turn. */
        {"is_that_of_nested_calls",
         "+a: fire-x1 fire-y1; +b: fire-z1; add-wa add-we add-xb add-yc add-zd"
         " fire-w5 -> a:ok:5 a. b:ok:1 b. d:ok:1 c:ok:1 e:ok:5"},
        /* The same goes for a pair that a callback adds to a deferred that has fired, its own
         * included. */
        {"pair_added_in_a_callback_runs_behind_it",
         "+a: add-yc; +b: add-xd; fire-y9 add-xa add-xb"
         " fire-x5 -> a:ok:5 a. c:ok:9 b:ok:5 b. d:ok:5"},
        {NULL, NULL},
    };
    tst_play_rows(rows, play);
}

/* --- waiting for another one ------------------------------------------------------------------ */

Test(deferred_chain, timelines) {
    static const struct tst_row rows[] = {
        /* The outer one goes first; the inner one goes on with nothing. */
        {"waits_for_the_inner_one",
         "+a: wait-y; +c: answer-failed3; add-xa add-xb add-yc fire-x1 add-yd -> a:ok:1;"
         "fired-x=yes settled-x=no fire-y2 settled-x=yes -> c:ok:2 b:failed:3 d:ok:0"},
        {"takes_over_one_that_is_through",
         "+a: wait-y; break-y4 add-xa add-xb fire-x1 -> a:ok:1 b:broken:4; result-y=ok/0"},
        /* It has fired in the very callback that waits for it, and its own callbacks are still
         * to run. */
        {"waits_for_one_that_has_just_fired",
         "+a: fire-y1 wait-y; +c: answer-ok12; add-xa add-xb add-yc"
         " fire-x0 -> a:ok:0 a. c:ok:1 b:ok:12"},
        /* Two wait for one: the first has the result, the second what is left of it. */
        {"result_goes_to_the_first_who_waits",
         "+a-b: wait-z; add-xa add-xc fire-x1 add-yb add-yd fire-y1 fire-z7"
         " -> a:ok:1 b:ok:1 c:ok:7 d:ok:0"},
        /* A chain that is given up in the middle waits for nobody any more. */
        {"may_be_given_up",
         "+a: wait-y; add-xa add-xb fire-x1 fini-x fire-y2 settled-y=yes -> a:ok:1"},
        {NULL, NULL},
    };
    tst_play_rows(rows, play);
}

Test(deferred_chain, to_itself_stops_the_process, .signal = SIGABRT) {
    play("+a: wait-x; add-xa fire-x1");
}

Test(deferred_chain, to_another_loop_stops_the_process, .signal = SIGABRT) {
    struct deferreds deferreds;
    struct bz_trampoline elsewhere;
    deferreds_begin(&deferreds);
    bz_trampoline_init(&elsewhere, deferreds.stage.loop);
    bz_deferred_init(&source_named(&deferreds, 'y')->deferred, &elsewhere, NULL);
    tst_play(&deferreds.stage, "+a: wait-y; add-xa fire-x1");
}

Test(deferred_chain, end_of_one_that_somebody_waits_for_stops_the_process, .signal = SIGABRT) {
    play("+a: wait-y; add-xa fire-x1 fini-y");
}

/* --- pausing ---------------------------------------------------------------------------------- */

Test(deferred_pause, timelines) {
    static const struct tst_row rows[] = {
        {"holds_the_chain_until_the_last_unpause",
         "add-xa pause-x pause-x fire-x1 add-xb unpause-x settled-x=no -> ;"
         "unpause-x -> a:ok:1 b:ok:1"},
        /* In its own callback, and in one that runs while it is due. */
        {"in_a_callback",
         "+a: pause-x; +b: pause-x unpause-x; add-xa add-xb add-xc fire-x1 -> a:ok:1 a.;"
         "unpause-x -> b:ok:1 b. c:ok:1"},
        {"holds_one_that_is_due",
         "+a: fire-y1 pause-y; add-xa add-yb fire-x3 -> a:ok:3 a.; unpause-y -> b:ok:1"},
        /* One that waits and is paused by hand goes on only when both have ended; meanwhile the
         * inner one runs to its end (in Twisted it stops there). */
        {"of_one_that_waits_does_not_hold_the_inner_one",
         "+a: wait-y; add-xa add-xb fire-x1 add-yc pause-x fire-y2 -> a:ok:1 c:ok:0;"
         "unpause-x -> b:ok:2"},
        {NULL, NULL},
    };
    tst_play_rows(rows, play);
}

Test(deferred_pause, unpause_too_many_stops_the_process, .signal = SIGABRT) {
    play("unpause-x");
}
