/* an-728-swallow: a receiver that was handed an item returns it, and its cancellation is lost.
 *
 * The oldest policy for the window between the send and the resume of the receiver: the item must
 * not be lost, so the cancellation is. (1) R waits in receive. (2) A send hands it the item. (3) R
 * is cancelled. (4) R returns the item as if nothing had happened; whoever cancelled it waits for
 * an end that does not come.
 *
 * The cure: the item is put back, within the bound, and the cancellation goes on. See an-728. */
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
    if (status != BZ_OK && !has_item) {
        return status;
    }
    /* The fault: with an item in hand, whatever the status says is forgotten. */
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
    .issue = "anyio 728 (commit a3af1da2)",
    .versions = "a policy of 2020, before the one that dropped the item",
    .summary = "a receiver that is cancelled with an item in hand returns it, and the cancellation "
               "is lost",
    .property = "a cancellation is delivered",
    .oracle = "cancel-delivered",
    .scenario = "queue",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_an_728_swallow = {
    .version = BZ_VARIANT_VERSION,
    .name = "zoo/an-728-swallow",
    .summary = "memory stream whose receiver forgets its cancellation",
    .queue = &queue_ops,
    .fault = &fault,
};
