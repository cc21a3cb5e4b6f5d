/* Event: the peers' cases, and a cancel in every window. */
#include "primitives/sync/tests/stage_hall.h"

Test(event, begins_down) {
    struct hall hall;
    hall_begin(&hall);
    cr_assert(not(bz_sync_event_is_set(&hall.event)));
    hall_guest(&hall, 'a', "pass");
    hall_run(&hall);
    hall_expect_queue(&hall.event.queue, 1, 0, 0);
    bz_sync_event_set(&hall.event);
    cr_assert(bz_sync_event_is_set(&hall.event));
    hall_end(&hall, "a.pass:ok");
}

/* Who comes after the set does not wait, and so is done before those who waited. */
Test(event, lets_the_latecomer_pass_without_waiting) {
    struct hall hall;
    hall_begin(&hall);
    hall_guests(&hall, 'a', 'b', "pass");
    hall_turn(&hall);
    hall_guest(&hall, 'c', "pass");
    bz_sync_event_set(&hall.event);
    hall_expect_queue(&hall.event.queue, 0, 2, 0);
    hall_end(&hall, "c.pass:ok a.pass:ok b.pass:ok");
}

Test(event, that_is_set_lets_pass_at_once) {
    struct hall hall;
    hall_begin(&hall);
    bz_sync_event_set(&hall.event);
    tst_status(bz_sync_event_wait(&hall.event), BZ_OK); /* outside a task: it did not suspend */
    hall_guest(&hall, 'a', "pass pass");
    hall_turn(&hall);
    hall_end(&hall, "a.pass:ok a.pass:ok");
}

Test(event, can_be_cleared) {
    struct hall hall;
    hall_begin(&hall);
    bz_sync_event_clear(&hall.event);
    cr_assert(not(bz_sync_event_is_set(&hall.event)));
    hall_guest(&hall, 'a', "set pass clear pass");
    hall_run(&hall);
    tst_expect(&hall.log, "a.pass:ok");
    cr_assert(not(bz_sync_event_is_set(&hall.event)));
    bz_sync_event_set(&hall.event);
    hall_end(&hall, "a.pass:ok a.pass:ok");
}

/* One wake-up, which the clear does not take back: set, clear, set and set in one turn. */
Test(event, woken_waiter_passes_whatever_comes_after) {
    struct hall hall;
    hall_begin(&hall);
    hall_guest(&hall, 'a', "pass pass");
    hall_turn(&hall);
    bz_sync_event_set(&hall.event);
    bz_sync_event_clear(&hall.event);
    bz_sync_event_set(&hall.event);
    bz_sync_event_set(&hall.event);
    bz_sync_event_clear(&hall.event);
    hall_expect_queue(&hall.event.queue, 0, 1, 0);
    hall_turn(&hall);
    tst_expect(&hall.log, "a.pass:ok");
    hall_expect_queue(&hall.event.queue, 1, 0, 0);
    bz_sync_event_set(&hall.event);
    hall_end(&hall, "a.pass:ok a.pass:ok");
}

/* Who comes between the clear and the resume of the woken waits for the next set. */
Test(event, newcomer_after_the_clear_waits) {
    struct hall hall;
    hall_begin(&hall);
    hall_guest(&hall, 'a', "pass");
    hall_turn(&hall);
    hall_guest(&hall, 'b', "pass");
    bz_sync_event_set(&hall.event);
    bz_sync_event_clear(&hall.event);
    hall_run(&hall);
    tst_expect(&hall.log, "a.pass:ok");
    hall_expect_queue(&hall.event.queue, 1, 0, 0);
    hall_cancel(&hall, 'b');
    hall_end(&hall, "a.pass:ok b.pass:cancelled");
}

/* --- cancels ---------------------------------------------------------------------------------- */

Test(event, cancelled_waiter_leaves_no_trace) {
    struct hall hall;
    hall_begin(&hall);
    hall_guests(&hall, 'a', 'b', "pass");
    hall_turn(&hall);
    hall_cancel(&hall, 'a');
    hall_expect_queue(&hall.event.queue, 1, 0, 1);
    hall_turn(&hall);
    hall_expect_queue(&hall.event.queue, 1, 0, 0);
    bz_sync_event_set(&hall.event);
    hall_end(&hall, "a.pass:cancelled b.pass:ok");
}

Test(event, cancel_then_set) {
    struct hall hall;
    hall_begin(&hall);
    hall_guests(&hall, 'a', 'b', "pass");
    hall_turn(&hall);
    hall_cancel(&hall, 'a');
    bz_sync_event_set(&hall.event);
    hall_expect_queue(&hall.event.queue, 0, 1, 1);
    hall_end(&hall, "a.pass:cancelled b.pass:ok");
}

/* The window: the wake-up of a cancelled waiter is nobody else's. */
Test(event, set_then_cancel) {
    struct hall hall;
    hall_begin(&hall);
    hall_guests(&hall, 'a', 'b', "pass");
    hall_turn(&hall);
    bz_sync_event_set(&hall.event);
    bz_sync_event_clear(&hall.event);
    hall_guest(&hall, 'c', "pass");
    hall_step(&hall, 2); /* c waits by now */
    hall_cancel(&hall, 'a');
    hall_run(&hall);
    tst_expect(&hall.log, "a.pass:cancelled b.pass:ok");
    hall_expect_queue(&hall.event.queue, 1, 0, 0);
    bz_sync_event_set(&hall.event);
    hall_end(&hall, "a.pass:cancelled b.pass:ok c.pass:ok");
}

Test(event, second_request_while_cancelling_is_absorbed) {
    struct hall hall;
    hall_begin(&hall);
    hall_guest(&hall, 'a', "~pass set pass");
    hall_turn(&hall);
    hall_cancel(&hall, 'a');
    hall_cancel(&hall, 'a');
    hall_end(&hall, "a.pass:cancelled a.pass:ok");
}

/* A request that was made before the wait strikes it, unless the event is set: then nothing is
 * awaited, and the request strikes the next await. */
Test(event, request_made_before_the_wait) {
    struct hall hall;
    hall_begin(&hall);
    hall_guest(&hall, 'a', "cancel-self ~pass set cancel-self pass ~yield");
    hall_end(&hall, "a.pass:cancelled a.pass:ok a.yield:cancelled");
}
