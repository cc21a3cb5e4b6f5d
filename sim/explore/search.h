/* One search of a space of schedules, depth first: what its files share. explore.c runs several.
 *
 * The path from the start to the present state is a stack of frames. Each frame is a state, with
 * the choice points of its present transition and the choices that are being tried. The next
 * transition of a state is the next combination of choices; the last choice point changes first.
 */
#pragma once

#include "sim/choice/strategy.h"
#include "sim/explore/cycles.h"
#include "sim/explore/explore.h"
#include "sim/explore/fingerprint/symmetry.h"
#include "sim/explore/record.h"
#include "sim/explore/visited.h"
#include "sim/judge/inspect.h"
#include "sim/native/internal.h"
#include "sim/native/snapshot.h"

struct bz_choice_point {
    uint64_t bound;
    uint64_t chosen; /* 0: the default */
    uint8_t kind;    /* BZ_CHOICE_DELAY: a clock jump; BZ_CHOICE_DATA: any draw */
    bool is_sampled; /* too many values: the first, the middle and the last are tried */
    bool is_yields;  /* a number of yields: 0 and 1 are tried */
};

/* A state on the path, and its present transition. */
struct bz_frame {
    struct bz_frame *parent;
    struct bz_frame *child; /* NULL: there was none yet; kept when the search leaves it */
    struct bz_snapshot snapshot;
    struct bz_fingerprint fingerprint;
    uint32_t first_point; /* of the present transition */
    uint32_t point_count;
    uint32_t delays; /* of the path to here */
    uint32_t draws;  /* other than the first value, of the path to here */
    uint32_t cancels_left;
    uint32_t number; /* in the graph, if it is recorded */
    uint32_t tried;  /* transitions, since the search came here */
    uint64_t schedules;
    bool has_begun;
    bool is_progress; /* an operation returned or a task ended in the step to here */
    uint64_t digest;  /* of the events of the present transition; without snapshots, of the path */
    struct bz_print print;
};

struct bz_search {
    const struct bz_explore_config
        *config; /* its own copy, because code on stacks may refer to it */
    struct bz_explore_config own_config;
    struct bz_program program;
    struct bz_explore_result *result;
    struct bz_search_place at;
    struct bz_explore_result swept; /* at.stage.simplifies: the result of the sweep */
    struct bz_record *record;       /* NULL: nothing is kept */
    struct bz_world *world;
    struct bz_world *second; /* where paths are visited again */
    struct bz_symmetry symmetry;
    struct bz_printer printer;
    struct bz_visited visited;
    struct bz_visited outcomes;
    struct bz_cycles *cycles; /* where the graph is recorded; NULL: it is not */
    struct bz_frame root;     /* its transition is the setup, and it has no snapshot */
    struct bz_frame *top;
    uint32_t frame_count;
    struct bz_choice_point *points; /* of the whole path */
    uint32_t point_count;
    uint32_t point_capacity;
    struct bz_choice_point spare; /* in place of one for which there was no memory, or that the path
                                     does not have */
    uint32_t cursor;              /* the next choice point of the world */
    uint32_t revived_max;         /* new choice points are made as `points` says, up to here */
    bool is_put_off;              /* by the bound on transitions */
    bool is_at_top;               /* the world is in the state of the topmost frame */
    bool is_repeating;            /* a world runs transitions of the path again */
    uint32_t visits_first;        /* so many paths of a search are visited again, and few later */
    bool is_unrepeatable;         /* there was one, or an event of another visit differed */
    uint64_t runs;                /* whole ones */
    uint32_t fresh; /* choice points of a whole run that were there before it: an earlier state was
                       met before */
    bool is_merged; /* a whole run has met a state that was searched */
    void *program_state;
};

/* States that the table must have room for: the limit, or as many as were kept. */
uint64_t bz_search_states(const struct bz_explore_config *config);

/* Loads config->from, if there is one. False: it has no use here, and the result says why. */
bool bz_search_load(const struct bz_explore_config *config, struct bz_search *search);

/* Findings and digests are collected in `result` over all searches. NULL without memory. */
struct bz_search *bz_search_new(const struct bz_explore_config *config,
                                struct bz_explore_result *result);
void bz_search_destroy(struct bz_search *search);

/* Searches everything within the bounds; the counts in the result are those of this search, and
 * is_cut and is_short say what the bounds have left out. False without memory. */
bool bz_search_run(struct bz_search *search, const struct bz_search_bounds *bounds);

/* The bounds of the next search, without what was counted. */
void bz_search_prepare(struct bz_search *search, const struct bz_search_bounds *bounds);

/* Begins a search within these bounds, and continues until it ends or has to stop: what
 * bz_search_run() does. False without memory. */
void bz_search_begin(struct bz_search *search, const struct bz_search_bounds *bounds);
bool bz_search_all(struct bz_search *search);

/* Goes to the set-up again, with all that was visited. */
void bz_search_enter_root(struct bz_search *search);

/* Runs the path again in this world, from the set-up to the transition of `last`, and returns the
 * state of the program. Sets `is_unrepeatable` if a choice point or an event differs. */
void *bz_search_repeat(struct bz_search *search, struct bz_world *world,
                       const struct bz_frame *last);

/* Goes on to the next transition, and leaves the states that have none left. False: there is no
 * state any more. */
bool bz_search_advance(struct bz_search *search);

/* The whole search: rounds and sweep. False if memory ran out: see the result. */
bool bz_search_explore(struct bz_search *search);

/* A finding, unless there is one that fails in the same way. */
void bz_search_keep_finding(struct bz_search *search, const struct bz_explore_finding *finding);

/* The code has ended the process of the search: a finding, on its present path. */
void bz_search_keep_death(struct bz_search *search, const struct bz_death *death);

/* At the end of a schedule: the scenario and the oracles check what is left in the world. */
void bz_search_finish(const struct bz_search *search, struct bz_world *world, void *state);

/* How many cancels a run may have: none if every window is off. */
static inline uint32_t bz_search_cancels_max(const struct bz_explore_config *config) {
    return config->program->cancel_windows == 0 ? 0 : config->program->cancels_max;
}

static inline bool bz_search_has(const struct bz_search *search, uint32_t reduction) {
    return (search->at.bounds.reductions & reduction) != 0;
}

/* True if the scenario has a runtime of its own, which makes whole runs. Then each run is a
 * transition of the root, made from the set-up on, and its choice points are those of the run. */
static inline bool bz_search_has_whole_runs(const struct bz_search *search) {
    return search->config->program->scenario->runtime != NULL;
}

static inline void bz_schedules_add(uint64_t *sum, uint64_t more) {
    *sum = *sum > UINT64_MAX - more ? UINT64_MAX : *sum + more;
}

/* --- choice_points.c -------------------------------------------------------------------------- */

/* Makes the choices of the path, and adds new choice points with the default choice. The search is
 * its context. */
extern const struct bz_strategy bz_search_strategy;

/* Adds a choice point to the path. NULL without memory. */
struct bz_choice_point *bz_search_add_point(struct bz_search *search,
                                            const struct bz_choice_point *point);

/* Goes on to the next combination of choices of the topmost frame; false after the last one. */
bool bz_search_next_transition(struct bz_search *search);

/* Of the choices at `count` choice points from `first` on. */
struct bz_deviations bz_search_cost(const struct bz_search *search, uint32_t first, uint32_t count);

/* The choices of the path that are not the default; false if they do not fit. */
bool bz_search_answers(const struct bz_search *search, struct bz_answers *answers);

/* --- second_visit.c --------------------------------------------------------------------------- */

/* True if the present path should be visited again. */
bool bz_search_visit_is_due(const struct bz_search *search);

/* bz_search_repeat() of the whole path in another world. Sets `is_unrepeatable` also if the verdict
 * differs of a path that has ended. */
void bz_search_visit_again(struct bz_search *search, bool is_end);

/* --- liveness.c ------------------------------------------------------------------------------- */

/* After a complete search without a finding: which schedules never end, and what becomes of tasks
 * in those that are fair. Searches once more if there may be any. A finding ends the search. */
void bz_search_liveness(struct bz_search *search);

/* If the graph is recorded: looks at the world before its state is normalized; adds its state, with
 * the number by which the table knows it; adds the transition that has just run. */
void bz_search_look_at_step(struct bz_search *search);
void bz_search_record_state(struct bz_search *search, struct bz_frame *child,
                            struct bz_visited_state *state, bool is_new);
void bz_search_record_edge(struct bz_search *search);

/* --- contained.c ------------------------------------------------------------------------------ */

/* bz_search_explore() in a child process. */
bool bz_search_contained(const struct bz_explore_config *config, struct bz_explore_result *result);

/* True if the search ended with a finding that only snapshots can explain: a path that does not
 * repeat, or a death that an ordinary run does not show. */
bool bz_search_is_spoilt(const struct bz_explore_config *config,
                         const struct bz_explore_result *result);

/* --- states.c --------------------------------------------------------------------------------- */

enum bz_arrival {
    BZ_ARRIVED_NEW,    /* to be searched */
    BZ_ARRIVED_KNOWN,  /* was searched before; or an end, or skipped */
    BZ_ARRIVED_LOOP,   /* is on the path already */
    BZ_ARRIVED_FAILED, /* no memory */
};

/* After a transition: saves the world's state in `child`, the frame after the topmost one, and says
 * whether it is to be searched. */
enum bz_arrival bz_search_arrive(struct bz_search *search, struct bz_frame *child);

/* After the topmost frame's state was searched. */
void bz_search_depart(struct bz_search *search);

/* The search stops, with this state on its path. */
void bz_search_leave_unfinished(struct bz_search *search, const struct bz_frame *frame);

/* At the end of a schedule: counts its outcome, if it is a new one. An outcome is how every task
 * ended, and what became of every object. False without memory. */
bool bz_search_note_outcome(struct bz_search *search);

/* A whole run has come to a state, which `text` describes where the judge does not. True if it was
 * there in an earlier run, with as much left of the bounds. */
bool bz_search_meets(struct bz_judge *judge, const void *text, size_t bytes);
