/* The tables of the variant `buzzer` for what has no permits of its own: event, condition, barrier,
 * queue, pool, the semaphore of deferreds, timeout scopes. */
#include "primitives/runtime/timeout.h"
#include "primitives/sync/barrier.h"
#include "primitives/sync/condition.h"
#include "primitives/sync/deferred_semaphore.h"
#include "primitives/sync/event.h"
#include "primitives/sync/lock.h"
#include "primitives/sync/lock_pool.h"
#include "primitives/sync/queue.h"
#include "scenarios/variants/buzzer.h"

static uint32_t queued(const struct bz_waitq *queue) {
    return queue->waiting_count + queue->woken_count + queue->cancelled_count;
}

/* --- event ------------------------------------------------------------------------------------ */

static enum bz_status event_init(void *instance, struct bz_loop *loop) {
    bz_sync_event_init(instance, loop);
    return BZ_OK;
}

BZ_BUZZER_DO(event_set, bz_sync_event_set)
BZ_BUZZER_DO(event_clear, bz_sync_event_clear)
BZ_BUZZER_CALL(bool, event_is_set, bz_sync_event_is_set)
BZ_BUZZER_CALL(enum bz_status, event_wait, bz_sync_event_wait)

static uint32_t event_queued(void *instance) {
    const struct bz_sync_event *event = instance;
    return queued(&event->queue);
}

const struct bz_event_ops bz_buzzer_event_ops = {
    .instance_bytes = sizeof(struct bz_sync_event),
    .init = event_init,
    .set = event_set,
    .clear = event_clear,
    .is_set = event_is_set,
    .wait = event_wait,
    .queued = event_queued,
};

/* --- condition -------------------------------------------------------------------------------- */

struct condition {
    struct bz_lock lock; /* first: some operations are the lock's own */
    struct bz_condition condition;
};

static enum bz_status condition_init(void *instance, struct bz_loop *loop) {
    struct condition *pair = instance;
    bz_lock_init(&pair->lock, loop);
    bz_condition_init(&pair->condition, &pair->lock);
    return BZ_OK;
}

BZ_BUZZER_CALL(enum bz_status, condition_acquire, bz_lock_acquire)
BZ_BUZZER_CALL(enum bz_status, condition_release, bz_lock_release)
BZ_BUZZER_CALL(bool, condition_locked, bz_lock_locked)

static enum bz_status condition_wait(void *instance) {
    struct condition *pair = instance;
    return bz_condition_wait(&pair->condition);
}

static enum bz_status condition_notify(void *instance, uint32_t count) {
    struct condition *pair = instance;
    return bz_condition_notify(&pair->condition, count);
}

static uint32_t condition_queued(void *instance) {
    const struct condition *pair = instance;
    return queued(&pair->lock.queue) + queued(&pair->condition.queue);
}

const struct bz_condition_ops bz_buzzer_condition_ops = {
    .instance_bytes = sizeof(struct condition),
    .init = condition_init,
    .acquire = condition_acquire,
    .release = condition_release,
    .locked = condition_locked,
    .wait = condition_wait,
    .notify = condition_notify,
    .queued = condition_queued,
};

/* --- barrier ---------------------------------------------------------------------------------- */

static enum bz_status barrier_init(void *instance, struct bz_loop *loop, uint32_t parties) {
    return bz_barrier_init(instance, loop, parties);
}

BZ_BUZZER_CALL_WITH(enum bz_status, barrier_wait, bz_barrier_wait, uint32_t *)
BZ_BUZZER_DO(barrier_abort, bz_barrier_abort)
BZ_BUZZER_DO(barrier_reset, bz_barrier_reset)

static uint32_t barrier_queued(void *instance) {
    const struct bz_barrier *barrier = instance;
    return queued(&barrier->queue);
}

const struct bz_barrier_ops bz_buzzer_barrier_ops = {
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
    static const enum bz_queue_kind kinds[] = {[BZ_QUEUE_ORDER_FIFO] = BZ_QUEUE_FIFO,
                                               [BZ_QUEUE_ORDER_LIFO] = BZ_QUEUE_LIFO,
                                               [BZ_QUEUE_ORDER_PRIORITY] = BZ_QUEUE_PRIORITY};
    return bz_queue_init(instance, loop, kinds[order], maxsize);
}

static enum bz_status queue_put(void *instance, uint64_t value, int64_t priority) {
    return bz_queue_put_priority(instance, value, priority);
}

BZ_BUZZER_CALL_WITH(enum bz_status, queue_get, bz_queue_get, uint64_t *)

static enum bz_status queue_try_put(void *instance, uint64_t value, int64_t priority) {
    return bz_queue_try_put_priority(instance, value, priority);
}

BZ_BUZZER_CALL_WITH(enum bz_status, queue_try_get, bz_queue_try_get, uint64_t *)
BZ_BUZZER_CALL(enum bz_status, queue_task_done, bz_queue_task_done)
BZ_BUZZER_CALL(enum bz_status, queue_join, bz_queue_join)

static void queue_shutdown(void *instance, bool is_immediate) {
    bz_queue_shutdown(instance, is_immediate);
}

BZ_BUZZER_CALL(uint64_t, queue_size, bz_queue_size)

static uint32_t queue_queued(void *instance) {
    const struct bz_queue *queue = instance;
    return queued(&queue->getters) + queued(&queue->putters);
}

const struct bz_queue_ops bz_buzzer_queue_ops = {
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

static enum bz_status pool_init(void *instance, struct bz_loop *loop) {
    bz_lock_pool_init(instance, loop, 0);
    return BZ_OK;
}

BZ_BUZZER_CALL_WITH(enum bz_status, pool_acquire, bz_lock_pool_acquire, uint64_t)
BZ_BUZZER_CALL_WITH(enum bz_status, pool_release, bz_lock_pool_release, uint64_t)
BZ_BUZZER_CALL(uint64_t, pool_entries, bz_lock_pool_entries)

const struct bz_pool_ops bz_buzzer_pool_ops = {
    .instance_bytes = sizeof(struct bz_lock_pool),
    .init = pool_init,
    .acquire = pool_acquire,
    .release = pool_release,
    .entries = pool_entries,
};

/* --- semaphore of deferreds ------------------------------------------------------------------- */

struct deferred {
    struct bz_deferred_semaphore semaphore; /* first: release is its own */
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
    waiter->request->answer(waiter->request, result.status);
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
    (void)instance;
    (void)bz_deferred_cancel(&waiter->waiter.deferred); /* false: it was answered */
}

BZ_BUZZER_CALL(enum bz_status, deferred_release, bz_deferred_semaphore_release)

const struct bz_deferred_ops bz_buzzer_deferred_ops = {
    .instance_bytes = sizeof(struct deferred),
    .waiter_bytes = sizeof(struct deferred_waiter),
    .init = deferred_init,
    .acquire = deferred_acquire,
    .cancel = deferred_cancel,
    .release = deferred_release,
};

/* --- timeout scope ---------------------------------------------------------------------------- */

static enum bz_status scope_enter(void *scope, struct bz_loop *loop, uint64_t delay_ns) {
    return bz_timeout_enter(loop, scope, delay_ns);
}

BZ_BUZZER_CALL_WITH(enum bz_status, scope_exit, bz_timeout_exit, enum bz_status)

const struct bz_scope_ops bz_buzzer_scope_ops = {
    .scope_bytes = sizeof(struct bz_timeout),
    .enter = scope_enter,
    .exit = scope_exit,
};
