/* pollsem in the cage. pollsem.c is compiled as it is. */
#include "pollsem.h"
#include "sim/variant/plugin.h"
#include "sim/variant/poll.h"

struct caged {
    struct pollsem sem; /* the first member */
    struct bz_loop *loop;
};

static bool poll(void *acquire, struct bz_waker *waker) {
    return pollsem_poll(acquire, (struct pollwaker){bz_waker_wake, waker});
}

static void drop(void *acquire) {
    pollsem_drop(acquire);
}

static enum bz_status init(void *instance, struct bz_loop *loop, uint32_t permits) {
    ((struct caged *)instance)->loop = loop;
    pollsem_init(instance, permits);
    return BZ_OK;
}

static enum bz_status acquire(void *instance) {
    struct pollsem_acquire future = pollsem_acquire(instance);
    return bz_poll_wait(((struct caged *)instance)->loop, &future, poll, drop);
}

static enum bz_status release(void *instance) {
    pollsem_release(instance);
    return BZ_OK;
}

BZ_PERMIT_PLUGIN(BZ_PRIMITIVE_SEMAPHORE, "pollsem", "a semaphore in poll style",
                 BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT, struct caged, .init = init,
                 .acquire = acquire, .release = release);
