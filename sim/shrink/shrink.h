/* Shrinking: the smallest run that fails in the same way as a given one.
 *
 * In the same way means: the same oracle, object (by name), operation and window. Smaller means, in
 * this order: fewer deviations from a plain FIFO loop (a handle out of turn, a clock jump), fewer
 * cancels (injected, or the program's own), fewer tasks of the program, fewer helpers, smaller
 * parameters, fewer and smaller draws, fewer steps. But no run with more steps than the given one
 * is smaller than one without.
 *
 *   1. Choices are taken away, in groups and then one by one (A. Zeller, R. Hildebrandt,
 *      "Simplifying and Isolating Failure-Inducing Input", TSE 2002), and come earlier.
 *   2. Parameters go to their least values. If the choices do not fit the smaller program, some
 *      runs of it on fixed seeds look for others that do.
 *   3. Tasks are left out, whichever they are, with a parameter that counts them.
 *   4. All schedules with as few choices as the best run are tried, as far as the budget lasts.
 *
 * Again from 1, until nothing changes. Then come leaps to small programs that no single step down
 * leads to, and mixes of drawn programs.
 *
 * All of that depends on the given run. So it is done again with runs that do not: those of
 * programs as campaigns draw them on fixed seeds, and of those with fewer tasks, whatever their
 * length, until no smaller run comes of them. Their result is the common one of all runs
 * that fail in this way. If the given run led to another one, other runs of its program follow, and
 * those of drawn programs that are not longer. The smallest run of all is the result. It is the
 * same on every machine: a budget is a number of steps, not a time (sim/program/budget.h). Each run
 * that is accepted is run again, from its own tape.
 *
 * A result is `minimal` if it is the common one, no budget cut the search short, and every schedule
 * of its program with as few choices was tried. So two runs that fail in the same way, with the
 * same settings but for parameters, never have two different results that are both `minimal`. No
 * smaller run of this program fails in the same way. One of another program may; only such programs
 * were tried as are named above.
 *
 * A contained program is shrunk in one child process (sim/contain/contain.h). If a run ends that,
 * each run gets a process of its own.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sim/choice/tape.h"
#include "sim/program/budget.h"
#include "traces/trace.h"

enum bz_shrink_end {
    BZ_SHRINK_MINIMAL = 0,       /* see above */
    BZ_SHRINK_ONE_MINIMAL = 1,   /* no choice can be left out, and no parameter lowered; another
                                    run with this failure may end smaller, or larger */
    BZ_SHRINK_OUT_OF_BUDGET = 2, /* it may get smaller */
    BZ_SHRINK_OUT_OF_TIME = 3,   /* likewise */
    BZ_SHRINK_INTERRUPTED = 4,   /* likewise */
    BZ_SHRINK_TOO_LARGE = 5,     /* the run has more tasks or choices than can be edited */
    BZ_SHRINK_UNREPEATABLE = 6,  /* its choices do not lead to its violation again, or to none */
    BZ_SHRINK_NO_RESOURCE = 7,   /* see `lack` */
};

struct bz_shrink_size {
    bool is_longer; /* than the given run: what has as many steps is smaller */
    uint32_t deviations;
    uint32_t cancels;
    uint32_t tasks;   /* of the program, children of its groups included */
    uint32_t helpers; /* tasks that the variant creates */
    uint32_t params;  /* that are not at their least value */
    uint64_t params_sum;
    uint32_t draws; /* other than 0 */
    uint32_t steps;
    uint64_t weight; /* sum of drawn values, and of opportunities that pass before a choice */
};

/* Called every few hundred runs, with the smallest one so far. */
typedef void bz_shrink_progress_fn(void *context, uint64_t runs, const struct bz_shrink_size *best);

struct bz_shrink_config {
    const struct bz_program *program;
    const struct bz_trace *trace; /* a run of it that violates an oracle */
    struct bz_budget budget;
    uint64_t runs_max;                  /* 0: as many as the budget allows */
    bz_shrink_progress_fn *on_progress; /* NULL: never called */
    void *context;
};

struct bz_shrink_result {
    enum bz_shrink_end end;
    uint64_t runs;
    uint64_t runs_max;  /* what ended it, if the budget did: so many runs, or else */
    uint64_t steps_max; /* so many steps */
    uint64_t run_cost;  /* steps that each run costs beside its own */
    struct bz_shrink_size before;
    struct bz_shrink_size after;
    struct bz_violation violation; /* of the smallest run */
    uint64_t digest;
    /* The smallest run: the program with the strategy `answers`, whose only run it is. If its
     * choices are too many for a script, has_answers is false, and `tape` has them. */
    struct bz_program program;
    bool has_answers;
    struct bz_tape tape; /* of a run of the program; labels are those of the trace or literals */
    char lack[BZ_LACK_BYTES];
};

/* True unless the end is one of the last three: then the result is the given run, and `program` and
 * `tape` are not valid. The caller releases the result in any case. */
bool bz_shrink(const struct bz_shrink_config *config, struct bz_shrink_result *result);
void bz_shrink_fini(struct bz_shrink_result *result);

/* Records the smallest run as a trace (empty). False with a message: the recording does not confirm
 * it, or memory ran out (result->lack). */
bool bz_shrink_record(struct bz_shrink_result *result, struct bz_trace *trace, char *error,
                      size_t error_bytes);

/* A sentence: why it ended, "1-minimal after 214 runs". Returns `text`. */
const char *bz_shrink_end_text(const struct bz_shrink_result *result, char *text, size_t bytes);
