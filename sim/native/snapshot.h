/* Snapshots of a world between two steps: going back in a run instead of running it again, and
 * knowing a place in one that another run has been at (stateful search; VeriSoft and SPIN have the
 * vocabulary).
 *
 *     bz_snapshot_begin(world, true, true)   before the set-up
 *     bz_snapshot_normalize(world)           after a step, before anything is saved
 *     bz_snapshot_save(world, snapshot)
 *       ... steps, with other choices ...
 *     bz_snapshot_restore(world, snapshot)
 *
 * A snapshot is the image of the loop (image.h), the judge's shadow state, and the little that the
 * world itself knows. Digest, tape, step numbers and statistics are history, and no part of it;
 * neither is the strategy: who searches, is the strategy. A scenario whose state lies outside the
 * world's memory cannot be searched so.
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
    size_t state_bytes;  /* two snapshots that are equal in these are of the same state */
    size_t queue_offset; /* where the pointers of the ready queue are in them */
    uint32_t queue_count;
};

/* False where snapshots do not work: see bz_image_is_supported(). */
bool bz_snapshot_is_supported(void);

/* Brings a world into the form in which equal states are equal bytes: everything that only tells of
 * the past, and that no oracle and no task can see any more, is cleared. The steps are counted from
 * 0 again. O(tasks + objects + lines). */
void bz_snapshot_normalize(struct bz_world *world);

/* bz_world_begin() for a run that is searched. `saves`: the memory that no run has used yet is
 * cleared, so that every run finds the same in it. `compares`: objects under test are told that
 * states will be compared (sut.h). */
void bz_snapshot_begin(struct bz_world *world, bool saves, bool compares);

/* False without memory. */
bool bz_snapshot_save(const struct bz_world *world, struct bz_snapshot *snapshot);
void bz_snapshot_restore(struct bz_world *world, const struct bz_snapshot *snapshot);
void bz_snapshot_fini(struct bz_snapshot *snapshot);

#endif
