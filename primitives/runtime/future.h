/* A future: a result that is not there yet.
 *
 *     PENDING --set_result--> RESULT
 *             --set_exception--> EXCEPTION      once: a second completion is refused and changes
 *             --cancel--> CANCELLED             nothing
 *
 * As in asyncio, completion queues every callback in order of registration, and runs none at once.
 * Awaiting a done future does not suspend.
 *
 * The time between set_result and the step in which the waiting task resumes is *the window*. Any
 * ready handle may run in it, and may cancel the woken task.
 *
 * Cancellation contract: bz_future_cancel() completes a pending future as CANCELLED, calls the
 * owner's on_cancel hook once, before it returns, and queues the callbacks. On a done future it
 * returns false and does nothing. The storage may be released once no callback is queued, that is,
 * once every waiting task has resumed.
 */
#ifndef BZ_RUNTIME_FUTURE_H
#define BZ_RUNTIME_FUTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "primitives/runtime/handle.h"
#include "primitives/runtime/list.h"
#include "primitives/runtime/status.h"

BZ_BEGIN_DECLS

struct bz_loop;
struct bz_future;

enum bz_future_state {
    BZ_FUTURE_PENDING = 0,
    BZ_FUTURE_RESULT = 1,
    BZ_FUTURE_EXCEPTION = 2,
    BZ_FUTURE_CANCELLED = 3,
};

/* In the caller's storage; `fn` runs in a step of its own once the future is done. */
struct bz_callback {
    struct bz_handle handle;
    struct bz_list link; /* linked while the future is pending */
    struct bz_future *future;
    void (*fn)(struct bz_callback *callback, struct bz_future *future);
};

struct bz_future {
    struct bz_loop *loop;
    struct bz_list callbacks;
    /* The owner's hook, called inside cancel, so that a primitive can unlink a waiter in O(1). It
     * must neither complete futures nor await. NULL: none. */
    union {
        void (*on_cancel)(struct bz_future *future);
        /* If is_redirected: the future stands for others, and only they end it. A cancel calls this
         * while it is pending, changes nothing else, and returns what this returns: whether
         * anything was cancelled. */
        bool (*redirect_cancel)(struct bz_future *future);
    };
    uint64_t value;     /* the result, or details of the exception */
    uint8_t state;      /* enum bz_future_state */
    uint8_t status;     /* enum bz_status that an await returns once done */
    bool is_task;       /* the end of a task: cancelling it cancels the task */
    bool is_redirected; /* see redirect_cancel */
};

/* The storage may be anywhere, a coroutine's stack included. */
void bz_future_init(struct bz_future *future, struct bz_loop *loop);

static inline bool bz_future_is_done(const struct bz_future *future) {
    return future->state != BZ_FUTURE_PENDING;
}

/* Each completes a pending future: BZ_OK. On a done future: BZ_INVALID_STATE, and nothing is
 * changed. O(callbacks). */
enum bz_status bz_future_set_result(struct bz_future *future, uint64_t value);
enum bz_status bz_future_set_exception(struct bz_future *future, uint64_t value);

/* The same for a future that one task awaits and nothing else: the task resumes inside the call,
 * before anything else runs, and the caller continues when it suspends or ends. Such calls may be
 * nested. The future may be gone afterwards. */
enum bz_status bz_future_set_result_in_place(struct bz_future *future, uint64_t value);

/* bz_future_set_result() for an adapter that may have to complete in place: the loop remembers that
 * it was called in a step of a task (`buzzer check-plugin` notes it). */
enum bz_status bz_future_set_result_noted(struct bz_future *future, uint64_t value);

/* True if the future was pending and is now cancelled. The future of a task calls bz_task_cancel():
 * true means that the task has a new request, not that it has ended. */
bool bz_future_cancel(struct bz_future *future);

/* Registers a callback; a done future queues it at once. False, and nothing is done, if the memory
 * limit leaves no slot for it in the ready queue. */
bool bz_future_add_callback(struct bz_future *future, struct bz_callback *callback,
                            void (*fn)(struct bz_callback *callback,
                                       struct bz_future *future)) BZ_MUST_USE;

/* Unregisters it. False if it is queued already, and will run, or if it is not registered. Storage
 * that was never registered must be zeroed. */
bool bz_future_remove_callback(struct bz_callback *callback);

/* Suspends the running task until the future is done. BZ_OK: the value is in future->value.
 * BZ_FAILED: exception. BZ_CANCELLED: the future was cancelled, or the task was; in the latter case
 * the future may hold a result that no task fetches. Must be called from a task of the same loop.
 */
enum bz_status bz_future_await(struct bz_future *future) BZ_MUST_USE;

/* The same for a pending future that is completed as soon as the task has suspended: by what is
 * posted already, and will be delivered in a later step. */
enum bz_status bz_future_await_posted(struct bz_future *future) BZ_MUST_USE;

/* The same for a future that is redirected, inside an operation that has learned of a cancel and
 * cannot end yet: the observer hears that the task waits on (observe.h). */
enum bz_status bz_future_await_asked(struct bz_future *future) BZ_MUST_USE;

/* The same for a future that is redirected. As in bz_task_join(), what a cancel comes to is the
 * matter of those that receive it. */
enum bz_status bz_future_join(struct bz_future *future) BZ_MUST_USE;

BZ_END_DECLS

#endif
