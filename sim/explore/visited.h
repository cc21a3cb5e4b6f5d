/* The states that a search has visited: a hash table of 128-bit fingerprints, with open addressing.
 *
 * It lies in memory that a child process shares with its parent. It has parts, by the fingerprint,
 * and each grows by itself.
 *
 * This is hash compaction (G. Holzmann, 1998) with so many bits that false matches do not matter:
 * among 10^9 states, two have the same fingerprint with a probability below 10^-20.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bz_fingerprint {
    uint64_t high;
    uint64_t low; /* never 0 */
};

struct bz_visited_state {
    struct bz_fingerprint fingerprint; /* low 0: a free place */
    uint64_t mark;                     /* states.c; 0 in a new entry */
    uint64_t schedules;                /* from here on; 0 in a new entry */
};

#define BZ_VISITED_PARTS 256u

struct bz_visited_part {
    size_t capacity; /* a power of two */
    size_t count;
};

struct bz_visited {
    struct bz_visited_part *parts;
    struct bz_visited_state *states; /* places: `capacity_max` of each part, most of them unused */
    size_t capacity_max;             /* of a part */
    bool is_full;                    /* no place was left for a state */
};

/* Where an iteration is. */
struct bz_visited_place {
    uint32_t part;
    size_t index;
};

/* The fingerprint of `bytes` bytes, a multiple of 8, behind what is in `so_far`. */
struct bz_fingerprint bz_fingerprint_of(struct bz_fingerprint so_far, const void *data,
                                        size_t bytes);

/* The last part of every fingerprint. */
struct bz_fingerprint bz_fingerprint_end(struct bz_fingerprint so_far, uint64_t extra);

#define BZ_FINGERPRINT_BEGIN                                                                       \
    (struct bz_fingerprint) {                                                                      \
        UINT64_C(0x243f6a8885a308d3), UINT64_C(0x13198a2e03707344)                                 \
    }

static inline bool bz_fingerprint_equal(struct bz_fingerprint a, struct bz_fingerprint b) {
    return a.low == b.low && a.high == b.high;
}

/* Reserves addresses for `states_max` states in at most `bytes_max` bytes, or for fewer if there
 * are not so many. False without memory. */
bool bz_visited_init(struct bz_visited *visited, uint64_t states_max, uint64_t bytes_max);

void bz_visited_fini(struct bz_visited *visited);
void bz_visited_clear(struct bz_visited *visited);

/* How many states it has. */
uint64_t bz_visited_count(const struct bz_visited *visited);

/* The next of its entries, which come in no order, from a zeroed place on; NULL after the last. */
const struct bz_visited_state *bz_visited_next(const struct bz_visited *visited,
                                               struct bz_visited_place *place);

/* The entry; NULL if there is none. Valid until the next bz_visited_add(). O(1). */
struct bz_visited_state *bz_visited_find(const struct bz_visited *visited,
                                         struct bz_fingerprint fingerprint);

/* The same, but adds an entry if there is none. NULL without memory, or if it is full. O(1),
 * amortized. */
struct bz_visited_state *bz_visited_add(struct bz_visited *visited,
                                        struct bz_fingerprint fingerprint, bool *is_new);
