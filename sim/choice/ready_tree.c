#include "sim/choice/ready_tree.h"

#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 64u

/* How many numbers a tree of so many leaves has; where each level begins, if `tree` has a block. */
static size_t lay_out(struct bz_ready_tree *tree, uint32_t leaves) {
    size_t used = 0;
    uint32_t nodes = leaves;
    tree->depth = 0;
    do {
        nodes = (nodes + BZ_TREE_FAN - 1) / BZ_TREE_FAN;
        tree->levels[tree->depth++] = tree->block == NULL ? NULL : tree->block + used;
        used += (size_t)nodes * BZ_TREE_FAN;
    } while (nodes > 1);
    return used;
}

void bz_ready_tree_lay_out(struct bz_ready_tree *tree, uint32_t leaves) {
    (void)lay_out(tree, leaves);
}

bool bz_ready_tree_resize(struct bz_ready_tree *tree, uint32_t leaves, uint32_t kept) {
    struct bz_ready_tree larger = {.block = NULL};
    size_t numbers = lay_out(&larger, leaves);
    larger.block = aligned_alloc(LINE_BYTES, numbers * sizeof *larger.block);
    if (larger.block == NULL) {
        return false;
    }
    (void)lay_out(&larger, leaves);
    if (kept > 0) {
        memcpy(larger.block, tree->block, kept * sizeof *larger.block);
    }
    free(tree->block);
    *tree = larger;
    return true;
}

static uint64_t sum_of(const uint64_t *node) {
    uint64_t sum = 0;
    for (uint32_t child = 0; child < BZ_TREE_FAN; child++) {
        sum += node[child];
    }
    return sum;
}

void bz_ready_tree_build(struct bz_ready_tree *tree, uint32_t leaves, uint32_t used, bool is_sum) {
    uint32_t count = leaves;
    for (uint32_t level = 0; level < tree->depth; level++) {
        uint64_t *numbers = tree->levels[level];
        uint32_t nodes = (count + BZ_TREE_FAN - 1) / BZ_TREE_FAN;
        uint64_t *above = level + 1 < tree->depth ? tree->levels[level + 1] : &tree->top;
        memset(numbers + used, 0, ((size_t)nodes * BZ_TREE_FAN - used) * sizeof *numbers);
        for (uint32_t node = 0; node < nodes; node++) {
            const uint64_t *below = &numbers[(size_t)node * BZ_TREE_FAN];
            above[node] = is_sum ? sum_of(below) : bz_ready_tree_greatest_of(below);
        }
        count = nodes;
        used = nodes;
    }
}

void bz_ready_tree_free(struct bz_ready_tree *tree) {
    free(tree->block);
    *tree = (struct bz_ready_tree){.block = NULL};
}
