/* Lock, semaphore and bounded semaphore with one permit: the peers' cases, and the window in every
 * order. Each timeline is played with all three. */
#include "primitives/sync/tests/stage_permits.h"

static void play_each(const char *timeline) {
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        play((enum kind)kind, 1, timeline);
    }
}

/* --- without contention ----------------------------------------------------------------------- */

Test(permits, timelines) {
    static const struct tst_row rows[] = {
        {"free_one_is_taken_at_once",
         "a: locked=no acquire locked=yes release locked=no; turn -> a.acquire:ok"},
        /* The fast path needs no task. */
        {"free_one_may_be_taken_outside_a_task", "acquire locked=yes release locked=no"},
        /* Any task may give back; ownership is not checked. */
        {"may_be_given_back_by_anybody", "a: acquire; b: release locked=no => a.acquire:ok"},

        /* --- order --- */
        /* Each release grants exactly one, in order of arrival; a task that was only just
         * created when the release came stands behind those who wait. */
        {"releases_grant_one_each_in_order_of_arrival", "acquire; a-b: acquire; turn queue=2/0/0;"
                                                        "release queue=1/1/0 turn -> a.acquire:ok;"
                                                        "c: acquire; release turn -> b.acquire:ok;"
                                                        "queue=1/0/0 release => c.acquire:ok"},
        /* Everybody comes back for more: strict round robin. */
        {"guests_that_come_back_take_turns",
         "a-c: acquire yield release acquire yield release acquire release"
         " => a.acquire:ok a.yield:ok b.acquire:ok b.yield:ok c.acquire:ok c.yield:ok"
         " a.acquire:ok a.yield:ok b.acquire:ok b.yield:ok c.acquire:ok c.yield:ok"
         " a.acquire:ok b.acquire:ok c.acquire:ok"},
        /* A holder that releases and acquires again without a pause goes behind who waits: no
         * barging. */
        {"releaser_cannot_barge",
         "a: acquire yield release acquire release acquire release;"
         "b-c: acquire yield release"
         " => a.acquire:ok a.yield:ok b.acquire:ok b.yield:ok c.acquire:ok c.yield:ok"
         " a.acquire:ok a.acquire:ok"},
        /* Nor can a newcomer in the window, whether it runs before or after the woken one. */
        {"newcomer_cannot_barge_in_the_window",
         "acquire; a: acquire release; turn release; b: locked=yes acquire release;"
         "step-1 queue=1/1/0 => a.acquire:ok b.acquire:ok"},
        {"newcomer_cannot_barge_in_the_window",
         "acquire; a: acquire release; turn release; b: locked=no acquire release;"
         "step-0 => a.acquire:ok b.acquire:ok"},

        /* --- locked() --- */
        /* It is true exactly when an acquire would suspend, in the window above all (gh-138121,
         * gh-97028). */
        {"locked_is_exact_in_the_window", "locked=no acquire locked=yes;"
                                          "a: acquire locked=yes release locked=no; turn;"
                                          "release locked=yes => a.acquire:ok; locked=no"},
        /* Cancelled waiters that have not resumed do not count. */
        {"locked_ignores_the_cancelled",
         "acquire; a-b: acquire; turn cancel-a cancel-b queue=0/0/2;"
         "release locked=no => a.acquire:cancelled b.acquire:cancelled"},

        /* --- cancelling who waits --- */
        {"cancelled_waiter_leaves_no_trace",
         "acquire; a: acquire; turn queue=1/0/0 cancel-a queue=0/0/1;"
         "turn queue=0/0/0 => a.acquire:cancelled; holders=1"},
        /* From anywhere in the queue, and the rest keep their order. */
        {"waiters_may_be_cancelled_anywhere",
         "acquire; a-d: acquire release; turn cancel-a turn queue=3/0/0 release"
         " => a.acquire:cancelled b.acquire:ok c.acquire:ok d.acquire:ok"},
        {"waiters_may_be_cancelled_anywhere",
         "acquire; a-d: acquire release; turn cancel-b turn queue=3/0/0 release"
         " => b.acquire:cancelled a.acquire:ok c.acquire:ok d.acquire:ok"},
        {"waiters_may_be_cancelled_anywhere",
         "acquire; a-d: acquire release; turn cancel-c turn queue=3/0/0 release"
         " => c.acquire:cancelled a.acquire:ok b.acquire:ok d.acquire:ok"},
        {"waiters_may_be_cancelled_anywhere",
         "acquire; a-d: acquire release; turn cancel-d turn queue=3/0/0 release"
         " => d.acquire:cancelled a.acquire:ok b.acquire:ok c.acquire:ok"},

        /* --- cancel and release in one turn --- */
        /* Cancel, then release: the head is cancelled and not yet gone; the next one is granted
         * (2013's fault, in which release stumbled over the cancelled head). */
        {"cancel_then_release", "acquire; a-b: acquire release; turn;"
                                "cancel-a release queue=0/1/1 => a.acquire:cancelled b.acquire:ok"},
        /* Release, then cancel: the head has been granted and will not take it; the next one
         * gets it in the very step in which the head runs (bpo-27585, the canonical fault of the
         * window). */
        {"release_then_cancel", "acquire; a-b: acquire release; turn;"
                                "release queue=1/1/0 cancel-a queue=1/1/0 step queue=0/1/0"
                                " => a.acquire:cancelled b.acquire:ok"},
        /* The same with nobody behind: it is free again, for good (3.9.12's stuck flag). */
        {"release_then_cancel_of_the_only_waiter",
         "acquire; a: acquire; turn;"
         "release cancel-a locked=yes turn locked=no -> a.acquire:cancelled;"
         "b: locked=no acquire release => b.acquire:ok"},
        /* The canonical double grant (bpo-32734): the first of three is cancelled, then comes
         * the release. The cancelled one must not hand on what it was never given. */
        {"cancel_the_first_of_three_then_release",
         "acquire; a-c: acquire await release; turn;"
         "cancel-a release turn-2 -> a.acquire:cancelled b.acquire:ok;"
         "holders=1 queue=1/0/0 set-b => b.await:ok c.acquire:ok;"
         "set-c => c.await:ok"},
        /* A newcomer whose first step is queued before everything else: only the dead stand in
         * the queue, so it gets in (bpo-27585; made again by anyio 4.5 to 4.13). */
        {"newcomer_gets_in_when_all_waiters_are_cancelled",
         "acquire; a: acquire; turn; b: locked=no acquire;"
         "cancel-a release => b.acquire:ok a.acquire:cancelled"},
        /* The cancelled one is woken by nobody and hands on nothing; a chain of cancelled woken
         * ones hands on to the first that lives. */
        {"chain_of_cancels_in_the_window",
         "acquire; a-e: acquire release; turn;"
         "release queue=4/1/0 cancel-a turn -> a.acquire:cancelled;"
         "queue=3/1/0 cancel-b turn -> b.acquire:cancelled;"
         "queue=2/1/0 cancel-c turn -> c.acquire:cancelled;"
         "queue=1/1/0 cancel-d turn -> d.acquire:cancelled;"
         "run -> e.acquire:ok"},
        /* Second requests, in every state of a blocked guest, change nothing more; b hands on
         * before it yields. */
        {"second_request_is_absorbed",
         "acquire; a-b: ~acquire yield; c: acquire release; turn;"
         "cancel-a cancel-a release cancel-b cancel-b queue=1/1/1"
         " => a.acquire:cancelled b.acquire:cancelled a.yield:ok c.acquire:ok b.yield:ok"},
        /* A request that is taken back in the window has not happened. */
        {"request_taken_back_in_the_window",
         "acquire; a: acquire release; turn release cancel-a uncancel-a=0 => a.acquire:ok"},
        /* A marked task queues and is cancelled on the spot; it takes no place from anybody. */
        {"marked_task_cannot_wait",
         "acquire; a: cancel-self ~acquire yield; b: acquire release; turn queue=1/0/1;"
         "release => a.acquire:cancelled b.acquire:ok a.yield:ok"},
        /* But one that does not have to wait is not disturbed: the request strikes at its next
         * await. */
        {"marked_task_may_take_what_is_free",
         "a: cancel-self acquire ~yield release => a.acquire:ok a.yield:cancelled; holders=0"},
        /* A cancelled guest may come again at once, at the end of the queue. */
        {"cancelled_guest_may_come_again",
         "acquire; a: ~acquire acquire release; b: acquire release; turn release cancel-a"
         " => a.acquire:cancelled b.acquire:ok a.acquire:ok"},
        {NULL, NULL},
    };
    tst_play_rows(rows, play_each);
}
