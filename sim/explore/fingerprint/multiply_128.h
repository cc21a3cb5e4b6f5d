/* The product of two 64-bit numbers in 128 bits, also for machines without such a type. */
#pragma once

#include <stdint.h>

struct bz_product {
    uint64_t high;
    uint64_t low;
};

/* As on paper, with digits of 32 bits. */
static inline struct bz_product bz_multiply_portably(uint64_t a, uint64_t b) {
    uint64_t a_high = a >> 32u, a_low = (uint32_t)a;
    uint64_t b_high = b >> 32u, b_low = (uint32_t)b;
    uint64_t lowest = a_low * b_low;
    uint64_t middle = a_high * b_low + (lowest >> 32u);
    uint64_t other = a_low * b_high + (uint32_t)middle;
    return (struct bz_product){a_high * b_high + (middle >> 32u) + (other >> 32u),
                               other << 32u | (uint32_t)lowest};
}

static inline struct bz_product bz_multiply(uint64_t a, uint64_t b) {
#ifdef __SIZEOF_INT128__
    __uint128_t product = (__uint128_t)a * b;
    return (struct bz_product){(uint64_t)(product >> 64u), (uint64_t)product};
#else
    return bz_multiply_portably(a, b);
#endif
}

/* The folded product, as in wyhash (Wang Yi). */
static inline uint64_t bz_fold(uint64_t a, uint64_t b) {
    struct bz_product product = bz_multiply(a, b);
    return product.low ^ product.high;
}
