/* asyncio-3.13: CPython's asyncio from 3.13 on, as a reference. What it does in a way of its own: a
 * semaphore wakes all that fit; a cancelled waiter of a condition notifies another one, whether it
 * was notified or not; a queue can be shut down. */
#include "scenarios/scenarios.h"
#include "scenarios/variants/asyncio.h"

/* On every way out, as many are woken as there are permits that nobody was woken for. */
static enum bz_status semaphore_acquire(void *instance) {
    struct bz_asyncio_semaphore *semaphore = instance;
    struct bz_waiter waiter;
    if (!bz_asyncio_semaphore_locked(semaphore)) {
        semaphore->value--;
        return BZ_OK;
    }
    enum bz_status status = bz_deque_wait(&semaphore->queue, &waiter);
    if (status == BZ_CANCELLED && bz_waiter_was_woken(&waiter)) {
        semaphore->value++;
    }
    while (semaphore->value > 0 && bz_asyncio_semaphore_wake_next(semaphore)) {
    }
    return status;
}

static const struct bz_permit_ops semaphore_ops = {
    .instance_bytes = sizeof(struct bz_asyncio_semaphore),
    .init = bz_asyncio_semaphore_init,
    .acquire = semaphore_acquire,
    .release = bz_asyncio_semaphore_release,
    .locked = bz_asyncio_semaphore_locked,
    .view = bz_asyncio_semaphore_view,
};

static const struct bz_permit_ops bounded_ops = {
    .instance_bytes = sizeof(struct bz_asyncio_semaphore),
    .init = bz_asyncio_bounded_init,
    .acquire = semaphore_acquire,
    .release = bz_asyncio_semaphore_release,
    .locked = bz_asyncio_semaphore_locked,
    .view = bz_asyncio_semaphore_view,
};

/* Who leaves cancelled may have been notified, and does not ask: waits may end for no reason. */
static enum bz_status condition_wait(void *instance) {
    struct bz_asyncio_condition *condition = instance;
    enum bz_status status = bz_asyncio_condition_sleep(condition);
    if (status == BZ_CANCELLED) {
        bz_asyncio_condition_wake(condition, 1);
    }
    return status;
}

static const struct bz_condition_ops condition_ops = {
    .instance_bytes = sizeof(struct bz_asyncio_condition),
    .init = bz_asyncio_condition_init,
    .acquire = bz_asyncio_lock_acquire,
    .release = bz_asyncio_lock_release,
    .locked = bz_asyncio_condition_locked,
    .wait = condition_wait,
    .notify = bz_asyncio_condition_notify,
    .queued = bz_asyncio_condition_queued,
};

static enum bz_status barrier_init(void *instance, struct bz_loop *loop, uint32_t parties) {
    return bz_asyncio_barrier_init(instance, loop, parties, condition_wait);
}

static const struct bz_barrier_ops barrier_ops = {
    .instance_bytes = sizeof(struct bz_asyncio_barrier),
    .init = barrier_init,
    .wait = bz_asyncio_barrier_wait,
    .queued = bz_asyncio_barrier_queued,
};

static const struct bz_queue_ops queue_ops = {
    .instance_bytes = sizeof(struct bz_asyncio_queue),
    .init = bz_asyncio_queue_init,
    .put = bz_asyncio_queue_put,
    .get = bz_asyncio_queue_get,
    .try_put = bz_asyncio_queue_try_put,
    .try_get = bz_asyncio_queue_try_get,
    .task_done = bz_asyncio_queue_task_done,
    .join = bz_asyncio_queue_join,
    .shutdown = bz_asyncio_queue_shutdown,
    .size = bz_asyncio_queue_size,
    .queued = bz_asyncio_queue_queued,
};

static const struct bz_fault *const declared[] = {
    &bz_asyncio_fault_locked,
    &bz_asyncio_fault_bound,
    &bz_asyncio_fault_barrier,
    NULL,
};

const struct bz_variant bz_variant_asyncio_313 = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_ASYNCIO_CLAIMS,
    .name = "asyncio-3.13",
    .summary = "reference: asyncio of CPython 3.13 to 3.15, with its open faults",
    .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &semaphore_ops,
                [BZ_PRIMITIVE_BOUNDED] = &bounded_ops,
                [BZ_PRIMITIVE_LOCK] = &bz_asyncio_lock_ops},
    .event = &bz_asyncio_event_ops,
    .condition = &condition_ops,
    .barrier = &barrier_ops,
    .queue = &queue_ops,
    .waives = {[BZ_PRIMITIVE_LOCK] = BZ_ASYNCIO_LOCK_WAIVES,
               [BZ_PRIMITIVE_BARRIER] = BZ_ASYNCIO_BARRIER_WAIVES,
               [BZ_PRIMITIVE_QUEUE] = BZ_ASYNCIO_QUEUE_WAIVES},
    .declared = declared,
};
