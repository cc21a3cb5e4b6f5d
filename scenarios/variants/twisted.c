/* twisted: Twisted's DeferredLock, DeferredSemaphore and DeferredQueue as references.
 *
 * A release gives the token to the oldest waiter and fires its Deferred, whose callbacks run before
 * the release returns. So there is no window; what there is instead is recursion (Twisted #9304).
 * Written from a description of Lib twisted.internet.defer, in two forms:
 *
 *     deferred       as it is: callbacks
 *     lock, ...      as tasks on an asyncio loop use it, that await Deferreds. A cancel of the task
 *                    cancels the Deferred, which leaves the queue at once. Here is a window between
 *                    the firing and the task's resume; who is cancelled in it owns what it was
 *                    given, and gives it back, as any correct user has to.
 *
 * DeferredSemaphore is a bounded one, and has no locked(). A release too many is caught by an
 * assert, which is taken for a refusal here (without asserts it is accepted: zoo/tw-overrelease).
 *
 * DeferredQueue waits on one side alone: a put beyond its size fails. Who wants it to wait takes a
 * slot of a DeferredSemaphore first, and so does the queue here. An item that was given to a getter
 * is never taken back; a task that was cancelled in the window puts it back in front, where it may
 * come behind a later one that is on its way already. */
#include "scenarios/variants/twisted.h"
#include "primitives/runtime/future.h"
#include "primitives/runtime/list.h"
#include "primitives/runtime/mem.h"
#include "scenarios/scenarios.h"

/* --- tokens ----------------------------------------------------------------------------------- */

/* One Deferred that waits; what firing it does, is the business of who made it. */
struct waiter {
    struct bz_list link; /* linked while it waits */
    void (*fire)(struct waiter *waiter);
};

struct tokens {
    struct bz_loop *loop;
    struct bz_list waiting;
    uint32_t waiting_count;
    uint32_t tokens;
    uint32_t limit;
    uint32_t promised; /* to tasks that have not resumed */
    uint32_t nesting;  /* callbacks that are running inside each other */
};

/* Twisted demands a token at least. One without any, that nobody can acquire or release, is no
 * reason to refuse a program. */
static enum bz_status tokens_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct tokens *tokens = instance;
    *tokens = (struct tokens){.loop = loop, .tokens = permits, .limit = permits};
    bz_list_init(&tokens->waiting);
    return BZ_OK;
}

static enum bz_status tokens_release(void *instance) {
    struct tokens *tokens = instance;
    if (tokens->tokens >= tokens->limit) {
        return BZ_NOT_HELD;
    }
    struct bz_list *first = bz_list_pop_front(&tokens->waiting);
    if (first == NULL) {
        tokens->tokens++;
        return BZ_OK;
    }
    struct waiter *waiter = bz_container_of(first, struct waiter, link);
    tokens->waiting_count--;
    waiter->fire(waiter);
    return BZ_OK;
}

static void wait_in(struct tokens *tokens, struct waiter *waiter) {
    bz_list_push_back(&tokens->waiting, &waiter->link);
    tokens->waiting_count++;
}

static bool leave(struct tokens *tokens, struct waiter *waiter) {
    bool is_waiting = bz_list_is_linked(&waiter->link);
    if (is_waiting) {
        bz_list_remove(&waiter->link);
        tokens->waiting_count--;
    }
    return is_waiting;
}

/* --- as a task uses them ---------------------------------------------------------------------- */

struct awaiting {
    struct waiter waiter;
    struct bz_future future;
    struct tokens *tokens;
};

static void fire_future(struct waiter *waiter) {
    struct awaiting *awaiting = bz_container_of(waiter, struct awaiting, waiter);
    awaiting->tokens->promised++;
    bz_future_set_result(&awaiting->future, 0);
}

static void on_cancel(struct bz_future *future) {
    struct awaiting *awaiting = bz_container_of(future, struct awaiting, future);
    leave(awaiting->tokens, &awaiting->waiter);
}

static enum bz_status task_acquire(void *instance) {
    struct tokens *tokens = instance;
    struct awaiting awaiting = {.waiter = {.fire = fire_future}, .tokens = tokens};
    if (tokens->tokens > 0) {
        tokens->tokens--;
        return BZ_OK;
    }
    bz_future_init(&awaiting.future, tokens->loop);
    awaiting.future.on_cancel = on_cancel;
    wait_in(tokens, &awaiting.waiter);
    enum bz_status status = bz_future_await(&awaiting.future);
    bool is_granted = awaiting.future.state == BZ_FUTURE_RESULT;
    tokens->promised -= is_granted;
    if (status != BZ_OK && is_granted) {
        enum bz_status released = tokens_release(tokens);
        (void)released; /* it is ours: never refused */
    }
    return status;
}

static bool lock_locked(void *instance) {
    const struct tokens *tokens = instance;
    return tokens->tokens == 0;
}

static void task_view(void *instance, struct bz_permit_view *view) {
    const struct tokens *tokens = instance;
    *view = (struct bz_permit_view){.level = (uint64_t)tokens->tokens + tokens->promised,
                                    .queued = tokens->waiting_count,
                                    .waiting = tokens->waiting_count};
}

static const struct bz_permit_ops lock_ops = {
    .instance_bytes = sizeof(struct tokens),
    .init = tokens_init,
    .acquire = task_acquire,
    .release = tokens_release,
    .locked = lock_locked,
    .view = task_view,
};

static const struct bz_permit_ops semaphore_ops = {
    .instance_bytes = sizeof(struct tokens),
    .init = tokens_init,
    .acquire = task_acquire,
    .release = tokens_release,
    .view = task_view,
};

/* --- as it is --------------------------------------------------------------------------------- */

struct deferred {
    struct waiter waiter;
    struct tokens *tokens;
    struct bz_deferred_request *request;
};

/* The fault: the callback runs here, inside the release or acquire that grants. Beyond the depth
 * that the stack has room for it fails, and with it the release that it would have made. */
static void fire_callback(struct waiter *waiter) {
    struct deferred *deferred = bz_container_of(waiter, struct deferred, waiter);
    struct tokens *tokens = deferred->tokens;
    if (tokens->nesting < BZ_TWISTED_NESTING_MAX) {
        tokens->nesting++;
        deferred->request->answer(deferred->request, BZ_OK);
        tokens->nesting--;
    }
}

static void deferred_acquire(void *instance, struct bz_deferred_request *request) {
    struct tokens *tokens = instance;
    struct deferred *deferred = request->waiter;
    *deferred =
        (struct deferred){.waiter = {.fire = fire_callback}, .tokens = tokens, .request = request};
    if (tokens->tokens > 0) {
        tokens->tokens--;
        fire_callback(&deferred->waiter);
    } else {
        wait_in(tokens, &deferred->waiter);
    }
}

static void deferred_cancel(void *instance, struct bz_deferred_request *request) {
    struct deferred *deferred = request->waiter;
    if (leave(instance, &deferred->waiter)) {
        request->answer(request, BZ_CANCELLED);
    }
}

static uint32_t deferred_queued(void *instance) {
    const struct tokens *tokens = instance;
    return tokens->waiting_count;
}

const struct bz_deferred_ops bz_twisted_deferred_ops = {
    .instance_bytes = sizeof(struct tokens),
    .waiter_bytes = sizeof(struct deferred),
    .init = tokens_init,
    .acquire = deferred_acquire,
    .cancel = deferred_cancel,
    .release = tokens_release,
    .queued = deferred_queued,
};

/* --- queue ------------------------------------------------------------------------------------ */

struct item {
    struct bz_list link;
    uint64_t value;
};

struct queue {
    struct tokens slots; /* unused without a bound */
    struct bz_list pending;
    struct bz_list getters;
    uint32_t getter_count;
    uint64_t size; /* items pending, and given to getters that have not resumed */
    struct bz_loop *loop;
    bool is_bounded;
};

struct getter {
    struct bz_list link; /* linked while it waits */
    struct bz_future future;
    struct queue *queue;
    struct item *item;
};

static enum bz_status queue_init(void *instance, struct bz_loop *loop, enum bz_queue_order order,
                                 uint32_t maxsize) {
    struct queue *queue = instance;
    if (order != BZ_QUEUE_ORDER_FIFO) {
        return BZ_INVALID_ARGUMENT;
    }
    queue->loop = loop;
    queue->is_bounded = maxsize > 0;
    bz_list_init(&queue->pending);
    bz_list_init(&queue->getters);
    return queue->is_bounded ? tokens_init(&queue->slots, loop, maxsize) : BZ_OK;
}

/* To the oldest getter, or to an end of those that are stored. */
static void give(struct queue *queue, struct item *item, bool is_new) {
    struct bz_list *first = bz_list_pop_front(&queue->getters);
    if (first != NULL) {
        struct getter *getter = bz_container_of(first, struct getter, link);
        queue->getter_count--;
        getter->item = item;
        bz_future_set_result(&getter->future, 0);
    } else if (is_new) {
        bz_list_push_back(&queue->pending, &item->link);
    } else {
        bz_list_push_front(&queue->pending, &item->link);
    }
}

static void give_slot(struct queue *queue) {
    if (queue->is_bounded) {
        enum bz_status released = tokens_release(&queue->slots);
        (void)released; /* the item had taken one */
    }
}

/* With a slot, if the queue has a bound. */
static enum bz_status store(struct queue *queue, uint64_t value) {
    struct item *item = bz_mem_alloc(bz_loop_mem(queue->loop), sizeof *item);
    if (item == NULL) {
        give_slot(queue);
        return BZ_NO_MEMORY;
    }
    item->value = value;
    queue->size++;
    give(queue, item, true);
    return BZ_OK;
}

static enum bz_status queue_put(void *instance, uint64_t value, int64_t priority) {
    struct queue *queue = instance;
    (void)priority;
    enum bz_status status = queue->is_bounded ? task_acquire(&queue->slots) : BZ_OK;
    return status == BZ_OK ? store(queue, value) : status;
}

static enum bz_status queue_try_put(void *instance, uint64_t value, int64_t priority) {
    struct queue *queue = instance;
    (void)priority;
    if (queue->is_bounded && queue->slots.tokens == 0) {
        return BZ_FULL;
    }
    queue->slots.tokens -= queue->is_bounded;
    return store(queue, value);
}

static enum bz_status take(struct queue *queue, struct item *item, uint64_t *value) {
    *value = item->value;
    bz_mem_free(bz_loop_mem(queue->loop), item, sizeof *item);
    queue->size--;
    give_slot(queue);
    return BZ_OK;
}

static enum bz_status queue_try_get(void *instance, uint64_t *value) {
    struct queue *queue = instance;
    struct bz_list *first = bz_list_pop_front(&queue->pending);
    return first == NULL ? BZ_EMPTY : take(queue, bz_container_of(first, struct item, link), value);
}

static void on_get_cancelled(struct bz_future *future) {
    struct getter *getter = bz_container_of(future, struct getter, future);
    bz_list_remove(&getter->link);
    getter->queue->getter_count--;
}

static enum bz_status queue_get(void *instance, uint64_t *value) {
    struct queue *queue = instance;
    struct getter getter = {.queue = queue};
    enum bz_status status = queue_try_get(instance, value);
    if (status != BZ_EMPTY) {
        return status;
    }
    bz_future_init(&getter.future, queue->loop);
    getter.future.on_cancel = on_get_cancelled;
    bz_list_push_back(&queue->getters, &getter.link);
    queue->getter_count++;
    status = bz_future_await(&getter.future);
    if (status == BZ_OK) {
        return take(queue, getter.item, value);
    }
    if (getter.item != NULL) {
        give(queue, getter.item, false);
    }
    return status;
}

static uint64_t queue_size(void *instance) {
    const struct queue *queue = instance;
    return queue->size;
}

static uint32_t queue_queued(void *instance) {
    const struct queue *queue = instance;
    return queue->getter_count + queue->slots.waiting_count;
}

static const struct bz_queue_ops queue_ops = {
    .instance_bytes = sizeof(struct queue),
    .init = queue_init,
    .put = queue_put,
    .get = queue_get,
    .try_put = queue_try_put,
    .try_get = queue_try_get,
    .size = queue_size,
    .queued = queue_queued,
};

/* --- variant ---------------------------------------------------------------------------------- */

const struct bz_fault bz_twisted_fault_recursion = {
    .family = "re-entrancy",
    .project = "Twisted",
    .issue = "#9304",
    .versions = "all",
    .summary = "callbacks run inside the release or the cancel that sets them off",
    .property = "stack depth does not grow with the queue",
    .oracle = "assertion",
    .scenario = "deferred",
    .fifo_reachable = true,
    .primitives = 1u << BZ_PRIMITIVE_DEFERRED,
};

static const struct bz_fault fault_bound = {
    .family = "passes on too much",
    .project = "Twisted",
    .issue = "no issue known; owners are not checked",
    .versions = "all",
    .summary = "a token that was handed to a task which has not resumed can be released by anybody",
    .property = "no more releases than acquires",
    .oracle = "misuse",
    .scenario = "intruder",
    .fifo_reachable = true,
    .primitives = 1u << BZ_PRIMITIVE_BOUNDED | 1u << BZ_PRIMITIVE_LOCK,
};

static const struct bz_fault fault_order = {
    .family = "value rides in the wake-up",
    .project = "Twisted",
    .issue = "no issue known; an item that was given is not taken back",
    .versions = "all",
    .summary = "an item that a cancelled task puts back comes behind a later one on its way",
    .property = "items in the order of the puts",
    .oracle = "item-order",
    .scenario = "queue",
    .settings = "maxsize=0",
    .fifo_reachable = true,
    .primitives = 1u << BZ_PRIMITIVE_QUEUE,
};

static const struct bz_fault *const declared[] = {
    &fault_bound,
    &fault_order,
    &bz_twisted_fault_recursion,
    NULL,
};

const struct bz_variant bz_variant_twisted = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_LOCKED_EXACT | BZ_CLAIM_REFUSES_MISUSE |
              BZ_CLAIM_WAKE_IS_GRANT | BZ_CLAIM_WORK_CONSERVING,
    .name = "twisted",
    .summary = "reference: Twisted's lock, semaphore and queue of Deferreds, with known faults",
    .permits = {[BZ_PRIMITIVE_BOUNDED] = &semaphore_ops, [BZ_PRIMITIVE_LOCK] = &lock_ops},
    .queue = &queue_ops,
    .deferred = &bz_twisted_deferred_ops,
    .declared = declared,
};
