/* Queue: order, bounds, who is served first, task_done and join. */
#include "primitives/sync/tests/stage_hall.h"

static void begin(struct hall *hall, enum bz_queue_kind kind, uint32_t maxsize) {
    hall_begin_with(hall, 2, kind, maxsize);
}

static void expect_state(const struct hall *hall, uint32_t size, bool is_empty, bool is_full) {
    cr_assert(eq(u32, bz_queue_size(&hall->queue), size));
    cr_assert(eq(int, bz_queue_empty(&hall->queue), is_empty));
    cr_assert(eq(int, bz_queue_full(&hall->queue), is_full));
}

/* What the guests got, in this order, whenever it was put. */
static void expect_gets(const struct hall *hall, const char *expected) {
    char text[sizeof hall->log.text];
    char gets[sizeof hall->log.text] = "";
    memcpy(text, hall->log.text, sizeof text);
    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) {
        if (strstr(word, "get=") != NULL) {
            strcat(strcat(gets, gets[0] == '\0' ? "" : " "), word);
        }
    }
    tst_text(gets, expected);
}

/* --- without waiting -------------------------------------------------------------------------- */

Test(queue, is_empty_and_full) {
    struct hall hall;
    begin(&hall, BZ_QUEUE_FIFO, 2);
    expect_state(&hall, 0, true, false);
    hall_give(&hall, 1);
    expect_state(&hall, 1, false, false);
    hall_give(&hall, 2);
    expect_state(&hall, 2, false, true);
    tst_status(bz_queue_try_put(&hall.queue, 3), BZ_FULL);
    expect_state(&hall, 2, false, true);
    hall_take(&hall, 1);
    hall_take(&hall, 2);
    uint64_t value = 77;
    tst_status(bz_queue_try_get(&hall.queue, &value), BZ_EMPTY);
    cr_assert(eq(u64, value, 77));
    hall_end(&hall, "");
}

Test(queue, without_a_bound_is_never_full) {
    struct hall hall;
    begin(&hall, BZ_QUEUE_FIFO, 0);
    for (uint64_t value = 0; value < 1000; value++) {
        hall_give(&hall, value);
    }
    expect_state(&hall, 1000, false, false);
    for (uint64_t value = 0; value < 1000; value++) {
        hall_take(&hall, value);
    }
    hall_end(&hall, "");
}

Test(queue, orders_items_by_its_kind) {
    static const char *const stories[] = {
        "a.get=13 a.get=31 a.get=12 a.get=21 a.get=11",
        "a.get=11 a.get=21 a.get=12 a.get=31 a.get=13",
        "a.get=13 a.get=12 a.get=11 a.get=21 a.get=31",
    };
    static const uint64_t values[] = {13, 31, 12, 21, 11};
    for (int kind = 0; kind < 3; kind++) {
        for (uint32_t maxsize = 0; maxsize < 6; maxsize += 5) {
            struct hall hall;
            begin(&hall, (enum bz_queue_kind)kind, maxsize);
            for (unsigned index = 0; index < 5; index++) {
                hall_give(&hall, values[index]);
            }
            hall_guest(&hall, 'a', "get get get get get");
            hall_end(&hall, stories[kind]);
        }
    }
}

/* A put without a priority has the priority 0. */
Test(queue, has_a_middle_priority) {
    struct hall hall;
    begin(&hall, BZ_QUEUE_PRIORITY, 3);
    tst_status(bz_queue_try_put_priority(&hall.queue, 1, 1), BZ_OK);
    tst_status(bz_queue_try_put(&hall.queue, 2), BZ_OK);
    tst_status(bz_queue_put_priority(&hall.queue, 3, -1), BZ_OK);
    hall.stored = 3;
    hall_take(&hall, 3);
    hall_take(&hall, 2);
    hall_take(&hall, 1);
    tst_status(bz_queue_put(&hall.queue, 4), BZ_OK); /* outside a task: there is room */
    uint64_t value = 0;
    tst_status(bz_queue_get(&hall.queue, &value), BZ_OK);
    cr_assert(eq(u64, value, 4));
    hall_end(&hall, "");
}

/* --- memory ----------------------------------------------------------------------------------- */

Test(queue, with_a_bound_has_its_memory_from_the_beginning) {
    struct hall hall;
    begin(&hall, BZ_QUEUE_PRIORITY, 100);
    uint64_t blocks = bz_mem_live_blocks(bz_loop_mem(hall.loop));
    for (unsigned round = 0; round < 3; round++) {
        for (uint64_t value = 0; value < 100; value++) {
            hall_give(&hall, value);
        }
        for (uint64_t value = 0; value < 100; value++) {
            hall_take(&hall, value);
        }
    }
    cr_assert(eq(u64, bz_mem_live_blocks(bz_loop_mem(hall.loop)), blocks));
    hall_end(&hall, "");
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
    cr_assert(eq(u64, bz_queue_size(&queue), count));
    cr_assert(eq(u64, queue.unfinished, count));
    for (uint64_t expected = 0; expected < count; expected++) {
        uint64_t value = 0;
        tst_status(bz_queue_try_get(&queue, &value), BZ_OK);
        cr_assert(eq(u64, value, expected));
    }
    bz_queue_fini(&queue);
    tst_end(loop);
}

/* --- waiting ---------------------------------------------------------------------------------- */

Test(queue, getters_wait_and_are_served_in_order) {
    struct hall hall;
    begin(&hall, BZ_QUEUE_FIFO, 0);
    hall_guests(&hall, 'a', 'c', "get");
    hall_run(&hall);
    hall_expect_queue(&hall.queue.getters, 3, 0, 0);
    hall_guest(&hall, 'd', "put-1 put-2 put-3");
    hall_end(&hall, "d.put-1:ok d.put-2:ok d.put-3:ok a.get=1 b.get=2 c.get=3");
}

Test(queue, putters_wait_and_are_served_in_order) {
    struct hall hall;
    begin(&hall, BZ_QUEUE_FIFO, 1);
    hall_guest(&hall, 'a', "put-1 put-2");
    hall_guest(&hall, 'b', "put-3");
    hall_run(&hall);
    tst_expect(&hall.log, "a.put-1:ok");
    hall_expect_queue(&hall.queue.putters, 2, 0, 0);
    hall_guest(&hall, 'c', "get get get");
    hall_end(&hall, "a.put-1:ok c.get=1 a.put-2:ok c.get=2 b.put-3:ok c.get=3");
}

/* A producer and a consumer over one slot run to the end. */
Test(queue, of_one_slot_passes_everything) {
    struct hall hall;
    begin(&hall, BZ_QUEUE_FIFO, 1);
    hall_guest(&hall, 'a', "get get get get");
    hall_guest(&hall, 'b', "put-1 put-2 put-3 put-4");
    hall_run(&hall);
    expect_gets(&hall, "a.get=1 a.get=2 a.get=3 a.get=4");
    tst_forget(&hall.log);
    hall_end(&hall, "");
}

/* The third put waits until the getter has made room; nothing is overtaken. */
Test(queue, bound_is_kept) {
    struct hall hall;
    begin(&hall, BZ_QUEUE_FIFO, 2);
    hall_guest(&hall, 'a', "put-1 put-2 put-3");
    hall_run(&hall);
    tst_expect(&hall.log, "a.put-1:ok a.put-2:ok");
    expect_state(&hall, 2, false, true);
    hall_take(&hall, 1);
    expect_state(&hall, 1, false, true); /* the slot is promised */
    hall_run(&hall);
    expect_state(&hall, 2, false, true);
    hall_take(&hall, 2);
    hall_take(&hall, 3);
    hall_end(&hall, "a.put-1:ok a.put-2:ok a.put-3:ok");
}

/* --- nobody overtakes ------------------------------------------------------------------------- */

/* The slot that a get has freed is the waiting putter's; the items come out in the order of the
 * puts (gh-83055). */
Test(queue, newcomer_cannot_take_the_slot_of_a_woken_putter) {
    struct hall hall;
    begin(&hall, BZ_QUEUE_FIFO, 1);
    hall_give(&hall, 1);
    hall_guest(&hall, 'a', "put-2");
    hall_run(&hall);
    hall_take(&hall, 1);
    expect_state(&hall, 0, true, true);
    tst_status(hall_put(&hall, 3, false), BZ_FULL);
    hall_guest(&hall, 'b', "try-put-4");
    hall_guest(&hall, 'c', "put-5");
    hall_step(&hall, 1); /* b, before a has resumed */
    hall_step(&hall, 1); /* c */
    tst_expect(&hall.log, "b.try-put-4:full");
    hall_expect_queue(&hall.queue.putters, 1, 1, 0);
    hall_guest(&hall, 'd', "get get");
    hall_end(&hall, "b.try-put-4:full a.put-2:ok d.get=2 c.put-5:ok d.get=5");
}

/* The item that a put has brought is the waiting getter's. */
Test(queue, newcomer_cannot_take_the_item_of_a_woken_getter) {
    struct hall hall;
    begin(&hall, BZ_QUEUE_FIFO, 0);
    hall_guest(&hall, 'a', "get");
    hall_run(&hall);
    hall_give(&hall, 1);
    expect_state(&hall, 1, true, false);
    uint64_t value = 0;
    tst_status(hall_get(&hall, &value, false), BZ_EMPTY);
    hall_guest(&hall, 'b', "try-get");
    hall_guest(&hall, 'c', "get");
    hall_step(&hall, 1);
    hall_step(&hall, 1);
    tst_expect(&hall.log, "b.try-get:empty");
    hall_expect_queue(&hall.queue.getters, 1, 1, 0);
    hall_give(&hall, 2);
    hall_end(&hall, "b.try-get:empty a.get=1 c.get=2");
}

/* A newcomer parks behind a woken getter though there is an item for it; the resume wakes all that
 * are served then, not one each. */
Test(queue, newcomers_park_behind_the_woken) {
    struct hall hall;
    begin(&hall, BZ_QUEUE_FIFO, 0);
    hall_guest(&hall, 'a', "get");
    hall_run(&hall);
    hall_give(&hall, 1);
    hall_give(&hall, 2);
    hall_give(&hall, 3);
    hall_guests(&hall, 'b', 'c', "get");
    hall_step(&hall, 1);
    hall_step(&hall, 1);
    hall_expect_queue(&hall.queue.getters, 2, 1, 0);
    hall_step(&hall, 0);
    hall_expect_queue(&hall.queue.getters, 0, 2, 0);
    hall_end(&hall, "a.get=1 b.get=2 c.get=3");
}

Test(queue, putters_park_behind_the_woken) {
    struct hall hall;
    begin(&hall, BZ_QUEUE_FIFO, 3);
    for (uint64_t value = 1; value <= 3; value++) {
        hall_give(&hall, value);
    }
    hall_guest(&hall, 'a', "put-4");
    hall_run(&hall);
    for (uint64_t value = 1; value <= 3; value++) {
        hall_take(&hall, value);
    }
    hall_guest(&hall, 'b', "put-5");
    hall_guest(&hall, 'c', "put-6");
    hall_step(&hall, 1);
    hall_step(&hall, 1);
    hall_expect_queue(&hall.queue.putters, 2, 1, 0);
    hall_step(&hall, 0);
    hall_expect_queue(&hall.queue.putters, 0, 2, 0);
    hall_guest(&hall, 'd', "get get get");
    hall_end(&hall, "a.put-4:ok b.put-5:ok c.put-6:ok d.get=4 d.get=5 d.get=6");
}

/* Who gets again and again does not starve the others. */
Test(queue, getters_that_come_back_take_turns) {
    struct hall hall;
    begin(&hall, BZ_QUEUE_FIFO, 1);
    hall_guests(&hall, 'a', 'b', "get get get");
    hall_guest(&hall, 'c', "put-1 put-2 put-3 put-4 put-5 put-6");
    hall_run(&hall);
    cr_assert(eq(u64, hall.stored, 0));
    expect_gets(&hall, "a.get=1 b.get=2 a.get=3 b.get=4 a.get=5 b.get=6");
    tst_forget(&hall.log);
    hall_end(&hall, "");
}

/* What was promised is an item, not which one: the best at the time of the resume. */
Test(queue, better_item_that_comes_in_the_window_is_served_first) {
    for (int kind = BZ_QUEUE_LIFO; kind <= BZ_QUEUE_PRIORITY; kind++) {
        struct hall hall;
        begin(&hall, (enum bz_queue_kind)kind, 0);
        hall_guest(&hall, 'a', "get");
        hall_run(&hall);
        hall_give(&hall, 31);
        hall_give(&hall, 11);
        hall_run(&hall);
        tst_expect(&hall.log, "a.get=11");
        hall_take(&hall, 31);
        hall_end(&hall, "a.get=11");
    }
}

/* --- task_done and join ----------------------------------------------------------------------- */

Test(queue, task_done_too_many_is_refused) {
    struct hall hall;
    begin(&hall, BZ_QUEUE_FIFO, 0);
    tst_status(bz_queue_task_done(&hall.queue), BZ_INVALID_STATE);
    hall_give(&hall, 1);
    hall_take(&hall, 1);
    tst_status(bz_queue_task_done(&hall.queue), BZ_OK);
    tst_status(bz_queue_task_done(&hall.queue), BZ_INVALID_STATE);
    hall_end(&hall, "");
}

Test(queue, join_of_an_unused_one_returns_at_once) {
    struct hall hall;
    begin(&hall, BZ_QUEUE_FIFO, 0);
    tst_status(bz_queue_join(&hall.queue), BZ_OK);
    hall_end(&hall, "");
}

/* Of every kind: each put counts. */
Test(queue, join_waits_until_all_is_done) {
    for (int kind = 0; kind < 3; kind++) {
        struct hall hall;
        begin(&hall, (enum bz_queue_kind)kind, 0);
        hall_guest(&hall, 'a', "put-11 put-21 drain");
        hall_guest(&hall, 'b', "drain");
        hall_run(&hall);
        tst_forget(&hall.log);
        uint64_t value = 0;
        tst_status(hall_get(&hall, &value, false), BZ_OK);
        tst_status(hall_get(&hall, &value, false), BZ_OK);
        hall_run(&hall);
        tst_status(bz_queue_task_done(&hall.queue), BZ_OK);
        hall_run(&hall);
        tst_expect(&hall.log, ""); /* taken is not done */
        tst_status(bz_queue_task_done(&hall.queue), BZ_OK);
        hall_check(&hall);
        hall_end(&hall, "a.drain:ok b.drain:ok");
    }
}

/* A put after the last task_done does not call back who was woken. */
Test(queue, join_that_was_woken_returns_whatever_is_put) {
    struct hall hall;
    begin(&hall, BZ_QUEUE_FIFO, 0);
    hall_guest(&hall, 'a', "put-1 get drain");
    hall_run(&hall);
    tst_status(bz_queue_task_done(&hall.queue), BZ_OK);
    hall_give(&hall, 2);
    hall_guest(&hall, 'b', "drain");
    hall_run(&hall);
    tst_expect(&hall.log, "a.put-1:ok a.get=1 a.drain:ok");
    hall_take(&hall, 2);
    tst_status(bz_queue_task_done(&hall.queue), BZ_OK);
    hall_end(&hall, "a.put-1:ok a.get=1 a.drain:ok b.drain:ok");
}

Test(queue, join_can_be_cancelled) {
    for (int order = 0; order < 3; order++) { /* waiting; cancel and done; done and cancel */
        struct hall hall;
        begin(&hall, BZ_QUEUE_FIFO, 0);
        hall_guest(&hall, 'a', "put-1 get drain");
        hall_run(&hall);
        if (order == 2) {
            tst_status(bz_queue_task_done(&hall.queue), BZ_OK);
        }
        hall_cancel(&hall, 'a');
        if (order == 1) {
            tst_status(bz_queue_task_done(&hall.queue), BZ_OK);
        }
        hall_run(&hall);
        cr_assert(eq(u64, hall.queue.unfinished, order == 0));
        hall_end(&hall, "a.put-1:ok a.get=1 a.drain:cancelled");
    }
}
