/* q-deferred-set: the wake-up of a putter is scheduled, and meets a putter that was cancelled
 * meanwhile.
 *
 * A get takes the oldest putter out of the queue and wakes it from a callback. (1) The queue is
 * full, P1 and P2 wait in put. (2) A get schedules the wake-up of P1. (3) P1 is cancelled before
 * the callback runs. (4) The callback sets the result of a future that is done: an error in the
 * loop, and P2, for whom there is room, is woken by nobody.
 *
 * The cure: who is woken is decided and told in one go. */
#include "primitives/runtime/mem.h"
#include "scenarios/scenarios.h"
#include "scenarios/zoo/items.h"

struct putter {
    struct bz_zoo_waiter waiter;
    struct bz_handle wakes;
    struct bz_loop *loop;
    bool is_scheduled; /* out of the queue; the callback frees it */
    bool is_gone;
};

static void drop(struct putter *putter) {
    bz_mem_free(bz_loop_mem(putter->loop), putter, sizeof *putter);
}

static void on_wake(struct bz_handle *handle) {
    struct putter *putter = bz_container_of(handle, struct putter, wakes);
    putter->is_scheduled = false;
    /* The fault: it may be refused, and then somebody else is to be woken. */
    (void)bz_future_set_result(&putter->waiter.future, 0);
    if (putter->is_gone) {
        drop(putter);
    }
}

static void schedule_oldest(struct bz_zoo_items *queue) {
    struct bz_list *entries = &queue->putters.entries;
    for (struct bz_list *link = entries->next; link != entries; link = link->next) {
        struct bz_zoo_waiter *waiter = bz_container_of(link, struct bz_zoo_waiter, link);
        struct putter *putter = bz_container_of(waiter, struct putter, waiter);
        if (!bz_future_is_done(&waiter->future)) {
            bz_zoo_leave(waiter);
            putter->is_scheduled = true;
            bool is_queued = bz_loop_call_soon(queue->loop, &putter->wakes, on_wake);
            BZ_CHECK(is_queued);
            return;
        }
    }
}

static enum bz_status wait_for_slot(struct bz_zoo_items *queue) {
    struct putter *putter = bz_mem_alloc(bz_loop_mem(queue->loop), sizeof *putter);
    if (putter == NULL) {
        return BZ_NO_MEMORY;
    }
    putter->loop = queue->loop;
    enum bz_status status = bz_zoo_wait(&queue->putters, &putter->waiter);
    if (bz_list_is_linked(&putter->waiter.link)) {
        bz_zoo_leave(&putter->waiter);
    }
    if (status != BZ_OK && bz_zoo_was_woken(&putter->waiter) && !bz_zoo_items_is_full(queue)) {
        schedule_oldest(queue);
    }
    putter->is_gone = true;
    if (!putter->is_scheduled) {
        drop(putter);
    }
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
    if (queue->count == 0) {
        return BZ_EMPTY;
    }
    *value = bz_zoo_items_take(queue);
    schedule_oldest(queue);
    return BZ_OK;
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
    .family = "woken, cancelled, not passed on",
    .project = "CPython asyncio",
    .issue = "bpo-21447, bpo-21886",
    .versions = "3.4.0 to 3.4.1",
    .summary = "the scheduled wake-up of a putter meets one that was cancelled meanwhile, and "
               "wakes nobody",
    .property = "no lost wake-up",
    .oracle = "lost-wakeup",
    .scenario = "queue",
    .settings = "producers=3",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_q_deferred_set = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_TAKES_AT_RETURN,
    .name = "zoo/q-deferred-set",
    .summary = "queue whose wake-up comes too late for a cancelled putter",
    .queue = &queue_ops,
    .fault = &fault,
};
