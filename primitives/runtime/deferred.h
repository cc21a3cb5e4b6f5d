/* A deferred: a result that is not there yet, with a chain of callbacks (Twisted's Deferred).
 *
 *     fired ---> [ on_ok  ] ---> [ on_ok  ] ---> [ on_ok  ] ---> result
 *                [on_error] \-/  [on_error] \-/  [on_error]
 *
 * A deferred fires once, with a value or an error. Its pairs of callbacks then run at once, in
 * order of registration, each with the result of the one before: BZ_OK goes to the next on_ok, any
 * other status to the next on_error, and a NULL passes its input on. A pair that is added later
 * runs at once. A cancel cannot strike between the firing and the callbacks: there is no window.
 *
 * A callback may return another deferred (the inner one). The outer one then waits until the inner
 * one has run the pairs that it has by now, takes over its result and continues. The inner one
 * continues with BZ_OK and 0. A circle of deferreds waits forever, and cancelling it aborts the
 * process; so does a deferred that would wait for itself.
 *
 * Order: callbacks never run inside each other. The deferreds of a loop share a trampoline. The
 * outermost call that fires something (or adds a pair, unpauses, cancels) runs everything that
 * follows from it before it returns. The same call inside a callback or a canceller only queues
 * what it fires; that runs once the callback has returned, in the order of firing, each with
 * everything it fires in turn, and before the rest of the chain of that callback. The order of
 * callbacks is Twisted's, except that no callback is interrupted. A chain of any length needs the
 * stack of one callback. A callback must not suspend its task: the process aborts when another step
 * fires something meanwhile.
 *
 * Cancellation contract: bz_deferred_cancel() on a deferred that
 * - has not fired: calls the canceller, if any, which may fire it; otherwise fires it with
 *   BZ_CANCELLED. Without a canceller the source of the result does not learn of the cancel, so one
 *   late result is ignored. With a canceller it is refused like any second result.
 * - waits for an inner one: cancels that one instead.
 * - has fired: does nothing.
 * A canceller may cancel other deferreds; these calls do nest.
 *
 * The caller provides the storage of deferreds and pairs; nothing is allocated. A pair may be
 * released as soon as it runs. A deferred must stay until all its pairs have run, or until
 * bz_deferred_fini(), which its own callbacks may call.
 */
#ifndef BZ_RUNTIME_DEFERRED_H
#define BZ_RUNTIME_DEFERRED_H

#include <stdbool.h>
#include <stdint.h>

#include "primitives/runtime/list.h"
#include "primitives/runtime/status.h"

BZ_BEGIN_DECLS

struct bz_loop;
struct bz_task;
struct bz_deferred;
struct bz_deferred_pair;

/* Runs callbacks one after the other. Deferreds that interact must share one. The caller provides
 * the storage; there is nothing to release. */
struct bz_trampoline {
    struct bz_loop *loop;
    struct bz_list due;            /* fired deferreds whose chains continue, next one first */
    struct bz_list fresh;          /* fired by the running callback; they go to the front */
    struct bz_deferred *running;   /* its callback is running; NULL: none */
    const struct bz_task *bouncer; /* the task that made the outermost call, or NULL */
    bool is_bouncing;
};

/* The argument and the result of a callback. */
struct bz_deferred_result {
    enum bz_status status;        /* BZ_OK, or the error */
    uint64_t value;               /* the result, or details of the error */
    struct bz_deferred *wait_for; /* returned: wait for this one; ignore status and value */
};

typedef struct bz_deferred_result bz_deferred_fn(struct bz_deferred_pair *pair,
                                                 struct bz_deferred_result result);

/* Two callbacks; at most one runs. */
struct bz_deferred_pair {
    struct bz_list link; /* linked until it runs */
    bz_deferred_fn *on_ok;
    bz_deferred_fn *on_error;
    bool is_continuation; /* no pair: another deferred waits here */
};

struct bz_deferred {
    struct bz_trampoline *trampoline;
    struct bz_list pairs;                 /* not run yet, oldest first */
    struct bz_list due_link;              /* linked while it is queued in the trampoline */
    struct bz_deferred_pair continuation; /* its entry in the chain of the one it waits for */
    struct bz_deferred *waiting_for;
    /* Called by a cancel before the firing; may fire the deferred. NULL: none. */
    void (*canceller)(struct bz_deferred *deferred);
    /* The owner's hook: called at the firing, before any callback runs, so that a primitive can
     * unlink a waiter in O(1). It must not fire anything. NULL: none. */
    void (*on_fire)(struct bz_deferred *deferred);
    uint64_t value;
    uint32_t pauses;
    uint8_t status; /* enum bz_status; with value: the current result of the chain */
    bool is_fired;
    bool swallows_late; /* cancelled without a canceller: ignore one late result */
};

/* The three results that a callback may return. */
static inline struct bz_deferred_result bz_deferred_ok(uint64_t value) {
    struct bz_deferred_result result = {BZ_OK, value, NULL};
    return result;
}

static inline struct bz_deferred_result bz_deferred_error(enum bz_status status, uint64_t value) {
    struct bz_deferred_result result = {status, value, NULL};
    return result;
}

static inline struct bz_deferred_result bz_deferred_wait_for(struct bz_deferred *inner) {
    struct bz_deferred_result result = {BZ_OK, 0, inner};
    return result;
}

void bz_trampoline_init(struct bz_trampoline *trampoline, struct bz_loop *loop);

/* `canceller` may be NULL. The last callback of a deferred may call this to use it again; that
 * callback's result is then dropped. */
void bz_deferred_init(struct bz_deferred *deferred, struct bz_trampoline *trampoline,
                      void (*canceller)(struct bz_deferred *deferred));

/* Ends the use of a deferred: the remaining pairs never run, and the caller may release the
 * storage. No other deferred may be waiting for it. O(pairs). */
void bz_deferred_fini(struct bz_deferred *deferred);

/* True from the firing on, before its callbacks have run. */
static inline bool bz_deferred_is_fired(const struct bz_deferred *deferred) {
    return deferred->is_fired;
}

/* True if it has fired and no pair is left: status and value are the final result. */
bool bz_deferred_is_settled(const struct bz_deferred *deferred);

/* Appends a pair to the chain; either function may be NULL. */
void bz_deferred_add(struct bz_deferred *deferred, struct bz_deferred_pair *pair,
                     bz_deferred_fn *on_ok, bz_deferred_fn *on_error);

/* Appends one function for both cases. */
static inline void bz_deferred_add_both(struct bz_deferred *deferred, struct bz_deferred_pair *pair,
                                        bz_deferred_fn *fn) {
    bz_deferred_add(deferred, pair, fn, fn);
}

/* Removes a pair from its chain. False if it has run, or is running. */
bool bz_deferred_remove(struct bz_deferred_pair *pair);

/* Each fires a deferred: BZ_OK, also if the late result is ignored (see above). BZ_INVALID_STATE,
 * and nothing is changed, if it has fired already. BZ_INVALID_ARGUMENT for an error with the status
 * BZ_OK. */
enum bz_status bz_deferred_callback(struct bz_deferred *deferred, uint64_t value);
enum bz_status bz_deferred_errback(struct bz_deferred *deferred, enum bz_status status,
                                   uint64_t value);

/* True if it cancelled a deferred: this one, or the innermost one that it waits for. O(number of
 * deferreds in between). */
bool bz_deferred_cancel(struct bz_deferred *deferred);

/* A paused deferred runs no callbacks. Each pause needs an unpause. */
void bz_deferred_pause(struct bz_deferred *deferred);
void bz_deferred_unpause(struct bz_deferred *deferred);

/* Suspends the running task until the pairs that the chain has by now have run. The chain continues
 * with the same result, so several tasks may wait for one deferred. Does not suspend if the result
 * is there. Returns the status of the result, or BZ_CANCELLED if the task was cancelled. The
 * deferred is then cancelled as well, in the step in which the task resumes.
 *
 * `got`, if not NULL, receives the delivered result; its status is BZ_CANCELLED if there is none.
 * The two differ if the task is cancelled between the firing and its resume. The task then owns
 * what it was granted, and has to give it back:
 *
 *     status = bz_deferred_await(&waiter.deferred, &got);
 *     if (status != BZ_OK && got.status == BZ_OK) {
 *         (void)!bz_deferred_lock_release(&lock);
 *     }
 *
 * Must be called from a task of the trampoline's loop, and not from a callback. */
enum bz_status bz_deferred_await(struct bz_deferred *deferred,
                                 struct bz_deferred_result *got) BZ_MUST_USE;

BZ_END_DECLS

#endif
