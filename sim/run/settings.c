#include "sim/run/settings.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/judge/record.h"
#include "sim/run/input.h"

#define NAMES_MAX 256u
#define WORD_BYTES 256u
#define PAIR_BYTES (BZ_SETTING_BYTES + 64u) /* name=value */

static bool fail(char *error, size_t error_bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool fail(char *error, size_t error_bytes, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error, error_bytes, format, arguments);
    va_end(arguments);
    return false;
}

/* "unknown KIND 'word'; did you mean 'nearest'? WHERE lists them". */
static bool fail_unknown(char *error, size_t error_bytes, const char *kind, const char *word,
                         const char *const *names, size_t count, const char *where) {
    const char *nearest = bz_nearest_name(word, names, count);
    if (nearest != NULL) {
        return fail(error, error_bytes, "unknown %s '%.64s'; did you mean '%s'? (%s)", kind, word,
                    nearest, where);
    }
    return fail(error, error_bytes, "unknown %s '%.64s' (%s)", kind, word, where);
}

/* --- names ---------------------------------------------------------------------------------------
 */

static bool unknown_scenario(const struct bz_catalog *catalog, const char *word, char *error,
                             size_t error_bytes) {
    const char *names[NAMES_MAX];
    size_t count = 0;
    for (; catalog->scenarios[count] != NULL && count < NAMES_MAX; count++) {
        names[count] = catalog->scenarios[count]->name;
    }
    return fail_unknown(error, error_bytes, "scenario", word, names, count,
                        "'buzzer list scenarios' shows them all");
}

static bool unknown_variant(const struct bz_catalog *catalog, const char *word, char *error,
                            size_t error_bytes) {
    const char *names[NAMES_MAX];
    size_t count = 0;
    for (; catalog->variants[count] != NULL && count < NAMES_MAX; count++) {
        names[count] = catalog->variants[count]->name;
    }
    return fail_unknown(error, error_bytes, "variant", word, names, count,
                        "'buzzer list variants' shows them all; one of a plug-in is there after "
                        "--plugin FILE.so");
}

static bool unknown_strategy(const char *word, char *error, size_t error_bytes) {
    const char *names[NAMES_MAX];
    size_t count = 0;
    for (; bz_strategies[count] != NULL && count < NAMES_MAX; count++) {
        names[count] = bz_strategies[count]->name;
    }
    return fail_unknown(error, error_bytes, "strategy", word, names, count,
                        "'buzzer list strategies' shows them all");
}

static bool offers(const struct bz_variant *variant, const struct bz_scenario *scenario) {
    for (uint32_t index = 0; index < scenario->primitive_count; index++) {
        if (bz_variant_offers(variant, scenario->primitives[index])) {
            return true;
        }
    }
    return false;
}

bool bz_program_find(struct bz_program *program, const struct bz_catalog *catalog,
                     const char *scenario_name, const char *variant_name, const char *strategy_name,
                     char *error, size_t error_bytes) {
    const struct bz_scenario *scenario = bz_catalog_scenario(catalog, scenario_name);
    if (scenario == NULL) {
        return unknown_scenario(catalog, scenario_name, error, error_bytes);
    }
    const struct bz_variant *variant = bz_catalog_variant(catalog, variant_name);
    if (variant == NULL) {
        return unknown_variant(catalog, variant_name, error, error_bytes);
    }
    const struct bz_strategy *strategy =
        bz_strategy_find(strategy_name == NULL ? "portfolio" : strategy_name);
    if (strategy == NULL) {
        return unknown_strategy(strategy_name, error, error_bytes);
    }
    if (!offers(variant, scenario)) {
        return fail(error, error_bytes,
                    "variant '%s' offers no primitive that scenario '%s' can use ('buzzer list "
                    "variants' and 'buzzer list scenarios' show which)",
                    variant->name, scenario->name);
    }
    bz_program_init(program, scenario, variant, strategy);
    return true;
}

/* --- one setting
 * ---------------------------------------------------------------------------------- */

static bool set_order(struct bz_program *program, const char *value, char *error,
                      size_t error_bytes) {
    static const char *const names[] = {"any", "fifo"};
    for (unsigned order = 0; order < 2; order++) {
        if (strcmp(names[order], value) == 0) {
            program->order = (enum bz_order)order;
            return true;
        }
    }
    return fail_unknown(error, error_bytes, "order", value, names, 2, "it is any or fifo");
}

/* The number of the window of that name; 0 if it is none that a cancel can be injected into. */
static unsigned window_of(const char *word) {
    for (unsigned window = 1; window < BZ_WINDOW_COUNT; window++) {
        if ((BZ_WINDOWS_ALL >> window & 1u) != 0 &&
            strcmp(bz_window_name((enum bz_window)window), word) == 0) {
            return window;
        }
    }
    return 0;
}

static bool unknown_window(const char *word, char *error, size_t error_bytes) {
    const char *names[BZ_WINDOW_COUNT + 2];
    size_t count = 0;
    if (strcmp(word, "any") == 0 || strcmp(word, "none") == 0) {
        return fail(error, error_bytes, "'%s' stands alone, not in a list of windows", word);
    }
    for (unsigned window = 1; window < BZ_WINDOW_COUNT; window++) {
        if ((BZ_WINDOWS_ALL >> window & 1u) != 0) {
            names[count++] = bz_window_name((enum bz_window)window);
        }
    }
    names[count++] = "any";
    names[count++] = "none";
    return fail_unknown(error, error_bytes, "window", word, names, count,
                        "any, none, or a list from 'buzzer list windows'");
}

static bool set_cancel(struct bz_program *program, const char *value, char *error,
                       size_t error_bytes) {
    if (strcmp(value, "any") == 0 || strcmp(value, "none") == 0) {
        program->cancel_windows = *value == 'a' ? BZ_WINDOWS_ALL : BZ_WINDOWS_NONE;
        return true;
    }
    uint32_t windows = 0;
    while (true) {
        char word[WORD_BYTES];
        size_t length = strcspn(value, ",+");
        if (length >= sizeof word) {
            length = sizeof word - 1;
        }
        memcpy(word, value, length);
        word[length] = '\0';
        unsigned window = window_of(word);
        if (window == 0) {
            return unknown_window(word, error, error_bytes);
        }
        windows |= 1u << window;
        if (value[length] == '\0') {
            break;
        }
        value += length + 1;
    }
    program->cancel_windows = windows;
    return true;
}

static bool set_number(uint32_t *number, const char *name, const char *value, uint32_t least,
                       uint32_t most, char *error, size_t error_bytes) {
    uint64_t parsed;
    if (!bz_parse_u64(value, &parsed) || parsed < least || parsed > most) {
        return fail(error, error_bytes, "%s '%.64s' is not a whole number from %u to %u", name,
                    value, least, most);
    }
    *number = (uint32_t)parsed;
    return true;
}

static bool set_primitive(struct bz_program *program, const char *value, char *error,
                          size_t error_bytes) {
    const struct bz_scenario *scenario = program->scenario;
    const char *names[BZ_PRIMITIVE_COUNT];
    for (uint32_t index = 0; index < scenario->primitive_count; index++) {
        enum bz_primitive primitive = scenario->primitives[index];
        names[index] = bz_primitive_name(primitive);
        if (strcmp(names[index], value) != 0) {
            continue;
        }
        if (!bz_variant_offers(program->variant, primitive)) {
            return fail(error, error_bytes, "variant '%s' offers no %s", program->variant->name,
                        names[index]);
        }
        program->args.primitive = primitive;
        return true;
    }
    char where[WORD_BYTES];
    snprintf(where, sizeof where, "'buzzer list scenarios' shows what '%s' can use",
             scenario->name);
    return fail_unknown(error, error_bytes, "primitive", value, names, scenario->primitive_count,
                        where);
}

static bool set_param(struct bz_program *program, uint32_t index, const char *value, char *error,
                      size_t error_bytes) {
    const struct bz_param *param = &program->scenario->params[index];
    bool is_negative = value[0] == '-';
    uint64_t magnitude;
    bool is_number = bz_parse_u64(value + is_negative, &magnitude) && magnitude <= INT64_MAX;
    int64_t number = is_number ? (int64_t)magnitude : 0;
    number = is_negative ? -number : number;
    if (!is_number || number < param->least || number > param->most) {
        return fail(error, error_bytes,
                    "parameter %s '%.64s' of scenario '%s' is not a whole number from %" PRId64
                    " to %" PRId64,
                    param->name, value, program->scenario->name, param->least, param->most);
    }
    program->args.values[index] = number;
    return true;
}

static const char *const fixed_names[] = {"primitive",   "order",     "cancel",
                                          "max-cancels", "max-steps", "starvation-bound"};
#define FIXED_COUNT (sizeof fixed_names / sizeof fixed_names[0])

/* They mean something to the strategy that follows them alone. */
static bool set_answers(struct bz_program *program, const char *value, char *error,
                        size_t error_bytes) {
    struct bz_answers answers;
    if (program->strategy != &bz_strategy_answers) {
        return fail(error, error_bytes,
                    "the setting answers is for the strategy 'answers', and this one is '%s'",
                    program->strategy->name);
    }
    if (!bz_answers_parse(&answers, value)) {
        return fail(error, error_bytes,
                    "answers '%.64s' are not of the form QUESTION-ANSWER+QUESTION-ANSWER..., with "
                    "at most %u pairs of numbers above 0 and ascending questions",
                    value, BZ_ANSWERS_ENTRIES_MAX);
    }
    program->answers = answers;
    return true;
}

static bool unknown_setting(const struct bz_program *program, const char *word, char *error,
                            size_t error_bytes) {
    const char *names[FIXED_COUNT + 2 + BZ_PARAMS_MAX];
    size_t count = 0;
    for (; count < FIXED_COUNT; count++) {
        names[count] = fixed_names[count];
    }
    if (program->strategy == &bz_strategy_answers) {
        names[count++] = "answers";
    }
    if (program->scenario->file != NULL) {
        names[count++] = "file";
    }
    for (uint32_t index = 0; program->scenario->params[index].name != NULL; index++) {
        names[count++] = program->scenario->params[index].name;
    }
    char where[WORD_BYTES];
    snprintf(where, sizeof where, "'buzzer list scenarios' shows those of '%s'",
             program->scenario->name);
    return fail_unknown(error, error_bytes, "parameter", word, names, count, where);
}

bool bz_program_set(struct bz_program *program, const char *name, const char *value, char *error,
                    size_t error_bytes) {
    if (strcmp(name, "order") == 0) {
        return set_order(program, value, error, error_bytes);
    }
    if (strcmp(name, "cancel") == 0) {
        return set_cancel(program, value, error, error_bytes);
    }
    if (strcmp(name, "max-cancels") == 0) {
        return set_number(&program->cancels_max, name, value, 0, UINT32_MAX, error, error_bytes);
    }
    if (strcmp(name, "max-steps") == 0) {
        return set_number(&program->steps_max, name, value, 1, BZ_STEPS_LIMIT, error, error_bytes);
    }
    if (strcmp(name, "starvation-bound") == 0) {
        return set_number(&program->starvation_bound, name, value, 1, UINT32_MAX, error,
                          error_bytes);
    }
    if (strcmp(name, "primitive") == 0) {
        return set_primitive(program, value, error, error_bytes);
    }
    if (strcmp(name, "answers") == 0) {
        return set_answers(program, value, error, error_bytes);
    }
    if (strcmp(name, "file") == 0 && program->scenario->file != NULL) {
        return bz_input_set(program, value, error, error_bytes);
    }
    for (uint32_t index = 0; program->scenario->params[index].name != NULL; index++) {
        if (strcmp(program->scenario->params[index].name, name) == 0) {
            return set_param(program, index, value, error, error_bytes);
        }
    }
    return unknown_setting(program, name, error, error_bytes);
}

/* True if "name=" begins one of the settings before `end`. */
static bool is_set_before(const char *list, const char *end, const char *name) {
    size_t length = strlen(name);
    for (const char *start = list; start < end; start += strcspn(start, ",") + 1) {
        if (strncmp(start, name, length) == 0 && start[length] == '=') {
            return true;
        }
    }
    return false;
}

bool bz_program_set_list(struct bz_program *program, const char *list, char *error,
                         size_t error_bytes) {
    const char *whole = list;
    while (true) {
        char word[PAIR_BYTES];
        size_t length = strcspn(list, ",");
        if (length >= sizeof word) {
            return fail(error, error_bytes, "a setting is longer than %u characters",
                        (unsigned)sizeof word - 1);
        }
        memcpy(word, list, length);
        word[length] = '\0';
        char *equals = strchr(word, '=');
        if (equals == NULL || equals == word) {
            return fail(error, error_bytes, "setting '%.64s' is not of the form name=value", word);
        }
        *equals = '\0';
        if (is_set_before(whole, list, word)) {
            return fail(error, error_bytes, "setting '%.64s' is given twice", word);
        }
        if (!bz_program_set(program, word, equals + 1, error, error_bytes)) {
            return false;
        }
        if (list[length] == '\0') {
            return true;
        }
        list += length + 1;
    }
}

/* --- settings as text
 * -------------------------------------------------------------------------------- */

static void print_windows(uint32_t windows, char *value, size_t value_bytes) {
    if (windows == BZ_WINDOWS_ALL || windows == BZ_WINDOWS_NONE) {
        snprintf(value, value_bytes, "%s", windows == BZ_WINDOWS_ALL ? "any" : "none");
        return;
    }
    size_t used = 0;
    for (unsigned window = 1; window < BZ_WINDOW_COUNT; window++) {
        if ((windows >> window & 1u) != 0 && used < value_bytes) {
            int written = snprintf(value + used, value_bytes - used, "%s%s", used == 0 ? "" : "+",
                                   bz_window_name((enum bz_window)window));
            used += written > 0 ? (size_t)written : 0;
        }
    }
}

const char *bz_program_setting(const struct bz_program *program, unsigned index, char *value,
                               size_t value_bytes, bool *is_default) {
    struct bz_program usual;
    bz_program_init(&usual, program->scenario, program->variant, program->strategy);
    switch (index) {
    case 0:
        *is_default = program->args.primitive == usual.args.primitive;
        snprintf(value, value_bytes, "%s", bz_primitive_name(program->args.primitive));
        return fixed_names[index];
    case 1:
        *is_default = program->order == usual.order;
        snprintf(value, value_bytes, "%s", bz_order_name(program->order));
        return fixed_names[index];
    case 2:
        *is_default = program->cancel_windows == usual.cancel_windows;
        print_windows(program->cancel_windows, value, value_bytes);
        return fixed_names[index];
    case 3:
        *is_default = program->cancels_max == usual.cancels_max;
        snprintf(value, value_bytes, "%u", program->cancels_max);
        return fixed_names[index];
    case 4:
        *is_default = program->steps_max == usual.steps_max;
        snprintf(value, value_bytes, "%u", program->steps_max);
        return fixed_names[index];
    case 5:
        *is_default = program->starvation_bound == usual.starvation_bound;
        snprintf(value, value_bytes, "%u", program->starvation_bound);
        return fixed_names[index];
    default:
        break;
    }
    const struct bz_param *params = program->scenario->params;
    uint32_t param = 0;
    for (; params[param].name != NULL; param++) {
        if (param == index - FIXED_COUNT) {
            *is_default = program->args.values[param] == params[param].value;
            snprintf(value, value_bytes, "%" PRId64, program->args.values[param]);
            return params[param].name;
        }
    }
    bool has_file = program->args.file_digest != 0;
    if (index == FIXED_COUNT + param && has_file) {
        *is_default = false;
        bz_input_print(program, value, value_bytes);
        return "file";
    }
    if (index == FIXED_COUNT + param + has_file && program->strategy == &bz_strategy_answers) {
        *is_default = program->answers.count == 0;
        bz_answers_format(&program->answers, value, value_bytes);
        return "answers";
    }
    return NULL;
}
