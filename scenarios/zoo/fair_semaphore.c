/* Semaphores of other projects than asyncio. Most promise to serve in the order of arrival. */
#include "scenarios/zoo/parts.h"

/* --- a woken waiter takes its permit when it resumes ------------------------------------------ */

/* dn-4267: a loop of release and wait starves the other waiters.
 *
 * A release adds to the count and wakes as many waiters as there are permits. A woken waiter has to
 * come back and take one. Meanwhile the task that released is running, and takes the permit at its
 * next wait. The woken waiter waits on, in its old place. One busy loop is enough to keep all
 * others out.
 *
 *     one permit: A has it, B waits; A releases, B is woken, A waits again and gets it; and so on
 *
 * The cure: a permit that a waiter was woken for is reserved for it. */
static enum bz_status dn_4267_acquire(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    if (semaphore->value > 0) { /* the fault: a waiter may have been woken for it */
        semaphore->value--;
        return BZ_OK;
    }
    struct bz_waiter waiter;
    enum bz_status status = bz_deque_wait_and_stay(&semaphore->queue, &waiter);
    while (status == BZ_OK && semaphore->value == 0) {
        bz_future_init(&waiter.future, semaphore->queue.loop); /* in its old place */
        status = bz_future_await(&waiter.future);
    }
    bz_deque_remove(&waiter);
    if (status == BZ_OK) {
        semaphore->value--;
    } else {
        bz_zoo_semaphore_wake_all_that_fit(semaphore);
    }
    return status;
}

static enum bz_status dn_4267_release(void *instance) {
    const struct bz_zoo_semaphore *semaphore = instance;
    return semaphore->value < semaphore->permits ? bz_zoo_semaphore_release(instance) : BZ_NOT_HELD;
}

BZ_ZOO_ENTRY(permit, dn_4267, BZ_ZOO_SEMAPHORE, .acquire = dn_4267_acquire,
             .release = dn_4267_release);

/* embassy-2766: only the head of the queue is ever woken, and it does not wake the next waiter.
 *
 * Permits may come back while the head of the queue is on its way. A release wakes the head and
 * no other task, even if the head has been woken already. When the head has taken its permit and
 * permits are left, it would have to wake the next waiter. It does not: the others sleep next to
 * free permits.
 *
 *     no permit is free; B and C wait; two releases, both for B; B takes one of two: C waits for
 *     ever
 *
 * Here a head that is cancelled does wake the next waiter. Historically it did not, which was
 * repaired later (PR 6964).
 *
 * The cure: a waiter that leaves the head of the queue wakes the next head, if there is a permit.
 */
static void embassy_2766_wake_head(struct bz_zoo_semaphore *semaphore) {
    bool has_woken = bz_deque_count(&semaphore->queue, BZ_FUTURE_RESULT) > 0;
    if (semaphore->value > 0 && !has_woken) {
        bz_deque_wake_oldest(&semaphore->queue);
    }
}

static enum bz_status embassy_2766_acquire(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    if (bz_zoo_semaphore_try(semaphore)) {
        return BZ_OK;
    }
    /* The fault: with its permit it wakes no waiter, whatever is left. */
    return bz_zoo_semaphore_wait_by(semaphore, embassy_2766_wake_head);
}

BZ_ZOO_RELEASE_BY(semaphore, embassy_2766_release, embassy_2766_wake_head)

BZ_ZOO_ENTRY(permit, embassy_2766, BZ_ZOO_SEMAPHORE, .acquire = embassy_2766_acquire,
             .release = embassy_2766_release);

/* --- the same, and newcomers may pass woken waiters ------------------------------------------- */

/* A newcomer takes a permit although waiters were woken, if there are more permits than these. */
static bool try_beside(struct bz_zoo_semaphore *semaphore) {
    bool is_free = bz_deque_oldest_asleep(&semaphore->queue) == NULL &&
                   semaphore->value > bz_deque_count(&semaphore->queue, BZ_FUTURE_RESULT);
    semaphore->value -= is_free;
    return is_free;
}

/* go-37852: a head that does not fit blocks those behind it, even when it has given up.
 *
 * The semaphore is weighted and strictly fair: a release serves from the head on and stops at the
 * first waiter that does not fit. When that head is cancelled, it is unlinked, and nothing else
 * happens. Those behind it may fit, but are not served before the next release.
 *
 * Permits have no weights here. The head that does not fit is one that is cancelled and has not
 * left yet: a release stops at it. The rest is the historical fault. The original needs no race;
 * this entry needs a release and a cancellation in one turn.
 *
 *     no permit is free; B and C wait; B is cancelled; a release stops at B; B leaves: C waits on
 *
 * The cure: a waiter that leaves the head of the queue serves those behind it. */
static void go_37852_serve(struct bz_zoo_semaphore *semaphore) {
    uint32_t promised = bz_deque_count(&semaphore->queue, BZ_FUTURE_RESULT);
    struct bz_waiter *waiter = NULL;
    while (promised < semaphore->value &&
           (waiter = bz_deque_next(&semaphore->queue, waiter)) != NULL) {
        if (waiter->future.state == BZ_FUTURE_CANCELLED) {
            return; /* it does not fit */
        }
        promised += bz_future_set_result(&waiter->future, 0) == BZ_OK;
    }
}

static enum bz_status go_37852_acquire(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    if (try_beside(semaphore)) {
        return BZ_OK;
    }
    /* The fault: a head that was not woken and is cancelled serves no waiter. */
    return bz_zoo_semaphore_wait_by(semaphore, go_37852_serve);
}

BZ_ZOO_RELEASE_BY(semaphore, go_37852_release, go_37852_serve)

BZ_ZOO_ENTRY(permit, go_37852, BZ_ZOO_SEMAPHORE, .acquire = go_37852_acquire,
             .release = go_37852_release);

/* gv-1487: a release wakes waiters in the order of a hash set.
 *
 * The callbacks to call when a permit is free were kept in a set. So the order of service was that
 * of their hashes: arbitrary, and the same waiter may be overtaken again and again.
 *
 * Hashes of addresses would differ from run to run. Here the waiters are numbered, and the hashes
 * are those of the numbers.
 *
 *     no permit is free; B, then C, then D wait; a release wakes the one with the least hash
 *
 * The cure: a list. */
struct gv_1487_semaphore {
    struct bz_zoo_semaphore semaphore;
    uint32_t tickets;
};

struct gv_1487_waiter {
    struct bz_waiter waiter;
    uint32_t hash;
};

/* Wakes the waiter with the least hash, if a permit is left for it. This is called for every permit
 * that becomes free, so that there is never a second one to wake. */
static void gv_1487_wake_first(struct bz_zoo_semaphore *semaphore) {
    struct gv_1487_waiter *first = NULL;
    struct bz_waiter *next = NULL;
    while ((next = bz_deque_next(&semaphore->queue, next)) != NULL) {
        struct gv_1487_waiter *waiter = bz_container_of(next, struct gv_1487_waiter, waiter);
        bool is_asleep = !bz_future_is_done(&next->future);
        if (is_asleep && (first == NULL || waiter->hash < first->hash)) {
            first = waiter; /* the fault */
        }
    }
    if (first != NULL && semaphore->value > bz_deque_count(&semaphore->queue, BZ_FUTURE_RESULT)) {
        bz_future_set_result(&first->waiter.future, 0);
    }
}

static enum bz_status gv_1487_acquire(void *instance) {
    struct gv_1487_semaphore *set = instance;
    if (try_beside(&set->semaphore)) {
        return BZ_OK;
    }
    struct gv_1487_waiter self = {.hash = ++set->tickets * 2654435761u};
    enum bz_status status = bz_deque_wait(&set->semaphore.queue, &self.waiter);
    if (status == BZ_OK) {
        set->semaphore.value--;
    } else {
        gv_1487_wake_first(&set->semaphore);
    }
    return status;
}

BZ_ZOO_RELEASE_BY(semaphore, gv_1487_release, gv_1487_wake_first)

BZ_ZOO_ENTRY(permit, gv_1487, BZ_ZOO_SEMAPHORE, .instance_bytes = sizeof(struct gv_1487_semaphore),
             .acquire = gv_1487_acquire, .release = gv_1487_release);

/* tz-6432: one flag stands for all messages, and the first task that resumes clears it.
 *
 * To notify a waiter is to wake it and to set the flag. A cancel also wakes the waiter. A
 * waiter that resumes tests the flag and clears it. If the flag is clear, the waiter takes this for
 * a spurious wake-up, and waits on. But another task may have cleared the flag before: one that was
 * cancelled, or one that was notified in the same turn, for a flag counts nothing.
 *
 * This entry follows the description of the repair, which names lost and spurious wake-ups. The
 * details are ours.
 *
 *     no permit is free; B and C wait; C is cancelled; a release sets the flag for B; C resumes and
 *     clears it; B finds it clear, and waits next to a free permit
 *
 * The cure: a state for each waiter, which tells the messages apart. */
struct tz_6432_semaphore {
    struct bz_zoo_semaphore semaphore;
    bool is_posted; /* the fault: one for all waiters */
};

static enum bz_status tz_6432_acquire(void *instance) {
    struct tz_6432_semaphore *flagged = instance;
    struct bz_zoo_semaphore *semaphore = &flagged->semaphore;
    if (try_beside(semaphore)) {
        return BZ_OK;
    }
    struct bz_waiter waiter;
    enum bz_status status = bz_deque_wait_and_stay(&semaphore->queue, &waiter);
    while (status == BZ_OK && !flagged->is_posted) { /* taken for a spurious wake-up */
        bz_future_init(&waiter.future, semaphore->queue.loop);
        status = bz_future_await(&waiter.future);
    }
    bz_deque_remove(&waiter);
    flagged->is_posted = false; /* cleared by any waiter */
    if (status == BZ_OK) {
        semaphore->value--;
    } else if (bz_waiter_was_woken(&waiter)) {
        flagged->is_posted = bz_zoo_semaphore_wake_all_that_fit(semaphore);
    }
    return status;
}

static enum bz_status tz_6432_release(void *instance) {
    struct tz_6432_semaphore *flagged = instance;
    flagged->semaphore.value++;
    flagged->is_posted |= bz_zoo_semaphore_wake_all_that_fit(&flagged->semaphore);
    return BZ_OK;
}

BZ_ZOO_ENTRY(permit, tz_6432, BZ_ZOO_SEMAPHORE, .instance_bytes = sizeof(struct tz_6432_semaphore),
             .acquire = tz_6432_acquire, .release = tz_6432_release);

/* --- a pool that is guarded by a lock --------------------------------------------------------- */

struct guarded {
    struct bz_zoo_semaphore pool;
    struct bz_zoo_lock guard;
};

static enum bz_status guarded_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct guarded *pool = instance;
    enum bz_status status = bz_zoo_lock_init(&pool->guard, loop, 1);
    return status == BZ_OK ? bz_zoo_semaphore_init(instance, loop, permits) : status;
}

static void guarded_view(void *instance, struct bz_permit_view *view) {
    const struct guarded *pool = instance;
    struct bz_permit_view guard;
    bz_deque_view(&pool->guard.queue, &guard);
    bz_zoo_semaphore_view(instance, view);
    view->queued += guard.queued;
    view->waiting += guard.waiting;
    view->woken += guard.woken;
    view->cancelled += guard.cancelled;
}

/* rp-3056: a pool takes its own lock a second time to put a connection back.
 *
 * The pool is guarded by a lock, which is held while a connection is taken out and while one is put
 * back. A task that cannot use the connection that it was about to take puts it back while it holds
 * the lock. It takes the lock again, and waits for itself. Then everybody else waits for that lock,
 * too.
 *
 * Here a connection that was used is put back without the lock, for a release does not wait. Other
 * waiters would be seen earlier, as a lost wake-up. So the declared scenario has one waiter, and
 * what is seen is the deadlock.
 *
 *     A has the one connection; B waits; A releases; B's time is up: B takes the lock a second time
 *
 * The cure: code that runs under the lock does not take it. */
static void rp_3056_put_back(struct guarded *pool) {
    if (bz_zoo_lock_acquire(&pool->guard) == BZ_OK) { /* the fault: the caller holds it */
        bz_zoo_semaphore_wake_all_that_fit(&pool->pool);
        bz_zoo_lock_release(&pool->guard);
    }
}

static enum bz_status rp_3056_acquire(void *instance) {
    struct guarded *pool = instance;
    enum bz_status status = bz_zoo_lock_acquire(&pool->guard);
    if (status != BZ_OK) {
        return status;
    }
    if (!try_beside(&pool->pool)) {
        struct bz_waiter waiter;
        bz_zoo_lock_release(&pool->guard);
        status = bz_deque_wait(&pool->pool.queue, &waiter);
        enum bz_status entered = bz_zoo_lock_acquire(&pool->guard);
        if (entered != BZ_OK) {
            bz_zoo_semaphore_wake_all_that_fit(&pool->pool);
            return entered;
        }
        pool->pool.value -= status == BZ_OK;
        if (status != BZ_OK && bz_waiter_was_woken(&waiter)) {
            rp_3056_put_back(pool);
        }
    }
    bz_zoo_lock_release(&pool->guard);
    return status;
}

BZ_ZOO_ENTRY(permit, rp_3056, BZ_ZOO_SEMAPHORE, .instance_bytes = sizeof(struct guarded),
             .init = guarded_init, .acquire = rp_3056_acquire, .view = guarded_view);

/* --- a permit is reserved when a waiter is woken ---------------------------------------------- */

/* A newcomer takes a free permit: those of woken waiters are not in the value. */
static bool try_unreserved(struct bz_zoo_semaphore *semaphore) {
    bool is_free = semaphore->value > 0 && bz_deque_oldest_asleep(&semaphore->queue) == NULL;
    semaphore->value -= is_free;
    return is_free;
}

/* go-63615: a waiter that is cancelled in the window gets OK.
 *
 * A waiter whose context is done when it has just been given its permit ignores the context:
 * acquire says OK. The permit is not lost, but the cancellation is: it is not reported again.
 *
 *     no permit is free; B waits; a release gives B a permit; B is cancelled: acquire says OK
 *
 * The cure: give the permit back, wake the next waiter, and report the cancellation. */
static enum bz_status go_63615_acquire(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    if (try_unreserved(semaphore)) {
        return BZ_OK;
    }
    struct bz_waiter waiter;
    enum bz_status status = bz_deque_wait(&semaphore->queue, &waiter);
    return bz_waiter_was_woken(&waiter) ? BZ_OK : status; /* the fault: even if cancelled */
}

BZ_ZOO_ENTRY(permit, go_63615, BZ_ZOO_SEMAPHORE_RESERVING, .acquire = go_63615_acquire);

/* mb-160: a waiter that is cancelled after it was given a permit loses the permit.
 *
 * A release gives the permit to the oldest waiter, so that it is no longer in the semaphore. If the
 * waiter is cancelled before it resumes, it leaves like any cancelled waiter, and the permit is
 * lost.
 *
 *     no permit is free; B waits; a release gives B a permit; B is cancelled: there is one permit
 *     less
 *
 * The cure: a cancelled waiter that was given a permit passes it on. (The project chose another
 * one: the cancellation takes effect later, at the next point where it can.) */
static enum bz_status mb_160_acquire(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    if (try_unreserved(semaphore)) {
        return BZ_OK;
    }
    struct bz_waiter waiter;
    return bz_deque_wait(&semaphore->queue, &waiter); /* the fault: even if it was given a permit */
}

BZ_ZOO_ENTRY(permit, mb_160, BZ_ZOO_SEMAPHORE_RESERVING, .acquire = mb_160_acquire);

/* shuttle-167: a permit that was given to a cancelled waiter goes back, and no waiter is woken for
 * it.
 *
 * This is the semaphore of a tool that tests programs under random schedules. It models the
 * semaphore of another library. A release gives the permit to the head of the queue. If the head is
 * dropped before it has looked, its permit is put back. In strict fairness no task takes a permit
 * before the waiters, and the waiters sleep.
 *
 *     no permit is free; B and C wait; a release gives B a permit; B is dropped: one is free, C
 *     waits
 *
 * The cure: when the head leaves, those behind it are served. */
static enum bz_status shuttle_167_acquire(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    if (try_unreserved(semaphore)) {
        return BZ_OK;
    }
    struct bz_waiter waiter;
    enum bz_status status = bz_deque_wait(&semaphore->queue, &waiter);
    if (status != BZ_OK && bz_waiter_was_woken(&waiter)) {
        semaphore->value++; /* the fault: no waiter is woken for it */
    }
    return status;
}

BZ_ZOO_ENTRY(permit, shuttle_167, BZ_ZOO_SEMAPHORE_RESERVING, .acquire = shuttle_167_acquire);

/* tk-1898: a waiter that is dropped leaves its node in the queue, and the node is given a permit.
 *
 * The mutex is a semaphore of one. A future that waits is a node of the queue. When it is dropped,
 * it gives back what it has acquired, but does not leave the queue. The node stays there, and when
 * its turn comes, it is given the permit forever.
 *
 * Here nodes outlive the tasks that waited, and so are not on their stacks. They are not shown to
 * the oracles that look inside. They see a task that waits for a permit that no task
 * has.
 *
 *     A holds; B waits and is dropped; A releases: the permit is B's, which has gone
 *
 * The cure: a future that is dropped leaves the queue. */
static enum bz_status tk_1898_release(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    struct bz_waiter *oldest = bz_deque_pop(&semaphore->queue);
    if (oldest == NULL) {
        semaphore->value++;
    } else {
        bz_future_set_result(&oldest->future, 0); /* refused if it was dropped */
        bz_zoo_request_drop(semaphore->queue.loop, oldest);
    }
    return BZ_OK;
}

static enum bz_status tk_1898_acquire(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    if (try_unreserved(semaphore)) {
        return BZ_OK;
    }
    struct bz_zoo_request *request = bz_zoo_request_new(semaphore->queue.loop);
    if (request == NULL) {
        return BZ_NO_MEMORY;
    }
    enum bz_status status = bz_deque_wait_and_stay(&semaphore->queue, &request->waiter);
    if (status != BZ_OK && bz_waiter_was_woken(&request->waiter)) {
        tk_1898_release(semaphore);
    } /* the fault: otherwise the node is still queued */
    bz_zoo_request_drop(semaphore->queue.loop, &request->waiter);
    return status;
}

BZ_ZOO_ENTRY(permit, tk_1898, BZ_ZOO_SEMAPHORE, .acquire = tk_1898_acquire,
             .release = tk_1898_release, .view = NULL);
