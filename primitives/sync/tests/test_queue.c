/* Queue: order, bounds, who is served first, task_done and join; cancels in every window; shutdown.
 */
#include "primitives/sync/tests/stage_hall.h"

/* Plays a timeline; the guests must get `expected`, in this order. */
static void play_gets(uint32_t maxsize, const char *timeline, const char *expected) {
    struct hall hall;
    char gets[sizeof hall.stage.log.text] = "";
    hall_begin(&hall, 2, BZ_QUEUE_FIFO, maxsize);
    tst_play(&hall.stage, timeline);
    for (char *word = strtok(hall.stage.log.text, " "); word != NULL; word = strtok(NULL, " ")) {
        if (strstr(word, "get=") != NULL) {
            strcat(strcat(gets, gets[0] == '\0' ? "" : " "), word);
        }
    }
    tst_text(gets, expected);
    tst_forget(&hall.stage.log);
    hall_end(&hall);
}

/* Puts the values 0 to count - 1 without waiting, and gets them again. */
static void put_and_get(struct hall *hall, uint64_t count) {
    uint64_t value = 0;
    for (; hall->stored < count; hall_check(&hall->stage)) {
        tst_status(bz_queue_try_put_priority(&hall->queue, hall->stored, (int64_t)hall->stored),
                   BZ_OK);
        hall->stored++;
    }
    tst_act(&hall->stage, "empty=no");
    cr_assert_eq(bz_queue_full(&hall->queue), hall->queue.maxsize == count);
    for (; hall->stored > 0; hall_check(&hall->stage)) {
        tst_status(bz_queue_try_get(&hall->queue, &value), BZ_OK);
        cr_assert_eq(value, count - hall->stored--);
    }
}

/* --- without waiting -------------------------------------------------------------------------- */

Test(queue, timelines) {
    static const struct tst_sized_row rows[] = {
        {"is_empty_and_full", 2,
         "size=0 empty=yes full=no try-put-1 size=1 empty=no full=no;"
         "try-put-2 size=2 empty=no full=yes try-put-3:full size=2 empty=no full=yes;"
         "try-get=1 try-get=2 try-get:empty"},

        /* --- waiting --- */
        {"getters_wait_and_are_served_in_order", 0,
         "a-c: get; run getters=3/0/0; d: put-1 put-2 put-3"
         " => d.put-1:ok d.put-2:ok d.put-3:ok a.get=1 b.get=2 c.get=3"},
        {"putters_wait_and_are_served_in_order", 1,
         "a: put-1 put-2; b: put-3 => a.put-1:ok; putters=2/0/0;"
         "c: get get get => c.get=1 a.put-2:ok c.get=2 b.put-3:ok c.get=3"},
        /* The third put waits until the getter has made room; nothing is overtaken. The slot is
         * promised before the putter has run. */
        {"bound_is_kept", 2,
         "a: put-1 put-2 put-3 => a.put-1:ok a.put-2:ok;"
         "size=2 empty=no full=yes try-get=1 size=1 empty=no full=yes;"
         "run size=2 empty=no full=yes -> a.put-3:ok; try-get=2 try-get=3"},

        /* --- nobody overtakes --- */
        /* The slot that a get has freed is the waiting putter's; the items come out in the order
         * of the puts (gh-83055). b and c run before a has resumed. */
        {"newcomer_cannot_take_the_slot_of_a_woken_putter", 1,
         "try-put-1; a: put-2; run try-get=1 size=0 empty=yes full=yes try-put-3:full;"
         "b: try-put-4; c: put-5; step-1 step-1 -> b.try-put-4:full; putters=1/1/0;"
         "d: get get => a.put-2:ok d.get=2 c.put-5:ok d.get=5"},
        /* The item that a put has brought is the waiting getter's. */
        {"newcomer_cannot_take_the_item_of_a_woken_getter", 0,
         "a: get; run try-put-1 size=1 empty=yes full=no try-get:empty;"
         "b: try-get; c: get; step-1 step-1 -> b.try-get:empty; getters=1/1/0;"
         "try-put-2 => a.get=1 c.get=2"},
        /* A newcomer parks behind a woken getter though there is an item for it; the resume
         * wakes all that are served then, not one each. */
        {"newcomers_park_behind_the_woken", 0,
         "a: get; run try-put-1 try-put-2 try-put-3; b-c: get;"
         "step-1 step-1 getters=2/1/0 step getters=0/2/0 => a.get=1 b.get=2 c.get=3"},
        {"putters_park_behind_the_woken", 3,
         "try-put-1 try-put-2 try-put-3; a: put-4; run try-get=1 try-get=2 try-get=3;"
         "b: put-5; c: put-6; step-1 step-1 putters=2/1/0 step putters=0/2/0;"
         "d: get get get"
         " => a.put-4:ok b.put-5:ok c.put-6:ok d.get=4 d.get=5 d.get=6"},

        /* --- task_done and join --- */
        {"task_done_too_many_is_refused", 0,
         "done:invalid-state try-put-1 try-get=1 done done:invalid-state"},
        {"join_of_an_unused_one_returns_at_once", 0, "drain"},
        /* A put after the last task_done does not call back who was woken. */
        {"join_that_was_woken_returns_whatever_is_put", 0,
         "a: put-1 get drain => a.put-1:ok a.get=1; done try-put-2;"
         "b: drain => a.drain:ok; try-get=2 done => b.drain:ok"},
        /* Waiting; cancelled, then done; done, then cancelled. */
        {"join_can_be_cancelled", 0,
         "a: put-1 get drain => a.put-1:ok a.get=1;"
         "cancel-a => a.drain:cancelled; unfinished=1"},
        {"join_can_be_cancelled", 0,
         "a: put-1 get drain => a.put-1:ok a.get=1;"
         "cancel-a done => a.drain:cancelled; unfinished=0"},
        {"join_can_be_cancelled", 0,
         "a: put-1 get drain => a.put-1:ok a.get=1;"
         "done cancel-a => a.drain:cancelled; unfinished=0"},
        {NULL, 0, NULL},
    };
    tst_play_sized_rows(rows, play_fifo);
}

Test(queue, without_a_bound_is_never_full) {
    struct hall hall;
    hall_begin(&hall, 2, BZ_QUEUE_FIFO, 0);
    put_and_get(&hall, 1000);
    hall_end(&hall);
}

Test(queue, orders_items_by_its_kind) {
    static const char *const stories[] = {
        "a.get=13 a.get=31 a.get=12 a.get=21 a.get=11",
        "a.get=11 a.get=21 a.get=12 a.get=31 a.get=13",
        "a.get=13 a.get=12 a.get=11 a.get=21 a.get=31",
    };
    for (int kind = 0; kind < 3; kind++) {
        for (uint32_t maxsize = 0; maxsize < 6; maxsize += 5) {
            char timeline[200];
            snprintf(timeline, sizeof timeline,
                     "try-put-13 try-put-31 try-put-12 try-put-21 try-put-11;"
                     "a: get get get get get => %s",
                     stories[kind]);
            play_queue((enum bz_queue_kind)kind, maxsize, timeline);
        }
    }
}

/* A put without a priority has the priority 0. Outside a task there must be room, or an item. */
Test(queue, has_a_middle_priority) {
    struct hall hall;
    hall_begin(&hall, 2, BZ_QUEUE_PRIORITY, 3);
    tst_status(bz_queue_try_put_priority(&hall.queue, 1, 1), BZ_OK);
    tst_status(bz_queue_try_put(&hall.queue, 2), BZ_OK);
    tst_status(bz_queue_put_priority(&hall.queue, 3, -1), BZ_OK);
    hall.stored = 3;
    tst_play(&hall.stage, "try-get=3 try-get=2 try-get=1");
    tst_status(bz_queue_put(&hall.queue, 4), BZ_OK);
    hall.stored = 1;
    tst_play(&hall.stage, "get=4");
    hall_end(&hall);
}

/* --- memory ----------------------------------------------------------------------------------- */

Test(queue, with_a_bound_has_its_memory_from_the_beginning) {
    struct hall hall;
    hall_begin(&hall, 2, BZ_QUEUE_PRIORITY, 100);
    uint64_t blocks = bz_mem_live_blocks(bz_loop_mem(hall.stage.loop));
    for (unsigned round = 0; round < 3; round++) {
        put_and_get(&hall, 100);
    }
    cr_assert_eq(bz_mem_live_blocks(bz_loop_mem(hall.stage.loop)), blocks);
    hall_end(&hall);
}

/* A put that finds no memory has no effect, and the queue serves on. */
Test(queue, tells_when_there_is_no_memory) {
    struct bz_loop_config config = {.mem_limit_bytes = 64 * 1024};
    struct bz_loop *loop = tst_begin_with(&config);
    struct bz_queue queue;
    tst_status(bz_queue_init(&queue, loop, BZ_QUEUE_FIFO, 64 * 1024), BZ_NO_MEMORY);
    tst_status(bz_queue_init(&queue, loop, BZ_QUEUE_FIFO, 0), BZ_OK);
    uint64_t count = 0;
    enum bz_status status;
    while ((status = bz_queue_put(&queue, count)) == BZ_OK) {
        count++;
    }
    tst_status(status, BZ_NO_MEMORY);
    cr_assert_eq(bz_queue_size(&queue), count);
    cr_assert_eq(queue.unfinished, count);
    for (uint64_t expected = 0; expected < count; expected++) {
        uint64_t value = 0;
        tst_status(bz_queue_try_get(&queue, &value), BZ_OK);
        cr_assert_eq(value, expected);
    }
    bz_queue_fini(&queue);
    tst_end(loop);
}

/* --- waiting ---------------------------------------------------------------------------------- */

/* A producer and a consumer over one slot run to the end. */
Test(queue, of_one_slot_passes_everything) {
    play_gets(1, "a: get get get get; b: put-1 put-2 put-3 put-4; run",
              "a.get=1 a.get=2 a.get=3 a.get=4");
}

/* --- nobody overtakes ------------------------------------------------------------------------- */

/* A task that gets repeatedly does not starve the others. */
Test(queue, getters_that_come_back_take_turns) {
    play_gets(1, "a-b: get get get; c: put-1 put-2 put-3 put-4 put-5 put-6; run size=0",
              "a.get=1 b.get=2 a.get=3 b.get=4 a.get=5 b.get=6");
}

/* The promise is for an item, not for a certain one: the best at the time of the resume. */
Test(queue, better_item_that_comes_in_the_window_is_served_first) {
    for (int kind = BZ_QUEUE_LIFO; kind <= BZ_QUEUE_PRIORITY; kind++) {
        play_queue((enum bz_queue_kind)kind, 0,
                   "a: get; run try-put-31 try-put-11 => a.get=11; try-get=31");
    }
}

/* --- task_done and join ----------------------------------------------------------------------- */

/* Of every kind: each put counts, and taken is not done. */
Test(queue, join_waits_until_all_is_done) {
    static const char *const gets[] = {"try-get=11 try-get=21", "try-get=21 try-get=11",
                                       "try-get=11 try-get=21"};
    for (int kind = 0; kind < 3; kind++) {
        struct hall hall;
        hall_begin(&hall, 2, (enum bz_queue_kind)kind, 0);
        tst_play(&hall.stage, "a: put-11 put-21 drain; b: drain => a.put-11:ok a.put-21:ok");
        tst_play(&hall.stage, gets[kind]);
        tst_play(&hall.stage, "run done => ; done => a.drain:ok b.drain:ok");
        hall_end(&hall);
    }
}

/* --- cancels: nothing is lost, doubled, or stranded --------------------------------------------
 */

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

/* --- shutdown, of each kind --------------------------------------------------------------------
 */

static void play_each(uint32_t maxsize, const char *timeline) {
    for (int kind = 0; kind < 3; kind++) {
        play_queue((enum bz_queue_kind)kind, maxsize, timeline);
    }
}

/* Nothing can be put, nothing can be got, nobody waits; for good. */
#define DEAD " try-put-1:closed put-1:closed try-get:closed get:closed "

Test(queue_close, timelines) {
    static const struct tst_sized_row rows[] = {
        /* It is dead before those who waited have resumed, too. */
        {"empty", 0, "a-b: get; run close" DEAD "drain run" DEAD "-> a.get:closed b.get:closed"},
        {"empty", 0,
         "a-b: get; run close-now" DEAD "drain run" DEAD "-> a.get:closed b.get:closed"},
        /* The remaining items can be got; putters are refused at once; join waits for the items. */
        {"with_items", 1,
         "try-put-1; a: put-2; b: drain; run close put-3:closed => a.put-2:closed;"
         "try-get=1" DEAD "=> ; done => b.drain:ok"},
        /* Items are dropped as if they had been got and done. */
        {"immediately_with_items", 2,
         "try-put-1 try-put-2; a: put-3; b: drain;"
         "run close-now" DEAD "unfinished=0 => b.drain:ok a.put-3:closed"},
        /* An item that was taken is still to be done. */
        {"immediately_with_an_item_taken", 0,
         "try-put-1 try-put-1 try-get=1; a: drain; run close-now => ;"
         "done done:invalid-state => a.drain:ok"},
        /* More was said to be done than was taken: the counter stops at 0. */
        {"immediately_with_more_done_than_taken", 0,
         "try-put-1 try-put-2 done close-now unfinished=0 drain"},
        {"may_be_done_twice", 0, "try-put-1 close close size=1 close-now" DEAD "close" DEAD},

        /* --- windows --- */
        /* A woken getter keeps its promise; the getter behind it returns when no item can come
         * back. */
        {"with_a_woken_getter", 0,
         "a: get; run try-put-1; b: get; step-1 close getters=1/1/0 try-get:empty"
         " => a.get=1 b.get:closed"},
        /* It is cancelled: its item goes to who waits behind it, closed or not. */
        {"with_a_woken_getter_that_is_cancelled", 0,
         "a-c: get; run try-put-1 close cancel-a"
         " => a.get:cancelled b.get=1 c.get:closed"},
        /* A newcomer to a closed queue whose items are all promised waits, too. */
        {"newcomer_waits_for_a_promised_item", 0,
         "a: get; run try-put-1 close; b-c: get; step-1 step-1 getters=2/1/0 cancel-a"
         " => a.get:cancelled b.get=1 c.get:closed"},
        /* The promised item is dropped. */
        {"immediately_with_a_woken_getter", 0,
         "a-c: get; run try-put-1 try-put-2 cancel-b close-now" DEAD
         "=> a.get:closed b.get:cancelled c.get:closed"},
        /* A woken putter has not put: it is turned away, and nothing appears in a closed queue. */
        {"with_a_woken_putter", 1,
         "try-put-1; a-c: put-2; run try-get=1 cancel-b close" DEAD "run" DEAD
         "-> a.put-2:closed b.put-2:cancelled c.put-2:closed"},
        {"with_a_woken_putter", 1,
         "try-put-1; a-c: put-2; run try-get=1 cancel-b close-now" DEAD "run" DEAD
         "-> a.put-2:closed b.put-2:cancelled c.put-2:closed"},
        /* Close and cancel in one turn: the getter returns cancelled, in both orders. */
        {"and_cancel", 0, "a: ~get get; run cancel-a close => a.get:cancelled a.get:closed"},
        {"and_cancel", 0, "a: ~get get; run close cancel-a => a.get:cancelled a.get:closed"},
        {NULL, 0, NULL},
    };
    tst_play_sized_rows(rows, play_each);
}

/* A consumer that gets until the end. */
Test(queue_close, ends_a_consumer) {
    struct hall hall;
    hall_begin(&hall, 2, BZ_QUEUE_FIFO, 2);
    tst_play(&hall.stage, "a: get get get get get; b: put-1 put-2 put-3 put-4 close; run");
    cr_assert(strstr(hall.stage.log.text, "a.get=4 a.get:closed") != NULL);
    tst_forget(&hall.stage.log);
    hall_end(&hall);
}
