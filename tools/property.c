#include "tools/property.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* The scenarios and variants of this process's properties; both lists end with NULL and grow. */
static const struct bz_scenario **scenarios;
static const struct bz_variant **variants;
static size_t scenarios_built_in;
static size_t variants_built_in;

static bool is_foreign(const void *part) {
    for (size_t index = scenarios_built_in; scenarios[index] != NULL; index++) {
        if (scenarios[index] == part) {
            return true;
        }
    }
    for (size_t index = variants_built_in; variants[index] != NULL; index++) {
        if (variants[index] == part) {
            return true;
        }
    }
    return bz_plugins_is_foreign(part);
}

static size_t scenario_count(void) {
    size_t count = 0;
    while (bz_cli_catalog.scenarios[count] != NULL) {
        count++;
    }
    return count;
}

static size_t variant_count(void) {
    size_t count = 0;
    while (bz_cli_catalog.variants[count] != NULL) {
        count++;
    }
    return count;
}

/* The first call copies the lists of the catalog. */
static void begin(void) {
    if (scenarios != NULL) {
        return;
    }
    scenarios_built_in = scenario_count();
    variants_built_in = variant_count();
    scenarios = bz_lack_check(malloc((scenarios_built_in + 1) * sizeof *scenarios), "scenarios");
    variants = bz_lack_check(malloc((variants_built_in + 1) * sizeof *variants), "variants");
    memcpy(scenarios, bz_cli_catalog.scenarios, (scenarios_built_in + 1) * sizeof *scenarios);
    memcpy(variants, bz_cli_catalog.variants, (variants_built_in + 1) * sizeof *variants);
    bz_cli_catalog.scenarios = scenarios;
    bz_cli_catalog.variants = variants;
    bz_cli_catalog.is_foreign = is_foreign;
}

/* False with a message. */
static bool add_scenario(const struct bz_scenario *scenario, char *error, size_t error_bytes) {
    char what[BZ_ERROR_BYTES];
    if (!bz_plugin_check_scenario(scenario, what, sizeof what)) {
        return bz_fail(error, error_bytes, "scenario '%.64s' %.400s",
                       scenario->name != NULL ? scenario->name : "?", what);
    }
    const struct bz_scenario *known = bz_catalog_scenario(&bz_cli_catalog, scenario->name);
    if (known != NULL) {
        return known == scenario ||
               bz_fail(error, error_bytes, "there are two scenarios '%.64s'", scenario->name);
    }
    size_t count = scenario_count();
    scenarios = bz_lack_check(realloc(scenarios, (count + 2) * sizeof *scenarios), "scenarios");
    scenarios[count] = scenario;
    scenarios[count + 1] = NULL;
    bz_cli_catalog.scenarios = scenarios;
    return true;
}

static bool add_variant(const struct bz_variant *variant, bool is_runtime, char *error,
                        size_t error_bytes) {
    char what[BZ_ERROR_BYTES];
    if (!is_runtime && !bz_plugin_check_variant(variant, what, sizeof what)) {
        return bz_fail(
            error, error_bytes, "variant '%.64s' %.400s",
            variant->version == BZ_VARIANT_VERSION && variant->name != NULL ? variant->name : "?",
            what);
    }
    const struct bz_variant *known = bz_catalog_variant(&bz_cli_catalog, variant->name);
    if (known != NULL) {
        return known == variant ||
               bz_fail(error, error_bytes, "there are two variants '%.64s'", variant->name);
    }
    size_t count = variant_count();
    variants = bz_lack_check(realloc(variants, (count + 2) * sizeof *variants), "variants");
    variants[count] = variant;
    variants[count + 1] = NULL;
    bz_cli_catalog.variants = variants;
    return true;
}

/* The variant that stands for a runtime offers nothing; it has a name. */
static const struct bz_variant *variant_of(const struct bz_runtime *runtime) {
    const struct bz_variant *known = bz_catalog_variant(&bz_cli_catalog, runtime->variant);
    if (known == NULL) {
        struct bz_variant *own = bz_lack_check(calloc(1, sizeof *own), "a variant");
        own->version = BZ_VARIANT_VERSION;
        own->name = runtime->variant;
        own->summary = "a runtime of its own";
        known = own;
    }
    return known;
}

static bool add(const struct bz_property *property, char *error, size_t error_bytes) {
    begin();
    if (property->scenario == NULL) {
        return bz_fail(error, error_bytes, "the property has no scenario");
    }
    const struct bz_runtime *runtime = property->scenario->runtime;
    if (!add_scenario(property->scenario, error, error_bytes)) {
        return false;
    }
    if (runtime != NULL && property->variant != NULL) {
        return bz_fail(error, error_bytes,
                       "scenario '%.64s' has a runtime of its own, so its property has no variant",
                       property->scenario->name);
    }
    return runtime != NULL             ? add_variant(variant_of(runtime), true, error, error_bytes)
           : property->variant != NULL ? add_variant(property->variant, false, error, error_bytes)
                                       : true;
}

static const char *variant_name(const struct bz_property *property) {
    return property->scenario->runtime != NULL ? property->scenario->runtime->variant
           : property->variant != NULL         ? property->variant->name
                                               : "buzzer";
}

/* --- the name of this program ----------------------------------------------------------------- */

static char own_commands[PATH_MAX + 32]; /* "PROGRAM --buzzer" */
static char own_replay[PATH_MAX + 32];   /* "PROGRAM --buzzer-replay" */

static char own_name[PATH_MAX + 1]; /* " PROGRAM", for the end of a command */

static void find_name(void) {
    own_name[0] = ' ';
    ssize_t length = readlink("/proc/self/exe", own_name + 1, sizeof own_name - 2);
    own_name[length > 0 ? length + 1 : 1] = '\0';
}

/* --- running a command ------------------------------------------------------------------------ */

static int run(size_t count, const char **words) {
    bz_command = bz_cli_program;
    return bz_cli_main((int)count, (char **)(uintptr_t)words);
}

/* In a child, because a command may end its process. Returns its exit code; a replay that matched
 * has the one of the run that it made again. */
static int run_in_child(size_t count, const char **words) {
    fflush(stdout);
    fflush(stderr);
    pid_t child = fork();
    if (child < 0) {
        return bz_cli_fail("buzzer", BZ_EXIT_INTERNAL, "cannot create a process: %s",
                           strerror(errno));
    }
    if (child == 0) {
        int code = run(count, words);
        fflush(stdout);
        fflush(stderr);
        _exit(code == BZ_EXIT_OK ? bz_cli_replay_verdict : code);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            return bz_cli_fail("buzzer", BZ_EXIT_INTERNAL, "cannot wait for a process: %s",
                               strerror(errno));
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status)
                             : bz_cli_fail("buzzer", BZ_EXIT_INTERNAL, "a check ended by signal %d",
                                           WTERMSIG(status));
}

/* Splits the options, which are copied into `text`, into words after those that are there. False:
 * there are too many. */
static bool add_words(char *text, const char **words, size_t *count) {
    for (char *word = strtok(text, SEPARATORS); word != NULL; word = strtok(NULL, SEPARATORS)) {
        if (*count == WORDS_MAX) {
            return false;
        }
        words[(*count)++] = word;
    }
    return true;
}

static int run_property(const struct bz_property *property) {
    const char *words[WORDS_MAX + 1] = {"buzzer", "run", property->scenario->name, "--variant",
                                        variant_name(property)};
    size_t count = 5;
    char *options = bz_lack_check(strdup(property->options != NULL ? property->options : ""),
                                  "the options of a property");
    int code = add_words(options, words, &count)
                   ? run_in_child(count, words)
                   : bz_cli_fail("buzzer", BZ_EXIT_USAGE,
                                 "the property of '%.64s' has more than %u words of options",
                                 property->scenario->name, WORDS_MAX);
    free(options);
    return code;
}

/* --- replaying -------------------------------------------------------------------------------- */

/* True if a token or the file of a trace is of this property. False with a message if it cannot be
 * read. */
static bool names_property(const char *input, const struct bz_property *property, bool *is_own,
                           char *error, size_t error_bytes) {
    if (bz_token_looks_like(input)) {
        struct bz_token token;
        if (!bz_token_split(&token, input, error, error_bytes)) {
            return false;
        }
        *is_own = strcmp(token.program, property->scenario->name) == 0 &&
                  strcmp(token.variant, variant_name(property)) == 0;
        return true;
    }
    struct bz_trace trace;
    bz_trace_init(&trace);
    bool is_read = bz_trace_read(&trace, input, error, error_bytes);
    *is_own = is_read && strcmp(trace.scenario, property->scenario->name) == 0 &&
              strcmp(trace.variant, variant_name(property)) == 0;
    bz_trace_fini(&trace);
    return is_read;
}

static int replay_property(const struct bz_property *property, const char *input) {
    char error[BZ_ERROR_BYTES];
    const char *words[] = {"buzzer", "replay", input, NULL};
    bool is_own;
    if (!names_property(input, property, &is_own, error, sizeof error)) {
        return bz_cli_fail("buzzer", BZ_EXIT_USAGE, "BUZZER_REPLAY: %s", error);
    }
    if (!is_own) {
        fprintf(
            stderr,
            "buzzer: BUZZER_REPLAY: '%s' on '%s' is skipped: the run belongs to another property\n",
            property->scenario->name, variant_name(property));
        return BZ_EXIT_OK;
    }
    return run_in_child(3, words);
}

int bz_property_check(const struct bz_property *property) {
    char error[BZ_ERROR_BYTES];
    const char *input = getenv("BUZZER_REPLAY");
    if (!add(property, error, sizeof error)) {
        return bz_cli_fail("buzzer", BZ_EXIT_USAGE, "%s", error);
    }
    if (own_replay[0] == '\0') { /* bz_property_main() was not called */
        find_name();
        bz_cli_replay = "BUZZER_REPLAY=";
        bz_cli_replay_after = own_name;
    }
    return input != NULL && input[0] != '\0' ? replay_property(property, input)
                                             : run_property(property);
}

/* `PROGRAM --buzzer-replay TOKEN` is `PROGRAM --buzzer replay TOKEN`. */
static int run_command_line(int argc, char **argv) {
    const char *words[WORDS_MAX + 2] = {argv[0]};
    size_t count = 1;
    if (strcmp(argv[1], "--buzzer-replay") == 0) {
        words[count++] = "replay";
    }
    for (int index = 2; index < argc; index++) {
        if (count > WORDS_MAX) {
            return bz_cli_fail(bz_cli_program, BZ_EXIT_USAGE, "more than %u words", WORDS_MAX);
        }
        words[count++] = argv[index];
    }
    return run(count, words);
}

/* A run that BUZZER_REPLAY names, and that is of none of the properties, would pass every test. */
static void check_replay(const struct bz_property *const *properties) {
    char error[BZ_ERROR_BYTES];
    const char *input = getenv("BUZZER_REPLAY");
    bool is_own = input == NULL || input[0] == '\0';
    for (; !is_own && *properties != NULL; properties++) {
        if (!names_property(input, *properties, &is_own, error, sizeof error)) {
            exit(bz_cli_fail(own_commands, BZ_EXIT_USAGE, "BUZZER_REPLAY: %s", error));
        }
    }
    if (!is_own) {
        exit(bz_cli_fail(own_commands, BZ_EXIT_USAGE,
                         "BUZZER_REPLAY: the run belongs to no property of this program"));
    }
}

void bz_property_main(int argc, char **argv, const struct bz_property *const *properties) {
    char error[BZ_ERROR_BYTES];
    const struct bz_property *const *all = properties;
    snprintf(own_commands, sizeof own_commands, "%s --buzzer", argc > 0 ? argv[0] : "");
    snprintf(own_replay, sizeof own_replay, "%s --buzzer-replay", argc > 0 ? argv[0] : "");
    bz_cli_program = own_commands;
    bz_cli_replay = own_replay;
    for (; *properties != NULL; properties++) {
        if (!add(*properties, error, sizeof error)) {
            exit(bz_cli_fail(own_commands, BZ_EXIT_USAGE, "%s", error));
        }
    }
    check_replay(all);
    if (argc > 1 && (strcmp(argv[1], "--buzzer") == 0 || strcmp(argv[1], "--buzzer-replay") == 0)) {
        exit(run_command_line(argc, argv));
    }
}
