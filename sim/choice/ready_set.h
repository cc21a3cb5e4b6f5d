/* Many ready handles, kept from step to step, so that a strategy need not look at each one.
 *
 * Each handle has a slot. Slots are in the order in which the handles became ready, with gaps where
 * one has left. A tree over the slots counts the handles, and another one has the sum or the
 * greatest of their weights.
 *
 * The handles of one owner are a chain, the oldest first, if the strategy asks for that. All is
 * O(log n) but for bz_ready_set_fill() and bz_ready_set_weigh_again(). Steps allocate only while a
 * run has more ready handles, or more tasks, than all before it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sim/choice/strategy.h"

#define BZ_NO_SLOT UINT32_MAX
#define BZ_TREE_FAN 8u
#define BZ_TREE_LEVELS 11u /* enough for 2^32 leaves */

/* A tree over numbers by place: it finds a place by the sum of the numbers before it, or the first
 * of the greatest.
 *
 * A node has BZ_TREE_FAN numbers, which fill one line of the cache: a step among thousands touches
 * few lines, and reads most at the same time. A number above the leaves is the sum, or the
 * greatest, of a node of the level below. */
struct bz_ready_tree {
    uint64_t *levels[BZ_TREE_LEVELS]; /* the leaves, then what is above them; all in `block` */
    uint64_t *block;
    uint64_t top; /* the sum, or the greatest, of all */
    uint32_t depth;
};

/* In a chain: the slots of the neighbours; BZ_NO_SLOT: none. */
struct bz_ready_link {
    uint32_t before;
    uint32_t after;
};

struct bz_ready_chain {
    uint32_t first; /* slots; BZ_NO_SLOT: none */
    uint32_t last;
    uint32_t count;
};

struct bz_ready_set {
    uint32_t count;                /* of handles */
    uint32_t end;                  /* the slot of the next one */
    uint32_t capacity;             /* slots in use: a power of two */
    uint32_t allocated;            /* slots */
    uint32_t owners;               /* that have a chain */
    struct bz_ready *names;        /* by slot */
    struct bz_ready_link *links;   /* by slot, for a strategy that finds owners */
    uint64_t *present;             /* bits by slot */
    struct bz_ready_tree counts;   /* over the words of `present` */
    struct bz_ready_tree weights;  /* over the slots */
    struct bz_ready_chain *chains; /* by owner */
    const struct bz_strategy *strategy;
    const void *state; /* of the strategy, which weighs */
};

/* A set of nothing is all zeros. */
void bz_ready_set_fini(struct bz_ready_set *set);

/* Makes it the set of these handles, the oldest first, for a strategy in this state. O(count).
 * Adds the newest handle. Both: false without memory, and then only another fill may follow. */
bool bz_ready_set_fill(struct bz_ready_set *set, const struct bz_strategy *strategy,
                       const void *state, const struct bz_ready *names, uint32_t count);
bool bz_ready_set_add(struct bz_ready_set *set, struct bz_ready name);

void bz_ready_set_remove(struct bz_ready_set *set, uint32_t slot);

/* Where a handle is: its slot, and how many handles are older. */
struct bz_ready_place {
    uint32_t slot;
    uint32_t index;
};
struct bz_ready_place bz_ready_set_at_index(const struct bz_ready_set *set, uint32_t index);
struct bz_ready_place bz_ready_set_at_slot(const struct bz_ready_set *set, uint32_t slot);

static inline const struct bz_ready *bz_ready_set_name(const struct bz_ready_set *set,
                                                       uint32_t slot) {
    return &set->names[slot];
}

/* The handles of an owner, for a strategy that finds owners. */
static inline struct bz_ready_chain bz_ready_set_chain(const struct bz_ready_set *set,
                                                       uint32_t owner) {
    return owner < set->owners && set->chains[owner].count > 0
               ? set->chains[owner]
               : (struct bz_ready_chain){BZ_NO_SLOT, BZ_NO_SLOT, 0};
}

/* Of a strategy that adds weights: their sum, and the first handle up to which the sum exceeds
 * `drawn`, which is less than the sum of all. */
static inline uint64_t bz_ready_set_sum(const struct bz_ready_set *set) {
    return set->weights.top;
}
struct bz_ready_place bz_ready_set_at_sum(const struct bz_ready_set *set, uint64_t drawn);

/* Of one that compares them: the oldest handle of the greatest weight. */
struct bz_ready_place bz_ready_set_greatest(const struct bz_ready_set *set);

/* The strategy weighs the handles of this owner again. O(n). */
void bz_ready_set_weigh_again(struct bz_ready_set *set, uint32_t owner);
