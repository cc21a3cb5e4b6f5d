/* The observe seam: what a loop reports while it runs. Nothing when nobody listens.
 *
 * A report is one call with plain numbers, made inside the operation that causes it, in the order
 * in which things happen. Tasks and handles have identities that survive a change of the schedule:
 * numbers in order of creation.
 */
#ifndef BZ_RUNTIME_OBSERVE_H
#define BZ_RUNTIME_OBSERVE_H

#include <stdint.h>

#include "primitives/runtime/cdecl.h"

BZ_BEGIN_DECLS

enum bz_event_kind {
    BZ_EVENT_SPAWN = 1,    /* task created; arg: id of the task that created it, 0 for the loop */
    BZ_EVENT_RESUME = 2,   /* a step of task begins; status: what its await returns; arg: the
                              number of the step, 1 is the first */
    BZ_EVENT_SUSPEND = 3,  /* task gives up the processor; arg: enum bz_wait */
    BZ_EVENT_WAKE = 4,     /* what task waits for is done, its wake-up is queued; status: result */
    BZ_EVENT_CANCEL = 5,   /* cancel requested of task, not yet carried out; arg: the task that
                              asks, 0 for the loop; status: BZ_OK, or BZ_INVALID_STATE if task is
                              done */
    BZ_EVENT_UNCANCEL = 6, /* arg: requests left */
    BZ_EVENT_EXIT = 7,     /* task is done; status: its outcome */
    BZ_EVENT_CALLBACK = 8, /* a handle that is no task's step runs; task: owner, arg: role */
    BZ_EVENT_FREE = 9,     /* the memory of a done task is given back */
    BZ_EVENT_RUNTIME_COUNT = 16, /* an upper layer may number kinds of its own from here */
};

/* What a task is suspended on. */
enum bz_wait {
    BZ_WAIT_NONE = 0,
    BZ_WAIT_FUTURE = 1, /* a future that somebody must complete */
    BZ_WAIT_YIELD = 2,  /* nothing: its next step is already queued (asyncio.sleep(0)) */
    BZ_WAIT_SLEEP = 3,  /* a timer */
    BZ_WAIT_JOIN = 4,   /* other tasks: a join or the end of a task group */
};
#define BZ_WAIT_COUNT 5

/* What a handle of the ready queue is. */
enum bz_role {
    BZ_ROLE_STEP = 0,     /* the next step of a task */
    BZ_ROLE_TIMER = 1,    /* a timer that has become due */
    BZ_ROLE_CALLBACK = 2, /* a future's callback, or a plain call_soon */
};
#define BZ_ROLE_COUNT 3

struct bz_observer {
    /* `task` is the id of the task concerned, 1 is the first, 0: none; `status` an enum bz_status;
     * `arg` as the kind says. It must not call back into the loop. */
    void (*report)(struct bz_observer *observer, enum bz_event_kind kind, uint32_t task,
                   uint8_t status, uint32_t arg);
};

BZ_END_DECLS

#endif
