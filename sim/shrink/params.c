/* The pass over the program: smaller parameters. The choices of the best run may not fit a smaller
 * program; then others are looked for (other_failures.c). */
#include <stdlib.h>

#include "sim/shrink/internal.h"

#define STEPS_MAX_LEAST 100u

/* --- a smaller program ------------------------------------------------------------------------ */

/* True if a run of this program fails in the same way and is smaller than the best one. */
static bool try_program(struct bz_shrinking *shrinking, const struct bz_program *program,
                        struct bz_failing *others) {
    if (!bz_shrink_enter(shrinking, program)) {
        return false;
    }
    others[0].size = shrinking->best->size;
    bz_edits_copy(&others[0].edits, &shrinking->best->edits);
    bool is_smaller = bz_shrink_other(shrinking, &others[0], bz_shrink_choices);
    uint32_t count = is_smaller ? 0 : bz_shrink_find(shrinking, others);
    for (uint32_t index = 0; index < count && bz_shrink_goes_on(shrinking); index++) {
        is_smaller |= bz_shrink_other(shrinking, &others[index], bz_shrink_choices);
    }
    return is_smaller;
}

/* The least value of one number at which a run still fails in the same way: the least of all, or by
 * bisection. */
static bool lower_number(struct bz_shrinking *shrinking, int64_t *number, int64_t least,
                         struct bz_program *program, struct bz_failing *others) {
    bool is_smaller = false;
    int64_t high = *number;
    int64_t low = least - 1; /* does not fail */
    for (int64_t next = least; next < high && bz_shrink_goes_on(shrinking);
         next = low + (high - low) / 2) {
        if (next == low) {
            break;
        }
        *number = next;
        if (try_program(shrinking, program, others)) {
            is_smaller = true;
            high = next;
        } else {
            low = next;
        }
    }
    *number = high;
    return is_smaller;
}

/* A livelock is shown by any number of steps. */
static bool lower_step_limit(struct bz_shrinking *shrinking, struct bz_failing *others) {
    struct bz_program program = shrinking->result->program;
    if (shrinking->best->size.steps < program.steps_max || program.steps_max <= STEPS_MAX_LEAST) {
        return false;
    }
    program.steps_max =
        program.steps_max / 10 > STEPS_MAX_LEAST ? program.steps_max / 10 : STEPS_MAX_LEAST;
    return try_program(shrinking, &program, others);
}

/* Whatever is above its default goes there at once, with the bound of starvation, which may have
 * been raised for it (sim/program/sizes.h): what fails in a large program often fails in one of the
 * usual size, where each run costs far less. */
static bool lower_to_defaults(struct bz_shrinking *shrinking, struct bz_failing *others) {
    struct bz_program program = shrinking->result->program;
    const struct bz_param *params = program.scenario->params;
    bool is_lower = false;
    for (uint32_t index = 0; params[index].name != NULL; index++) {
        int64_t usual = bz_program_offered(&program, index, params[index].value);
        if (program.args.values[index] > usual) {
            program.args.values[index] = usual;
            is_lower = true;
        }
    }
    if (program.starvation_bound > BZ_STARVATION_BOUND_DEFAULT) {
        program.starvation_bound = BZ_STARVATION_BOUND_DEFAULT;
    }
    return is_lower && try_program(shrinking, &program, others);
}

bool bz_shrink_params(struct bz_shrinking *shrinking) {
    struct bz_failing *others = bz_lack_new(BZ_SHRINK_OTHERS, sizeof *others, "a shrinking run");
    const struct bz_param *params = shrinking->result->program.scenario->params;
    bool has_improved = lower_to_defaults(shrinking, others);
    while (lower_step_limit(shrinking, others)) {
        has_improved = true;
    }
    for (uint32_t index = 0; params[index].name != NULL && bz_shrink_goes_on(shrinking); index++) {
        struct bz_program program = shrinking->result->program;
        int64_t least = bz_program_offered(&program, index, params[index].least);
        has_improved |=
            lower_number(shrinking, &program.args.values[index], least, &program, others);
    }
    free(others);
    return bz_shrink_enter(shrinking, &shrinking->result->program) && has_improved;
}
