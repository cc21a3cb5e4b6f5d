/* tk-1898: whoever is dropped in the queue leaves its node there, and the node is given a permit.
 *
 * A mutex on a semaphore of one. A future that waits is a node of the queue. When it is dropped, it
 * gives back what it has acquired; that it may also be queued was forgotten. The node stays, and
 * when its turn comes, it is given the permit, for ever.
 *
 * Nodes outlive the tasks that waited, and so are not on their stacks; nor are they shown to the
 * oracles that look inside: what is seen is who waits for a permit that nobody has.
 *
 *     A holds; B waits and is dropped; A releases: the permit is B's, whom nobody asks any more
 *
 * The cure: whoever is dropped in the queue leaves it. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

static struct bz_zoo_request *request_of(struct bz_zoo_waiter *waiter) {
    return bz_container_of(waiter, struct bz_zoo_request, waiter);
}

/* One permit is free: it goes to the oldest node, or back. */
static void put(struct bz_zoo_reserving *semaphore) {
    struct bz_zoo_waiter *oldest = bz_zoo_pop(&semaphore->queue);
    if (oldest == NULL) {
        semaphore->value++;
        return;
    }
    semaphore->promised += bz_future_set_result(&oldest->future, 0) == BZ_OK;
    bz_zoo_request_drop(semaphore->queue.loop, request_of(oldest));
}

static enum bz_status acquire(void *instance) {
    struct bz_zoo_reserving *semaphore = instance;
    if (bz_zoo_reserving_try(semaphore)) {
        return BZ_OK;
    }
    struct bz_zoo_request *request = bz_zoo_request_new(semaphore->queue.loop);
    if (request == NULL) {
        return BZ_NO_MEMORY;
    }
    enum bz_status status = bz_zoo_wait(&semaphore->queue, &request->waiter);
    if (bz_zoo_was_woken(&request->waiter)) {
        semaphore->promised--;
        if (status != BZ_OK) {
            put(semaphore);
        }
    } /* the fault: otherwise the node is still queued */
    bz_zoo_request_drop(semaphore->queue.loop, request);
    return status;
}

static enum bz_status release(void *instance) {
    put(instance);
    return BZ_OK;
}

static const struct bz_permit_ops semaphore_ops = {
    .instance_bytes = sizeof(struct bz_zoo_reserving),
    .init = bz_zoo_reserving_init,
    .acquire = acquire,
    .release = release,
    .locked = bz_zoo_reserving_locked,
};

static const struct bz_fault fault = {
    .family = "queue hygiene",
    .project = "tokio",
    .issue = "tokio 1898 (PR 1902), 900 (PR 904)",
    .versions = "0.2.2",
    .summary = "a waiter that is dropped in the queue stays there, and is given the permit",
    .property = "no lost wake-up",
    .oracle = "lost-wakeup",
    .scenario = "restaurant",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_tk_1898 = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/tk-1898",
    .summary = "mutex that is given to those who have gone",
    .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &semaphore_ops, [BZ_PRIMITIVE_LOCK] = &semaphore_ops},
    .fault = &fault,
};
