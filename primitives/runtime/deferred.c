#include "primitives/runtime/deferred.h"

#include <stddef.h>

#include "primitives/runtime/check.h"
#include "primitives/runtime/future.h"
#include "primitives/runtime/loop.h"

/* --- the trampoline --------------------------------------------------------------------------- */

void bz_trampoline_init(struct bz_trampoline *trampoline, struct bz_loop *loop) {
    *trampoline = (struct bz_trampoline){.loop = loop};
    bz_list_init(&trampoline->due);
    bz_list_init(&trampoline->fresh);
}

static bool is_runnable(const struct bz_deferred *deferred) {
    return deferred->is_fired && deferred->pauses == 0 && deferred->waiting_for == NULL &&
           !bz_list_is_empty(&deferred->pairs);
}

/* Moves all nodes of a list, in order, to the front of another. */
static void list_prepend_all(struct bz_list *to, struct bz_list *from) {
    if (!bz_list_is_empty(from)) {
        from->prev->next = to->next;
        to->next->prev = from->prev;
        to->next = from->next;
        from->next->prev = to;
        bz_list_init(from);
    }
}

/* The running deferred continues by itself when its callback returns. */
static void schedule(struct bz_deferred *deferred) {
    struct bz_trampoline *trampoline = deferred->trampoline;
    if (trampoline->running != deferred && is_runnable(deferred) &&
        !bz_list_is_linked(&deferred->due_link)) {
        bz_list_push_back(&trampoline->fresh, &deferred->due_link);
    }
}

static void schedule_next(struct bz_deferred *deferred) {
    if (is_runnable(deferred)) {
        bz_list_push_front(&deferred->trampoline->due, &deferred->due_link);
    }
}

static void set_result(struct bz_deferred *deferred, enum bz_status status, uint64_t value) {
    deferred->status = (uint8_t)status;
    deferred->value = value;
}

/* The outer one takes over the result of the inner one. */
static void take_over(struct bz_deferred *outer, struct bz_deferred *inner) {
    set_result(outer, (enum bz_status)inner->status, inner->value);
    set_result(inner, BZ_OK, 0);
}

/* Applies what a callback of the deferred has returned. */
static void apply(struct bz_deferred *deferred, struct bz_deferred_result result) {
    struct bz_deferred *inner = result.wait_for;
    if (inner == NULL) {
        set_result(deferred, result.status, result.value);
        return;
    }
    BZ_CHECK(inner != deferred); /* it would wait for itself */
    BZ_CHECK(inner->trampoline == deferred->trampoline);
    if (bz_deferred_is_settled(inner)) {
        take_over(deferred, inner);
        return;
    }
    set_result(deferred, BZ_OK, 0);
    deferred->waiting_for = inner;
    deferred->continuation.is_continuation = true;
    bz_list_push_back(&inner->pairs, &deferred->continuation.link);
}

/* Runs one pair of a chain. Its callback may release the pair, and finish the deferred. */
static void run_pair(struct bz_trampoline *trampoline, struct bz_deferred *deferred) {
    struct bz_list *link = bz_list_pop_front(&deferred->pairs);
    struct bz_deferred_pair *pair = bz_container_of(link, struct bz_deferred_pair, link);
    if (pair->is_continuation) {
        struct bz_deferred *outer = bz_container_of(pair, struct bz_deferred, continuation);
        outer->waiting_for = NULL;
        take_over(outer, deferred);
        schedule_next(deferred);
        schedule_next(outer); /* goes first */
        return;
    }
    bz_deferred_fn *fn = deferred->status == BZ_OK ? pair->on_ok : pair->on_error;
    if (fn != NULL) {
        trampoline->running = deferred;
        struct bz_deferred_result result =
            fn(pair, bz_deferred_error((enum bz_status)deferred->status, deferred->value));
        if (trampoline->running == NULL) {
            return; /* finished, or initialized again */
        }
        trampoline->running = NULL;
        apply(deferred, result);
    }
    schedule_next(deferred);
}

/* Every call that may run callbacks is between these two. True: this is the outermost call. */
static bool bounce_begin(struct bz_trampoline *trampoline) {
    const struct bz_task *task = bz_loop_current(trampoline->loop);
    if (trampoline->is_bouncing) {
        BZ_CHECK(trampoline->bouncer == task); /* a callback has suspended its task */
        return false;
    }
    trampoline->is_bouncing = true;
    trampoline->bouncer = task;
    return true;
}

static void bounce_end(struct bz_trampoline *trampoline, bool is_outermost) {
    if (!is_outermost) {
        return;
    }
    list_prepend_all(&trampoline->due, &trampoline->fresh);
    struct bz_list *link;
    while ((link = bz_list_pop_front(&trampoline->due)) != NULL) {
        struct bz_deferred *deferred = bz_container_of(link, struct bz_deferred, due_link);
        if (is_runnable(deferred)) {
            run_pair(trampoline, deferred);
            list_prepend_all(&trampoline->due, &trampoline->fresh);
        }
    }
    trampoline->is_bouncing = false;
}

/* --- the deferred ----------------------------------------------------------------------------- */

void bz_deferred_init(struct bz_deferred *deferred, struct bz_trampoline *trampoline,
                      void (*canceller)(struct bz_deferred *deferred)) {
    *deferred = (struct bz_deferred){.trampoline = trampoline, .canceller = canceller};
    bz_list_init(&deferred->pairs);
    if (trampoline->running == deferred) {
        trampoline->running = NULL; /* drops its callback's result */
    }
}

void bz_deferred_fini(struct bz_deferred *deferred) {
    struct bz_trampoline *trampoline = deferred->trampoline;
    struct bz_list *link;
    while ((link = bz_list_pop_front(&deferred->pairs)) != NULL) {
        /* Another deferred would wait forever. */
        BZ_CHECK(!bz_container_of(link, struct bz_deferred_pair, link)->is_continuation);
    }
    if (bz_list_is_linked(&deferred->due_link)) {
        bz_list_remove(&deferred->due_link);
    }
    if (deferred->waiting_for != NULL) {
        bz_list_remove(&deferred->continuation.link);
        deferred->waiting_for = NULL;
    }
    if (trampoline->running == deferred) {
        trampoline->running = NULL;
    }
}

bool bz_deferred_is_settled(const struct bz_deferred *deferred) {
    return deferred->is_fired && deferred->pauses == 0 && deferred->waiting_for == NULL &&
           bz_list_is_empty(&deferred->pairs) && deferred->trampoline->running != deferred;
}

void bz_deferred_add(struct bz_deferred *deferred, struct bz_deferred_pair *pair,
                     bz_deferred_fn *on_ok, bz_deferred_fn *on_error) {
    bool is_outermost = bounce_begin(deferred->trampoline);
    pair->on_ok = on_ok;
    pair->on_error = on_error;
    pair->is_continuation = false;
    bz_list_push_back(&deferred->pairs, &pair->link);
    schedule(deferred);
    bounce_end(deferred->trampoline, is_outermost);
}

bool bz_deferred_remove(struct bz_deferred_pair *pair) {
    bool is_linked = bz_list_is_linked(&pair->link);
    if (is_linked) {
        bz_list_remove(&pair->link);
    }
    return is_linked;
}

static void settle(struct bz_deferred *deferred, enum bz_status status, uint64_t value) {
    deferred->is_fired = true;
    set_result(deferred, status, value);
    if (deferred->on_fire != NULL) {
        deferred->on_fire(deferred);
    }
    schedule(deferred);
}

static enum bz_status fire(struct bz_deferred *deferred, enum bz_status status, uint64_t value) {
    struct bz_trampoline *trampoline = deferred->trampoline;
    if (deferred->is_fired) {
        bool is_late = deferred->swallows_late;
        deferred->swallows_late = false;
        return is_late ? BZ_OK : BZ_INVALID_STATE;
    }
    bool is_outermost = bounce_begin(trampoline);
    settle(deferred, status, value);
    bounce_end(trampoline, is_outermost);
    return BZ_OK;
}

enum bz_status bz_deferred_callback(struct bz_deferred *deferred, uint64_t value) {
    return fire(deferred, BZ_OK, value);
}

enum bz_status bz_deferred_errback(struct bz_deferred *deferred, enum bz_status status,
                                   uint64_t value) {
    return status == BZ_OK ? BZ_INVALID_ARGUMENT : fire(deferred, status, value);
}

/* The last one of a chain of waiting. A circle has none: there `deferred` meets the follower, which
 * is half as fast. */
static struct bz_deferred *innermost(struct bz_deferred *deferred) {
    struct bz_deferred *follower = deferred;
    for (bool is_odd = true; deferred->waiting_for != NULL; is_odd = !is_odd) {
        deferred = deferred->waiting_for;
        BZ_CHECK(deferred != follower); /* a circle */
        if (!is_odd) {
            follower = follower->waiting_for;
        }
    }
    return deferred;
}

bool bz_deferred_cancel(struct bz_deferred *deferred) {
    struct bz_trampoline *trampoline = deferred->trampoline;
    deferred = innermost(deferred);
    if (deferred->is_fired) {
        return false;
    }
    bool is_outermost = bounce_begin(trampoline);
    if (deferred->canceller != NULL) {
        deferred->canceller(deferred);
    } else {
        deferred->swallows_late = true;
    }
    if (!deferred->is_fired) {
        settle(deferred, BZ_CANCELLED, 0);
    }
    bounce_end(trampoline, is_outermost);
    return true;
}

void bz_deferred_pause(struct bz_deferred *deferred) {
    deferred->pauses++;
}

void bz_deferred_unpause(struct bz_deferred *deferred) {
    BZ_CHECK(deferred->pauses > 0);
    bool is_outermost = bounce_begin(deferred->trampoline);
    deferred->pauses--;
    schedule(deferred);
    bounce_end(deferred->trampoline, is_outermost);
}

/* --- awaiting --------------------------------------------------------------------------------- */

struct awaiting {
    struct bz_deferred_pair pair;
    struct bz_future future;
    struct bz_deferred_result got;
    bool is_delivered;
};

static struct bz_deferred_result deliver(struct bz_deferred_pair *pair,
                                         struct bz_deferred_result result) {
    struct awaiting *awaiting = bz_container_of(pair, struct awaiting, pair);
    awaiting->got = result;
    awaiting->is_delivered = true;
    (void)bz_future_set_result(&awaiting->future, 0); /* refused if the task was cancelled before */
    return result;
}

/* A cancel of the task cancels the deferred only when the task resumes: otherwise callbacks would
 * run inside that cancel, in any step. Until then the deferred may fire. */
enum bz_status bz_deferred_await(struct bz_deferred *deferred, struct bz_deferred_result *got) {
    struct bz_trampoline *trampoline = deferred->trampoline;
    BZ_CHECK(!trampoline->is_bouncing); /* a callback must not suspend */
    struct awaiting awaiting = {.got.status = BZ_CANCELLED};
    bz_future_init(&awaiting.future, trampoline->loop);
    bz_deferred_add_both(deferred, &awaiting.pair, deliver);
    enum bz_status status = bz_future_await(&awaiting.future);
    if (status == BZ_OK) {
        status = awaiting.got.status;
    } else if (!awaiting.is_delivered) {
        bz_deferred_cancel(deferred);
        bz_deferred_remove(&awaiting.pair); /* the deferred may not have fired yet */
    }
    if (got != NULL) {
        *got = awaiting.got;
    }
    return status;
}
