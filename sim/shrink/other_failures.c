/* Other runs that fail in the same way: found on fixed seeds, the same ones whatever run was given.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/judge/internal.h"
#include "sim/program/sizes.h"
#include "sim/shrink/internal.h"

#define PROBES 300u
#define PROBES_CONTAINED 20u
#define DRAWS 64u
#define PROBES_OF_A_DRAW 10u
#define PROBES_OF_A_DOUBLE 30u

bool bz_shrink_enter(struct bz_shrinking *shrinking, const struct bz_program *program) {
    struct bz_trial *trial = shrinking->trial;
    if (!bz_program_is_offered(program)) {
        return false;
    }
    bool is_kept = trial->world != NULL && !program->contain.is_on &&
                   trial->program.steps_max == program->steps_max;
    trial->program = *program;
    trial->program.profile.steps = 0;
    if (is_kept) { /* they differ in parameters alone */
        bz_program_enter(&trial->program, trial->world);
        return true;
    }
    bz_world_destroy(trial->world);
    trial->world = bz_program_new_world(&trial->program);
    if (trial->world == NULL) {
        bz_lack_text(shrinking->result->lack, BZ_LACK_BYTES, NULL, "a world to shrink in");
    }
    return trial->world != NULL;
}

/* One run on a seed. True if it fails in the same way; the board then has its choices. */
static bool probe(struct bz_shrinking *shrinking, uint64_t seed, struct bz_shrink_size *size) {
    struct bz_trial *trial = shrinking->trial;
    struct bz_judge *judge = trial->world->judge;
    struct bz_run_start start = {.seed = seed,
                                 .strategy = trial->program.contain.is_on ? &bz_strategy_random
                                                                          : &bz_strategy_portfolio};
    shrinking->result->runs++;
    enum bz_run_end end = bz_program_run_from(&trial->program, trial->world, &start);
    shrinking->cost += shrinking->run_cost + bz_judge_steps(judge);
    if (end == BZ_RUN_NO_RESOURCE) {
        bz_lack_copy(shrinking->result->lack, bz_judge_error(judge));
    }
    if (end != BZ_RUN_VIOLATED || strcmp(judge->violation.oracle, shrinking->wanted.oracle) != 0) {
        return false;
    }
    bz_shrink_copy_tape(&shrinking->tape, &judge->tape);
    shrinking->board->source = BZ_EDIT_BY_TAPE;
    bool fails = bz_shrink_try(shrinking, size);
    shrinking->board->source = BZ_EDIT_BY_EDITS;
    return fails;
}

/* --- the smallest ones of many ---------------------------------------------------------------- */

/* By the order of sizes, or by what passes take away least: a cancel, then a task. */
static bool comes_before(const struct bz_shrink_size *size, const struct bz_edits *edits,
                         const struct bz_failing *other, bool is_by_tasks) {
    if (is_by_tasks && size->cancels != other->size.cancels) {
        return size->cancels < other->size.cancels;
    }
    if (is_by_tasks && size->tasks != other->size.tasks) {
        return size->tasks < other->size.tasks;
    }
    return bz_shrink_compare(size, edits, &other->size, &other->edits) < 0;
}

/* Puts the failing run of the trial in its place among `count` ones. Returns how many there are. */
static uint32_t keep(const struct bz_shrinking *shrinking, const struct bz_shrink_size *size,
                     bool is_by_tasks, struct bz_failing *found, uint32_t count) {
    const struct bz_edits *made = &shrinking->board->made;
    uint32_t place = count;
    while (place > 0 && comes_before(size, made, &found[place - 1], is_by_tasks)) {
        if (place < BZ_SHRINK_OTHERS) {
            found[place].size = found[place - 1].size;
            found[place].program = found[place - 1].program;
            bz_edits_copy(&found[place].edits, &found[place - 1].edits);
        }
        place--;
    }
    if (place == BZ_SHRINK_OTHERS) {
        return count;
    }
    found[place].size = *size;
    found[place].program = shrinking->trial->program;
    bz_edits_copy(&found[place].edits, made);
    return count + (count < BZ_SHRINK_OTHERS);
}

/* For the strategies of probes. */
static bool measure(struct bz_shrinking *shrinking) {
    struct bz_trial *trial = shrinking->trial;
    struct bz_program_place place = {&trial->program, trial->world};
    struct bz_source source = bz_program_source(&place);
    if (trial->program.contain.is_on) {
        return true; /* they need no profile */
    }
    bz_judge_measure(trial->world->judge, &source, &trial->program.profile);
    if (trial->program.profile.steps == 0) {
        bz_lack_text(shrinking->result->lack, BZ_LACK_BYTES, NULL, "a profile");
        return false;
    }
    trial->program.profile.steps = 0; /* the judge has it; programs are compared */
    return true;
}

uint32_t bz_shrink_find(struct bz_shrinking *shrinking, struct bz_failing *found) {
    uint32_t probes = shrinking->trial->program.contain.is_on ? PROBES_CONTAINED : PROBES;
    uint32_t count = 0;
    bool is_ready = measure(shrinking);
    for (uint32_t seed = 0; is_ready && seed < probes && bz_shrink_goes_on(shrinking); seed++) {
        struct bz_shrink_size size;
        if (probe(shrinking, seed, &size)) {
            count = keep(shrinking, &size, false, found, count);
        }
    }
    return count;
}

/* --- drawn programs --------------------------------------------------------------------------- */

/* The program with the sizes that a campaign draws for the `number`-th time (sim/program/sizes.h);
 * 0: with the usual ones. No parameter is above `most`. A bound of starvation that is not above its
 * default was set by a person. */
static void draw(const struct bz_program *given, uint32_t number, const int64_t *most,
                 struct bz_program *program) {
    struct bz_program usual = *given;
    const struct bz_param *params = usual.scenario->params;
    for (uint32_t index = 0; params[index].name != NULL; index++) {
        usual.args.values[index] = params[index].value;
    }
    usual.pinned = 0;
    if (usual.starvation_bound > BZ_STARVATION_BOUND_DEFAULT) {
        usual.starvation_bound = BZ_STARVATION_BOUND_DEFAULT;
    }
    *program = usual;
    if (number > 0) {
        bz_sizes_draw_number(&usual, number - 1, program);
    }
    for (uint32_t index = 0; params[index].name != NULL; index++) {
        int64_t *value = &program->args.values[index];
        *value = *value > most[index] ? most[index] : *value;
    }
}

/* Puts the failing runs of a program that are small enough into the group. */
static void find_in(struct bz_shrinking *shrinking, const struct bz_program *program,
                    uint32_t probes) {
    struct bz_shrink_group *group = shrinking->group;
    bool is_ready = bz_shrink_enter(shrinking, program) && measure(shrinking);
    for (uint32_t seed = 0; is_ready && seed < probes && bz_shrink_goes_on(shrinking); seed++) {
        struct bz_shrink_size size;
        bool fails = probe(shrinking, seed, &size);
        for (unsigned rank = 0; fails && rank < 2; rank++) {
            group->counts[rank] =
                keep(shrinking, &size, rank == 1, group->found[rank], group->counts[rank]);
        }
    }
}

/* Fills the group with the smallest failing runs of drawn programs. */
static void find_drawn(struct bz_shrinking *shrinking, const int64_t *most) {
    const struct bz_program *given = shrinking->config->program;
    uint32_t draws = given->scenario->sizes != NULL ? DRAWS : 0;
    for (uint32_t number = 0; number <= draws; number++) {
        struct bz_program program;
        draw(given, number, most, &program);
        find_in(shrinking, &program, number > 0 ? PROBES_OF_A_DRAW : PROBES);
    }
}

/* With those of the best program within `most`, if one of its other parameters is doubled: fewer
 * tasks may need more rounds than are ever drawn. */
static void find_doubled(struct bz_shrinking *shrinking, const int64_t *most) {
    const struct bz_program best = shrinking->result->program;
    const struct bz_param *params = best.scenario->params;
    for (uint32_t index = 0; params[index].name != NULL; index++) {
        struct bz_program program = best;
        int64_t *values = program.args.values;
        for (uint32_t other = 0; params[other].name != NULL; other++) {
            values[other] = values[other] > most[other] ? most[other] : values[other];
        }
        values[index] =
            values[index] > params[index].most / 2 ? params[index].most : 2 * values[index];
        if (most[index] == INT64_MAX && values[index] > best.args.values[index]) {
            find_in(shrinking, &program, PROBES_OF_A_DOUBLE);
        }
    }
}

/* Both orders may have it. */
static bool is_in_first(const struct bz_shrink_group *group, const struct bz_failing *start) {
    bool is_there = false;
    for (uint32_t index = 0; index < group->counts[0] && !is_there; index++) {
        const struct bz_failing *other = &group->found[0][index];
        is_there = memcmp(other->program.args.values, start->program.args.values,
                          sizeof start->program.args.values) == 0 &&
                   bz_shrink_compare(&other->size, &other->edits, &start->size, &start->edits) == 0;
    }
    return is_there;
}

/* Shrinks all of the group, the first of which is the best one now; the smallest of them stays. */
static bool deepen_group(struct bz_shrinking *shrinking) {
    const struct bz_shrink_group *group = shrinking->group;
    (void)bz_shrink_passes(shrinking);
    for (unsigned place = 1; place < 2 * BZ_SHRINK_OTHERS; place++) {
        unsigned rank = place / BZ_SHRINK_OTHERS;
        const struct bz_failing *start = &group->found[rank][place % BZ_SHRINK_OTHERS];
        if (place % BZ_SHRINK_OTHERS < group->counts[rank] &&
            (rank == 0 || !is_in_first(group, start)) && bz_shrink_goes_on(shrinking) &&
            bz_shrink_enter(shrinking, &start->program)) {
            (void)bz_shrink_other(shrinking, start, bz_shrink_passes);
        }
    }
    return bz_shrink_leaps(shrinking);
}

/* In what the group has now. */
static bool begin_in_group(struct bz_shrinking *shrinking,
                           bool (*deepen)(struct bz_shrinking *shrinking)) {
    const struct bz_shrink_group *group = shrinking->group;
    return group->counts[0] > 0 && bz_shrink_enter(shrinking, &group->found[0][0].program) &&
           bz_shrink_other(shrinking, &group->found[0][0], deepen);
}

/* In those that have fewer tasks than the best one: one less of a parameter that counts them. */
static bool begin_with_fewer(struct bz_shrinking *shrinking) {
    const struct bz_program best = shrinking->result->program;
    const struct bz_param *params = best.scenario->params;
    bool counts[BZ_PARAMS_MAX];
    int64_t most[BZ_PARAMS_MAX];
    bool is_smaller = false;
    bz_shrink_counting(shrinking, counts);
    for (uint32_t index = 0; params[index].name != NULL; index++) {
        most[index] = counts[index] ? best.args.values[index] : INT64_MAX;
    }
    for (uint32_t index = 0; params[index].name != NULL && !is_smaller; index++) {
        if (counts[index] && most[index] > params[index].least) {
            most[index]--;
            memset(shrinking->group->counts, 0, sizeof shrinking->group->counts);
            find_drawn(shrinking, most);
            find_doubled(shrinking, most);
            is_smaller = begin_in_group(shrinking, deepen_group);
            most[index]++;
        }
    }
    return is_smaller;
}

/* From now on a run of more steps is longer than the given one. */
static void limit_steps(struct bz_shrinking *shrinking, uint32_t steps_max) {
    shrinking->steps_max = steps_max;
    shrinking->best->size.is_longer = shrinking->best->size.steps > steps_max;
    memset(shrinking->done, 0, sizeof shrinking->done); /* under another limit */
}

/* The group of all drawn programs, and what comes of it. */
static bool deepen_all(struct bz_shrinking *shrinking) {
    (void)deepen_group(shrinking);
    while (bz_shrink_goes_on(shrinking) && begin_with_fewer(shrinking)) {
    }
    if (shrinking->steps_max == UINT32_MAX) {
        bool is_sure =
            bz_shrink_goes_on(shrinking) && shrinking->is_settled && shrinking->is_searched;
        shrinking->common = is_sure ? bz_shrink_key(shrinking) : 0;
        shrinking->is_common_longer = shrinking->best->size.steps > shrinking->steps_given;
        limit_steps(shrinking, shrinking->steps_given);
    }
    return false;
}

static bool begin_in_drawn(struct bz_shrinking *shrinking, uint32_t steps_max) {
    int64_t most[BZ_PARAMS_MAX];
    shrinking->group = bz_lack_new(1, sizeof *shrinking->group, "a shrinking run");
    for (uint32_t index = 0; index < BZ_PARAMS_MAX; index++) {
        most[index] = INT64_MAX;
    }
    limit_steps(shrinking, steps_max);
    find_drawn(shrinking, most);
    (void)begin_in_group(shrinking, deepen_all);
    limit_steps(shrinking, shrinking->steps_given);
    free(shrinking->group);
    return bz_shrink_goes_on(shrinking);
}

bool bz_shrink_common(struct bz_shrinking *shrinking) {
    struct bz_program *program = &shrinking->result->program;
    if (program->contain.is_on) {
        return true; /* each run takes too long */
    }
    bool goes_on = begin_in_drawn(shrinking, UINT32_MAX);
    if (bz_shrink_key(shrinking) == shrinking->common &&
        program->starvation_bound > BZ_STARVATION_BOUND_DEFAULT) {
        program->starvation_bound = BZ_STARVATION_BOUND_DEFAULT; /* as in the run that it found */
    }
    return goes_on;
}

bool bz_shrink_shorter(struct bz_shrinking *shrinking) {
    return !shrinking->is_common_longer || begin_in_drawn(shrinking, shrinking->steps_given);
}

/* --- from another run ------------------------------------------------------------------------- */

bool bz_shrink_other(struct bz_shrinking *shrinking, const struct bz_failing *start,
                     bool (*deepen)(struct bz_shrinking *shrinking)) {
    struct bz_failing *best = shrinking->best;
    struct bz_shrink_result *result = shrinking->result;
    struct bz_failing *before = bz_lack_check(malloc(sizeof *before), "a shrinking run");
    struct bz_program program = result->program;
    struct bz_violation violation = result->violation;
    bool is_searched = shrinking->is_searched;
    bool is_settled = shrinking->is_settled;
    before->size = best->size;
    before->digest = best->digest;
    bz_edits_copy(&before->edits, &best->edits);
    struct bz_tape tape = shrinking->best_tape;
    bz_tape_init(&shrinking->best_tape, NULL);
    best->size = (struct bz_shrink_size){.is_longer = true, .deviations = UINT32_MAX};
    shrinking->board->source = BZ_EDIT_BY_EDITS;
    bz_edits_copy(&shrinking->board->edits, &start->edits);
    if (bz_shrink_improve(shrinking)) {
        (void)deepen(shrinking);
    }
    bool is_smaller =
        bz_shrink_compare(&best->size, &best->edits, &before->size, &before->edits) < 0;
    if (!is_smaller) {
        best->size = before->size;
        best->digest = before->digest;
        bz_edits_copy(&best->edits, &before->edits);
        result->program = program;
        result->violation = violation;
        shrinking->is_searched = is_searched;
        shrinking->is_settled = is_settled;
        bz_tape_fini(&shrinking->best_tape);
        shrinking->best_tape = tape;
    } else {
        bz_tape_fini(&tape);
    }
    free(before);
    return is_smaller;
}
