#include "sim/spec/search.h"

#include <stdlib.h>

#include "primitives/runtime/check.h"

#define STATES_FIRST (UINT64_C(1) << 11u)
#define SLOTS_PER_STATE 2u /* of the capacity; both are powers of two */
#define POLL_INTERVAL 4096u

struct found {
    struct bz_spec_state state;
    uint64_t parent; /* the index of the state from which it was found first */
};

struct search {
    const struct bz_search_config *config;
    struct bz_search_result *result;
    struct found *states; /* in the order in which they were found */
    uint64_t count;
    uint64_t capacity;
    uint64_t *slots; /* a hash table: the index of a state plus 1; 0: a free slot */
    uint64_t first_broken;
};

/* --- the set ---------------------------------------------------------------------------------- */

static bool is_same(struct bz_spec_state a, struct bz_spec_state b) {
    return a.word[0] == b.word[0] && a.word[1] == b.word[1];
}

/* The finalizer of MurmurHash3 (A. Appleby, public domain), over both words. */
static uint64_t hash_of(struct bz_spec_state state) {
    uint64_t hash = state.word[0];
    hash ^= (state.word[1] + UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xd6e8feb86659fd93);
    hash = (hash ^ hash >> 33u) * UINT64_C(0xff51afd7ed558ccd);
    hash = (hash ^ hash >> 33u) * UINT64_C(0xc4ceb9fe1a85ec53);
    return hash ^ hash >> 33u;
}

/* The slot of the state, or the free one where it would be. */
static uint64_t *slot_of(const struct search *search, struct bz_spec_state state) {
    uint64_t mask = SLOTS_PER_STATE * search->capacity - 1;
    uint64_t index = hash_of(state) & mask;
    while (search->slots[index] != 0 &&
           !is_same(search->states[search->slots[index] - 1].state, state)) {
        index = (index + 1) & mask;
    }
    return &search->slots[index];
}

/* False: so much memory may not be used, or there is not so much. */
static bool reserve(struct search *search, uint64_t capacity) {
    struct bz_search_result *result = search->result;
    uint64_t most = search->config->memory_max_bytes;
    uint64_t bytes = capacity * (sizeof *search->states + SLOTS_PER_STATE * sizeof *search->slots);
    result->is_at_limit = most != 0 && bytes > most;
    struct found *states =
        result->is_at_limit ? NULL : realloc(search->states, capacity * sizeof *states);
    if (states == NULL) {
        return false;
    }
    search->states = states;
    free(search->slots);
    search->slots = calloc(SLOTS_PER_STATE * capacity, sizeof *search->slots);
    if (search->slots == NULL) {
        return false;
    }
    search->capacity = capacity;
    result->memory_bytes = bytes;
    for (uint64_t index = 0; index < search->count; index++) {
        *slot_of(search, states[index].state) = index + 1;
    }
    return true;
}

/* False without memory for a further one. */
static bool add(struct search *search, struct bz_spec_state state, uint64_t parent) {
    uint64_t *slot = slot_of(search, state);
    if (*slot != 0) {
        return true;
    }
    search->states[search->count++] = (struct found){state, parent};
    *slot = search->count;
    return search->count < search->capacity || reserve(search, 2 * search->capacity);
}

/* --- the search ------------------------------------------------------------------------------- */

static uint32_t expand(const struct search *search, uint64_t index, struct bz_spec_step *steps,
                       uint32_t *broken) {
    const struct bz_search_config *config = search->config;
    return config->spec->expand(&config->constants, search->states[index].state, steps, broken);
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
    so_far.waiting = search->count - index;
    return !config->poll(config->context, &so_far);
}

/* Expands one state after another, from `*next` on. */
static enum bz_search_end search_all(struct search *search, uint64_t *next) {
    struct bz_search_counts *counts = &search->result->counts;
    struct bz_spec_step steps[BZ_SPEC_STEPS_MAX];
    uint64_t level_end = 0;
    for (; *next < search->count; ++*next) {
        if (*next == level_end) {
            counts->depth++;
            level_end = search->count;
        }
        if (should_stop(search, *next)) {
            return BZ_SEARCH_STOPPED;
        }
        uint32_t broken = 0;
        uint32_t count = expand(search, *next, steps, &broken);
        counts->generated += count;
        if (broken != 0 || count == 0) {
            note_broken(search, *next, broken, count == 0);
        }
        for (uint32_t index = 0; index < count; index++) {
            if (!add(search, steps[index].state, *next)) {
                return BZ_SEARCH_OUT_OF_MEMORY;
            }
        }
    }
    return BZ_SEARCH_COMPLETE;
}

/* --- the counterexample ----------------------------------------------------------------------- */

/* The first transition from its parent to this state. */
static struct bz_spec_step step_to(const struct search *search, uint64_t index) {
    struct bz_spec_step steps[BZ_SPEC_STEPS_MAX];
    uint32_t broken;
    uint32_t count = expand(search, search->states[index].parent, steps, &broken);
    uint32_t number = 0;
    while (number < count && !is_same(steps[number].state, search->states[index].state)) {
        number++;
    }
    BZ_CHECK(number < count);
    return steps[number];
}

static bool trace_back(struct search *search) {
    struct bz_search_trace *trace = &search->result->trace;
    uint64_t length = 1;
    for (uint64_t index = search->first_broken; index != 0; index = search->states[index].parent) {
        length++;
    }
    trace->steps = calloc(length, sizeof *trace->steps);
    if (trace->steps == NULL) {
        return false;
    }
    trace->length = length;
    for (uint64_t index = search->first_broken; index != 0; index = search->states[index].parent) {
        trace->steps[--length] = step_to(search, index);
    }
    trace->steps[0] =
        (struct bz_spec_step){search->states[0].state, BZ_SPEC_NO_ACTION, BZ_SPEC_NO_CLIENT};
    return true;
}

void bz_search(const struct bz_search_config *config, struct bz_search_result *result) {
    struct search search = {.config = config, .result = result};
    uint64_t next = 0;
    *result = (struct bz_search_result){.end = BZ_SEARCH_OUT_OF_MEMORY, .counts = {.generated = 1}};
    if (reserve(&search, STATES_FIRST) && add(&search, bz_spec_initial(&config->constants), 0)) {
        result->end = search_all(&search, &next);
    }
    result->counts.distinct = search.count;
    result->counts.waiting = search.count - next;
    if (result->has_violation && !trace_back(&search)) {
        result->end = BZ_SEARCH_OUT_OF_MEMORY;
    }
    free(search.slots);
    free(search.states);
}

void bz_search_result_fini(struct bz_search_result *result) {
    free(result->trace.steps);
    result->trace = (struct bz_search_trace){.steps = NULL};
}
