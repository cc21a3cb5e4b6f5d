/* Which arm runs next.
 *
 * A slice is worth what it was first to show of its target: BZ_GAIN_SITUATION times the binary
 * logarithm of the number of situations, because the first slices of a target find what everybody
 * finds; BZ_GAIN_FINDING times that of findings; and the square root of the number of hand-off
 * orders, of which large programs have millions. The gain of an arm is a moving average over its
 * slices; the last one has a weight of one quarter. Arms that have not run are expected to gain as
 * much as the best one.
 *
 * Each target gets its first slice first. Then every BZ_FLOOR_EVERY-th slice goes to the arm that
 * has waited longest, so none starves: after a slice of an arm, at most BZ_FLOOR_EVERY times the
 * number of arms pass until its next one. The others are drawn, with odds in proportion to the
 * gains. Integers only. */
#ifndef BZ_SIM_FUZZ_BANDIT_H
#define BZ_SIM_FUZZ_BANDIT_H

#include "sim/fuzz/fuzz.h"

#define BZ_GAIN_SITUATION 16u
#define BZ_GAIN_FINDING 32u
#define BZ_GAIN_ONE 256u /* a gain of 1, in struct bz_fuzz_arm */
#define BZ_FLOOR_EVERY 4u

/* The arm of the next slice. There is at least one arm. */
uint32_t bz_bandit_choose(const struct bz_fuzz *fuzz);

/* What a slice was worth. */
uint64_t bz_bandit_worth(const struct bz_fuzz_slice *slice);

/* Adds the slice to the gain of its arm. */
void bz_bandit_learn(struct bz_fuzz_arm *arm, const struct bz_fuzz_slice *slice);

#endif
