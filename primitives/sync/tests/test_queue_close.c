/* Queue: shutdown, in every state and in every window. Each kind plays each timeline. */
#include "primitives/sync/tests/stage_hall.h"

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
        /* A woken getter keeps its promise; who waits behind it is told once no item can come
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
        /* Close and cancel in one turn: the cancellation is told, in both orders. */
        {"and_cancel", 0, "a: ~get get; run cancel-a close => a.get:cancelled a.get:closed"},
        {"and_cancel", 0, "a: ~get get; run close cancel-a => a.get:cancelled a.get:closed"},
        {NULL, 0, NULL},
    };
    tst_play_sized_rows(rows, play_each);
}

/* --- windows ---------------------------------------------------------------------------------- */

/* A consumer that gets until the end. */
Test(queue_close, ends_a_consumer) {
    struct hall hall;
    hall_begin(&hall, 2, BZ_QUEUE_FIFO, 2);
    tst_play(&hall.stage, "a: get get get get get; b: put-1 put-2 put-3 put-4 close; run");
    cr_assert(strstr(hall.stage.log.text, "a.get=4 a.get:closed") != NULL);
    tst_forget(&hall.stage.log);
    hall_end(&hall);
}
