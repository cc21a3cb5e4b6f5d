/* The schedule of a trace as a program of its own: what each task does, and what happens in which
 * order. From it, other programs are made that need nothing of the simulator.
 *
 * Sleeps, joins and futures of the program are pauses: the schedule says when they end.
 */
#ifndef BZ_TOOLS_SHOW_SCRIPT_H
#define BZ_TOOLS_SHOW_SCRIPT_H

#include "traces/trace.h"

enum bz_act_kind {
    BZ_ACT_YIELD = 0,
    BZ_ACT_PAUSE = 1,
    BZ_ACT_CANCEL = 2, /* of another task, or of itself */
    BZ_ACT_ACQUIRE = 3,
    BZ_ACT_RELEASE = 4,
    BZ_ACT_RELEASE_UNHELD = 5, /* of what the task does not own */
    BZ_ACT_WAIT = 6,
    BZ_ACT_PUT = 7,
    BZ_ACT_GET = 8,
    BZ_ACT_TRY_PUT = 9, /* without waiting */
    BZ_ACT_TRY_GET = 10,
    BZ_ACT_NOTIFY = 11,
    BZ_ACT_SET = 12,
    BZ_ACT_CLEAR = 13,
    BZ_ACT_ABORT = 14,
    BZ_ACT_RESET = 15,
    BZ_ACT_SHUTDOWN = 16,
    BZ_ACT_DONE = 17,
    BZ_ACT_OTHER = 18, /* an operation of a later version: it is left out */
};
#define BZ_ACT_COUNT 19u

struct bz_act {
    enum bz_act_kind kind;
    uint32_t task;
    uint32_t object;     /* number, from 1; 0: none */
    uint32_t victim;     /* of a cancel */
    uint32_t number;     /* notify: how many it woke, at least 1 */
    uint32_t next;       /* the next act of the task, number + 1; 0: none */
    uint64_t step;       /* in which it begins */
    const char *outcome; /* a status; NULL: it had not returned when the trace ended */
};

enum bz_move_kind {
    BZ_MOVE_STEP = 0,   /* the task's next step runs */
    BZ_MOVE_WAKE = 1,   /* its pause ends */
    BZ_MOVE_CANCEL = 2, /* it is cancelled from outside: by an injection, a timer */
};

struct bz_move {
    uint64_t step;
    uint32_t task;
    enum bz_move_kind kind;
};

enum bz_object_kind {
    BZ_OBJECT_UNKNOWN = 0,
    BZ_OBJECT_LOCK = 1,
    BZ_OBJECT_SEMAPHORE = 2,
    BZ_OBJECT_BOUNDED = 3,
    BZ_OBJECT_EVENT = 4,
    BZ_OBJECT_CONDITION = 5,
    BZ_OBJECT_BARRIER = 6,
    BZ_OBJECT_QUEUE = 7,
};
#define BZ_OBJECT_KIND_COUNT 8u

struct bz_script_object {
    const char *name;
    enum bz_object_kind kind;
    uint32_t same;   /* the object that it is another name of: slots and items of a queue; 0 */
    uint32_t lock;   /* of a condition; 0: none is known */
    uint32_t number; /* permits, parties, the size of a queue (0: no bound) */
    uint32_t order;  /* of a queue: 0 fifo, 1 lifo, 2 by priority */
    bool is_guessed; /* `number` is read off the run: the trace does not say it */
};

struct bz_script {
    const struct bz_trace *trace;
    struct bz_act *acts; /* in the order of the run; a task's are linked */
    size_t act_count;
    struct bz_move *moves;
    size_t move_count;
    struct bz_script_object *objects; /* from 1 on */
    uint32_t object_count;
    uint32_t *first; /* by task: its first act, number + 1; 0: none */
    uint32_t *last;
    bool *has_kept; /* by task: it ended, and still owned a permit */
};

/* O(events), but for objects: each event is compared with their names, BZ_SCRIPT_OBJECTS_MAX at
 * most; operations of further objects are of kind BZ_ACT_OTHER. */
#define BZ_SCRIPT_OBJECTS_MAX 64u
void bz_script_init(struct bz_script *script, const struct bz_trace *trace);
void bz_script_fini(struct bz_script *script);

/* "acquire", ... */
const char *bz_act_name(enum bz_act_kind kind);
const char *bz_object_kind_name(enum bz_object_kind kind); /* "unknown" for what there is not */

#endif
