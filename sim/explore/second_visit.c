/* A search with snapshots is sound only if a snapshot is all of the program's state. A variant that
 * keeps some elsewhere (in malloc's memory, in a static variable) shows itself by what it does: the
 * same choices from the set-up on, in a world without snapshots, do not lead to the same events. */
#include <string.h>

#include "sim/explore/search.h"

#define VISITS_FIRST 512u /* transitions of a search */
#define VISITS_EVERY 4096u

/* --- the strategy: the choices of the path ---------------------------------------------------- */

struct visit {
    struct bz_search *search;
    uint32_t cursor;
};

static uint64_t choice(void *state, enum bz_choice_kind kind, uint64_t bound) {
    struct visit *visit = *(struct visit **)state;
    struct bz_search *search = visit->search;
    const struct bz_choice_point *point = &search->points[visit->cursor];
    if (visit->cursor >= search->point_count || point->kind != kind || point->bound != bound ||
        point->chosen >= bound) {
        search->is_unrepeatable = true;
        return 0;
    }
    visit->cursor++;
    return point->chosen;
}

static void visit_begin(void *state, const struct bz_strategy_start *start) {
    *(struct visit **)state = start->context;
}

static uint32_t visit_next(void *state, const struct bz_ready *ready, uint32_t count,
                           uint32_t step) {
    (void)ready;
    (void)step;
    return (uint32_t)choice(state, BZ_CHOICE_NEXT, count);
}

static uint32_t visit_cancel(void *state, const struct bz_cancel_candidate *candidates,
                             uint32_t count, uint32_t step, uint32_t cancel_point) {
    (void)step;
    (void)cancel_point;
    uint64_t bound = (uint64_t)bz_search_candidates(candidates, count) + 1;
    return (uint32_t)choice(state, BZ_CHOICE_CANCEL, bound);
}

static bool visit_jump(void *state, uint32_t step) {
    (void)step;
    return choice(state, BZ_CHOICE_DELAY, 2) != 0;
}

static uint64_t visit_draw(void *state, enum bz_choice_kind kind, const struct bz_draw *draw,
                           uint32_t step) {
    (void)kind;
    (void)step;
    return choice(state, BZ_CHOICE_DATA, draw->bound);
}

static const struct bz_strategy visit_strategy = {
    .name = "second-visit",
    .summary = "the choices of a path of a search",
    .state_bytes = sizeof(struct visit *),
    .begin = visit_begin,
    .next = visit_next,
    .cancel_gap = bz_gap_none,
    .cancel = visit_cancel,
    .jump_gap = bz_gap_none,
    .jump = visit_jump,
    .draw = visit_draw,
};

/* --- the visit -------------------------------------------------------------------------------- */

bool bz_search_visit_is_due(const struct bz_search *search) {
    uint64_t transitions = search->result->transitions;
    return bz_search_has(search, BZ_REDUCE_SNAPSHOTS) &&
           (search->visits_all || transitions <= VISITS_FIRST || transitions % VISITS_EVERY == 0);
}

static bool same_oracle(const struct bz_judge *a, const struct bz_judge *b) {
    const char *first = a->violation.oracle;
    const char *second = b->violation.oracle;
    return first == NULL || second == NULL ? first == second : strcmp(first, second) == 0;
}

/* States are normalized where the search did so, because that clears what events count. */
void bz_search_visit_again(struct bz_search *search, bool is_end) {
    const struct bz_program *program = search->config->program;
    bool is_normal = bz_search_has(search, BZ_REDUCE_SNAPSHOTS);
    struct bz_world *world = search->second;
    struct bz_judge *judge = world->judge;
    struct visit visit = {.search = search};
    bz_judge_begin(judge, &(struct bz_run_start){.strategy = &visit_strategy, .context = &visit});
    bz_snapshot_begin(world, is_normal, bz_search_has(search, BZ_REDUCE_STATES));
    void *state = program->scenario->setup(world, &program->args);
    bz_judge_end_step(judge);
    search->is_unrepeatable |= judge->digest != search->root.digest;
    for (const struct bz_frame *frame = &search->root;
         frame != search->top && !search->is_unrepeatable;) {
        frame = frame->child;
        if (is_normal) {
            bz_snapshot_normalize(world);
        }
        (void)bz_world_step(world);
        search->is_unrepeatable |= judge->digest != frame->digest;
    }
    if (is_end && !search->is_unrepeatable) {
        bz_search_finish(search, world, state);
        search->is_unrepeatable |= !same_oracle(judge, search->world->judge);
    }
    if (!is_end && !search->is_unrepeatable && bz_search_has(search, BZ_REDUCE_SYMMETRY)) {
        bz_snapshot_normalize(world);
        search->is_asymmetric |= bz_symmetry_has_disguise(search->world, world);
    }
    if (!bz_world_has_resources(world)) {
        search->is_unrepeatable = false; /* nothing was compared */
    }
}
