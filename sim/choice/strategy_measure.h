/* measure: the random walk by which a profile is taken. Not for users to name.
 *
 * It is asked at every point where a cancel could be injected, and counts them; a cancel strikes
 * once a run at most. */
#ifndef BZ_SIM_CHOICE_STRATEGY_MEASURE_H
#define BZ_SIM_CHOICE_STRATEGY_MEASURE_H

#include "sim/choice/rng.h"

/* Its state, as bz_world.strategy_state. */
struct bz_measure_state {
    struct bz_rng rng;
    uint32_t points;       /* of this run so far */
    uint32_t strike_point; /* where its cancel strikes */
};

extern const struct bz_strategy bz_strategy_measure;

#endif
