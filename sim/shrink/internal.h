/* The common part of the passes of a shrinking run. */
#pragma once

#include "sim/judge/failure.h"
#include "sim/shrink/edits.h"
#include "sim/shrink/shrink.h"

/* A program in a world of its own. */
struct bz_trial {
    struct bz_program program;
    struct bz_world *world;
};

/* A run that fails in the same way. */
struct bz_failing {
    struct bz_shrink_size size;
    struct bz_edits edits;
    struct bz_program program; /* of those that are found; the best one's is the result's */
    uint64_t digest;
};

/* The smallest of the runs that were found, by two orders: other_failures.c. */
#define BZ_SHRINK_OTHERS 5u
struct bz_shrink_group {
    struct bz_failing found[2][BZ_SHRINK_OTHERS];
    uint32_t counts[2];
};

/* A best run that is known to lead nowhere. The passes on it are not repeated. */
#define BZ_SHRINK_DONE 256u
struct bz_done {
    uint64_t key;     /* of what is done with which run */
    bool is_searched; /* for passes */
};

struct bz_shrinking {
    const struct bz_shrink_config *config;
    struct bz_shrink_result *result;
    struct bz_board *board;
    struct bz_board *shared; /* of contained runs; NULL: they are not */
    struct bz_trial *trial;  /* where runs are made */
    struct bz_tape tape;     /* that the board plays */
    /* The failure that runs must have. */
    struct bz_violation wanted;
    char wanted_object[BZ_TRACE_NAME_BYTES_MAX + 1];
    struct bz_failing *best;
    struct bz_tape best_tape;
    uint64_t cost_max; /* of `cost`, see bz_edits_cost() */
    uint64_t cost;
    uint64_t run_cost;                   /* of each run, besides */
    uint32_t steps_given;                /* of the given run */
    uint32_t steps_max;                  /* a run that has more is longer than the given one */
    struct bz_shrink_group *group;       /* where it begins again; NULL: nowhere yet */
    struct bz_done done[BZ_SHRINK_DONE]; /* the last ones, in a ring */
    uint64_t done_count;
    uint64_t common;       /* the key of what every given run leads to; 0: unknown */
    bool is_common_longer; /* than the given run */
    /* Of the best run: */
    bool is_settled;  /* no pass made it smaller, and none was cut by a budget */
    bool is_searched; /* all schedules with as few choices were tried */
};

/* The same choices, or the process ends for want of memory. */
static inline void bz_shrink_copy_tape(struct bz_tape *to, const struct bz_tape *from) {
    if (!bz_tape_copy(to, from)) {
        bz_lack_stop(NULL, "a tape");
    }
}

/* True if there is budget for one more run, and nobody has stopped it. */
bool bz_shrink_goes_on(const struct bz_shrinking *shrinking);

/* Makes one run of the trial with what is on the board. True if it fails in the same way; then
 * `size` is its size, and board->made what was chosen. */
bool bz_shrink_try(struct bz_shrinking *shrinking, struct bz_shrink_size *size);

/* bz_shrink_try(), and keeps the run if it is smaller than the best one. */
bool bz_shrink_improve(struct bz_shrinking *shrinking);

/* Below 0: `a` is the smaller one. `a_edits` and `b_edits` decide between equal sizes. */
int bz_shrink_compare(const struct bz_shrink_size *a, const struct bz_edits *a_edits,
                      const struct bz_shrink_size *b, const struct bz_edits *b_edits);

/* The tasks of the program in the present run; not those that the variant creates. */
uint32_t bz_shrink_tasks_of(const struct bz_judge *judge);

/* --- contained.c ------------------------------------------------------------------------------ */

/* A board for the child processes of a contained program; NULL for others. False without memory. */
bool bz_board_share(const struct bz_program *program, struct bz_board **shared);

/* One run with the board that is start->context. */
enum bz_run_end bz_board_run(const struct bz_program *program, struct bz_world *world,
                             const struct bz_run_start *start, struct bz_board *shared);

/* Many runs of a contained program in one child process, in which it is not contained. */
struct bz_apart {
    const struct bz_shrink_config *config; /* of the parent: its program, its stop, its progress */
    void (*work)(void *context);           /* makes the runs, and seals the report */
    void *context;
    /* Shared with the child, whose code may write over it: */
    struct bz_apart_signs {
        struct bz_shrink_size best; /* of a shrinking run: a hint */
        volatile sig_atomic_t stop; /* of the parent */
        uint64_t sum;               /* of the report; 0: nothing was said */
    } * signs;
    const uint64_t *runs; /* that it has made: a hint */
    void *report;
    size_t report_bytes;
};

/* In the child: the report is whole. */
void bz_apart_seal(const struct bz_apart *apart);

/* In the parent. False: a run has ended the child, or there is no report. */
bool bz_apart_make(const struct bz_apart *apart);

/* Shrinks in this process. */
bool bz_shrink_here(const struct bz_shrink_config *config, struct bz_shrink_result *result);

/* Shrinks a contained program in one child process. False: a run has ended it, or it ended without
 * a result that an ordinary run confirms. */
bool bz_shrink_in_child(const struct bz_shrink_config *config, struct bz_shrink_result *result);

/* --- other_failures.c ------------------------------------------------------------------------- */

/* Puts another program in the place of the trial's. False without memory, and if the variant does
 * not offer the size of its object. */
bool bz_shrink_enter(struct bz_shrinking *shrinking, const struct bz_program *program);

/* Looks for runs of the trial that fail in the same way. Fills `found` with the smallest ones, the
 * smallest first; returns how many. */
uint32_t bz_shrink_find(struct bz_shrinking *shrinking, struct bz_failing *found);

/* Begins again with runs of programs as campaigns draw them: first of any of them, then of those
 * with fewer tasks. Its result, shrinking->common, depends on the way of failing alone, and
 * not on the run that was given. False: a budget ended before. */
bool bz_shrink_common(struct bz_shrinking *shrinking);

/* Does so among runs that are not longer than the given one, if those of bz_shrink_common() were.
 * False: a budget ended before. */
bool bz_shrink_shorter(struct bz_shrinking *shrinking);

/* Makes smaller what another run of the trial leads to, by `deepen`, as if it were the best; it
 * becomes the best if it gets smaller than that. True if it does. */
bool bz_shrink_other(struct bz_shrinking *shrinking, const struct bz_failing *start,
                     bool (*deepen)(struct bz_shrinking *shrinking));

/* --- shrink.c: passes together, until nothing changes. False: a budget ended before. -----------
 */

bool bz_shrink_passes(struct bz_shrinking *shrinking);
bool bz_shrink_leaps(struct bz_shrinking *shrinking);

/* Of the best run: equal for equal runs of equal parameters. Never 0. */
uint64_t bz_shrink_key(const struct bz_shrinking *shrinking);

/* --- passes: each runs while the budget lasts, and returns whether the best run got smaller -----
 */

/* Takes choices away and lets them come earlier, until no single change is left. */
bool bz_shrink_choices(struct bz_shrinking *shrinking);

/* Lowers the parameters of the program. */
bool bz_shrink_params(struct bz_shrinking *shrinking);

/* Leaves out tasks: any of them, with a parameter that counts them. */
bool bz_shrink_tasks(struct bz_shrinking *shrinking);

/* Which parameters of the best run's program count tasks: with one more, or one less, there are as
 * many more, or less. */
void bz_shrink_counting(struct bz_shrinking *shrinking, bool counts[BZ_PARAMS_MAX]);

/* Tries every schedule of the program with as few choices as the best run. */
bool bz_shrink_search(struct bz_shrinking *shrinking);

/* Likewise of the trial's program, with no more choices than this. */
struct bz_shrink_limits {
    uint32_t deviations;
    uint32_t cancels;
    uint32_t choices; /* 0: one more than the best run has */
    uint64_t runs;
};
bool bz_shrink_search_within(struct bz_shrinking *shrinking, const struct bz_shrink_limits *limits);

/* Tries small schedules of small programs that no single step down leads to. */
bool bz_shrink_leap(struct bz_shrinking *shrinking);

/* Mixes programs with fewer tasks from what is drawn in the best one. */
bool bz_shrink_mix(struct bz_shrinking *shrinking);
