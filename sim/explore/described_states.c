/* States that whole runs come to: another runtime says what the judge does not know of them. */
#include <string.h>

#include "sim/explore/search.h"

#define SPENT_MAX 0xffffu

/* Of both, without what no later step sees, and without addresses. */
union task_words {
    struct bz_shadow_task task;
    uint64_t words[(sizeof(struct bz_shadow_task) + 7) / 8];
};

union object_words {
    struct bz_shadow_object object;
    uint64_t words[(sizeof(struct bz_shadow_object) + 7) / 8];
};

static struct bz_fingerprint add_task(struct bz_fingerprint print, const struct bz_shadow *shadow,
                                      uint32_t id) {
    union task_words own = {.words = {0}};
    own.task = shadow->tasks[id];
    own.task.name_base = NULL;
    own.task.arrival -= shadow->objects[own.task.object].first_live;
    bool is_suspended = own.task.phase == BZ_PHASE_SUSPENDED;
    bz_shadow_clear_task(&own.task, BZ_LIFE_NEVER | (is_suspended ? 0 : BZ_LIFE_WAIT) |
                                        (own.task.op != BZ_OP_NONE ? 0 : BZ_LIFE_OP));
    return bz_fingerprint_of(print, own.words, sizeof own.words);
}

static struct bz_fingerprint add_object(struct bz_fingerprint print, const struct bz_shadow *shadow,
                                        uint32_t number) {
    union object_words own = {.words = {0}};
    const struct bz_shadow_object *object = &shadow->objects[number];
    own.object = *object;
    bz_shadow_clear_object(&own.object, BZ_LIFE_NEVER);
    memset(&own.object.look, 0, sizeof own.object.look);
    own.object.name = NULL;
    own.object.line = NULL;
    own.object.line_capacity = 0;
    own.object.line_end -= object->first_live;
    own.object.first_woken -= object->first_live;
    own.object.first_live = 0;
    print = bz_fingerprint_of(print, own.words, sizeof own.words);
    for (uint32_t place = object->first_live; place < object->line_end; place++) {
        uint64_t task = object->line[place];
        print = bz_fingerprint_of(print, &task, sizeof task);
    }
    return print;
}

static struct bz_fingerprint print_of(const struct bz_judge *judge, const void *text,
                                      size_t bytes) {
    const struct bz_shadow *shadow = &judge->shadow;
    uint64_t words[] = {
        judge->now_ns,        judge->lag_ns, judge->has_spun, shadow->running, shadow->task_count,
        shadow->object_count, bytes};
    struct bz_fingerprint print = bz_fingerprint_of(BZ_FINGERPRINT_BEGIN, words, sizeof words);
    for (uint32_t id = 1; id <= shadow->task_count; id++) {
        print = add_task(print, shadow, id);
    }
    for (uint32_t number = 1; number <= shadow->object_count; number++) {
        print = add_object(print, shadow, number);
    }
    return bz_fingerprint_end(bz_fingerprint_of(print, text, bytes), 0);
}

static uint64_t pack(const struct bz_deviations *spent) {
    return (uint64_t)spent->delays << 32u | (uint64_t)spent->cancels << 16u | spent->draws;
}

/* True if none of the three is more than in `other`. */
static bool is_at_most(uint64_t mark, uint64_t other) {
    for (unsigned shift = 0; shift < 48; shift += 16) {
        if ((mark >> shift & SPENT_MAX) > (other >> shift & SPENT_MAX)) {
            return false;
        }
    }
    return true;
}

static bool was_there(struct bz_search *search, const struct bz_judge *judge, const void *text,
                      size_t bytes) {
    struct bz_deviations spent = bz_search_cost(search, 0, search->cursor);
    bool is_new;
    if (bz_deviations_sum(&spent) > SPENT_MAX) {
        return false;
    }
    struct bz_visited_state *state =
        bz_visited_add(&search->outcomes, print_of(judge, text, bytes), &is_new);
    if (state == NULL) {
        return false; /* without memory, runs are made again */
    }
    /* In the run that has met it first, it is a loop, which only the step limit ends. */
    if (!is_new && state->schedules != search->runs && is_at_most(state->mark, pack(&spent))) {
        return true;
    }
    if (is_new || !is_at_most(state->mark, pack(&spent))) {
        state->mark = pack(&spent);
        state->schedules = search->runs;
    }
    return false;
}

bool bz_search_meets(struct bz_judge *judge, const void *text, size_t bytes) {
    struct bz_search *search = *(struct bz_search **)judge->strategy_state;
    search->is_merged = search->cursor >= search->fresh && search->revived_max == 0 &&
                        was_there(search, judge, text, bytes);
    return search->is_merged;
}
