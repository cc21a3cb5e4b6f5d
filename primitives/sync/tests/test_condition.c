/* Condition: the peers' cases, and a cancel in every window of a wait: waiting, notified, queued
 * for the lock, handed the lock, and on the way out. The stage checks that each wait returns with
 * the lock held. */
#include "primitives/runtime/timeout.h"
#include "primitives/sync/tests/stage_hall.h"

static void play(const char *timeline) {
    hall_play(3, BZ_QUEUE_FIFO, 1, timeline);
}

/* So many guests, from a on, wait for a notification when the timeline begins. Whatever comes of
 * it, they release the lock. */
static void play_waiting(uint32_t count, const char *timeline) {
    struct hall hall;
    char beginning[64];
    snprintf(beginning, sizeof beginning, "a-%c: acquire ~wait release; run locked=no",
             'a' + (int)count - 1);
    hall_begin(&hall, 3, BZ_QUEUE_FIFO, 1);
    tst_play(&hall.stage, beginning);
    cr_assert_eq(hall.condition.queue.waiting_count, count);
    tst_forget(&hall.stage.log);
    tst_play(&hall.stage, timeline);
    hall_end(&hall);
}

/* --- order ------------------------------------------------------------------------------------ */

Test(condition, play_waiting) {
    static const struct tst_sized_row rows[] = {
        {"notify_wakes_the_oldest_once_the_lock_is_free", 3,
         "acquire notify-1 condition=2/1/0 => ;"
         "lock=1/0/0 release => a.wait:ok;"
         "acquire notify-2 release => b.wait:ok c.wait:ok"},
        {"notify_of_more_than_there_are_wakes_all", 3,
         "acquire notify-1 release acquire notify-2048 release condition=0/3/0"
         " => a.wait:ok b.wait:ok c.wait:ok"},
        {"notify_of_none_wakes_nobody", 1,
         "acquire notify-0 release condition=1/0/0 acquire notify-1 release"
         " => a.wait:ok"},
        {"notify_all_wakes_all_in_order", 4,
         "e: acquire notify-all release"
         " => e.acquire:ok a.wait:ok b.wait:ok c.wait:ok d.wait:ok"},

        /* --- the lock --- */
        {"refuses_whoever_has_no_lock", 1,
         "notify-1:not-held notify-all:not-held condition=1/0/0;"
         "b: ~wait ~wait-true => b.wait:not-held b.wait-true:not-held;"
         "acquire notify-1 release => a.wait:ok"},

        /* --- cancels: waiting --- */
        /* There was no notification to pass on; asyncio since 3.13 would wake b here. */
        {"cancelled_waiter_wakes_nobody", 3,
         "cancel-a condition=2/0/1 => a.wait:cancelled; condition=2/0/0;"
         "acquire notify-2 release => b.wait:ok c.wait:ok"},
        {"cancelled_waiter_waits_for_the_lock", 2,
         "acquire cancel-a => ; lock=1/0/0 release => a.wait:cancelled;"
         "acquire notify-1 release => b.wait:ok"},
        /* Cancel, then notify, in one turn: the notification is the next waiter's from the
         * beginning. */
        {"cancel_then_notify", 3,
         "acquire cancel-a notify-1 release condition=1/1/1"
         " => a.wait:cancelled b.wait:ok;"
         "condition=1/0/0 acquire notify-1 release => c.wait:ok"},

        /* --- cancels: notified --- */
        /* Notify, then cancel, in one turn: the window. The notification goes on in the very
         * step in which the cancelled waiter runs, though somebody else holds the lock
         * (gh-112202). */
        {"notify_then_cancel", 3,
         "acquire notify-1 cancel-a condition=2/1/0 step condition=1/1/0 release"
         " => a.wait:cancelled b.wait:ok;"
         "condition=1/0/0 acquire notify-1 release => c.wait:ok"},
        /* With nobody behind, the notification is spent. */
        {"notify_then_cancel_of_the_only_waiter", 1,
         "acquire notify-1 release cancel-a => a.wait:cancelled;"
         "b: acquire ~wait release => b.acquire:ok;"
         "condition=1/0/0 cancel-b => b.wait:cancelled"},
        /* Two were notified; both are cancelled; both notifications go on, in order. */
        {"notify_two_then_cancel_both", 5,
         "acquire notify-2 release cancel-b cancel-a"
         " => a.wait:cancelled b.wait:cancelled c.wait:ok d.wait:ok;"
         "acquire notify-1 release => e.wait:ok"},
        {"chain_of_cancels_in_the_window", 5,
         "acquire notify-1 release;"
         "condition=4/1/0 cancel-a turn -> a.wait:cancelled;"
         "condition=3/1/0 cancel-b turn -> b.wait:cancelled;"
         "condition=2/1/0 cancel-c turn -> c.wait:cancelled;"
         "condition=1/1/0 cancel-d turn -> d.wait:cancelled; run -> e.wait:ok"},

        /* --- cancels: queued for the lock --- */
        /* Notified, and cancelled while it waits for the lock: the cancellation is not swallowed
         * (gh-77022), the lock is held (gh-67159), the notification goes on at once (gh-112202).
         * Then two are queued for the lock: a again, and b, which was notified. */
        {"cancel_while_queued_for_the_lock", 3,
         "acquire notify-1 run lock=1/0/0 cancel-a lock=0/0/1 => ; lock=2/0/0;"
         "release => a.wait:cancelled b.wait:ok;"
         "condition=1/0/0 acquire notify-1 release => c.wait:ok"},
        /* The same with the release in the same turn, in both orders: "cancel, release" finds
         * the lock free on the second try; after "release, cancel" it was handed over, and is
         * passed on and waited for again. */
        {"cancel_and_release_while_queued_for_the_lock", 2,
         "acquire notify-1 run cancel-a release lock=0/0/1"
         " => a.wait:cancelled b.wait:ok"},
        {"cancel_and_release_while_queued_for_the_lock", 2,
         "acquire notify-1 run release cancel-a lock=0/1/0"
         " => a.wait:cancelled b.wait:ok"},
        /* Cancelled between the hand-over of the lock and the resume: others in the queue go
         * first. */
        {"cancel_in_the_window_of_the_lock", 2,
         "acquire notify-1 run; c: acquire release; run release lock=1/1/0 cancel-a"
         " => c.acquire:ok a.wait:cancelled b.wait:ok"},
        /* A second request strikes on the way out, and a queues anew: one cancellation, one
         * notification handed on. */
        {"second_request_on_the_way_out", 3,
         "acquire notify-1 run cancel-a run cancel-a run condition=1/0/0 lock=2/0/0;"
         "release => b.wait:ok a.wait:cancelled;"
         "acquire notify-1 release => c.wait:ok"},
        /* A waiter that was cancelled without a notification is cancelled again on its way out. */
        {"second_request_without_a_notification", 2,
         "acquire cancel-a cancel-a run cancel-a run condition=1/0/0;"
         "release => a.wait:cancelled; acquire notify-1 release => b.wait:ok"},
        {NULL, 0, NULL},
    };
    tst_play_sized_rows(rows, play_waiting);
}

Test(condition, timelines) {
    static const struct tst_row rows[] = {
        /* A task that comes after the notification waits for the next one. */
        {"notification_is_not_kept",
         "acquire notify-5 release;"
         "a: acquire ~wait release; run condition=1/0/0 locked=no -> a.acquire:ok;"
         "acquire notify-1 release; b: acquire ~wait release => a.wait:ok b.acquire:ok;"
         "condition=1/0/0 acquire notify-1 release => b.wait:ok"},
        /* A waiter that waits again goes behind the others. */
        {"waiters_that_come_back_take_turns",
         "a-b: acquire wait wait release => a.acquire:ok b.acquire:ok;"
         "acquire notify-1 release => a.wait:ok; acquire notify-1 release => b.wait:ok;"
         "acquire notify-1 release => a.wait:ok; acquire notify-1 release => b.wait:ok"},

        /* --- the lock --- */
        {"refuses_whoever_has_no_lock", "wait:not-held notify-1:not-held notify-all:not-held"},
        /* In the window of the lock nobody holds it: the woken guest has not resumed. */
        {"refuses_in_the_window_of_the_lock",
         "acquire; a: acquire release; turn release wait:not-held notify-1:not-held"
         " => a.acquire:ok"},
        /* The wait hands the lock to the next waiter. */
        {"wait_releases_the_lock", "a: acquire wait release; b: acquire notify-1 release"
                                   " => a.acquire:ok b.acquire:ok a.wait:ok"},

        /* --- wait_for --- */
        /* A true predicate is not enough: a must be notified. */
        {"wait_for_looks_again_after_each_notification",
         "a: acquire wait-true release => a.acquire:ok;"
         "acquire notify-1 release => ; condition=1/0/0 say-true => ;"
         "acquire notify-1 release => a.wait-true:ok"},
        /* A predicate that is true at once needs no lock. */
        {"wait_for_what_holds_does_not_wait", "wait-true:not-held say-true wait-true"},
        {"wait_for_can_be_cancelled",
         "a: acquire ~wait-true release => a.acquire:ok; cancel-a => a.wait-true:cancelled"},

        /* --- cancels: waiting --- */
        /* A request that was made before the wait strikes it; the lock is given up and taken
         * again. */
        {"request_made_before_the_wait", "a: acquire cancel-self ~wait release; b: acquire release"
                                         " => a.acquire:ok b.acquire:ok a.wait:cancelled"},

        /* --- cancels: queued for the lock --- */
        /* After a cancelled wait the task continues normally; its request is delivered once. */
        {"wait_works_after_a_cancelled_wait",
         "a: acquire ~wait wait release => a.acquire:ok; cancel-a => a.wait:cancelled;"
         "acquire notify-1 release => a.wait:ok"},
        {NULL, NULL},
    };
    tst_play_rows(rows, play);
}

/* --- the lock --------------------------------------------------------------------------------- */

/* Two conditions of one lock do not notify each other's waiters. */
Test(condition, lock_may_be_shared) {
    struct hall hall;
    struct bz_condition other;
    hall_begin(&hall, 3, BZ_QUEUE_FIFO, 1);
    bz_condition_init(&other, &hall.lock);
    tst_play(&hall.stage, "a: acquire ~wait release => a.acquire:ok; acquire");
    tst_status(bz_condition_notify_all(&other), BZ_OK);
    tst_play(&hall.stage, "release condition=1/0/0 acquire notify-1 release => a.wait:ok");
    hall_end(&hall);
}

/* --- cancels: waiting ------------------------------------------------------------------------- */

Test(condition, waiters_may_be_cancelled_anywhere) {
    static const char *const stories[] = {"a.wait:cancelled b.wait:ok c.wait:ok d.wait:ok",
                                          "b.wait:cancelled a.wait:ok c.wait:ok d.wait:ok",
                                          "c.wait:cancelled a.wait:ok b.wait:ok d.wait:ok",
                                          "d.wait:cancelled a.wait:ok b.wait:ok c.wait:ok"};
    for (int victim = 0; victim < 4; victim++) {
        char timeline[200];
        snprintf(timeline, sizeof timeline,
                 "cancel-%c run acquire notify-1 release run acquire notify-1 release run"
                 " acquire notify-1 release => %s",
                 'a' + victim, stories[victim]);
        play_waiting(4, timeline);
    }
}

/* --- cancels: queued for the lock ------------------------------------------------------------- */

/* The item that the cancelled consumer was woken for is consumed by the other one: a is cancelled
 * when it was notified, or when it is queued for the lock. */
Test(condition, item_of_a_cancelled_consumer_is_consumed) {
    for (int is_queued = 0; is_queued < 2; is_queued++) {
        struct hall hall;
        hall_begin(&hall, 3, BZ_QUEUE_FIFO, 1);
        tst_play(&hall.stage,
                 "a: acquire ~wait-true release; b: acquire wait-true say-false release"
                 " => a.acquire:ok b.acquire:ok; acquire say-true notify-1");
        tst_play(&hall.stage, is_queued ? "turn" : "");
        tst_play(&hall.stage, "cancel-a release => a.wait-true:cancelled b.wait-true:ok;"
                              "is-true=no");
        hall_end(&hall);
    }
}

/* --- with a deadline -------------------------------------------------------------------------- */

static enum bz_status wait_a_while(void *arg) {
    struct hall *hall = arg;
    tst_status(bz_lock_acquire(&hall->lock), BZ_OK);
    struct bz_timeout timeout;
    tst_status(bz_timeout_enter(hall->stage.loop, &timeout, 10), BZ_OK);
    enum bz_status status = bz_timeout_exit(&timeout, bz_condition_wait(&hall->condition));
    cr_assert(hall->lock.is_held);
    tst_status(bz_lock_release(&hall->lock), BZ_OK);
    return status;
}

Test(condition, deadline_strikes_in_the_wait) {
    struct hall hall;
    hall_begin(&hall, 3, BZ_QUEUE_FIFO, 1);
    struct bz_task *task = tst_spawn(hall.stage.loop, wait_a_while, &hall);
    tst_run(hall.stage.loop);
    tst_status(tst_outcome(task), BZ_TIMED_OUT);
    hall_end(&hall);
}
