#include "tools/cli/options.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/runtime/check.h"
#include "sim/judge/record.h"
#include "sim/program/settings.h"
#include "tools/cli/cli.h"
#include "tools/cli/exit_report.h"
#include "tools/cli/removed.h"
#include "tools/plugin/plugins.h"
#include "tools/report/text_output.h"
#include "traces/lack.h"
#include "traces/text.h"

#define OPTIONS_MAX 40u
#define WORDS_MAX 16u
#define PLUGINS_MAX 32u
#define STEP_MS_MAX 1000000u
#define MEMORY_MIB_MIN 16u
#define MEMORY_MIB_MAX (UINT64_C(1) << 30)
#define HELP_COLUMN 29 /* of the texts of options */

/* The command line of a command, and all its options. */
struct bz_parse {
    const struct bz_syntax *syntax;
    struct bz_option options[OPTIONS_MAX];
    void *targets[OPTIONS_MAX]; /* the struct that each is stored in */
    bool is_given[OPTIONS_MAX];
    size_t count;
    size_t argument_count;
    const char *plugins[PLUGINS_MAX];
    size_t plugin_count;
    struct bz_given *words;
    size_t word_count;
    bool has_ended;             /* by "--" */
    const struct bz_gone *gone; /* the first word that an earlier version had; NULL: none */
    char mistake[512];          /* the first one; empty: none */
};

const struct bz_option bz_options_everywhere[] = {
    {.name = "help", .help = "Give this help list", .letter = '?'},
    {.name = "usage", .help = "Give a short usage message"},
    {.name = "version", .help = "Print program version", .letter = 'V'},
    {NULL}};

/* --- what all commands share ------------------------------------------------------------------ */

static void add_plugin(void *target, const char *name, char *text) {
    struct bz_parse *parser = target;
    (void)name;
    if (parser->plugin_count == PLUGINS_MAX) {
        bz_cli_misuse("more than %u plug-ins", PLUGINS_MAX);
    }
    parser->plugins[parser->plugin_count++] = text;
}

static void set_step_time(void *target, const char *name, char *text) {
    (void)target;
    bz_cli_catalog.contain.step_ns =
        bz_option_number(name, text, 1, STEP_MS_MAX) * UINT64_C(1000000);
}

static void set_memory(void *target, const char *name, char *text) {
    (void)target;
    bz_cli_catalog.contain.memory_bytes =
        bz_option_number(name, text, MEMORY_MIB_MIN, MEMORY_MIB_MAX) << 20u;
}

static const struct bz_option plugin_option = {
    "plugin",
    "FILE.so",
    "Load the variants and scenarios of this shared object; they run in processes of their own",
    BZ_OPTION_PARSED,
    .is_repeatable = true,
    .parse = add_plugin};

static const struct bz_option limit_options[] = {
    {"step-time", "MS", "CPU time after which a step counts as a hang, in ms (default 1000)",
     BZ_OPTION_PARSED, .parse = set_step_time},
    {"max-memory", "MIB",
     "Memory limit for a process that runs plug-in code, in MiB (default 1536)", BZ_OPTION_PARSED,
     .parse = set_memory},
    {NULL},
};

static void add_setting(void *target, const char *name, char *value) {
    struct bz_options *options = target;
    const char *other = bz_options_setting(options, name);
    if (other != NULL) {
        bz_cli_misuse("'%s' is set twice, to '%s' and to '%s'", name, other, value);
    }
    if (options->setting_count == BZ_OPTION_SETTINGS_MAX) {
        bz_cli_misuse("more than %u settings", BZ_OPTION_SETTINGS_MAX);
    }
    options->settings[options->setting_count].name = name;
    options->settings[options->setting_count++].value = value;
}

static void parse_set(void *target, const char *name, char *text) {
    char *equals = strchr(text, '=');
    (void)name;
    if (equals == NULL || equals == text) {
        bz_cli_misuse("--set takes NAME=VALUE, and not '%s'", text);
        return;
    }
    *equals = '\0';
    add_setting(target, text, equals + 1);
}

static const struct bz_option program_options[] = {
    {"variant", "V",
     "Implementation under test (default: the only variant of the plug-ins that fits; without "
     "plug-ins, buzzer)",
     BZ_OPTION_TEXT, offsetof(struct bz_options, variant), .is_stored = true},
    {"strategy", "S", "Strategy that makes the choices (default portfolio)", BZ_OPTION_PARSED,
     .is_stored = true, .is_repeatable = true, .parse = add_setting},
    {"set", "NAME=VALUE", "Set a parameter of the scenario; 'buzzer list scenarios' shows them",
     BZ_OPTION_PARSED, .is_stored = true, .is_repeatable = true, .parse = parse_set},
    {NULL},
};

static void add_variant(void *target, const char *name, char *text) {
    struct bz_options *options = target;
    (void)name;
    if (options->variant_count == BZ_OPTION_VARIANTS_MAX) {
        bz_cli_misuse("more than %u variants", BZ_OPTION_VARIANTS_MAX);
    }
    options->variants[options->variant_count++] = text;
}

static const struct bz_option variants_option = {"variant",
                                                 "V",
                                                 "Implementation under test; may be given several "
                                                 "times (default: every variant of the plug-ins "
                                                 "that fits; without plug-ins, buzzer)",
                                                 BZ_OPTION_PARSED,
                                                 .is_stored = true,
                                                 .is_repeatable = true,
                                                 .parse = add_variant};

/* --- the table of a command ------------------------------------------------------------------- */

static void add_option(struct bz_parse *parser, const struct bz_option *option, void *target) {
    BZ_CHECK(parser->count < OPTIONS_MAX);
    parser->targets[parser->count] = target;
    parser->options[parser->count++] = *option;
}

static void add_plugin_options(struct bz_parse *parser) {
    const struct bz_syntax *syntax = parser->syntax;
    if (syntax->plugins == BZ_PLUGINS_NONE) {
        return;
    }
    add_option(parser, &plugin_option, parser);
    for (const struct bz_option *option = limit_options;
         syntax->plugins == BZ_PLUGINS_RUN && option->name != NULL; option++) {
        struct bz_option limit = *option;
        if (syntax->memory_help != NULL && option->parse == set_memory) {
            limit.help = syntax->memory_help;
        }
        add_option(parser, &limit, parser);
    }
}

static void add_program_options(struct bz_parse *parser) {
    struct bz_options *program = parser->syntax->program;
    add_option(parser, &(struct bz_option){.help = "The program:"}, NULL);
    for (const struct bz_option *option = program_options; option->name != NULL; option++) {
        bool is_variant = strcmp(option->name, "variant") == 0;
        if (!parser->syntax->tries_every_choice || strcmp(option->name, "strategy") != 0) {
            add_option(parser,
                       is_variant && parser->syntax->takes_variants ? &variants_option : option,
                       program);
        }
    }
    for (const struct bz_setting *setting = bz_settings; setting->name != NULL; setting++) {
        if (setting->argument != NULL) {
            struct bz_option option = {
                setting->name,     setting->argument,     setting->help,       BZ_OPTION_PARSED,
                .is_stored = true, .is_repeatable = true, .parse = add_setting};
            add_option(parser, &option, program);
        }
    }
}

/* --- help ------------------------------------------------------------------------------------- */

/* A text whose own line ends stay. */
static void print_text(const char *prefix, const char *text, size_t length, unsigned indent) {
    struct bz_wrap wrap = {.out = stdout};
    char line[2048];
    for (const char *end = text + length; text < end; prefix = "") {
        size_t part = strcspn(text, "\n");
        part = part < (size_t)(end - text) ? part : (size_t)(end - text);
        snprintf(line, sizeof line, "%.*s", (int)part, text);
        bz_wrap_print(&wrap, prefix, line, indent, BZ_COLOUR_NONE);
        text += part + 1;
    }
}

static void print_option(const struct bz_option *option) {
    char prefix[128];
    char letter[8] = "    ";
    if (option->letter != 0) {
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    }
    int column = snprintf(prefix, sizeof prefix, "  %s--%s%s%s", letter, option->name,
                          option->argument != NULL ? "=" : "",
                          option->argument != NULL ? option->argument : "");
    snprintf(prefix + column, sizeof prefix - (size_t)column, "%*s",
             column < HELP_COLUMN ? HELP_COLUMN - column : 2, "");
    print_text(prefix, option->help, strlen(option->help), HELP_COLUMN);
}

static void print_help(const struct bz_parse *parser) {
    const char *doc = parser->syntax->doc;
    size_t length = strcspn(doc, "\v");
    const char *arguments = parser->syntax->args_doc;
    printf("Usage: %s [OPTION...] %s\n", bz_cli_prefix, arguments == NULL ? "" : arguments);
    print_text("", doc, length, 0);
    printf("\n");
    for (size_t index = 0; index < parser->count; index++) {
        const struct bz_option *option = &parser->options[index];
        if (option->name == NULL) {
            printf("\n %s\n", option->help);
        } else {
            print_option(option);
        }
    }
    if (doc[length] == '\v') {
        printf("\n");
        print_text("", doc + length + 1, strlen(doc + length + 1), 0);
    }
}

static void print_usage(const struct bz_parse *parser) {
    struct bz_text text = {0};
    for (size_t index = 0; index < parser->count; index++) {
        const struct bz_option *option = &parser->options[index];
        if (option->name != NULL) {
            bz_text_add(&text, "[--%s%s%s] ", option->name, option->argument != NULL ? "=" : "",
                        option->argument != NULL ? option->argument : "");
        }
    }
    bz_text_add(&text, "%s", parser->syntax->args_doc != NULL ? parser->syntax->args_doc : "");
    char prefix[80];
    snprintf(prefix, sizeof prefix, "Usage: %s ", bz_cli_prefix);
    print_text(prefix, text.bytes, text.length, 12);
    bz_text_fini(&text);
}

void bz_cli_misuse(const char *format, ...) {
    char message[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    int code = bz_cli_fail(BZ_EXIT_USAGE, "%s", message);
    fprintf(stderr, "Try '%s --help'.\n", bz_cli_prefix);
    exit(code);
}

/* --- reading words ---------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static const struct bz_option *
note_mistake(struct bz_parse *parser, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (parser->mistake[0] == '\0') {
        vsnprintf(parser->mistake, sizeof parser->mistake, format, arguments);
    }
    va_end(arguments);
    return NULL;
}

/* The option that `word` names or abbreviates, or NULL after a note. */
static const struct bz_option *find_long(struct bz_parse *parser, const char *word, size_t length) {
    const struct bz_option *found = NULL;
    const char *names[OPTIONS_MAX];
    size_t count = 0;
    bool is_ambiguous = false;
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    for (size_t index = 0; index < parser->count; index++) {
        const struct bz_option *option = &parser->options[index];
        if (option->name == NULL) {
            continue;
        }
        names[count++] = option->name;
        if (strncmp(option->name, word, length) == 0) {
            is_ambiguous = found != NULL;
            found = option;
            if (option->name[length] == '\0') {
                return option;
            }
        }
    }
    return found == NULL
               ? note_mistake(parser, "no option '--%s'%s", name, bz_cli_hint(name, names, count))
           : is_ambiguous ? note_mistake(parser, "option '--%s' is ambiguous", name)
                          : found;
}

static const struct bz_option *find_letter(struct bz_parse *parser, char letter) {
    for (size_t index = 0; index < parser->count; index++) {
        if (parser->options[index].letter == letter) {
            return &parser->options[index];
        }
    }
    return note_mistake(parser, "no option '-%c'", letter);
}

/* "--name", "--name=VALUE", "-n", "-nVALUE"; `next` is the word behind it, or NULL. Returns whether
 * that one is its value. */
static bool read_option(struct bz_parse *parser, char *word, char *next) {
    bool is_long = word[1] == '-';
    size_t length = is_long ? strcspn(word + 2, "=") : 0;
    char *value = is_long ? word + 2 + length + (word[2 + length] == '=') : word + 2;
    bool has_value = is_long ? word[2 + length] == '=' : word[2] != '\0';
    const struct bz_option *option =
        is_long ? find_long(parser, word + 2, length) : find_letter(parser, word[1]);
    bool takes = option != NULL && option->argument != NULL;
    if (option != NULL && !takes && has_value) {
        (void)note_mistake(parser, "option '--%s' takes no value", option->name);
    } else if (takes && !has_value && next == NULL) {
        (void)note_mistake(parser, "option '--%s' requires an argument, %s", option->name,
                           option->argument);
    }
    value = has_value ? value : takes ? next : NULL;
    if (is_long && parser->gone == NULL) {
        parser->gone = bz_gone_find(bz_cli_prefix, option != NULL ? option->name : word + 2, value);
    } else if (option == NULL && parser->gone == NULL) {
        parser->gone = bz_gone_find_letter(bz_cli_prefix, word[1]);
    }
    if (option != NULL) {
        parser->words[parser->word_count++] = (struct bz_given){option, value};
    }
    return takes && !has_value && next != NULL;
}

/* Words behind "--" are no options. */
static void read_words(struct bz_parse *parser, int argc, char **argv) {
    for (int index = 1; index < argc; index++) {
        char *word = argv[index];
        if (!parser->has_ended && strcmp(word, "--") == 0) {
            parser->has_ended = true;
        } else if (!parser->has_ended && word[0] == '-' && word[1] != '\0') {
            index += read_option(parser, word, index + 1 < argc ? argv[index + 1] : NULL);
        } else {
            parser->words[parser->word_count++] = (struct bz_given){NULL, word};
            if (parser->gone == NULL && !parser->has_ended) {
                parser->gone = bz_gone_find(bz_cli_prefix, NULL, word);
            }
        }
    }
}

/* Asks for help, among the words before a mistake? Then the process ends. */
static void answer_help(const struct bz_parse *parser) {
    for (size_t index = 0; index < parser->word_count; index++) {
        const struct bz_option *option = parser->words[index].option;
        size_t which = 0;
        while (option != NULL && which < 3 &&
               strcmp(option->name, bz_options_everywhere[which].name) != 0) {
            which++;
        }
        if (option == NULL || which == 3) {
            continue;
        }
        if (which == 2) {
            printf("buzzer " BZ_VERSION "\n");
        } else {
            (which == 0 ? print_help : print_usage)(parser);
        }
        exit(BZ_EXIT_OK);
    }
}

/* A duration. A usage error ends the process. */
static uint64_t option_seconds(const char *option, const char *text) {
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
        bz_cli_misuse("--%s takes a whole number with s, m or h, as in 30s, and not '%s'", option,
                      text);
        return 0;
    }
    return value * factor;
}

static void store(struct bz_parse *parser, size_t index, char *text) {
    const struct bz_option *option = &parser->options[index];
    void *member = (char *)parser->targets[index] + option->offset;
    char taker[64];
    if (!option->is_repeatable && option->type != BZ_OPTION_FLAG && parser->is_given[index]) {
        bz_cli_misuse("--%s is given twice", option->name);
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
        *(uint64_t *)member = bz_option_number(option->name, text, option->least, option->most);
        break;
    case BZ_OPTION_NUMBER32:
        *(uint32_t *)member =
            (uint32_t)bz_option_number(option->name, text, option->least, option->most);
        break;
    case BZ_OPTION_SECONDS:
        *(uint64_t *)member = option_seconds(option->name, text);
        break;
    case BZ_OPTION_WORD:
        snprintf(taker, sizeof taker, "--%s", option->name);
        *(uint32_t *)member = bz_option_word(taker, option->argument, text);
        break;
    case BZ_OPTION_PARSED:
        option->parse(member, option->name, text);
        break;
    }
}

/* An option whose value is in the folder of --resume is refused beside it, and so is an argument.
 */
static void check_resume(const struct bz_parse *parser) {
    struct bz_text others = {0};
    bool is_resumed = false;
    const char *extra = NULL;
    for (size_t index = 0; index < parser->count; index++) {
        const struct bz_option *option = &parser->options[index];
        if (option->name == NULL || parser->targets[index] == NULL) {
            continue;
        }
        if (strcmp(option->name, "resume") == 0) {
            is_resumed = parser->is_given[index];
        } else if (!option->is_stored) {
            bz_text_add(&others, "%s--%s", others.length > 0 ? ", " : "", option->name);
        } else if (parser->is_given[index] && extra == NULL) {
            extra = option->name;
        }
    }
    if (is_resumed && (extra != NULL || parser->argument_count > 0)) {
        bz_cli_misuse("--resume takes what is to be run from its folder: leave out '%s'. It can be "
                      "combined with %s",
                      extra != NULL ? extra : parser->syntax->arguments[0], others.bytes);
    }
    bz_text_fini(&others);
}

/* Stores the words, in their order. */
static void store_words(struct bz_parse *parser) {
    const struct bz_syntax *syntax = parser->syntax;
    for (size_t index = 0; index < parser->word_count; index++) {
        const struct bz_given *given = &parser->words[index];
        if (given->option != NULL) {
            store(parser, (size_t)(given->option - parser->options), given->value);
        } else if (parser->argument_count == syntax->arguments_max) {
            bz_cli_misuse("unexpected argument '%s'", given->value);
        } else {
            syntax->arguments[parser->argument_count++] = given->value;
        }
    }
    check_resume(parser);
    if (syntax->missing != NULL && parser->argument_count == 0) {
        bz_cli_misuse("%s is missing", syntax->missing);
    }
    if (syntax->check != NULL) {
        syntax->check(syntax->target);
    }
}

/* Without memory for them, nothing is known of the line; whoever wrote --json gets a document. */
static struct bz_given *new_words(int argc, char *const *argv) {
    struct bz_given *words = calloc((size_t)argc + 1, sizeof *words);
    for (int index = 1; index < argc && words == NULL; index++) {
        if (strcmp(argv[index], "--json") == 0) {
            bz_ending_want_json();
        }
    }
    return bz_lack_check(words, "the options");
}

void (*bz_options_show)(const struct bz_syntax *syntax, const struct bz_line *line);

int bz_options_parse(const struct bz_syntax *syntax, int argc, char **argv) {
    struct bz_parse parser = {.syntax = syntax};
    for (const struct bz_option *option = syntax->options; option != NULL && option->name != NULL;
         option++) {
        add_option(&parser, option, syntax->target);
    }
    add_plugin_options(&parser);
    if (syntax->program != NULL) {
        add_program_options(&parser);
    }
    for (const struct bz_option *option = bz_options_everywhere; option->name != NULL; option++) {
        add_option(&parser, option, NULL);
    }
    parser.words = new_words(argc, argv);
    read_words(&parser, argc, argv);
    if (bz_options_show != NULL) {
        bz_options_show(syntax, &(struct bz_line){parser.options, parser.count, parser.words,
                                                  parser.word_count, parser.has_ended});
        exit(BZ_EXIT_OK);
    }
    for (size_t index = 0; index < parser.word_count; index++) {
        const struct bz_option *option = parser.words[index].option;
        if (option != NULL && strcmp(option->name, "json") == 0) {
            bz_ending_want_json();
        }
    }
    if (parser.gone != NULL) {
        bz_gone_refuse(parser.gone);
    }
    if (parser.mistake[0] != '\0') {
        exit(bz_cli_fail(BZ_EXIT_USAGE, "%s ('%s --help' lists them)", parser.mistake,
                         bz_cli_prefix));
    }
    answer_help(&parser);
    store_words(&parser);
    free(parser.words);
    int code = BZ_EXIT_OK;
    for (size_t index = 0; code == BZ_EXIT_OK && index < parser.plugin_count; index++) {
        code = bz_plugins_load(parser.plugins[index]);
    }
    return code;
}

/* --- values ----------------------------------------------------------------------------------- */

uint64_t bz_option_number(const char *option, const char *text, uint64_t least, uint64_t most) {
    uint64_t value = 0;
    if (!bz_parse_u64(text, &value)) {
        bz_cli_misuse("--%s takes a whole number of 64 bits, decimal or 0x..., and not '%s'",
                      option, text);
    } else if (value < least || value > most) {
        bz_cli_misuse("--%s takes %" PRIu64 " to %" PRIu64 ", and not '%s'", option, least, most,
                      text);
    }
    return value;
}

uint32_t bz_option_word(const char *taker, const char *words, const char *text) {
    const char *names[WORDS_MAX];
    char copy[256];
    struct bz_text list = {0};
    size_t count = 0;
    snprintf(copy, sizeof copy, "%s", words);
    char *rest = copy;
    for (char *word; count < WORDS_MAX && (word = strsep(&rest, "|")) != NULL;) {
        names[count++] = word;
        if (strcmp(word, text) == 0) {
            return (uint32_t)count;
        }
    }
    for (size_t index = 0; index < count; index++) {
        bz_text_add(&list, "%s%s",
                    index == 0           ? ""
                    : index + 1 == count ? " or "
                                         : ", ",
                    names[index]);
    }
    bz_cli_misuse("%s takes %s, and not '%s'%s", taker, list.bytes, text,
                  bz_cli_hint(text, names, count));
    return 0;
}
