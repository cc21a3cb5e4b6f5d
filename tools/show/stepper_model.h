/* The run that a stepper shows: its choices, its events, and the state at one step of it. */
#ifndef BZ_TOOLS_SHOW_STEPPER_MODEL_H
#define BZ_TOOLS_SHOW_STEPPER_MODEL_H

#include "sim/judge/inspect.h"
#include "sim/native/inspect.h"
#include "sim/program/replay.h"

#define BZ_STEPPER_TASKS 256u
#define BZ_STEPPER_OBJECTS 32u
#define BZ_STEPPER_READY 256u
#define BZ_STEPPER_LINE 64u
#define BZ_STEPPER_DRAWS 256u
#define BZ_STEPPER_VALUES 8u /* a draw from more values is typed */

struct bz_stepper_object {
    char name[BZ_VIEW_NAME_BYTES];
    struct bz_object_view view;
    uint32_t line[BZ_STEPPER_LINE];
    uint32_t line_count;
};

struct bz_stepper_draw {
    char label[BZ_VIEW_NAME_BYTES];
    enum bz_choice_kind kind; /* data, or a delay */
    uint64_t bound;
    uint64_t value;
    uint32_t owner; /* 0: the loop */
    uint32_t nth;
    uint32_t step; /* 0: the set-up */
};

/* What the run was asked for its next step, and what it said. At step 0, the draws of the set-up as
 * well. */
struct bz_stepper_asked {
    bool is_next; /* which of several ready handles */
    bool is_jump; /* whether the clock jumps */
    bool jumps;
    uint32_t ready_count;
    uint32_t chosen;
    uint32_t draw_count; /* draws beyond BZ_STEPPER_DRAWS are not listed */
    struct bz_ready ready[BZ_STEPPER_READY];
    struct bz_stepper_draw draws[BZ_STEPPER_DRAWS];
};

/* The state after a step. Plain data in memory that child processes share: contained code runs
 * there. */
struct bz_stepper_state {
    bool is_there; /* false: the process of the run ended before */
    uint64_t now_ns;
    uint64_t deadline_ns; /* of the next timer; BZ_TIME_NEVER */
    uint32_t task_count;
    uint32_t object_count;
    uint32_t ready_count;
    struct bz_task_view tasks[BZ_STEPPER_TASKS]; /* tasks[0] is task 1; `object` is not valid */
    char task_objects[BZ_STEPPER_TASKS][BZ_VIEW_NAME_BYTES];
    struct bz_stepper_object objects[BZ_STEPPER_OBJECTS];
    struct bz_ready ready[BZ_STEPPER_READY];
    struct bz_stepper_asked asked; /* once somebody wants the alternatives */
};

struct bz_stepper {
    const struct bz_program *program;
    const struct bz_trace *original;
    struct bz_trace run; /* the whole run: choices, events, verdict */
    struct bz_replay_report report;
    struct bz_stepper_state *state; /* at `step` */
    uint32_t step;
    uint32_t steps;   /* of the run */
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

enum bz_alternative_kind {
    BZ_ALTERNATIVE_CANCEL = 0, /* in the order of a step */
    BZ_ALTERNATIVE_JUMP,
    BZ_ALTERNATIVE_HANDLE,
    BZ_ALTERNATIVE_DRAW,
};

/* What the next step can be instead: a ready handle, a cancel, a jump of the clock before it or
 * none, another value of what it draws. */
struct bz_alternative {
    enum bz_alternative_kind kind;
    struct bz_ready handle; /* or the task of the cancel as `owner`, and `window` */
    enum bz_window window;
    bool jumps;
    uint32_t draw;  /* place in state->asked.draws */
    uint64_t value; /* of the draw */
    bool is_typed;  /* of a draw: `value` is what it is now; any value below the bound will do */
    bool is_taken;  /* what the run does now */
    char text[160];
};
#define BZ_ALTERNATIVES_MAX                                                                        \
    (BZ_STEPPER_READY + BZ_STEPPER_TASKS + 2u + BZ_STEPPER_DRAWS * BZ_STEPPER_VALUES)

/* What the step after this one can be. In the order `fifo` no handle can be chosen. Makes the run
 * up to there, which fills state->asked. Returns how many were written. */
uint32_t bz_stepper_alternatives(struct bz_stepper *stepper, struct bz_alternative *alternatives,
                                 uint32_t max);

/* Makes another run: the same up to this step, then the alternative, then default choices or, with
 * `keeps_rest`, the later choices of this run where they fit. Goes to the step that was chosen; to
 * step 0 for a draw of the set-up. False with a message, and nothing has changed: it cannot come
 * there. `alternative` is one of this step's. */
bool bz_stepper_choose(struct bz_stepper *stepper, const struct bz_alternative *alternative,
                       bool keeps_rest);

/* Back to the run that was given. */
bool bz_stepper_reset(struct bz_stepper *stepper);

/* The name of a ready handle, "worker-2, step 3" or "timer 1 of worker-2"; returns `text`. */
const char *bz_stepper_handle_text(const struct bz_stepper *stepper, const struct bz_ready *handle,
                                   char *text, size_t bytes);

/* Whether this ready handle is the next step of the run. */
bool bz_stepper_is_next(const struct bz_stepper *stepper, const struct bz_ready *handle);

/* Who owns permits of the object after this step, as "worker-1, worker-3 (2)", by the events;
 * returns `text`. */
const char *bz_stepper_holders(const struct bz_stepper *stepper, const char *object, char *text,
                               size_t bytes);

#endif
