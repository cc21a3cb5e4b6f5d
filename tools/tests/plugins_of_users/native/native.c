/* The semaphore of the examples, on Buzzer's own futures. */
#include "sim/variant/plugin.h"

struct waiter {
    struct bz_future future;
    struct bz_list link;
};

struct semaphore {
    struct bz_loop *loop;
    struct bz_list waiters; /* the oldest first */
    uint32_t free;
};

static enum bz_status init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct semaphore *self = instance;
    self->loop = loop;
    self->free = permits;
    bz_list_init(&self->waiters);
    return BZ_OK;
}

static enum bz_status release(void *instance) {
    struct semaphore *self = instance;
    while (!bz_list_is_empty(&self->waiters)) {
        struct bz_list *oldest = bz_list_pop_front(&self->waiters);
        struct waiter *waiter = bz_container_of(oldest, struct waiter, link);
        if (bz_future_set_result(&waiter->future, 0) == BZ_OK) {
            return BZ_OK;
        }
    }
    self->free++;
    return BZ_OK;
}

static enum bz_status acquire(void *instance) {
    struct semaphore *self = instance;
    struct waiter waiter;
    if (self->free > 0) {
        self->free--;
        return BZ_OK;
    }
    bz_future_init(&waiter.future, self->loop);
    bz_list_push_back(&self->waiters, &waiter.link);
    enum bz_status status = bz_future_await(&waiter.future);
    if (bz_list_is_linked(&waiter.link)) {
        bz_list_remove(&waiter.link);
    }
    if (status != BZ_OK && waiter.future.state == BZ_FUTURE_RESULT) {
        (void)release(self);
    }
    return status;
}

BZ_PERMIT_PLUGIN(BZ_PRIMITIVE_SEMAPHORE, "native", "a semaphore on Buzzer's futures",
                 BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT, struct semaphore, .init = init,
                 .acquire = acquire, .release = release);
