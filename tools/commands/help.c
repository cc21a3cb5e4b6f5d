/* buzzer help: the help of a command, or its manual page. */
#include <stdio.h>

#include "tools/cli/cli.h"
#include "tools/cli/manual/manual.h"
#include "tools/cli/options.h"

struct help {
    const char *command;
    bool is_page;
};

static const struct bz_option options[] = {
    {"man", NULL, "Print the manual page instead of the help, for 'man -l -'", BZ_OPTION_FLAG,
     offsetof(struct help, is_page)},
    {NULL},
};

int bz_command_help(int argc, char **argv) {
    struct help help = {NULL};
    char flag[] = "--help";
    char *words[] = {NULL, flag, NULL};
    const struct bz_syntax syntax = {
        .options = options,
        .target = &help,
        .args_doc = "[COMMAND]",
        .arguments = &help.command,
        .arguments_max = 1,
        .doc = "Prints what 'buzzer COMMAND --help' prints, or the help of the whole program. Exit "
               "status: 0 done, 2 no such command."};
    (void)bz_options_parse(&syntax, argc, argv);
    const struct bz_command *command = NULL;
    if (help.command != NULL && (command = bz_commands_find(help.command)) == NULL) {
        return BZ_EXIT_USAGE;
    }
    if (help.is_page) {
        bz_manual_print(command);
    } else if (command == NULL) {
        bz_commands_help();
    } else {
        return bz_commands_call(command, 2, words);
    }
    return BZ_EXIT_OK;
}
