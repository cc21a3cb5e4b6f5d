/* A race: many programs over the same disjoint ranges of seeds, and how many schedules each takes
 * in each range until its declared fault is found.
 *
 * A cell is one program: an entry, a strategy, an order. In a range the seeds are run one after
 * another until the oracle that the entry declares objects. A schedule to which another oracle
 * objects first counts as one more that has not found the fault, and is noted. What is measured is
 * thus the waiting time for one and the same event, whoever else speaks up. A range in which it did
 * not come is censored: it counts with its whole length, a lower bound.
 *
 * A cell whose first ranges are all censored is given up, or hopeless pairs would take nearly all
 * of the time. Whether it is does not depend on the workers: nothing does that a race reports.
 *
 * Workers take ranges, not schedules, and each keeps its world while it stays with a cell: most
 * ranges end after a few schedules, and a world for each would cost more than they do. No schedule
 * is run twice, and `buzzer` runs none of them: hunt.h is who looks after that.
 */
#ifndef BZ_TOOLS_RACE_H
#define BZ_TOOLS_RACE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/run/program.h"

struct bz_race_config {
    uint64_t seed_first;
    uint64_t runs;    /* the length of a range */
    uint32_t ranges;  /* of each cell; together they must not wrap */
    uint32_t give_up; /* after so many censored ranges from the first one on; 0: never */
    uint32_t jobs;    /* at most BZ_JOBS_MAX; 0 means 1 */
    const volatile sig_atomic_t *stop;
    /* Called from the calling thread, every few hundred schedules and after its ranges, with the
     * ranges that are done, all in all, and in how many of them the fault was found. NULL: never.
     */
    void (*poll)(void *context, uint64_t done, uint64_t found);
    void *context;
};

struct bz_race_cell {
    struct bz_program program; /* whose variant declares a fault */
    uint64_t *schedules;       /* room for config.ranges; see below */
    uint32_t taken;            /* ranges that a worker has taken, from the first one on */
    uint32_t done;             /* ranges that are over, censored ones included */
    uint32_t found;            /* of these */
    uint32_t others;           /* ranges in which another oracle objected before, or instead */
    bool is_given_up;
    bool is_complete; /* all that was to be done is: else the race was stopped */
};

/* Runs all cells, in their order as far as several workers allow, so that a race that is stopped
 * has complete cells at the beginning. The programs and the memory for `schedules` are the
 * caller's, everything else in a cell zero. Of a complete cell the first `done` of `schedules` are
 * set, those of censored ranges to config.runs. False without memory or threads. */
bool bz_race_run(const struct bz_race_config *config, struct bz_race_cell *cells, size_t count);

#endif
