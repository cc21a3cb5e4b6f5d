#include "tools/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "scenarios/scenarios.h"
#include "sim/choice/choice.h"
#include "tools/ending.h"
#include "tools/plugins.h"
#include "tools/progress.h"
#include "tools/wrap.h"
#include "traces/lack.h"
#include "traces/text.h"

struct bz_catalog bz_cli_catalog = {.scenarios = bz_scenarios,
                                    .variants = bz_variants,
                                    .is_foreign = bz_plugins_is_foreign,
                                    .contain = {.stop = &bz_interrupt_requested}};

const char *bz_cli_program = "buzzer";
const char *bz_cli_replay = "buzzer replay";
int bz_cli_replay_verdict = BZ_EXIT_OK;
const char *bz_cli_replay_after = "";

/* Runs at exit, because argp prints its help and exits by itself. A failed write fails the command,
 * whatever its exit code was. */
static void close_stdout(void) {
    bz_ending_close_at_exit();
    errno = 0;
    bool had_failed = ferror(stdout) != 0;
    if (fflush(stdout) != 0 || had_failed) {
        fprintf(stderr, "buzzer: cannot write the results to stdout: %s\n",
                errno != 0 ? strerror(errno) : "write error");
        fflush(stderr);
        _exit(BZ_EXIT_USAGE);
    }
}

static struct {
    const char *name;
    enum bz_exit code;
    const char *so_far;
} lack = {"buzzer", BZ_EXIT_INTERNAL, NULL};

void bz_cli_set_lack(const char *name, enum bz_exit code, const char *so_far) {
    lack.name = name;
    lack.code = code;
    lack.so_far = so_far;
}

enum bz_exit bz_cli_exit_of_errno(int number) {
    return number == ENOMEM ? BZ_EXIT_INTERNAL : BZ_EXIT_USAGE;
}

/* Several threads may get here. */
static void on_lack(const char *sentence) {
    fflush(stdout);
    fprintf(stderr, "%s: %s\n", lack.name, sentence);
    if (lack.so_far != NULL) {
        fprintf(stderr, "%s: %s\n", lack.name, lack.so_far);
    }
    bz_ending_note((int)lack.code, sentence);
    bz_ending_close((int)lack.code);
    fflush(stdout);
    _exit(lack.code);
}

void bz_cli_begin(void) {
    argp_err_exit_status = BZ_EXIT_USAGE;
    bz_lack_handler = on_lack;
    signal(SIGXFSZ, SIG_IGN); /* a file that grows too large is a failed write */
    if (atexit(close_stdout) != 0) {
        bz_lack_stop(NULL, "the end of the program");
    }
}

int bz_cli_end(int code) {
    if (bz_plugins_are_loaded()) {
        close_stdout();
        fflush(stderr);
        _exit(code);
    }
    return code;
}

const bool *bz_cli_was_refused;

/* What the document of an ending without results says. */
static void note(enum bz_exit code, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
static void note(enum bz_exit code, const char *format, va_list arguments) {
    char message[1024];
    vsnprintf(message, sizeof message, format, arguments);
    bz_ending_note((int)code, message);
}

int bz_cli_fail(const char *name, enum bz_exit code, const char *format, ...) {
    va_list arguments;
    bool is_bad_input = bz_cli_was_refused != NULL && *bz_cli_was_refused;
    code = code == BZ_EXIT_INTERNAL && is_bad_input ? BZ_EXIT_USAGE : code;
    fflush(stdout);
    fprintf(stderr, "%s: ", name);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    if (code != BZ_EXIT_OK) {
        va_start(arguments, format);
        note(code, format, arguments);
        va_end(arguments);
    }
    return (int)code;
}

void bz_cli_misuse(const struct argp_state *state, const char *format, ...) {
    char message[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    bz_ending_note(BZ_EXIT_USAGE, message);
    argp_error(state, "%s", message);
}

void bz_cli_note(const char *name, const char *message) {
    struct bz_wrap wrap = {.out = stderr};
    struct bz_text prefix = {0};
    fflush(stdout);
    bz_text_add(&prefix, "%s: ", name);
    bz_wrap_print(&wrap, prefix.bytes, message, 2, BZ_COLOUR_NONE);
    bz_text_fini(&prefix);
}

#define SIGNAL_PAIR_NS UINT64_C(200000000)

volatile sig_atomic_t bz_interrupt_requested;

/* timeout(1) sends each signal twice, to the process and to its group. */
static void on_signal(int number) {
    static uint64_t first_ns;
    uint64_t now_ns = bz_wall_ns();
    if (bz_interrupt_requested == 0) {
        first_ns = now_ns;
        bz_interrupt_requested = 1;
    } else if (now_ns - first_ns >= SIGNAL_PAIR_NS) {
        signal(number, SIG_DFL);
        raise(number); /* when the handler returns */
    }
}

void bz_interrupt_catch(void) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct sigaction hangup;
    if (sigaction(SIGHUP, NULL, &hangup) != 0 || hangup.sa_handler != SIG_IGN) { /* nohup(1) */
        sigaction(SIGHUP, &action, NULL);
    }
}

const char *bz_cli_hint(const char *word, const char *const *candidates, size_t count) {
    static char hint[128];
    const char *nearest = bz_nearest_name(word, candidates, count);
    snprintf(hint, sizeof hint, "; did you mean '%s'?", nearest != NULL ? nearest : "");
    return nearest != NULL ? hint : "";
}

const char *bz_cli_quoted(const char *text, char *buffer, size_t size_bytes) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./:,+@%=";
    bool is_plain = text[0] != '\0' && text[0] != '-' && text[strspn(text, plain)] == '\0';
    size_t used = (size_t)snprintf(buffer, size_bytes, "%s", is_plain ? text : "'");
    for (; !is_plain && *text != '\0' && used + 6 < size_bytes; text++) {
        const char *piece = *text == '\'' ? "'\\''" : (const char[]){*text, '\0'};
        used += (size_t)snprintf(buffer + used, size_bytes - used, "%s", piece);
    }
    if (!is_plain) {
        snprintf(buffer + used, size_bytes - used, "'");
    }
    return buffer;
}

const char *bz_cli_time_text(uint64_t time_ns) {
    static char text[32];
    uint64_t count;
    const char *unit = bz_time_unit(time_ns, &count);
    snprintf(text, sizeof text, "%" PRIu64 " %s", count, unit);
    return time_ns == 0 ? "0" : text;
}

/* --- parsing: argp does not say which option was meant, so the long ones are checked first ---- */

#define LONG_OPTIONS_MAX 64u

/* The option that `word` names or abbreviates, or NULL. */
static const struct argp_option *find_long_option(const struct argp_option *const *known,
                                                  size_t count, const char *word, size_t length) {
    const struct argp_option *found = NULL;
    for (size_t index = 0; index < count; index++) {
        if (strncmp(known[index]->name, word, length) == 0) {
            found = known[index];
            if (found->name[length] == '\0') {
                break;
            }
        }
    }
    return found;
}

static const struct argp_option everywhere[] = {
    {.name = "help"}, {.name = "usage"}, {.name = "version"}};
#define EVERYWHERE_COUNT (sizeof everywhere / sizeof everywhere[0])

/* What the long options of a command line are, before argp reads them. */
struct survey {
    const char *unknown; /* the first that no option has; NULL: none */
    bool is_help;        /* it asks for help, which is no error */
    bool has_json;
};

static struct survey look_at(const struct argp_option *const *known, size_t count, int argc,
                             char **argv) {
    struct survey survey = {.unknown = NULL};
    for (int index = 1; index < argc && strcmp(argv[index], "--") != 0; index++) {
        if (strncmp(argv[index], "--", 2) != 0) {
            survey.is_help |= strcmp(argv[index], "-?") == 0 || strcmp(argv[index], "-V") == 0;
            continue;
        }
        const char *word = argv[index] + 2;
        size_t length = strcspn(word, "=");
        const struct argp_option *option = find_long_option(known, count, word, length);
        if (option == NULL) {
            survey.unknown = survey.unknown == NULL ? word : survey.unknown;
            continue;
        }
        for (size_t common = 0; common < EVERYWHERE_COUNT; common++) {
            survey.is_help |= option == &everywhere[common];
        }
        survey.has_json |= strcmp(option->name, "json") == 0;
        /* the next word is its value */
        index += option->arg != NULL && word[length] == '\0';
    }
    return survey;
}

void bz_cli_parse(const struct argp *argp, int argc, char **argv, void *input) {
    const struct argp_option *known[LONG_OPTIONS_MAX];
    const char *names[LONG_OPTIONS_MAX];
    size_t count = 0;
    for (const struct argp_option *option = argp->options;
         option != NULL && (option->name != NULL || option->doc != NULL); option++) {
        known[count] = option;
        count += option->name != NULL && count < LONG_OPTIONS_MAX - EVERYWHERE_COUNT;
    }
    for (size_t index = 0; index < EVERYWHERE_COUNT; index++) {
        known[count++] = &everywhere[index];
    }
    for (size_t index = 0; index < count; index++) {
        names[index] = known[index]->name;
    }
    struct survey survey = look_at(known, count, argc, argv);
    if (survey.has_json) {
        bz_ending_want_json();
    }
    if (survey.unknown != NULL) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(survey.unknown, "="), survey.unknown);
        exit(bz_cli_fail(argv[0], BZ_EXIT_USAGE, "no option '--%s'%s ('%s --help' lists them)",
                         name, bz_cli_hint(name, names, count), argv[0]));
    }
    bz_ending_note(survey.is_help ? BZ_EXIT_OK : BZ_EXIT_USAGE, "bad usage, see stderr");
    error_t error = argp_parse(argp, argc, argv, 0, NULL, input);
    bz_ending_note(BZ_EXIT_OK, "");
    if (error == ENOMEM) {
        bz_lack_stop(NULL, "the command line");
    } else if (error != 0) {
        exit(bz_cli_fail(argv[0], BZ_EXIT_INTERNAL, "%s", strerror(error)));
    }
}
