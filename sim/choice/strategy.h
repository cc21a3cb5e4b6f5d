/* A strategy answers choices. Random, FIFO and replay are strategies, and so is everything that
 * searches. A strategy knows no primitive: it sees handles, tasks, windows and bounds.
 *
 * One strategy is one const struct of functions and one file. Its state is `state_bytes` of
 * memory that the caller provides, zeroed once; begin() prepares it for a run. All calls of a run
 * come from one thread. No call may allocate, once begin() has seen the longest run.
 *
 * Every strategy that a user can name is fair: no ready handle is passed over for ever. So liveness
 * is judged under all of them.
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

#define BZ_GAP_NEVER UINT32_MAX
#define BZ_PROFILE_TASKS_MAX 64u

/* The name of a handle that is ready: it stays the same however the rest of a schedule changes. */
struct bz_ready {
    uint32_t owner; /* task on whose behalf it runs; 0: none */
    uint32_t nth;   /* its number among the handles of that owner and role, 1 is the first */
    uint8_t role;   /* enum bz_role */
};

/* A task that may be cancelled here. Candidates come sorted by window, then by task. */
struct bz_cancel_candidate {
    uint32_t task;
    uint32_t nth;   /* number of its next step */
    uint8_t window; /* enum bz_window: where the cancel would strike */
};

/* A draw of data, or of a delay. */
struct bz_draw {
    uint64_t bound; /* the answer is below it; at least 1 */
    const char *label;
    uint32_t owner;
    uint32_t nth;
};

/* What a strategy may know of the program before its runs: how long runs of it tend to be. It is a
 * fact of the program, the same for every seed, so that a seed alone repeats a run. */
struct bz_profile {
    uint32_t steps;                            /* of a run; at least 1 */
    uint32_t tasks;                            /* that it creates */
    uint32_t points;                           /* where a cancel could be injected */
    uint32_t steps_max;                        /* no run may take more; 0: not known */
    uint32_t task_steps[BZ_PROFILE_TASKS_MAX]; /* of the task of that number; 0 is the loop's */
};

/* What a run starts from. */
struct bz_strategy_start {
    uint64_t seed;
    const struct bz_tape *tape;       /* what a replaying strategy reads; NULL for the others */
    const struct bz_profile *profile; /* for a strategy that needs_profile; else maybe NULL */
    const struct bz_answers *answers; /* what the strategy `answers` follows; maybe NULL */
    void *context;                    /* of a search or a test; else NULL */
};

struct bz_strategy {
    const char *name;
    const char *summary;
    bool needs_profile; /* begin() must be given one */
    bool reads_ready; /* next() looks at the names of the ready handles; else `ready` may be NULL */
    size_t state_bytes;

    /* A run starts. What `start` points to lasts as long as the run. */
    void (*begin)(void *state, const struct bz_strategy_start *start);

    /* Which of the `count` >= 2 ready handles runs as step `step`: its index. `ready` lists them,
     * the oldest first. */
    uint32_t (*next)(void *state, const struct bz_ready *ready, uint32_t count, uint32_t step);

    /* How many points where a cancel could be injected pass before cancel() is asked; asked at the
     * beginning and after every cancel(). BZ_GAP_NEVER: no more in this run. */
    uint32_t (*cancel_gap)(void *state);
    /* The index of the victim plus 1, or 0 for none. `count` >= 1. `point`: how many points have
     * passed since the last step; the clock may have moved on between them. */
    uint32_t (*cancel)(void *state, const struct bz_cancel_candidate *candidates, uint32_t count,
                       uint32_t step, uint32_t point);

    /* The same for clock jumps while handles are ready; true: jump to the next timer. */
    uint32_t (*jump_gap)(void *state);
    bool (*jump)(void *state, uint32_t step);

    /* A drawn delay (BZ_CHOICE_DELAY) or datum (BZ_CHOICE_DATA). */
    uint64_t (*draw)(void *state, enum bz_choice_kind kind, const struct bz_draw *draw,
                     uint32_t step);
};

extern const struct bz_strategy bz_strategy_fifo;
extern const struct bz_strategy bz_strategy_random;
extern const struct bz_strategy bz_strategy_answers;
extern const struct bz_strategy bz_strategy_pct;
extern const struct bz_strategy bz_strategy_urw;
extern const struct bz_strategy bz_strategy_delay;
extern const struct bz_strategy bz_strategy_starve;
extern const struct bz_strategy bz_strategy_swarm;
extern const struct bz_strategy bz_strategy_portfolio;

/* The strategies that a user can name, in order; ends with NULL. */
extern const struct bz_strategy *const bz_strategies[];

/* NULL if there is none of that name. */
const struct bz_strategy *bz_strategy_find(const char *name);

BZ_END_DECLS

#endif
