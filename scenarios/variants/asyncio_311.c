/* asyncio-3.11: CPython's asyncio of 3.11 and 3.12, as a reference. What it does in a way of its
 * own: whoever resumes from a semaphore wakes one other, however many would fit (gh-111693); the
 * notification of a cancelled waiter of a condition is lost (gh-112202); there is no shutdown. */
#include "scenarios/scenarios.h"
#include "scenarios/variants/asyncio.h"

static enum bz_status semaphore_acquire(void *instance) {
    struct bz_asyncio_semaphore *semaphore = instance;
    struct bz_waiter waiter;
    if (!bz_asyncio_semaphore_locked(semaphore)) {
        semaphore->value--;
        return BZ_OK;
    }
    enum bz_status status = bz_deque_wait(&semaphore->queue, &waiter);
    bool gives_back = status == BZ_CANCELLED && waiter.future.state != BZ_FUTURE_CANCELLED;
    semaphore->value += gives_back;
    if (gives_back || (status == BZ_OK && semaphore->value > 0)) {
        bz_asyncio_semaphore_wake_next(semaphore); /* the fault: one */
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

static enum bz_status condition_wait(void *instance) {
    return bz_asyncio_condition_sleep(instance);
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
    .size = bz_asyncio_queue_size,
    .queued = bz_asyncio_queue_queued,
};

static const struct bz_fault fault_one_wake = {
    .family = "head of line",
    .project = "CPython asyncio",
    .issue = "gh-111693 (PR 111694)",
    .versions = "3.10.8 to 3.12, 3.11.0 to 3.11.x",
    .summary = "who resumes from a semaphore wakes one other, however many permits are free",
    .property = "work conservation",
    .oracle = "work-conserving",
    .scenario = "restaurant",
    .settings = "tables=5,guests=12,helpings=1,arrival=4,meal=4,meal-ns=1",
    .fifo_reachable = true,
    .primitives = 1u << BZ_PRIMITIVE_SEMAPHORE | 1u << BZ_PRIMITIVE_BOUNDED,
};

static const struct bz_fault fault_notify_lost = {
    .family = "woken, cancelled, not passed on",
    .project = "CPython asyncio",
    .issue = "gh-112202",
    .versions = "3.4 to 3.12",
    .summary = "the notification of a waiter that is then cancelled is lost",
    .property = "no lost notification",
    .oracle = "lost-notification",
    .scenario = "condition",
    .fifo_reachable = true,
    .primitives = 1u << BZ_PRIMITIVE_CONDITION,
};

static const struct bz_fault *const declared[] = {
    &bz_asyncio_fault_locked, &bz_asyncio_fault_bound,   &fault_one_wake,
    &fault_notify_lost,       &bz_asyncio_fault_barrier, NULL,
};

const struct bz_variant bz_variant_asyncio_311 = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_ASYNCIO_CLAIMS,
    .name = "asyncio-3.11",
    .summary = "reference: asyncio of CPython 3.11 and 3.12, with the faults of its day",
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
