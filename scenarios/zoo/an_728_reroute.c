/* an-728-reroute: the item of a cancelled receiver goes back into a buffer that is full meanwhile.
 *
 * The repair of an-728: a receiver that leaves by a cancellation passes its item to the next
 * receiver that waits, or puts it back in front of the buffer, even beyond the buffer's size. (1) R
 * waits. (2) A send hands it an item, a second one fills the buffer. (3) R is cancelled, and puts
 * its item back: the buffer holds more than its bound.
 *
 * The cure: an item that was handed over counts against the bound until its receiver resumes. */
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
        if (has_item && !bz_zoo_items_hand_to_oldest(queue, waiter.future.value)) {
            /* The fault: there may be no room. Memory is there for one more than was put. */
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
    .project = "anyio",
    .issue = "anyio 728 (commit e7f750b9)",
    .versions = "4.4.0 and later",
    .summary = "a cancelled receiver puts its item back into a buffer that has no room for it",
    .property = "a queue never holds more than its bound",
    .oracle = "bound",
    .scenario = "queue",
    .settings = "producers=4,items=1,tries=1",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_an_728_reroute = {
    .version = BZ_VARIANT_VERSION,
    .name = "zoo/an-728-reroute",
    .summary = "memory stream that holds more than its buffer has room for",
    .queue = &queue_ops,
    .fault = &fault,
};
