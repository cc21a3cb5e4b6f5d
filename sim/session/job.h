/* A job: what is to be run, and how far it is. Commands fill it from options, a checkpoint keeps
 * it, a shard is a part of one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/campaign/campaign.h"
#include "sim/judge/record.h"
#include "sim/session/shard.h"

/* A program, a range of seeds, when to stop, and what to keep. */
#define BZ_RUNS_MAX ((uint64_t)INT64_MAX) /* of a campaign without a limit */

struct bz_job {
    struct bz_program program;
    uint64_t seed_first;
    char version[BZ_VERSION_BYTES]; /* of the program that wrote it; read, not written */
    struct bz_shard shard;          /* number 0: 1 of 1 */
    uint64_t campaign_runs;         /* of all shards; not used of 1 of 1 */
    uint64_t runs;                  /* wanted, of this shard */
    uint64_t limit_ms;              /* time for all of them; 0: no limit */
    uint64_t spent_ms;              /* of it, so far */
    uint64_t slices;                /* of 'fuzz' that are complete; 0 elsewhere */
    uint64_t deaths;                /* of runs before the present slice; 0 elsewhere */
    bool keep_going;
    bool keeps_size;                /* what is found is not shrunk */
    bool draws_sizes;               /* with program.pinned */
    uint32_t required[BZ_OP_COUNT]; /* windows that cancels must hit, as bits, by operation;
                                       [BZ_OP_NONE]: in any one */
};

/* True if there is nothing left to do: all runs are done, the time is up, or it ended with its
 * first violation. */
bool bz_job_is_finished(const struct bz_job *job, const struct bz_campaign_state *state);

/* The index of its first run. */
uint64_t bz_job_first_run(const struct bz_job *job);

/* The program of the run of a seed: its own, or one of drawn sizes. Its profile is not measured. */
void bz_job_program(const struct bz_job *job, uint64_t seed, struct bz_program *program);

/* True if they are not of one campaign, as two shards of it are. True with a reason: "it has 8
 * shards, and not 64", said of `other`. */
bool bz_job_differs(const struct bz_job *job, const struct bz_job *other, char *reason,
                    size_t reason_bytes);

/* The part of its campaign's configuration that follows from it. The job must outlive that. */
struct bz_campaign_config bz_job_campaign(const struct bz_job *job);
