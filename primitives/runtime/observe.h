/* The reports of a loop to its observer: one call with plain numbers for each event, inside the
 * operation that causes it. Without an observer a loop reports nothing.
 *
 * Tasks and handles are numbered in order of creation, so that their names survive a change of the
 * schedule.
 */
#ifndef BZ_RUNTIME_OBSERVE_H
#define BZ_RUNTIME_OBSERVE_H

#include <stdint.h>

#include "primitives/runtime/cdecl.h"

BZ_BEGIN_DECLS

enum bz_event_kind {
    BZ_EVENT_SPAWN = 1,   /* task was created; arg: id of the creating task, 0 for the loop */
    BZ_EVENT_RESUME = 2,  /* a step of task begins; status: what its await returns; arg: number
                             of the step, from 1 */
    BZ_EVENT_SUSPEND = 3, /* task suspends; arg: enum bz_wait */
    BZ_EVENT_WAKE = 4,    /* what task waits for is done, its next step is queued; status: result */
    BZ_EVENT_CANCEL = 5,  /* cancellation of task was requested; arg: the requesting task, 0 for
                             the loop; status: BZ_OK, or BZ_INVALID_STATE if task is done */
    BZ_EVENT_UNCANCEL = 6, /* arg: requests left; status: BZ_OK, or BZ_CANCELLED if none is, and
                              the next await delivers one all the same (rules.h) */
    BZ_EVENT_EXIT = 7,     /* task is done; status: its outcome */
    BZ_EVENT_CALLBACK = 8, /* a handle that is no step of a task runs; task: owner, arg: role */
    BZ_EVENT_FREE = 9,     /* the memory of a done task is freed */
    BZ_EVENT_RUNTIME_COUNT = 16, /* upper layers number their own kinds from here */
};

/* The thing that a task waits for while it is suspended. */
enum bz_wait {
    BZ_WAIT_NONE = 0,
    BZ_WAIT_FUTURE = 1, /* a future that a task must complete */
    BZ_WAIT_YIELD = 2,  /* nothing: its next step is already queued (asyncio.sleep(0)) */
    BZ_WAIT_SLEEP = 3,  /* a timer */
    BZ_WAIT_JOIN = 4,   /* other tasks: a join, or the exit of a task group */
    BZ_WAIT_INSIDE = 5, /* nothing: a task that it has woken in place runs inside its call, and then
                           it continues (bz_future_set_result_in_place()) */
};
#define BZ_WAIT_COUNT 6

/* The kinds of handles in the ready queue. */
enum bz_role {
    BZ_ROLE_STEP = 0,     /* the next step of a task */
    BZ_ROLE_TIMER = 1,    /* a timer that is due */
    BZ_ROLE_CALLBACK = 2, /* a future's callback, or bz_loop_call_soon() */
};
#define BZ_ROLE_COUNT 3

struct bz_handle;

struct bz_observer {
    /* `task`: id of the task concerned, from 1; 0: none. `status`: enum bz_status. `arg`: see the
     * kind. A field that the kind does not use is 0. The function must not call the loop. */
    void (*report)(struct bz_observer *observer, enum bz_event_kind kind, uint32_t task,
                   uint8_t status, uint32_t arg);

    /* Chooses the first of `bound` things where the rules of the loop leave it open (rules.h).
     * NULL: the first one. The function must not call the loop. */
    uint32_t (*choose)(struct bz_observer *observer, uint32_t bound);

    /* A cancel of the task was requested, and the future that it waits for continues (future.h,
     * redirect_cancel): the task learns of the request when that is done. NULL: not reported. The
     * function must not call the loop. */
    void (*waits_on)(struct bz_observer *observer, uint32_t task);

    /* Runs a step inside the present one, with bz_driver_step_inside(). NULL: that is called. */
    void (*step_inside)(struct bz_observer *observer, struct bz_handle *handle);
};

BZ_END_DECLS

#endif
