/* The oracles of queues: item-once, item-order, bound, queue-size; and lost-wakeup and fifo, which
 * judge items and slots as they judge permits. */
#include "sim/tests/toys_queue.h"

#define NOT_EXACT (QTOY_CLAIMS_ALL & ~BZ_CLAIM_TAKES_AT_RETURN)
#define FIFO BZ_QUEUE_ORDER_FIFO
#define LIFO BZ_QUEUE_ORDER_LIFO
#define PRIORITY BZ_QUEUE_ORDER_PRIORITY

QTOY(sound, 0, QTOY_CLAIMS_ALL);
QTOY(hands_over, QTOY_HANDS_OVER, BZ_CLAIM_WAKE_IS_GRANT);
QTOY(hands_over_and_loses, QTOY_HANDS_OVER | QTOY_LOSES, 0);
QTOY(loses, QTOY_LOSES, QTOY_CLAIMS_ALL);
QTOY(repeats, QTOY_REPEATS, NOT_EXACT);
QTOY(makes_up, QTOY_MAKES_UP, NOT_EXACT);
QTOY(ghosts, QTOY_GHOSTS, NOT_EXACT);
QTOY(forgets_item, QTOY_FORGETS_ITEM | QTOY_MISCOUNTS, NOT_EXACT);
QTOY(closes_blindly, QTOY_CLOSES_BLINDLY, QTOY_CLAIMS_ALL);
QTOY(newest_first, QTOY_NEWEST_FIRST, QTOY_CLAIMS_ALL);
QTOY(oldest_first, QTOY_OLDEST_FIRST, QTOY_CLAIMS_ALL);
QTOY(newest_first_not_exact, QTOY_NEWEST_FIRST, NOT_EXACT);
QTOY(overflows, QTOY_OVERFLOWS, QTOY_CLAIMS_ALL);
QTOY(miscounts, QTOY_MISCOUNTS, QTOY_CLAIMS_ALL);
QTOY(miscounts_not_exact, QTOY_MISCOUNTS, NOT_EXACT);
QTOY(wakes_no_getter, QTOY_WAKES_NO_GETTER, QTOY_CLAIMS_ALL);
QTOY(wakes_no_putter, QTOY_WAKES_NO_PUTTER, QTOY_CLAIMS_ALL);
QTOY(barges, QTOY_BARGES, QTOY_CLAIMS_ALL);
QTOY(barges_unclaimed, QTOY_BARGES, BZ_CLAIM_TAKES_AT_RETURN);

/* --- item-once -------------------------------------------------------------------------------- */

Test(item_once, fires_at_the_get_that_fails_and_takes_an_item_along) {
    queue_fails(&loses, FIFO, 0, STAGE_SCRIPTS("get", "put"), "a b !a a", "item-once", 4,
                "a did not get or put anything, and now 'items' has 1 item(s) fewer");
    queue_fails(&hands_over_and_loses, FIFO, 0, STAGE_SCRIPTS("get", "put"), "a b !a a",
                "item-once", 4, "fewer than were put");
}

Test(item_once, fires_at_a_second_delivery) {
    queue_fails(&repeats, FIFO, 0, STAGE_SCRIPTS("put", "get yield get"), "a b b", "item-once", 3,
                "item 1 of 'items' was delivered a second time");
}

Test(item_once, fires_at_an_item_that_nobody_has_put) {
    queue_fails(&makes_up, FIFO, 0, STAGE_SCRIPTS("put", "get"), "a b", "item-once", 2,
                "item 77 of 'items' was delivered, and nobody had put it");
}

Test(item_once, fires_at_the_put_that_fails_and_leaves_an_item) {
    queue_fails(&ghosts, FIFO, 1, STAGE_SCRIPTS("put", "put"), "a b !b b", "item-once", 4,
                "b did not get or put anything, and now 'items' has 1 item(s) more");
}

/* After a shutdown nobody counts, but the item is known when it is got. */
Test(item_once, fires_at_the_delivery_of_what_a_failed_put_left) {
    queue_fails(&ghosts, FIFO, 1, STAGE_SCRIPTS("put", "put", "close", "get get"), "a b c !b b d",
                "item-once", 6,
                "item 2 of 'items' was delivered, and its put said that it did not");
}

/* A queue that claims to have it still. */
Test(item_once, fires_at_the_end_if_an_item_is_missing) {
    queue_fails(&forgets_item, FIFO, 0, STAGE_SCRIPTS("put", "count"), "a b", "item-once", 2,
                "item 1 of 'items' was put, and was never delivered");
}

Test(item_once, fires_at_what_a_shutdown_had_dropped) {
    queue_fails(&closes_blindly, FIFO, 0, STAGE_SCRIPTS("put drop", "get"), "a b", "item-once", 2,
                "item 1 of 'items' was delivered, and a shutdown had dropped it");
}

Test(item_once, is_silent_where_cancelled_operations_leave_no_trace) {
    queue_passes(&sound, FIFO, 1, STAGE_SCRIPTS("get", "put", "put", "put", "get yield count"),
                 "a b !a a c d !d d e");
    queue_passes(&hands_over, FIFO, 0, STAGE_SCRIPTS("get", "put", "get yield count"),
                 "a b !a a c c");
    queue_passes(&sound, FIFO, 0, STAGE_SCRIPTS("put put", "count"), "a b");
    queue_passes(&sound, FIFO, 0, STAGE_SCRIPTS("put drop", "count"), "a b");
}

/* What was handed over before the shutdown is not among what it drops. */
Test(item_once, is_silent_when_an_item_in_hand_outlives_a_shutdown) {
    queue_passes(&hands_over, FIFO, 0, STAGE_SCRIPTS("get", "put drop", "count"), "a b a c");
}

/* --- item-order ------------------------------------------------------------------------------- */

Test(item_order, fires_at_the_get_that_takes_another_item_than_the_next) {
    queue_fails(&newest_first, FIFO, 0, STAGE_SCRIPTS("put put", "get"), "a b", "item-order", 2,
                "b got item 2 of 'items' out of order: item 1 was to come first");
}

Test(item_order, fires_when_one_task_gets_the_items_of_another_in_reverse) {
    queue_fails(&newest_first_not_exact, FIFO, 0, STAGE_SCRIPTS("put put", "get yield get"),
                "a b b", "item-order", 3,
                "b got item 1 of 'items' out of order: item 2 came before it");
}

/* The least first, and of equals the one that was put first. */
Test(item_order, knows_priorities) {
    queue_fails(&newest_first, PRIORITY, 0, STAGE_SCRIPTS("urgent put", "get"), "a b", "item-order",
                2, "b got item 2 of 'items' out of order: item 1 was to come first");
    queue_fails(&newest_first, PRIORITY, 0, STAGE_SCRIPTS("put put", "get"), "a b", "item-order", 2,
                "b got item 2 of 'items' out of order: item 1 was to come first");
    queue_passes(&sound, PRIORITY, 0, STAGE_SCRIPTS("put put urgent", "get get get count"), "a b");
}

Test(item_order, knows_that_the_last_leaves_first) {
    queue_fails(&oldest_first, LIFO, 0, STAGE_SCRIPTS("put put", "get"), "a b", "item-order", 2,
                "b got item 1 of 'items' out of order: item 2 was to come first");
    queue_passes(&sound, LIFO, 0, STAGE_SCRIPTS("put put", "get get count"), "a b");
}

/* Two tasks get one each, in either order; two producers each put one. Nobody can tell. */
Test(item_order, is_silent_between_different_tasks) {
    queue_passes(&newest_first_not_exact, FIFO, 0, STAGE_SCRIPTS("put put", "get", "get"), "a b c");
    queue_passes(&newest_first_not_exact, FIFO, 0, STAGE_SCRIPTS("put", "put", "get yield get"),
                 "a b c c");
}

/* The order of a queue is that of the returns of put, not of their calls. */
Test(item_order, is_silent_when_a_later_putter_resumes_first) {
    queue_passes(&sound, FIFO, 2,
                 STAGE_SCRIPTS("put put", "put", "put", "get get yield get get count"),
                 "a b c d c b d");
}

/* --- bound ------------------------------------------------------------------------------------ */

Test(bound, fires_at_the_put_that_is_too_many) {
    queue_fails(&overflows, FIFO, 2, STAGE_SCRIPTS("put put yield put"), "a a", "bound", 2,
                "'slots' has room for 2, and after the put of a there are 3 item(s)");
}

/* A queue that hands over has its item in the getter's hands; until that leaves without it. */
Test(bound, counts_what_a_cancelled_getter_puts_back) {
    queue_fails(&hands_over, FIFO, 1, STAGE_SCRIPTS("get", "put put"), "a b !a a", "bound", 4,
                "'slots' has room for 1, and after the get of a there are 2 item(s)");
}

Test(bound, is_silent_up_to_the_bound_and_without_one) {
    queue_passes(&sound, FIFO, 2, STAGE_SCRIPTS("put put ~try-put", "get get count"), "a b");
    queue_passes(&overflows, FIFO, 0, STAGE_SCRIPTS("put put put", "count"), "a b");
    queue_passes(&hands_over, FIFO, 1, STAGE_SCRIPTS("get", "put put", "count"), "a b a c");
}

/* --- queue-size ------------------------------------------------------------------------------- */

Test(queue_size, fires_after_a_put_with_the_wrong_size) {
    queue_fails(&miscounts, FIFO, 0, STAGE_SCRIPTS("put"), "a", "queue-size", 1,
                "'items' says that it has 2 item(s); 1 were put and not yet got");
}

Test(queue_size, is_silent_without_the_claim_and_when_it_is_right) {
    queue_passes(&miscounts_not_exact, FIFO, 0, STAGE_SCRIPTS("put", "get"), "a b");
    queue_passes(&sound, FIFO, 1, STAGE_SCRIPTS("put put", "get get count"), "a b a b");
}

/* --- lost-wakeup ------------------------------------------------------------------------------ */

Test(lost_wakeup, fires_when_an_item_is_there_and_its_getter_sleeps) {
    queue_fails(&wakes_no_getter, FIFO, 0, STAGE_SCRIPTS("get", "put"), "a b", "lost-wakeup", 2,
                "1 of 1 item(s) of 'items' is free, a waits");
}

Test(lost_wakeup, fires_when_a_slot_is_free_and_its_putter_sleeps) {
    queue_fails(&wakes_no_putter, FIFO, 1, STAGE_SCRIPTS("put put", "get"), "a b", "lost-wakeup", 2,
                "1 of 1 slot(s) of 'slots' is free, a waits");
}

Test(lost_wakeup, is_silent_while_a_wake_up_is_under_way) {
    queue_passes(&sound, FIFO, 1,
                 STAGE_SCRIPTS("get", "get", "put", "put yield yield put", "count"),
                 "a b c !a d a b d d e");
}

/* --- fifo ------------------------------------------------------------------------------------- */

Test(fifo, fires_when_a_newcomer_gets_the_item_of_a_woken_getter) {
    queue_fails(&barges, FIFO, 0, STAGE_SCRIPTS("get", "put", "try-get"), "a b c", "fifo", 3,
                "c overtook 1 earlier waiter(s) on 'items', first of all a, which had been woken");
}

Test(fifo, fires_when_a_newcomer_takes_the_slot_of_a_woken_putter) {
    queue_fails(&barges, FIFO, 1, STAGE_SCRIPTS("put put", "get", "try-put"), "a b c", "fifo", 3,
                "c overtook 1 earlier waiter(s) on 'slots', first of all a, which had been woken");
}

Test(fifo, is_silent_in_order_and_without_the_claim) {
    queue_passes(&barges_unclaimed, FIFO, 0, STAGE_SCRIPTS("get", "put", "get", "put", "count"),
                 "a b c a d a e");
    queue_passes(&sound, FIFO, 0, STAGE_SCRIPTS("get", "put", "~try-get", "count"), "a b c a d");
}
