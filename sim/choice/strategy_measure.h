/* measure: the random walk that takes a profile. Users cannot name it. It counts the cancel points
 * of a run, and injects at most one cancel. */
#ifndef BZ_SIM_CHOICE_STRATEGY_MEASURE_H
#define BZ_SIM_CHOICE_STRATEGY_MEASURE_H

#include "sim/choice/rng.h"

struct bz_measure_state {
    struct bz_rng rng;
    uint32_t points;       /* of this run so far */
    uint32_t strike_point; /* where the cancel strikes */
};

extern const struct bz_strategy bz_strategy_measure;

#endif
