/* q-overflow: a putter that was woken stores its item without looking for room again.
 *
 * (1) The queue is full, P waits in put. (2) A get takes an item and wakes P. (3) A newcomer puts
 * without waiting, before P has resumed: the queue is full again. (4) P resumes and stores its
 * item: more items than the bound.
 *
 * The cure: a putter that was woken looks again, and may have to wait again. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/items.h"

static enum bz_status put(void *instance, uint64_t value, int64_t priority) {
    struct bz_zoo_items *queue = instance;
    if (!bz_zoo_items_is_full(queue)) {
        return bz_zoo_items_try_put(queue, value, priority);
    }
    struct bz_zoo_waiter waiter;
    enum bz_status status = bz_zoo_wait(&queue->putters, &waiter);
    bz_zoo_leave(&waiter);
    if (status != BZ_OK) {
        if (bz_zoo_was_woken(&waiter) && !bz_zoo_items_is_full(queue)) {
            bz_zoo_wake_oldest(&queue->putters);
        }
        return status;
    }
    status = bz_zoo_items_store(queue, value, priority); /* the fault: it may be full again */
    if (status == BZ_OK) {
        bz_zoo_items_expect(queue);
        bz_zoo_wake_oldest(&queue->getters);
    }
    return status;
}

static const struct bz_queue_ops queue_ops = {
    .instance_bytes = sizeof(struct bz_zoo_items),
    .init = bz_zoo_items_init,
    .put = put,
    .get = bz_zoo_items_get,
    .try_put = bz_zoo_items_try_put,
    .try_get = bz_zoo_items_try_get,
    .task_done = bz_zoo_items_task_done,
    .join = bz_zoo_items_join,
    .size = bz_zoo_items_size,
    .queued = bz_zoo_items_queued,
};

static const struct bz_fault fault = {
    .family = "grant not reserved",
    .project = "CPython asyncio",
    .issue = "bpo-25233 (python/asyncio 265, 268)",
    .versions = "3.5.0",
    .summary = "a putter that was woken stores its item although the queue is full again",
    .property = "a queue never holds more than its bound",
    .oracle = "bound",
    .scenario = "queue",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_q_overflow = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_TAKES_AT_RETURN,
    .name = "zoo/q-overflow",
    .summary = "queue that a woken putter fills beyond its bound",
    .queue = &queue_ops,
    .fault = &fault,
};
