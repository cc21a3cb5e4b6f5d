/* The option --shard: which part of a campaign a process runs. */
#pragma once

#include "sim/session/shard.h"
#include "traces/json.h"

/* Reads I/N into `target`, a struct bz_shard. The parser of an option. A usage error ends the
 * process. */
void bz_shard_parse(void *target, const char *option, char *text);

/* Which runs of the campaign a shard has done, counted from 0: in words, and as the member `shard`
 * of a document. */
void bz_shard_print(const struct bz_shard *shard, uint64_t first_run, uint64_t runs);
void bz_shard_add_json(struct bz_json *root, const struct bz_shard *shard, uint64_t first_run,
                       uint64_t runs);
