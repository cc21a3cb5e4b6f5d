/* A sweep of every order by several workers, each in a process of its own with the same world at
 * the same addresses. They share the table of states: who adds a state searches it, depth first,
 * with all its transitions.
 *
 * A worker that has nothing left begins at the root again, as a guest. A guest runs the transitions
 * of states that another worker is searching. It searches a state itself if nobody has added it
 * yet, and then goes deeper into the states that are being searched. When all have nothing left at
 * the same moment, every state was searched: whoever adds a state runs all its transitions.
 *
 * A team only ever says that there is nothing. A violation, a death, two different runs of one
 * path, or a lack of memory is left to one worker, which searches all of it again: so what is found
 * does not depend on the number of workers. Nor do the counts, but for schedules and the depth of
 * the search, which a team does not know.
 *
 * A team that stops before its end marks what its workers have not finished (record.h), and any
 * team continues from there. */
#include <stdlib.h>

#include "sim/explore/search.h"
#include "sim/judge/internal.h"

#define LOG_BYTES_MAX (UINT64_C(1) << 30u)
#define NUMBERS_AT_A_TIME 64u

struct member {
    uint64_t beats;      /* it is alive */
    uint32_t number;     /* of the next state that it adds, */
    uint32_t number_end; /* if it is not this one */
    struct bz_edge_places edges;
    struct bz_explore_result result;
};

/* Shared by all. */
struct bz_team {
    uint32_t count;
    uint32_t idle;
    bool is_over;                    /* all have to stop */
    bool is_done;                    /* because there is nothing left */
    bool has_odds;                   /* because there is something that one has to find */
    uint32_t unsound;                /* reductions that the program has turned out not to allow */
    bool is_root_done;               /* no worker is to count the transitions of the root */
    struct bz_explore_result before; /* what was counted before it continued */
    const struct bz_search *origin;
    struct member members[];
};

static size_t team_bytes(uint32_t count) {
    return sizeof(struct bz_team) + count * sizeof(struct member);
}

/* --- a worker --------------------------------------------------------------------------------- */

static struct member *self(const struct bz_search *search) {
    return &search->team->members[search->member];
}

bool bz_team_is_over(struct bz_search *search) {
    struct member *member = self(search);
    __atomic_store_n(&member->beats, member->beats + 1, __ATOMIC_RELAXED);
    return __atomic_load_n(&search->team->is_over, __ATOMIC_RELAXED);
}

bool bz_search_may_visit(struct bz_search *search, struct bz_fingerprint fingerprint) {
    bool is_new = false;
    return search->top->is_guest && search->top->looks_deeper &&
           bz_visited_add(&search->guests, fingerprint, &is_new) != NULL && is_new;
}

uint32_t bz_team_number_state(struct bz_search *search) {
    struct member *member = self(search);
    if (member->number == member->number_end) {
        member->number =
            __atomic_fetch_add(&search->log->state_count, NUMBERS_AT_A_TIME, __ATOMIC_RELAXED);
        member->number_end = member->number + NUMBERS_AT_A_TIME;
    }
    return member->number++;
}

void bz_team_log_edge(struct bz_search *search, uint32_t from, uint32_t to) {
    bz_edge_log_add(search->log, &self(search)->edges, from, to);
}

static void stop(struct bz_team *team, bool *why) {
    __atomic_store_n(why, true, __ATOMIC_RELAXED);
    __atomic_store_n(&team->is_over, true, __ATOMIC_RELEASE);
}

/* Goes through all that can be reached from the root without a state that was searched. False: the
 * team has to stop. */
static bool go_round(struct bz_search *search, bool is_guest) {
    search->root.is_guest = is_guest;
    bz_visited_clear(&search->guests);
    bz_search_enter_root(search);
    return bz_search_all(search) && search->result->end == BZ_EXPLORE_DONE &&
           (search->at.unsound & search->at.bounds.reductions) == 0;
}

/* Until somebody may have left something to do. False: there is nothing any more. */
static bool rest(struct bz_search *search) {
    struct bz_team *team = search->team;
    uint32_t idle = __atomic_add_fetch(&team->idle, 1, __ATOMIC_ACQ_REL);
    if (idle == team->count) {
        stop(team, &team->is_done);
        return false;
    }
    bz_child_rest();
    if (bz_team_is_over(search)) {
        return false;
    }
    __atomic_sub_fetch(&team->idle, 1, __ATOMIC_ACQ_REL);
    return true;
}

static void search_as_member(struct bz_search *search) {
    struct bz_team *team = search->team;
    bool is_guest = search->member != 0 || team->is_root_done;
    bool is_ok = true;
    bool is_over = bz_team_is_over(search);
    while (is_ok && !is_over) {
        is_ok = go_round(search, is_guest);
        team->is_root_done |= !is_guest && search->frame_count == 0;
        is_guest = true;
        if (search->record != NULL) {
            bz_record_leave_path(search);
        }
        is_over = bz_team_is_over(search) || (is_ok && !rest(search));
    }
    if (!is_ok) {
        (void)__atomic_or_fetch(&team->unsound, search->at.unsound, __ATOMIC_RELAXED);
        stop(team, &team->has_odds);
    }
}

struct start {
    struct bz_team *team;
    uint32_t member;
};

static void work(void *context) {
    const struct start *start = context;
    struct bz_team *team = start->team;
    static struct bz_search own; /* of this process */
    static struct bz_explore_config config;
    own = *team->origin;
    own.root.child = NULL; /* its parent is that of the origin */
    own.visited.is_shared = true;
    own.outcomes.is_shared = true;
    config = *own.config;
    config.states_max = UINT64_MAX;
    config.keep_going = false;
    config.stop = NULL;
    config.poll = NULL;
    config.is_due = NULL;
    config.on_finding = NULL;
    own.config = &config;
    own.result = &team->members[start->member].result;
    own.result->reductions = own.at.bounds.reductions;
    own.at.bounds.transitions = UINT64_MAX;
    own.team = team;
    own.member = start->member;
    if (!bz_judge_make_private(own.world->judge) || !bz_judge_make_private(own.second->judge) ||
        !bz_visited_init(&own.guests, config.states_max, UINT64_MAX)) {
        stop(team, &team->has_odds);
        return;
    }
    search_as_member(&own);
}

/* --- the process that waits ------------------------------------------------------------------- */

/* The sums of what the workers have counted. */
static void add_up(const struct bz_team *team, struct bz_explore_result *result) {
    result->states = team->before.states;
    result->transitions = team->before.transitions;
    result->outcomes = team->before.outcomes;
    result->outcomes_digest = team->before.outcomes_digest;
    for (uint32_t index = 0; index < team->count; index++) {
        const struct bz_explore_result *part = &team->members[index].result;
        result->states += __atomic_load_n(&part->states, __ATOMIC_RELAXED);
        result->transitions += __atomic_load_n(&part->transitions, __ATOMIC_RELAXED);
        result->outcomes += part->outcomes;
        result->outcomes_digest += part->outcomes_digest;
        result->is_out_of_steps |= part->is_out_of_steps;
        result->has_waited |= part->has_waited;
        result->sampled_draw =
            part->sampled_draw == NULL ? result->sampled_draw : part->sampled_draw;
    }
    result->reductions = team->members[0].result.reductions;
}

static bool has_reached_limit(struct bz_search *search) {
    bool has = bz_search_has_reached_limit(search);
    if (search->is_put_off) {
        search->result->transitions = search->at.bounds.transitions; /* however many by then */
    }
    return has;
}

/* Until no worker runs. Returns how many have ended as they should. */
static uint32_t watch(struct bz_search *search, struct bz_team *team, struct bz_child *children) {
    struct bz_child *running[BZ_JOBS_MAX];
    uint32_t done = 0;
    for (;;) {
        size_t count = 0;
        for (uint32_t index = 0; index < team->count; index++) {
            struct bz_death death;
            enum bz_child_state state =
                children[index].pid == 0 ? BZ_CHILD_RUNS : bz_child_look(&children[index], &death);
            done += state == BZ_CHILD_DONE;
            if (state != BZ_CHILD_RUNS && state != BZ_CHILD_DONE) {
                stop(team, &team->has_odds);
            }
            if (children[index].pid != 0) {
                running[count++] = &children[index];
            }
        }
        if (count == 0) {
            return done;
        }
        add_up(team, search->result);
        bool can_pause = search->record != NULL && !search->record->is_lost;
        if (!team->is_over &&
            (has_reached_limit(search) || bz_search_is_interrupted(search, can_pause))) {
            stop(team, &team->is_over);
        }
        bz_child_wait(running, count);
    }
}

/* Looks for cycles in the graph. Numbers that no state has got are those of states without
 * transitions. */
static void look_for_cycles(struct bz_search *search) {
    enum bz_acyclic answer = bz_edges_are_acyclic(search->log);
    search->result->has_cycles |= answer == BZ_ACYCLIC_NO;
    search->is_log_full = answer == BZ_ACYCLIC_UNKNOWN;
}

static bool search_with(struct bz_search *search, struct bz_team *team, struct bz_child *children) {
    struct bz_contain contain = search->config->program->contain;
    struct bz_explore_result *result = search->result;
    contain.memory_bytes = UINT64_MAX;
    for (uint32_t index = 0; index < team->count; index++) {
        struct start start = {team, index};
        if (!bz_child_start(&children[index], &contain, NULL, work, &start)) {
            stop(team, &team->has_odds);
            break;
        }
        children[index].counter = &team->members[index].beats;
    }
    uint32_t done = watch(search, team, children);
    if (team->has_odds || done < team->count) {
        return false;
    }
    add_up(team, result);
    if (result->end == BZ_EXPLORE_DONE && !has_reached_limit(search)) {
        look_for_cycles(search);
    }
    bz_record_check(search);
    search->at.is_root_done = team->is_root_done;
    if (search->record != NULL && !search->is_put_off && result->end != BZ_EXPLORE_DONE) {
        bz_record_take_team(search);
    }
    result->transitions_total += result->transitions;
    result->has_schedules = false;
    return true;
}

static void begin(struct bz_search *search, struct bz_team *team,
                  const struct bz_search_bounds *bounds) {
    if (bz_record_has_place(search->record)) {
        bz_record_go_on(search);
        team->before = *search->result;
    } else {
        bz_edge_log_begin(search->log);
        bz_search_begin(search, bounds);
    }
    team->is_root_done = search->at.is_root_done;
}

static uint32_t count_of(const struct bz_explore_config *config) {
    uint32_t count = config->jobs == 0 ? 1 : config->jobs;
    return count < BZ_JOBS_MAX ? count : BZ_JOBS_MAX;
}

bool bz_team_prepare(struct bz_search *search) {
    const struct bz_explore_config *config = search->config;
    uint64_t bytes = config->memory_max_bytes;
    if (config->jobs < 2 && config->from == NULL) {
        return true; /* there is none */
    }
    search->log = bz_edge_log_new(bytes < LOG_BYTES_MAX ? bytes : LOG_BYTES_MAX);
    return search->log != NULL;
}

bool bz_team_search(struct bz_search *search, const struct bz_search_bounds *bounds) {
    struct bz_search_bounds own = *bounds;
    uint32_t count = count_of(search->config);
    struct bz_record *record = search->record;
    bool is_team = bz_record_has_place(record) ? record->at.is_team : count >= 2;
    if (!is_team || !bounds->is_any_order || (bounds->reductions & BZ_REDUCE_STATES) == 0 ||
        bz_child_is_alone()) {
        return false;
    }
    struct bz_explore_result before = *search->result;
    struct bz_team *team = bz_shared_alloc(team_bytes(count));
    struct bz_child *children = calloc(count, sizeof *children);
    bool is_done = false;
    if (team != NULL && children != NULL) {
        *team = (struct bz_team){.count = count, .origin = search};
        begin(search, team, &own);
        is_done = search_with(search, team, children);
        search->at.unsound |= team->unsound;
    }
    if (!is_done) {
        *search->result = before;
        bz_child_goes_on_alone();
    }
    free(children);
    bz_shared_free(team, team_bytes(count));
    return is_done;
}
