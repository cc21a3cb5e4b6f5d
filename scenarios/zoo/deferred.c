/* Semaphores whose acquire reports by a callback. */
#include "scenarios/zoo/parts.h"

/* tw-recurse: a release runs callbacks that release in turn, each inside the one before it.
 *
 * A release takes the oldest waiter out of the queue and fires its Deferred. The callback runs
 * before the release has returned. A callback that releases starts the next one on top of its own
 * frame, and so on: the stack grows with the queue. When it is full, the callback on top fails
 * before it has released. The lock stays locked forever, and the other waiters wait forever.
 *
 *     A holds; B, C, D, ... wait; A releases; B's callback releases; C's callback releases; ...
 *
 * Twisted still has the fault, so the code is that of the variant `twisted`: fire_callback() in
 * scenarios/variants/twisted.c.
 *
 * The cure: a callback that was started inside a callback runs when that one has returned, as in
 * the primitives that ship (primitives/runtime/deferred.h). */

/* --- a semaphore whose callbacks run in a step of their own ----------------------------------- */

struct waiter {
    struct bz_waiter waiter; /* its place in the queue; no task awaits its future */
    struct bz_handle handle;
    struct bz_deferred_request *request;
    enum bz_status status;
};

static void run_answer(struct bz_handle *handle) {
    struct waiter *waiter = bz_container_of(handle, struct waiter, handle);
    waiter->request->answer(waiter->request, waiter->status);
}

/* Gives permits to the oldest waiters, whose continuations are queued. */
static void grant(struct bz_zoo_semaphore *semaphore) {
    struct bz_waiter *oldest;
    while (semaphore->value > 0 && (oldest = bz_deque_pop(&semaphore->queue)) != NULL) {
        semaphore->value--;
        bz_zoo_call_soon(semaphore->queue.loop,
                         &bz_container_of(oldest, struct waiter, waiter)->handle, run_answer);
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

/* dn-34036: a cancel runs the continuation on the stack of the task that cancels.
 *
 * A release never runs a waiter's continuation itself: it queues the continuation, which runs later
 * on a stack of its own. A cancel does not: it takes the request out of the queue and runs the
 * continuation inside the call. A continuation that cancels another request runs that continuation
 * inside its own, and so on. A caller that holds a lock while it cancels runs code that wants the
 * same lock.
 *
 *     A holds; B, C, D wait; B is cancelled; B's continuation cancels C, C's cancels D, ...
 *
 * The cure: the cancel also queues the continuation. */
static void dn_34036_cancel(void *instance, struct bz_deferred_request *request) {
    struct waiter *waiter = request->waiter;
    (void)instance;
    if (bz_list_is_linked(&waiter->waiter.link)) {
        bz_deque_remove(&waiter->waiter);
        request->answer(request, BZ_CANCELLED); /* the fault: inside the call */
    }
}

/* The same without the fault. */
static void cancel(void *instance, struct bz_deferred_request *request) {
    const struct bz_zoo_semaphore *semaphore = instance;
    struct waiter *waiter = request->waiter;
    if (bz_list_is_linked(&waiter->waiter.link)) {
        bz_deque_remove(&waiter->waiter);
        waiter->status = BZ_CANCELLED;
        bz_zoo_call_soon(semaphore->queue.loop, &waiter->handle, run_answer);
    }
}

#define DEFERRED(cancel_)                                                                          \
    {                                                                                              \
        .instance_bytes = sizeof(struct bz_zoo_semaphore), .waiter_bytes = sizeof(struct waiter),  \
        .init = bz_zoo_semaphore_init, .acquire = acquire, .cancel = cancel_, .release = release,  \
        .queued = queued                                                                           \
    }

const struct bz_deferred_ops bz_zoo_ops_dn_34036 = DEFERRED(dn_34036_cancel);
const struct bz_deferred_ops bz_zoo_ops_faultless_deferred = DEFERRED(cancel);
