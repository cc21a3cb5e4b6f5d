/* States up to a permutation of interchangeable tasks (bz_world_interchange()).
 *
 * A state consists of the regions of these tasks, and of the rest. The region of a task is its
 * record in the shadow state, its struct bz_task, its stack, and the memory that the program says
 * is its own. A reference is a word that points into such a region, or a place in an object's line
 * that has the number of such a task:
 *
 *     state = rest with references, region 1 with references, ..., region n with references
 *
 * fingerprint.h has a sum for each region, as a part. The fingerprint is that of the same state
 * with other numbers: the tasks of each group are sorted by what their regions have in them and by
 * who refers to them, and each reference is written as the new number of its task and the offset in
 * its region. Two states with the same fingerprint differ in nothing but the numbers, so one has
 * the same future as the other, with the numbers exchanged. Tasks that sort equally keep their
 * order. Then two states may be taken for different that are not, which is no error.
 *
 * The parts that are left out of a region follow from the number: id, name, the place of the stack,
 * the links to the neighbours in the list of tasks. Left out of the rest are the arrays of these
 * tasks, which never change, and the order of the ready queue (this reduction needs
 * BZ_REDUCE_QUEUE).
 *
 * A task's number may be in other integers, too, where nobody finds it. The promise of
 * bz_world_interchange() and bz_symmetry_is_broken() exclude that. Its address may be, too:
 * shifted, with flags, or a half of it. Then the same word of the same state is another one in a
 * world at other addresses, which bz_symmetry_has_disguise() looks for. It does not find an address
 * that is hashed, or kept as a distance.
 */
#pragma once

#include "sim/explore/fingerprint/fingerprint.h"

#define BZ_SYMMETRY_NOBODY BZ_ALIKE_MAX
#define BZ_SYMMETRY_INTO_STACK (UINT64_C(1) << 40u) /* beside the offset from its top */
#define BZ_SYMMETRY_INTO_OWN (UINT64_C(1) << 41u)

/* Tasks of one group have indices in a row, and numbers in a row. */
struct bz_alike_range {
    uint32_t first; /* index */
    uint32_t first_id;
    uint32_t count;
    const void *array; /* in the world's memory; NULL: elsewhere */
};

struct bz_symmetry {
    uint32_t count; /* of tasks in all groups; 0: none is interchangeable */
    uint32_t range_count;
    struct bz_alike_range ranges[BZ_ALIKE_GROUPS_MAX];
    uintptr_t owns[BZ_ALIKE_MAX];
    size_t own_bytes[BZ_ALIKE_MAX];
    uintptr_t blocks[BZ_ALIKE_MAX];
    uintptr_t stack_tops[BZ_ALIKE_MAX];
    uintptr_t stack_bytes;
    uintptr_t low; /* blocks, stacks and owns are in this range */
    uintptr_t span;
};

/* After a set-up, before the first step. */
void bz_symmetry_begin(struct bz_symmetry *symmetry, const struct bz_world *world);

/* True if this holds for the program, as far as its objects say: their shadow states name tasks in
 * known places only. */
bool bz_symmetry_applies(const struct bz_symmetry *symmetry, const struct bz_world *world);

/* The index of a task among the interchangeable ones; BZ_SYMMETRY_NOBODY: it is none. */
static inline uint32_t bz_symmetry_index(const struct bz_symmetry *symmetry, uint32_t id) {
    for (uint32_t range = 0; range < symmetry->range_count; range++) {
        uint32_t place = id - symmetry->ranges[range].first_id;
        if (place < symmetry->ranges[range].count) {
            return symmetry->ranges[range].first + place;
        }
    }
    return BZ_SYMMETRY_NOBODY;
}

/* The code under test has asked for the number of a task, in this step or before. */
static inline bool bz_symmetry_is_broken(const struct bz_world *world) {
    return world->loop->has_told_number;
}

/* True if the state has a word that follows from an address of the arena or of a task's stack, and
 * is none itself. `second` is in the same state, at other addresses. O(bytes). */
bool bz_symmetry_has_disguise(const struct bz_world *world, const struct bz_world *second);

/* True if every interchangeable task still has its number: else states have no canonical form. */
bool bz_symmetry_has_all(const struct bz_symmetry *symmetry, const struct bz_world *world);

/* The fingerprint of the state that the world is in, of which `print` was made. False, and the
 * state has none: it has references that are not known here. */
bool bz_symmetry_fingerprint(const struct bz_symmetry *symmetry, const struct bz_world *world,
                             const struct bz_print *print, struct bz_fingerprint *fingerprint);
