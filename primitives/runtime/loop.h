/* The event loop: a FIFO of ready handles, timers, tasks.
 *
 * One loop belongs to one thread; a process may have any number of loops. Nothing in the library is
 * global. A loop does not run by itself: a driver runs it, see driver.h. A program that ships uses
 * bz_loop_run(), the FIFO driver on the system's monotonic clock.
 */
#ifndef BZ_RUNTIME_LOOP_H
#define BZ_RUNTIME_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "primitives/runtime/handle.h"
#include "primitives/runtime/mem.h"
#include "primitives/runtime/status.h"

BZ_BEGIN_DECLS

struct bz_loop;
struct bz_task;
struct bz_observer;

/* Zero in a field means its default. */
struct bz_loop_config {
    size_t stack_bytes;     /* of each task; BZ_STACK_BYTES_DEFAULT */
    size_t mem_limit_bytes; /* of the loop's arena; BZ_MEM_LIMIT_BYTES_DEFAULT */
    uint32_t tasks_max;     /* tasks ever created between two resets; no limit */
    uint32_t reserved[8];   /* 0 */
};

/* `config` may be NULL. NULL when the system has no memory, or the limit leaves no room for a loop
 * (4 KiB do). The caller destroys the loop. */
struct bz_loop *bz_loop_new(const struct bz_loop_config *config);
void bz_loop_destroy(struct bz_loop *loop);

/* Back to the state after bz_loop_new(), in time that does not depend on what the loop has done:
 * tasks are abandoned where they stand, their cleanup does not run, all memory of bz_loop_mem() is
 * forgotten. Observer and clock start anew. Must not be called from a task. */
void bz_loop_reset(struct bz_loop *loop);

/* Runs until nothing is ready and no timer is armed. BZ_OK if every task has ended, else
 * BZ_INVALID_STATE: tasks wait for something that nobody can do. */
enum bz_status bz_loop_run(struct bz_loop *loop) BZ_MUST_USE;

/* The loop's clock, in nanoseconds from an arbitrary zero. It stands still during a turn. */
uint64_t bz_loop_now_ns(const struct bz_loop *loop);

/* The memory that everything on this loop is made of. */
struct bz_mem *bz_loop_mem(struct bz_loop *loop);

/* The running task, or NULL between tasks. */
struct bz_task *bz_loop_current(const struct bz_loop *loop);

/* Tasks that have not ended. */
uint32_t bz_loop_live_tasks(const struct bz_loop *loop);

/* Queues a handle of the caller's storage: `run` is called in a step of its own. It belongs to the
 * running task, or to the loop. False when the loop's memory limit leaves no slot of the ready
 * queue for it: then nothing was done. */
bool bz_loop_call_soon(struct bz_loop *loop, struct bz_handle *handle,
                       void (*run)(struct bz_handle *handle)) BZ_MUST_USE;

BZ_END_DECLS

#endif
