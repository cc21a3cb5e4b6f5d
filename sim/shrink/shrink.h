/* Shrinking: the smallest run that fails in the same way as a given one.
 *
 * In the same way means: the same oracle, object (by name), operation and window. Smaller means, in
 * this order: fewer deviations from a plain FIFO loop (a handle out of turn, a clock jump), fewer
 * cancels (injected, or the program's own), fewer tasks of the program, fewer helpers, smaller
 * parameters, fewer and smaller draws, fewer steps.
 *
 *   1. Choices are taken away, in groups and then one by one (A. Zeller, R. Hildebrandt,
 *      "Simplifying and Isolating Failure-Inducing Input", TSE 2002), and come earlier.
 *   2. Parameters go to their least values. If the choices do not fit the smaller program, some
 *      runs of it on fixed seeds look for others that do.
 *   3. Tasks are left out, whichever they are, with a parameter that counts them.
 *   4. All schedules with as few choices as the best run are tried, as far as the budget lasts.
 *
 * Again from 1, until nothing changes. Then all of it begins again with other runs of the given
 * program. At last come leaps to small programs that no single step down leads to, and mixes of
 * drawn programs. So the result depends little on the run that was given. It is the same on every
 * machine: budgets are runs and steps, not time. Each run that is accepted is run again, from its
 * own tape.
 *
 * A contained program is shrunk in one child process (sim/run/contain.h). If a run ends that, each
 * run gets a process of its own.
 */
#ifndef BZ_SIM_SHRINK_SHRINK_H
#define BZ_SIM_SHRINK_SHRINK_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/choice/tape.h"
#include "sim/run/program.h"
#include "traces/trace.h"

#define BZ_SHRINK_RUNS_DEFAULT 60000u
#define BZ_SHRINK_RUNS_CONTAINED 1000u /* if each needs a process of its own */
#define BZ_SHRINK_RUNS_DYING 200u      /* if each of them ends its process */
#define BZ_SHRINK_STEPS_DEFAULT 6000000u

enum bz_shrink_end {
    BZ_SHRINK_MINIMAL = 0,       /* every schedule with as few choices was tried */
    BZ_SHRINK_ONE_MINIMAL = 1,   /* no choice can be left out, and no parameter lowered */
    BZ_SHRINK_OUT_OF_BUDGET = 2, /* it may get smaller */
    BZ_SHRINK_INTERRUPTED = 3,   /* likewise */
    BZ_SHRINK_TOO_LARGE = 4,     /* the run has more tasks or choices than can be edited */
    BZ_SHRINK_UNREPEATABLE = 5,  /* its choices do not lead to its violation again, or to none */
    BZ_SHRINK_NO_RESOURCE = 6,   /* see `lack` */
};

struct bz_shrink_size {
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

struct bz_shrink_config {
    const struct bz_program *program;
    const struct bz_trace *trace;      /* a run of it that violates an oracle */
    uint64_t runs_max;                 /* 0: the default */
    uint32_t share;                    /* of the default budget: one part in so many; 0: all */
    const volatile sig_atomic_t *stop; /* not 0: stop; NULL: none */
    /* Called every few hundred runs; NULL: never. */
    void (*on_progress)(void *context, uint64_t runs, const struct bz_shrink_size *best);
    void *context;
};

struct bz_shrink_result {
    enum bz_shrink_end end;
    uint64_t runs;
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

#endif
