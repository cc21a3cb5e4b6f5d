#include "sim/program/settings.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/judge/record.h"
#include "traces/text.h"

#define NAMES_MAX 256u
#define WORD_BYTES 256u
#define PAIR_BYTES (BZ_SETTING_BYTES + 64u) /* name=value */

/* "unknown KIND 'word'; did you mean 'nearest'? WHERE lists them". */
static bool fail_unknown(char *error, size_t error_bytes, const char *kind, const char *word,
                         const char *const *names, size_t count, const char *where) {
    const char *nearest = bz_nearest_name(word, names, count);
    if (nearest != NULL) {
        return bz_fail(error, error_bytes, "unknown %s '%.64s'; did you mean '%s'? (%s)", kind,
                       word, nearest, where);
    }
    return bz_fail(error, error_bytes, "unknown %s '%.64s' (%s)", kind, word, where);
}

/* The command of the program that helps: fills `where`, of WORD_BYTES. */
static const char *hint(char *where, const char *list, const char *rest) {
    snprintf(where, WORD_BYTES, "'%s list %s' %s", bz_command, list, rest);
    return where;
}

/* --- names ------------------------------------------------------------------------------------ */

/* `items` is a NULL-terminated list of structs with a name at `name_offset`. */
static bool fail_unlisted(char *error, size_t error_bytes, const char *kind, const char *word,
                          const void *items, size_t name_offset, const char *where) {
    const char *names[NAMES_MAX];
    size_t count = 0;
    for (const char *item; count < NAMES_MAX; count++) {
        memcpy(&item, (const char *)items + count * sizeof item, sizeof item);
        if (item == NULL) {
            break;
        }
        memcpy(&names[count], item + name_offset, sizeof names[count]);
    }
    return fail_unknown(error, error_bytes, kind, word, names, count, where);
}

static bool offers(const struct bz_variant *variant, const struct bz_scenario *scenario) {
    if (scenario->runtime != NULL) {
        return true;
    }
    for (uint32_t index = 0; index < scenario->primitive_count; index++) {
        if (bz_variant_offers(variant, scenario->primitives[index])) {
            return true;
        }
    }
    return false;
}

static bool fail_without_scenario(char *error, size_t error_bytes, const struct bz_catalog *catalog,
                                  const char *name) {
    char where[WORD_BYTES];
    const char *why = catalog->why_missing == NULL ? NULL : catalog->why_missing(name);
    return why != NULL ? bz_fail(error, error_bytes, "%s", why)
                       : fail_unlisted(error, error_bytes, "scenario", name, catalog->scenarios,
                                       offsetof(struct bz_scenario, name),
                                       hint(where, "scenarios",
                                            "shows them all; one of a plug-in is there after "
                                            "--plugin FILE.so"));
}

bool bz_program_find(struct bz_program *program, const struct bz_catalog *catalog,
                     const char *scenario_name, const char *variant_name, const char *strategy_name,
                     char *error, size_t error_bytes) {
    char where[WORD_BYTES];
    const struct bz_scenario *scenario = bz_catalog_scenario(catalog, scenario_name);
    if (scenario == NULL) {
        return fail_without_scenario(error, error_bytes, catalog, scenario_name);
    }
    const struct bz_variant *variant = bz_catalog_variant(catalog, variant_name);
    if (scenario->runtime != NULL && strcmp(scenario->runtime->variant, variant_name) != 0) {
        return bz_fail(
            error, error_bytes,
            "scenario '%s' is of variant '%s', and this is '%s', which may run otherwise; "
            "'replay --variant %s TRACE.json' plays the choices of a trace to it",
            scenario->name, variant_name, scenario->runtime->variant, scenario->runtime->variant);
    }
    if (variant == NULL) {
        return fail_unlisted(error, error_bytes, "variant", variant_name, catalog->variants,
                             offsetof(struct bz_variant, name),
                             hint(where, "variants",
                                  "shows them all; one of a plug-in is there after --plugin "
                                  "FILE.so"));
    }
    const struct bz_strategy *strategy =
        bz_strategy_find(strategy_name == NULL ? "portfolio" : strategy_name);
    if (strategy == NULL) {
        return fail_unlisted(error, error_bytes, "strategy", strategy_name, bz_strategies,
                             offsetof(struct bz_strategy, name),
                             hint(where, "strategies", "shows them all"));
    }
    if (!offers(variant, scenario)) {
        return bz_fail(error, error_bytes,
                       "variant '%s' offers no primitive that scenario '%s' can use ('%s list "
                       "variants' and '%s list scenarios' show which)",
                       variant->name, scenario->name, bz_command, bz_command);
    }
    bz_program_init(program, scenario, variant, strategy);
    bool may_be_foreign = catalog->is_foreign != NULL;
    program->contain = catalog->contain;
    program->contain.is_program_foreign = may_be_foreign && catalog->is_foreign(scenario);
    program->contain.is_on |=
        program->contain.is_program_foreign || (may_be_foreign && catalog->is_foreign(variant));
    return true;
}

/* --- one setting: from text and to text ------------------------------------------------------- */

static void *field_of(const struct bz_setting *setting, const struct bz_program *program) {
    return (char *)(uintptr_t)program + setting->offset;
}

static bool set_order(const struct bz_setting *setting, struct bz_program *program,
                      const char *value, char *error, size_t error_bytes) {
    const char *names[BZ_ORDER_COUNT];
    for (unsigned order = 0; order < BZ_ORDER_COUNT; order++) {
        names[order] = bz_order_name(order);
        if (strcmp(names[order], value) == 0) {
            program->order = (enum bz_order)order;
            return true;
        }
    }
    return fail_unknown(error, error_bytes, setting->name, value, names, BZ_ORDER_COUNT,
                        "it is any or fifo");
}

static void print_order(const struct bz_setting *setting, const struct bz_program *program,
                        char *value, size_t value_bytes) {
    (void)setting;
    snprintf(value, value_bytes, "%s", bz_order_name(program->order));
}

/* The number of a window that cancels can be injected into; 0 with a message. */
static unsigned window_of(const char *word, char *error, size_t error_bytes) {
    const char *names[BZ_WINDOW_COUNT + 3];
    size_t count = 0;
    for (unsigned window = 1; window < BZ_WINDOW_COUNT; window++) {
        if ((BZ_WINDOWS_ALL >> window & 1u) != 0) {
            names[count++] = bz_window_name(window);
            if (strcmp(names[count - 1], word) == 0) {
                return window;
            }
        }
    }
    names[count++] = "any";
    names[count++] = "none";
    names[count++] = "off";
    char where[WORD_BYTES];
    snprintf(where, sizeof where, "any, none, off, or a list from '%s list windows'", bz_command);
    return fail_unknown(error, error_bytes, "window", word, names, count, where);
}

static bool fail_cancelled(const struct bz_scenario *scenario, char *error, size_t error_bytes) {
    return scenario->runtime != NULL
               ? bz_fail(error, error_bytes,
                         "cancel off: the cancels and timeouts of a test are its code; 'none' "
                         "injects no others")
               : bz_fail(error, error_bytes,
                         "cancel off: scenario '%s' does not run without cancels and timeouts of "
                         "its own; 'none' injects no others",
                         scenario->name);
}

static bool set_cancel(const struct bz_setting *setting, struct bz_program *program,
                       const char *value, char *error, size_t error_bytes) {
    (void)setting;
    bool is_off = strcmp(value, "off") == 0;
    if (is_off && !program->scenario->runs_uncancelled) {
        return fail_cancelled(program->scenario, error, error_bytes);
    }
    if (is_off || strcmp(value, "any") == 0 || strcmp(value, "none") == 0) {
        program->cancel_windows = *value == 'a' ? BZ_WINDOWS_ALL : BZ_WINDOWS_NONE;
        program->is_uncancelled = is_off;
        return true;
    }
    uint32_t windows = 0;
    for (;; value++) {
        char word[WORD_BYTES];
        size_t length = strcspn(value, ",+");
        snprintf(word, sizeof word, "%.*s", (int)(length < WORD_BYTES ? length : WORD_BYTES),
                 value);
        unsigned window = window_of(word, error, error_bytes);
        if (window == 0) {
            return false;
        }
        windows |= 1u << window;
        value += length;
        if (*value == '\0') {
            break;
        }
    }
    program->cancel_windows = windows;
    program->is_uncancelled = false;
    return true;
}

static void print_cancel(const struct bz_setting *setting, const struct bz_program *program,
                         char *value, size_t value_bytes) {
    (void)setting;
    if (program->is_uncancelled) {
        snprintf(value, value_bytes, "off");
    } else {
        bz_windows_text(program->cancel_windows, '+', value, value_bytes);
    }
}

static bool set_number(const struct bz_setting *setting, struct bz_program *program,
                       const char *value, char *error, size_t error_bytes) {
    uint64_t parsed;
    if (!bz_parse_u64(value, &parsed) || parsed < setting->least || parsed > setting->most) {
        return bz_fail(error, error_bytes, "%s '%.64s' is not a whole number from %u to %u",
                       setting->name, value, setting->least, setting->most);
    }
    *(uint32_t *)field_of(setting, program) = (uint32_t)parsed;
    return true;
}

static void print_number(const struct bz_setting *setting, const struct bz_program *program,
                         char *value, size_t value_bytes) {
    snprintf(value, value_bytes, "%" PRIu32, *(uint32_t *)field_of(setting, program));
}

static bool set_lag(const struct bz_setting *setting, struct bz_program *program, const char *value,
                    char *error, size_t error_bytes) {
    return bz_parse_lag(value, &program->lag_max_ns) ||
           bz_fail(error, error_bytes,
                   "%s '%.64s' is not a time such as 2s, 100ms, 40us, 5ns or 0, and not 'any'",
                   setting->name, value);
}

static void print_lag(const struct bz_setting *setting, const struct bz_program *program,
                      char *value, size_t value_bytes) {
    char text[BZ_LAG_BYTES];
    (void)setting;
    snprintf(value, value_bytes, "%s", bz_lag_text(program->lag_max_ns, text));
}

static bool set_primitive(const struct bz_setting *setting, struct bz_program *program,
                          const char *value, char *error, size_t error_bytes) {
    const struct bz_scenario *scenario = program->scenario;
    const char *names[BZ_PRIMITIVE_COUNT];
    for (uint32_t index = 0; index < scenario->primitive_count; index++) {
        enum bz_primitive primitive = scenario->primitives[index];
        names[index] = bz_primitive_name(primitive);
        if (strcmp(names[index], value) != 0) {
            continue;
        }
        if (!bz_variant_offers(program->variant, primitive)) {
            return bz_fail(error, error_bytes, "variant '%s' offers no %s", program->variant->name,
                           names[index]);
        }
        bz_program_use(program, primitive);
        return true;
    }
    char where[WORD_BYTES];
    snprintf(where, sizeof where, "'%s list scenarios' shows what '%s' can use", bz_command,
             scenario->name);
    return fail_unknown(error, error_bytes, setting->name, value, names, scenario->primitive_count,
                        where);
}

static void print_primitive(const struct bz_setting *setting, const struct bz_program *program,
                            char *value, size_t value_bytes) {
    (void)setting;
    bool has_one = program->scenario->runtime == NULL;
    snprintf(value, value_bytes, "%s", has_one ? bz_primitive_name(program->args.primitive) : "");
}

static bool set_answers(const struct bz_setting *setting, struct bz_program *program,
                        const char *value, char *error, size_t error_bytes) {
    struct bz_answers answers;
    (void)setting;
    if (program->strategy != &bz_strategy_answers) {
        return bz_fail(error, error_bytes,
                       "the setting answers is for the strategy 'answers', and this one is '%s'",
                       program->strategy->name);
    }
    if (!bz_answers_parse(&answers, value)) {
        return bz_fail(error, error_bytes,
                       "answers '%.64s': expected POINT-VALUE+POINT-VALUE..., at most %u pairs of "
                       "numbers above 0 with ascending points",
                       value, BZ_ANSWERS_ENTRIES_MAX);
    }
    program->answers = answers;
    return true;
}

static void print_answers(const struct bz_setting *setting, const struct bz_program *program,
                          char *value, size_t value_bytes) {
    (void)setting;
    value[0] = '\0';
    if (program->strategy == &bz_strategy_answers) {
        bz_answers_format(&program->answers, value, value_bytes);
    }
}

/* --- the file of a program: the setting `file` -------------------------------------------------
 *
 *     --set file=NAME               on the command line
 *     file=NAME@0123456789abcdef    in a token or a trace: with a digest of the content
 *
 * A replay refuses a file whose content differs from the recorded digest. The name is relative to
 * the current folder, and consists of letters, digits, '.', '_', '-' and '/', so that no shell and
 * no token needs quotes. */

static bool is_plain(char character) {
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9') ||
           (character != '\0' && strchr("._-/", character) != NULL);
}

/* NAME or NAME@DIGEST; `digest` 0: none. */
static bool split(const char *value, char *name, uint64_t *digest, char *error,
                  size_t error_bytes) {
    size_t length = strcspn(value, "@");
    *digest = 0;
    if (length == 0 || length >= BZ_FILE_NAME_BYTES) {
        return bz_fail(error, error_bytes,
                       "file '%.64s' has no name, or one of more than %u characters", value,
                       BZ_FILE_NAME_BYTES - 1);
    }
    for (size_t index = 0; index < length; index++) {
        if (!is_plain(value[index])) {
            return bz_fail(
                error, error_bytes,
                "file '%.*s': its name may have letters, digits and . _ - / only, so that a "
                "token can name it",
                (int)length, value);
        }
    }
    memcpy(name, value, length);
    name[length] = '\0';
    if (value[length] == '\0') {
        return true;
    }
    if (!bz_parse_digest(value + length + 1, digest) || *digest == 0) {
        return bz_fail(error, error_bytes,
                       "file '%.64s': behind '@' stands a digest of %u hexadecimal digits", value,
                       BZ_DIGEST_DIGITS);
    }
    return true;
}

/* Byte by byte, for the same result on every machine. Never 0, which means no file. */
static uint64_t digest_of(const char *text, size_t length) {
    uint64_t digest = bz_digest_word(BZ_DIGEST_SEED, length);
    for (size_t index = 0; index < length; index++) {
        digest = bz_digest_word(digest, (unsigned char)text[index]);
    }
    return digest != 0 ? digest : 1;
}

static bool read_program_file(struct bz_program *program, const char *value, char *error,
                              size_t error_bytes) {
    struct bz_scenario_args args = program->args;
    size_t length;
    uint64_t wanted;
    if (!split(value, args.file_name, &wanted, error, error_bytes)) {
        return false;
    }
    const struct bz_scenario_file *file = program->scenario->file;
    char *text = bz_file_read(args.file_name, BZ_FILE_BYTES_MAX, &length, error, error_bytes);
    if (text == NULL) {
        return false;
    }
    bool is_read = false;
    args.file_digest = digest_of(text, length);
    if (wanted != 0 && wanted != args.file_digest) {
        bz_fail(error, error_bytes,
                "%s: its content has changed: the run had the digest %016" PRIx64
                ", and this file has %016" PRIx64 "; restore the old file, or run the new one",
                args.file_name, wanted, args.file_digest);
    } else {
        memset(args.file, 0, sizeof args.file);
        is_read = file->read(args.file, program->variant, text, length, args.file_name, error,
                             error_bytes);
    }
    free(text);
    if (is_read) {
        program->args = args;
    }
    return is_read;
}

static bool unknown_setting(const struct bz_program *program, const char *word, char *error,
                            size_t error_bytes);

static bool set_file(const struct bz_setting *setting, struct bz_program *program,
                     const char *value, char *error, size_t error_bytes) {
    return program->scenario->file != NULL
               ? read_program_file(program, value, error, error_bytes)
               : unknown_setting(program, setting->name, error, error_bytes);
}

static void print_file(const struct bz_setting *setting, const struct bz_program *program,
                       char *value, size_t value_bytes) {
    (void)setting;
    value[0] = '\0';
    if (program->args.file_digest != 0) {
        snprintf(value, value_bytes, "%s@%016" PRIx64, program->args.file_name,
                 program->args.file_digest);
    }
}

/* --- all settings ----------------------------------------------------------------------------- */

#define FIELD(member)                                                                              \
    .offset = offsetof(struct bz_program, member), .bytes = sizeof((struct bz_program *)0)->member
#define NUMBER(member, least_value, most_value)                                                    \
    FIELD(member), .least = (least_value), .most = (most_value), .set = set_number,                \
                   .print = print_number

const struct bz_setting bz_settings[] = {
    {"primitive", "P", "one that the scenario and the variant have ('buzzer list scenarios')",
     FIELD(args.primitive), .set = set_primitive, .print = print_primitive},
    {"order", "any|fifo",
     "any: every ready handle may go next; fifo: turn by turn, as stock loops do. Timers of one "
     "time fire in order of arming; in the references of asyncio, as its heap leaves them (any)",
     FIELD(order), .set = set_order, .print = print_order,
     .trace_offset = offsetof(struct bz_trace, order)},
    {"cancel", "off|none|any|WINDOWS",
     "Where cancels are injected: none, any, or windows separated by commas; off: none, and the "
     "scenario makes no cancel and no timeout either (any)",
     FIELD(cancel_windows), .set = set_cancel, .print = print_cancel,
     .trace_offset = offsetof(struct bz_trace, cancel)},
    {"max-cancels", "N", "Maximum of injected cancels in a run",
     NUMBER(cancels_max, 0, UINT32_MAX)},
    {"max-steps", "N", "Maximum of steps in a run", NUMBER(steps_max, 1, BZ_STEPS_LIMIT)},
    {"starvation-bound", "N", "Times that a waiter may be overtaken",
     NUMBER(starvation_bound, 1, UINT32_MAX)},
    {"max-lag", "TIME",
     "Time that the steps of a run take, in sum: 100ms, 40us, 0, any. A timer fires before ready "
     "work only if a step takes until then (99ms)",
     FIELD(lag_max_ns), .set = set_lag, .print = print_lag, .is_late = true},
    {"file", NULL, NULL, FIELD(args.file_digest), .set = set_file, .print = print_file},
    {"answers", NULL, NULL, FIELD(answers.count), .set = set_answers, .print = print_answers},
    {NULL},
};
/* Settings from this index on are listed after the parameters. */
static uint32_t before_params(const struct bz_program *program) {
    return program->scenario->runtime == NULL ? 7 : 6; /* which has no primitive */
}

static uint32_t param_count(const struct bz_program *program) {
    uint32_t count = 0;
    while (program->scenario->params[count].name != NULL) {
        count++;
    }
    return count;
}

static bool unknown_setting(const struct bz_program *program, const char *word, char *error,
                            size_t error_bytes) {
    const char *names[sizeof bz_settings / sizeof bz_settings[0] + BZ_PARAMS_MAX];
    size_t count = 0;
    for (const struct bz_setting *setting = bz_settings; setting->name != NULL; setting++) {
        bool is_offered = setting->set == set_file      ? program->scenario->file != NULL
                          : setting->set == set_answers ? program->strategy == &bz_strategy_answers
                                                        : true;
        names[count] = setting->name;
        count += is_offered;
    }
    for (uint32_t index = 0; index < param_count(program); index++) {
        names[count++] = program->scenario->params[index].name;
    }
    char where[WORD_BYTES];
    snprintf(where, sizeof where, "'%s list scenarios' shows those of '%s'", bz_command,
             program->scenario->name);
    return fail_unknown(error, error_bytes, "parameter", word, names, count, where);
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
        return bz_fail(error, error_bytes,
                       "parameter %s '%.64s' of scenario '%s' is not a whole number from %" PRId64
                       " to %" PRId64,
                       param->name, value, program->scenario->name, param->least, param->most);
    }
    program->args.values[index] = number;
    program->pinned |= 1u << index;
    return true;
}

bool bz_program_set(struct bz_program *program, const char *name, const char *value, char *error,
                    size_t error_bytes) {
    for (const struct bz_setting *setting = bz_settings; setting->name != NULL; setting++) {
        if (strcmp(setting->name, name) == 0) {
            return setting->set(setting, program, value, error, error_bytes);
        }
    }
    for (uint32_t index = 0; index < param_count(program); index++) {
        if (strcmp(program->scenario->params[index].name, name) == 0) {
            return set_param(program, index, value, error, error_bytes);
        }
    }
    return unknown_setting(program, name, error, error_bytes);
}

bool bz_program_check(const struct bz_program *program, char *error, size_t error_bytes) {
    for (uint32_t index = 0; index < param_count(program); index++) {
        int64_t value = program->args.values[index];
        if (!bz_program_offers(program, index, value)) {
            char offered[WORD_BYTES];
            bz_program_offered_text(program, index, offered, sizeof offered);
            return bz_fail(error, error_bytes,
                           "parameter %s '%" PRId64 "': variant '%s' does not offer this size of a "
                           "%s, but these: %s",
                           program->scenario->params[index].name, value, program->variant->name,
                           bz_primitive_name(program->args.primitive), offered);
        }
    }
    return true;
}

bool bz_program_next_setting(const struct bz_program *program, struct bz_setting_text *next) {
    uint32_t params = param_count(program);
    uint32_t before = before_params(program);
    unsigned index = next->index++;
    if (index >= before && index < before + params) {
        const struct bz_param *param = &program->scenario->params[index - before];
        int64_t number = program->args.values[index - before];
        next->name = param->name;
        next->is_default = number == param->value;
        snprintf(next->value, sizeof next->value, "%" PRId64, number);
        return true;
    }
    struct bz_program usual;
    bz_program_init(&usual, program->scenario, program->variant, program->strategy);
    index -= index >= before ? params : 0;
    for (const struct bz_setting *setting = bz_settings; setting->name != NULL; setting++) {
        setting->print(setting, program, next->value, sizeof next->value);
        if (next->value[0] != '\0' && index-- == 0) {
            next->name = setting->name;
            next->is_default =
                memcmp(field_of(setting, program), field_of(setting, &usual), setting->bytes) == 0;
            return true;
        }
    }
    return false;
}

/* True if "name=" starts one of the settings before `end`. */
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
            return bz_fail(error, error_bytes, "a setting is longer than %u characters",
                           (unsigned)sizeof word - 1);
        }
        snprintf(word, sizeof word, "%.*s", (int)length, list);
        char *equals = strchr(word, '=');
        if (equals == NULL || equals == word) {
            return bz_fail(error, error_bytes, "setting '%.64s' is not of the form name=value",
                           word);
        }
        *equals = '\0';
        if (is_set_before(whole, list, word)) {
            return bz_fail(error, error_bytes, "setting '%.64s' is given twice", word);
        }
        if (!bz_program_set(program, word, equals + 1, error, error_bytes)) {
            return false;
        }
        if (list[length] == '\0') {
            return bz_program_check(program, error, error_bytes);
        }
        list += length + 1;
    }
}
