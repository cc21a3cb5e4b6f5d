/* A deferred: a result that is not there yet, with a chain of callbacks that it goes through.
 *
 *     fired ---> [ on_ok  ] ---> [ on_ok  ] ---> [ on_ok  ] ---> result
 *                [on_error] \-/  [on_error] \-/  [on_error]
 *
 * Twisted's Deferred, in C. A deferred is fired once, with a value or with an error, and its pairs
 * of callbacks run at once, in order of registration, each with what the one before it answered:
 * BZ_OK goes on to the next on_ok, any other status to the next on_error. A NULL passes on what it
 * is given. A pair that is added later runs at once. There is no window between the firing and the
 * callbacks in which a cancel could strike; what there is instead is the order below.
 *
 * A callback may answer with another deferred (the inner one). The outer one then waits until all
 * pairs that the inner one has by now have run, takes over its result and goes on; the inner one
 * goes on, too, with BZ_OK and 0. An inner one that is through already is taken over without a
 * pause. A circle of deferreds that wait for each other waits for ever; cancelling it stops the
 * process, as a deferred does at once that waits for itself.
 *
 * Order. Callbacks never run inside each other. The deferreds of a loop share a trampoline: the
 * outermost call that fires something (or adds a pair, unpauses, cancels) runs everything that
 * comes of it before it returns; the same call made by a callback, or by a canceller, returns
 * before what it has fired runs. That runs when the callback has returned: in the order in which it
 * was fired, each with all that it fires in turn, and before the rest of the chain that the
 * callback belongs to. So the order of callbacks is Twisted's, but that the body of a callback is
 * not interrupted: in Twisted, callback() inside a callback has run the other chain when it
 * returns. In return a chain of any length, a million waiters that release each other included,
 * needs the stack of one callback (Twisted #9304: a RecursionError, and a lock that is locked for
 * ever), and a callback meets the objects that it works with as it left them.
 *
 * A callback must not suspend its task. That is noticed, and stops the process, when another step
 * fires something meanwhile.
 *
 * Cancellation contract. bz_deferred_cancel() on a deferred that
 * - has not fired: calls the canceller, if there is one, which may fire it; if it has not, fires it
 *   with BZ_CANCELLED. Without a canceller nobody can tell the source of the result, so the result
 *   that may still arrive is swallowed, once. With one it is refused like any second result.
 * - waits for an inner one: cancels that one instead.
 * - has fired: does nothing. Whatever it was fired with belongs to its callbacks.
 * A canceller may cancel other deferreds. These calls do nest.
 *
 * Storage of deferreds and pairs is the caller's, and nothing is allocated. A pair may be released
 * as soon as it runs. A deferred must stay until all its pairs have run, or bz_deferred_fini(),
 * which one of its own callbacks may call.
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

/* What makes callbacks run one after the other. One for each loop; deferreds that have to do with
 * each other must share it. Storage of the caller's, with nothing to release. */
struct bz_trampoline {
    struct bz_loop *loop;
    struct bz_list due;            /* fired deferreds whose chains are to go on, next one first */
    struct bz_list fresh;          /* those that the present callback has fired; they go in front */
    struct bz_deferred *running;   /* whose callback runs, or NULL */
    const struct bz_task *bouncer; /* the task in which the outermost call was made, or NULL */
    bool is_bouncing;
};

/* What goes through a chain, and what a callback answers. */
struct bz_deferred_result {
    enum bz_status status;        /* BZ_OK, or the error */
    uint64_t value;               /* the result, or what the error says */
    struct bz_deferred *wait_for; /* in an answer: wait for this one; status, value do not count */
};

typedef struct bz_deferred_result bz_deferred_fn(struct bz_deferred_pair *pair,
                                                 struct bz_deferred_result result);

/* Two callbacks, of which one runs, or, if that one is NULL, none. */
struct bz_deferred_pair {
    struct bz_list link; /* linked until it runs */
    bz_deferred_fn *on_ok;
    bz_deferred_fn *on_error;
    bool is_continuation; /* not a pair: another deferred waits here */
};

struct bz_deferred {
    struct bz_trampoline *trampoline;
    struct bz_list pairs;                 /* that have not run, oldest first */
    struct bz_list due_link;              /* linked while the trampoline is to run it */
    struct bz_deferred_pair continuation; /* its place in the chain of the one it waits for */
    struct bz_deferred *waiting_for;
    /* Called inside cancel, when it has not fired. It may fire it. NULL: none. */
    void (*canceller)(struct bz_deferred *deferred);
    /* The owner's hook: called when it gets its result, whoever brings it, before any callback
     * runs, so that a primitive can unlink a waiter in O(1). It must not fire anything. NULL: none.
     */
    void (*on_fire)(struct bz_deferred *deferred);
    uint64_t value;
    uint32_t pauses;
    uint8_t status; /* enum bz_status; with value, the last answer of the chain once fired */
    bool is_fired;
    bool swallows_late; /* cancelled without a canceller: the result may still arrive */
};

/* The three answers of a callback. */
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

/* `canceller` may be NULL. The last callback of a deferred may call this, too, to use it again;
 * what that callback answers is then dropped. */
void bz_deferred_init(struct bz_deferred *deferred, struct bz_trampoline *trampoline,
                      void (*canceller)(struct bz_deferred *deferred));

/* Takes a deferred out of use: pairs that have not run never do, and it waits for nobody. Its
 * storage is the caller's again. Nobody may be waiting for it. O(pairs). */
void bz_deferred_fini(struct bz_deferred *deferred);

/* True from the moment in which it gets its result, before its callbacks have run. */
static inline bool bz_deferred_is_fired(const struct bz_deferred *deferred) {
    return deferred->is_fired;
}

/* True if it has fired and its chain is through: status and value are the final result. */
bool bz_deferred_is_settled(const struct bz_deferred *deferred);

/* Appends a pair to the chain; either function may be NULL. */
void bz_deferred_add(struct bz_deferred *deferred, struct bz_deferred_pair *pair,
                     bz_deferred_fn *on_ok, bz_deferred_fn *on_error);

/* Appends one function for both cases. */
static inline void bz_deferred_add_both(struct bz_deferred *deferred, struct bz_deferred_pair *pair,
                                        bz_deferred_fn *fn) {
    bz_deferred_add(deferred, pair, fn, fn);
}

/* Takes a pair out of its chain. False if it has run, or is running. */
bool bz_deferred_remove(struct bz_deferred_pair *pair);

/* Each fires a deferred: BZ_OK, also if the result is swallowed (see above), or BZ_INVALID_STATE if
 * it has fired already and nothing was changed. An error whose status is BZ_OK is a
 * BZ_INVALID_ARGUMENT. */
enum bz_status bz_deferred_callback(struct bz_deferred *deferred, uint64_t value);
enum bz_status bz_deferred_errback(struct bz_deferred *deferred, enum bz_status status,
                                   uint64_t value);

/* True if it reached a deferred that had not fired, this one or the one it waits for. O(length of
 * that chain of waiting). */
bool bz_deferred_cancel(struct bz_deferred *deferred);

/* A deferred that is paused runs no callbacks. Each pause needs an unpause. */
void bz_deferred_pause(struct bz_deferred *deferred);
void bz_deferred_unpause(struct bz_deferred *deferred);

/* Suspends the running task until what the chain has so far has run; the chain goes on with the
 * same result, so that several tasks may wait for one deferred. Does not suspend if the result is
 * there. Returns its status, and BZ_CANCELLED also if the task was cancelled. In that case the
 * deferred is cancelled as well, in the step in which the task resumes.
 *
 * `got`, if not NULL, receives what the deferred delivered; BZ_CANCELLED if that is nothing. The
 * two differ when a task is cancelled between the firing and its resume. What it was granted is
 * then still its own, and has to be given back:
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
