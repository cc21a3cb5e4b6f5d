/* Queue: shutdown, in every state and in every window. Each case runs over all three kinds. */
#include "primitives/sync/tests/stage_hall.h"

#define FOR_EACH_KIND(hall, maxsize)                                                               \
    for (int kind = 0;                                                                             \
         kind < 3 && (hall_begin_with(hall, 2, (enum bz_queue_kind)kind, maxsize), true); kind++)

/* Nothing can be put, nothing can be got, nobody waits; for good. */
static void expect_dead(struct hall *hall) {
    uint64_t value = 0;
    tst_status(bz_queue_try_put(&hall->queue, 1), BZ_CLOSED);
    tst_status(bz_queue_put(&hall->queue, 1), BZ_CLOSED);
    tst_status(bz_queue_try_get(&hall->queue, &value), BZ_CLOSED);
    tst_status(bz_queue_get(&hall->queue, &value), BZ_CLOSED);
    hall_check(hall);
}

Test(queue_close, empty) {
    struct hall hall;
    for (int is_immediate = 0; is_immediate < 2; is_immediate++) {
        FOR_EACH_KIND(&hall, 0) {
            hall_guests(&hall, 'a', 'b', "get");
            hall_run(&hall);
            hall_close(&hall, is_immediate);
            expect_dead(&hall); /* before those who waited have resumed, too */
            tst_status(bz_queue_join(&hall.queue), BZ_OK);
            hall_run(&hall);
            expect_dead(&hall);
            hall_end(&hall, "a.get:closed b.get:closed");
        }
    }
}

/* What is there can be got; putters are turned away at once; join waits for what is got. */
Test(queue_close, with_items) {
    struct hall hall;
    FOR_EACH_KIND(&hall, 1) {
        hall_give(&hall, 1);
        hall_guest(&hall, 'a', "put-2");
        hall_guest(&hall, 'b', "drain");
        hall_run(&hall);
        hall_close(&hall, false);
        tst_status(bz_queue_put(&hall.queue, 3), BZ_CLOSED);
        hall_run(&hall);
        tst_expect(&hall.log, "a.put-2:closed");
        hall_take(&hall, 1);
        expect_dead(&hall);
        hall_run(&hall);
        tst_expect(&hall.log, "a.put-2:closed");
        tst_status(bz_queue_task_done(&hall.queue), BZ_OK);
        hall_end(&hall, "a.put-2:closed b.drain:ok");
    }
}

/* Items are dropped as if they had been got and done. */
Test(queue_close, immediately_with_items) {
    struct hall hall;
    FOR_EACH_KIND(&hall, 2) {
        hall_give(&hall, 1);
        hall_give(&hall, 2);
        hall_guest(&hall, 'a', "put-3");
        hall_guest(&hall, 'b', "drain");
        hall_run(&hall);
        hall_close(&hall, true);
        expect_dead(&hall);
        cr_assert(eq(u64, hall.queue.unfinished, 0));
        hall_end(&hall, "b.drain:ok a.put-3:closed");
    }
}

/* An item that was taken is still to be done. */
Test(queue_close, immediately_with_an_item_taken) {
    struct hall hall;
    FOR_EACH_KIND(&hall, 0) {
        hall_give(&hall, 1);
        hall_give(&hall, 2);
        uint64_t value = 0;
        tst_status(hall_get(&hall, &value, false), BZ_OK);
        hall_guest(&hall, 'a', "drain");
        hall_run(&hall);
        hall_close(&hall, true);
        hall_run(&hall);
        tst_expect(&hall.log, "");
        tst_status(bz_queue_task_done(&hall.queue), BZ_OK);
        tst_status(bz_queue_task_done(&hall.queue), BZ_INVALID_STATE);
        hall_end(&hall, "a.drain:ok");
    }
}

/* More was said to be done than was taken: the counter stops at 0. */
Test(queue_close, immediately_with_more_done_than_taken) {
    struct hall hall;
    FOR_EACH_KIND(&hall, 0) {
        hall_give(&hall, 1);
        hall_give(&hall, 2);
        tst_status(bz_queue_task_done(&hall.queue), BZ_OK);
        hall_close(&hall, true);
        cr_assert(eq(u64, hall.queue.unfinished, 0));
        tst_status(bz_queue_join(&hall.queue), BZ_OK);
        hall_end(&hall, "");
    }
}

Test(queue_close, may_be_done_twice) {
    struct hall hall;
    FOR_EACH_KIND(&hall, 0) {
        hall_give(&hall, 1);
        hall_close(&hall, false);
        hall_close(&hall, false);
        cr_assert(eq(u32, bz_queue_size(&hall.queue), 1));
        hall_close(&hall, true);
        expect_dead(&hall);
        hall_close(&hall, false);
        expect_dead(&hall);
        hall_end(&hall, "");
    }
}

/* --- windows ---------------------------------------------------------------------------------- */

/* A woken getter keeps its promise; who waits behind it is told once no item can come back. */
Test(queue_close, with_a_woken_getter) {
    struct hall hall;
    FOR_EACH_KIND(&hall, 0) {
        hall_guest(&hall, 'a', "get");
        hall_run(&hall);
        hall_give(&hall, 1);
        hall_guest(&hall, 'b', "get");
        hall_step(&hall, 1);
        hall_close(&hall, false);
        hall_expect_queue(&hall.queue.getters, 1, 1, 0);
        uint64_t value = 0;
        tst_status(bz_queue_try_get(&hall.queue, &value), BZ_EMPTY);
        hall_end(&hall, "a.get=1 b.get:closed");
    }
}

/* It is cancelled: its item goes to who waits behind it, closed or not. */
Test(queue_close, with_a_woken_getter_that_is_cancelled) {
    struct hall hall;
    FOR_EACH_KIND(&hall, 0) {
        hall_guests(&hall, 'a', 'c', "get");
        hall_run(&hall);
        hall_give(&hall, 1);
        hall_close(&hall, false);
        hall_cancel(&hall, 'a');
        hall_end(&hall, "a.get:cancelled b.get=1 c.get:closed");
    }
}

/* A newcomer to a closed queue whose items are all promised waits, too. */
Test(queue_close, newcomer_waits_for_a_promised_item) {
    struct hall hall;
    FOR_EACH_KIND(&hall, 0) {
        hall_guest(&hall, 'a', "get");
        hall_run(&hall);
        hall_give(&hall, 1);
        hall_close(&hall, false);
        hall_guests(&hall, 'b', 'c', "get");
        hall_step(&hall, 1);
        hall_step(&hall, 1);
        hall_expect_queue(&hall.queue.getters, 2, 1, 0);
        hall_cancel(&hall, 'a');
        hall_end(&hall, "a.get:cancelled b.get=1 c.get:closed");
    }
}

/* The promised item is dropped. */
Test(queue_close, immediately_with_a_woken_getter) {
    struct hall hall;
    FOR_EACH_KIND(&hall, 0) {
        hall_guests(&hall, 'a', 'c', "get");
        hall_run(&hall);
        hall_give(&hall, 1);
        hall_give(&hall, 2);
        hall_cancel(&hall, 'b');
        hall_close(&hall, true);
        expect_dead(&hall);
        hall_end(&hall, "a.get:closed b.get:cancelled c.get:closed");
    }
}

/* A woken putter has not put: it is turned away, and nothing appears in a closed queue. */
Test(queue_close, with_a_woken_putter) {
    struct hall hall;
    for (int is_immediate = 0; is_immediate < 2; is_immediate++) {
        FOR_EACH_KIND(&hall, 1) {
            hall_give(&hall, 1);
            hall_guests(&hall, 'a', 'c', "put-2");
            hall_run(&hall);
            hall_take(&hall, 1);
            hall_cancel(&hall, 'b');
            hall_close(&hall, is_immediate);
            expect_dead(&hall);
            hall_run(&hall);
            expect_dead(&hall);
            hall_end(&hall, "a.put-2:closed b.put-2:cancelled c.put-2:closed");
        }
    }
}

/* Close and cancel in one turn: the cancellation is told, in both orders. */
Test(queue_close, and_cancel) {
    struct hall hall;
    for (int order = 0; order < 2; order++) {
        FOR_EACH_KIND(&hall, 0) {
            hall_guest(&hall, 'a', "~get get");
            hall_run(&hall);
            if (order == 0) {
                hall_cancel(&hall, 'a');
            }
            hall_close(&hall, false);
            if (order == 1) {
                hall_cancel(&hall, 'a');
            }
            hall_end(&hall, "a.get:cancelled a.get:closed");
        }
    }
}

/* A consumer that gets until the end. */
Test(queue_close, ends_a_consumer) {
    struct hall hall;
    hall_begin_with(&hall, 2, BZ_QUEUE_FIFO, 2);
    hall_guest(&hall, 'a', "get get get get get");
    hall_guest(&hall, 'b', "put-1 put-2 put-3 put-4 close");
    hall_run(&hall);
    cr_assert(strstr(hall.log.text, "a.get=4 a.get:closed") != NULL);
    tst_forget(&hall.log);
    hall_end(&hall, "");
}
