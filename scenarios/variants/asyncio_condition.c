/* Event, condition and barrier of the asyncio references. */
#include "scenarios/variants/asyncio.h"

static uint32_t entries(const struct bz_deque *queue) {
    struct bz_permit_view view;
    bz_deque_view(queue, &view);
    return view.queued;
}

/* --- event ------------------------------------------------------------------------------------ */

static enum bz_status event_init(void *instance, struct bz_loop *loop) {
    struct bz_asyncio_event *event = instance;
    bz_deque_init(&event->queue, loop);
    return BZ_OK;
}

static void event_set(void *instance) {
    struct bz_asyncio_event *event = instance;
    event->is_set = true; /* if it was, nobody waits */
    while (bz_deque_wake_oldest(&event->queue)) {
    }
}

static void event_clear(void *instance) {
    struct bz_asyncio_event *event = instance;
    event->is_set = false;
}

static bool event_is_set(void *instance) {
    const struct bz_asyncio_event *event = instance;
    return event->is_set;
}

/* Who was woken does not look at the flag again. */
static enum bz_status event_wait(void *instance) {
    struct bz_asyncio_event *event = instance;
    struct bz_waiter waiter;
    if (event->is_set) {
        return BZ_OK;
    }
    enum bz_status status = bz_deque_wait(&event->queue, &waiter);
    return status;
}

static uint32_t event_queued(void *instance) {
    const struct bz_asyncio_event *event = instance;
    return entries(&event->queue);
}

const struct bz_event_ops bz_asyncio_event_ops = {
    .instance_bytes = sizeof(struct bz_asyncio_event),
    .init = event_init,
    .set = event_set,
    .clear = event_clear,
    .is_set = event_is_set,
    .wait = event_wait,
    .queued = event_queued,
};

/* --- condition -------------------------------------------------------------------------------- */

enum bz_status bz_asyncio_condition_init(void *instance, struct bz_loop *loop) {
    struct bz_asyncio_condition *condition = instance;
    bz_deque_init(&condition->queue, loop);
    return bz_asyncio_lock_ops.init(&condition->lock, loop, 1);
}

/* Requests that strike while the lock is acquired again are remembered, as one. Each costs the task
 * its place in the queue of the lock. */
static enum bz_status relock(struct bz_asyncio_condition *condition) {
    enum bz_status result = BZ_OK;
    for (;;) {
        enum bz_status status = bz_asyncio_lock_acquire(&condition->lock);
        if (status != BZ_CANCELLED) {
            return status == BZ_OK ? result : status;
        }
        result = BZ_CANCELLED;
    }
}

enum bz_status bz_asyncio_condition_sleep(struct bz_asyncio_condition *condition) {
    struct bz_waiter waiter;
    enum bz_status status = bz_asyncio_lock_release(&condition->lock);
    if (status != BZ_OK) {
        return status;
    }
    status = bz_deque_wait(&condition->queue, &waiter);
    enum bz_status locked = relock(condition);
    return locked == BZ_OK ? status : locked;
}

void bz_asyncio_condition_wake(struct bz_asyncio_condition *condition, uint32_t count) {
    for (; count > 0 && bz_deque_wake_oldest(&condition->queue); count--) {
    }
}

enum bz_status bz_asyncio_condition_notify(void *instance, uint32_t count) {
    struct bz_asyncio_condition *condition = instance;
    if (!condition->lock.is_locked) {
        return BZ_NOT_HELD;
    }
    bz_asyncio_condition_wake(condition, count);
    return BZ_OK;
}

bool bz_asyncio_condition_locked(void *instance) {
    const struct bz_asyncio_condition *condition = instance;
    return condition->lock.is_locked;
}

uint32_t bz_asyncio_condition_queued(void *instance) {
    const struct bz_asyncio_condition *condition = instance;
    return entries(&condition->queue) + entries(&condition->lock.queue);
}

/* --- barrier ---------------------------------------------------------------------------------- */

enum bz_status bz_asyncio_barrier_init(struct bz_asyncio_barrier *barrier, struct bz_loop *loop,
                                       uint32_t parties, enum bz_status (*wait)(void *condition)) {
    if (parties == 0) {
        return BZ_INVALID_ARGUMENT;
    }
    barrier->parties = parties;
    barrier->wait = wait;
    return bz_asyncio_condition_init(&barrier->condition, loop);
}

static enum bz_status wait_while(struct bz_asyncio_barrier *barrier, bool is_draining) {
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && barrier->is_draining == is_draining) {
        status = barrier->wait(&barrier->condition);
    }
    return status;
}

/* The fault: the index is how many fill already, and one who is cancelled fills no more, so that a
 * later arrival is given an index that somebody has. */
static enum bz_status fill(struct bz_asyncio_barrier *barrier, uint32_t *index) {
    enum bz_status status = BZ_OK;
    *index = barrier->count++;
    if (*index + 1 == barrier->parties) {
        barrier->is_draining = true;
        bz_asyncio_condition_wake(&barrier->condition, UINT32_MAX);
    } else {
        status = wait_while(barrier, false);
    }
    if (--barrier->count == 0) {
        barrier->is_draining = false;
        bz_asyncio_condition_wake(&barrier->condition, UINT32_MAX);
    }
    return status;
}

enum bz_status bz_asyncio_barrier_wait(void *instance, uint32_t *index) {
    struct bz_asyncio_barrier *barrier = instance;
    enum bz_status status = bz_asyncio_lock_acquire(&barrier->condition.lock);
    if (status != BZ_OK) {
        return status;
    }
    status = wait_while(barrier, true);
    if (status == BZ_OK) {
        status = fill(barrier, index);
    }
    enum bz_status released = bz_asyncio_lock_release(&barrier->condition.lock);
    return released == BZ_OK ? status : released;
}

uint32_t bz_asyncio_barrier_queued(void *instance) {
    struct bz_asyncio_barrier *barrier = instance;
    return bz_asyncio_condition_queued(&barrier->condition);
}

const struct bz_fault bz_asyncio_fault_barrier = {
    .family = "stuck state",
    .project = "CPython asyncio",
    .issue = "gh-155233",
    .versions = "3.11 to 3.15",
    .summary = "after a filler was cancelled, two tasks of a round get one index",
    .property = "each index once a round",
    .oracle = "barrier-round",
    .scenario = "barrier",
    .fifo_reachable = true,
    .primitives = 1u << BZ_PRIMITIVE_BARRIER,
};
