/* A strategy makes the choices of a run: random, FIFO, replay and search are strategies. It knows
 * no primitive: it sees handles, tasks, windows and bounds.
 *
 * A strategy is one const struct of functions. Its state is `state_bytes` of memory that the caller
 * provides, zeroed once; begin() prepares it for a run. All calls of a run come from one thread. No
 * call may allocate, once begin() has seen the longest run.
 *
 * Every strategy that a user can name is fair: no ready handle is passed over forever. So liveness
 * is judged under every one.
 *
 * To add one: write strategy_NAME.c, declare its struct here, list it in strategies.c.
 */
#ifndef BZ_SIM_CHOICE_STRATEGY_H
#define BZ_SIM_CHOICE_STRATEGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/choice/choice.h"

BZ_BEGIN_DECLS

struct bz_tape;
struct bz_answers;
struct bz_ready_place;
struct bz_ready_set;

#define BZ_GAP_NEVER UINT32_MAX
#define BZ_PROFILE_TASKS_MAX 64u
#define BZ_INSTEAD_BEHIND UINT64_C(1) /* no task has number 0 */
#define BZ_INSTEAD_REACH 16u

/* The identity of a ready handle. Changes elsewhere in a schedule leave it alone. */
struct bz_ready {
    uint32_t owner; /* task on whose behalf it runs; 0: none */
    uint32_t nth;   /* its number among the handles of that owner and role; 1 is the first */
    uint8_t role;   /* enum bz_role */
};

/* A task that may be cancelled here. Candidates are sorted by window, then by task. */
struct bz_cancel_candidate {
    uint32_t task;
    uint32_t nth;   /* number of its next step */
    uint8_t window; /* enum bz_window: where the cancel would strike */
};

/* A draw of data, or of a delay. */
struct bz_draw {
    uint64_t bound;    /* exclusive; at least 1 */
    uint64_t favoured; /* values below 64 that matter most here, as bits; 0: none is known */
    const char *label;
    uint32_t owner; /* task that draws; 0: none */
    uint32_t nth;   /* number of its draw */
};

/* How long runs of the program tend to be. It is the same for every seed, so that a seed alone
 * repeats a run. */
struct bz_profile {
    uint32_t steps;                            /* of a run; at least 1 */
    uint32_t tasks;                            /* created */
    uint32_t points;                           /* cancel points: where one could be injected */
    uint32_t steps_max;                        /* the step limit; 0: not known */
    uint32_t task_steps[BZ_PROFILE_TASKS_MAX]; /* by the task's number; 0 is the loop */
    uint64_t cancellers; /* tasks that cancel others: bits by the task's number */
};

struct bz_strategy_start {
    uint64_t seed;
    const struct bz_tape *tape;       /* for a replaying strategy; else NULL */
    const struct bz_profile *profile; /* for a strategy that needs_profile; else may be NULL */
    const struct bz_answers *answers; /* for the strategy `answers`; may be NULL */
    void *context;                    /* for a search or a test; else NULL */

    /* True if the task has yielded: its next step is in the queue, and nothing had to wake it.
     * NULL: not known. */
    bool (*has_yielded)(const void *judge, uint32_t task);
    /* True if the task is in the window `woken`, and the task that was woken last (0: none yet).
     * NULL: not known, both. */
    bool (*is_woken)(const void *judge, uint32_t task);
    const uint32_t *last_woken;
    const void *judge;
};

struct bz_strategy {
    const char *name;
    const char *summary;
    bool needs_profile; /* begin() must be given one */
    bool reads_ready;   /* false: `ready` may be NULL in next() */
    uint16_t reads_at;  /* a bool at this offset of the state says, after begin(), whether it reads
                           `ready` in this run; 0: it does */
    size_t state_bytes;

    /* If this is not NULL, there are no other functions: the strategy that it returns makes the
     * choices of the run with this seed, in the same state. */
    const struct bz_strategy *(*select)(uint64_t seed);

    /* A run starts. What `start` points to must outlive the run. */
    void (*begin)(void *state, const struct bz_strategy_start *start);

    /* The index of the handle that runs as step `step`. `ready` lists the `count` >= 2 ready
     * handles, the oldest first. */
    uint32_t (*next)(void *state, const struct bz_ready *ready, uint32_t count, uint32_t step);

    /* The choice of next() among many handles (ready_set.h), in less than O(n). A source may call
     * the one or the other. NULL: next() alone. */
    struct bz_ready_place (*next_of_many)(void *state, struct bz_ready_set *set, uint32_t step);
    /* For the tree of the set: what a handle weighs while it is ready, not 0. NULL: nothing. */
    uint64_t (*weight)(const void *state, const struct bz_ready *handle);
    bool adds_weights; /* the tree has their sum; else the greatest one */
    bool finds_owners; /* the set keeps the handles of each owner */

    /* Replaces the chosen handle of this step. Tasks, as bits by number: the
     * first step of such a task among the chosen handle and those behind it, BZ_INSTEAD_REACH in
     * all. BZ_INSTEAD_BEHIND: the handle behind it. 0, or no such step: the chosen one runs. Behind
     * the newest handle is the oldest. NULL: always 0. */
    uint64_t (*instead)(void *state, const struct bz_ready *chosen, uint32_t step);

    /* How many cancel points pass before the next cancel(). Called when a run begins, and after
     * every cancel(). BZ_GAP_NEVER: no more in this run. */
    uint32_t (*cancel_gap)(void *state);
    /* True: no cancel at this point, so the caller may skip building the candidate list (which
     * would not be empty). NULL: cancel() says. */
    bool (*passes)(void *state);
    /* The index of the victim plus 1, or 0 for none. `count` >= 1. `point`: how many cancel points
     * have passed since the last step. */
    uint32_t (*cancel)(void *state, const struct bz_cancel_candidate *candidates, uint32_t count,
                       uint32_t step, uint32_t point);

    /* The same for clock jumps while handles are ready. True: jump to the next timer. */
    uint32_t (*jump_gap)(void *state);
    bool (*jump)(void *state, uint32_t step);
    /* The same for bz_judge_retimes(), whose choice has this value on the tape. NULL: jump(). */
    bool (*retime)(void *state, uint32_t step, uint32_t value);

    /* A number below draw->bound, as a delay (BZ_CHOICE_DELAY) or as data (BZ_CHOICE_DATA). */
    uint64_t (*draw)(void *state, enum bz_choice_kind kind, const struct bz_draw *draw,
                     uint32_t step);
};

/* The strategies that a user can name, in order: a row is the declaration and the entry below. */
#define BZ_STRATEGIES(STRATEGY)                                                                    \
    STRATEGY(fifo)                                                                                 \
    STRATEGY(random)                                                                               \
    STRATEGY(pct)                                                                                  \
    STRATEGY(urw)                                                                                  \
    STRATEGY(delay)                                                                                \
    STRATEGY(starve)                                                                               \
    STRATEGY(swarm)                                                                                \
    STRATEGY(portfolio)                                                                            \
    STRATEGY(answers)
#define BZ_DECLARE_STRATEGY(name) extern const struct bz_strategy bz_strategy_##name;
BZ_STRATEGIES(BZ_DECLARE_STRATEGY)
extern const struct bz_strategy *const bz_strategies[]; /* ends with NULL */

/* fifo as a member of the portfolio: the clock jumps now and then, so that a task ends that spins
 * until a time comes. Users cannot name it. */
extern const struct bz_strategy bz_strategy_fifo_jumping;

/* True if it is a step of one of these tasks, which are bits by number. */
static inline bool bz_is_step_of(const struct bz_ready *handle, uint64_t tasks) {
    return handle->role == BZ_ROLE_STEP && handle->owner < BZ_PROFILE_TASKS_MAX &&
           (tasks >> handle->owner & 1u) != 0;
}

/* True if it reads the names of ready handles in the run that has begun. */
static inline bool bz_strategy_reads(const struct bz_strategy *strategy, const void *state) {
    return strategy->reads_ready &&
           (strategy->reads_at == 0 || *((const bool *)state + strategy->reads_at));
}

/* For `cancel_gap` and `jump_gap`: no point passes unasked. */
uint32_t bz_gap_none(void *state);

/* NULL if there is none of that name. */
const struct bz_strategy *bz_strategy_find(const char *name);

BZ_END_DECLS

#endif
