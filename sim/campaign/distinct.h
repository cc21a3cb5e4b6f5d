/* How many different values were seen, in fixed memory.
 *
 * Exact up to BZ_DISTINCT_KEPT different values. Beyond, an estimate from the smallest hashes seen
 * (K minimum values: Bar-Yossef et al., "Counting Distinct Elements in a Data Stream", RANDOM
 * 2002), with a standard error of about 1.6 %. Integers only; independent of the order of values.
 */
#ifndef BZ_SIM_CAMPAIGN_DISTINCT_H
#define BZ_SIM_CAMPAIGN_DISTINCT_H

#include <stdbool.h>
#include <stdint.h>

#define BZ_DISTINCT_KEPT 4096u

struct bz_distinct {
    uint32_t count;
    bool has_overflowed; /* some value did not fit: the count is an estimate from now on */
    uint64_t kept[BZ_DISTINCT_KEPT]; /* the smallest hashes, sorted */
};

void bz_distinct_init(struct bz_distinct *distinct);

/* `hash` must be uniformly distributed over 64 bits. O(log n), O(n) when it is kept. */
void bz_distinct_add(struct bz_distinct *distinct, uint64_t hash);

uint64_t bz_distinct_count(const struct bz_distinct *distinct);

#endif
