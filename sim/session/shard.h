/* One part of a campaign that many machines share: shard 3 of 64.
 *
 * Each shard has a contiguous range of runs. The ranges of all shards are the campaign, without gap
 * or overlap; their lengths differ by one at most. A shard runs what one process would run there,
 * with the same digests (first_run in campaign.h). */
#pragma once

#include <stdint.h>

#define BZ_SHARDS_MAX 65536u

struct bz_shard {
    uint32_t number; /* from 1 */
    uint32_t count;  /* 1: all of the campaign */
};

/* The index of its first run in a campaign of so many runs. */
static inline uint64_t bz_shard_first(const struct bz_shard *shard, uint64_t runs) {
    uint64_t before = shard->number - 1;
    uint64_t longer = runs % shard->count; /* the first ones have one run more */
    return runs / shard->count * before + (before < longer ? before : longer);
}

/* How many runs it has. */
static inline uint64_t bz_shard_runs(const struct bz_shard *shard, uint64_t runs) {
    return runs / shard->count + (shard->number - 1 < runs % shard->count);
}
