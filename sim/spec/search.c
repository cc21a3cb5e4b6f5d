#include "sim/spec/search.h"

#include <stdlib.h>
#include <string.h>

#include "primitives/runtime/check.h"

#define SLOTS_FIRST (UINT64_C(1) << 12u)
#define STATES_FIRST (UINT64_C(1) << 11u)
#define LEVELS_FIRST 64u
#define PENDING_COUNT 256u /* a power of two, more than PENDING_AHEAD and a state's transitions */
#define PENDING_AHEAD 48u  /* lookups under way while the next states are expanded */
#define POLL_INTERVAL 4096u
#define INLINE static inline __attribute__((always_inline)) /* compiled once for each `words` */

/* A slot of the table is a state with its bits inverted, so that zeroed memory is an empty table.
 */
struct search {
    const struct bz_search_config *config;
    struct bz_search_result *result;
    uint64_t *states; /* in the order in which they were found */
    uint64_t count;
    uint64_t capacity;
    uint64_t *slots;
    uint64_t slot_count; /* a power of two */
    uint64_t *levels;    /* where each level begins in `states` */
    uint64_t level_count;
    uint64_t level_capacity;
    uint64_t first_broken; /* index of the first state with a violation */
    struct {
        struct bz_spec_state state;
        uint64_t hash;
    } pending[PENDING_COUNT];
    uint64_t pending_first;
    uint64_t pending_end;
};

/* --- the set ---------------------------------------------------------------------------------- */

static bool may_use(struct search *search, uint64_t words, uint64_t slot_count, uint64_t capacity) {
    uint64_t bytes = (slot_count + capacity) * words * sizeof(uint64_t);
    uint64_t most = search->config->memory_max_bytes;
    if (most != 0 && bytes > most) {
        search->result->is_at_limit = true;
        return false;
    }
    if (bytes > search->result->memory_bytes) {
        search->result->memory_bytes = bytes;
    }
    return true;
}

INLINE struct bz_spec_state state_at(const struct search *search, uint64_t words, uint64_t index) {
    const uint64_t *from = &search->states[index * words];
    return (struct bz_spec_state){.word = {from[0], words == 2 ? from[1] : 0}};
}

/* The finalizer of MurmurHash3 (A. Appleby, public domain), over both words. */
INLINE uint64_t hash_of(struct bz_spec_state state, uint64_t words) {
    uint64_t hash = state.word[0];
    if (words == 2) {
        hash ^= (state.word[1] + UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xd6e8feb86659fd93);
    }
    hash = (hash ^ hash >> 33u) * UINT64_C(0xff51afd7ed558ccd);
    hash = (hash ^ hash >> 33u) * UINT64_C(0xc4ceb9fe1a85ec53);
    return hash ^ hash >> 33u;
}

INLINE void prefetch(const struct search *search, uint64_t words, uint64_t hash) {
    __builtin_prefetch(&search->slots[(hash & (search->slot_count - 1)) * words], 1);
}

/* The slot that holds the state, or the empty one where it would be. */
INLINE uint64_t *slot_of(const struct search *search, uint64_t words, struct bz_spec_state state,
                         uint64_t hash) {
    uint64_t mask = search->slot_count - 1;
    for (uint64_t index = hash & mask;; index = (index + 1) & mask) {
        uint64_t *slot = &search->slots[index * words];
        if (slot[0] == 0 ||
            (slot[0] == ~state.word[0] && (words == 1 || slot[1] == ~state.word[1]))) {
            return slot;
        }
    }
}

INLINE void store(uint64_t *to, uint64_t words, uint64_t first, uint64_t second) {
    to[0] = first;
    if (words == 2) {
        to[1] = second;
    }
}

INLINE void fill_slot(uint64_t *slot, uint64_t words, struct bz_spec_state state) {
    store(slot, words, ~state.word[0], ~state.word[1]);
}

/* A table of twice the size, filled from the array. */
INLINE bool grow_slots(struct search *search, uint64_t words) {
    uint64_t count = search->slot_count * 2;
    if (!may_use(search, words, count, search->capacity)) {
        return false;
    }
    free(search->slots);
    search->slots = calloc(count * words, sizeof *search->slots);
    search->slot_count = count;
    if (search->slots == NULL) {
        return false;
    }
    for (uint64_t index = 0; index < search->count; index++) {
        uint64_t ahead = index + PENDING_AHEAD;
        if (ahead < search->count) {
            prefetch(search, words, hash_of(state_at(search, words, ahead), words));
        }
        struct bz_spec_state state = state_at(search, words, index);
        fill_slot(slot_of(search, words, state, hash_of(state, words)), words, state);
    }
    return true;
}

INLINE bool grow_states(struct search *search, uint64_t words) {
    uint64_t capacity = search->capacity + search->capacity / 2;
    if (!may_use(search, words, search->slot_count, capacity)) {
        return false;
    }
    uint64_t *larger = realloc(search->states, capacity * words * sizeof *larger);
    if (larger == NULL) {
        return false;
    }
    search->states = larger;
    search->capacity = capacity;
    return true;
}

/* Makes room for one more state; the table is at most two thirds full. */
INLINE bool make_room(struct search *search, uint64_t words) {
    if (search->count == search->capacity && !grow_states(search, words)) {
        return false;
    }
    return search->count + search->count / 2 < search->slot_count || grow_slots(search, words);
}

INLINE bool add(struct search *search, uint64_t words, struct bz_spec_state state, uint64_t hash) {
    uint64_t *slot = slot_of(search, words, state, hash);
    if (slot[0] != 0) {
        return true;
    }
    fill_slot(slot, words, state);
    store(&search->states[search->count++ * words], words, state.word[0], state.word[1]);
    return make_room(search, words);
}

INLINE void start_lookup(struct search *search, uint64_t words, struct bz_spec_state state) {
    uint64_t hash = hash_of(state, words);
    uint64_t index = search->pending_end++ % PENDING_COUNT;
    prefetch(search, words, hash);
    search->pending[index].state = state;
    search->pending[index].hash = hash;
}

/* Ends lookups, oldest first, until at most `left` are under way. */
INLINE bool finish_lookups(struct search *search, uint64_t words, uint64_t left) {
    while (search->pending_end - search->pending_first > left) {
        uint64_t index = search->pending_first++ % PENDING_COUNT;
        if (!add(search, words, search->pending[index].state, search->pending[index].hash)) {
            return false;
        }
    }
    return true;
}

/* --- levels ----------------------------------------------------------------------------------- */

static bool begin_level(struct search *search, uint64_t first) {
    if (search->level_count == search->level_capacity) {
        uint64_t capacity = search->level_capacity * 2;
        uint64_t *larger = realloc(search->levels, capacity * sizeof *larger);
        if (larger == NULL) {
            return false;
        }
        search->levels = larger;
        search->level_capacity = capacity;
    }
    search->levels[search->level_count++] = first;
    return true;
}

static void note_broken(struct search *search, uint64_t index, uint32_t broken, bool is_dead) {
    struct bz_search_result *result = search->result;
    result->broken |= broken;
    result->counts.deadlocks += is_dead;
    if (!result->has_violation) {
        result->has_violation = true;
        result->first = broken != 0 ? (uint32_t)__builtin_ctz(broken) : BZ_SEARCH_DEADLOCK;
        search->first_broken = index;
    }
}

static bool should_stop(struct search *search, uint64_t index) {
    const struct bz_search_config *config = search->config;
    if (config->stops_at_violation && search->result->has_violation) {
        return true;
    }
    if (index % POLL_INTERVAL != 0 || config->poll == NULL) {
        return false;
    }
    struct bz_search_counts so_far = search->result->counts;
    so_far.distinct = search->count;
    so_far.depth = search->level_count;
    so_far.waiting = search->count - index;
    return !config->poll(config->context, &so_far);
}

/* Expands every state of the last level. The new states are the next level. */
INLINE enum bz_search_end search_level(struct search *search, uint64_t words, uint64_t *next) {
    const struct bz_spec *spec = search->config->spec;
    const struct bz_spec_constants *constants = &search->config->constants;
    struct bz_spec_step steps[BZ_SPEC_STEPS_MAX];
    for (uint64_t end = search->count; *next < end; ++*next) {
        if (should_stop(search, *next)) {
            return BZ_SEARCH_STOPPED;
        }
        uint32_t broken = 0;
        uint32_t count = spec->expand(constants, state_at(search, words, *next), steps, &broken);
        search->result->counts.generated += count;
        if (__builtin_expect(broken != 0 || count == 0, 0)) {
            note_broken(search, *next, broken, count == 0);
        }
        for (uint32_t index = 0; index < count; index++) {
            start_lookup(search, words, steps[index].state);
        }
        if (!finish_lookups(search, words, PENDING_AHEAD)) {
            return BZ_SEARCH_OUT_OF_MEMORY;
        }
    }
    return finish_lookups(search, words, 0) ? BZ_SEARCH_COMPLETE : BZ_SEARCH_OUT_OF_MEMORY;
}

INLINE enum bz_search_end search_all(struct search *search, uint64_t words, uint64_t *next) {
    const struct bz_search_config *config = search->config;
    struct bz_spec_state first = bz_spec_initial(&config->constants);
    enum bz_search_end end = BZ_SEARCH_COMPLETE;
    search->result->counts.generated = 1;
    if (!begin_level(search, 0) || !add(search, words, first, hash_of(first, words))) {
        return BZ_SEARCH_OUT_OF_MEMORY;
    }
    while (end == BZ_SEARCH_COMPLETE && *next < search->count) {
        uint64_t level_end = search->count;
        end = search_level(search, words, next);
        if (search->count > level_end && !begin_level(search, level_end)) {
            end = BZ_SEARCH_OUT_OF_MEMORY;
        }
    }
    return end;
}

/* --- the counterexample ----------------------------------------------------------------------- */

/* Completes a step, whose state is given, by the first state of a level that leads to it.
 * Returns the index of that state. */
static uint64_t find_parent(const struct search *search, uint64_t words, uint64_t level,
                            struct bz_spec_step *step) {
    struct bz_spec_step steps[BZ_SPEC_STEPS_MAX];
    uint64_t end = search->levels[level + 1];
    for (uint64_t index = search->levels[level]; index < end; index++) {
        uint32_t broken = 0;
        uint32_t count = search->config->spec->expand(
            &search->config->constants, state_at(search, words, index), steps, &broken);
        for (uint32_t number = 0; number < count; number++) {
            if (memcmp(&steps[number].state, &step->state, sizeof step->state) == 0) {
                *step = steps[number];
                return index;
            }
        }
    }
    bz_check_failed("a state was found from the level before it", __FILE__, __LINE__);
}

static bool trace_back(struct search *search, uint64_t words) {
    struct bz_search_trace *trace = &search->result->trace;
    uint64_t level = 0;
    while (level + 1 < search->level_count && search->levels[level + 1] <= search->first_broken) {
        level++;
    }
    trace->steps = calloc(level + 1, sizeof *trace->steps);
    if (trace->steps == NULL) {
        return false;
    }
    trace->length = level + 1;
    uint64_t index = search->first_broken;
    for (; level > 0; level--) {
        trace->steps[level].state = state_at(search, words, index);
        index = find_parent(search, words, level - 1, &trace->steps[level]);
    }
    trace->steps[0] =
        (struct bz_spec_step){state_at(search, words, index), BZ_SPEC_NO_ACTION, BZ_SPEC_NO_CLIENT};
    return true;
}

/* --- the search ------------------------------------------------------------------------------- */

static bool begin(struct search *search, uint64_t words) {
    search->slot_count = SLOTS_FIRST;
    search->capacity = STATES_FIRST;
    search->level_capacity = LEVELS_FIRST;
    if (!may_use(search, words, SLOTS_FIRST, STATES_FIRST)) {
        return false;
    }
    search->slots = calloc(SLOTS_FIRST * words, sizeof *search->slots);
    search->states = calloc(STATES_FIRST * words, sizeof *search->states);
    search->levels = calloc(LEVELS_FIRST, sizeof *search->levels);
    return search->slots != NULL && search->states != NULL && search->levels != NULL;
}

void bz_search(const struct bz_search_config *config, struct bz_search_result *result) {
    struct search search = {.config = config, .result = result};
    uint64_t words = bz_spec_words(&config->constants);
    uint64_t next = 0;
    BZ_CHECK(words == 1 || words == 2);
    *result = (struct bz_search_result){.end = BZ_SEARCH_OUT_OF_MEMORY};
    if (begin(&search, words)) {
        result->end = words == 1 ? search_all(&search, 1, &next) : search_all(&search, 2, &next);
    }
    result->counts.distinct = search.count;
    result->counts.depth = search.level_count;
    result->counts.waiting = search.count - next;
    if (result->has_violation && !trace_back(&search, words)) {
        result->end = BZ_SEARCH_OUT_OF_MEMORY;
    }
    free(search.slots);
    free(search.states);
    free(search.levels);
}

void bz_search_result_fini(struct bz_search_result *result) {
    free(result->trace.steps);
    result->trace = (struct bz_search_trace){.steps = NULL};
}
