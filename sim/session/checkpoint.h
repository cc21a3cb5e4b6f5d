/* A checkpoint: a campaign that stopped, or was killed, as a file from which it continues (work.h).
 *
 * The body is the job, the result so far and the sketches behind its estimates, exactly: a campaign
 * that continues ends as if it had never stopped. The digest of the token is that of the runs so
 * far, its seed the first seed. The numbers are the same on every machine, so a shard may be
 * continued and merged elsewhere, by the same version. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "sim/program/catalog.h"
#include "sim/session/folder.h"
#include "sim/session/job.h"
#include "sim/session/work_file.h"

#define BZ_CHECKPOINT_KIND "campaign"

/* False with errno. */
bool bz_checkpoint_write(const struct bz_job *job, const struct bz_campaign_state *state,
                         FILE *file);

/* Reads it back. Figures that follow from the sums (result.distinct and others) are
 * left to bz_campaign_run(). False with a message that begins with `origin`. */
bool bz_checkpoint_read(struct bz_job *job, struct bz_campaign_state *state,
                        const struct bz_catalog *catalog, FILE *file, const char *origin,
                        char *error, size_t error_bytes);

/* The same with a file that has a name. The writing keeps job->spent_ms; it does nothing unless it
 * is due or `is_last`, and passes on a failure with on_trouble(). */
bool bz_checkpoint_load(struct bz_job *job, struct bz_campaign_state *state,
                        const struct bz_catalog *catalog, const struct bz_work_file *file,
                        char *error, size_t error_bytes);
void bz_checkpoint_save(struct bz_work_file *file, struct bz_job *job,
                        const struct bz_campaign_state *state, bool is_last,
                        bz_trouble_fn *on_trouble, void *context);

/* True if the first run is as the checkpoint says. False with a message: the code has changed. */
bool bz_checkpoint_check_code(const struct bz_job *job, const struct bz_campaign_state *state,
                              const char *origin, char *error, size_t error_bytes);
