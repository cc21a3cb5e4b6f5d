/* Queue: order, bounds, who is served first, task_done and join. */
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
