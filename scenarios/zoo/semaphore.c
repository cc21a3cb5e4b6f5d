/* Semaphores of CPython's asyncio, and one entry each of its neighbours with the same code. */
#include "primitives/runtime/timeout.h"
#include "scenarios/zoo/parts.h"

/* --- a woken waiter takes its permit when it resumes ------------------------------------------ */

/* sem-woken-cancel: a woken waiter that is cancelled keeps the wake-up to itself.
 *
 * release adds to the value and wakes the oldest waiter, who takes the permit when it resumes. If
 * it is cancelled in between, it leaves, the permit stays in the value, and the next waiter is not
 * told. In the restaurant: the guest whose buzzer goes off walks out with it.
 *
 * The cure: whoever leaves without the permit it was woken for wakes the next. */
static enum bz_status sem_woken_cancel_acquire(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    if (bz_zoo_semaphore_try(semaphore)) {
        return BZ_OK;
    }
    struct bz_waiter waiter;
    enum bz_status status = bz_deque_wait(&semaphore->queue, &waiter);
    if (status != BZ_OK) {
        return status; /* the fault: it may have been woken, and nobody else is */
    }
    semaphore->value--;
    bz_zoo_semaphore_wake_all_that_fit(semaphore); /* newcomers that queued behind us */
    return BZ_OK;
}

const struct bz_permit_ops bz_zoo_ops_sem_woken_cancel = {BZ_ZOO_SEMAPHORE,
                                                          .acquire = sem_woken_cancel_acquire};

/* sem-stale-queue: a newcomer takes a free permit only if the queue is empty.
 *
 * lock-stale-queue with a count. A cancelled waiter is in the queue until its task resumes; a
 * permit that is released meanwhile wakes nobody, which is right. But who comes before that task
 * resumes lines up behind the dead entry, beside a free permit, and nobody will wake it.
 *
 *     no permit is free; B waits and is cancelled; A releases; D comes: D waits for ever
 *
 * The cure: a permit is to be had if every entry of the queue is cancelled. */
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

const struct bz_permit_ops bz_zoo_ops_sem_stale_queue = {BZ_ZOO_SEMAPHORE,
                                                         .acquire = sem_stale_queue_acquire};

/* sem-barge: a permit that was given back is there for whoever comes first.
 *
 * release adds to the value and wakes the oldest waiter; acquire takes a permit whenever the value
 * is above 0, and does not look at the queue. So a task that releases and at once acquires again is
 * ahead of the waiter that it has just woken; and that waiter, when it finds nothing, queues again,
 * at the end: it has lost its place, too. It can go on so for ever.
 *
 * The cure: whoever finds somebody in the queue, woken or waiting, goes to its end; and the permit
 * is the woken one's from the wake-up on. (No wake-up is a grant here: the woken one looks again.)
 */
static enum bz_status sem_barge_acquire(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    while (semaphore->value == 0) { /* the fault: nothing is kept for those who were woken */
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

const struct bz_permit_ops bz_zoo_ops_sem_barge = {BZ_ZOO_SEMAPHORE, .acquire = sem_barge_acquire,
                                                   .release = sem_barge_release};

/* al-23: a woken waiter tries again like anybody, and may be beaten for ever.
 *
 * This is sem-barge in another house, and has its code. acquire tries; if there is no permit, it
 * listens for a release, and tries again when it was woken. The permit is there for anybody who
 * tries first. Whoever was beaten listens anew, at the end of the queue: it has lost its place as
 * well, and nothing bounds how often. No order is promised here, so that what is left to say is how
 * often a waiter is beaten.
 *
 *     one permit: A has it, B listens; A releases, B is woken, A acquires; B listens again; and so
 *     on
 *
 * The cure: the permit is the woken one's from the wake-up on. */
const struct bz_permit_ops bz_zoo_ops_al_23 = {BZ_ZOO_SEMAPHORE, .acquire = sem_barge_acquire,
                                               .release = sem_barge_release};

/* sem-flag-stuck: a flag that says "a wake-up is under way", and stays up.
 *
 * To keep newcomers from barging, a flag is raised at each wake-up and turns newcomers away; the
 * woken waiter takes it down when it resumes. A woken waiter that was cancelled passes the wake-up
 * on, but if there is nobody to take it, the flag stays up: from then on everybody who comes waits
 * for a wake-up that is not under way, next to a free permit.
 *
 * The historical code also took the flag down while others were still on their way, and woke one
 * waiter where two would fit; both are left out here, so that the stuck flag is the only fault.
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
    } /* the fault: who was cancelled leaves the flag as it is */
    flagged->is_wake_scheduled |= bz_zoo_semaphore_wake_all_that_fit(semaphore);
    return status;
}

static enum bz_status sem_flag_stuck_release(void *instance) {
    struct sem_flag_stuck *flagged = instance;
    flagged->semaphore.value++;
    flagged->is_wake_scheduled |= bz_zoo_semaphore_wake_all_that_fit(&flagged->semaphore);
    return BZ_OK;
}

const struct bz_permit_ops bz_zoo_ops_sem_flag_stuck = {
    BZ_ZOO_SEMAPHORE, .instance_bytes = sizeof(struct sem_flag_stuck),
    .acquire = sem_flag_stuck_acquire, .release = sem_flag_stuck_release};

/* sem-locked-window: locked() looks at the value alone.
 *
 * A permit that a waiter was woken for is in the value until that waiter has resumed. Until then
 * locked() is false, although an acquire would have to wait behind it.
 *
 *     no permit is free; B waits; A releases: until B has resumed, locked() is false
 *
 * The cure: locked() also asks whether a live waiter is in the queue, as acquire does. */
static bool sem_locked_window_locked(void *instance) {
    const struct bz_zoo_semaphore *semaphore = instance;
    return semaphore->value == 0; /* the fault: false in the window */
}

const struct bz_permit_ops bz_zoo_ops_sem_locked_window = {BZ_ZOO_SEMAPHORE,
                                                           .locked = sem_locked_window_locked};

/* sem-stale-flag: locked() is a flag of its own, beside the value, and the two disagree.
 *
 * The flag goes up when an acquire takes the last permit, and down in every release, whoever the
 * permit is for. A constructor with no permits does not put it up at all: Semaphore(0) says that it
 * is not locked, and so does any semaphore whose last permit has just been promised to a waiter.
 *
 *     no permit is free; B waits; A releases: the flag is down until B has resumed
 *
 * The cure: no flag. locked() is computed, of the value and, as of later, of the queue. */
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
    flagged->is_locked = false; /* the fault: the permit may be somebody's */
    return bz_zoo_semaphore_release(&flagged->semaphore);
}

static bool sem_stale_flag_locked(void *instance) {
    const struct sem_stale_flag *flagged = instance;
    return flagged->is_locked;
}

const struct bz_permit_ops bz_zoo_ops_sem_stale_flag = {
    BZ_ZOO_SEMAPHORE, .instance_bytes = sizeof(struct sem_stale_flag),
    .acquire = sem_stale_flag_acquire, .release = sem_stale_flag_release,
    .locked = sem_stale_flag_locked};

/* tw-overrelease: what forbids a release too many is an assertion, and assertions are off.
 *
 * The bound of the semaphore is checked by an assert statement, which an optimizing interpreter
 * leaves out. A release of what nobody holds is accepted then, and adds a permit for good.
 *
 *     every permit is free; A releases, and is told OK: one more than there should be
 *
 * The cure: an error that does not depend on how the program is run. */
static enum bz_status tw_overrelease_release(void *instance) {
    return bz_zoo_semaphore_release(instance); /* the fault: no look at the bound */
}

const struct bz_permit_ops bz_zoo_ops_tw_overrelease = {BZ_ZOO_SEMAPHORE,
                                                        .release = tw_overrelease_release};

/* --- a permit is reserved when a waiter is woken ---------------------------------------------- */

/* sem-noncancel-exit: a waiter that was given a permit and leaves by anything but a cancellation
 * keeps it.
 *
 * The wake-up takes the permit out of the value; a waiter that is cancelled in the window puts it
 * back. One whose coroutine is closed, or is given another exception, does not: the permit is gone.
 *
 * A status stands for the exception here. An acquire of this semaphore has a deadline of its own:
 * when it comes in the window, the acquire ends with BZ_TIMED_OUT, and that is not BZ_CANCELLED.
 *
 *     no permit is free; B waits; A releases; B's deadline comes before B has resumed: none is left
 *
 * The cure: whoever leaves without the permit that was reserved for it puts it back. */
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
    if (status == BZ_CANCELLED && bz_waiter_was_woken(&waiter)) { /* the fault: no other way */
        semaphore->value++;
    }
    bz_zoo_semaphore_reserve(semaphore);
    return status;
}

const struct bz_permit_ops bz_zoo_ops_sem_noncancel_exit = {BZ_ZOO_SEMAPHORE_RESERVING,
                                                            .acquire = sem_noncancel_exit_acquire};

/* sem-one-wake: who resumes wakes one waiter, where several would fit.
 *
 * Permits that are released while a woken waiter is on its way are left for newcomers; these see
 * the woken one and queue. When it resumes, it wakes the first of them, and that one the next when
 * it resumes in turn: one permit a turn, while the others lie free and their waiters sleep. Nobody
 * is forgotten, so that nothing hangs; the work is only later than it could be.
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

static enum bz_status sem_one_wake_release(void *instance) {
    return bz_zoo_semaphore_release_by(instance, sem_one_wake_reserve);
}

static bool sem_one_wake_locked(void *instance) {
    const struct bz_zoo_semaphore *semaphore = instance;
    return semaphore->value == 0 || bz_deque_has_live(&semaphore->queue);
}

const struct bz_permit_ops bz_zoo_ops_sem_one_wake = {
    BZ_ZOO_SEMAPHORE_RESERVING, .acquire = sem_one_wake_acquire, .release = sem_one_wake_release,
    .locked = sem_one_wake_locked};

/* sem-throw-pending: a waiter that leaves puts back a permit that it was never given.
 *
 * On the way out a waiter puts the permit back unless its future was cancelled. A future that is
 * still pending was not cancelled either. With asyncio's own tasks there is none: they cancel what
 * they wait for. But a coroutine may be driven by somebody else, who throws the cancellation into
 * it and leaves the future alone; then each cancelled waiter makes a permit out of nothing.
 *
 * The task waits on a driver here, behind the future that is woken; a cancel ends the driver alone.
 *
 *     no permit is free; B waits and is cancelled: the value is 1
 *
 * The cure: put back only what was given, that is, if the future has a result. */
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

static enum bz_status sem_throw_pending_release(void *instance) {
    return bz_zoo_semaphore_release_by(instance, sem_throw_pending_reserve);
}

static void sem_throw_pending_view(void *instance, struct bz_permit_view *view) {
    const struct bz_zoo_semaphore *semaphore = instance;
    struct bz_waiter *driver = NULL;
    bz_zoo_semaphore_view(instance, view);
    while ((driver = bz_deque_next(&semaphore->queue, driver)) != NULL) {
        view->level += future_of(driver)->state == BZ_FUTURE_RESULT;
    }
}

const struct bz_permit_ops bz_zoo_ops_sem_throw_pending = {
    BZ_ZOO_SEMAPHORE, .acquire = sem_throw_pending_acquire, .release = sem_throw_pending_release,
    .view = sem_throw_pending_view};
