/* What the cancellers of several scenarios do when their patience has ended. */
#ifndef BZ_SCENARIOS_CANCELLER_H
#define BZ_SCENARIOS_CANCELLER_H

#include <stdint.h>

#include "primitives/runtime/task.h"
#include "sim/judge/event.h"

struct bz_world;

/* Cancels one of `tasks`, drawn as "victim" among those that are suspended inside `op`. Nothing
 * happens, and nothing is drawn, if there is none. */
void bz_cancel_one_inside(struct bz_world *world, struct bz_task *const *tasks, uint32_t count,
                          enum bz_op op);

#endif
