/* Awaits of scripts that the runtime itself does not have: asyncio's shield, gather and
 * wait_for. Each is called by a task, and what it leaves behind lies in the arena of the run. */
#pragma once

#include "primitives/runtime/task.h"
#include "sim/native/world.h"

/* asyncio.shield(): the caller waits for a future of its own, so a cancel does not reach the other
 * task. */
enum bz_status bz_script_shield(struct bz_world *world, struct bz_task *inner) BZ_MUST_USE;

/* asyncio.gather() of tasks that were just created. The first that does not end with BZ_OK ends the
 * wait with its status, and the others continue; with `returns_errors` the wait is for all. A
 * cancel of the caller cancels all that are not done. */
enum bz_status bz_script_gather(struct bz_world *world, struct bz_task *const *tasks,
                                uint32_t count, bool returns_errors) BZ_MUST_USE;

/* asyncio.wait_for() of a task that was just created, as it was until CPython 3.11: BZ_TIMED_OUT
 * after `delay_ns`, when the task has ended. A cancel that comes when the task is done is lost. */
enum bz_status bz_script_wait_for(struct bz_world *world, struct bz_task *task,
                                  uint32_t delay_ns) BZ_MUST_USE;
