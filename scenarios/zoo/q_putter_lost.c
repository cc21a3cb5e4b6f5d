/* q-putter-lost: a woken putter that is cancelled does not pass the wake-up on.
 *
 * (1) The queue is full, P1 and P2 wait in put. (2) A get takes an item and wakes P1. (3) P1 is
 * cancelled before it resumes, and leaves. (4) There is room, P2 waits, and nobody wakes it.
 *
 * The cure: a putter that leaves with a wake-up, while there is room, wakes the next. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/items.h"

static enum bz_status put(void *instance, uint64_t value, int64_t priority) {
    struct bz_zoo_items *queue = instance;
    while (bz_zoo_items_is_full(queue)) {
        struct bz_zoo_waiter waiter;
        enum bz_status status = bz_zoo_wait(&queue->putters, &waiter);
        bz_zoo_leave(&waiter);
        if (status != BZ_OK) {
            return status; /* the fault: it may have been woken, and nobody else is */
        }
    }
    return bz_zoo_items_try_put(queue, value, priority);
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
    .family = "woken, cancelled, not passed on",
    .project = "CPython asyncio",
    .issue = "bpo-25233 (python/asyncio PR 269)",
    .versions = "3.5.0",
    .summary = "a woken putter that is cancelled does not pass the wake-up on",
    .property = "no lost wake-up",
    .oracle = "lost-wakeup",
    .scenario = "queue",
    .settings = "producers=3",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_q_putter_lost = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_TAKES_AT_RETURN,
    .name = "zoo/q-putter-lost",
    .summary = "queue that forgets a putter when the one before it is cancelled",
    .queue = &queue_ops,
    .fault = &fault,
};
