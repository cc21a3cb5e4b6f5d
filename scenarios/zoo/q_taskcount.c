/* q-taskcount: items of a LIFO or priority queue are not counted as unfinished.
 *
 * The queues of other orders replaced put as a whole, and with it the line that counts. join finds
 * nothing unfinished and returns while items are in the queue or being worked on, and task_done
 * refuses what was done once too often.
 *
 * The cure: counting is the business of the queue, and the orders replace only how items are
 * stored and taken. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/items.h"

static enum bz_status try_put(void *instance, uint64_t value, int64_t priority) {
    struct bz_zoo_items *queue = instance;
    if (bz_zoo_items_is_full(queue)) {
        return BZ_FULL;
    }
    enum bz_status status = bz_zoo_items_store(queue, value, priority);
    if (status == BZ_OK) {
        if (queue->order == BZ_QUEUE_ORDER_FIFO) { /* the fault: every order has to count */
            bz_zoo_items_expect(queue);
        }
        bz_zoo_wake_oldest(&queue->getters);
    }
    return status;
}

static enum bz_status put(void *instance, uint64_t value, int64_t priority) {
    struct bz_zoo_items *queue = instance;
    while (bz_zoo_items_is_full(queue)) {
        struct bz_zoo_waiter waiter;
        enum bz_status status = bz_zoo_wait(&queue->putters, &waiter);
        bz_zoo_leave(&waiter);
        if (status != BZ_OK) {
            if (bz_zoo_was_woken(&waiter) && !bz_zoo_items_is_full(queue)) {
                bz_zoo_wake_oldest(&queue->putters);
            }
            return status;
        }
    }
    return try_put(queue, value, priority);
}

static const struct bz_queue_ops queue_ops = {
    .instance_bytes = sizeof(struct bz_zoo_items),
    .init = bz_zoo_items_init,
    .put = put,
    .get = bz_zoo_items_get,
    .try_put = try_put,
    .try_get = bz_zoo_items_try_get,
    .task_done = bz_zoo_items_task_done,
    .join = bz_zoo_items_join,
    .size = bz_zoo_items_size,
    .queued = bz_zoo_items_queued,
};

static const struct bz_fault fault = {
    .family = "stuck state",
    .project = "CPython asyncio",
    .issue = "python/asyncio 235",
    .versions = "3.5.0 alphas",
    .summary = "a LIFO or priority queue does not count what was put as unfinished",
    .property = "join waits until every item is done",
    .oracle = "assertion",
    .scenario = "queue",
    .settings = "kind=1",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_q_taskcount = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_TAKES_AT_RETURN,
    .name = "zoo/q-taskcount",
    .summary = "LIFO queue whose join does not wait",
    .queue = &queue_ops,
    .fault = &fault,
};
