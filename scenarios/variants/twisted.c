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

#include "primitives/runtime/mem.h"
#include "scenarios/variants/deque.h"
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

struct item {
    struct bz_list link;
    uint64_t value;
};

struct queue {
    struct tokens slots; /* unused without a bound */
    struct bz_list pending;
    struct bz_deque getters;
    uint64_t size; /* items pending, and given to getters that have not resumed */
    bool is_bounded;
};

struct getter {
    struct bz_waiter waiter;
    struct item *item;
};

static enum bz_status queue_init(void *instance, struct bz_loop *loop, enum bz_queue_order order,
                                 uint32_t maxsize) {
    struct queue *queue = instance;
    queue->is_bounded = maxsize > 0;
    bz_list_init(&queue->pending);
    bz_deque_init(&queue->getters, loop);
    tokens_init(&queue->slots, loop, maxsize, fire_future);
    return order == BZ_QUEUE_ORDER_FIFO ? BZ_OK : BZ_INVALID_ARGUMENT;
}

/* To the oldest getter, or to the back of the stored items; an old item to their front. */
static void give(struct queue *queue, struct item *item, bool is_new) {
    struct bz_waiter *oldest = bz_deque_pop(&queue->getters);
    if (oldest != NULL) {
        bz_container_of(oldest, struct getter, waiter)->item = item;
        bz_future_set_result(&oldest->future, 0);
    } else if (is_new) {
        bz_list_push_back(&queue->pending, &item->link);
    } else {
        bz_list_push_front(&queue->pending, &item->link);
    }
}

static void give_slot(struct queue *queue) {
    if (queue->is_bounded) {
        tokens_release(&queue->slots); /* the item had taken one: never refused */
    }
}

/* The caller has a slot, if the queue has a bound. */
static enum bz_status store(struct queue *queue, uint64_t value) {
    struct item *item = bz_mem_alloc(bz_loop_mem(queue->getters.loop), sizeof *item);
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
    return queue->is_bounded && !tokens_take(&queue->slots) ? BZ_FULL : store(queue, value);
}

static enum bz_status take(struct queue *queue, struct item *item, uint64_t *value) {
    *value = item->value;
    bz_mem_free(bz_loop_mem(queue->getters.loop), item, sizeof *item);
    queue->size--;
    give_slot(queue);
    return BZ_OK;
}

static enum bz_status queue_try_get(void *instance, uint64_t *value) {
    struct queue *queue = instance;
    struct bz_list *first = bz_list_pop_front(&queue->pending);
    return first == NULL ? BZ_EMPTY : take(queue, bz_container_of(first, struct item, link), value);
}

static enum bz_status queue_get(void *instance, uint64_t *value) {
    struct queue *queue = instance;
    struct getter getter = {.item = NULL};
    enum bz_status status = queue_try_get(instance, value);
    if (status != BZ_EMPTY) {
        return status;
    }
    status = await(&queue->getters, &getter.waiter);
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
    return bz_deque_length(&queue->getters) + bz_deque_length(&queue->slots.waiting);
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
    bz_cut_add(text, "%" PRIu64 "[", queue->size);
    for (const struct bz_list *link = queue->pending.next; link != &queue->pending;
         link = link->next) {
        bz_cut_add(text, "%s%" PRIu64, link == queue->pending.next ? "" : " ",
                   bz_container_of(link, const struct item, link)->value);
    }
    bz_cut_add(text, "][%u]", bz_deque_length(&queue->getters));
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
