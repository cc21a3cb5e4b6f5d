/* q-putback-dup: the item of a cancelled getter is put back twice.
 *
 * The first repair of q-handoff-lost. A getter that is cancelled with an item in its future puts it
 * back: into the queue, and also to the next getter that waits. (1) G1 and G2 wait. (2) A put hands
 * the item to G1. (3) G1 is cancelled; the item is stored, and handed to G2 as well. (4) G2 returns
 * it, and so does the next get.
 *
 * The cure: nothing travels inside a waiter; there is nothing to put back. */
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
        if (has_item) {
            bz_zoo_items_hand_to_oldest(queue, waiter.future.value);
            /* The fault: this belongs behind an else. */
            enum bz_status stored = bz_zoo_items_store_first(queue, waiter.future.value);
            status = stored == BZ_OK ? status : stored;
        }
        return status;
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
    .issue = "bpo-25233 (python/asyncio 265, 268)",
    .versions = "3.5.0",
    .summary = "the item of a cancelled getter is put back and also handed to the next getter",
    .property = "every item is delivered exactly once",
    .oracle = "item-once",
    .scenario = "queue",
    .settings = "maxsize=0,producers=4,items=1,tries=1",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_q_putback_dup = {
    .version = BZ_VARIANT_VERSION,
    .name = "zoo/q-putback-dup",
    .summary = "queue that delivers the item of a cancelled getter twice",
    .queue = &queue_ops,
    .fault = &fault,
};
