#include "sim/campaign/distinct.h"

#include <string.h>

void bz_distinct_init(struct bz_distinct *distinct) {
    distinct->count = 0;
    distinct->has_overflowed = false;
}

/* The index of the first kept hash that is not below `hash`. */
static uint32_t lower_bound(const struct bz_distinct *distinct, uint64_t hash) {
    uint32_t low = 0;
    uint32_t high = distinct->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (distinct->kept[middle] < hash) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

void bz_distinct_add(struct bz_distinct *distinct, uint64_t hash) {
    bool is_full = distinct->count == BZ_DISTINCT_KEPT;
    if (is_full && hash > distinct->kept[BZ_DISTINCT_KEPT - 1]) {
        distinct->has_overflowed = true;
        return;
    }
    uint32_t index = lower_bound(distinct, hash);
    if (index < distinct->count && distinct->kept[index] == hash) {
        return;
    }
    if (is_full) {
        distinct->has_overflowed = true; /* the largest falls out */
        distinct->count--;
    }
    memmove(&distinct->kept[index + 1], &distinct->kept[index],
            (distinct->count - index) * sizeof distinct->kept[0]);
    distinct->kept[index] = hash;
    distinct->count++;
}

uint64_t bz_distinct_count(const struct bz_distinct *distinct) {
    if (!distinct->has_overflowed) {
        return distinct->count;
    }
    /* The K-th smallest of n uniform values lies near K/n of the range. */
    unsigned __int128 scaled = (unsigned __int128)(BZ_DISTINCT_KEPT - 1) << 64u;
    return (uint64_t)(scaled / distinct->kept[BZ_DISTINCT_KEPT - 1]);
}
