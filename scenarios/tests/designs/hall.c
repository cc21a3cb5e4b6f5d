/* The primitives that are no permits: an event and a condition whose wake-ups are late, a barrier
 * that a helper opens, a queue without an order. */
#include "scenarios/tests/designs/designs.h"

/* --- event ------------------------------------------------------------------------------------ */

/* A set moves the waiters to a second queue, which a callback wakes. */
struct event {
    struct bz_loop *loop;
    struct bz_list queue;
    struct bz_list leaving;
    struct bz_handle handle;
    bool is_set;
};

static enum bz_status event_init(void *instance, struct bz_loop *loop) {
    struct event *event = instance;
    event->loop = loop;
    bz_list_init(&event->queue);
    bz_list_init(&event->leaving);
    return BZ_OK;
}

static void move(struct bz_list *from, struct bz_list *to, uint32_t count) {
    struct bz_list *link;
    for (; count > 0 && (link = bz_list_pop_front(from)) != NULL; count--) {
        bz_list_push_back(to, link);
    }
}

static void wake_leaving(struct bz_handle *handle) {
    struct event *event = bz_container_of(handle, struct event, handle);
    while (place_wake_first(&event->leaving)) {
    }
}

static void event_set(void *instance) {
    struct event *event = instance;
    event->is_set = true;
    move(&event->queue, &event->leaving, UINT32_MAX);
    if (!event->handle.is_ready && !bz_loop_call_soon(event->loop, &event->handle, wake_leaving)) {
        wake_leaving(&event->handle);
    }
}

static void event_clear(void *instance) {
    ((struct event *)instance)->is_set = false;
}

static bool event_is_set(void *instance) {
    return ((const struct event *)instance)->is_set;
}

static enum bz_status event_wait(void *instance) {
    struct event *event = instance;
    struct place place;
    if (event->is_set) {
        return BZ_OK;
    }
    place_join(&event->queue, &place, event->loop);
    enum bz_status status = bz_future_await(&place.future);
    place_leave(&place);
    return status;
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
    struct bz_list lock_queue;
    bool is_held;
};

struct listener {
    struct place place;
    bool is_notified;
};

static enum bz_status condition_init(void *instance, struct bz_loop *loop) {
    struct condition *condition = instance;
    bz_list_init(&condition->lock_queue);
    return event_init(&condition->notified, loop);
}

static enum bz_status condition_acquire(void *instance) {
    struct condition *condition = instance;
    while (condition->is_held) {
        struct place place;
        place_join(&condition->lock_queue, &place, condition->notified.loop);
        enum bz_status status = bz_future_await(&place.future);
        place_leave(&place);
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
    while (place_wake_first(&condition->lock_queue)) {
    }
    return BZ_OK;
}

static bool condition_locked(void *instance) {
    return ((const struct condition *)instance)->is_held;
}

static void notify(struct condition *condition, uint32_t count) {
    struct event *notified = &condition->notified;
    for (; count > 0 && !bz_list_is_empty(&notified->queue); count--) {
        struct place *place = place_of(notified->queue.next);
        if (bz_future_is_done(&place->future)) {
            count++; /* it was cancelled, and has not left yet */
            place_leave(place);
            continue;
        }
        bz_container_of(place, struct listener, place)->is_notified = true;
        move(&notified->queue, &notified->leaving, 1);
    }
    if (!notified->handle.is_ready &&
        !bz_loop_call_soon(notified->loop, &notified->handle, wake_leaving)) {
        wake_leaving(&notified->handle);
    }
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
    place_join(&condition->notified.queue, &listener.place, condition->notified.loop);
    enum bz_status released = condition_release(condition);
    BZ_CHECK(released == BZ_OK);
    enum bz_status status = bz_future_await(&listener.place.future);
    place_leave(&listener.place);
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
    struct bz_loop *loop;
    struct bz_list queue;
    uint32_t parties;
    uint32_t helpers;
};

struct visitor {
    struct place place;
    uint32_t index;
};

static enum bz_status barrier_init(void *instance, struct bz_loop *loop, uint32_t parties) {
    struct barrier *barrier = instance;
    barrier->loop = loop;
    barrier->parties = parties;
    bz_list_init(&barrier->queue);
    return parties > 0 ? BZ_OK : BZ_INVALID_ARGUMENT;
}

static enum bz_status open_barrier(void *arg) {
    struct barrier *barrier = arg;
    struct bz_list *link = barrier->queue.next;
    while (link != &barrier->queue) { /* those who were cancelled and have not left yet */
        struct place *place = place_of(link);
        link = link->next;
        if (bz_future_is_done(&place->future)) {
            place_leave(place);
        }
    }
    while (place_count(&barrier->queue, BZ_FUTURE_PENDING) >= barrier->parties) {
        for (uint32_t index = 0; index < barrier->parties; index++) {
            struct place *place = place_of(bz_list_pop_front(&barrier->queue));
            bz_container_of(place, struct visitor, place)->index = index;
            bz_future_set_result(&place->future, 0);
        }
    }
    return BZ_OK;
}

static enum bz_status barrier_wait(void *instance, uint32_t *index) {
    struct barrier *barrier = instance;
    struct visitor visitor = {.index = 0};
    place_join(&barrier->queue, &visitor.place, barrier->loop);
    if (place_count(&barrier->queue, BZ_FUTURE_PENDING) >= barrier->parties) {
        struct bz_task *task =
            bz_task_spawn(barrier->loop, "opener", ++barrier->helpers, open_barrier, barrier);
        if (task == NULL) {
            place_leave(&visitor.place);
            return BZ_NO_MEMORY;
        }
        bz_task_detach(task);
    }
    enum bz_status status = bz_future_await(&visitor.place.future);
    place_leave(&visitor.place);
    *index = visitor.index;
    return status;
}

static const struct bz_barrier_ops barrier_ops = {
    .instance_bytes = sizeof(struct barrier), .init = barrier_init, .wait = barrier_wait};

/* --- queue ------------------------------------------------------------------------------------ */

/* A bag: a get takes an item from the middle. Whoever was woken looks again. */
struct bag {
    struct bz_loop *loop;
    struct bz_list getters;
    struct bz_list putters;
    uint64_t *items;
    uint32_t count;
    uint32_t capacity;
    uint32_t bound; /* 0: none */
};

static enum bz_status bag_init(void *instance, struct bz_loop *loop, enum bz_queue_order order,
                               uint32_t maxsize) {
    struct bag *bag = instance;
    (void)order; /* any will do */
    bag->loop = loop;
    bag->bound = maxsize;
    bag->capacity = maxsize == 0 ? 4096 : maxsize;
    bag->items = bz_mem_alloc(bz_loop_mem(loop), bag->capacity * sizeof *bag->items);
    bz_list_init(&bag->getters);
    bz_list_init(&bag->putters);
    return bag->items == NULL ? BZ_NO_MEMORY : BZ_OK;
}

static enum bz_status bag_try_put(void *instance, uint64_t value, int64_t priority) {
    struct bag *bag = instance;
    (void)priority;
    if (bag->count == bag->capacity) {
        return bag->bound == 0 ? BZ_NO_MEMORY : BZ_FULL;
    }
    bag->items[bag->count++] = value;
    (void)place_wake_first(&bag->getters);
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
    (void)place_wake_first(&bag->putters);
    return BZ_OK;
}

/* Waits for a wake-up. A woken task that is cancelled wakes another if there is something. */
static enum bz_status bag_wait(struct bag *bag, struct bz_list *queue) {
    struct place place;
    place_join(queue, &place, bag->loop);
    enum bz_status status = bz_future_await(&place.future);
    place_leave(&place);
    bool has_something = queue == &bag->getters ? bag->count > 0 : bag->count < bag->capacity;
    if (status != BZ_OK && place_is_woken(&place) && has_something) {
        (void)place_wake_first(queue);
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
