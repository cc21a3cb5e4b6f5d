/* Semaphores of CPython's asyncio, and entries of other projects with the same code. */
#include "primitives/runtime/timeout.h"
#include "scenarios/zoo/parts.h"

/* --- a woken waiter takes its permit when it resumes ------------------------------------------ */

/* sem-woken-cancel: a woken waiter that is cancelled does not pass the wake-up on.
 *
 * A release adds to the value and wakes the oldest waiter, which takes the permit when it resumes.
 * If it is cancelled in between, it leaves, the permit stays in the value, and the next waiter is
 * not woken. In the restaurant: the guest whose buzzer goes off walks out with it.
 *
 *     no permit is free; B and C wait; A releases; B is cancelled in the window: C waits forever
 *
 * The cure: a waiter that leaves without the permit it was woken for wakes the next one. */
static enum bz_status sem_woken_cancel_acquire(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    if (bz_zoo_semaphore_try(semaphore)) {
        return BZ_OK;
    }
    struct bz_waiter waiter;
    enum bz_status status = bz_deque_wait(&semaphore->queue, &waiter);
    if (status != BZ_OK) {
        return status; /* the fault: it may have been woken, and no other waiter is */
    }
    semaphore->value--;
    bz_zoo_semaphore_wake_all_that_fit(semaphore); /* newcomers that have queued meanwhile */
    return BZ_OK;
}

BZ_ZOO_ENTRY(permit, sem_woken_cancel, BZ_ZOO_SEMAPHORE, .acquire = sem_woken_cancel_acquire);

/* sem-stale-queue: a newcomer takes a free permit only if the queue is empty.
 *
 * This is lock-stale-queue with a count. A cancelled waiter is in the queue until its task resumes.
 * A permit that is released meanwhile wakes no waiter, which is right. But a task that comes before
 * the cancelled one has resumed queues behind the dead entry, next to a free permit. No task will
 * wake it.
 *
 *     no permit is free; B waits and is cancelled; A releases; D comes: D waits forever
 *
 * The cure: a newcomer takes a permit if one is free and every entry of the queue is cancelled. */
static enum bz_status sem_stale_queue_acquire(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    if (semaphore->value > 0 && bz_list_is_empty(&semaphore->queue.entries)) { /* the fault */
        semaphore->value--;
        return BZ_OK;
    }
    struct bz_waiter waiter;
    enum bz_status status = bz_deque_wait(&semaphore->queue, &waiter);
    semaphore->value -= status == BZ_OK;
    if (bz_waiter_was_woken(&waiter)) {
        bz_zoo_semaphore_wake_all_that_fit(semaphore);
    }
    return status;
}

BZ_ZOO_ENTRY(permit, sem_stale_queue, BZ_ZOO_SEMAPHORE, .acquire = sem_stale_queue_acquire);

/* sem-barge: a permit that was released goes to the first task that asks for it.
 *
 * A release adds to the value and wakes the oldest waiter. An acquire takes a permit whenever the
 * value is above 0, and does not look at the queue. So a task that releases and acquires again at
 * once is ahead of the waiter that it has just woken. That waiter finds nothing and queues again at
 * the end: it has also lost its place. This can repeat without end.
 *
 *     one permit: A has it, B waits; A releases, B is woken, A acquires: B queues again
 *
 * The cure: a task that finds another in the queue, woken or waiting, joins its end, and the
 * permit is reserved from the wake-up on. (Here no wake-up is a grant: the woken waiter looks
 * again.) */
static enum bz_status sem_barge_acquire(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    while (semaphore->value == 0) { /* the fault: nothing is reserved for woken waiters */
        struct bz_waiter waiter;
        enum bz_status status = bz_deque_wait(&semaphore->queue, &waiter);
        if (status != BZ_OK) {
            if (bz_waiter_was_woken(&waiter) && semaphore->value > 0) {
                bz_deque_wake_oldest(&semaphore->queue);
            }
            return status;
        }
    }
    semaphore->value--;
    return BZ_OK;
}

static enum bz_status sem_barge_release(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    semaphore->value++;
    bz_deque_wake_oldest(&semaphore->queue);
    return BZ_OK;
}

BZ_ZOO_ENTRY(permit, sem_barge, BZ_ZOO_SEMAPHORE, .acquire = sem_barge_acquire,
             .release = sem_barge_release);

/* al-23: a woken waiter tries again like any other task, and may be overtaken forever.
 *
 * This is sem-barge in another project, and has its code. An acquire tries; if there is no permit,
 * it listens for a release, and tries again when it was woken. The permit is free for every task
 * that tries first. A waiter that was overtaken listens again at the end of the queue. Nothing
 * bounds how often. No order is promised here, so that only the number of times that a waiter is
 * overtaken can be judged.
 *
 *     one permit: A has it, B listens; A releases, B is woken, A acquires; B listens again; and so
 *     on
 *
 * The cure: from the wake-up on, the permit is reserved for the woken waiter. */
BZ_ZOO_ENTRY(permit, al_23, BZ_ZOO_SEMAPHORE, .acquire = sem_barge_acquire,
             .release = sem_barge_release);

/* sem-flag-stuck: a flag that says "a wake-up is under way" is never cleared.
 *
 * To keep newcomers from overtaking, each wake-up sets a flag that sends newcomers to the queue.
 * The woken waiter clears it when it resumes. A woken waiter that was cancelled passes the wake-up
 * on, but if there is no task to take it, the flag stays set. From then on every newcomer waits
 * next to a free permit for a wake-up that is not under way.
 *
 *     no permit is free; B waits; A releases; B is cancelled and leaves; D comes: D waits forever
 *
 * The historical code also cleared the flag while others were still on their way, and woke one
 * waiter where two would fit. Both are left out here, so that the stuck flag is the only fault.
 *
 * The cure: look at the queue instead of at a flag. */
struct sem_flag_stuck {
    struct bz_zoo_semaphore semaphore;
    bool is_wake_scheduled;
};

static enum bz_status sem_flag_stuck_acquire(void *instance) {
    struct sem_flag_stuck *flagged = instance;
    struct bz_zoo_semaphore *semaphore = &flagged->semaphore;
    if (semaphore->value > 0 && !flagged->is_wake_scheduled) {
        semaphore->value--;
        return BZ_OK;
    }
    struct bz_waiter waiter;
    enum bz_status status = bz_deque_wait(&semaphore->queue, &waiter);
    if (status == BZ_OK) {
        semaphore->value--;
        flagged->is_wake_scheduled = bz_deque_count(&semaphore->queue, BZ_FUTURE_RESULT) > 0;
    } /* the fault: a cancelled waiter leaves the flag as it is */
    flagged->is_wake_scheduled |= bz_zoo_semaphore_wake_all_that_fit(semaphore);
    return status;
}

static enum bz_status sem_flag_stuck_release(void *instance) {
    struct sem_flag_stuck *flagged = instance;
    flagged->semaphore.value++;
    flagged->is_wake_scheduled |= bz_zoo_semaphore_wake_all_that_fit(&flagged->semaphore);
    return BZ_OK;
}

BZ_ZOO_ENTRY(permit, sem_flag_stuck, BZ_ZOO_SEMAPHORE,
             .instance_bytes = sizeof(struct sem_flag_stuck), .acquire = sem_flag_stuck_acquire,
             .release = sem_flag_stuck_release);

/* sem-locked-window: locked() looks at the value alone.
 *
 * A permit that a waiter was woken for is in the value until that waiter has resumed. Until then
 * locked() is false, although an acquire would have to wait behind the waiter.
 *
 *     no permit is free; B waits; A releases: until B has resumed, locked() is false
 *
 * The cure: locked() also asks whether a live waiter is in the queue, as acquire does. */
BZ_ZOO_ENTRY(permit, sem_locked_window,
             BZ_ZOO_SEMAPHORE); /* the fault: its locked() is false in the window */

/* sem-stale-flag: locked() is a flag next to the value, and the two disagree.
 *
 * An acquire that takes the last permit sets the flag. Every release clears it, even if the permit
 * is promised to a waiter. A constructor with no permits does not set it at all. So Semaphore(0)
 * says that it is not locked, and so does any semaphore whose last permit has just been promised.
 *
 *     no permit is free; B waits; A releases: the flag is clear until B has resumed
 *
 * The cure: compute locked() from the value. (Later versions also look at the queue.) */
struct sem_stale_flag {
    struct bz_zoo_semaphore semaphore;
    bool is_locked;
};

static enum bz_status sem_stale_flag_acquire(void *instance) {
    struct sem_stale_flag *flagged = instance;
    enum bz_status status = bz_zoo_semaphore_acquire(&flagged->semaphore);
    flagged->is_locked |= status == BZ_OK && flagged->semaphore.value == 0;
    return status;
}

static enum bz_status sem_stale_flag_release(void *instance) {
    struct sem_stale_flag *flagged = instance;
    flagged->is_locked = false; /* the fault: the permit may be promised */
    return bz_zoo_semaphore_release(&flagged->semaphore);
}

static bool sem_stale_flag_locked(void *instance) {
    const struct sem_stale_flag *flagged = instance;
    return flagged->is_locked;
}

BZ_ZOO_ENTRY(permit, sem_stale_flag, BZ_ZOO_SEMAPHORE,
             .instance_bytes = sizeof(struct sem_stale_flag), .acquire = sem_stale_flag_acquire,
             .release = sem_stale_flag_release, .locked = sem_stale_flag_locked);

/* tw-overrelease: only an assertion refuses a release too many, and assertions are off.
 *
 * The bound of the semaphore is checked by an assert statement, which `python -O` leaves out. Then
 * a release of a permit that no task holds is accepted, and adds a permit for good.
 *
 *     every permit is free; A releases, and gets OK: there is one permit more than there should be
 *
 * The cure: an error that does not depend on how the program is run. */
BZ_ZOO_ENTRY(permit, tw_overrelease,
             BZ_ZOO_SEMAPHORE); /* the fault: its release does not test the bound */

/* --- a permit is reserved when a waiter is woken ---------------------------------------------- */

/* sem-noncancel-exit: a waiter that was given a permit and leaves by anything but a cancellation
 * keeps it.
 *
 * The wake-up takes the permit out of the value. A waiter that is cancelled in the window puts it
 * back. A waiter whose coroutine is closed, or into which another exception is thrown, does not:
 * the permit is lost.
 *
 * Here a status stands for that exception. An acquire of this semaphore has a deadline of its own:
 * if it comes in the window, the acquire ends with BZ_TIMED_OUT, which is not BZ_CANCELLED.
 *
 *     no permit is free; B waits; A releases; B's deadline comes before B has resumed: none is left
 *
 * The cure: a waiter that leaves without the permit that was reserved for it puts it back. */
#define SEM_NONCANCEL_EXIT_NS 100u

static enum bz_status sem_noncancel_exit_acquire(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    if (bz_zoo_semaphore_try(semaphore)) {
        return BZ_OK;
    }
    struct bz_timeout deadline;
    struct bz_waiter waiter;
    enum bz_status status =
        bz_timeout_enter(semaphore->queue.loop, &deadline, SEM_NONCANCEL_EXIT_NS);
    if (status != BZ_OK) {
        return status;
    }
    status = bz_timeout_exit(&deadline, bz_deque_wait(&semaphore->queue, &waiter));
    if (status == BZ_CANCELLED && bz_waiter_was_woken(&waiter)) { /* the fault: only then */
        semaphore->value++;
    }
    bz_zoo_semaphore_reserve(semaphore);
    return status;
}

BZ_ZOO_ENTRY(permit, sem_noncancel_exit, BZ_ZOO_SEMAPHORE_RESERVING,
             .acquire = sem_noncancel_exit_acquire);

/* sem-one-wake: a waiter that resumes wakes one other, where several would fit.
 *
 * Permits that are released while a woken waiter is on its way are left in the value. Newcomers see
 * the woken waiter, and queue. When it resumes, it wakes the first, which wakes the next
 * when it resumes in turn. That hands out one permit a turn, while the others are free and their
 * waiters sleep. No task waits forever: the work is only later than it could be.
 *
 *     three permits are held, A waits; all three are released; B and C come and queue behind A;
 *     A resumes with two permits free, and wakes B alone
 *
 * The cure: wake as long as there are permits and waiters. */
static void sem_one_wake_reserve(struct bz_zoo_semaphore *semaphore) {
    if (semaphore->value > 0 && bz_deque_wake_oldest(&semaphore->queue)) { /* the fault: one */
        semaphore->value--;
    }
}

static enum bz_status sem_one_wake_acquire(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    if (bz_zoo_semaphore_try(semaphore)) {
        return BZ_OK;
    }
    struct bz_waiter waiter;
    enum bz_status status = bz_deque_wait(&semaphore->queue, &waiter);
    semaphore->value += status != BZ_OK && bz_waiter_was_woken(&waiter);
    sem_one_wake_reserve(semaphore);
    return status;
}

BZ_ZOO_RELEASE_BY(semaphore, sem_one_wake_release, sem_one_wake_reserve)

static bool sem_one_wake_locked(void *instance) {
    const struct bz_zoo_semaphore *semaphore = instance;
    return semaphore->value == 0 || bz_deque_has_live(&semaphore->queue);
}

BZ_ZOO_ENTRY(permit, sem_one_wake, BZ_ZOO_SEMAPHORE_RESERVING, .acquire = sem_one_wake_acquire,
             .release = sem_one_wake_release, .locked = sem_one_wake_locked);

/* sem-throw-pending: a waiter that leaves puts back a permit that it was never given.
 *
 * On its way out a waiter puts a permit back unless its future was cancelled. asyncio's own tasks
 * cancel the future that they wait for. But other code may drive the coroutine, throw the
 * cancellation into it and leave the future pending. Then each cancelled waiter adds a permit.
 *
 * Here the task waits for a driver, behind the future that is woken. A cancel ends the driver
 * alone.
 *
 *     no permit is free; B waits and is cancelled: the value is 1
 *
 * The cure: put a permit back only if the future has a result. */
struct driven {
    struct bz_waiter driver; /* what the task waits on */
    struct bz_future future; /* what is woken */
};

static struct bz_future *future_of(struct bz_waiter *driver) {
    return &bz_container_of(driver, struct driven, driver)->future;
}

static void sem_throw_pending_reserve(struct bz_zoo_semaphore *semaphore) {
    struct bz_waiter *driver = NULL;
    while (semaphore->value > 0 && (driver = bz_deque_next(&semaphore->queue, driver)) != NULL) {
        if (bz_future_set_result(future_of(driver), 0) == BZ_OK) {
            semaphore->value--;
            bz_future_set_result(&driver->future, 0);
        }
    }
}

static enum bz_status sem_throw_pending_acquire(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    if (bz_zoo_semaphore_try(semaphore)) {
        return BZ_OK;
    }
    struct driven self;
    bz_future_init(&self.future, semaphore->queue.loop);
    enum bz_status status = bz_deque_wait(&semaphore->queue, &self.driver);
    semaphore->value += status != BZ_OK && self.future.state != BZ_FUTURE_CANCELLED; /* the fault */
    sem_throw_pending_reserve(semaphore);
    return status;
}

BZ_ZOO_RELEASE_BY(semaphore, sem_throw_pending_release, sem_throw_pending_reserve)

static void sem_throw_pending_view(void *instance, struct bz_permit_view *view) {
    const struct bz_zoo_semaphore *semaphore = instance;
    struct bz_waiter *driver = NULL;
    bz_zoo_semaphore_view(instance, view);
    while ((driver = bz_deque_next(&semaphore->queue, driver)) != NULL) {
        view->level += future_of(driver)->state == BZ_FUTURE_RESULT;
    }
}

BZ_ZOO_ENTRY(permit, sem_throw_pending, BZ_ZOO_SEMAPHORE, .acquire = sem_throw_pending_acquire,
             .release = sem_throw_pending_release, .view = sem_throw_pending_view);
