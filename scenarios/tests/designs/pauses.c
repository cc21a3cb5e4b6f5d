/* Semaphores whose acquire pauses: after it owns its permit, or before it waits. */
#include "scenarios/tests/designs/designs.h"

struct pausing {
    struct bz_loop *loop;
    struct bz_list queue; /* those that were promised nothing yet */
    uint32_t free;        /* promised to nobody */
    uint32_t promised;    /* to tasks whose acquire has not returned */
    uint32_t held;
    bool is_bounded;
};

static enum bz_status pausing_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct pausing *self = instance;
    self->loop = loop;
    self->free = permits;
    bz_list_init(&self->queue);
    return BZ_OK;
}

static enum bz_status bounded_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    ((struct pausing *)instance)->is_bounded = true;
    return pausing_init(instance, loop, permits);
}

static bool pausing_locked(void *instance) {
    const struct pausing *self = instance;
    return self->free == 0 || self->promised > 0 || !bz_list_is_empty(&self->queue);
}

static void wake_all_that_fit(struct pausing *self) {
    while (self->free > 0 && place_wake_first(&self->queue)) {
        self->free--;
        self->promised++;
    }
}

static enum bz_status pausing_release(void *instance) {
    struct pausing *self = instance;
    if (self->held == 0 && self->is_bounded) {
        return BZ_NOT_HELD;
    }
    self->held -= self->held > 0;
    self->free++;
    wake_all_that_fit(self);
    return BZ_OK;
}

/* A task that was promised a permit takes it, or is cancelled and gives it back. */
static enum bz_status settle(struct pausing *self, enum bz_status status) {
    self->promised--;
    self->held += status == BZ_OK;
    self->free += status != BZ_OK;
    wake_all_that_fit(self);
    return status;
}

static void pausing_view(void *instance, struct bz_permit_view *view) {
    const struct pausing *self = instance;
    place_view(&self->queue, view);
    view->level = self->free + (uint64_t)self->promised;
}

/* --- dispatching, resting --------------------------------------------------------------------- */

typedef enum bz_status (*pause_fn)(struct bz_loop *loop);

/* A task that owns a permit pauses before its acquire returns. */
static enum bz_status acquire_and_pause(struct pausing *self, pause_fn pause) {
    if (!pausing_locked(self)) {
        self->free--;
        self->promised++;
        return settle(self, pause(self->loop));
    }
    struct place place;
    place_join(&self->queue, &place, self->loop);
    enum bz_status status = bz_future_await(&place.future);
    place_leave(&place);
    wake_all_that_fit(self);
    if (!place_is_woken(&place)) {
        return status;
    }
    return settle(self, status == BZ_OK ? pause(self->loop) : status);
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

#define PAUSING_OPS(init_, acquire_)                                                               \
    &(const struct bz_permit_ops) {                                                                \
        .instance_bytes = sizeof(struct pausing), .init = init_, .acquire = acquire_,              \
        .release = pausing_release, .locked = pausing_locked, .view = pausing_view                 \
    }
#define PAUSING_CLAIMS                                                                             \
    (BZ_CLAIM_FIFO | BZ_CLAIM_LOCKED_EXACT | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_WAKE_IS_GRANT |    \
     BZ_CLAIM_WORK_CONSERVING | BZ_CLAIM_NO_PASSING)

DESIGN(dispatching, PAUSING_CLAIMS, "acquire yields once when it has its permit",
       ALL_PERMITS(PAUSING_OPS(pausing_init, dispatching_acquire),
                   PAUSING_OPS(bounded_init, dispatching_acquire)));

DESIGN(resting, PAUSING_CLAIMS, "acquire sleeps once when it has its permit",
       ALL_PERMITS(PAUSING_OPS(pausing_init, resting_acquire),
                   PAUSING_OPS(bounded_init, resting_acquire)));

/* --- early_entry ------------------------------------------------------------------------------ */

/* A task that has to wait enters the queue, yields, and only then awaits its future, which may have
 * its result by then. */
static enum bz_status early_entry_acquire(void *instance) {
    struct pausing *self = instance;
    if (!pausing_locked(self)) {
        self->free--;
        self->held++;
        return BZ_OK;
    }
    struct place place;
    place_join(&self->queue, &place, self->loop);
    enum bz_status status = bz_yield(self->loop);
    status = status == BZ_OK ? bz_future_await(&place.future) : status;
    place_leave(&place);
    if (place_is_woken(&place)) {
        return settle(self, status);
    }
    wake_all_that_fit(self);
    return status;
}

DESIGN(early_entry, PAUSING_CLAIMS, "a waiter yields between its entry and its await",
       ALL_PERMITS(PAUSING_OPS(pausing_init, early_entry_acquire),
                   PAUSING_OPS(bounded_init, early_entry_acquire)));
