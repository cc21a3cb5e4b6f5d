/* Joining: T10 of asyncio's rules (an await of a task), and who may free what when. The parent "p"
 * joins the child "c". */
#include "primitives/tests/stage.h"

Test(join, timelines) {
    static const struct tst_row rows[] = {
        {"returns_the_outcome", "c: yield break; p: join-c => c.yield:ok p.join-c:broken;"
                                "end-p=broken/0 end-c=broken/0"},
        {"of_a_cancelled_task_is_cancelled",
         "c: await; p: join-c; turn cancel-c cancelling-p=0"
         " => c.await:cancelled p.join-c:cancelled; end-p=cancelled/0 end-c=cancelled/1"},
        {"of_a_done_task_does_not_suspend",
         "c: fail; p: ~join-c join-c; turn -> p.join-c:failed p.join-c:failed;"
         "end-p=failed/0 end-c=failed/0"},
        /* The end of a task is queued like any other wake-up: the parent resumes a turn later. */
        {"resumes_a_turn_after_the_end",
         "c: yield; p: join-c; turn-2 done-c=yes done-p=no => c.yield:ok p.join-c:ok;"
         "end-p=ok/0 end-c=ok/0"},
        /* T10: the request goes on to the task that is waited for; the parent ends with its
         * outcome. */
        {"cancelled_cancels_the_other_task",
         "c: await; p: join-c; turn cancel-p cancelling-p=1 cancelling-c=1"
         " => c.await:cancelled p.join-c:cancelled; end-p=cancelled/1 end-c=cancelled/1"},
        /* T10: true means only that the request was delivered. A child that swallows it spares
         * the parent. */
        {"cancelled_ends_well_if_the_other_task_swallows_it",
         "c: ~await yield; p: join-c yield; turn cancel-p"
         " => c.await:cancelled c.yield:ok p.join-c:ok p.yield:ok; end-p=ok/1 end-c=ok/1"},
        /* The child has ended and the parent has not resumed: the window of a join. */
        {"cancelled_in_the_window",
         "c: yield; p: join-c; turn-2 done-c=yes cancel-p"
         " => c.yield:ok p.join-c:cancelled; end-p=cancelled/1 end-c=ok/0"},
        /* T3 with T10: a marked parent hands its mark to the child when it begins to wait, and
         * has none of its own any more. */
        {"by_a_marked_task_marks_the_other",
         "c: ~await yield; p: cancel-self join-c yield; turn cancelling-c=1"
         " => c.await:cancelled c.yield:ok p.join-c:ok p.yield:ok; end-p=ok/1 end-c=ok/1"},
        /* A child that cancels the parent who waits for it has cancelled itself. */
        {"cancelled_by_the_other_task_comes_back_to_it",
         "c: yield cancel-p ~yield yield; p: join-c"
         " => c.yield:ok c.yield:cancelled c.yield:ok p.join-c:ok; end-p=ok/1 end-c=ok/1"},
        {"of_oneself_is_refused", "p: join-p => p.join-p:invalid-state; end-p=invalid-state/0"},
        {"by_several_wakes_all_in_order",
         "c: yield fail; p-q: join-c => c.yield:ok p.join-c:failed q.join-c:failed;"
         "end-p=failed/0 end-q=failed/0 end-c=failed/0"},

        /* --- lifetime --- */
        /* The owner frees a task that is done while somebody else, woken by its end, has not
         * resumed. */
        {"outlives_the_memory_of_the_task",
         "c: yield break; p: join-c; turn-2 end-c=broken/0 free-c turn"
         " -> c.yield:ok p.join-c:broken; end-p=broken/0"},
        {NULL, NULL},
    };
    tst_play_rows(rows, tst_timeline);
}

/* --- lifetime --------------------------------------------------------------------------------- */

/* The same, and the memory is in use again, by a task that has not ended: the request must not go
 * to that stranger. */
Test(join, outlives_the_reuse_of_the_task) {
    struct tst_stage stage;
    tst_stage_begin(&stage, (struct tst_cast){.words = NULL});
    tst_play(&stage, "c: yield break; p: join-c; turn-2 end-c=broken/0");
    const struct bz_task *child = stage.tasks[tst_index('c')];
    tst_play(&stage, "free-c; d: sleep");
    cr_assert_eq(stage.tasks[tst_index('d')], (void *)child, "the block is not used again");
    tst_play(&stage, "cancel-p turn cancelling-d=0 -> c.yield:ok p.join-c:cancelled;"
                     "run end-p=cancelled/1 end-d=ok/0 -> d.sleep:ok");
    tst_stage_end(&stage);
}

/* A detached task is freed in its last step, before the one who joined it resumes. */
Test(join, of_a_detached_task) {
    struct tst_stage stage;
    tst_stage_begin(&stage, (struct tst_cast){.words = NULL});
    tst_play(&stage, "c: yield fail; p: join-c");
    bz_task_detach(stage.tasks[tst_index('c')]);
    stage.is_owned[tst_index('c')] = false;
    tst_play(&stage, "run -> c.yield:ok p.join-c:failed; end-p=failed/0");
    tst_stage_end(&stage);
}

/* --- chains ----------------------------------------------------------------------------------- */

#define CHAIN_TASKS 20000u

struct chain {
    struct bz_task *tasks[CHAIN_TASKS];
    uint32_t begun; /* tasks that have begun, in order of creation */
    struct bz_future end;
    uint32_t cancelled;
};

static enum bz_status chain_run(void *arg) {
    struct chain *chain = arg;
    uint32_t index = chain->begun++;
    enum bz_status status =
        index == 0 ? bz_future_await(&chain->end) : bz_task_join(chain->tasks[index - 1]);
    chain->cancelled += status == BZ_CANCELLED;
    return status;
}

static enum bz_status cancel_chain(void *arg) {
    struct chain *chain = arg;
    cr_assert(bz_task_cancel(chain->tasks[CHAIN_TASKS - 1]));
    return BZ_OK;
}

/* A request runs down a long chain of joins in a loop, on the small stack of a task. */
Test(join, chain_is_cancelled_without_recursion) {
    static struct chain chain;
    struct bz_loop_config config = {.stack_bytes = BZ_STACK_BYTES_MIN};
    struct bz_loop *loop = tst_begin_with(&config);
    bz_future_init(&chain.end, loop);
    for (uint32_t index = 0; index < CHAIN_TASKS; index++) {
        chain.tasks[index] = tst_spawn(loop, chain_run, &chain);
    }
    tst_turn(loop);
    tst_start(loop, cancel_chain, &chain);
    tst_turn(loop);
    cr_assert_eq(chain.end.state, BZ_FUTURE_CANCELLED);
    tst_run(loop);
    cr_assert_eq(chain.cancelled, CHAIN_TASKS);
    for (uint32_t index = 0; index < CHAIN_TASKS; index++) {
        cr_assert_eq(bz_task_cancelling(chain.tasks[index]), 1);
        bz_task_free(chain.tasks[index]);
    }
    tst_end(loop);
}

/* Tasks that join each other in a circle never end; cancelling one does not hang the caller. */
Test(join, circle_is_report_when_cancelled, .signal = SIGABRT) {
    tst_timeline("c: join-p; p: join-c; turn cancel-p");
}
