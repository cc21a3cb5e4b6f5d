/* q-dead-putters: a cancelled putter leaves its entry behind, until the next get comes.
 *
 * Entries of cancelled waiters are skipped and thrown away by who looks for somebody to wake. If
 * nobody comes, because the queue is idle, they stay: a task that gets with a deadline, again and
 * again, from a queue that nobody puts into, fills the memory.
 *
 * The cure: a waiter takes its entry out whichever way it leaves. */
#include "primitives/runtime/mem.h"
#include "scenarios/scenarios.h"
#include "scenarios/zoo/items.h"

/* Throws away what is dead at the front. An entry that has been woken is its task's to remove. */
static void drop_dead_ones(struct bz_zoo_items *queue) {
    struct bz_list *entries = &queue->putters.entries;
    while (!bz_list_is_empty(entries)) {
        struct bz_zoo_waiter *waiter = bz_container_of(entries->next, struct bz_zoo_waiter, link);
        if (waiter->future.state != BZ_FUTURE_CANCELLED) {
            return;
        }
        struct bz_zoo_request *request = bz_container_of(waiter, struct bz_zoo_request, waiter);
        bz_zoo_leave(waiter);
        bz_zoo_request_drop(queue->loop, request);
    }
}

static enum bz_status wait_for_slot(struct bz_zoo_items *queue) {
    struct bz_zoo_request *request = bz_zoo_request_new(queue->loop);
    if (request == NULL) {
        return BZ_NO_MEMORY;
    }
    enum bz_status status = bz_zoo_wait(&queue->putters, &request->waiter);
    bool was_woken = bz_zoo_was_woken(&request->waiter);
    if (was_woken) {
        bz_zoo_leave(&request->waiter);
        bz_zoo_request_drop(queue->loop, request);
        if (status != BZ_OK && !bz_zoo_items_is_full(queue)) {
            bz_zoo_wake_oldest(&queue->putters);
        }
    }
    /* The fault: an entry that was cancelled while it waited stays. */
    bz_zoo_request_drop(queue->loop, request);
    return status;
}

static enum bz_status put(void *instance, uint64_t value, int64_t priority) {
    struct bz_zoo_items *queue = instance;
    while (bz_zoo_items_is_full(queue)) {
        enum bz_status status = wait_for_slot(queue);
        if (status != BZ_OK) {
            return status;
        }
    }
    return bz_zoo_items_try_put(queue, value, priority);
}

static enum bz_status try_get(void *instance, uint64_t *value) {
    struct bz_zoo_items *queue = instance;
    enum bz_status status = bz_zoo_items_try_get(queue, value);
    if (status == BZ_OK) {
        drop_dead_ones(queue);
    }
    return status;
}

static enum bz_status get(void *instance, uint64_t *value) {
    struct bz_zoo_items *queue = instance;
    enum bz_status status = bz_zoo_items_get(queue, value);
    if (status == BZ_OK) {
        drop_dead_ones(queue);
    }
    return status;
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
    .family = "queue hygiene",
    .project = "CPython asyncio",
    .issue = "bpo-32574",
    .versions = "before 3.7.0b1",
    .summary = "cancelled putters stay in the queue until somebody looks for one to wake",
    .property = "nothing is left of a cancelled waiter",
    .oracle = "leak",
    .scenario = "queue",
    .settings = "consumers=1",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_q_dead_putters = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_TAKES_AT_RETURN,
    .name = "zoo/q-dead-putters",
    .summary = "queue that keeps cancelled putters",
    .queue = &queue_ops,
    .fault = &fault,
};
