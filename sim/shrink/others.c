/* Other runs that fail in the same way: found on fixed seeds, the same ones whatever run was given.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/judge/internal.h"
#include "sim/shrink/internal.h"

#define PROBES 300u
#define PROBES_CONTAINED 20u

bool bz_shrink_enter(struct bz_shrinking *shrinking, const struct bz_program *program) {
    struct bz_trial *trial = shrinking->trial;
    bz_world_destroy(trial->world);
    trial->program = *program;
    trial->program.profile.steps = 0;
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
    shrinking->cost += bz_judge_steps(judge);
    if (end == BZ_RUN_NO_RESOURCE) {
        snprintf(shrinking->result->lack, BZ_LACK_BYTES, "%.*s", (int)BZ_LACK_BYTES - 1,
                 bz_judge_error(judge));
    }
    if (end != BZ_RUN_VIOLATED || strcmp(judge->violation.oracle, shrinking->wanted.oracle) != 0) {
        return false;
    }
    if (!bz_tape_copy(&shrinking->tape, &judge->tape)) {
        bz_lack_text(shrinking->result->lack, BZ_LACK_BYTES, NULL, "a tape");
        return false;
    }
    shrinking->board->source = BZ_EDIT_BY_TAPE;
    bool fails = bz_shrink_try(shrinking, size);
    shrinking->board->source = BZ_EDIT_BY_EDITS;
    return fails;
}

uint32_t bz_shrink_find(struct bz_shrinking *shrinking, struct bz_failing *found) {
    struct bz_trial *trial = shrinking->trial;
    uint32_t probes = trial->program.contain.is_on ? PROBES_CONTAINED : PROBES;
    uint32_t count = 0;
    if (!trial->program.contain.is_on) {
        struct bz_program_place place = {&trial->program, trial->world};
        struct bz_source source = bz_program_source(&place);
        bz_judge_measure(trial->world->judge, &source, &trial->program.profile);
        if (trial->program.profile.steps == 0) {
            bz_lack_text(shrinking->result->lack, BZ_LACK_BYTES, NULL, "a profile");
            return 0;
        }
        trial->program.profile.steps = 0; /* the judge has it; programs are compared */
    }
    for (uint32_t seed = 0; seed < probes && bz_shrink_goes_on(shrinking); seed++) {
        struct bz_shrink_size size;
        const struct bz_edits *made = &shrinking->board->made;
        if (!probe(shrinking, seed, &size)) {
            continue;
        }
        uint32_t place = count < BZ_SHRINK_OTHERS ? count : BZ_SHRINK_OTHERS;
        while (place > 0 && bz_shrink_compare(&size, made, &found[place - 1].size,
                                              &found[place - 1].edits) < 0) {
            if (place < BZ_SHRINK_OTHERS) {
                found[place].size = found[place - 1].size;
                bz_edits_copy(&found[place].edits, &found[place - 1].edits);
            }
            place--;
        }
        if (place < BZ_SHRINK_OTHERS) {
            found[place].size = size;
            bz_edits_copy(&found[place].edits, made);
            count += count < BZ_SHRINK_OTHERS;
        }
    }
    return count;
}

bool bz_shrink_other(struct bz_shrinking *shrinking, const struct bz_failing *start,
                     bool (*deepen)(struct bz_shrinking *shrinking)) {
    struct bz_failing *best = shrinking->best;
    struct bz_shrink_result *result = shrinking->result;
    struct bz_failing *before = malloc(sizeof *before);
    if (before == NULL) {
        bz_lack_text(result->lack, sizeof result->lack, NULL, "a shrinking run");
        return false;
    }
    struct bz_program program = result->program;
    struct bz_violation violation = result->violation;
    bool is_searched = shrinking->is_searched;
    bool is_settled = shrinking->is_settled;
    before->size = best->size;
    before->digest = best->digest;
    bz_edits_copy(&before->edits, &best->edits);
    struct bz_tape tape = shrinking->best_tape;
    bz_tape_init(&shrinking->best_tape, NULL);
    best->size = (struct bz_shrink_size){.deviations = UINT32_MAX};
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
