/* The option --shard: which part of a campaign a process runs. */
#ifndef BZ_TOOLS_CLI_SHARD_OPTION_H
#define BZ_TOOLS_CLI_SHARD_OPTION_H

#include <stdio.h>

#include "sim/session/shard.h"
#include "traces/json.h"

struct bz_parse;

#define BZ_SHARD_HELP                                                                              \
    "Do only part I of N, with I from 1 to N; 'buzzer merge' joins the parts. auto: take I and N " \
    "from the Slurm array, Bazel or GitLab job that started it; auto/N: take I, also from a "      \
    "Kubernetes job or GNU parallel"

/* Reads I/N, auto or auto/N. A usage error ends the process. */
void bz_shard_parse(struct bz_parse *state, const char *option, const char *text,
                    struct bz_shard *shard);

/* Which runs of the campaign a shard has done, counted from 0: in words, and as the member `shard`
 * of a document. */
void bz_shard_print(const struct bz_shard *shard, uint64_t first_run, uint64_t runs);
void bz_shard_add_json(struct bz_json *root, const struct bz_shard *shard, uint64_t first_run,
                       uint64_t runs);

/* Bazel believes that a test knows shards if it creates this file. */
void bz_shard_tell_engine(void);

#endif
