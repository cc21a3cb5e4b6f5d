#include "tools/cli/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/runtime/check.h"
#include "sim/judge/record.h"
#include "sim/program/settings.h"
#include "tools/cli/cli.h"
#include "tools/plugin/plugins.h"
#include "traces/text.h"

#define OPTIONS_MAX 40u
#define PLUGINS_MAX 32u
#define STEP_MS_MAX 1000000u
#define MEMORY_MIB_MIN 16u
#define MEMORY_MIB_MAX (UINT64_C(1) << 30)
#define KEY_FIRST 0x1000 /* of options without a letter */

/* All options of a command, with the struct that each is stored in. */
struct parser {
    const struct bz_syntax *syntax;
    struct argp_option listed[OPTIONS_MAX + 1];
    struct bz_option options[OPTIONS_MAX];
    void *targets[OPTIONS_MAX];
    bool is_given[OPTIONS_MAX];
    size_t count;
    size_t argument_count;
    const char *plugins[PLUGINS_MAX];
    size_t plugin_count;
};

/* --- what all commands share ------------------------------------------------------------------ */

static void add_plugin(struct argp_state *state, void *target, const char *name, char *text) {
    struct parser *parser = target;
    (void)name;
    if (parser->plugin_count == PLUGINS_MAX) {
        bz_cli_misuse(state, "more than %u plug-ins", PLUGINS_MAX);
    }
    parser->plugins[parser->plugin_count++] = text;
}

static void set_step_time(struct argp_state *state, void *target, const char *name, char *text) {
    (void)target;
    bz_cli_catalog.contain.step_ns =
        bz_option_number(state, name, text, 1, STEP_MS_MAX) * UINT64_C(1000000);
}

static void set_memory(struct argp_state *state, void *target, const char *name, char *text) {
    (void)target;
    bz_cli_catalog.contain.memory_bytes =
        bz_option_number(state, name, text, MEMORY_MIB_MIN, MEMORY_MIB_MAX) << 20u;
}

static const struct bz_option plugin_option = {
    "plugin", "FILE.so",
    "Load the variants and scenarios of this shared object; they run in processes of their own",
    BZ_OPTION_PARSED, .parse = add_plugin};

static const struct bz_option limit_options[] = {
    {"step-time", "MS", "CPU time after which a step counts as a hang, in ms (default 1000)",
     BZ_OPTION_PARSED, .is_once = true, .parse = set_step_time},
    {"max-memory", "MIB",
     "Memory limit for a process that runs plug-in code, in MiB (default 1536)", BZ_OPTION_PARSED,
     .is_once = true, .parse = set_memory},
    {NULL},
};

static void add_setting(struct argp_state *state, void *target, const char *name, char *value) {
    struct bz_options *options = target;
    const char *other = bz_options_setting(options, name);
    if (other != NULL) {
        bz_cli_misuse(state, "'%s' is set twice, to '%s' and to '%s'", name, other, value);
    }
    if (options->setting_count == BZ_OPTION_SETTINGS_MAX) {
        bz_cli_misuse(state, "more than %u settings", BZ_OPTION_SETTINGS_MAX);
    }
    options->settings[options->setting_count].name = name;
    options->settings[options->setting_count++].value = value;
}

static void parse_set(struct argp_state *state, void *target, const char *name, char *text) {
    char *equals = strchr(text, '=');
    (void)name;
    if (equals == NULL || equals == text) {
        bz_cli_misuse(state, "--set takes NAME=VALUE, and not '%s'", text);
        return;
    }
    *equals = '\0';
    add_setting(state, target, text, equals + 1);
}

static const struct bz_option program_options[] = {
    {"variant", "V",
     "Implementation under test (default: the only variant of the plug-ins that fits; without "
     "plug-ins, buzzer)",
     BZ_OPTION_TEXT, offsetof(struct bz_options, variant), .is_once = true},
    {"strategy", "S", "Strategy that makes the choices (default portfolio)", BZ_OPTION_PARSED,
     .parse = add_setting},
    {"set", "NAME=VALUE", "Set a parameter of the scenario; 'buzzer list scenarios' shows them",
     BZ_OPTION_PARSED, .parse = parse_set},
    {NULL},
};

static void add_variant(struct argp_state *state, void *target, const char *name, char *text) {
    struct bz_options *options = target;
    (void)name;
    if (options->variant_count == BZ_OPTION_VARIANTS_MAX) {
        bz_cli_misuse(state, "more than %u variants", BZ_OPTION_VARIANTS_MAX);
    }
    options->variants[options->variant_count++] = text;
}

static const struct bz_option variants_option = {"variant", "V",
                                                 "Implementation under test; may be given several "
                                                 "times (default: every variant of the plug-ins "
                                                 "that fits; without plug-ins, buzzer)",
                                                 BZ_OPTION_PARSED, .parse = add_variant};

/* --- the parser ------------------------------------------------------------------------------- */

static int key_of(const struct bz_option *option, size_t index) {
    return option->name == NULL ? 0 : option->letter != 0 ? option->letter : KEY_FIRST + (int)index;
}

static void add_option(struct parser *parser, const struct bz_option *option, void *target,
                       int group) {
    BZ_CHECK(parser->count < OPTIONS_MAX);
    parser->listed[parser->count] = (struct argp_option){.name = option->name,
                                                         .key = key_of(option, parser->count),
                                                         .arg = option->argument,
                                                         .doc = option->help,
                                                         .group = group};
    parser->targets[parser->count] = target;
    parser->options[parser->count++] = *option;
}

static void add_plugin_options(struct parser *parser) {
    const struct bz_syntax *syntax = parser->syntax;
    if (syntax->plugins == BZ_PLUGINS_NONE) {
        return;
    }
    add_option(parser, &plugin_option, parser, 0);
    for (const struct bz_option *option = limit_options;
         syntax->plugins == BZ_PLUGINS_RUN && option->name != NULL; option++) {
        struct bz_option limit = *option;
        if (syntax->memory_help != NULL && option->parse == set_memory) {
            limit.help = syntax->memory_help;
        }
        add_option(parser, &limit, parser, 0);
    }
}

static void add_program_options(struct parser *parser) {
    struct bz_options *program = parser->syntax->program;
    add_option(parser, &(struct bz_option){.help = "The program:"}, NULL, 1);
    for (const struct bz_option *option = program_options; option->name != NULL; option++) {
        bool is_variant = strcmp(option->name, "variant") == 0;
        if (!parser->syntax->tries_every_choice || strcmp(option->name, "strategy") != 0) {
            add_option(parser,
                       is_variant && parser->syntax->takes_variants ? &variants_option : option,
                       program, 1);
        }
    }
    for (const struct bz_setting *setting = bz_settings; setting->name != NULL; setting++) {
        if (setting->argument != NULL) {
            struct bz_option option = {setting->name, setting->argument, setting->help,
                                       BZ_OPTION_PARSED, .parse = add_setting};
            add_option(parser, &option, program, 1);
        }
    }
}

static void store(struct parser *parser, size_t index, char *text, struct argp_state *state) {
    const struct bz_option *option = &parser->options[index];
    void *member = (char *)parser->targets[index] + option->offset;
    if (option->is_once && parser->is_given[index]) {
        bz_cli_misuse(state, "--%s is given twice", option->name);
    }
    parser->is_given[index] = true;
    switch (option->type) {
    case BZ_OPTION_FLAG:
        *(bool *)member = true;
        break;
    case BZ_OPTION_TEXT:
        *(const char **)member = text;
        break;
    case BZ_OPTION_NUMBER:
        *(uint64_t *)member =
            bz_option_number(state, option->name, text, option->least, option->most);
        break;
    case BZ_OPTION_NUMBER32:
        *(uint32_t *)member =
            (uint32_t)bz_option_number(state, option->name, text, option->least, option->most);
        break;
    case BZ_OPTION_PARSED:
        option->parse(state, member, option->name, text);
        break;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state) {
    struct parser *parser = state->input;
    const struct bz_syntax *syntax = parser->syntax;
    size_t index = 0;
    while (index < parser->count && parser->listed[index].key != key) {
        index++;
    }
    if (key != 0 && index < parser->count) {
        store(parser, index, arg, state);
    } else if (key == ARGP_KEY_ARG && parser->argument_count == syntax->arguments_max) {
        bz_cli_misuse(state, "unexpected argument '%s'", arg);
    } else if (key == ARGP_KEY_ARG) {
        syntax->arguments[parser->argument_count++] = arg;
    } else if (key == ARGP_KEY_END && syntax->check != NULL) {
        syntax->check(state, syntax->target);
    } else {
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

void (*bz_options_show)(const struct bz_syntax *syntax, const struct bz_option *options,
                        size_t count);

int bz_options_parse(const struct bz_syntax *syntax, int argc, char **argv) {
    struct parser parser = {.syntax = syntax};
    for (const struct bz_option *option = syntax->options; option->name != NULL; option++) {
        add_option(&parser, option, syntax->target, 0);
    }
    add_plugin_options(&parser);
    if (syntax->program != NULL) {
        add_program_options(&parser);
    }
    if (bz_options_show != NULL) {
        bz_options_show(syntax, parser.options, parser.count);
        exit(BZ_EXIT_OK);
    }
    /* glibc's help leaks an empty list. */
    const struct argp argp = {.options = parser.count > 0 ? parser.listed : NULL,
                              .parser = parse_option,
                              .args_doc = syntax->args_doc,
                              .doc = syntax->doc};
    bz_cli_parse(&argp, argc, argv, &parser);
    int code = BZ_EXIT_OK;
    for (size_t index = 0; code == BZ_EXIT_OK && index < parser.plugin_count; index++) {
        code = bz_plugins_load(parser.plugins[index], argv[0]);
    }
    return code;
}

/* --- the program ------------------------------------------------------------------------------ */

const char *bz_options_setting(const struct bz_options *options, const char *name) {
    for (unsigned index = 0; index < options->setting_count; index++) {
        if (strcmp(options->settings[index].name, name) == 0) {
            return options->settings[index].value;
        }
    }
    return NULL;
}

/* True if the variant offers a primitive of the scenario, or the one that is asked for. */
static bool fits(const struct bz_variant *variant, const struct bz_scenario *scenario,
                 const char *primitive) {
    for (uint32_t index = 0; index < scenario->primitive_count; index++) {
        enum bz_primitive offered = scenario->primitives[index];
        if (bz_variant_offers(variant, offered) &&
            (primitive == NULL || strcmp(primitive, bz_primitive_name(offered)) == 0)) {
            return true;
        }
    }
    return false;
}

size_t bz_options_fitting(const struct bz_options *options, const char **names, size_t most) {
    const struct bz_scenario *scenario = bz_catalog_scenario(&bz_cli_catalog, options->scenario);
    const char *primitive = bz_options_setting(options, "primitive");
    size_t count = 0;
    for (size_t index = 0; bz_cli_catalog.variants[index] != NULL && count < most; index++) {
        const struct bz_variant *variant = bz_cli_catalog.variants[index];
        if (bz_plugins_file(variant) != NULL && scenario != NULL &&
            fits(variant, scenario, primitive)) {
            names[count++] = variant->name;
        }
    }
    return count;
}

bool bz_options_fits(const struct bz_options *options, const char *variant) {
    const struct bz_scenario *scenario = bz_catalog_scenario(&bz_cli_catalog, options->scenario);
    const struct bz_variant *named = bz_catalog_variant(&bz_cli_catalog, variant);
    return scenario == NULL || named == NULL ||
           fits(named, scenario, bz_options_setting(options, "primitive"));
}

bool bz_options_has_plugins(void) {
    const struct bz_variant *const *next = bz_cli_catalog.variants;
    while (*next != NULL && bz_plugins_file(*next) == NULL) {
        next++;
    }
    return *next != NULL;
}

/* The variant without --variant: with plug-ins, their only one that fits the scenario. NULL with a
 * message if there is none, or more than one. */
static const char *default_variant(const struct bz_options *options, char *error,
                                   size_t error_bytes) {
    const struct bz_scenario *scenario = bz_catalog_scenario(&bz_cli_catalog, options->scenario);
    const char *primitive = bz_options_setting(options, "primitive");
    const char *only = NULL;
    uint32_t loaded = 0;
    uint32_t fitting = 0;
    char names[BZ_ERROR_BYTES / 2] = "";
    for (size_t index = 0; bz_cli_catalog.variants[index] != NULL; index++) {
        const struct bz_variant *variant = bz_cli_catalog.variants[index];
        if (bz_plugins_file(variant) == NULL) {
            continue;
        }
        loaded++;
        if (scenario == NULL || fits(variant, scenario, primitive)) {
            size_t used = strlen(names);
            snprintf(names + used, sizeof names - used, "%s%s", fitting > 0 ? ", " : "",
                     variant->name);
            only = variant->name;
            fitting++;
        }
    }
    if (scenario != NULL && scenario->runtime != NULL) {
        return scenario->runtime->variant;
    }
    if (loaded == 0 || scenario == NULL) {
        return "buzzer";
    }
    if (fitting == 0) {
        bz_fail(error, error_bytes,
                "no variant of the plug-in offers %s%s that scenario '%s' can use; to test a "
                "built-in variant, name it with --variant",
                primitive != NULL ? "the primitive " : "a primitive",
                primitive != NULL ? primitive : "", scenario->name);
    } else if (fitting > 1) {
        bz_fail(error, error_bytes,
                "the plug-ins have %" PRIu32 " variants for scenario '%s'; "
                "name one with --variant: %s",
                fitting, scenario->name, names);
    }
    return fitting == 1 ? only : NULL;
}

int bz_options_program(const struct bz_options *options, const char *name,
                       struct bz_program *program) {
    char error[BZ_ERROR_BYTES];
    if (options->scenario == NULL) {
        return bz_cli_fail(name, BZ_EXIT_USAGE,
                           "a scenario is missing ('%s list scenarios' lists them)",
                           bz_cli_program);
    }
    const char *variant =
        options->variant != NULL ? options->variant : default_variant(options, error, sizeof error);
    bool is_ok = variant != NULL &&
                 bz_program_find(program, &bz_cli_catalog, options->scenario, variant,
                                 bz_options_setting(options, "strategy"), error, sizeof error);
    for (unsigned index = 0; is_ok && index < options->setting_count; index++) {
        const char *setting = options->settings[index].name;
        is_ok =
            strcmp(setting, "strategy") == 0 ||
            bz_program_set(program, setting, options->settings[index].value, error, sizeof error);
    }
    return is_ok ? BZ_EXIT_OK : bz_cli_fail(name, BZ_EXIT_USAGE, "%s", error);
}

uint64_t bz_option_number(struct argp_state *state, const char *option, const char *text,
                          uint64_t least, uint64_t most) {
    uint64_t value = 0;
    if (!bz_parse_u64(text, &value)) {
        bz_cli_misuse(state, "--%s takes a whole number of 64 bits, decimal or 0x..., and not '%s'",
                      option, text);
    } else if (value < least || value > most) {
        bz_cli_misuse(state, "--%s takes %" PRIu64 " to %" PRIu64 ", and not '%s'", option, least,
                      most, text);
    }
    return value;
}

bool bz_option_default_sizes(struct argp_state *state, const char *option, const char *text) {
    bool is_default = strcmp(text, "default") == 0;
    if (!is_default && strcmp(text, "drawn") != 0) {
        bz_cli_misuse(state, "--%s takes drawn or default, and not '%s'", option, text);
    }
    return is_default;
}

uint64_t bz_option_seconds(struct argp_state *state, const char *option, const char *text) {
    static const uint64_t hour_seconds = 3600;
    static const uint64_t seconds_max = UINT64_C(1000000000);
    char digits[32] = "";
    size_t length = strlen(text);
    uint64_t value = 0;
    if (length >= 2 && length <= sizeof digits) {
        memcpy(digits, text, length - 1);
        digits[length - 1] = '\0';
    }
    char unit = length > 0 ? text[length - 1] : '\0';
    uint64_t factor = unit == 's' ? 1 : unit == 'm' ? 60 : unit == 'h' ? hour_seconds : 0;
    if (factor == 0 || !bz_parse_u64(digits, &value) || value == 0 ||
        value > seconds_max / factor) {
        bz_cli_misuse(state, "--%s takes a whole number with s, m or h, as in 30s, and not '%s'",
                      option, text);
        return 0;
    }
    return value * factor;
}
