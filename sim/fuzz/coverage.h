/* The coverage that a run adds to its target. */
#ifndef BZ_SIM_FUZZ_COVERAGE_H
#define BZ_SIM_FUZZ_COVERAGE_H

#include "sim/fuzz/fuzz.h"

/* Counts a run of an arm, and adds what is new to the slice. */
void bz_coverage_add(struct bz_fuzz_target *target, uint32_t arm, const struct bz_run_mark *mark,
                     struct bz_fuzz_slice *slice);

#endif
