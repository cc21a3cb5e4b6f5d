/* buzzer/deferred-run: the deferred semaphore that ships, used through its run(). The function that
 * runs with the token grants the request, and waits for a deferred that a release fires: with a
 * value, with an error, or by a cancel of the run, in turn. The result of the run must be that one.
 * Where no other task could take the token meanwhile, the function also releases it by itself. */
#include <string.h>

#include "primitives/runtime/loop.h"
#include "primitives/runtime/mem.h"
#include "primitives/sync/deferred_semaphore.h"
#include "scenarios/variants/variants.h"

enum ending { WITH_VALUE, WITH_ERROR, BY_CANCEL, RELEASED, RELEASED_WITH_ERROR, ENDINGS };

#define UNSET 0xa5

struct desk {
    struct bz_deferred_semaphore semaphore;
    struct bz_trampoline trampoline;
    struct bz_list begun; /* jobs that hold a token, the oldest first */
    enum ending ending;   /* of the next one that ends */
};

/* In memory of its own: a release ends the oldest one, whoever asks for it. */
struct job {
    struct bz_deferred_run run;
    struct bz_deferred work;
    struct bz_deferred_pair finished;
    struct bz_list link;
    struct bz_deferred_request *request;
    struct desk *desk;
    struct bz_deferred_result due;
    bool has_begun;
};

static struct job **job_of(struct bz_deferred_request *request) {
    return request->waiter;
}

static void answer(struct job *job, enum bz_status status) {
    *job_of(job->request) = NULL;
    job->request->answer(job->request, status);
}

static struct bz_deferred_result begin(void *arg) {
    struct job *job = arg;
    job->has_begun = true;
    bz_list_push_back(&job->desk->begun, &job->link);
    answer(job, BZ_OK);
    return bz_deferred_wait_for(&job->work);
}

/* After the token was given back. An oracle objects to a second answer. */
static struct bz_deferred_result finish(struct bz_deferred_pair *pair,
                                        struct bz_deferred_result result) {
    struct job *job = bz_container_of(pair, struct job, finished);
    bool is_due = job->has_begun
                      ? result.status == job->due.status && result.value == job->due.value
                      : result.status != BZ_OK;
    if (!is_due) {
        answer(job, BZ_INVALID_STATE);
    } else if (!job->has_begun) {
        answer(job, result.status);
    }
    bz_deferred_fini(&job->run.waiter.deferred);
    bz_mem_free(bz_loop_mem(job->desk->trampoline.loop), job, sizeof *job);
    return bz_deferred_ok(0);
}

/* The semaphore must refuse these. */
static bool is_refused(struct desk *desk) {
    struct bz_deferred_run run;
    return bz_deferred_semaphore_init(&desk->semaphore, &desk->trampoline, 0) ==
               BZ_INVALID_ARGUMENT &&
           bz_deferred_semaphore_run(&desk->semaphore, &run, NULL, NULL) == BZ_INVALID_ARGUMENT;
}

static enum bz_status init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct desk *desk = instance;
    bz_trampoline_init(&desk->trampoline, loop);
    bz_list_init(&desk->begun);
    return is_refused(desk)
               ? bz_deferred_semaphore_init(&desk->semaphore, &desk->trampoline, permits)
               : BZ_FAILED;
}

static void acquire(void *instance, struct bz_deferred_request *request) {
    struct desk *desk = instance;
    struct job *job = bz_mem_alloc(bz_loop_mem(desk->trampoline.loop), sizeof *job);
    if (job == NULL) {
        request->answer(request, BZ_NO_MEMORY);
        return;
    }
    *job_of(request) = job;
    *job = (struct job){.request = request, .desk = desk};
    memset(&job->run, UNSET, sizeof job->run); /* the primitive initializes it */
    bz_deferred_init(&job->work, &desk->trampoline, NULL);
    enum bz_status status = bz_deferred_semaphore_run(&desk->semaphore, &job->run, begin, job);
    if (status != BZ_OK) {
        answer(job, status);
        return;
    }
    bz_deferred_add_both(&job->run.waiter.deferred, &job->finished, finish);
}

static void cancel(void *instance, struct bz_deferred_request *request) {
    struct job *job = *job_of(request);
    (void)instance;
    if (job != NULL) { /* refused if the token is on its way */
        (void)bz_deferred_cancel(&job->run.waiter.deferred);
    }
}

/* No other task has a token, waits for one, or could get one before the run ends. */
static bool is_alone(const struct desk *desk) {
    return desk->semaphore.tokens + 1 == desk->semaphore.limit &&
           bz_list_is_empty(&desk->semaphore.queue.waiting) && !desk->trampoline.is_bouncing;
}

static enum bz_status end_job(struct desk *desk, struct job *job, enum ending ending) {
    bool is_cancelled = ending == BY_CANCEL && job->run.waiter.deferred.waiting_for != NULL;
    bool is_released = ending >= RELEASED && is_alone(desk) &&
                       bz_deferred_semaphore_release(&desk->semaphore) == BZ_OK;
    if (is_cancelled) {
        job->due = bz_deferred_error(BZ_CANCELLED, 0);
        return bz_deferred_cancel(&job->run.waiter.deferred) ? BZ_OK : BZ_INVALID_STATE;
    }
    if (ending == WITH_ERROR || ending == RELEASED_WITH_ERROR) {
        job->due = bz_deferred_error(BZ_FAILED, 1);
        return bz_deferred_errback(&job->work, BZ_FAILED, 1);
    }
    job->due = is_released ? bz_deferred_error(BZ_NOT_HELD, 0) : bz_deferred_ok(2);
    return bz_deferred_callback(&job->work, 2);
}

static enum bz_status release(void *instance) {
    struct desk *desk = instance;
    struct bz_list *oldest = bz_list_pop_front(&desk->begun);
    if (oldest == NULL) {
        return bz_deferred_semaphore_release(&desk->semaphore);
    }
    enum ending ending = desk->ending;
    desk->ending = (enum ending)((ending + 1) % ENDINGS);
    return end_job(desk, bz_container_of(oldest, struct job, link), ending);
}

static uint32_t queued(void *instance) {
    return ((const struct desk *)instance)->semaphore.queue.waiting_count;
}

static const struct bz_deferred_ops ops = {
    .instance_bytes = sizeof(struct desk),
    .waiter_bytes = sizeof(struct job *),
    .init = init,
    .acquire = acquire,
    .cancel = cancel,
    .release = release,
    .queued = queued,
};

const struct bz_variant bz_variant_deferred_run = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_REFUSES_MISUSE,
    .name = "buzzer/deferred-run",
    .summary = "the deferred semaphore that ships, by its run(), in the scenario `deferred`",
    .deferred = &ops,
};
