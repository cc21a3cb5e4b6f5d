/* The path of a search: what search.c, questions.c and states.c share. Nobody else includes it. */
#ifndef BZ_SIM_EXPLORE_PATH_H
#define BZ_SIM_EXPLORE_PATH_H

#include "sim/choice/strategy.h"
#include "sim/explore/footprint.h"
#include "sim/explore/search.h"
#include "sim/explore/visited.h"
#include "sim/native/internal.h"
#include "sim/native/snapshot.h"

enum bz_question_kind {
    BZ_QUESTION_NEXT,
    BZ_QUESTION_CANCEL,
    BZ_QUESTION_JUMP,
    BZ_QUESTION_DRAW,
};

/* A question of the world, and the answer that is being tried. */
struct bz_question {
    uint64_t bound;
    uint64_t answer;
    uint8_t kind;
    bool is_sampled; /* too many values: the first, the middle and the last are tried */
};

/* A state on the path, and its present transition. */
struct bz_frame {
    struct bz_snapshot snapshot; /* frame 0 has none: its transition is the setup */
    struct bz_fingerprint fingerprint;
    uint32_t first_question; /* of the present transition */
    uint32_t question_count;
    uint32_t delays; /* of the path to here */
    uint32_t cancels_left;
    uint64_t weight; /* its part of the whole, for the progress */
    uint64_t weight_each;
    uint64_t schedules;
    bool has_begun;
    bool is_progress; /* the step that led here got somewhere */
    bool is_again;    /* the state is on the path already, further up */
    /* Sleep sets, as bits of transitions: those that need not be tried; those that were tried
     * before the present one; if not 0, the only ones that are to be tried; and what each of the
     * first two touches. */
    uint64_t sleep;
    uint64_t tried;
    uint64_t only;
    uint64_t present;
    struct bz_footprint present_print;
    struct bz_footprint prints[2 * BZ_TRANSITION_TASKS_MAX];
};

struct bz_search {
    const struct bz_explore_config *config;
    struct bz_explore_result *result;
    struct bz_search_bounds bounds;
    struct bz_world *world;
    struct bz_tracker tracker;
    struct bz_visited visited;
    struct bz_visited outcomes;
    struct bz_frame **frames; /* frame_count of them are in use */
    uint32_t frame_count;
    uint32_t frame_capacity;
    struct bz_question *questions; /* of the whole path */
    uint32_t question_count;
    uint32_t question_capacity;
    uint32_t cursor; /* the next question to be answered */
    bool is_blocked; /* the present transition is one to be skipped */
    bool has_jumped; /* the clock has, in the present transition: it is no task's step alone */
    bool is_cut;     /* a bound has left something out */
    bool is_at_top;  /* the world is in the state of the topmost frame */
    void *program_state;
    uint64_t weight_done;
};

static inline struct bz_frame *bz_search_top(const struct bz_search *search) {
    return search->frames[search->frame_count - 1];
}

static inline bool bz_search_has(const struct bz_search *search, uint32_t reduction) {
    return (search->bounds.reductions & reduction) != 0;
}

/* --- questions.c ------------------------------------------------------------------------------ */

/* Answers a world as the present transition says, and notes questions that are new with the default
 * answer. Its state is a pointer to the search. */
extern const struct bz_strategy bz_search_strategy;

/* Goes on to the next combination of answers for the topmost frame; false after the last one. */
bool bz_search_next_transition(struct bz_search *search);

/* Delays and cancels that a question's answer costs. */
uint32_t bz_question_delays(const struct bz_question *question);
uint32_t bz_question_cancels(const struct bz_question *question);

/* The answers of the path that are not default; false if they are too many for a answers. */
bool bz_search_answers(const struct bz_search *search, struct bz_answers *answers);

/* --- states.c --------------------------------------------------------------------------------- */

/* Whether the topmost frame's sleep set says that this transition is not to be tried. */
bool bz_search_is_skipped(const struct bz_search *search, uint64_t transition);

/* Takes note of the footprint of the transition that has just run from the topmost frame. */
void bz_search_note_footprint(struct bz_search *search);

enum bz_arrival {
    BZ_ARRIVED_NEW,    /* to be searched */
    BZ_ARRIVED_KNOWN,  /* was searched before */
    BZ_ARRIVED_LOOP,   /* is on the path already */
    BZ_ARRIVED_FAILED, /* no memory */
};

/* The transition that has just run has brought the world to a state: saves it in `child`, the frame
 * after the topmost one, and says whether it is to be searched. */
enum bz_arrival bz_search_arrive(struct bz_search *search, struct bz_frame *child);

/* The topmost frame's state was searched. */
void bz_search_depart(struct bz_search *search);

static inline uint64_t bz_schedules_add(uint64_t a, uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

#endif
