/* One search of a space of schedules, depth first; explore.c puts several together.
 *
 * The path from the start to where the search is, is a stack of frames: each a state, with the
 * questions that its present transition asks and the answers that are being tried. The next
 * transition of a state is the next combination of answers, the last question counting fastest.
 */
#ifndef BZ_SIM_EXPLORE_SEARCH_H
#define BZ_SIM_EXPLORE_SEARCH_H

#include "sim/explore/explore.h"

struct bz_search_bounds {
    bool is_sweep;       /* every order; the other bounds do not count */
    uint32_t deviations; /* delays and cancels together: the number of the round */
    uint32_t delays;
    uint32_t reductions; /* in force */
};

struct bz_search;

/* The cancels that may be injected at all: none without a window. */
static inline uint32_t bz_search_cancels_max(const struct bz_explore_config *config) {
    return config->program->cancel_windows == 0 ? 0 : config->program->cancels_max;
}

/* Findings and digests are collected in `result` over all searches. NULL without memory. */
struct bz_search *bz_search_new(const struct bz_explore_config *config,
                                struct bz_explore_result *result);
void bz_search_destroy(struct bz_search *search);

/* Searches what is within the bounds; the numbers in the result are those of this search.
 * `is_whole`: and the bounds have left nothing out. False without memory. */
bool bz_search_run(struct bz_search *search, const struct bz_search_bounds *bounds, bool *is_whole);

#endif
