/* buzzer fuzz: a campaign that continues for weeks, over many scenarios, variants and strategies.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fuzz/state.h"
#include "sim/program/settings.h"
#include "tools/cli/cli.h"
#include "tools/cli/options.h"
#include "tools/cli/progress.h"
#include "tools/plugin/plugins.h"
#include "tools/report/report.h"
#include "tools/session/fuzz/folder.h"
#include "tools/session/fuzz/status.h"

#define SCENARIOS_MAX 64u
#define SLICE_LEAST 1000u
#define SLICE_MOST 1000000000u

struct command {
    const char *name; /* for messages */
    struct bz_options options;
    const char *scenarios[SCENARIOS_MAX];
    const char *out;
    const char *resume;
    uint64_t runs; /* 0: not given */
    uint64_t seconds;
    uint64_t slice_steps;
    uint32_t jobs;
    bool has_sizes;
    bool has_default_sizes;
    bool is_given; /* an option that --resume takes from the state */
    bool is_json;
    bool is_quiet;
    struct bz_fuzz fuzz;
    struct bz_fuzz_order order;
    struct bz_fuzz_folder folder;
    struct bz_progress progress;
    int findings_code; /* the worst of their exit codes */
};

static void set_time(struct argp_state *state, void *target, const char *option, char *text) {
    ((struct command *)target)->seconds = bz_option_seconds(state, option, text);
}

static void set_slice(struct argp_state *state, void *target, const char *option, char *text) {
    struct command *command = target;
    command->slice_steps = bz_option_number(state, option, text, SLICE_LEAST, SLICE_MOST);
    command->is_given = true;
}

static void set_sizes(struct argp_state *state, void *target, const char *option, char *text) {
    struct command *command = target;
    command->has_sizes = true;
    command->has_default_sizes = bz_option_default_sizes(state, option, text);
}

static void check_options(struct argp_state *state, void *target) {
    const struct command *command = target;
    bool has_more = command->scenarios[0] != NULL || command->options.variant_count > 0 ||
                    command->options.setting_count > 0 || command->has_sizes || command->is_given;
    if (command->resume != NULL && (has_more || command->out != NULL)) {
        bz_cli_misuse(state, "--resume takes the campaign from its folder. It can be combined with "
                             "--plugin, --jobs, --runs, --time, --json and --quiet");
    } else if (command->resume == NULL && command->out == NULL) {
        bz_cli_misuse(state, "a folder is missing: --out DIR starts a campaign, --resume DIR "
                             "continues one");
    }
}

static const struct bz_option options[] = {
    {"out", "DIR",
     "Start a campaign in DIR: its state, findings, corpus and status (status.txt, status.json, "
     "status.html)",
     BZ_OPTION_TEXT, offsetof(struct command, out), .is_once = true},
    {"resume", "DIR", "Continue the campaign in DIR", BZ_OPTION_TEXT,
     offsetof(struct command, resume), .is_once = true},
    {"runs", "N", "Stop after this many schedules in all (default: no limit)", BZ_OPTION_NUMBER,
     offsetof(struct command, runs), .is_once = true, .least = 1, .most = BZ_RUNS_MAX},
    {"time", "T",
     "Stop after this time: 30s, 5m, 8h (default: no limit); with --resume, counted from now",
     BZ_OPTION_PARSED, .is_once = true, .parse = set_time},
    {"jobs", "N", "Number of worker processes; it does not change the results (default 1)",
     BZ_OPTION_NUMBER32, offsetof(struct command, jobs), .is_once = true, .least = 1,
     .most = BZ_JOBS_MAX},
    {"slice", "STEPS", "Steps that an arm runs before the next one does (default 500000)",
     BZ_OPTION_PARSED, .is_once = true, .parse = set_slice},
    {"sizes", "drawn|default", "Sizes of all arms, see 'buzzer run --help' (default: both kinds)",
     BZ_OPTION_PARSED, .is_once = true, .parse = set_sizes},
    {"json", NULL, "Print the status at the end as one JSON document", BZ_OPTION_FLAG,
     offsetof(struct command, is_json)},
    {"quiet", NULL, "Print no progress, and nothing at the end", BZ_OPTION_FLAG,
     offsetof(struct command, is_quiet)},
    {NULL},
};

/* --- targets ---------------------------------------------------------------------------------- */

/* Adds a target, unless the pair does not fit, or is there already. Counts those that fit. */
static int add_target(struct command *command, const char *variant, size_t *fitting) {
    static struct bz_program program;
    struct bz_options *names = &command->options;
    if (!bz_options_fits(names, variant)) {
        return BZ_EXIT_OK;
    }
    names->variant = variant;
    int code = bz_options_program(names, command->name, &program);
    if (code != BZ_EXIT_OK) {
        return code;
    }
    (*fitting)++;
    for (uint32_t index = 0; index < command->fuzz.target_count; index++) {
        const struct bz_program *other = &command->fuzz.targets[index]->program;
        if (other->scenario == program.scenario && other->variant == program.variant) {
            return BZ_EXIT_OK;
        }
    }
    if (!bz_fuzz_add_target(&command->fuzz, &program)) {
        return bz_cli_fail(command->name, BZ_EXIT_USAGE,
                           "more than %u targets (pairs of a scenario and a variant), or out of "
                           "memory",
                           BZ_FUZZ_TARGETS_MAX);
    }
    return code;
}

/* The targets of a scenario: with the variants that were named, or else with those of the plug-ins
 * that fit, or else with the default. */
static int add_scenario(struct command *command, const char *scenario) {
    const char *fitting[BZ_OPTION_VARIANTS_MAX];
    struct bz_options *names = &command->options;
    names->scenario = scenario;
    names->variant = NULL;
    const char *const *variants = names->variants;
    size_t count = names->variant_count;
    if (count == 0) {
        count = bz_options_fitting(names, fitting, BZ_OPTION_VARIANTS_MAX);
        variants = fitting;
    }
    size_t added = 0;
    int code = BZ_EXIT_OK;
    for (size_t index = 0; code == BZ_EXIT_OK && index < count; index++) {
        code = add_target(command, variants[index], &added);
    }
    if (code == BZ_EXIT_OK && names->variant_count == 0 && count == 0) {
        static struct bz_program program; /* finds the default, or says why there is none */
        code = bz_options_program(names, command->name, &program);
        return code == BZ_EXIT_OK ? add_target(command, program.variant->name, &added) : code;
    }
    if (code == BZ_EXIT_OK && added == 0) {
        code = bz_cli_fail(command->name, BZ_EXIT_USAGE,
                           "no --variant offers a primitive that scenario '%s' can use ('%s list "
                           "variants' and '%s list scenarios' show which)",
                           scenario, bz_cli_program, bz_cli_program);
    }
    return code;
}

/* A variant that fits none of the scenarios is a mistake. */
static int check_variants(const struct command *command) {
    for (unsigned index = 0; index < command->options.variant_count; index++) {
        const char *name = command->options.variants[index];
        bool is_used = false;
        for (uint32_t target = 0; target < command->fuzz.target_count; target++) {
            is_used |= strcmp(command->fuzz.targets[target]->program.variant->name, name) == 0;
        }
        if (!is_used) {
            return bz_cli_fail(command->name, BZ_EXIT_USAGE,
                               "variant '%s' fits none of the scenarios ('%s list variants' shows "
                               "what it offers)",
                               name, bz_cli_program);
        }
    }
    return BZ_EXIT_OK;
}

/* --- where it begins -------------------------------------------------------------------------- */

static bool is_set(const struct command *command, const char *setting) {
    return bz_options_setting(&command->options, setting) != NULL;
}

static int begin(struct command *command) {
    if (command->scenarios[0] == NULL) {
        return bz_cli_fail(command->name, BZ_EXIT_USAGE,
                           "a scenario is missing ('%s list scenarios' lists them)",
                           bz_cli_program);
    }
    if (!bz_fuzz_init(&command->fuzz)) {
        return bz_cli_fail(command->name, BZ_EXIT_INTERNAL, "out of memory for a campaign");
    }
    int code = BZ_EXIT_OK;
    for (size_t index = 0; code == BZ_EXIT_OK && index < SCENARIOS_MAX; index++) {
        if (command->scenarios[index] != NULL) {
            code = add_scenario(command, command->scenarios[index]);
        }
    }
    code = code == BZ_EXIT_OK ? check_variants(command) : code;
    if (code != BZ_EXIT_OK) {
        return code;
    }
    command->fuzz.slice_steps =
        command->slice_steps == 0 ? BZ_FUZZ_SLICE_STEPS : command->slice_steps;
    command->order = (struct bz_fuzz_order){
        .fixed = {.strategy = is_set(command, "strategy"),
                  .order = is_set(command, "order"),
                  .cancels = is_set(command, "cancel") || is_set(command, "max-cancels"),
                  .sizes = command->has_sizes,
                  .has_default_sizes = command->has_default_sizes},
        .runs_max = command->runs == 0 ? BZ_RUNS_MAX : command->runs,
        .limit_ms = command->seconds * 1000};
    bz_fuzz_make_arms(&command->fuzz, &command->order.fixed);
    return bz_fuzz_folder_create(&command->folder, command->out);
}

/* An example shows whether the code is the one that the state is about. */
static int check_code(struct command *command) {
    const struct bz_fuzz_example *example = NULL;
    for (uint32_t target = 0; example == NULL && target < command->fuzz.target_count; target++) {
        const struct bz_fuzz_target *its = command->fuzz.targets[target];
        for (uint32_t index = 0; example == NULL && index < its->situation_count; index++) {
            const struct bz_fuzz_example *shortest = &its->situations[index].shortest;
            example = shortest->strike_count > 0 ? shortest : NULL;
        }
    }
    static struct bz_program program;
    if (example == NULL) {
        return BZ_EXIT_OK;
    }
    bz_fuzz_program(&command->fuzz, example->arm, example->seed, &program);
    bool is_measured = bz_program_measure(&program);
    struct bz_world *world = is_measured ? bz_program_new_world(&program) : NULL;
    if (world == NULL) {
        return BZ_EXIT_OK; /* a lack shows later */
    }
    enum bz_run_end end = bz_program_run(&program, world, example->seed);
    uint64_t digest = bz_judge_digest(world->judge);
    bz_world_destroy(world);
    return end == BZ_RUN_NO_RESOURCE || bz_interrupt_requested != 0 || digest == example->digest
               ? BZ_EXIT_OK
               : bz_cli_fail(command->name, BZ_EXIT_USAGE,
                             "--resume: %s: seed 0x%" PRIx64 " of arm '%s' of %s %s had digest "
                             "%016" PRIx64 ", and has %016" PRIx64 " now: the code has changed, or "
                             "something besides the choices decides; start a new campaign",
                             command->resume, example->seed, command->fuzz.arms[example->arm].name,
                             program.scenario->name, program.variant->name, example->digest,
                             digest);
}

static int resume(struct command *command) {
    struct bz_fuzz_order *order = &command->order;
    int code =
        bz_fuzz_folder_open(&command->folder, command->resume, &command->fuzz, &command->order);
    if (code != BZ_EXIT_OK || (code = check_code(command)) != BZ_EXIT_OK) {
        return code;
    }
    order->runs_max = command->runs != 0 ? command->runs : order->runs_max;
    if (command->seconds != 0) {
        order->limit_ms = order->spent_ms + command->seconds * 1000;
    }
    return code;
}

/* --- the campaign ----------------------------------------------------------------------------- */

static bool is_done(const struct command *command) {
    const struct bz_fuzz_order *order = &command->order;
    uint64_t spent_ms = bz_fuzz_folder_spent_ms(&command->folder);
    return command->fuzz.runs >= order->runs_max ||
           (order->limit_ms != 0 && spent_ms >= order->limit_ms);
}

static bool poll(void *context, uint64_t runs) {
    struct command *command = context;
    bz_progress_show(&command->progress, runs, command->fuzz.finding_count);
    return bz_interrupt_requested == 0 && !is_done(command);
}

static void keep(struct command *command, uint32_t index) {
    int code = bz_fuzz_folder_keep(&command->folder, &command->fuzz, index);
    command->findings_code = code > command->findings_code ? code : command->findings_code;
}

static void on_finding(void *context, uint32_t index) {
    struct command *command = context;
    command->fuzz.findings[index].spent_ms = bz_fuzz_folder_spent_ms(&command->folder);
    keep(command, index);
}

static bool on_slice(void *context) {
    struct command *command = context;
    bz_fuzz_folder_write(&command->folder, &command->fuzz, &command->order, "running");
    return bz_interrupt_requested == 0 && !is_done(command);
}

static int run(struct command *command) {
    char lack[BZ_LACK_BYTES];
    const struct bz_fuzz_config config = {.runs_max = command->order.runs_max,
                                          .jobs = command->jobs,
                                          .stop = &bz_interrupt_requested,
                                          .poll = poll,
                                          .on_finding = on_finding,
                                          .on_slice = on_slice,
                                          .context = command};
    /* An interruption may have left some without their smallest run. */
    for (uint32_t index = 0; index < command->fuzz.finding_count; index++) {
        if (command->fuzz.findings[index].small_token[0] == '\0') {
            keep(command, index);
        }
    }
    bz_fuzz_folder_write(&command->folder, &command->fuzz, &command->order, "running");
    if (command->folder.has_failed) {
        return BZ_EXIT_USAGE; /* nothing that it finds could be kept */
    }
    uint64_t limit_ms = command->order.limit_ms;
    uint64_t left_ms =
        limit_ms > command->folder.before_ms ? limit_ms - command->folder.before_ms : 0;
    bz_progress_begin(&command->progress, command->is_quiet, command->order.runs_max,
                      limit_ms == 0 ? 0 : (left_ms + 999) / 1000);
    command->progress.runs_before = command->fuzz.runs;
    bool is_ok = is_done(command) || bz_fuzz_run(&command->fuzz, &config, lack);
    (void)bz_progress_end(&command->progress);
    bz_fuzz_folder_write(&command->folder, &command->fuzz, &command->order,
                         is_done(command) && is_ok ? "done" : "interrupted");
    return is_ok ? BZ_EXIT_OK : bz_cli_fail(command->name, BZ_EXIT_INTERNAL, "%s", lack);
}

/* --- the end ---------------------------------------------------------------------------------- */

static void print_status(const struct command *command) {
    const struct bz_fuzz_status status = {
        .fuzz = &command->fuzz,
        .order = &command->order,
        .state = is_done(command) ? "done" : "interrupted",
        .session_ms = command->order.spent_ms - command->folder.before_ms,
        .session_runs = command->fuzz.runs - command->folder.runs_before,
        .examples = command->folder.examples};
    if (command->is_json) {
        bz_json_put(bz_fuzz_status_json(&status));
    } else if (!command->is_quiet) {
        struct bz_text text = {NULL, 0, 0};
        bz_fuzz_status_text(&status, false, &text);
        fputs(text.bytes, stdout);
        bz_text_fini(&text);
    }
}

/* The command that continues, with the plug-ins of all targets. */
static void print_command(const struct command *command) {
    const struct bz_contain *contain = &bz_cli_catalog.contain;
    char place[2 * PATH_MAX];
    const char *printed[2 * BZ_FUZZ_TARGETS_MAX];
    size_t count = 0;
    fflush(stdout);
    fprintf(stderr, "to continue: %s fuzz --resume %s", bz_cli_program,
            bz_cli_quoted(command->folder.path, place, sizeof place));
    for (uint32_t target = 0; target < command->fuzz.target_count; target++) {
        const struct bz_program *program = &command->fuzz.targets[target]->program;
        const char *files[2];
        uint32_t file_count = bz_plugins_files(program->scenario, program->variant, files);
        for (uint32_t file = 0; file < file_count; file++) {
            size_t index = 0;
            while (files[file] != NULL && index < count &&
                   strcmp(printed[index], files[file]) != 0) {
                index++;
            }
            if (files[file] != NULL && index == count) {
                printed[count++] = files[file];
                fprintf(stderr, " --plugin %s", bz_cli_quoted(files[file], place, sizeof place));
            }
        }
    }
    if (contain->step_ns != 0) {
        fprintf(stderr, " --step-time %" PRIu64, contain->step_ns / 1000000);
    }
    if (contain->memory_bytes != 0) {
        fprintf(stderr, " --max-memory %" PRIu64, contain->memory_bytes >> 20u);
    }
    fputc('\n', stderr);
}

/* As of 'run': an interruption takes precedence over a violation, and a run that was cut proves
 * nothing. */
static int exit_code_of(const struct command *command) {
    if (!is_done(command)) {
        return BZ_EXIT_INTERRUPTED;
    }
    if (command->fuzz.violations > 0) {
        return BZ_EXIT_VIOLATION;
    }
    return command->fuzz.out_of_steps > 0 ? BZ_EXIT_INTERRUPTED : BZ_EXIT_OK;
}

int bz_command_fuzz(int argc, char **argv) {
    static struct command command = {.jobs = 1, .folder = {.lock = -1}};
    command.name = argv[0];
    command.folder.name = argv[0];
    const struct bz_syntax syntax = {
        .options = options,
        .target = &command,
        .args_doc = "SCENARIO...",
        .arguments = command.scenarios,
        .arguments_max = SCENARIOS_MAX,
        .plugins = BZ_PLUGINS_RUN,
        .takes_variants = true,
        .program = &command.options,
        .check = check_options,
        .doc = "Runs scenarios for hours or weeks. Strategies, orders, cancels, sizes and variants "
               "are arms, which run in turn for a slice of time each. The campaign continues after "
               "a finding. Exit status: 0 nothing found, 1 a violation, 2 usage, or a file was not "
               "written, 5 interrupted, or schedules hit the step limit."};
    int code = bz_options_parse(&syntax, argc, argv);
    bz_interrupt_catch();
    code = code != BZ_EXIT_OK ? code : command.resume != NULL ? resume(&command) : begin(&command);
    code = code == BZ_EXIT_OK ? run(&command) : code;
    if (code == BZ_EXIT_OK) {
        print_status(&command);
        code = exit_code_of(&command);
        if (!is_done(&command)) {
            print_command(&command);
        }
        code = command.findings_code > BZ_EXIT_OK ? command.findings_code : code;
        code = command.folder.has_failed && code < BZ_EXIT_USAGE ? BZ_EXIT_USAGE : code;
    }
    bz_fuzz_folder_close(&command.folder);
    bz_fuzz_fini(&command.fuzz);
    return code;
}
