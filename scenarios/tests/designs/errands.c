/* Semaphores that hand permits over by something of their own: a task for each release, one task
 * for all, a timer, a callback, a task for each acquire. */
#include "primitives/runtime/timer.h"
#include "scenarios/tests/designs/semaphore.h"

struct errand {
    struct semaphore semaphore;
    uint32_t in_hand; /* permits on their way to somebody */
    uint32_t errands; /* tasks so far */
    struct bz_handle handle;
    struct bz_timer timer;
    struct bz_future bell; /* of the clerk */
};

static void errand_view(void *instance, struct bz_permit_view *view) {
    semaphore_view(instance, view);
    view->level += ((const struct errand *)instance)->in_hand;
}

/* A permit that is on its way arrives. */
static void hand_over(struct errand *self) {
    bool is_taken = bz_deque_pop_and_wake(&self->semaphore.queue);
    self->in_hand--;
    self->semaphore.promised += is_taken;
    self->semaphore.value += !is_taken;
}

/* A task that was promised a permit takes it, or is cancelled and hands it over. */
static enum bz_status take_promised(struct errand *self, enum bz_status status) {
    self->semaphore.promised--;
    self->semaphore.held += status == BZ_OK;
    if (status != BZ_OK) {
        self->in_hand++;
        hand_over(self);
    }
    return status;
}

static enum bz_status errand_acquire(void *instance) {
    struct errand *self = instance;
    if (self->semaphore.value > 0) { /* nobody waits */
        return semaphore_take(&self->semaphore);
    }
    struct bz_waiter waiter;
    enum bz_status status = bz_deque_wait(&self->semaphore.queue, &waiter);
    return bz_waiter_was_woken(&waiter) ? take_promised(self, status) : status;
}

/* False: nobody holds anything. */
static bool take_back(struct errand *self) {
    bool is_taken = semaphore_give(&self->semaphore);
    self->semaphore.value -= is_taken;
    self->in_hand += is_taken;
    return is_taken;
}

#define ERRAND_OPS(init_, acquire_, release_)                                                      \
    &(const struct bz_permit_ops) {                                                                \
        .instance_bytes = sizeof(struct errand), .init = init_, .acquire = acquire_,               \
        .release = release_, .view = errand_view                                                   \
    }
#define ERRAND_CLAIMS (BZ_CLAIM_FIFO | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_WAKE_IS_GRANT)
#define ERRAND(name, summary)                                                                      \
    DESIGN(name, ERRAND_CLAIMS, summary,                                                           \
           ALL_PERMITS(ERRAND_OPS(semaphore_init, errand_acquire, name##_release),                 \
                       ERRAND_OPS(semaphore_init_bounded, errand_acquire, name##_release)))

/* --- helper ----------------------------------------------------------------------------------- */

static enum bz_status run_errand(void *arg) {
    struct errand *self = arg;
    enum bz_status status = bz_yield(self->semaphore.queue.loop);
    hand_over(self);
    return status;
}

static enum bz_status helper_release(void *instance) {
    struct errand *self = instance;
    if (!take_back(self)) {
        return BZ_NOT_HELD;
    }
    struct bz_task *task =
        bz_task_spawn(self->semaphore.queue.loop, "errand", ++self->errands, run_errand, self);
    if (task == NULL) {
        hand_over(self);
    } else {
        bz_task_detach(task);
    }
    return BZ_OK;
}

ERRAND(helper, "a task for each release hands the permit over");

/* --- timer ------------------------------------------------------------------------------------ */

static void on_timer(struct bz_timer *timer) {
    struct errand *self = bz_container_of(timer, struct errand, timer);
    while (self->in_hand > 0) {
        hand_over(self);
    }
}

static enum bz_status timer_release(void *instance) {
    struct errand *self = instance;
    if (!take_back(self)) {
        return BZ_NOT_HELD;
    }
    if (self->in_hand == 1) {
        struct bz_loop *loop = self->semaphore.queue.loop;
        bz_timer_init(&self->timer, loop, on_timer);
        if (!bz_timer_arm(&self->timer, bz_loop_now_ns(loop) + 2)) {
            hand_over(self);
        }
    }
    return BZ_OK;
}

ERRAND(timer, "a timer hands the permits over");

/* --- callback --------------------------------------------------------------------------------- */

static void on_callback(struct bz_handle *handle) {
    struct errand *self = bz_container_of(handle, struct errand, handle);
    while (self->in_hand > 0) {
        hand_over(self);
    }
}

static enum bz_status callback_release(void *instance) {
    struct errand *self = instance;
    if (!take_back(self)) {
        return BZ_NOT_HELD;
    }
    if (!self->handle.is_ready &&
        !bz_loop_call_soon(self->semaphore.queue.loop, &self->handle, on_callback)) {
        hand_over(self);
    }
    return BZ_OK;
}

ERRAND(callback, "a callback hands the permits over");

/* --- clerk ------------------------------------------------------------------------------------ */

/* One task does everything: an acquire queues and rings, even if a permit is free, and a release
 * rings. The task lives as long as the semaphore, and mostly sleeps. */
static enum bz_status clerk(void *arg) {
    struct errand *self = arg;
    struct semaphore *semaphore = &self->semaphore;
    for (;;) {
        while (semaphore->value > 0 && bz_deque_pop_and_wake(&semaphore->queue)) {
            semaphore->value--;
            semaphore->promised++;
        }
        bz_future_init(&self->bell, semaphore->queue.loop);
        enum bz_status status = bz_future_await(&self->bell);
        BZ_CHECK(status == BZ_OK); /* nobody else knows this task */
    }
}

static enum bz_status clerk_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct errand *self = instance;
    enum bz_status status = semaphore_init(instance, loop, permits);
    bz_future_init(&self->bell, loop);
    return bz_task_spawn(loop, "clerk", 0, clerk, self) == NULL ? BZ_NO_MEMORY : status;
}

static enum bz_status bounded_clerk_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    ((struct semaphore *)instance)->is_bounded = true;
    return clerk_init(instance, loop, permits);
}

static void ring(struct semaphore *semaphore) {
    struct errand *self = bz_container_of(semaphore, struct errand, semaphore);
    bz_future_set_result(&self->bell, 0); /* refused if somebody has rung */
}

static enum bz_status clerk_acquire(void *instance) {
    struct semaphore *semaphore = instance;
    struct bz_waiter waiter;
    ring(semaphore); /* it comes when this task waits */
    enum bz_status status = bz_deque_wait(&semaphore->queue, &waiter);
    if (bz_waiter_was_woken(&waiter)) {
        status = semaphore_settle(semaphore, status);
        ring(semaphore);
    }
    return status;
}

static enum bz_status clerk_release(void *instance) {
    return semaphore_release_by(instance, ring);
}

DESIGN(clerk, ERRAND_CLAIMS | BZ_CLAIM_NO_PASSING, "one task of the semaphore's own does it all",
       ALL_PERMITS(ERRAND_OPS(clerk_init, clerk_acquire, clerk_release),
                   ERRAND_OPS(bounded_clerk_init, clerk_acquire, clerk_release)));

/* --- porter ----------------------------------------------------------------------------------- */

/* Each acquire is run by a second task, for whose end the caller waits, as wait_for() does it. The
 * caller that is cancelled when the second task has its permit gives that back. Second tasks queue
 * when they first run. */
struct porter {
    struct errand *self;
    bool has_permit;
};

static enum bz_status carry(void *arg) {
    struct porter *porter = arg;
    enum bz_status status = errand_acquire(porter->self);
    if (status == BZ_OK) {
        porter->has_permit = true;
        porter->self->semaphore.held--;
        porter->self->semaphore.promised++;
    }
    return status;
}

static enum bz_status porter_acquire(void *instance) {
    struct errand *self = instance;
    struct porter porter = {.self = self};
    struct bz_task *task =
        bz_task_spawn(self->semaphore.queue.loop, "porter", ++self->errands, carry, &porter);
    if (task == NULL) {
        return BZ_NO_MEMORY;
    }
    bz_task_detach(task);
    enum bz_status status = bz_task_join(task);
    return porter.has_permit ? take_promised(self, status) : status;
}

static enum bz_status porter_release(void *instance) {
    struct errand *self = instance;
    if (!take_back(self)) {
        return BZ_NOT_HELD;
    }
    hand_over(self);
    return BZ_OK;
}

DESIGN(porter, BZ_CLAIM_REFUSES_MISUSE, "a second task acquires for the caller",
       ALL_PERMITS(ERRAND_OPS(semaphore_init, porter_acquire, porter_release),
                   ERRAND_OPS(semaphore_init_bounded, porter_acquire, porter_release)));
