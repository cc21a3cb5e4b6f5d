/* Timeout scopes: O1 to O4 of asyncio's rules, and the peers' cases. */
#include "primitives/tests/actor.h"

#include "primitives/runtime/timeout.h"

/* An actor with two scopes, "outer" and "inner". Its script says where they begin and end: a word
 * such as "inner(5" enters the inner scope for 5 ns, "inner(never" without a deadline, and "inner)"
 * leaves it, as the end of a `with` block would. */
struct scoped {
    struct tst_actor actor;
    struct bz_timeout outer;
    struct bz_timeout inner;
    struct tst_log log;
    struct bz_future future;
    struct bz_loop *loop;
    struct bz_task *task;
};

static struct bz_timeout *scope_of(struct scoped *scoped, const char *word) {
    return word[0] == 'o' ? &scoped->outer : &scoped->inner;
}

static enum bz_status scoped_word(struct tst_actor *actor, const char *word, bool *is_quiet) {
    struct scoped *scoped = actor->object;
    const char *open = strchr(word, '(');
    if (open != NULL) {
        *is_quiet = true;
        uint64_t delay_ns =
            strcmp(open + 1, "never") == 0 ? BZ_TIME_NEVER : strtoull(open + 1, NULL, 10);
        return bz_timeout_enter(actor->loop, scope_of(scoped, word), delay_ns);
    }
    if (strchr(word, ')') != NULL) {
        return bz_timeout_exit(scope_of(scoped, word), actor->leaving);
    }
    if (strcmp(word, "busy") == 0) { /* the loop is held up for 100 ns */
        *is_quiet = true;
        tst_advance(actor->loop, 100);
        return BZ_OK;
    }
    return BZ_INVALID_ARGUMENT;
}

static void scoped_begin(struct scoped *scoped, const char *script) {
    *scoped = (struct scoped){.loop = tst_begin()};
    bz_future_init(&scoped->future, scoped->loop);
    scoped->actor = (struct tst_actor){.script = script,
                                       .loop = scoped->loop,
                                       .log = &scoped->log,
                                       .future = &scoped->future,
                                       .extra = scoped_word,
                                       .object = scoped};
    scoped->task = tst_actor_spawn(&scoped->actor);
}

/* Runs to the end; `cancelling` is the count that must be left. */
static void scoped_end(struct scoped *scoped, const char *story, enum bz_status outcome,
                       uint32_t cancelling) {
    tst_run(scoped->loop);
    tst_expect(&scoped->log, story);
    cr_assert(eq(u32, bz_task_cancelling(scoped->task), cancelling));
    tst_status(tst_outcome(scoped->task), outcome);
    tst_end(scoped->loop);
}

/* --- one scope -------------------------------------------------------------------------------- */

Test(timeout, expires) {
    struct scoped scoped;
    scoped_begin(&scoped, "inner(50 await inner)");
    tst_run(scoped.loop);
    cr_assert(bz_timeout_expired(&scoped.inner));
    cr_assert(eq(int, scoped.inner.state, BZ_TIMEOUT_EXPIRED));
    cr_assert(eq(u64, bz_loop_now_ns(scoped.loop), 50));
    scoped_end(&scoped, "await:cancelled inner):timed-out", BZ_TIMED_OUT, 0);
}

Test(timeout, is_not_reached) {
    struct scoped scoped;
    scoped_begin(&scoped, "inner(50 sleep inner)");
    tst_run(scoped.loop);
    cr_assert(not(bz_timeout_expired(&scoped.inner)));
    cr_assert(eq(int, scoped.inner.state, BZ_TIMEOUT_EXITED));
    cr_assert(eq(u64, bz_loop_now_ns(scoped.loop), 10));
    scoped_end(&scoped, "sleep:ok inner):ok", BZ_OK, 0);
}

Test(timeout, without_a_deadline_never_expires) {
    struct scoped scoped;
    scoped_begin(&scoped, "inner(never sleep inner)");
    tst_turn(scoped.loop);
    cr_assert(eq(u64, bz_driver_next_deadline_ns(scoped.loop), 10), "the sleeper's, no other");
    scoped_end(&scoped, "sleep:ok inner):ok", BZ_OK, 0);
}

/* O1: no delay is a callback, not a timer; it strikes even who only yields. */
Test(timeout, of_no_time_strikes_a_yield) {
    struct scoped scoped;
    scoped_begin(&scoped, "inner(0 yield inner)");
    tst_turn(scoped.loop);
    cr_assert(eq(u32, bz_driver_ready_count(scoped.loop), 2));
    scoped_end(&scoped, "yield:cancelled inner):timed-out", BZ_TIMED_OUT, 0);
}

Test(timeout, of_no_time_strikes_an_await) {
    struct scoped scoped;
    scoped_begin(&scoped, "inner(0 await inner)");
    scoped_end(&scoped, "await:cancelled inner):timed-out", BZ_TIMED_OUT, 0);
}

/* Who never suspends is done before the deadline can come, and takes its callback along. */
Test(timeout, of_no_time_spares_who_does_not_suspend) {
    struct scoped scoped;
    scoped_begin(&scoped, "inner(0 inner) yield yield");
    scoped_end(&scoped, "inner):ok yield:ok yield:ok", BZ_OK, 0);
}

/* The scope's own failure passes, expired or not. */
Test(timeout, passes_a_failure_before_the_deadline) {
    struct scoped scoped;
    scoped_begin(&scoped, "inner(50 fail inner)");
    scoped_end(&scoped, "inner):failed", BZ_FAILED, 0);
}

Test(timeout, passes_a_failure_after_the_deadline) {
    struct scoped scoped;
    scoped_begin(&scoped, "inner(50 ~await break inner)");
    tst_run(scoped.loop);
    cr_assert(bz_timeout_expired(&scoped.inner));
    scoped_end(&scoped, "await:cancelled inner):broken", BZ_BROKEN, 0);
}

/* O3: who swallows the cancellation and ends well is not timed out, but expired; the count is
 * balanced. */
Test(timeout, swallowed_is_no_timeout) {
    struct scoped scoped;
    scoped_begin(&scoped, "inner(5 ~sleep inner) yield");
    tst_run(scoped.loop);
    cr_assert(bz_timeout_expired(&scoped.inner));
    scoped_end(&scoped, "sleep:cancelled inner):ok yield:ok", BZ_OK, 0);
}

/* It fires once: after it the body may take its time. */
Test(timeout, fires_once) {
    struct scoped scoped;
    scoped_begin(&scoped, "inner(5 ~sleep sleep sleep inner)");
    scoped_end(&scoped, "sleep:cancelled sleep:ok sleep:ok inner):ok", BZ_OK, 0);
}

/* --- somebody else's cancel ------------------------------------------------------------------- */

Test(timeout, leaves_a_foreign_cancel_alone) {
    struct scoped scoped;
    scoped_begin(&scoped, "inner(50 await inner)");
    tst_turn(scoped.loop);
    cr_assert(bz_task_cancel(scoped.task));
    tst_run(scoped.loop);
    cr_assert(not(bz_timeout_expired(&scoped.inner)));
    scoped_end(&scoped, "await:cancelled inner):cancelled", BZ_CANCELLED, 1);
}

Test(timeout, leaves_its_tasks_own_cancel_alone) {
    struct scoped scoped;
    scoped_begin(&scoped, "inner(50 cancel-self await inner)");
    scoped_end(&scoped, "await:cancelled inner):cancelled", BZ_CANCELLED, 1);
}

/* The deadline and a foreign cancel in one turn, in either order: the foreign one wins, and what it
 * counts is still there. */
Test(timeout, deadline_then_foreign_cancel) {
    struct scoped scoped;
    scoped_begin(&scoped, "inner(50 await inner)");
    tst_turn(scoped.loop);
    tst_advance(scoped.loop, 50);
    tst_turn(scoped.loop);
    cr_assert(eq(int, scoped.inner.state, BZ_TIMEOUT_EXPIRING));
    cr_assert(bz_task_cancel(scoped.task));
    scoped_end(&scoped, "await:cancelled inner):cancelled", BZ_CANCELLED, 1);
}

Test(timeout, foreign_cancel_then_deadline) {
    struct scoped scoped;
    scoped_begin(&scoped, "inner(50 await inner)");
    tst_turn(scoped.loop);
    tst_advance(scoped.loop, 50);
    cr_assert(bz_task_cancel(scoped.task));
    /* The timer is queued behind the resume, so the scope is left before it fires. */
    tst_turn(scoped.loop);
    cr_assert(not(bz_timeout_expired(&scoped.inner)));
    scoped_end(&scoped, "await:cancelled inner):cancelled", BZ_CANCELLED, 1);
}

/* The same with the timer in front, as an `any` order may have it. */
Test(timeout, foreign_cancel_then_deadline_before_the_resume) {
    struct scoped scoped;
    scoped_begin(&scoped, "inner(50 await inner)");
    tst_turn(scoped.loop);
    cr_assert(bz_task_cancel(scoped.task));
    tst_advance(scoped.loop, 50);
    cr_assert(eq(u32, bz_driver_queue_due_timers(scoped.loop), 1));
    bz_driver_step(scoped.loop, bz_driver_take(scoped.loop, 1));
    cr_assert(eq(u32, bz_task_cancelling(scoped.task), 2));
    scoped_end(&scoped, "await:cancelled inner):cancelled", BZ_CANCELLED, 1);
}

/* The result and the deadline in one turn: the window of a scope. The result is lost to the body,
 * not to the future; asyncio does the same. */
Test(timeout, result_then_deadline) {
    struct scoped scoped;
    scoped_begin(&scoped, "inner(50 await inner)");
    tst_turn(scoped.loop);
    tst_advance(scoped.loop, 50);
    cr_assert(eq(u32, bz_driver_queue_due_timers(scoped.loop), 1));
    tst_status(bz_future_set_result(&scoped.future, 8), BZ_OK);
    tst_run(scoped.loop);
    cr_assert(eq(u64, scoped.future.value, 8));
    scoped_end(&scoped, "await:cancelled inner):timed-out", BZ_TIMED_OUT, 0);
}

/* The result comes first and its resume stands before the timer: no timeout. */
Test(timeout, resume_before_the_deadline) {
    struct scoped scoped;
    scoped_begin(&scoped, "inner(50 await inner)");
    tst_turn(scoped.loop);
    tst_advance(scoped.loop, 50);
    tst_status(bz_future_set_result(&scoped.future, 8), BZ_OK);
    scoped_end(&scoped, "await:ok inner):ok", BZ_OK, 0);
}

/* --- inside a cancelled task ------------------------------------------------------------------ */

/* gh-102780: a scope opened while an earlier request is being handled works as ever. */
Test(timeout, works_after_a_cancellation) {
    struct scoped scoped;
    scoped_begin(&scoped, "cancel-self ~sleep inner(5 sleep inner)");
    scoped_end(&scoped, "sleep:cancelled sleep:cancelled inner):timed-out", BZ_TIMED_OUT, 1);
}

Test(timeout, of_no_time_works_after_a_cancellation) {
    struct scoped scoped;
    scoped_begin(&scoped, "cancel-self ~sleep inner(0 sleep inner)");
    scoped_end(&scoped, "sleep:cancelled sleep:cancelled inner):timed-out", BZ_TIMED_OUT, 1);
}

/* And a new request in it is not the scope's. */
Test(timeout, leaves_a_new_cancel_alone_after_a_cancellation) {
    struct scoped scoped;
    scoped_begin(&scoped, "cancel-self ~sleep inner(50 cancel-self sleep inner)");
    scoped_end(&scoped, "sleep:cancelled sleep:cancelled inner):cancelled", BZ_CANCELLED, 2);
}

/* gh-134471, open in asyncio: a request that is made and not delivered when the scope opens is
 * somebody else's, however early the deadline comes. */
Test(timeout, of_no_time_does_not_swallow_an_undelivered_cancel) {
    struct scoped scoped;
    scoped_begin(&scoped, "cancel-self inner(0 sleep inner)");
    scoped_end(&scoped, "sleep:cancelled inner):cancelled", BZ_CANCELLED, 1);
}

Test(timeout, does_not_swallow_several_undelivered_cancels) {
    struct scoped scoped;
    scoped_begin(&scoped, "cancel-self cancel-self inner(0 sleep inner)");
    scoped_end(&scoped, "sleep:cancelled inner):cancelled", BZ_CANCELLED, 2);
}

/* One delivered before, one not: only the former is the baseline. */
Test(timeout, tells_delivered_from_undelivered_cancels) {
    struct scoped scoped;
    scoped_begin(&scoped, "cancel-self ~sleep cancel-self inner(0 sleep inner)");
    scoped_end(&scoped, "sleep:cancelled sleep:cancelled inner):cancelled", BZ_CANCELLED, 2);
}

/* --- nesting ---------------------------------------------------------------------------------- */

Test(timeout, inner_one_expires_and_is_caught) {
    struct scoped scoped;
    scoped_begin(&scoped, "outer(50 inner(5 sleep ~inner) sleep outer)");
    scoped_end(&scoped, "sleep:cancelled inner):timed-out sleep:ok outer):ok", BZ_OK, 0);
}

Test(timeout, outer_one_expires_through_the_inner) {
    struct scoped scoped;
    scoped_begin(&scoped, "outer(5 inner(50 sleep inner) outer)");
    tst_run(scoped.loop);
    cr_assert(not(bz_timeout_expired(&scoped.inner)));
    scoped_end(&scoped, "sleep:cancelled inner):cancelled outer):timed-out", BZ_TIMED_OUT, 0);
}

/* Both due at once: both take their request back, and only the outermost is timed out. */
Test(timeout, both_due_at_once) {
    struct scoped scoped;
    scoped_begin(&scoped, "outer(5 inner(5 sleep inner) outer)");
    tst_run(scoped.loop);
    cr_assert(bz_timeout_expired(&scoped.inner));
    cr_assert(bz_timeout_expired(&scoped.outer));
    scoped_end(&scoped, "sleep:cancelled inner):cancelled outer):timed-out", BZ_TIMED_OUT, 0);
}

/* The loop was held up until both were overdue. The inner deadline is the earlier one, and still it
 * is the outermost that converts. */
Test(timeout, both_overdue_in_a_busy_loop) {
    struct scoped scoped;
    scoped_begin(&scoped, "outer(50 inner(5 busy sleep inner) outer)");
    scoped_end(&scoped, "sleep:cancelled inner):cancelled outer):timed-out", BZ_TIMED_OUT, 0);
}

/* The loop is held up, the inner scope expires and is caught; the outer one stops what follows. */
Test(timeout, outer_one_comes_after_a_busy_loop) {
    struct scoped scoped;
    scoped_begin(&scoped, "outer(105 inner(5 busy sleep ~inner) sleep outer)");
    scoped_end(&scoped, "sleep:cancelled inner):timed-out sleep:cancelled outer):timed-out",
               BZ_TIMED_OUT, 0);
}

/* A scope in the cleanup of an expired one. */
Test(timeout, inner_one_opened_after_the_outer_expired) {
    struct scoped scoped;
    scoped_begin(&scoped, "outer(5 ~sleep inner(5 sleep inner) outer)");
    scoped_end(&scoped, "sleep:cancelled sleep:cancelled inner):timed-out outer):timed-out",
               BZ_TIMED_OUT, 0);
}

/* --- rescheduling (O4) ------------------------------------------------------------------------ */

Test(timeout, may_be_put_off) {
    struct scoped scoped;
    scoped_begin(&scoped, "inner(5 await inner)");
    tst_turn(scoped.loop);
    tst_status(bz_timeout_reschedule(&scoped.inner, 70), BZ_OK);
    tst_run(scoped.loop);
    cr_assert(eq(u64, bz_loop_now_ns(scoped.loop), 70));
    scoped_end(&scoped, "await:cancelled inner):timed-out", BZ_TIMED_OUT, 0);
}

Test(timeout, may_be_brought_forward) {
    struct scoped scoped;
    scoped_begin(&scoped, "inner(never await inner)");
    tst_turn(scoped.loop);
    tst_status(bz_timeout_reschedule(&scoped.inner, 70), BZ_OK);
    tst_status(bz_timeout_reschedule(&scoped.inner, 3), BZ_OK);
    tst_run(scoped.loop);
    cr_assert(eq(u64, bz_loop_now_ns(scoped.loop), 3));
    scoped_end(&scoped, "await:cancelled inner):timed-out", BZ_TIMED_OUT, 0);
}

Test(timeout, may_be_called_off) {
    struct scoped scoped;
    scoped_begin(&scoped, "inner(5 sleep inner)");
    tst_turn(scoped.loop);
    tst_status(bz_timeout_reschedule(&scoped.inner, BZ_TIME_NEVER), BZ_OK);
    scoped_end(&scoped, "sleep:ok inner):ok", BZ_OK, 0);
}

Test(timeout, may_be_rescheduled_while_its_timer_is_queued) {
    struct scoped scoped;
    scoped_begin(&scoped, "inner(5 sleep inner)");
    tst_turn(scoped.loop);
    tst_advance(scoped.loop, 5);
    cr_assert(eq(u32, bz_driver_queue_due_timers(scoped.loop), 1));
    tst_status(bz_timeout_reschedule(&scoped.inner, 50), BZ_OK);
    cr_assert(eq(u32, bz_driver_ready_count(scoped.loop), 0));
    scoped_end(&scoped, "sleep:ok inner):ok", BZ_OK, 0);
}

Test(timeout, rescheduled_to_now_fires_in_the_next_turn) {
    struct scoped scoped;
    scoped_begin(&scoped, "inner(50 await inner)");
    tst_turn(scoped.loop);
    tst_status(bz_timeout_reschedule(&scoped.inner, 0), BZ_OK);
    cr_assert(eq(u32, bz_driver_ready_count(scoped.loop), 1));
    tst_turns(scoped.loop, 2);
    cr_assert(eq(u64, bz_loop_now_ns(scoped.loop), 0));
    scoped_end(&scoped, "await:cancelled inner):timed-out", BZ_TIMED_OUT, 0);
}

Test(timeout, cannot_be_rescheduled_once_it_has_come) {
    struct scoped scoped;
    scoped_begin(&scoped, "inner(5 await inner)");
    tst_turn(scoped.loop);
    tst_advance(scoped.loop, 5);
    tst_turn(scoped.loop);
    tst_status(bz_timeout_reschedule(&scoped.inner, 50), BZ_INVALID_STATE);
    tst_run(scoped.loop);
    tst_status(bz_timeout_reschedule(&scoped.inner, 50), BZ_INVALID_STATE);
    scoped_end(&scoped, "await:cancelled inner):timed-out", BZ_TIMED_OUT, 0);
}

Test(timeout, cannot_be_rescheduled_once_left) {
    struct scoped scoped;
    scoped_begin(&scoped, "inner(5 inner)");
    tst_run(scoped.loop);
    tst_status(bz_timeout_reschedule(&scoped.inner, 50), BZ_INVALID_STATE);
    scoped_end(&scoped, "inner):ok", BZ_OK, 0);
}

Test(timeout, needs_a_task) {
    struct bz_loop *loop = tst_begin();
    struct bz_timeout scope;
    tst_status(bz_timeout_enter(loop, &scope, 5), BZ_INVALID_STATE);
    tst_end(loop);
}
