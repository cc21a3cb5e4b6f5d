/* A task: a stackful coroutine that the loop runs step by step, with asyncio's cancellation.
 *
 * Cancellation contract (asyncio's):
 * - bz_task_cancel() is a request. If the task waits for a pending future, that future is cancelled
 *   now, and the task resumes with BZ_CANCELLED a turn later. Otherwise (not started, running,
 *   between two steps, or woken by a done future) the task is marked: its next resume returns
 *   BZ_CANCELLED instead of the result.
 * - A request is delivered once. Requests that arrive before the delivery are delivered together,
 *   as one BZ_CANCELLED. The next await after it works as usual.
 * - If a marked task awaits a pending future, that future is cancelled. An await of a done future
 *   does not suspend and delivers nothing.
 * - A task that is cancelled before its first step runs nothing of its body. A body that returns
 *   BZ_OK while a request is undelivered ends cancelled.
 * - bz_task_cancelling() counts requests. bz_task_uncancel() takes one back; at zero it also clears
 *   the mark (asyncio 3.13). Timeouts and task groups use this count.
 * rules.h has the rules of other runtimes, for references.
 *
 * The body is `enum bz_status fn(void *arg)`: BZ_OK ends the task with a result, BZ_CANCELLED ends
 * it cancelled, any other status is its exception. The body frees what it allocates.
 */
#ifndef BZ_RUNTIME_TASK_H
#define BZ_RUNTIME_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "primitives/runtime/future.h"

BZ_BEGIN_DECLS

typedef enum bz_status bz_task_fn(void *arg);

struct bz_task;

/* Creates a task and queues its first step. Its name is `name`, followed by "-index" if `index` is
 * not 0; the string must outlive the task. NULL if the loop is out of memory or tasks. The caller
 * frees the task with bz_task_free() once it is done, or calls bz_task_detach(). */
struct bz_task *bz_task_spawn(struct bz_loop *loop, const char *name, uint32_t index,
                              bz_task_fn *fn, void *arg);

/* Frees a done task. */
void bz_task_free(struct bz_task *task);

/* The loop frees the task when it is done. The caller must not use the pointer again. */
void bz_task_detach(struct bz_task *task);

/* Requests cancellation. False, and nothing is done, if the task is done. O(1), and along a chain
 * of joins O(its length). */
bool bz_task_cancel(struct bz_task *task);

/* Takes one request back; returns how many are left. */
uint32_t bz_task_uncancel(struct bz_task *task);
uint32_t bz_task_cancelling(const struct bz_task *task);

/* Waits for the end of another task. Cancelling the waiter also cancels the other task, as in
 * asyncio. Returns the task's outcome, or BZ_CANCELLED; BZ_INVALID_STATE if a task would join
 * itself. A done task may be freed before its waiters have resumed. A circle of joins is a
 * deadlock, and cancelling a task in it aborts the process. */
enum bz_status bz_task_join(struct bz_task *task) BZ_MUST_USE;

/* Lets every other ready handle run once (asyncio.sleep(0)). BZ_OK or BZ_CANCELLED. */
enum bz_status bz_yield(struct bz_loop *loop) BZ_MUST_USE;

/* Sleeps for `delay_ns` of the loop's time; 0 is bz_yield(), BZ_TIME_NEVER waits for a cancel.
 * BZ_OK or BZ_CANCELLED; BZ_NO_MEMORY, without sleeping, if there is no memory for a timer. */
enum bz_status bz_sleep(struct bz_loop *loop, uint64_t delay_ns) BZ_MUST_USE;

bool bz_task_is_done(const struct bz_task *task);

/* The task's number, from 1, unique between two resets of the loop. */
uint32_t bz_task_id(const struct bz_task *task);

/* The future that completes when the task ends, for callbacks, state and status. It lives as long
 * as the task. Await it with bz_task_join(). */
struct bz_future *bz_task_future(struct bz_task *task);

/* Writes the name, truncated to fit; returns `buffer`. */
const char *bz_task_name(const struct bz_task *task, char *buffer, size_t size_bytes);

BZ_END_DECLS

#endif
