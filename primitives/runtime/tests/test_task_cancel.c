/* Cancellation of tasks: T2 to T11 of asyncio's rules, state by state. */
#include "primitives/tests/stage.h"

/* --- the four states of a blocked task (T8) --------------------------------------------------- */

Test(task_cancel, timelines) {
    static const struct tst_row rows[] = {
        /* Blocked: the future is cancelled now, the task resumes a turn later. */
        {"while_waiting", "a: await; turn cancel-a future-a=cancelled/0 done-a=no -> ;"
                          "turn done-a=yes -> a.await:cancelled; end-a=cancelled/1"},
        /* Cancelled and not yet resumed: who completes the future comes too late. */
        {"then_result_in_one_turn",
         "a: await; turn cancel-a set-a:invalid-state => a.await:cancelled; end-a=cancelled/1"},
        /* T9: a second request before the resume is absorbed by the one CANCELLED in flight. */
        {"twice_before_the_resume_is_one_exception",
         "a: ~await yield yield; turn cancel-a cancel-a cancelling-a=2"
         " => a.await:cancelled a.yield:ok a.yield:ok; end-a=ok/2"},
        /* Result set and not yet resumed, then cancelled: the window. The result stays in the
         * future. */
        {"result_then_cancel_in_one_turn",
         "a: await; turn set-a cancel-a future-a=result/7 => a.await:cancelled;"
         "end-a=cancelled/1"},
        /* Two requests in the window are one exception as well, and the next await is untouched. */
        {"result_then_two_cancels_in_one_turn",
         "a: ~await yield; turn set-a cancel-a cancel-a => a.await:cancelled a.yield:ok;"
         "end-a=ok/2"},
        /* T2, T5: a cancellation takes the place of the exception that was on its way. */
        {"exception_then_cancel_in_one_turn",
         "a: await; turn fail-a cancel-a => a.await:cancelled; end-a=cancelled/1"},
        {"not_at_all_gives_the_exception",
         "a: await; turn fail-a => a.await:failed; end-a=failed/0"},
        /* The waiter's own await is what a foreign cancel of the future reaches: no request is
         * counted. */
        {"of_the_future_alone_counts_no_request",
         "a: await; turn drop-a cancelling-a=0 => a.await:cancelled; end-a=cancelled/0"},

        /* --- the other windows --- */
        /* T11: nothing of the body runs; the task ends in a step of its own. */
        {"before_the_first_step",
         "a: yield; cancel-a done-a=no turn done-a=yes -> ; end-a=cancelled/1"},
        {"before_the_first_step_taken_back",
         "a: yield; cancel-a uncancel-a=0 => a.yield:ok; end-a=ok/0"},
        {"of_a_done_task_is_refused",
         "a: yield; turn-2 cancel-a:invalid-state -> a.yield:ok; end-a=ok/0"},
        /* T4: a yield's next step is queued already; it brings the cancellation. */
        {"between_two_steps", "a: yield; turn cancel-a => a.yield:cancelled; end-a=cancelled/1"},
        /* A sleeper leaves at once, and takes its timer along. */
        {"while_sleeping",
         "a: sleep; turn deadline=10 cancel-a turn deadline=never now=0 -> a.sleep:cancelled;"
         "end-a=cancelled/1"},
        /* The timer has fired, the sleeper has not resumed: as any other window. */
        {"after_the_timer_fired",
         "a: sleep; turn time-10 turn -> ; cancel-a => a.sleep:cancelled; end-a=cancelled/1"},
        /* The timer is due and queued, and the cancel comes first: set_result is refused, nobody
         * minds. */
        {"while_the_timer_is_queued",
         "a: ~sleep yield; turn time-10 due-1 cancel-a => a.sleep:cancelled a.yield:ok;"
         "end-a=ok/1"},

        /* --- the mark of a running task (T3, T6) --- */
        /* T3: marked while it runs, it suspends on a pending future, which is cancelled for it. */
        {"of_oneself_strikes_at_the_next_await",
         "a: cancel-self ~await yield; turn future-a=cancelled/0 -> ;"
         "run -> a.await:cancelled a.yield:ok; end-a=ok/1"},
        /* F4: an await that does not suspend delivers nothing; the mark stays for the one after. */
        {"of_oneself_passes_over_a_done_future",
         "a: cancel-self await ~yield yield; set-a"
         " => a.await:ok a.yield:cancelled a.yield:ok; end-a=ok/1"},
        /* T6: who returns with the request undelivered is cancelled, and the result is dropped. */
        {"of_oneself_before_the_end", "a: cancel-self => ; end-a=cancelled/1"},
        /* T6: an exception wins over the undelivered request. */
        {"of_oneself_before_a_failure", "a: cancel-self break => ; end-a=broken/1"},
        /* Delivered once, not sticky: cleanup may await as ever. */
        {"is_not_sticky",
         "a: ~await sleep yield; turn cancel-a => a.await:cancelled a.sleep:ok a.yield:ok;"
         "end-a=ok/1"},
        /* One request after the other, each delivered before the next: each is felt. */
        {"again_after_the_delivery_is_felt_again",
         "a: ~await ~sleep yield; turn cancel-a turn cancel-a cancelling-a=2"
         " => a.await:cancelled a.sleep:cancelled a.yield:ok; end-a=ok/2"},
        {NULL, NULL},
    };
    tst_play_rows(rows, tst_timeline);
}

/* --- counting (T11) --------------------------------------------------------------------------- */

Test(task_uncancel, timelines) {
    static const struct tst_row rows[] = {
        {"counts_down_and_stops_at_zero",
         "a: ~await; turn cancel-a cancel-a cancel-a;"
         "uncancel-a=2 uncancel-a=1 uncancel-a=0 uncancel-a=0 cancelling-a=0"
         " => a.await:cancelled; end-a=ok/0"},
        /* asyncio before 3.13 delivered a request that had been taken back (gh-116720). */
        {"to_zero_forgets_an_undelivered_request",
         "a: await yield; turn set-a cancel-a uncancel-a=0 => a.await:ok a.yield:ok; end-a=ok/0"},
        {"above_zero_leaves_the_request",
         "a: await; turn set-a cancel-a cancel-a uncancel-a=1 => a.await:cancelled;"
         "end-a=cancelled/1"},
        /* An uncancel comes too late: the future was cancelled with the request. */
        {"does_not_bring_a_cancelled_future_back",
         "a: await; turn cancel-a uncancel-a=0 => a.await:cancelled; end-a=cancelled/0"},
        {"of_oneself_while_running", "a: cancel-self uncancel yield => a.yield:ok; end-a=ok/0"},
        {NULL, NULL},
    };
    tst_play_rows(rows, tst_timeline);
}
