#include "sim/explore/visited.h"

#include <stdlib.h>
#include <string.h>

#include "sim/explore/multiply.h"

#define CAPACITY_FIRST 4096u

/* --- fingerprints ----------------------------------------------------------------------------- */

/* The folded 128-bit product, as in wyhash (Wang Yi). */
static inline uint64_t mix(uint64_t a, uint64_t b) {
    struct bz_product product = bz_multiply(a, b);
    return product.low ^ product.high;
}

static inline uint64_t word_at(const char *data) {
    uint64_t word;
    memcpy(&word, data, sizeof word);
    return word;
}

/* Two chains of products for each half. */
struct bz_fingerprint bz_fingerprint_of(struct bz_fingerprint so_far, const void *data,
                                        size_t bytes) {
    const char *next = data;
    const char *end = next + bytes;
    uint64_t high[2] = {so_far.high, ~so_far.high};
    uint64_t low[2] = {so_far.low, ~so_far.low};
    for (; next + 32 <= end; next += 32) {
        uint64_t words[4] = {word_at(next), word_at(next + 8), word_at(next + 16),
                             word_at(next + 24)};
        high[0] = mix(high[0] ^ words[0], words[1] ^ UINT64_C(0xa0761d6478bd642f));
        high[1] = mix(high[1] ^ words[2], words[3] ^ UINT64_C(0xe7037ed1a0b428db));
        low[0] = mix(low[0] ^ words[1], words[2] ^ UINT64_C(0x8ebc6af09c88c6e3));
        low[1] = mix(low[1] ^ words[3], words[0] ^ UINT64_C(0x589965cc75374cc3));
    }
    for (; next < end; next += 8) {
        high[0] = mix(high[0] ^ word_at(next), UINT64_C(0x1d8e4e27c47d124f));
        low[0] = mix(low[0] ^ word_at(next), UINT64_C(0xeb44accab455d165));
    }
    return (struct bz_fingerprint){
        .high = mix(high[0] ^ UINT64_C(0x9e3779b97f4a7c15), high[1] ^ bytes),
        .low = mix(low[0] ^ UINT64_C(0xc2b2ae3d27d4eb4f), low[1] ^ bytes)};
}

struct bz_fingerprint bz_fingerprint_end(struct bz_fingerprint so_far, uint64_t extra) {
    struct bz_fingerprint end = {.high = mix(so_far.high ^ extra, UINT64_C(0x2d358dccaa6c78a5)),
                                 .low = mix(so_far.low ^ extra, UINT64_C(0x8bb84b93962eacc9))};
    end.low += end.low == 0;
    return end;
}

/* --- the table -------------------------------------------------------------------------------- */

bool bz_visited_init(struct bz_visited *visited) {
    visited->count = 0;
    visited->capacity = CAPACITY_FIRST;
    visited->states = calloc(visited->capacity, sizeof *visited->states);
    return visited->states != NULL;
}

void bz_visited_fini(struct bz_visited *visited) {
    free(visited->states);
    *visited = (struct bz_visited){.states = NULL};
}

void bz_visited_clear(struct bz_visited *visited) {
    memset(visited->states, 0, visited->capacity * sizeof *visited->states);
    visited->count = 0;
}

/* The entry, or the free place for it. */
static struct bz_visited_state *place(const struct bz_visited *visited,
                                      struct bz_fingerprint fingerprint) {
    size_t mask = visited->capacity - 1;
    for (size_t index = fingerprint.low & mask;; index = (index + 1) & mask) {
        struct bz_visited_state *state = &visited->states[index];
        if (state->fingerprint.low == 0 || bz_fingerprint_equal(state->fingerprint, fingerprint)) {
            return state;
        }
    }
}

static bool grow(struct bz_visited *visited) {
    struct bz_visited larger = {.capacity = 2 * visited->capacity, .count = visited->count};
    larger.states = calloc(larger.capacity, sizeof *larger.states);
    if (larger.states == NULL) {
        return false;
    }
    for (size_t index = 0; index < visited->capacity; index++) {
        if (visited->states[index].fingerprint.low != 0) {
            *place(&larger, visited->states[index].fingerprint) = visited->states[index];
        }
    }
    free(visited->states);
    *visited = larger;
    return true;
}

struct bz_visited_state *bz_visited_find(const struct bz_visited *visited,
                                         struct bz_fingerprint fingerprint) {
    struct bz_visited_state *state = place(visited, fingerprint);
    return state->fingerprint.low == 0 ? NULL : state;
}

struct bz_visited_state *bz_visited_add(struct bz_visited *visited,
                                        struct bz_fingerprint fingerprint, bool *is_new) {
    struct bz_visited_state *state = place(visited, fingerprint);
    *is_new = state->fingerprint.low == 0;
    if (!*is_new) {
        return state;
    }
    if (visited->count + 1 > visited->capacity / 4 * 3) {
        if (!grow(visited)) {
            return NULL;
        }
        state = place(visited, fingerprint);
    }
    visited->count++;
    state->fingerprint = fingerprint;
    return state;
}
