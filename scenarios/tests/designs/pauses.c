/* Semaphores whose acquire pauses: after it owns its permit, or before it waits. */
#include "scenarios/tests/designs/semaphore.h"

static bool pausing_locked(void *instance) {
    const struct semaphore *self = instance;
    return self->value == 0 || self->promised > 0 || !bz_list_is_empty(&self->queue.entries);
}

static void wake_all_that_fit(struct semaphore *self) {
    while (self->value > 0 && bz_deque_pop_and_wake(&self->queue)) {
        self->value--;
        self->promised++;
    }
}

static enum bz_status settle(struct semaphore *self, enum bz_status status) {
    (void)semaphore_settle(self, status);
    wake_all_that_fit(self);
    return status;
}

static enum bz_status pausing_release(void *instance) {
    return semaphore_release_by(instance, wake_all_that_fit);
}

#define PAUSING(name, summary)                                                                     \
    DESIGN(name,                                                                                   \
           BZ_CLAIM_FIFO | BZ_CLAIM_LOCKED_EXACT | BZ_CLAIM_REFUSES_MISUSE |                       \
               BZ_CLAIM_WAKE_IS_GRANT | BZ_CLAIM_WORK_CONSERVING | BZ_CLAIM_NO_PASSING,            \
           summary,                                                                                \
           ALL_PERMITS(PAUSING_OPS(semaphore_init, name##_acquire),                                \
                       PAUSING_OPS(semaphore_init_bounded, name##_acquire)))
#define PAUSING_OPS(init_, acquire_)                                                               \
    &(const struct bz_permit_ops) {                                                                \
        .instance_bytes = sizeof(struct semaphore), .init = init_, .acquire = acquire_,            \
        .release = pausing_release, .locked = pausing_locked, .view = semaphore_view               \
    }

/* --- dispatching, resting --------------------------------------------------------------------- */

typedef enum bz_status (*pause_fn)(struct bz_loop *loop);

/* A task that owns a permit pauses before its acquire returns. */
static enum bz_status acquire_and_pause(struct semaphore *self, pause_fn pause) {
    struct bz_loop *loop = self->queue.loop;
    if (!pausing_locked(self)) {
        self->value--;
        self->promised++;
        return settle(self, pause(loop));
    }
    struct bz_waiter waiter;
    enum bz_status status = bz_deque_wait(&self->queue, &waiter);
    wake_all_that_fit(self);
    if (!bz_waiter_was_woken(&waiter)) {
        return status;
    }
    return settle(self, status == BZ_OK ? pause(loop) : status);
}

/* Others run once, as with Trio. */
static enum bz_status dispatching_acquire(void *instance) {
    return acquire_and_pause(instance, bz_yield);
}

static enum bz_status rest(struct bz_loop *loop) {
    return bz_sleep(loop, 2);
}

static enum bz_status resting_acquire(void *instance) {
    return acquire_and_pause(instance, rest);
}

PAUSING(dispatching, "acquire yields once when it has its permit");
PAUSING(resting, "acquire sleeps once when it has its permit");

/* --- early_entry ------------------------------------------------------------------------------ */

/* A task that has to wait enters the queue, yields, and only then awaits its future, which may have
 * its result by then. */
static enum bz_status early_entry_acquire(void *instance) {
    struct semaphore *self = instance;
    if (!pausing_locked(self)) {
        return semaphore_take(self);
    }
    struct bz_waiter waiter;
    bz_future_init(&waiter.future, self->queue.loop);
    bz_list_push_back(&self->queue.entries, &waiter.link);
    enum bz_status status = bz_yield(self->queue.loop);
    status = status == BZ_OK ? bz_future_await(&waiter.future) : status;
    bz_deque_remove(&waiter);
    if (bz_waiter_was_woken(&waiter)) {
        return settle(self, status);
    }
    wake_all_that_fit(self);
    return status;
}

PAUSING(early_entry, "a waiter yields between its entry and its await");
