/* Semaphores with a queue and a rule of their own for whom to wake. */
#include "scenarios/tests/designs/semaphore.h"
#include "scenarios/zoo/parts.h"

/* --- baton ------------------------------------------------------------------------------------ */

/* At most one task is woken at a time. It passes the baton on when it resumes, whether it takes a
 * permit or was cancelled. */
struct baton {
    struct semaphore semaphore;
    bool is_on_its_way; /* somebody was woken and has not resumed */
};

static void baton_pass(struct baton *self) {
    self->is_on_its_way =
        self->semaphore.value > 0 && bz_deque_pop_and_wake(&self->semaphore.queue);
}

static bool baton_locked(void *instance) {
    const struct baton *self = instance;
    return self->semaphore.value == 0 || self->is_on_its_way ||
           bz_deque_count(&self->semaphore.queue, BZ_FUTURE_PENDING) > 0;
}

static enum bz_status baton_acquire(void *instance) {
    struct baton *self = instance;
    if (!baton_locked(self)) {
        return semaphore_take(&self->semaphore);
    }
    struct bz_waiter waiter;
    enum bz_status status = bz_deque_wait(&self->semaphore.queue, &waiter);
    if (status == BZ_OK) {
        (void)semaphore_take(&self->semaphore);
    }
    if (bz_waiter_was_woken(&waiter)) {
        baton_pass(self);
    }
    return status;
}

static enum bz_status baton_release(void *instance) {
    struct baton *self = instance;
    if (!semaphore_give(&self->semaphore)) {
        return BZ_NOT_HELD;
    }
    if (!self->is_on_its_way) {
        baton_pass(self);
    }
    return BZ_OK;
}

SEMAPHORE(baton, baton,
          BZ_CLAIM_FIFO | BZ_CLAIM_LOCKED_EXACT | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_WAKE_IS_GRANT |
              BZ_CLAIM_NO_PASSING,
          "one task at a time is on its way, and wakes the next", .locked = baton_locked,
          .view = semaphore_view);

/* --- two_stage -------------------------------------------------------------------------------- */

/* A queue before the door, and one task inside, which waits for a permit. */
struct two_stage {
    struct semaphore semaphore;
    struct bz_future *seat; /* of the task that waits inside the door */
    bool is_door_closed;    /* a task is inside */
};

static enum bz_status two_stage_sit(struct two_stage *self) {
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && self->semaphore.value == 0) {
        struct bz_future seat;
        bz_future_init(&seat, self->semaphore.queue.loop);
        self->seat = &seat;
        status = bz_future_await(&seat);
        self->seat = NULL;
    }
    return status;
}

static enum bz_status two_stage_acquire(void *instance) {
    struct two_stage *self = instance;
    enum bz_status status = BZ_OK;
    if (self->is_door_closed) {
        struct bz_waiter waiter;
        status = bz_deque_wait(&self->semaphore.queue, &waiter);
        if (!bz_waiter_was_woken(&waiter)) {
            return status;
        }
    }
    self->is_door_closed = true;
    status = status == BZ_OK ? two_stage_sit(self) : status;
    if (status == BZ_OK) {
        (void)semaphore_take(&self->semaphore);
    }
    self->is_door_closed = bz_deque_pop_and_wake(&self->semaphore.queue);
    return status;
}

static enum bz_status two_stage_release(void *instance) {
    struct two_stage *self = instance;
    if (!semaphore_give(&self->semaphore)) {
        return BZ_NOT_HELD;
    }
    if (self->seat != NULL) {
        bz_future_set_result(self->seat, 0); /* refused if it is done */
    }
    return BZ_OK;
}

static bool two_stage_locked(void *instance) {
    const struct two_stage *self = instance;
    return self->semaphore.value == 0 || self->is_door_closed;
}

static void two_stage_view(void *instance, struct bz_permit_view *view) {
    const struct two_stage *self = instance;
    semaphore_view(instance, view);
    bool sits = self->seat != NULL && self->seat->state == BZ_FUTURE_PENDING;
    view->waiting += sits;
    view->queued += sits;
}

SEMAPHORE(two_stage, two_stage,
          BZ_CLAIM_FIFO | BZ_CLAIM_LOCKED_EXACT | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_NO_PASSING,
          "a queue for the door, then one for the permit", .locked = two_stage_locked,
          .view = two_stage_view);

/* --- barging, rewaking ------------------------------------------------------------------------ */

/* A wake-up is a hint: who comes first has the permit, and others wait again. `barging` wakes
 * everybody. `rewaking` is asyncio's before 3.10: it wakes one, and a woken task that is cancelled
 * wakes another. */
static void wake_everybody(struct semaphore *self) {
    while (bz_deque_pop_and_wake(&self->queue)) {
    }
}

static void wake_one(struct semaphore *self) {
    (void)bz_deque_pop_and_wake(&self->queue);
}

static enum bz_status retry(struct semaphore *self, bool passes_on) {
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && self->value == 0) {
        struct bz_waiter waiter;
        status = bz_deque_wait(&self->queue, &waiter);
        if (status != BZ_OK && passes_on && bz_waiter_was_woken(&waiter) && self->value > 0) {
            wake_one(self);
        }
    }
    return status == BZ_OK ? semaphore_take(self) : status;
}

static enum bz_status barging_acquire(void *instance) {
    return retry(instance, false);
}

static enum bz_status barging_release(void *instance) {
    return semaphore_release_by(instance, wake_everybody);
}

static enum bz_status rewaking_acquire(void *instance) {
    return retry(instance, true);
}

static enum bz_status rewaking_release(void *instance) {
    return semaphore_release_by(instance, wake_one);
}

SEMAPHORE(barging, semaphore, BZ_CLAIM_UNFAIR | BZ_CLAIM_LOCKED_EXACT | BZ_CLAIM_REFUSES_MISUSE,
          "everybody is woken, and looks again", .locked = semaphore_is_empty,
          .view = semaphore_view);
SEMAPHORE(rewaking, semaphore, BZ_CLAIM_UNFAIR | BZ_CLAIM_LOCKED_EXACT | BZ_CLAIM_REFUSES_MISUSE,
          "one is woken, and looks again", .locked = semaphore_is_empty, .view = semaphore_view);

/* --- lifo ------------------------------------------------------------------------------------- */

static bool wake_last(struct bz_deque *queue) {
    while (!bz_list_is_empty(&queue->entries)) {
        struct bz_waiter *last = bz_container_of(queue->entries.prev, struct bz_waiter, link);
        bz_deque_remove(last);
        if (bz_future_set_result(&last->future, 0) == BZ_OK) {
            return true;
        }
    }
    return false;
}

static void lifo_hand_over(struct semaphore *self) {
    while (self->value > 0 && wake_last(&self->queue)) {
        self->value--;
        self->promised++;
    }
}

/* A permit that is promised is not in the value. */
static enum bz_status lifo_acquire(void *instance) {
    struct semaphore *self = instance;
    if (self->value > 0) {
        return semaphore_take(self);
    }
    struct bz_waiter waiter;
    enum bz_status status = bz_deque_wait(&self->queue, &waiter);
    if (bz_waiter_was_woken(&waiter)) {
        status = semaphore_settle(self, status);
        lifo_hand_over(self);
    }
    return status;
}

static enum bz_status lifo_release(void *instance) {
    return semaphore_release_by(instance, lifo_hand_over);
}

SEMAPHORE(lifo, semaphore,
          BZ_CLAIM_LOCKED_EXACT | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_WAKE_IS_GRANT |
              BZ_CLAIM_WORK_CONSERVING | BZ_CLAIM_UNFAIR,
          "the last who came is the first who is served", .locked = semaphore_is_empty,
          .view = semaphore_view);

/* --- lazy ------------------------------------------------------------------------------------- */

/* A task that is cancelled leaves its place in the queue, for a release to take it out, unless it
 * is the last one. So places are not on the stack; the queue and the task have one use each. */
static void lazy_hand_over(struct semaphore *self) {
    struct bz_waiter *oldest;
    while (self->value > 0 && (oldest = bz_deque_pop(&self->queue)) != NULL) {
        bool is_taken = bz_future_set_result(&oldest->future, 0) == BZ_OK;
        self->value -= is_taken;
        self->promised += is_taken;
        bz_zoo_request_drop(self->queue.loop, oldest);
    }
}

static enum bz_status lazy_acquire(void *instance) {
    struct semaphore *self = instance;
    struct bz_loop *loop = self->queue.loop;
    if (self->value > 0) {
        return semaphore_take(self);
    }
    struct bz_zoo_request *place = bz_zoo_request_new(loop);
    if (place == NULL) {
        return BZ_NO_MEMORY;
    }
    enum bz_status status = bz_deque_wait_and_stay(&self->queue, &place->waiter);
    bool is_woken = bz_waiter_was_woken(&place->waiter);
    bz_zoo_request_drop(loop, &place->waiter);
    if (is_woken) {
        status = semaphore_settle(self, status);
        lazy_hand_over(self);
    } else if (bz_deque_count(&self->queue, BZ_FUTURE_PENDING) == 0) {
        struct bz_waiter *left;
        while ((left = bz_deque_pop(&self->queue)) != NULL) {
            bz_zoo_request_drop(loop, left);
        }
    }
    return status;
}

static enum bz_status lazy_release(void *instance) {
    return semaphore_release_by(instance, lazy_hand_over);
}

SEMAPHORE(lazy, semaphore,
          BZ_CLAIM_FIFO | BZ_CLAIM_LOCKED_EXACT | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_WAKE_IS_GRANT |
              BZ_CLAIM_WORK_CONSERVING,
          "cancelled places stay until a release comes by", .locked = semaphore_is_empty,
          .view = semaphore_view);
