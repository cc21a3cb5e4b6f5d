/* gate in the cage: its loop takes any function, a ticket is opaque, and it calls malloc(). */
#include "sim/variant/malloc.h" /* first: the memory of what follows is the arena's */

#include "gate.c" /* for struct ticket */
#include "sim/variant/callback.h"

struct instance {
    struct bz_loop *loop;
    struct gate *gate;
};

struct caged {
    struct bz_request wait;
    struct instance *in;
    struct ticket *ticket; /* gone, once it is answered */
    void (*deferred)(void *ticket);
};

/* In the place of the loop's: gate defers completions alone, and to post one is the wake-up. */
void loop_defer(struct loop *loop, void (*function)(void *), void *argument) {
    struct caged *caged = ((struct ticket *)argument)->argument;
    (void)loop;
    caged->ticket = argument;
    caged->deferred = function;
    bz_request_post(&caged->wait);
}

static void deliver(void *arg) {
    struct caged *caged = arg;
    caged->deferred(caged->ticket);
}

static void answer(void *arg, int status) {
    bz_request_done(&((struct caged *)arg)->wait, status == 0 ? BZ_OK : BZ_CANCELLED);
}

static bool cancel(void *arg) {
    struct ticket *ticket = ((struct caged *)arg)->ticket;
    gate_abort(ticket);
    return ticket->state == ABORTED;
}

/* An abort that came too late. */
static void undo(void *arg) {
    gate_leave(((struct caged *)arg)->in->gate);
}

static enum bz_status init(void *arg, struct bz_loop *loop, uint32_t permits) {
    struct instance *instance = arg;
    bz_malloc_from(loop);
    *instance = (struct instance){loop, gate_new(NULL, permits)};
    return BZ_OK;
}

static enum bz_status acquire(void *arg) {
    struct instance *instance = arg;
    struct caged caged = {.wait = {.undo = undo}, .in = instance};
    bz_malloc_from(instance->loop);
    caged.ticket = gate_enter(instance->gate, answer, &caged);
    return bz_request_wait(&caged.wait, instance->loop, &caged, deliver, cancel);
}

static enum bz_status release(void *arg) {
    gate_leave(((struct instance *)arg)->gate);
    return BZ_OK;
}

static void fini(void *arg) {
    gate_free(((struct instance *)arg)->gate);
}

BZ_PERMIT_PLUGIN(BZ_PRIMITIVE_SEMAPHORE, "gate", "a gate that answers by callbacks",
                 BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT | BZ_CLAIM_WORK_CONSERVING, struct instance,
                 .init = init, .acquire = acquire, .release = release, .fini = fini);
