/* Queues of items, in which a wake-up is a hint. */
#include "scenarios/zoo/parts.h"

/* q-barge: a newcomer can take what a woken task was woken for, and that task queues again at the
 * end.
 *
 * (1) The queue is full, P waits in put. (2) A get takes an item and wakes P. (3) A newcomer puts
 * before P has resumed. (4) P finds the queue full and waits again, behind all others. The same
 * happens to getters. It is still so, by choice: asyncio's queue does not promise to be fair. This
 * entry claims that it is, so that the oracle of strict order objects. The rest is right, and
 * the other entries begin with it.
 *
 * The cure: what a task was woken for is promised to it, and a newcomer waits behind it. */
BZ_ZOO_ENTRY(queue, q_barge, BZ_ZOO_QUEUE);

/* q-overflow: a putter that was woken stores its item without looking for room again.
 *
 * (1) The queue is full, P waits in put. (2) A get takes an item and wakes P. (3) A newcomer puts
 * without waiting, before P has resumed: the queue is full again. (4) P resumes and stores its
 * item: the queue holds more items than its bound.
 *
 * The cure: a putter that was woken looks again, and may have to wait again. */
static enum bz_status q_overflow_put(void *instance, uint64_t value, int64_t priority) {
    struct bz_item_queue *queue = instance;
    if (bz_item_queue_is_full(queue)) {
        struct bz_waiter waiter;
        enum bz_status status = bz_deque_wait(&queue->putters, &waiter);
        if (status != BZ_OK) {
            if (bz_waiter_was_woken(&waiter) && !bz_item_queue_is_full(queue)) {
                bz_deque_wake_oldest(&queue->putters);
            }
            return status;
        }
    }
    return bz_item_queue_add(queue, value, priority); /* the fault: it may be full again */
}

BZ_ZOO_ENTRY(queue, q_overflow, BZ_ZOO_QUEUE, .put = q_overflow_put);

/* q-putter-lost: a woken putter that is cancelled does not pass the wake-up on.
 *
 * (1) The queue is full, P1 and P2 wait in put. (2) A get takes an item and wakes P1. (3) P1 is
 * cancelled before it resumes, and leaves. (4) There is room, P2 waits, and nothing wakes it.
 *
 * The cure: a putter that leaves with a wake-up, while there is room, wakes the next. */
static enum bz_status q_putter_lost_put(void *instance, uint64_t value, int64_t priority) {
    struct bz_item_queue *queue = instance;
    while (bz_item_queue_is_full(queue)) {
        struct bz_waiter waiter;
        enum bz_status status = bz_deque_wait(&queue->putters, &waiter);
        if (status != BZ_OK) {
            return status; /* the fault: it may have been woken, and no other waiter is */
        }
    }
    return bz_item_queue_try_put(queue, value, priority);
}

BZ_ZOO_ENTRY(queue, q_putter_lost, BZ_ZOO_QUEUE, .put = q_putter_lost_put);

/* q-taskcount: items of a LIFO or priority queue are not counted as unfinished.
 *
 * The queues of other orders replaced put as a whole, and so lost the line that counts. join finds
 * nothing unfinished, and returns while items are in the queue or being worked on. task_done
 * refuses, because nothing is unfinished.
 *
 * The cure: the queue counts, and the orders replace only how items are stored and taken. */
static enum bz_status q_taskcount_try_put(void *instance, uint64_t value, int64_t priority) {
    struct bz_item_queue *queue = instance;
    if (bz_item_queue_is_full(queue)) {
        return BZ_FULL;
    }
    enum bz_status status = bz_item_queue_store(queue, value, priority);
    if (status == BZ_OK) {
        queue->unfinished +=
            queue->items.kind == BZ_QUEUE_FIFO; /* the fault: the others are not counted */
        bz_deque_wake_oldest(&queue->getters);
    }
    return status;
}

BZ_ITEM_QUEUE_PUT(q_taskcount_put, q_taskcount_try_put)

BZ_ZOO_ENTRY(queue, q_taskcount, BZ_ZOO_QUEUE, .put = q_taskcount_put,
             .try_put = q_taskcount_try_put);

/* q-ghost-put: a put that was cancelled is delivered nevertheless.
 *
 * Waiting putters are queued with their items, and a get moves the item of the oldest one into the
 * queue before it wakes it. (1) The queue is full, P waits in put. (2) A get takes an item, moves
 * P's in, and wakes P. (3) P is cancelled before it resumes: its put says that it did not happen.
 * (4) The item is delivered.
 *
 * The cure: a putter that is woken stores its item itself, when it resumes. */
struct q_ghost_putter {
    struct bz_waiter waiter;
    uint64_t value;
    int64_t priority;
};

static enum bz_status q_ghost_put_put(void *instance, uint64_t value, int64_t priority) {
    struct bz_item_queue *queue = instance;
    if (!bz_item_queue_is_full(queue)) {
        return bz_item_queue_try_put(queue, value, priority);
    }
    struct q_ghost_putter self = {.value = value, .priority = priority};
    /* The fault: its item may be in the queue already, even if this is cancelled. */
    return bz_deque_wait(&queue->putters, &self.waiter);
}

static enum bz_status q_ghost_put_try_get(void *instance, uint64_t *value) {
    struct bz_item_queue *queue = instance;
    if (queue->items.count == 0) {
        return BZ_EMPTY;
    }
    *value = bz_item_queue_take(queue);
    struct bz_waiter *oldest = bz_deque_oldest_asleep(&queue->putters);
    if (oldest == NULL) {
        return BZ_OK;
    }
    struct q_ghost_putter *putter = bz_container_of(oldest, struct q_ghost_putter, waiter);
    bz_future_set_result(&oldest->future, 0);
    return bz_item_queue_try_put(queue, putter->value, putter->priority);
}

BZ_ITEM_QUEUE_GET(q_ghost_put_get, q_ghost_put_try_get)

BZ_ZOO_ENTRY(queue, q_ghost_put, BZ_ZOO_QUEUE, .put = q_ghost_put_put, .get = q_ghost_put_get,
             .try_get = q_ghost_put_try_get);

/* --- entries that outlive their tasks --------------------------------------------------------- */

/* One wait, by a request that is dropped when it is out of the deque. With `stays_if_cancelled`,
 * one that was cancelled while it waited is left in. */
static enum bz_status wait_by_request(struct bz_deque *deque, bool stays_if_cancelled,
                                      bool *was_woken) {
    struct bz_zoo_request *request = bz_zoo_request_new(deque->loop);
    if (request == NULL) {
        return BZ_NO_MEMORY;
    }
    enum bz_status status = bz_deque_wait_and_stay(deque, &request->waiter);
    *was_woken = bz_waiter_was_woken(&request->waiter);
    if (bz_list_is_linked(&request->waiter.link) && (*was_woken || !stays_if_cancelled)) {
        bz_deque_remove(&request->waiter);
        bz_zoo_request_drop(deque->loop, &request->waiter);
    }
    bz_zoo_request_drop(deque->loop, &request->waiter);
    return status;
}

/* Removes cancelled entries at the front. The task of a woken entry removes it itself. */
static void drop_dead_ones(struct bz_deque *deque) {
    struct bz_waiter *oldest;
    while ((oldest = bz_deque_next(deque, NULL)) != NULL &&
           oldest->future.state == BZ_FUTURE_CANCELLED) {
        bz_deque_remove(oldest);
        bz_zoo_request_drop(deque->loop, oldest);
    }
}

/* A get whose entry stays if it is cancelled. */
static enum bz_status get_by_request(void *instance, uint64_t *value) {
    struct bz_item_queue *queue = instance;
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && queue->items.count == 0) {
        bool was_woken = false;
        status = wait_by_request(&queue->getters, true, &was_woken);
        if (status != BZ_OK && was_woken && queue->items.count > 0) {
            bz_deque_wake_oldest(&queue->getters);
        }
    }
    return status == BZ_OK ? bz_item_queue_try_get(queue, value) : status;
}

/* q-deferred-set: the wake-up of a putter is scheduled, and meets a putter that was cancelled
 * meanwhile.
 *
 * A get takes the oldest putter out of the queue and wakes it from a callback. (1) The queue is
 * full, P1 and P2 wait in put. (2) A get schedules the wake-up of P1. (3) P1 is cancelled before
 * the callback runs. (4) The callback sets the result of a future that is done. That is an error in
 * the loop, and nothing wakes P2, for which there is room.
 *
 * The cure: choose a putter and wake it in one step. */
static void q_deferred_set_on_wake(struct bz_handle *handle) {
    struct bz_waiter *waiter = &bz_container_of(handle, struct bz_zoo_request, wakes)->waiter;
    /* The fault: if this is refused, no waiter is woken instead. */
    bz_future_set_result(&waiter->future, 0);
    bz_zoo_request_drop(waiter->future.loop, waiter);
}

static void q_deferred_set_schedule_oldest(struct bz_item_queue *queue) {
    struct bz_waiter *oldest = bz_deque_oldest_asleep(&queue->putters);
    if (oldest != NULL) {
        bz_deque_remove(oldest); /* the callback takes over its use */
        bz_zoo_call_soon(queue->getters.loop,
                         &bz_container_of(oldest, struct bz_zoo_request, waiter)->wakes,
                         q_deferred_set_on_wake);
    }
}

static enum bz_status q_deferred_set_put(void *instance, uint64_t value, int64_t priority) {
    struct bz_item_queue *queue = instance;
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && bz_item_queue_is_full(queue)) {
        bool was_woken = false;
        status = wait_by_request(&queue->putters, false, &was_woken);
        if (status != BZ_OK && was_woken && !bz_item_queue_is_full(queue)) {
            q_deferred_set_schedule_oldest(queue);
        }
    }
    return status == BZ_OK ? bz_item_queue_try_put(queue, value, priority) : status;
}

static enum bz_status q_deferred_set_try_get(void *instance, uint64_t *value) {
    struct bz_item_queue *queue = instance;
    if (queue->items.count == 0) {
        return BZ_EMPTY;
    }
    *value = bz_item_queue_take(queue);
    q_deferred_set_schedule_oldest(queue);
    return BZ_OK;
}

BZ_ITEM_QUEUE_GET(q_deferred_set_get, q_deferred_set_try_get)

BZ_ZOO_ENTRY(queue, q_deferred_set, BZ_ZOO_QUEUE, .put = q_deferred_set_put,
             .get = q_deferred_set_get, .try_get = q_deferred_set_try_get);

/* q-dead-getters: a cancelled getter leaves its entry behind, until the next put comes.
 *
 * A put that looks for a getter to wake skips the entries of cancelled ones, and throws them away.
 * While no put comes, they stay. A task that gets with a deadline, again and again, from an idle
 * queue fills the memory.
 *
 * The cure: a waiter takes its entry out whichever way it leaves. */
static enum bz_status q_dead_getters_try_put(void *instance, uint64_t value, int64_t priority) {
    struct bz_item_queue *queue = instance;
    if (bz_item_queue_is_full(queue)) {
        return BZ_FULL;
    }
    drop_dead_ones(&queue->getters);
    return bz_item_queue_try_put(queue, value, priority);
}

BZ_ITEM_QUEUE_PUT(q_dead_getters_put, q_dead_getters_try_put)

BZ_ZOO_ENTRY(queue, q_dead_getters, BZ_ZOO_QUEUE, .put = q_dead_getters_put,
             .get = get_by_request, /* the fault */
             .try_put = q_dead_getters_try_put);

/* q-dead-putters: a cancelled putter leaves its entry behind, until the next get comes.
 *
 * This is q-dead-getters for put: a task that puts with a deadline, again and again, into a full
 * queue that no task gets from fills the memory.
 *
 * The cure: a waiter takes its entry out whichever way it leaves. */
static enum bz_status q_dead_putters_put(void *instance, uint64_t value, int64_t priority) {
    struct bz_item_queue *queue = instance;
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && bz_item_queue_is_full(queue)) {
        bool was_woken = false;
        status = wait_by_request(&queue->putters, true, &was_woken); /* the fault: it stays in */
        if (status != BZ_OK && was_woken && !bz_item_queue_is_full(queue)) {
            bz_deque_wake_oldest(&queue->putters);
        }
    }
    return status == BZ_OK ? bz_item_queue_try_put(queue, value, priority) : status;
}

static enum bz_status q_dead_putters_try_get(void *instance, uint64_t *value) {
    struct bz_item_queue *queue = instance;
    enum bz_status status = bz_item_queue_try_get(queue, value);
    if (status == BZ_OK) {
        drop_dead_ones(&queue->putters);
    }
    return status;
}

BZ_ITEM_QUEUE_GET(q_dead_putters_get, q_dead_putters_try_get)

BZ_ZOO_ENTRY(queue, q_dead_putters, BZ_ZOO_QUEUE, .put = q_dead_putters_put,
             .get = q_dead_putters_get, .try_get = q_dead_putters_try_get);

/* nats-804: an iterator over messages is cancelled, and its getter eats the next message.
 *
 * Each step of the iterator starts a task that gets a message, and waits for that task. A cancelled
 * step leaves the task behind. (1) A waits; its task G waits in get. (2) A is cancelled. (3) A
 * message is put. G takes it and ends, and no task asks G for it.
 *
 * Here G is an entry in the queue of the getters.
 *
 * The cure: the step cancels G, and waits for its end. */
static void nats_804_wake_next(struct bz_item_queue *queue) {
    struct bz_waiter *getter = queue->items.count > 0 ? bz_deque_pop(&queue->getters) : NULL;
    if (getter != NULL) {
        if (bz_future_set_result(&getter->future, 0) != BZ_OK) {
            (void)bz_item_queue_take(queue); /* the fault: for a step that was cancelled */
            bz_deque_wake_oldest(&queue->putters);
        }
        bz_zoo_request_drop(queue->getters.loop, getter);
    }
}

static enum bz_status nats_804_try_put(void *instance, uint64_t value, int64_t priority) {
    struct bz_item_queue *queue = instance;
    enum bz_status status =
        bz_item_queue_is_full(queue) ? BZ_FULL : bz_item_queue_store(queue, value, priority);
    if (status == BZ_OK) {
        queue->unfinished++;
        nats_804_wake_next(queue);
    }
    return status;
}

BZ_ITEM_QUEUE_PUT(nats_804_put, nats_804_try_put)

BZ_ZOO_ENTRY(queue, nats_804, BZ_ZOO_QUEUE, .put = nats_804_put, .try_put = nats_804_try_put,
             .get = get_by_request, .queued = NULL);

/* --- who is woken --------------------------------------------------------------------------- */

/* cats-effect-3998: an offer wakes a taker that is cancelled, and the next one is not woken.
 *
 * (1) T1 and T2 wait in take. (2) An offer stores its item and wakes T1. (3) T1 is cancelled before
 * it resumes, and leaves. (4) The item is there, T2 waits, and nothing wakes it. It is the fault of
 * q-putter-lost, on the other side.
 *
 * The cure: a taker that leaves with a wake-up, while there is an item, wakes the next. */
static enum bz_status cats_effect_3998_get(void *instance, uint64_t *value) {
    struct bz_item_queue *queue = instance;
    while (queue->items.count == 0) {
        struct bz_waiter waiter;
        enum bz_status status = bz_deque_wait(&queue->getters, &waiter);
        if (status != BZ_OK) {
            return status; /* the fault: it may have been woken, and no other waiter is */
        }
    }
    return bz_item_queue_try_get(queue, value);
}

BZ_ZOO_ENTRY(queue, cats_effect_3998, BZ_ZOO_QUEUE, .get = cats_effect_3998_get);

/* lean4-8052: a receive that does not wait frees a slot, and wakes no sender.
 *
 *     the channel is full, S waits in send; R receives without waiting: S waits next to a free slot
 *
 * The cure: every receive wakes a sender. */
static enum bz_status lean4_8052_try_get(void *instance, uint64_t *value) {
    struct bz_item_queue *queue = instance;
    if (queue->items.count == 0) {
        return BZ_EMPTY;
    }
    *value = bz_item_queue_take(queue); /* the fault: a sender may wait for the slot */
    return BZ_OK;
}

BZ_ZOO_ENTRY(queue, lean4_8052, BZ_ZOO_QUEUE, .try_get = lean4_8052_try_get);

/* tmc-219: the close of an empty channel wakes no consumer.
 *
 * A close marks the channel, and a later drain would wake those who wait. A channel that is only
 * closed leaves them asleep.
 *
 *     C waits in pull; A closes the channel: C waits forever
 *
 * The cure: a close wakes all consumers. */
static void tmc_219_shutdown(void *instance, bool is_immediate) {
    struct bz_item_queue *queue = instance;
    bz_item_queue_close(queue, is_immediate);
    while (bz_deque_wake_oldest(&queue->putters)) { /* the fault: and the getters */
    }
}

BZ_ZOO_ENTRY(queue, tmc_219, BZ_ZOO_QUEUE, .shutdown = tmc_219_shutdown);

/* asio-1318: the close of a channel ends the receives that wait, and not the sends.
 *
 *     the channel is full, S waits in send; A closes the channel: S waits forever
 *
 * The cure: a close ends both. */
static void asio_1318_shutdown(void *instance, bool is_immediate) {
    struct bz_item_queue *queue = instance;
    bz_item_queue_close(queue, is_immediate);
    while (bz_deque_wake_oldest(&queue->getters)) { /* the fault: and the putters */
    }
}

BZ_ZOO_ENTRY(queue, asio_1318, BZ_ZOO_QUEUE, .shutdown = asio_1318_shutdown);

/* rustfs-4498: takers and the drainer share one notification, which reaches the wrong one.
 *
 * take() waits for a permit, wait() until every permit is back, both at one Notify. A give notifies
 * the waiter that came first. (1) D waits until all are back; B waits in take. (2) A give notifies
 * D. (3) D returns, or waits again if permits are missing, and notifies no other. (4) B waits next
 * to a permit.
 *
 * Here the permits are items, and the drainer is the task that joins the queue.
 *
 * The cure: a queue for each, or a waiter that does not use its notification passes it on. */
static enum bz_status rustfs_4498_join(void *instance) {
    struct bz_item_queue *queue = instance;
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && queue->unfinished > 0) {
        struct bz_waiter waiter;
        status = bz_deque_wait(&queue->getters, &waiter); /* the fault: then it waits again */
        if (status != BZ_OK && bz_waiter_was_woken(&waiter)) {
            bz_deque_wake_oldest(&queue->getters);
        }
    }
    return status;
}

static enum bz_status rustfs_4498_task_done(void *instance) {
    struct bz_item_queue *queue = instance;
    enum bz_status status = bz_item_queue_task_done(queue);
    while (queue->unfinished == 0 && bz_deque_wake_oldest(&queue->getters)) {
    }
    return status;
}

BZ_ZOO_ENTRY(queue, rustfs_4498, BZ_ZOO_QUEUE, .join = rustfs_4498_join,
             .task_done = rustfs_4498_task_done, .queued = NULL);

/* --- a rendezvous --------------------------------------------------------------------------- */

/* cats-effect-3215: an offer is cancelled after it has met a taker, which waits for it forever.
 *
 * A synchronous queue keeps no item. An offer and a taker first leave the queue together, and then
 * pass the item. (1) T waits in take. (2) An offer takes T out of the queue and wakes it. (3) The
 * offer is cancelled before T has resumed, and leaves. (4) T waits for that offer, and no later one
 * knows of T.
 *
 * The cure: the item is passed in the same step; here, T returns to the front of the queue. */
struct offer {
    struct bz_waiter waiter;
    uint64_t value;
};

static enum bz_status cats_effect_3215_put(void *instance, uint64_t value, int64_t priority) {
    struct bz_item_queue *queue = instance;
    struct offer offer = {.value = value};
    (void)priority;
    bz_deque_pop_and_wake(&queue->getters);
    return bz_deque_wait(&queue->putters, &offer.waiter);
}

static enum bz_status cats_effect_3215_try_put(void *instance, uint64_t value, int64_t priority) {
    (void)instance;
    (void)value;
    (void)priority;
    return BZ_FULL; /* a taker accepts an offer when it resumes, not before */
}

static enum bz_status cats_effect_3215_try_get(void *instance, uint64_t *value) {
    struct bz_item_queue *queue = instance;
    struct bz_waiter *oldest = bz_deque_pop(&queue->putters);
    while (oldest != NULL && bz_future_set_result(&oldest->future, 0) != BZ_OK) {
        oldest = bz_deque_pop(&queue->putters);
    }
    if (oldest == NULL) {
        return BZ_EMPTY;
    }
    *value = bz_container_of(oldest, struct offer, waiter)->value;
    return BZ_OK;
}

static enum bz_status cats_effect_3215_get(void *instance, uint64_t *value) {
    struct bz_item_queue *queue = instance;
    if (cats_effect_3215_try_get(queue, value) == BZ_OK) {
        return BZ_OK;
    }
    struct bz_waiter taker;
    enum bz_status status = bz_deque_wait(&queue->getters, &taker);
    while (status == BZ_OK && cats_effect_3215_try_get(queue, value) != BZ_OK) {
        bz_future_init(&taker.future, queue->getters.loop);
        status = bz_future_await(&taker.future); /* the fault: it is in no queue */
    }
    if (status != BZ_OK && bz_waiter_was_woken(&taker) && bz_deque_has_live(&queue->putters)) {
        bz_deque_pop_and_wake(&queue->getters);
    }
    return status;
}

BZ_ZOO_ENTRY(queue, cats_effect_3215, BZ_ZOO_QUEUE, .put = cats_effect_3215_put,
             .get = cats_effect_3215_get, .try_put = cats_effect_3215_try_put,
             .try_get = cats_effect_3215_try_get, .task_done = NULL, .join = NULL, .queued = NULL);
