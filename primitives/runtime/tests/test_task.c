/* The life of a task: T1, T4, T6; names, outcomes, ownership. */
#include "primitives/tests/stage.h"

/* T1: creation runs nothing; first steps come in order of creation. T4: a yield is one turn, and
 * everybody has one in it. */
Test(task, starts_in_order_of_creation) {
    tst_timeline("a-c: yield yield -> ; turn -> ; turn -> a.yield:ok b.yield:ok c.yield:ok;"
                 "turn -> a.yield:ok b.yield:ok c.yield:ok");
}

Test(task_sleep, timelines) {
    _Static_assert(BZ_TIME_NEVER - 2 == 18446744073709551613u, "the number below is nearly never");
    static const struct tst_row rows[] = {
        {"of_no_time_is_a_yield",
         "a: sleep-0; turn deadline=never ready=1 turn -> a.sleep-0:ok; end-a=ok/0"},
        /* Never is not an instant: no timer, and only a cancel ends it, at whatever time it
         * began. */
        {"for_ever_needs_no_timer",
         "a: ~sleep-never sleep-never; turn deadline=never done-a=no cancel-a turn"
         " -> a.sleep-never:cancelled; time-1000 deadline=never cancel-a"
         " => a.sleep-never:cancelled; end-a=cancelled/2"},
        /* Just before it is an instant like any other. */
        {"until_just_before_the_end_of_time",
         "a: sleep-18446744073709551613; run now=18446744073709551613"
         " -> a.sleep-18446744073709551613:ok; end-a=ok/0"},
        /* Beyond the end of time is never, too. */
        {"beyond_the_end_of_time_is_for_ever",
         "time-1000; a: sleep-18446744073709551613; turn deadline=never cancel-a"
         " => a.sleep-18446744073709551613:cancelled; end-a=cancelled/1"},
        {NULL, NULL},
    };
    tst_play_rows(rows, tst_timeline);
}

static enum bz_status do_nothing(void *arg) {
    (void)arg;
    return BZ_OK;
}

Test(task, has_a_number_and_a_name) {
    struct bz_loop *loop = tst_begin();
    char buffer[16];
    struct bz_task *plain = bz_task_spawn(loop, "host", 0, do_nothing, NULL);
    struct bz_task *indexed = bz_task_spawn(loop, "guest", 12, do_nothing, NULL);
    cr_assert_eq(bz_task_id(plain), 1);
    cr_assert_eq(bz_task_id(indexed), 2);
    tst_text(bz_task_name(plain, buffer, sizeof buffer), "host");
    tst_text(bz_task_name(indexed, buffer, sizeof buffer), "guest-12");
    tst_text(bz_task_name(indexed, buffer, 6), "guest"); /* cut to fit */
    tst_run(loop);
    tst_status(tst_outcome(plain), BZ_OK);
    tst_status(tst_outcome(indexed), BZ_OK);
    tst_end(loop);
}

/* The task that runs is the current one, and there is none between steps. */
static enum bz_status look_at_oneself(void *arg) {
    struct bz_loop *loop = arg;
    struct bz_task *self = bz_loop_current(loop);
    cr_assert_not_null(self);
    cr_assert_eq(bz_task_id(self), 1);
    cr_assert_not(bz_task_is_done(self));
    tst_status(bz_yield(loop), BZ_OK);
    cr_assert_eq(bz_loop_current(loop), self);
    return BZ_OK;
}

Test(task, is_the_current_one_while_it_runs) {
    struct bz_loop *loop = tst_begin();
    struct bz_task *task = tst_spawn(loop, look_at_oneself, loop);
    cr_assert_null(bz_loop_current(loop));
    tst_turn(loop);
    cr_assert_null(bz_loop_current(loop));
    cr_assert_eq(bz_loop_live_tasks(loop), 1);
    tst_turn(loop);
    cr_assert_eq(bz_loop_live_tasks(loop), 0);
    tst_status(tst_outcome(task), BZ_OK);
    tst_end(loop);
}

static enum bz_status return_it(void *arg) {
    const enum bz_status *status = arg;
    return *status;
}

/* T6: what the body returns is the outcome: result, cancellation, or which exception. A body that
 * returns CANCELLED of its own accord is a cancelled task without a request. */
Test(task, ends_with_what_its_body_returns) {
    enum bz_status statuses[] = {BZ_OK, BZ_CANCELLED, BZ_FAILED, BZ_BROKEN, BZ_TIMED_OUT};
    enum bz_future_state states[] = {BZ_FUTURE_RESULT, BZ_FUTURE_CANCELLED, BZ_FUTURE_EXCEPTION,
                                     BZ_FUTURE_EXCEPTION, BZ_FUTURE_EXCEPTION};
    struct bz_loop *loop = tst_begin();
    for (size_t index = 0; index < sizeof statuses / sizeof statuses[0]; index++) {
        struct bz_task *task = tst_spawn(loop, return_it, &statuses[index]);
        tst_turn(loop);
        cr_assert(bz_task_is_done(task));
        cr_assert_eq(task->done.state, states[index]);
        cr_assert_eq(bz_task_cancelling(task), 0);
        tst_status(tst_outcome(task), statuses[index]);
    }
    tst_end(loop);
}

/* A detached task is freed when it is done, or at once if it is done already. */
Test(task, detached_is_freed_by_the_loop) {
    struct bz_loop *loop = tst_begin();
    tst_start(loop, do_nothing, NULL);
    cr_assert_eq(bz_mem_live_blocks(bz_loop_mem(loop)), TST_LOOP_BLOCKS + 1);
    tst_turn(loop);
    cr_assert_eq(bz_mem_live_blocks(bz_loop_mem(loop)), TST_LOOP_BLOCKS);
    struct bz_task *task = tst_spawn(loop, do_nothing, NULL);
    tst_turn(loop);
    cr_assert_eq(bz_mem_live_blocks(bz_loop_mem(loop)), TST_LOOP_BLOCKS + 1);
    bz_task_detach(task);
    tst_end(loop);
}

/* Detaching oneself while running is in order: the memory goes after the last step. */
static enum bz_status detach_oneself(void *arg) {
    bz_task_detach(bz_loop_current(arg));
    return bz_yield(arg);
}

Test(task, may_detach_itself) {
    struct bz_loop *loop = tst_begin();
    tst_spawn(loop, detach_oneself, loop);
    tst_run(loop);
    tst_end(loop);
}

Test(task, freed_before_its_end_stops_the_process, .signal = SIGABRT) {
    struct bz_loop *loop = tst_begin();
    bz_task_free(tst_spawn(loop, do_nothing, NULL));
}

/* Every step of a task is numbered, suspension by suspension: that is its identity in a schedule. A
 * timer is no step of the task. */
Test(task, numbers_its_steps) {
    static const char *const before[] = {"", "turn", "turn set-a", "turn time-10 turn"};
    struct tst_stage stage;
    tst_stage_begin(&stage, (struct tst_cast){.words = NULL});
    tst_play(&stage, "a: yield await sleep");
    for (uint32_t step = 1; step <= 4; step++) {
        tst_act(&stage, before[step - 1]);
        const struct bz_handle *handle = bz_driver_ready_at(stage.loop, 0);
        cr_assert_eq(handle->owner, bz_task_id(stage.tasks[tst_index('a')]));
        cr_assert_eq(handle->role, BZ_ROLE_STEP);
        cr_assert_eq(handle->nth, step);
    }
    tst_play(&stage, "turn -> a.yield:ok a.await:ok a.sleep:ok; end-a=ok/0");
    tst_stage_end(&stage);
}
