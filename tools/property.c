#include "tools/property.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenarios/scenarios.h"
#include "sim/judge/record.h"
#include "sim/program/settings.h"
#include "tools/cli/cli.h"
#include "tools/plugin/plugins.h"
#include "traces/lack.h"
#include "traces/text.h"
#include "traces/trace.h"

#define WORDS_MAX 256u
#define SEPARATORS " \t\n"

/* --- the catalog ------------------------------------------------------------------------------ */

/* Whatever is not built in. */
static bool is_foreign(const void *part) {
    bool is_built_in = false;
    for (size_t index = 0; bz_scenarios[index] != NULL; index++) {
        is_built_in |= bz_scenarios[index] == part;
    }
    for (size_t index = 0; bz_variants[index] != NULL; index++) {
        is_built_in |= bz_variants[index] == part;
    }
    return !is_built_in;
}

/* False with a message. */
static bool add_scenario(const struct bz_scenario *scenario, char *error, size_t error_bytes) {
    char what[BZ_ERROR_BYTES];
    if (scenario == NULL) {
        return bz_fail(error, error_bytes, "the check has no scenario");
    }
    if (!bz_plugin_check_scenario(scenario, what, sizeof what)) {
        return bz_fail(error, error_bytes, "scenario '%.64s' %.400s",
                       scenario->name != NULL ? scenario->name : "?", what);
    }
    const struct bz_scenario *known = bz_catalog_scenario(&bz_cli_catalog, scenario->name);
    if (known == NULL) {
        bz_catalog_add_scenario(&bz_cli_catalog, scenario);
    }
    return known == NULL || known == scenario ||
           bz_fail(error, error_bytes, "there are two scenarios '%.64s'", scenario->name);
}

static bool add_variant(const struct bz_variant *variant, char *error, size_t error_bytes) {
    char what[BZ_ERROR_BYTES];
    if (!bz_plugin_check_variant(variant, what, sizeof what)) {
        return bz_fail(
            error, error_bytes, "variant '%.64s' %.400s",
            variant->version == BZ_VARIANT_VERSION && variant->name != NULL ? variant->name : "?",
            what);
    }
    const struct bz_variant *known = bz_catalog_variant(&bz_cli_catalog, variant->name);
    if (known == NULL) {
        bz_catalog_add_variant(&bz_cli_catalog, variant);
    }
    return known == NULL || known == variant ||
           bz_fail(error, error_bytes, "there are two variants '%.64s'", variant->name);
}

/* The variant that stands for a runtime offers nothing; it has a name. */
static void add_runtime(const struct bz_runtime *runtime) {
    if (bz_catalog_variant(&bz_cli_catalog, runtime->variant) == NULL) {
        struct bz_variant *own = bz_lack_check(calloc(1, sizeof *own), "a variant");
        own->version = BZ_VARIANT_VERSION;
        own->name = runtime->variant;
        own->summary = "a runtime of its own";
        bz_catalog_add_variant(&bz_cli_catalog, own);
    }
}

static bool add(const struct bz_check *check, char *error, size_t error_bytes) {
    bz_cli_catalog.is_foreign = is_foreign;
    if (!add_scenario(check->scenario, error, error_bytes)) {
        return false;
    }
    if (check->scenario->runtime == NULL) {
        return check->variant == NULL || add_variant(check->variant, error, error_bytes);
    }
    add_runtime(check->scenario->runtime);
    return check->variant == NULL ||
           bz_fail(error, error_bytes,
                   "scenario '%.64s' has a runtime of its own, so its check has no variant",
                   check->scenario->name);
}

static const char *variant_name(const struct bz_check *check) {
    return check->scenario->runtime != NULL ? check->scenario->runtime->variant
           : check->variant != NULL         ? check->variant->name
                                            : "buzzer";
}

/* --- running a command ------------------------------------------------------------------------ */

/* In a child, because a command may end its process. Returns its exit code; a replay that matched
 * has the one of the run that it made again. */
static int run_in_child(size_t count, const char **words) {
    fflush(stdout);
    fflush(stderr);
    pid_t child = fork();
    if (child < 0) {
        return bz_cli_fail(BZ_EXIT_INTERNAL, "cannot create a process: %s", strerror(errno));
    }
    if (child == 0) {
        int code = bz_cli_main((int)count, (char **)(uintptr_t)words);
        fflush(stdout);
        fflush(stderr);
        _exit(code == BZ_EXIT_OK ? bz_caller.verdict : code);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            return bz_cli_fail(BZ_EXIT_INTERNAL, "cannot wait for a process: %s", strerror(errno));
        }
    }
    return WIFEXITED(status)
               ? WEXITSTATUS(status)
               : bz_cli_fail(BZ_EXIT_INTERNAL, "a check ended by signal %d", WTERMSIG(status));
}

/* Runs the words that are there, and those of two texts, which may be NULL. */
static int run_words(const char **words, size_t count, const char *text, const char *more) {
    char *copy = NULL;
    int length = asprintf(&copy, "%s %s", text != NULL ? text : "", more != NULL ? more : "");
    bz_lack_check(length < 0 ? NULL : copy, "the options of a check");
    for (char *word = strtok(copy, SEPARATORS); word != NULL; word = strtok(NULL, SEPARATORS)) {
        if (count == WORDS_MAX) {
            free(copy);
            return bz_cli_fail(BZ_EXIT_USAGE, "a check has more than %u words of options",
                               WORDS_MAX);
        }
        words[count++] = word;
    }
    words[count] = NULL;
    int code = run_in_child(count, words);
    free(copy);
    return code;
}

/* --- replaying -------------------------------------------------------------------------------- */

/* True if a token or the file of a trace is of this check. False with a message if it cannot be
 * read. */
static bool names_check(const char *input, const struct bz_check *check, bool *is_own, char *error,
                        size_t error_bytes) {
    struct bz_token token;
    struct bz_trace trace;
    bz_trace_init(&trace);
    bool is_token = bz_token_looks_like(input);
    bool is_read = is_token ? bz_token_split(&token, input, error, error_bytes)
                            : bz_trace_read(&trace, input, error, error_bytes);
    *is_own = is_read &&
              strcmp(is_token ? token.program : trace.scenario, check->scenario->name) == 0 &&
              strcmp(is_token ? token.variant : trace.variant, variant_name(check)) == 0;
    bz_trace_fini(&trace);
    return is_read;
}

/* TOKEN, TRACE, or COMMAND with one of them and options. */
static int replay(const struct bz_check *check, const char *input) {
    const char *words[WORDS_MAX + 1] = {"buzzer", "replay"};
    char error[BZ_ERROR_BYTES];
    char run[PATH_MAX] = "";
    bool is_own;
    bool is_command = strpbrk(input, SEPARATORS) != NULL && access(input, F_OK) != 0;
    const char *after = input + (is_command ? strcspn(input, SEPARATORS) + 1 : 0);
    snprintf(run, sizeof run, "%.*s", (int)(is_command ? strcspn(after, SEPARATORS) : PATH_MAX - 1),
             after);
    if (!names_check(run, check, &is_own, error, sizeof error)) {
        return bz_cli_fail(BZ_EXIT_USAGE, "BUZZER_REPLAY: %s", error);
    }
    if (!is_own) {
        fprintf(
            stderr,
            "buzzer: BUZZER_REPLAY: '%s' on '%s' is skipped: the run belongs to another property\n",
            check->scenario->name, variant_name(check));
        return BZ_EXIT_OK;
    }
    words[2] = run;
    return is_command ? run_words(words, 1, input, NULL) : run_words(words, 3, NULL, NULL);
}

int bz_check(const struct bz_check *check) {
    static char own_name[PATH_MAX + 1] = " "; /* for the end of a command */
    char error[BZ_ERROR_BYTES];
    const char *input = getenv("BUZZER_REPLAY");
    if (!add(check, error, sizeof error)) {
        return bz_cli_fail(BZ_EXIT_USAGE, "%s", error);
    }
    ssize_t length = readlink("/proc/self/exe", own_name + 1, sizeof own_name - 2);
    own_name[length > 0 ? length + 1 : 1] = '\0';
    bz_caller.replay = "BUZZER_REPLAY=";
    bz_caller.replay_after = own_name;
    if (input != NULL && input[0] != '\0') {
        return replay(check, input);
    }
    const char *words[WORDS_MAX + 1] = {"buzzer", "run", check->scenario->name, "--variant",
                                        variant_name(check)};
    return run_words(words, 5, check->options, getenv("BUZZER_OPTIONS"));
}

const char *bz_check_reason(int status) {
    switch (status) {
    case BZ_EXIT_OK:
        return "the property holds";
    case BZ_EXIT_VIOLATION:
        return "the property does not hold";
    case BZ_EXIT_USAGE:
        return "nothing was tested: an option, a token or a trace is wrong";
    case BZ_EXIT_DIVERGED:
        return "the replay diverged: the code has changed since the run was recorded";
    case BZ_EXIT_UNPROVED:
        return "nothing was proved: a required window was never hit, or a warning is strict";
    case BZ_EXIT_INTERRUPTED:
        return "nothing was proved: the campaign was interrupted, or ran out of steps";
    default:
        return "nothing was proved: memory ran out, or Buzzer has a fault";
    }
}
