/* The event loop: a FIFO of ready handles, timers, tasks.
 *
 * One loop belongs to one thread. A process may have any number of loops; nothing is global. A
 * driver runs the loop (driver.h). The driver for production is bz_loop_run(): FIFO, on the
 * system's monotonic clock.
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
    size_t stack_bytes;     /* of each task; 64 KiB (256 KiB under AddressSanitizer) */
    size_t mem_limit_bytes; /* of the loop's arena; BZ_MEM_LIMIT_BYTES_DEFAULT */
    uint32_t tasks_max;     /* tasks created between two resets; no limit */
    uint32_t reserved[8];   /* 0 */
};

/* `config` may be NULL. Returns NULL if the system has no memory, or if the limit is too small for
 * a loop (4 KiB suffice). The caller destroys the loop. */
struct bz_loop *bz_loop_new(const struct bz_loop_config *config);
void bz_loop_destroy(struct bz_loop *loop);

/* Returns to the state after bz_loop_new(), in O(1). Tasks are abandoned without their cleanup, and
 * all blocks of bz_loop_mem() are lost. The clock is 0 again, and there is no observer. Must not be
 * called from a task. */
void bz_loop_reset(struct bz_loop *loop);

/* For tasks in C++ that wait in a catch block, or in a destructor while the stack is unwound: what
 * the C++ runtime keeps for each thread is kept for each task from now on. `of_thread` is
 * __cxa_get_globals() (Itanium C++ ABI). NULL: it is kept for the thread alone. The loop must not
 * run inside a catch block. */
void bz_loop_keep_exceptions(struct bz_loop *loop, void *(*of_thread)(void));

/* Runs until nothing is ready and no timer is armed. BZ_OK if every task has ended; else
 * BZ_INVALID_STATE: the remaining tasks are deadlocked. */
enum bz_status bz_loop_run(struct bz_loop *loop) BZ_MUST_USE;

/* The loop's clock, in nanoseconds from an arbitrary zero. It stands still during a turn. */
uint64_t bz_loop_now_ns(const struct bz_loop *loop);

/* The arena that holds everything on this loop. */
struct bz_mem *bz_loop_mem(struct bz_loop *loop);

/* The running task, or NULL between tasks. */
struct bz_task *bz_loop_current(const struct bz_loop *loop);

/* The number of tasks that have not ended. */
uint32_t bz_loop_live_tasks(const struct bz_loop *loop);

/* Queues a handle in the caller's storage; `run` is called in a step of its own. The running task
 * owns it, or else the loop. False, and nothing is done, if the memory limit leaves no slot for it
 * in the ready queue. */
bool bz_loop_call_soon(struct bz_loop *loop, struct bz_handle *handle,
                       void (*run)(struct bz_handle *handle)) BZ_MUST_USE;

BZ_END_DECLS

#endif
