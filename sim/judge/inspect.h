/* The judge's state of tasks between two steps, for people who look at one run: a debugger, a
 * stepper. A copy: it does not follow the run. */
#pragma once

#include "sim/judge/judge.h"

BZ_BEGIN_DECLS

#define BZ_VIEW_NAME_BYTES 64u

struct bz_task_view {
    char name[BZ_VIEW_NAME_BYTES]; /* cut to fit */
    /* "not started", "running", "waiting" (for another), "woken" (has a result and has not
     * resumed), "cancelled" (the same after a cancel), "yielding", "sleeping", "joining", "done" */
    const char *state;
    enum bz_op op;          /* the operation that it is in; BZ_OP_NONE: none */
    const char *object;     /* of the operation; NULL */
    enum bz_window window;  /* where a cancel would strike it now */
    uint32_t holdings;      /* permits that it owns, over all objects */
    uint32_t next_step;     /* the number of its next step */
    bool is_cancel_pending; /* a request is undelivered */
    bool is_helper;         /* it belongs to the code under test */
};

/* Tasks are numbered from 1. */
uint32_t bz_judge_task_count(const struct bz_judge *judge);

/* False: there is no task of that number. */
bool bz_judge_view_task(const struct bz_judge *judge, uint32_t task, struct bz_task_view *view);

/* A number that changes with every step and run, also of the same seed, and with every event
 * between steps: in a step, any number of events is no progress, nor are those after a verdict. For
 * a watchdog, also in another process or in a signal handler. */
uint64_t bz_judge_progress(const struct bz_judge *judge);

/* The judge that began a run last in this process; NULL: it was destroyed, or there was none. */
const struct bz_judge *bz_judge_last_begun(void);

/* Listens to the choices of a run that replays leniently, from now until it ends (see
 * strategy_replay.h). `listener` must outlive the run. Does nothing to any other run. */
struct bz_replay_listener;
void bz_judge_listen(struct bz_judge *judge, const struct bz_replay_listener *listener);

/* --- states that a program describes, for searches of runs that another runtime makes -----------
 */

/* True if a search has tried what can follow: it depends on the text (`bytes`: a multiple of 8), on
 * what the judge knows, and on choices alone. NULL: there is no such search. */
extern bool (*bz_judge_on_state)(struct bz_judge *judge, const void *text, size_t bytes);

/* Asks, and cuts the run if so. */
void bz_judge_meet(struct bz_judge *judge, const void *text, size_t bytes);

BZ_END_DECLS
