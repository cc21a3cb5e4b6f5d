/* ah-9670: a waiter that comes too late looks for itself in the list, and is not there.
 *
 * The connector of an HTTP client has so many slots. release takes the oldest waiter off the list
 * and wakes it. On the way out by a time-out or a cancellation a waiter takes itself off the list;
 * if it is not there, that is an error, which is suppressed. But then it had been woken: the slot
 * is free, and nobody else is told.
 *
 * Historically a woken waiter looked for a slot again, and a newcomer could be faster. This is left
 * out: slots on their way are not given to newcomers.
 *
 *     no slot is free; B and C wait; a slot is released: B is off the list; B's time is up: C waits
 * on
 *
 * The cure: who is not in the list any more wakes the next. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

struct connector {
    struct bz_zoo_queue queue;
    uint32_t free;
    uint32_t on_their_way; /* woken, and not resumed */
};

static enum bz_status init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct connector *connector = instance;
    bz_zoo_queue_init(&connector->queue, loop);
    connector->free = permits;
    return BZ_OK;
}

static bool has_room(const struct connector *connector) {
    return connector->free > connector->on_their_way;
}

static enum bz_status acquire(void *instance) {
    struct connector *connector = instance;
    if (has_room(connector) && !bz_zoo_has_live(&connector->queue)) {
        connector->free--;
        return BZ_OK;
    }
    struct bz_zoo_waiter waiter;
    enum bz_status status = bz_zoo_wait(&connector->queue, &waiter);
    connector->on_their_way -= bz_zoo_was_woken(&waiter);
    if (status == BZ_OK) {
        connector->free--;
    } else if (bz_list_is_linked(&waiter.link)) {
        bz_zoo_leave(&waiter);
    } /* the fault: it is not in the list, and that is all */
    return status;
}

static enum bz_status release(void *instance) {
    struct connector *connector = instance;
    connector->free++;
    struct bz_zoo_waiter *oldest = bz_zoo_pop(&connector->queue);
    while (oldest != NULL && bz_future_set_result(&oldest->future, 0) != BZ_OK) {
        oldest = bz_zoo_pop(&connector->queue); /* that one was cancelled */
    }
    connector->on_their_way += oldest != NULL;
    return BZ_OK;
}

static bool locked(void *instance) {
    const struct connector *connector = instance;
    return !has_room(connector);
}

static void view(void *instance, struct bz_permit_view *view) {
    const struct connector *connector = instance;
    bz_zoo_queue_view(&connector->queue, view);
    view->level = connector->free;
}

static const struct bz_permit_ops connector_ops = {
    .instance_bytes = sizeof(struct connector),
    .init = init,
    .acquire = acquire,
    .release = release,
    .locked = locked,
    .view = view,
};

static const struct bz_fault fault = {
    .family = "woken, cancelled, not passed on",
    .project = "aiohttp",
    .issue = "aiohttp 9670 (PR 9671)",
    .versions = "until 2024-11-05",
    .summary = "a waiter that times out when it has been woken wakes nobody",
    .property = "no lost wake-up",
    .oracle = "lost-wakeup",
    .scenario = "timeout",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_ah_9670 = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/ah-9670",
    .summary = "connector that loses a slot to a time-out",
    .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &connector_ops},
    .fault = &fault,
};
