#include "sim/explore/cycles.h"

#include <stdlib.h>

#include "sim/choice/pcg.h"
#include "sim/contain/contain.h"

/* --- recording -------------------------------------------------------------------------------- */

/* Most of the memory is never touched, so it is reserved at once. Edges need most. */
static void reserve(struct bz_cycles *cycles, uint64_t bytes_max) {
    uint64_t bytes = bytes_max < BZ_CYCLES_BYTES_MAX ? bytes_max : BZ_CYCLES_BYTES_MAX;
    cycles->state_capacity = (uint32_t)(bytes / 8 / sizeof *cycles->states);
    cycles->edge_capacity = (uint32_t)(bytes / 4 * 3 / sizeof *cycles->edges);
    cycles->choice_capacity = bytes / 8 / sizeof *cycles->choices;
    cycles->states = bz_shared_alloc(cycles->state_capacity * sizeof *cycles->states);
    cycles->edges = bz_shared_alloc(cycles->edge_capacity * sizeof *cycles->edges);
    cycles->choices = bz_shared_alloc(cycles->choice_capacity * sizeof *cycles->choices);
}

void bz_cycles_begin(struct bz_cycles *cycles, uint64_t bytes_max) {
    if (cycles->edge_capacity == 0) {
        reserve(cycles, bytes_max);
    }
    cycles->state_count = 0;
    cycles->edge_count = 0;
    cycles->choice_count = 0;
    cycles->handle_count = 0;
    cycles->is_full = cycles->states == NULL || cycles->edges == NULL || cycles->choices == NULL;
    cycles->has_many_tasks = false;
    (void)bz_cycles_add_state(cycles, 0); /* the start */
}

void bz_cycles_fini(struct bz_cycles *cycles) {
    bz_shared_free(cycles->states, cycles->state_capacity * sizeof *cycles->states);
    bz_shared_free(cycles->edges, cycles->edge_capacity * sizeof *cycles->edges);
    bz_shared_free(cycles->choices, cycles->choice_capacity * sizeof *cycles->choices);
    *cycles = (struct bz_cycles){.states = NULL};
}

uint8_t bz_cycles_handle(struct bz_cycles *cycles, uintptr_t handle) {
    for (uint32_t bit = 0; bit < cycles->handle_count; bit++) {
        if (cycles->handles[bit] == handle) {
            return (uint8_t)bit;
        }
    }
    if (cycles->handle_count == BZ_CYCLE_BITS) {
        return BZ_CYCLE_NOBODY;
    }
    cycles->handles[cycles->handle_count] = handle;
    return (uint8_t)cycles->handle_count++;
}

uint32_t bz_cycles_add_state(struct bz_cycles *cycles, uint64_t ready) {
    cycles->is_full |= cycles->state_count == cycles->state_capacity;
    if (cycles->is_full) {
        return BZ_CYCLE_START;
    }
    cycles->states[cycles->state_count] = (struct bz_cycle_state){.ready = ready};
    return cycles->state_count++;
}

void bz_cycles_add_edge(struct bz_cycles *cycles, const struct bz_cycle_edge *edge,
                        const uint64_t *choices, uint64_t draws) {
    cycles->is_full |= cycles->edge_count == cycles->edge_capacity ||
                       cycles->choice_capacity - cycles->choice_count < edge->choice_count;
    if (cycles->is_full) {
        return;
    }
    struct bz_cycle_state *from = &cycles->states[edge->from];
    struct bz_cycle_edge *added = &cycles->edges[cycles->edge_count++];
    uint64_t action = 0;
    *added = *edge;
    added->first_choice = cycles->choice_count;
    for (uint32_t index = 0; index < edge->choice_count; index++) {
        bool is_draw = index < 64 && (draws >> index & 1u) != 0;
        cycles->is_full |= choices[index] > UINT16_MAX; /* more tasks than can be told apart */
        cycles->choices[cycles->choice_count++] = (uint16_t)choices[index];
        action = is_draw ? action : bz_seed_mix(action ^ (choices[index] << 16u | (index + 1)));
    }
    from->actions += from->actions == 0 || from->last_action != action;
    from->last_action = action;
    added->action = from->actions;
}

/* --- an analysis ------------------------------------------------------------------------------ */

enum { HAS_EDGE = 1, IS_OVERTAKEN = 2, IS_OPEN = 4 };

struct node {
    /* Of a state. */
    uint32_t first_place; /* its edges are at the places from here to that of the next state */
    uint32_t component;
    uint32_t number; /* in the order of Tarjan's visits; 0: not visited */
    uint32_t least;
    uint32_t cursor;
    /* Of a place in a list of states, or of edges. */
    uint32_t stack;
    uint32_t path;
    /* Of a component. */
    uint32_t size;
    uint64_t always_ready;
    uint64_t ran;
    uint8_t flags; /* while paths are found, of a state */
};

/* The goal of a search: sets without progress, or sets in which a task is overtaken. */
struct analysis {
    const struct bz_cycles *cycles;
    uint64_t task; /* as a bit; 0: no progress */
    struct node *nodes;
    uint32_t *order;  /* edges, by place */
    bool *is_allowed; /* by edge: a schedule that stays in a set may take it */
    uint32_t component_count;
};

static void analysis_fini(struct analysis *analysis) {
    free(analysis->nodes);
    free(analysis->order);
    free(analysis->is_allowed);
}

/* Sorts the edges by source; those of one source stay in their order. */
static void sort_edges(struct analysis *analysis) {
    const struct bz_cycles *cycles = analysis->cycles;
    struct node *nodes = analysis->nodes;
    for (uint32_t index = 0; index < cycles->edge_count; index++) {
        nodes[cycles->edges[index].from + 2].first_place++;
    }
    for (uint32_t state = 2; state <= cycles->state_count + 1; state++) {
        nodes[state].first_place += nodes[state - 1].first_place;
    }
    for (uint32_t index = 0; index < cycles->edge_count; index++) {
        uint32_t place = nodes[cycles->edges[index].from + 1].first_place++;
        analysis->order[place] = index;
    }
}

/* False without memory. */
static bool analysis_init(struct analysis *analysis, const struct bz_cycles *cycles) {
    size_t edges = (size_t)cycles->edge_count + 1;
    *analysis = (struct analysis){
        .cycles = cycles,
        .nodes = calloc((size_t)cycles->state_count + 2, sizeof *analysis->nodes),
        .order = calloc(edges, sizeof *analysis->order),
        .is_allowed = calloc(edges, sizeof *analysis->is_allowed),
    };
    if (analysis->nodes == NULL || analysis->order == NULL || analysis->is_allowed == NULL) {
        return false;
    }
    sort_edges(analysis);
    return true;
}

static const struct bz_cycle_edge *edge_at(const struct analysis *analysis, uint32_t place) {
    return &analysis->cycles->edges[analysis->order[place]];
}

/* --- strongly connected components (Tarjan, 1972) ----------------------------------------------
 */

static void visit(struct analysis *analysis, uint32_t state, uint32_t *visited) {
    analysis->nodes[state].number = ++*visited;
    analysis->nodes[state].least = *visited;
    analysis->nodes[state].cursor = analysis->nodes[state].first_place;
    analysis->nodes[state].component = UINT32_MAX; /* on the stack */
}

/* All edges of the state were followed: if it is the first one of its component, this takes the
 * component from the stack. */
static void close_component(struct analysis *analysis, uint32_t state, uint32_t *stacked) {
    if (analysis->nodes[state].least != analysis->nodes[state].number) {
        return;
    }
    uint32_t member;
    do {
        member = analysis->nodes[--*stacked].stack;
        analysis->nodes[member].component = analysis->component_count;
    } while (member != state);
    analysis->component_count++;
}

/* The next state on an allowed edge that was not visited; BZ_CYCLE_OUT: there is none. */
static uint32_t next_state(struct analysis *analysis, uint32_t state) {
    uint32_t end = analysis->nodes[state + 1].first_place;
    while (analysis->nodes[state].cursor < end) {
        uint32_t place = analysis->nodes[state].cursor++;
        uint32_t to = edge_at(analysis, place)->to;
        if (!analysis->is_allowed[analysis->order[place]]) {
            continue;
        }
        if (analysis->nodes[to].number == 0) {
            return to;
        }
        if (analysis->nodes[to].component == UINT32_MAX &&
            analysis->nodes[to].number < analysis->nodes[state].least) {
            analysis->nodes[state].least = analysis->nodes[to].number;
        }
    }
    return BZ_CYCLE_OUT;
}

static void find_components(struct analysis *analysis) {
    uint32_t visited = 0;
    uint32_t stacked = 0;
    uint32_t depth = 0;
    analysis->component_count = 0;
    for (uint32_t state = 0; state < analysis->cycles->state_count; state++) {
        analysis->nodes[state].number = 0;
    }
    for (uint32_t root = 0; root < analysis->cycles->state_count; root++) {
        uint32_t next = analysis->nodes[root].number == 0 ? root : BZ_CYCLE_OUT;
        while (next != BZ_CYCLE_OUT || depth > 0) {
            if (next != BZ_CYCLE_OUT) {
                visit(analysis, next, &visited);
                analysis->nodes[stacked++].stack = next;
                analysis->nodes[depth++].path = next;
            }
            uint32_t state = analysis->nodes[depth - 1].path;
            next = next_state(analysis, state);
            if (next == BZ_CYCLE_OUT) {
                close_component(analysis, state, &stacked);
                depth--;
                uint32_t parent = depth > 0 ? analysis->nodes[depth - 1].path : state;
                if (analysis->nodes[state].least < analysis->nodes[parent].least) {
                    analysis->nodes[parent].least = analysis->nodes[state].least;
                }
            }
        }
    }
}

/* --- sets that are closed under chance -------------------------------------------------------- */

/* No edge of an action is allowed unless all are. True: something changed. */
static bool drop_actions(struct analysis *analysis) {
    bool is_changed = false;
    for (uint32_t place = 0; place < analysis->cycles->edge_count;) {
        const struct bz_cycle_edge *first = edge_at(analysis, place);
        uint32_t end = place;
        bool is_allowed = true;
        for (; end < analysis->cycles->edge_count; end++) {
            const struct bz_cycle_edge *edge = edge_at(analysis, end);
            if (edge->from != first->from || edge->action != first->action) {
                break;
            }
            is_allowed &= analysis->is_allowed[analysis->order[end]];
        }
        for (; place < end; place++) {
            bool *flag = &analysis->is_allowed[analysis->order[place]];
            is_changed |= *flag && !is_allowed;
            *flag = is_allowed;
        }
    }
    return is_changed;
}

/* Edges between two components are not allowed. */
static void drop_edges_between(struct analysis *analysis) {
    for (uint32_t index = 0; index < analysis->cycles->edge_count; index++) {
        const struct bz_cycle_edge *edge = &analysis->cycles->edges[index];
        if (analysis->is_allowed[index] &&
            analysis->nodes[edge->from].component != analysis->nodes[edge->to].component) {
            analysis->is_allowed[index] = false;
        }
    }
}

static void find_sets(struct analysis *analysis, uint32_t task) {
    analysis->task = task == 0 ? 0 : UINT64_C(1) << task;
    for (uint32_t index = 0; index < analysis->cycles->edge_count; index++) {
        const struct bz_cycle_edge *edge = &analysis->cycles->edges[index];
        bool is_kept = task == 0 ? !edge->is_progress : (edge->waits & analysis->task) != 0;
        analysis->is_allowed[index] = is_kept && edge->to != BZ_CYCLE_OUT;
    }
    (void)drop_actions(analysis);
    do {
        find_components(analysis);
        drop_edges_between(analysis);
    } while (drop_actions(analysis));
}

/* --- fairness --------------------------------------------------------------------------------- */

static void sum_up(struct analysis *analysis) {
    const struct bz_cycles *cycles = analysis->cycles;
    for (uint32_t set = 0; set < analysis->component_count; set++) {
        analysis->nodes[set].always_ready = UINT64_MAX;
        analysis->nodes[set].ran = 0;
        analysis->nodes[set].flags = 0;
        analysis->nodes[set].size = 0;
    }
    for (uint32_t state = 0; state < cycles->state_count; state++) {
        analysis->nodes[analysis->nodes[state].component].always_ready &=
            cycles->states[state].ready;
        analysis->nodes[analysis->nodes[state].component].size++;
    }
    for (uint32_t index = 0; index < cycles->edge_count; index++) {
        const struct bz_cycle_edge *edge = &cycles->edges[index];
        uint32_t set = analysis->nodes[edge->from].component;
        if (!analysis->is_allowed[index]) {
            analysis->nodes[set].flags |= edge->is_cancel ? 0 : IS_OPEN;
            continue;
        }
        bool is_overtaken = analysis->task == 0 || (edge->overtaken & analysis->task) != 0;
        analysis->nodes[set].flags |= is_overtaken ? HAS_EDGE | IS_OVERTAKEN : HAS_EDGE;
        analysis->nodes[set].ran |= edge->ran == BZ_CYCLE_NOBODY ? 0 : UINT64_C(1) << edge->ran;
    }
}

static bool is_found(const struct analysis *analysis, uint32_t set) {
    uint8_t wanted = HAS_EDGE | IS_OVERTAKEN;
    return (analysis->nodes[set].flags & wanted) == wanted &&
           (analysis->nodes[set].always_ready & ~analysis->nodes[set].ran) == 0;
}

/* How far it deviates from the default choices. */
static uint32_t cost_of(const struct bz_cycle_edge *edge) {
    return (uint32_t)edge->delays + edge->draws + edge->is_cancel;
}

/* The allowed edge of default choices; NULL: there is none. */
static const struct bz_cycle_edge *default_edge(const struct analysis *analysis, uint32_t state) {
    for (uint32_t place = analysis->nodes[state].first_place;
         place < analysis->nodes[state + 1].first_place; place++) {
        if (cost_of(edge_at(analysis, place)) == 0) {
            return analysis->is_allowed[analysis->order[place]] ? edge_at(analysis, place) : NULL;
        }
    }
    return NULL;
}

/* True if the default choices lead from the state back to it, and overtake the task on the way. */
static bool is_default_cycle(const struct analysis *analysis, uint32_t state) {
    bool is_overtaken = analysis->task == 0;
    uint32_t at = state;
    do {
        const struct bz_cycle_edge *edge = default_edge(analysis, at);
        is_overtaken |= (edge->overtaken & analysis->task) != 0;
        at = edge->to;
    } while (at != state);
    return is_overtaken;
}

/* Follows default choices from each state of the set; `number` says from which one each state was
 * met first. */
static uint32_t find_default_cycle(struct analysis *analysis, uint32_t set) {
    struct node *nodes = analysis->nodes;
    for (uint32_t state = 0; state < analysis->cycles->state_count; state++) {
        nodes[state].number = 0;
    }
    for (uint32_t start = 0; start < analysis->cycles->state_count; start++) {
        const struct bz_cycle_edge *edge = NULL;
        uint32_t at = start;
        if (analysis->nodes[start].component != set) {
            continue;
        }
        while (nodes[at].number == 0 && (edge = default_edge(analysis, at)) != NULL) {
            nodes[at].number = start + 1;
            at = edge->to;
        }
        if (edge != NULL && nodes[at].number == start + 1 && is_default_cycle(analysis, at)) {
            return at;
        }
    }
    return BZ_CYCLE_OUT;
}

static struct bz_fair_set describe(struct analysis *analysis, uint32_t set, uint32_t task) {
    const struct bz_cycles *cycles = analysis->cycles;
    struct bz_fair_set found = {.task = task,
                                .state_count = analysis->nodes[set].size,
                                .is_closed = (analysis->nodes[set].flags & IS_OPEN) == 0};
    for (uint32_t index = cycles->edge_count; index-- > 0;) {
        const struct bz_cycle_edge *edge = &cycles->edges[index];
        if (analysis->is_allowed[index] && analysis->nodes[edge->from].component == set) {
            found.state = edge->from; /* at last the first one */
            found.object = (edge->overtaken & analysis->task) != 0 ? edge->object : found.object;
        }
    }
    found.default_state = find_default_cycle(analysis, set);
    return found;
}

uint32_t bz_cycles_find(const struct bz_cycles *cycles, struct bz_fair_set *sets, uint32_t max) {
    struct analysis analysis;
    uint64_t overtaken = 1; /* bit 0: nobody makes progress */
    uint32_t count = 0;
    if (!analysis_init(&analysis, cycles)) {
        analysis_fini(&analysis);
        return BZ_CYCLES_LACK;
    }
    for (uint32_t index = 0; index < cycles->edge_count; index++) {
        overtaken |= cycles->edges[index].overtaken & cycles->edges[index].waits;
    }
    for (; overtaken != 0; overtaken &= overtaken - 1) {
        uint32_t task = (uint32_t)__builtin_ctzll(overtaken);
        find_sets(&analysis, task);
        sum_up(&analysis);
        for (uint32_t set = 0; set < analysis.component_count; set++) {
            if (is_found(&analysis, set)) {
                if (count < max) {
                    sets[count] = describe(&analysis, set, task);
                }
                count++;
            }
        }
    }
    analysis_fini(&analysis);
    return count;
}

/* --- a path ----------------------------------------------------------------------------------- */

/* The edge on which a cheapest path comes to each state, in `number`; its cost is in `least`.
 * States whose cost has fallen wait in a ring, `stack`, of as many places as there are states. */
static void find_paths(struct analysis *analysis) {
    const struct bz_cycles *cycles = analysis->cycles;
    uint32_t size = cycles->state_count;
    uint32_t begin = 0;
    uint32_t count = 1;
    for (uint32_t state = 0; state < size; state++) {
        analysis->nodes[state].least = UINT32_MAX;
    }
    analysis->nodes[BZ_CYCLE_START].least = 0;
    analysis->nodes[0].stack = BZ_CYCLE_START;
    while (count > 0) {
        uint32_t state = analysis->nodes[begin].stack;
        begin = begin + 1 == size ? 0 : begin + 1;
        count--;
        analysis->nodes[state].flags = 0; /* not in the ring */
        for (uint32_t place = analysis->nodes[state].first_place;
             place < analysis->nodes[state + 1].first_place; place++) {
            const struct bz_cycle_edge *edge = edge_at(analysis, place);
            uint32_t cost = analysis->nodes[state].least + cost_of(edge);
            if (edge->to == BZ_CYCLE_OUT || cost >= analysis->nodes[edge->to].least) {
                continue;
            }
            analysis->nodes[edge->to].least = cost;
            analysis->nodes[edge->to].number = analysis->order[place];
            if (analysis->nodes[edge->to].flags == 0) {
                analysis->nodes[edge->to].flags = 1;
                analysis->nodes[(begin + count++) % size].stack = edge->to;
            }
        }
    }
}

static void write_path(struct analysis *analysis, uint32_t state, struct bz_cycle_path *path) {
    const struct bz_cycles *cycles = analysis->cycles;
    uint32_t length = 0;
    uint32_t question = 0;
    for (; state != BZ_CYCLE_START; state = cycles->edges[analysis->nodes[state].number].from) {
        analysis->nodes[length++].path = analysis->nodes[state].number;
    }
    *path = (struct bz_cycle_path){.has_answers = true, .steps = length == 0 ? 0 : length - 1};
    while (length-- > 0) {
        const struct bz_cycle_edge *edge = &cycles->edges[analysis->nodes[length].path];
        path->delays += edge->delays;
        path->cancels += edge->is_cancel;
        path->draws += edge->draws;
        for (uint32_t index = 0; index < edge->choice_count; index++) {
            uint64_t answer = cycles->choices[edge->first_choice + index];
            question++;
            path->has_answers = path->has_answers &&
                                (answer == 0 || bz_answers_add(&path->answers, question, answer));
        }
    }
}

bool bz_cycles_path(const struct bz_cycles *cycles, uint32_t state, struct bz_cycle_path *path) {
    struct analysis analysis;
    bool is_ok = analysis_init(&analysis, cycles);
    if (is_ok) {
        find_paths(&analysis);
        write_path(&analysis, state, path);
    }
    analysis_fini(&analysis);
    return is_ok;
}
