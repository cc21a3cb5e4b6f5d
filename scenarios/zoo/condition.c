/* Conditions, and a barrier. */
#include "primitives/runtime/task.h"
#include "scenarios/zoo/parts.h"

struct condition {
    struct bz_zoo_lock lock; /* first: its operations fit */
    struct bz_deque queue;   /* the tasks that wait to be notified */
};

static enum bz_status condition_init(void *instance, struct bz_loop *loop) {
    struct condition *condition = instance;
    bz_deque_init(&condition->queue, loop);
    return bz_zoo_lock_init(&condition->lock, loop, 1);
}

static enum bz_status condition_notify(void *instance, uint32_t count) {
    struct condition *condition = instance;
    if (!condition->lock.is_held) {
        return BZ_NOT_HELD;
    }
    while (count > 0 && bz_deque_wake_oldest(&condition->queue)) {
        count--;
    }
    return BZ_OK;
}

static uint32_t condition_queued(void *instance) {
    const struct condition *condition = instance;
    return bz_deque_length(&condition->lock.queue) + bz_deque_length(&condition->queue);
}

/* All but wait, which has the faults. */
#define CONDITION                                                                                  \
    .instance_bytes = sizeof(struct condition), .init = condition_init,                            \
    .acquire = bz_zoo_lock_acquire, .release = bz_zoo_lock_release, .locked = bz_zoo_lock_locked,  \
    .notify = condition_notify, .queued = condition_queued

/* Releases the lock and waits to be notified. BZ_NOT_HELD: no task held the lock. */
static enum bz_status unlock_and_wait(struct condition *condition, struct bz_waiter *waiter) {
    enum bz_status status = bz_zoo_lock_release(&condition->lock);
    return status == BZ_OK ? bz_deque_wait(&condition->queue, waiter) : status;
}

/* Acquires the lock again, trying until it succeeds. `status` is the result of the wait so far; a
 * cancellation on the way replaces it. A waiter that was notified and is cancelled notifies the
 * next one, at once: `has_notification` says whether this one was. */
static enum bz_status relock(struct condition *condition, enum bz_status status,
                             bool has_notification) {
    for (;;) {
        if (status != BZ_OK && has_notification) {
            bz_deque_wake_oldest(&condition->queue);
            has_notification = false;
        }
        enum bz_status acquired = bz_zoo_lock_acquire(&condition->lock);
        if (acquired == BZ_OK) {
            return status;
        }
        status = acquired;
    }
}

/* cond-notify-lost: a notified waiter that is cancelled loses the notification.
 *
 * notify(1) chooses the oldest waiter. If that one is cancelled, in the window or while it waits
 * for the lock, it leaves with the cancellation, as it should, and does not act on the
 * notification. The next waiter would act on it, but no task notifies it.
 *
 *     A and B wait; C puts a token down and notifies one; A is cancelled: B sleeps next to the
 * token
 *
 * The cure: a waiter that leaves with a notification and a cancellation notifies another one. */
static enum bz_status cond_notify_lost_wait(void *instance) {
    struct bz_waiter waiter;
    enum bz_status status = unlock_and_wait(instance, &waiter);
    /* The fault: one that was notified and is cancelled does not pass it on. */
    return status == BZ_NOT_HELD ? status : relock(instance, status, false);
}

BZ_ZOO_ENTRY(condition, cond_notify_lost, CONDITION, .wait = cond_notify_lost_wait);

/* cond-cancel-relock: a waiter that is cancelled while it acquires the lock again leaves without
 * it.
 *
 * wait releases the lock, waits to be notified, and acquires the lock again on every way out. If
 * the notifier still holds it, that acquire waits, and can be cancelled like any other. Then wait
 * ends without the lock. Its caller believes that it has the lock, and releases the lock of another
 * task.
 *
 *     A waits; B acquires, notifies and continues; A is cancelled: its release frees the lock of B
 *
 * The cure: acquire until it succeeds, and report the cancellation afterwards. */
static enum bz_status cond_cancel_relock_wait(void *instance) {
    struct condition *condition = instance;
    struct bz_waiter waiter;
    enum bz_status status = unlock_and_wait(condition, &waiter);
    if (status == BZ_NOT_HELD) {
        return status;
    }
    bool has_notification = bz_waiter_was_woken(&waiter);
    if (status != BZ_OK && has_notification) {
        bz_deque_wake_oldest(&condition->queue);
        has_notification = false;
    }
    enum bz_status acquired = bz_zoo_lock_acquire(&condition->lock); /* the fault: it tries once */
    if (acquired != BZ_OK && has_notification) {
        bz_deque_wake_oldest(&condition->queue);
    }
    return acquired == BZ_OK ? status : acquired;
}

BZ_ZOO_ENTRY(condition, cond_cancel_relock, CONDITION, .wait = cond_cancel_relock_wait);

/* cond-swallow: a cancellation of the wait for the lock is forgotten.
 *
 * This is the repair of cond-cancel-relock: wait acquires the lock again in a loop, and a
 * cancellation of that acquire only repeats the loop. In the end the lock is there, and wait says
 * that it was notified, which is true. The cancellation is lost.
 *
 *     A waits; B acquires, notifies and continues; A is cancelled; B releases: A continues as
 * before
 *
 * The cure: remember the cancellation, and report it once the lock is there. */
static enum bz_status cond_swallow_wait(void *instance) {
    struct condition *condition = instance;
    struct bz_waiter waiter;
    enum bz_status status = unlock_and_wait(condition, &waiter);
    if (status == BZ_NOT_HELD) {
        return status;
    }
    if (status != BZ_OK && bz_waiter_was_woken(&waiter)) {
        bz_deque_wake_oldest(&condition->queue);
    }
    while (bz_zoo_lock_acquire(&condition->lock) != BZ_OK) {
        /* the fault: this is never reported */
    }
    return status;
}

BZ_ZOO_ENTRY(condition, cond_swallow, CONDITION, .wait = cond_swallow_wait);

/* an-1075: the event of a cancelled waiter is set, and no other waiter is notified.
 *
 * Every waiter of this condition has an event of its own. notify takes the oldest event out of the
 * queue and sets it. A waiter that is cancelled takes its event out of the queue if it is still
 * there. If it is not, the waiter has been notified, and leaves all the same. A shield protects the
 * acquire of the lock from cancellations, so that the fault shows in the window alone: a later
 * cancellation comes when the wait is over.
 *
 *     A and B wait; C notifies one, which takes A out; A is cancelled in the same turn: B sleeps
 *
 * The cure: a waiter that is cancelled and finds its event set notifies another one. */
static enum bz_status an_1075_notify(void *instance, uint32_t count) {
    struct condition *condition = instance;
    if (!condition->lock.is_held) {
        return BZ_NOT_HELD;
    }
    struct bz_waiter *oldest = NULL;
    while (count > 0 && (oldest = bz_deque_pop(&condition->queue)) != NULL) {
        bz_future_set_result(&oldest->future, 0); /* refused if it is being cancelled already */
        count--;
    }
    return BZ_OK;
}

static enum bz_status an_1075_wait(void *instance) {
    struct bz_waiter waiter;
    enum bz_status status = unlock_and_wait(instance, &waiter);
    /* The fault: one that is cancelled may have been taken out by a notify. */
    return status == BZ_NOT_HELD ? status : relock(instance, status, status == BZ_OK);
}

BZ_ZOO_ENTRY(condition, an_1075, CONDITION, .wait = an_1075_wait, .notify = an_1075_notify);

/* --- barrier ---------------------------------------------------------------------------------- */

/* A task that comes while a round drains waits at the entrance until the last one has left. */
struct barrier {
    struct bz_deque entrance;
    struct bz_deque hall;
    uint32_t parties;
    uint32_t count; /* in the hall, until they have left it */
    bool is_draining;
};

static enum bz_status barrier_init(void *instance, struct bz_loop *loop, uint32_t parties) {
    struct barrier *barrier = instance;
    bz_deque_init(&barrier->entrance, loop);
    bz_deque_init(&barrier->hall, loop);
    barrier->parties = parties;
    return BZ_OK;
}

static uint32_t barrier_queued(void *instance) {
    const struct barrier *barrier = instance;
    return bz_deque_length(&barrier->entrance) + bz_deque_length(&barrier->hall);
}

/* bar-dup-index: a task that gives up while the barrier fills makes two others share an index.
 *
 * The index of a task is the number of tasks that have come before it. A cancelled task lowers that
 * number again, but the others keep their indices. The next task gets an index that is in use.
 *
 *     three parties; A gets 0, B gets 1; A is cancelled; C gets 1, D gets 2, and they pass: 1, 1, 2
 *
 * The cure: hand the indices out when the round is complete. */
static enum bz_status bar_dup_index_wait(void *instance, uint32_t *index) {
    struct barrier *barrier = instance;
    struct bz_waiter waiter;
    enum bz_status status = BZ_OK;
    while (barrier->is_draining) {
        status = bz_deque_wait(&barrier->entrance, &waiter);
        if (status != BZ_OK) {
            return status;
        }
    }
    *index = barrier->count++; /* the fault: the number falls, and comes again */
    if (barrier->count < barrier->parties) {
        status = bz_deque_wait(&barrier->hall, &waiter);
    } else {
        barrier->is_draining = true;
        while (bz_deque_wake_oldest(&barrier->hall)) {
        }
    }
    if (--barrier->count == 0 && barrier->is_draining) {
        barrier->is_draining = false;
        while (bz_deque_wake_oldest(&barrier->entrance)) {
        }
    }
    return status;
}

BZ_ZOO_ENTRY(barrier, bar_dup_index, .instance_bytes = sizeof(struct barrier), .init = barrier_init,
             .wait = bar_dup_index_wait, .queued = barrier_queued);

/* neco-cond: the wait lets the lock go, and gives way to others, before it joins the queue.
 *
 * The unlock of a coroutine library yields if another task waits for the lock. A wait that unlocks
 * first and queues afterwards is not in the queue while others run: a signal in between finds no
 * task. No cancel is needed.
 *
 *     W holds the lock, S waits for it; W waits: the lock goes to S, who signals; then W queues
 *
 * The cure: join the queue, and then unlock. */
static enum bz_status neco_cond_wait(void *instance) {
    struct condition *condition = instance;
    struct bz_waiter waiter;
    bool gives_way = bz_deque_has_live(&condition->lock.queue);
    enum bz_status status = bz_zoo_lock_release(&condition->lock);
    if (status != BZ_OK) {
        return status;
    }
    if (gives_way) {
        status = bz_yield(condition->queue.loop); /* the fault: it is in no queue */
    }
    bool was_woken = false;
    if (status == BZ_OK) {
        status = bz_deque_wait(&condition->queue, &waiter);
        was_woken = bz_waiter_was_woken(&waiter);
    }
    return relock(condition, status, was_woken);
}

BZ_ZOO_ENTRY(condition, neco_cond, CONDITION, .wait = neco_cond_wait);
