/* asyncio-3.11 and asyncio-3.13: CPython's asyncio as references.
 *
 * They follow the algorithms of CPython's Lib/asyncio/locks.py and queues.py, known faults
 * included, and are written from a description. They differ from the primitives that ship in the
 * bookkeeping:
 *
 *     lock        is free from the release until the woken waiter resumes; newcomers queue behind
 *                 that waiter; locked() says "no" meanwhile (gh-138121)
 *     semaphore   the permit leaves the value when a waiter is woken
 *     queue       nothing is promised to a woken task: it checks again, may be overtaken, and then
 *                 queues again at the end (gh-83055, declined: a queue is not fair)
 *     barrier     an index is how many fill at the moment of arrival (gh-155233)
 *
 * Waiters stay in their deque until they have resumed. Those of a queue of items are taken out by
 * the task that wakes them. Timers of one time, and items of one priority, come in the order in
 * which a heap without a tie-break leaves them. The versions differ in:
 *
 *                 3.11, 3.12                                  3.13 and later
 *     semaphore   a resumed task wakes one other (gh-111693)  wakes all that fit
 *     condition   the notification of a cancelled waiter      a cancelled waiter notifies another,
 *                 is lost (gh-112202)                         whether it was notified or not
 *     queue                                                   can be shut down
 *     uncancel        a request that is on its way stays      clears it with the last request
 *     task group      a cancel from outside that meets an     is delivered later
 *                     error is lost (gh-116720)
 *     wait_for        3.11: runs a task (gh-86296)            runs in place, in a timeout
 *
 * abort() and reset() of the barrier are not in its table: in asyncio they wait for the lock of the
 * condition; what a scenario calls there may not wait. bz_asyncio_break_barrier() has them. */
#include <inttypes.h>

#include "scenarios/variants/item_queue.h"
#include "scenarios/variants/variants.h"

/* --- lock ------------------------------------------------------------------------------------- */

struct lock {
    struct bz_deque queue;
    bool is_locked; /* by a task that has resumed */
};

static enum bz_status lock_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct lock *lock = instance;
    (void)permits;
    bz_deque_init(&lock->queue, loop);
    return BZ_OK;
}

/* Looks at the head alone. If that is done already, its task continues the chain when it resumes:
 * it takes the lock, or calls this again. */
static void wake_first(struct lock *lock) {
    struct bz_waiter *first = bz_deque_next(&lock->queue, NULL);
    if (first != NULL) {
        bz_future_set_result(&first->future, 0); /* refused if it is done */
    }
}

static enum bz_status lock_acquire(void *instance) {
    struct lock *lock = instance;
    struct bz_waiter waiter;
    if (!lock->is_locked && !bz_deque_has_live(&lock->queue)) {
        lock->is_locked = true;
        return BZ_OK;
    }
    enum bz_status status = bz_deque_wait(&lock->queue, &waiter);
    if (status == BZ_OK) {
        lock->is_locked = true;
    } else if (status == BZ_CANCELLED && !lock->is_locked) {
        wake_first(lock);
    }
    return status;
}

static enum bz_status lock_release(void *instance) {
    struct lock *lock = instance;
    if (!lock->is_locked) {
        return BZ_NOT_HELD;
    }
    lock->is_locked = false;
    wake_first(lock);
    return BZ_OK;
}

static bool lock_locked(void *instance) {
    const struct lock *lock = instance;
    return lock->is_locked;
}

static void lock_view(void *instance, struct bz_permit_view *view) {
    const struct lock *lock = instance;
    view->level = lock->is_locked ? 0 : 1;
    bz_deque_view(&lock->queue, view);
}

static const struct bz_permit_ops lock_ops = {
    .instance_bytes = sizeof(struct lock),
    .init = lock_init,
    .acquire = lock_acquire,
    .release = lock_release,
    .locked = lock_locked,
    .view = lock_view,
};

/* --- semaphore -------------------------------------------------------------------------------- */

struct semaphore {
    struct bz_deque queue;
    uint32_t value; /* permits that no task holds and no waiter was woken for */
    uint32_t bound;
    bool is_bounded;
};

static enum bz_status semaphore_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct semaphore *semaphore = instance;
    bz_deque_init(&semaphore->queue, loop);
    semaphore->value = permits;
    semaphore->bound = permits;
    return BZ_OK;
}

static enum bz_status bounded_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct semaphore *semaphore = instance;
    semaphore->is_bounded = true;
    return semaphore_init(instance, loop, permits);
}

/* Takes a permit for the oldest waiter that is asleep, and wakes it; false if there is none. */
static bool wake_next(struct semaphore *semaphore) {
    bool has_woken = bz_deque_wake_oldest(&semaphore->queue);
    semaphore->value -= has_woken;
    return has_woken;
}

static bool semaphore_locked(void *instance) {
    const struct semaphore *semaphore = instance;
    return semaphore->value == 0 || bz_deque_has_live(&semaphore->queue);
}

static enum bz_status semaphore_acquire_311(void *instance) {
    struct semaphore *semaphore = instance;
    struct bz_waiter waiter;
    if (!semaphore_locked(semaphore)) {
        semaphore->value--;
        return BZ_OK;
    }
    enum bz_status status = bz_deque_wait(&semaphore->queue, &waiter);
    bool gives_back = status == BZ_CANCELLED && waiter.future.state != BZ_FUTURE_CANCELLED;
    semaphore->value += gives_back;
    if (gives_back || (status == BZ_OK && semaphore->value > 0)) {
        wake_next(semaphore); /* the fault: one */
    }
    return status;
}

/* On every way out it wakes as many as there are permits that no waiter was woken for. */
static enum bz_status semaphore_acquire_313(void *instance) {
    struct semaphore *semaphore = instance;
    struct bz_waiter waiter;
    if (!semaphore_locked(semaphore)) {
        semaphore->value--;
        return BZ_OK;
    }
    enum bz_status status = bz_deque_wait(&semaphore->queue, &waiter);
    semaphore->value += status == BZ_CANCELLED && bz_waiter_was_woken(&waiter);
    while (semaphore->value > 0 && wake_next(semaphore)) {
    }
    return status;
}

static enum bz_status semaphore_release(void *instance) {
    struct semaphore *semaphore = instance;
    if (semaphore->is_bounded && semaphore->value >= semaphore->bound) {
        return BZ_NOT_HELD;
    }
    semaphore->value++;
    wake_next(semaphore);
    return BZ_OK;
}

static void semaphore_view(void *instance, struct bz_permit_view *view) {
    const struct semaphore *semaphore = instance;
    bz_deque_view(&semaphore->queue, view);
    view->level = semaphore->value + (uint64_t)view->woken;
}

#define SEMAPHORE_OPS(init_, acquire_)                                                             \
    &(const struct bz_permit_ops) {                                                                \
        .instance_bytes = sizeof(struct semaphore), .init = init_, .acquire = acquire_,            \
        .release = semaphore_release, .locked = semaphore_locked, .view = semaphore_view           \
    }

static const struct bz_event_ops event_ops = {BZ_FLAG};

/* --- condition -------------------------------------------------------------------------------- */

struct condition {
    struct lock own;
    struct lock *lock; /* `own`, unless it shares another's */
    struct bz_deque queue;
};

static enum bz_status condition_init(void *instance, struct bz_loop *loop) {
    struct condition *condition = instance;
    bz_deque_init(&condition->queue, loop);
    condition->lock = &condition->own;
    return lock_init(&condition->own, loop, 1);
}

static enum bz_status condition_acquire(void *instance) {
    return lock_acquire(((struct condition *)instance)->lock);
}

static enum bz_status condition_release(void *instance) {
    return lock_release(((struct condition *)instance)->lock);
}

static bool condition_locked(void *instance) {
    return ((struct condition *)instance)->lock->is_locked;
}

bool bz_asyncio_shares_locks(const struct bz_variant *variant) {
    return variant->condition != NULL && variant->condition->acquire == condition_acquire;
}

void bz_asyncio_share_lock(void *instance, void *other) {
    ((struct condition *)instance)->lock = ((struct condition *)other)->lock;
}

/* Acquires the lock again. Cancels that strike meanwhile are remembered as one; each costs the task
 * its place in the queue of the lock. */
static enum bz_status relock(struct condition *condition) {
    enum bz_status result = BZ_OK;
    for (;;) {
        enum bz_status status = lock_acquire(condition->lock);
        if (status != BZ_CANCELLED) {
            return status == BZ_OK ? result : status;
        }
        result = BZ_CANCELLED;
    }
}

/* Waits, and acquires the lock again in any case. A cancellation is returned at the end. */
static enum bz_status condition_wait_311(void *instance) {
    struct condition *condition = instance;
    struct bz_waiter waiter;
    enum bz_status status = lock_release(condition->lock);
    if (status != BZ_OK) {
        return status;
    }
    status = bz_deque_wait(&condition->queue, &waiter);
    enum bz_status locked = relock(condition);
    return locked == BZ_OK ? status : locked; /* the fault: it may have been notified */
}

/* Wakes `count` waiters, whether or not the lock is held. */
static void condition_wake(struct condition *condition, uint32_t count) {
    for (; count > 0 && bz_deque_wake_oldest(&condition->queue); count--) {
    }
}

/* A cancelled waiter always notifies another, as it may have been notified itself. So a wait may
 * end for no reason. */
static enum bz_status condition_wait_313(void *instance) {
    enum bz_status status = condition_wait_311(instance);
    if (status == BZ_CANCELLED) {
        condition_wake(instance, 1);
    }
    return status;
}

static enum bz_status condition_notify(void *instance, uint32_t count) {
    struct condition *condition = instance;
    if (!condition->lock->is_locked) {
        return BZ_NOT_HELD;
    }
    condition_wake(condition, count);
    return BZ_OK;
}

static uint32_t condition_queued(void *instance) {
    const struct condition *condition = instance;
    return bz_deque_length(&condition->queue) + bz_deque_length(&condition->own.queue);
}

#define CONDITION_OPS(wait_)                                                                       \
    &(const struct bz_condition_ops) {                                                             \
        .instance_bytes = sizeof(struct condition), .init = condition_init,                        \
        .acquire = condition_acquire, .release = condition_release, .locked = condition_locked,    \
        .wait = wait_, .notify = condition_notify, .queued = condition_queued                      \
    }

/* --- barrier ---------------------------------------------------------------------------------- */

enum barrier_state { FILLING = 0, DRAINING, RESETTING, BROKEN };

struct barrier {
    struct condition condition;              /* first: its `queued` is the barrier's too */
    enum bz_status (*wait)(void *condition); /* of this version */
    uint32_t parties;
    uint32_t count; /* tasks that fill, or have yet to leave */
    uint32_t state; /* enum barrier_state */
};

static enum bz_status barrier_init(struct barrier *barrier, struct bz_loop *loop,
                                   uint32_t parties) {
    barrier->parties = parties;
    return parties > 0 ? condition_init(&barrier->condition, loop) : BZ_INVALID_ARGUMENT;
}

static enum bz_status barrier_init_311(void *instance, struct bz_loop *loop, uint32_t parties) {
    struct barrier *barrier = instance;
    barrier->wait = condition_wait_311;
    return barrier_init(barrier, loop, parties);
}

static enum bz_status barrier_init_313(void *instance, struct bz_loop *loop, uint32_t parties) {
    struct barrier *barrier = instance;
    barrier->wait = condition_wait_313;
    return barrier_init(barrier, loop, parties);
}

/* Until the state is none of these, as bits. */
static enum bz_status wait_while(struct barrier *barrier, uint32_t states) {
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && (states >> barrier->state & 1u) != 0) {
        status = barrier->wait(&barrier->condition);
    }
    return status;
}

/* The fault: the index is how many fill already. A cancelled task fills no more, so a later one may
 * get an index that another task has. */
static enum bz_status fill(struct barrier *barrier, uint32_t *index) {
    enum bz_status status = BZ_OK;
    *index = barrier->count++;
    if (*index + 1 == barrier->parties) {
        barrier->state = DRAINING;
        condition_wake(&barrier->condition, UINT32_MAX);
    } else {
        status = wait_while(barrier, 1u << FILLING);
        bool is_broken = barrier->state == BROKEN || barrier->state == RESETTING;
        status = status == BZ_OK && is_broken ? BZ_BROKEN : status;
    }
    if (--barrier->count == 0) {
        barrier->state = barrier->state == BROKEN ? BROKEN : FILLING;
        condition_wake(&barrier->condition, UINT32_MAX);
    }
    return status;
}

static enum bz_status barrier_wait(void *instance, uint32_t *index) {
    struct barrier *barrier = instance;
    enum bz_status status = condition_acquire(&barrier->condition);
    if (status != BZ_OK) {
        return status;
    }
    status = wait_while(barrier, 1u << DRAINING | 1u << RESETTING);
    if (status == BZ_OK) {
        status = barrier->state == BROKEN ? BZ_BROKEN : fill(barrier, index);
    }
    enum bz_status released = condition_release(&barrier->condition);
    return released == BZ_OK ? status : released;
}

enum bz_status bz_asyncio_break_barrier(void *instance, bool is_reset) {
    struct barrier *barrier = instance;
    enum bz_status status = condition_acquire(&barrier->condition);
    if (status != BZ_OK) {
        return status;
    }
    if (!is_reset) {
        barrier->state = BROKEN;
    } else {
        barrier->state = barrier->count > 0 ? RESETTING : FILLING;
    }
    condition_wake(&barrier->condition, UINT32_MAX);
    return condition_release(&barrier->condition);
}

#define BARRIER_OPS(init_)                                                                         \
    &(const struct bz_barrier_ops) {                                                               \
        .instance_bytes = sizeof(struct barrier), .init = init_, .wait = barrier_wait,             \
        .queued = condition_queued                                                                 \
    }

/* --- queue ------------------------------------------------------------------------------------ */

static enum bz_status queue_init(void *instance, struct bz_loop *loop, enum bz_queue_order order,
                                 uint32_t maxsize) {
    ((struct bz_item_queue *)instance)->is_asyncio = true;
    return bz_item_queue_init(instance, loop, order, maxsize);
}

static const struct bz_queue_ops queue_ops_311 = {BZ_ITEM_QUEUE, .init = queue_init};
static const struct bz_queue_ops queue_ops_313 = {BZ_ITEM_QUEUE, .init = queue_init,
                                                  .shutdown = bz_item_queue_shutdown};

/* --- for those who compare it with the real one ------------------------------------------------
 */

static void put_deque(struct bz_cut_text *text, const struct bz_deque *deque) {
    static const char states[] = {
        [BZ_FUTURE_PENDING] = 'P', [BZ_FUTURE_RESULT] = 'R', [BZ_FUTURE_CANCELLED] = 'C'};
    struct bz_waiter *waiter = NULL;
    bz_cut_add(text, "[");
    while ((waiter = bz_deque_next(deque, waiter)) != NULL) {
        bz_cut_add(text, "%c", states[waiter->future.state]);
    }
    bz_cut_add(text, "]");
}

static void put_lock(struct bz_cut_text *text, const struct lock *lock) {
    bz_cut_add(text, "%d", lock->is_locked);
    put_deque(text, &lock->queue);
}

static void put_condition(struct bz_cut_text *text, const struct condition *condition) {
    put_lock(text, condition->lock);
    put_deque(text, &condition->queue);
}

static void put_queue(struct bz_cut_text *text, const struct bz_item_queue *queue) {
    bz_cut_add(text, "%" PRIu64 ",%d[", queue->unfinished, queue->is_shut);
    for (uint32_t index = 0; index < queue->items.count; index++) {
        bz_cut_add(text, "%s%" PRIu64, index == 0 ? "" : " ", bz_item_queue_at(queue, index));
    }
    bz_cut_add(text, "]");
    put_deque(text, &queue->getters);
    put_deque(text, &queue->putters);
    put_deque(text, &queue->joiners);
}

void bz_asyncio_print(struct bz_cut_text *text, enum bz_primitive primitive, void *instance) {
    static const char *const barrier_states[] = {
        [FILLING] = "filling",
        [DRAINING] = "draining",
        [RESETTING] = "resetting",
        [BROKEN] = "broken",
    };
    switch (primitive) {
    case BZ_PRIMITIVE_LOCK:
        put_lock(text, instance);
        break;
    case BZ_PRIMITIVE_SEMAPHORE:
    case BZ_PRIMITIVE_BOUNDED:
        bz_cut_add(text, "%d,%u", semaphore_locked(instance),
                   ((struct semaphore *)instance)->value);
        put_deque(text, &((struct semaphore *)instance)->queue);
        break;
    case BZ_PRIMITIVE_EVENT:
        bz_cut_add(text, "%d", ((struct bz_flag *)instance)->is_set);
        put_deque(text, &((struct bz_flag *)instance)->waiters);
        break;
    case BZ_PRIMITIVE_CONDITION:
        put_condition(text, instance);
        break;
    case BZ_PRIMITIVE_BARRIER:
        bz_cut_add(text, "%u,%s,", ((struct barrier *)instance)->count,
                   barrier_states[((struct barrier *)instance)->state]);
        put_condition(text, &((struct barrier *)instance)->condition);
        break;
    default:
        put_queue(text, instance);
        break;
    }
}

/* --- the runtime ------------------------------------------------------------------------------ */

static const struct bz_rules rules_311 = {
    .timers = BZ_TIMERS_BY_HEAPQ,
    .uncancel = BZ_UNCANCEL_COUNTS,
    .group = BZ_GROUP_LOSES,
    .timeout = BZ_TIMEOUT_AT_ENTRY,
    .children = BZ_CHILDREN_BY_CHOICE,
    .wait_for = BZ_WAIT_FOR_BY_TASK,
};

static const struct bz_rules rules_313 = {
    .timers = BZ_TIMERS_BY_HEAPQ,
    .timeout = BZ_TIMEOUT_AT_ENTRY,
    .children = BZ_CHILDREN_BY_CHOICE,
};

/* --- known faults ----------------------------------------------------------------------------- */

#define FAULT(name, primitives_, ...)                                                              \
    static const struct bz_fault name = {.project = "CPython asyncio",                             \
                                         .fifo_reachable = true,                                   \
                                         .primitives = primitives_,                                \
                                         __VA_ARGS__}

FAULT(fault_locked, 1u << BZ_PRIMITIVE_LOCK, .family = "stuck state", .oracle = "locked-definition",
      .scenario = "contended", .settings = "primitive=lock", .issue = "gh-138121",
      .versions = "3.4 to 3.15",
      .summary = "locked() of a lock is false while a woken waiter is about to take it");

/* Found by Buzzer. The permit leaves the value at the wake-up, so for the bound it counts as held
 * already. A release by a task that holds nothing is accepted, and two tasks get one permit. */
FAULT(
    fault_bound, 1u << BZ_PRIMITIVE_BOUNDED, .family = "passes on too much", .oracle = "misuse",
    .scenario = "intruder", .settings = "primitive=bounded", .issue = "no issue known",
    .versions = "3.10.8 to 3.15",
    .summary = "a bounded semaphore takes a release too many while a woken waiter has not resumed");

FAULT(fault_one_wake, 1u << BZ_PRIMITIVE_SEMAPHORE | 1u << BZ_PRIMITIVE_BOUNDED,
      .family = "head of line", .oracle = "work-conserving", .scenario = "restaurant",
      .settings = "tables=5,guests=12,helpings=1,arrival=4,meal=4,meal-ns=1",
      .issue = "gh-111693 (PR 111694)", .versions = "3.10.8 to 3.12, 3.11.0 to 3.11.x",
      .summary = "who resumes from a semaphore wakes one other, however many permits are free");

FAULT(fault_notify_lost, 1u << BZ_PRIMITIVE_CONDITION, .family = "woken, cancelled, not passed on",
      .oracle = "lost-notification", .scenario = "condition", .issue = "gh-112202",
      .versions = "3.4 to 3.12",
      .summary = "the notification of a waiter that is then cancelled is lost");

/* The same, as the model of a condition sees it. */
FAULT(fault_notify_lost_by_model, 1u << BZ_PRIMITIVE_CONDITION,
      .family = "woken, cancelled, not passed on", .oracle = "lost-wakeup", .scenario = "model",
      .settings = "primitive=condition", .issue = "gh-112202", .versions = "3.4 to 3.12",
      .summary = "the notification of a waiter that is then cancelled is lost");

FAULT(fault_barrier, 1u << BZ_PRIMITIVE_BARRIER, .family = "stuck state", .oracle = "barrier-round",
      .scenario = "barrier", .issue = "gh-155233", .versions = "3.11 to 3.15",
      .summary = "after a filler was cancelled, two tasks of a round get one index");

FAULT(fault_baseline, 1u << BZ_PRIMITIVE_SCOPE, .family = "cancel counting",
      .oracle = "cancel-count", .scenario = "scope", .issue = "gh-134471",
      .versions = "3.11.3 to 3.15",
      .summary = "a timeout takes a request that was undelivered at its entry for its own");

/* --- variants --------------------------------------------------------------------------------- */

/* locked() of a lock is claimed to be exact because it is meant to be; both declare the fault.
 * Waived: if the head of a lock was cancelled, the next is woken only when that head resumes. Tasks
 * held back at a barrier are woken together, and a newcomer may overtake them. */
#define ASYNCIO(version_, name_, summary_, ...)                                                    \
    const struct bz_variant bz_variant_asyncio_##version_ = {                                      \
        .version = BZ_VARIANT_VERSION,                                                             \
        .claims = BZ_CLAIM_FIFO | BZ_CLAIM_LOCKED_EXACT | BZ_CLAIM_REFUSES_MISUSE |                \
                  BZ_CLAIM_WAKE_IS_GRANT | BZ_CLAIM_WORK_CONSERVING | BZ_CLAIM_TAKES_AT_RETURN |   \
                  BZ_CLAIM_UNORDERED_TIES | BZ_CLAIM_UNFAIR,                                       \
        .name = name_,                                                                             \
        .summary = summary_,                                                                       \
        .permits = {[BZ_PRIMITIVE_SEMAPHORE] =                                                     \
                        SEMAPHORE_OPS(semaphore_init, semaphore_acquire_##version_),               \
                    [BZ_PRIMITIVE_BOUNDED] =                                                       \
                        SEMAPHORE_OPS(bounded_init, semaphore_acquire_##version_),                 \
                    [BZ_PRIMITIVE_LOCK] = &lock_ops},                                              \
        .event = &event_ops,                                                                       \
        .condition = CONDITION_OPS(condition_wait_##version_),                                     \
        .barrier = BARRIER_OPS(barrier_init_##version_),                                           \
        .queue = &queue_ops_##version_,                                                            \
        .scope = &bz_timeout_scope_ops,                                                            \
        .rules = &rules_##version_,                                                                \
        .waives = {[BZ_PRIMITIVE_LOCK] = BZ_CLAIM_WORK_CONSERVING,                                 \
                   [BZ_PRIMITIVE_BARRIER] = BZ_CLAIM_FIFO,                                         \
                   [BZ_PRIMITIVE_QUEUE] = BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT},                 \
        .declared = (const struct bz_fault *const[]){__VA_ARGS__, NULL},                           \
    }

ASYNCIO(311, "asyncio-3.11",
        "reference: asyncio of CPython 3.11 and 3.12, with the faults of its day", &fault_locked,
        &fault_bound, &fault_one_wake, &fault_notify_lost, &fault_notify_lost_by_model,
        &fault_barrier, &fault_baseline);
ASYNCIO(313, "asyncio-3.13", "reference: asyncio of CPython 3.13 to 3.15, with its open faults",
        &fault_locked, &fault_bound, &fault_barrier, &fault_baseline);
