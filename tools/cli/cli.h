/* Shared by all commands: exit codes, the catalog, messages, parsing.
 *
 * A command takes its part of the command line and returns an exit code. Results go to
 * stdout, everything else to stderr. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/program/catalog.h"
#include "sim/session/stop.h"

/* Never renumbered: scripts rely on them. */
enum bz_exit {
    BZ_EXIT_OK = 0,          /* the property holds, the replay matched */
    BZ_EXIT_VIOLATION = 1,   /* a violation was found */
    BZ_EXIT_USAGE = 2,       /* usage, bad input or environment */
    BZ_EXIT_DIVERGED = 3,    /* a replay diverged */
    BZ_EXIT_UNPROVED = 4,    /* a required window was never hit */
    BZ_EXIT_INTERRUPTED = 5, /* interrupted, or out of budget or memory, before the work was done */
    BZ_EXIT_INTERNAL = 70,   /* a fault of the program itself */
};

struct bz_command {
    const char *name; /* NULL ends the table */
    const char *summary;
    int (*run)(int argc, char **argv);
};
/* Those of `buzzer`; another program sets its own before bz_cli_main(). */
extern const struct bz_command *bz_commands;

/* NULL after a message, if there is none of that name. */
const struct bz_command *bz_commands_find(const char *name);

/* Runs it as `argc` words of a command line; the first word stands for its name. */
int bz_commands_call(const struct bz_command *command, int argc, char **argv);

/* Prints the help of the whole program, and ends the process. */
void bz_commands_help(void);

/* The commands. */
#define COMMAND(function, name, summary) int bz_command_##function(int argc, char **argv);
#include "tools/cli/command_list.h"

/* All scenarios and variants, including those of loaded plug-ins (plugins.h). */
extern struct bz_catalog bz_cli_catalog;

struct bz_json;

/* The caller of the program. A test of another program and the module for Python set it before
 * bz_cli_main(). */
struct bz_caller {
    /* How the user calls the program, "buzzer", and how a run is replayed, "buzzer replay": the
     * begin of messages, and of the commands that are printed for the user to copy. A replay that
     * ends with '=' sets a variable of the environment. */
    const char *program;
    const char *replay;
    const char *replay_after; /* what comes after the run, "" or " ./mytest" */
    /* Set by a runtime (sim/program/scenario.h), for all processes: a run has ended without a
     * verdict because the test does what no simulation can follow. NULL: no place is known. */
    const bool *was_refused;
    /* Takes the results of `run` and `replay`, which are printed as text then, if at all. NULL:
     * they are printed as --json says. */
    void (*take_results)(const struct bz_json *document);
    int verdict; /* the exit status of the run that `replay` made again, as a new run; 0 until then
                  */
};
extern struct bz_caller bz_caller;

/* True if it has refused a run: bz_caller.was_refused. */
bool bz_cli_has_refused(void);

/* The whole program: what main() calls. Once a process. */
int bz_cli_main(int argc, char **argv);

/* Checks stdout at exit. Called first in main(). */
void bz_cli_begin(void);

/* The exit code of main(). With plug-ins, it ends the process here: their destructors do not run.
 */
int bz_cli_end(int code);

/* A usage error: prints the message with a hint at --help, and ends the process with BZ_EXIT_USAGE.
 */
void bz_cli_misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The message and exit of a command that runs out of memory (traces/lack.h): its exit code, and
 * what it has found out so far (NULL: nothing). The code is BZ_EXIT_INTERRUPTED if not called. The
 * text must last. */
void bz_cli_set_lack(enum bz_exit code, const char *so_far);

/* The prefix of messages and usage lines: "buzzer run", or "buzzer" if no command runs. */
extern char bz_cli_prefix[64];

/* The exit code of a failed call of the system: BZ_EXIT_INTERRUPTED if `number`, its errno, means a
 * lack of memory, else BZ_EXIT_USAGE. */
enum bz_exit bz_cli_exit_of_errno(int number);

/* Prints "PREFIX: message" to stderr, in lines of at most 80 columns. */
void bz_cli_note(const char *message);

/* Prints "PREFIX: message" to stderr, as one line, and returns `code`. BZ_EXIT_INTERNAL becomes
 * BZ_EXIT_USAGE if a run was refused, and BZ_EXIT_INTERRUPTED if the message says that something
 * ran out. */
int bz_cli_fail(enum bz_exit code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "; did you mean 'x'?" for the candidate nearest to `word`, or an empty text. Valid until the next
 * call. */
const char *bz_cli_hint(const char *word, const char *const *candidates, size_t count);

/* The text as one word of a shell, in quotes if it needs them, cut to fit; returns `buffer`. */
const char *bz_cli_quoted(const char *text, char *buffer, size_t size_bytes);

/* Virtual time in the largest exact unit: "250 us". Valid until the next call. */
const char *bz_cli_time_text(uint64_t time_ns);
