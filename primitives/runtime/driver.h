/* The driver interface: which ready handle runs next, and what time it is.
 *
 * The loop is passive. A driver sets the clock, chooses a ready handle, and runs it with
 * bz_driver_step(). bz_loop_run() is the driver for production; a simulator is another one.
 *
 * A FIFO driver works in turns, as asyncio does. It queues events from outside, then the timers
 * that are due. Then it runs exactly the handles that are queued at that moment; handles that they
 * queue belong to the next turn:
 *
 *     bz_driver_set_now(loop, now_ns);
 *     bz_driver_begin_turn(loop);
 *     while (bz_driver_turn_left(loop) > 0) {
 *         bz_driver_step(loop, bz_driver_take(loop, 0));
 *     }
 *
 * A step must not call the driver, except as `step_inside` of its observer.
 */
#ifndef BZ_RUNTIME_DRIVER_H
#define BZ_RUNTIME_DRIVER_H

#include <stdint.h>

#include "primitives/runtime/handle.h"
#include "primitives/runtime/observe.h"

BZ_BEGIN_DECLS

struct bz_loop;
struct bz_task;

/* The ready queue: 0 <= index < count, and 0 is the oldest handle. O(1). */
uint32_t bz_driver_ready_count(const struct bz_loop *loop);
struct bz_handle *bz_driver_ready_at(const struct bz_loop *loop, uint32_t index);

/* The time at which the first timer is due; BZ_TIME_NEVER without timers. O(1). */
uint64_t bz_driver_next_deadline_ns(const struct bz_loop *loop);

/* Sets the clock, which never goes back. Queues no timers. */
void bz_driver_set_now(struct bz_loop *loop, uint64_t now_ns);

/* Queues the timers that are due, ordered by time, then by arming order, or by the loop's rule for
 * equal times (rules.h). Returns their number. O(log n) each. */
uint32_t bz_driver_queue_due_timers(struct bz_loop *loop);

/* Begins a turn: the handles that are ready now, then the timers that are due. */
void bz_driver_begin_turn(struct bz_loop *loop);

/* The number of handles of the turn that have not run. It also falls when a due timer is disarmed,
 * so a driver must not count by itself. */
uint32_t bz_driver_turn_left(const struct bz_loop *loop);

/* Removes the index-th oldest handle from the queue; the driver must step it next. The others keep
 * their order. O(distance to the nearer end). */
struct bz_handle *bz_driver_take(struct bz_loop *loop, uint32_t index);

/* Runs a handle that was taken: one step. Afterwards its memory may be gone. */
void bz_driver_step(struct bz_loop *loop, struct bz_handle *handle);

/* The same for a step of a task, from inside another step, which continues afterwards. */
void bz_driver_step_inside(struct bz_loop *loop, struct bz_handle *handle);

/* Sets the observer, or removes it (NULL). It must live until the loop is reset or destroyed. */
void bz_driver_observe(struct bz_loop *loop, struct bz_observer *observer);

/* Iterates over the tasks that are not freed, oldest first: NULL gives the first, and the last
 * gives NULL. O(1). */
struct bz_task *bz_driver_next_task(const struct bz_loop *loop, const struct bz_task *task);

/* The newest task that is not freed, or NULL. O(1). */
struct bz_task *bz_driver_newest_task(const struct bz_loop *loop);

BZ_END_DECLS

#endif
