/* buzzer check-plugin: does a plug-in keep the contract of sim/variant/README.md? */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/program/token.h"
#include "tools/cli/cli.h"
#include "tools/cli/options.h"
#include "tools/cli/progress.h"
#include "tools/plugin/conformance.h"
#include "tools/plugin/plugins.h"
#include "tools/report/report.h"
#include "tools/report/text_output.h"
#include "traces/lack.h"

#define RUNS_MAX UINT64_C(1000000000)

struct check_plugin {
    const char *name;
    const char *file[2];
    bool is_json;
    struct bz_progress progress;
    struct bz_conformance_config config;
    uint64_t schedules_before; /* of the checks before this one */
    uint32_t found;
    struct bz_conformance *checks; /* one for each variant and primitive */
    uint32_t check_count;
};

static const struct bz_option options[] = {
    {"runs", "N", "Number of schedules for each scenario and order (default 1000)",
     BZ_OPTION_NUMBER, offsetof(struct check_plugin, config.runs), .least = 1, .most = RUNS_MAX},
    {"jobs", "N", "Number of worker processes; it does not change the results (default 1)",
     BZ_OPTION_NUMBER32, offsetof(struct check_plugin, config.jobs), .least = 1,
     .most = BZ_JOBS_MAX},
    {"json", NULL, "Print one JSON document", BZ_OPTION_FLAG,
     offsetof(struct check_plugin, is_json)},
    {NULL},
};

static void show_progress(void *context, uint64_t schedules) {
    struct check_plugin *command = context;
    bz_progress_show(&command->progress, command->schedules_before + schedules, command->found);
}

/* Every variant of the file with each primitive that it offers. */
static void collect(struct check_plugin *command) {
    for (const struct bz_variant *const *next = bz_cli_catalog.variants; *next != NULL; next++) {
        for (int primitive = 0; bz_plugins_is_foreign(*next) && primitive < BZ_PRIMITIVE_COUNT;
             primitive++) {
            if (bz_variant_offers(*next, (enum bz_primitive)primitive)) {
                size_t bytes = (command->check_count + 1) * sizeof *command->checks;
                command->checks = bz_lack_check(realloc(command->checks, bytes), "the checks");
                command->checks[command->check_count++] = (struct bz_conformance){
                    .variant = *next, .primitive = (enum bz_primitive)primitive};
            }
        }
    }
}

static int run_all(struct check_plugin *command) {
    bool is_ok = true;
    bz_interrupt_catch();
    bz_progress_begin(&command->progress, false, 0, 0);
    for (uint32_t index = 0; is_ok && index < command->check_count; index++) {
        struct bz_conformance *check = &command->checks[index];
        is_ok = bz_conformance_check(check, &command->config);
        command->schedules_before += check->schedules;
        command->found += check->fault_count;
        if (check->is_interrupted) {
            command->check_count = index + 1;
        }
        if (!is_ok) {
            (void)bz_progress_end(&command->progress);
            return bz_cli_fail(command->name, BZ_EXIT_INTERNAL, "%s", check->lack);
        }
    }
    (void)bz_progress_end(&command->progress);
    return BZ_EXIT_OK;
}

static int exit_code_of(const struct check_plugin *command) {
    bool is_wrong = false;
    bool is_interrupted = false;
    bool is_empty = false;
    for (uint32_t index = 0; index < command->check_count; index++) {
        const struct bz_conformance *check = &command->checks[index];
        is_wrong |= check->fault_count > 0;
        is_interrupted |= check->is_interrupted;
        is_empty |= check->waited == 0;
    }
    return is_wrong         ? BZ_EXIT_VIOLATION
           : is_interrupted ? BZ_EXIT_INTERRUPTED
           : is_empty       ? BZ_EXIT_UNPROVED
                            : BZ_EXIT_OK;
}

/* --- for people ------------------------------------------------------------------------------- */

static const char *token_of(const struct bz_fault_found *fault, char *token, size_t token_bytes) {
    return bz_token_format(&fault->program, fault->seed, fault->digest, token, token_bytes);
}

static void print_fault(const struct check_plugin *command, struct bz_wrap *wrap,
                        const struct bz_fault_found *fault) {
    char token[BZ_TOKEN_BYTES];
    char quoted[BZ_TOKEN_BYTES + 8];
    char line[BZ_MESSAGE_BYTES + 64];
    snprintf(line, sizeof line, "%s%s%s", fault->oracle == NULL ? "" : fault->oracle,
             fault->oracle == NULL ? "" : ": ", fault->message);
    bz_wrap_print(wrap, "    - ", line, 6, BZ_COLOUR_BAD);
    if (fault->meaning != NULL) {
        bz_wrap_print(wrap, "      ", fault->meaning, 6, BZ_COLOUR_NONE);
    }
    if (fault->oracle != NULL) {
        printf("      %s replay --plugin %s", bz_cli_program,
               bz_cli_quoted(command->file[0], quoted, sizeof quoted));
        printf(" %s\n", bz_cli_quoted(token_of(fault, token, sizeof token), quoted, sizeof quoted));
    }
}

static void print_topic(const struct check_plugin *command, struct bz_wrap *wrap,
                        const struct bz_conformance *check, enum bz_topic topic) {
    char prefix[32];
    const char *gap = bz_conformance_gap(check, topic);
    uint32_t faults = bz_conformance_faults(check, topic);
    snprintf(prefix, sizeof prefix, "  %-11s  %s", bz_topic_name(topic),
             faults == 0 && gap != NULL ? "not judged: " : "");
    bz_wrap_print(wrap, prefix,
                  faults > 0    ? "WRONG"
                  : gap != NULL ? gap
                                : "ok",
                  15, faults > 0 ? BZ_COLOUR_BAD : BZ_COLOUR_NONE);
    for (uint32_t place = 0; place < check->fault_count; place++) {
        if (check->faults[place].topic == topic) {
            print_fault(command, wrap, &check->faults[place]);
        }
    }
}

static void print_check(const struct check_plugin *command, const struct bz_conformance *check) {
    struct bz_wrap wrap = {.out = stdout, .is_colour = bz_wrap_has_colour(stdout)};
    printf("%s, %s: %" PRIu32 " %s in both orders, %" PRIu64 " schedules\n", check->variant->name,
           bz_primitive_name(check->primitive), check->scenarios,
           check->scenarios == 1 ? "scenario" : "scenarios", check->schedules);
    for (int topic = 0; topic < BZ_TOPIC_COUNT; topic++) {
        print_topic(command, &wrap, check, (enum bz_topic)topic);
    }
    if (check->is_interrupted) {
        printf("  interrupted: not all schedules ran\n");
    }
    printf("\n");
}

static void print_text(const struct check_plugin *command) {
    uint32_t wrong = 0;
    for (uint32_t index = 0; index < command->check_count; index++) {
        print_check(command, &command->checks[index]);
        wrong += command->checks[index].fault_count > 0;
    }
    printf("%" PRIu32 " of %" PRIu32 " keep the contract\n", command->check_count - wrong,
           command->check_count);
}

/* --- for programs ----------------------------------------------------------------------------- */

static void add_fault(struct bz_json *faults, const struct bz_fault_found *fault) {
    char token[BZ_TOKEN_BYTES];
    struct bz_json *item = bz_json_append_object(faults);
    bz_json_add_string(item, "topic", bz_topic_name(fault->topic));
    bz_json_add_string(item, "oracle", fault->oracle);
    bz_json_add_string(item, "message", fault->message);
    bz_json_add_string(item, "meaning", fault->meaning);
    bz_json_add_number(item, "sessions", fault->sessions);
    bz_json_add_string(item, "token",
                       fault->oracle == NULL ? NULL : token_of(fault, token, sizeof token));
}

static void print_json(const struct check_plugin *command, int code) {
    struct bz_json *root = bz_json_new_object();
    struct bz_json *checks = bz_json_add_array(root, "checks");
    for (uint32_t index = 0; index < command->check_count; index++) {
        const struct bz_conformance *check = &command->checks[index];
        struct bz_json *item = bz_json_append_object(checks);
        bz_json_add_string(item, "variant", check->variant->name);
        bz_json_add_string(item, "primitive", bz_primitive_name(check->primitive));
        bz_json_add_number(item, "scenarios", check->scenarios);
        bz_json_add_number(item, "schedules", check->schedules);
        bz_json_add_number(item, "waited", check->waited);
        bz_json_add_bool(item, "interrupted", check->is_interrupted);
        struct bz_json *topics = bz_json_add_object(item, "topics");
        for (int topic = 0; topic < BZ_TOPIC_COUNT; topic++) {
            bz_json_add_string(topics, bz_topic_name((enum bz_topic)topic),
                               bz_conformance_faults(check, (enum bz_topic)topic) > 0 ? "wrong"
                               : bz_conformance_gap(check, (enum bz_topic)topic) != NULL
                                   ? "not judged"
                                   : "ok");
        }
        struct bz_json *faults = bz_json_add_array(item, "faults");
        for (uint32_t place = 0; place < check->fault_count; place++) {
            add_fault(faults, &check->faults[place]);
        }
    }
    bz_json_add_number(root, "exit_code", (uint64_t)code);
    bz_json_put(root);
}

/* --- the command ------------------------------------------------------------------------------ */

static void check_arguments(struct bz_parse *state, void *target) {
    const struct check_plugin *command = target;
    if (command->file[0] == NULL) {
        bz_cli_misuse(state, "the file of a plug-in is missing");
    }
}

int bz_command_check_plugin(int argc, char **argv) {
    static struct check_plugin command;
    command = (struct check_plugin){.name = argv[0],
                                    .config = {.runs = 1000,
                                               .jobs = 1,
                                               .stop = &bz_interrupt_requested,
                                               .poll = show_progress,
                                               .context = &command}};
    const struct bz_syntax syntax = {
        .options = options,
        .target = &command,
        .args_doc = "FILE.so",
        .arguments = command.file,
        .arguments_max = 1,
        .check = check_arguments,
        .doc = "Checks whether a plug-in keeps the contract of a variant: runs every scenario that "
               "can use it, in both orders, and reports what breaks the contract. Exit status: 0 "
               "nothing does, 1 something does, 2 usage, 4 no operation ever waited, 5 "
               "interrupted."};
    int code = bz_options_parse(&syntax, argc, argv);
    code = code == BZ_EXIT_OK ? bz_plugins_load(command.file[0], command.name) : code;
    if (code != BZ_EXIT_OK) {
        return code;
    }
    collect(&command);
    if (command.check_count == 0) {
        return bz_cli_fail(command.name, BZ_EXIT_USAGE,
                           "'%.512s' has no variants to check; 'buzzer run' runs its scenarios",
                           command.file[0]);
    }
    code = run_all(&command);
    if (code == BZ_EXIT_OK) {
        code = exit_code_of(&command);
        if (command.is_json) {
            print_json(&command, code);
        } else {
            print_text(&command);
        }
    }
    free(command.checks);
    return code;
}
