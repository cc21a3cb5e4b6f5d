#include "tools/cli/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "scenarios/scenarios.h"
#include "sim/choice/choice.h"
#include "sim/program/budget.h"
#include "tools/cli/exit_report.h"
#include "tools/cli/progress.h"
#include "tools/cli/removed.h"
#include "tools/plugin/plugins.h"
#include "tools/report/text_output.h"
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
} lack = {"buzzer", BZ_EXIT_INTERRUPTED, NULL};

void bz_cli_set_lack(const char *name, enum bz_exit code, const char *so_far) {
    lack.name = name;
    lack.code = code;
    lack.so_far = so_far;
}

enum bz_exit bz_cli_exit_of_errno(int number) {
    return number == ENOMEM ? BZ_EXIT_INTERRUPTED : BZ_EXIT_USAGE;
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

int bz_cli_fail(const char *name, enum bz_exit code, const char *format, ...) {
    va_list arguments;
    char message[1024]; /* for the document of an ending without results */
    bool is_bad_input = bz_cli_was_refused != NULL && *bz_cli_was_refused;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (code == BZ_EXIT_INTERNAL) {
        code = is_bad_input               ? BZ_EXIT_USAGE
               : bz_lack_is_said(message) ? BZ_EXIT_INTERRUPTED
                                          : BZ_EXIT_INTERNAL;
    }
    fflush(stdout);
    fprintf(stderr, "%s: ", name);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    if (code != BZ_EXIT_OK) {
        bz_ending_note((int)code, message);
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
    if (bz_interrupt_requested != BZ_STOP_INTERRUPT) {
        first_ns = now_ns;
        bz_interrupt_requested = BZ_STOP_INTERRUPT;
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

static void on_alarm(int number) {
    sig_atomic_t none = BZ_STOP_NONE; /* an interrupt stays one */
    (void)number;
    (void)__atomic_compare_exchange_n(&bz_interrupt_requested, &none, BZ_STOP_TIME, false,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static void set_alarm(uint64_t seconds) {
    struct itimerval timer = {.it_value = {.tv_sec = (time_t)seconds}};
    struct sigaction action = {.sa_handler = seconds == 0 ? SIG_DFL : on_alarm,
                               .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    if (seconds != 0) {
        sigaction(SIGALRM, &action, NULL);
    }
    setitimer(ITIMER_REAL, &timer, NULL);
    if (seconds == 0) {
        sigaction(SIGALRM, &action, NULL);
    }
}

void bz_time_limit_begin(uint64_t seconds) {
    set_alarm(seconds);
}

bool bz_time_limit_end(void) {
    sig_atomic_t over = BZ_STOP_TIME;
    set_alarm(0);
    return __atomic_compare_exchange_n(&bz_interrupt_requested, &over, BZ_STOP_NONE, false,
                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED);
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

/* --- parsing: argp says what is wrong on stderr alone, so options are checked first ----------- */

#define LONG_OPTIONS_MAX 64u

static const struct argp_option everywhere[] = {
    {.name = "help", .key = '?'}, {.name = "usage"}, {.name = "version", .key = 'V'}};
#define EVERYWHERE_COUNT (sizeof everywhere / sizeof everywhere[0])

/* The options of a command line, before argp reads them. */
struct survey {
    const struct argp_option *known[LONG_OPTIONS_MAX];
    const char *names[LONG_OPTIONS_MAX];
    size_t count;
    const char *command;
    const struct bz_gone *gone; /* the first word that an earlier version had; NULL: none */
    char mistake[512];          /* the first one; empty: none */
    bool is_help;               /* it asks for help, which is no error */
    bool has_json;
};

static void note_mistake(struct survey *survey, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void note_mistake(struct survey *survey, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (survey->mistake[0] == '\0') {
        vsnprintf(survey->mistake, sizeof survey->mistake, format, arguments);
    }
    va_end(arguments);
}

/* The option that `word` names or abbreviates, or NULL after a note. */
static const struct argp_option *find_long_option(struct survey *survey, const char *word,
                                                  size_t length) {
    const struct argp_option *found = NULL;
    bool is_ambiguous = false;
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    for (size_t index = 0; index < survey->count; index++) {
        if (strncmp(survey->names[index], word, length) == 0) {
            is_ambiguous = found != NULL;
            found = survey->known[index];
            if (found->name[length] == '\0') {
                return found;
            }
        }
    }
    if (found == NULL) {
        note_mistake(survey, "no option '--%s'%s", name,
                     bz_cli_hint(name, survey->names, survey->count));
    } else if (is_ambiguous) {
        note_mistake(survey, "option '--%s' is ambiguous", name);
    }
    return found;
}

static const struct argp_option *find_letter(struct survey *survey, char letter) {
    for (size_t index = 0; index < survey->count; index++) {
        if (survey->known[index]->key == letter) {
            return survey->known[index];
        }
    }
    note_mistake(survey, "no option '-%c'", letter);
    return NULL;
}

/* True if the next word is the value of the option, which has `value` behind it; NULL: nothing. */
static bool takes_next(struct survey *survey, const struct argp_option *option, const char *value,
                       bool is_last) {
    for (size_t common = 0; common < EVERYWHERE_COUNT; common++) {
        survey->is_help |= option == &everywhere[common];
    }
    survey->has_json |= strcmp(option->name, "json") == 0;
    if (option->arg == NULL && value != NULL) {
        note_mistake(survey, "option '--%s' takes no value", option->name);
    } else if (option->arg != NULL && value == NULL && is_last) {
        note_mistake(survey, "option '--%s' requires an argument, %s", option->name, option->arg);
    }
    return option->arg != NULL && value == NULL;
}

/* Options of one letter; the last one may have a value. */
static bool look_at_letters(struct survey *survey, const char *letters, bool is_last) {
    bool takes = false;
    for (; *letters != '\0' && !takes; letters++) {
        const struct argp_option *option = find_letter(survey, *letters);
        bool has_value = option != NULL && option->arg != NULL && letters[1] != '\0';
        takes =
            option != NULL && takes_next(survey, option, has_value ? letters + 1 : NULL, is_last);
        if (option == NULL || has_value) {
            break;
        }
    }
    return takes;
}

static void note_gone(struct survey *survey, const char *option, const char *value) {
    if (survey->gone == NULL) {
        survey->gone = bz_gone_find(survey->command, option, value);
    }
}

static void look_at(struct survey *survey, int argc, char **argv) {
    for (int index = 1; index < argc && strcmp(argv[index], "--") != 0; index++) {
        const char *word = argv[index];
        bool is_last = index + 1 == argc;
        if (word[0] != '-' || word[1] == '\0') {
            note_gone(survey, NULL, word);
            continue;
        }
        if (word[1] != '-') {
            index += look_at_letters(survey, word + 1, is_last);
            continue;
        }
        size_t length = strcspn(word + 2, "=");
        const struct argp_option *option = find_long_option(survey, word + 2, length);
        const char *value = word[2 + length] == '=' ? word + 3 + length : NULL;
        bool takes = option != NULL && takes_next(survey, option, value, is_last);
        index += takes;
        note_gone(survey, option != NULL ? option->name : word + 2,
                  takes && !is_last ? argv[index] : value);
    }
}

void bz_cli_parse(const struct argp *argp, int argc, char **argv, void *input) {
    struct survey survey = {.command = argv[0]};
    for (const struct argp_option *option = argp->options;
         option != NULL && (option->name != NULL || option->doc != NULL); option++) {
        survey.known[survey.count] = option;
        survey.count += option->name != NULL && survey.count < LONG_OPTIONS_MAX - EVERYWHERE_COUNT;
    }
    for (size_t index = 0; index < EVERYWHERE_COUNT; index++) {
        survey.known[survey.count++] = &everywhere[index];
    }
    for (size_t index = 0; index < survey.count; index++) {
        survey.names[index] = survey.known[index]->name;
    }
    look_at(&survey, argc, argv);
    if (survey.has_json) {
        bz_ending_want_json();
    }
    if (survey.gone != NULL) {
        bz_gone_refuse(argv[0], survey.gone);
    }
    if (survey.mistake[0] != '\0') {
        exit(bz_cli_fail(argv[0], BZ_EXIT_USAGE, "%s ('%s --help' lists them)", survey.mistake,
                         argv[0]));
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
