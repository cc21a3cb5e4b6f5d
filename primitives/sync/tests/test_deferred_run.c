/* run(): acquire, a function, release. For both primitives that have it. */
#include "primitives/sync/tests/stage_deferred.h"

Test(deferred_run, timelines) {
    static const struct tst_row rows[] = {
        {"passes_the_result_through_and_releases",
         "+a: answer-ok4; +b: answer-failed5; run-a free=1 run-b free=1"
         " -> a a:ok:4 b b:failed:5"},
        /* It is held until the function's deferred has fired; then the next one runs, at once. */
        {"holds_until_the_function_is_through",
         "+a: pends; +b: answer-ok2; run-a free=0 run-b -> a;"
         "fail-a1 free=1 -> b b:ok:2 a:failed:1"},
        {"holds_until_the_function_is_through",
         "+a: pends; +b: answer-ok2; run-a free=0 run-b -> a;"
         "finish-a1 free=1 -> b b:ok:2 a:ok:1"},
        {"cancelled_while_it_waits_never_calls_the_function",
         "acquire-a run-b cancel-b release -> a:ok b:cancelled:0"},
        /* Its deferred is given an error by hand while it waits: the same, it owns nothing to
         * release. */
        {"given_an_error_while_it_waits_never_calls_the_function",
         "acquire-a run-b error-b release -> a:ok b:broken:3"},
        {"cancelled_while_the_function_is_pending_cancels_that_and_releases",
         "+a: pends; +b: answer-ok2; run-a run-b cancel-a finish-a1 finish-a1:invalid-state"
         " free=1 -> a b b:ok:2 a:cancelled:0"},
        /* From inside the function, or when it is over, a cancel comes too late. */
        {"cancelled_in_the_function_is_not_cancelled",
         "+a: cancel-a:invalid-state answer-ok6; run-a cancel-a:invalid-state free=1"
         " -> a a:ok:6"},
        /* A function that releases by itself is told so; an error of its own counts more. */
        {"release_that_is_refused_shows",
         "+a: release answer-ok4; +b: release answer-failed5; run-a run-b"
         " -> a a:not-held:0 b b:failed:5"},
        {NULL, NULL},
    };
    tst_play_rows(rows, play_both);
}

Test(deferred_run, needs_a_function) {
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        struct cast cast;
        cast_begin(&cast, (enum kind)kind, 1);
        tst_status(guest_run(&cast.guests[0], NULL), BZ_INVALID_ARGUMENT);
        cast_end(&cast);
    }
}

/* Three at a semaphore of two. */
Test(deferred_run, as_many_as_there_are_tokens) {
    play(KIND_SEMAPHORE, 2,
         "+a-c: pends; run-a run-b run-c -> a b;"
         "finish-b1 finish-c2 finish-a3 -> c b:ok:1 c:ok:2 a:ok:3");
}
