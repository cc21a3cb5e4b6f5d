#include <string.h>

#include "primitives/runtime/mem.h"
#include "sim/model/internal.h"

void bz_configurations_clear(struct bz_configurations *set) {
    set->count = 0;
    set->generation++;
    if (set->generation == 0) { /* a place of long ago must not look like one of today */
        memset(set->places, 0, set->place_count * sizeof *set->places);
        set->generation = 1;
    }
}

static uint32_t hash_of(const uint64_t *row, uint32_t row_words) {
    uint64_t hash = UINT64_C(0x9e3779b97f4a7c15);
    for (uint32_t index = 0; index < row_words; index++) {
        hash = (hash ^ row[index]) * UINT64_C(0xd6e8feb86659fd93);
        hash ^= hash >> 32;
    }
    return (uint32_t)hash;
}

/* The place of the row, or the free one for it. */
static uint32_t place_of(const struct bz_configurations *set, const uint64_t *row) {
    size_t row_bytes = set->row_words * sizeof *row;
    uint32_t mask = set->place_count - 1;
    uint32_t place = hash_of(row, set->row_words) & mask;
    while (set->places[place] >> 32 == set->generation &&
           memcmp(bz_configurations_row(set, (uint32_t)set->places[place]), row, row_bytes) != 0) {
        place = (place + 1) & mask;
    }
    return place;
}

static void enter(struct bz_configurations *set, uint32_t place, uint32_t index) {
    set->places[place] = (uint64_t)set->generation << 32 | index;
}

static size_t words_bytes(const struct bz_configurations *set) {
    return (size_t)set->capacity * set->row_words * sizeof *set->words;
}

void bz_configurations_free(struct bz_configurations *set) {
    if (set->is_grown) {
        bz_mem_free(set->mem, set->words, words_bytes(set));
        bz_mem_free(set->mem, set->places, set->place_count * sizeof *set->places);
    }
}

static __attribute__((noinline, cold)) bool grow(struct bz_configurations *set) {
    struct bz_configurations larger = *set;
    larger.capacity = set->capacity > set->limit / 2 ? set->limit : 2 * set->capacity;
    larger.place_count = 2 * set->place_count;
    larger.is_grown = true;
    if (larger.capacity == set->capacity) {
        return false;
    }
    larger.words = bz_mem_alloc(set->mem, words_bytes(&larger));
    larger.places = bz_mem_alloc(set->mem, larger.place_count * sizeof *larger.places);
    if (larger.words == NULL || larger.places == NULL) {
        return false; /* the run ends for want of memory, or the history is not judged */
    }
    memcpy(larger.words, set->words, words_bytes(set));
    for (uint32_t index = 0; index < set->count; index++) {
        enter(&larger, place_of(&larger, bz_configurations_row(&larger, index)), index);
    }
    bz_configurations_free(set);
    *set = larger;
    return true;
}

bool bz_configurations_add(struct bz_configurations *set, const uint64_t *row) {
    uint32_t place = place_of(set, row);
    if (set->places[place] >> 32 == set->generation) {
        return true;
    }
    if (set->count == set->capacity) {
        if (!grow(set)) {
            return false;
        }
        place = place_of(set, row);
    }
    memcpy(bz_configurations_row(set, set->count), row, set->row_words * sizeof *row);
    enter(set, place, set->count);
    set->count++;
    return true;
}
