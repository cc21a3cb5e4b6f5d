/* Timeout scopes: O1 to O4 of asyncio's rules, and the peers' cases. */
#include "primitives/runtime/tests/stage_scopes.h"

/* --- one scope -------------------------------------------------------------------------------- */

Test(timeout, timelines) {
    static const struct tst_row rows[] = {
        {"expires", "a: time(50 await time) => a.await:cancelled a.time):timed-out;"
                    "expired=yes state=expired now=50 end-a=timed-out/0"},
        {"is_not_reached", "a: time(50 sleep time) => a.sleep:ok a.time):ok;"
                           "expired=no state=exited now=10 end-a=ok/0"},
        /* The deadline is the sleeper's, no other. */
        {"without_a_deadline_never_expires",
         "a: time(never sleep time); turn deadline=10 => a.sleep:ok a.time):ok; end-a=ok/0"},
        /* O1: no delay is a callback, not a timer; it strikes even who only yields. */
        {"of_no_time_strikes_a_yield",
         "a: time(0 yield time); turn ready=2 => a.yield:cancelled a.time):timed-out;"
         "end-a=timed-out/0"},
        {"of_no_time_strikes_an_await",
         "a: time(0 await time) => a.await:cancelled a.time):timed-out; end-a=timed-out/0"},
        /* A body that never suspends exits before the deadline can strike, and disarms it. */
        {"of_no_time_spares_who_does_not_suspend",
         "a: time(0 time) yield yield => a.time):ok a.yield:ok a.yield:ok; end-a=ok/0"},
        /* The scope's own failure passes, expired or not. */
        {"passes_a_failure_before_the_deadline",
         "a: time(50 fail time) => a.time):failed; end-a=failed/0"},
        {"passes_a_failure_after_the_deadline",
         "a: time(50 ~await break time) => a.await:cancelled a.time):broken;"
         "expired=yes end-a=broken/0"},
        /* O3: who swallows the cancellation and ends well is not timed out, but expired; the
         * count is balanced. */
        {"swallowed_is_no_timeout",
         "a: time(5 ~sleep time) yield => a.sleep:cancelled a.time):ok a.yield:ok;"
         "expired=yes end-a=ok/0"},
        /* It fires once: after it the body may take its time. */
        {"fires_once", "a: time(5 ~sleep sleep sleep time)"
                       " => a.sleep:cancelled a.sleep:ok a.sleep:ok a.time):ok; end-a=ok/0"},

        /* --- somebody else's cancel --- */
        {"leaves_a_foreign_cancel_alone",
         "a: time(50 await time); turn cancel-a => a.await:cancelled a.time):cancelled;"
         "expired=no end-a=cancelled/1"},
        {"leaves_its_tasks_own_cancel_alone",
         "a: time(50 cancel-self await time) => a.await:cancelled a.time):cancelled;"
         "end-a=cancelled/1"},
        /* The deadline and a foreign cancel in one turn, in either order: the foreign one wins,
         * and what it counts is still there. */
        {"deadline_then_foreign_cancel",
         "a: time(50 await time); turn time-50 turn state=expiring cancel-a"
         " => a.await:cancelled a.time):cancelled; end-a=cancelled/1"},
        /* The timer is queued behind the resume, so the scope is left before it fires. */
        {"foreign_cancel_then_deadline",
         "a: time(50 await time); turn time-50 cancel-a turn expired=no"
         " -> a.await:cancelled a.time):cancelled; end-a=cancelled/1"},
        /* The same with the timer in front, as an `any` order may have it. */
        {"foreign_cancel_then_deadline_before_the_resume",
         "a: time(50 await time); turn cancel-a time-50 due-1 step-1 cancelling-a=2"
         " => a.await:cancelled a.time):cancelled; end-a=cancelled/1"},
        /* The result and the deadline in one turn: the window of a scope. The result is lost to
         * the body, not to the future; asyncio does the same. */
        {"result_then_deadline",
         "a: time(50 await time); turn time-50 due-1 set-a"
         " => a.await:cancelled a.time):timed-out; future-a=result/7 end-a=timed-out/0"},
        /* The result comes first and its resume stands before the timer: no timeout. */
        {"resume_before_the_deadline",
         "a: time(50 await time); turn time-50 set-a => a.await:ok a.time):ok; end-a=ok/0"},

        /* --- inside a cancelled task --- */
        /* gh-102780: a scope opened while an earlier request is being handled works as ever. */
        {"works_after_a_cancellation",
         "a: cancel-self ~sleep time(5 sleep time)"
         " => a.sleep:cancelled a.sleep:cancelled a.time):timed-out; end-a=timed-out/1"},
        {"of_no_time_works_after_a_cancellation",
         "a: cancel-self ~sleep time(0 sleep time)"
         " => a.sleep:cancelled a.sleep:cancelled a.time):timed-out; end-a=timed-out/1"},
        /* And a new request in it is not the scope's. */
        {"leaves_a_new_cancel_alone_after_a_cancellation",
         "a: cancel-self ~sleep time(50 cancel-self sleep time)"
         " => a.sleep:cancelled a.sleep:cancelled a.time):cancelled; end-a=cancelled/2"},
        /* gh-134471, open in asyncio: a request that is made and not delivered when the scope
         * opens is somebody else's, however early the deadline comes. */
        {"of_no_time_does_not_swallow_an_undelivered_cancel",
         "a: cancel-self time(0 sleep time) => a.sleep:cancelled a.time):cancelled;"
         "end-a=cancelled/1"},
        {"does_not_swallow_several_undelivered_cancels",
         "a: cancel-self cancel-self time(0 sleep time) => a.sleep:cancelled a.time):cancelled;"
         "end-a=cancelled/2"},
        /* One delivered before, one not: only the former is the baseline. */
        {"tells_delivered_from_undelivered_cancels",
         "a: cancel-self ~sleep cancel-self time(0 sleep time)"
         " => a.sleep:cancelled a.sleep:cancelled a.time):cancelled; end-a=cancelled/2"},

        /* --- nesting --- */
        {"inner_one_expires_and_is_caught",
         "a: limit(50 time(5 sleep ~time) sleep limit)"
         " => a.sleep:cancelled a.time):timed-out a.sleep:ok a.limit):ok; end-a=ok/0"},
        {"outer_one_expires_through_the_inner",
         "a: limit(5 time(50 sleep time) limit)"
         " => a.sleep:cancelled a.time):cancelled a.limit):timed-out;"
         "expired=no end-a=timed-out/0"},
        /* Both due at once: both take their request back, and only the outermost is timed out. */
        {"both_due_at_once", "a: limit(5 time(5 sleep time) limit)"
                             " => a.sleep:cancelled a.time):cancelled a.limit):timed-out;"
                             "expired=yes limit-expired=yes end-a=timed-out/0"},
        /* The loop was held up until both were overdue. The inner deadline is the earlier one,
         * and still it is the outermost that converts. */
        {"both_overdue_in_a_busy_loop",
         "a: limit(50 time(5 time-100 sleep time) limit)"
         " => a.sleep:cancelled a.time):cancelled a.limit):timed-out; end-a=timed-out/0"},
        /* The loop is held up, the inner scope expires and is caught; the outer one stops what
         * follows. */
        {"outer_one_comes_after_a_busy_loop",
         "a: limit(105 time(5 time-100 sleep ~time) sleep limit)"
         " => a.sleep:cancelled a.time):timed-out a.sleep:cancelled a.limit):timed-out;"
         "end-a=timed-out/0"},
        /* A scope in the cleanup of an expired one. */
        {"inner_one_opened_after_the_outer_expired",
         "a: limit(5 ~sleep time(5 sleep time) limit)"
         " => a.sleep:cancelled a.sleep:cancelled a.time):timed-out a.limit):timed-out;"
         "end-a=timed-out/0"},

        /* --- rescheduling (O4) --- */
        {"may_be_put_off",
         "a: time(5 await time); turn move-70 => a.await:cancelled a.time):timed-out;"
         "now=70 end-a=timed-out/0"},
        {"may_be_brought_forward",
         "a: time(never await time); turn move-70 move-3"
         " => a.await:cancelled a.time):timed-out; now=3 end-a=timed-out/0"},
        {"may_be_called_off",
         "a: time(5 sleep time); turn move-never => a.sleep:ok a.time):ok; end-a=ok/0"},
        {"may_be_rescheduled_while_its_timer_is_queued",
         "a: time(5 sleep time); turn time-5 due-1 move-50 ready=0 => a.sleep:ok a.time):ok;"
         "end-a=ok/0"},
        {"rescheduled_to_now_fires_in_the_next_turn",
         "a: time(50 await time); turn move-0 ready=1 turn-2 now=0"
         " -> a.await:cancelled a.time):timed-out; end-a=timed-out/0"},
        {"cannot_be_rescheduled_once_it_has_come",
         "a: time(5 await time); turn time-5 turn move-50:invalid-state"
         " => a.await:cancelled a.time):timed-out; move-50:invalid-state end-a=timed-out/0"},
        {"cannot_be_rescheduled_once_left",
         "a: time(5 time) => a.time):ok; move-50:invalid-state end-a=ok/0"},
        {"needs_a_task", "time(5:invalid-state"},
        {NULL, NULL},
    };
    tst_play_rows(rows, play);
}
