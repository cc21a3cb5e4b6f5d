#include "sim/campaign/distinct.h"

#include <string.h>

#define PLACES_FIRST 256u

_Static_assert((BZ_DISTINCT_KEPT & (BZ_DISTINCT_KEPT - 1)) == 0, "places are found by a mask");
_Static_assert(BZ_DISTINCT_KEPT < UINT16_MAX, "a place holds an index of kept, plus 1");

static void clear(struct bz_distinct *distinct) {
    memset(distinct->places, 0, ((size_t)distinct->mask + 1) * sizeof distinct->places[0]);
}

void bz_distinct_init(struct bz_distinct *distinct, uint32_t capacity) {
    if (distinct->count > 0) {
        clear(distinct);
    }
    distinct->mask = PLACES_FIRST - 1;
    distinct->total = 0;
    distinct->skip_mask = 0;
    distinct->count = 0;
    distinct->once = 0;
    distinct->capacity = capacity;
}

/* The place of a hash, whether it is there or not. The lowest bits select the kept hashes, so the
 * upper bits index them. */
static inline uint32_t find(const struct bz_distinct *distinct, uint64_t hash) {
    uint32_t place = (uint32_t)(hash >> 32u) & distinct->mask;
    while (distinct->places[place] != 0 && distinct->kept[distinct->places[place] - 1] != hash) {
        place = (place + 1) & distinct->mask;
    }
    return place;
}

/* Twice as many places as values, at least. */
static void widen(struct bz_distinct *distinct) {
    clear(distinct);
    distinct->mask = 2 * distinct->mask + 1;
    for (uint32_t index = 0; index < distinct->count; index++) {
        distinct->places[find(distinct, distinct->kept[index])] = (uint16_t)(index + 1);
    }
}

static void keep(struct bz_distinct *distinct, uint64_t hash, bool is_again) {
    if (distinct->count > distinct->mask / 2) {
        widen(distinct);
    }
    uint32_t place = find(distinct, hash);
    distinct->kept[distinct->count] = hash;
    distinct->again[distinct->count] = is_again;
    distinct->once += !is_again;
    distinct->places[place] = (uint16_t)++distinct->count;
}

/* Halves the sample. */
static void thin_out(struct bz_distinct *distinct) {
    uint32_t count = distinct->count;
    distinct->skip_mask = 2 * distinct->skip_mask + 1;
    distinct->count = 0;
    distinct->once = 0;
    clear(distinct);
    for (uint32_t index = 0; index < count; index++) {
        if ((distinct->kept[index] & distinct->skip_mask) == 0) {
            keep(distinct, distinct->kept[index], distinct->again[index]);
        }
    }
}

static inline void add(struct bz_distinct *distinct, uint64_t hash, bool is_again) {
    if ((hash & distinct->skip_mask) != 0) {
        return;
    }
    uint32_t index = distinct->places[find(distinct, hash)];
    if (index != 0) {
        distinct->once -= !distinct->again[index - 1];
        distinct->again[index - 1] = true;
        return;
    }
    while (distinct->count >= distinct->capacity && (hash & distinct->skip_mask) == 0) {
        thin_out(distinct);
    }
    if ((hash & distinct->skip_mask) == 0) {
        keep(distinct, hash, is_again);
    }
}

void bz_distinct_add(struct bz_distinct *distinct, uint64_t hash) {
    distinct->total++;
    add(distinct, hash, false);
}

/* The hashes that the other one skips are unknown. */
void bz_distinct_join(struct bz_distinct *distinct, const struct bz_distinct *other) {
    distinct->total += other->total;
    while (distinct->skip_mask < other->skip_mask) {
        thin_out(distinct);
    }
    for (uint32_t index = 0; index < other->count; index++) {
        add(distinct, other->kept[index], other->again[index]);
    }
}

bool bz_distinct_put_back(struct bz_distinct *distinct, uint64_t hash, bool is_again) {
    bool is_new = distinct->places[find(distinct, hash)] == 0;
    bool is_sound = is_new && (hash & distinct->skip_mask) == 0 &&
                    distinct->count < distinct->capacity && distinct->count < distinct->total;
    if (is_sound) {
        keep(distinct, hash, is_again);
    }
    return is_sound;
}

bool bz_distinct_is_exact(const struct bz_distinct *distinct) {
    return distinct->skip_mask == 0;
}

/* An estimate is at most the number of values seen. */
static uint64_t scale_up(const struct bz_distinct *distinct, uint64_t kept) {
    bool is_within = kept == 0 || distinct->skip_mask < distinct->total / kept;
    return is_within ? kept * (distinct->skip_mask + 1) : distinct->total;
}

uint64_t bz_distinct_count(const struct bz_distinct *distinct) {
    return scale_up(distinct, distinct->count);
}

uint64_t bz_distinct_once(const struct bz_distinct *distinct) {
    return scale_up(distinct, distinct->once);
}

uint32_t bz_distinct_new_ppm(const struct bz_distinct *distinct) {
    uint64_t once = bz_distinct_once(distinct);
    uint64_t total = distinct->total;
    if (total == 0) {
        return 1000000;
    }
    while (total > UINT64_MAX / 2000000) { /* more digits than the result has */
        once >>= 1u;
        total >>= 1u;
    }
    return (uint32_t)((once * 1000000 + total / 2) / total);
}
