#include <string.h>

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

bool bz_configurations_add(struct bz_configurations *set, const uint64_t *row) {
    size_t row_bytes = set->row_words * sizeof *row;
    uint32_t mask = set->place_count - 1;
    uint32_t place = hash_of(row, set->row_words) & mask;
    for (; set->places[place] >> 32 == set->generation; place = (place + 1) & mask) {
        uint32_t index = (uint32_t)set->places[place];
        if (memcmp(bz_configurations_row(set, index), row, row_bytes) == 0) {
            return true;
        }
    }
    if (set->count == set->capacity) {
        return false;
    }
    memcpy(bz_configurations_row(set, set->count), row, row_bytes);
    set->places[place] = (uint64_t)set->generation << 32 | set->count;
    set->count++;
    return true;
}
