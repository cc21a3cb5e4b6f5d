/* an-646: raising the total sets events and leaves them in the queue.
 *
 * Whoever sets a waiter's event takes it out of the queue: a woken waiter relies on that, and takes
 * itself out only if it leaves before. release did so; the setter of the total did not. What it set
 * stays in the queue for good, and later callers see a queue that is not empty and line up in it.
 *
 * The tables of a semaphore have no call to raise a total, so this one is a semaphore made of a
 * limiter: an acquire borrows for ever, and a release raises the total by one. The difference is
 * the number of free permits, and the setter is the only one that wakes. That entries outlive their
 * tasks is why they are not on the stack.
 *
 *     A has the only permit; B waits; A releases; B resumes, and its entry is still there
 *
 * The cure: the setter takes out what it sets. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

struct limiter {
    struct bz_zoo_queue queue;
    uint64_t total;
    uint64_t borrowed;     /* those on their way included: */
    uint64_t on_their_way; /* their event was set, and they have not resumed */
};

static enum bz_status init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct limiter *limiter = instance;
    bz_zoo_queue_init(&limiter->queue, loop);
    limiter->total = permits;
    return BZ_OK;
}

static void fini(void *instance) {
    struct limiter *limiter = instance;
    for (struct bz_zoo_waiter *left = bz_zoo_pop(&limiter->queue); left != NULL;
         left = bz_zoo_pop(&limiter->queue)) {
        bz_zoo_request_drop(limiter->queue.loop,
                            bz_container_of(left, struct bz_zoo_request, waiter));
    }
}

static void wake_all_that_fit(struct limiter *limiter) {
    while (limiter->borrowed < limiter->total && bz_zoo_wake_oldest(&limiter->queue)) {
        limiter->borrowed++; /* the fault: the entry stays where it is */
        limiter->on_their_way++;
    }
}

static void leave(struct limiter *limiter, struct bz_zoo_request *request) {
    bz_zoo_leave(&request->waiter);
    bz_zoo_request_drop(limiter->queue.loop, request);
}

static enum bz_status acquire(void *instance) {
    struct limiter *limiter = instance;
    if (limiter->borrowed < limiter->total && !bz_zoo_has_live(&limiter->queue)) {
        limiter->borrowed++;
        return BZ_OK;
    }
    struct bz_zoo_request *request = bz_zoo_request_new(limiter->queue.loop);
    if (request == NULL) {
        return BZ_NO_MEMORY;
    }
    enum bz_status status = bz_zoo_wait(&limiter->queue, &request->waiter);
    bool was_woken = bz_zoo_was_woken(&request->waiter);
    limiter->on_their_way -= was_woken;
    if (status != BZ_OK) {
        limiter->borrowed -= was_woken;
        leave(limiter, request);
    }
    wake_all_that_fit(limiter); /* newcomers that queued behind us, too */
    bz_zoo_request_drop(limiter->queue.loop, request);
    return status;
}

static enum bz_status release(void *instance) {
    struct limiter *limiter = instance;
    limiter->total++;
    wake_all_that_fit(limiter);
    return BZ_OK;
}

static bool locked(void *instance) {
    const struct limiter *limiter = instance;
    return limiter->borrowed == limiter->total || bz_zoo_has_live(&limiter->queue);
}

static void view(void *instance, struct bz_permit_view *view) {
    const struct limiter *limiter = instance;
    bz_zoo_queue_view(&limiter->queue, view);
    view->level = limiter->total - limiter->borrowed + limiter->on_their_way;
}

static const struct bz_permit_ops limiter_ops = {
    .instance_bytes = sizeof(struct limiter),
    .init = init,
    .fini = fini,
    .acquire = acquire,
    .release = release,
    .locked = locked,
    .view = view,
};

static const struct bz_fault fault = {
    .family = "queue hygiene",
    .project = "anyio",
    .issue = "anyio 646",
    .versions = "before 4.2.0",
    .summary = "raising the total sets events without taking them out of the queue",
    .property = "no entry outlives its waiter",
    .oracle = "queue-partition",
    .scenario = "timeout",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_an_646 = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/an-646",
    .summary = "capacity limiter whose queue keeps those who were served",
    .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &limiter_ops},
    .fault = &fault,
};
