#include "sim/explore/visited.h"

#include <stdlib.h>
#include <string.h>

#include "sim/contain/contain.h"
#include "sim/explore/fingerprint/multiply_128.h"

#define CAPACITY_FIRST 4u /* of a part: one block */
#define LOAD_MAX(capacity) ((capacity) / 4 * 3)
#define ROW_BYTES (BZ_VISITED_PARTS * sizeof(struct bz_visited_state)) /* a place of each part */
#define BLOCK CAPACITY_FIRST /* places of a part in a row */
#define CAPACITY_LAST ((size_t)1 << (sizeof(size_t) > 4 ? 27u : 15u))

/* --- fingerprints ----------------------------------------------------------------------------- */

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
        high[0] = bz_fold(high[0] ^ words[0], words[1] ^ UINT64_C(0xa0761d6478bd642f));
        high[1] = bz_fold(high[1] ^ words[2], words[3] ^ UINT64_C(0xe7037ed1a0b428db));
        low[0] = bz_fold(low[0] ^ words[1], words[2] ^ UINT64_C(0x8ebc6af09c88c6e3));
        low[1] = bz_fold(low[1] ^ words[3], words[0] ^ UINT64_C(0x589965cc75374cc3));
    }
    for (; next < end; next += 8) {
        high[0] = bz_fold(high[0] ^ word_at(next), UINT64_C(0x1d8e4e27c47d124f));
        low[0] = bz_fold(low[0] ^ word_at(next), UINT64_C(0xeb44accab455d165));
    }
    return (struct bz_fingerprint){
        .high = bz_fold(high[0] ^ UINT64_C(0x9e3779b97f4a7c15), high[1] ^ bytes),
        .low = bz_fold(low[0] ^ UINT64_C(0xc2b2ae3d27d4eb4f), low[1] ^ bytes)};
}

struct bz_fingerprint bz_fingerprint_end(struct bz_fingerprint so_far, uint64_t extra) {
    struct bz_fingerprint end = {.high = bz_fold(so_far.high ^ extra, UINT64_C(0x2d358dccaa6c78a5)),
                                 .low = bz_fold(so_far.low ^ extra, UINT64_C(0x8bb84b93962eacc9))};
    end.low += end.low == 0;
    return end;
}

/* --- the table -------------------------------------------------------------------------------- */

static size_t states_bytes(const struct bz_visited *visited) {
    return visited->capacity_max * ROW_BYTES;
}

/* The capacity of a part for so many states, at most `limit`. Parts are not equally full: this is
 * nine standard deviations above the mean, or more. */
static size_t enough(uint64_t states_max, uint64_t limit) {
    size_t capacity = CAPACITY_FIRST;
    uint64_t mean = states_max / BZ_VISITED_PARTS;
    uint64_t needed = mean + mean / 4 + 64;
    while (capacity < CAPACITY_LAST && LOAD_MAX(capacity) < needed && 2 * capacity <= limit) {
        capacity *= 2;
    }
    return capacity;
}

bool bz_visited_init(struct bz_visited *visited, uint64_t states_max, uint64_t bytes_max) {
    *visited = (struct bz_visited){.capacity_max = enough(states_max, bytes_max / ROW_BYTES)};
    visited->parts = bz_shared_alloc(BZ_VISITED_PARTS * sizeof *visited->parts);
    while (visited->parts != NULL && visited->states == NULL && visited->capacity_max >= BLOCK) {
        visited->states = bz_shared_alloc(states_bytes(visited));
        visited->capacity_max /= visited->states == NULL ? 2 : 1; /* of the address space */
    }
    if (visited->states == NULL) {
        bz_visited_fini(visited);
        return false;
    }
    for (uint32_t part = 0; part < BZ_VISITED_PARTS; part++) {
        visited->parts[part].capacity = CAPACITY_FIRST;
    }
    return true;
}

void bz_visited_fini(struct bz_visited *visited) {
    bz_shared_free(visited->states, states_bytes(visited));
    bz_shared_free(visited->parts, BZ_VISITED_PARTS * sizeof *visited->parts);
    *visited = (struct bz_visited){.states = NULL};
}

static uint32_t part_of(struct bz_fingerprint fingerprint) {
    return (uint32_t)(fingerprint.high / (UINT64_MAX / BZ_VISITED_PARTS + 1));
}

/* Of each part come the first places, then of each the next ones, and so on: so a table uses the
 * front of its memory, as far as the fullest part goes. */
static inline struct bz_visited_state *state_at(const struct bz_visited *visited, uint32_t part,
                                                size_t index) {
    return visited->states + (index / BLOCK * BZ_VISITED_PARTS + part) * BLOCK + index % BLOCK;
}

static size_t largest_capacity(const struct bz_visited *visited) {
    size_t largest = 0;
    for (uint32_t part = 0; part < BZ_VISITED_PARTS; part++) {
        size_t capacity = visited->parts[part].capacity;
        largest = capacity > largest ? capacity : largest;
    }
    return largest;
}

void bz_visited_clear(struct bz_visited *visited) {
    memset(visited->states, 0, largest_capacity(visited) * ROW_BYTES);
    for (uint32_t part = 0; part < BZ_VISITED_PARTS; part++) {
        visited->parts[part].count = 0;
    }
    visited->is_full = false;
}

uint64_t bz_visited_count(const struct bz_visited *visited) {
    uint64_t count = 0;
    for (uint32_t part = 0; part < BZ_VISITED_PARTS; part++) {
        count += visited->parts[part].count;
    }
    return count;
}

const struct bz_visited_state *bz_visited_next(const struct bz_visited *visited,
                                               struct bz_visited_place *place) {
    for (; place->part < BZ_VISITED_PARTS; place->part++, place->index = 0) {
        while (place->index < visited->parts[place->part].capacity) {
            const struct bz_visited_state *state = state_at(visited, place->part, place->index++);
            if (state->fingerprint.low != 0) {
                return state;
            }
        }
    }
    return NULL;
}

/* The entry, or the free place for it. */
static struct bz_visited_state *place(const struct bz_visited *visited, uint32_t part,
                                      struct bz_fingerprint fingerprint) {
    size_t mask = visited->parts[part].capacity - 1;
    for (size_t index = fingerprint.low & mask;; index = (index + 1) & mask) {
        struct bz_visited_state *state = state_at(visited, part, index);
        if (state->fingerprint.low == 0 || bz_fingerprint_equal(state->fingerprint, fingerprint)) {
            return state;
        }
    }
}

static bool grow(struct bz_visited *visited, uint32_t number) {
    struct bz_visited_part *part = &visited->parts[number];
    size_t count = part->capacity;
    if (count == visited->capacity_max) {
        visited->is_full = true;
        return false;
    }
    struct bz_visited_state *before = malloc(count * sizeof *before);
    if (before == NULL) {
        return false;
    }
    for (size_t index = 0; index < count; index++) {
        struct bz_visited_state *state = state_at(visited, number, index);
        before[index] = *state;
        *state = (struct bz_visited_state){.mark = 0};
    }
    part->capacity *= 2;
    for (size_t index = 0; index < count; index++) {
        if (before[index].fingerprint.low != 0) {
            *place(visited, number, before[index].fingerprint) = before[index];
        }
    }
    free(before);
    return true;
}

struct bz_visited_state *bz_visited_find(const struct bz_visited *visited,
                                         struct bz_fingerprint fingerprint) {
    struct bz_visited_state *state = place(visited, part_of(fingerprint), fingerprint);
    return state->fingerprint.low == 0 ? NULL : state;
}

struct bz_visited_state *bz_visited_add(struct bz_visited *visited,
                                        struct bz_fingerprint fingerprint, bool *is_new) {
    uint32_t number = part_of(fingerprint);
    struct bz_visited_part *part = &visited->parts[number];
    struct bz_visited_state *state = place(visited, number, fingerprint);
    *is_new = state->fingerprint.low == 0;
    if (!*is_new) {
        return state;
    }
    if (part->count == LOAD_MAX(part->capacity)) {
        if (!grow(visited, number)) {
            return NULL;
        }
        state = place(visited, number, fingerprint);
    }
    part->count++;
    state->fingerprint = fingerprint;
    return state;
}
