/* A look at a world between two steps: what a debugger and a stepper show besides the judge's view
 * (sim/judge/inspect.h). Nothing here changes the run. */
#pragma once

#include "sim/native/world.h"

BZ_BEGIN_DECLS

/* The ready handles, the oldest first, at most `max`. Returns how many there are. */
uint32_t bz_look_ready(const struct bz_world *world, struct bz_ready *ready, uint32_t max);

/* When the next timer fires; BZ_TIME_NEVER: none is armed. */
uint64_t bz_look_deadline_ns(const struct bz_world *world);

/* Where a suspended task continues. A debugger that takes these for its registers shows the stack
 * of the task. */
struct bz_saved_stack {
    uintptr_t pc;
    uintptr_t sp;
    uintptr_t fp;
};

/* False: the task has none, because it has not started, runs or has ended; or the context switch of
 * this build does not show it (ucontext on other processors than x86-64 and aarch64). */
bool bz_look_stack(const struct bz_world *world, uint32_t task, struct bz_saved_stack *stack);

BZ_END_DECLS
