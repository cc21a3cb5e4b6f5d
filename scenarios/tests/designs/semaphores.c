/* Semaphores with a queue and a rule of their own for whom to wake. */
#include "scenarios/tests/designs/designs.h"

struct semaphore {
    struct bz_loop *loop;
    struct bz_list queue;
    uint32_t value;
    uint32_t promised; /* to woken tasks, where a wake-up is a grant */
    uint32_t held;
    bool is_bounded;
    bool has_baton;      /* baton: somebody was woken and has not resumed */
    struct place *seat;  /* two_stage: of the task that waits inside the door */
    bool is_door_closed; /* two_stage: a task is inside */
};

static enum bz_status semaphore_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct semaphore *self = instance;
    self->loop = loop;
    self->value = permits;
    bz_list_init(&self->queue);
    return BZ_OK;
}

static enum bz_status bounded_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    ((struct semaphore *)instance)->is_bounded = true;
    return semaphore_init(instance, loop, permits);
}

static void semaphore_view(void *instance, struct bz_permit_view *view) {
    const struct semaphore *self = instance;
    place_view(&self->queue, view);
    view->level = self->value + (uint64_t)self->promised;
}

static enum bz_status take(struct semaphore *self) {
    self->value--;
    self->held++;
    return BZ_OK;
}

static bool give(struct semaphore *self) {
    if (self->held == 0 && self->is_bounded) {
        return false;
    }
    self->held -= self->held > 0;
    self->value++;
    return true;
}

/* A release is one more permit, and whatever the design does then. */
#define RELEASE(name, then)                                                                        \
    static enum bz_status name##_release(void *instance) {                                         \
        struct semaphore *self = instance;                                                         \
        if (!give(self)) {                                                                         \
            return BZ_NOT_HELD;                                                                    \
        }                                                                                          \
        then(self);                                                                                \
        return BZ_OK;                                                                              \
    }

#define OPS(name, init_, ...)                                                                      \
    &(const struct bz_permit_ops) {                                                                \
        .instance_bytes = sizeof(struct semaphore), .init = init_, .acquire = name##_acquire,      \
        .release = name##_release, __VA_ARGS__                                                     \
    }
#define SEMAPHORE(name, claims, summary, ...)                                                      \
    DESIGN(                                                                                        \
        name, claims, summary,                                                                     \
        ALL_PERMITS(OPS(name, semaphore_init, __VA_ARGS__), OPS(name, bounded_init, __VA_ARGS__)))

/* --- baton ------------------------------------------------------------------------------------ */

/* At most one task is woken at a time. It passes the baton on when it resumes, whether it takes a
 * permit or was cancelled. */
static void baton_pass(struct semaphore *self) {
    self->has_baton = self->value > 0 && place_wake_first(&self->queue);
}

static void baton_offer(struct semaphore *self) {
    if (!self->has_baton) {
        baton_pass(self);
    }
}

static bool baton_locked(void *instance) {
    const struct semaphore *self = instance;
    return self->value == 0 || self->has_baton || place_count(&self->queue, BZ_FUTURE_PENDING) > 0;
}

static enum bz_status baton_acquire(void *instance) {
    struct semaphore *self = instance;
    if (!baton_locked(self)) {
        return take(self);
    }
    struct place place;
    place_join(&self->queue, &place, self->loop);
    enum bz_status status = bz_future_await(&place.future);
    place_leave(&place);
    if (status == BZ_OK) {
        (void)take(self);
    }
    if (place_is_woken(&place)) {
        baton_pass(self);
    }
    return status;
}

RELEASE(baton, baton_offer)
SEMAPHORE(baton,
          BZ_CLAIM_FIFO | BZ_CLAIM_LOCKED_EXACT | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_WAKE_IS_GRANT |
              BZ_CLAIM_NO_PASSING,
          "one task at a time is on its way, and wakes the next", .locked = baton_locked,
          .view = semaphore_view);

/* --- two_stage -------------------------------------------------------------------------------- */

/* A queue before the door, and one task inside, which waits for a permit. */
static void two_stage_call(struct semaphore *self) {
    if (self->seat != NULL) {
        bz_future_set_result(&self->seat->future, 0); /* refused if it is done */
    }
}

static void two_stage_open_door(struct semaphore *self) {
    self->is_door_closed = place_wake_first(&self->queue);
}

static enum bz_status two_stage_sit(struct semaphore *self) {
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && self->value == 0) {
        struct place seat;
        bz_future_init(&seat.future, self->loop);
        self->seat = &seat;
        status = bz_future_await(&seat.future);
        self->seat = NULL;
    }
    return status;
}

static enum bz_status two_stage_acquire(void *instance) {
    struct semaphore *self = instance;
    enum bz_status status = BZ_OK;
    if (self->is_door_closed) {
        struct place place;
        place_join(&self->queue, &place, self->loop);
        status = bz_future_await(&place.future);
        place_leave(&place);
        if (!place_is_woken(&place)) {
            return status;
        }
    }
    self->is_door_closed = true;
    status = status == BZ_OK ? two_stage_sit(self) : status;
    if (status == BZ_OK) {
        (void)take(self);
    }
    two_stage_open_door(self);
    return status;
}

static bool two_stage_locked(void *instance) {
    const struct semaphore *self = instance;
    return self->value == 0 || self->is_door_closed;
}

static void two_stage_view(void *instance, struct bz_permit_view *view) {
    const struct semaphore *self = instance;
    semaphore_view(instance, view);
    bool sits = self->seat != NULL && self->seat->future.state == BZ_FUTURE_PENDING;
    view->waiting += sits;
    view->queued += sits;
}

RELEASE(two_stage, two_stage_call)
SEMAPHORE(two_stage,
          BZ_CLAIM_FIFO | BZ_CLAIM_LOCKED_EXACT | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_NO_PASSING,
          "a queue for the door, then one for the permit", .locked = two_stage_locked,
          .view = two_stage_view);

/* --- barging, rewaking ------------------------------------------------------------------------ */

/* A wake-up is a hint: who comes first has the permit, and others wait again. `barging` wakes
 * everybody. `rewaking` is asyncio's before 3.10: it wakes one, and a woken task that is cancelled
 * wakes another. */
static void wake_everybody(struct semaphore *self) {
    while (place_wake_first(&self->queue)) {
    }
}

static void wake_one(struct semaphore *self) {
    (void)place_wake_first(&self->queue);
}

static enum bz_status retry(struct semaphore *self, bool passes_on) {
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && self->value == 0) {
        struct place place;
        place_join(&self->queue, &place, self->loop);
        status = bz_future_await(&place.future);
        place_leave(&place);
        if (status != BZ_OK && passes_on && place_is_woken(&place) && self->value > 0) {
            wake_one(self);
        }
    }
    return status == BZ_OK ? take(self) : status;
}

static enum bz_status barging_acquire(void *instance) {
    return retry(instance, false);
}

static enum bz_status rewaking_acquire(void *instance) {
    return retry(instance, true);
}

/* True exactly if an acquire would wait: newcomers take what is there, whoever was woken for it. */
static bool retry_locked(void *instance) {
    const struct semaphore *self = instance;
    return self->value == 0;
}

RELEASE(barging, wake_everybody)
RELEASE(rewaking, wake_one)
SEMAPHORE(barging, BZ_CLAIM_UNFAIR | BZ_CLAIM_LOCKED_EXACT | BZ_CLAIM_REFUSES_MISUSE,
          "everybody is woken, and looks again", .locked = retry_locked, .view = semaphore_view);
SEMAPHORE(rewaking, BZ_CLAIM_UNFAIR | BZ_CLAIM_LOCKED_EXACT | BZ_CLAIM_REFUSES_MISUSE,
          "one is woken, and looks again", .locked = retry_locked, .view = semaphore_view);

/* --- lifo ------------------------------------------------------------------------------------- */

static bool wake_last(struct bz_list *queue) {
    while (!bz_list_is_empty(queue)) {
        struct bz_list *link = queue->prev;
        bz_list_remove(link);
        if (bz_future_set_result(&place_of(link)->future, 0) == BZ_OK) {
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
        return take(self);
    }
    struct place place;
    place_join(&self->queue, &place, self->loop);
    enum bz_status status = bz_future_await(&place.future);
    place_leave(&place);
    if (place_is_woken(&place)) {
        self->promised--;
        self->value += status != BZ_OK;
        self->held += status == BZ_OK;
        lifo_hand_over(self);
    }
    return status;
}

RELEASE(lifo, lifo_hand_over)
SEMAPHORE(lifo,
          BZ_CLAIM_LOCKED_EXACT | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_WAKE_IS_GRANT |
              BZ_CLAIM_WORK_CONSERVING | BZ_CLAIM_UNFAIR,
          "the last who came is the first who is served", .locked = retry_locked,
          .view = semaphore_view);

/* --- lazy ------------------------------------------------------------------------------------- */

/* A task that is cancelled leaves its place in the queue, for a release to take it out, unless it
 * is the last one. So places are not on the stack; the queue and the task have one use each. */
struct shared_place {
    struct place place;
    uint32_t uses;
};

static void drop(struct semaphore *self, struct place *place) {
    struct shared_place *shared = bz_container_of(place, struct shared_place, place);
    if (--shared->uses == 0) {
        bz_mem_free(bz_loop_mem(self->loop), shared, sizeof *shared);
    }
}

static void lazy_hand_over(struct semaphore *self) {
    struct bz_list *link;
    while (self->value > 0 && (link = bz_list_pop_front(&self->queue)) != NULL) {
        bool is_taken = bz_future_set_result(&place_of(link)->future, 0) == BZ_OK;
        self->value -= is_taken;
        self->promised += is_taken;
        drop(self, place_of(link));
    }
}

static void lazy_clear(struct semaphore *self) {
    struct bz_list *link;
    while ((link = bz_list_pop_front(&self->queue)) != NULL) {
        drop(self, place_of(link));
    }
}

static enum bz_status lazy_acquire(void *instance) {
    struct semaphore *self = instance;
    if (self->value > 0) {
        return take(self);
    }
    struct shared_place *shared = bz_mem_alloc(bz_loop_mem(self->loop), sizeof *shared);
    if (shared == NULL) {
        return BZ_NO_MEMORY;
    }
    shared->uses = 2;
    place_join(&self->queue, &shared->place, self->loop);
    enum bz_status status = bz_future_await(&shared->place.future);
    bool is_woken = place_is_woken(&shared->place);
    drop(self, &shared->place);
    if (is_woken) {
        self->promised--;
        self->value += status != BZ_OK;
        self->held += status == BZ_OK;
        lazy_hand_over(self);
    } else if (place_count(&self->queue, BZ_FUTURE_PENDING) == 0) {
        lazy_clear(self);
    }
    return status;
}

RELEASE(lazy, lazy_hand_over)
SEMAPHORE(lazy,
          BZ_CLAIM_FIFO | BZ_CLAIM_LOCKED_EXACT | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_WAKE_IS_GRANT |
              BZ_CLAIM_WORK_CONSERVING,
          "cancelled places stay until a release comes by", .locked = retry_locked,
          .view = semaphore_view);
