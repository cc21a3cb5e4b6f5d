/* A search with snapshots is sound only if a snapshot is all of the program's state. A variant that
 * keeps some elsewhere (in malloc's memory, in a static variable) shows itself by what it does: the
 * same choices from the set-up on, in a world without snapshots, do not lead to the same events. */
#include <string.h>

#include "sim/explore/search.h"

#define VISITS_FIRST 512u /* transitions of a search */
#define VISITS_EVERY 4096u

/* Makes the choices of the path. */
struct visit {
    struct bz_chooser chooser;
    struct bz_search *search;
    uint32_t cursor;
};

static uint64_t choose(struct bz_chooser *chooser, enum bz_choice_kind kind, uint64_t bound,
                       const char *label) {
    struct visit *visit = bz_container_of(chooser, struct visit, chooser);
    struct bz_search *search = visit->search;
    const struct bz_choice_point *point = &search->points[visit->cursor];
    (void)label;
    if (visit->cursor >= search->point_count || point->kind != kind || point->bound != bound ||
        point->chosen >= bound) {
        search->is_unrepeatable = true;
        return 0;
    }
    visit->cursor++;
    return point->chosen;
}

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
    struct visit visit = {.chooser.choose = choose, .search = search};
    bz_judge_begin(
        judge, &(struct bz_run_start){.strategy = &bz_chooser_strategy, .context = &visit.chooser});
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
        search->at.is_asymmetric |= bz_symmetry_has_disguise(search->world, world);
    }
    if (!bz_world_has_resources(world)) {
        search->is_unrepeatable = false; /* nothing was compared */
    }
}
