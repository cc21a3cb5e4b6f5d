/* A handle is one entry of the ready queue: something that runs once, in a step of its own.
 *
 * A handle has an identity that does not depend on its place in the queue: the task on whose behalf
 * it runs, its role, and its number among the handles of that role and task. "Worker 2's third
 * step" stays worker 2's third step however the rest of the schedule is edited; recorded schedules
 * name handles so.
 */
#ifndef BZ_RUNTIME_HANDLE_H
#define BZ_RUNTIME_HANDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "primitives/runtime/observe.h"

BZ_BEGIN_DECLS

struct bz_handle {
    void (*run)(struct bz_handle *handle);
    uint32_t owner; /* task id; 0: the loop itself */
    uint32_t nth;   /* 1 is the first of its role for this owner */
    uint8_t role;   /* enum bz_role */
    bool is_ready;  /* in the ready queue */
};

BZ_END_DECLS

#endif
