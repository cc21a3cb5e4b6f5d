#include "tools/cli/completion.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/mutants/mutants.h"
#include "sim/choice/strategy.h"
#include "sim/explore/explore.h"
#include "tools/cli/cli.h"
#include "tools/cli/options.h"
#include "tools/plugin/plugins.h"
#include "traces/words.h"

#define VALUE_BYTES 512u

/* The command line, as far as it is known. */
static struct {
    const char *const *words; /* those behind the command */
    size_t count;             /* at least one; the last one is asked for */
    const char *scenario;     /* NULL: the words name none */
    /* A candidate is printed behind `lead`, if it begins with `start`. */
    char lead[VALUE_BYTES];
    const char *start;
} line;

static void offer(const char *word, size_t length, const char *summary) {
    size_t start = strlen(line.start);
    if (length >= start && strncmp(word, line.start, start) == 0) {
        printf("%s%.*s\t%s\n", line.lead, (int)length, word, summary != NULL ? summary : "");
    }
}

static void offer_word(const char *word, const char *summary) {
    offer(word, strlen(word), summary);
}

/* --- kinds of values -------------------------------------------------------------------------- */

static void offer_commands(void) {
    for (const struct bz_command *command = bz_commands; command->name != NULL; command++) {
        offer_word(command->name, command->summary);
    }
}

static void offer_scenarios(void) {
    for (const struct bz_scenario *const *item = bz_cli_catalog.scenarios; *item != NULL; item++) {
        offer_word((*item)->name, (*item)->summary);
    }
}

static void offer_variants(void) {
    for (const struct bz_variant *const *item = bz_cli_catalog.variants; *item != NULL; item++) {
        offer_word((*item)->name, (*item)->summary);
    }
}

static void offer_entries(void) {
    for (const struct bz_variant *const *item = bz_cli_catalog.variants; *item != NULL; item++) {
        if ((*item)->fault != NULL) {
            offer_word((*item)->name, (*item)->summary);
        }
    }
}

static void offer_strategies(void) {
    for (const struct bz_strategy *const *item = bz_strategies; *item != NULL; item++) {
        offer_word((*item)->name, (*item)->summary);
    }
}

static void offer_primitives(void) {
    const struct bz_scenario *scenario =
        line.scenario != NULL ? bz_catalog_scenario(&bz_cli_catalog, line.scenario) : NULL;
    for (uint32_t index = 0; scenario != NULL && index < scenario->primitive_count; index++) {
        offer_word(bz_primitive_name(scenario->primitives[index]), NULL);
    }
    for (unsigned index = 0; scenario == NULL && index < BZ_PRIMITIVE_COUNT; index++) {
        offer_word(bz_primitive_name((enum bz_primitive)index), NULL);
    }
}

static void offer_parameters(void) {
    const struct bz_scenario *scenario =
        line.scenario != NULL ? bz_catalog_scenario(&bz_cli_catalog, line.scenario) : NULL;
    for (uint32_t index = 0; scenario != NULL && scenario->params[index].name != NULL; index++) {
        char word[VALUE_BYTES];
        snprintf(word, sizeof word, "%s=", scenario->params[index].name);
        offer_word(word, scenario->params[index].summary);
    }
    if (scenario != NULL && scenario->file != NULL) {
        offer_word("file=", scenario->file->summary);
    }
}

/* The text before the last one of `marks` stays as it is. */
static void keep_before(const char *marks) {
    size_t used = strlen(line.lead);
    size_t kept = strlen(line.start);
    while (kept > 0 && strchr(marks, line.start[kept - 1]) == NULL) {
        kept--;
    }
    snprintf(line.lead + used, sizeof line.lead - used, "%.*s", (int)kept, line.start);
    line.start += kept;
}

/* Offers a word of a list, which has each word once. "acquire:woken" is another than "woken". */
static void offer_further(const char *word) {
    size_t length = strlen(word);
    size_t lead = strlen(line.lead);
    const char *listed = lead > 0 && line.lead[lead - 1] == ':' ? "" : line.lead;
    while ((listed = strstr(listed, word)) != NULL) {
        bool is_whole =
            (listed == line.lead || strchr(",=", listed[-1]) != NULL) && listed[length] == ',';
        if (is_whole) {
            return;
        }
        listed += length;
    }
    offer_word(word, NULL);
}

static void offer_windows(void) {
    keep_before(",:");
    for (unsigned window = 1; window < BZ_WINDOW_COUNT; window++) {
        offer_further(bz_window_name(window));
    }
}

static void offer_reductions(void) {
    keep_before(",");
    for (unsigned index = 0; index < BZ_REDUCE_COUNT; index++) {
        offer_further(bz_reduction_name(index));
    }
}

static void offer_mutants(void) {
    for (const struct bz_mutant *mutant = bz_mutants; mutant->name != NULL; mutant++) {
        offer_word(mutant->name, mutant->source);
    }
}

static void offer_files(void) {
    puts(":files");
}

static void offer_folders(void) {
    puts(":folders");
}

static const struct {
    const char *name; /* in the help */
    void (*offer)(void);
} kinds[] = {
    {"COMMAND", offer_commands}, {"DIR", offer_folders},
    {"ENTRY", offer_entries},    {"FILE", offer_files},
    {"FILE.so", offer_files},    {"LIST", offer_reductions},
    {"MUTANT", offer_mutants},   {"NAME=VALUE", offer_parameters},
    {"P", offer_primitives},     {"PYTHON", offer_files},
    {"S", offer_strategies},     {"SCENARIO", offer_scenarios},
    {"TRACE.json", offer_files}, {"V", offer_variants},
    {"WINDOWS", offer_windows},
};
#define KIND_COUNT (sizeof kinds / sizeof kinds[0])

/* Offers one of "any|fifo|WINDOWS". What is not in upper case is the word itself, up to a '='. */
static void offer_values(const char *argument, size_t length) {
    const char *end = argument + length;
    while (argument < end) {
        size_t part = strcspn(argument, "|");
        part = part < (size_t)(end - argument) ? part : (size_t)(end - argument);
        size_t index = 0;
        while (index < KIND_COUNT && (strncmp(kinds[index].name, argument, part) != 0 ||
                                      kinds[index].name[part] != '\0')) {
            index++;
        }
        if (index < KIND_COUNT) {
            kinds[index].offer();
        } else if (argument[0] >= 'a' && argument[0] <= 'z') {
            size_t name = strcspn(argument, "=");
            offer(argument, name < part ? name + 1 : part, NULL);
        }
        argument += part + 1;
    }
}

/* --- a command -------------------------------------------------------------------------------- */

/* The option that a word names: in full, as "--runs", "--runs=3" or "-o". NULL: none. */
static const struct bz_option *find(const struct bz_option *options, size_t count,
                                    const char *word) {
    for (size_t index = 0; index < count; index++) {
        const struct bz_option *option = &options[index];
        size_t length = option->name != NULL ? strlen(option->name) : 0;
        bool is_long = length > 0 && strncmp(word, "--", 2) == 0 &&
                       strncmp(word + 2, option->name, length) == 0 &&
                       (word[2 + length] == '\0' || word[2 + length] == '=');
        bool is_short = length > 0 && option->letter != 0 && word[0] == '-' &&
                        word[1] == option->letter && word[2] == '\0';
        if (is_long || is_short) {
            return option;
        }
    }
    return NULL;
}

static void offer_options(const struct bz_option *options, size_t count) {
    static const struct bz_option everywhere[] = {
        {.name = "help", .help = "Give this help list"},
        {.name = "usage", .help = "Give a short usage message"},
        {.name = "version", .help = "Print program version"}};
    for (size_t index = 0; index < count + 3; index++) {
        const struct bz_option *option =
            index < count ? &options[index] : &everywhere[index - count];
        if (option->name != NULL) {
            char word[VALUE_BYTES];
            snprintf(word, sizeof word, "--%s", option->name);
            offer_word(word, option->help);
        }
    }
}

/* Offers the place-th argument, as the usage line has it: "variant|scenario NAME", "[ENTRY...]". */
static void offer_argument(const char *usage, size_t place) {
    while (usage != NULL && *usage != '\0') {
        usage += *usage == '[';
        size_t length = strcspn(usage, " ]");
        size_t name =
            length > 3 && strncmp(usage + length - 3, "...", 3) == 0 ? length - 3 : length;
        if (place == 0 || name < length) {
            offer_values(usage, name);
            return;
        }
        place--;
        usage += length;
        usage += strspn(usage, "] ");
    }
}

/* True if the word is the value of the one before it, or an option with its value; sets both. */
static bool is_value(const struct bz_option *pending, const struct bz_option *option,
                     const char *word, const char **value) {
    const char *equals = strchr(word, '=');
    *value = pending != NULL ? word : option != NULL && equals != NULL ? equals + 1 : NULL;
    return *value != NULL;
}

static void load(const char *file) {
    (void)bz_plugins_load(file, bz_cli_program); /* without it, there are its names less */
}

static void offer_all(const struct bz_syntax *syntax, const struct bz_option *options,
                      size_t count) {
    const struct bz_option *pending = NULL; /* whose value comes next */
    const char *value = NULL;
    bool has_ended = false; /* "--": the rest are arguments */
    size_t arguments = 0;
    for (size_t index = 0; index + 1 < line.count; index++) {
        const char *word = line.words[index];
        bool is_option = !has_ended && word[0] == '-' && word[1] != '\0';
        const struct bz_option *option = is_option ? find(options, count, word) : NULL;
        if (is_value(pending, option, word, &value)) {
            const struct bz_option *owner = pending != NULL ? pending : option;
            if (strcmp(owner->name, "plugin") == 0) {
                load(value);
            }
            pending = NULL;
        } else if (is_option) {
            pending = option != NULL && option->argument != NULL ? option : NULL;
            has_ended = strcmp(word, "--") == 0;
        } else {
            line.scenario = arguments++ == 0 && syntax->program != NULL ? word : line.scenario;
        }
    }
    const char *word = line.words[line.count - 1];
    const struct bz_option *option =
        has_ended || pending != NULL ? NULL : find(options, count, word);
    line.start = word;
    if (pending != NULL) {
        offer_values(pending->argument, strlen(pending->argument));
    } else if (is_value(pending, option, word, &value) && option->argument != NULL) {
        snprintf(line.lead, sizeof line.lead, "%.*s", (int)(value - word), word);
        line.start = value;
        offer_values(option->argument, strlen(option->argument));
    } else if (word[0] == '-' && !has_ended) {
        offer_options(options, count);
    } else {
        offer_argument(syntax->args_doc, arguments);
    }
}

void bz_completion_print(size_t count, const char *const *words) {
    char *none[] = {NULL, NULL};
    size_t place = 0;
    line.start = count > 0 ? words[count - 1] : "";
    if (count <= 1) {
        offer_commands();
        if (line.start[0] == '-') {
            offer_options(NULL, 0);
        }
        return;
    }
    while (bz_commands[place].name != NULL && strcmp(bz_commands[place].name, words[0]) != 0) {
        place++;
    }
    if (bz_commands[place].name != NULL) {
        line.words = words + 1;
        line.count = count - 1;
        bz_options_show = offer_all;
        (void)bz_commands_call(&bz_commands[place], 1, none);
    }
}
