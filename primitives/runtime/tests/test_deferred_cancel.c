/* Deferreds: cancelling, storage that its own callback gives back, tasks that wait. */
#include "primitives/runtime/tests/stage_deferred.h"

Test(deferred_cancel, timelines) {
    static const struct tst_row rows[] = {
        /* Without a canceller nobody can tell the source: one late result, of either kind, is
         * tolerated. */
        {"without_a_canceller_swallows_one_late_result",
         "add-xa cancel-x fire-x5 result-x=cancelled/0 fire-x7:invalid-state -> a:cancelled:0"},
        {"without_a_canceller_swallows_one_late_result",
         "add-xa cancel-x err-x6 result-x=cancelled/0 fire-x7:invalid-state -> a:cancelled:0"},
        {"twice_is_once", "add-xa cancel-x cancel-x:invalid-state fire-x5 cancel-x:invalid-state"
                          " fire-x5:invalid-state -> a:cancelled:0"},
        /* With one, it is called once, with the deferred; if it fires nothing, the cancel does.
         * A second result is one too many. */
        {"calls_the_canceller",
         "source-x add-xa cancel-x cancel-x:invalid-state cancels-x=1 fire-x5:invalid-state"
         " -> a:cancelled:0"},
        {"canceller_may_fire_what_it_likes",
         "source-x-ok source-y-broken add-xa add-yb cancel-x cancel-y -> a:ok:31 b:broken:32"},
        {"of_a_fired_one_does_nothing",
         "source-x fire-x1 cancel-x:invalid-state cancels-x=0 result-x=ok/1"
         " fire-x5:invalid-state"},
        {"of_a_fired_one_does_nothing",
         "source-x err-x2 cancel-x:invalid-state cancels-x=0 result-x=failed/2"
         " fire-x5:invalid-state"},
        /* The innermost of those that wait for each other is cancelled; the others hear of it in
         * turn. */
        {"is_forwarded_to_the_innermost",
         "source-z; +a: wait-y; +b: wait-z; add-xa add-xc add-yb fire-x1 fire-y2;"
         "cancel-x cancels-z=1 cancel-x:invalid-state -> a:ok:1 b:ok:2 c:cancelled:0"},
        /* The inner one has fired, and what it has fired with is on its way: too late. */
        {"comes_too_late_for_an_inner_one_that_has_fired",
         "source-y; +a: wait-y; +c: cancel-x:invalid-state; add-xa add-xb add-yc fire-x1 fire-y2"
         " cancels-y=0 -> a:ok:1 c:ok:2 c. b:ok:2"},
        /* Callbacks do not run inside a canceller, nor inside the callback that cancels. */
        {"in_a_callback_runs_behind_it",
         "source-y-broken; +a: cancel-y; add-xa add-yb fire-x1 -> a:ok:1 a. b:broken:32"},
        {NULL, NULL},
    };
    tst_play_rows(rows, play);
}

/* Three that wait for each other, and one outside that waits for them. */
Test(deferred_cancel, of_a_circle_stops_the_process, .signal = SIGABRT) {
    play("+a: wait-x; +b: wait-y; +c: wait-z; +d: wait-x; add-wa add-xb add-yc add-zd;"
         "fire-w0 fire-x0 fire-y0 fire-z0 -> a:ok:0 b:ok:0 c:ok:0 d:ok:0; cancel-w");
}

/* --- storage ---------------------------------------------------------------------------------- */

Test(deferred_storage, timelines) {
    static const struct tst_row rows[] = {
        {"may_be_given_back_by_its_own_callback",
         "+a: fini-x wipe-a; add-xa fire-x1 -> a:ok:1 a.; wiped-x=yes wiped-a=yes"},
        /* The result of the callback is dropped. */
        {"may_be_used_again_by_its_own_callback",
         "+a: init-x add-xb fire-x1 answer-failed99; add-xa fire-x5 -> a:ok:5 a. b:ok:1;"
         "result-x=ok/1"},
        {"that_begins_anew_has_not_fired",
         "+a: init-x; add-xa fire-x5 -> a:ok:5 a.; fired-x=no result-x=ok/0"},
        {NULL, NULL},
    };
    tst_play_rows(rows, play);
}

/* --- tasks ------------------------------------------------------------------------------------ */

Test(deferred_await, timelines) {
    static const struct tst_row rows[] = {
        {"wakes_a_task_a_step_later",
         "t-u: await-x; turn add-xc err-x7 -> c:failed:7;"
         "turn -> t=failed/7 t.await-x:failed u=failed/7 u.await-x:failed"},
        {"of_a_result_that_is_there_does_not_suspend",
         "fire-x3; t: await-x; turn -> t=ok/3 t.await-x:ok"},
        /* The task waits, and is cancelled: so is the deferred, when the task resumes. */
        {"cancelled_while_waiting_cancels_the_deferred",
         "source-x; t: await-x; turn add-xb cancel-t cancels-x=0 turn cancels-x=1"
         " -> b:cancelled:0 t=cancelled/0 t.await-x:cancelled; end-t=cancelled/1"},
        /* Cancelled, and then it fires before the task has resumed: what it brings is not lost. */
        {"fired_after_the_cancel", "source-x; t: await-x; turn cancel-t fire-x4 turn cancels-x=0"
                                   " -> t=ok/4 t.await-x:cancelled; end-t=cancelled/1"},
        /* The window: fired, then cancelled, then resumed. */
        {"cancelled_in_the_window", "source-x; t: await-x; turn fire-x4 cancel-t turn cancels-x=0"
                                    " -> t=ok/4 t.await-x:cancelled; end-t=cancelled/1"},
        /* The task's place in the chain is behind it, and what the chain waits for now is none
         * of the task's business. */
        {"cancelled_in_the_window_spares_the_rest_of_the_chain",
         "source-y; t: await-x; +b: wait-y; turn add-xb fire-x4 cancel-t turn cancels-y=0"
         " -> b:ok:4 t=ok/4 t.await-x:cancelled; end-t=cancelled/1"},
        /* The canceller brings a result: the task is cancelled all the same, and learns of it. */
        {"cancelled_and_the_canceller_fires",
         "source-x-ok; t: await-x; turn cancel-t turn -> t=ok/31 t.await-x:cancelled;"
         "end-t=cancelled/1"},
        {NULL, NULL},
    };
    tst_play_rows(rows, play);
}

/* The chain is paused, so that the cancel brings nothing: the task leaves without a trace in it. */
Test(deferred_await, cancelled_leaves_a_chain_that_takes_its_time) {
    struct deferreds deferreds;
    deferreds_begin(&deferreds);
    tst_play(&deferreds.stage, "pause-x; t: await-x; turn cancel-t turn"
                               " -> t=cancelled/0 t.await-x:cancelled; end-t=cancelled/1");
    cr_assert(bz_list_is_empty(&source_named(&deferreds, 'x')->deferred.pairs));
    tst_act(&deferreds.stage, "unpause-x settled-x=yes");
    deferreds_end(&deferreds);
}

/* A callback that suspends would hold up the callbacks of everybody: noticed at the next firing. */
Test(deferred_await, callback_that_suspends_stops_the_process, .signal = SIGABRT) {
    play("+a: suspend; add-xa; t: fire-x0; turn fire-y0");
}

Test(deferred_await, in_a_callback_stops_the_process, .signal = SIGABRT) {
    play("+a: await-y; add-xa; t: fire-x0; turn");
}
