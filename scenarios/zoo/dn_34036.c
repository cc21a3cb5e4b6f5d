/* dn-34036: a cancel that runs what waits for it, on the canceller's stack.
 *
 * A release never runs a waiter's continuation itself: it queues it, so that it runs later, on a
 * stack of its own. The path of the cancel forgot that: the request is taken out of the queue and
 * its continuation is run inside the call of cancel. A continuation that cancels somebody else runs
 * the next one inside its own, and so on; and whoever calls cancel with something locked meets
 * himself again in code that wants the same lock.
 *
 *     A holds; B, C, D wait; B is cancelled; B's continuation cancels C, C's cancels D, ...
 *
 * The cure: the cancel queues the continuation, too. */
#include "primitives/runtime/list.h"
#include "scenarios/scenarios.h"

struct semaphore {
    struct bz_loop *loop;
    struct bz_list waiting;
    uint32_t count;
    uint32_t limit;
    uint32_t waiting_count;
};

struct waiter {
    struct bz_list link; /* linked while it waits */
    struct bz_handle handle;
    struct bz_deferred_request *request;
};

static enum bz_status init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct semaphore *semaphore = instance;
    semaphore->loop = loop;
    semaphore->count = permits;
    semaphore->limit = permits;
    bz_list_init(&semaphore->waiting);
    return BZ_OK;
}

static void run_granted(struct bz_handle *handle) {
    struct waiter *waiter = bz_container_of(handle, struct waiter, handle);
    waiter->request->answer(waiter->request, BZ_OK);
}

static void grant(struct semaphore *semaphore, struct waiter *waiter) {
    bool is_queued = bz_loop_call_soon(semaphore->loop, &waiter->handle, run_granted);
    BZ_CHECK(is_queued);
}

static void acquire(void *instance, struct bz_deferred_request *request) {
    struct semaphore *semaphore = instance;
    struct waiter *waiter = request->waiter;
    *waiter = (struct waiter){.request = request};
    if (semaphore->count > 0) {
        semaphore->count--;
        grant(semaphore, waiter);
        return;
    }
    bz_list_push_back(&semaphore->waiting, &waiter->link);
    semaphore->waiting_count++;
}

static void cancel(void *instance, struct bz_deferred_request *request) {
    struct semaphore *semaphore = instance;
    struct waiter *waiter = request->waiter;
    if (bz_list_is_linked(&waiter->link)) {
        bz_list_remove(&waiter->link);
        semaphore->waiting_count--;
        request->answer(request, BZ_CANCELLED); /* the fault: here and now */
    }
}

static enum bz_status release(void *instance) {
    struct semaphore *semaphore = instance;
    if (semaphore->count == semaphore->limit) {
        return BZ_NOT_HELD;
    }
    struct bz_list *first = bz_list_pop_front(&semaphore->waiting);
    if (first == NULL) {
        semaphore->count++;
    } else {
        semaphore->waiting_count--;
        grant(semaphore, bz_container_of(first, struct waiter, link));
    }
    return BZ_OK;
}

static uint32_t queued(void *instance) {
    const struct semaphore *semaphore = instance;
    return semaphore->waiting_count;
}

static const struct bz_deferred_ops deferred_ops = {
    .instance_bytes = sizeof(struct semaphore),
    .waiter_bytes = sizeof(struct waiter),
    .init = init,
    .acquire = acquire,
    .cancel = cancel,
    .release = release,
    .queued = queued,
};

static const struct bz_fault fault = {
    .family = "re-entrancy",
    .project = ".NET",
    .issue = "dotnet/runtime PR 34036",
    .versions = "before 5.0",
    .summary = "the cancel of a SemaphoreSlim runs the continuation inside the call",
    .property = "stack depth does not grow with the queue",
    .oracle = "assertion",
    .scenario = "deferred",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_dn_34036 = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_REFUSES_MISUSE,
    .name = "zoo/dn-34036",
    .summary = "semaphore whose cancel runs the continuation on the canceller's stack",
    .deferred = &deferred_ops,
    .fault = &fault,
};
