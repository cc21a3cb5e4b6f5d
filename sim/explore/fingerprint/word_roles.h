/* The roles of words in a state: which part a word belongs to, what its key is, and which of its
 * bits count. They follow from the layout (struct bz_print_layout) alone, so a search finds them
 * once, or after an array has grown. For fingerprint.c.
 */
#pragma once

#include "sim/choice/pcg.h"
#include "sim/explore/fingerprint/fingerprint.h"

/* Places that have keys: an address in the rest, words of a task from here on, its stack from the
 * top, and its own memory. */
#define BZ_PLACE_QUEUE 1u
#define BZ_PLACE_TASK 0x1000u
#define BZ_PLACE_STACK 0x10000u
#define BZ_PLACE_OWN (UINT64_C(1) << 40u)

static inline struct bz_fingerprint bz_key_of(uint64_t place) {
    return (struct bz_fingerprint){.high = bz_seed_mix(~place) | 1u,
                                   .low = bz_seed_mix(place) | 1u};
}

/* Brings the roles up to date. False without memory, or with too many objects. */
bool bz_roles_find(struct bz_printer *printer, const struct bz_world *world,
                   const struct bz_live_areas *live);
