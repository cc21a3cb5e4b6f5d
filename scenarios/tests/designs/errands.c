/* Semaphores that hand permits over by something of their own: a task for each release, one task
 * for all, a timer, a callback, a task for each acquire. */
#include "primitives/runtime/timer.h"
#include "scenarios/tests/designs/designs.h"

struct errand {
    struct bz_loop *loop;
    struct bz_list queue;
    uint32_t free;     /* promised to nobody */
    uint32_t in_hand;  /* on their way to somebody */
    uint32_t promised; /* to woken tasks */
    uint32_t held;
    uint32_t errands; /* tasks so far */
    bool is_bounded;
    struct bz_handle handle;
    struct bz_timer timer;
    struct bz_future bell; /* of the clerk */
};

static enum bz_status errand_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct errand *self = instance;
    self->loop = loop;
    self->free = permits;
    bz_list_init(&self->queue);
    return BZ_OK;
}

static enum bz_status bounded_errand_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    ((struct errand *)instance)->is_bounded = true;
    return errand_init(instance, loop, permits);
}

static void errand_view(void *instance, struct bz_permit_view *view) {
    const struct errand *self = instance;
    place_view(&self->queue, view);
    view->level = self->free + (uint64_t)self->in_hand + self->promised;
}

/* A permit that is on its way arrives. */
static void hand_over(struct errand *self) {
    bool is_taken = place_wake_first(&self->queue);
    self->in_hand--;
    self->promised += is_taken;
    self->free += !is_taken;
}

static enum bz_status errand_acquire(void *instance) {
    struct errand *self = instance;
    if (self->free > 0) { /* nobody waits */
        self->free--;
        self->held++;
        return BZ_OK;
    }
    struct place place;
    place_join(&self->queue, &place, self->loop);
    enum bz_status status = bz_future_await(&place.future);
    place_leave(&place);
    if (place_is_woken(&place)) {
        self->promised--;
        self->held += status == BZ_OK;
        if (status != BZ_OK) {
            self->in_hand++;
            hand_over(self);
        }
    }
    return status;
}

/* False: nobody holds anything. */
static bool take_back(struct errand *self) {
    if (self->held == 0 && self->is_bounded) {
        return false;
    }
    self->held -= self->held > 0;
    self->in_hand++;
    return true;
}

#define ERRAND_OPS(init_, acquire_, release_)                                                      \
    &(const struct bz_permit_ops) {                                                                \
        .instance_bytes = sizeof(struct errand), .init = init_, .acquire = acquire_,               \
        .release = release_, .view = errand_view                                                   \
    }
#define ERRAND_CLAIMS (BZ_CLAIM_FIFO | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_WAKE_IS_GRANT)
#define ERRAND(name, summary)                                                                      \
    DESIGN(name, ERRAND_CLAIMS, summary,                                                           \
           ALL_PERMITS(ERRAND_OPS(errand_init, errand_acquire, name##_release),                    \
                       ERRAND_OPS(bounded_errand_init, errand_acquire, name##_release)))

/* --- helper ----------------------------------------------------------------------------------- */

static enum bz_status run_errand(void *arg) {
    struct errand *self = arg;
    enum bz_status status = bz_yield(self->loop);
    hand_over(self);
    return status;
}

static enum bz_status helper_release(void *instance) {
    struct errand *self = instance;
    if (!take_back(self)) {
        return BZ_NOT_HELD;
    }
    struct bz_task *task = bz_task_spawn(self->loop, "errand", ++self->errands, run_errand, self);
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
        bz_timer_init(&self->timer, self->loop, on_timer);
        if (!bz_timer_arm(&self->timer, bz_loop_now_ns(self->loop) + 2)) {
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
    if (!self->handle.is_ready && !bz_loop_call_soon(self->loop, &self->handle, on_callback)) {
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
    for (;;) {
        while (self->free > 0 && place_wake_first(&self->queue)) {
            self->free--;
            self->promised++;
        }
        bz_future_init(&self->bell, self->loop);
        enum bz_status status = bz_future_await(&self->bell);
        BZ_CHECK(status == BZ_OK); /* nobody else knows this task */
    }
}

static enum bz_status clerk_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct errand *self = instance;
    enum bz_status status = errand_init(instance, loop, permits);
    bz_future_init(&self->bell, loop);
    return bz_task_spawn(loop, "clerk", 0, clerk, self) == NULL ? BZ_NO_MEMORY : status;
}

static enum bz_status bounded_clerk_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    ((struct errand *)instance)->is_bounded = true;
    return clerk_init(instance, loop, permits);
}

static void ring(struct errand *self) {
    bz_future_set_result(&self->bell, 0); /* refused if somebody has rung */
}

static enum bz_status clerk_acquire(void *instance) {
    struct errand *self = instance;
    struct place place;
    place_join(&self->queue, &place, self->loop);
    ring(self);
    enum bz_status status = bz_future_await(&place.future);
    place_leave(&place);
    if (place_is_woken(&place)) {
        self->promised--;
        self->held += status == BZ_OK;
        self->free += status != BZ_OK;
        ring(self);
    }
    return status;
}

static enum bz_status clerk_release(void *instance) {
    struct errand *self = instance;
    if (self->held == 0 && self->is_bounded) {
        return BZ_NOT_HELD;
    }
    self->held -= self->held > 0;
    self->free++;
    ring(self);
    return BZ_OK;
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
        porter->self->held--;
        porter->self->promised++;
    }
    return status;
}

static enum bz_status porter_acquire(void *instance) {
    struct errand *self = instance;
    struct porter porter = {.self = self};
    struct bz_task *task = bz_task_spawn(self->loop, "porter", ++self->errands, carry, &porter);
    if (task == NULL) {
        return BZ_NO_MEMORY;
    }
    bz_task_detach(task);
    enum bz_status status = bz_task_join(task);
    if (porter.has_permit) {
        self->promised--;
        self->held += status == BZ_OK;
        if (status != BZ_OK) {
            self->in_hand++;
            hand_over(self);
        }
    }
    return status;
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
       ALL_PERMITS(ERRAND_OPS(errand_init, porter_acquire, porter_release),
                   ERRAND_OPS(bounded_errand_init, porter_acquire, porter_release)));
