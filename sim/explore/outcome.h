/* The outcome of a schedule that has ended: how every task ended, and what became of every object.
 * Two schedules with the same outcome cannot be told apart by who only sees the end. */
#ifndef BZ_SIM_EXPLORE_OUTCOME_H
#define BZ_SIM_EXPLORE_OUTCOME_H

#include "sim/explore/visited.h"

struct bz_world;

struct bz_fingerprint bz_outcome_of(const struct bz_world *world);

#endif
