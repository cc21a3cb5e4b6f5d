/* gv-1487: a release wakes waiters in the order in which a set happens to hold them.
 *
 * What is to be called when a permit is free was kept in a set. So the order of service was that of
 * hashes: any, and the same waiter may be passed over again and again.
 *
 * Hashes of addresses would differ from run to run; those of the waiters' numbers do not.
 *
 *     no permit is free; B, then C, then D wait; a release wakes whichever hash is the least
 *
 * The cure: a list. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

struct link_set {
    struct bz_zoo_semaphore semaphore; /* first: all but the wake-up is the semaphore's own */
    uint32_t tickets;
};

struct waiter {
    struct bz_zoo_waiter entry;
    uint32_t hash;
};

static struct waiter *waiter_of(struct bz_list *link) {
    return bz_container_of(link, struct waiter, entry.link);
}

/* The pending one with the least hash; NULL if none is pending. */
static struct waiter *first_of_set(const struct bz_zoo_queue *queue) {
    struct waiter *first = NULL;
    for (struct bz_list *link = queue->entries.next; link != &queue->entries; link = link->next) {
        struct waiter *waiter = waiter_of(link);
        bool is_pending = waiter->entry.future.state == BZ_FUTURE_PENDING;
        if (is_pending && (first == NULL || waiter->hash < first->hash)) {
            first = waiter; /* the fault */
        }
    }
    return first;
}

static void wake_all_that_fit(struct bz_zoo_semaphore *semaphore) {
    uint32_t promised = bz_zoo_count(&semaphore->queue, BZ_FUTURE_RESULT);
    struct waiter *next;
    while (promised < semaphore->value && (next = first_of_set(&semaphore->queue)) != NULL) {
        bz_future_set_result(&next->entry.future, 0);
        promised++;
    }
}

static enum bz_status acquire(void *instance) {
    struct link_set *set = instance;
    struct bz_zoo_semaphore *semaphore = &set->semaphore;
    if (bz_zoo_semaphore_has_room(semaphore)) {
        semaphore->value--;
        return BZ_OK;
    }
    struct waiter waiter = {.hash = ++set->tickets * 2654435761u};
    enum bz_status status = bz_zoo_wait(&semaphore->queue, &waiter.entry);
    bz_zoo_leave(&waiter.entry);
    if (status == BZ_OK) {
        semaphore->value--;
    } else {
        wake_all_that_fit(semaphore);
    }
    return status;
}

static enum bz_status release(void *instance) {
    struct link_set *set = instance;
    set->semaphore.value++;
    wake_all_that_fit(&set->semaphore);
    return BZ_OK;
}

static const struct bz_permit_ops semaphore_ops = {
    .instance_bytes = sizeof(struct link_set),
    .init = bz_zoo_semaphore_init,
    .acquire = acquire,
    .release = release,
    .locked = bz_zoo_semaphore_locked,
    .view = bz_zoo_semaphore_view,
};

static const struct bz_fault fault = {
    .family = "order of service",
    .project = "gevent",
    .issue = "gevent 1487 (PR 1488)",
    .versions = "until its repair",
    .summary = "waiters are woken in the order of a set",
    .property = "first come, first served",
    .oracle = "fifo",
    .scenario = "restaurant",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_gv_1487 = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT,
    .name = "zoo/gv-1487",
    .summary = "semaphore whose waiters are in a set",
    .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &semaphore_ops},
    .fault = &fault,
};
