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

void bz_ready_set_fini(struct bz_ready_set *set) {
    free(set->slots);
    free(set->present);
    free(set->counts);
    free(set->weights);
    free(set->chains);
    *set = (struct bz_ready_set){.count = 0};
}

/* --- the trees -------------------------------------------------------------------------------- */
/* Node 1 is the root; the children of node n are 2n and 2n + 1; the leaves come last. */

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

static uint64_t greater(uint64_t left, uint64_t right) {
    return left > right ? left : right;
}

/* 0: a gap. */
static void set_weight(struct bz_ready_set *set, uint32_t slot, uint64_t weight) {
    uint64_t *weights = set->weights;
    uint32_t node = set->capacity + slot;
    if (set->strategy->adds_weights) {
        uint64_t change = weight - weights[node]; /* modulo 2^64 */
        for (; node > 0; node /= 2) {
            weights[node] += change;
        }
        return;
    }
    weights[node] = weight;
    for (node /= 2; node > 0; node /= 2) {
        uint64_t most = greater(weights[2 * node], weights[2 * node + 1]);
        if (weights[node] == most) {
            return;
        }
        weights[node] = most;
    }
}

/* Byte n of the result is the number of bits in bytes 0 to n. (Not all processors that are compiled
 * for can count bits.) */
static uint64_t byte_sums(uint64_t bits) {
    bits -= bits >> 1u & UINT64_C(0x5555555555555555);
    bits = (bits & UINT64_C(0x3333333333333333)) + (bits >> 2u & UINT64_C(0x3333333333333333));
    return ((bits + (bits >> 4u)) & UINT64_C(0x0f0f0f0f0f0f0f0f)) * LOW_BITS;
}

static void change_count(struct bz_ready_set *set, uint32_t slot, uint32_t change) {
    for (uint32_t node = word_count(set) + slot / WORD_BITS; node > 0; node /= 2) {
        set->counts[node] += change; /* modulo 2^32 */
    }
}

/* All inner nodes, from the leaves. */
static void build_trees(struct bz_ready_set *set) {
    for (uint32_t word = 0; word < word_count(set); word++) {
        set->counts[word_count(set) + word] = (uint32_t)(byte_sums(set->present[word]) >> 56u);
    }
    for (uint32_t node = word_count(set) - 1; node > 0; node--) {
        set->counts[node] = set->counts[2 * node] + set->counts[2 * node + 1];
    }
    for (uint32_t node = set->capacity - 1; has_weights(set) && node > 0; node--) {
        uint64_t left = set->weights[2 * node];
        uint64_t right = set->weights[2 * node + 1];
        set->weights[node] = set->strategy->adds_weights ? left + right : greater(left, right);
    }
}

/* --- chains ----------------------------------------------------------------------------------- */

static void append(struct bz_ready_set *set, uint32_t slot) {
    if (!has_chains(set)) {
        return;
    }
    struct bz_ready_chain *chain = &set->chains[set->slots[slot].name.owner];
    bool is_first = chain->count++ == 0;
    set->slots[slot].before = is_first ? BZ_NO_SLOT : chain->last;
    set->slots[slot].after = BZ_NO_SLOT;
    *(is_first ? &chain->first : &set->slots[chain->last].after) = slot;
    chain->last = slot;
}

static void drop(struct bz_ready_set *set, const struct bz_ready_slot *gone) {
    struct bz_ready_chain *chain = &set->chains[gone->name.owner];
    chain->count--;
    *(gone->before == BZ_NO_SLOT ? &chain->first : &set->slots[gone->before].after) = gone->after;
    *(gone->after == BZ_NO_SLOT ? &chain->last : &set->slots[gone->after].before) = gone->before;
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

static bool allocate(struct bz_ready_set *set, uint32_t capacity) {
    if (!resize((void **)&set->slots, capacity, sizeof *set->slots) ||
        !resize((void **)&set->present, capacity / WORD_BITS, sizeof *set->present) ||
        !resize((void **)&set->counts, 2 * capacity / WORD_BITS, sizeof *set->counts) ||
        !resize((void **)&set->weights, 2 * (size_t)capacity, sizeof *set->weights)) {
        return false;
    }
    set->allocated = capacity;
    return true;
}

/* Doubles the slots. The trees are to be built. */
static bool grow(struct bz_ready_set *set) {
    uint32_t capacity = 2 * set->capacity;
    if (capacity > set->allocated && !allocate(set, capacity)) {
        return false;
    }
    memcpy(set->weights + capacity, set->weights + set->capacity,
           set->capacity * sizeof *set->weights);
    set->capacity = capacity;
    return true;
}

/* Empties the chains of the handles that are there. */
static void drop_chains(struct bz_ready_set *set) {
    bool is_any = set->end > 0 && has_chains(set);
    for (uint32_t word = 0; is_any && word < (set->end + WORD_BITS - 1) / WORD_BITS; word++) {
        for (uint64_t bits = set->present[word]; bits != 0; bits &= bits - 1) {
            uint32_t slot = word * WORD_BITS + (uint32_t)__builtin_ctzll(bits);
            set->chains[set->slots[slot].name.owner].count = 0;
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
    uint64_t *leaves = set->weights + set->capacity;
    uint32_t kept = 0;
    drop_chains(set);
    for (uint32_t slot = 0; slot < set->end; slot++) {
        if (is_present(set, slot)) {
            set->slots[kept] = set->slots[slot];
            leaves[kept] = leaves[slot];
            append(set, kept++);
        }
    }
    set->end = kept;
    memset(leaves + kept, 0, (set->capacity - kept) * sizeof *leaves);
    mark_present(set);
    build_trees(set);
}

static uint64_t weigh(const struct bz_ready_set *set, uint32_t slot) {
    return set->strategy->weight(set->state, &set->slots[slot].name);
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
    set->capacity = capacity;
    set->count = count;
    for (; set->end < count; set->end++) {
        if (names[set->end].owner >= set->owners && !add_owner(set, names[set->end].owner)) {
            return false;
        }
        set->slots[set->end].name = names[set->end];
        append(set, set->end);
        set->weights[capacity + set->end] = has_weights(set) ? weigh(set, set->end) : 0;
    }
    memset(set->weights + capacity + count, 0, (capacity - count) * sizeof *set->weights);
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
    set->slots[slot].name = name;
    set->present[slot / WORD_BITS] |= UINT64_C(1) << slot % WORD_BITS;
    set->count++;
    append(set, slot);
    change_count(set, slot, 1);
    if (has_weights(set)) {
        set_weight(set, slot, weigh(set, slot));
    }
    return true;
}

void bz_ready_set_remove(struct bz_ready_set *set, uint32_t slot) {
    set->present[slot / WORD_BITS] &= ~(UINT64_C(1) << slot % WORD_BITS);
    set->count--;
    if (has_chains(set)) {
        drop(set, &set->slots[slot]);
    }
    change_count(set, slot, UINT32_MAX);
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
    uint32_t words = word_count(set);
    uint32_t rest = index;
    uint32_t node = 1;
    BZ_CHECK(index < set->count);
    while (node < words) {
        node *= 2;
        uint32_t left = set->counts[node];
        uint32_t is_right = rest >= left;
        rest -= left & -is_right;
        node += is_right;
    }
    uint32_t word = node - words;
    return (struct bz_ready_place){word * WORD_BITS + find_bit(set->present[word], rest), index};
}

struct bz_ready_place bz_ready_set_at_slot(const struct bz_ready_set *set, uint32_t slot) {
    uint64_t before = (UINT64_C(1) << slot % WORD_BITS) - 1;
    uint32_t index = (uint32_t)(byte_sums(set->present[slot / WORD_BITS] & before) >> 56u);
    for (uint32_t node = word_count(set) + slot / WORD_BITS; node > 1; node /= 2) {
        index += set->counts[node - 1] & -(node % 2); /* the left neighbour of a right child */
    }
    return (struct bz_ready_place){slot, index};
}

struct bz_ready_place bz_ready_set_at_sum(const struct bz_ready_set *set, uint64_t drawn) {
    uint32_t node = 1;
    while (node < set->capacity) {
        node *= 2;
        uint64_t left = set->weights[node];
        uint64_t is_right = drawn >= left;
        drawn -= left & -is_right;
        node += (uint32_t)is_right;
    }
    return bz_ready_set_at_slot(set, node - set->capacity);
}

struct bz_ready_place bz_ready_set_greatest(const struct bz_ready_set *set) {
    uint64_t greatest = set->weights[1];
    uint32_t node = 1;
    while (node < set->capacity) {
        node = 2 * node + (set->weights[2 * node] != greatest);
    }
    return bz_ready_set_at_slot(set, node - set->capacity);
}

void bz_ready_set_weigh_again(struct bz_ready_set *set, uint32_t owner) {
    for (uint32_t slot = 0; slot < set->end; slot++) {
        if (is_present(set, slot) && set->slots[slot].name.owner == owner) {
            set_weight(set, slot, weigh(set, slot));
        }
    }
}
