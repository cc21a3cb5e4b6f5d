/* Task groups whose parent is cancelled, groups in groups, and the re-armed request: G4, G5. */
#include "primitives/runtime/tests/stage_group.h"

/* --- the parent is cancelled from outside ----------------------------------------------------- */

Test(group_cancel, during_the_exit_cancels_the_children) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a outer+b outer)", "await", "sleep");
    tst_turns(stage.loop, 2);
    cr_assert(bz_task_cancel(stage.tasks[0]));
    stage_end(&stage, "a.await:cancelled b.sleep:cancelled p.outer):cancelled", BZ_CANCELLED, 1);
    cr_assert(eq(u32, stage.outer.errors, 0));
}

Test(group_cancel, during_the_body_cancels_the_children) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a outer+b await outer)", "await", "sleep");
    tst_turns(stage.loop, 2);
    cr_assert(bz_task_cancel(stage.tasks[0]));
    stage_end(&stage, "p.await:cancelled a.await:cancelled b.sleep:cancelled p.outer):cancelled",
              BZ_CANCELLED, 1);
}

/* The children have not had their first step: they start, and are cancelled where they wait. */
Test(group_cancel, of_a_group_that_has_just_begun_to_wait) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a outer+b outer)", "await", "yield yield");
    tst_turn(stage.loop);
    cr_assert(bz_task_cancel(stage.tasks[0]));
    /* b's next step was queued before the parent resumed and aborted. */
    stage_end(&stage, "b.yield:cancelled a.await:cancelled p.outer):cancelled", BZ_CANCELLED, 1);
}

Test(group_cancel, of_an_empty_group) {
    struct stage stage;
    stage_begin(&stage, "outer( await outer)", "", "");
    tst_turn(stage.loop);
    cr_assert(bz_task_cancel(stage.tasks[0]));
    stage_end(&stage, "p.await:cancelled p.outer):cancelled", BZ_CANCELLED, 1);
}

/* The last child has ended, its callback has set the exit free, and the parent has not resumed: the
 * window of the exit. */
Test(group_cancel, in_the_window_of_the_exit) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a outer)", "", "");
    tst_turns(stage.loop, 3);
    cr_assert(eq(u32, bz_loop_live_tasks(stage.loop), 1));
    tst_expect(&stage.log, "");
    cr_assert(bz_task_cancel(stage.tasks[0]));
    stage_end(&stage, "p.outer):cancelled", BZ_CANCELLED, 1);
}

/* The other order: the exit is cancelled, and the last child's callback finds it gone. */
Test(group_cancel, right_before_the_last_child_is_reaped) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a outer)", "", "");
    tst_turns(stage.loop, 2);
    cr_assert(bz_task_cancel(stage.tasks[0]));
    stage_end(&stage, "p.outer):cancelled", BZ_CANCELLED, 1);
}

/* Children may take their time; a second request is absorbed and does not strike them again. */
Test(group_cancel, twice_while_children_clean_up) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a outer)", "~await sleep", "");
    tst_turns(stage.loop, 2);
    cr_assert(bz_task_cancel(stage.tasks[0]));
    tst_turns(stage.loop, 3);
    tst_expect(&stage.log, "a.await:cancelled");
    cr_assert(bz_task_cancel(stage.tasks[0]));
    tst_turns(stage.loop, 2);
    cr_assert(eq(u32, bz_task_cancelling(stage_child(&stage, 'a')), 1));
    stage_end(&stage, "a.await:cancelled a.sleep:ok p.outer):cancelled", BZ_CANCELLED, 2);
}

/* A body that swallows the request goes on as if nothing had happened; the count tells. */
Test(group_cancel, swallowed_by_the_body) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a ~await outer)", "sleep", "");
    tst_turn(stage.loop);
    cr_assert(bz_task_cancel(stage.tasks[0]));
    stage_end(&stage, "p.await:cancelled a.sleep:ok p.outer):ok", BZ_OK, 1);
}

/* --- errors beside a request: the request is re-armed (gh-116720) ----------------------------- */

/* Children that fail while they are being cancelled: their errors win, the request comes after. */
Test(group_cancel, then_children_fail) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a outer+b ~outer) count ~yield yield", "~await fail",
                "~await break");
    tst_turns(stage.loop, 2);
    cr_assert(bz_task_cancel(stage.tasks[0]));
    stage_end(&stage,
              "a.await:cancelled b.await:cancelled p.outer):failed p.count=1 p.yield:cancelled "
              "p.yield:ok",
              BZ_OK, 1);
    cr_assert(eq(u32, stage.outer.errors, 2));
}

/* A body that answers the request with a failure of its own. */
Test(group_cancel, then_the_body_fails) {
    struct stage stage;
    stage_begin(&stage, "outer( ~await fail ~outer) count yield", "", "");
    tst_turn(stage.loop);
    cr_assert(bz_task_cancel(stage.tasks[0]));
    stage_end(&stage, "p.await:cancelled p.outer):failed p.count=1 p.yield:cancelled", BZ_CANCELLED,
              1);
}

/* A request and a child's failure in one turn. First the failure is reaped, then the request. */
Test(group_cancel, right_after_a_child_failed) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a outer+b ~outer) count ~yield yield", "yield fail", "await");
    tst_turns(stage.loop, 3);
    cr_assert(eq(u32, bz_driver_ready_count(stage.loop), 1));
    bz_driver_step(stage.loop, bz_driver_take(stage.loop, 0));
    cr_assert(eq(u32, bz_task_cancelling(stage.tasks[0]), 1), "the group's own");
    cr_assert(bz_task_cancel(stage.tasks[0]));
    stage_end(&stage,
              "a.yield:ok b.await:cancelled p.outer):failed p.count=1 p.yield:cancelled "
              "p.yield:ok",
              BZ_OK, 1);
}

/* First the request, then the failure. */
Test(group_cancel, right_before_a_child_failed) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a outer+b ~outer) count ~yield yield", "yield fail", "await");
    tst_turns(stage.loop, 3);
    cr_assert(bz_task_cancel(stage.tasks[0]));
    bz_driver_step(stage.loop, bz_driver_take(stage.loop, 0));
    cr_assert(eq(u32, bz_task_cancelling(stage.tasks[0]), 2), "and the group's own");
    stage_end(&stage,
              "a.yield:ok b.await:cancelled p.outer):failed p.count=1 p.yield:cancelled "
              "p.yield:ok",
              BZ_OK, 1);
}

/* The same in the body. */
Test(group_cancel, of_the_body_right_after_a_child_failed) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a await ~outer) count yield", "yield fail", "");
    tst_turns(stage.loop, 3);
    bz_driver_step(stage.loop, bz_driver_take(stage.loop, 0));
    cr_assert(bz_task_cancel(stage.tasks[0]));
    stage_end(&stage, "a.yield:ok p.await:cancelled p.outer):failed p.count=1 p.yield:cancelled",
              BZ_CANCELLED, 1);
}

/* --- nested groups ---------------------------------------------------------------------------- */

Test(group_nested, failure_of_the_inner_body_reaches_the_outer) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a inner( inner+b yield fail inner) outer)", "await", "await");
    stage_end(&stage,
              "p.yield:ok b.await:cancelled p.inner):failed a.await:cancelled "
              "p.outer):failed",
              BZ_FAILED, 0);
    cr_assert(eq(u32, stage.inner.errors, 1));
    cr_assert(eq(u32, stage.outer.errors, 1));
}

Test(group_nested, failure_of_an_inner_child_reaches_the_outer) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a inner( inner+b inner) outer)", "await", "yield break");
    stage_end(&stage, "b.yield:ok p.inner):failed a.await:cancelled p.outer):failed", BZ_FAILED, 0);
    tst_status(stage.inner.first_error, BZ_BROKEN);
    tst_status(stage.outer.first_error, BZ_FAILED);
}

Test(group_nested, failure_of_an_inner_child_may_be_caught) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a inner( inner+b ~inner) sleep outer)", "sleep",
                "yield fail");
    stage_end(&stage, "b.yield:ok p.inner):failed a.sleep:ok p.sleep:ok p.outer):ok", BZ_OK, 0);
}

/* A child of the outer group fails: the inner group is cancelled as by anybody from outside. */
Test(group_nested, failure_of_an_outer_child_cancels_the_inner) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a inner( inner+b inner) outer)", "yield break", "await");
    stage_end(&stage, "a.yield:ok b.await:cancelled p.inner):cancelled p.outer):failed", BZ_FAILED,
              0);
    cr_assert(eq(u32, stage.inner.errors, 0));
    cr_assert(eq(u32, stage.outer.errors, 1));
}

/* Children of both fail in one turn. The inner exit takes back its own request and re-arms the
 * outer group's; the outer exit takes that back, and nothing is left to deliver. */
Test(group_nested, children_of_both_fail_in_one_turn) {
    struct stage stage;
    stage_begin(&stage,
                "outer( outer+a inner( inner+b await ~inner) count ~yield ~outer) count "
                "yield",
                "yield fail", "yield fail");
    stage_end(&stage,
              "a.yield:ok b.yield:ok p.await:cancelled p.inner):failed p.count=1 "
              "p.yield:cancelled p.outer):failed p.count=0 p.yield:ok",
              BZ_OK, 0);
}

Test(group_nested, children_of_both_fail_and_nothing_is_awaited_between) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a inner( inner+b await inner) ~outer) count yield",
                "yield fail", "yield fail");
    stage_end(&stage,
              "a.yield:ok b.yield:ok p.await:cancelled p.inner):failed p.outer):failed p.count=0 "
              "p.yield:ok",
              BZ_OK, 0);
    cr_assert(eq(u32, stage.outer.errors, 2));
}

/* A cancel from outside runs through both. */
Test(group_nested, cancel_runs_through_both) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a inner( inner+b inner) outer)", "await", "await");
    tst_turns(stage.loop, 2);
    cr_assert(bz_task_cancel(stage.tasks[0]));
    stage_end(&stage, "b.await:cancelled p.inner):cancelled a.await:cancelled p.outer):cancelled",
              BZ_CANCELLED, 1);
}

/* --- groups and timeouts ---------------------------------------------------------------------- */

Test(group_timeout, around_a_group_that_takes_too_long) {
    struct stage stage;
    stage_begin(&stage, "time(5 outer( outer+a outer) time)", "await", "");
    stage_end(&stage, "a.await:cancelled p.outer):cancelled p.time):timed-out", BZ_TIMED_OUT, 0);
}

Test(group_timeout, around_a_group_that_fails) {
    struct stage stage;
    stage_begin(&stage, "time(5 outer( outer+a outer) time)", "yield fail", "");
    stage_end(&stage, "a.yield:ok p.outer):failed p.time):failed", BZ_FAILED, 0);
}

/* The deadline cancels the group, a child answers with a failure: the failure passes, and the
 * scope takes its request back before it is delivered a second time. */
Test(group_timeout, around_a_group_that_fails_while_it_is_cancelled) {
    struct stage stage;
    stage_begin(&stage, "time(5 outer( outer+a outer) ~time) count yield", "~await fail", "");
    stage_end(&stage, "a.await:cancelled p.outer):failed p.time):failed p.count=0 p.yield:ok",
              BZ_OK, 0);
}

Test(group_timeout, inside_the_body_of_a_group) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a time(5 await ~time) outer)", "sleep", "");
    stage_end(&stage, "p.await:cancelled p.time):timed-out a.sleep:ok p.outer):ok", BZ_OK, 0);
}
