#include "sim/choice/ready_set.h"

#include <stdlib.h>
#include <string.h>

#include "primitives/runtime/check.h"

#define WORD_BITS 64u
#define CAPACITY_FIRST 256u
/* With 2, gaps are closed three times as often, and a step takes up to 1.35 times as long. */
#define SLOTS_EACH 4u /* for each handle */
#define OWNERS_FIRST 256u
#define LOW_BITS UINT64_C(0x0101010101010101) /* of each byte */
#define HIGH_BITS (LOW_BITS << 7u)
#define LINE_BYTES 64u

/* --- a tree ----------------------------------------------------------------------------------- */

/* How many numbers a tree of so many leaves has; where each level begins, if `tree` has a block.
 * All are undefined. */
static size_t tree_lay_out(struct bz_ready_tree *tree, uint32_t leaves) {
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

/* Allocates a tree of so many leaves, which keeps the first `kept` of those that it had. The others
 * are undefined, and so is what is above. False without memory: the tree is as it was. */
static bool tree_resize(struct bz_ready_tree *tree, uint32_t leaves, uint32_t kept) {
    struct bz_ready_tree larger = {.block = NULL};
    size_t numbers = tree_lay_out(&larger, leaves);
    larger.block = aligned_alloc(LINE_BYTES, numbers * sizeof *larger.block);
    if (larger.block == NULL) {
        return false;
    }
    (void)tree_lay_out(&larger, leaves);
    if (kept > 0) {
        memcpy(larger.block, tree->block, kept * sizeof *larger.block);
    }
    free(tree->block);
    *tree = larger;
    return true;
}

static uint64_t tree_greatest_of(const uint64_t *node) {
    uint64_t greatest = node[0];
    for (uint32_t child = 1; child < BZ_TREE_FAN; child++) {
        greatest = node[child] > greatest ? node[child] : greatest;
    }
    return greatest;
}

static uint64_t sum_of(const uint64_t *node) {
    uint64_t sum = 0;
    for (uint32_t child = 0; child < BZ_TREE_FAN; child++) {
        sum += node[child];
    }
    return sum;
}

/* Computes the nodes above the leaves; leaves from `used` on become 0. */
static void tree_build(struct bz_ready_tree *tree, uint32_t leaves, uint32_t used, bool is_sum) {
    uint32_t count = leaves;
    for (uint32_t level = 0; level < tree->depth; level++) {
        uint64_t *numbers = tree->levels[level];
        uint32_t nodes = (count + BZ_TREE_FAN - 1) / BZ_TREE_FAN;
        uint64_t *above = level + 1 < tree->depth ? tree->levels[level + 1] : &tree->top;
        memset(numbers + used, 0, ((size_t)nodes * BZ_TREE_FAN - used) * sizeof *numbers);
        for (uint32_t node = 0; node < nodes; node++) {
            const uint64_t *below = &numbers[(size_t)node * BZ_TREE_FAN];
            above[node] = is_sum ? sum_of(below) : tree_greatest_of(below);
        }
        count = nodes;
        used = nodes;
    }
}

/* Of sums, modulo 2^64. */
static void tree_add(struct bz_ready_tree *tree, uint32_t place, uint64_t change) {
    for (uint32_t level = 0; level < tree->depth; level++, place /= BZ_TREE_FAN) {
        tree->levels[level][place] += change;
    }
    tree->top += change;
}

/* The first place up to which the sum exceeds `*rest`, which is less than that of all. Takes the
 * sum before it from `*rest`. Without branches that depend on what is looked for: it is random to
 * the processor. */
static uint32_t tree_find(const struct bz_ready_tree *tree, uint64_t *rest) {
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
static uint64_t tree_before(const struct bz_ready_tree *tree, uint32_t place) {
    uint64_t sum = 0;
    for (uint32_t level = 0; level < tree->depth; level++, place /= BZ_TREE_FAN) {
        const uint64_t *node = &tree->levels[level][place / BZ_TREE_FAN * BZ_TREE_FAN];
        for (uint32_t child = 0; child < BZ_TREE_FAN - 1; child++) {
            sum += node[child] & -(uint64_t)(child < place % BZ_TREE_FAN);
        }
    }
    return sum;
}

/* Of the greatest. */
static void tree_set(struct bz_ready_tree *tree, uint32_t place, uint64_t number) {
    uint64_t *changed = &tree->levels[0][place];
    for (uint32_t level = 0; *changed != number; level++) {
        *changed = number;
        if (level == tree->depth) {
            return;
        }
        place /= BZ_TREE_FAN;
        number = tree_greatest_of(&tree->levels[level][place * BZ_TREE_FAN]);
        changed = level + 1 < tree->depth ? &tree->levels[level + 1][place] : &tree->top;
    }
}

/* The first place of the greatest number. */
static uint32_t tree_greatest(const struct bz_ready_tree *tree) {
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

/* --- the trees of a set ----------------------------------------------------------------------- */

void bz_ready_set_fini(struct bz_ready_set *set) {
    free(set->names);
    free(set->links);
    free(set->present);
    free(set->chains);
    free(set->counts.block);
    free(set->weights.block);
    *set = (struct bz_ready_set){.count = 0};
}

static uint32_t word_count(const struct bz_ready_set *set) {
    return set->capacity / WORD_BITS;
}

static bool has_weights(const struct bz_ready_set *set) {
    return set->strategy->weight != NULL;
}

static bool has_chains(const struct bz_ready_set *set) {
    return set->strategy->finds_owners;
}

static bool is_present(const struct bz_ready_set *set, uint32_t slot) {
    return (set->present[slot / WORD_BITS] >> slot % WORD_BITS & 1u) != 0;
}

/* 0: a gap. */
static void set_weight(struct bz_ready_set *set, uint32_t slot, uint64_t weight) {
    if (set->strategy->adds_weights) {
        tree_add(&set->weights, slot, weight - set->weights.levels[0][slot]);
    } else {
        tree_set(&set->weights, slot, weight);
    }
}

/* Byte n of the result is the number of bits in bytes 0 to n. (Not all processors that are compiled
 * for can count bits.) */
static uint64_t byte_sums(uint64_t bits) {
    bits -= bits >> 1u & UINT64_C(0x5555555555555555);
    bits = (bits & UINT64_C(0x3333333333333333)) + (bits >> 2u & UINT64_C(0x3333333333333333));
    return ((bits + (bits >> 4u)) & UINT64_C(0x0f0f0f0f0f0f0f0f)) * LOW_BITS;
}

/* From the leaves: `present`, and the weights of the slots before the end. */
static void build_trees(struct bz_ready_set *set) {
    uint32_t words = word_count(set);
    for (uint32_t word = 0; word < words; word++) {
        set->counts.levels[0][word] = byte_sums(set->present[word]) >> 56u;
    }
    tree_build(&set->counts, words, words, true);
    if (has_weights(set)) {
        tree_build(&set->weights, set->capacity, set->end, set->strategy->adds_weights);
    }
}

/* --- chains ----------------------------------------------------------------------------------- */

static void append(struct bz_ready_set *set, uint32_t slot) {
    if (!has_chains(set)) {
        return;
    }
    struct bz_ready_chain *chain = &set->chains[set->names[slot].owner];
    bool is_first = chain->count++ == 0;
    set->links[slot].before = is_first ? BZ_NO_SLOT : chain->last;
    set->links[slot].after = BZ_NO_SLOT;
    *(is_first ? &chain->first : &set->links[chain->last].after) = slot;
    chain->last = slot;
}

static void drop(struct bz_ready_set *set, uint32_t slot) {
    const struct bz_ready_link *gone = &set->links[slot];
    struct bz_ready_chain *chain = &set->chains[set->names[slot].owner];
    chain->count--;
    *(gone->before == BZ_NO_SLOT ? &chain->first : &set->links[gone->before].after) = gone->after;
    *(gone->after == BZ_NO_SLOT ? &chain->last : &set->links[gone->after].before) = gone->before;
}

static bool add_owner(struct bz_ready_set *set, uint32_t owner) {
    uint32_t owners = set->owners == 0 ? OWNERS_FIRST : set->owners;
    while (owners <= owner) {
        owners *= 2;
    }
    struct bz_ready_chain *larger = realloc(set->chains, owners * sizeof *larger);
    if (larger == NULL) {
        return false;
    }
    memset(larger + set->owners, 0, (owners - set->owners) * sizeof *larger);
    set->chains = larger;
    set->owners = owners;
    return true;
}

/* --- slots ------------------------------------------------------------------------------------ */

static bool resize(void **array, size_t count, size_t bytes_each) {
    void *larger = realloc(*array, count * bytes_each);
    *array = larger == NULL ? *array : larger;
    return larger != NULL;
}

/* The slots keep what they have. */
static bool allocate(struct bz_ready_set *set, uint32_t capacity) {
    if (!resize((void **)&set->names, capacity, sizeof *set->names) ||
        !resize((void **)&set->links, capacity, sizeof *set->links) ||
        !resize((void **)&set->present, capacity / WORD_BITS, sizeof *set->present) ||
        !tree_resize(&set->counts, capacity / WORD_BITS, 0) ||
        !tree_resize(&set->weights, capacity, set->end)) {
        return false;
    }
    set->allocated = capacity;
    return true;
}

static void lay_out(struct bz_ready_set *set, uint32_t capacity) {
    set->capacity = capacity;
    (void)tree_lay_out(&set->counts, capacity / WORD_BITS);
    (void)tree_lay_out(&set->weights, capacity);
}

/* Doubles the slots. The trees are to be built. */
static bool grow(struct bz_ready_set *set) {
    uint32_t capacity = 2 * set->capacity;
    if (capacity > set->allocated && !allocate(set, capacity)) {
        return false;
    }
    lay_out(set, capacity);
    return true;
}

/* Empties the chains of the handles that are there. */
static void drop_chains(struct bz_ready_set *set) {
    bool is_any = set->end > 0 && has_chains(set);
    for (uint32_t word = 0; is_any && word < (set->end + WORD_BITS - 1) / WORD_BITS; word++) {
        for (uint64_t bits = set->present[word]; bits != 0; bits &= bits - 1) {
            uint32_t slot = word * WORD_BITS + (uint32_t)__builtin_ctzll(bits);
            set->chains[set->names[slot].owner].count = 0;
        }
    }
}

static void mark_present(struct bz_ready_set *set) {
    memset(set->present, 0, word_count(set) * sizeof *set->present);
    memset(set->present, 0xff, set->end / WORD_BITS * sizeof *set->present);
    if (set->end % WORD_BITS != 0) {
        set->present[set->end / WORD_BITS] = (UINT64_C(1) << set->end % WORD_BITS) - 1;
    }
}

/* Closes the gaps. */
static void compact(struct bz_ready_set *set) {
    uint64_t *weights = has_weights(set) ? set->weights.levels[0] : NULL;
    uint32_t words = (set->end + WORD_BITS - 1) / WORD_BITS;
    uint32_t kept = 0;
    drop_chains(set);
    for (uint32_t word = 0; word < words; word++) {
        for (uint64_t bits = set->present[word]; bits != 0; bits &= bits - 1) {
            uint32_t slot = word * WORD_BITS + (uint32_t)__builtin_ctzll(bits);
            set->names[kept] = set->names[slot];
            if (weights != NULL) {
                weights[kept] = weights[slot];
            }
            append(set, kept++);
        }
    }
    set->end = kept;
    mark_present(set);
    build_trees(set);
}

static uint64_t weigh(const struct bz_ready_set *set, uint32_t slot) {
    return set->strategy->weight(set->state, &set->names[slot]);
}

bool bz_ready_set_fill(struct bz_ready_set *set, const struct bz_strategy *strategy,
                       const void *state, const struct bz_ready *names, uint32_t count) {
    uint32_t capacity = CAPACITY_FIRST;
    drop_chains(set);
    set->end = 0;
    while (capacity < SLOTS_EACH * count) {
        capacity *= 2;
    }
    if (capacity > set->allocated && !allocate(set, capacity)) {
        return false;
    }
    set->strategy = strategy;
    set->state = state;
    set->count = count;
    lay_out(set, capacity);
    for (; set->end < count; set->end++) {
        if (names[set->end].owner >= set->owners && !add_owner(set, names[set->end].owner)) {
            return false;
        }
        set->names[set->end] = names[set->end];
        append(set, set->end);
        if (has_weights(set)) {
            set->weights.levels[0][set->end] = weigh(set, set->end);
        }
    }
    mark_present(set);
    build_trees(set);
    return true;
}

bool bz_ready_set_add(struct bz_ready_set *set, struct bz_ready name) {
    if (set->end == set->capacity) {
        if (set->count > set->capacity / SLOTS_EACH && !grow(set)) {
            return false;
        }
        compact(set);
    }
    if (name.owner >= set->owners && !add_owner(set, name.owner)) {
        return false;
    }
    uint32_t slot = set->end++;
    set->names[slot] = name;
    set->present[slot / WORD_BITS] |= UINT64_C(1) << slot % WORD_BITS;
    set->count++;
    append(set, slot);
    tree_add(&set->counts, slot / WORD_BITS, 1);
    if (has_weights(set)) {
        set_weight(set, slot, weigh(set, slot));
    }
    return true;
}

void bz_ready_set_remove(struct bz_ready_set *set, uint32_t slot) {
    set->present[slot / WORD_BITS] &= ~(UINT64_C(1) << slot % WORD_BITS);
    set->count--;
    if (has_chains(set)) {
        drop(set, slot);
    }
    tree_add(&set->counts, slot / WORD_BITS, UINT64_MAX);
    if (has_weights(set)) {
        set_weight(set, slot, 0);
    }
}

/* --- looking up ------------------------------------------------------------------------------- */
/* Without branches that depend on what is looked for: it is random to the processor. */

/* The place of the index-th bit that is set. */
static uint32_t find_bit(uint64_t bits, uint32_t index) {
    uint64_t sums = byte_sums(bits);
    uint64_t is_below = ((index * LOW_BITS | HIGH_BITS) - sums) & HIGH_BITS; /* sums <= index */
    uint32_t first = (uint32_t)((is_below >> 7u) * LOW_BITS >> 56u) * 8;     /* of its byte */
    index -= (uint32_t)(sums << 8u >> first) & 0xffu;
    for (bits >>= first; index > 0; index--) {
        bits &= bits - 1;
    }
    return first + (uint32_t)__builtin_ctzll(bits);
}

struct bz_ready_place bz_ready_set_at_index(const struct bz_ready_set *set, uint32_t index) {
    uint64_t rest = index;
    BZ_CHECK(index < set->count);
    uint32_t word = tree_find(&set->counts, &rest);
    uint32_t bit = find_bit(set->present[word], (uint32_t)rest);
    return (struct bz_ready_place){word * WORD_BITS + bit, index};
}

struct bz_ready_place bz_ready_set_at_slot(const struct bz_ready_set *set, uint32_t slot) {
    uint32_t word = slot / WORD_BITS;
    uint64_t before = set->present[word] & ((UINT64_C(1) << slot % WORD_BITS) - 1);
    uint64_t index = tree_before(&set->counts, word) + (byte_sums(before) >> 56u);
    return (struct bz_ready_place){slot, (uint32_t)index};
}

struct bz_ready_place bz_ready_set_at_sum(const struct bz_ready_set *set, uint64_t drawn) {
    return bz_ready_set_at_slot(set, tree_find(&set->weights, &drawn));
}

struct bz_ready_place bz_ready_set_greatest(const struct bz_ready_set *set) {
    return bz_ready_set_at_slot(set, tree_greatest(&set->weights));
}

void bz_ready_set_weigh_again(struct bz_ready_set *set, uint32_t owner) {
    for (uint32_t slot = 0; slot < set->end; slot++) {
        if (is_present(set, slot) && set->names[slot].owner == owner) {
            set_weight(set, slot, weigh(set, slot));
        }
    }
}
