#include "tools/cli/manual/completion.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "sim/choice/strategy.h"
#include "tools/cli/cli.h"
#include "tools/cli/options.h"
#include "tools/plugin/plugins.h"
#include "traces/words.h"

#define VALUE_BYTES 512u

/* The command line, as far as it is known. */
static struct {
    const char *scenario; /* NULL: the words name none */
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

static void offer_windows(void) {
    for (unsigned window = 1; window < BZ_WINDOW_COUNT; window++) {
        offer_word(bz_window_name(window), NULL);
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
    {"COMMAND", offer_commands},
    {"DIR", offer_folders},
    {"ENTRY", offer_entries},
    {"FILE", offer_files},
    {"FILE.c", offer_files},
    {"FILE.so", offer_files},
    {"NAME=VALUE", offer_parameters},
    {"P", offer_primitives},
    {"PYTHON", offer_files},
    {"S", offer_strategies},
    {"SCENARIO", offer_scenarios},
    {"TRACE.json", offer_files},
    {"V", offer_variants},
    {"WINDOWS", offer_windows},
};
#define KIND_COUNT (sizeof kinds / sizeof kinds[0])

/* Offers one of "any|fifo|WINDOWS". A word in lower case is offered itself, up to a '='. */
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

static void offer_options(const struct bz_option *options, size_t count) {
    for (size_t index = 0; index < count; index++) {
        if (options[index].name != NULL) {
            char word[VALUE_BYTES];
            snprintf(word, sizeof word, "--%s", options[index].name);
            offer_word(word, options[index].help);
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

/* True if the word is an option with the begin of its value. */
static bool offer_value(const struct bz_line *given, const char *word) {
    size_t length = strcspn(word, "=");
    for (size_t index = 0; word[length] == '=' && index < given->option_count; index++) {
        const struct bz_option *option = &given->options[index];
        if (option->argument != NULL && strncmp(word, "--", 2) == 0 &&
            strncmp(word + 2, option->name, length - 2) == 0 && option->name[length - 2] == '\0') {
            snprintf(line.lead, sizeof line.lead, "%.*s=", (int)length, word);
            line.start = word + length + 1;
            offer_values(option->argument, strlen(option->argument));
            return true;
        }
    }
    return false;
}

static void offer_all(const struct bz_syntax *syntax, const struct bz_line *given) {
    const struct bz_option *pending = NULL; /* whose value comes next */
    size_t arguments = 0;
    for (size_t index = 0; index < given->word_count; index++) {
        const struct bz_given *word = &given->words[index];
        pending = word->option != NULL && word->option->argument != NULL && word->value == NULL
                      ? word->option
                      : NULL;
        if (word->option == NULL) {
            line.scenario =
                arguments++ == 0 && syntax->program != NULL ? word->value : line.scenario;
        } else if (strcmp(word->option->name, "plugin") == 0 && word->value != NULL) {
            (void)bz_plugins_load(word->value); /* without it, its names lack */
        }
    }
    if (pending != NULL) {
        offer_values(pending->argument, strlen(pending->argument));
    } else if (line.start[0] != '-' || given->has_ended) {
        offer_argument(syntax->args_doc, arguments);
    } else if (!offer_value(given, line.start)) {
        offer_options(given->options, given->option_count);
    }
}

void bz_completion_print(size_t count, char **words) {
    line.start = count > 0 ? words[count - 1] : "";
    if (count <= 1) {
        offer_commands();
        if (line.start[0] == '-') {
            offer_options(bz_options_everywhere, 3);
        }
        return;
    }
    for (const struct bz_command *command = bz_commands; command->name != NULL; command++) {
        if (strcmp(command->name, words[0]) == 0) {
            bz_options_show = offer_all;
            (void)bz_commands_call(command, (int)count - 1, words);
        }
    }
}
