/* The files that the shards of a campaign have left, in order, added up.
 *
 * A file is taken as a whole or not at all: its checksum says whether it is one. Files of different
 * campaigns are refused, and so are two of one shard. A shard that is missing, or has not come to
 * its end, leaves a gap, which is named. Memory does not grow with the number of shards: each file
 * is read twice, first for its place. */
#ifndef BZ_TOOLS_SESSION_SHARD_FILES_H
#define BZ_TOOLS_SESSION_SHARD_FILES_H

#include "tools/report/text_output.h"
#include "tools/session/checkpoint_file.h"
#include "traces/json.h"

struct bz_shard_file {
    char *path;
    uint32_t number; /* of the shard, from 1 */
    uint64_t runs;   /* done */
    bool is_finished;
};

struct bz_shard_files {
    const char *name;            /* for messages */
    struct bz_shard_file *files; /* in order of shards once they are read */
    size_t count;
    struct bz_checkpoint_file of; /* the campaign: the first file by name, as it was read */
    uint64_t spent_ms;            /* by all of them */
};

/* Adds a file, or those of a folder (*.checkpoint). An exit code; not BZ_EXIT_OK after a message.
 */
int bz_shard_files_add(struct bz_shard_files *shards, const char *path);

/* Reads them, and adds them up in order of their runs. An exit code likewise. */
int bz_shard_files_join(struct bz_shard_files *shards, struct bz_campaign_state *sum);

/* How many shards are not there, or not finished. */
uint32_t bz_shard_files_missing(const struct bz_shard_files *shards);

/* Adds "shards 62 of 64 are complete" and what is missing, as lines. */
void bz_shard_files_text(const struct bz_shard_files *shards, struct bz_text *text);

/* Adds the member `shards`: their number, the ranges of runs that are done, and what is missing. */
void bz_shard_files_add_json(const struct bz_shard_files *shards, struct bz_json *root);

void bz_shard_files_fini(struct bz_shard_files *shards);

#endif
