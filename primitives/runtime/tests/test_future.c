/* Futures: F1 to F4 of asyncio's rules. */
#include "primitives/tests/support.h"

struct listener {
    struct bz_callback callback;
    struct tst_log *log;
    const char *name;
};

static void listener_run(struct bz_callback *callback, struct bz_future *future) {
    struct listener *listener = bz_container_of(callback, struct listener, callback);
    tst_say(listener->log, "%s:%s", listener->name, bz_status_name((enum bz_status)future->status));
}

static void listen(struct bz_future *future, struct listener *listener, struct tst_log *log,
                   const char *name) {
    *listener = (struct listener){.log = log, .name = name};
    cr_assert(bz_future_add_callback(future, &listener->callback, listener_run));
}

Test(future, is_pending_at_first) {
    struct bz_loop *loop = tst_begin();
    struct bz_future future;
    bz_future_init(&future, loop);
    cr_assert(not(bz_future_is_done(&future)));
    cr_assert(eq(int, future.state, BZ_FUTURE_PENDING));
    tst_end(loop);
}

/* F1: one completion, of any kind, and never another. */
Test(future, completes_once) {
    struct bz_loop *loop = tst_begin();
    for (int first = 0; first < 3; first++) {
        for (int second = 0; second < 3; second++) {
            struct bz_future future;
            bz_future_init(&future, loop);
            enum bz_future_state expected = BZ_FUTURE_PENDING;
            for (int round = 0; round < 2; round++) {
                int kind = round == 0 ? first : second;
                enum bz_status told = BZ_OK;
                if (kind == 0) {
                    told = bz_future_set_result(&future, 11 + (uint64_t)round);
                } else if (kind == 1) {
                    told = bz_future_set_exception(&future, 21 + (uint64_t)round);
                } else {
                    told = bz_future_cancel(&future) ? BZ_OK : BZ_INVALID_STATE;
                }
                tst_status(told, round == 0 ? BZ_OK : BZ_INVALID_STATE);
                if (round == 0) {
                    expected = (enum bz_future_state)(kind + 1);
                }
                cr_assert(bz_future_is_done(&future));
                cr_assert(eq(int, future.state, expected));
            }
            uint64_t values[] = {11, 21, 0};
            enum bz_status statuses[] = {BZ_OK, BZ_FAILED, BZ_CANCELLED};
            cr_assert(eq(u64, future.value, values[first]));
            tst_status((enum bz_status)future.status, statuses[first]);
        }
    }
    tst_end(loop);
}

/* F2: nothing runs at once; callbacks run later, in order of registration, each once. */
Test(future, queues_callbacks_in_order_of_registration) {
    struct bz_loop *loop = tst_begin();
    struct tst_log log = {0};
    struct listener listeners[3];
    struct bz_future future;
    bz_future_init(&future, loop);
    listen(&future, &listeners[0], &log, "a");
    listen(&future, &listeners[1], &log, "b");
    listen(&future, &listeners[2], &log, "c");
    tst_turn(loop);
    tst_expect(&log, "");
    tst_status(bz_future_set_result(&future, 7), BZ_OK);
    tst_expect(&log, "");
    tst_turns(loop, 3);
    tst_expect(&log, "a:ok b:ok c:ok");
    tst_end(loop);
}

Test(future, tells_callbacks_of_exceptions_and_cancels) {
    struct bz_loop *loop = tst_begin();
    struct tst_log log = {0};
    struct listener listeners[2];
    struct bz_future failing;
    struct bz_future cancelled;
    bz_future_init(&failing, loop);
    bz_future_init(&cancelled, loop);
    listen(&failing, &listeners[0], &log, "failing");
    listen(&cancelled, &listeners[1], &log, "cancelled");
    cr_assert(bz_future_cancel(&cancelled));
    tst_status(bz_future_set_exception(&failing, 1), BZ_OK);
    tst_turn(loop);
    tst_expect(&log, "cancelled:cancelled failing:failed");
    tst_end(loop);
}

/* F3: a callback that comes too late is queued at once, and still does not run at once. */
Test(future, queues_a_late_callback_at_once) {
    struct bz_loop *loop = tst_begin();
    struct tst_log log = {0};
    struct listener listeners[2];
    struct bz_future future;
    bz_future_init(&future, loop);
    listen(&future, &listeners[0], &log, "early");
    tst_status(bz_future_set_result(&future, 0), BZ_OK);
    listen(&future, &listeners[1], &log, "late");
    tst_expect(&log, "");
    tst_turn(loop);
    tst_expect(&log, "early:ok late:ok");
    tst_end(loop);
}

/* F3: only what has not been queued can be taken back. */
Test(future, removes_a_callback_until_it_is_queued) {
    struct bz_loop *loop = tst_begin();
    struct tst_log log = {0};
    struct listener listeners[3];
    struct listener stranger = {0};
    struct bz_future future;
    bz_future_init(&future, loop);
    listen(&future, &listeners[0], &log, "a");
    listen(&future, &listeners[1], &log, "b");
    listen(&future, &listeners[2], &log, "c");
    cr_assert(bz_future_remove_callback(&listeners[1].callback));
    cr_assert(not(bz_future_remove_callback(&listeners[1].callback)), "removed twice");
    cr_assert(not(bz_future_remove_callback(&stranger.callback)), "never registered");
    tst_status(bz_future_set_result(&future, 0), BZ_OK);
    cr_assert(not(bz_future_remove_callback(&listeners[2].callback)), "queued by now");
    tst_turn(loop);
    tst_expect(&log, "a:ok c:ok");
    cr_assert(not(bz_future_remove_callback(&listeners[0].callback)), "has run");
    tst_end(loop);
}

/* What a callback registers from inside its own run comes a turn later. */
struct chained {
    struct listener first;
    struct listener second;
};

static void chained_run(struct bz_callback *callback, struct bz_future *future) {
    struct chained *chained = bz_container_of(callback, struct chained, first.callback);
    tst_say(chained->first.log, "first");
    listen(future, &chained->second, chained->first.log, "second");
}

Test(future, runs_what_a_callback_adds_in_the_next_turn) {
    struct bz_loop *loop = tst_begin();
    struct tst_log log = {0};
    struct chained chained = {.first.log = &log};
    struct bz_future future;
    bz_future_init(&future, loop);
    cr_assert(bz_future_add_callback(&future, &chained.first.callback, chained_run));
    cr_assert(bz_future_cancel(&future));
    tst_turn(loop);
    tst_expect(&log, "first");
    tst_turn(loop);
    tst_expect(&log, "first second:cancelled");
    tst_end(loop);
}

/* --- the owner's hook ------------------------------------------------------------------------- */

struct hooked {
    struct bz_future future;
    unsigned calls;
    bool was_pending;
};

static void hooked_cancel(struct bz_future *future) {
    struct hooked *hooked = bz_container_of(future, struct hooked, future);
    hooked->calls++;
    hooked->was_pending = !bz_future_is_done(future);
}

Test(future, calls_the_cancel_hook_at_once_and_once) {
    struct bz_loop *loop = tst_begin();
    struct hooked hooked = {0};
    bz_future_init(&hooked.future, loop);
    hooked.future.on_cancel = hooked_cancel;
    cr_assert(bz_future_cancel(&hooked.future));
    cr_assert(eq(u32, hooked.calls, 1));
    cr_assert(hooked.was_pending);
    cr_assert(not(bz_future_cancel(&hooked.future)));
    tst_turns(loop, 2);
    cr_assert(eq(u32, hooked.calls, 1));
    tst_end(loop);
}

Test(future, calls_no_hook_when_it_has_a_result) {
    struct bz_loop *loop = tst_begin();
    struct hooked hooked = {0};
    bz_future_init(&hooked.future, loop);
    hooked.future.on_cancel = hooked_cancel;
    tst_status(bz_future_set_result(&hooked.future, 1), BZ_OK);
    cr_assert(not(bz_future_cancel(&hooked.future)));
    cr_assert(eq(u32, hooked.calls, 0));
    cr_assert(eq(u64, hooked.future.value, 1));
    tst_end(loop);
}

/* --- awaiting --------------------------------------------------------------------------------- */

struct waiter {
    struct bz_future *future;
    struct tst_log *log;
    const char *name;
};

static enum bz_status waiter_run(void *arg) {
    struct waiter *waiter = arg;
    tst_say(waiter->log, "%s", waiter->name);
    enum bz_status status = bz_future_await(waiter->future);
    tst_say(waiter->log, "%s:%s:%u", waiter->name, bz_status_name(status),
            (unsigned)waiter->future->value);
    return status;
}

/* F4: a future that is done does not suspend, whatever it is done with. */
Test(future, await_of_a_done_future_does_not_suspend) {
    struct bz_loop *loop = tst_begin();
    struct tst_log log = {0};
    struct bz_future futures[3];
    struct waiter waiters[3];
    const char *names[] = {"a", "b", "c"};
    for (int index = 0; index < 3; index++) {
        bz_future_init(&futures[index], loop);
        waiters[index] = (struct waiter){&futures[index], &log, names[index]};
        tst_start(loop, waiter_run, &waiters[index]);
    }
    tst_status(bz_future_set_result(&futures[0], 5), BZ_OK);
    tst_status(bz_future_set_exception(&futures[1], 6), BZ_OK);
    cr_assert(bz_future_cancel(&futures[2]));
    tst_turn(loop);
    tst_expect(&log, "a a:ok:5 b b:failed:6 c c:cancelled:0");
    tst_end(loop);
}

/* F4, F2: who waits on a pending future resumes a turn after its completion, in order of arrival.
 */
Test(future, wakes_its_waiters_in_order_of_arrival) {
    struct bz_loop *loop = tst_begin();
    struct tst_log log = {0};
    struct bz_future future;
    bz_future_init(&future, loop);
    struct waiter waiters[3] = {{&future, &log, "a"}, {&future, &log, "b"}, {&future, &log, "c"}};
    for (int index = 0; index < 3; index++) {
        tst_start(loop, waiter_run, &waiters[index]);
    }
    tst_turns(loop, 3);
    tst_expect(&log, "a b c");
    tst_forget(&log);
    tst_status(bz_future_set_result(&future, 9), BZ_OK);
    tst_expect(&log, "");
    tst_turn(loop);
    tst_expect(&log, "a:ok:9 b:ok:9 c:ok:9");
    tst_end(loop);
}

/* Cancelling a future that several tasks await cancels the await of each of them, no task. */
Test(future, cancel_reaches_every_waiter) {
    struct bz_loop *loop = tst_begin();
    struct tst_log log = {0};
    struct bz_future future;
    bz_future_init(&future, loop);
    struct waiter waiters[2] = {{&future, &log, "a"}, {&future, &log, "b"}};
    struct bz_task *first = tst_spawn(loop, waiter_run, &waiters[0]);
    tst_start(loop, waiter_run, &waiters[1]);
    tst_turn(loop);
    cr_assert(bz_future_cancel(&future));
    cr_assert(eq(u32, bz_task_cancelling(first), 0));
    tst_turn(loop);
    tst_expect(&log, "a b a:cancelled:0 b:cancelled:0");
    tst_status(tst_outcome(first), BZ_CANCELLED);
    tst_end(loop);
}

/* A completion behind the back of the rules is a broken promise, and is not survived. */
Test(future, forced_second_completion_stops_the_process, .signal = SIGABRT) {
    struct bz_loop *loop = tst_begin();
    struct bz_future future;
    bz_future_init(&future, loop);
    bz_future_complete(&future, BZ_FUTURE_RESULT, BZ_OK, 0);
    bz_future_complete(&future, BZ_FUTURE_RESULT, BZ_OK, 0);
}

Test(future, await_outside_a_task_stops_the_process, .signal = SIGABRT) {
    struct bz_loop *loop = tst_begin();
    struct bz_future future;
    bz_future_init(&future, loop);
    (void)!bz_future_await(&future);
}

/* Zeroed storage was never registered. */
Test(future, callback_that_was_never_registered_is_not_removed) {
    struct bz_callback callback = {.future = NULL};
    cr_assert(not(bz_future_remove_callback(&callback)));
}
