#include "tools/cli/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenarios/scenarios.h"
#include "sim/choice/choice.h"
#include "tools/cli/exit_report.h"
#include "tools/plugin/plugins.h"
#include "tools/report/text_output.h"
#include "traces/lack.h"
#include "traces/text.h"

struct bz_catalog bz_cli_catalog = {.scenarios = bz_scenarios,
                                    .variants = bz_variants,
                                    .is_foreign = bz_plugins_is_foreign,
                                    .contain = {.stop = &bz_interrupt_requested}};

struct bz_caller bz_caller = {.program = "buzzer", .replay = "buzzer replay", .replay_after = ""};

/* Runs at exit, because a usage error and --help end the process. A failed write fails the command,
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

char bz_cli_prefix[64] = "buzzer";

static struct {
    enum bz_exit code;
    const char *so_far;
} lack = {BZ_EXIT_INTERRUPTED, NULL};

void bz_cli_set_lack(enum bz_exit code, const char *so_far) {
    lack.code = code;
    lack.so_far = so_far;
}

enum bz_exit bz_cli_exit_of_errno(int number) {
    return number == ENOMEM ? BZ_EXIT_INTERRUPTED : BZ_EXIT_USAGE;
}

/* Several threads may get here. */
static void on_lack(const char *sentence) {
    fflush(stdout);
    fprintf(stderr, "%s: %s\n", bz_cli_prefix, sentence);
    if (lack.so_far != NULL) {
        fprintf(stderr, "%s: %s\n", bz_cli_prefix, lack.so_far);
    }
    bz_ending_note((int)lack.code, sentence);
    bz_ending_close((int)lack.code);
    fflush(stdout);
    _exit(lack.code);
}

void bz_cli_begin(void) {
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

bool bz_cli_has_refused(void) {
    return bz_caller.was_refused != NULL && *bz_caller.was_refused;
}

int bz_cli_fail(enum bz_exit code, const char *format, ...) {
    va_list arguments;
    char message[1024]; /* for the document of an ending without results */
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (code == BZ_EXIT_INTERNAL) {
        code = bz_cli_has_refused()       ? BZ_EXIT_USAGE
               : bz_lack_is_said(message) ? BZ_EXIT_INTERRUPTED
                                          : BZ_EXIT_INTERNAL;
    }
    fflush(stdout);
    fprintf(stderr, "%s: ", bz_cli_prefix);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    if (code != BZ_EXIT_OK) {
        bz_ending_note((int)code, message);
    }
    return (int)code;
}

void bz_cli_note(const char *message) {
    struct bz_wrap wrap = {.out = stderr};
    struct bz_text prefix = {0};
    fflush(stdout);
    bz_text_add(&prefix, "%s: ", bz_cli_prefix);
    bz_wrap_print(&wrap, prefix.bytes, message, 2, BZ_COLOUR_NONE);
    bz_text_fini(&prefix);
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
