/* The variant `buzzer`: the primitives of primitives/sync, as they ship. */
#include <assert.h>
#include <string.h>

#include "primitives/runtime/check.h"
#include "primitives/runtime/timeout.h"
#include "primitives/sync/barrier.h"
#include "primitives/sync/condition.h"
#include "primitives/sync/deferred_semaphore.h"
#include "primitives/sync/event.h"
#include "primitives/sync/lock.h"
#include "primitives/sync/lock_pool.h"
#include "primitives/sync/queue.h"
#include "primitives/sync/resource_pool.h"
#include "primitives/sync/semaphore.h"
#include "scenarios/variants/variants.h"

/* Defines an operation that calls the primitive's function bz_NAME with the instance, which is the
 * primitive or begins with it, and with one more argument. */
#define CALL(result, name)                                                                         \
    static result name(void *instance) {                                                           \
        return bz_##name(instance);                                                                \
    }
#define CALL_WITH(result, name, type)                                                              \
    static result name(void *instance, type argument) {                                            \
        return bz_##name(instance, argument);                                                      \
    }
#define DO(name)                                                                                   \
    static void name(void *instance) {                                                             \
        bz_##name(instance);                                                                       \
    }

/* Users hand the primitives storage of any content. Here it is zeroed, which would hide a field
 * that init forgets; bytes of 1 are a wrong number, and a bool that may be read. */
static void soil(void *instance, size_t instance_bytes) {
    memset(instance, 1, instance_bytes);
}

static uint32_t queued(const struct bz_waitq *queue) {
    return queue->waiting_count + queue->woken_count + queue->cancelled_count;
}

/* A view counts along the queue, so that the counter of the primitive is also checked, as long as
 * that says that there are no more entries than these: a step stays O(1), and the entries of a long
 * queue are in no cache. Then only a queue of none or one is noticed, which its head tells. */
#define WALK_MAX 32u

static uint32_t count_waiting(const struct bz_waitq *queue) {
    const struct bz_list *end = &queue->waiting;
    uint32_t counted = 0;
    if (queue->waiting_count > WALK_MAX && end->next != end->prev) {
        return queue->waiting_count;
    }
    for (const struct bz_list *link = end->next; link != end && counted <= WALK_MAX;
         link = link->next) {
        counted++;
    }
    return counted;
}

static void view_queue(const struct bz_waitq *queue, struct bz_permit_view *view) {
    view->waiting = queue->waiting_count;
    view->woken = queue->woken_count;
    view->cancelled = queue->cancelled_count;
    view->queued = queue->woken_count + queue->cancelled_count + count_waiting(queue);
}

/* --- permits ---------------------------------------------------------------------------------- */

static enum bz_status lock_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    (void)permits;
    soil(instance, sizeof(struct bz_lock));
    bz_lock_init(instance, loop);
    return BZ_OK;
}

CALL(enum bz_status, lock_acquire)
CALL(enum bz_status, lock_release)
CALL(bool, lock_locked)

static void lock_view(void *instance, struct bz_permit_view *view) {
    const struct bz_lock *lock = instance;
    view->level = lock->is_held ? 0 : 1;
    view_queue(&lock->queue, view);
}

static const struct bz_permit_ops lock_ops = {
    .instance_bytes = sizeof(struct bz_lock),
    .init = lock_init,
    .acquire = lock_acquire,
    .release = lock_release,
    .locked = lock_locked,
    .view = lock_view,
};

/* Not soiled: a bound that its init forgets is 0, not a number that no release reaches. */
static enum bz_status semaphore_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    bz_semaphore_init(instance, loop, permits);
    return BZ_OK;
}

static enum bz_status bounded_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    soil(instance, sizeof(struct bz_semaphore));
    bz_semaphore_init_bounded(instance, loop, permits);
    return BZ_OK;
}

CALL(enum bz_status, semaphore_acquire)

/* By a try first, which is refused exactly where the acquire waits. */
static enum bz_status bounded_acquire(void *instance) {
    bool was_locked = bz_semaphore_locked(instance);
    enum bz_status status = bz_semaphore_try_acquire(instance);
    BZ_CHECK((status == BZ_EMPTY) == was_locked);
    return was_locked ? bz_semaphore_acquire(instance) : status;
}

CALL(enum bz_status, semaphore_release)
CALL(bool, semaphore_locked)

static void semaphore_view(void *instance, struct bz_permit_view *view) {
    const struct bz_semaphore *semaphore = instance;
    view->level = bz_semaphore_level(semaphore);
    view_queue(&semaphore->queue, view);
}

#define SEMAPHORE_OPS(init_, acquire_)                                                             \
    &(const struct bz_permit_ops) {                                                                \
        .instance_bytes = sizeof(struct bz_semaphore), .init = init_, .acquire = acquire_,         \
        .release = semaphore_release, .locked = semaphore_locked, .view = semaphore_view           \
    }

/* --- event ------------------------------------------------------------------------------------ */

static enum bz_status event_init(void *instance, struct bz_loop *loop) {
    soil(instance, sizeof(struct bz_sync_event));
    bz_sync_event_init(instance, loop);
    return BZ_OK;
}

DO(sync_event_set)
DO(sync_event_clear)
CALL(bool, sync_event_is_set)
CALL(enum bz_status, sync_event_wait)

static uint32_t event_queued(void *instance) {
    const struct bz_sync_event *event = instance;
    return queued(&event->queue);
}

static const struct bz_event_ops event_ops = {
    .instance_bytes = sizeof(struct bz_sync_event),
    .init = event_init,
    .set = sync_event_set,
    .clear = sync_event_clear,
    .is_set = sync_event_is_set,
    .wait = sync_event_wait,
    .queued = event_queued,
};

/* --- condition -------------------------------------------------------------------------------- */

struct condition {
    struct bz_lock lock; /* first: some operations are those of the lock */
    struct bz_condition condition;
};

static enum bz_status condition_init(void *instance, struct bz_loop *loop) {
    struct condition *pair = instance;
    soil(instance, sizeof *pair);
    bz_lock_init(&pair->lock, loop);
    bz_condition_init(&pair->condition, &pair->lock);
    return BZ_OK;
}

static bool was_asked(void *arg) {
    bool *asked = arg;
    bool before = *asked;
    *asked = true;
    return before;
}

/* One wait, and the loop around it: what it waits for holds when it is asked again. */
static enum bz_status condition_wait(void *instance) {
    struct condition *pair = instance;
    bool asked = false;
    return bz_condition_wait_for(&pair->condition, was_asked, &asked);
}

static enum bz_status condition_notify(void *instance, uint32_t count) {
    struct condition *pair = instance;
    return count == UINT32_MAX ? bz_condition_notify_all(&pair->condition)
                               : bz_condition_notify(&pair->condition, count);
}

static uint32_t condition_queued(void *instance) {
    const struct condition *pair = instance;
    return queued(&pair->lock.queue) + queued(&pair->condition.queue);
}

static const struct bz_condition_ops condition_ops = {
    .instance_bytes = sizeof(struct condition),
    .init = condition_init,
    .acquire = lock_acquire,
    .release = lock_release,
    .locked = lock_locked,
    .wait = condition_wait,
    .notify = condition_notify,
    .queued = condition_queued,
};

/* --- barrier ---------------------------------------------------------------------------------- */

static enum bz_status barrier_init(void *instance, struct bz_loop *loop, uint32_t parties) {
    enum bz_status refused = bz_barrier_init(instance, loop, 0);
    BZ_CHECK(refused == BZ_INVALID_ARGUMENT);
    soil(instance, sizeof(struct bz_barrier));
    return bz_barrier_init(instance, loop, parties);
}

/* Checks what a barrier says of itself, which no scenario asks. */
static enum bz_status barrier_wait(void *instance, uint32_t *index) {
    const struct bz_barrier *barrier = instance;
    bool was_broken = bz_barrier_is_broken(barrier);
    uint32_t filling = bz_barrier_is_draining(barrier) ? 0 : barrier->queue.waiting_count;
    BZ_CHECK(bz_barrier_waiting(barrier) == filling);
    enum bz_status status = bz_barrier_wait(instance, index);
    BZ_CHECK(!was_broken || status == BZ_BROKEN);
    return status;
}

DO(barrier_abort)
DO(barrier_reset)

static uint32_t barrier_queued(void *instance) {
    const struct bz_barrier *barrier = instance;
    return queued(&barrier->queue);
}

static const struct bz_barrier_ops barrier_ops = {
    .instance_bytes = sizeof(struct bz_barrier),
    .init = barrier_init,
    .wait = barrier_wait,
    .abort = barrier_abort,
    .reset = barrier_reset,
    .queued = barrier_queued,
};

/* --- queue ------------------------------------------------------------------------------------ */

static enum bz_status queue_init(void *instance, struct bz_loop *loop, enum bz_queue_order order,
                                 uint32_t maxsize) {
    static_assert((int)BZ_QUEUE_ORDER_LIFO == BZ_QUEUE_LIFO &&
                      (int)BZ_QUEUE_ORDER_PRIORITY == BZ_QUEUE_PRIORITY,
                  "an order is a kind");
    soil(instance, sizeof(struct bz_queue));
    return bz_queue_init(instance, loop, (enum bz_queue_kind)order, maxsize);
}

static enum bz_status queue_put(void *instance, uint64_t value, int64_t priority) {
    return priority == 0 ? bz_queue_put(instance, value)
                         : bz_queue_put_priority(instance, value, priority);
}

static enum bz_status queue_try_put(void *instance, uint64_t value, int64_t priority) {
    return priority == 0 ? bz_queue_try_put(instance, value)
                         : bz_queue_try_put_priority(instance, value, priority);
}

static void queue_shutdown(void *instance, bool is_immediate) {
    bz_queue_shutdown(instance, is_immediate);
}

CALL_WITH(enum bz_status, queue_get, uint64_t *)
CALL_WITH(enum bz_status, queue_try_get, uint64_t *)
CALL(enum bz_status, queue_task_done)
CALL(enum bz_status, queue_join)
CALL(uint64_t, queue_size)

static uint32_t queue_queued(void *instance) {
    const struct bz_queue *queue = instance;
    return queued(&queue->getters) + queued(&queue->putters);
}

static const struct bz_queue_ops queue_ops = {
    .instance_bytes = sizeof(struct bz_queue),
    .init = queue_init,
    .put = queue_put,
    .get = queue_get,
    .try_put = queue_try_put,
    .try_get = queue_try_get,
    .task_done = queue_task_done,
    .join = queue_join,
    .shutdown = queue_shutdown,
    .size = queue_size,
    .queued = queue_queued,
};

/* --- pool ------------------------------------------------------------------------------------- */

/* With this seed keys 0, 1 and 2 share a bucket, and so do 3 and 4. */
#define POOL_SEED 276

static enum bz_status pool_init(void *instance, struct bz_loop *loop) {
    soil(instance, sizeof(struct bz_lock_pool));
    bz_lock_pool_init(instance, loop, POOL_SEED);
    return BZ_OK;
}

/* An oracle objects to the statuses that stand for a wrong bz_lock_pool_locked(). */
static enum bz_status pool_acquire(void *instance, uint64_t key) {
    enum bz_status status = bz_lock_pool_acquire(instance, key);
    return status == BZ_OK && !bz_lock_pool_locked(instance, key) ? BZ_INVALID_STATE : status;
}

static enum bz_status pool_release(void *instance, uint64_t key) {
    enum bz_status status = bz_lock_pool_release(instance, key);
    bool is_unused = bz_lock_pool_entries(instance) == 0;
    return is_unused && bz_lock_pool_locked(instance, key) ? BZ_INVALID_STATE : status;
}

CALL(uint64_t, lock_pool_entries)

static const struct bz_pool_ops pool_ops = {
    .instance_bytes = sizeof(struct bz_lock_pool),
    .init = pool_init,
    .acquire = pool_acquire,
    .release = pool_release,
    .entries = lock_pool_entries,
};

/* --- pool of resources ------------------------------------------------------------------------ */

/* The variant's table knows resources by number. */
struct numbered {
    struct bz_resource resource;
    struct bz_list link;
    uint64_t number;
    uint64_t released_ns;
    bool is_broken;
};

struct resource_pool {
    struct bz_resource_pool
        pool; /* first: the operations that need no number are those of the pool */
    const struct bz_resource_setup *setup;
    struct bz_list known;
    uint32_t known_count;
    bool is_wrong; /* it has destroyed a resource that it had to keep */
};

static enum bz_status resource_create(void *context, struct bz_resource **resource) {
    struct resource_pool *pool = context;
    uint64_t number = 0;
    enum bz_status status = pool->setup->create(pool->setup->context, &number);
    if (status != BZ_OK) {
        return status;
    }
    struct numbered *made = bz_mem_alloc(bz_loop_mem(pool->pool.queue.loop), sizeof *made);
    BZ_CHECK(made != NULL);
    soil(&made->resource, sizeof made->resource);
    made->number = number;
    bz_list_push_back(&pool->known, &made->link);
    pool->known_count++;
    *resource = &made->resource;
    return BZ_OK;
}

static void resource_destroy(void *context, struct bz_resource *resource) {
    struct resource_pool *pool = context;
    struct numbered *made = bz_container_of(resource, struct numbered, resource);
    uint64_t idle_ns = pool->pool.config.idle_ns;
    uint64_t now_ns = bz_loop_now_ns(pool->pool.queue.loop);
    bool is_old = idle_ns > 0 && now_ns - made->released_ns > idle_ns;
    pool->is_wrong |= !made->is_broken && !is_old && !pool->pool.is_closed;
    pool->setup->destroy(pool->setup->context, made->number);
    bz_list_remove(&made->link);
    pool->known_count--;
    bz_mem_free(bz_loop_mem(pool->pool.queue.loop), made, sizeof *made);
}

static enum bz_status resource_init(void *instance, struct bz_loop *loop,
                                    const struct bz_resource_setup *setup) {
    struct resource_pool *pool = instance;
    struct bz_resource_pool_config config = {.limit = setup->limit,
                                             .idle_ns = setup->idle_ns,
                                             .create = resource_create,
                                             .destroy = resource_destroy,
                                             .context = pool};
    soil(&pool->pool, sizeof pool->pool);
    bz_resource_pool_init(&pool->pool, loop, &config);
    pool->setup = setup;
    bz_list_init(&pool->known);
    return BZ_OK;
}

/* An oracle objects to the status that stands for a wrong size, or for is_wrong. */
static enum bz_status resource_checked(const struct resource_pool *pool, enum bz_status status) {
    uint32_t size = bz_resource_pool_size(&pool->pool);
    bool is_right = !pool->is_wrong && size >= pool->known_count && size <= pool->setup->limit;
    return is_right ? status : BZ_INVALID_STATE;
}

static enum bz_status resource_acquire(void *instance, uint64_t *number) {
    struct resource_pool *pool = instance;
    struct bz_resource *resource = NULL;
    enum bz_status status = bz_resource_pool_acquire(&pool->pool, &resource);
    if (status == BZ_OK) {
        *number = bz_container_of(resource, struct numbered, resource)->number;
    }
    return resource_checked(pool, status);
}

static enum bz_status resource_release(void *instance, uint64_t number, bool is_broken) {
    struct resource_pool *pool = instance;
    for (struct bz_list *link = pool->known.next; link != &pool->known; link = link->next) {
        struct numbered *made = bz_container_of(link, struct numbered, link);
        if (made->number == number) {
            if (made->resource.lent_by != NULL) { /* else it is refused */
                made->is_broken = is_broken;
                made->released_ns = bz_loop_now_ns(pool->pool.queue.loop);
            }
            enum bz_status status =
                bz_resource_pool_release(&pool->pool, &made->resource, is_broken);
            return resource_checked(pool, status);
        }
    }
    return BZ_NOT_HELD;
}

CALL(enum bz_status, resource_pool_close)

static uint32_t resource_queued(void *instance) {
    const struct bz_resource_pool *pool = instance;
    return queued(&pool->queue) + queued(&pool->closers);
}

static const struct bz_resource_pool_ops resource_pool_ops = {
    .instance_bytes = sizeof(struct resource_pool),
    .init = resource_init,
    .acquire = resource_acquire,
    .release = resource_release,
    .close = resource_pool_close,
    .queued = resource_queued,
};

/* --- semaphore of deferreds ------------------------------------------------------------------- */

struct deferred {
    struct bz_deferred_semaphore semaphore; /* first: release is that of the semaphore */
    struct bz_trampoline trampoline;
};

struct deferred_waiter {
    struct bz_deferred_waiter waiter;
    struct bz_deferred_pair pair;
    struct bz_deferred_request *request;
};

static enum bz_status deferred_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct deferred *deferred = instance;
    bz_trampoline_init(&deferred->trampoline, loop);
    return bz_deferred_semaphore_init(&deferred->semaphore, &deferred->trampoline, permits);
}

static struct bz_deferred_result deferred_answer(struct bz_deferred_pair *pair,
                                                 struct bz_deferred_result result) {
    struct deferred_waiter *waiter = bz_container_of(pair, struct deferred_waiter, pair);
    waiter->request->answer(waiter->request, result.value == 0 ? result.status : BZ_INVALID_STATE);
    return bz_deferred_ok(0);
}

static void deferred_acquire(void *instance, struct bz_deferred_request *request) {
    struct deferred *deferred = instance;
    struct deferred_waiter *waiter = request->waiter;
    waiter->request = request;
    bz_deferred_semaphore_acquire(&deferred->semaphore, &waiter->waiter);
    bz_deferred_add_both(&waiter->waiter.deferred, &waiter->pair, deferred_answer);
}

static void deferred_cancel(void *instance, struct bz_deferred_request *request) {
    struct deferred_waiter *waiter = request->waiter;
    bool may_cancel = !bz_deferred_is_fired(&waiter->waiter.deferred);
    (void)instance;
    if (bz_deferred_cancel(&waiter->waiter.deferred) != may_cancel) {
        request->answer(request, BZ_INVALID_STATE); /* an oracle objects to the wrong answer */
    }
}

CALL(enum bz_status, deferred_semaphore_release)

static uint32_t deferred_queued(void *instance) {
    return ((const struct deferred *)instance)->semaphore.queue.waiting_count;
}

static const struct bz_deferred_ops deferred_ops = {
    .instance_bytes = sizeof(struct deferred),
    .waiter_bytes = sizeof(struct deferred_waiter),
    .init = deferred_init,
    .acquire = deferred_acquire,
    .cancel = deferred_cancel,
    .release = deferred_semaphore_release,
    .queued = deferred_queued,
};

/* --- timeout scope ---------------------------------------------------------------------------- */

static enum bz_status scope_enter(void *scope, struct bz_loop *loop, uint64_t delay_ns) {
    return bz_timeout_enter(loop, scope, delay_ns);
}

CALL_WITH(enum bz_status, timeout_exit, enum bz_status)

const struct bz_scope_ops bz_timeout_scope_ops = {
    .scope_bytes = sizeof(struct bz_timeout),
    .enter = scope_enter,
    .exit = timeout_exit,
};

/* --- variant ---------------------------------------------------------------------------------- */

/* The primitives that ship, in the runtime with these rules. */
#define SHIPPED(name_, summary_, rules_)                                                           \
    {                                                                                              \
        .version = BZ_VARIANT_VERSION,                                                             \
        .claims = BZ_CLAIM_FIFO | BZ_CLAIM_LOCKED_EXACT | BZ_CLAIM_REFUSES_MISUSE |                \
                  BZ_CLAIM_WAKE_IS_GRANT | BZ_CLAIM_WORK_CONSERVING | BZ_CLAIM_TAKES_AT_RETURN |   \
                  BZ_CLAIM_EXACT_NOTIFY | BZ_CLAIM_NO_PASSING | BZ_CLAIM_BREAKS_ALL |              \
                  BZ_CLAIM_SURVIVES_NO_MEMORY,                                                     \
        .name = name_, .summary = summary_,                                                        \
        .permits = {[BZ_PRIMITIVE_SEMAPHORE] = SEMAPHORE_OPS(semaphore_init, semaphore_acquire),   \
                    [BZ_PRIMITIVE_BOUNDED] = SEMAPHORE_OPS(bounded_init, bounded_acquire),         \
                    [BZ_PRIMITIVE_LOCK] = &lock_ops},                                              \
        .event = &event_ops, .condition = &condition_ops, .barrier = &barrier_ops,                 \
        .queue = &queue_ops, .pool = &pool_ops, .deferred = &deferred_ops,                         \
        .scope = &bz_timeout_scope_ops, .rules = rules_, .resource_pool = &resource_pool_ops,      \
        .waives = {[BZ_PRIMITIVE_RESOURCE_POOL] = BZ_CLAIM_NO_PASSING},                            \
    }

const struct bz_variant bz_variant_buzzer =
    SHIPPED("buzzer", "the primitives that ship (primitives/sync)", NULL);

static const struct bz_rules rules_of_late_cancels = {.woken = BZ_WOKEN_KEEPS_RESULT};

const struct bz_variant bz_variant_keeps_result =
    SHIPPED("buzzer/keeps-result", "the same in a runtime where no cancel undoes a wait that ended",
            &rules_of_late_cancels);

static const struct bz_rules rules_of_heapq = {.timers = BZ_TIMERS_BY_HEAPQ};

const struct bz_variant bz_variant_heapq_timers = {
    .version = BZ_VARIANT_VERSION,
    .name = "buzzer/heapq-timers",
    .summary = "the timeout scope that ships, on a loop with the timers of asyncio",
    .scope = &bz_timeout_scope_ops,
    .rules = &rules_of_heapq,
};
