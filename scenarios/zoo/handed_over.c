/* Queues whose puts hand their items over to a waiting getter, inside its future. */
#include "scenarios/zoo/parts.h"

/* Gives the item to the oldest getter that waits; false if there is none. */
static bool hand_to_oldest(struct bz_item_queue *queue, uint64_t value) {
    struct bz_waiter *oldest = bz_deque_oldest_asleep(&queue->getters);
    if (oldest == NULL) {
        return false;
    }
    bz_future_set_result(&oldest->future, value);
    queue->handed_over++;
    return true;
}

static enum bz_status try_hand_over(void *instance, uint64_t value, int64_t priority) {
    struct bz_item_queue *queue = instance;
    enum bz_status status = BZ_OK;
    if (bz_item_queue_is_full(queue)) {
        return BZ_FULL;
    }
    if (queue->items.count == 0 && hand_to_oldest(queue, value)) {
        bz_deque_wake_oldest(
            &queue->putters); /* the item takes no slot: it is free for the next putter */
    } else {
        status = bz_item_queue_store(queue, value, priority);
    }
    queue->unfinished += status == BZ_OK;
    return status;
}

BZ_ITEM_QUEUE_PUT(hand_over, try_hand_over)

#define HANDING_OVER BZ_ZOO_QUEUE, .put = hand_over, .try_put = try_hand_over

/* A get: takes an item at once, or waits. A getter that was woken has its item in the future,
 * whatever the status says. */
static enum bz_status take_or_wait(struct bz_item_queue *queue, uint64_t *value,
                                   struct bz_waiter *getter) {
    if (queue->items.count > 0) {
        getter->future.state = BZ_FUTURE_PENDING;
        return bz_item_queue_try_get(queue, value);
    }
    enum bz_status status = bz_deque_wait(&queue->getters, getter);
    queue->handed_over -= bz_waiter_was_woken(getter);
    *value = getter->future.value;
    return status;
}

/* q-handoff-lost: the item travels inside the getter's future, and a cancelled getter drops it.
 *
 * A put that finds a getter waiting gives it the item with the wake-up. (1) G waits in get. (2) A
 * put sets the item as the result of G's future; it is no longer in the queue. (3) G is cancelled
 * before it resumes. (4) G leaves, and the item is lost.
 *
 * The cure: no item travels inside a waiter. A put stores the item and wakes a getter, which takes
 * it when it resumes. */
static enum bz_status q_handoff_lost_get(void *instance, uint64_t *value) {
    struct bz_waiter self;
    /* The fault: if it is cancelled, the item in its future is lost. */
    return take_or_wait(instance, value, &self);
}

BZ_ZOO_ENTRY(queue, q_handoff_lost, HANDING_OVER, .get = q_handoff_lost_get);

/* an-728: a receiver that is cancelled in the window drops the item that it was handed.
 *
 * A memory object stream sends straight to a receiver that waits, past the buffer. (1) R waits in
 * receive. (2) A send hands it the item. (3) A cancellation of R, from its scope or its task, is
 * delivered before R has resumed. (4) R leaves by that exception, and the item is lost. The code is
 * that of q-handoff-lost.
 *
 * Two earlier policies for the same window and one repair had faults of their own: an-728-swallow,
 * an-728-reroute.
 *
 * The cure of all three: the item stays in the queue until the receiver has resumed, and counts
 * against the bound until then. */
BZ_ZOO_ENTRY(queue, an_728, HANDING_OVER, .get = q_handoff_lost_get);

/* mb-160-queue: a reader that is cancelled between wake-up and resume loses the value that it was
 * assigned.
 *
 * This is the queue of the same change as mb-160. It has no bound and one order. A put assigns its
 * value to the oldest reader that waits, and schedules that reader. (1) R waits. (2) A put assigns
 * R the value. (3) R is cancelled before it runs. (4) R leaves, and the value is lost. The code is
 * that of q-handoff-lost.
 *
 * The cure: a cancelled reader puts back what it was assigned. (The project chose another one: the
 * cancellation takes effect later, at the next point where it can.) */
static enum bz_status mb_160_queue_init(void *instance, struct bz_loop *loop,
                                        enum bz_queue_order order, uint32_t maxsize) {
    bool is_offered = order == BZ_QUEUE_ORDER_FIFO && maxsize == 0;
    return is_offered ? bz_item_queue_init(instance, loop, order, 0) : BZ_INVALID_ARGUMENT;
}

BZ_ZOO_ENTRY(queue, mb_160_queue, HANDING_OVER, .init = mb_160_queue_init,
             .get = q_handoff_lost_get);

/* q-putback-dup: the item of a cancelled getter is put back twice.
 *
 * This is the first repair of q-handoff-lost. A getter that is cancelled with an item in its future
 * puts it back into the queue, and also hands it to the next getter that waits. (1) G1 and G2 wait.
 * (2) A put hands the item to G1. (3) G1 is cancelled; the item is stored, and handed to G2 as
 * well. (4) G2 returns it, and so does the next get.
 *
 * The cure: no item travels inside a waiter, so there is nothing to put back. */
static enum bz_status q_putback_dup_get(void *instance, uint64_t *value) {
    struct bz_item_queue *queue = instance;
    struct bz_waiter self;
    enum bz_status status = take_or_wait(queue, value, &self);
    if (status != BZ_OK && bz_waiter_was_woken(&self)) {
        hand_to_oldest(queue, self.future.value);
        /* The fault: an else is missing here. */
        enum bz_status stored = bz_item_queue_put_back(queue, self.future.value);
        return stored == BZ_OK ? status : stored;
    }
    return status;
}

BZ_ZOO_ENTRY(queue, q_putback_dup, HANDING_OVER, .get = q_putback_dup_get);

/* an-728-reroute: the item of a cancelled receiver goes back into a buffer that is full meanwhile.
 *
 * This is the repair of an-728: a receiver that leaves by a cancellation passes its item to the
 * next receiver that waits, or puts it back in front of the buffer, even beyond the buffer's size.
 * (1) R waits. (2) A send hands it an item, and a second one fills the buffer. (3) R is cancelled,
 * and puts its item back: the buffer holds more than its bound.
 *
 * The cure: an item that was handed over counts against the bound until its receiver resumes. */
static enum bz_status an_728_reroute_get(void *instance, uint64_t *value) {
    struct bz_item_queue *queue = instance;
    struct bz_waiter self;
    enum bz_status status = take_or_wait(queue, value, &self);
    if (status != BZ_OK && bz_waiter_was_woken(&self) &&
        !hand_to_oldest(queue, self.future.value)) {
        /* The fault: there may be no room. */
        enum bz_status stored = bz_item_queue_put_back(queue, self.future.value);
        return stored == BZ_OK ? status : stored;
    }
    return status;
}

BZ_ZOO_ENTRY(queue, an_728_reroute, HANDING_OVER, .get = an_728_reroute_get);

/* an-728-swallow: a receiver that was handed an item returns it, and its cancellation is lost.
 *
 * This is the oldest policy for the window between the send and the resume of the receiver: it
 * keeps the item, and loses the cancellation instead. (1) R waits in receive. (2) A send hands it
 * the item. (3) R is cancelled. (4) R returns the item as if it had not been cancelled. The task
 * that cancelled it waits for an end that does not come.
 *
 * The cure: the item is put back, within the bound, and the cancellation is reported. See an-728.
 */
static enum bz_status an_728_swallow_get(void *instance, uint64_t *value) {
    struct bz_waiter self;
    enum bz_status status = take_or_wait(instance, value, &self);
    return bz_waiter_was_woken(&self) ? BZ_OK : status; /* the fault: even if cancelled */
}

BZ_ZOO_ENTRY(queue, an_728_swallow, HANDING_OVER, .get = an_728_swallow_get);

/* neco-chan: a receiver that is cancelled before it runs takes along the item that was copied to
 * it.
 *
 * A send copies its item to the stack of the oldest receiver, and schedules that one. The code is
 * that of q-handoff-lost. */
BZ_ZOO_ENTRY(queue, neco_chan, HANDING_OVER, .get = q_handoff_lost_get);
