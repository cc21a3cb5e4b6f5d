#include "primitives/sync/deferred_waitq.h"

void bz_deferred_waitq_init(struct bz_deferred_waitq *queue, struct bz_trampoline *trampoline) {
    *queue = (struct bz_deferred_waitq){.trampoline = trampoline};
    bz_list_init(&queue->waiting);
}

/* Both the canceller and the hook for any other firing. */
static void leave_queue(struct bz_deferred *deferred) {
    struct bz_deferred_waiter *waiter =
        bz_container_of(deferred, struct bz_deferred_waiter, deferred);
    if (bz_list_is_linked(&waiter->link)) {
        bz_list_remove(&waiter->link);
        waiter->queue->waiting_count--;
    }
}

void bz_deferred_waiter_init(struct bz_deferred_waiter *waiter, struct bz_deferred_waitq *queue) {
    bz_deferred_init(&waiter->deferred, queue->trampoline, leave_queue);
    waiter->deferred.on_fire = leave_queue;
    waiter->link = (struct bz_list){NULL, NULL};
    waiter->queue = queue;
}

void bz_deferred_waitq_push(struct bz_deferred_waiter *waiter) {
    bz_list_push_back(&waiter->queue->waiting, &waiter->link);
    waiter->queue->waiting_count++;
}

bool bz_deferred_waitq_fire_oldest(struct bz_deferred_waitq *queue, uint64_t value) {
    if (bz_list_is_empty(&queue->waiting)) {
        return false;
    }
    struct bz_deferred_waiter *waiter =
        bz_container_of(queue->waiting.next, struct bz_deferred_waiter, link);
    enum bz_status fired = bz_deferred_callback(&waiter->deferred, value);
    BZ_CHECK(fired == BZ_OK); /* a linked waiter has not fired */
    return true;
}

/* --- run -------------------------------------------------------------------------------------- */

static struct bz_deferred_result run_begin(struct bz_deferred_pair *pair,
                                           struct bz_deferred_result result) {
    struct bz_deferred_run *run = bz_container_of(pair, struct bz_deferred_run, begin);
    (void)result;
    run->has_begun = true;
    return run->fn(run->arg);
}

static struct bz_deferred_result run_end(struct bz_deferred_pair *pair,
                                         struct bz_deferred_result result) {
    struct bz_deferred_run *run = bz_container_of(pair, struct bz_deferred_run, end);
    if (!run->has_begun) {
        return result; /* it was granted nothing */
    }
    enum bz_status status = run->give_back(run->primitive);
    return result.status == BZ_OK && status != BZ_OK ? bz_deferred_error(status, 0) : result;
}

void bz_deferred_run_start(struct bz_deferred_run *run, bz_deferred_run_fn *fn, void *arg,
                           enum bz_status (*give_back)(void *primitive), void *primitive) {
    run->fn = fn;
    run->arg = arg;
    run->give_back = give_back;
    run->primitive = primitive;
    run->has_begun = false;
    bz_deferred_add(&run->waiter.deferred, &run->begin, run_begin, NULL);
    bz_deferred_add_both(&run->waiter.deferred, &run->end, run_end);
}
