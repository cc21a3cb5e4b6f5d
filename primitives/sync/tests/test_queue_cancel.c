/* Queue: a cancel in every window of a get and of a put. Nothing is lost, doubled, or stranded. */
#include "primitives/sync/tests/stage_hall.h"

static void begin(struct hall *hall, enum bz_queue_kind kind, uint32_t maxsize) {
    hall_begin_with(hall, 2, kind, maxsize);
}

/* --- getters ---------------------------------------------------------------------------------- */

Test(queue_cancel, getter_leaves_no_trace) {
    struct hall hall;
    begin(&hall, BZ_QUEUE_FIFO, 0);
    hall_guests(&hall, 'a', 'c', "get");
    hall_run(&hall);
    hall_cancel(&hall, 'b');
    hall_expect_queue(&hall.queue.getters, 2, 0, 1);
    hall_run(&hall);
    hall_expect_queue(&hall.queue.getters, 2, 0, 0);
    hall_give(&hall, 1);
    hall_give(&hall, 2);
    hall_end(&hall, "b.get:cancelled a.get=1 c.get=2");
}

/* An idle queue keeps nothing of those who gave up. */
Test(queue_cancel, many_getters_leave_no_trace) {
    struct hall hall;
    begin(&hall, BZ_QUEUE_FIFO, 0);
    hall_guest(&hall, 'a', "~get ~get ~get ~get");
    for (unsigned round = 0; round < 4; round++) {
        hall_run(&hall);
        hall_expect_queue(&hall.queue.getters, 1, 0, 0);
        hall_cancel(&hall, 'a');
    }
    hall_end(&hall, "a.get:cancelled a.get:cancelled a.get:cancelled a.get:cancelled");
}

/* Cancel, then put: the item is the next getter's from the beginning. */
Test(queue_cancel, getter_then_put) {
    struct hall hall;
    begin(&hall, BZ_QUEUE_FIFO, 0);
    hall_guests(&hall, 'a', 'b', "get");
    hall_run(&hall);
    hall_cancel(&hall, 'a');
    hall_give(&hall, 1);
    hall_expect_queue(&hall.queue.getters, 0, 1, 1);
    hall_end(&hall, "a.get:cancelled b.get=1");
}

/* Put, then cancel: the window. The item goes to the next getter in the step in which the cancelled
 * one runs. */
Test(queue_cancel, put_then_getter) {
    struct hall hall;
    begin(&hall, BZ_QUEUE_FIFO, 0);
    hall_guests(&hall, 'a', 'c', "get");
    hall_run(&hall);
    hall_give(&hall, 1);
    hall_cancel(&hall, 'a');
    hall_expect_queue(&hall.queue.getters, 2, 1, 0);
    hall_step(&hall, 0);
    hall_expect_queue(&hall.queue.getters, 1, 1, 0);
    hall_run(&hall);
    tst_expect(&hall.log, "a.get:cancelled b.get=1");
    hall_give(&hall, 2);
    hall_end(&hall, "a.get:cancelled b.get=1 c.get=2");
}

/* The same without another getter: the item is there for whoever comes (bpo-23812), in its place
 * of the order. */
Test(queue_cancel, put_then_the_only_getter) {
    struct hall hall;
    begin(&hall, BZ_QUEUE_FIFO, 0);
    hall_guest(&hall, 'a', "get");
    hall_run(&hall);
    hall_give(&hall, 1);
    hall_cancel(&hall, 'a');
    hall_give(&hall, 2);
    cr_assert(bz_queue_empty(&hall.queue), "promised");
    hall_run(&hall);
    cr_assert(not(bz_queue_empty(&hall.queue)));
    hall_take(&hall, 1);
    hall_take(&hall, 2);
    hall_end(&hall, "a.get:cancelled");
}

/* Two woken getters, both cancelled; two newcomers get what they left, in order. */
Test(queue_cancel, two_puts_then_both_getters) {
    struct hall hall;
    begin(&hall, BZ_QUEUE_FIFO, 0);
    hall_guests(&hall, 'a', 'b', "get");
    hall_run(&hall);
    hall_give(&hall, 1);
    hall_give(&hall, 2);
    hall_cancel(&hall, 'b');
    hall_cancel(&hall, 'a');
    hall_guests(&hall, 'c', 'd', "get");
    hall_end(&hall, "a.get:cancelled b.get:cancelled c.get=1 d.get=2");
}

Test(queue_cancel, chain_of_getters_in_the_window) {
    struct hall hall;
    begin(&hall, BZ_QUEUE_FIFO, 0);
    hall_guests(&hall, 'a', 'e', "get");
    hall_run(&hall);
    hall_give(&hall, 1);
    for (char name = 'a'; name < 'e'; name++) {
        hall_expect_queue(&hall.queue.getters, (uint32_t)('e' - name), 1, 0);
        hall_cancel(&hall, name);
        hall_turn(&hall);
    }
    hall_end(&hall, "a.get:cancelled b.get:cancelled c.get:cancelled d.get:cancelled e.get=1");
}

/* Whoever leaves, what is promised to the others stays theirs: a is cancelled in its window while b
 * is in its own, and c gets a's item, whatever the order in which they run. */
Test(queue_cancel, one_of_two_woken_getters) {
    for (uint32_t first = 0; first < 2; first++) {
        struct hall hall;
        begin(&hall, BZ_QUEUE_FIFO, 0);
        hall_guests(&hall, 'a', 'c', "get");
        hall_run(&hall);
        hall_give(&hall, 1);
        hall_give(&hall, 2);
        hall_cancel(&hall, 'a');
        hall_step(&hall, first);
        hall_end(&hall, first == 0 ? "a.get:cancelled b.get=1 c.get=2"
                                   : "b.get=1 a.get:cancelled c.get=2");
    }
}

/* The order of a LIFO, or by priority, is not touched by a cancelled getter: nothing is put back.
 */
Test(queue_cancel, getter_does_not_change_the_order) {
    for (int kind = BZ_QUEUE_LIFO; kind <= BZ_QUEUE_PRIORITY; kind++) {
        struct hall hall;
        begin(&hall, (enum bz_queue_kind)kind, 0);
        hall_guest(&hall, 'a', "get");
        hall_run(&hall);
        hall_give(&hall, 31);
        hall_give(&hall, 21);
        hall_cancel(&hall, 'a');
        hall_give(&hall, 11);
        hall_run(&hall);
        hall_take(&hall, 11);
        hall_take(&hall, 21);
        hall_take(&hall, 31);
        hall_end(&hall, "a.get:cancelled");
    }
}

Test(queue_cancel, second_request_while_cancelling_is_absorbed) {
    struct hall hall;
    begin(&hall, BZ_QUEUE_FIFO, 1);
    hall_guest(&hall, 'a', "~get get ~put-3 put-4");
    hall_run(&hall);
    hall_cancel(&hall, 'a');
    hall_cancel(&hall, 'a');
    hall_run(&hall);
    hall_give(&hall, 1);
    hall_run(&hall);
    tst_expect(&hall.log, "a.get:cancelled a.get=1 a.put-3:ok");
    hall_cancel(&hall, 'a');
    hall_cancel(&hall, 'a');
    hall_run(&hall);
    hall_take(&hall, 3);
    hall_end(&hall, "a.get:cancelled a.get=1 a.put-3:ok a.put-4:cancelled");
}

/* A request made before: strikes where the task would wait, and only there. */
Test(queue_cancel, request_made_before) {
    struct hall hall;
    begin(&hall, BZ_QUEUE_FIFO, 1);
    hall_guest(&hall, 'a', "cancel-self ~get cancel-self put-1 ~put-2 cancel-self get ~yield");
    hall_end(&hall, "a.get:cancelled a.put-1:ok a.put-2:cancelled a.get=1 a.yield:cancelled");
}

/* --- putters ---------------------------------------------------------------------------------- */

Test(queue_cancel, putter_leaves_no_trace) {
    struct hall hall;
    begin(&hall, BZ_QUEUE_FIFO, 1);
    hall_give(&hall, 1);
    hall_guest(&hall, 'a', "put-2");
    hall_guest(&hall, 'b', "put-3");
    hall_guest(&hall, 'c', "put-4");
    hall_run(&hall);
    hall_cancel(&hall, 'b');
    hall_expect_queue(&hall.queue.putters, 2, 0, 1);
    hall_run(&hall);
    hall_expect_queue(&hall.queue.putters, 2, 0, 0);
    hall_guest(&hall, 'd', "get get get");
    hall_end(&hall, "b.put-3:cancelled d.get=1 a.put-2:ok d.get=2 c.put-4:ok d.get=4");
    cr_assert(eq(u64, hall.queue.unfinished, 3)); /* what was not put needs no task_done */
}

/* A cancelled put has no effect, and may be tried again. */
Test(queue_cancel, putter_may_try_again) {
    struct hall hall;
    begin(&hall, BZ_QUEUE_FIFO, 1);
    hall_give(&hall, 1);
    hall_guest(&hall, 'a', "~put-2 put-2");
    hall_run(&hall);
    hall_cancel(&hall, 'a');
    hall_run(&hall);
    hall_take(&hall, 1);
    hall_run(&hall);
    hall_take(&hall, 2);
    cr_assert(eq(u32, bz_queue_size(&hall.queue), 0));
    hall_end(&hall, "a.put-2:cancelled a.put-2:ok");
}

/* A put that did not wait is done, and stays, though its task is cancelled in the same step. */
Test(queue_cancel, put_that_is_done_stays) {
    struct hall hall;
    begin(&hall, BZ_QUEUE_FIFO, 1);
    hall_guest(&hall, 'a', "put-1 cancel-self ~yield");
    hall_run(&hall);
    hall_take(&hall, 1);
    hall_end(&hall, "a.put-1:ok a.yield:cancelled");
}

/* Cancel, then get: the slot is the next putter's. */
Test(queue_cancel, putter_then_get) {
    struct hall hall;
    begin(&hall, BZ_QUEUE_FIFO, 1);
    hall_give(&hall, 1);
    hall_guest(&hall, 'a', "put-2");
    hall_guest(&hall, 'b', "put-3");
    hall_run(&hall);
    hall_cancel(&hall, 'a');
    hall_take(&hall, 1);
    hall_expect_queue(&hall.queue.putters, 0, 1, 1);
    hall_run(&hall);
    hall_take(&hall, 3);
    hall_end(&hall, "a.put-2:cancelled b.put-3:ok");
}

/* Get, then cancel: the window. The slot goes to the next putter in that same step; no item of the
 * cancelled put appears (bpo-23812), and the next putter is not stranded (bpo-25233). */
Test(queue_cancel, get_then_putter) {
    struct hall hall;
    begin(&hall, BZ_QUEUE_FIFO, 1);
    hall_give(&hall, 1);
    hall_guest(&hall, 'a', "put-2");
    hall_guest(&hall, 'b', "put-3");
    hall_guest(&hall, 'c', "put-4");
    hall_run(&hall);
    hall_take(&hall, 1);
    hall_cancel(&hall, 'a');
    hall_expect_queue(&hall.queue.putters, 2, 1, 0);
    hall_step(&hall, 0);
    hall_expect_queue(&hall.queue.putters, 1, 1, 0);
    cr_assert(eq(u32, bz_queue_size(&hall.queue), 0));
    hall_run(&hall);
    hall_take(&hall, 3);
    hall_run(&hall);
    hall_take(&hall, 4);
    hall_end(&hall, "a.put-2:cancelled b.put-3:ok c.put-4:ok");
}

/* The same without another putter: the slot is free for whoever comes. */
Test(queue_cancel, get_then_the_only_putter) {
    struct hall hall;
    begin(&hall, BZ_QUEUE_FIFO, 1);
    hall_give(&hall, 1);
    hall_guest(&hall, 'a', "put-2");
    hall_run(&hall);
    hall_take(&hall, 1);
    hall_cancel(&hall, 'a');
    cr_assert(bz_queue_full(&hall.queue), "promised");
    hall_run(&hall);
    cr_assert(not(bz_queue_full(&hall.queue)));
    hall_give(&hall, 3);
    hall_take(&hall, 3);
    hall_end(&hall, "a.put-2:cancelled");
}

Test(queue_cancel, chain_of_putters_in_the_window) {
    struct hall hall;
    begin(&hall, BZ_QUEUE_FIFO, 1);
    hall_give(&hall, 1);
    hall_guests(&hall, 'a', 'e', "put-2");
    hall_run(&hall);
    hall_take(&hall, 1);
    for (char name = 'a'; name < 'e'; name++) {
        hall_expect_queue(&hall.queue.putters, (uint32_t)('e' - name), 1, 0);
        hall_cancel(&hall, name);
        hall_turn(&hall);
    }
    hall_run(&hall);
    hall_take(&hall, 2);
    hall_end(&hall, "a.put-2:cancelled b.put-2:cancelled c.put-2:cancelled d.put-2:cancelled "
                    "e.put-2:ok");
}

/* Both sides at once: a woken getter and, behind a full queue, putters. The getter is cancelled,
 * its item stays, and no slot appears that is not there. */
Test(queue_cancel, getter_of_a_full_queue) {
    struct hall hall;
    begin(&hall, BZ_QUEUE_FIFO, 1);
    hall_guest(&hall, 'a', "get");
    hall_run(&hall);
    hall_give(&hall, 1);
    hall_guest(&hall, 'b', "put-2");
    hall_step(&hall, 1);
    hall_expect_queue(&hall.queue.putters, 1, 0, 0);
    hall_cancel(&hall, 'a');
    hall_run(&hall);
    hall_expect_queue(&hall.queue.putters, 1, 0, 0);
    hall_take(&hall, 1);
    hall_run(&hall);
    hall_take(&hall, 2);
    hall_end(&hall, "a.get:cancelled b.put-2:ok");
}
