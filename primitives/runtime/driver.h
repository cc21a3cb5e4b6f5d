/* The driver seam: who picks the next ready handle, and what time is it.
 *
 * The loop is passive. A driver holds the clock, decides which ready handle runs next, and runs it
 * with bz_driver_step(), one handle at a time. bz_loop_run() is the driver that ships: FIFO, on the
 * system's monotonic clock. A simulator is another one.
 *
 * A FIFO driver follows asyncio's order, turn by turn: first it queues events from outside, then
 * the timers that are due; then exactly as many handles run as are in the queue at that moment, and
 * what they queue waits for the next turn:
 *
 *     bz_driver_set_now(loop, now_ns);
 *     bz_driver_begin_turn(loop);
 *     while (bz_driver_turn_left(loop) > 0) {
 *         bz_driver_step(loop, bz_driver_take(loop, 0));
 *     }
 *
 * A driver must not be called from a step.
 */
#ifndef BZ_RUNTIME_DRIVER_H
#define BZ_RUNTIME_DRIVER_H

#include <stdint.h>

#include "primitives/runtime/handle.h"
#include "primitives/runtime/observe.h"

BZ_BEGIN_DECLS

struct bz_loop;
struct bz_task;

/* The ready queue; `index` 0 is the oldest handle, and index < count. O(1). */
uint32_t bz_driver_ready_count(const struct bz_loop *loop);
struct bz_handle *bz_driver_ready_at(const struct bz_loop *loop, uint32_t index);

/* When the first timer is due; BZ_TIME_NEVER without timers. O(1). */
uint64_t bz_driver_next_deadline_ns(const struct bz_loop *loop);

/* Sets the clock, which never goes back. Does not touch the timers. */
void bz_driver_set_now(struct bz_loop *loop, uint64_t now_ns);

/* Queues the timers that are due, in the order (time, arming order); returns how many. O(log n)
 * each. */
uint32_t bz_driver_queue_due_timers(struct bz_loop *loop);

/* Begins a turn: the handles that are ready now, then the timers that are due, and nothing that
 * comes later. */
void bz_driver_begin_turn(struct bz_loop *loop);

/* How many handles of the turn are still to run. A driver must not count on its own: a due timer
 * that is disarmed leaves the queue before it ran. */
uint32_t bz_driver_turn_left(const struct bz_loop *loop);

/* Takes the index-th oldest handle out of the queue, to be stepped at once. The rest keep their
 * order. O(distance to the nearer end). */
struct bz_handle *bz_driver_take(struct bz_loop *loop, uint32_t index);

/* Runs a handle that was taken: one step. The handle's memory may be gone after it. */
void bz_driver_step(struct bz_loop *loop, struct bz_handle *handle);

/* Reports to the observer from here on; NULL: to nobody. The observer must live until the loop is
 * reset or destroyed. */
void bz_driver_observe(struct bz_loop *loop, struct bz_observer *observer);

/* The tasks whose memory was not given back, oldest first: the one after `task`, the first for
 * NULL; NULL after the last. The newest one: NULL if there is none. O(1). */
struct bz_task *bz_driver_next_task(const struct bz_loop *loop, const struct bz_task *task);
struct bz_task *bz_driver_newest_task(const struct bz_loop *loop);

BZ_END_DECLS

#endif
