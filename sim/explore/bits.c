#include "sim/explore/bits.h"

#include <string.h>

#include "sim/explore/multiply.h"
#include "sim/run/contain.h"

#define SHARE_LOG2 20u /* of a share of the bits */

static uint64_t bytes_of(const struct bz_bits *bits) {
    return bits->count / 8;
}

bool bz_bits_init(struct bz_bits *bits, uint64_t bytes) {
    bytes -= bytes % 8;
    *bits = (struct bz_bits){.count = bytes * 8};
    bits->words = bytes > SIZE_MAX ? NULL : bz_shared_alloc((size_t)bytes);
    return bits->words != NULL;
}

void bz_bits_fini(struct bz_bits *bits) {
    bz_shared_free(bits->words, (size_t)bytes_of(bits));
    *bits = (struct bz_bits){.words = NULL};
}

void bz_bits_clear(struct bz_bits *bits) {
    if (bits->set > 0) {
        memset(bits->words, 0, (size_t)bytes_of(bits));
        *bits = (struct bz_bits){.words = bits->words, .count = bits->count};
    }
}

/* Of all bits. */
static uint64_t share(const struct bz_bits *bits) {
    return (bits->set << SHARE_LOG2) / bits->count;
}

/* f^3 / (1 - f^3): how many were missed for one that was not; in units of 2^-40. */
static uint64_t odds(uint64_t share) {
    uint64_t missed = share * share * share; /* in units of 2^-60 */
    uint64_t other = ((UINT64_C(1) << 60u) - missed) >> 40u;
    return missed / (other == 0 ? 1 : other);
}

bool bz_bits_add(struct bz_bits *bits, struct bz_fingerprint fingerprint) {
    uint64_t hash = fingerprint.high;
    uint64_t share_before = share(bits);
    bool is_new = false;
    for (uint32_t nth = 0; nth < BZ_BITS_PER_STATE; nth++) {
        uint64_t bit = bz_multiply(hash, bits->count).high; /* hash / 2^64 of the way */
        uint64_t mask = UINT64_C(1) << bit % 64;
        uint64_t *word = &bits->words[bit / 64];
        is_new |= (*word & mask) == 0;
        bits->set += (*word & mask) == 0;
        *word |= mask;
        hash += fingerprint.low | 1;
    }
    if (is_new) {
        bits->missed += odds(share_before);
    }
    return is_new;
}

uint64_t bz_bits_missed_one_in(const struct bz_bits *bits) {
    uint64_t one_in = bits->set == 0 ? UINT64_MAX : bits->count / bits->set;
    return one_in > (UINT64_C(1) << 20u) ? UINT64_MAX : one_in * one_in * one_in;
}
