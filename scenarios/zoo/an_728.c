/* an-728: a receiver that is cancelled in the window drops the item that it was handed.
 *
 * A memory object stream sends straight to a receiver that waits, past the buffer. (1) R waits in
 * receive. (2) A send hands it the item. (3) A cancellation of R, from its scope or its task, is
 * delivered before R has resumed. (4) R leaves by that exception, and nobody has the item.
 *
 * Two earlier policies for the same window and one repair had faults of their own: an-728-swallow,
 * an-728-reroute. What cures all three: the item stays in the queue until the receiver has
 * resumed, and counts against its bound until then. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/items.h"

static enum bz_status get(void *instance, uint64_t *value) {
    struct bz_zoo_items *queue = instance;
    if (queue->count > 0) {
        return bz_zoo_items_try_get(queue, value);
    }
    struct bz_zoo_waiter waiter;
    enum bz_status status = bz_zoo_wait(&queue->getters, &waiter);
    bz_zoo_leave(&waiter);
    bool has_item = bz_zoo_was_woken(&waiter);
    queue->handed_over -= has_item;
    if (status != BZ_OK) {
        return status; /* the fault: whoever is cancelled takes what it was sent along */
    }
    *value = waiter.future.value;
    return BZ_OK;
}

static const struct bz_queue_ops queue_ops = {
    .instance_bytes = sizeof(struct bz_zoo_items),
    .init = bz_zoo_items_init,
    .put = bz_zoo_items_hand_over,
    .get = get,
    .try_put = bz_zoo_items_try_hand_over,
    .try_get = bz_zoo_items_try_get,
    .task_done = bz_zoo_items_task_done,
    .join = bz_zoo_items_join,
    .size = bz_zoo_items_size,
    .queued = bz_zoo_items_queued,
};

static const struct bz_fault fault = {
    .family = "value rides in the wake-up",
    .project = "anyio",
    .issue = "anyio 728",
    .versions = "before 4.4.0",
    .summary = "an item that was handed to a receiver with a cancellation pending is dropped",
    .property = "every item is delivered exactly once",
    .oracle = "item-once",
    .scenario = "queue",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_an_728 = {
    .version = BZ_VARIANT_VERSION,
    .name = "zoo/an-728",
    .summary = "memory stream whose cancelled receiver drops the item",
    .queue = &queue_ops,
    .fault = &fault,
};
