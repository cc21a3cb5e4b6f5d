/* Deferreds: cancelling, storage that its own callback gives back, tasks that wait. */
#include "primitives/runtime/tests/stage_deferred.h"

/* Without a canceller nobody can tell the source: one late result, of either kind, is tolerated. */
Test(deferred_cancel, without_a_canceller_swallows_one_late_result) {
    struct stage stage;
    stage_begin(&stage);
    for (int late = 0; late < 2; late++) {
        struct bz_deferred deferred;
        struct link a = {0};
        bz_deferred_init(&deferred, &stage.trampoline, NULL);
        link_add(&deferred, &a, &stage.log, "a");
        cr_assert(bz_deferred_cancel(&deferred));
        tst_status(late == 0 ? bz_deferred_callback(&deferred, 5)
                             : bz_deferred_errback(&deferred, BZ_FAILED, 6),
                   BZ_OK);
        tst_status((enum bz_status)deferred.status, BZ_CANCELLED);
        tst_status(bz_deferred_callback(&deferred, 7), BZ_INVALID_STATE);
    }
    stage_end(&stage, "a:cancelled:0 a:cancelled:0");
}

Test(deferred_cancel, twice_is_once) {
    struct stage stage;
    struct bz_deferred deferred;
    struct link a = {0};
    stage_begin(&stage);
    bz_deferred_init(&deferred, &stage.trampoline, NULL);
    link_add(&deferred, &a, &stage.log, "a");
    cr_assert(bz_deferred_cancel(&deferred));
    cr_assert(not(bz_deferred_cancel(&deferred)));
    tst_status(bz_deferred_callback(&deferred, 5), BZ_OK);
    cr_assert(not(bz_deferred_cancel(&deferred)));
    tst_status(bz_deferred_callback(&deferred, 5), BZ_INVALID_STATE);
    stage_end(&stage, "a:cancelled:0");
}

struct source {
    struct bz_deferred deferred;
    unsigned cancels;
    enum bz_status answers; /* of the canceller; BZ_INVALID_STATE: does not fire */
};

static void source_cancel(struct bz_deferred *deferred) {
    struct source *source = bz_container_of(deferred, struct source, deferred);
    source->cancels++;
    cr_assert(not(bz_deferred_is_fired(deferred)));
    if (source->answers == BZ_OK) {
        tst_status(bz_deferred_callback(deferred, 31), BZ_OK);
    } else if (source->answers != BZ_INVALID_STATE) {
        tst_status(bz_deferred_errback(deferred, source->answers, 32), BZ_OK);
    }
}

/* With one, it is called once, with the deferred; if it fires nothing, the cancel does. A second
 * result is one too many. */
Test(deferred_cancel, calls_the_canceller) {
    struct stage stage;
    struct source source = {.answers = BZ_INVALID_STATE};
    struct link a = {0};
    stage_begin(&stage);
    bz_deferred_init(&source.deferred, &stage.trampoline, source_cancel);
    link_add(&source.deferred, &a, &stage.log, "a");
    cr_assert(bz_deferred_cancel(&source.deferred));
    cr_assert(not(bz_deferred_cancel(&source.deferred)));
    cr_assert(eq(u32, source.cancels, 1));
    tst_status(bz_deferred_callback(&source.deferred, 5), BZ_INVALID_STATE);
    stage_end(&stage, "a:cancelled:0");
}

Test(deferred_cancel, canceller_may_fire_what_it_likes) {
    struct stage stage;
    struct source ok = {.answers = BZ_OK};
    struct source broken = {.answers = BZ_BROKEN};
    struct link a = {0};
    struct link b = {0};
    stage_begin(&stage);
    bz_deferred_init(&ok.deferred, &stage.trampoline, source_cancel);
    bz_deferred_init(&broken.deferred, &stage.trampoline, source_cancel);
    link_add(&ok.deferred, &a, &stage.log, "a");
    link_add(&broken.deferred, &b, &stage.log, "b");
    cr_assert(bz_deferred_cancel(&ok.deferred));
    cr_assert(bz_deferred_cancel(&broken.deferred));
    stage_end(&stage, "a:ok:31 b:broken:32");
}

Test(deferred_cancel, of_a_fired_one_does_nothing) {
    struct stage stage;
    struct source sources[2] = {{.answers = BZ_INVALID_STATE}, {.answers = BZ_INVALID_STATE}};
    stage_begin(&stage);
    bz_deferred_init(&sources[0].deferred, &stage.trampoline, source_cancel);
    bz_deferred_init(&sources[1].deferred, &stage.trampoline, source_cancel);
    tst_status(bz_deferred_callback(&sources[0].deferred, 1), BZ_OK);
    tst_status(bz_deferred_errback(&sources[1].deferred, BZ_FAILED, 2), BZ_OK);
    for (int index = 0; index < 2; index++) {
        cr_assert(not(bz_deferred_cancel(&sources[index].deferred)));
        cr_assert(eq(u32, sources[index].cancels, 0));
        cr_assert(eq(u64, sources[index].deferred.value, (uint64_t)index + 1));
        tst_status(bz_deferred_callback(&sources[index].deferred, 5), BZ_INVALID_STATE);
    }
    stage_end(&stage, "");
}

/* The innermost of those that wait for each other is cancelled; the others hear of it in turn. */
Test(deferred_cancel, is_forwarded_to_the_innermost) {
    struct stage stage;
    struct bz_deferred outer;
    struct bz_deferred middle;
    struct source inner = {.answers = BZ_INVALID_STATE};
    struct link a = {.answers = true, .answer = bz_deferred_wait_for(&middle)};
    struct link b = {.answers = true, .answer = bz_deferred_wait_for(&inner.deferred)};
    struct link c = {0};
    stage_begin(&stage);
    bz_deferred_init(&outer, &stage.trampoline, NULL);
    bz_deferred_init(&middle, &stage.trampoline, NULL);
    bz_deferred_init(&inner.deferred, &stage.trampoline, source_cancel);
    link_add(&outer, &a, &stage.log, "a");
    link_add(&outer, &c, &stage.log, "c");
    link_add(&middle, &b, &stage.log, "b");
    tst_status(bz_deferred_callback(&outer, 1), BZ_OK);
    tst_status(bz_deferred_callback(&middle, 2), BZ_OK);
    cr_assert(bz_deferred_cancel(&outer));
    cr_assert(eq(u32, inner.cancels, 1));
    cr_assert(not(bz_deferred_cancel(&outer)));
    stage_end(&stage, "a:ok:1 b:ok:2 c:cancelled:0");
}

/* The inner one has fired, and what it has fired with is on its way: too late. */
Test(deferred_cancel, comes_too_late_for_an_inner_one_that_has_fired) {
    struct stage stage;
    struct bz_deferred outer;
    struct source inner = {.answers = BZ_INVALID_STATE};
    struct link a = {.answers = true, .answer = bz_deferred_wait_for(&inner.deferred)};
    struct link b = {0};
    struct link c = {.does = link_cancels, .object = &outer};
    stage_begin(&stage);
    bz_deferred_init(&outer, &stage.trampoline, NULL);
    bz_deferred_init(&inner.deferred, &stage.trampoline, source_cancel);
    link_add(&outer, &a, &stage.log, "a");
    link_add(&outer, &b, &stage.log, "b");
    link_add(&inner.deferred, &c, &stage.log, "c");
    tst_status(bz_deferred_callback(&outer, 1), BZ_OK);
    tst_status(bz_deferred_callback(&inner.deferred, 2), BZ_OK);
    cr_assert(eq(u32, inner.cancels, 0));
    stage_end(&stage, "a:ok:1 c:ok:2 c. b:ok:2");
}

/* Callbacks do not run inside a canceller, nor inside the callback that cancels. */
Test(deferred_cancel, in_a_callback_runs_behind_it) {
    struct stage stage;
    struct bz_deferred first;
    struct source second = {.answers = BZ_BROKEN};
    struct link a = {.does = link_cancels, .object = &second.deferred};
    struct link b = {0};
    stage_begin(&stage);
    bz_deferred_init(&first, &stage.trampoline, NULL);
    bz_deferred_init(&second.deferred, &stage.trampoline, source_cancel);
    link_add(&first, &a, &stage.log, "a");
    link_add(&second.deferred, &b, &stage.log, "b");
    tst_status(bz_deferred_callback(&first, 1), BZ_OK);
    stage_end(&stage, "a:ok:1 a. b:broken:32");
}

/* Three that wait for each other, and one outside that waits for them. */
Test(deferred_cancel, of_a_circle_stops_the_process, .signal = SIGABRT) {
    struct stage stage;
    struct bz_deferred deferreds[4];
    struct link links[4] = {0};
    static const int waits_for[4] = {1, 2, 3, 1};
    stage_begin(&stage);
    for (int index = 0; index < 4; index++) {
        bz_deferred_init(&deferreds[index], &stage.trampoline, NULL);
    }
    for (int index = 0; index < 4; index++) {
        links[index].answers = true;
        links[index].answer = bz_deferred_wait_for(&deferreds[waits_for[index]]);
        link_add(&deferreds[index], &links[index], &stage.log, "x");
    }
    for (int index = 0; index < 4; index++) {
        tst_status(bz_deferred_callback(&deferreds[index], 0), BZ_OK);
    }
    tst_text(stage.log.text, "x:ok:0 x:ok:0 x:ok:0 x:ok:0");
    bz_deferred_cancel(&deferreds[0]);
}

/* --- storage ---------------------------------------------------------------------------------- */

struct block {
    struct bz_deferred deferred;
    struct bz_deferred_pair pair;
};

static struct bz_deferred_result block_freed(struct bz_deferred_pair *pair,
                                             struct bz_deferred_result result) {
    struct block *block = bz_container_of(pair, struct block, pair);
    bz_deferred_fini(&block->deferred);
    memset(block, 0xa5, sizeof *block);
    return result;
}

Test(deferred_storage, may_be_given_back_by_its_own_callback) {
    struct stage stage;
    struct block block;
    stage_begin(&stage);
    bz_deferred_init(&block.deferred, &stage.trampoline, NULL);
    bz_deferred_add_both(&block.deferred, &block.pair, block_freed);
    tst_status(bz_deferred_callback(&block.deferred, 1), BZ_OK);
    for (size_t index = 0; index < sizeof block; index++) {
        cr_assert(eq(u8, ((const uint8_t *)&block)[index], 0xa5), "touched behind its back");
    }
    stage_end(&stage, "");
}

static void starts_anew(struct link *link) {
    bz_deferred_init(link->object, link->object->trampoline, NULL);
    if (link->other != NULL) {
        link_adds_other(link);
        link_fires(link);
    }
}

/* What the callback answers belongs to the deferred's former life. */
Test(deferred_storage, may_be_used_again_by_its_own_callback) {
    struct stage stage;
    struct bz_deferred deferred;
    struct link b = {.name = "b"};
    struct link a = {.does = starts_anew,
                     .object = &deferred,
                     .other = &b,
                     .answers = true,
                     .answer = bz_deferred_error(BZ_FAILED, 99)};
    stage_begin(&stage);
    bz_deferred_init(&deferred, &stage.trampoline, NULL);
    link_add(&deferred, &a, &stage.log, "a");
    tst_status(bz_deferred_callback(&deferred, 5), BZ_OK);
    cr_assert(eq(u64, deferred.value, 1));
    stage_end(&stage, "a:ok:5 a. b:ok:1");
}

Test(deferred_storage, that_begins_anew_has_not_fired) {
    struct stage stage;
    struct bz_deferred deferred;
    struct link a = {.does = starts_anew, .object = &deferred};
    stage_begin(&stage);
    bz_deferred_init(&deferred, &stage.trampoline, NULL);
    link_add(&deferred, &a, &stage.log, "a");
    tst_status(bz_deferred_callback(&deferred, 5), BZ_OK);
    cr_assert(not(bz_deferred_is_fired(&deferred)));
    cr_assert(eq(u64, deferred.value, 0));
    stage_end(&stage, "a:ok:5 a.");
}

/* --- tasks ------------------------------------------------------------------------------------ */

struct waiter {
    struct stage *stage;
    struct bz_deferred *deferred;
    const char *name;
    struct bz_deferred_result got;
};

static enum bz_status waiter_run(void *arg) {
    struct waiter *waiter = arg;
    enum bz_status status = bz_deferred_await(waiter->deferred, &waiter->got);
    tst_say(&waiter->stage->log, "%s:%s(%s:%u)", waiter->name, bz_status_name(status),
            bz_status_name(waiter->got.status), (unsigned)waiter->got.value);
    return status;
}

Test(deferred_await, wakes_a_task_a_step_later) {
    struct stage stage;
    struct bz_deferred deferred;
    struct waiter a = {&stage, &deferred, "a"};
    struct waiter b = {&stage, &deferred, "b"};
    struct link c = {0};
    stage_begin(&stage);
    bz_deferred_init(&deferred, &stage.trampoline, NULL);
    tst_start(stage.loop, waiter_run, &a);
    tst_start(stage.loop, waiter_run, &b);
    tst_turn(stage.loop);
    link_add(&deferred, &c, &stage.log, "c");
    tst_status(bz_deferred_errback(&deferred, BZ_FAILED, 7), BZ_OK);
    tst_expect(&stage.log, "c:failed:7");
    tst_turn(stage.loop);
    stage_end(&stage, "c:failed:7 a:failed(failed:7) b:failed(failed:7)");
}

Test(deferred_await, of_a_result_that_is_there_does_not_suspend) {
    struct stage stage;
    struct bz_deferred deferred;
    struct waiter a = {&stage, &deferred, "a"};
    stage_begin(&stage);
    bz_deferred_init(&deferred, &stage.trampoline, NULL);
    tst_status(bz_deferred_callback(&deferred, 3), BZ_OK);
    tst_start(stage.loop, waiter_run, &a);
    tst_turn(stage.loop);
    stage_end(&stage, "a:ok(ok:3)");
}

/* The task waits, and is cancelled: so is the deferred, when the task resumes. */
Test(deferred_await, cancelled_while_waiting_cancels_the_deferred) {
    struct stage stage;
    struct source source = {.answers = BZ_INVALID_STATE};
    struct waiter a = {&stage, &source.deferred, "a"};
    struct link b = {0};
    stage_begin(&stage);
    bz_deferred_init(&source.deferred, &stage.trampoline, source_cancel);
    struct bz_task *task = tst_spawn(stage.loop, waiter_run, &a);
    tst_turn(stage.loop);
    link_add(&source.deferred, &b, &stage.log, "b");
    cr_assert(bz_task_cancel(task));
    cr_assert(eq(u32, source.cancels, 0));
    tst_turn(stage.loop);
    cr_assert(eq(u32, source.cancels, 1));
    tst_status(tst_outcome(task), BZ_CANCELLED);
    stage_end(&stage, "b:cancelled:0 a:cancelled(cancelled:0)");
}

/* Cancelled, and then it fires before the task has resumed: what it brings is not lost. */
Test(deferred_await, fired_after_the_cancel) {
    struct stage stage;
    struct source source = {.answers = BZ_INVALID_STATE};
    struct waiter a = {&stage, &source.deferred, "a"};
    stage_begin(&stage);
    bz_deferred_init(&source.deferred, &stage.trampoline, source_cancel);
    struct bz_task *task = tst_spawn(stage.loop, waiter_run, &a);
    tst_turn(stage.loop);
    cr_assert(bz_task_cancel(task));
    tst_status(bz_deferred_callback(&source.deferred, 4), BZ_OK);
    tst_turn(stage.loop);
    cr_assert(eq(u32, source.cancels, 0));
    tst_status(tst_outcome(task), BZ_CANCELLED);
    stage_end(&stage, "a:cancelled(ok:4)");
}

/* The window: fired, then cancelled, then resumed. */
Test(deferred_await, cancelled_in_the_window) {
    struct stage stage;
    struct source source = {.answers = BZ_INVALID_STATE};
    struct waiter a = {&stage, &source.deferred, "a"};
    stage_begin(&stage);
    bz_deferred_init(&source.deferred, &stage.trampoline, source_cancel);
    struct bz_task *task = tst_spawn(stage.loop, waiter_run, &a);
    tst_turn(stage.loop);
    tst_status(bz_deferred_callback(&source.deferred, 4), BZ_OK);
    cr_assert(bz_task_cancel(task));
    tst_turn(stage.loop);
    cr_assert(eq(u32, source.cancels, 0));
    tst_status(tst_outcome(task), BZ_CANCELLED);
    stage_end(&stage, "a:cancelled(ok:4)");
}

/* The task's place in the chain is behind it, and what the chain waits for now is none of the
 * task's business. */
Test(deferred_await, cancelled_in_the_window_spares_the_rest_of_the_chain) {
    struct stage stage;
    struct bz_deferred deferred;
    struct source inner = {.answers = BZ_INVALID_STATE};
    struct waiter a = {&stage, &deferred, "a"};
    struct link b = {.answers = true, .answer = bz_deferred_wait_for(&inner.deferred)};
    stage_begin(&stage);
    bz_deferred_init(&deferred, &stage.trampoline, NULL);
    bz_deferred_init(&inner.deferred, &stage.trampoline, source_cancel);
    struct bz_task *task = tst_spawn(stage.loop, waiter_run, &a);
    tst_turn(stage.loop);
    link_add(&deferred, &b, &stage.log, "b");
    tst_status(bz_deferred_callback(&deferred, 4), BZ_OK);
    cr_assert(bz_task_cancel(task));
    tst_turn(stage.loop);
    tst_status(tst_outcome(task), BZ_CANCELLED);
    cr_assert(eq(u32, inner.cancels, 0));
    stage_end(&stage, "b:ok:4 a:cancelled(ok:4)");
}

/* The canceller brings a result: the task is cancelled all the same, and learns of it. */
Test(deferred_await, cancelled_and_the_canceller_fires) {
    struct stage stage;
    struct source source = {.answers = BZ_OK};
    struct waiter a = {&stage, &source.deferred, "a"};
    stage_begin(&stage);
    bz_deferred_init(&source.deferred, &stage.trampoline, source_cancel);
    struct bz_task *task = tst_spawn(stage.loop, waiter_run, &a);
    tst_turn(stage.loop);
    cr_assert(bz_task_cancel(task));
    tst_turn(stage.loop);
    tst_status(tst_outcome(task), BZ_CANCELLED);
    stage_end(&stage, "a:cancelled(ok:31)");
}

/* The chain is paused, so that the cancel brings nothing: the task leaves without a trace in it. */
Test(deferred_await, cancelled_leaves_a_chain_that_takes_its_time) {
    struct stage stage;
    struct bz_deferred deferred;
    struct waiter a = {&stage, &deferred, "a"};
    stage_begin(&stage);
    bz_deferred_init(&deferred, &stage.trampoline, NULL);
    bz_deferred_pause(&deferred);
    struct bz_task *task = tst_spawn(stage.loop, waiter_run, &a);
    tst_turn(stage.loop);
    cr_assert(bz_task_cancel(task));
    tst_turn(stage.loop);
    tst_status(tst_outcome(task), BZ_CANCELLED);
    cr_assert(bz_list_is_empty(&deferred.pairs));
    bz_deferred_unpause(&deferred);
    cr_assert(bz_deferred_is_settled(&deferred));
    stage_end(&stage, "a:cancelled(cancelled:0)");
}

static void suspends(struct link *link) {
    (void)!bz_yield(link->object->trampoline->loop);
}

static enum bz_status fire_by_task(void *arg) {
    return bz_deferred_callback(arg, 0);
}

/* A callback that suspends would hold up the callbacks of everybody: noticed at the next firing. */
Test(deferred_await, callback_that_suspends_stops_the_process, .signal = SIGABRT) {
    struct stage stage;
    struct bz_deferred deferred;
    struct bz_deferred other;
    struct link a = {.does = suspends, .object = &deferred};
    stage_begin(&stage);
    bz_deferred_init(&deferred, &stage.trampoline, NULL);
    bz_deferred_init(&other, &stage.trampoline, NULL);
    link_add(&deferred, &a, &stage.log, "a");
    tst_start(stage.loop, fire_by_task, &deferred);
    tst_turn(stage.loop);
    bz_deferred_callback(&other, 0);
}

static void awaits(struct link *link) {
    (void)!bz_deferred_await(link->object, NULL);
}

Test(deferred_await, in_a_callback_stops_the_process, .signal = SIGABRT) {
    struct stage stage;
    struct bz_deferred deferred;
    struct bz_deferred other;
    struct link a = {.does = awaits, .object = &other};
    stage_begin(&stage);
    bz_deferred_init(&deferred, &stage.trampoline, NULL);
    bz_deferred_init(&other, &stage.trampoline, NULL);
    link_add(&deferred, &a, &stage.log, "a");
    tst_start(stage.loop, fire_by_task, &deferred);
    tst_turn(stage.loop);
}
