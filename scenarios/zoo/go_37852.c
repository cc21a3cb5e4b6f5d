/* go-37852: a head that does not fit blocks those behind it, even when it has given up.
 *
 * The semaphore is weighted and strictly fair: a release serves from the head on and stops at the
 * first waiter that does not fit. When that head is cancelled, it is unlinked, and nothing else
 * happens: those behind it, who may fit, are not looked at before the next release.
 *
 * Permits have no weights here. The head that does not fit is one that is cancelled and has not
 * left yet: a release stops at it. What follows is the historical fault, word for word; only that
 * the original needs no race, and this needs a release and a cancellation in one turn.
 *
 *     no permit is free; B and C wait; B is cancelled; a release stops at B; B leaves: C waits on
 *
 * The cure: whoever leaves the head of the queue serves those behind. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

static struct bz_zoo_waiter *waiter_of(struct bz_list *link) {
    return bz_container_of(link, struct bz_zoo_waiter, link);
}

/* Wakes waiters from the head on, for as long as they fit. */
static void serve(struct bz_zoo_semaphore *semaphore) {
    struct bz_list *entries = &semaphore->queue.entries;
    uint32_t promised = bz_zoo_count(&semaphore->queue, BZ_FUTURE_RESULT);
    for (struct bz_list *link = entries->next; link != entries; link = link->next) {
        struct bz_zoo_waiter *waiter = waiter_of(link);
        if (bz_zoo_was_woken(waiter)) {
            continue;
        }
        if (promised == semaphore->value || bz_future_set_result(&waiter->future, 0) != BZ_OK) {
            return;
        }
        promised++;
    }
}

static enum bz_status acquire(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    if (bz_zoo_semaphore_has_room(semaphore)) {
        semaphore->value--;
        return BZ_OK;
    }
    struct bz_zoo_waiter waiter;
    enum bz_status status = bz_zoo_wait(&semaphore->queue, &waiter);
    bz_zoo_leave(&waiter);
    if (status == BZ_OK) {
        semaphore->value--;
    } else if (bz_zoo_was_woken(&waiter)) { /* the fault: a head that was not woken serves nobody */
        serve(semaphore);
    }
    return status;
}

static enum bz_status release(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    semaphore->value++;
    serve(semaphore);
    return BZ_OK;
}

static const struct bz_permit_ops semaphore_ops = {
    .instance_bytes = sizeof(struct bz_zoo_semaphore),
    .init = bz_zoo_semaphore_init,
    .acquire = acquire,
    .release = release,
    .locked = bz_zoo_semaphore_locked,
    .view = bz_zoo_semaphore_view,
};

static const struct bz_fault fault = {
    .family = "head of line",
    .project = "golang.org/x/sync",
    .issue = "golang 37852 (sync PR 10)",
    .versions = "until 2020-03-17",
    .summary = "a cancelled head leaves, and those whom it held up are not served",
    .property = "no lost wake-up",
    .oracle = "lost-wakeup",
    .scenario = "timeout",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_go_37852 = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/go-37852",
    .summary = "fair semaphore that does not look behind a cancelled head",
    .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &semaphore_ops},
    .fault = &fault,
};
