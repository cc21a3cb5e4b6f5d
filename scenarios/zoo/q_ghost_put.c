/* q-ghost-put: a put that was cancelled is delivered nevertheless.
 *
 * Waiting putters are queued with their items, and a get moves the item of the oldest one into the
 * queue before it wakes it. (1) The queue is full, P waits in put. (2) A get takes an item, moves
 * P's in, and wakes P. (3) P is cancelled before it resumes: its put says that it did not happen.
 * (4) The item is delivered.
 *
 * The cure: a putter that is woken stores its item itself, when it resumes. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/items.h"

struct putter {
    struct bz_zoo_waiter waiter;
    uint64_t value;
    int64_t priority;
};

static enum bz_status move_in_oldest(struct bz_zoo_items *queue) {
    struct bz_list *entries = &queue->putters.entries;
    for (struct bz_list *link = entries->next; link != entries; link = link->next) {
        struct bz_zoo_waiter *waiter = bz_container_of(link, struct bz_zoo_waiter, link);
        const struct putter *putter = bz_container_of(waiter, struct putter, waiter);
        if (bz_future_set_result(&waiter->future, 0) == BZ_OK) {
            return bz_zoo_items_try_put(queue, putter->value, putter->priority);
        }
    }
    return BZ_OK;
}

static enum bz_status put(void *instance, uint64_t value, int64_t priority) {
    struct bz_zoo_items *queue = instance;
    if (!bz_zoo_items_is_full(queue)) {
        return bz_zoo_items_try_put(queue, value, priority);
    }
    struct putter putter = {.value = value, .priority = priority};
    enum bz_status status = bz_zoo_wait(&queue->putters, &putter.waiter);
    bz_zoo_leave(&putter.waiter);
    return status; /* the fault: its item may be in already, whatever this says */
}

static enum bz_status try_get(void *instance, uint64_t *value) {
    struct bz_zoo_items *queue = instance;
    if (queue->count == 0) {
        return BZ_EMPTY;
    }
    *value = bz_zoo_items_take(queue);
    return move_in_oldest(queue);
}

static enum bz_status get(void *instance, uint64_t *value) {
    struct bz_zoo_items *queue = instance;
    while (queue->count == 0) {
        struct bz_zoo_waiter waiter;
        enum bz_status status = bz_zoo_wait(&queue->getters, &waiter);
        bz_zoo_leave(&waiter);
        if (status != BZ_OK) {
            if (bz_zoo_was_woken(&waiter) && queue->count > 0) {
                bz_zoo_wake_oldest(&queue->getters);
            }
            return status;
        }
    }
    return try_get(queue, value);
}

static const struct bz_queue_ops queue_ops = {
    .instance_bytes = sizeof(struct bz_zoo_items),
    .init = bz_zoo_items_init,
    .put = put,
    .get = get,
    .try_put = bz_zoo_items_try_put,
    .try_get = try_get,
    .task_done = bz_zoo_items_task_done,
    .join = bz_zoo_items_join,
    .size = bz_zoo_items_size,
    .queued = bz_zoo_items_queued,
};

static const struct bz_fault fault = {
    .family = "value rides in the wake-up",
    .project = "CPython asyncio",
    .issue = "python/asyncio 256 (bpo-23812)",
    .versions = "3.4.0 to 3.4.3",
    .summary =
        "a get moves in the item of a waiting putter, and it stays when that putter is cancelled",
    .property = "a cancelled operation has no effect",
    .oracle = "item-once",
    .scenario = "queue",
    .settings = "producers=1,newcomers=0,items=4",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_q_ghost_put = {
    .version = BZ_VARIANT_VERSION,
    .name = "zoo/q-ghost-put",
    .summary = "queue that delivers what a cancelled put was to put",
    .queue = &queue_ops,
    .fault = &fault,
};
