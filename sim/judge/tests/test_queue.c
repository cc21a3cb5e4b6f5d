/* The oracles of queues: item-once, item-order, bound, queue-size; and lost-wakeup and fifo, which
 * judge items and slots as they judge permits. */
#include "scenarios/tests/designs/designs.h"
#include "scenarios/zoo/parts.h"
#include "sim/tests/toys.h"

#define NOT_EXACT (BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT)
#define CLAIMS (NOT_EXACT | BZ_CLAIM_TAKES_AT_RETURN)
#define FIFO BZ_QUEUE_ORDER_FIFO
#define LIFO BZ_QUEUE_ORDER_LIFO
#define PRIORITY BZ_QUEUE_ORDER_PRIORITY
#define MEETS "4294967295" /* BZ_QUEUE_RENDEZVOUS */

/* --- toys ------------------------------------------------------------------------------------- */

#define QUEUE(name_, claims_, ...)                                                                 \
    TOY_OF(queue, name_, claims_, *bz_variant_buzzer.queue, __VA_ARGS__)

/* A cancelled getter takes an item out of the queue. In the zoo it loses the item that it was
 * handed, and no such entry claims BZ_CLAIM_TAKES_AT_RETURN. */
static enum bz_status loses_get(void *instance, uint64_t *value) {
    enum bz_status status = bz_variant_buzzer.queue->get(instance, value);
    return status == BZ_OK || bz_variant_buzzer.queue->try_get(instance, value) != BZ_OK
               ? status
               : BZ_CANCELLED;
}

/* Returns a value that nobody has put. No entry of the zoo does that. */
static enum bz_status makes_up_get(void *instance, uint64_t *value) {
    enum bz_status status = bz_variant_buzzer.queue->get(instance, value);
    *value = 77;
    return status;
}

/* A get leaves its item in. zoo/q-putback-dup delivers twice, too, but its size is wrong before. */
static enum bz_status repeats_get(void *instance, uint64_t *value) {
    enum bz_status status = bz_variant_buzzer.queue->get(instance, value);
    return status == BZ_OK ? bz_variant_buzzer.queue->try_put(instance, *value, 0) : status;
}

/* A put says OK and stores nothing, and size() counts the item. In the zoo the size is right. */
static enum bz_status stores_nothing(void *instance, uint64_t value, int64_t priority) {
    (void)instance;
    (void)value;
    (void)priority;
    return BZ_OK;
}

static uint64_t one_too_many(void *instance) {
    return bz_variant_buzzer.queue->size(instance) + 1;
}

/* An immediate shutdown leaves the items in. No entry of the zoo can be shut down. */
static void closes_blindly(void *instance, bool is_immediate) {
    (void)is_immediate;
    bz_variant_buzzer.queue->shutdown(instance, false);
}

/* For entries of the zoo, which cannot be shut down. */
static void shut_down(void *instance, bool is_immediate) {
    struct bz_item_queue *queue = instance;
    while (is_immediate && queue->items.count > 0) {
        (void)bz_item_queue_take(queue);
    }
}

/* Ignores the order that was asked for. No entry of the zoo does that. */
static enum bz_status is_lifo(void *instance, struct bz_loop *loop, enum bz_queue_order order,
                              uint32_t maxsize) {
    (void)order;
    return bz_variant_buzzer.queue->init(instance, loop, LIFO, maxsize);
}

static enum bz_status is_fifo(void *instance, struct bz_loop *loop, enum bz_queue_order order,
                              uint32_t maxsize) {
    (void)order;
    return bz_variant_buzzer.queue->init(instance, loop, FIFO, maxsize);
}

/* A put wakes no getter. In the zoo only putters lose wake-ups. */
static enum bz_status wakes_no_getter(void *instance, uint64_t value, int64_t priority) {
    return bz_item_queue_store(instance, value, priority);
}

QUEUE(loses, CLAIMS, ops->get = loses_get)
QUEUE(repeats, NOT_EXACT, ops->get = repeats_get)
QUEUE(makes_up, NOT_EXACT, ops->get = makes_up_get)
QUEUE(forgets_item, NOT_EXACT, ops->put = stores_nothing, ops->size = one_too_many)
QUEUE(closes, CLAIMS, ops->shutdown = closes_blindly)
QUEUE(newest_first, CLAIMS, ops->init = is_lifo)
QUEUE(oldest_first, CLAIMS, ops->init = is_fifo)
QUEUE(newest_first_not_exact, NOT_EXACT, ops->init = is_lifo)
QUEUE(newest_first_ties_waived, CLAIMS | BZ_CLAIM_UNORDERED_TIES, ops->init = is_lifo)
QUEUE(newest_first_waived, CLAIMS | BZ_CLAIM_UNORDERED_ITEMS, ops->init = is_lifo)
QUEUE(miscounts, CLAIMS, ops->size = one_too_many)
QUEUE(miscounts_not_exact, NOT_EXACT, ops->size = one_too_many)
QUEUE(offers_least, CLAIMS, ops->task_done = NULL, ops->join = NULL, ops->queued = NULL)
TOY_OF(queue, forgets_getter, CLAIMS, bz_zoo_ops_q_barge, ops->put = wakes_no_getter)
TOY_OF(queue, ghosts, NOT_EXACT, bz_zoo_ops_q_ghost_put, ops->shutdown = shut_down)
TOY_OF(queue, hands_over, BZ_CLAIM_WAKE_IS_GRANT, bz_zoo_ops_an_728_reroute,
       ops->shutdown = shut_down)
TOY_OFFERS(barges_unclaimed, BZ_CLAIM_TAKES_AT_RETURN, .queue = &bz_zoo_ops_q_barge);

Test(queue, timelines) {
    static const struct stage_row rows[] = {
        /* --- item-once --- */
        {"item-once/fires_at_the_get_that_fails_and_takes_an_item_along", &loses,
         "queue fifo 0; a: get; b: put; a b !a a",
         "item-once 4: after the get of a, which returned 'cancelled', 'items' has 0 items instead "
         "of 1"},
        {"", &bz_variant_zoo_q_handoff_lost, "queue fifo 0; a: get; b: put; a b !a a",
         "item-once 4: has 0 items instead of 1; an item was promised to it before the cancel"},
        {"item-once/fires_at_a_second_delivery", &repeats,
         "queue fifo 0; a: put; b: get yield get; a b b",
         "item-once 3: item 1 of 'items' was delivered a second time"},
        {"item-once/fires_at_an_item_that_nobody_has_put", &makes_up,
         "queue fifo 0; a: put; b: get; a b",
         "item-once 2: item 77 of 'items' was delivered, but nobody had put it"},
        {"item-once/fires_at_the_put_that_fails_and_leaves_an_item", &bz_variant_zoo_q_ghost_put,
         "queue fifo 1; a: put; b: ~put; c: get; a b c !b b",
         "item-once 5: after the put of b, which returned 'cancelled', 'items' has 1 item instead "
         "of 0; a slot was promised to it before the cancel"},
        {"item-once/fires_at_the_get_that_fails_and_leaves_its_item_twice",
         &bz_variant_zoo_q_putback_dup, "queue fifo 0; a-b: get; c: put; a b c !a a",
         "item-once 5: after the get of a, which returned 'cancelled', 'items' has 2 items instead "
         "of 1"},
        /* After a shutdown the size is not judged, but the delivery is. */
        {"item-once/fires_at_the_delivery_of_what_a_failed_put_left", &ghosts,
         "queue fifo 1; a: put; b: ~put; c: get close yield get; a b c !b b c",
         "item-once 6: item 2 of 'items' was delivered, but its put had failed"},
        /* size() counts the item still. */
        {"item-once/fires_at_the_end_if_an_item_is_missing", &forgets_item,
         "queue fifo 0; a: put; b: count; a b",
         "item-once 2: item 1 of 'items' was put, but never delivered"},
        {"item-once/fires_at_what_a_shutdown_had_dropped", &closes,
         "queue fifo 0; a: put drop; b: get; a b",
         "item-once 2: item 1 of 'items' was delivered, but a shutdown had dropped it"},
        {"item-once/is_silent_where_cancelled_operations_leave_no_trace", &bz_variant_buzzer,
         "queue fifo 1; a: get; b-d: put; e: get yield count; a b !a a c d !d d e"},
        {"", &hands_over, "queue fifo 0; a: get; b: put; c: get yield count; a b !a a c c"},
        {"", &bz_variant_buzzer, "queue fifo 0; a: put put; b: count; a b"},
        {"", &offers_least, "queue fifo 0; a: put put; b: count; a b"},
        {"", &bz_variant_buzzer, "queue fifo 0; a: put drop; b: count; a b"},
        /* The shutdown that drops the item runs inside its put. */
        {"item-once/is_silent_when_a_shutdown_drops_what_is_being_put", &design_inplace,
         "queue fifo 0; a: ~get drop; b: put; c: count; a !a b c"},
        /* The shutdown does not drop an item that was handed over before. */
        {"item-once/is_silent_when_an_item_in_hand_outlives_a_shutdown", &hands_over,
         "queue fifo 0; a: get; b: put drop; c: count; a b a c"},

        /* --- item-order --- */
        {"item-order/fires_at_the_get_that_takes_another_item_than_the_next", &newest_first,
         "queue fifo 0; a: put put; b: get; a b",
         "item-order 2: b got item 2 of 'items' out of order: item 1 should have come first"},
        {"item-order/fires_when_one_task_gets_the_items_of_another_in_reverse",
         &newest_first_not_exact, "queue fifo 0; a: put put; b: get yield get; a b b",
         "item-order 3: b got item 1 of 'items' out of order: item 2 came before it"},
        /* The least priority first; of equal ones, the item that was put first. */
        {"item-order/follows_priorities", &newest_first,
         "queue priority 0; a: urgent put; b: get; a b",
         "item-order 2: b got item 2 of 'items' out of order: item 1 should have come first"},
        {"", &newest_first_ties_waived, "queue priority 0; a: urgent put; b: get; a b",
         "item-order 2: got item 2 of 'items' out of order: item 1 should have come"},
        {"", &newest_first, "queue priority 0; a: put put; b: get; a b",
         "item-order 2: b got item 2 of 'items' out of order: item 1 should have come first"},
        {"", &bz_variant_buzzer, "queue priority 0; a: put put urgent; b: get get get count; a b"},
        {"item-order/follows_lifo", &oldest_first, "queue lifo 0; a: put put; b: get; a b",
         "item-order 2: b got item 1 of 'items' out of order: item 2 should have come first"},
        {"", &bz_variant_buzzer, "queue lifo 0; a: put put; b: get get count; a b"},
        /* Two tasks get one item each, or put one each: their order is unknown. */
        {"item-order/is_silent_between_different_tasks", &newest_first_not_exact,
         "queue fifo 0; a: put put; b-c: get; a b c"},
        {"", &newest_first_ties_waived, "queue priority 0; a: put put; b: get; a b"},
        {"", &newest_first_waived, "queue fifo 0; a: put put; b: get yield get; a b b"},
        {"", &newest_first_not_exact, "queue fifo 0; a-b: put; c: get yield get; a b c c"},
        /* Items are in the order in which the puts return, not in which they are called. */
        {"item-order/is_silent_when_a_later_putter_resumes_first", &bz_variant_buzzer,
         "queue fifo 2; a: put put; b-c: put; d: get get yield get get count; a b c d c b d"},

        /* --- bound --- */
        {"bound/fires_at_the_put_that_is_too_many", &bz_variant_zoo_q_overflow,
         "queue fifo 2; a: put put put; b: get; c: put; a b c a",
         "bound 4: 'slots' has room for 2 items, but after the put of a there are 3"},
        /* An item that was handed over takes no slot, until its getter is cancelled. */
        {"bound/counts_what_a_cancelled_getter_puts_back", &hands_over,
         "queue fifo 1; a: get; b: put put; a b !a a",
         "bound 4: 'slots' has room for 1 item, but after the get of a there are 2"},
        {"bound/is_silent_up_to_the_bound_and_without_one", &bz_variant_buzzer,
         "queue fifo 2; a: put put ~try-put; b: get get count; a b"},
        {"", &bz_variant_zoo_q_overflow, "queue fifo 0; a: put put put; b: count; a b"},
        {"", &hands_over, "queue fifo 1; a: get; b: put put; c: count; a b a c"},

        /* --- queue-size --- */
        {"queue-size/fires_after_a_put_with_the_wrong_size", &miscounts, "queue fifo 0; a: put; a",
         "queue-size 1: 'items' shows a size of 2, but puts less gets are 1"},
        {"queue-size/is_silent_without_the_claim_and_when_it_is_right", &miscounts_not_exact,
         "queue fifo 0; a: put; b: get; a b"},
        {"", &bz_variant_buzzer, "queue fifo 1; a: put put; b: get get count; a b a b"},

        /* --- lost-wakeup --- */
        {"lost-wakeup/fires_when_an_item_is_there_and_its_getter_sleeps", &forgets_getter,
         "queue fifo 0; a: get; b: put; a b",
         "lost-wakeup 2: 1 of 1 item of 'items' is free, but a waits"},
        {"lost-wakeup/fires_when_a_slot_is_free_and_its_putter_sleeps",
         &bz_variant_zoo_q_putter_lost,
         "queue fifo 1; a: put; b: ~put; c: put; d: get; a b c d !b b",
         "lost-wakeup 6: 1 of 1 slot of 'slots' is free, but c waits"},
        {"lost-wakeup/is_silent_while_a_wake_up_is_under_way", &bz_variant_buzzer,
         "queue fifo 1; a-b: get; c: put; d: put yield yield put; e: count; a b c !a d a b d d e"},

        /* --- a rendezvous --- */
        {"rendezvous/is_silent_while_a_put_waits_alone_and_when_it_is_cancelled_too_late",
         &design_meeting, "queue fifo " MEETS "; a-b: put; c: get get; a b c !a a b"},
        {"rendezvous/fires_when_its_size_counts_those_that_offer", &design_meeting_counting,
         "queue fifo " MEETS "; a-b: put; c: get; a b c",
         "queue-size 3: 'items' shows a size of 1, but that of a rendezvous is 0"},
        {"", &design_meeting_kept, "queue fifo " MEETS "; a: get; b: put; c: ~try-put; a b c a"},
        {"rendezvous/fires_when_both_sides_wait", &design_meeting_dropping,
         "queue fifo " MEETS "; a-b: get; c: put; a b c !a a",
         "lost-wakeup 5: 1 of 1 item of 'items' is free, but b waits"},
        {"rendezvous/fires_when_a_put_has_returned_without_its_get", &design_meeting_losing,
         "queue fifo " MEETS "; a: get; b: put; a b !a a",
         "bound 4: 'slots' keeps no item, but after the get of a a put has returned"},
        {"rendezvous/fires_at_the_second_get_of_an_item", &design_meeting_doubling,
         "queue fifo " MEETS "; a: put; b-c: get; a b c",
         "item-once 3: item 1 of 'items' was delivered a second time"},

        /* --- fifo --- */
        {"fifo/fires_when_a_newcomer_gets_the_item_of_a_woken_getter", &bz_variant_zoo_q_barge,
         "queue fifo 0; a: get; b: put; c: try-get; a b c",
         "fifo 3: c was granted an item of 'items' before a, which had been woken"},
        {"fifo/fires_when_a_newcomer_takes_the_slot_of_a_woken_putter", &bz_variant_zoo_q_barge,
         "queue fifo 1; a: put put; b: get; c: try-put; a b c",
         "fifo 3: c was granted a slot of 'slots' before a, which had been woken"},
        {"fifo/is_silent_in_order_and_without_the_claim", &barges_unclaimed,
         "queue fifo 0; a: get; b: put; c: get; d: put; e: count; a b c a d a e"},
        {"", &bz_variant_buzzer, "queue fifo 0; a: get; b: put; c: ~try-get; d: count; a b c a d"},
        {NULL},
    };
    stage_rows(rows);
}
