/* A future: a result that is not there yet.
 *
 *     PENDING --set_result--> RESULT
 *             --set_exception--> EXCEPTION      once, and never again: the second completion is
 *             --cancel--> CANCELLED             refused and changes nothing
 *
 * Semantics are asyncio's: on completion every callback goes into the ready queue, in order of
 * registration, and nothing runs at once. Awaiting a future that is done does not suspend.
 *
 * The gap between set_result and the step in which the waiting task resumes is *the window*:
 * anything that is ready may run there, and may cancel the task that was woken.
 *
 * Cancellation contract. bz_future_cancel() on a pending future completes it (CANCELLED), calls the
 * owner's on_cancel hook at once and exactly once, and queues the callbacks; on a done future it
 * answers false and does nothing. After it the storage may be released only when no callback of it
 * is queued, that is, when every waiting task has resumed.
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

/* Storage of the caller's; `fn` runs in a step of its own once the future is done. */
struct bz_callback {
    struct bz_handle handle;
    struct bz_list link; /* linked while the future is pending */
    struct bz_future *future;
    void (*fn)(struct bz_callback *callback, struct bz_future *future);
};

struct bz_future {
    struct bz_loop *loop;
    struct bz_list callbacks;
    /* The owner's hook: called inside cancel, so that a primitive can unlink a waiter in O(1). It
     * must not complete other futures' waiters synchronously nor await. NULL: none. */
    void (*on_cancel)(struct bz_future *future);
    uint64_t value; /* result, or what an exception says */
    uint8_t state;  /* enum bz_future_state */
    uint8_t status; /* enum bz_status that an await returns once done */
    bool is_task;   /* this future is the end of a task: cancelling it cancels the task */
};

/* Storage may be anywhere, a coroutine's stack included. */
void bz_future_init(struct bz_future *future, struct bz_loop *loop);

static inline bool bz_future_is_done(const struct bz_future *future) {
    return future->state != BZ_FUTURE_PENDING;
}

/* Each completes a pending future: BZ_OK, or BZ_INVALID_STATE if it is done already (asyncio raises
 * InvalidStateError) and nothing was changed. O(callbacks). */
enum bz_status bz_future_set_result(struct bz_future *future, uint64_t value);
enum bz_status bz_future_set_exception(struct bz_future *future, uint64_t value);

/* True if the future was pending and is cancelled now. For the future of a task this is
 * bz_task_cancel(): true means that the request was delivered, not that the task has ended. */
bool bz_future_cancel(struct bz_future *future);

/* Registers a callback; on a done future it is queued at once. False when the loop's memory limit
 * leaves no slot of the ready queue for it: then nothing was done. */
bool bz_future_add_callback(struct bz_future *future, struct bz_callback *callback,
                            void (*fn)(struct bz_callback *callback,
                                       struct bz_future *future)) BZ_MUST_USE;

/* Unregisters it. False if it was queued already, and will run, or if it is not registered. Storage
 * that was never registered must be zeroed. */
bool bz_future_remove_callback(struct bz_callback *callback);

/* Suspends the running task until the future is done, and returns BZ_OK (the value is in
 * future->value), BZ_FAILED (exception), or BZ_CANCELLED: either the future was cancelled, or the
 * task was, in which case the future may well hold a result that nobody will fetch. Must be called
 * from a task of the same loop. */
enum bz_status bz_future_await(struct bz_future *future) BZ_MUST_USE;

BZ_END_DECLS

#endif
