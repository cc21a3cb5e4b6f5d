/* Programs that a trace tells too little of to be played act by act, because timeout scopes and
 * callbacks leave no events: the scenarios `scope` and `deferred`. Their programs are written out
 * (scope.py, deferred.py), and get what the trace has: settings, draws, and the order of
 * steps, timers and cancels. */
#ifndef BZ_TOOLS_SHOW_WHOLE_PROGRAM_H
#define BZ_TOOLS_SHOW_WHOLE_PROGRAM_H

#include "traces/trace.h"

#define BZ_SCENE_VALUES 8u

struct bz_scene_program {
    const char *name;                    /* of the scenario; its file is NAME.py */
    const char *values[BZ_SCENE_VALUES]; /* the settings that it needs; then NULL */
};

/* NULL: the trace is of another scenario, or lacks one of the settings. O(events). */
const struct bz_scene_program *bz_scene_program_of(const struct bz_trace *trace);

/* The setting as a number; false: there is none, or it is out of the scenario's range. */
bool bz_scene_value(const struct bz_trace *trace, const char *name, uint64_t *value);

enum bz_scene_move_kind {
    BZ_SCENE_STEP = 0,   /* of the task */
    BZ_SCENE_TIMER = 1,  /* of the task, which is due */
    BZ_SCENE_CANCEL = 2, /* an injected one */
};

struct bz_scene_move {
    uint64_t step;
    uint64_t time_ns;
    enum bz_scene_move_kind kind;
    uint32_t task;
    uint64_t nth; /* of the task's timers; 0: the oldest that is due */
};

struct bz_scene {
    struct bz_scene_move *moves;
    size_t move_count;
};

/* The moves up to the violation. O(events + choices). */
void bz_scene_init(struct bz_scene *scene, const struct bz_trace *trace);
void bz_scene_fini(struct bz_scene *scene);

#endif
