/* Task groups: G1 to G5 of asyncio's rules; children that end well, fail, or are refused. */
#include "primitives/runtime/tests/stage_scopes.h"

/* --- children that end well ------------------------------------------------------------------- */

Test(group, timelines) {
    static const struct tst_row rows[] = {
        {"waits_for_its_children",
         "+a: yield yield; +b: sleep; p: outer( outer+a outer+b outer)"
         " => a.yield:ok a.yield:ok b.sleep:ok p.outer):ok; end-p=ok/0 errors=0"},
        {"without_children_does_not_suspend", "p: outer( outer); turn -> p.outer):ok; end-p=ok/0"},
        {"children_may_end_before_the_body",
         "+a: yield; p: outer( outer+a sleep sleep outer)"
         " => a.yield:ok p.sleep:ok p.sleep:ok p.outer):ok; end-p=ok/0"},
        /* The body may wait for a child; the group frees it before the body resumes. */
        {"child_may_be_joined", "+a: yield; p: outer( outer+a join-a yield outer)"
                                " => a.yield:ok p.join-a:ok p.yield:ok p.outer):ok; end-p=ok/0"},
        /* The group cancels a body that joins a failing child before it can see the failure. */
        {"failing_child_may_be_joined",
         "+a: yield break; p: outer( outer+a join-a outer)"
         " => a.yield:ok p.join-a:cancelled p.outer):failed; end-p=failed/0 first-error=broken"},
        /* Siblings may wait for each other. */
        {"child_may_be_joined_by_a_sibling",
         "+a: sleep; +b: join-a; p: outer( outer+a outer+b outer)"
         " => a.sleep:ok b.join-a:ok p.outer):ok; end-p=ok/0"},
        /* Children may add children, also while the exit waits. */
        {"child_may_add_children",
         "+a: yield outer+b yield; +b: sleep outer+c; +c: yield; p: outer( outer+a outer)"
         " => a.yield:ok a.yield:ok b.sleep:ok c.yield:ok p.outer):ok; end-p=ok/0"},

        /* --- failures --- */
        /* G3: the first failure cancels the siblings, in order of creation, then the body. */
        {"failing_child_cancels_siblings_and_body",
         "+a: yield break; +b: await; +c: sleep;"
         "p: outer( outer+a outer+b outer+c await outer) yield"
         " => a.yield:ok b.await:cancelled c.sleep:cancelled p.await:cancelled p.outer):failed;"
         "end-p=failed/0 errors=1 first-error=broken"},
        /* The same while the exit waits already. */
        {"failing_child_cancels_siblings_during_the_exit",
         "+a: yield fail; +b: await; p: outer( outer+a outer+b ~outer) requests yield"
         " => a.yield:ok b.await:cancelled p.outer):failed p.requests=0 p.yield:ok; end-p=ok/0"},
        /* The last child fails: nobody is left to be waited for, and the count is balanced all
         * the same. */
        {"last_child_fails", "+a: yield fail; p: outer( outer+a ~outer) requests yield"
                             " => a.yield:ok p.outer):failed p.requests=0 p.yield:ok; end-p=ok/0"},
        {"child_that_fails_in_its_first_step",
         "+a: fail; +b: await; p: outer( outer+a outer+b await outer)"
         " => b.await:cancelled p.await:cancelled p.outer):failed; end-p=failed/0"},
        /* G3: a child that is merely cancelled cancels nobody. */
        {"cancelled_child_cancels_nobody",
         "+a: await; +b: sleep; p: outer( outer+a outer+b outer); turn-2 cancel-a"
         " => a.await:cancelled b.sleep:ok p.outer):ok; end-p=ok/0"},
        {"child_that_returns_cancelled_cancels_nobody",
         "+a: cancel-self; +b: sleep; p: outer( outer+a outer+b outer)"
         " => b.sleep:ok p.outer):ok; end-p=ok/0"},
        /* Two failures in one turn are two errors, the first by order; the parent is cancelled
         * once. */
        {"two_children_fail_in_one_turn",
         "+a: yield break; +b: yield fail; p: outer( outer+a outer+b await ~outer) requests"
         " => a.yield:ok b.yield:ok p.await:cancelled p.outer):failed p.requests=0;"
         "end-p=ok/0 errors=2 first-error=broken"},
        /* G4: a body that fails cancels the children; one that never started runs nothing. */
        {"failing_body_cancels_children",
         "+a: yield; p: outer( outer+a break outer) => p.outer):failed;"
         "end-p=failed/0 errors=1 first-error=broken"},
        {"failing_body_cancels_children_that_wait",
         "+a: await; p: outer( outer+a yield yield fail outer)"
         " => p.yield:ok p.yield:ok a.await:cancelled p.outer):failed; end-p=failed/0"},
        /* Every status that is neither OK nor CANCELLED is a failure, a timeout for one. */
        {"timed_out_body_is_a_failure",
         "+a: await; p: outer( outer+a time(5 await time) outer)"
         " => p.await:cancelled p.time):timed-out a.await:cancelled p.outer):failed;"
         "end-p=failed/0 first-error=timed-out"},
        /* A body that answers its group's request with a failure of its own: both count, and the
         * request is taken back (gh-95289). */
        {"body_fails_after_a_child_did",
         "+a: yield fail; p: outer( outer+a ~await break ~outer) requests yield"
         " => a.yield:ok p.await:cancelled p.outer):failed p.requests=0 p.yield:ok;"
         "end-p=ok/0 errors=2 first-error=failed"},
        /* A body that puts its cancellation off is given the time. */
        {"body_delays_its_end_after_a_child_failed",
         "+a: yield fail; p: outer( outer+a ~await sleep outer)"
         " => a.yield:ok p.await:cancelled p.sleep:ok p.outer):failed; end-p=failed/0"},

        /* --- refusals --- */
        /* G1: nothing is added to a group that aborts, and nothing is created. */
        {"refuses_children_while_it_aborts",
         "+a: yield fail; +b: yield; p: outer( outer+a ~await ~outer+b ~outer)"
         " => a.yield:ok p.await:cancelled p.outer+b:invalid-state p.outer):failed; end-p=ok/0"},
        /* A child of an aborting group cannot escape by having a child. */
        {"refuses_children_of_children_while_it_aborts",
         "+a: yield fail; +b: ~await ~outer+c ~outer+d; p: outer( outer+a outer+b ~outer)"
         " => a.yield:ok b.await:cancelled b.outer+c:invalid-state b.outer+d:invalid-state"
         " p.outer):failed; end-p=ok/0"},
        {"refuses_children_once_finished",
         "+a: yield; p: outer( outer) ~outer+a => p.outer):ok p.outer+a:invalid-state;"
         "end-p=ok/0"},
        {"needs_a_task", "outer(:invalid-state"},
        {"is_left_once",
         "p: outer( outer) ~outer) => p.outer):ok p.outer):invalid-state; end-p=ok/0"},
        /* A second exit while the first one waits, by a child: refused, and the first is not
         * disturbed. */
        {"is_left_by_its_parent",
         "+a: ~outer); +b: sleep ~outer); p: outer( outer+a outer+b yield yield outer)"
         " => a.outer):invalid-state p.yield:ok p.yield:ok b.sleep:ok b.outer):invalid-state"
         " p.outer):ok; end-p=ok/0"},
        {NULL, NULL},
    };
    tst_play_rows(rows, play);
}

Test(group, names_its_children) {
    struct scopes scopes;
    char name[16];
    scopes_begin(&scopes);
    tst_play(&scopes.stage, "+a-b: yield; p: outer( outer+a outer+b outer); turn");
    struct bz_task *child = scopes.stage.tasks[tst_index('b')];
    tst_text(bz_task_name(child, name, sizeof name), "child-2");
    cr_assert_eq(bz_task_id(child), 3);
    tst_play(&scopes.stage, "run -> a.yield:ok b.yield:ok p.outer):ok; end-p=ok/0");
    tst_stage_end(&scopes.stage);
}

/* A child that has ended is forgotten at once, not at the end of the group. */
Test(group, frees_children_as_they_end) {
    struct scopes scopes;
    scopes_begin(&scopes);
    struct bz_mem *mem = bz_loop_mem(scopes.stage.loop);
    tst_play(&scopes.stage, "+b: sleep; p: outer( outer+a outer+b await outer); turn");
    uint64_t with_both = bz_mem_live_blocks(mem);
    tst_act(&scopes.stage, "turn-2");
    uint64_t with_one = bz_mem_live_blocks(mem);
    cr_assert_lt(with_one, with_both);
    tst_act(&scopes.stage, "time-10 turn-3");
    cr_assert_eq(bz_mem_live_blocks(mem), with_one - (with_both - with_one));
    tst_play(&scopes.stage, "set-p => b.sleep:ok p.await:ok p.outer):ok; end-p=ok/0");
    tst_stage_end(&scopes.stage);
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
    cr_assert_geq(breeder.born, 50);
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

/* G3: a group that aborts already does not cancel its parent for a child that fails on the way. */
Test(group, failing_body_is_not_cancelled_by_children_that_fail_after_it) {
    struct scopes scopes;
    scopes_begin(&scopes);
    tst_play(&scopes.stage, "+a: ~await ~sleep fail; p: outer( outer+a yield break outer);"
                            "turn-2 time-20");
    while (!bz_task_is_done(scopes.stage.tasks[tst_index('p')])) {
        tst_act(&scopes.stage, "cancelling-p=0 time-20 turn");
    }
    tst_play(&scopes.stage, "errors=2 => p.yield:ok a.await:cancelled a.sleep:ok p.outer):failed;"
                            "end-p=failed/0");
    tst_stage_end(&scopes.stage);
}
