/* The primitives that are no permits: an event and a condition whose wake-ups are late, a barrier
 * that a helper opens, a queue without an order. */
#include "scenarios/tests/designs/designs.h"

/* --- event ------------------------------------------------------------------------------------ */

/* A set moves the waiters to a second queue, which a callback wakes. */
struct event {
    struct bz_deque queue;
    struct bz_deque leaving;
    struct bz_handle handle;
    bool is_set;
};

static enum bz_status event_init(void *instance, struct bz_loop *loop) {
    struct event *event = instance;
    bz_deque_init(&event->queue, loop);
    bz_deque_init(&event->leaving, loop);
    return BZ_OK;
}

/* The oldest of the queue. */
static void let_leave(struct event *event) {
    bz_list_push_back(&event->leaving.entries, bz_list_pop_front(&event->queue.entries));
}

static void wake_leaving(struct bz_handle *handle) {
    struct event *event = bz_container_of(handle, struct event, handle);
    while (bz_deque_pop_and_wake(&event->leaving)) {
    }
}

static void wake_leaving_soon(struct event *event) {
    if (!event->handle.is_ready &&
        !bz_loop_call_soon(event->queue.loop, &event->handle, wake_leaving)) {
        wake_leaving(&event->handle);
    }
}

static void event_set(void *instance) {
    struct event *event = instance;
    event->is_set = true;
    while (!bz_list_is_empty(&event->queue.entries)) {
        let_leave(event);
    }
    wake_leaving_soon(event);
}

static void event_clear(void *instance) {
    ((struct event *)instance)->is_set = false;
}

static bool event_is_set(void *instance) {
    return ((const struct event *)instance)->is_set;
}

static enum bz_status event_wait(void *instance) {
    struct event *event = instance;
    struct bz_waiter waiter;
    return event->is_set ? BZ_OK : bz_deque_wait(&event->queue, &waiter);
}

static const struct bz_event_ops event_ops = {.instance_bytes = sizeof(struct event),
                                              .init = event_init,
                                              .set = event_set,
                                              .clear = event_clear,
                                              .is_set = event_is_set,
                                              .wait = event_wait};

/* --- condition -------------------------------------------------------------------------------- */

/* A notification moves waiters to a second queue, which a callback wakes. A waiter that was
 * notified and is cancelled notifies another. The lock is simple and wakes everybody. */
struct condition {
    struct event notified; /* its queues and its callback */
    struct bz_deque lock_queue;
    bool is_held;
};

struct listener {
    struct bz_waiter waiter;
    bool is_notified;
};

static enum bz_status condition_init(void *instance, struct bz_loop *loop) {
    struct condition *condition = instance;
    bz_deque_init(&condition->lock_queue, loop);
    return event_init(&condition->notified, loop);
}

static enum bz_status condition_acquire(void *instance) {
    struct condition *condition = instance;
    while (condition->is_held) {
        struct bz_waiter waiter;
        enum bz_status status = bz_deque_wait(&condition->lock_queue, &waiter);
        if (status != BZ_OK) {
            return status;
        }
    }
    condition->is_held = true;
    return BZ_OK;
}

static enum bz_status condition_release(void *instance) {
    struct condition *condition = instance;
    if (!condition->is_held) {
        return BZ_NOT_HELD;
    }
    condition->is_held = false;
    while (bz_deque_pop_and_wake(&condition->lock_queue)) {
    }
    return BZ_OK;
}

static bool condition_locked(void *instance) {
    return ((const struct condition *)instance)->is_held;
}

static void notify(struct condition *condition, uint32_t count) {
    struct event *notified = &condition->notified;
    struct bz_waiter *oldest;
    while (count > 0 && (oldest = bz_deque_next(&notified->queue, NULL)) != NULL) {
        if (bz_future_is_done(&oldest->future)) {
            bz_deque_remove(oldest); /* it was cancelled, and has not left yet */
            continue;
        }
        bz_container_of(oldest, struct listener, waiter)->is_notified = true;
        let_leave(notified);
        count--;
    }
    wake_leaving_soon(notified);
}

static enum bz_status condition_notify(void *instance, uint32_t count) {
    struct condition *condition = instance;
    if (!condition->is_held) {
        return BZ_NOT_HELD;
    }
    notify(condition, count);
    return BZ_OK;
}

static enum bz_status condition_wait(void *instance) {
    struct condition *condition = instance;
    struct listener listener = {.is_notified = false};
    if (!condition->is_held) {
        return BZ_NOT_HELD;
    }
    enum bz_status released = condition_release(condition);
    BZ_CHECK(released == BZ_OK);
    enum bz_status status = bz_deque_wait(&condition->notified.queue, &listener.waiter);
    enum bz_status locked = BZ_CANCELLED;
    while ((locked = condition_acquire(condition)) != BZ_OK) {
        status = locked; /* a cancel on the way back */
    }
    if (status != BZ_OK && listener.is_notified) {
        notify(condition, 1);
    }
    return status;
}

static const struct bz_condition_ops condition_ops = {.instance_bytes = sizeof(struct condition),
                                                      .init = condition_init,
                                                      .acquire = condition_acquire,
                                                      .release = condition_release,
                                                      .locked = condition_locked,
                                                      .wait = condition_wait,
                                                      .notify = condition_notify};

/* --- barrier ---------------------------------------------------------------------------------- */

/* The last arrival of a round sends a helper, which counts again: somebody may have left. It lets
 * the oldest ones go and gives them their numbers. */
struct barrier {
    struct bz_deque queue;
    uint32_t parties;
    uint32_t helpers;
};

struct visitor {
    struct bz_waiter waiter;
    uint32_t index;
};

static enum bz_status barrier_init(void *instance, struct bz_loop *loop, uint32_t parties) {
    struct barrier *barrier = instance;
    barrier->parties = parties;
    bz_deque_init(&barrier->queue, loop);
    return parties > 0 ? BZ_OK : BZ_INVALID_ARGUMENT;
}

static enum bz_status open_barrier(void *arg) {
    struct barrier *barrier = arg;
    while (bz_deque_count(&barrier->queue, BZ_FUTURE_PENDING) >= barrier->parties) {
        for (uint32_t index = 0; index < barrier->parties; index++) {
            struct bz_waiter *oldest = bz_deque_oldest_asleep(&barrier->queue);
            bz_container_of(oldest, struct visitor, waiter)->index = index;
            (void)bz_deque_pop_and_wake(&barrier->queue);
        }
    }
    return BZ_OK;
}

static enum bz_status barrier_wait(void *instance, uint32_t *index) {
    struct barrier *barrier = instance;
    struct visitor visitor = {.index = 0};
    if (bz_deque_count(&barrier->queue, BZ_FUTURE_PENDING) + 1 >= barrier->parties) {
        struct bz_task *task =
            bz_task_spawn(barrier->queue.loop, "opener", ++barrier->helpers, open_barrier, barrier);
        if (task == NULL) {
            return BZ_NO_MEMORY;
        }
        bz_task_detach(task);
    }
    enum bz_status status = bz_deque_wait(&barrier->queue, &visitor.waiter);
    *index = visitor.index;
    return status;
}

static const struct bz_barrier_ops barrier_ops = {
    .instance_bytes = sizeof(struct barrier), .init = barrier_init, .wait = barrier_wait};

/* --- queue ------------------------------------------------------------------------------------ */

/* A bag: a get takes an item from the middle. Whoever was woken looks again. */
struct bag {
    struct bz_deque getters;
    struct bz_deque putters;
    uint64_t *items;
    uint32_t count;
    uint32_t capacity;
    uint32_t bound; /* 0: none */
};

static enum bz_status bag_init(void *instance, struct bz_loop *loop, enum bz_queue_order order,
                               uint32_t maxsize) {
    struct bag *bag = instance;
    (void)order; /* any will do */
    bag->bound = maxsize;
    bag->capacity = maxsize == 0 ? 4096 : maxsize;
    bag->items = bz_mem_alloc(bz_loop_mem(loop), bag->capacity * sizeof *bag->items);
    bz_deque_init(&bag->getters, loop);
    bz_deque_init(&bag->putters, loop);
    return bag->items == NULL ? BZ_NO_MEMORY : BZ_OK;
}

static enum bz_status bag_try_put(void *instance, uint64_t value, int64_t priority) {
    struct bag *bag = instance;
    (void)priority;
    if (bag->count == bag->capacity) {
        return bag->bound == 0 ? BZ_NO_MEMORY : BZ_FULL;
    }
    bag->items[bag->count++] = value;
    (void)bz_deque_pop_and_wake(&bag->getters);
    return BZ_OK;
}

static enum bz_status bag_try_get(void *instance, uint64_t *value) {
    struct bag *bag = instance;
    if (bag->count == 0) {
        return BZ_EMPTY;
    }
    uint64_t *middle = &bag->items[bag->count / 2];
    *value = *middle;
    *middle = bag->items[--bag->count];
    (void)bz_deque_pop_and_wake(&bag->putters);
    return BZ_OK;
}

/* Waits for a wake-up. A woken task that is cancelled wakes another if there is something. */
static enum bz_status bag_wait(struct bag *bag, struct bz_deque *queue) {
    struct bz_waiter waiter;
    enum bz_status status = bz_deque_wait(queue, &waiter);
    bool has_something = queue == &bag->getters ? bag->count > 0 : bag->count < bag->capacity;
    if (status != BZ_OK && bz_waiter_was_woken(&waiter) && has_something) {
        (void)bz_deque_pop_and_wake(queue);
    }
    return status;
}

static enum bz_status bag_put(void *instance, uint64_t value, int64_t priority) {
    struct bag *bag = instance;
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && bag->count == bag->capacity) {
        status = bag_wait(bag, &bag->putters);
    }
    return status == BZ_OK ? bag_try_put(bag, value, priority) : status;
}

static enum bz_status bag_get(void *instance, uint64_t *value) {
    struct bag *bag = instance;
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && bag->count == 0) {
        status = bag_wait(bag, &bag->getters);
    }
    return status == BZ_OK ? bag_try_get(bag, value) : status;
}

static uint64_t bag_size(void *instance) {
    return ((const struct bag *)instance)->count;
}

static const struct bz_queue_ops bag_ops = {.instance_bytes = sizeof(struct bag),
                                            .init = bag_init,
                                            .put = bag_put,
                                            .get = bag_get,
                                            .try_put = bag_try_put,
                                            .try_get = bag_try_get,
                                            .size = bag_size};

DESIGN(hall, BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_TAKES_AT_RETURN | BZ_CLAIM_UNORDERED_ITEMS,
       "late wake-ups, a helper at the barrier, a bag in place of a queue", .event = &event_ops,
       .condition = &condition_ops, .barrier = &barrier_ops, .queue = &bag_ops);
