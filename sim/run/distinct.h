/* How many different values were seen, and how many of them once only, in fixed memory.
 *
 * Exact while no more than BZ_DISTINCT_KEPT different values were seen. Then those alone are kept
 * whose hash ends with a zero bit, with two when they are too many again, and so on: adaptive
 * sampling (M. Wegman; P. Flajolet, "On adaptive sampling", Computing 43, 1990). Which are kept
 * depends on the set of values alone, and whoever is kept was counted from its first appearance
 * on: what is counted among the kept ones, times 2^depth, is an unbiased estimate for all, with a
 * standard error of about 1.5 % for the number of values. Integers only; independent of the order
 * of values.
 *
 * What is left to be seen: the chance that the next value is a new one is about the share of values
 * that were seen once (A. M. Turing; I. J. Good, "The population frequencies of species and the
 * estimation of population parameters", Biometrika 40, 1953).
 */
#ifndef BZ_SIM_RUN_DISTINCT_H
#define BZ_SIM_RUN_DISTINCT_H

#include <stdbool.h>
#include <stdint.h>

#define BZ_DISTINCT_KEPT 8192u

struct bz_distinct {
    uint64_t total;     /* values seen, whether kept or not */
    uint64_t skip_mask; /* of a hash; whoever has one of these bits is not kept. 2^depth - 1 */
    uint32_t count;     /* kept */
    uint32_t once;      /* kept, and seen once */
    uint32_t capacity;
    uint64_t kept[BZ_DISTINCT_KEPT]; /* hashes, in order of appearance */
    bool again[BZ_DISTINCT_KEPT];    /* it was seen more than once */
    /* Place in `kept`, plus 1, by the upper bits of the hash; 0: none. Open addressing. */
    uint16_t places[2 * BZ_DISTINCT_KEPT];
};

/* `capacity` is at least 1, and BZ_DISTINCT_KEPT but in tests. */
void bz_distinct_init(struct bz_distinct *distinct, uint32_t capacity);

/* `hash` must be uniformly distributed over 64 bits. O(1) amortized. */
void bz_distinct_add(struct bz_distinct *distinct, uint64_t hash);

/* Whether the counts below are exact, and not estimates. */
bool bz_distinct_is_exact(const struct bz_distinct *distinct);

/* Different values; those that were seen once. Neither is above the number of values seen. */
uint64_t bz_distinct_count(const struct bz_distinct *distinct);
uint64_t bz_distinct_once(const struct bz_distinct *distinct);

/* The Good-Turing estimate: of a million further values, so many are new. 1,000,000 when nothing
 * was seen. */
uint32_t bz_distinct_new_ppm(const struct bz_distinct *distinct);

#endif
