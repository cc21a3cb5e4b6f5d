/* The sums of a campaign. Parts of it are added in order of their seeds: chunks of runs, or shards
 * that other processes have run. The result is that of one campaign. */
#pragma once

#include "sim/campaign/campaign.h"

/* True if two violations are one finding, see campaign.h. */
bool bz_tally_is_same(const struct bz_violation *a, const struct bz_violation *b);

/* The finding that this violation is one of, or NULL. */
struct bz_finding *bz_tally_find(struct bz_campaign_result *result,
                                 const struct bz_violation *violation);

/* Adds a finding of a later part: counts it if it is kept, else keeps it if it has a place. Returns
 * the place if it is new there, else BZ_FINDINGS_MAX. */
uint32_t bz_tally_keep(struct bz_campaign_result *result, const struct bz_finding *finding);

/* Adds the numbers so many times, modulo 2^64: UINT64_MAX takes them away. */
void bz_tally_add_stats(struct bz_run_stats *sum, const struct bz_run_stats *part, uint64_t times);

/* Marks the situations in which cancels struck a run that passed, as bits. True: one is new. */
bool bz_tally_note_strikes(uint64_t *situations, const struct bz_run_mark *mark);

/* The first reason stands. */
void bz_tally_note_cut(struct bz_campaign_result *result, const char *reason);

/* Adds the numbers of a later part, without findings and what follows from the sketches. */
void bz_tally_add(struct bz_campaign_result *result, const struct bz_campaign_result *part);

/* Sets what follows from the sketches and the situations. */
void bz_tally_sum_up(struct bz_campaign_state *state);

/* Adds a later part of the same campaign: numbers, findings, and sketches. The sketches become
 * those of one campaign exactly. So does the rest, except that a finding may have too low a count
 * if the campaign, or a part, has more than BZ_FINDINGS_MAX of them: see bz_tally_has_all(). */
void bz_tally_join(struct bz_campaign_state *state, const struct bz_campaign_state *part);

/* True if every failed run is one of a finding that is kept: then all counts are exact. */
bool bz_tally_has_all(const struct bz_campaign_result *result);
