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
 * the world itself. Digest, tape, step numbers and statistics are history, and not part of it. Nor
 * is the strategy's state, because the search is the strategy. A scenario that keeps state outside
 * the world's memory cannot be searched.
 */
#ifndef BZ_SIM_NATIVE_SNAPSHOT_H
#define BZ_SIM_NATIVE_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/native/image.h"

struct bz_world;

/* Zeroed before its first use; its memory grows and is kept. */
struct bz_snapshot {
    char *bytes;
    size_t capacity;
    size_t state_bytes;  /* two snapshots that are equal in these bytes are of one state */
    size_t queue_offset; /* where the pointers of the ready queue are in them */
    uint32_t queue_count;
    size_t judge_offset;  /* where the blocks of the judge's arena are */
    size_t blocks_offset; /* and those of the loop's arena */
    size_t stacks_offset; /* see struct bz_image_layout */
};

/* False where snapshots do not work: see bz_image_is_supported(). */
bool bz_snapshot_is_supported(void);

/* Normalizes a world, so that equal states are equal bytes: clears history that no oracle and no
 * task can see. Steps are counted from 0 again. O(tasks + objects + lines). */
void bz_snapshot_normalize(struct bz_world *world);

/* bz_world_begin() for a run of a search. `saves`: clears unused memory, so that every run finds
 * the same there. `compares`: states will be compared (sut.h). */
void bz_snapshot_begin(struct bz_world *world, bool saves, bool compares);

/* False without memory. */
bool bz_snapshot_save(const struct bz_world *world, struct bz_snapshot *snapshot);
void bz_snapshot_restore(struct bz_world *world, const struct bz_snapshot *snapshot);
void bz_snapshot_fini(struct bz_snapshot *snapshot);

#endif
