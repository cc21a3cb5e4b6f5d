/* Semaphores whose acquire answers by a callback. */
#include "scenarios/zoo/parts.h"

/* tw-recurse: a release whose callbacks release in turn, each inside the one before it.
 *
 * A release takes the oldest waiter out of the queue and fires its Deferred, whose callback runs
 * before the release has returned. A callback that releases when it is done sets off the next one
 * on top of its own frame, and so on: the stack grows with the queue. When it is full, the callback
 * on top fails before it has released: the lock stays locked for ever, and those behind it wait for
 * ever.
 *
 *     A holds; B, C, D, ... wait; A releases; B's callback releases; C's callback releases; ...
 *
 * The code is the variant `twisted`, for Twisted has the fault to this day: fire_callback() in
 * scenarios/variants/twisted.c.
 *
 * The cure: callbacks that a callback sets off run when that one has returned, as those of the
 * primitives that ship do (primitives/runtime/deferred.h). */

/* --- a semaphore whose callbacks run in a step of their own ----------------------------------- */

struct waiter {
    struct bz_waiter waiter; /* its place in the queue; nobody awaits its future */
    struct bz_handle handle;
    struct bz_deferred_request *request;
};

static void run_granted(struct bz_handle *handle) {
    struct waiter *waiter = bz_container_of(handle, struct waiter, handle);
    waiter->request->answer(waiter->request, BZ_OK);
}

/* Gives permits to the oldest waiters, whose continuations are queued. */
static void grant(struct bz_zoo_semaphore *semaphore) {
    struct bz_waiter *oldest;
    while (semaphore->value > 0 && (oldest = bz_deque_pop(&semaphore->queue)) != NULL) {
        semaphore->value--;
        bz_zoo_call_soon(semaphore->queue.loop,
                         &bz_container_of(oldest, struct waiter, waiter)->handle, run_granted);
    }
}

static void acquire(void *instance, struct bz_deferred_request *request) {
    struct bz_zoo_semaphore *semaphore = instance;
    struct waiter *waiter = request->waiter;
    *waiter = (struct waiter){.request = request};
    bz_list_push_back(&semaphore->queue.entries, &waiter->waiter.link);
    grant(semaphore);
}

static enum bz_status release(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    if (semaphore->value == semaphore->permits) {
        return BZ_NOT_HELD;
    }
    semaphore->value++;
    grant(semaphore);
    return BZ_OK;
}

static uint32_t queued(void *instance) {
    const struct bz_zoo_semaphore *semaphore = instance;
    return bz_deque_length(&semaphore->queue);
}

/* dn-34036: a cancel that runs what waits for it, on the canceller's stack.
 *
 * A release never runs a waiter's continuation itself: it queues it, so that it runs later, on a
 * stack of its own. The path of the cancel forgot that: the request is taken out of the queue and
 * its continuation is run inside the call of cancel. A continuation that cancels somebody else runs
 * the next one inside its own, and so on; and whoever calls cancel with something locked meets
 * himself again in code that wants the same lock.
 *
 *     A holds; B, C, D wait; B is cancelled; B's continuation cancels C, C's cancels D, ...
 *
 * The cure: the cancel queues the continuation, too. */
static void dn_34036_cancel(void *instance, struct bz_deferred_request *request) {
    struct waiter *waiter = request->waiter;
    (void)instance;
    if (bz_list_is_linked(&waiter->waiter.link)) {
        bz_deque_remove(&waiter->waiter);
        request->answer(request, BZ_CANCELLED); /* the fault: here and now */
    }
}

const struct bz_deferred_ops bz_zoo_ops_dn_34036 = {
    .instance_bytes = sizeof(struct bz_zoo_semaphore),
    .waiter_bytes = sizeof(struct waiter),
    .init = bz_zoo_semaphore_init,
    .acquire = acquire,
    .cancel = dn_34036_cancel,
    .release = release,
    .queued = queued,
};
