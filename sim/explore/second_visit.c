/* A search with snapshots is sound only if a snapshot is all of the program's state. A variant that
 * keeps some elsewhere (in malloc's memory, in a static variable) shows itself by what it does: the
 * same choices from the set-up on, in a world without snapshots, do not lead to the same events. */
#include <string.h>

#include "sim/explore/search.h"

#define VISITS_EVERY 4096u /* transitions */
#define RUNS_FIRST 64u
#define RUNS_EVERY 16u
#define STEPS_MAX 20000u /* of a whole run that is made again: nobody looks whether it moves */

bool bz_search_visit_is_due(const struct bz_search *search) {
    uint64_t transitions = search->result->transitions;
    if (bz_search_has_whole_runs(search)) {
        return (transitions <= RUNS_FIRST || transitions % RUNS_EVERY == 0) &&
               search->world->judge->step <= STEPS_MAX;
    }
    return bz_search_has(search, BZ_REDUCE_SNAPSHOTS) &&
           (transitions <= search->visits_first || transitions % VISITS_EVERY == 0);
}

static bool same_oracle(const struct bz_judge *a, const struct bz_judge *b) {
    const char *first = a->violation.oracle;
    const char *second = b->violation.oracle;
    return first == NULL || second == NULL ? first == second : strcmp(first, second) == 0;
}

void bz_search_visit_again(struct bz_search *search, bool is_end) {
    struct bz_world *world = search->second;
    void *state = bz_search_repeat(search, world, search->top);
    if (is_end && !search->is_unrepeatable) {
        bz_search_finish(search, world, state);
        search->is_unrepeatable |= !same_oracle(world->judge, search->world->judge);
    }
    if (!is_end && !search->is_unrepeatable && bz_search_has(search, BZ_REDUCE_SYMMETRY)) {
        bz_snapshot_normalize(world);
        if (bz_symmetry_has_disguise(search->world, world)) {
            search->at.unsound |= BZ_REDUCE_SYMMETRY;
        }
    }
    if (!bz_world_has_resources(world)) {
        search->is_unrepeatable = false; /* nothing was compared */
    }
}
