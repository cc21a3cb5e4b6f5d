/* Toys: one small semaphore, with any of a list of faults. The faultless one is correct in three
 * ways, so that oracles can be shown to stay silent: a wake-up as a grant in order of arrival, a
 * wake-up as a hint to everybody, and polling.
 *
 * Entries stay in the queue until their task has resumed, so that its view shows W, R and C.
 */
#ifndef BZ_SIM_ORACLE_TESTS_TOYS_H
#define BZ_SIM_ORACLE_TESTS_TOYS_H

#include "sim/tests/stage.h"

#define TOY_CROWDS 0x1u          /* acquire lets everybody in */
#define TOY_LIFO 0x2u            /* wakes the newest */
#define TOY_BARGES 0x4u          /* a newcomer takes what a woken one was promised */
#define TOY_FORGETS 0x8u         /* release wakes nobody */
#define TOY_DROPS 0x10u          /* a woken one that is cancelled does not pass it on */
#define TOY_SWALLOWS 0x20u       /* a cancelled acquire says OK */
#define TOY_INVENTS 0x40u        /* acquire says cancelled, unasked */
#define TOY_KEEPS 0x80u          /* a cancelled acquire takes a permit with it */
#define TOY_TAKES_NOTHING 0x100u /* acquire says OK and takes nothing */
#define TOY_MINTS 0x200u         /* release opens two tables */
#define TOY_OVERWAKES 0x400u     /* release wakes two */
#define TOY_LOCKED_BLIND 0x800u  /* locked() forgets the woken ones */
#define TOY_LEAKS 0x1000u        /* a cancelled entry stays in the queue */
#define TOY_BOUND 0x2000u        /* no fault: refuses a release too many */
#define TOY_MISCOUNTS 0x4000u    /* the view counts woken ones as waiting, too */
#define TOY_HERD 0x8000u         /* no fault: a wake-up is a hint to everybody */
#define TOY_POLLS 0x10000u       /* no fault: never waits on a future */
#define TOY_CANCELS 0x20000u     /* release cancels the oldest waiter instead of waking it */
#define TOY_DEFERS 0x40000u      /* no fault: wakes from a callback, a step later */
#define TOY_DEFERS_LOST 0x80000u /* the same, but the callback wakes nobody */

#define TOY_QUEUES 0x100000u      /* whoever comes queues; a callback wakes who fits */
#define TOY_FIRST_POLLS 0x200000u /* who would be the first to queue polls; others queue */
#define TOY_STRICT 0x400000u      /* no fault: newcomers queue while there is a woken one */
#define TOY_CHECKPOINTS 0x800000u /* no fault: yields once before it acquires */

struct toy_waiter {
    struct bz_future future;
    struct bz_list link;
};

struct toy {
    struct bz_loop *loop;
    uint32_t faults;
    uint64_t level; /* open tables, those promised to woken ones included */
    uint64_t bound;
    struct bz_list queue;
    struct bz_handle wakes_later;
    uint32_t pollers;
};

static inline uint32_t toy_count(struct toy *toy, enum bz_future_state state) {
    uint32_t count = 0;
    for (struct bz_list *link = toy->queue.next; link != &toy->queue; link = link->next) {
        count += bz_container_of(link, struct toy_waiter, link)->future.state == state;
    }
    return count;
}

static inline bool toy_wake_one(struct toy *toy) {
    struct toy_waiter *chosen = NULL;
    for (struct bz_list *link = toy->queue.next; link != &toy->queue; link = link->next) {
        struct toy_waiter *waiter = bz_container_of(link, struct toy_waiter, link);
        if (!bz_future_is_done(&waiter->future) &&
            (chosen == NULL || (toy->faults & TOY_LIFO) != 0)) {
            chosen = waiter;
        }
    }
    if (chosen == NULL) {
        return false;
    }
    if ((toy->faults & TOY_CANCELS) != 0) {
        return bz_future_cancel(&chosen->future);
    }
    return bz_future_set_result(&chosen->future, 0) == BZ_OK;
}

/* Promises what is free, or tells everybody. */
static inline void toy_wake(struct toy *toy) {
    bool is_herd = (toy->faults & TOY_HERD) != 0;
    if (toy->pollers > 0) {
        return; /* what is free is the poller's */
    }
    uint32_t spare = (toy->faults & TOY_OVERWAKES) != 0;
    while ((is_herd || toy->level + spare > toy_count(toy, BZ_FUTURE_RESULT)) &&
           toy_wake_one(toy)) {
    }
}

static inline enum bz_status toy_wait(struct toy *toy, bool *was_woken) {
    struct toy_waiter *waiter = bz_mem_alloc(bz_loop_mem(toy->loop), sizeof *waiter);
    cr_assert(ne(ptr, waiter, NULL));
    bz_future_init(&waiter->future, toy->loop);
    bz_list_push_back(&toy->queue, &waiter->link);
    enum bz_status status = bz_future_await(&waiter->future);
    *was_woken = waiter->future.state == BZ_FUTURE_RESULT;
    if (status == BZ_OK || (toy->faults & TOY_LEAKS) == 0) {
        bz_list_remove(&waiter->link);
        bz_mem_free(bz_loop_mem(toy->loop), waiter, sizeof *waiter);
    }
    return status;
}

static inline enum bz_status toy_cancelled(struct toy *toy, bool was_woken) {
    if (was_woken && (toy->faults & (TOY_DROPS | TOY_HERD)) == 0) {
        toy_wake(toy);
    }
    if ((toy->faults & TOY_KEEPS) != 0 && toy->level > 0) {
        toy->level--;
    }
    return (toy->faults & TOY_SWALLOWS) != 0 ? BZ_OK : BZ_CANCELLED;
}

static inline enum bz_status toy_poll(struct toy *toy) {
    while (toy->level == 0) {
        enum bz_status status = bz_yield(toy->loop);
        if (status != BZ_OK) {
            return status;
        }
    }
    toy->level--;
    return BZ_OK;
}

/* The first one of all polls, and is waited for. */
static inline enum bz_status toy_poll_first(struct toy *toy) {
    toy->pollers++;
    enum bz_status status = toy_poll(toy);
    toy->pollers--;
    if (status != BZ_OK) {
        toy_wake(toy);
    }
    return status;
}

static inline void toy_later(struct bz_handle *handle) {
    struct toy *toy = bz_container_of(handle, struct toy, wakes_later);
    if ((toy->faults & (TOY_DEFERS | TOY_QUEUES)) != 0) {
        toy_wake(toy);
    }
}

static inline void toy_call_later(struct toy *toy) {
    if (!toy->wakes_later.is_ready) {
        bool is_queued = bz_loop_call_soon(toy->loop, &toy->wakes_later, toy_later);
        BZ_CHECK(is_queued);
    }
}

static inline enum bz_status toy_acquire(void *instance) {
    struct toy *toy = instance;
    if ((toy->faults & TOY_INVENTS) != 0) {
        return BZ_CANCELLED;
    }
    if ((toy->faults & TOY_TAKES_NOTHING) != 0) {
        return BZ_OK;
    }
    if ((toy->faults & TOY_CROWDS) != 0) {
        toy->level -= toy->level > 0;
        return BZ_OK;
    }
    if ((toy->faults & TOY_POLLS) != 0) {
        return toy_poll(toy);
    }
    if ((toy->faults & TOY_CHECKPOINTS) != 0 && bz_yield(toy->loop) != BZ_OK) {
        return BZ_CANCELLED;
    }
    bool barges = (toy->faults & (TOY_BARGES | TOY_HERD)) != 0;
    uint64_t promised = barges ? 0 : toy_count(toy, BZ_FUTURE_RESULT);
    bool is_strict = (toy->faults & TOY_STRICT) != 0;
    bool must_wait = toy->level <= promised || (is_strict && promised > 0) ||
                     (!barges && toy_count(toy, BZ_FUTURE_PENDING) > 0);
    if (must_wait && (toy->faults & TOY_FIRST_POLLS) != 0 && toy->pollers == 0 &&
        bz_list_is_empty(&toy->queue)) {
        return toy_poll_first(toy);
    }
    if (!must_wait && (toy->faults & TOY_QUEUES) != 0) {
        must_wait = true;
        toy_call_later(toy);
    }
    while (must_wait) {
        bool was_woken;
        enum bz_status status = toy_wait(toy, &was_woken);
        if (status != BZ_OK) {
            return toy_cancelled(toy, was_woken);
        }
        must_wait = toy->level == 0;
    }
    toy->level--;
    if (is_strict) {
        toy_wake(toy); /* those that queued behind it */
    }
    return BZ_OK;
}

static inline enum bz_status toy_release(void *instance) {
    struct toy *toy = instance;
    if ((toy->faults & TOY_BOUND) != 0 && toy->level >= toy->bound) {
        return BZ_NOT_HELD;
    }
    toy->level += (toy->faults & TOY_MINTS) != 0 ? 2 : 1;
    if ((toy->faults & (TOY_DEFERS | TOY_DEFERS_LOST)) != 0) {
        toy_call_later(toy);
    } else if ((toy->faults & TOY_FORGETS) == 0) {
        toy_wake(toy);
    }
    return BZ_OK;
}

static inline bool toy_locked(void *instance) {
    struct toy *toy = instance;
    if ((toy->faults & TOY_LOCKED_BLIND) != 0) {
        return toy->level == 0 || toy_count(toy, BZ_FUTURE_PENDING) > 0;
    }
    return toy->level == 0 || toy_count(toy, BZ_FUTURE_PENDING) > 0 ||
           toy_count(toy, BZ_FUTURE_RESULT) > 0;
}

static inline void toy_view(void *instance, struct bz_permit_view *view) {
    struct toy *toy = instance;
    view->level = toy->level;
    view->waiting = toy_count(toy, BZ_FUTURE_PENDING);
    view->woken = toy_count(toy, BZ_FUTURE_RESULT);
    view->cancelled = toy_count(toy, BZ_FUTURE_CANCELLED);
    view->queued = view->waiting + view->woken + view->cancelled;
    view->waiting += (toy->faults & TOY_MISCOUNTS) != 0 ? view->woken : 0;
}

static inline enum bz_status toy_init(void *instance, struct bz_loop *loop, uint32_t permits,
                                      uint32_t faults) {
    struct toy *toy = instance;
    toy->loop = loop;
    toy->faults = faults;
    toy->level = permits;
    toy->bound = permits;
    bz_list_init(&toy->queue);
    return BZ_OK;
}

#define TOY_CLAIMS_ALL                                                                             \
    (BZ_CLAIM_FIFO | BZ_CLAIM_LOCKED_EXACT | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_WAKE_IS_GRANT)

/* Defines the variant `name`; `shows` is toy_view, or NULL for a black box. */
#define TOY(name_, faults_, claims_, shows)                                                        \
    static enum bz_status name_##_init(void *instance, struct bz_loop *loop, uint32_t permits) {   \
        return toy_init(instance, loop, permits, faults_);                                         \
    }                                                                                              \
    static const struct bz_permit_ops name_##_ops = {.instance_bytes = sizeof(struct toy),         \
                                                     .init = name_##_init,                         \
                                                     .acquire = toy_acquire,                       \
                                                     .release = toy_release,                       \
                                                     .locked = toy_locked,                         \
                                                     .view = shows};                               \
    static const struct bz_variant name_ = {.version = BZ_VARIANT_VERSION,                         \
                                            .claims = claims_,                                     \
                                            .name = #name_,                                        \
                                            .summary = "a toy",                                    \
                                            .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &name_##_ops,   \
                                                        [BZ_PRIMITIVE_BOUNDED] = &name_##_ops,     \
                                                        [BZ_PRIMITIVE_LOCK] = &name_##_ops}}

/* These guests of a toy of so many permits, by this plan, fail so. */
static inline void toy_fails(const struct bz_variant *variant, uint32_t permits,
                             const char *const *scripts, const char *plan, const char *oracle,
                             uint32_t step, const char *fragment) {
    struct stage stage;
    stage_begin(&stage, variant, permits);
    stage_guests(&stage, scripts);
    stage_play(&stage, plan);
    stage_expect_violation(&stage, oracle, step, fragment);
    stage_end(&stage);
}

static inline void toy_passes(const struct bz_variant *variant, uint32_t permits,
                              const char *const *scripts, const char *plan) {
    struct stage stage;
    stage_begin(&stage, variant, permits);
    stage_guests(&stage, scripts);
    stage_play(&stage, plan);
    stage_expect_pass(&stage);
    stage_end(&stage);
}

#endif
