/* Task groups: G1 to G5 of asyncio's rules; children that end well, fail, or are refused. */
#include "primitives/runtime/tests/stage_group.h"

/* --- children that end well ------------------------------------------------------------------- */

Test(group, waits_for_its_children) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a outer+b outer)", "yield yield", "sleep");
    stage_end(&stage, "a.yield:ok a.yield:ok b.sleep:ok p.outer):ok", BZ_OK, 0);
    cr_assert(eq(u32, stage.outer.errors, 0));
}

Test(group, without_children_does_not_suspend) {
    struct stage stage;
    stage_begin(&stage, "outer( outer)", "", "");
    tst_turn(stage.loop);
    tst_expect(&stage.log, "p.outer):ok");
    stage_end(&stage, "p.outer):ok", BZ_OK, 0);
}

Test(group, children_may_end_before_the_body) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a sleep sleep outer)", "yield", "");
    stage_end(&stage, "a.yield:ok p.sleep:ok p.sleep:ok p.outer):ok", BZ_OK, 0);
}

/* The body may wait for a child; the group frees it before the body resumes. */
Test(group, child_may_be_joined) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a join yield outer)", "yield", "");
    stage_end(&stage, "a.yield:ok p.join:ok p.yield:ok p.outer):ok", BZ_OK, 0);
}

/* Who joins a failing child is cancelled by the group before it can see the failure. */
Test(group, failing_child_may_be_joined) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a join outer)", "yield break", "");
    stage_end(&stage, "a.yield:ok p.join:cancelled p.outer):failed", BZ_FAILED, 0);
    tst_status(stage.outer.first_error, BZ_BROKEN);
}

Test(group, names_its_children) {
    struct stage stage;
    char name[16];
    stage_begin(&stage, "outer( outer+a outer+b outer)", "yield", "yield");
    tst_turn(stage.loop);
    tst_text(bz_task_name(stage_child(&stage, 'b'), name, sizeof name), "child-2");
    cr_assert(eq(u32, bz_task_id(stage_child(&stage, 'b')), 3));
    stage_end(&stage, "a.yield:ok b.yield:ok p.outer):ok", BZ_OK, 0);
}

/* Siblings may wait for each other. */
Test(group, child_may_be_joined_by_a_sibling) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a outer+b outer)", "sleep", "join");
    tst_turn(stage.loop);
    stage.actors[2].other = stage_child(&stage, 'a');
    stage_end(&stage, "a.sleep:ok b.join:ok p.outer):ok", BZ_OK, 0);
}

/* A child that has ended is forgotten at once, not at the end of the group. */
Test(group, frees_children_as_they_end) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a outer+b await outer)", "", "sleep");
    struct bz_mem *mem = bz_loop_mem(stage.loop);
    tst_turn(stage.loop);
    uint64_t with_both = bz_mem_live_blocks(mem);
    tst_turns(stage.loop, 2);
    uint64_t with_one = bz_mem_live_blocks(mem);
    cr_assert(lt(u64, with_one, with_both));
    tst_advance(stage.loop, 10);
    tst_turns(stage.loop, 3);
    cr_assert(eq(u64, bz_mem_live_blocks(mem), with_one - (with_both - with_one)));
    tst_status(bz_future_set_result(&stage.futures[0], 0), BZ_OK);
    stage_end(&stage, "b.sleep:ok p.await:ok p.outer):ok", BZ_OK, 0);
}

/* Children may add children, also while the exit waits. */
Test(group, child_may_add_children) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a outer)", "yield outer+b yield", "sleep outer+c");
    stage.actors[3].script = "yield";
    stage_end(&stage, "a.yield:ok a.yield:ok b.sleep:ok c.yield:ok p.outer):ok", BZ_OK, 0);
}

/* Children that add children for ever end when one fails. */
struct breeder {
    struct bz_group *group;
    unsigned born;
    enum bz_status last;
};

static enum bz_status breed(void *arg) {
    struct breeder *breeder = arg;
    unsigned number = ++breeder->born;
    enum bz_status status = bz_yield(breeder->group->loop);
    if (status == BZ_OK && number == 50) {
        return BZ_FAILED;
    }
    while (status == BZ_OK) {
        status = bz_group_spawn(breeder->group, "child", 0, breed, breeder, NULL);
        if (status == BZ_OK) {
            status = bz_sleep(breeder->group->loop, 3);
        }
    }
    breeder->last = status;
    return status;
}

static enum bz_status breed_until_one_fails(void *arg) {
    struct breeder breeder = {0};
    struct bz_group group;
    enum bz_status status = bz_group_enter(arg, &group);
    tst_status(status, BZ_OK);
    breeder.group = &group;
    status = bz_group_spawn(&group, "child", 0, breed, &breeder, NULL);
    tst_status(bz_group_exit(&group, status), BZ_FAILED);
    cr_assert(ge(u32, breeder.born, 50));
    tst_status(breeder.last, BZ_CANCELLED);
    return BZ_OK;
}

Test(group, children_that_breed_end_when_one_fails) {
    struct bz_loop *loop = tst_begin();
    struct bz_task *task = tst_spawn(loop, breed_until_one_fails, loop);
    tst_run(loop);
    tst_status(tst_outcome(task), BZ_OK);
    tst_end(loop);
}

/* --- failures --------------------------------------------------------------------------------- */

/* G3: the first failure cancels the siblings, in order of creation, then the body. */
Test(group, failing_child_cancels_siblings_and_body) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a outer+b outer+c await outer) yield", "yield break",
                "await");
    stage.actors[3].script = "sleep";
    tst_run(stage.loop);
    cr_assert(eq(u32, stage.outer.errors, 1));
    tst_status(stage.outer.first_error, BZ_BROKEN);
    stage_end(&stage,
              "a.yield:ok b.await:cancelled c.sleep:cancelled p.await:cancelled p.outer):failed",
              BZ_FAILED, 0);
}

/* The same while the exit waits already. */
Test(group, failing_child_cancels_siblings_during_the_exit) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a outer+b ~outer) count yield", "yield fail", "await");
    stage_end(&stage, "a.yield:ok b.await:cancelled p.outer):failed p.count=0 p.yield:ok", BZ_OK,
              0);
}

/* The last child fails: nobody is left to be waited for, and the count is balanced all the same. */
Test(group, last_child_fails) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a ~outer) count yield", "yield fail", "");
    stage_end(&stage, "a.yield:ok p.outer):failed p.count=0 p.yield:ok", BZ_OK, 0);
}

Test(group, child_that_fails_in_its_first_step) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a outer+b await outer)", "fail", "await");
    stage_end(&stage, "b.await:cancelled p.await:cancelled p.outer):failed", BZ_FAILED, 0);
}

/* G3: a child that is merely cancelled cancels nobody. */
Test(group, cancelled_child_cancels_nobody) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a outer+b outer)", "await", "sleep");
    tst_turns(stage.loop, 2);
    cr_assert(bz_task_cancel(stage_child(&stage, 'a')));
    stage_end(&stage, "a.await:cancelled b.sleep:ok p.outer):ok", BZ_OK, 0);
}

Test(group, child_that_returns_cancelled_cancels_nobody) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a outer+b outer)", "cancel-self", "sleep");
    stage_end(&stage, "b.sleep:ok p.outer):ok", BZ_OK, 0);
}

/* Two failures in one turn are two errors, the first by order; the parent is cancelled once. */
Test(group, two_children_fail_in_one_turn) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a outer+b await ~outer) count", "yield break", "yield fail");
    tst_run(stage.loop);
    cr_assert(eq(u32, stage.outer.errors, 2));
    tst_status(stage.outer.first_error, BZ_BROKEN);
    stage_end(&stage, "a.yield:ok b.yield:ok p.await:cancelled p.outer):failed p.count=0", BZ_OK,
              0);
}

/* G4: a body that fails cancels the children; one that never started runs nothing. */
Test(group, failing_body_cancels_children) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a break outer)", "yield", "");
    tst_run(stage.loop);
    cr_assert(eq(u32, stage.outer.errors, 1));
    tst_status(stage.outer.first_error, BZ_BROKEN);
    stage_end(&stage, "p.outer):failed", BZ_FAILED, 0);
}

/* G3: a group that aborts already does not cancel its parent for a child that fails on the way. */
Test(group, failing_body_is_not_cancelled_by_children_that_fail_after_it) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a yield break outer)", "~await ~sleep fail", "");
    tst_turns(stage.loop, 2);
    tst_advance(stage.loop, 20);
    while (!bz_task_is_done(stage.tasks[0])) {
        cr_assert(eq(u32, bz_task_cancelling(stage.tasks[0]), 0));
        tst_advance(stage.loop, 20);
        tst_turn(stage.loop);
    }
    cr_assert(eq(u32, stage.outer.errors, 2));
    stage_end(&stage, "p.yield:ok a.await:cancelled a.sleep:ok p.outer):failed", BZ_FAILED, 0);
}

Test(group, failing_body_cancels_children_that_wait) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a yield yield fail outer)", "await", "");
    stage_end(&stage, "p.yield:ok p.yield:ok a.await:cancelled p.outer):failed", BZ_FAILED, 0);
}

/* Every status that is neither OK nor CANCELLED is a failure, a timeout for one. */
Test(group, timed_out_body_is_a_failure) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a time(5 await time) outer)", "await", "");
    tst_run(stage.loop);
    tst_status(stage.outer.first_error, BZ_TIMED_OUT);
    stage_end(&stage, "p.await:cancelled p.time):timed-out a.await:cancelled p.outer):failed",
              BZ_FAILED, 0);
}

/* A body that answers its group's request with a failure of its own: both count, and the request is
 * taken back (gh-95289). */
Test(group, body_fails_after_a_child_did) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a ~await break ~outer) count yield", "yield fail", "");
    tst_run(stage.loop);
    cr_assert(eq(u32, stage.outer.errors, 2));
    tst_status(stage.outer.first_error, BZ_FAILED);
    stage_end(&stage, "a.yield:ok p.await:cancelled p.outer):failed p.count=0 p.yield:ok", BZ_OK,
              0);
}

/* A body that puts its cancellation off is given the time. */
Test(group, body_delays_its_end_after_a_child_failed) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a ~await sleep outer)", "yield fail", "");
    stage_end(&stage, "a.yield:ok p.await:cancelled p.sleep:ok p.outer):failed", BZ_FAILED, 0);
}

/* --- refusals --------------------------------------------------------------------------------- */

/* G1: nothing is added to a group that aborts, and nothing is created. */
Test(group, refuses_children_while_it_aborts) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a ~await ~outer+b ~outer)", "yield fail", "yield");
    stage_end(&stage, "a.yield:ok p.await:cancelled p.outer+b:invalid-state p.outer):failed", BZ_OK,
              0);
}

/* A child of an aborting group cannot escape by having a child. */
Test(group, refuses_children_of_children_while_it_aborts) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a outer+b ~outer)", "yield fail", "~await ~outer+c ~outer+d");
    stage_end(&stage,
              "a.yield:ok b.await:cancelled b.outer+c:invalid-state b.outer+d:invalid-state "
              "p.outer):failed",
              BZ_OK, 0);
}

Test(group, refuses_children_once_finished) {
    struct stage stage;
    stage_begin(&stage, "outer( outer) ~outer+a", "yield", "");
    stage_end(&stage, "p.outer):ok p.outer+a:invalid-state", BZ_OK, 0);
}

Test(group, needs_a_task) {
    struct bz_loop *loop = tst_begin();
    struct bz_group group;
    tst_status(bz_group_enter(loop, &group), BZ_INVALID_STATE);
    tst_end(loop);
}

Test(group, is_left_once) {
    struct stage stage;
    stage_begin(&stage, "outer( outer) ~outer)", "", "");
    stage_end(&stage, "p.outer):ok p.outer):invalid-state", BZ_OK, 0);
}

/* A second exit while the first one waits, by a child: refused, and the first is not disturbed. */
Test(group, is_left_by_its_parent) {
    struct stage stage;
    stage_begin(&stage, "outer( outer+a outer+b yield yield outer)", "~outer)", "sleep ~outer)");
    stage_end(&stage,
              "a.outer):invalid-state p.yield:ok p.yield:ok b.sleep:ok b.outer):invalid-state "
              "p.outer):ok",
              BZ_OK, 0);
}
