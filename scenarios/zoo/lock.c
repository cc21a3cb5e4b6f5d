/* Locks that are open in the window: a release wakes a waiter, which takes the lock when it
 * resumes. Most are asyncio's. */
#include "primitives/runtime/task.h"
#include "primitives/runtime/timeout.h"
#include "scenarios/zoo/parts.h"

/* lock-woken-cancel: a woken waiter that is cancelled does not pass the lock on.
 *
 * This is the window bug in its plainest form. A release wakes the oldest waiter. A task cancels
 * that waiter before it resumes, and it leaves. The lock is free, and the next waiter waits for
 * ever.
 *
 * The cure: a waiter that was woken and leaves without the lock wakes the next one. */
static enum bz_status lock_woken_cancel_acquire(void *instance) {
    struct bz_zoo_lock *lock = instance;
    if (bz_zoo_lock_try(lock)) {
        return BZ_OK;
    }
    struct bz_waiter waiter;
    enum bz_status status = bz_deque_wait(&lock->queue, &waiter);
    if (status != BZ_OK) {
        return status; /* the fault: it may have been woken, and no other waiter is */
    }
    lock->is_held = true;
    return BZ_OK;
}

BZ_ZOO_ENTRY(permit, lock_woken_cancel, BZ_ZOO_LOCK, .acquire = lock_woken_cancel_acquire);

/* lock-double-grant: a cancelled waiter wakes another one although one has been woken already.
 *
 * The repair of lock-woken-cancel went too far. A waiter that is cancelled while the lock is free
 * wakes the first waiter whose future is not done. But the lock is also free in the window, between
 * a release and the resume of the waiter that it woke. That waiter's future is done, so it is
 * skipped, and the one behind it is woken as well. Both take the lock.
 *
 * The cure: only a waiter that was woken passes the wake-up on. (asyncio looks at the head of the
 * queue alone, and does nothing if it is done.) */
static enum bz_status lock_double_grant_acquire(void *instance) {
    struct bz_zoo_lock *lock = instance;
    if (bz_zoo_lock_try(lock)) {
        return BZ_OK;
    }
    struct bz_waiter waiter;
    enum bz_status status = bz_deque_wait(&lock->queue, &waiter);
    if (status == BZ_OK) {
        lock->is_held = true;
    } else if (!lock->is_held) {
        bz_deque_wake_oldest(&lock->queue); /* the fault: the lock may be promised to another */
    }
    return status;
}

BZ_ZOO_ENTRY(permit, lock_double_grant, BZ_ZOO_LOCK, .acquire = lock_double_grant_acquire);

/* lock-head-setresult: a release wakes the head of the queue without asking whether it is alive.
 *
 * A waiter that was cancelled stays in the queue until its task resumes. A release in that turn
 * sets a result on it, which is refused. Historically the refusal came out of the release as an
 * exception, when the lock was open already. Here the release says OK, so that the consequence is
 * seen: the lock is free, the waiter behind the dead one sleeps, and nothing will wake it.
 *
 *     A holds; B and C wait; B is cancelled; A releases before B has resumed: C waits forever
 *
 * The cure: wake the first waiter that is not done. */
static void lock_head_setresult_wake(struct bz_zoo_lock *lock) {
    struct bz_waiter *head = bz_deque_next(&lock->queue, NULL);
    if (head != NULL) {
        bz_future_set_result(&head->future, 0); /* the fault: refused if it is cancelled */
    }
}

BZ_ZOO_RELEASE_BY(lock, lock_head_setresult_release, lock_head_setresult_wake)

BZ_ZOO_ENTRY(permit, lock_head_setresult, BZ_ZOO_LOCK, .release = lock_head_setresult_release);

/* lock-locked-window: locked() says that the lock is free while a woken waiter is about to take it.
 *
 * A release clears the flag and wakes a waiter, which sets the flag again when it resumes. In
 * between, locked() is false, although an acquire would have to wait. Code that relies on it goes
 * wrong: a pool that drops locks that are not locked drops one that is in use.
 *
 *     A holds; B waits; A releases: until B has resumed, locked() is false
 *
 * The cure: locked() also asks whether a live waiter is in the queue, as acquire does. */
BZ_ZOO_ENTRY(permit, lock_locked_window,
             BZ_ZOO_LOCK); /* the fault: its locked() is false in the window */

/* lock-noncancel-exit: a woken waiter that leaves by anything but a cancellation keeps the wake-up.
 *
 * The repair of lock-woken-cancel passes the wake-up on in the handler of the cancellation and
 * nowhere else. In asyncio a waiter can also leave in the window because its coroutine is closed,
 * or because another exception is thrown into it. Then the lock is free, and the next waiter
 * sleeps.
 *
 * Here a status stands for that exception. An acquire of this lock has a deadline of its own: if it
 * comes in the window, the acquire ends with BZ_TIMED_OUT, which is not BZ_CANCELLED.
 *
 *     A holds; B and C wait; A releases; B's deadline comes before B has resumed: C waits forever
 *
 * The cure: a waiter that leaves with a wake-up passes it on, however it leaves. */
#define LOCK_NONCANCEL_EXIT_NS 100u

static enum bz_status lock_noncancel_exit_acquire(void *instance) {
    struct bz_zoo_lock *lock = instance;
    if (bz_zoo_lock_try(lock)) {
        return BZ_OK;
    }
    struct bz_timeout deadline;
    struct bz_waiter waiter;
    enum bz_status status = bz_timeout_enter(lock->queue.loop, &deadline, LOCK_NONCANCEL_EXIT_NS);
    if (status != BZ_OK) {
        return status;
    }
    status = bz_timeout_exit(&deadline, bz_deque_wait(&lock->queue, &waiter));
    if (status == BZ_OK) {
        lock->is_held = true;
    } else if (status == BZ_CANCELLED && bz_waiter_was_woken(&waiter)) {
        bz_deque_wake_oldest(&lock->queue); /* the fault: only here */
    }
    return status;
}

BZ_ZOO_ENTRY(permit, lock_noncancel_exit, BZ_ZOO_LOCK, .acquire = lock_noncancel_exit_acquire);

/* lock-stale-queue: a newcomer takes the lock only if the queue is empty.
 *
 * A cancelled waiter is in the queue until its task resumes. If the lock is released meanwhile,
 * no waiter is woken, which is right: no task waits. But a task that comes before the cancelled one
 * has resumed finds a queue that is not empty, and queues behind the dead entry. No task will wake
 * it.
 *
 *     A holds; B waits and is cancelled; A releases; D comes: D waits forever
 *
 * The cure: a newcomer takes the lock if it is free and every entry of the queue is cancelled. */
static enum bz_status lock_stale_queue_acquire(void *instance) {
    struct bz_zoo_lock *lock = instance;
    if (!lock->is_held && bz_list_is_empty(&lock->queue.entries)) { /* the fault */
        lock->is_held = true;
        return BZ_OK;
    }
    return bz_zoo_lock_wait(lock);
}

BZ_ZOO_ENTRY(permit, lock_stale_queue, BZ_ZOO_LOCK, .acquire = lock_stale_queue_acquire);

/* toy-lifo: a mutex that serves the last waiter first.
 *
 * The list of waiters is a stack: a release takes its last element. Everything else is correct, a
 * cancellation in the window included. A test with one waiter shows nothing. Under load the first
 * to come is served last, or never.
 *
 *     A holds; B, then C wait; A releases: C is woken
 *
 * The cure: take the first element. */
static void toy_lifo_wake(struct bz_zoo_lock *lock) {
    struct bz_waiter *newest = NULL;
    struct bz_waiter *waiter = NULL;
    while ((waiter = bz_deque_next(&lock->queue, waiter)) != NULL) {
        newest = bz_future_is_done(&waiter->future) ? newest : waiter; /* the fault */
    }
    if (newest != NULL) {
        bz_future_set_result(&newest->future, 0);
    }
}

static enum bz_status toy_lifo_acquire(void *instance) {
    return bz_zoo_lock_acquire_by(instance, toy_lifo_wake);
}

BZ_ZOO_RELEASE_BY(lock, toy_lifo_release, toy_lifo_wake)

BZ_ZOO_ENTRY(permit, toy_lifo, BZ_ZOO_LOCK, .acquire = toy_lifo_acquire,
             .release = toy_lifo_release);

/* tk-8365: a task without budget queues later than it called.
 *
 * A task may do a certain amount of work before it has to let others run. An acquire asks for this
 * budget first: if none is left, the task yields, and joins the queue when it comes back. A task
 * that calls acquire in the meantime is served before it, although the mutex promises the order of
 * the calls.
 *
 * Real budgets belong to tasks and are larger. Here every fourth acquire of the lock finds none.
 *
 *     A holds; B calls acquire and has to yield; C calls acquire, and is queued; B comes back: C, B
 *
 * The cure: join the queue first, and ask for the budget then. */
struct tk_8365_lock {
    struct bz_zoo_lock lock;
    uint32_t spent;
};

#define TK_8365_BUDGET 4u

static enum bz_status tk_8365_acquire(void *instance) {
    struct tk_8365_lock *budget = instance;
    if (++budget->spent % TK_8365_BUDGET == 0) { /* the fault: not queued, and others may run */
        enum bz_status yielded = bz_yield(budget->lock.queue.loop);
        if (yielded != BZ_OK) {
            return yielded;
        }
    }
    return bz_zoo_lock_acquire(&budget->lock);
}

BZ_ZOO_ENTRY(permit, tk_8365, BZ_ZOO_LOCK, .instance_bytes = sizeof(struct tk_8365_lock),
             .acquire = tk_8365_acquire);

/* ce-3554: a waiter of a mutex is cancelled just after it was notified, and notifies no other.
 *
 * A release frees the mutex and notifies one waiter, which tries again like any other task. A
 * newcomer may be faster, and then the waiter waits once more. So a notification is a hint, and
 * nothing is claimed about the order of service. But it is the only hint: if the notified waiter is
 * cancelled before it has tried, the mutex is free, and the remaining waiters are never notified.
 *
 *     A holds; B and C wait; A releases: B is notified; B is cancelled: C waits forever
 *
 * The cure: a waiter that leaves with a notification notifies the next one. */
static enum bz_status ce_3554_acquire(void *instance) {
    struct bz_zoo_lock *lock = instance;
    while (lock->is_held) {
        struct bz_waiter waiter;
        enum bz_status status = bz_deque_wait(&lock->queue, &waiter);
        if (status != BZ_OK) {
            return status; /* the fault: it may have been notified */
        }
    }
    lock->is_held = true;
    return BZ_OK;
}

BZ_ZOO_ENTRY(permit, ce_3554, BZ_ZOO_LOCK, .acquire = ce_3554_acquire);

/* fr-2071: a task that unlocks and locks again gets the lock again, each time before those that
 * wait.
 *
 * An unlock frees the mutex and wakes a waiter, which tries again when it runs. The task that has
 * just unlocked is already running. If it locks again at once, the waiter finds the mutex locked
 * and waits on, in its old place. This can repeat without end. The project's documentation now says
 * that the mutex is not fair.
 *
 *     A holds; B waits; A releases, B is woken, A acquires; B finds nothing; and so on
 *
 * The cure: from the wake-up on, the mutex is reserved for the woken waiter. */
static enum bz_status fr_2071_acquire(void *instance) {
    struct bz_zoo_lock *lock = instance;
    if (!lock->is_held) { /* the fault: others may have been woken */
        lock->is_held = true;
        return BZ_OK;
    }
    struct bz_waiter waiter;
    enum bz_status status = bz_deque_wait_and_stay(&lock->queue, &waiter);
    while (status == BZ_OK && lock->is_held) {
        bz_future_init(&waiter.future, lock->queue.loop); /* in its old place */
        status = bz_future_await(&waiter.future);
    }
    bz_deque_remove(&waiter);
    if (status == BZ_OK) {
        lock->is_held = true;
    } else if (bz_waiter_was_woken(&waiter) && !lock->is_held) {
        bz_deque_wake_oldest(&lock->queue);
    }
    return status;
}

BZ_ZOO_ENTRY(permit, fr_2071, BZ_ZOO_LOCK, .acquire = fr_2071_acquire);

/* chronos-43: a release frees the lock, and the waiter that it woke takes it without looking.
 *
 * (1) A holds, B waits. (2) A releases: the lock is free, and B is woken. (3) C comes before B has
 * resumed, finds the lock free, and takes it. (4) B resumes and takes it as well.
 *
 * The cure: from the wake-up on, the lock is the waiter's. */
static enum bz_status chronos_43_acquire(void *instance) {
    struct bz_zoo_lock *lock = instance;
    if (lock->is_held) {
        return bz_zoo_lock_wait(lock); /* the fault: it does not look again */
    }
    lock->is_held = true; /* also while another task has been woken for it */
    return BZ_OK;
}

BZ_ZOO_ENTRY(permit, chronos_43, BZ_ZOO_LOCK, .acquire = chronos_43_acquire);

/* redis-lock-py-3: a release comes after the look and before the subscription, and is not heard.
 *
 * A waiter that finds the key of the lock taken subscribes to the messages of releases, which takes
 * a round trip, and waits for one. (1) A holds; B finds the key taken, and subscribes. (2) A
 * releases, and publishes that to nobody. (3) B is subscribed, and waits. The lock is free.
 *
 * The cure: look again after the subscription. */
static enum bz_status redis_lock_py_3_acquire(void *instance) {
    struct bz_zoo_lock *lock = instance;
    while (lock->is_held) {
        struct bz_waiter waiter;
        enum bz_status status = bz_yield(lock->queue.loop);
        if (status == BZ_OK) {
            status = bz_deque_wait(&lock->queue, &waiter); /* the fault: it may be free by now */
        }
        if (status != BZ_OK) {
            return status;
        }
    }
    lock->is_held = true;
    return BZ_OK;
}

static void wake_all(struct bz_zoo_lock *lock) {
    while (bz_deque_wake_oldest(&lock->queue)) {
    }
}

BZ_ZOO_RELEASE_BY(lock, redis_lock_py_3_release, wake_all)

BZ_ZOO_ENTRY(permit, redis_lock_py_3, BZ_ZOO_LOCK, .acquire = redis_lock_py_3_acquire,
             .release = redis_lock_py_3_release);

/* aiocache-979: a release sets the event of the next holder, and not that of those who wait.
 *
 * Waiters wait for the event of the holder, which is in a table. A release frees the key in the
 * store, which takes a round trip, and then takes the event out of the table and sets it. (1) A
 * holds, and B waits for A's event. (2) A frees the key. (3) C takes the key, and puts its own
 * event over A's. (4) A sets C's event. B waits for A's, which no task knows any more.
 *
 * Here the second half of the release runs soon after it.
 *
 * The cure: the release takes the event out before it frees the key. */
struct aiocache_979_lock {
    struct bz_zoo_lock lock; /* its queue: those who wait for the event in the table */
    struct bz_handle second_half;
    bool is_releasing;
};

static enum bz_status aiocache_979_acquire(void *instance) {
    struct aiocache_979_lock *self = instance;
    while (self->lock.is_held) {
        struct bz_waiter waiter;
        enum bz_status status = bz_deque_wait(&self->lock.queue, &waiter);
        if (status != BZ_OK) {
            return status;
        }
    }
    self->lock.is_held = true;
    while (self->is_releasing && bz_deque_pop(&self->lock.queue) != NULL) { /* the fault */
    }
    return BZ_OK;
}

static void aiocache_979_set(struct bz_handle *handle) {
    struct aiocache_979_lock *self = bz_container_of(handle, struct aiocache_979_lock, second_half);
    self->is_releasing = false;
    wake_all(&self->lock);
}

static void aiocache_979_free(struct bz_zoo_lock *lock) {
    struct aiocache_979_lock *self = bz_container_of(lock, struct aiocache_979_lock, lock);
    if (!self->is_releasing) {
        self->is_releasing = true;
        bz_zoo_call_soon(lock->queue.loop, &self->second_half, aiocache_979_set);
    }
}

BZ_ZOO_RELEASE_BY(lock, aiocache_979_release, aiocache_979_free)

BZ_ZOO_ENTRY(permit, aiocache_979, BZ_ZOO_LOCK, .instance_bytes = sizeof(struct aiocache_979_lock),
             .acquire = aiocache_979_acquire, .release = aiocache_979_release, .view = NULL);
