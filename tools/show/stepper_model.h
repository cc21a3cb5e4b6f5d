/* The run that a stepper shows: its choices and its events, and at one step of it who owns and who
 * waits, and what the next step can be. */
#ifndef BZ_TOOLS_SHOW_STEPPER_MODEL_H
#define BZ_TOOLS_SHOW_STEPPER_MODEL_H

#include "sim/choice/strategy_replay.h"
#include "sim/judge/inspect.h"
#include "sim/program/replay.h"
#include "traces/ledger.h"

#define BZ_ALTERNATIVES_MAX 1024u
#define BZ_STEPPER_VALUES 8u /* a draw from more values is typed */

/* In the order in which they are listed. */
enum bz_alternative_kind {
    BZ_ALTERNATIVE_HANDLE = 0,
    BZ_ALTERNATIVE_JUMP, /* of the clock before the step, or none */
    BZ_ALTERNATIVE_DRAW,
    BZ_ALTERNATIVE_CANCEL,
};

/* What the next step can be instead, or the value of what it draws. */
struct bz_alternative {
    enum bz_alternative_kind kind;
    bool is_taken;                 /* what the run does now */
    struct bz_trace_choice choice; /* its `label` is not valid, see below */
    char label[BZ_VIEW_NAME_BYTES];
    char text[192];
};

/* A draw from more than BZ_STEPPER_VALUES values: any value below the bound will do. */
static inline bool bz_alternative_is_typed(const struct bz_alternative *alternative) {
    return alternative->kind == BZ_ALTERNATIVE_DRAW &&
           alternative->choice.bound > BZ_STEPPER_VALUES;
}

/* The clock after a step, and what the next step can be. In memory that child processes share:
 * contained code runs there. */
struct bz_stepper_state {
    bool is_there;      /* false: the process of the run ended before */
    bool is_jump_known; /* of the clock before the next step */
    uint64_t now_ns;
    uint64_t deadline_ns; /* of the next timer; BZ_TIME_NEVER */
    uint32_t handles;     /* that are ready: the first of the list. In fifo, the oldest one goes */
    uint32_t count;
    struct bz_alternative list[BZ_ALTERNATIVES_MAX];
};

struct bz_stepper {
    const struct bz_program *program;
    const struct bz_trace *original;
    struct bz_trace run; /* the whole run: choices, events, verdict */
    struct bz_replay_report report;
    struct bz_ledger ledger;        /* after `step` */
    struct bz_stepper_state *state; /* likewise */
    struct bz_replay_listener listener;
    uint32_t step;
    bool is_original; /* no other choice was made */
    char error[BZ_ERROR_BYTES];
};

/* Makes the run of the trace. False with a message in `error`. Release it in any case. */
bool bz_stepper_init(struct bz_stepper *stepper, const struct bz_trace *trace,
                     const struct bz_program *program);
void bz_stepper_fini(struct bz_stepper *stepper);

/* Goes to a step, the last one if there are fewer. False with a message. O(steps). */
bool bz_stepper_go(struct bz_stepper *stepper, uint32_t step);

/* The next step after this one, or the last one before it, with an event of a task or an object of
 * that name; 0: there is none. */
uint32_t bz_stepper_find(const struct bz_stepper *stepper, const char *name, bool is_backward);

/* Makes another run: the same up to this step, then the alternative, then default choices or, with
 * `keeps_rest`, the later choices of this run where they fit. Goes to the step that was chosen; to
 * step 0 for a draw of the set-up. False with a message, and nothing has changed: it cannot come
 * there. `alternative` is one of state->list, with another value if it is typed. */
bool bz_stepper_choose(struct bz_stepper *stepper, struct bz_alternative alternative,
                       bool keeps_rest);

/* Back to the run that was given. */
bool bz_stepper_reset(struct bz_stepper *stepper);

#endif
