/* buzzer adequacy: what the campaigns of a pipeline would miss in a file. The work is done by the
 * Python scripts of tools/adequacy, which are embedded here; this reads the command line. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/campaign/campaign.h"
#include "tools/cli/cli.h"
#include "tools/cli/embedded.h"
#include "tools/cli/options.h"
#include "tools/cli/watchdog.h"
#include "traces/lack.h"

#define RUNS_DEFAULT 10000u
#define WORDS_MAX 256u
#define WORDS_BEFORE 32u /* python3, the scripts, and options that are given at most once */

/* Turns the embedded texts into modules, none of which a file in this folder can replace. */
static const char starter[] =
    "import sys, types\n"
    "sys.path[:] = [path for path in sys.path if path]\n"
    "words = sys.argv[1:]\n"
    "while words[0] != '--':\n"
    "    name, text = words.pop(0), words.pop(0)\n"
    "    module = sys.modules[name[:-3]] = types.ModuleType(name[:-3])\n"
    "    exec(compile(text, 'buzzer/adequacy/' + name, 'exec'), module.__dict__)\n"
    "sys.exit(module.main(words[1:]))\n";

struct adequacy {
    const char *file;
    const char *build;
    bool is_program;
    bool is_test;
    uint64_t runs;
    uint64_t mutants; /* 0: all */
    uint64_t seconds; /* 0: no limit */
    uint64_t seed;
    uint64_t threshold;
    uint64_t jobs;
    const char *explained;
    const char *out;
    const char *html;
    const char *junit;
    bool is_json;
    bool is_quiet;
    const char *repeated[WORDS_MAX]; /* "--scenario=contended" */
    size_t repeated_count;
};

/* An option that may be given several times. */
static void keep(void *target, const char *name, char *text) {
    struct adequacy *adequacy = target;
    char *word = NULL;
    if (adequacy->repeated_count == WORDS_MAX) {
        bz_cli_misuse("more than %u options", WORDS_MAX);
    }
    bz_lack_check(asprintf(&word, "--%s=%s", name, text) < 0 ? NULL : word, "the options");
    adequacy->repeated[adequacy->repeated_count++] = word;
}

static const struct bz_option options[] = {
    {"build", "SHELL",
     "Shell command that compiles {source}, a changed copy of FILE.c, into {out}, the plug-in. It "
     "runs in the current folder; headers beside FILE.c are found",
     BZ_OPTION_TEXT, offsetof(struct adequacy, build)},
    {"program", NULL,
     "{out} is a program of Buzzer with the primitive built in: a mutant of it runs",
     BZ_OPTION_FLAG, offsetof(struct adequacy, is_program)},
    {"test", NULL, "{out} is a test, which exits with 0 unless it fails (bz_check)", BZ_OPTION_FLAG,
     offsetof(struct adequacy, is_test)},
    {"scenario", "SCENARIO",
     "Run this scenario, with the options of 'buzzer run' behind its name: --scenario 'contended "
     "--order fifo'. May be given several times. 'all' is every scenario that fits, with every "
     "primitive, in both orders (default). 'explore contended' is a search",
     BZ_OPTION_PARSED, .is_repeatable = true, .parse = keep},
    {"without", "SCENARIO", "Leave this scenario out; may be given several times", BZ_OPTION_PARSED,
     .is_repeatable = true, .parse = keep},
    {"variant", "V",
     "Implementation under test; may be given several times (default: every one in {out} that "
     "declares no fault)",
     BZ_OPTION_PARSED, .is_repeatable = true, .parse = keep},
    {"plugin", "FILE.so", "Load this one as well, for its scenarios", BZ_OPTION_PARSED,
     .is_repeatable = true, .parse = keep},
    {"runs", "N", "Runs of each campaign (default 10000)", BZ_OPTION_NUMBER,
     offsetof(struct adequacy, runs), .least = 1, .most = UINT32_MAX},
    {"mutants", "N", "Draw so many mutants at random (default: all)", BZ_OPTION_NUMBER,
     offsetof(struct adequacy, mutants), .least = 1, .most = UINT32_MAX},
    {"time", "T",
     "Draw mutants at random for this long: 30s, 5m, 2h. The score has its confidence interval",
     BZ_OPTION_SECONDS, offsetof(struct adequacy, seconds)},
    {"seed", "N", "Seed of these draws (default 0)", BZ_OPTION_NUMBER,
     offsetof(struct adequacy, seed), .most = UINT64_MAX},
    {"jobs", "N", "Commands at a time (default: as many as there are processors)", BZ_OPTION_NUMBER,
     offsetof(struct adequacy, jobs), .least = 1, .most = BZ_JOBS_MAX, .letter = 'j'},
    {"threshold", "PERCENT", "Exit with 0 if so many of the mutants are killed (default 100)",
     BZ_OPTION_NUMBER, offsetof(struct adequacy, threshold), .most = 100},
    {"explained", "FILE",
     "Survivors that are all right and not counted, one a line: SOURCE LINE | CHANGE | REASON",
     BZ_OPTION_TEXT, offsetof(struct adequacy, explained)},
    {"out", "DIR",
     "Folder of the results (default .buzzer/adequacy/FILE.c, with a number for other options); "
     "the same command continues there after an interruption",
     BZ_OPTION_TEXT, offsetof(struct adequacy, out)},
    {"html", "FILE", "Write a page with the source, coloured by what survived", BZ_OPTION_TEXT,
     offsetof(struct adequacy, html)},
    {"junit", "FILE", "Write the result as JUnit XML: one case for each mutant", BZ_OPTION_TEXT,
     offsetof(struct adequacy, junit)},
    {"json", NULL, "Print one JSON document", BZ_OPTION_FLAG, offsetof(struct adequacy, is_json)},
    {"quiet", NULL, "Print no progress", BZ_OPTION_FLAG, offsetof(struct adequacy, is_quiet)},
    {NULL},
};

static void check(void *target) {
    const struct adequacy *adequacy = target;
    if (adequacy->build == NULL || strstr(adequacy->build, "{source}") == NULL ||
        strstr(adequacy->build, "{out}") == NULL) {
        bz_cli_misuse("--build is missing, or lacks {source} or {out}: --build 'cc -shared "
                      "-fPIC {source} -o {out} $(pkg-config --cflags buzzer-plugin)'");
    } else if (adequacy->is_program && adequacy->is_test) {
        bz_cli_misuse("--program and --test exclude each other");
    }
}

/* --- python3 ---------------------------------------------------------------------------------- */

static void add_text(const char **words, size_t *count, const char *name, const char *value) {
    char *word = NULL;
    if (value != NULL) {
        bz_lack_check(asprintf(&word, "--%s=%s", name, value) < 0 ? NULL : word, "the options");
        words[(*count)++] = word;
    }
}

static void add_option(const char **words, size_t *count, const struct bz_option *option,
                       const void *member) {
    char number[24];
    if (option->type == BZ_OPTION_TEXT) {
        add_text(words, count, option->name, *(const char *const *)member);
    } else if (option->type == BZ_OPTION_FLAG) {
        add_text(words, count, option->name, *(const bool *)member ? "yes" : NULL);
    } else if (option->type != BZ_OPTION_PARSED) {
        snprintf(number, sizeof number, "%" PRIu64, *(const uint64_t *)member);
        add_text(words, count, option->name, number);
    }
}

/* Becomes python3. Returns an exit code after a message. */
static int start(const struct adequacy *adequacy) {
    const char *words[WORDS_MAX + 2 * WORDS_BEFORE] = {"python3", "-c", starter};
    char program[PATH_MAX] = "";
    size_t count = 3;
    sigset_t stopping;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    for (const struct bz_embedded *script = bz_adequacy_scripts; script->name != NULL; script++) {
        words[count++] = script->name;
        words[count++] = script->text;
    }
    words[count++] = "--";
    for (const struct bz_option *option = options; option->name != NULL; option++) {
        add_option(words, &count, option, (const char *)adequacy + option->offset);
    }
    add_text(words, &count, "buzzer", length > 0 ? program : "buzzer");
    memcpy(words + count, adequacy->repeated, adequacy->repeated_count * sizeof *words);
    count += adequacy->repeated_count;
    words[count++] = "--";
    words[count] = adequacy->file;
    sigemptyset(&stopping); /* until the scripts can end in order */
    sigaddset(&stopping, SIGINT);
    sigaddset(&stopping, SIGTERM);
    sigprocmask(SIG_BLOCK, &stopping, NULL);
    bz_watchdog_end(); /* python3 would inherit the timer, and die of it */
    execvp(words[0], (char *const *)(uintptr_t)words);
    return bz_cli_fail(BZ_EXIT_USAGE, "cannot run python3: %s%s", strerror(errno),
                       errno == ENOENT ? "; on Debian and Ubuntu: apt-get install python3-clang"
                                       : "");
}

int bz_command_adequacy(int argc, char **argv) {
    struct adequacy adequacy = {.runs = RUNS_DEFAULT, .threshold = 100};
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    adequacy.jobs = processors < 1             ? 1
                    : processors > BZ_JOBS_MAX ? BZ_JOBS_MAX
                                               : (uint64_t)processors;
    const struct bz_syntax syntax = {
        .options = options,
        .target = &adequacy,
        .args_doc = "FILE.c",
        .arguments = &adequacy.file,
        .arguments_max = 1,
        .missing = "the file",
        .check = check,
        .doc = "Makes small changes in the source of a primitive, one at a time, builds each of "
               "these mutants, and runs the campaigns of a pipeline on it. A mutant that survives "
               "shows what the campaigns would miss. Exit status: 0 every mutant that is not "
               "equivalent is killed, or --threshold percent, 2 usage, or the unchanged file does "
               "not build or fails, 4 mutants survive, or none was judged, 5 interrupted."};
    (void)bz_options_parse(&syntax, argc, argv);
    return start(&adequacy);
}
