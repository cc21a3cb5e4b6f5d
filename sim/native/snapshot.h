/* Snapshots of a world between two steps. A search goes back to one instead of running a prefix
 * again, and recognises a state that another run has visited (stateful search, as in VeriSoft and
 * SPIN).
 *
 *     bz_snapshot_begin(world, true, true)   before the set-up
 *     bz_snapshot_normalize(world)           after a step, before a save
 *     bz_snapshot_save(world, snapshot)
 *       ... steps, with other choices ...
 *     bz_snapshot_restore(world, snapshot)
 *
 * A snapshot is the image of the loop (image.h), the judge's shadow state, and the few fields of
 * the world itself. Digest, tape, step numbers and statistics are history, and not part of the
 * state. Nor is the strategy's state, because the search is the strategy. A scenario that keeps
 * state outside the world's memory cannot be searched.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/judge/shadow/shadow.h"
#include "sim/native/image.h"

struct bz_world;

/* A state is four areas of memory, and the live bytes of stacks. */
enum bz_area {
    BZ_AREA_HEAD,   /* the judge's shadow state, and the clock */
    BZ_AREA_SHADOW, /* the blocks of the judge's arena */
    BZ_AREA_LOOP,   /* the struct */
    BZ_AREA_BLOCKS, /* of the loop's arena */
    BZ_AREAS,
};

struct bz_snapshot_area {
    const char *bytes;
    size_t count; /* a multiple of 8 */
};

/* The areas of the state that a world is in. Valid until its next step. */
struct bz_snapshot_head {
    struct bz_shadow shadow;
    uint64_t now_ns;
    uint64_t live_blocks; /* of the loop's arena: which blocks are freed shows in their bytes */
    size_t blocks_bytes;  /* of the judge's arena */
    uint32_t cancels_left;
    uint32_t outside_is_past;
};

struct bz_live_areas {
    struct bz_snapshot_head head;
    struct bz_snapshot_area areas[BZ_AREAS];
};

/* Zeroed before its first use; its memory grows and is kept. */
struct bz_snapshot {
    char *bytes;
    size_t capacity;
    size_t state_bytes; /* two snapshots that are equal in these bytes are of one state */
    const char *image;  /* of the loop, among the bytes */
    const char *record; /* of the judge's arena, likewise */
    struct bz_image_layout layout;
    struct bz_snapshot_area areas[BZ_AREAS];
    uint64_t lag_ns; /* of the path to it: no part of the state, unless the bound on lag bites */
};

/* False where snapshots do not work: see bz_image_is_supported(). */
bool bz_snapshot_is_supported(void);

/* Normalizes a world, so that equal states are equal bytes: clears history that no oracle and no
 * task can see. Steps are counted from 0 again. O(tasks + objects + lines). */
void bz_snapshot_normalize(struct bz_world *world);

/* bz_world_begin() for a run of a search. `saves`: clears unused memory, so that every run finds
 * the same there. `compares`: states will be compared (sut.h). */
void bz_snapshot_begin(struct bz_world *world, bool saves, bool compares);

void bz_snapshot_look(const struct bz_world *world, struct bz_live_areas *live);

/* False without memory. */
bool bz_snapshot_save(const struct bz_world *world, struct bz_snapshot *snapshot);
void bz_snapshot_restore(struct bz_world *world, const struct bz_snapshot *snapshot);

void bz_snapshot_fini(struct bz_snapshot *snapshot);

/* A word of memory of whatever type. */
typedef uint64_t __attribute__((may_alias)) bz_any_word;
