/* mb-160-queue: whoever is cancelled between wake-up and resume swallows the value that it was
 * assigned. The queue of the same change as mb-160.
 *
 * A put assigns its value to the oldest reader that waits, and schedules that reader. (1) R waits.
 * (2) A put assigns R the value. (3) R is cancelled before it runs. (4) R leaves, and the value is
 * gone.
 *
 * The cure: a cancelled reader puts back what it was assigned. (The project chose another: a
 * cancellation does not strike there, but at the next point at which it can.) */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/items.h"

struct reader {
    struct bz_zoo_waiter waiter;
    uint64_t value;
    bool is_assigned;
};

static enum bz_status get(void *instance, uint64_t *value) {
    struct bz_zoo_items *queue = instance;
    if (queue->count > 0) {
        return bz_zoo_items_try_get(queue, value);
    }
    struct reader reader = {.is_assigned = false};
    enum bz_status status = bz_zoo_wait(&queue->getters, &reader.waiter);
    bz_zoo_leave(&reader.waiter);
    queue->handed_over -= reader.is_assigned; /* the fault: even if it is not taken up */
    if (status == BZ_OK) {
        *value = reader.value;
    }
    return status;
}

static bool assign_to_oldest(struct bz_zoo_items *queue, uint64_t value) {
    struct bz_list *entries = &queue->getters.entries;
    for (struct bz_list *link = entries->next; link != entries; link = link->next) {
        struct bz_zoo_waiter *waiter = bz_container_of(link, struct bz_zoo_waiter, link);
        struct reader *reader = bz_container_of(waiter, struct reader, waiter);
        if (bz_future_set_result(&waiter->future, 0) == BZ_OK) {
            reader->value = value;
            reader->is_assigned = true;
            queue->handed_over++;
            return true;
        }
    }
    return false;
}

static enum bz_status try_put(void *instance, uint64_t value, int64_t priority) {
    struct bz_zoo_items *queue = instance;
    if (queue->count > 0 || !assign_to_oldest(queue, value)) {
        return bz_zoo_items_try_put(queue, value, priority);
    }
    bz_zoo_items_expect(queue);
    return BZ_OK;
}

static enum bz_status init(void *instance, struct bz_loop *loop, enum bz_queue_order order,
                           uint32_t maxsize) {
    bool is_offered = order == BZ_QUEUE_ORDER_FIFO && maxsize == 0;
    return is_offered ? bz_zoo_items_init(instance, loop, order, 0) : BZ_INVALID_ARGUMENT;
}

static const struct bz_queue_ops queue_ops = {
    .instance_bytes = sizeof(struct bz_zoo_items),
    .init = init,
    .put = try_put, /* there is always room */
    .get = get,
    .try_put = try_put,
    .try_get = bz_zoo_items_try_get,
    .task_done = bz_zoo_items_task_done,
    .join = bz_zoo_items_join,
    .size = bz_zoo_items_size,
    .queued = bz_zoo_items_queued,
};

static const struct bz_fault fault = {
    .family = "woken, cancelled, not passed on",
    .project = "moonbitlang/async",
    .issue = "moonbitlang/async PR 160",
    .versions = "until 2025-10",
    .summary = "a reader that was assigned a value and is cancelled swallows it",
    .property = "every item is delivered exactly once",
    .oracle = "item-once",
    .scenario = "queue",
    .settings = "maxsize=0",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_mb_160_queue = {
    .version = BZ_VARIANT_VERSION,
    .name = "zoo/mb-160-queue",
    .summary = "queue whose cancelled reader swallows the value that it was assigned",
    .queue = &queue_ops,
    .fault = &fault,
};
