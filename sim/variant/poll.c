#include "sim/variant/poll.h"

#include <stdint.h>

#include "primitives/runtime/future.h"
#include "primitives/runtime/loop.h"
#include "primitives/runtime/mem.h"
#include "primitives/runtime/task.h"

struct bz_waker {
    struct bz_future wakes; /* the running wait's */
    uint32_t references;
    bool is_waiting; /* the task is suspended on `wakes` */
    bool is_called;  /* while it was not */
};

static struct bz_waker *new_waker(struct bz_loop *loop) {
    struct bz_waker *waker = bz_mem_alloc(bz_loop_mem(loop), sizeof *waker);
    if (waker != NULL) {
        bz_future_init(&waker->wakes, loop);
        waker->references = 1;
    }
    return waker;
}

struct bz_waker *bz_waker_clone(struct bz_waker *waker) {
    waker->references++;
    return waker;
}

void bz_waker_drop(struct bz_waker *waker) {
    if (--waker->references == 0) {
        bz_mem_free(bz_loop_mem(waker->wakes.loop), waker, sizeof *waker);
    }
}

void bz_waker_wake(void *called) {
    struct bz_waker *waker = (struct bz_waker *)called;
    if (waker->is_waiting) {
        (void)bz_future_set_result(&waker->wakes, 0); /* refused, if it was woken or cancelled */
    } else {
        waker->is_called = true;
    }
}

bool bz_waker_is_waiting(const struct bz_waker *waker) {
    return waker->is_waiting && !bz_future_is_done(&waker->wakes);
}

/* Suspends the task until the waker is called. */
static enum bz_status pause_task(struct bz_loop *loop, struct bz_waker *waker) {
    if (waker->is_called) { /* inside the poll: it is polled again in a later step */
        return bz_yield(loop);
    }
    bz_future_init(&waker->wakes, loop);
    waker->is_waiting = true;
    enum bz_status status = bz_future_await(&waker->wakes);
    waker->is_waiting = false;
    return status;
}

static bool poll_once(void *future, bool (*poll)(void *future, struct bz_waker *waker),
                      struct bz_waker *waker) {
    waker->is_called = false;
    return poll(future, waker);
}

/* `stale` is the waker of the polls that a spurious one follows; NULL: there are none. */
static enum bz_status wait_with(struct bz_loop *loop, void *future,
                                bool (*poll)(void *future, struct bz_waker *waker),
                                void (*drop)(void *future), struct bz_waker *stale,
                                struct bz_waker *waker) {
    enum bz_status status = waker != NULL ? BZ_OK : BZ_NO_MEMORY;
    while (status == BZ_OK) {
        if ((stale != NULL && poll_once(future, poll, stale)) || poll_once(future, poll, waker)) {
            break;
        }
        status = pause_task(loop, waker);
    }
    if (status != BZ_OK) {
        drop(future);
    }
    if (waker != NULL) {
        bz_waker_drop(waker);
    }
    return status;
}

enum bz_status bz_poll_wait(struct bz_loop *loop, void *future,
                            bool (*poll)(void *future, struct bz_waker *waker),
                            void (*drop)(void *future)) {
    return wait_with(loop, future, poll, drop, NULL, new_waker(loop));
}

enum bz_status bz_poll_wait_spuriously(struct bz_loop *loop, void *future,
                                       bool (*poll)(void *future, struct bz_waker *waker),
                                       void (*drop)(void *future)) {
    struct bz_waker *stale = new_waker(loop);
    enum bz_status status =
        wait_with(loop, future, poll, drop, stale, stale != NULL ? new_waker(loop) : NULL);
    if (stale != NULL) {
        bz_waker_drop(stale);
    }
    return status;
}
