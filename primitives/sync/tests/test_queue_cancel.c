/* Queue: a cancel in every window of a get and of a put. Nothing is lost, doubled, or stranded. */
#include "primitives/sync/tests/stage_hall.h"

/* --- getters ---------------------------------------------------------------------------------- */

Test(queue_cancel, timelines) {
    static const struct tst_sized_row rows[] = {
        {"getter_leaves_no_trace", 0,
         "a-c: get; run cancel-b getters=2/0/1 run getters=2/0/0 -> b.get:cancelled;"
         "try-put-1 try-put-2 => a.get=1 c.get=2"},
        /* An idle queue keeps nothing of those who gave up. */
        {"many_getters_leave_no_trace", 0,
         "a: ~get ~get ~get ~get;"
         "run getters=1/0/0 cancel-a run getters=1/0/0 cancel-a;"
         "run getters=1/0/0 cancel-a run getters=1/0/0 cancel-a"
         " => a.get:cancelled a.get:cancelled a.get:cancelled a.get:cancelled"},
        /* Cancel, then put: the item is the next getter's from the beginning. */
        {"getter_then_put", 0,
         "a-b: get; run cancel-a try-put-1 getters=0/1/1 => a.get:cancelled b.get=1"},
        /* Put, then cancel: the window. The item goes to the next getter in the step in which
         * the cancelled one runs. */
        {"put_then_getter", 0,
         "a-c: get; run try-put-1 cancel-a getters=2/1/0 step getters=1/1/0"
         " => a.get:cancelled b.get=1;"
         "try-put-2 => c.get=2"},
        /* The same without another getter: the item is there for whoever comes (bpo-23812), in
         * its place of the order. */
        {"put_then_the_only_getter", 0,
         "a: get; run try-put-1 cancel-a try-put-2 empty=yes => a.get:cancelled;"
         "empty=no try-get=1 try-get=2"},
        /* Two woken getters, both cancelled; two newcomers get what they left, in order. */
        {"two_puts_then_both_getters", 0,
         "a-b: get; run try-put-1 try-put-2 cancel-b cancel-a; c-d: get"
         " => a.get:cancelled b.get:cancelled c.get=1 d.get=2"},
        {"chain_of_getters_in_the_window", 0,
         "a-e: get; run try-put-1;"
         "getters=4/1/0 cancel-a turn -> a.get:cancelled;"
         "getters=3/1/0 cancel-b turn -> b.get:cancelled;"
         "getters=2/1/0 cancel-c turn -> c.get:cancelled;"
         "getters=1/1/0 cancel-d turn -> d.get:cancelled; run -> e.get=1"},
        /* A task that leaves does not take the promises of others: a is cancelled in its window
         * while b is in its own, and c gets a's item, in any order of steps. */
        {"one_of_two_woken_getters", 0,
         "a-c: get; run try-put-1 try-put-2 cancel-a step-0"
         " => a.get:cancelled b.get=1 c.get=2"},
        {"one_of_two_woken_getters", 0,
         "a-c: get; run try-put-1 try-put-2 cancel-a step-1"
         " => b.get=1 a.get:cancelled c.get=2"},
        {"second_request_while_cancelling_is_absorbed", 1,
         "a: ~get get ~put-3 put-4; run cancel-a cancel-a => a.get:cancelled;"
         "try-put-1 => a.get=1 a.put-3:ok;"
         "cancel-a cancel-a => a.put-4:cancelled; try-get=3"},
        /* A request made before: strikes where the task would wait, and only there. */
        {"request_made_before", 1,
         "a: cancel-self ~get cancel-self put-1 ~put-2 cancel-self get ~yield"
         " => a.get:cancelled a.put-1:ok a.put-2:cancelled a.get=1 a.yield:cancelled"},

        /* --- putters --- */
        /* An item that was not put needs no task_done. */
        {"putter_leaves_no_trace", 1,
         "try-put-1; a: put-2; b: put-3; c: put-4;"
         "run cancel-b putters=2/0/1 run putters=2/0/0 -> b.put-3:cancelled;"
         "d: get get get => d.get=1 a.put-2:ok d.get=2 c.put-4:ok d.get=4;"
         "unfinished=3"},
        /* A cancelled put has no effect, and may be tried again. */
        {"putter_may_try_again", 1,
         "try-put-1; a: ~put-2 put-2; run cancel-a => a.put-2:cancelled;"
         "try-get=1 => a.put-2:ok; try-get=2 size=0"},
        /* A put that did not wait is done, and stays, though its task is cancelled in the same
         * step. */
        {"put_that_is_done_stays", 1,
         "a: put-1 cancel-self ~yield => a.put-1:ok a.yield:cancelled; try-get=1"},
        /* Cancel, then get: the slot is the next putter's. */
        {"putter_then_get", 1,
         "try-put-1; a: put-2; b: put-3; run cancel-a try-get=1 putters=0/1/1"
         " => a.put-2:cancelled b.put-3:ok; try-get=3"},
        /* Get, then cancel: the window. The slot goes to the next putter in that same step; no
         * item of the cancelled put appears (bpo-23812), and the next putter is not stranded
         * (bpo-25233). */
        {"get_then_putter", 1,
         "try-put-1; a: put-2; b: put-3; c: put-4; run try-get=1 cancel-a putters=2/1/0;"
         "step putters=1/1/0 size=0 => a.put-2:cancelled b.put-3:ok;"
         "try-get=3 => c.put-4:ok; try-get=4"},
        /* The same without another putter: the slot is free for whoever comes. */
        {"get_then_the_only_putter", 1,
         "try-put-1; a: put-2; run try-get=1 cancel-a full=yes => a.put-2:cancelled;"
         "full=no try-put-3 try-get=3"},
        {"chain_of_putters_in_the_window", 1,
         "try-put-1; a-e: put-2; run try-get=1;"
         "putters=4/1/0 cancel-a turn -> a.put-2:cancelled;"
         "putters=3/1/0 cancel-b turn -> b.put-2:cancelled;"
         "putters=2/1/0 cancel-c turn -> c.put-2:cancelled;"
         "putters=1/1/0 cancel-d turn -> d.put-2:cancelled;"
         "run -> e.put-2:ok; try-get=2"},
        /* Both sides at once: a woken getter and, behind a full queue, putters. The getter is
         * cancelled, its item stays, and no slot appears that is not there. */
        {"getter_of_a_full_queue", 1,
         "a: get; run try-put-1; b: put-2; step-1 putters=1/0/0;"
         "cancel-a => a.get:cancelled; putters=1/0/0 try-get=1 => b.put-2:ok; try-get=2"},
        {NULL, 0, NULL},
    };
    tst_play_sized_rows(rows, play_fifo);
}

/* The order of a LIFO, or by priority, is not touched by a cancelled getter: nothing is put back.
 */
Test(queue_cancel, getter_does_not_change_the_order) {
    for (int kind = BZ_QUEUE_LIFO; kind <= BZ_QUEUE_PRIORITY; kind++) {
        play_queue((enum bz_queue_kind)kind, 0,
                   "a: get; run try-put-31 try-put-21 cancel-a try-put-11 => a.get:cancelled;"
                   "try-get=11 try-get=21 try-get=31");
    }
}
