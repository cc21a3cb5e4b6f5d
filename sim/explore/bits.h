/* Bitstate mode: the states that a search has visited, in three bits for each state instead of 32
 * bytes. It is for a search whose table does not fit into memory, and it is no proof: a new state
 * whose bits are all set already is taken for a known one.
 *
 *     bz_bits_init(bits, bytes)
 *     is_new = bz_bits_add(bits, fingerprint)     for each state that the search comes to
 *
 * The bits of a state come from its 128-bit fingerprint by double hashing (G. Holzmann, "An
 * analysis of bitstate hashing", 1998; P. Dillinger, P. Manolios, "Bloom filters in probabilistic
 * verification", FMCAD 2004). So with a share f of all bits set, a new state is missed with the
 * probability f^3, and for each state that is added, f^3 / (1 - f^3) are missed on average. States
 * that only a missed one leads to are not counted.
 */
#ifndef BZ_SIM_EXPLORE_BITS_H
#define BZ_SIM_EXPLORE_BITS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/explore/visited.h"

#define BZ_BITS_PER_STATE 3u

struct bz_bits {
    uint64_t *words; /* NULL: not in use */
    uint64_t count;
    uint64_t set;
    uint64_t missed; /* on average, so far; in units of 2^-40 states */
};

/* False without memory. */
bool bz_bits_init(struct bz_bits *bits, uint64_t bytes);
void bz_bits_fini(struct bz_bits *bits);
void bz_bits_clear(struct bz_bits *bits);

/* Whether the state is new, as far as its bits say. O(1). */
bool bz_bits_add(struct bz_bits *bits, struct bz_fingerprint fingerprint);

/* A new state was missed with a probability of at most 1 in this number. */
uint64_t bz_bits_missed_one_in(const struct bz_bits *bits);

#endif
