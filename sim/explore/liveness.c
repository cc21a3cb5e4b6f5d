/* Liveness: which schedules never end, and what becomes of tasks in those that are fair.
 *
 * If no state can recur, every schedule ends. Otherwise a second search records the graph
 * (cycles.h), in which a fair set of states is a suspicion. The order in which loops run
 * handles decides whether it is a fault: a waiter that polls can miss its moment again and again in
 * a fair order, and is served in nearly every other one. So the verdict is that of the oracles, in
 * an ordinary run that goes to the set and then makes default choices, as a FIFO loop does. A
 * suspicion that such a run does not confirm is reported as open.
 *
 * The first recording ignores the order of the ready queue, which is enough to say that there is no
 * such set. If there is one, a second recording keeps the order, because default choices depend on
 * it. Neither has symmetry, which exchanges tasks. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/runtime/driver.h"
#include "sim/explore/search.h"
#include "sim/judge/oracle/oracle.h"
#include "sim/program/token.h"

#define GRAPH_SHARE 32u                  /* times the transitions of the search before */
#define GRAPH_LEAST (UINT64_C(1) << 22u) /* transitions */
#define SETS_MAX 16u                     /* that are looked at */
#define RUNS_MAX 4u                      /* that may fail to confirm one */

const char *bz_liveness_name(enum bz_liveness liveness) {
    static const char *const names[] = {"unjudged", "ends", "fair", "open"};
    return names[liveness];
}

/* --- recording -------------------------------------------------------------------------------- */

static uint64_t ready_handles(struct bz_search *search) {
    const struct bz_loop *loop = search->world->loop;
    uint64_t ready = bz_driver_next_deadline_ns(loop) <= BZ_TIME_MAX_NS ? BZ_CYCLE_CLOCK : 0;
    for (uint32_t index = 0; index < loop->ready_count; index++) {
        uint8_t bit = bz_cycles_handle(search->cycles, (uintptr_t)loop->ready[index]);
        ready |= bit == BZ_CYCLE_NOBODY ? 0 : UINT64_C(1) << bit;
    }
    return ready;
}

/* A step has cleared nothing yet: `called_step` is UINT32_MAX if the operation was called before
 * it, and `overtaken` is what it has added. */
void bz_search_look_at_step(struct bz_search *search) {
    struct bz_cycle_edge *edge = &search->cycles->edge;
    const struct bz_judge *judge = search->world->judge;
    const struct bz_handle *ran = bz_native_of(search->world)->ran;
    *edge = (struct bz_cycle_edge){.to = BZ_CYCLE_OUT, .ran = BZ_CYCLE_NOBODY};
    edge->is_progress = judge->progress_step != 0;
    edge->is_cancel = search->frame_count > 1 && ran == NULL;
    if (search->frame_count > 1 && ran != NULL) {
        edge->ran = bz_cycles_handle(search->cycles, (uintptr_t)ran);
    }
    search->cycles->has_many_tasks |= judge->shadow.task_count > BZ_CYCLE_BITS;
    for (uint32_t id = 1; id <= judge->shadow.task_count && id <= BZ_CYCLE_BITS; id++) {
        const struct bz_shadow_task *task = &judge->shadow.tasks[id];
        bool waits = task->op != BZ_OP_NONE && task->called_step == UINT32_MAX;
        edge->waits |= (uint64_t)waits << id;
        edge->overtaken |= (uint64_t)(task->overtaken > 0) << id;
        if (task->overtaken > 0) {
            edge->object = task->object <= UINT8_MAX ? (uint8_t)task->object : 0;
        }
    }
}

void bz_search_record_state(struct bz_search *search, struct bz_frame *child,
                            struct bz_visited_state *state, bool is_new) {
    if (is_new) {
        child->number = bz_cycles_add_state(search->cycles, ready_handles(search));
        state->mark |= child->number;
    }
    search->cycles->edge.to = (uint32_t)state->mark; /* the rest of the mark is above */
}

void bz_search_record_edge(struct bz_search *search) {
    const struct bz_frame *frame = search->top;
    struct bz_cycle_edge *edge = &search->cycles->edge;
    uint64_t choices[UINT8_MAX];
    uint64_t draws = 0;
    uint32_t count = frame->point_count < UINT8_MAX ? frame->point_count : UINT8_MAX;
    for (uint32_t index = 0; index < count; index++) {
        const struct bz_choice_point *point = &search->points[frame->first_point + index];
        choices[index] = point->chosen;
        draws |= point->kind == BZ_CHOICE_DATA && index < 64 ? UINT64_C(1) << index : 0;
    }
    search->cycles->is_full |= count < frame->point_count;
    struct bz_deviations cost = bz_search_cost(search, frame->first_point, frame->point_count);
    edge->delays = cost.delays <= UINT16_MAX ? (uint16_t)cost.delays : UINT16_MAX;
    edge->draws = cost.draws <= UINT16_MAX ? (uint16_t)cost.draws : UINT16_MAX;
    edge->from = frame == &search->root ? BZ_CYCLE_START : frame->number;
    edge->choice_count = (uint16_t)count;
    bz_cycles_add_edge(search->cycles, edge, choices, draws);
    *edge = (struct bz_cycle_edge){.to = BZ_CYCLE_OUT, .ran = BZ_CYCLE_NOBODY}; /* until the next */
}

/* --- one recording ---------------------------------------------------------------------------- */

static uint64_t transitions_max(const struct bz_explore_result *result) {
    uint64_t before = result->transitions_total;
    before = before < GRAPH_LEAST / GRAPH_SHARE ? GRAPH_LEAST / GRAPH_SHARE : before;
    return before > UINT64_MAX / GRAPH_SHARE ? UINT64_MAX : before * GRAPH_SHARE;
}

/* Why a recording is not the whole graph; NULL: it is. */
static const char *why_incomplete(const struct bz_search *search, bool is_ok) {
    const struct bz_explore_result *result = search->result;
    if (result->end == BZ_EXPLORE_INTERRUPTED) {
        return "the search of cycles was interrupted";
    }
    if (search->cycles->has_many_tasks) {
        return "there are more than 63 tasks";
    }
    if (search->cycles->is_full && search->config->memory_max_bytes < BZ_CYCLES_BYTES_MAX) {
        return "--max-memory is too little for the search of cycles";
    }
    if (!is_ok || search->is_put_off || search->cycles->is_full ||
        result->end == BZ_EXPLORE_STATES_MAX) {
        return "without symmetry there are too many states";
    }
    if (result->end != BZ_EXPLORE_DONE || result->finding_count > 0 || result->is_out_of_steps) {
        return "the search of cycles did not repeat the sweep";
    }
    return NULL;
}

/* Records the graph of all schedules within the bounds. The result and the outcomes of the search
 * before stay: with symmetry, fewer outcomes differ. */
static const char *record_graph(struct bz_search *search, uint32_t reductions) {
    const struct bz_explore_config *config = search->config;
    struct bz_explore_result *result = search->result;
    struct bz_explore_result *before = malloc(sizeof *before);
    struct bz_visited outcomes = search->outcomes;
    if (before == NULL || !bz_visited_init(&search->outcomes, config->states_max, UINT64_MAX)) {
        search->outcomes = outcomes;
        free(before);
        return "memory ran out";
    }
    *before = *result;
    struct bz_search_bounds bounds = {
        .deviations = BZ_EXPLORE_UNBOUNDED,
        .delays = config->delays_max,
        .is_any_order = (reductions & BZ_REDUCE_QUEUE) != 0,
        .transitions = transitions_max(result),
        .reductions = reductions,
    };
    bz_cycles_begin(search->cycles, config->memory_max_bytes);
    search->cycles->edge = (struct bz_cycle_edge){.to = BZ_CYCLE_OUT, .ran = BZ_CYCLE_NOBODY};
    bz_search_begin(search, &bounds);
    bool is_ok = bz_search_all(search);
    const char *why = why_incomplete(search, is_ok);
    bz_visited_fini(&search->outcomes);
    search->outcomes = outcomes;
    before->has_cycles |= result->has_cycles; /* no transition was left out */
    before->end = result->end == BZ_EXPLORE_INTERRUPTED ? result->end : before->end;
    if (result->finding_count == 0) {
        *result = *before;
    } else { /* the search before has missed it */
        result->end = BZ_EXPLORE_FOUND;
    }
    free(before);
    return why;
}

/* --- verdicts --------------------------------------------------------------------------------- */

/* True if an ordinary run, which goes to the state and then makes default choices, violates the
 * oracle. Then that is the finding. */
static bool confirm(struct bz_search *search, const struct bz_fair_set *set) {
    struct bz_program repeat;
    struct bz_finding found;
    struct bz_cycle_path path;
    if (!bz_cycles_path(search->cycles, set->default_state, &path)) {
        return false;
    }
    struct bz_explore_finding finding = {
        .violation = {.oracle = set->task == 0 ? "livelock" : "starvation"},
        .answers = path.answers,
        .has_answers = path.has_answers,
        .deviations = {.delays = path.delays, .cancels = path.cancels, .draws = path.draws}};
    if (!bz_explore_repeat(search->config->program, &finding, &repeat, &found)) {
        return false;
    }
    finding.violation = found.violation;
    bz_search_keep_finding(search, &finding);
    return true;
}

/* True if one of the sets is a fault. `sets` are those of a graph with the order of the queue. */
static bool confirm_any(struct bz_search *search, const struct bz_fair_set *sets, uint32_t count) {
    uint32_t runs = 0;
    for (uint32_t index = 0; index < count && runs < RUNS_MAX; index++) {
        if (sets[index].default_state == BZ_CYCLE_OUT) {
            continue;
        }
        runs++;
        if (confirm(search, &sets[index])) {
            return true;
        }
    }
    return false;
}

/* An ordinary run that comes to a state, with its token. NULL without memory, or if its script is
 * too long. */
static struct bz_world *run_to(const struct bz_search *search, const struct bz_cycle_path *path) {
    struct bz_explore_result *result = search->result;
    struct bz_program repeat = *search->config->program;
    repeat.strategy = &bz_strategy_answers;
    repeat.answers = path->answers;
    struct bz_world *world = path->has_answers ? bz_program_new_world(&repeat) : NULL;
    if (world != NULL) {
        (void)bz_program_run(&repeat, world, 0);
        (void)bz_token_format(&repeat, 0, bz_judge_digest(world->judge), result->liveness_token,
                              sizeof result->liveness_token);
    }
    return world;
}

/* Says what can run for ever in the set, and how a run comes to it. Only a graph with the order
 * of the queue has paths: without it, the choices of one edge do not fit behind those of another.
 */
static void describe(struct bz_search *search, const struct bz_fair_set *set, bool has_paths) {
    struct bz_explore_result *result = search->result;
    struct bz_cycle_path path = {.has_answers = false};
    char from[40] = "";
    char name[BZ_NAME_BYTES];
    const char *closed = set->is_closed ? ", and no order leads out of it" : "";
    struct bz_world *world = NULL;
    if (has_paths && bz_cycles_path(search->cycles, set->state, &path)) {
        world = run_to(search, &path);
        snprintf(from, sizeof from, "from step %" PRIu32 " on, ", path.steps);
    }
    const struct bz_judge *judge = world != NULL ? world->judge : search->world->judge;
    if (set->task == 0) {
        snprintf(result->liveness_text, sizeof result->liveness_text,
                 "%sa fair schedule can continue forever without progress%s", from, closed);
    } else {
        snprintf(result->liveness_text, sizeof result->liveness_text,
                 "%s%s can be overtaken forever in a fair schedule while it waits for '%s'%s", from,
                 bz_judge_task_name(judge, set->task, name, sizeof name),
                 bz_judge_label(judge, set->object).text, closed);
    }
    result->liveness = BZ_LIVENESS_OPEN;
    bz_world_destroy(world);
}

/* --- the judgement ---------------------------------------------------------------------------- */

/* The fair sets of the graph of all schedules; 0, too, if the graph is not known. */
static uint32_t find_sets(struct bz_search *search, uint32_t reductions, struct bz_fair_set *sets) {
    struct bz_explore_result *result = search->result;
    const char *why = record_graph(search, reductions);
    uint32_t count = why == NULL ? bz_cycles_find(search->cycles, sets, SETS_MAX) : 0;
    if (count == BZ_CYCLES_LACK) {
        why = "memory ran out";
        count = 0;
    }
    if (why != NULL) { /* the second one has not looked for a run */
        bool is_first = result->liveness == BZ_LIVENESS_UNJUDGED;
        size_t used = is_first ? 0 : strlen(result->liveness_text);
        snprintf(result->liveness_text + used, sizeof result->liveness_text - used, "%s%s",
                 is_first ? "" : "; ", why);
    } else if (count == 0) {
        result->liveness = result->has_cycles ? BZ_LIVENESS_FAIR : BZ_LIVENESS_ENDS;
    }
    return count < SETS_MAX ? count : SETS_MAX;
}

static void judge_cycles(struct bz_search *search) {
    const struct bz_explore_config *config = search->config;
    struct bz_explore_result *result = search->result;
    struct bz_fair_set sets[SETS_MAX];
    bool is_any_order =
        config->program->order == BZ_ORDER_ANY && config->delays_max == BZ_EXPLORE_UNBOUNDED;
    uint32_t exact = BZ_REDUCE_SNAPSHOTS | BZ_REDUCE_STATES | (result->reductions & BZ_REDUCE_LAG);
    uint32_t coarse = exact | (is_any_order ? config->reductions & BZ_REDUCE_QUEUE : 0);
    uint32_t count = find_sets(search, coarse, sets);
    if (count == 0) {
        return;
    }
    describe(search, &sets[0], coarse == exact);
    if (coarse != exact && (count = find_sets(search, exact, sets)) > 0) {
        describe(search, &sets[0], true);
    }
    if (confirm_any(search, sets, count)) {
        result->liveness = BZ_LIVENESS_UNJUDGED;
        result->liveness_text[0] = '\0';
        result->liveness_token[0] = '\0';
        result->end = config->keep_going ? BZ_EXPLORE_DONE : BZ_EXPLORE_FOUND;
    }
}

void bz_search_liveness(struct bz_search *search) {
    struct bz_explore_result *result = search->result;
    struct bz_cycles cycles = {.states = NULL};
    bool compares = (result->reductions & BZ_REDUCE_STATES) != 0; /* else each run was made whole */
    if (!bz_explore_is_complete(result) || result->finding_count > 0) {
        return;
    }
    if (!compares || !result->has_cycles) {
        result->liveness = BZ_LIVENESS_ENDS;
    } else {
        search->cycles = &cycles;
        judge_cycles(search);
        search->cycles = NULL;
        bz_cycles_fini(&cycles);
    }
}
