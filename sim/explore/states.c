#include <stdlib.h>
#include <string.h>

#include "sim/choice/pcg.h"
#include "sim/explore/search.h"

/* In the mark of a state; the rest is its number, while the graph is recorded. */
#define ON_PATH (UINT64_C(1) << 63u)
#define UNFINISHED (UINT64_C(1) << 62u) /* see record.h */
#define GONE 0xffu                      /* the outcome of a task whose memory was given back */

/* --- fingerprints ----------------------------------------------------------------------------- */

static void sort_words(uint64_t *words, uint32_t count) {
    for (uint32_t index = 1; index < count; index++) {
        uint64_t word = words[index];
        uint32_t place = index;
        for (; place > 0 && words[place - 1] > word; place--) {
            words[place] = words[place - 1];
        }
        words[place] = word;
    }
}

/* The part of the bounds that the path has spent belongs to the state. (The cancels are: in the
 * judge's. Lag is once it has run out somewhere: until then no later choice depends on it.) */
static uint64_t spent(const struct bz_search *search, const struct bz_frame *frame) {
    const struct bz_search_bounds *bounds = &search->at.bounds;
    uint64_t delays = bounds->delays == BZ_EXPLORE_UNBOUNDED ? 0 : frame->delays;
    uint64_t deviations =
        bounds->deviations == BZ_EXPLORE_UNBOUNDED ? 0 : (uint64_t)frame->delays + frame->draws;
    uint64_t lag_ns = bz_search_has(search, BZ_REDUCE_LAG) ? 0 : search->world->judge->lag_ns;
    return (delays << 32u | deviations) ^ (lag_ns == 0 ? 0 : bz_seed_mix(lag_ns));
}

/* Of the state that the world is in. False without memory. A state that has no form up to a
 * permutation of tasks ends the search, which begins again without symmetry. */
static bool find_fingerprint(struct bz_search *search, struct bz_frame *child) {
    const struct bz_frame *frame = search->top;
    const struct bz_print *before = frame == &search->root ? NULL : &frame->print;
    struct bz_fingerprint *print = &child->fingerprint;
    bool is_symmetric = bz_search_has(search, BZ_REDUCE_SYMMETRY);
    bool is_ok =
        bz_printer_print(&search->printer, search->world, &frame->snapshot, before, &child->print);
    *print = bz_print_rest(&child->print);
    if (is_symmetric &&
        !(is_ok && bz_symmetry_has_all(&search->symmetry, search->world) &&
          bz_symmetry_fingerprint(&search->symmetry, search->world, &child->print, print))) {
        search->at.unsound |= BZ_REDUCE_SYMMETRY;
    }
    *print = bz_fingerprint_end(*print, spent(search, child));
    return is_ok || is_symmetric;
}

/* --- arriving and leaving --------------------------------------------------------------------- */

static enum bz_arrival admit(struct bz_search *search, struct bz_visited_state *state,
                             bool is_new) {
    struct bz_record *record = search->record;
    if ((state->mark & UNFINISHED) != 0) {
        state->mark = (state->mark & ~UNFINISHED) | ON_PATH;
        record->unfinished--;
        return BZ_ARRIVED_NEW;
    }
    if (is_new) {
        bool is_lost = record != NULL && record->unfinished > 0;
        search->result->states++;
        search->result->end = is_lost ? BZ_EXPLORE_LOST : search->result->end;
        state->mark |= ON_PATH;
        return BZ_ARRIVED_NEW;
    }
    if ((state->mark & ON_PATH) != 0) {
        search->result->has_cycles = true;
        return BZ_ARRIVED_LOOP;
    }
    bz_schedules_add(&search->top->schedules, state->schedules);
    return BZ_ARRIVED_KNOWN;
}

/* True if the state that the world is in was there before. */
static enum bz_arrival look_up(struct bz_search *search, struct bz_frame *child) {
    bool is_new = true;
    if (!bz_search_has(search, BZ_REDUCE_STATES)) {
        search->result->states++;
        return BZ_ARRIVED_NEW;
    }
    if (!find_fingerprint(search, child)) {
        return BZ_ARRIVED_FAILED;
    }
    struct bz_visited_state *state = bz_visited_add(&search->visited, child->fingerprint, &is_new);
    if (state == NULL) {
        return BZ_ARRIVED_FAILED;
    }
    enum bz_arrival arrival = admit(search, state, is_new);
    if (search->cycles != NULL) {
        bz_search_record_state(search, child, state, is_new);
    }
    return arrival;
}

enum bz_arrival bz_search_arrive(struct bz_search *search, struct bz_frame *child) {
    const struct bz_frame *frame = search->top;
    child->is_progress = search->world->judge->progress_step != 0;
    struct bz_deviations more = bz_search_cost(search, frame->first_point, frame->point_count);
    child->delays = frame->delays + more.delays;
    child->draws = frame->draws + more.draws;
    if (!bz_search_has(search, BZ_REDUCE_SNAPSHOTS)) {
        search->result->states++;
        return BZ_ARRIVED_NEW;
    }
    if (search->cycles != NULL) {
        bz_search_look_at_step(search);
    }
    bz_snapshot_normalize(search->world);
    enum bz_arrival arrival = look_up(search, child);
    bool is_saved = arrival != BZ_ARRIVED_NEW || bz_snapshot_save(search->world, &child->snapshot);
    return is_saved ? arrival : BZ_ARRIVED_FAILED;
}

void bz_search_depart(struct bz_search *search) {
    const struct bz_frame *frame = search->top;
    if (bz_search_has(search, BZ_REDUCE_STATES) && search->frame_count > 1) {
        struct bz_visited_state *state = bz_visited_find(&search->visited, frame->fingerprint);
        bz_schedules_add(&state->schedules, frame->schedules);
        state->mark &= ~ON_PATH;
    }
}

void bz_search_leave_unfinished(struct bz_search *search, const struct bz_frame *frame) {
    struct bz_visited_state *state = bz_visited_find(&search->visited, frame->fingerprint);
    state->mark = (state->mark & ~ON_PATH) | UNFINISHED;
}

/* --- outcomes --------------------------------------------------------------------------------- */

static struct bz_fingerprint add(struct bz_fingerprint print, uint64_t word) {
    return bz_fingerprint_of(print, &word, sizeof word);
}

static uint64_t outcome_of(const struct bz_world *world, uint32_t id) {
    const struct bz_task *task = bz_world_find_task(world, id);
    uint64_t end = task == NULL ? GONE : (uint64_t)task->done.state << 8u | task->done.status;
    return (uint64_t)world->judge->shadow.tasks[id].holdings << 16u | end;
}

static uint64_t digest_of(struct bz_fingerprint print) {
    return bz_seed_mix(print.high ^ print.low);
}

bool bz_search_note_outcome(struct bz_search *search) {
    const struct bz_shadow *shadow = &search->world->judge->shadow;
    const struct bz_symmetry *symmetry = &search->symmetry;
    struct bz_fingerprint print = BZ_FINGERPRINT_BEGIN;
    uint64_t alike[BZ_ALIKE_MAX];
    for (uint32_t id = 1; id <= shadow->task_count; id++) {
        uint64_t outcome = outcome_of(search->world, id);
        uint32_t index = bz_symmetry_index(symmetry, id);
        if (index < symmetry->count) {
            alike[index] = outcome;
        } else {
            print = add(print, outcome);
        }
    }
    for (uint32_t range = 0; range < symmetry->range_count; range++) {
        sort_words(alike + symmetry->ranges[range].first, symmetry->ranges[range].count);
    }
    print = bz_fingerprint_of(print, alike, symmetry->count * sizeof alike[0]);
    for (uint32_t number = 1; number <= shadow->object_count; number++) {
        print = add(print, shadow->objects[number].permits);
        print = add(print, shadow->objects[number].holders);
        print = add(print, shadow->objects[number].live);
    }
    bool is_new;
    print = bz_fingerprint_end(print, shadow->unfinished);
    bool is_ok = bz_visited_add(&search->outcomes, print, &is_new) != NULL;
    search->result->outcomes += is_ok && is_new;
    search->result->outcomes_digest += is_ok && is_new ? digest_of(print) : 0;
    return is_ok;
}
