#include "tools/show/whole_program.h"

#include <stdlib.h>
#include <string.h>

#include "sim/judge/record.h"
#include "traces/lack.h"
#include "traces/text.h"

static const struct bz_scene_program programs[] = {
    {"scope", {"workers", "rounds", "sleep-ns", "cancels"}},
    {"deferred",
     {"crowd", "permits", "rounds", "arrival", "hold", "nesting", "patience", "cancels"}},
};

bool bz_scene_value(const struct bz_trace *trace, const char *name, uint64_t *value) {
    bool is_crowd = bz_is(name, "workers") || bz_is(name, "crowd"); /* and a canceller */
    bool may_be_none = bz_is(name, "sleep-ns") || bz_is(name, "cancels") ||
                       bz_is(name, "arrival") || bz_is(name, "hold");
    uint64_t most = bz_is(name, "sleep-ns") ? 1000000000u : 1000u;
    most = is_crowd && trace->task_count <= most ? trace->task_count - 1 : most;
    for (size_t index = 0; index < trace->param_count; index++) {
        if (bz_is(trace->params[index].name, name)) {
            return bz_parse_u64(trace->params[index].value, value) && *value <= most &&
                   (*value > 0 || may_be_none) && trace->task_count > 0;
        }
    }
    return false;
}

const struct bz_scene_program *bz_scene_program_of(const struct bz_trace *trace) {
    for (size_t index = 0; index < sizeof programs / sizeof programs[0]; index++) {
        const struct bz_scene_program *program = &programs[index];
        bool is_known = bz_is(trace->scenario, program->name);
        for (size_t at = 0; is_known && at < BZ_SCENE_VALUES && program->values[at] != NULL; at++) {
            uint64_t value;
            is_known = bz_scene_value(trace, program->values[at], &value);
        }
        if (is_known) {
            return program;
        }
    }
    return NULL;
}

/* The timer that was chosen for the step; 0: the oldest one went. */
static uint64_t chosen_timer(const struct bz_trace *trace, size_t *cursor, uint64_t step) {
    while (*cursor < trace->choice_count && trace->choices[*cursor].step < step) {
        ++*cursor;
    }
    for (size_t at = *cursor; at < trace->choice_count && trace->choices[at].step == step; at++) {
        const struct bz_trace_choice *choice = &trace->choices[at];
        if (bz_is(choice->kind, "next") && bz_is(choice->role, "timer")) {
            return choice->n;
        }
    }
    return 0;
}

void bz_scene_init(struct bz_scene *scene, const struct bz_trace *trace) {
    size_t cursor = 0;
    *scene = (struct bz_scene){
        .moves = bz_lack_new(trace->event_count + 1, sizeof *scene->moves, "a picture")};
    for (size_t index = 0; index < trace->event_count; index++) {
        const struct bz_trace_event *event = &trace->events[index];
        struct bz_scene_move move = {.step = event->step,
                                     .time_ns = event->time_ns,
                                     .task = bz_trace_find_task(trace, event->task)};
        bool is_late = trace->verdict.oracle != NULL && event->step > trace->verdict.step;
        bool is_timer = bz_is(event->event, "callback") && bz_is(event->role, "timer");
        bool is_cancel = bz_is(event->event, "inject");
        if (is_late || move.task == 0 ||
            !(is_timer || is_cancel || bz_is(event->event, "resume"))) {
            continue;
        }
        move.kind = is_timer ? BZ_SCENE_TIMER : is_cancel ? BZ_SCENE_CANCEL : BZ_SCENE_STEP;
        move.nth = is_timer ? chosen_timer(trace, &cursor, event->step) : 0;
        scene->moves[scene->move_count++] = move;
    }
}

void bz_scene_fini(struct bz_scene *scene) {
    free(scene->moves);
    *scene = (struct bz_scene){0};
}
