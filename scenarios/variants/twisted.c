/* twisted: Twisted's DeferredLock, DeferredSemaphore and DeferredQueue as references.
 *
 * A release gives the token to the oldest waiter and fires its Deferred, whose callbacks run before
 * the release returns. So there is no window, but recursion (Twisted #9304). Written from a
 * description of twisted.internet.defer, in two forms:
 *
 *     deferred       as it is, with callbacks
 *     lock, ...      as tasks on an asyncio loop use it, which await Deferreds. A cancel of the
 *                    task cancels the Deferred, which leaves the queue at once. Here is a window,
 *                    between the firing and the task's resume. A task cancelled in it owns what it
 *                    was given, and gives it back, as a correct user must.
 *
 * DeferredSemaphore is bounded, and has no locked(). An assert catches a release too many; here
 * that is a refusal (without asserts it is accepted: zoo/tw-overrelease).
 *
 * Only a get from DeferredQueue can wait: a put beyond its size fails. A user who wants a put to
 * wait takes a slot of a DeferredSemaphore first; so does the queue here. An item given to a getter
 * is never taken back. A task cancelled in the window puts it back in front, where it may come
 * after a later item that is already given to another getter. */
#include <inttypes.h>

#include "scenarios/variants/item_queue.h"
#include "scenarios/variants/variants.h"

/* --- tokens ----------------------------------------------------------------------------------- */

struct tokens {
    struct bz_deque waiting; /* Deferreds that wait; a cancelled one leaves at once */
    void (*fire)(struct tokens *tokens, struct bz_waiter *waiter);
    uint32_t tokens;
    uint32_t limit;
    uint32_t promised; /* to tasks that have not resumed */
    uint32_t nesting;  /* callbacks that are running inside each other */
};

/* Twisted demands at least one token. Here none is accepted, so that more programs can run; no task
 * can acquire or release it. */
static void tokens_init(struct tokens *tokens, struct bz_loop *loop, uint32_t permits,
                        void (*fire)(struct tokens *tokens, struct bz_waiter *waiter)) {
    *tokens = (struct tokens){.fire = fire, .tokens = permits, .limit = permits};
    bz_deque_init(&tokens->waiting, loop);
}

static bool tokens_take(struct tokens *tokens) {
    bool is_free = tokens->tokens > 0;
    tokens->tokens -= is_free;
    return is_free;
}

static enum bz_status tokens_release(void *instance) {
    struct tokens *tokens = instance;
    if (tokens->tokens >= tokens->limit) {
        return BZ_NOT_HELD;
    }
    struct bz_waiter *oldest = bz_deque_pop(&tokens->waiting);
    if (oldest == NULL) {
        tokens->tokens++;
    } else {
        tokens->fire(tokens, oldest);
    }
    return BZ_OK;
}

static bool tokens_locked(void *instance) {
    const struct tokens *tokens = instance;
    return tokens->tokens == 0;
}

static uint32_t tokens_queued(void *instance) {
    const struct tokens *tokens = instance;
    return bz_deque_length(&tokens->waiting);
}

/* --- as a task uses them ---------------------------------------------------------------------- */

static void on_cancel(struct bz_future *future) {
    bz_deque_remove(bz_container_of(future, struct bz_waiter, future));
}

/* Awaits a Deferred. */
static enum bz_status await(struct bz_deque *deque, struct bz_waiter *waiter) {
    bz_future_init(&waiter->future, deque->loop);
    waiter->future.on_cancel = on_cancel;
    bz_list_push_back(&deque->entries, &waiter->link);
    return bz_future_await(&waiter->future);
}

static void fire_future(struct tokens *tokens, struct bz_waiter *waiter) {
    tokens->promised++;
    bz_future_set_result(&waiter->future, 0);
}

static enum bz_status task_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    tokens_init(instance, loop, permits, fire_future);
    return BZ_OK;
}

static enum bz_status task_acquire(void *instance) {
    struct tokens *tokens = instance;
    if (tokens_take(tokens)) {
        return BZ_OK;
    }
    struct bz_waiter waiter;
    enum bz_status status = await(&tokens->waiting, &waiter);
    tokens->promised -= bz_waiter_was_woken(&waiter);
    if (status != BZ_OK && bz_waiter_was_woken(&waiter)) {
        tokens_release(tokens); /* refused only if others have released it */
    }
    return status;
}

static void task_view(void *instance, struct bz_permit_view *view) {
    const struct tokens *tokens = instance;
    bz_deque_view(&tokens->waiting, view);
    view->level = (uint64_t)tokens->tokens + tokens->promised;
}

#define TASK_OPS(locked_)                                                                          \
    &(const struct bz_permit_ops) {                                                                \
        .instance_bytes = sizeof(struct tokens), .init = task_init, .acquire = task_acquire,       \
        .release = tokens_release, .locked = locked_, .view = task_view                            \
    }

/* --- as it is --------------------------------------------------------------------------------- */

struct deferred {
    struct bz_waiter waiter; /* its place in the queue; no task awaits its future */
    struct bz_deferred_request *request;
};

/* The fault: the callback runs inside the release or acquire that grants. Beyond the depth of the
 * stack it fails, and its own release is lost. */
static void fire_callback(struct tokens *tokens, struct bz_waiter *waiter) {
    struct deferred *deferred = bz_container_of(waiter, struct deferred, waiter);
    if (tokens->nesting < BZ_TWISTED_NESTING_MAX) {
        tokens->nesting++;
        deferred->request->answer(deferred->request, BZ_OK);
        tokens->nesting--;
    }
}

static enum bz_status deferred_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    tokens_init(instance, loop, permits, fire_callback);
    return BZ_OK;
}

static void deferred_acquire(void *instance, struct bz_deferred_request *request) {
    struct tokens *tokens = instance;
    struct deferred *deferred = request->waiter;
    *deferred = (struct deferred){.request = request};
    if (tokens_take(tokens)) {
        fire_callback(tokens, &deferred->waiter);
    } else {
        bz_list_push_back(&tokens->waiting.entries, &deferred->waiter.link);
    }
}

static void deferred_cancel(void *instance, struct bz_deferred_request *request) {
    struct deferred *deferred = request->waiter;
    (void)instance;
    if (bz_list_is_linked(&deferred->waiter.link)) {
        bz_deque_remove(&deferred->waiter);
        request->answer(request, BZ_CANCELLED);
    }
}

const struct bz_deferred_ops bz_twisted_deferred_ops = {
    .instance_bytes = sizeof(struct tokens),
    .waiter_bytes = sizeof(struct deferred),
    .init = deferred_init,
    .acquire = deferred_acquire,
    .cancel = deferred_cancel,
    .release = tokens_release,
    .queued = tokens_queued,
};

/* --- queue ------------------------------------------------------------------------------------ */

struct queue {
    struct bz_item_queue items; /* first; nothing waits for a slot here, but for one of: */
    struct tokens slots;        /* unused without a bound */
    bool is_bounded;
};

static enum bz_status queue_init(void *instance, struct bz_loop *loop, enum bz_queue_order order,
                                 uint32_t maxsize) {
    struct queue *queue = instance;
    queue->is_bounded = maxsize > 0;
    tokens_init(&queue->slots, loop, maxsize, fire_future);
    return order == BZ_QUEUE_ORDER_FIFO ? bz_item_queue_init(&queue->items, loop, order, maxsize)
                                        : BZ_INVALID_ARGUMENT;
}

/* To the oldest getter, or to the back of the stored items; an old item to their front. */
static enum bz_status give(struct bz_item_queue *items, uint64_t value, bool is_new) {
    struct bz_waiter *oldest = bz_deque_pop(&items->getters);
    if (oldest == NULL) {
        return is_new ? bz_item_queue_store(items, value, 0) : bz_item_queue_put_back(items, value);
    }
    items->handed_over++;
    return bz_future_set_result(&oldest->future, value);
}

static void give_slot(struct queue *queue) {
    if (queue->is_bounded) {
        tokens_release(&queue->slots); /* the item had taken one: never refused */
    }
}

/* The caller has a slot, if the queue has a bound. */
static enum bz_status store(struct queue *queue, uint64_t value) {
    enum bz_status status = give(&queue->items, value, true);
    if (status != BZ_OK) {
        give_slot(queue);
    }
    return status;
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
    return queue->is_bounded && !tokens_take(&queue->slots) ? BZ_FULL : store(queue, value);
}

static enum bz_status queue_try_get(void *instance, uint64_t *value) {
    struct queue *queue = instance;
    if (queue->items.items.count == 0) {
        return BZ_EMPTY;
    }
    *value = bz_item_queue_take(&queue->items);
    give_slot(queue);
    return BZ_OK;
}

static enum bz_status queue_get(void *instance, uint64_t *value) {
    struct queue *queue = instance;
    struct bz_waiter getter;
    if (queue_try_get(instance, value) == BZ_OK) {
        return BZ_OK;
    }
    enum bz_status status = await(&queue->items.getters, &getter);
    queue->items.handed_over -= bz_waiter_was_woken(&getter);
    if (status == BZ_OK) {
        *value = getter.future.value;
        give_slot(queue);
    } else if (bz_waiter_was_woken(&getter)) {
        enum bz_status given = give(&queue->items, getter.future.value, false);
        status = given == BZ_OK ? status : given;
    }
    return status;
}

static uint32_t queue_queued(void *instance) {
    const struct queue *queue = instance;
    return bz_deque_length(&queue->items.getters) + bz_deque_length(&queue->slots.waiting);
}

static const struct bz_queue_ops queue_ops = {
    .instance_bytes = sizeof(struct queue),
    .init = queue_init,
    .put = queue_put,
    .get = queue_get,
    .try_put = queue_try_put,
    .try_get = queue_try_get,
    .size = bz_item_queue_size,
    .queued = queue_queued,
};

/* --- for those who compare it with the real one ------------------------------------------------
 */

static void put_tokens(struct bz_cut_text *text, const struct tokens *tokens) {
    bz_cut_add(text, "%u[%u]", tokens->tokens, bz_deque_length(&tokens->waiting));
}

void bz_twisted_print(struct bz_cut_text *text, enum bz_primitive primitive, void *instance) {
    if (primitive != BZ_PRIMITIVE_QUEUE) {
        put_tokens(text, instance);
        return;
    }
    const struct queue *queue = instance;
    bz_cut_add(text, "%" PRIu64 "[", bz_item_queue_size(instance));
    for (uint32_t index = 0; index < queue->items.items.count; index++) {
        bz_cut_add(text, "%s%" PRIu64, index == 0 ? "" : " ",
                   bz_item_queue_at(&queue->items, index));
    }
    bz_cut_add(text, "][%u]", bz_deque_length(&queue->items.getters));
    if (queue->is_bounded) {
        put_tokens(text, &queue->slots);
    } else {
        bz_cut_add(text, "-");
    }
}

/* --- variant ---------------------------------------------------------------------------------- */

#define FAULT(name, primitives_, ...)                                                              \
    static const struct bz_fault name = {                                                          \
        .project = "Twisted", .fifo_reachable = true, .primitives = primitives_, __VA_ARGS__}

FAULT(fault_recursion, 1u << BZ_PRIMITIVE_DEFERRED, .family = "re-entrancy", .oracle = "assertion",
      .scenario = "deferred", .issue = "#9304", .versions = "all",
      .summary = "callbacks run inside the release or the cancel that sets them off");

FAULT(fault_bound, 1u << BZ_PRIMITIVE_BOUNDED | 1u << BZ_PRIMITIVE_LOCK,
      .family = "passes on too much", .oracle = "misuse", .scenario = "intruder",
      .issue = "no issue known; owners are not checked", .versions = "all",
      .summary =
          "a token that was handed to a task which has not resumed can be released by any task");

FAULT(fault_order, 1u << BZ_PRIMITIVE_QUEUE, .family = "value rides in the wake-up",
      .oracle = "item-order", .scenario = "queue", .settings = "maxsize=0",
      .issue = "no issue known; an item that was given is not taken back", .versions = "all",
      .summary = "an item that a cancelled task puts back comes behind a later one on its way");

const struct bz_variant bz_variant_twisted = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_LOCKED_EXACT | BZ_CLAIM_REFUSES_MISUSE |
              BZ_CLAIM_WAKE_IS_GRANT | BZ_CLAIM_WORK_CONSERVING,
    .name = "twisted",
    .summary = "reference: Twisted's lock, semaphore and queue of Deferreds, with known faults",
    .permits =
        {[BZ_PRIMITIVE_BOUNDED] = TASK_OPS(NULL), [BZ_PRIMITIVE_LOCK] = TASK_OPS(tokens_locked)},
    .queue = &queue_ops,
    .deferred = &bz_twisted_deferred_ops,
    .declared =
        (const struct bz_fault *const[]){&fault_bound, &fault_order, &fault_recursion, NULL},
};
