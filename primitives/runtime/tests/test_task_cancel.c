/* Cancellation of tasks: T2 to T11 of asyncio's rules, state by state. */
#include "primitives/tests/actor.h"

/* One loop, one log, one future, one actor "a" and its task. */
struct stage {
    struct bz_loop *loop;
    struct tst_log log;
    struct bz_future future;
    struct tst_actor actor;
    struct bz_task *task;
};

static void stage_begin(struct stage *stage, const char *script) {
    stage->loop = tst_begin();
    stage->log = (struct tst_log){0};
    bz_future_init(&stage->future, stage->loop);
    stage->actor = (struct tst_actor){.name = "a",
                                      .script = script,
                                      .loop = stage->loop,
                                      .log = &stage->log,
                                      .future = &stage->future};
    stage->task = tst_actor_spawn(&stage->actor);
}

static void stage_end(struct stage *stage, const char *story, enum bz_status outcome) {
    tst_run(stage->loop);
    tst_expect(&stage->log, story);
    tst_status(tst_outcome(stage->task), outcome);
    tst_end(stage->loop);
}

/* --- the four states of a blocked task (T8) --------------------------------------------------- */

/* Blocked: the future is cancelled now, the task resumes a turn later. */
Test(task_cancel, while_waiting) {
    struct stage stage;
    stage_begin(&stage, "await");
    tst_turn(stage.loop);
    cr_assert(bz_task_cancel(stage.task));
    cr_assert(eq(int, stage.future.state, BZ_FUTURE_CANCELLED));
    cr_assert(not(bz_task_is_done(stage.task)));
    tst_expect(&stage.log, "");
    tst_turn(stage.loop);
    cr_assert(bz_task_is_done(stage.task));
    stage_end(&stage, "a.await:cancelled", BZ_CANCELLED);
}

/* Cancelled and not yet resumed: who completes the future comes too late. */
Test(task_cancel, then_result_in_one_turn) {
    struct stage stage;
    stage_begin(&stage, "await");
    tst_turn(stage.loop);
    cr_assert(bz_task_cancel(stage.task));
    tst_status(bz_future_set_result(&stage.future, 1), BZ_INVALID_STATE);
    stage_end(&stage, "a.await:cancelled", BZ_CANCELLED);
}

/* T9: a second request before the resume is absorbed by the one CANCELLED in flight. */
Test(task_cancel, twice_before_the_resume_is_one_exception) {
    struct stage stage;
    stage_begin(&stage, "~await yield yield");
    tst_turn(stage.loop);
    cr_assert(bz_task_cancel(stage.task));
    cr_assert(bz_task_cancel(stage.task));
    cr_assert(eq(u32, bz_task_cancelling(stage.task), 2));
    stage_end(&stage, "a.await:cancelled a.yield:ok a.yield:ok", BZ_OK);
}

/* Result set and not yet resumed, then cancelled: the window. The result stays in the future. */
Test(task_cancel, result_then_cancel_in_one_turn) {
    struct stage stage;
    stage_begin(&stage, "await");
    tst_turn(stage.loop);
    tst_status(bz_future_set_result(&stage.future, 4), BZ_OK);
    cr_assert(bz_task_cancel(stage.task));
    cr_assert(eq(int, stage.future.state, BZ_FUTURE_RESULT));
    cr_assert(eq(u64, stage.future.value, 4));
    stage_end(&stage, "a.await:cancelled", BZ_CANCELLED);
}

/* Two requests in the window are one exception as well, and the next await is untouched. */
Test(task_cancel, result_then_two_cancels_in_one_turn) {
    struct stage stage;
    stage_begin(&stage, "~await yield");
    tst_turn(stage.loop);
    tst_status(bz_future_set_result(&stage.future, 4), BZ_OK);
    cr_assert(bz_task_cancel(stage.task));
    cr_assert(bz_task_cancel(stage.task));
    stage_end(&stage, "a.await:cancelled a.yield:ok", BZ_OK);
}

/* T2, T5: a cancellation takes the place of the exception that was on its way. */
Test(task_cancel, exception_then_cancel_in_one_turn) {
    struct stage stage;
    stage_begin(&stage, "await");
    tst_turn(stage.loop);
    tst_status(bz_future_set_exception(&stage.future, 4), BZ_OK);
    cr_assert(bz_task_cancel(stage.task));
    stage_end(&stage, "a.await:cancelled", BZ_CANCELLED);
}

Test(task_cancel, not_at_all_gives_the_exception) {
    struct stage stage;
    stage_begin(&stage, "await");
    tst_turn(stage.loop);
    tst_status(bz_future_set_exception(&stage.future, 4), BZ_OK);
    stage_end(&stage, "a.await:failed", BZ_FAILED);
}

/* The waiter's own await is what a foreign cancel of the future reaches: no request is counted. */
Test(task_cancel, of_the_future_alone_counts_no_request) {
    struct stage stage;
    stage_begin(&stage, "await");
    tst_turn(stage.loop);
    cr_assert(bz_future_cancel(&stage.future));
    cr_assert(eq(u32, bz_task_cancelling(stage.task), 0));
    stage_end(&stage, "a.await:cancelled", BZ_CANCELLED);
}

/* --- the other windows ------------------------------------------------------------------------ */

/* T11: nothing of the body runs. */
Test(task_cancel, before_the_first_step) {
    struct stage stage;
    stage_begin(&stage, "yield");
    cr_assert(bz_task_cancel(stage.task));
    cr_assert(not(bz_task_is_done(stage.task)), "it ends in a step of its own");
    tst_turn(stage.loop);
    cr_assert(bz_task_is_done(stage.task));
    stage_end(&stage, "", BZ_CANCELLED);
}

Test(task_cancel, before_the_first_step_taken_back) {
    struct stage stage;
    stage_begin(&stage, "yield");
    cr_assert(bz_task_cancel(stage.task));
    cr_assert(eq(u32, bz_task_uncancel(stage.task), 0));
    stage_end(&stage, "a.yield:ok", BZ_OK);
}

Test(task_cancel, of_a_done_task_is_refused) {
    struct stage stage;
    stage_begin(&stage, "yield");
    tst_turns(stage.loop, 2);
    cr_assert(not(bz_task_cancel(stage.task)));
    cr_assert(eq(u32, bz_task_cancelling(stage.task), 0));
    stage_end(&stage, "a.yield:ok", BZ_OK);
}

/* T4: a yield's next step is queued already; it brings the cancellation. */
Test(task_cancel, between_two_steps) {
    struct stage stage;
    stage_begin(&stage, "yield");
    tst_turn(stage.loop);
    cr_assert(bz_task_cancel(stage.task));
    stage_end(&stage, "a.yield:cancelled", BZ_CANCELLED);
}

/* A sleeper leaves at once, and takes its timer along. */
Test(task_cancel, while_sleeping) {
    struct stage stage;
    stage_begin(&stage, "sleep");
    tst_turn(stage.loop);
    cr_assert(eq(u64, bz_driver_next_deadline_ns(stage.loop), 10));
    cr_assert(bz_task_cancel(stage.task));
    tst_turn(stage.loop);
    cr_assert(eq(u64, bz_driver_next_deadline_ns(stage.loop), BZ_TIME_NEVER));
    cr_assert(eq(u64, bz_loop_now_ns(stage.loop), 0));
    stage_end(&stage, "a.sleep:cancelled", BZ_CANCELLED);
}

/* The timer has fired, the sleeper has not resumed: as any other window. */
Test(task_cancel, after_the_timer_fired) {
    struct stage stage;
    stage_begin(&stage, "sleep");
    tst_turn(stage.loop);
    tst_advance(stage.loop, 10);
    tst_turn(stage.loop);
    tst_expect(&stage.log, "");
    cr_assert(bz_task_cancel(stage.task));
    stage_end(&stage, "a.sleep:cancelled", BZ_CANCELLED);
}

/* The timer is due and queued, and the cancel comes first: set_result is refused, nobody minds. */
Test(task_cancel, while_the_timer_is_queued) {
    struct stage stage;
    stage_begin(&stage, "~sleep yield");
    tst_turn(stage.loop);
    tst_advance(stage.loop, 10);
    cr_assert(eq(u32, bz_driver_queue_due_timers(stage.loop), 1));
    cr_assert(bz_task_cancel(stage.task));
    stage_end(&stage, "a.sleep:cancelled a.yield:ok", BZ_OK);
}

/* --- the mark of a running task (T3, T6) ------------------------------------------------------ */

/* T3: marked while it runs, it suspends on a pending future, which is cancelled for it. */
Test(task_cancel, of_oneself_strikes_at_the_next_await) {
    struct stage stage;
    stage_begin(&stage, "cancel-self ~await yield");
    tst_turn(stage.loop);
    cr_assert(eq(int, stage.future.state, BZ_FUTURE_CANCELLED));
    tst_expect(&stage.log, "");
    stage_end(&stage, "a.await:cancelled a.yield:ok", BZ_OK);
}

/* F4: an await that does not suspend delivers nothing; the mark stays for the one after. */
Test(task_cancel, of_oneself_passes_over_a_done_future) {
    struct stage stage;
    stage_begin(&stage, "cancel-self await ~yield yield");
    tst_status(bz_future_set_result(&stage.future, 0), BZ_OK);
    stage_end(&stage, "a.await:ok a.yield:cancelled a.yield:ok", BZ_OK);
}

/* T6: who returns with the request undelivered is cancelled, and the result is dropped. */
Test(task_cancel, of_oneself_before_the_end) {
    struct stage stage;
    stage_begin(&stage, "cancel-self");
    stage_end(&stage, "", BZ_CANCELLED);
}

/* T6: an exception wins over the undelivered request. */
Test(task_cancel, of_oneself_before_a_failure) {
    struct stage stage;
    stage_begin(&stage, "cancel-self break");
    stage_end(&stage, "", BZ_BROKEN);
}

/* Delivered once, not sticky: cleanup may await as ever. */
Test(task_cancel, is_not_sticky) {
    struct stage stage;
    stage_begin(&stage, "~await sleep yield");
    tst_turn(stage.loop);
    cr_assert(bz_task_cancel(stage.task));
    tst_run(stage.loop);
    cr_assert(eq(u32, bz_task_cancelling(stage.task), 1));
    stage_end(&stage, "a.await:cancelled a.sleep:ok a.yield:ok", BZ_OK);
}

/* One request after the other, each delivered before the next: each is felt. */
Test(task_cancel, again_after_the_delivery_is_felt_again) {
    struct stage stage;
    stage_begin(&stage, "~await ~sleep yield");
    tst_turn(stage.loop);
    cr_assert(bz_task_cancel(stage.task));
    tst_turn(stage.loop);
    cr_assert(bz_task_cancel(stage.task));
    cr_assert(eq(u32, bz_task_cancelling(stage.task), 2));
    stage_end(&stage, "a.await:cancelled a.sleep:cancelled a.yield:ok", BZ_OK);
}

/* --- counting (T11) --------------------------------------------------------------------------- */

Test(task_uncancel, counts_down_and_stops_at_zero) {
    struct stage stage;
    stage_begin(&stage, "~await");
    tst_turn(stage.loop);
    for (int round = 0; round < 3; round++) {
        cr_assert(bz_task_cancel(stage.task));
    }
    cr_assert(eq(u32, bz_task_uncancel(stage.task), 2));
    cr_assert(eq(u32, bz_task_uncancel(stage.task), 1));
    cr_assert(eq(u32, bz_task_uncancel(stage.task), 0));
    cr_assert(eq(u32, bz_task_uncancel(stage.task), 0));
    cr_assert(eq(u32, bz_task_cancelling(stage.task), 0));
    stage_end(&stage, "a.await:cancelled", BZ_OK);
}

/* asyncio before 3.13 delivered a request that had been taken back (gh-116720). */
Test(task_uncancel, to_zero_forgets_an_undelivered_request) {
    struct stage stage;
    stage_begin(&stage, "await yield");
    tst_turn(stage.loop);
    tst_status(bz_future_set_result(&stage.future, 1), BZ_OK);
    cr_assert(bz_task_cancel(stage.task));
    cr_assert(eq(u32, bz_task_uncancel(stage.task), 0));
    stage_end(&stage, "a.await:ok a.yield:ok", BZ_OK);
}

Test(task_uncancel, above_zero_leaves_the_request) {
    struct stage stage;
    stage_begin(&stage, "await");
    tst_turn(stage.loop);
    tst_status(bz_future_set_result(&stage.future, 1), BZ_OK);
    cr_assert(bz_task_cancel(stage.task));
    cr_assert(bz_task_cancel(stage.task));
    cr_assert(eq(u32, bz_task_uncancel(stage.task), 1));
    stage_end(&stage, "a.await:cancelled", BZ_CANCELLED);
}

/* What is done cannot be undone: the future was cancelled with the request. */
Test(task_uncancel, does_not_bring_a_cancelled_future_back) {
    struct stage stage;
    stage_begin(&stage, "await");
    tst_turn(stage.loop);
    cr_assert(bz_task_cancel(stage.task));
    cr_assert(eq(u32, bz_task_uncancel(stage.task), 0));
    stage_end(&stage, "a.await:cancelled", BZ_CANCELLED);
}

Test(task_uncancel, of_oneself_while_running) {
    struct stage stage;
    stage_begin(&stage, "cancel-self uncancel yield");
    stage_end(&stage, "a.yield:ok", BZ_OK);
}
