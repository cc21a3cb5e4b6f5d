/* The judge's state of tasks and objects between two steps, for people who look at one run: a
 * debugger, a stepper. A copy: it does not follow the run. */
#ifndef BZ_SIM_JUDGE_INSPECT_H
#define BZ_SIM_JUDGE_INSPECT_H

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

struct bz_object_view {
    const char *name;
    uint32_t waiting;   /* W: tasks that wait on a pending future */
    uint32_t woken;     /* R: woken, and not resumed */
    uint32_t cancelled; /* C: cancelled, and not resumed */
    uint32_t polling;   /* suspended in the operation on something else: time, a yield */
    uint64_t permits;   /* in all; of a queue's items: put so far */
    uint64_t holders;   /* how many are out; of a queue's items: got so far */
};

/* Tasks are numbered from 1, and so are objects. */
uint32_t bz_judge_task_count(const struct bz_judge *judge);
uint32_t bz_judge_object_count(const struct bz_judge *judge);

/* False: there is no task, or no object, of that number. */
bool bz_judge_view_task(const struct bz_judge *judge, uint32_t task, struct bz_task_view *view);
bool bz_judge_view_object(const struct bz_judge *judge, uint32_t object,
                          struct bz_object_view *view);

/* The tasks that stand in line at an object and were not granted or cancelled, in order of arrival,
 * at most `max`. Returns how many were written. O(line). */
uint32_t bz_judge_view_line(const struct bz_judge *judge, uint32_t object, uint32_t *tasks,
                            uint32_t max);

/* Listens to the choices of a run that replays leniently, from now until it ends (see
 * strategy_replay.h). `listener` must outlive the run. Does nothing to any other run. */
struct bz_replay_listener;
void bz_judge_listen(struct bz_judge *judge, const struct bz_replay_listener *listener);

BZ_END_DECLS

#endif
