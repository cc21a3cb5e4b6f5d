#include "sim/fuzz/bandit.h"

#include "sim/choice/pcg.h"

#define MEMORY 4u /* slices that the average goes back, about */

static uint64_t log2_of(uint64_t value) {
    uint64_t bits = 0;
    while (value > 1) {
        value >>= 1u;
        bits++;
    }
    return bits;
}

/* The largest number whose square is not above `value`, which is below 2^62. */
static uint64_t root_of(uint64_t value) {
    uint64_t root = 0;
    for (uint64_t bit = UINT64_C(1) << 30u; bit > 0; bit >>= 1u) {
        root += (root + bit) * (root + bit) <= value ? bit : 0;
    }
    return root;
}

uint64_t bz_bandit_worth(const struct bz_fuzz_slice *slice) {
    return log2_of(slice->new_situations + 1) * BZ_GAIN_SITUATION +
           log2_of(slice->new_findings + 1) * BZ_GAIN_FINDING + root_of(slice->new_handoffs);
}

void bz_bandit_learn(struct bz_fuzz_arm *arm, const struct bz_fuzz_slice *slice) {
    uint64_t worth = bz_bandit_worth(slice) * BZ_GAIN_ONE;
    arm->gain = arm->slices == 1 ? worth : arm->gain - arm->gain / MEMORY + worth / MEMORY;
}

/* The one that has waited longest; the first of those that have not run. */
static uint32_t longest_waiting(const struct bz_fuzz *fuzz) {
    uint32_t found = 0;
    for (uint32_t arm = 1; arm < fuzz->arm_count; arm++) {
        found = fuzz->arms[arm].last_slice < fuzz->arms[found].last_slice ? arm : found;
    }
    return found;
}

/* The first arm of the first target that has no run; arm_count: there is none. */
static uint32_t first_of_new_target(const struct bz_fuzz *fuzz) {
    uint32_t arm = 0;
    while (arm < fuzz->arm_count && fuzz->targets[fuzz->arms[arm].target]->runs > 0) {
        arm++;
    }
    return arm;
}

/* An arm of which nothing more is expected keeps a chance: 1 in 256 of one new thing. */
static uint64_t weight_of(const struct bz_fuzz_arm *arm, uint64_t best) {
    return 1 + (arm->slices == 0 ? best : arm->gain);
}

uint32_t bz_bandit_choose(const struct bz_fuzz *fuzz) {
    if (fuzz->schedule == BZ_FUZZ_ROUND_ROBIN) {
        return (uint32_t)(fuzz->slices % fuzz->arm_count);
    }
    uint32_t first = first_of_new_target(fuzz);
    if (first < fuzz->arm_count) {
        return first;
    }
    if (fuzz->slices % BZ_FLOOR_EVERY == 0) {
        return longest_waiting(fuzz);
    }
    uint64_t best = 0;
    uint64_t total = 0;
    for (uint32_t arm = 0; arm < fuzz->arm_count; arm++) {
        best = fuzz->arms[arm].gain > best ? fuzz->arms[arm].gain : best;
    }
    for (uint32_t arm = 0; arm < fuzz->arm_count; arm++) {
        total += weight_of(&fuzz->arms[arm], best);
    }
    uint64_t left = bz_seed_mix(fuzz->seed ^ bz_seed_mix(fuzz->slices)) % total;
    uint32_t arm = 0;
    while (left >= weight_of(&fuzz->arms[arm], best)) {
        left -= weight_of(&fuzz->arms[arm], best);
        arm++;
    }
    return arm;
}
