/* The oracles of queues: item-once, item-order, bound, queue-size; and lost-wakeup and fifo, which
 * judge items and slots as they judge permits. */
#include "scenarios/zoo/items.h"
#include "sim/tests/toys.h"

#define NOT_EXACT (BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT)
#define CLAIMS (NOT_EXACT | BZ_CLAIM_TAKES_AT_RETURN)
#define FIFO BZ_QUEUE_ORDER_FIFO
#define LIFO BZ_QUEUE_ORDER_LIFO
#define PRIORITY BZ_QUEUE_ORDER_PRIORITY

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
    struct bz_zoo_items *queue = instance;
    while (is_immediate && queue->count > 0) {
        (void)bz_zoo_items_take(queue);
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
    return bz_zoo_items_store(instance, value, priority);
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

static void queue_fails(const struct bz_variant *variant, enum bz_queue_order order,
                        uint32_t maxsize, const char *const *scripts, const char *plan,
                        const char *oracle, uint32_t step, const char *fragment) {
    struct stage stage;
    stage_begin_queue(&stage, variant, order, maxsize);
    stage_fails(&stage, scripts, plan, oracle, step, fragment);
}

static void queue_passes(const struct bz_variant *variant, enum bz_queue_order order,
                         uint32_t maxsize, const char *const *scripts, const char *plan) {
    struct stage stage;
    stage_begin_queue(&stage, variant, order, maxsize);
    stage_passes(&stage, scripts, plan, NULL);
}

/* --- item-once -------------------------------------------------------------------------------- */

Test(item_once, fires_at_the_get_that_fails_and_takes_an_item_along) {
    queue_fails(&loses, FIFO, 0, STAGE_SCRIPTS("get", "put"), "a b !a a", "item-once", 4,
                "after the get of a, which returned 'cancelled', 'items' has 0 items instead of 1");
    queue_fails(&bz_variant_zoo_q_handoff_lost, FIFO, 0, STAGE_SCRIPTS("get", "put"), "a b !a a",
                "item-once", 4, "has 0 items instead of 1");
}

Test(item_once, fires_at_a_second_delivery) {
    queue_fails(&repeats, FIFO, 0, STAGE_SCRIPTS("put", "get yield get"), "a b b", "item-once", 3,
                "item 1 of 'items' was delivered a second time");
}

Test(item_once, fires_at_an_item_that_nobody_has_put) {
    queue_fails(&makes_up, FIFO, 0, STAGE_SCRIPTS("put", "get"), "a b", "item-once", 2,
                "item 77 of 'items' was delivered, but nobody had put it");
}

Test(item_once, fires_at_the_put_that_fails_and_leaves_an_item) {
    queue_fails(&bz_variant_zoo_q_ghost_put, FIFO, 1, STAGE_SCRIPTS("put", "~put", "get"),
                "a b c !b b", "item-once", 5,
                "after the put of b, which returned 'cancelled', 'items' has 1 item instead of 0");
}

Test(item_once, fires_at_the_get_that_fails_and_leaves_its_item_twice) {
    queue_fails(&bz_variant_zoo_q_putback_dup, FIFO, 0, STAGE_SCRIPTS("get", "get", "put"),
                "a b c !a a", "item-once", 5,
                "after the get of a, which returned 'cancelled', 'items' has 2 items instead of 1");
}

/* After a shutdown the size is not judged, but the delivery is. */
Test(item_once, fires_at_the_delivery_of_what_a_failed_put_left) {
    queue_fails(&ghosts, FIFO, 1, STAGE_SCRIPTS("put", "~put", "get close yield get"),
                "a b c !b b c", "item-once", 6,
                "item 2 of 'items' was delivered, but its put had failed");
}

/* size() counts the item still. */
Test(item_once, fires_at_the_end_if_an_item_is_missing) {
    queue_fails(&forgets_item, FIFO, 0, STAGE_SCRIPTS("put", "count"), "a b", "item-once", 2,
                "item 1 of 'items' was put, but never delivered");
}

Test(item_once, fires_at_what_a_shutdown_had_dropped) {
    queue_fails(&closes, FIFO, 0, STAGE_SCRIPTS("put drop", "get"), "a b", "item-once", 2,
                "item 1 of 'items' was delivered, but a shutdown had dropped it");
}

Test(item_once, is_silent_where_cancelled_operations_leave_no_trace) {
    queue_passes(&bz_variant_buzzer, FIFO, 1,
                 STAGE_SCRIPTS("get", "put", "put", "put", "get yield count"),
                 "a b !a a c d !d d e");
    queue_passes(&hands_over, FIFO, 0, STAGE_SCRIPTS("get", "put", "get yield count"),
                 "a b !a a c c");
    queue_passes(&bz_variant_buzzer, FIFO, 0, STAGE_SCRIPTS("put put", "count"), "a b");
    queue_passes(&offers_least, FIFO, 0, STAGE_SCRIPTS("put put", "count"), "a b");
    queue_passes(&bz_variant_buzzer, FIFO, 0, STAGE_SCRIPTS("put drop", "count"), "a b");
}

/* The shutdown does not drop an item that was handed over before. */
Test(item_once, is_silent_when_an_item_in_hand_outlives_a_shutdown) {
    queue_passes(&hands_over, FIFO, 0, STAGE_SCRIPTS("get", "put drop", "count"), "a b a c");
}

/* --- item-order ------------------------------------------------------------------------------- */

Test(item_order, fires_at_the_get_that_takes_another_item_than_the_next) {
    queue_fails(&newest_first, FIFO, 0, STAGE_SCRIPTS("put put", "get"), "a b", "item-order", 2,
                "b got item 2 of 'items' out of order: item 1 should have come first");
}

Test(item_order, fires_when_one_task_gets_the_items_of_another_in_reverse) {
    queue_fails(&newest_first_not_exact, FIFO, 0, STAGE_SCRIPTS("put put", "get yield get"),
                "a b b", "item-order", 3,
                "b got item 1 of 'items' out of order: item 2 came before it");
}

/* The least priority first; of equal ones, the item that was put first. */
Test(item_order, follows_priorities) {
    queue_fails(&newest_first, PRIORITY, 0, STAGE_SCRIPTS("urgent put", "get"), "a b", "item-order",
                2, "b got item 2 of 'items' out of order: item 1 should have come first");
    queue_fails(&newest_first_ties_waived, PRIORITY, 0, STAGE_SCRIPTS("urgent put", "get"), "a b",
                "item-order", 2, "got item 2 of 'items' out of order: item 1 should have come");
    queue_fails(&newest_first, PRIORITY, 0, STAGE_SCRIPTS("put put", "get"), "a b", "item-order", 2,
                "b got item 2 of 'items' out of order: item 1 should have come first");
    queue_passes(&bz_variant_buzzer, PRIORITY, 0,
                 STAGE_SCRIPTS("put put urgent", "get get get count"), "a b");
}

Test(item_order, follows_lifo) {
    queue_fails(&oldest_first, LIFO, 0, STAGE_SCRIPTS("put put", "get"), "a b", "item-order", 2,
                "b got item 1 of 'items' out of order: item 2 should have come first");
    queue_passes(&bz_variant_buzzer, LIFO, 0, STAGE_SCRIPTS("put put", "get get count"), "a b");
}

/* Two tasks get one item each, or put one each: their order is unknown. */
Test(item_order, is_silent_between_different_tasks) {
    queue_passes(&newest_first_not_exact, FIFO, 0, STAGE_SCRIPTS("put put", "get", "get"), "a b c");
    queue_passes(&newest_first_ties_waived, PRIORITY, 0, STAGE_SCRIPTS("put put", "get"), "a b");
    queue_passes(&newest_first_waived, FIFO, 0, STAGE_SCRIPTS("put put", "get yield get"), "a b b");
    queue_passes(&newest_first_not_exact, FIFO, 0, STAGE_SCRIPTS("put", "put", "get yield get"),
                 "a b c c");
}

/* Items are in the order in which the puts return, not in which they are called. */
Test(item_order, is_silent_when_a_later_putter_resumes_first) {
    queue_passes(&bz_variant_buzzer, FIFO, 2,
                 STAGE_SCRIPTS("put put", "put", "put", "get get yield get get count"),
                 "a b c d c b d");
}

/* --- bound ------------------------------------------------------------------------------------ */

Test(bound, fires_at_the_put_that_is_too_many) {
    queue_fails(&bz_variant_zoo_q_overflow, FIFO, 2, STAGE_SCRIPTS("put put put", "get", "put"),
                "a b c a", "bound", 4,
                "'slots' has room for 2 items, but after the put of a there are 3");
}

/* An item that was handed over takes no slot, until its getter is cancelled. */
Test(bound, counts_what_a_cancelled_getter_puts_back) {
    queue_fails(&hands_over, FIFO, 1, STAGE_SCRIPTS("get", "put put"), "a b !a a", "bound", 4,
                "'slots' has room for 1 item, but after the get of a there are 2");
}

Test(bound, is_silent_up_to_the_bound_and_without_one) {
    queue_passes(&bz_variant_buzzer, FIFO, 2, STAGE_SCRIPTS("put put ~try-put", "get get count"),
                 "a b");
    queue_passes(&bz_variant_zoo_q_overflow, FIFO, 0, STAGE_SCRIPTS("put put put", "count"), "a b");
    queue_passes(&hands_over, FIFO, 1, STAGE_SCRIPTS("get", "put put", "count"), "a b a c");
}

/* --- queue-size ------------------------------------------------------------------------------- */

Test(queue_size, fires_after_a_put_with_the_wrong_size) {
    queue_fails(&miscounts, FIFO, 0, STAGE_SCRIPTS("put"), "a", "queue-size", 1,
                "'items' shows a size of 2, but puts less gets are 1");
}

Test(queue_size, is_silent_without_the_claim_and_when_it_is_right) {
    queue_passes(&miscounts_not_exact, FIFO, 0, STAGE_SCRIPTS("put", "get"), "a b");
    queue_passes(&bz_variant_buzzer, FIFO, 1, STAGE_SCRIPTS("put put", "get get count"), "a b a b");
}

/* --- lost-wakeup ------------------------------------------------------------------------------ */

Test(lost_wakeup, fires_when_an_item_is_there_and_its_getter_sleeps) {
    queue_fails(&forgets_getter, FIFO, 0, STAGE_SCRIPTS("get", "put"), "a b", "lost-wakeup", 2,
                "1 of 1 item of 'items' is free, but a waits");
}

Test(lost_wakeup, fires_when_a_slot_is_free_and_its_putter_sleeps) {
    queue_fails(&bz_variant_zoo_q_putter_lost, FIFO, 1, STAGE_SCRIPTS("put", "~put", "put", "get"),
                "a b c d !b b", "lost-wakeup", 6, "1 of 1 slot of 'slots' is free, but c waits");
}

Test(lost_wakeup, is_silent_while_a_wake_up_is_under_way) {
    queue_passes(&bz_variant_buzzer, FIFO, 1,
                 STAGE_SCRIPTS("get", "get", "put", "put yield yield put", "count"),
                 "a b c !a d a b d d e");
}

/* --- fifo ------------------------------------------------------------------------------------- */

Test(fifo, fires_when_a_newcomer_gets_the_item_of_a_woken_getter) {
    queue_fails(&bz_variant_zoo_q_barge, FIFO, 0, STAGE_SCRIPTS("get", "put", "try-get"), "a b c",
                "fifo", 3, "c was granted an item of 'items' before a, which had been woken");
}

Test(fifo, fires_when_a_newcomer_takes_the_slot_of_a_woken_putter) {
    queue_fails(&bz_variant_zoo_q_barge, FIFO, 1, STAGE_SCRIPTS("put put", "get", "try-put"),
                "a b c", "fifo", 3,
                "c was granted a slot of 'slots' before a, which had been woken");
}

Test(fifo, is_silent_in_order_and_without_the_claim) {
    queue_passes(&barges_unclaimed, FIFO, 0, STAGE_SCRIPTS("get", "put", "get", "put", "count"),
                 "a b c a d a e");
    queue_passes(&bz_variant_buzzer, FIFO, 0, STAGE_SCRIPTS("get", "put", "~try-get", "count"),
                 "a b c a d");
}
