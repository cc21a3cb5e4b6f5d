/* evsem in the cage. evsem.c is compiled as it is; evloop.c is left out. */
#include "evsem.h"
#include "sim/variant/callback.h"

struct caged {
    struct evsem_request request; /* the first member */
    struct bz_request wait;
};

/* In the place of the loop's post: to post a completion is the wake-up. */
void evloop_post(struct evloop *loop, struct evwork *work) {
    (void)loop;
    bz_request_post(&bz_container_of(work, struct caged, request.work)->wait);
}

/* Its delivery is the resume. */
static void deliver(void *request) {
    ((struct evwork *)request)->run(request); /* its first member */
}

static void on_done(struct evsem_request *request, bool is_granted) {
    bz_request_done(&((struct caged *)request)->wait, is_granted ? BZ_OK : BZ_CANCELLED);
}

static bool cancel(void *request) {
    return evsem_cancel(request);
}

/* evsem does nothing with its loop but pass it on, so Buzzer's takes its place. */
static enum bz_status init(void *instance, struct bz_loop *loop, uint32_t permits) {
    evsem_init(instance, (void *)loop, permits);
    return BZ_OK;
}

static enum bz_status acquire(void *instance) {
    struct caged caged = {0};
    evsem_acquire(instance, &caged.request, on_done);
    return bz_request_wait(&caged.wait, caged.request.sem->loop, &caged.request, deliver, cancel);
}

static enum bz_status release(void *instance) {
    evsem_release(instance);
    return BZ_OK;
}

/* A permit that was granted and not delivered belongs to nobody yet. */
static void view(void *instance, struct bz_permit_view *view) {
    const struct evsem *sem = instance;
    view->level = sem->free + sem->granted;
    view->queued = view->waiting = sem->waiting;
}

BZ_PERMIT_PLUGIN(BZ_PRIMITIVE_SEMAPHORE, "evsem", "a semaphore in callback style",
                 BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT | BZ_CLAIM_WORK_CONSERVING, struct evsem,
                 .init = init, .acquire = acquire, .release = release, .view = view);
