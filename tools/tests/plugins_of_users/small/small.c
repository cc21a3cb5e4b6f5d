/* A semaphore with a mutant of every kind: adequacy_test says which. */
#include "small.h"
#include "sim/variant/plugin.h"

struct semaphore {
    struct bz_loop *loop;
    struct bz_list waiters;
    uint32_t free;
    uint32_t total;
};

static enum bz_status init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct semaphore *self = instance;
    self->loop = loop;
    self->free = permits;
    self->total = 0;
    bz_list_init(&self->waiters);
    return BZ_OK;
}

static enum bz_status release(void *instance) {
    struct semaphore *self = instance;
    while (!bz_list_is_empty(&self->waiters)) {
        struct bz_list *oldest = bz_list_pop_front(&self->waiters);
        if (bz_future_set_result(&bz_container_of(oldest, struct small, link)->future, 0) == BZ_OK)
            return BZ_OK;
    }
    self->free++;
    return BZ_OK;
}

/* invalid without its call: -Werror=unused-function */
static void leave(struct small *waiter) {
    if (bz_list_is_linked(&waiter->link))
        bz_list_remove(&waiter->link);
}

static enum bz_status acquire(void *instance) {
    struct semaphore *self = instance;
    struct small waiter;
    uint32_t spare = 0;
    if (self->free > 0) {
        self->free--;
        return BZ_OK;
    }
    if (self->free > 1000)
        spare = 7; /* equivalent: no code */
    self->total++; /* unnoticed */
    bz_future_init(&waiter.future, self->loop);
    if (self->total % 2 == 0)
        bz_list_push_front(&self->waiters, &waiter.link);
    else
        bz_list_push_back(&self->waiters, &waiter.link);
    enum bz_status status = bz_future_await(&waiter.future);
    leave(&waiter);
    if (self->total == UINT32_MAX)
        self->total = 1; /* never executed */
    if (status != BZ_OK && waiter.future.state == BZ_FUTURE_RESULT)
        release(self);
    (void)spare;
    return status;
}

static const struct bz_permit_ops ops = {
    .instance_bytes = sizeof(struct semaphore),
    .init = init,
    .acquire = acquire,
    .release = release,
};

static const struct bz_variant small = {
    .version = BZ_VARIANT_VERSION,
    .name = "small",
    .summary = "a semaphore with a mutant of every kind",
    .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &ops},
};

BZ_PLUGIN(&small);
