/* Campaigns in turn, for hours or weeks.
 *
 * A target is a scenario with a variant. An arm is one way to run it: a campaign from seed 0 on,
 * with a checkpoint in the folder. Arms run slices in turn, and no clock decides: the same command
 * makes the same runs, with any number of workers, stopped and continued anywhere. A checkpoint
 * whose runs are not all done has an open slice.
 *
 *     campaign.checkpoint, campaign-2.checkpoint, ...   one for each arm
 *     findings/     a trace of each finding of a target, and the smallest run that fails likewise
 *     corpus/       the first run that passes, for each situation that a cancel strikes (judge.h)
 */
#pragma once

#include "sim/session/checkpoint.h"
#include "sim/session/findings.h"

#define BZ_FUZZ_TARGETS_MAX 256u
#define BZ_FUZZ_ARMS_MAX 999u /* numbers of checkpoints */

struct bz_fuzz_target {
    struct bz_program program;               /* with the settings that all its arms share */
    uint64_t situations[BZ_SITUATIONS / 64]; /* those with a run in the corpus, as bits */
};

struct bz_fuzz_arm {
    struct bz_job job;
    struct bz_work_file file;
    struct bz_fuzz_target *target;
    struct bz_measured_draws *draws; /* NULL until a slice needs them */
    struct bz_campaign_result result;
};

/* The settings of the user, which no arm changes. */
struct bz_fuzz_fixed {
    bool strategy, order, cancels, sizes;
    bool has_default_sizes; /* with `sizes` */
};

/* The first finding of its kind in a target, and the arm that has it. */
struct bz_fuzz_finding {
    const struct bz_fuzz_arm *arm;
    struct bz_kept_finding kept;
};

struct bz_fuzz {
    const struct bz_catalog *catalog;
    uint64_t runs;    /* of all arms; 0: no limit */
    uint64_t seconds; /* of this session; 0: no limit */
    uint32_t jobs;
    struct bz_kept_findings
        kept; /* the callbacks and limits of the caller; one finding at a time */
    void (*on_finding)(void *context,
                       const struct bz_kept_findings *kept);              /* before it is shrunk */
    void (*on_progress)(void *context, uint64_t runs, uint64_t findings); /* of all arms */
    struct bz_fuzz_target *targets[BZ_FUZZ_TARGETS_MAX];
    uint32_t target_count;
    struct bz_fuzz_arm *arms[BZ_FUZZ_ARMS_MAX];
    uint32_t arm_count;
    struct bz_fuzz_finding *findings; /* in order of time */
    uint32_t finding_count;
    /* Of the session. */
    char folders[3][PATH_MAX]; /* of the campaign, findings, corpus */
    uint64_t began_ns;
    uint64_t runs_before;    /* of all arms, before this slice */
    struct bz_fuzz_arm *arm; /* whose slice runs */
    bool has_failed;         /* a file could not be written: the session ends */
    bool has_deaths;         /* enough of them in this slice */
};

/* Messages go to kept.on_trouble(), with kept.context for all callbacks. */

/* The target of the program's scenario and variant: a new one, if there is none. NULL after a
 * message: there are too many. */
struct bz_fuzz_target *bz_fuzz_target_of(struct bz_fuzz *fuzz, const struct bz_program *program);

/* Makes the arms of all targets, and the folder of a new campaign. One that has a campaign is
 * refused. False after a message. */
bool bz_fuzz_create(struct bz_fuzz *fuzz, const char *folder, const struct bz_fuzz_fixed *fixed);

/* True if the folder is one of `fuzz`: `run` makes no folders in its own. */
bool bz_fuzz_is_of(const char *folder);

/* Reads the targets and arms of a folder. False after a message. */
bool bz_fuzz_open(struct bz_fuzz *fuzz, const char *folder);

/* Runs slices up to a limit, or until it is interrupted. False after a message. */
bool bz_fuzz_run(struct bz_fuzz *fuzz);

/* True if a limit is reached, after so many runs of all arms. */
bool bz_fuzz_is_done(const struct bz_fuzz *fuzz, uint64_t runs);

/* The sums of all arms. */
struct bz_campaign_result bz_fuzz_sum(const struct bz_fuzz *fuzz);

void bz_fuzz_fini(struct bz_fuzz *fuzz);
