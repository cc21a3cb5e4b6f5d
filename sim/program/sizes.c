#include "sim/program/sizes.h"

#include <string.h>

#include "sim/choice/pcg.h"
#include "traces/text.h"

#define STREAM UINT64_C(0x73697a6573) /* of the random numbers: no other use of a seed has it */

/* NULL: it has no such parameter. */
static const struct bz_param *param_of(const struct bz_scenario *scenario,
                                       const struct bz_size *size) {
    const struct bz_param *param = scenario->params;
    while (param->name != NULL && strcmp(param->name, size->name) != 0) {
        param++;
    }
    return param->name == NULL ? NULL : param;
}

bool bz_sizes_check(const struct bz_scenario *scenario, char *error, size_t error_bytes) {
    const struct bz_size *size = scenario->sizes;
    for (; size != NULL && size->name != NULL; size++) {
        const struct bz_param *param = param_of(scenario, size);
        if (param == NULL) {
            return bz_fail(error, error_bytes, "has sizes for '%.64s', which is not a parameter",
                           size->name);
        }
        bool is_large = size->large == 0 || (size->large > size->most && param->value > 0 &&
                                             size->large > param->value);
        if (size->least < param->least || size->least > size->most || size->most > param->most ||
            size->most < param->value || size->large > param->most || !is_large) {
            return bz_fail(error, error_bytes,
                           "has sizes of '%s' that do not fit: least <= most, both within the "
                           "limits of the parameter, most not below its default; large is 0, or "
                           "above both and within the limits",
                           size->name);
        }
        if ((size_t)(size - scenario->sizes) >= BZ_PARAMS_MAX) {
            return bz_fail(error, error_bytes, "has more sizes than parameters");
        }
    }
    return true;
}

const struct bz_size *bz_sizes_of(const struct bz_scenario *scenario, uint32_t index) {
    for (const struct bz_size *size = scenario->sizes; size != NULL && size->name != NULL; size++) {
        if (param_of(scenario, size) == &scenario->params[index]) {
            return size;
        }
    }
    return NULL;
}

bool bz_sizes_are_drawn(const struct bz_program *program, uint64_t seed) {
    return program->scenario->sizes != NULL && seed % BZ_SIZES_EVERY == BZ_SIZES_AT;
}

uint64_t bz_sizes_number(uint64_t seed) {
    uint64_t draw = seed / BZ_SIZES_SEEDS;
    return draw / (BZ_SIZES_DRAWS * BZ_SIZES_PASSES) * BZ_SIZES_DRAWS + draw % BZ_SIZES_DRAWS;
}

/* True if the user wants runs of more than any drawn size, or of few steps. */
static bool is_at_limit(const struct bz_program *program) {
    const struct bz_scenario *scenario = program->scenario;
    bool is_beyond = program->steps_max < BZ_STEPS_MAX_DEFAULT;
    for (uint32_t index = 0; scenario->params[index].name != NULL; index++) {
        const struct bz_size *size = bz_sizes_of(scenario, index);
        int64_t most = scenario->params[index].value;
        most = size != NULL && size->most > most ? size->most : most;
        most = size != NULL && size->large > most ? size->large : most;
        is_beyond |= program->args.values[index] > most;
    }
    return is_beyond;
}

/* In a large draw, nothing is below its default: a long run should have something to show. */
static int64_t draw_value(const struct bz_size *size, int64_t usual, bool is_large,
                          struct bz_pcg32 *pcg) {
    int64_t least = is_large && size->least < usual ? usual : size->least;
    int64_t value = least + bz_pcg32_below(pcg, (uint32_t)(size->most - least) + 1);
    return is_large && size->large != 0 ? size->large : value;
}

void bz_sizes_draw(const struct bz_program *program, uint64_t seed, struct bz_program *drawn) {
    *drawn = *program;
    if (!bz_sizes_are_drawn(program, seed)) {
        return;
    }
    const struct bz_scenario *scenario = program->scenario;
    uint64_t number = bz_sizes_number(seed);
    bool is_large = number % BZ_SIZES_LARGE_EVERY == BZ_SIZES_LARGE_EVERY - 1;
    bool has_bound = program->starvation_bound != BZ_STARVATION_BOUND_DEFAULT;
    bool is_limited = is_at_limit(program);
    struct bz_pcg32 pcg;
    bz_pcg32_seed(&pcg, bz_seed_mix(number), STREAM);
    drawn->profile.steps = 0;
    for (const struct bz_size *size = scenario->sizes; size->name != NULL; size++) {
        const struct bz_param *param = param_of(scenario, size);
        ptrdiff_t index = param - scenario->params;
        int64_t usual = param->value;
        int64_t value = draw_value(size, usual, is_large, &pcg);
        if ((program->pinned >> index & 1u) != 0) {
            continue;
        }
        value = is_limited && value > usual ? usual : value;
        drawn->args.values[index] = value;
        if (size->large != 0 && value == size->large && !has_bound) {
            drawn->starvation_bound *= (uint32_t)((value + usual - 1) / usual);
        }
    }
}
