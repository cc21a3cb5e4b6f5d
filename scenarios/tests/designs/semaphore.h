/* The semaphore that many designs begin with: they differ in whom they wake, and when. */
#ifndef BZ_SCENARIOS_TESTS_DESIGNS_SEMAPHORE_H
#define BZ_SCENARIOS_TESTS_DESIGNS_SEMAPHORE_H

#include "scenarios/tests/designs/designs.h"

struct semaphore {
    struct bz_deque queue;
    uint32_t value;    /* permits that are promised to nobody */
    uint32_t promised; /* to tasks whose acquire has not returned */
    uint32_t held;
    bool is_bounded;
};

static inline enum bz_status semaphore_init(void *instance, struct bz_loop *loop,
                                            uint32_t permits) {
    struct semaphore *self = instance;
    bz_deque_init(&self->queue, loop);
    self->value = permits;
    return BZ_OK;
}

static inline enum bz_status semaphore_init_bounded(void *instance, struct bz_loop *loop,
                                                    uint32_t permits) {
    ((struct semaphore *)instance)->is_bounded = true;
    return semaphore_init(instance, loop, permits);
}

static inline void semaphore_view(void *instance, struct bz_permit_view *view) {
    const struct semaphore *self = instance;
    bz_deque_view(&self->queue, view);
    view->level = self->value + (uint64_t)self->promised;
}

static inline enum bz_status semaphore_take(struct semaphore *self) {
    self->value--;
    self->held++;
    return BZ_OK;
}

/* False: nobody holds anything. */
static inline bool semaphore_give(struct semaphore *self) {
    if (self->held == 0 && self->is_bounded) {
        return false;
    }
    self->held -= self->held > 0;
    self->value++;
    return true;
}

/* A release is one more permit, and whatever the design does then. */
static inline enum bz_status semaphore_release_by(void *instance,
                                                  void (*then)(struct semaphore *self)) {
    struct semaphore *self = instance;
    if (!semaphore_give(self)) {
        return BZ_NOT_HELD;
    }
    then(self);
    return BZ_OK;
}

/* A task that was promised a permit takes it, or is cancelled and gives it back. */
static inline enum bz_status semaphore_settle(struct semaphore *self, enum bz_status status) {
    self->promised--;
    self->held += status == BZ_OK;
    self->value += status != BZ_OK;
    return status;
}

/* True exactly if an acquire would wait, where newcomers take whatever is in the value. */
static inline bool semaphore_is_empty(void *instance) {
    return ((const struct semaphore *)instance)->value == 0;
}

/* The design of NAME_acquire() and NAME_release(); `type` begins with a semaphore. */
#define SEMAPHORE_OPS(name, type, init_, ...)                                                      \
    &(const struct bz_permit_ops) {                                                                \
        .instance_bytes = sizeof(struct type), .init = init_, .acquire = name##_acquire,           \
        .release = name##_release, __VA_ARGS__                                                     \
    }
#define SEMAPHORE(name, type, claims, summary, ...)                                                \
    DESIGN(name, claims, summary,                                                                  \
           ALL_PERMITS(SEMAPHORE_OPS(name, type, semaphore_init, __VA_ARGS__),                     \
                       SEMAPHORE_OPS(name, type, semaphore_init_bounded, __VA_ARGS__)))

#endif
