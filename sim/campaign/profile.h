/* The profile of a program: how long its runs tend to be, measured before the first of them.
 *
 * Some strategies place what they do within a run that has not happened yet. They get the same
 * profile whatever the seed, so that a seed alone repeats a run: it is taken from the same few runs
 * of the program every time, under a random walk, and depends on nothing but the program.
 */
#ifndef BZ_SIM_CAMPAIGN_PROFILE_H
#define BZ_SIM_CAMPAIGN_PROFILE_H

#include "sim/campaign/run.h"

/* Measures `program` in a few runs; what they run into does not matter, a run that ends early is
 * as long as it was. Costs PROFILE_RUNS runs, or fewer if they are long. False without memory. */
bool bz_profile_measure(struct bz_profile *profile, const struct bz_program *program);

#endif
