#include "sim/explore/search.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/runtime/place.h"
#include "sim/choice/pcg.h"
#include "sim/judge/failure.h"

#define POLL_EVERY 1024u /* transitions */
#define VISITS_FIRST 512u

/* --- one transition --------------------------------------------------------------------------- */

static void *set_up(struct bz_search *search, struct bz_world *world) {
    const struct bz_program *program = search->config->program;
    bz_judge_begin(world->judge,
                   &(struct bz_run_start){.strategy = &bz_search_strategy, .context = search});
    bz_snapshot_begin(world, bz_search_has(search, BZ_REDUCE_SNAPSHOTS),
                      bz_search_has(search, BZ_REDUCE_STATES));
    void *state = program->scenario->setup(world, &program->args);
    bz_judge_end_step(world->judge);
    return state;
}

/* Another runtime than the one in C makes whole runs: one is a transition. */
static void run_whole(struct bz_search *search, struct bz_world *world) {
    bz_judge_on_state = bz_search_meets;
    (void)bz_program_run_from(
        search->config->program, world,
        &(struct bz_run_start){.strategy = &bz_search_strategy, .context = search});
    bz_judge_on_state = NULL;
}

/* States are normalized where the search did so, because that clears what events count. */
void *bz_search_repeat(struct bz_search *search, struct bz_world *world,
                       const struct bz_frame *last) {
    const struct bz_frame *frame = &search->root;
    void *state = NULL;
    search->cursor = 0;
    search->is_repeating = true;
    if (bz_search_has_whole_runs(search)) {
        run_whole(search, world);
    } else {
        state = set_up(search, world);
    }
    search->is_unrepeatable |= world->judge->digest != frame->digest;
    while (frame != last && !search->is_unrepeatable) {
        frame = frame->child;
        if (bz_search_has(search, BZ_REDUCE_SNAPSHOTS)) {
            bz_snapshot_normalize(world);
        }
        (void)bz_world_step(world);
        search->is_unrepeatable |= world->judge->digest != frame->digest;
    }
    search->is_repeating = false;
    return state;
}

/* The reductions that the first set-up allows. */
static void settle_reductions(struct bz_search *search) {
    bz_symmetry_begin(&search->symmetry, search->world);
    if (!bz_symmetry_applies(&search->symmetry, search->world)) {
        search->at.bounds.reductions &= ~BZ_REDUCE_SYMMETRY;
    }
    search->result->reductions = search->at.bounds.reductions;
    bz_printer_begin(&search->printer,
                     bz_search_has(search, BZ_REDUCE_SYMMETRY) ? &search->symmetry : NULL,
                     bz_search_has(search, BZ_REDUCE_QUEUE));
}

/* Brings the world to the state of the topmost frame: from its snapshot, or by running the path
 * again. */
static void go_back(struct bz_search *search) {
    if (search->is_at_top || search->frame_count == 1) {
        return;
    }
    if (bz_search_has(search, BZ_REDUCE_SNAPSHOTS)) {
        bz_snapshot_restore(search->world, &search->top->snapshot);
        search->world->judge->digest = BZ_DIGEST_SEED; /* as after bz_snapshot_normalize() */
        return;
    }
    search->program_state = bz_search_repeat(search, search->world, search->top->parent);
}

/* False: nothing could run any more. */
static bool run_transition(struct bz_search *search) {
    struct bz_frame *frame = search->top;
    bool goes_on = true;
    go_back(search);
    bz_judge_note_begun(search->world->judge);
    search->is_at_top = false;
    search->cursor = frame->first_point;
    if (bz_search_has_whole_runs(search)) {
        search->runs++;
        search->fresh = search->point_count;
        run_whole(search, search->world);
        goes_on = false;
        uint32_t steps = search->world->judge->step;
        search->result->depth = steps > search->result->depth ? steps : search->result->depth;
    } else if (search->frame_count == 1) {
        search->program_state = set_up(search, search->world);
    } else {
        goes_on = bz_world_step(search->world);
    }
    frame->point_count = search->point_count - frame->first_point;
    frame->digest = search->world->judge->digest;
    if (bz_search_has(search, BZ_REDUCE_SYMMETRY) && bz_symmetry_is_broken(search->world)) {
        search->at.unsound |= BZ_REDUCE_SYMMETRY;
    }
    if (search->world->loop->heap_count > 0) {
        search->at.unsound |= BZ_REDUCE_YIELDS;
    }
    if (search->world->judge->is_lag_refused) {
        search->at.unsound |= BZ_REDUCE_LAG;
    }
    return goes_on;
}

/* --- what it led to --------------------------------------------------------------------------- */

/* True if there is a finding that fails in the same way, or no room for one more. */
static bool is_kept(const struct bz_explore_result *result, const struct bz_violation *violation) {
    for (uint32_t index = 0; index < result->finding_count; index++) {
        if (bz_violations_are_alike(&result->findings[index].violation, violation)) {
            return true;
        }
    }
    return result->finding_count == BZ_EXPLORE_FINDINGS_MAX;
}

/* True if the oracle has objected to the object before. */
static bool is_counted(const struct bz_explore_result *result,
                       const struct bz_violation *violation) {
    for (uint32_t index = 0; index < result->finding_count; index++) {
        const struct bz_violation *known = &result->findings[index].violation;
        if (strcmp(known->oracle, violation->oracle) == 0 && known->object == violation->object) {
            return true;
        }
    }
    return false;
}

void bz_search_keep_finding(struct bz_search *search, const struct bz_explore_finding *finding) {
    struct bz_explore_result *result = search->result;
    const struct bz_violation *violation = &finding->violation;
    if (is_kept(search->result, violation)) {
        return;
    }
    result->violations_digest +=
        is_counted(result, violation)
            ? 0
            : bz_seed_mix(bz_seed_mix_text(violation->oracle) ^ bz_seed_mix(violation->object));
    uint32_t place = result->finding_count++;
    result->findings[place] = *finding;
    if (search->config->on_finding != NULL) {
        search->config->on_finding(search->config->context, place, &result->findings[place]);
        result->told |= 1u << place;
    }
}

/* `step`: as an ordinary run counts it. False: there is no violation. */
static bool keep_finding(struct bz_search *search, uint32_t step) {
    const struct bz_violation *violation = &search->world->judge->violation;
    if (search->world->judge->end != BZ_RUN_VIOLATED) {
        return false;
    }
    if (!is_kept(search->result, violation)) {
        struct bz_explore_finding finding = {.violation = *violation};
        finding.deviations = bz_search_cost(search, 0, search->point_count);
        finding.violation.step = bz_search_has_whole_runs(search) ? violation->step : step;
        finding.has_answers = bz_search_answers(search, &finding.answers);
        bz_search_keep_finding(search, &finding);
    }
    return true;
}

void bz_search_finish(const struct bz_search *search, struct bz_world *world, void *state) {
    const struct bz_scenario *scenario = search->config->program->scenario;
    struct bz_judge *judge = world->judge;
    if (bz_search_has_whole_runs(search)) {
        return;
    }
    if (judge->end == BZ_RUN_PASSED && judge->shadow.unfinished == 0 && scenario->finish != NULL) {
        scenario->finish(world, state);
    }
    bz_world_end(world);
}

static void finish(struct bz_search *search) {
    bz_search_finish(search, search->world, search->program_state);
}

/* True if a check has hit a limit of its own (bz_judge_cut()): the rest is not judged. */
static bool is_cut_short(struct bz_search *search) {
    bool is_cut = bz_judge_verdict(search->world->judge) == BZ_RUN_OUT_OF_STEPS;
    search->result->is_out_of_steps |= is_cut && !search->is_merged;
    return is_cut;
}

/* True if the path from the earlier frame of this state to here is a loop of default choices
 * without progress, which only the step limit would end. Another draw or a clock jump might lead
 * out of it, so it has none (judge/overtime.c). */
static bool is_default_loop(const struct bz_search *search, const struct bz_frame *child) {
    bool is_progress = child->is_progress;
    const struct bz_frame *frame = search->top;
    for (; frame != &search->root && !is_progress; frame = frame->parent) {
        for (uint32_t point = 0; point < frame->point_count; point++) {
            const struct bz_choice_point *choice = &search->points[frame->first_point + point];
            if (choice->chosen != 0 || choice->kind == BZ_CHOICE_DATA ||
                choice->kind == BZ_CHOICE_DELAY) {
                return false;
            }
        }
        if (bz_fingerprint_equal(frame->fingerprint, child->fingerprint)) {
            return true;
        }
        is_progress = frame->is_progress;
    }
    return false;
}

/* Ends the run as the step limit would, and lets the oracles judge that end. */
static void end_loop(struct bz_search *search) {
    bz_judge_exhaust(search->world->judge);
    finish(search);
}

/* --- progress --------------------------------------------------------------------------------- */

/* `end` or is_put_off says which one. */
static bool has_reached_limit(struct bz_search *search) {
    struct bz_explore_result *result = search->result;
    uint64_t states_max = search->config->states_max;
    if (result->transitions >= search->at.bounds.transitions) {
        search->is_put_off = true; /* and does not stop for anything else */
    } else if (result->states > states_max ||
               result->transitions / BZ_EXPLORE_TRANSITIONS_PER_STATE > states_max) {
        result->end = BZ_EXPLORE_STATES_MAX;
    }
    return search->is_put_off || result->end != BZ_EXPLORE_DONE;
}

static bool can_pause(const struct bz_search *search) {
    const struct bz_record *record = search->record;
    uint64_t transitions = search->result->transitions;
    return record != NULL && search->cycles == NULL && (transitions == 0 || !record->is_lost) &&
           transitions >= record->next_pause;
}

/* By the user, or for a pause. */
static void look_for_interrupt(struct bz_search *search) {
    const struct bz_explore_config *config = search->config;
    struct bz_explore_progress progress = {
        .is_sweep = search->at.bounds.deviations == BZ_EXPLORE_UNBOUNDED,
        .round = search->at.bounds.deviations,
        .states = search->result->states,
        .transitions = search->result->transitions,
    };
    bool goes_on = config->stop == NULL || *config->stop == 0;
    if (goes_on && can_pause(search) && config->is_due != NULL && config->is_due(config->context)) {
        search->record->is_pause = true;
        goes_on = false;
    }
    goes_on = goes_on && (config->poll == NULL || config->poll(config->context, &progress));
    search->result->end = goes_on ? search->result->end : BZ_EXPLORE_INTERRUPTED;
}

/* --- the search ------------------------------------------------------------------------------- */

/* The frame after the topmost one; NULL without memory. */
static struct bz_frame *next_frame(const struct bz_search *search) {
    struct bz_frame *top = search->top;
    if (top->child == NULL) {
        top->child = calloc(1, sizeof *top->child);
        if (top->child != NULL) {
            top->child->parent = top;
        }
    }
    return top->child;
}

static void enter(struct bz_search *search, struct bz_frame *frame) {
    frame->first_point = search->point_count;
    frame->point_count = 0;
    frame->cancels_left = search->world->judge->cancels_left;
    frame->schedules = 0;
    frame->tried = 0;
    frame->has_begun = false;
    search->top = frame;
    search->frame_count++;
    search->is_at_top = true;
    if (search->frame_count > search->result->depth + 2) { /* the first transition is the setup */
        search->result->depth = search->frame_count - 2;
    }
}

static void leave(struct bz_search *search) {
    struct bz_frame *frame = search->top;
    bz_search_depart(search);
    search->top = frame->parent;
    search->frame_count--;
    search->is_at_top = false;
    bz_schedules_add(search->top == NULL ? &search->result->schedules : &search->top->schedules,
                     frame->schedules);
}

void bz_search_keep_death(struct bz_search *search, const struct bz_death *death) {
    search->result->end = BZ_EXPLORE_FOUND;
    search->result->is_minimal = search->at.bounds.deviations != BZ_EXPLORE_UNBOUNDED;
    bz_judge_died(search->world->judge, death->oracle, death->how);
    (void)keep_finding(search, search->frame_count - 1);
}

/* Where the transition that has just run has led to. */
static enum bz_arrival evaluate(struct bz_search *search, bool goes_on) {
    struct bz_frame *frame = search->top;
    if (!bz_world_has_resources(search->world) ||
        bz_judge_verdict(search->world->judge) == BZ_RUN_NO_RESOURCE) {
        return BZ_ARRIVED_FAILED;
    }
    if (search->frame_count == 1) {
        settle_reductions(search);
    }
    search->result->transitions++;
    frame->tried++;
    if (!search->result->has_waited) {
        search->result->has_waited = bz_judge_has_waited(search->world->judge);
    }
    if (keep_finding(search, search->frame_count - 1)) {
        bz_schedules_add(&frame->schedules, 1);
        return BZ_ARRIVED_KNOWN;
    }
    if (is_cut_short(search)) {
        bz_schedules_add(&frame->schedules, 1);
        return BZ_ARRIVED_KNOWN;
    }
    if (!goes_on) {
        bz_schedules_add(&frame->schedules, 1);
        finish(search);
        if (!bz_world_has_resources(search->world)) {
            return BZ_ARRIVED_FAILED;
        }
        if (is_cut_short(search)) {
            return BZ_ARRIVED_KNOWN;
        }
        if (bz_search_has_whole_runs(search)) { /* only its runtime knows how tasks ended */
            return BZ_ARRIVED_KNOWN;
        }
        /* The last transition was no step. */
        bool is_ok =
            keep_finding(search, search->frame_count - 2) || bz_search_note_outcome(search);
        return is_ok ? BZ_ARRIVED_KNOWN : BZ_ARRIVED_FAILED;
    }
    if (search->frame_count > search->world->judge->config.steps_max) {
        search->result->is_out_of_steps = true;
        return BZ_ARRIVED_KNOWN;
    }
    struct bz_frame *child = next_frame(search);
    enum bz_arrival arrival = child == NULL ? BZ_ARRIVED_FAILED : bz_search_arrive(search, child);
    /* If the queue is compared as a set, the state does not say which handle is next. */
    if (arrival == BZ_ARRIVED_LOOP && search->cycles == NULL &&
        !bz_search_has(search, BZ_REDUCE_QUEUE) && is_default_loop(search, child)) {
        end_loop(search);
        (void)keep_finding(search, search->world->judge->config.steps_max);
    }
    return arrival;
}

static bool should_stop(struct bz_search *search) {
    struct bz_explore_result *result = search->result;
    if (result->end == BZ_EXPLORE_LOST ||
        (search->at.unsound & search->at.bounds.reductions) != 0 ||
        (search->cycles != NULL && search->cycles->is_full)) {
        return true;
    }
    if (search->is_unrepeatable) {
        result->end = search->revived_max > 0 ? BZ_EXPLORE_LOST : BZ_EXPLORE_NONDETERMINISM;
    } else if (result->finding_count > 0 && !search->config->keep_going) {
        result->end = BZ_EXPLORE_FOUND;
    } else if (!has_reached_limit(search) && result->transitions % POLL_EVERY == 0) {
        look_for_interrupt(search);
    }
    return search->is_put_off || result->end != BZ_EXPLORE_DONE;
}

bool bz_search_advance(struct bz_search *search) {
    while (search->frame_count > 0 && !bz_search_next_transition(search)) {
        leave(search);
    }
    return search->frame_count > 0;
}

bool bz_search_all(struct bz_search *search) {
    if (bz_search_has_whole_runs(search)) { /* those of a path that is made again are none */
        bz_visited_clear(&search->outcomes);
    }
    while (search->frame_count > 0 && !should_stop(search) && bz_search_advance(search)) {
        struct bz_frame *frame = search->top;
        bool goes_on = run_transition(search);
        search->is_unrepeatable |=
            bz_search_has(search, BZ_REDUCE_SNAPSHOTS) && bz_native_has_outside(search->world);
        if (search->is_unrepeatable) {
            continue;
        }
        uint32_t found = search->result->finding_count;
        enum bz_arrival arrival = evaluate(search, goes_on);
        if (search->cycles != NULL) {
            bz_search_record_edge(search);
        }
        found = search->result->finding_count - found;
        if (found > 0 || bz_search_visit_is_due(search)) {
            bz_search_visit_again(search, !goes_on);
        }
        if (arrival == BZ_ARRIVED_FAILED) {
            return false;
        }
        if (arrival == BZ_ARRIVED_NEW) {
            enter(search, frame->child);
        } else if (search->revived_max > 0) {
            search->result->end = BZ_EXPLORE_LOST;
        }
    }
    return true;
}

void bz_search_enter_root(struct bz_search *search) {
    search->frame_count = 0;
    search->point_count = 0;
    enter(search, &search->root);
}

void bz_search_prepare(struct bz_search *search, const struct bz_search_bounds *bounds) {
    search->at.bounds = *bounds;
    search->at.is_cut = false;
    search->at.is_short = false;
    search->is_put_off = false;
    search->is_unrepeatable = false;
    search->revived_max = 0;
    /* Every order includes some that starve a task, whatever the variant does. */
    bool ignores_starvation = bounds->is_any_order || search->cycles != NULL;
    uint32_t cancels_max = bz_search_cancels_max(search->config);
    bz_judge_search(search->world->judge, cancels_max, ignores_starvation);
    bz_judge_search(search->second->judge, cancels_max, ignores_starvation);
}

void bz_search_begin(struct bz_search *search, const struct bz_search_bounds *bounds) {
    struct bz_explore_result *result = search->result;
    bz_search_prepare(search, bounds);
    bz_visited_clear(&search->visited);
    bz_visited_clear(&search->outcomes);
    result->end = BZ_EXPLORE_DONE;
    result->reductions = bounds->reductions;
    result->states = 0;
    result->transitions = 0;
    result->schedules = 0;
    result->outcomes = 0;
    result->outcomes_digest = 0;
    result->sampled_draw = NULL;
    result->depth = 0;
    bz_search_enter_root(search);
    if (search->record != NULL) {
        bz_record_begin(search);
    }
}

static bool run_once(struct bz_search *search, const struct bz_search_bounds *bounds) {
    if (bz_record_has_place(search->record)) {
        bz_record_go_on(search);
    } else {
        bz_search_begin(search, bounds);
    }
    bool is_ok = bz_search_all(search);
    bz_record_check(search);
    bz_record_take(search, is_ok);
    search->result->transitions_total += search->result->transitions;
    return is_ok;
}

bool bz_search_run(struct bz_search *search, const struct bz_search_bounds *bounds) {
    struct bz_search_bounds own = *bounds;
    own.reductions &= ~search->at.unsound;
    bool is_ok = run_once(search, &own);
    while ((search->at.unsound & own.reductions) != 0) {
        own.reductions &= ~search->at.unsound;
        search->result->transitions_total -= search->result->transitions;
        is_ok = run_once(search, &own);
    }
    if (!is_ok && search->visited.is_full) {
        search->result->end = BZ_EXPLORE_MEMORY_MAX;
        is_ok = true;
    }
    return is_ok;
}

/* --- life ------------------------------------------------------------------------------------- */

struct bz_search *bz_search_new(const struct bz_explore_config *config,
                                struct bz_explore_result *result) {
    bool keeps = config->keep != NULL || config->from != NULL;
    bz_place_begin(keeps ? BZ_PLACE_FIRST : NULL);
    struct bz_search *search = bz_shared_alloc(sizeof *search); /* for contained.c */
    if (search != NULL) {
        search->program = *config->program;
        search->own_config = *config;
        search->own_config.program = &search->program;
        search->config = &search->own_config;
        search->result = result;
        search->visits_first = VISITS_FIRST;
        search->world = bz_program_new_world(&search->program);
        search->second = bz_program_new_world(&search->program);
    }
    bz_place_end();
    if (search == NULL) {
        return NULL;
    }
    search->record = keeps ? bz_record_new() : NULL;
    if (search->world == NULL || search->second == NULL ||
        !bz_visited_init(&search->visited, bz_search_states(config), config->memory_max_bytes) ||
        (keeps && search->record == NULL) ||
        !bz_visited_init(&search->outcomes, bz_search_states(config), UINT64_MAX)) {
        bz_search_destroy(search);
        return NULL;
    }
    return search;
}

void bz_search_destroy(struct bz_search *search) {
    if (search == NULL) {
        return;
    }
    for (struct bz_frame *frame = search->root.child; frame != NULL;) {
        struct bz_frame *child = frame->child;
        bz_snapshot_fini(&frame->snapshot);
        free(frame);
        frame = child;
    }
    bz_printer_fini(&search->printer);
    bz_record_destroy(search->record);
    bz_visited_fini(&search->visited);
    bz_visited_fini(&search->outcomes);
    bz_world_destroy(search->world);
    bz_world_destroy(search->second);
    bz_shared_free(search, sizeof *search);
}
