#include "sim/program/sizes.h"

#include <string.h>

#include "sim/choice/pcg.h"
#include "traces/text.h"

/* Of the random numbers: no other use of a seed has it. */
#define STREAM UINT64_C(0x73697a6573)
#define TAIL_STREAM UINT64_C(0x7461696c)

#define TIMES 8u       /* the length of a run of the long tail, at most, in usual runs */
#define TIMES_RARE 64u /* the same, of a rare one */

/* NULL: it has no such parameter. */
static const struct bz_param *param_of(const struct bz_scenario *scenario,
                                       const struct bz_size *size) {
    const struct bz_param *param = scenario->params;
    while (param->name != NULL && strcmp(param->name, size->name) != 0) {
        param++;
    }
    return param->name == NULL ? NULL : param;
}

/* The first row of its parameter; the row itself, unless it has a long tail. */
static const struct bz_size *first_row(const struct bz_scenario *scenario,
                                       const struct bz_size *size) {
    const struct bz_size *first = scenario->sizes;
    while (strcmp(first->name, size->name) != 0) {
        first++;
    }
    return first;
}

static bool fits(const struct bz_scenario *scenario, const struct bz_size *size,
                 const struct bz_param *param) {
    const struct bz_size *first = first_row(scenario, size);
    bool is_in_order = size->least >= param->least && size->least <= size->most &&
                       size->most <= param->most && size->large <= param->most;
    if (size != first) {
        return is_in_order && param->value > 0 && size->least > first->most &&
               (size->large == 0 || size->large == BZ_TAIL_TASKS);
    }
    return is_in_order && size->most >= param->value &&
           (size->large == 0 ||
            (size->large > size->most && param->value > 0 && size->large > param->value));
}

bool bz_sizes_check(const struct bz_scenario *scenario, char *error, size_t error_bytes) {
    const struct bz_size *size = scenario->sizes;
    for (; size != NULL && size->name != NULL; size++) {
        const struct bz_param *param = param_of(scenario, size);
        if (param == NULL) {
            return bz_fail(error, error_bytes, "has sizes for '%.64s', which is not a parameter",
                           size->name);
        }
        if (!fits(scenario, size, param)) {
            return bz_fail(error, error_bytes,
                           "has sizes of '%s' that do not fit: least <= most, both within the "
                           "limits of the parameter, most not below its default; large is 0, or "
                           "above both and within the limits; a second row begins above the first",
                           size->name);
        }
        if ((size_t)(size - scenario->sizes) >= 2 * (size_t)BZ_PARAMS_MAX) {
            return bz_fail(error, error_bytes, "has more sizes than parameters");
        }
    }
    return true;
}

const struct bz_size *bz_sizes_of(const struct bz_scenario *scenario, uint32_t index) {
    for (const struct bz_size *size = scenario->sizes; size != NULL && size->name != NULL; size++) {
        if (strcmp(size->name, scenario->params[index].name) == 0) {
            return size;
        }
    }
    return NULL;
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

/* The second row of the parameter; NULL: it has none. */
static const struct bz_size *tail_row(const struct bz_size *size) {
    for (const struct bz_size *next = size + 1; next->name != NULL; next++) {
        if (strcmp(next->name, size->name) == 0) {
            return next;
        }
    }
    return NULL;
}

static bool counts_tasks(const struct bz_size *size) {
    const struct bz_size *tail = tail_row(size);
    return size->large != 0 && tail != NULL && tail->large == BZ_TAIL_TASKS;
}

/* Parameters that count tasks share the room that a variant has. */
static void keep_limit(const struct bz_program *program, struct bz_program *drawn) {
    const struct bz_scenario *scenario = program->scenario;
    int64_t sharing = 0;
    if (program->variant->waiters_max == 0) {
        return;
    }
    for (const struct bz_size *size = scenario->sizes; size->name != NULL; size++) {
        sharing += counts_tasks(size);
    }
    for (const struct bz_size *size = scenario->sizes; size->name != NULL; size++) {
        ptrdiff_t index = param_of(scenario, size) - scenario->params;
        if (counts_tasks(size) && (program->pinned >> index & 1u) == 0) {
            int64_t room = ((int64_t)program->variant->waiters_max - BZ_SIZES_BESIDE) / sharing;
            int64_t most = room < size->least ? size->least : room;
            int64_t *value = &drawn->args.values[index];
            *value = *value > most ? most : *value;
        }
    }
}

/* Only sizes that the variant offers. */
static void keep_offers(const struct bz_program *program, struct bz_program *drawn) {
    for (uint32_t index = 0; program->scenario->params[index].name != NULL; index++) {
        if ((program->pinned >> index & 1u) == 0) {
            drawn->args.values[index] =
                bz_program_offered(program, index, drawn->args.values[index]);
        }
    }
}

/* Without the file if there is none: it is most of a program. */
static void copy_unmeasured(const struct bz_program *program, struct bz_program *copy) {
    memcpy(copy, program, offsetof(struct bz_program, args.file_name));
    if (program->args.file_digest != 0) {
        copy->args = program->args;
    }
    copy->answers = program->answers;
    copy->profile.steps = 0;
    copy->pinned = program->pinned;
}

/* In a large draw, nothing is below its default: a long run should have something to show. */
static int64_t draw_value(const struct bz_size *size, int64_t lowest, int64_t usual, bool is_large,
                          struct bz_pcg32 *pcg) {
    int64_t least = lowest > size->most ? size->least : lowest;
    least = is_large && least < usual ? usual : least;
    int64_t value = least + bz_pcg32_below(pcg, (uint32_t)(size->most - least) + 1);
    return is_large && size->large != 0 ? size->large : value;
}

void bz_sizes_draw_number(const struct bz_program *program, uint64_t number,
                          struct bz_program *drawn) {
    const struct bz_scenario *scenario = program->scenario;
    bool is_large = number % BZ_SIZES_LARGE_EVERY == BZ_SIZES_LARGE_EVERY - 1;
    bool has_bound = program->starvation_bound != BZ_STARVATION_BOUND_DEFAULT;
    bool is_limited = is_at_limit(program);
    struct bz_pcg32 pcg;
    copy_unmeasured(program, drawn);
    bz_pcg32_seed(&pcg, bz_seed_mix(number), STREAM);
    for (const struct bz_size *size = scenario->sizes; size->name != NULL; size++) {
        const struct bz_param *param = param_of(scenario, size);
        ptrdiff_t index = param - scenario->params;
        int64_t usual = param->value;
        if (size != first_row(scenario, size)) {
            continue;
        }
        int64_t lowest = bz_program_offered(program, (uint32_t)index, size->least);
        int64_t value = draw_value(size, lowest, usual, is_large, &pcg);
        if ((program->pinned >> index & 1u) != 0) {
            continue;
        }
        value = is_limited && value > usual ? usual : value;
        drawn->args.values[index] = value;
        if (size->large != 0 && value == size->large && !has_bound) {
            drawn->starvation_bound *= (uint32_t)((value + usual - 1) / usual);
        }
    }
    keep_limit(program, drawn);
    keep_offers(program, drawn);
}

/* --- the long tail ---------------------------------------------------------------------------- */

/* How many usual runs this run is long, by the parameters that have grown but the one of that
 * index.
 */
static uint64_t times_without(const struct bz_program *program, ptrdiff_t without) {
    const struct bz_scenario *scenario = program->scenario;
    uint64_t times = 1;
    for (uint32_t index = 0; scenario->params[index].name != NULL; index++) {
        const struct bz_size *size = bz_sizes_of(scenario, index);
        int64_t usual = scenario->params[index].value;
        int64_t value = program->args.values[index];
        if (size != NULL && size->large != 0 && index != without && value > size->most) {
            times *= (uint64_t)((value + usual - 1) / usual);
        }
    }
    return times;
}

/* A number in least..most, most often next to a power of two: its magnitude is uniform. */
static int64_t draw_magnitude(struct bz_pcg32 *pcg, int64_t least, int64_t most) {
    uint32_t log_least = 31u - (uint32_t)__builtin_clz((uint32_t)least);
    uint32_t log_most = 31u - (uint32_t)__builtin_clz((uint32_t)most + 1u);
    uint32_t span = log_most - log_least + 1;
    int64_t power = INT64_C(1) << (log_least + bz_pcg32_below(pcg, span));
    uint32_t kind = bz_pcg32_below(pcg, 4);
    int64_t value = kind < 3 ? power + kind - 1 : power + bz_pcg32_below(pcg, (uint32_t)power);
    return value < least ? least : value > most ? most : value;
}

/* The rows of the long tail: those of parameters that make runs longer come first. */
struct tails {
    const struct bz_size *rows[BZ_PARAMS_MAX];
    uint32_t count;
    uint32_t longer_count;
};

static void find_tails(const struct bz_scenario *scenario, bool is_longer, struct tails *tails) {
    for (const struct bz_size *size = scenario->sizes; size->name != NULL; size++) {
        const struct bz_size *first = first_row(scenario, size);
        if (size != first && (first->large != 0) == is_longer && tails->count < BZ_PARAMS_MAX) {
            tails->rows[tails->count++] = size;
            tails->longer_count += is_longer;
        }
    }
}

/* Returns the value, or `tasks` if it is not a number of tasks, or smaller. */
static int64_t grow(const struct bz_program *program, const struct bz_size *tail, uint64_t times,
                    int64_t tasks, struct bz_pcg32 *pcg, struct bz_program *drawn) {
    const struct bz_param *param = param_of(program->scenario, tail);
    ptrdiff_t index = param - program->scenario->params;
    bool is_longer = first_row(program->scenario, tail)->large != 0;
    bool is_tasks = tail->large == BZ_TAIL_TASKS;
    bool has_bound = program->starvation_bound != BZ_STARVATION_BOUND_DEFAULT;
    int64_t most = is_longer  ? (int64_t)(times / times_without(drawn, index)) * param->value
                   : is_tasks ? tasks
                              : tail->most;
    most = most < tail->most ? most : tail->most;
    if ((program->pinned >> index & 1u) != 0 || most < tail->least) {
        return tasks;
    }
    int64_t value = draw_magnitude(pcg, tail->least, most);
    int64_t other = draw_magnitude(pcg, tail->least, most);
    value = times == TIMES_RARE && other > value ? other : value;
    drawn->args.values[index] = value;
    if (is_longer && is_tasks && !has_bound) {
        drawn->starvation_bound *= (uint32_t)((value + param->value - 1) / param->value);
    }
    return is_longer && is_tasks && value > tasks ? value : tasks;
}

/* Some of the rows, one at least that makes the run longer; if it is rare, all of these. They take
 * what is left of the length one after another, from any on. */
static void draw_tails(const struct bz_program *program, bool is_rare, struct bz_pcg32 *pcg,
                       struct bz_program *drawn) {
    struct tails tails = {.count = 0};
    find_tails(program->scenario, true, &tails);
    find_tails(program->scenario, false, &tails);
    uint32_t first = bz_pcg32_below(pcg, tails.longer_count);
    uint32_t chosen = bz_pcg32_below(pcg, 1u << tails.count) | 1u << first;
    chosen |= is_rare ? (1u << tails.longer_count) - 1 : 0;
    int64_t tasks = 0;
    for (uint32_t turn = 0; turn < tails.count; turn++) {
        uint32_t place = turn < tails.longer_count ? (first + turn) % tails.longer_count : turn;
        if ((chosen >> place & 1u) != 0) {
            tasks =
                grow(program, tails.rows[place], is_rare ? TIMES_RARE : TIMES, tasks, pcg, drawn);
        }
    }
}

bool bz_sizes_are_tail(const struct bz_program *program, uint64_t seed) {
    const struct bz_scenario *scenario = program->scenario;
    bool is_due = seed % BZ_SIZES_TAIL_EVERY == BZ_SIZES_TAIL_AT && scenario->sizes != NULL;
    struct tails tails = {.count = 0};
    if (is_due) {
        find_tails(scenario, true, &tails);
    }
    return tails.count > 0 && !is_at_limit(program);
}

/* A parameter that does not grow is small, but not below its default. One that grows without making
 * the run longer, such as permits, has its least value in half of the other runs. The random walk
 * needs no profile, which would take eight more runs of this length. */
static void draw_tail(const struct bz_program *program, uint64_t seed, struct bz_program *drawn) {
    const struct bz_scenario *scenario = program->scenario;
    struct bz_pcg32 pcg;
    copy_unmeasured(program, drawn);
    bz_pcg32_seed(&pcg, bz_seed_mix(seed), TAIL_STREAM);
    for (uint32_t index = 0; scenario->params[index].name != NULL; index++) {
        const struct bz_size *size = bz_sizes_of(scenario, index);
        if (size != NULL && (program->pinned >> index & 1u) == 0) {
            int64_t usual = scenario->params[index].value;
            int64_t least = size->least < usual ? usual : size->least;
            int64_t value = least + bz_pcg32_below(&pcg, (uint32_t)(size->most - least) + 1);
            bool is_least =
                bz_pcg32_below(&pcg, 2) == 0 && size->large == 0 && tail_row(size) != NULL;
            drawn->args.values[index] = is_least ? size->least : value;
        }
    }
    draw_tails(program, seed / BZ_SIZES_TAIL_EVERY % BZ_SIZES_RARE_EVERY == BZ_SIZES_RARE_EVERY - 1,
               &pcg, drawn);
    keep_limit(program, drawn);
    keep_offers(program, drawn);
    drawn->strategy = program->strategy->needs_profile ? &bz_strategy_random : program->strategy;
}

/* --- a seed ----------------------------------------------------------------------------------- */

bool bz_sizes_are_drawn(const struct bz_program *program, uint64_t seed) {
    return program->scenario->sizes != NULL && seed % BZ_SIZES_EVERY == BZ_SIZES_AT;
}

uint64_t bz_sizes_number(const struct bz_program *program, uint64_t seed) {
    if (bz_sizes_are_tail(program, seed)) {
        return UINT64_MAX - 1 - seed / BZ_SIZES_TAIL_EVERY; /* beyond those of all other draws */
    }
    uint64_t draw = seed / BZ_SIZES_SEEDS;
    return draw / (BZ_SIZES_DRAWS * BZ_SIZES_PASSES) * BZ_SIZES_DRAWS + draw % BZ_SIZES_DRAWS;
}

void bz_sizes_draw(const struct bz_program *program, uint64_t seed, struct bz_program *drawn) {
    if (!bz_sizes_are_drawn(program, seed)) {
        *drawn = *program;
    } else if (bz_sizes_are_tail(program, seed)) {
        draw_tail(program, seed, drawn);
    } else {
        bz_sizes_draw_number(program, bz_sizes_number(program, seed), drawn);
    }
}
