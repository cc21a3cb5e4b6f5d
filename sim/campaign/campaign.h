/* A campaign: many seeds of one program, on several workers, with one result.
 *
 * Seeds are numbered from `seed_first` (wrapping). Workers take them in chunks, which are merged in
 * order. So every number below, the digest included, is independent of the number of workers.
 * Without `keep_going` the campaign ends exactly with its first violation. Memory does not grow
 * with the number of runs. Some runs are repeated, to check that the seed alone decides them
 * (determinism.h).
 *
 * A suite has many short campaigns: one worker measures the program itself, fewer runs are
 * repeated, and if these offer no choice, the campaign ends, as all others are the same.
 *
 * Several workers, and the worker of a contained program, are child processes. A run that ends its
 * process is a violation (contain.h); another process continues with the next run.
 *
 * Two violations are one finding if oracle, object, operation and window are equal. The first one
 * by seed is kept, with the number of runs that failed in this way. A campaign keeps up to
 * BZ_FINDINGS_MAX findings. Once these are found, a finding of an oracle that has none replaces the
 * last one that is not the first of its own. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/campaign/distinct.h"
#include "sim/judge/failure.h"
#include "sim/program/program.h"
#include "sim/program/sizes.h"
#include "traces/lack.h"

#define BZ_JOBS_MAX 256u
#define BZ_FINDINGS_MAX 16u
#define BZ_SUITE_REPEATS 8u

struct bz_finding {
    uint64_t seed;   /* of the first run */
    uint64_t digest; /* of that run */
    uint64_t count;  /* runs with this finding, while it was kept */
    struct bz_violation violation;
};

struct bz_campaign_result {
    uint64_t runs;          /* completed, in order from the first seed */
    uint64_t violations;    /* runs that failed */
    uint64_t out_of_steps;  /* runs that hit the step limit, or that of a check */
    uint64_t seed_cut;      /* of the first of them, if there is one */
    uint64_t waited;        /* runs in which an operation waited, see bz_judge_has_waited() */
    uint64_t noted;         /* runs with a completion that was noted, see bz_world_has_noted() */
    uint64_t digest;        /* over all runs, in order; those of parts add up */
    uint64_t digest_first;  /* of the first run of these */
    uint64_t distinct;      /* different runs, by digest */
    bool distinct_is_exact; /* else an estimate: distinct.h has its error */
    /* Different hand-off orders (judge/shadow.h), those that only one run had, and the estimated
     * number of new ones in a million further runs; see distinct.h. */
    uint64_t handoff_orders;
    uint64_t handoff_orders_once;
    uint32_t handoff_new_ppm;
    bool handoff_is_exact;      /* else all three are estimates */
    uint32_t situations;        /* in which a cancel struck a run that passed, see judge.h */
    bool is_interrupted;        /* stopped before all runs were done */
    bool is_cut_off;            /* ended, because its first runs were all cut */
    bool is_complete;           /* ended, because its runs offer no choice: all are one */
    char lack[BZ_LACK_BYTES];   /* not empty: this ran out, and stopped it */
    char cut[BZ_MESSAGE_BYTES]; /* not empty: why bz_judge_cut() ended a run, the first one known */
    struct bz_run_stats stats;
    uint64_t by_oracle[BZ_ORACLES_MAX]; /* failed runs, by index in bz_oracles */
    uint32_t finding_count;
    struct bz_finding findings[BZ_FINDINGS_MAX];
};

/* Where a campaign stands after result.runs runs: all that it needs to continue. */
struct bz_campaign_state {
    struct bz_campaign_result result;
    struct bz_distinct distinct;             /* runs */
    struct bz_distinct handoffs;             /* hand-off orders */
    uint64_t situations[BZ_SITUATIONS / 64]; /* those that were struck, as bits by number */
};

/* The state before the first run, in zeroed memory or in that of another state. */
void bz_campaign_begin(struct bz_campaign_state *state);

/* The part of a run that a campaign keeps while it is counted. */
struct bz_run_mark {
    uint64_t seed;
    uint64_t digest;
    uint64_t handoffs; /* its hand-off order, as a fingerprint */
    bool has_passed;
    uint8_t strike_count; /* see bz_judge_strikes() */
    uint16_t strikes[BZ_STRIKES_MAX];
};

/* The profiles of drawn programs, for a campaign that is run in many short parts: measured once.
 * Zeros: none is known. */
struct bz_measured_draws {
    struct bz_measured_draw {
        uint64_t number; /* of the draw (sizes.h), plus 1; 0: none */
        struct bz_profile profile;
    } items[BZ_SIZES_DRAWS];
};

struct bz_campaign_config {
    const struct bz_program *program;
    uint64_t seed_first;
    /* Only the runs from this index on: one part of a campaign of many machines. Whatever depends
     * on the index of a run does as if all were made here, so parts add up (tally.h). 0: from the
     * first one. */
    uint64_t first_run;
    uint64_t runs;
    uint32_t jobs; /* 0 means 1 */
    bool keep_going;
    const struct bz_failure *wanted; /* runs that fail in another way do not count as failed. NULL:
                                        none does so */
    bool repeats_all;                /* every run is made twice (determinism.h), not only some */
    bool draws_sizes;                /* some runs have drawn parameters (sizes.h) */
    struct bz_measured_draws *draws; /* of this program, with `draws_sizes`; NULL: its own */
    /* The campaign ends if so many runs, the first ones of all, hit the step limit. 0: it runs on,
     * as one with `first_run` must. */
    uint64_t cut_runs_max;
    /* It ends with so many runs that ended their process. 0: it does not. Not with several jobs. */
    uint32_t deaths_max;
    /* Not 0 stops the campaign. Every worker checks it before each run and during long ones; an
     * unfinished run does not count. A signal handler may set it. NULL: none. */
    const volatile sig_atomic_t *stop;
    /* Called in the calling process every few hundred runs, with the result so far; false stops the
     * campaign. NULL: never. */
    bool (*poll)(void *context, const struct bz_campaign_result *so_far);
    /* Goes on from here: the state of a campaign with the same program and seed_first. The result
     * is that of one campaign. NULL: from the first run. */
    const struct bz_campaign_state *from;
    /* Called in the calling process for each finding that is kept, in order of seeds, with its
     * place in result->findings. Without child processes the call comes right after the run, before
     * the next one. With them it comes when all runs before it have been counted; its own worker
     * begins no run until then, and the others have at most SLOTS_PER_WORKER chunks (campaign.c).
     * NULL: never. */
    void (*on_finding)(void *context, uint32_t place, const struct bz_finding *finding);
    /* Called in the calling process for each run that counts, in order of seeds, before `on_state`
     * gets a state that has it. Not for those after the last such state. NULL: never. */
    void (*on_run)(void *context, const struct bz_run_mark *mark);
    /* Called as often as `poll`, with a state to continue from; `is_last`: for the last time.
     * A run that was stopped is not in it. NULL: never. */
    void (*on_state)(void *context, const struct bz_campaign_state *state, bool is_last);
    void *context;
};

/* Runs it. False if memory or processes ran out: result->lack says so, the rest of the result is
 * that of the runs before. */
bool bz_campaign_run(const struct bz_campaign_config *config, struct bz_campaign_result *result);
