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

/* Moves all nodes of one list, in their order, to the front of another. */
static void list_prepend_all(struct bz_list *to, struct bz_list *from) {
    if (!bz_list_is_empty(from)) {
        from->prev->next = to->next;
        to->next->prev = from->prev;
        to->next = from->next;
        from->next->prev = to;
        bz_list_init(from);
    }
}

/* The running deferred goes on by itself when its callback returns. */
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

/* The inner one has come to the place in its chain where an outer one waits. */
static void hand_over(struct bz_deferred *inner, struct bz_deferred *outer) {
    outer->waiting_for = NULL;
    outer->status = inner->status;
    outer->value = inner->value;
    inner->status = BZ_OK;
    inner->value = 0;
    schedule_next(inner);
    schedule_next(outer); /* goes first */
}

/* Takes over what a callback of the deferred has answered. */
static void take_answer(struct bz_deferred *deferred, struct bz_deferred_result answer) {
    struct bz_deferred *inner = answer.wait_for;
    if (inner == NULL) {
        deferred->status = (uint8_t)answer.status;
        deferred->value = answer.value;
        return;
    }
    BZ_CHECK(inner != deferred); /* it would wait for itself */
    BZ_CHECK(inner->trampoline == deferred->trampoline);
    deferred->status = BZ_OK;
    deferred->value = 0;
    if (bz_deferred_is_settled(inner)) {
        deferred->status = inner->status;
        deferred->value = inner->value;
        inner->status = BZ_OK;
        inner->value = 0;
        return;
    }
    deferred->waiting_for = inner;
    deferred->continuation.is_continuation = true;
    bz_list_push_back(&inner->pairs, &deferred->continuation.link);
}

/* One pair of one chain. After a callback neither the pair nor, if it says so with
 * bz_deferred_fini(), the deferred may exist any more. */
static void run_pair(struct bz_trampoline *trampoline, struct bz_deferred *deferred) {
    struct bz_list *link = bz_list_pop_front(&deferred->pairs);
    struct bz_deferred_pair *pair = bz_container_of(link, struct bz_deferred_pair, link);
    if (pair->is_continuation) {
        hand_over(deferred, bz_container_of(pair, struct bz_deferred, continuation));
        return;
    }
    bz_deferred_fn *fn = deferred->status == BZ_OK ? pair->on_ok : pair->on_error;
    if (fn != NULL) {
        trampoline->running = deferred;
        struct bz_deferred_result answer =
            fn(pair, bz_deferred_error((enum bz_status)deferred->status, deferred->value));
        bool is_gone = trampoline->running == NULL;
        trampoline->running = NULL;
        if (is_gone) {
            return;
        }
        take_answer(deferred, answer);
    }
    schedule_next(deferred);
}

/* Every call that may make callbacks run is between these two. True: this is the outermost. */
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
    struct bz_list *link;
    list_prepend_all(&trampoline->due, &trampoline->fresh);
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
        trampoline->running = NULL; /* what its callback answers is nobody's by now */
    }
}

void bz_deferred_fini(struct bz_deferred *deferred) {
    struct bz_trampoline *trampoline = deferred->trampoline;
    struct bz_list *link;
    while ((link = bz_list_pop_front(&deferred->pairs)) != NULL) {
        /* Somebody waits for this one, and would for ever. */
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
    deferred->status = (uint8_t)status;
    deferred->value = value;
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

/* The last of those that wait for each other. A circle has none: the follower, which goes half as
 * fast, is met again in it. */
static struct bz_deferred *innermost(struct bz_deferred *deferred) {
    struct bz_deferred *follower = deferred;
    for (bool is_odd = true; deferred->waiting_for != NULL; is_odd = !is_odd) {
        deferred = deferred->waiting_for;
        BZ_CHECK(deferred != follower); /* they wait for each other in a circle */
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

/* The task's cancel does not reach for the deferred at once: a chain of callbacks would run inside
 * the cancel, in whatever step that is. Until the task resumes, the deferred may well fire. */
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
        bz_deferred_remove(&awaiting.pair); /* what it waits for may take its time */
    }
    if (got != NULL) {
        *got = awaiting.got;
    }
    return status;
}
