/* A lock whose acquire is waited for in a second task, as wait_for() does it: the caller starts a
 * task that acquires, and waits for the end of that task. Between the moment in which the second
 * task has the lock and the moment in which the caller continues, the lock is promised: no task
 * holds it, and the caller has to learn of it. The faults are in what the caller does when it is
 * cancelled, or too late, in between.
 *
 *     caller         acquire ......................... continues
 *     second task      starts ... waits ... has it, ends
 *
 * A group (primitives/runtime/group.h) waits for the second task, cancels it when the caller is
 * cancelled, and frees it. Second tasks queue in the order in which they first run, so that nothing
 * is claimed of the order of service. The queue is theirs, and they are in no operation that the
 * oracles know of: the view shows the level alone. */
#include "primitives/runtime/group.h"
#include "primitives/runtime/timeout.h"
#include "scenarios/zoo/parts.h"

/* An acquire with a limit waits no longer than this. */
#define DEADLINE_NS 5u

struct wrapped {
    struct bz_zoo_handoff lock;
    uint32_t calls; /* second tasks so far; they are numbered */
};

/* One call of acquire; on the stack of the caller. */
struct call {
    struct wrapped *wrapped;
    bool keeps_lock; /* set by the caller: cancelled in the window, the second task takes the lock
                        all the same, and answers with it */
    bool has_lock;   /* the second task ended with it */
    bool in_spite;   /* and had been cancelled */
};

static enum bz_status second_task(void *arg) {
    struct call *call = arg;
    struct bz_zoo_handoff *lock = &call->wrapped->lock;
    if (bz_zoo_handoff_try(lock)) {
        lock->is_promised = true;
        call->has_lock = true;
        return BZ_OK;
    }
    struct bz_waiter waiter;
    enum bz_status status = bz_deque_wait(&lock->queue, &waiter);
    if (!bz_waiter_was_woken(&waiter)) {
        return status;
    }
    if (status != BZ_OK && !call->keeps_lock) {
        bz_zoo_handoff_pass(lock);
        return status;
    }
    call->has_lock = true;
    call->in_spite = status != BZ_OK;
    return BZ_OK;
}

/* Acquires in a second task and waits for its end. BZ_OK: `has_lock` is set. BZ_CANCELLED: it may
 * be set as well. With it the lock is promised to the caller, who answers for it: by keeping it
 * or by passing it on. */
static enum bz_status wait_for(struct call *call) {
    struct wrapped *wrapped = call->wrapped;
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && !call->has_lock) { /* others may have cancelled the second task */
        struct bz_group group;
        status = bz_group_enter(wrapped->lock.queue.loop, &group);
        if (status == BZ_OK) {
            status = bz_group_spawn(&group, "second", ++wrapped->calls, second_task, call, NULL);
            status = bz_group_exit(&group, status);
        }
    }
    return status;
}

/* The same, with a limit: BZ_TIMED_OUT. */
static enum bz_status wait_for_limited(struct call *call) {
    struct bz_timeout deadline;
    enum bz_status status =
        bz_timeout_enter(call->wrapped->lock.queue.loop, &deadline, DEADLINE_NS);
    return status == BZ_OK ? bz_timeout_exit(&deadline, wait_for(call)) : status;
}

static void keep(struct call *call) {
    call->wrapped->lock.is_promised = false;
}

static void wrapped_view(void *instance, struct bz_permit_view *view) {
    const struct wrapped *wrapped = instance;
    bool is_held = wrapped->lock.is_owned && !wrapped->lock.is_promised;
    *view = (struct bz_permit_view){.level = is_held ? 0 : 1};
}

/* All but acquire. */
#define WRAPPED BZ_ZOO_HANDOFF, .instance_bytes = sizeof(struct wrapped), .view = wrapped_view

/* wf-lost-acquire: wait_for() is cancelled when the acquire inside has succeeded already.
 *
 * wait_for(lock.acquire()) runs the acquire in a second task. That task is given the lock and ends,
 * and the caller is woken. If the caller is cancelled before it resumes, wait_for() passes the
 * cancellation on and drops the second task with its result. No task will release the lock.
 *
 *     A holds; B waits through a second task; A releases, and the second task has the lock; B is
 *     cancelled before it resumes: locked forever
 *
 * The cure: look whether the second task has ended before it is dropped; better, have no second
 * task. */
static enum bz_status wf_lost_acquire_acquire(void *instance) {
    struct call call = {.wrapped = instance};
    enum bz_status status = wait_for(&call);
    if (call.has_lock) {
        keep(&call); /* the fault: even if the caller is cancelled */
    }
    return status;
}

BZ_ZOO_ENTRY(permit, wf_lost_acquire, WRAPPED, .acquire = wf_lost_acquire_acquire);

/* wf-swallow: wait_for() is cancelled when the acquire inside has succeeded, and says OK.
 *
 * This is the repair of wf-lost-acquire: when the caller is cancelled and the second task has ended
 * already, its result is returned. The lock is not lost, but the cancellation is: it was accepted,
 * and is never reported.
 *
 *     A holds; B waits through a second task; A releases, and the second task has the lock; B is
 *     cancelled before it resumes: B continues as if no task had cancelled it
 *
 * The cure: give the lock back, and report the cancellation. */
static enum bz_status wf_swallow_acquire(void *instance) {
    struct call call = {.wrapped = instance};
    enum bz_status status = wait_for(&call);
    if (call.has_lock) {
        keep(&call);
        status = BZ_OK; /* the fault: even if the caller is cancelled */
    }
    return status;
}

BZ_ZOO_ENTRY(permit, wf_swallow, WRAPPED, .acquire = wf_swallow_acquire);

/* wf-timeout-drops: wait_for() drops the result of a second task that it has cancelled.
 *
 * When the time of wait_for() is up, it cancels the second task and waits for its end. That task
 * may return a result all the same, for instance an acquire that has just been given its lock.
 * wait_for() reports the time-out, and drops the result.
 *
 * Here two other locks are given back: one that came before the time was up, and one that comes
 * when another task cancels the caller.
 *
 *     A holds; B waits through a second task; A releases to that task, and B's time is up: the task
 *     is cancelled, and returns with the lock; B reports a time-out: locked forever
 *
 * The cure: a result that came is returned, or given back. */
static enum bz_status wf_timeout_drops_acquire(void *instance) {
    struct call call = {.wrapped = instance, .keeps_lock = true};
    enum bz_status status = wait_for_limited(&call);
    bool is_dropped = status == BZ_TIMED_OUT && call.in_spite; /* the fault: with the lock */
    if (call.has_lock && (status == BZ_OK || is_dropped)) {
        keep(&call);
    } else if (call.has_lock) {
        bz_zoo_handoff_pass(instance);
    }
    return status;
}

BZ_ZOO_ENTRY(permit, wf_timeout_drops, WRAPPED, .acquire = wf_timeout_drops_acquire);

/* ap-467: a pool takes the connection in a second task, and the time limit comes before it is
 * passed on.
 *
 * pool.acquire() with a time limit waits for the connection in a second task. The task takes it and
 * ends. In the same turn the time of the caller is up, and the caller reports that. It does not
 * look whether the second task has a connection: the pool has one less.
 *
 * Here a second task that is cancelled returns without the lock, and one whose caller another task
 * cancels gives its lock back. Only the caller's own limit loses something.
 *
 *     A holds; B waits through a second task; A releases, the second task has the lock and has
 *     ended; B's time is up before B resumes: locked forever
 *
 * The cure: no second task; the limit is set around the steps of acquire themselves. */
static enum bz_status ap_467_acquire(void *instance) {
    struct call call = {.wrapped = instance};
    enum bz_status status = wait_for_limited(&call);
    if (call.has_lock && status == BZ_CANCELLED) {
        bz_zoo_handoff_pass(instance);
    } else if (call.has_lock) {
        keep(&call); /* the fault: even after a time-out */
    }
    return status;
}

BZ_ZOO_ENTRY(permit, ap_467, WRAPPED, .acquire = ap_467_acquire);

/* --- a queue, whose gets run in a second task ---------------------------------------------------
 */

struct inbox {
    struct bz_item_queue items;
    uint32_t calls;
};

struct fetch {
    struct inbox *inbox;
    uint64_t value;
    bool has_value;
};

static enum bz_status fetching_task(void *arg) {
    struct fetch *fetch = arg;
    enum bz_status status = bz_item_queue_get(&fetch->inbox->items, &fetch->value);
    fetch->has_value = status == BZ_OK;
    fetch->inbox->items.handed_over += fetch->has_value;
    return status;
}

/* nats-392: a message is lost with the task that has fetched it.
 *
 * next_msg() waits for a second task, with a limit; so does each step of an iterator. (1) A waits;
 * the second task gets a message and ends. (2) A is cancelled, or its time is up, before it
 * resumes. It leaves, and the message is dropped with the task. websockets did the same in
 * wait_for(recv()).
 *
 * The cure: look whether the second task has ended, and put its message back; better, have no
 * second task. */
static enum bz_status nats_392_get(void *instance, uint64_t *value) {
    struct fetch fetch = {.inbox = instance};
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && !fetch.has_value) {
        struct bz_group group;
        status = bz_group_enter(fetch.inbox->items.getters.loop, &group);
        if (status == BZ_OK) {
            uint32_t number = ++fetch.inbox->calls;
            status = bz_group_spawn(&group, "second", number, fetching_task, &fetch, NULL);
            status = bz_group_exit(&group, status);
        }
    }
    fetch.inbox->items.handed_over -= fetch.has_value; /* the fault: even if it is cancelled */
    *value = fetch.value;
    return status;
}

BZ_ZOO_ENTRY(queue, nats_392, BZ_ZOO_QUEUE, .instance_bytes = sizeof(struct inbox),
             .get = nats_392_get);
