/* The pass over the tasks of the best run: one of them is left out, whichever it is, and the tasks
 * after it take its place with their choices. Lower parameters alone take the last task away. */
#include <string.h>

#include "sim/judge/internal.h"
#include "sim/shrink/internal.h"

/* The tasks and objects that the setup of a program makes. */
struct extent {
    uint32_t tasks;
    uint32_t draws;
};

static struct extent measure(struct bz_shrinking *shrinking) {
    struct bz_shrink_size size;
    bz_edits_copy(&shrinking->board->edits, &shrinking->best->edits);
    (void)bz_shrink_try(shrinking, &size);
    return (struct extent){.tasks = bz_shrink_tasks_of(shrinking->trial->world->judge),
                           .draws = shrinking->board->loop_draws};
}

/* The best run on the board, without one task. The draws of the setup end with `blocks` equal
 * parts, one for each task, if they are as many as that. */
static void put_without_task(struct bz_shrinking *shrinking, uint32_t task, struct extent full,
                             struct extent less, uint32_t blocks) {
    const struct bz_edits *best = &shrinking->best->edits;
    struct bz_edits *edits = &shrinking->board->edits;
    uint32_t length = full.draws > less.draws ? full.draws - less.draws : 0;
    bool has_block = length > 0 && task <= blocks && (uint64_t)blocks * length <= full.draws;
    uint32_t first = has_block ? full.draws - (blocks - task + 1) * length + 1 : UINT32_MAX;
    edits->count = 0;
    for (uint32_t index = 0; index < best->count; index++) {
        struct bz_edit edit = best->items[index];
        bool is_of_task = edit.owner == task && edit.owner != 0;
        if (edit.owner == 0 && edit.label != NULL && edit.nth >= first) {
            is_of_task = edit.nth - first < length;
            edit.nth -= length;
        }
        edit.owner -= edit.owner > task;
        if (!is_of_task) {
            edits->items[edits->count++] = edit;
        }
    }
}

/* Leaves out any one task of a program that has `less` of them. */
static bool leave_one_out(struct bz_shrinking *shrinking, struct extent full, struct extent less,
                          uint32_t blocks) {
    for (uint32_t task = 1; task <= full.tasks && bz_shrink_goes_on(shrinking); task++) {
        put_without_task(shrinking, task, full, less, blocks);
        if (bz_shrink_improve(shrinking)) {
            return true;
        }
    }
    return false;
}

/* Lowers a parameter that counts tasks by one; if need be, another one with it: a lock for fewer
 * clients may need fewer permits. */
static bool lower_tasks(struct bz_shrinking *shrinking, uint32_t place, struct extent full) {
    const struct bz_program best = shrinking->result->program;
    const struct bz_param *params = best.scenario->params;
    uint32_t blocks = (uint32_t)best.args.values[place];
    struct bz_program program = best;
    program.args.values[place]--;
    if (!bz_shrink_enter(shrinking, &program)) {
        return false;
    }
    struct extent less = measure(shrinking);
    if (less.tasks >= full.tasks) {
        return false;
    }
    bool is_smaller = leave_one_out(shrinking, full, less, blocks);
    for (uint32_t other = 0; params[other].name != NULL && !is_smaller; other++) {
        if (other == place || best.args.values[other] == params[other].least) {
            continue;
        }
        program.args.values[other]--;
        is_smaller = bz_shrink_goes_on(shrinking) && bz_shrink_enter(shrinking, &program) &&
                     leave_one_out(shrinking, full, less, blocks);
        program.args.values[other]++;
    }
    return is_smaller;
}

bool bz_shrink_tasks(struct bz_shrinking *shrinking) {
    bool has_improved = false;
    const struct bz_param *params = shrinking->result->program.scenario->params;
    shrinking->board->source = BZ_EDIT_BY_EDITS;
    for (uint32_t index = 0; params[index].name != NULL && bz_shrink_goes_on(shrinking);) {
        const struct bz_program *best = &shrinking->result->program;
        if (best->args.values[index] > params[index].least && bz_shrink_enter(shrinking, best) &&
            lower_tasks(shrinking, index, measure(shrinking))) {
            has_improved = true;
        } else {
            index++;
        }
    }
    return bz_shrink_enter(shrinking, &shrinking->result->program) && has_improved;
}

void bz_shrink_counting(struct bz_shrinking *shrinking, bool counts[BZ_PARAMS_MAX]) {
    const struct bz_program best = shrinking->result->program;
    const struct bz_param *params = best.scenario->params;
    shrinking->board->source = BZ_EDIT_BY_EDITS;
    for (uint32_t index = 0; params[index].name != NULL; index++) {
        struct bz_program program = best;
        bool may_grow = best.args.values[index] < params[index].most;
        program.args.values[index] += may_grow ? 1 : -1;
        uint32_t tasks =
            bz_shrink_enter(shrinking, &program) ? measure(shrinking).tasks : UINT32_MAX;
        counts[index] = tasks != UINT32_MAX && (may_grow ? tasks > shrinking->best->size.tasks
                                                         : tasks < shrinking->best->size.tasks);
    }
}
