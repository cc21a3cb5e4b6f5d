/* Event: the peers' cases, and a cancel in every window. */
#include "primitives/sync/tests/stage_hall.h"

static void play(const char *timeline) {
    hall_play(3, BZ_QUEUE_FIFO, 1, timeline);
}

Test(event, timelines) {
    static const struct tst_row rows[] = {
        {"begins_down", "is-set=no; a: pass; run event=1/0/0 set is-set=yes => a.pass:ok"},
        /* A task that comes after the set does not wait, so it is done before those that waited. */
        {"lets_the_latecomer_pass_without_waiting",
         "a-b: pass; turn; c: pass; set event=0/2/0 => c.pass:ok a.pass:ok b.pass:ok"},
        /* The test passes outside of any task: it does not suspend. */
        {"that_is_set_lets_pass_at_once", "set pass; a: pass pass; turn -> a.pass:ok a.pass:ok"},
        {"can_be_cleared",
         "clear is-set=no; a: set pass clear pass => a.pass:ok; is-set=no set => a.pass:ok"},
        /* One wake-up, which the clear does not take back: set, clear, set and set in one turn. */
        {"woken_waiter_passes_whatever_comes_after",
         "a: pass pass; turn set clear set set clear event=0/1/0 turn -> a.pass:ok;"
         "event=1/0/0 set => a.pass:ok"},
        /* A task that comes between the clear and the resume of a woken task waits for the next
         * set. */
        {"newcomer_after_the_clear_waits",
         "a: pass; turn; b: pass; set clear => a.pass:ok; event=1/0/0 cancel-b"
         " => b.pass:cancelled"},

        /* --- cancels --- */
        {"cancelled_waiter_leaves_no_trace",
         "a-b: pass; turn cancel-a event=1/0/1 turn event=1/0/0 set"
         " => a.pass:cancelled b.pass:ok"},
        {"cancel_then_set",
         "a-b: pass; turn cancel-a set event=0/1/1 => a.pass:cancelled b.pass:ok"},
        /* The window: the wake-up of a cancelled waiter is not passed on. c waits by then. */
        {"set_then_cancel",
         "a-b: pass; turn set clear; c: pass; step-2 cancel-a => a.pass:cancelled b.pass:ok;"
         "event=1/0/0 set => c.pass:ok"},
        {"second_request_while_cancelling_is_absorbed",
         "a: ~pass set pass; turn cancel-a cancel-a => a.pass:cancelled a.pass:ok"},
        /* A request that was made before the wait strikes it, unless the event is set: then
         * nothing is awaited, and the request strikes the next await. */
        {"request_made_before_the_wait", "a: cancel-self ~pass set cancel-self pass ~yield"
                                         " => a.pass:cancelled a.pass:ok a.yield:cancelled"},
        {NULL, NULL},
    };
    tst_play_rows(rows, play);
}
