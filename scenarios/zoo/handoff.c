/* Locks that are handed over: a release makes a waiter the owner, before it has resumed. */
#include "primitives/runtime/mem.h"
#include "primitives/runtime/task.h"
#include "primitives/runtime/timer.h"
#include "scenarios/zoo/parts.h"

/* an-1145: lock-stale-queue, made again ten years later in a lock that is handed over.
 *
 * A release gives the lock to the first waiter that is not cancelled. The cancelled ones take
 * themselves out when they resume. But the fast path asks for an empty queue. A task that comes
 * after the release and before a cancelled waiter has resumed queues at a lock that no task owns.
 *
 *     A holds; B waits and is cancelled; A releases; D comes: D waits forever
 *
 * The cure: the fast path also ignores cancelled waiters. */
static enum bz_status an_1145_acquire(void *instance) {
    struct bz_zoo_handoff *lock = instance;
    if (!lock->is_owned && bz_list_is_empty(&lock->queue.entries)) { /* the fault */
        lock->is_owned = true;
        return BZ_OK;
    }
    return bz_zoo_handoff_wait(lock);
}

BZ_ZOO_ENTRY(permit, an_1145, BZ_ZOO_HANDOFF, .acquire = an_1145_acquire);

/* fl-1: a future owns the lock before it was polled, and is dropped.
 *
 * A call of lock() makes a future. If the lock is free, the future owns it from that moment. The
 * guard unlocks, and the guard is made when the future is polled. A future that is dropped before
 * has no guard, and the lock stays locked forever.
 *
 * Here a yield stands between the call and the first poll, in which other tasks may run.
 *
 *     A calls acquire on a free lock, and owns it; A is cancelled before it continues: locked for
 *     ever
 *
 * The cure: a future that is dropped gives back what it owns. */
static enum bz_status fl_1_acquire(void *instance) {
    struct bz_zoo_handoff *lock = instance;
    if (!bz_zoo_handoff_try(lock)) {
        return bz_zoo_handoff_wait(lock);
    }
    lock->is_promised = true;
    enum bz_status status = bz_yield(lock->queue.loop); /* the fault: if cancelled, it keeps it */
    lock->is_promised = false;
    return status;
}

BZ_ZOO_ENTRY(permit, fl_1, BZ_ZOO_HANDOFF, .acquire = fl_1_acquire);

/* --- waiters that know whether they own the lock ---------------------------------------------- */

struct owner {
    struct bz_waiter waiter;
    bool is_owner;
};

/* Makes the oldest entry the owner, even one that is being cancelled, which is not woken then. */
static void hand_to_oldest(struct bz_zoo_handoff *lock) {
    struct bz_waiter *oldest = bz_deque_pop(&lock->queue);
    lock->is_owned = oldest != NULL;
    lock->is_promised = oldest != NULL;
    if (oldest != NULL) {
        bz_container_of(oldest, struct owner, waiter)->is_owner = true;
        bz_future_set_result(&oldest->future, 0);
    }
}

static enum bz_status release_to_oldest(void *instance) {
    return bz_zoo_handoff_release_by(instance, hand_to_oldest);
}

/* an-387: the lock is handed to a waiter that is being cancelled, and is not given back.
 *
 * A release makes the oldest waiter the owner and sets its event. If that waiter is cancelled in
 * the same turn, before the release or after it, it leaves by its exception. Its handler takes the
 * entry out of the queue if the event is not set, and does nothing if it is. So the owner is gone,
 * and the lock stays locked forever.
 *
 *     A holds; B and C wait; B is cancelled and A releases, in either order: B owns the lock
 *
 * The cure: a waiter that was made the owner and leaves by an exception releases the lock. */
static enum bz_status an_387_acquire(void *instance) {
    struct bz_zoo_handoff *lock = instance;
    if (bz_zoo_handoff_try(lock)) {
        return BZ_OK;
    }
    struct owner self = {.is_owner = false};
    enum bz_status status = bz_deque_wait(&lock->queue, &self.waiter);
    if (self.is_owner) {
        lock->is_promised = false; /* the fault: a cancelled owner keeps it */
    }
    return status;
}

BZ_ZOO_ENTRY(permit, an_387, BZ_ZOO_HANDOFF, .acquire = an_387_acquire,
             .release = release_to_oldest);

/* neco-mutex: a mutex that was handed to a waiter that is cancelled before it runs stays locked.
 *
 * The code is that of an-387. */
BZ_ZOO_ENTRY(permit, neco_mutex, BZ_ZOO_HANDOFF, .acquire = an_387_acquire,
             .release = release_to_oldest);

/* tw-inline-nocancel: the cancel of a running function does not reach the acquire that it waits
 * for.
 *
 * The function and the acquire are two Deferreds, one behind the other. A cancel hits the outer one
 * and ends there. The inner one keeps its place in the queue. When it is served, the function goes
 * on, and runs the section that was cancelled.
 *
 *     A holds; B waits; B is cancelled, and waits on; A releases: B has the lock, as if no task had
 *     cancelled it
 *
 * A cancel after the hand-over is handled correctly here: the lock goes to the next waiter. The
 * task awaits the outer Deferred, which is its future. The inner one is in the queue.
 *
 * The cure: pass a cancel on to the Deferred that is waited for. */
static enum bz_status tw_inline_nocancel_acquire(void *instance) {
    struct bz_zoo_handoff *lock = instance;
    if (bz_zoo_handoff_try(lock)) {
        return BZ_OK;
    }
    struct owner self = {.is_owner = false};
    enum bz_status status = bz_deque_wait_and_stay(&lock->queue, &self.waiter);
    while (!self.is_owner) { /* the fault: a cancelled waiter waits on */
        bz_future_init(&self.waiter.future, lock->queue.loop);
        status = bz_future_await(&self.waiter.future);
    }
    lock->is_promised = false;
    if (status != BZ_OK && bz_waiter_was_woken(&self.waiter)) {
        hand_to_oldest(lock);
        return status;
    }
    return BZ_OK;
}

BZ_ZOO_ENTRY(permit, tw_inline_nocancel, BZ_ZOO_HANDOFF, .acquire = tw_inline_nocancel_acquire,
             .release = release_to_oldest);

/* tk-6450: a task has two acquires in the queue, and polls only the second.
 *
 * In a select, a branch that did not win may be kept without being polled while another branch asks
 * for the same mutex. The first acquire keeps its place in the queue, ahead of the second. When its
 * turn comes, the mutex is assigned to it. Its owner would have to poll it to find out, but polls
 * only the other one.
 *
 * Here a caller that has waited for some time asks again, and keeps the first acquire. A timer
 * wakes it in between, so that a wake-up is no grant, and nothing is claimed about the order of
 * service. There is no view, for one caller may have two entries. The oracles that look from
 * outside suffice.
 *
 *     A holds; B asks; B's patience ends and B asks again; A releases: the first acquire has it
 *
 * The cure, which is the caller's: poll both, or drop the first. */
#define TK_6450_PATIENCE_NS 5u

struct tk_6450_caller {
    struct bz_timer patience;
    struct owner asks[2];
};

static void tk_6450_on_patience(struct bz_timer *timer) {
    struct tk_6450_caller *caller = bz_container_of(timer, struct tk_6450_caller, patience);
    bz_future_set_result(&caller->asks[0].waiter.future, 0); /* refused if it was woken already */
}

static enum bz_status tk_6450_acquire(void *instance) {
    struct bz_zoo_handoff *lock = instance;
    if (bz_zoo_handoff_try(lock)) {
        return BZ_OK;
    }
    struct bz_loop *loop = lock->queue.loop;
    struct tk_6450_caller caller = {.asks = {{.is_owner = false}}};
    struct owner *first = &caller.asks[0];
    struct owner *second = &caller.asks[1];
    bz_timer_init(&caller.patience, loop, tk_6450_on_patience);
    if (!bz_timer_arm(&caller.patience, bz_loop_now_ns(loop) + TK_6450_PATIENCE_NS)) {
        return BZ_NO_MEMORY;
    }
    enum bz_status status = bz_deque_wait_and_stay(&lock->queue, &first->waiter);
    bz_timer_disarm(&caller.patience);
    if (status == BZ_OK && !first->is_owner) {
        status = bz_deque_wait(&lock->queue, &second->waiter); /* the fault: the first stays */
    }
    bz_deque_remove(&first->waiter);
    if (status == BZ_OK) {
        lock->is_promised = false;
    } else if (first->is_owner || second->is_owner) {
        hand_to_oldest(lock);
    }
    return status;
}

BZ_ZOO_ENTRY(permit, tk_6450, BZ_ZOO_HANDOFF, .acquire = tk_6450_acquire,
             .release = release_to_oldest, .view = NULL);

/* --- waiters that cannot leave the queue ------------------------------------------------------ */

/* Entries outlive the tasks that gave up, and so are not on their stacks. A cancelled waiter stays
 * in the queue. One that was chosen and is cancelled hands over to the next, as it should. */
static enum bz_status acquire_by_request(struct bz_zoo_handoff *lock,
                                         void (*hand_over)(struct bz_zoo_handoff *lock)) {
    if (bz_zoo_handoff_try(lock)) {
        return BZ_OK;
    }
    struct bz_zoo_request *request = bz_zoo_request_new(lock->queue.loop);
    if (request == NULL) {
        return BZ_NO_MEMORY;
    }
    enum bz_status status = bz_deque_wait_and_stay(&lock->queue, &request->waiter);
    if (status == BZ_OK) {
        lock->is_promised = false;
    } else if (bz_waiter_was_woken(&request->waiter)) {
        hand_over(lock);
    }
    bz_zoo_request_drop(lock->queue.loop, &request->waiter);
    return status;
}

/* tw-nocancel: a waiter that gives up cannot leave the queue, and is served.
 *
 * A Deferred has no canceller: a cancelled waiter fires, and its entry stays. A release
 * takes the lock for the oldest entry, takes that entry out and fires it. If it has been fired
 * already, that is an error, and the lock stays locked forever. Historically the error came out of
 * the release. Here the release says OK. The rest of the queue waits forever.
 *
 * The entries are not shown to the oracles that look inside. The entry does not claim to refuse
 * misuse, for a lock without an owner may be released by any task. The oracles see a task
 * that waits for it.
 *
 *     A holds; B and C wait; B gives up; A releases: the lock is B's, which has gone
 *
 * The cure: a canceller, which takes the entry out. */
static void tw_nocancel_hand_over(struct bz_zoo_handoff *lock) {
    struct bz_waiter *oldest = bz_deque_pop(&lock->queue);
    lock->is_owned = oldest != NULL; /* the fault: one that gave up is still in the queue */
    lock->is_promised = false;
    if (oldest != NULL) {
        lock->is_promised = bz_future_set_result(&oldest->future, 0) == BZ_OK;
        bz_zoo_request_drop(lock->queue.loop, oldest);
    }
}

static enum bz_status tw_nocancel_acquire(void *instance) {
    return acquire_by_request(instance, tw_nocancel_hand_over);
}

BZ_ZOO_RELEASE_BY(handoff, tw_nocancel_release, tw_nocancel_hand_over)

BZ_ZOO_ENTRY(permit, tw_nocancel, BZ_ZOO_HANDOFF, .acquire = tw_nocancel_acquire,
             .release = tw_nocancel_release, .view = NULL);

/* am-54: the mutex says that it is locked while it passes through waiters that have gone.
 *
 * A waiter whose time is up stays in the queue. When its turn comes, it is given the mutex and
 * gives it back at once, which takes a turn of the loop for each. Meanwhile no task holds
 * the mutex and no task waits, and isLocked() says yes.
 *
 * A second report about the same counter says that waitForUnlock() may resolve while the mutex is
 * locked (async-mutex 52). Locks have no such operation here.
 *
 *     A holds; B waits and gives up; A releases, and asks at once: locked
 *
 * The cure: a waiter that gives up leaves the queue. */
struct am_54_lock {
    struct bz_zoo_handoff lock;
    struct bz_handle turn; /* of a waiter that has gone */
};

static void am_54_on_turn(struct bz_handle *handle);

static void am_54_hand_over(struct bz_zoo_handoff *lock) {
    struct bz_waiter *oldest = bz_deque_pop(&lock->queue);
    lock->is_owned = oldest != NULL; /* the fault: it may have gone */
    lock->is_promised = oldest != NULL;
    if (oldest != NULL) {
        if (bz_future_set_result(&oldest->future, 0) != BZ_OK) { /* it has gone */
            bz_zoo_call_soon(lock->queue.loop,
                             &bz_container_of(lock, struct am_54_lock, lock)->turn, am_54_on_turn);
        }
        bz_zoo_request_drop(lock->queue.loop, oldest);
    }
}

static void am_54_on_turn(struct bz_handle *handle) {
    am_54_hand_over(&bz_container_of(handle, struct am_54_lock, turn)->lock);
}

static enum bz_status am_54_acquire(void *instance) {
    return acquire_by_request(instance, am_54_hand_over);
}

BZ_ZOO_RELEASE_BY(handoff, am_54_release, am_54_hand_over)

BZ_ZOO_ENTRY(permit, am_54, BZ_ZOO_HANDOFF, .instance_bytes = sizeof(struct am_54_lock),
             .acquire = am_54_acquire, .release = am_54_release);

/* --- no queue --------------------------------------------------------------------------------- */

#define SECOND_NS 1000000000u

/* toy-poll: a lock that is tried again every second, even for a caller that has gone.
 *
 * A caller that finds the lock taken asks the loop to try again in a second, as often as it takes.
 * A caller that is cancelled meanwhile leaves, and its retry stays behind: it takes the lock for
 * no task. (Nothing is claimed about the order of service, which is that of the timers.)
 *
 *     A holds; B tries, and will try again; B is cancelled; A releases; the retry takes the lock
 *
 * The cure: a caller that leaves cancels its retry. */
struct toy_poll_retry {
    struct bz_timer timer;
    struct bz_zoo_handoff *lock;
    bool has_taken;
    bool is_orphan; /* its caller has gone */
};

static bool toy_poll_arm(struct toy_poll_retry *retry) {
    return bz_timer_arm(&retry->timer, bz_loop_now_ns(retry->lock->queue.loop) + SECOND_NS);
}

static void toy_poll_on_retry(struct bz_timer *timer) {
    struct toy_poll_retry *retry = bz_container_of(timer, struct toy_poll_retry, timer);
    retry->has_taken = bz_zoo_handoff_try(retry->lock);
    retry->lock->is_promised |= retry->has_taken && !retry->is_orphan;
    if ((retry->has_taken || !toy_poll_arm(retry)) && retry->is_orphan) {
        bz_mem_free(bz_loop_mem(retry->lock->queue.loop), retry, sizeof *retry);
    }
}

static enum bz_status toy_poll_acquire(void *instance) {
    struct bz_zoo_handoff *lock = instance;
    struct bz_mem *mem = bz_loop_mem(lock->queue.loop);
    enum bz_status status = BZ_OK;
    if (bz_zoo_handoff_try(lock)) {
        return BZ_OK;
    }
    struct toy_poll_retry *retry = bz_mem_alloc(mem, sizeof *retry);
    if (retry == NULL) {
        return BZ_NO_MEMORY;
    }
    retry->lock = lock;
    bz_timer_init(&retry->timer, lock->queue.loop, toy_poll_on_retry);
    if (!toy_poll_arm(retry)) {
        bz_mem_free(mem, retry, sizeof *retry);
        return BZ_NO_MEMORY;
    }
    while (status == BZ_OK && !retry->has_taken) {
        status = bz_sleep(lock->queue.loop, SECOND_NS);
    }
    if (!retry->has_taken) {
        retry->is_orphan = true; /* the fault: the timer stays armed */
        return status;
    }
    lock->is_promised = false;
    lock->is_owned = status == BZ_OK;
    bz_mem_free(mem, retry, sizeof *retry);
    return status;
}

BZ_ZOO_ENTRY(permit, toy_poll, BZ_ZOO_HANDOFF, .acquire = toy_poll_acquire);
