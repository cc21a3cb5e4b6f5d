/* PCG32: the random numbers of a simulation. Integers only.
 *
 * PCG-XSH-RR 64/32 of M. E. O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically
 * Good Algorithms for Random Number Generation" (HMC-CS-2014-0905): a 64-bit linear congruential
 * state, a 32-bit permuted output, 2^63 streams. A seed must mean the same schedule on every
 * machine and in every version: the tests compare with published vectors and an independent
 * implementation.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define BZ_PCG32_MULTIPLIER UINT64_C(6364136223846793005)

struct bz_pcg32 {
    uint64_t state;
    uint64_t increment; /* odd; selects the stream */
};

/* 32 uniformly distributed bits. */
static inline uint32_t bz_pcg32_next(struct bz_pcg32 *pcg) {
    uint64_t state = pcg->state;
    pcg->state = state * BZ_PCG32_MULTIPLIER + pcg->increment;
    uint32_t xorshifted = (uint32_t)(((state >> 18u) ^ state) >> 27u);
    uint32_t rotation = (uint32_t)(state >> 59u);
    return (xorshifted >> rotation) | (xorshifted << ((-rotation) & 31u));
}

/* Starts stream number `stream` from `seed`, as the reference implementation does. */
static inline void bz_pcg32_seed(struct bz_pcg32 *pcg, uint64_t seed, uint64_t stream) {
    pcg->increment = (stream << 1u) | 1u;
    pcg->state = (seed + pcg->increment) * BZ_PCG32_MULTIPLIER + pcg->increment;
}

/* A uniformly distributed number below `bound`, which is not 0. Unbiased: the product method with
 * rejection of D. Lemire, "Fast Random Integer Generation in an Interval" (ACM TOMACS 2019). */
static inline uint32_t bz_pcg32_below(struct bz_pcg32 *pcg, uint32_t bound) {
    uint64_t product = (uint64_t)bz_pcg32_next(pcg) * bound;
    uint32_t low = (uint32_t)product;
    if (__builtin_expect(low < bound, 0)) {
        uint32_t threshold = (-bound) % bound;
        while (low < threshold) {
            product = (uint64_t)bz_pcg32_next(pcg) * bound;
            low = (uint32_t)product;
        }
    }
    return (uint32_t)(product >> 32u);
}

/* The same for 64 bits, by rejection on the smallest covering mask. */
static inline uint64_t bz_pcg32_below64(struct bz_pcg32 *pcg, uint64_t bound) {
    if (bound <= UINT32_MAX) {
        return bz_pcg32_below(pcg, (uint32_t)bound);
    }
    uint64_t mask = UINT64_MAX >> __builtin_clzll(bound - 1);
    for (;;) {
        uint64_t high = bz_pcg32_next(pcg);
        uint64_t value = (high << 32u | bz_pcg32_next(pcg)) & mask;
        if (value < bound) {
            return value;
        }
    }
}

/* Spreads consecutive seeds over the whole range (the finalizer of splitmix64, S. Vigna). */
static inline uint64_t bz_seed_mix(uint64_t seed) {
    uint64_t mixed = seed + UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ (mixed >> 30u)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27u)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31u);
}

/* A hash of a text; 0 for NULL. */
static inline uint64_t bz_seed_mix_text(const char *text) {
    uint64_t hash = 0;
    for (; text != NULL && *text != '\0'; text++) {
        hash = bz_seed_mix(hash ^ (uint8_t)*text);
    }
    return hash;
}
