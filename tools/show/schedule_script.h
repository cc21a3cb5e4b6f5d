/* The schedule of a trace as a program of its own: what each task does, and what happens in which
 * order. From it, other programs are made that need nothing of the simulator.
 *
 * Sleeps, joins and futures of the program are pauses: the schedule says when they end.
 */
#ifndef BZ_TOOLS_SHOW_SCHEDULE_SCRIPT_H
#define BZ_TOOLS_SHOW_SCHEDULE_SCRIPT_H

#include "tools/show/show.h"
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
    BZ_ACT_OTHER = 18, /* none of these: no program can be made */
};
#define BZ_ACT_COUNT 19u

struct bz_act {
    enum bz_act_kind kind;
    uint32_t task;
    uint32_t object; /* number, from 1; 0: none */
    uint32_t victim; /* of a cancel */
    uint32_t number; /* notify: for how many it is */
    uint32_t next;   /* the next act of the task, number + 1; 0: none */
    uint64_t step;   /* in which it begins */
    uint64_t end;    /* in which it ends, if it does */
    const char
        *outcome; /* a status, or "unknown"; NULL: it had not returned when the trace ended */
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

struct bz_script {
    const struct bz_trace *trace;
    struct bz_act *acts; /* in the order of the run; a task's are linked */
    size_t act_count;
    struct bz_move *moves;
    size_t move_count;
    uint32_t *first; /* by task: its first act, number + 1; 0: none */
    uint32_t *last;
    struct bz_ledger ledger; /* after the last event */
};

/* O(events). */
void bz_script_init(struct bz_script *script, const struct bz_trace *trace);
void bz_script_fini(struct bz_script *script);

/* "acquire", ... */
const char *bz_act_name(enum bz_act_kind kind);

#endif
