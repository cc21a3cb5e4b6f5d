/* The observe seam: plain-data events of 16 bytes, written into the observer's buffer; nothing when
 * nobody listens.
 *
 * The runtime only stores: the observer reads its buffer when it likes, as a rule after each step,
 * and must when it is full. A call for each event would cost more than most steps do. Events stand
 * in the order in which things happened. The runtime emits the kinds below
 * BZ_EVENT_RUNTIME_COUNT; an upper layer may number kinds of its own from there.
 */
#ifndef BZ_RUNTIME_OBSERVE_H
#define BZ_RUNTIME_OBSERVE_H

#include <stdint.h>

enum bz_event_kind {
    BZ_EVENT_SPAWN = 1,    /* task created; arg: id of the task that created it, 0 for the loop */
    BZ_EVENT_RESUME = 2,   /* a step of task begins; status: what its await returns */
    BZ_EVENT_SUSPEND = 3,  /* task gives up the processor; arg: enum bz_wait */
    BZ_EVENT_WAKE = 4,     /* what task waits for is done, its wake-up is queued; status: result */
    BZ_EVENT_CANCEL = 5,   /* cancel requested of task, not yet carried out; arg: who asks (0: the
                              loop); status: BZ_OK if the task is not done, else BZ_INVALID_STATE */
    BZ_EVENT_UNCANCEL = 6, /* arg: requests left */
    BZ_EVENT_EXIT = 7,     /* task is done; status: its outcome */
    BZ_EVENT_CALLBACK = 8, /* a handle that is no task's step runs; task: owner, arg: role */
    BZ_EVENT_FREE = 9,     /* the memory of a done task is given back: its pointer is dead */
    BZ_EVENT_RUNTIME_COUNT = 16,
};

/* What a task is suspended on. */
enum bz_wait {
    BZ_WAIT_NONE = 0,
    BZ_WAIT_FUTURE = 1, /* a future that somebody must complete */
    BZ_WAIT_YIELD = 2,  /* nothing: its next step is already queued (asyncio.sleep(0)) */
    BZ_WAIT_SLEEP = 3,  /* a timer */
    BZ_WAIT_JOIN = 4,   /* other tasks: a join or the end of a task group */
};

struct bz_event {
    uint8_t kind;    /* enum bz_event_kind */
    uint8_t status;  /* enum bz_status */
    uint8_t detail;  /* for upper layers */
    uint8_t window;  /* for upper layers */
    uint32_t task;   /* id of the task concerned, 1 is the first; 0: none */
    uint32_t object; /* for upper layers */
    uint32_t arg;
};

struct bz_observer {
    struct bz_event *next; /* where the next event goes; below `end` */
    struct bz_event *end;  /* one past the buffer */
    /* The buffer is full: empties it and resets `next`. It must not call back into the loop. */
    void (*flush)(struct bz_observer *observer);
};

#endif
