/* an-947: a capacity limiter, whose woken borrower is cancelled and tells nobody.
 *
 * release strikes the borrower off the list, takes the oldest event out of the queue and sets it;
 * whoever waits for that event enters itself as a borrower when it resumes. If it is cancelled,
 * before the event was set or after, there is capacity, and the next event stays unset.
 *
 * A release that takes out a cancelled waiter's event is part of it: with the cure, that waiter
 * passes it on, too. Historically a newcomer could also borrow what an event was set for; this is
 * left out, borrowers on their way count.
 *
 *     the limiter is full; B and C wait; a borrower releases and B is cancelled: C waits for ever
 *
 * The cure: whoever leaves with its event set sets the next. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

struct limiter {
    struct bz_zoo_queue queue;
    uint32_t total;
    uint32_t borrowers;
    uint32_t on_their_way; /* their event was set, and they have not resumed */
};

struct waiter {
    struct bz_zoo_waiter entry;
    bool is_set;
};

static enum bz_status init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct limiter *limiter = instance;
    bz_zoo_queue_init(&limiter->queue, loop);
    limiter->total = permits;
    return BZ_OK;
}

static bool has_room(const struct limiter *limiter) {
    return limiter->borrowers + limiter->on_their_way < limiter->total;
}

static enum bz_status acquire(void *instance) {
    struct limiter *limiter = instance;
    if (has_room(limiter) && !bz_zoo_has_live(&limiter->queue)) {
        limiter->borrowers++;
        return BZ_OK;
    }
    struct waiter waiter = {.is_set = false};
    enum bz_status status = bz_zoo_wait(&limiter->queue, &waiter.entry);
    if (waiter.is_set) {
        limiter->on_their_way--; /* the fault: who does not borrow sets no other event */
    } else {
        bz_zoo_leave(&waiter.entry);
    }
    if (status == BZ_OK) {
        limiter->borrowers++;
    }
    return status;
}

static enum bz_status release(void *instance) {
    struct limiter *limiter = instance;
    if (limiter->borrowers == 0) {
        return BZ_NOT_HELD;
    }
    limiter->borrowers--;
    struct bz_zoo_waiter *oldest = has_room(limiter) ? bz_zoo_pop(&limiter->queue) : NULL;
    if (oldest != NULL) {
        bz_container_of(oldest, struct waiter, entry)->is_set = true;
        limiter->on_their_way++;
        bz_future_set_result(&oldest->future, 0); /* refused if it is being cancelled */
    }
    return BZ_OK;
}

static bool locked(void *instance) {
    const struct limiter *limiter = instance;
    return !has_room(limiter) || bz_zoo_has_live(&limiter->queue);
}

static void view(void *instance, struct bz_permit_view *view) {
    const struct limiter *limiter = instance;
    bz_zoo_queue_view(&limiter->queue, view);
    view->level = (uint64_t)limiter->total - limiter->borrowers;
}

static const struct bz_permit_ops limiter_ops = {
    .instance_bytes = sizeof(struct limiter),
    .init = init,
    .acquire = acquire,
    .release = release,
    .locked = locked,
    .view = view,
};

static const struct bz_fault fault = {
    .family = "woken, cancelled, not passed on",
    .project = "anyio",
    .issue = "anyio 947",
    .versions = "before 4.10.0",
    .summary = "a woken borrower that is cancelled leaves the capacity to nobody",
    .property = "no lost wake-up",
    .oracle = "lost-wakeup",
    .scenario = "restaurant",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_an_947 = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/an-947",
    .summary = "capacity limiter that loses the wake-up of a cancelled borrower",
    .permits = {[BZ_PRIMITIVE_BOUNDED] = &limiter_ops},
    .fault = &fault,
};
