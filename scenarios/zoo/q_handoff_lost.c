/* q-handoff-lost: the item travels inside the getter's future, and a cancelled getter drops it.
 *
 * A put that finds a getter waiting gives it the item with the wake-up. (1) G waits in get. (2) A
 * put takes the item into G's future; it is no longer in the queue. (3) G is cancelled before it
 * resumes. (4) G leaves, and the item with it.
 *
 * The cure: nothing travels inside a waiter. A put stores the item and wakes a getter, which takes
 * it when it resumes. */
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
        return status; /* the fault: the item in its future goes with it */
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
    .project = "CPython asyncio",
    .issue = "bpo-23812 (python/asyncio 256)",
    .versions = "3.4.0 to 3.4.3",
    .summary =
        "an item is handed over inside the future of a getter, and a cancelled getter drops it",
    .property = "every item is delivered exactly once",
    .oracle = "item-once",
    .scenario = "queue",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_q_handoff_lost = {
    .version = BZ_VARIANT_VERSION,
    .name = "zoo/q-handoff-lost",
    .summary = "queue that loses the item of a getter cancelled in the window",
    .queue = &queue_ops,
    .fault = &fault,
};
