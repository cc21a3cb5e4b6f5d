/* What every command of the program shares: exit codes, the catalog, messages, parsing.
 *
 * A command is a function that takes its own part of the command line, argv[0] being the name for
 * messages ("buzzer run"), and returns an exit code. Results go to stdout, everything else to
 * stderr. A failure to write stdout is noticed when the process exits.
 */
#ifndef BZ_TOOLS_CLI_H
#define BZ_TOOLS_CLI_H

#include <argp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/run/catalog.h"

/* Never renumbered: scripts rely on them. */
enum bz_exit {
    BZ_EXIT_OK = 0,          /* the property holds, the replay matched */
    BZ_EXIT_VIOLATION = 1,   /* a violation was found */
    BZ_EXIT_USAGE = 2,       /* usage, bad input or environment */
    BZ_EXIT_DIVERGED = 3,    /* a replay diverged */
    BZ_EXIT_UNPROVED = 4,    /* a required window was never hit */
    BZ_EXIT_INTERRUPTED = 5, /* interrupted, or out of budget, before the work was done */
    BZ_EXIT_INTERNAL = 70,   /* out of memory or threads, or a fault of the program itself */
};

/* The commands. */
int bz_command_bench(int argc, char **argv);
int bz_command_corpus(int argc, char **argv);
int bz_command_explore(int argc, char **argv);
int bz_command_list(int argc, char **argv);
int bz_command_mutants(int argc, char **argv);
int bz_command_new(int argc, char **argv);
int bz_command_replay(int argc, char **argv);
int bz_command_run(int argc, char **argv);
int bz_command_spec(int argc, char **argv);
int bz_command_zoo(int argc, char **argv);

/* Every scenario and variant that the program knows: those that came with it, and, once plug-ins
 * are loaded (plugins.h), theirs. */
extern struct bz_catalog bz_cli_catalog;

/* Prepares the process: exit codes of argp, the check of stdout. Once, first thing in main(). */
void bz_cli_begin(void);

/* Parses a command line with argp; on a usage error the process exits with BZ_EXIT_USAGE. A long
 * option that does not exist is answered with the nearest one. */
void bz_cli_parse(const struct argp *argp, int argc, char **argv, void *input);

/* Prints "NAME: message" to stderr and returns `code`. */
int bz_cli_fail(const char *name, enum bz_exit code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Ctrl-C during long work: the first signal asks for an end in good order, the second one ends the
 * process. */
extern volatile sig_atomic_t bz_interrupt_requested; /* not 0 once SIGINT or SIGTERM has come */
void bz_interrupt_catch(void);                       /* catches both from now on */

/* "; did you mean 'x'?" for the candidate nearest to `word`, or an empty text. Valid until the next
 * call. */
const char *bz_cli_hint(const char *word, const char *const *candidates, size_t count);

/* Virtual time in the largest unit that shows it exactly: "250 us". Returns `buffer`. */
const char *bz_cli_time_text(uint64_t time_ns, char *buffer, size_t size_bytes);

#define BZ_TIME_TEXT_BYTES 32u

#endif
