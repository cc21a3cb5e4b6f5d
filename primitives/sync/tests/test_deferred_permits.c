/* The deferred lock and the deferred semaphore, and what only the semaphore can do. */
#include "primitives/sync/tests/stage_deferred.h"

Test(deferred_permits, timelines) {
    static const struct tst_row rows[] = {
        {"free_one_is_taken_at_once", "locked=no acquire-a locked=yes -> a:ok; release locked=no"},
        /* A release from outside has run the callbacks when it returns; each grants one, in
         * order. */
        {"release_runs_the_callback_of_the_oldest",
         "+b-c: locked=yes; acquire-a acquire-b acquire-c -> a:ok;"
         "release -> b:ok b.; release -> c:ok c.; release"},
        /* A release inside a callback returns before the next one's callback runs, which is the
         * difference to Twisted; the lock is that one's already. */
        {"release_in_a_callback_runs_the_next_behind_it",
         "+b-c: release locked=yes; +d: release;"
         "acquire-a acquire-b acquire-c acquire-d release -> a:ok b:ok b. c:ok c. d:ok d."},
        /* The releaser that comes back at once is behind those who wait. */
        {"releaser_cannot_barge",
         "+b: release acquire-d; +c-d: release;"
         "acquire-a acquire-b acquire-c release -> a:ok b:ok b. c:ok c. d:ok d."},
        {"taken_again_by_the_callback_of_the_last",
         "+a: release acquire-b locked=yes; +b: release; acquire-a -> a:ok a. b:ok b."},
        {"cancelled_waiter_leaves_no_trace",
         "acquire-a acquire-b acquire-c acquire-d cancel-c -> a:ok c:cancelled;"
         "cancel-c:invalid-state cancel-b waiting=1 release release -> b:cancelled d:ok"},
        /* Too late: it owns what it was granted, and has to release it. */
        {"cancel_of_a_granted_one_does_nothing",
         "acquire-a acquire-b cancel-a:invalid-state locked=yes release;"
         "cancel-b:invalid-state locked=yes release -> a:ok b:ok"},
        /* The only gap there is: granted by a release in a callback, and cancelled before its
         * own has run. It is granted all the same. */
        {"cancel_of_a_granted_one_before_its_callback_does_nothing",
         "+b: release cancel-c:invalid-state; +c-d: release;"
         "acquire-a acquire-b acquire-c acquire-d release -> a:ok b:ok b. c:ok c. d:ok d."},
        /* The other order: cancelled before the release, in the same callback. */
        {"cancel_in_a_callback_then_release",
         "+b: cancel-c release; +c-d: release;"
         "acquire-a acquire-b acquire-c acquire-d release -> a:ok b:ok b. c:cancelled d:ok d."},
        /* A waiter that was abandoned, and that somebody gives an error by hand: those behind it
         * are served, and its queue forgets it at once. */
        {"waiter_that_was_given_an_error_strands_nobody",
         "+c: release; acquire-a acquire-b acquire-c error-b waiting=1 wipe-b release"
         " -> a:ok b:broken c:ok c."},
        {"waiter_that_was_given_an_error_in_a_callback_strands_nobody",
         "+b: error-c release error-d:invalid-state; +d: release;"
         "acquire-a acquire-b acquire-c acquire-d release -> a:ok b:ok b. c:broken d:ok d."},
        {"release_too_many_is_refused",
         "+b: release; release:not-held acquire-a release release:not-held acquire-b"
         " -> a:ok b:ok b."},

        /* --- tasks --- */
        /* A task between two that only have callbacks, cancelled in every window that it has:
         * waiting; cancelled, then granted before it runs; granted, then cancelled. */
        {"task_that_is_cancelled_gives_way_to_the_next",
         "+b: release; acquire-a; t: visit; turn acquire-b cancel-t turn waiting=1 release"
         " -> a:ok t:cancelled t.visit:cancelled b:ok b.; end-t=cancelled/1"},
        {"task_that_is_cancelled_gives_way_to_the_next",
         "+b: release; acquire-a; t: visit; turn acquire-b cancel-t release turn"
         " -> a:ok t:cancelled b:ok b. t.visit:cancelled; end-t=cancelled/1"},
        {"task_that_is_cancelled_gives_way_to_the_next",
         "+b: release; acquire-a; t: visit; turn acquire-b release cancel-t turn"
         " -> a:ok t:cancelled b:ok b. t.visit:cancelled; end-t=cancelled/1"},
        {"task_takes_its_turn", "+b: release; acquire-a; t: visit; turn acquire-b release -> a:ok;"
                                "turn -> t:ok b:ok b. t.visit:ok"},
        {NULL, NULL},
    };
    tst_play_rows(rows, play_both);
}

/* --- what only a semaphore can do ------------------------------------------------------------- */

Test(deferred_semaphore, needs_a_token) {
    struct bz_loop *loop = tst_begin();
    struct bz_trampoline trampoline;
    struct bz_deferred_semaphore semaphore;
    bz_trampoline_init(&trampoline, loop);
    tst_status(bz_deferred_semaphore_init(&semaphore, &trampoline, 0), BZ_INVALID_ARGUMENT);
    tst_end(loop);
}

Test(deferred_semaphore, grants_as_many_as_it_has) {
    play(KIND_SEMAPHORE, 3,
         "acquire-a locked=no acquire-b locked=no acquire-c locked=yes acquire-d locked=yes;"
         "acquire-e locked=yes acquire-f locked=yes -> a:ok b:ok c:ok;"
         "cancel-d release release -> d:cancelled e:ok f:ok;"
         "release release release release:not-held");
}

/* Two releases in one callback: two are granted, in order, and run in that order. */
Test(deferred_semaphore, two_releases_in_a_callback) {
    play(KIND_SEMAPHORE, 2,
         "+c: release release locked=yes; +d-e: release;"
         "acquire-a acquire-b acquire-c acquire-d acquire-e release"
         " -> a:ok b:ok c:ok c. d:ok d. e:ok e.");
}
