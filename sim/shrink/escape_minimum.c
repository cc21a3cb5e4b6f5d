/* Leaps, out of a local minimum: to programs that no single step down leads to. Each is small, and
 * its small schedules are tried. Their result depends on the program alone.
 *
 *     up      one parameter goes back up to its default, or two do, to save a deviation
 *     down    all parameters but two go to their least values at once */
#include "sim/shrink/internal.h"

#define CHOICES_MAX 4u
#define RUNS_OF_A_LEAP 2000u
#define RUNS_OF_A_PAIR 200u

/* Tries small schedules of a program. */
static bool leap(struct bz_shrinking *shrinking, const struct bz_program *program,
                 uint32_t deviations, uint32_t choices, uint64_t runs) {
    const struct bz_failing *best = shrinking->best;
    struct bz_shrink_limits limits = {.deviations = deviations,
                                      .cancels = best->size.cancels,
                                      .choices = choices < CHOICES_MAX ? choices : CHOICES_MAX,
                                      .runs = runs};
    bool is_searched = shrinking->is_searched;
    bool is_smaller = bz_shrink_goes_on(shrinking) && bz_shrink_enter(shrinking, program) &&
                      bz_shrink_search_within(shrinking, &limits);
    shrinking->is_searched = is_searched && !is_smaller;
    return is_smaller;
}

/* The values that a parameter may go back up to. */
static int64_t top_of(const struct bz_shrinking *shrinking, uint32_t index) {
    return shrinking->config->program->scenario->params[index].value;
}

/* All of them: the first one that saves a deviation may need more tasks than another one. */
static bool leap_up(struct bz_shrinking *shrinking) {
    const struct bz_program best = shrinking->result->program;
    const struct bz_param *params = best.scenario->params;
    uint32_t deviations = shrinking->best->size.deviations;
    uint32_t choices = shrinking->best->edits.count + 2;
    bool is_smaller = false;
    for (uint32_t one = 0; params[one].name != NULL && deviations > 0; one++) {
        for (uint32_t other = one; params[other].name != NULL; other++) {
            struct bz_program program = best;
            int64_t *values = program.args.values;
            bool may_rise =
                values[one] < top_of(shrinking, one) && values[other] < top_of(shrinking, other);
            values[one] = top_of(shrinking, one);
            values[other] = top_of(shrinking, other);
            is_smaller |= may_rise && leap(shrinking, &program, deviations - 1, choices,
                                           one == other ? RUNS_OF_A_LEAP : RUNS_OF_A_PAIR);
        }
    }
    return is_smaller;
}

static bool leap_down(struct bz_shrinking *shrinking) {
    const struct bz_program best = shrinking->result->program;
    const struct bz_param *params = best.scenario->params;
    struct bz_program program = best;
    bool is_smaller = false;
    if (shrinking->best->size.params <= 2) {
        return false; /* one parameter at a time was tried */
    }
    struct bz_program least = best;
    for (uint32_t index = 0; params[index].name != NULL; index++) {
        least.args.values[index] = bz_program_offered(&best, index, params[index].least);
    }
    program = least;
    for (uint32_t one = 0; params[one].name != NULL; one++) {
        program.args.values[one] = best.args.values[one];
        for (uint32_t other = one + 1; params[other].name != NULL && !is_smaller; other++) {
            bool are_both = best.args.values[one] > least.args.values[one] &&
                            best.args.values[other] > least.args.values[other];
            program.args.values[other] = best.args.values[other];
            is_smaller = are_both && leap(shrinking, &program, shrinking->best->size.deviations,
                                          shrinking->best->edits.count + 2, RUNS_OF_A_LEAP);
            program.args.values[other] = least.args.values[other];
        }
        program.args.values[one] = least.args.values[one];
    }
    return is_smaller;
}

bool bz_shrink_leap(struct bz_shrinking *shrinking) {
    bool is_smaller = leap_up(shrinking) || leap_down(shrinking);
    return bz_shrink_enter(shrinking, &shrinking->result->program) && is_smaller;
}
