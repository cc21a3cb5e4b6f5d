/* cosem in the cage. cosem.cpp is compiled as it is, with -include caged.hpp. */
#include "caged.hpp"
#include "cosem.hpp"

struct caged {
    co::loop loop;
    co::semaphore sem;
};

static bz_status init(void *instance, bz_loop *loop, uint32_t permits) {
    caged *own = static_cast<caged *>(instance);
    new (own) caged{{loop}, {own->loop, permits}};
    return BZ_OK;
}

static bz::task<bz_status> acquire_in(co::semaphore &sem, co::waiter &waiter) {
    co_return co_await sem.acquire(waiter) ? BZ_OK : BZ_CANCELLED;
}

static bz_status acquire(void *instance) {
    caged &own = *static_cast<caged *>(instance);
    co::waiter waiter;
    return bz::run_coroutine(
        own.loop.in, [&] { return acquire_in(own.sem, waiter); },
        [&] { return own.sem.cancel(waiter); });
}

static bz_status release(void *instance) {
    static_cast<caged *>(instance)->sem.release();
    return BZ_OK;
}

/* A permit that was granted, and whose waiter has not resumed, belongs to nobody yet. */
static void view(void *instance, bz_permit_view *view) {
    const co::semaphore &sem = static_cast<caged *>(instance)->sem;
    view->level = sem.free();
    view->queued = view->waiting = sem.queued();
}

static constexpr bz_permit_ops ops = {sizeof(caged), init,    nullptr, acquire,
                                      release,       nullptr, view};
static constexpr bz_variant variant =
    bz::permit_variant(BZ_PRIMITIVE_SEMAPHORE, "cosem", "a semaphore in coroutines",
                       BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT | BZ_CLAIM_WORK_CONSERVING, &ops);
BZ_PLUGIN(&variant);
