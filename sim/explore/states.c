#include <stdlib.h>
#include <string.h>

#include "sim/choice/pcg.h"
#include "sim/explore/search.h"

#define ON_PATH (UINT64_C(1) << 63u) /* in the mark of a state; the rest is its sleep set, or */
                                     /* its number, in a team or while the graph is recorded */
#define GONE 0xffu                   /* the outcome of a task whose memory was given back */

/* --- sleep sets ------------------------------------------------------------------------------- */

static uint32_t index_of(uint64_t transition) {
    return (uint32_t)__builtin_ctzll(transition);
}

bool bz_search_is_skipped(const struct bz_search *search, uint64_t transition) {
    const struct bz_frame *frame = search->top;
    return frame->only != 0 ? (transition & frame->only) == 0 : (transition & frame->sleep) != 0;
}

/* Combinations of choices that differ in draws alone are one transition. Its footprint is the union
 * of theirs, and it counts as tried after the last of them. */
void bz_search_note_footprint(struct bz_search *search) {
    struct bz_frame *frame = search->top;
    const struct bz_tracker *tracker = &search->tracker;
    if (frame->present != tracker->transition) {
        if (frame->present != BZ_TRANSITION_NONE) {
            frame->tried |= frame->present;
            frame->prints[index_of(frame->present)] = frame->present_print;
        }
        frame->present = tracker->transition;
        frame->present_print = (struct bz_footprint){0};
    }
    bz_footprint_add(&frame->present_print, &tracker->footprint);
}

/* After a transition, those that commute with it need not be tried. */
static void inherit_sleep(const struct bz_search *search, struct bz_frame *child) {
    const struct bz_frame *frame = search->top;
    for (uint64_t left = frame->sleep | frame->tried; left != 0; left &= left - 1) {
        const struct bz_footprint *other = &frame->prints[index_of(left)];
        if (bz_footprints_commute(&search->tracker.footprint, other, frame->cancels_left)) {
            child->sleep |= left & -left;
            child->prints[index_of(left)] = *other;
        }
    }
}

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

/* What the path has spent of the bounds is part of the state. (The cancels are: in the judge's.
 * Lag is once it has run out somewhere: until then no later choice depends on it.) */
static uint64_t spent(const struct bz_search *search, const struct bz_frame *frame) {
    const struct bz_search_bounds *bounds = &search->bounds;
    uint64_t delays = bounds->delays == BZ_EXPLORE_UNBOUNDED ? 0 : frame->delays;
    uint64_t deviations =
        bounds->deviations == BZ_EXPLORE_UNBOUNDED ? 0 : (uint64_t)frame->delays + frame->draws;
    uint64_t lag_ns = bz_search_has(search, BZ_REDUCE_LAG) ? 0 : search->world->judge->lag_ns;
    return (delays << 32u | deviations) ^ (lag_ns == 0 ? 0 : bz_seed_mix(lag_ns));
}

/* Of the state that the world is in. False without memory. */
static bool find_fingerprint(struct bz_search *search, struct bz_frame *child) {
    const struct bz_frame *frame = search->top;
    const struct bz_print *before = frame == &search->root ? NULL : &frame->print;
    struct bz_fingerprint *print = &child->fingerprint;
    child->print.layout = 0;
    if (!bz_search_has(search, BZ_REDUCE_SYMMETRY)) {
        bool is_ok = bz_printer_print(&search->printer, search->world, &frame->snapshot, before,
                                      &child->print);
        *print = bz_fingerprint_end(bz_print_rest(&child->print), spent(search, child));
        return is_ok;
    }
    if (bz_symmetry_has_all(&search->symmetry, search->world) &&
        bz_printer_print(&search->printer, search->world, &frame->snapshot, before,
                         &child->print) &&
        bz_symmetry_fingerprint(&search->symmetry, search->world, &child->print, print)) {
        *print = bz_fingerprint_end(*print, spent(search, child));
        return true;
    }
    bool is_ok =
        bz_printer_print(&search->fallback_printer, search->world, NULL, NULL, &child->print);
    *print = bz_fingerprint_end(bz_print_rest(&child->print), spent(search, child));
    child->print.layout = 0; /* not by `printer` */
    return is_ok;
}

/* --- arriving and leaving --------------------------------------------------------------------- */

/* Alone there is no need, and a lookup that misses the cache overlaps with what follows. */
static void lock(const struct bz_search *search, struct bz_visited *visited,
                 struct bz_fingerprint fingerprint) {
    if (search->team != NULL) {
        bz_visited_lock(visited, fingerprint);
    }
}

static void unlock(const struct bz_search *search, struct bz_visited *visited,
                   struct bz_fingerprint fingerprint) {
    if (search->team != NULL) {
        bz_visited_unlock(visited, fingerprint);
    }
}

/* In a team, which has no sleep sets. Who searches a state logs its transitions, and guests do not.
 */
static void log_edge(struct bz_search *search, struct bz_frame *child,
                     struct bz_visited_state *state, bool is_new) {
    if (is_new) {
        child->number = bz_team_number_state(search);
        state->mark |= child->number;
    }
    if (!search->top->is_guest) {
        bz_team_log_edge(search, search->top->number, (uint32_t)state->mark);
    }
}

/* Of a state that a worker has added before it paused. */
static uint32_t find_number(struct bz_search *search, struct bz_fingerprint fingerprint) {
    bz_visited_lock(&search->visited, fingerprint);
    const struct bz_visited_state *state = bz_visited_find(&search->visited, fingerprint);
    uint32_t number = state == NULL ? 0 : (uint32_t)state->mark;
    bz_visited_unlock(&search->visited, fingerprint);
    return number;
}

/* A known state is searched again for the transitions that slept then and do not sleep now
 * (Godefroid, 1996, on state spaces with sleep sets). */
static enum bz_arrival admit(struct bz_search *search, struct bz_frame *child,
                             struct bz_visited_state *state, bool is_new) {
    bool is_loop = (state->mark & ON_PATH) != 0;
    if (is_new) {
        search->result->states++;
        state->mark = ON_PATH | child->sleep;
    }
    if (search->team != NULL) {
        log_edge(search, child, state, is_new);
    }
    if (is_new) {
        return BZ_ARRIVED_NEW;
    }
    if (search->team != NULL) {
        child->is_guest = is_loop && bz_search_may_visit(search, child->fingerprint);
        return child->is_guest ? BZ_ARRIVED_NEW : BZ_ARRIVED_KNOWN;
    }
    uint64_t slept = bz_search_has(search, BZ_REDUCE_SLEEP) ? state->mark & ~ON_PATH : 0;
    uint64_t missing = slept & ~child->sleep;
    search->result->has_cycles |= is_loop;
    search->may_have_cycles |= missing != 0;
    if (missing != 0) {
        state->mark = ON_PATH | (state->mark & child->sleep);
        child->only = missing;
        child->is_again = is_loop;
        return BZ_ARRIVED_NEW;
    }
    if (is_loop) {
        return BZ_ARRIVED_LOOP;
    }
    struct bz_frame *frame = search->top;
    bz_schedules_add(&frame->schedules, state->schedules);
    return BZ_ARRIVED_KNOWN;
}

/* Above the frontier nothing is merged: which prefixes there are must not depend on the shard. */
static enum bz_arrival pass(struct bz_search *search, struct bz_frame *child) {
    child->number = 0;
    child->is_guest = search->top->is_guest;
    search->result->states += !child->is_guest && bz_search_counts(search, child);
    if (search->cycles != NULL) {
        struct bz_visited_state state = {.mark = 0};
        bz_search_record_state(search, child, &state, true);
    }
    return BZ_ARRIVED_NEW;
}

/* Whether the state that the world is in was there before. */
static enum bz_arrival look_up(struct bz_search *search, struct bz_frame *child) {
    bool is_new = true;
    if (!bz_search_has(search, BZ_REDUCE_STATES)) {
        search->result->states += bz_search_counts(search, child);
        return BZ_ARRIVED_NEW;
    }
    if (!find_fingerprint(search, child)) {
        return BZ_ARRIVED_FAILED;
    }
    if (search->is_replaying) {
        child->number = search->team == NULL ? 0 : find_number(search, child->fingerprint);
        return BZ_ARRIVED_NEW;
    }
    if (child->is_above) {
        return pass(search, child);
    }
    if (search->bits.words != NULL) {
        is_new = bz_bits_add(&search->bits, child->fingerprint);
        search->result->states += is_new;
        return is_new ? BZ_ARRIVED_NEW : BZ_ARRIVED_KNOWN;
    }
    lock(search, &search->visited, child->fingerprint);
    struct bz_visited_state *state = bz_visited_add(&search->visited, child->fingerprint, &is_new);
    enum bz_arrival arrival =
        state == NULL ? BZ_ARRIVED_FAILED : admit(search, child, state, is_new);
    if (search->cycles != NULL && state != NULL) {
        bz_search_record_state(search, child, state, is_new);
    }
    unlock(search, &search->visited, child->fingerprint);
    return arrival;
}

enum bz_arrival bz_search_arrive(struct bz_search *search, struct bz_frame *child) {
    const struct bz_frame *frame = search->top;
    child->is_progress = search->world->judge->progress_step != 0;
    struct bz_deviations more = bz_search_cost(search, frame->first_point, frame->point_count);
    child->delays = frame->delays + more.delays;
    child->draws = frame->draws + more.draws;
    child->sleep = 0;
    child->only = 0;
    child->is_again = false;
    child->is_guest = false;
    child->is_above = search->frame_count < search->frontier;
    if (search->frame_count == search->frontier && !bz_frontier_is_own(search)) {
        return BZ_ARRIVED_KNOWN;
    }
    if (!bz_search_has(search, BZ_REDUCE_SNAPSHOTS)) {
        search->result->states += bz_search_counts(search, child);
        return BZ_ARRIVED_NEW;
    }
    if (bz_search_has(search, BZ_REDUCE_SLEEP)) {
        inherit_sleep(search, child);
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
    if (!bz_search_has(search, BZ_REDUCE_STATES) || search->bits.words != NULL ||
        search->frame_count == 1 || frame->is_guest || frame->is_above) {
        return;
    }
    lock(search, &search->visited, frame->fingerprint);
    struct bz_visited_state *state = bz_visited_find(&search->visited, frame->fingerprint);
    bz_schedules_add(&state->schedules, frame->schedules);
    if (!frame->is_again) {
        state->mark &= ~ON_PATH;
    }
    unlock(search, &search->visited, frame->fingerprint);
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
    lock(search, &search->outcomes, print);
    bool is_ok = bz_visited_add(&search->outcomes, print, &is_new) != NULL;
    unlock(search, &search->outcomes, print);
    search->result->outcomes += is_ok && is_new;
    search->result->outcomes_digest += is_ok && is_new ? digest_of(print) : 0;
    return is_ok;
}

void bz_search_tell_outcomes(const struct bz_search *search) {
    const struct bz_explore_config *config = search->config;
    const struct bz_visited_state *state;
    struct bz_visited_place place = {0};
    uint64_t count = 0;
    uint64_t sum = 0;
    uint64_t *digests = config->on_outcomes == NULL
                            ? NULL
                            : malloc((bz_visited_count(&search->outcomes) + 1) * sizeof *digests);
    while (digests != NULL && (state = bz_visited_next(&search->outcomes, &place)) != NULL) {
        digests[count] = digest_of(state->fingerprint);
        sum += digests[count++];
    }
    if (digests != NULL && count == search->result->outcomes &&
        sum == search->result->outcomes_digest) {
        config->on_outcomes(config->context, digests, count);
    }
    free(digests);
}
