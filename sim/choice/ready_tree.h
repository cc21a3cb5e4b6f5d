/* A tree over numbers by place, for ready_set.c: it finds a place by the sum of the numbers before
 * it, or the first of the greatest.
 *
 * A node has BZ_TREE_FAN numbers, which fill one line of the cache: a step among thousands touches
 * few lines, and reads most at the same time. A number above the leaves is the sum, or the
 * greatest, of a node of the level below. */
#ifndef BZ_SIM_CHOICE_READY_TREE_H
#define BZ_SIM_CHOICE_READY_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BZ_TREE_FAN 8u
#define BZ_TREE_LEVELS 11u /* enough for 2^32 leaves */

struct bz_ready_tree {
    uint64_t *levels[BZ_TREE_LEVELS]; /* the leaves, then what is above them; all in `block` */
    uint64_t *block;
    uint64_t top; /* the sum, or the greatest, of all */
    uint32_t depth;
};

/* Allocates a tree of so many leaves, which keeps the first `kept` of those that it had. The others
 * are undefined, and so is what is above. False without memory: the tree is as it was. */
bool bz_ready_tree_resize(struct bz_ready_tree *tree, uint32_t leaves, uint32_t kept);

/* Uses an allocated tree for fewer leaves: a power of two. All are undefined. */
void bz_ready_tree_lay_out(struct bz_ready_tree *tree, uint32_t leaves);

/* Computes the nodes above the leaves; leaves from `used` on become 0. */
void bz_ready_tree_build(struct bz_ready_tree *tree, uint32_t leaves, uint32_t used, bool is_sum);

void bz_ready_tree_free(struct bz_ready_tree *tree);

/* --- a tree of sums, modulo 2^64 -------------------------------------------------------------- */

static inline void bz_ready_tree_add(struct bz_ready_tree *tree, uint32_t place, uint64_t change) {
    for (uint32_t level = 0; level < tree->depth; level++, place /= BZ_TREE_FAN) {
        tree->levels[level][place] += change;
    }
    tree->top += change;
}

/* The first place up to which the sum exceeds `*rest`, which is less than that of all. Takes the
 * sum before it from `*rest`. Without branches that depend on what is looked for: it is random to
 * the processor. */
static inline uint32_t bz_ready_tree_find(const struct bz_ready_tree *tree, uint64_t *rest) {
    uint64_t left = *rest;
    uint32_t place = 0;
    for (uint32_t level = tree->depth; level-- > 0;) {
        const uint64_t *node = &tree->levels[level][place *= BZ_TREE_FAN];
        uint64_t sum = 0;
        uint64_t before = 0;
        for (uint32_t child = 0; child < BZ_TREE_FAN - 1; child++) {
            uint64_t is_before = (sum += node[child]) <= left;
            before += node[child] & -is_before;
            place += (uint32_t)is_before;
        }
        left -= before;
    }
    *rest = left;
    return place;
}

/* The sum before the place. */
static inline uint64_t bz_ready_tree_before(const struct bz_ready_tree *tree, uint32_t place) {
    uint64_t sum = 0;
    for (uint32_t level = 0; level < tree->depth; level++, place /= BZ_TREE_FAN) {
        const uint64_t *node = &tree->levels[level][place / BZ_TREE_FAN * BZ_TREE_FAN];
        for (uint32_t child = 0; child < BZ_TREE_FAN - 1; child++) {
            sum += node[child] & -(uint64_t)(child < place % BZ_TREE_FAN);
        }
    }
    return sum;
}

/* --- a tree of the greatest ------------------------------------------------------------------- */

static inline uint64_t bz_ready_tree_greatest_of(const uint64_t *node) {
    uint64_t greatest = node[0];
    for (uint32_t child = 1; child < BZ_TREE_FAN; child++) {
        greatest = node[child] > greatest ? node[child] : greatest;
    }
    return greatest;
}

static inline void bz_ready_tree_set(struct bz_ready_tree *tree, uint32_t place, uint64_t number) {
    uint64_t *changed = &tree->levels[0][place];
    for (uint32_t level = 0; *changed != number; level++) {
        *changed = number;
        if (level == tree->depth) {
            return;
        }
        place /= BZ_TREE_FAN;
        number = bz_ready_tree_greatest_of(&tree->levels[level][place * BZ_TREE_FAN]);
        changed = level + 1 < tree->depth ? &tree->levels[level + 1][place] : &tree->top;
    }
}

/* The first place of the greatest number. */
static inline uint32_t bz_ready_tree_greatest(const struct bz_ready_tree *tree) {
    uint32_t place = 0;
    for (uint32_t level = tree->depth; level-- > 0;) {
        const uint64_t *node = &tree->levels[level][place *= BZ_TREE_FAN];
        uint32_t found = 0;
        for (uint32_t child = 0; child < BZ_TREE_FAN; child++) {
            found |= (uint32_t)(node[child] == tree->top) << child;
        }
        place += (uint32_t)__builtin_ctz(found);
    }
    return place;
}

#endif
