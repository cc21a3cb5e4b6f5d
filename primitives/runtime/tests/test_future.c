/* Futures: F1 to F4 of asyncio's rules. */
#include "primitives/tests/stage.h"

/* Words: "listen-fa" registers listener a with future f, "remove-a" takes it back. A listener logs
 * "a:status" when it runs, and plays its script as the test would. "hook-f" gives future f a cancel
 * hook, "hooks" reports how often one was called. */
struct listener {
    struct bz_callback callback;
    struct cast *cast;
};

struct cast {
    struct tst_stage stage;
    struct listener listeners[4];
};

static struct cast *cast_of(struct tst_call *call) {
    return bz_container_of(call->stage, struct cast, stage);
}

static void listener_run(struct bz_callback *callback, struct bz_future *future) {
    struct listener *listener = bz_container_of(callback, struct listener, callback);
    struct cast *cast = listener->cast;
    unsigned index = (unsigned)(listener - cast->listeners);
    tst_say(&cast->stage.log, "%c:%s", 'a' + (int)index,
            bz_status_name((enum bz_status)future->status));
    tst_act(&cast->stage, cast->stage.scripts[index]);
}

static enum bz_status word_listen(struct tst_call *call) {
    struct listener *listener = &cast_of(call)->listeners[call->rest[1] - 'a'];
    listener->cast = cast_of(call);
    bool is_added = bz_future_add_callback(&call->stage->futures[tst_named(call)],
                                           &listener->callback, listener_run);
    return is_added ? BZ_OK : BZ_NO_MEMORY;
}

static enum bz_status word_remove(struct tst_call *call) {
    struct listener *listener = &cast_of(call)->listeners[tst_named(call)];
    return bz_future_remove_callback(&listener->callback) ? BZ_OK : BZ_INVALID_STATE;
}

static uint32_t hooks; /* calls */

static void hook(struct bz_future *future) {
    cr_assert_not(bz_future_is_done(future));
    hooks++;
}

TST_DEED(word_hook, call->stage->futures[tst_named(call)].on_cancel = hook)

static void report(struct tst_call *call) {
    tst_count(call, "hooks", hooks);
}

static void play(const char *timeline) {
    static const struct tst_word words[] = {
        {"listen-", word_listen}, {"remove-", word_remove}, {"hook-", word_hook}, {NULL, NULL}};
    struct cast cast = {0};
    hooks = 0;
    tst_stage_begin(&cast.stage, (struct tst_cast){.words = words, .report = report});
    tst_play(&cast.stage, timeline);
    tst_stage_end(&cast.stage);
}

Test(future, is_pending_at_first) {
    struct bz_loop *loop = tst_begin();
    struct bz_future future;
    bz_future_init(&future, loop);
    cr_assert_not(bz_future_is_done(&future));
    cr_assert_eq(future.state, BZ_FUTURE_PENDING);
    tst_end(loop);
}

/* F1: one completion, of any kind, and never another. */
Test(future, completes_once) {
    static const char *const ways[] = {"set-f", "fail-f", "drop-f"};
    static const char *const again[] = {"set-f8", "fail-f8", "drop-f"};
    static const char *const futures[] = {"result/7", "exception/7", "cancelled/0"};
    static const char *const statuses[] = {"ok", "failed", "cancelled"};
    for (int way = 0; way < 9; way++) {
        char timeline[200];
        int first = way / 3;
        snprintf(timeline, sizeof timeline,
                 "a: await-f; turn %s future-f=%s %s:invalid-state future-f=%s"
                 " => a.await-f:%s; listen-fb turn -> b:%s",
                 ways[first], futures[first], again[way % 3], futures[first], statuses[first],
                 statuses[first]);
        play(timeline);
    }
}

Test(future, timelines) {
    static const struct tst_row rows[] = {
        /* F2: nothing runs at once; callbacks run later, in order of registration, each once. */
        {"queues_callbacks_in_order_of_registration",
         "listen-fa listen-fb listen-fc turn set-f -> ; turn-3 -> a:ok b:ok c:ok"},
        {"tells_callbacks_of_exceptions_and_cancels",
         "listen-fa listen-gb drop-g fail-f turn -> b:cancelled a:failed"},
        /* F3: a callback that comes too late is queued at once, and still does not run at once. */
        {"queues_a_late_callback_at_once", "listen-fa set-f listen-fb -> ; turn -> a:ok b:ok"},
        /* F3: only what has not been queued can be taken back. d was never registered. */
        {"removes_a_callback_until_it_is_queued",
         "listen-fa listen-fb listen-fc;"
         "remove-b remove-b:invalid-state remove-d:invalid-state;"
         "set-f remove-c:invalid-state turn -> a:ok c:ok; remove-a:invalid-state"},
        /* A callback that a callback registers runs a turn later. */
        {"runs_what_a_callback_adds_in_the_next_turn",
         "+a: listen-fb; listen-fa drop-f turn -> a:cancelled; turn -> b:cancelled"},

        /* --- the owner's hook --- */
        {"calls_the_cancel_hook_at_once_and_once",
         "hook-f drop-f hooks=1 drop-f:invalid-state turn-2 hooks=1"},
        {"calls_no_hook_when_it_has_a_result",
         "hook-f set-f drop-f:invalid-state hooks=0 future-f=result/7"},

        /* --- awaiting --- */
        /* F4: a future that is done does not suspend, whatever it is done with. */
        {"await_of_a_done_future_does_not_suspend",
         "a-c: await; set-a fail-b drop-c turn"
         " -> a.await:ok b.await:failed c.await:cancelled;"
         "future-a=result/7 future-b=exception/7 future-c=cancelled/0"},
        /* F4, F2: tasks that wait resume a turn after the completion, in order of arrival. */
        {"wakes_its_waiters_in_order_of_arrival",
         "a-c: await-f; turn-3 -> ; set-f -> ;"
         "turn -> a.await-f:ok b.await-f:ok c.await-f:ok; future-f=result/7"},
        /* Cancelling a future that several tasks await cancels the await of each of them, no
         * task. */
        {"cancel_reaches_every_waiter",
         "a-b: await-f; turn drop-f cancelling-a=0;"
         "turn -> a.await-f:cancelled b.await-f:cancelled; end-a=cancelled/0"},
        /* --- in place --- */
        {"runs_its_waiter_inside_the_call",
         "a: await-f ready; b: place-f ready; turn -> a.await-f:ok a.ready=0 b.ready=0"},
        {"nests_and_unwinds", "a: await-f; b: await-g place-f await-h; c: place-g set-h8; turn"
                              " -> b.await-g:ok a.await-f:ok; turn -> b.await-h:ok"},
        {"runs_its_waiter_inside_a_callback",
         "a: await-f; +b: place-f; listen-gb turn set-g turn -> b:ok a.await-f:ok"},
        {"leaves_a_cancel_of_its_caller_to_the_next_await",
         "a: await-f cancel-b; b: place-f await-g; turn -> a.await-f:ok; turn"
         " -> b.await-g:cancelled"},
        {"delivers_a_cancel_of_its_waiter", "a: await-f; turn cancel-a place-f:invalid-state turn"
                                            " -> a.await-f:cancelled"},
        {NULL, NULL},
    };
    tst_play_rows(rows, play);
}

/* --- awaiting --------------------------------------------------------------------------------- */

static void complete_behind_its_back(struct bz_future *future) {
    bz_future_set_result(future, 0);
}

/* A hook must not complete the future that is being cancelled. */
Test(future, forced_second_completion_stops_the_process, .signal = SIGABRT) {
    struct bz_loop *loop = tst_begin();
    struct bz_future future;
    bz_future_init(&future, loop);
    future.on_cancel = complete_behind_its_back;
    bz_future_cancel(&future);
}

static bool nobody_is_cancelled(struct bz_future *future) {
    cr_assert_not(bz_future_is_done(future));
    return ++hooks > 1;
}

/* A cancel of a redirected future does what its function does, and no more. */
Test(future, a_redirected_cancel_leaves_the_future_pending) {
    struct bz_loop *loop = tst_begin();
    struct bz_future future;
    hooks = 0;
    bz_future_init(&future, loop);
    future.redirect_cancel = nobody_is_cancelled;
    future.is_redirected = true;
    cr_assert_not(bz_future_cancel(&future));
    cr_assert(bz_future_cancel(&future));
    cr_assert_not(bz_future_is_done(&future));
    cr_assert_eq(bz_future_set_result(&future, 7), BZ_OK);
    cr_assert_not(bz_future_cancel(&future));
    cr_assert_eq(hooks, 2);
    tst_end(loop);
}

Test(future, await_outside_a_task_stops_the_process, .signal = SIGABRT) {
    tst_timeline("await-f");
}

/* Zeroed storage was never registered. */
Test(future, callback_that_was_never_registered_is_not_removed) {
    struct bz_callback callback = {.future = NULL};
    cr_assert_not(bz_future_remove_callback(&callback));
}
