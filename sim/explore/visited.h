/* The states that a search has been at: a hash table of 128-bit fingerprints with open addressing.
 *
 * Holzmann's hash compaction (1998), with so many bits that a false match is out of the question:
 * among 10^9 states, two have the same fingerprint with a chance below 10^-20. Entries stay where
 * they are until the table grows; then their indices change, so nobody keeps one.
 */
#ifndef BZ_SIM_EXPLORE_VISITED_H
#define BZ_SIM_EXPLORE_VISITED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bz_fingerprint {
    uint64_t high;
    uint64_t low; /* never 0 */
};

struct bz_visited_state {
    struct bz_fingerprint fingerprint; /* low 0: a free place */
    /* What the search has to know of it, see search.c. */
    uint64_t mark;
    uint64_t schedules;
};

struct bz_visited {
    struct bz_visited_state *states;
    size_t capacity; /* a power of two */
    size_t count;
};

/* Fingerprint of `bytes` bytes, a multiple of 8 and aligned to 8, continuing `so_far`. */
struct bz_fingerprint bz_fingerprint_of(struct bz_fingerprint so_far, const void *data,
                                        size_t bytes);

/* Ends one. */
struct bz_fingerprint bz_fingerprint_end(struct bz_fingerprint so_far, uint64_t extra);

#define BZ_FINGERPRINT_BEGIN                                                                       \
    (struct bz_fingerprint) {                                                                      \
        UINT64_C(0x243f6a8885a308d3), UINT64_C(0x13198a2e03707344)                                 \
    }

bool bz_visited_init(struct bz_visited *visited);
void bz_visited_fini(struct bz_visited *visited);
void bz_visited_clear(struct bz_visited *visited);

/* Its entry, NULL if there is none. Valid until the next bz_visited_add(). */
struct bz_visited_state *bz_visited_find(const struct bz_visited *visited,
                                         struct bz_fingerprint fingerprint);

/* The same, and adds it, with its other fields 0, if there is none. NULL without memory. */
struct bz_visited_state *bz_visited_add(struct bz_visited *visited,
                                        struct bz_fingerprint fingerprint, bool *is_new);

/* What the table takes up. */
size_t bz_visited_bytes(const struct bz_visited *visited);

#endif
