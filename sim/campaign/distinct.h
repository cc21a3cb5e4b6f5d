/* Counts different values, and those seen once, in fixed memory.
 *
 * Exact up to BZ_DISTINCT_KEPT different values. Then only hashes with a zero lowest bit are kept,
 * then those with two zero bits, and so on: adaptive sampling (M. Wegman; P. Flajolet, "On adaptive
 * sampling", Computing 43, 1990). The kept set depends on the set of values alone, and every kept
 * value was counted from its first appearance. So counts of kept values, times 2^depth, are
 * unbiased estimates; the standard error of the number of values is 1.2 / sqrt(BZ_DISTINCT_KEPT),
 * about 0.7 %. Integers only; independent of the order of values. So two sketches join into the one
 * of all their values.
 *
 * The chance that the next value is new is about the share of values seen once (I. J. Good, "The
 * population frequencies of species and the estimation of population parameters", Biometrika 40,
 * 1953). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define BZ_DISTINCT_KEPT 32768u

struct bz_distinct {
    uint64_t total;     /* values seen, kept or not */
    uint64_t skip_mask; /* a hash with one of these bits is not kept; 2^depth - 1 */
    uint32_t count;     /* kept */
    uint32_t once;      /* kept, and seen once */
    uint32_t capacity;
    uint32_t mask;                   /* of the places in use: one less than their number */
    uint64_t kept[BZ_DISTINCT_KEPT]; /* hashes, in order of appearance */
    bool again[BZ_DISTINCT_KEPT];    /* seen more than once */
    /* Index in `kept`, plus 1, by the upper bits of the hash; 0: none. Open addressing. As many are
     * in use as the values need: a short campaign touches little memory. */
    uint16_t places[2 * BZ_DISTINCT_KEPT];
};

/* `capacity` is BZ_DISTINCT_KEPT or less. In zeroed memory, or that of another sketch: what is
 * empty is not touched. */
void bz_distinct_init(struct bz_distinct *distinct, uint32_t capacity);

/* `hash` must be uniformly distributed over 64 bits. O(1) amortized. */
void bz_distinct_add(struct bz_distinct *distinct, uint64_t hash);

/* Adds the values of another sketch, which come after those that are there. Both have the same
 * capacity. */
void bz_distinct_join(struct bz_distinct *distinct, const struct bz_distinct *other);

/* Puts back a value that a sketch has kept, into one with the `total` and `skip_mask` of that
 * sketch, in the same order. False if no sketch can have kept it. */
bool bz_distinct_put_back(struct bz_distinct *distinct, uint64_t hash, bool is_again);

/* True if the counts below are exact. */
bool bz_distinct_is_exact(const struct bz_distinct *distinct);

/* Different values; those seen once. At most the number of values seen. */
uint64_t bz_distinct_count(const struct bz_distinct *distinct);
uint64_t bz_distinct_once(const struct bz_distinct *distinct);

/* The Good-Turing estimate: new values in a million further ones. 1,000,000 before the first value.
 * */
uint32_t bz_distinct_new_ppm(const struct bz_distinct *distinct);
