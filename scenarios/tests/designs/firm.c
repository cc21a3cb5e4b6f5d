/* Waits that cannot be cancelled: primitives in callback style without `cancel` (callback.h). A
 * cancel is heeded when the wait is over: `undo` gives back what it granted. The same with
 * completions in place, which cannot be cancelled or can be. Each has siblings with a fault, which
 * must be found. */
#include "scenarios/tests/designs/callback_line.h"
#include "sim/model/model.h"

/* --- permits ---------------------------------------------------------------------------------- */

struct permits {
    struct line line;
    uint32_t free; /* promised ones are not */
};

static void permits_put(struct permits *permits) {
    bool settles_late = permits->line.fault == SETTLES_LATE;
    permits->free += settles_late;
    bool is_handed_over = wake_first(&permits->line);
    permits->free += !is_handed_over;
    permits->free -= settles_late;
    if (is_handed_over && permits->line.fault == GRANTS_TWICE) {
        (void)wake_first(&permits->line);
    }
}

static enum bz_status permits_get(struct permits *permits) {
    if (permits->free > 0) {
        permits->free--;
        return BZ_OK;
    }
    struct waiter waiter = {.request.undo = undo_nothing};
    enum bz_status status;
    if (wait_in(&permits->line, &waiter, &status) && status != BZ_OK &&
        permits->line.fault != KEEPS) {
        permits_put(permits);
    }
    return status;
}

static void permits_init(struct permits *permits, struct bz_loop *loop, enum fault fault,
                         enum style style, uint32_t free) {
    line_init(&permits->line, loop, fault, style);
    permits->free = free;
}

static enum bz_status firm_acquire(void *instance) {
    return permits_get(instance);
}

static enum bz_status firm_release(void *instance) {
    permits_put(instance);
    return BZ_OK;
}

static void firm_view(void *instance, struct bz_permit_view *view) {
    const struct permits *permits = instance;
    view->level = permits->free + permits->line.woken;
    view->queued = view->waiting = length_of(&permits->line);
}

/* --- event ------------------------------------------------------------------------------------ */

struct event {
    struct line line;
    bool is_set;
};

static void firm_set(void *instance) {
    struct event *event = instance;
    event->is_set = true;
    wake_all(&event->line, BZ_OK);
}

static void firm_clear(void *instance) {
    ((struct event *)instance)->is_set = false;
}

static bool firm_is_set(void *instance) {
    return ((const struct event *)instance)->is_set;
}

static enum bz_status firm_wait(void *instance) {
    struct event *event = instance;
    struct waiter waiter = {.request.undo = undo_nothing};
    enum bz_status status = BZ_OK;
    if (!event->is_set) {
        (void)wait_in(&event->line, &waiter, &status);
    }
    return status;
}

/* --- condition -------------------------------------------------------------------------------- */

struct condition {
    struct permits lock; /* first */
    struct line line;
};

static bool firm_locked(void *instance) {
    return ((const struct permits *)instance)->free == 0;
}

/* Or lets it sleep on, in the line of the lock. */
static bool notify_first(struct condition *condition) {
    struct bz_list *waiters = &condition->line.waiters;
    if (condition->line.style != MORPHS || bz_list_is_empty(waiters)) {
        return wake_first(&condition->line);
    }
    struct waiter *first = first_of(waiters);
    bz_list_remove(&first->link);
    if (condition->line.fault != LOSES_WAKE_UP || bz_list_is_empty(waiters)) {
        join(&condition->lock.line, first);
    }
    if (condition->lock.free > 0) {
        condition->lock.free -= wake_first(&condition->lock.line);
    }
    return true;
}

static enum bz_status firm_notify(void *instance, uint32_t count) {
    struct condition *condition = instance;
    while (count > 0 && notify_first(condition)) {
        count -= count != UINT32_MAX;
    }
    return BZ_OK;
}

/* A notified waiter that was cancelled meanwhile leaves its notification to another one. */
static void pass_on(struct condition *condition, enum bz_status status) {
    if (status != BZ_OK && condition->line.fault != KEEPS) {
        (void)notify_first(condition);
    }
}

/* However often it is cancelled: BZ_CANCELLED, if it was. */
static enum bz_status lock_again(struct permits *lock) {
    enum bz_status status = BZ_OK;
    bool has_it = false;
    while (!has_it && lock->free == 0) {
        struct waiter waiter = {.request.undo = undo_nothing};
        enum bz_status once;
        has_it = wait_in(&lock->line, &waiter, &once);
        status = once == BZ_OK ? status : once;
    }
    lock->free -= !has_it;
    return status;
}

static enum bz_status firm_wait_notified(void *instance) {
    struct condition *condition = instance;
    struct waiter waiter = {.request.undo = undo_nothing};
    enum bz_status status;
    join(&condition->line, &waiter);
    permits_put(&condition->lock); /* in place, another task may notify inside */
    bool morphs = condition->line.style == MORPHS;
    bool is_notified =
        wait_joined(morphs ? &condition->lock.line : &condition->line, &waiter, &status);
    if (is_notified) {
        pass_on(condition, status);
    }
    if (morphs) {
        return status;
    }
    enum bz_status relock = lock_again(&condition->lock);
    if (status == BZ_OK) {
        pass_on(condition, relock);
        status = relock;
    }
    return status;
}

/* --- barrier ---------------------------------------------------------------------------------- */

struct barrier {
    struct line line;
    uint32_t parties;
};

static enum bz_status firm_arrive(void *instance, uint32_t *index) {
    struct barrier *barrier = instance;
    struct waiter waiter = {.request.undo = undo_nothing, .number = barrier->parties - 1};
    enum bz_status status = BZ_OK;
    if (length_of(&barrier->line) + 1 < barrier->parties) {
        (void)wait_in(&barrier->line, &waiter, &status);
    } else {
        wake_all(&barrier->line, BZ_OK);
    }
    *index = waiter.number;
    return status;
}

/* --- queue ------------------------------------------------------------------------------------ */

#define ITEMS_MAX 1024u

/* A put waits for a slot, and a get for an item: what they do then needs no undo. */
struct queue {
    struct permits slots;
    struct permits items;
    bool is_closed;
    uint32_t first;
    uint32_t count;
    uint64_t ring[ITEMS_MAX];
};

static enum bz_status queue_init(void *instance, struct bz_loop *loop, enum bz_queue_order order,
                                 uint32_t maxsize, enum fault fault, enum style style) {
    struct queue *queue = instance;
    permits_init(&queue->slots, loop, fault, style, maxsize == 0 ? ITEMS_MAX : maxsize);
    permits_init(&queue->items, loop, fault, style, 0);
    return order == BZ_QUEUE_ORDER_FIFO ? BZ_OK : BZ_INVALID_ARGUMENT;
}

static enum bz_status firm_put(void *instance, uint64_t value, int64_t priority) {
    struct queue *queue = instance;
    enum bz_status status = queue->is_closed ? BZ_CLOSED : permits_get(&queue->slots);
    (void)priority;
    bool has_getter = !bz_list_is_empty(&queue->items.line.waiters);
    for (uint32_t times = queue->items.line.fault == STORES_TWICE && has_getter ? 2 : 1;
         status == BZ_OK && times > 0; times--) {
        queue->ring[(queue->first + queue->count++) % ITEMS_MAX] = value;
        permits_put(&queue->items);
    }
    return status;
}

static enum bz_status firm_get(void *instance, uint64_t *value) {
    struct queue *queue = instance;
    bool is_over = queue->is_closed && queue->items.free == 0;
    enum bz_status status = is_over ? BZ_CLOSED : permits_get(&queue->items);
    if (status == BZ_OK) {
        *value = queue->ring[queue->first++ % ITEMS_MAX];
        queue->count--;
        permits_put(&queue->slots);
    }
    return status;
}

static enum bz_status firm_try_put(void *instance, uint64_t value, int64_t priority) {
    const struct queue *queue = instance;
    bool is_ready = queue->slots.free > 0 || queue->is_closed;
    return is_ready ? firm_put(instance, value, priority) : BZ_FULL;
}

static enum bz_status firm_try_get(void *instance, uint64_t *value) {
    const struct queue *queue = instance;
    bool is_ready = queue->items.free > 0 || queue->is_closed;
    return is_ready ? firm_get(instance, value) : BZ_EMPTY;
}

static void firm_shutdown(void *instance, bool is_immediate) {
    struct queue *queue = instance;
    queue->is_closed = queue->items.line.fault != CLOSES_LATE;
    if (is_immediate) {
        queue->slots.free += queue->items.free;
        queue->count -= queue->items.free;
        queue->items.free = 0;
    }
    wake_all(&queue->slots.line, BZ_CLOSED);
    wake_all(&queue->items.line, BZ_CLOSED);
    queue->is_closed = true;
}

static uint64_t firm_size(void *instance) {
    return ((const struct queue *)instance)->count;
}

/* --- read-write lock -------------------------------------------------------------------------- */

enum { READ, END_READ, WRITE, END_WRITE, OP_COUNT };

struct readers_writers {
    int64_t readers;
    int64_t writers;
};

static bool model_step(void *state, uint32_t op, const int64_t *arguments, int64_t *answer) {
    struct readers_writers *held = state;
    (void)arguments;
    (void)answer;
    held->readers += op == READ ? 1 : op == END_READ ? -1 : 0;
    held->writers += op == WRITE ? 1 : op == END_WRITE ? -1 : 0;
    return held->writers == 0 || (held->writers == 1 && held->readers == 0);
}

static const struct bz_model_op model_ops[OP_COUNT] = {
    [READ] = {.name = "read", .line = 1, .cancel = BZ_MODEL_CANCEL_UNDOES, .undo = END_READ},
    [END_READ] = {.name = "end-read", .gives_back = 1 + READ},
    [WRITE] = {.name = "write", .line = 1, .cancel = BZ_MODEL_CANCEL_UNDOES, .undo = END_WRITE},
    [END_WRITE] = {.name = "end-write", .gives_back = 1 + WRITE},
};
static const struct bz_model_op model_ops_writers[OP_COUNT] = {
    [READ] = {.name = "read",
              .line = 1,
              .yields_to = 1u << WRITE,
              .cancel = BZ_MODEL_CANCEL_UNDOES,
              .undo = END_READ},
    [END_READ] = {.name = "end-read", .gives_back = 1 + READ},
    [WRITE] = {.name = "write", .line = 2, .cancel = BZ_MODEL_CANCEL_UNDOES, .undo = END_WRITE},
    [END_WRITE] = {.name = "end-write", .gives_back = 1 + WRITE},
};
static const struct bz_model model = {.name = "fair read-write lock",
                                      .state_bytes = sizeof(struct readers_writers),
                                      .ops = model_ops,
                                      .op_count = OP_COUNT,
                                      .step = model_step};

static const struct bz_model model_writers = {.name = "read-write lock, writers first",
                                              .state_bytes = sizeof(struct readers_writers),
                                              .ops = model_ops_writers,
                                              .op_count = OP_COUNT,
                                              .step = model_step};

struct rwlock {
    struct line line;
    struct readers_writers held; /* promised ones included */
};

/* The first writer goes to the front of the line. */
static void prefer_writer(struct bz_list *waiters) {
    for (struct bz_list *link = waiters->next; link != waiters; link = link->next) {
        if (bz_container_of(link, struct waiter, link)->op == WRITE) {
            bz_list_remove(link);
            bz_list_push_front(waiters, link);
            return;
        }
    }
}

static void admit(struct rwlock *lock) {
    while (!bz_list_is_empty(&lock->line.waiters)) {
        if (lock->line.style == POSTS_OR_CANCELLED) {
            prefer_writer(&lock->line.waiters);
        }
        struct readers_writers before = lock->held;
        struct readers_writers with = lock->held;
        bool may_enter = model_step(&with, first_of(&lock->line.waiters)->op, NULL, NULL) ||
                         (lock->line.fault == GRANTS_TWICE && lock->held.readers > 0);
        if (!may_enter) {
            return;
        }
        lock->held = with;
        if (!wake_first(&lock->line)) {
            lock->held = before;
            return;
        }
    }
}

static void admit_behind(struct line *line) {
    admit(bz_container_of(line, struct rwlock, line));
}

static void leave(struct rwlock *lock, uint32_t op) {
    (void)model_step(&lock->held, op + 1, NULL, NULL);
    admit(lock);
}

static enum bz_status firm_call(void *instance, uint32_t op, const int64_t *arguments,
                                int64_t *answer) {
    struct rwlock *lock = instance;
    struct readers_writers with = lock->held;
    (void)arguments;
    (void)answer;
    if (op == END_READ || op == END_WRITE) {
        leave(lock, op - 1);
        return BZ_OK;
    }
    if (bz_list_is_empty(&lock->line.waiters) && model_step(&with, op, NULL, NULL)) {
        lock->held = with;
        return BZ_OK;
    }
    struct waiter waiter = {.request.undo = undo_nothing, .op = op};
    enum bz_status status;
    if (wait_in(&lock->line, &waiter, &status) && status != BZ_OK && lock->line.fault != KEEPS) {
        leave(lock, op);
    }
    return status;
}

/* --- the designs ------------------------------------------------------------------------------ */

#define FIRM(name, fault, style, summary)                                                          \
    static enum bz_status name##_init(void *instance, struct bz_loop *loop, uint32_t permits) {    \
        permits_init(instance, loop, fault, style, permits);                                       \
        return BZ_OK;                                                                              \
    }                                                                                              \
    static enum bz_status name##_event_init(void *instance, struct bz_loop *loop) {                \
        line_init(&((struct event *)instance)->line, loop, fault, style);                          \
        return BZ_OK;                                                                              \
    }                                                                                              \
    static enum bz_status name##_condition_init(void *instance, struct bz_loop *loop) {            \
        permits_init(instance, loop, NO_FAULT, style, 1);                                          \
        line_init(&((struct condition *)instance)->line, loop, fault, style);                      \
        return BZ_OK;                                                                              \
    }                                                                                              \
    static enum bz_status name##_barrier_init(void *instance, struct bz_loop *loop,                \
                                              uint32_t parties) {                                  \
        line_init(&((struct barrier *)instance)->line, loop, fault, style);                        \
        ((struct barrier *)instance)->parties = parties;                                           \
        return BZ_OK;                                                                              \
    }                                                                                              \
    static enum bz_status name##_queue_init(void *instance, struct bz_loop *loop,                  \
                                            enum bz_queue_order order, uint32_t maxsize) {         \
        return queue_init(instance, loop, order, maxsize, fault, style);                           \
    }                                                                                              \
    static enum bz_status name##_rwlock_init(void *instance, struct bz_loop *loop,                 \
                                             const int64_t *parameters) {                          \
        (void)parameters;                                                                          \
        line_init(&((struct rwlock *)instance)->line, loop, fault, style);                         \
        ((struct rwlock *)instance)->line.has_left = admit_behind;                                 \
        return BZ_OK;                                                                              \
    }                                                                                              \
    static const struct bz_permit_ops name##_ops = {.instance_bytes = sizeof(struct permits),      \
                                                    .init = name##_init,                           \
                                                    .acquire = firm_acquire,                       \
                                                    .release = firm_release,                       \
                                                    .view = firm_view};                            \
    static const struct bz_event_ops name##_event_ops = {.instance_bytes = sizeof(struct event),   \
                                                         .init = name##_event_init,                \
                                                         .set = firm_set,                          \
                                                         .clear = firm_clear,                      \
                                                         .is_set = firm_is_set,                    \
                                                         .wait = firm_wait};                       \
    static const struct bz_condition_ops name##_condition_ops = {.instance_bytes =                 \
                                                                     sizeof(struct condition),     \
                                                                 .init = name##_condition_init,    \
                                                                 .acquire = firm_acquire,          \
                                                                 .release = firm_release,          \
                                                                 .locked = firm_locked,            \
                                                                 .wait = firm_wait_notified,       \
                                                                 .notify = firm_notify};           \
    static const struct bz_barrier_ops name##_barrier_ops = {.instance_bytes =                     \
                                                                 sizeof(struct barrier),           \
                                                             .init = name##_barrier_init,          \
                                                             .wait = firm_arrive};                 \
    static const struct bz_queue_ops name##_queue_ops = {.instance_bytes = sizeof(struct queue),   \
                                                         .init = name##_queue_init,                \
                                                         .put = firm_put,                          \
                                                         .get = firm_get,                          \
                                                         .try_put = firm_try_put,                  \
                                                         .try_get = firm_try_get,                  \
                                                         .shutdown = firm_shutdown,                \
                                                         .size = firm_size};                       \
    static const struct bz_modelled_ops name##_rwlock_ops = {                                      \
        sizeof(struct rwlock), (style) == POSTS_OR_CANCELLED ? &model_writers : &model,            \
        name##_rwlock_init, firm_call};                                                            \
    DESIGN(name,                                                                                   \
           BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT | BZ_CLAIM_WORK_CONSERVING | BZ_CLAIM_UNAIDED |  \
               ((style) == IN_PLACE_OR_CANCELLED || (style) == POSTS_OR_CANCELLED ? 0              \
                : (style) == MORPHS ? BZ_CLAIM_WAIT_MORPHING                                       \
                                    : BZ_CLAIM_EXACT_NOTIFY),                                      \
           summary,                                                                                \
           .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &name##_ops, [BZ_PRIMITIVE_LOCK] = &name##_ops}, \
           .event = &name##_event_ops, .condition = &name##_condition_ops,                         \
           .barrier = &name##_barrier_ops, .queue = &name##_queue_ops,                             \
           .modelled = &name##_rwlock_ops)

FIRM(firm, NO_FAULT, POSTS, "a wait cannot be cancelled");
FIRM(firm_losing, LOSES_WAKE_UP, POSTS, "the same, and a wake-up is lost");
FIRM(firm_doubling, GRANTS_TWICE, POSTS, "the same, and what one gives back two get");
FIRM(firm_keeping, KEEPS, POSTS, "the same, and a cancelled waiter keeps what it got");
FIRM(posting_cancelled, NO_FAULT, POSTS_OR_CANCELLED,
     "a wait can be cancelled, and lets those behind it go at once");
FIRM(morphing, NO_FAULT, MORPHS, "the same, and a notified waiter sleeps until it has the lock");
FIRM(morphing_losing, LOSES_WAKE_UP, MORPHS, "the same, and one of two notified waiters is lost");
FIRM(morphing_keeping, KEEPS, MORPHS, "the same, and a cancelled waiter keeps its notification");
FIRM(inplace, NO_FAULT, IN_PLACE, "the waiter resumes inside the call");
FIRM(inplace_cancelled, NO_FAULT, IN_PLACE_OR_CANCELLED, "the same, and a wait can be cancelled");
FIRM(inplace_late, SETTLES_LATE, IN_PLACE, "the same, and a release settles its count afterwards");
FIRM(inplace_walking, WALKS, IN_PLACE, "the same, and its walk meets those that wait again");
FIRM(inplace_closing, CLOSES_LATE, IN_PLACE, "the same, and puts from inside a close wait forever");
FIRM(inplace_storing, STORES_TWICE, IN_PLACE, "the same, and an item is handed over and kept");
