/* A search that many machines share. Shard 3 of 64 searches all schedules that begin with one of
 * its prefixes.
 *
 * A prefix is all choices of the first steps of a schedule. Its owner is a function of these
 * choices and of nothing else: not of the bounds of a round, nor of reductions, nor of what was
 * visited. So each shard may end in a round or in a sweep, and together they have searched
 * everything. A prefix has as few steps as make PREFIXES_PER_SHARD prefixes for each shard.
 *
 * Above the frontier, states are not merged, and all shards search them; the first one counts them.
 * Below it, a search is as always, with one table of states for all prefixes of the shard. A state
 * from above that is met again below is searched like any other. So a shard searches everything
 * that can be reached from its prefixes, and a cycle that some schedule ends in lies whole in the
 * graph of the shard that has this schedule: what a shard says of schedules that never end is true
 * of all of its schedules.
 *
 * Sleep sets leave out of one prefix what an earlier one has, which may be another shard's: the
 * shards prove together what no one of them does. */
#include "sim/choice/pcg.h"
#include "sim/explore/search.h"
#include "sim/judge/event.h"

#define PREFIXES_PER_SHARD 32u
#define DEPTH_MAX 64u

static uint64_t hash_path(const struct bz_search *search) {
    uint64_t hash = 0;
    for (uint32_t index = 0; index < search->point_count; index++) {
        hash = bz_seed_mix(hash + search->points[index].chosen + 1);
    }
    return hash;
}

bool bz_frontier_is_own(struct bz_search *search) {
    const struct bz_shard *shard = &search->config->shard;
    uint64_t hash = hash_path(search);
    bool is_own = hash % shard->count == shard->number - 1;
    if (!search->is_survey) {
        return is_own;
    }
    struct bz_frontier *frontier = &search->result->frontier;
    frontier->prefixes++;
    frontier->own += is_own;
    frontier->digest = bz_digest_word(frontier->digest, hash);
    frontier->digest = bz_digest_word(frontier->digest, search->world->judge->digest);
    return false;
}

/* Goes through all that is above the frontier, without snapshots, so that digests are those of
 * whole prefixes. */
static bool survey(struct bz_search *search, uint32_t reductions) {
    struct bz_search_bounds bounds = {.deviations = BZ_EXPLORE_UNBOUNDED,
                                      .delays = search->config->delays_max,
                                      .transitions = UINT64_MAX};
    bool is_ok;
    do {
        bounds.reductions = reductions & ~bz_search_unsound(search);
        search->result->finding_count = 0;
        search->result->frontier =
            (struct bz_frontier){.depth = search->frontier, .digest = BZ_DIGEST_SEED};
        bz_search_begin(search, &bounds);
        is_ok = bz_search_all(search);
    } while (is_ok && (bz_search_unsound(search) & bounds.reductions) != 0);
    return is_ok;
}

/* The least depth with enough prefixes; or else, in a small program, the one with most. */
static bool search_depth(struct bz_search *search, uint32_t reductions) {
    const struct bz_explore_result *result = search->result;
    uint64_t wanted = (uint64_t)search->config->shard.count * PREFIXES_PER_SHARD;
    uint64_t most = 0;
    uint32_t best = 1;
    bool is_ok;
    do {
        search->frontier++;
        is_ok = survey(search, reductions);
        best = result->frontier.prefixes > most ? search->frontier : best;
        most = result->frontier.prefixes > most ? result->frontier.prefixes : most;
    } while (is_ok && result->end == BZ_EXPLORE_DONE && result->frontier.prefixes > 0 &&
             most < wanted && search->frontier < DEPTH_MAX);
    if (is_ok && result->end == BZ_EXPLORE_DONE && search->frontier != best) {
        search->frontier = best;
        is_ok = survey(search, reductions);
    }
    return is_ok;
}

bool bz_frontier_choose(struct bz_search *search, uint32_t reductions) {
    struct bz_explore_result *result = search->result;
    struct bz_explore_result before = *result;
    struct bz_explore_config config = search->own_config;
    search->own_config.keep_going = true;
    search->own_config.states_max = UINT64_MAX;
    search->own_config.stop = NULL;
    search->own_config.poll = NULL;
    search->own_config.is_due = NULL;
    search->own_config.on_finding = NULL;
    search->is_survey = true;
    bool is_ok = search_depth(search, reductions);
    search->is_survey = false;
    search->own_config = config;
    before.frontier = result->frontier;
    before.end = result->end;
    *result = before;
    return is_ok;
}
