/* The vocabulary of a run: events, operations, windows, kinds of choices. The simulator uses the
 * numbers, traces use the words. Both are stable: new ones are appended. */
#ifndef BZ_TRACES_WORDS_H
#define BZ_TRACES_WORDS_H

#include "primitives/runtime/observe.h"
#include "primitives/runtime/status.h"

BZ_BEGIN_DECLS

/* Events, beside those that a runtime reports (primitives/runtime/observe.h). */
enum bz_program_event_kind {
    BZ_EVENT_CALL = 16, /* task calls operation op of object; arg: notify: how many */
    /* It returns; status. Without a CALL, the operation returned at once and nothing else happened.
     * An accepted release has no RETURN. */
    BZ_EVENT_RETURN = 17,
    BZ_EVENT_CLOCK = 18,  /* the clock moves on; arg: low, object: high 32 bits of the time */
    BZ_EVENT_INJECT = 19, /* a step that is an outside cancel of task; a CANCEL event follows. arg:
                             points of this step that passed before it */
    BZ_EVENT_NOTE = 20,   /* a message of the program; arg: its number */
    BZ_EVENT_DRAW = 21,   /* task drew a datum or a delay; op: enum bz_choice_kind; arg: low,
                             object: high 32 bits of the value */
};
#define BZ_EVENT_KIND_COUNT 22

/* Operations of primitives, and other reasons why a task is suspended. */
enum bz_op {
    BZ_OP_NONE = 0,
    BZ_OP_START = 1, /* waits for its first step */
    BZ_OP_YIELD = 2,
    BZ_OP_SLEEP = 3,
    BZ_OP_JOIN = 4,  /* other tasks: a join, the end of a group */
    BZ_OP_AWAIT = 5, /* a future of the program's own */
    BZ_OP_RUN = 6,   /* it runs or has ended */
    BZ_OP_ACQUIRE = 7,
    BZ_OP_RELEASE = 8,
    BZ_OP_WAIT = 9, /* of an event, a condition, a barrier */
    BZ_OP_PUT = 10,
    BZ_OP_GET = 11,
    BZ_OP_NOTIFY = 12, /* from here on: operations that never wait */
    BZ_OP_SET = 13,
    BZ_OP_CLEAR = 14,
    BZ_OP_ABORT = 15,
    BZ_OP_RESET = 16,
    BZ_OP_SHUTDOWN = 17,
    BZ_OP_DONE = 18,
    BZ_OP_CREATE = 19,  /* a pool has a resource made; arg: its number */
    BZ_OP_DESTROY = 20, /* and has it destroyed */
};
#define BZ_OP_COUNT 21

/* Where a cancel can strike. */
enum bz_window {
    BZ_WINDOW_NONE = 0,
    BZ_WINDOW_UNSTARTED = 1,  /* created, its first step has not run */
    BZ_WINDOW_WAITING = 2,    /* suspended on a pending future */
    BZ_WINDOW_WOKEN = 3,      /* the future has a result, the task has not resumed: the window */
    BZ_WINDOW_SLEEPING = 4,   /* suspended on time or on a bare yield, owns nothing */
    BZ_WINDOW_HOLDING = 5,    /* owns a permit, suspended elsewhere */
    BZ_WINDOW_CANCELLING = 6, /* an earlier request is on its way: this is the second */
    BZ_WINDOW_DONE = 7,       /* the task has ended */
    BZ_WINDOW_RUNNING = 8,    /* the task cancels itself; never injected */
};
#define BZ_WINDOW_COUNT 9

/* Windows that a cancel can be injected into, as a bit mask of 1 << window. */
#define BZ_WINDOWS_ALL 0xfeu
#define BZ_WINDOWS_NONE 0u

/* The kinds of choices; see sim/choice/choice.h. */
enum bz_choice_kind {
    BZ_CHOICE_NEXT = 0,
    BZ_CHOICE_CANCEL = 1,
    BZ_CHOICE_DELAY = 2,
    BZ_CHOICE_DATA = 3,
};
#define BZ_CHOICE_KIND_COUNT 4

/* The order in which ready handles run. */
enum bz_order {
    BZ_ORDER_ANY = 0,  /* every ready handle may go next */
    BZ_ORDER_FIFO = 1, /* turn by turn, as a stock loop does */
};
#define BZ_ORDER_COUNT 2

/* The kinds of objects that a trace lists. */
enum bz_kind {
    BZ_KIND_UNKNOWN = 0,
    BZ_KIND_LOCK = 1,
    BZ_KIND_SEMAPHORE = 2,
    BZ_KIND_BOUNDED = 3,
    BZ_KIND_POOL = 4, /* one key of it */
    BZ_KIND_EVENT = 5,
    BZ_KIND_CONDITION = 6,
    BZ_KIND_BARRIER = 7,
    BZ_KIND_ITEMS = 8,     /* of a queue: its getters wait here ... */
    BZ_KIND_SLOTS = 9,     /* ... and its putters here */
    BZ_KIND_MODELLED = 10, /* judged by a model of its author's */
    BZ_KIND_RESOURCE_POOL = 11,
};
#define BZ_KIND_COUNT 12

#define BZ_QUEUE_ORDER_COUNT 3 /* enum bz_queue_order of sim/variant/claims.h */

/* The word of a number; NULL where there is none. */
const char *bz_status_word(unsigned number); /* "unknown" for what is no status */
const char *bz_event_name(unsigned number);
const char *bz_op_name(unsigned number);
const char *bz_wait_name(unsigned number);
const char *bz_role_name(unsigned number);
const char *bz_window_name(unsigned number);
const char *bz_choice_kind_name(unsigned number);
const char *bz_order_name(unsigned number);
const char *bz_kind_name(unsigned number);
const char *bz_queue_order_name(unsigned number);

BZ_END_DECLS

#endif
