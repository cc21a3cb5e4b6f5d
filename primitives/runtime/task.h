/* A task: a stackful coroutine that the loop runs step by step, with asyncio's cancellation.
 *
 * Cancellation contract (asyncio's, exactly):
 * - bz_task_cancel() is a request. If the task waits on a pending future, that future is cancelled
 *   now and the task resumes with BZ_CANCELLED a turn later. Otherwise (not started, running,
 *   between two steps, or woken by a future that is already done) the task is marked, and its next
 *   resume returns BZ_CANCELLED in place of whatever it waited for.
 * - A request is delivered once and is not sticky: the next await after it works as ever. Requests
 *   that pile up before the delivery are delivered together, as one BZ_CANCELLED.
 * - A task that is marked when it awaits a pending future has that future cancelled. An await of a
 *   future that is done already does not suspend and delivers nothing.
 * - A task cancelled before its first step runs nothing of its body. A body that returns BZ_OK
 *   while a request is undelivered ends cancelled.
 * - bz_task_cancelling() counts requests; bz_task_uncancel() takes one back, and at zero also
 *   forgets an undelivered mark (asyncio 3.13). Timeouts and task groups are built on the count.
 *
 * The body is `enum bz_status fn(void *arg)`: BZ_OK ends the task finished, BZ_CANCELLED ends it
 * cancelled, anything else is its exception. A task owns no memory but its own: what the body
 * allocates, the body frees.
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

/* Creates a task and queues its first step. The name is `name` followed by "-index" when `index`
 * is not 0; the string must outlive the task (a literal, as a rule). NULL when the loop is out of
 * memory. The caller owns the task and frees it with bz_task_free() once it is done, or calls
 * bz_task_detach(). */
struct bz_task *bz_task_spawn(struct bz_loop *loop, const char *name, uint32_t index,
                              bz_task_fn *fn, void *arg);

/* Releases a done task. */
void bz_task_free(struct bz_task *task);

/* The loop frees the task when it is done; the pointer is not to be used again. */
void bz_task_detach(struct bz_task *task);

/* Requests cancellation. False if the task is done and nothing happens. O(1). */
bool bz_task_cancel(struct bz_task *task);

/* Takes one request back; returns how many are left. */
uint32_t bz_task_uncancel(struct bz_task *task);
uint32_t bz_task_cancelling(const struct bz_task *task);

/* Waits for the end of another task; cancelling the waiter cancels the other task, too, as an await
 * of an asyncio task does. Returns the task's outcome, or BZ_CANCELLED; BZ_INVALID_STATE if a task
 * would wait for itself. The task may be freed as soon as it is done, before those who wait for it
 * have resumed. A circle of joins is a deadlock, and cancelling a task in it stops the process. */
enum bz_status bz_task_join(struct bz_task *task) BZ_MUST_USE;

/* Gives every other ready handle its turn (asyncio.sleep(0)). BZ_OK or BZ_CANCELLED. */
enum bz_status bz_yield(struct bz_loop *loop) BZ_MUST_USE;

/* Sleeps for `delay_ns` of the loop's time; 0 is bz_yield(), BZ_TIME_NEVER waits for a cancel.
 * BZ_OK or BZ_CANCELLED; BZ_NO_MEMORY, without sleeping, when the loop has none for a timer. */
enum bz_status bz_sleep(struct bz_loop *loop, uint64_t delay_ns) BZ_MUST_USE;

bool bz_task_is_done(const struct bz_task *task);

/* Its number, 1 for the first of a loop; never used twice between two resets. */
uint32_t bz_task_id(const struct bz_task *task);

/* The future that completes when the task ends: for callbacks, and for its state and status. It
 * lives as long as the task. Await it with bz_task_join(). */
struct bz_future *bz_task_future(struct bz_task *task);

/* Writes the name, cut to fit; returns `buffer`. */
const char *bz_task_name(const struct bz_task *task, char *buffer, size_t size_bytes);

BZ_END_DECLS

#endif
