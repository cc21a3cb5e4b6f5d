/* The program: dispatches to the commands. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli/cli.h"
#include "tools/cli/exit_report.h"
#include "tools/cli/options.h"
#include "tools/cli/removed.h"

#define COMMAND(function, name, summary) {name, summary, bz_command_##function},
static const struct bz_command shipped[] = {
#include "tools/cli/command_list.h"
    {NULL, NULL, NULL},
};
#define COMMANDS_MAX (sizeof shipped / sizeof shipped[0])

const struct bz_command *bz_commands = shipped;

static void check_command(void *target) {
    if (*(const char **)target == NULL) {
        bz_cli_misuse("a command is missing");
    }
}

static void set_prefix_of_program(void) {
    snprintf(bz_cli_prefix, sizeof bz_cli_prefix, "%s", bz_caller.program);
}

/* Reads what stands before the name of a command, and that name. */
static const char *read_name(int argc, char **argv) {
    char doc[4096] = "Tests asynchronous locks and semaphores under seeded schedules and "
                     "cancellations, and replays what it finds.\vCommands:\n";
    size_t used = strlen(doc);
    const char *name = NULL;
    for (const struct bz_command *command = bz_commands; command->name != NULL; command++) {
        used += (size_t)snprintf(doc + used, sizeof doc - used, "  %-12s %s\n", command->name,
                                 command->summary);
    }
    snprintf(doc + used, sizeof doc - used,
             "\n'%s COMMAND --help' describes one; 'man buzzer' and 'man buzzer-COMMAND' are the "
             "manual.\n\nExit status: 0 the property holds, or the replay matched; 1 a violation "
             "was found; 2 usage, bad input or environment; 3 a replay diverged; 4 a required "
             "window was never hit; 5 interrupted or out of budget; 70 internal error, or out of "
             "memory.",
             bz_caller.program);
    const struct bz_syntax syntax = {.target = &name,
                                     .args_doc = "COMMAND [ARGUMENT...]",
                                     .arguments = &name,
                                     .arguments_max = 1,
                                     .doc = doc,
                                     .check = check_command};
    (void)bz_options_parse(&syntax, argc, argv);
    return name;
}

const struct bz_command *bz_commands_find(const char *name) {
    const char *names[COMMANDS_MAX];
    size_t count = 0;
    for (const struct bz_command *command = bz_commands; command->name != NULL; command++) {
        names[count++] = command->name;
        if (strcmp(name, command->name) == 0) {
            return command;
        }
    }
    set_prefix_of_program(); /* also if `help` asks */
    const struct bz_gone *gone = bz_gone_find(name, NULL, NULL);
    if (gone != NULL) {
        bz_gone_refuse(gone);
    }
    bz_cli_fail(BZ_EXIT_USAGE, "no command '%s'%s ('%s --help' lists them)", name,
                bz_cli_hint(name, names, count), bz_caller.program);
    return NULL;
}

int bz_commands_call(const struct bz_command *command, int argc, char **argv) {
    snprintf(bz_cli_prefix, sizeof bz_cli_prefix, "%s %s", bz_caller.program, command->name);
    bz_cli_set_lack(BZ_EXIT_INTERRUPTED, NULL);
    bz_ending_begin(command->name);
    int code = command->run(argc, argv);
    bz_ending_close(code);
    set_prefix_of_program();
    return code;
}

void bz_commands_help(void) {
    char help[] = "--help";
    char *words[] = {NULL, help, NULL};
    set_prefix_of_program();
    (void)read_name(2, words);
}

int bz_cli_main(int argc, char **argv) {
    int index = 1;
    set_prefix_of_program();
    bz_cli_begin();
    if (argc < 1) {
        return bz_cli_fail(BZ_EXIT_USAGE, "a command is missing");
    }
    /* Only the options before the command are parsed here. */
    while (index < argc && argv[index][0] == '-') {
        index++;
    }
    const struct bz_command *command =
        bz_commands_find(read_name(index < argc ? index + 1 : argc, argv));
    return bz_cli_end(command == NULL ? BZ_EXIT_USAGE
                                      : bz_commands_call(command, argc - index, argv + index));
}
