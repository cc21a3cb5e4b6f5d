/* Task groups whose parent is cancelled, groups in groups, and the re-armed request: G4, G5. */
#include "primitives/runtime/tests/stage_scopes.h"

/* --- the parent is cancelled from outside ----------------------------------------------------- */

Test(group_cancel, timelines) {
    static const struct tst_row rows[] = {
        {"during_the_exit_cancels_the_children",
         "+a: await; +b: sleep; p: outer( outer+a outer+b outer); turn-2 cancel-p"
         " => a.await:cancelled b.sleep:cancelled p.outer):cancelled; end-p=cancelled/1 errors=0"},
        {"during_the_body_cancels_the_children",
         "+a: await; +b: sleep; p: outer( outer+a outer+b await outer); turn-2 cancel-p"
         " => p.await:cancelled a.await:cancelled b.sleep:cancelled p.outer):cancelled;"
         "end-p=cancelled/1"},
        /* The children have not had their first step: they start, and are cancelled where they
         * wait. b's next step was queued before the parent resumed and aborted. */
        {"of_a_group_that_has_just_begun_to_wait",
         "+a: await; +b: yield yield; p: outer( outer+a outer+b outer); turn cancel-p"
         " => b.yield:cancelled a.await:cancelled p.outer):cancelled; end-p=cancelled/1"},
        {"of_an_empty_group",
         "p: outer( await outer); turn cancel-p => p.await:cancelled p.outer):cancelled;"
         "end-p=cancelled/1"},
        /* The last child has ended, its callback has set the exit free, and the parent has not
         * resumed: the window of the exit. */
        {"in_the_window_of_the_exit",
         "p: outer( outer+a outer); turn-3 live=1 -> ; cancel-p => p.outer):cancelled;"
         "end-p=cancelled/1"},
        /* The other order: the exit is cancelled, and the last child's callback finds it gone. */
        {"right_before_the_last_child_is_reaped",
         "p: outer( outer+a outer); turn-2 cancel-p => p.outer):cancelled; end-p=cancelled/1"},
        /* Children may take their time; a second request is absorbed and does not strike them
         * again. */
        {"twice_while_children_clean_up",
         "+a: ~await sleep; p: outer( outer+a outer);"
         "turn-2 cancel-p turn-3 -> a.await:cancelled;"
         "cancel-p turn-2 cancelling-a=1 => a.sleep:ok p.outer):cancelled; end-p=cancelled/2"},
        /* A body that swallows the request goes on as if nothing had happened; the count tells. */
        {"swallowed_by_the_body", "+a: sleep; p: outer( outer+a ~await outer); turn cancel-p"
                                  " => p.await:cancelled a.sleep:ok p.outer):ok; end-p=ok/1"},

        /* --- errors beside a request: the request is re-armed (gh-116720) --- */
        /* Children that fail while they are being cancelled: their errors win, the request comes
         * after. */
        {"then_children_fail",
         "+a: ~await fail; +b: ~await break;"
         "p: outer( outer+a outer+b ~outer) requests ~yield yield; turn-2 cancel-p"
         " => a.await:cancelled b.await:cancelled p.outer):failed p.requests=1 p.yield:cancelled"
         " p.yield:ok; end-p=ok/1 errors=2"},
        /* A body that answers the request with a failure of its own. */
        {"then_the_body_fails",
         "p: outer( ~await fail ~outer) requests yield; turn cancel-p"
         " => p.await:cancelled p.outer):failed p.requests=1 p.yield:cancelled;"
         "end-p=cancelled/1"},
        /* A request and a child's failure in one turn. First the failure is reaped, which makes
         * a request of the group's own; then the request from outside. */
        {"right_after_a_child_failed",
         "+a: yield fail; +b: await; p: outer( outer+a outer+b ~outer) requests ~yield yield;"
         "turn-3 ready=1 step cancelling-p=1 cancel-p"
         " => a.yield:ok b.await:cancelled p.outer):failed p.requests=1 p.yield:cancelled"
         " p.yield:ok; end-p=ok/1"},
        /* First the request, then the failure. */
        {"right_before_a_child_failed",
         "+a: yield fail; +b: await; p: outer( outer+a outer+b ~outer) requests ~yield yield;"
         "turn-3 cancel-p step cancelling-p=2"
         " => a.yield:ok b.await:cancelled p.outer):failed p.requests=1 p.yield:cancelled"
         " p.yield:ok; end-p=ok/1"},
        /* The same in the body. */
        {"of_the_body_right_after_a_child_failed",
         "+a: yield fail; p: outer( outer+a await ~outer) requests yield;"
         "turn-3 step cancel-p"
         " => a.yield:ok p.await:cancelled p.outer):failed p.requests=1 p.yield:cancelled;"
         "end-p=cancelled/1"},
        {NULL, NULL},
    };
    tst_play_rows(rows, play);
}

/* --- nested groups ---------------------------------------------------------------------------- */

Test(group_nested, timelines) {
    static const struct tst_row rows[] = {
        {"failure_of_the_inner_body_reaches_the_outer",
         "+a-b: await; p: outer( outer+a inner( inner+b yield fail inner) outer)"
         " => p.yield:ok b.await:cancelled p.inner):failed a.await:cancelled p.outer):failed;"
         "end-p=failed/0 inner-errors=1 errors=1"},
        {"failure_of_an_inner_child_reaches_the_outer",
         "+a: await; +b: yield break; p: outer( outer+a inner( inner+b inner) outer)"
         " => b.yield:ok p.inner):failed a.await:cancelled p.outer):failed;"
         "end-p=failed/0 inner-first-error=broken first-error=failed"},
        {"failure_of_an_inner_child_may_be_caught",
         "+a: sleep; +b: yield fail; p: outer( outer+a inner( inner+b ~inner) sleep outer)"
         " => b.yield:ok p.inner):failed a.sleep:ok p.sleep:ok p.outer):ok; end-p=ok/0"},
        /* A child of the outer group fails: the inner group is cancelled as by anybody from
         * outside. */
        {"failure_of_an_outer_child_cancels_the_inner",
         "+a: yield break; +b: await; p: outer( outer+a inner( inner+b inner) outer)"
         " => a.yield:ok b.await:cancelled p.inner):cancelled p.outer):failed;"
         "end-p=failed/0 inner-errors=0 errors=1"},
        /* Children of both fail in one turn. The inner exit takes back its own request and
         * re-arms the outer group's; the outer exit takes that back, and nothing is left to
         * deliver. */
        {"children_of_both_fail_in_one_turn",
         "+a-b: yield fail;"
         "p: outer( outer+a inner( inner+b await ~inner) requests ~yield ~outer) requests yield"
         " => a.yield:ok b.yield:ok p.await:cancelled p.inner):failed p.requests=1"
         " p.yield:cancelled p.outer):failed p.requests=0 p.yield:ok; end-p=ok/0"},
        {"children_of_both_fail_and_nothing_is_awaited_between",
         "+a-b: yield fail; p: outer( outer+a inner( inner+b await inner) ~outer) requests yield"
         " => a.yield:ok b.yield:ok p.await:cancelled p.inner):failed p.outer):failed"
         " p.requests=0 p.yield:ok; end-p=ok/0 errors=2"},
        /* A cancel from outside runs through both. */
        {"cancel_runs_through_both",
         "+a-b: await; p: outer( outer+a inner( inner+b inner) outer); turn-2 cancel-p"
         " => b.await:cancelled p.inner):cancelled a.await:cancelled p.outer):cancelled;"
         "end-p=cancelled/1"},
        {NULL, NULL},
    };
    tst_play_rows(rows, play);
}

/* --- groups and timeouts ---------------------------------------------------------------------- */

Test(group_timeout, timelines) {
    static const struct tst_row rows[] = {
        {"around_a_group_that_takes_too_long",
         "+a: await; p: time(5 outer( outer+a outer) time)"
         " => a.await:cancelled p.outer):cancelled p.time):timed-out; end-p=timed-out/0"},
        {"around_a_group_that_fails",
         "+a: yield fail; p: time(5 outer( outer+a outer) time)"
         " => a.yield:ok p.outer):failed p.time):failed; end-p=failed/0"},
        /* The deadline cancels the group, a child answers with a failure: the failure passes,
         * and the scope takes its request back before it is delivered a second time. */
        {"around_a_group_that_fails_while_it_is_cancelled",
         "+a: ~await fail; p: time(5 outer( outer+a outer) ~time) requests yield"
         " => a.await:cancelled p.outer):failed p.time):failed p.requests=0 p.yield:ok;"
         "end-p=ok/0"},
        {"inside_the_body_of_a_group",
         "+a: sleep; p: outer( outer+a time(5 await ~time) outer)"
         " => p.await:cancelled p.time):timed-out a.sleep:ok p.outer):ok; end-p=ok/0"},
        {NULL, NULL},
    };
    tst_play_rows(rows, play);
}
