/* A handle is one entry of the ready queue: something that runs once, in a step of its own.
 *
 * Its identity is (owner, role, nth), and does not depend on its place in the queue. Recorded
 * schedules name handles this way, so that an edit of a schedule keeps the other names valid.
 */
#ifndef BZ_RUNTIME_HANDLE_H
#define BZ_RUNTIME_HANDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "primitives/runtime/observe.h"

BZ_BEGIN_DECLS

struct bz_handle {
    void (*run)(struct bz_handle *handle);
    /* For the runtime alone: a search clears what only a recording needs. */
    uint32_t owner; /* id of the task that it runs for; 0: the loop */
    uint32_t nth;   /* number within its role and owner, from 1 */
    uint8_t role;   /* enum bz_role */
    bool is_ready;  /* in the ready queue */
};

BZ_END_DECLS

#endif
