/* The table of the variant `twisted` whose fault the zoo shows alone. */
#ifndef BZ_SCENARIOS_VARIANTS_TWISTED_H
#define BZ_SCENARIOS_VARIANTS_TWISTED_H

#include "sim/variant/variant.h"

/* A DeferredSemaphore: whoever is granted a token has its callback run inside the release. */
extern const struct bz_deferred_ops bz_twisted_deferred_ops;

/* Callbacks that Python's stack has room for when each releases inside the one before it: with five
 * frames for each, its limit of 1000 frames fails in the callback of the 200th waiter. */
#define BZ_TWISTED_NESTING_MAX 199u

#endif
