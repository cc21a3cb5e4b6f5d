#include "tools/cli/removed.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli/cli.h"

const struct bz_gone bz_gone[] = {
    {"explore", "jobs", NULL, "a search takes one core; other settings can be searched beside it"},
    {"explore", "shard", NULL, "a search is one process; other settings can be searched beside it"},
    {"explore", "max-disk", NULL,
     "raise '--max-memory'; with '--out DIR', '--resume DIR' continues a search that reached it"},
    {"explore", "reduce", "sleep", "leave it out; 'all' has every reduction that pays"},
    {"explore", "reduce", "frames", "leave it out; verdicts and outcomes do not depend on it"},
    {"show", "format", "dot", "use '--format mermaid', or 'html' for a long run"},
    {"show", "format", "perfetto", "use '--format html', which needs no other program"},
    {"show", "format", "c",
     "keep the trace in a folder that a property test reads first: '--corpus DIR' in "
     "the options of bz_check(), or CORPUS in buzzer_add_property_test()"},
    {"explain", "output", NULL, "use 'buzzer show --format html -o FILE' with the token", 'o'},
    {"merge", "history", NULL,
     "each report is a JSON document, 'report.json' in the folder of --out, and a script can "
     "compare them"},
    {"completion", NULL, "fish", "use bash, or zsh with bashcompinit"},
    {"completion", NULL, "zsh",
     "put 'autoload -U bashcompinit && bashcompinit' and 'eval \"$(buzzer completion bash)\"' into "
     ".zshrc"},
    {"run", "shard", "auto",
     "write '--shard I/N' with the variables of the engine, which the README of tools has"},
    {"adequacy", "resume", NULL, "give the same command again, which continues"},
    {"bench", "scale", NULL, "use 'tools/lab/scale', in the source"},
    {"bench", "most", NULL, "use 'tools/lab/scale --most N', in the source"},
    {"mutants", NULL, NULL, "use 'tools/dev nightly mutants', in the source"},
    {"lockstep", NULL, NULL, "use 'buzzer-lab lockstep', in the build folder"},
    {"fuzz", "schedule", NULL, "arms have their slices in turn"},
    {"fuzz", "slice", NULL, "a slice has about two million steps"},
    {"fuzz", "seed", NULL, "arms have their slices in turn, and nothing is drawn"},
    {NULL, NULL, NULL, NULL, 0},
};

static bool is(const char *text, const char *word, size_t length) {
    return text != NULL && strncmp(text, word, length) == 0 && text[length] == '\0';
}

static bool has_value(const char *list, const char *value) {
    for (const char *word = list; word != NULL && *word != '\0';) {
        size_t length = strcspn(word, ",");
        if (is(value, word, length)) {
            return true;
        }
        word += length + (word[length] == ',');
    }
    return false;
}

/* "run" of "buzzer run". */
static const char *last_word(const char *text) {
    const char *space = strrchr(text, ' ');
    return space == NULL ? text : space + 1;
}

const struct bz_gone *bz_gone_find(const char *command, const char *option, const char *value) {
    command = last_word(command);
    for (const struct bz_gone *gone = bz_gone; gone->command != NULL; gone++) {
        bool is_option =
            option == NULL ? gone->option == NULL : is(gone->option, option, strcspn(option, "="));
        bool is_value = gone->value == NULL || has_value(value, gone->value);
        if (strcmp(gone->command, command) == 0 && is_option && is_value &&
            (gone->option != NULL || (gone->value == NULL) == (value == NULL))) {
            return gone;
        }
    }
    return NULL;
}

const struct bz_gone *bz_gone_find_letter(const char *command, char letter) {
    const struct bz_gone *gone = bz_gone;
    command = last_word(command);
    while (gone->command != NULL &&
           (gone->letter != letter || strcmp(gone->command, command) != 0)) {
        gone++;
    }
    return gone->command == NULL ? NULL : gone;
}

void bz_gone_refuse(const struct bz_gone *gone) {
    const char *option = gone->option;
    const char *value = gone->value;
    exit(bz_cli_fail(BZ_EXIT_USAGE, "'%s%s%s%s' was removed in 0.2: %s",
                     option != NULL  ? "--"
                     : value == NULL ? gone->command
                                     : "",
                     option != NULL ? option : "", option != NULL && value != NULL ? " " : "",
                     value != NULL ? value : "", gone->instead));
}
