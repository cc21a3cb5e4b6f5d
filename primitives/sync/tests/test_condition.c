/* Condition: the peers' cases, and a cancel in every window of a wait: waiting, notified, queued
 * for the lock, handed the lock, and on the way out. The stage checks that each wait returns with
 * the lock held. */
#include "primitives/runtime/timeout.h"
#include "primitives/sync/tests/stage_hall.h"

/* Guests that wait for a notification. Whatever comes of it, they release the lock. */
static void wait_all(struct hall *hall, char first, char last) {
    hall_guests(hall, first, last, "acquire ~wait release");
    hall_run(hall);
    hall_expect_queue(&hall->condition.queue, (uint32_t)(last - first + 1), 0, 0);
    cr_assert(not(bz_lock_locked(&hall->lock)));
    tst_forget(&hall->log);
}

static void take_lock(struct hall *hall) {
    cr_assert(not(bz_lock_locked(&hall->lock)));
    tst_status(bz_lock_acquire(&hall->lock), BZ_OK);
}

static void give_lock(struct hall *hall) {
    tst_status(bz_lock_release(&hall->lock), BZ_OK);
    hall_check(hall);
}

static void notify_held(struct hall *hall, uint32_t count) {
    tst_status(bz_condition_notify(&hall->condition, count), BZ_OK);
    hall_check(hall);
}

/* An event from outside: takes the free lock, notifies, and gives it back. */
static void notify(struct hall *hall, uint32_t count) {
    take_lock(hall);
    notify_held(hall, count);
    give_lock(hall);
}

/* --- order ------------------------------------------------------------------------------------ */

Test(condition, notify_wakes_the_oldest_once_the_lock_is_free) {
    struct hall hall;
    hall_begin(&hall);
    wait_all(&hall, 'a', 'c');
    take_lock(&hall);
    notify_held(&hall, 1);
    hall_expect_queue(&hall.condition.queue, 2, 1, 0);
    hall_run(&hall);
    tst_expect(&hall.log, "");
    hall_expect_queue(&hall.lock.queue, 1, 0, 0);
    give_lock(&hall);
    hall_run(&hall);
    tst_expect(&hall.log, "a.wait:ok");
    notify(&hall, 2);
    hall_end(&hall, "a.wait:ok b.wait:ok c.wait:ok");
}

Test(condition, notify_of_more_than_there_are_wakes_all) {
    struct hall hall;
    hall_begin(&hall);
    wait_all(&hall, 'a', 'c');
    notify(&hall, 1);
    notify(&hall, 2048);
    hall_expect_queue(&hall.condition.queue, 0, 3, 0);
    hall_end(&hall, "a.wait:ok b.wait:ok c.wait:ok");
}

Test(condition, notify_of_none_wakes_nobody) {
    struct hall hall;
    hall_begin(&hall);
    wait_all(&hall, 'a', 'a');
    notify(&hall, 0);
    hall_expect_queue(&hall.condition.queue, 1, 0, 0);
    notify(&hall, 1);
    hall_end(&hall, "a.wait:ok");
}

Test(condition, notify_all_wakes_all_in_order) {
    struct hall hall;
    hall_begin(&hall);
    wait_all(&hall, 'a', 'd');
    hall_guest(&hall, 'e', "acquire notify-all release");
    hall_end(&hall, "e.acquire:ok a.wait:ok b.wait:ok c.wait:ok d.wait:ok");
}

/* Who comes after the notification waits for the next one. */
Test(condition, notification_is_not_kept) {
    struct hall hall;
    hall_begin(&hall);
    notify(&hall, 5);
    wait_all(&hall, 'a', 'a');
    notify(&hall, 1);
    hall_guest(&hall, 'b', "acquire ~wait release");
    hall_run(&hall);
    tst_expect(&hall.log, "a.wait:ok b.acquire:ok");
    hall_expect_queue(&hall.condition.queue, 1, 0, 0);
    notify(&hall, 1);
    hall_end(&hall, "a.wait:ok b.acquire:ok b.wait:ok");
}

/* A waiter that waits again goes behind the others. */
Test(condition, waiters_that_come_back_take_turns) {
    struct hall hall;
    hall_begin(&hall);
    hall_guests(&hall, 'a', 'b', "acquire wait wait release");
    hall_run(&hall);
    tst_forget(&hall.log);
    for (unsigned round = 0; round < 4; round++) {
        notify(&hall, 1);
        hall_run(&hall);
    }
    hall_end(&hall, "a.wait:ok b.wait:ok a.wait:ok b.wait:ok");
}

/* --- the lock --------------------------------------------------------------------------------- */

Test(condition, refuses_whoever_has_no_lock) {
    struct hall hall;
    hall_begin(&hall);
    tst_status(bz_condition_wait(&hall.condition), BZ_NOT_HELD);
    tst_status(bz_condition_notify(&hall.condition, 1), BZ_NOT_HELD);
    tst_status(bz_condition_notify_all(&hall.condition), BZ_NOT_HELD);
    wait_all(&hall, 'a', 'a');
    tst_status(bz_condition_notify(&hall.condition, 1), BZ_NOT_HELD);
    tst_status(bz_condition_notify_all(&hall.condition), BZ_NOT_HELD);
    hall_expect_queue(&hall.condition.queue, 1, 0, 0);
    hall_guest(&hall, 'b', "~wait ~wait-true");
    hall_run(&hall);
    tst_expect(&hall.log, "b.wait:not-held b.wait-true:not-held");
    notify(&hall, 1);
    hall_end(&hall, "b.wait:not-held b.wait-true:not-held a.wait:ok");
}

/* In the window of the lock nobody holds it: who was granted it has not come back. */
Test(condition, refuses_in_the_window_of_the_lock) {
    struct hall hall;
    hall_begin(&hall);
    take_lock(&hall);
    hall_guest(&hall, 'a', "acquire release");
    hall_turn(&hall);
    give_lock(&hall);
    tst_status(bz_condition_wait(&hall.condition), BZ_NOT_HELD);
    tst_status(bz_condition_notify(&hall.condition, 1), BZ_NOT_HELD);
    hall_end(&hall, "a.acquire:ok");
}

/* The wait hands the lock to whom it waits for. */
Test(condition, wait_releases_the_lock) {
    struct hall hall;
    hall_begin(&hall);
    hall_guest(&hall, 'a', "acquire wait release");
    hall_guest(&hall, 'b', "acquire notify-1 release");
    hall_end(&hall, "a.acquire:ok b.acquire:ok a.wait:ok");
}

/* Two conditions of one lock do not hear each other. */
Test(condition, lock_may_be_shared) {
    struct hall hall;
    hall_begin(&hall);
    struct bz_condition other;
    bz_condition_init(&other, &hall.lock);
    wait_all(&hall, 'a', 'a');
    take_lock(&hall);
    tst_status(bz_condition_notify_all(&other), BZ_OK);
    give_lock(&hall);
    hall_expect_queue(&hall.condition.queue, 1, 0, 0);
    notify(&hall, 1);
    hall_end(&hall, "a.wait:ok");
}

/* --- wait_for --------------------------------------------------------------------------------- */

Test(condition, wait_for_looks_again_after_each_notification) {
    struct hall hall;
    hall_begin(&hall);
    hall_guest(&hall, 'a', "acquire wait-true release");
    hall_run(&hall);
    notify(&hall, 1);
    hall_run(&hall);
    tst_expect(&hall.log, "a.acquire:ok");
    hall_expect_queue(&hall.condition.queue, 1, 0, 0);
    hall.is_true = true;
    hall_run(&hall);
    tst_expect(&hall.log, "a.acquire:ok"); /* nobody has told it */
    notify(&hall, 1);
    hall_end(&hall, "a.acquire:ok a.wait-true:ok");
}

/* What holds already needs no lock. */
Test(condition, wait_for_what_holds_does_not_wait) {
    struct hall hall;
    hall_begin(&hall);
    tst_status(bz_condition_wait_for(&hall.condition, hall_is_true, &hall), BZ_NOT_HELD);
    hall.is_true = true;
    tst_status(bz_condition_wait_for(&hall.condition, hall_is_true, &hall), BZ_OK);
    hall_end(&hall, "");
}

Test(condition, wait_for_can_be_cancelled) {
    struct hall hall;
    hall_begin(&hall);
    hall_guest(&hall, 'a', "acquire ~wait-true release");
    hall_run(&hall);
    hall_cancel(&hall, 'a');
    hall_end(&hall, "a.acquire:ok a.wait-true:cancelled");
}

/* --- cancels: waiting ------------------------------------------------------------------------- */

/* Nobody was notified, so nobody is: asyncio since 3.13 would wake b here. */
Test(condition, cancelled_waiter_wakes_nobody) {
    struct hall hall;
    hall_begin(&hall);
    wait_all(&hall, 'a', 'c');
    hall_cancel(&hall, 'a');
    hall_expect_queue(&hall.condition.queue, 2, 0, 1);
    hall_run(&hall);
    tst_expect(&hall.log, "a.wait:cancelled");
    hall_expect_queue(&hall.condition.queue, 2, 0, 0);
    notify(&hall, 2);
    hall_end(&hall, "a.wait:cancelled b.wait:ok c.wait:ok");
}

Test(condition, cancelled_waiter_waits_for_the_lock) {
    struct hall hall;
    hall_begin(&hall);
    wait_all(&hall, 'a', 'b');
    take_lock(&hall);
    hall_cancel(&hall, 'a');
    hall_run(&hall);
    tst_expect(&hall.log, "");
    hall_expect_queue(&hall.lock.queue, 1, 0, 0);
    give_lock(&hall);
    hall_run(&hall);
    notify(&hall, 1);
    hall_end(&hall, "a.wait:cancelled b.wait:ok");
}

/* Cancel, then notify, in one turn: the notification is the next waiter's from the beginning. */
Test(condition, cancel_then_notify) {
    struct hall hall;
    hall_begin(&hall);
    wait_all(&hall, 'a', 'c');
    take_lock(&hall);
    hall_cancel(&hall, 'a');
    notify_held(&hall, 1);
    give_lock(&hall);
    hall_expect_queue(&hall.condition.queue, 1, 1, 1);
    hall_run(&hall);
    tst_expect(&hall.log, "a.wait:cancelled b.wait:ok");
    hall_expect_queue(&hall.condition.queue, 1, 0, 0);
    notify(&hall, 1);
    hall_end(&hall, "a.wait:cancelled b.wait:ok c.wait:ok");
}

Test(condition, waiters_may_be_cancelled_anywhere) {
    static const char *const stories[] = {
        "a.wait:cancelled b.wait:ok c.wait:ok d.wait:ok",
        "b.wait:cancelled a.wait:ok c.wait:ok d.wait:ok",
        "c.wait:cancelled a.wait:ok b.wait:ok d.wait:ok",
        "d.wait:cancelled a.wait:ok b.wait:ok c.wait:ok",
    };
    for (int victim = 0; victim < 4; victim++) {
        struct hall hall;
        hall_begin(&hall);
        wait_all(&hall, 'a', 'd');
        hall_cancel(&hall, (char)('a' + victim));
        hall_run(&hall);
        for (unsigned count = 0; count < 3; count++) {
            notify(&hall, 1);
            hall_run(&hall);
        }
        hall_end(&hall, stories[victim]);
    }
}

/* A request that was made before the wait strikes it; the lock is given up and taken again. */
Test(condition, request_made_before_the_wait) {
    struct hall hall;
    hall_begin(&hall);
    hall_guest(&hall, 'a', "acquire cancel-self ~wait release");
    hall_guest(&hall, 'b', "acquire release");
    hall_end(&hall, "a.acquire:ok b.acquire:ok a.wait:cancelled");
}

/* --- cancels: notified ------------------------------------------------------------------------ */

/* Notify, then cancel, in one turn: the window. The notification goes on in the very step in which
 * the cancelled waiter runs, though somebody else holds the lock (gh-112202). */
Test(condition, notify_then_cancel) {
    struct hall hall;
    hall_begin(&hall);
    wait_all(&hall, 'a', 'c');
    take_lock(&hall);
    notify_held(&hall, 1);
    hall_cancel(&hall, 'a');
    hall_expect_queue(&hall.condition.queue, 2, 1, 0);
    hall_step(&hall, 0);
    hall_expect_queue(&hall.condition.queue, 1, 1, 0);
    give_lock(&hall);
    hall_run(&hall);
    tst_expect(&hall.log, "a.wait:cancelled b.wait:ok");
    hall_expect_queue(&hall.condition.queue, 1, 0, 0);
    notify(&hall, 1);
    hall_end(&hall, "a.wait:cancelled b.wait:ok c.wait:ok");
}

/* With nobody behind, the notification is spent. */
Test(condition, notify_then_cancel_of_the_only_waiter) {
    struct hall hall;
    hall_begin(&hall);
    wait_all(&hall, 'a', 'a');
    notify(&hall, 1);
    hall_cancel(&hall, 'a');
    hall_run(&hall);
    hall_guest(&hall, 'b', "acquire ~wait release");
    hall_run(&hall);
    tst_expect(&hall.log, "a.wait:cancelled b.acquire:ok");
    hall_expect_queue(&hall.condition.queue, 1, 0, 0);
    hall_cancel(&hall, 'b');
    hall_end(&hall, "a.wait:cancelled b.acquire:ok b.wait:cancelled");
}

/* Two were notified; both are cancelled; both notifications go on, in order. */
Test(condition, notify_two_then_cancel_both) {
    struct hall hall;
    hall_begin(&hall);
    wait_all(&hall, 'a', 'e');
    notify(&hall, 2);
    hall_cancel(&hall, 'b');
    hall_cancel(&hall, 'a');
    hall_run(&hall);
    tst_expect(&hall.log, "a.wait:cancelled b.wait:cancelled c.wait:ok d.wait:ok");
    notify(&hall, 1);
    hall_end(&hall, "a.wait:cancelled b.wait:cancelled c.wait:ok d.wait:ok e.wait:ok");
}

Test(condition, chain_of_cancels_in_the_window) {
    struct hall hall;
    hall_begin(&hall);
    wait_all(&hall, 'a', 'e');
    notify(&hall, 1);
    for (char name = 'a'; name < 'e'; name++) {
        hall_expect_queue(&hall.condition.queue, (uint32_t)('e' - name), 1, 0);
        hall_cancel(&hall, name);
        hall_turn(&hall);
    }
    hall_end(&hall, "a.wait:cancelled b.wait:cancelled c.wait:cancelled d.wait:cancelled "
                    "e.wait:ok");
}

/* --- cancels: queued for the lock ------------------------------------------------------------- */

/* Notified, and cancelled while it waits for the lock: the cancellation is not swallowed
 * (gh-77022), the lock is held (gh-67159), the notification goes on at once (gh-112202). */
Test(condition, cancel_while_queued_for_the_lock) {
    struct hall hall;
    hall_begin(&hall);
    wait_all(&hall, 'a', 'c');
    take_lock(&hall);
    notify_held(&hall, 1);
    hall_run(&hall);
    hall_expect_queue(&hall.lock.queue, 1, 0, 0);
    hall_cancel(&hall, 'a');
    hall_expect_queue(&hall.lock.queue, 0, 0, 1);
    hall_run(&hall);
    hall_expect_queue(&hall.lock.queue, 2, 0, 0); /* a again, and b, which was notified */
    tst_expect(&hall.log, "");
    give_lock(&hall);
    hall_run(&hall);
    tst_expect(&hall.log, "a.wait:cancelled b.wait:ok");
    hall_expect_queue(&hall.condition.queue, 1, 0, 0);
    notify(&hall, 1);
    hall_end(&hall, "a.wait:cancelled b.wait:ok c.wait:ok");
}

/* The same with the release in the same turn, in both orders: "cancel, release" finds the lock free
 * on the second try; after "release, cancel" it was handed over, and is passed on and waited for
 * again. */
Test(condition, cancel_and_release_while_queued_for_the_lock) {
    for (int order = 0; order < 2; order++) {
        struct hall hall;
        hall_begin(&hall);
        wait_all(&hall, 'a', 'b');
        take_lock(&hall);
        notify_held(&hall, 1);
        hall_run(&hall);
        if (order == 0) {
            hall_cancel(&hall, 'a');
            give_lock(&hall);
            hall_expect_queue(&hall.lock.queue, 0, 0, 1);
        } else {
            give_lock(&hall);
            hall_cancel(&hall, 'a');
            hall_expect_queue(&hall.lock.queue, 0, 1, 0);
        }
        hall_end(&hall, "a.wait:cancelled b.wait:ok");
    }
}

/* Handed the lock, and cancelled before it came back, with others queued behind: they go first. */
Test(condition, cancel_in_the_window_of_the_lock) {
    struct hall hall;
    hall_begin(&hall);
    wait_all(&hall, 'a', 'b');
    take_lock(&hall);
    notify_held(&hall, 1);
    hall_run(&hall);
    hall_guest(&hall, 'c', "acquire release");
    hall_run(&hall);
    give_lock(&hall);
    hall_expect_queue(&hall.lock.queue, 1, 1, 0);
    hall_cancel(&hall, 'a');
    hall_end(&hall, "c.acquire:ok a.wait:cancelled b.wait:ok");
}

/* A second request strikes on the way out: one cancellation, one notification handed on. */
Test(condition, second_request_on_the_way_out) {
    struct hall hall;
    hall_begin(&hall);
    wait_all(&hall, 'a', 'c');
    take_lock(&hall);
    notify_held(&hall, 1);
    hall_run(&hall);
    hall_cancel(&hall, 'a');
    hall_run(&hall);
    hall_cancel(&hall, 'a');
    hall_run(&hall);
    hall_expect_queue(&hall.condition.queue, 1, 0, 0);
    hall_expect_queue(&hall.lock.queue, 2, 0, 0);
    give_lock(&hall);
    hall_run(&hall);
    tst_expect(&hall.log, "b.wait:ok a.wait:cancelled"); /* a has queued anew */
    notify(&hall, 1);
    hall_end(&hall, "b.wait:ok a.wait:cancelled c.wait:ok");
}

/* A waiter that was cancelled without a notification is cancelled again on its way out. */
Test(condition, second_request_without_a_notification) {
    struct hall hall;
    hall_begin(&hall);
    wait_all(&hall, 'a', 'b');
    take_lock(&hall);
    hall_cancel(&hall, 'a');
    hall_cancel(&hall, 'a');
    hall_run(&hall);
    hall_cancel(&hall, 'a');
    hall_run(&hall);
    hall_expect_queue(&hall.condition.queue, 1, 0, 0);
    give_lock(&hall);
    hall_run(&hall);
    tst_expect(&hall.log, "a.wait:cancelled");
    notify(&hall, 1);
    hall_end(&hall, "a.wait:cancelled b.wait:ok");
}

/* After a wait was cancelled the task goes on as ever, and its request is delivered once. */
Test(condition, wait_works_after_a_cancelled_wait) {
    struct hall hall;
    hall_begin(&hall);
    hall_guest(&hall, 'a', "acquire ~wait wait release");
    hall_run(&hall);
    hall_cancel(&hall, 'a');
    hall_run(&hall);
    notify(&hall, 1);
    hall_end(&hall, "a.acquire:ok a.wait:cancelled a.wait:ok");
}

/* The item that the cancelled consumer was woken for is consumed by the other one. */
static enum bz_status consume(void *arg) {
    struct hall *hall = arg;
    enum bz_status status = bz_lock_acquire(&hall->lock);
    if (status != BZ_OK) {
        return status;
    }
    status = bz_condition_wait_for(&hall->condition, hall_is_true, hall);
    if (status == BZ_OK) {
        hall->is_true = false;
    }
    tst_status(bz_lock_release(&hall->lock), BZ_OK);
    return status;
}

Test(condition, item_of_a_cancelled_consumer_is_consumed) {
    for (unsigned turns = 0; turns < 2; turns++) { /* notified; queued for the lock */
        struct hall hall;
        hall_begin(&hall);
        struct bz_task *first = tst_spawn(hall.loop, consume, &hall);
        struct bz_task *second = tst_spawn(hall.loop, consume, &hall);
        hall_run(&hall);
        take_lock(&hall);
        hall.is_true = true;
        notify_held(&hall, 1);
        tst_turns(hall.loop, turns);
        cr_assert(bz_task_cancel(first));
        give_lock(&hall);
        hall_run(&hall);
        tst_status(tst_outcome(first), BZ_CANCELLED);
        tst_status(tst_outcome(second), BZ_OK);
        cr_assert(not(hall.is_true), "nobody has consumed it");
        hall_end(&hall, "");
    }
}

/* --- with a deadline -------------------------------------------------------------------------- */

static enum bz_status wait_a_while(void *arg) {
    struct hall *hall = arg;
    tst_status(bz_lock_acquire(&hall->lock), BZ_OK);
    struct bz_timeout timeout;
    tst_status(bz_timeout_enter(hall->loop, &timeout, 10), BZ_OK);
    enum bz_status status = bz_timeout_exit(&timeout, bz_condition_wait(&hall->condition));
    cr_assert(hall->lock.is_held);
    tst_status(bz_lock_release(&hall->lock), BZ_OK);
    return status;
}

Test(condition, deadline_strikes_in_the_wait) {
    struct hall hall;
    hall_begin(&hall);
    struct bz_task *task = tst_spawn(hall.loop, wait_a_while, &hall);
    tst_run(hall.loop);
    tst_status(tst_outcome(task), BZ_TIMED_OUT);
    hall_end(&hall, "");
}
