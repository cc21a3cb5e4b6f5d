/* buzzer fuzz: campaigns of hours or weeks, over many scenarios, variants and strategies. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/program/settings.h"
#include "sim/session/fuzz.h"
#include "sim/session/stop.h"
#include "tools/cli/cli.h"
#include "tools/cli/options.h"
#include "tools/cli/watchdog.h"
#include "tools/plugin/plugins.h"
#include "tools/report/findings_output.h"
#include "tools/report/report.h"

#define SCENARIOS_MAX 64u

struct command {
    struct bz_options options;
    const char *scenarios[SCENARIOS_MAX];
    const char *out;
    const char *resume;
    uint32_t sizes; /* BZ_OPTION_SIZES_...; 0: not given */
    bool is_json;
    bool is_quiet;
    struct bz_findings_output output;
    struct bz_progress progress;
    struct bz_fuzz fuzz;
};

static void check_options(void *target) {
    const struct command *command = target;
    if (command->resume == NULL && command->out == NULL) {
        bz_cli_misuse("a folder is missing: --out DIR starts a campaign, --resume DIR "
                      "continues one");
    }
}

static const struct bz_option options[] = {
    {"out", "DIR", "Start a campaign in DIR: its checkpoints, findings and corpus", BZ_OPTION_TEXT,
     offsetof(struct command, out), .is_stored = true},
    {"resume", "DIR", "Continue the campaign in DIR", BZ_OPTION_TEXT,
     offsetof(struct command, resume)},
    {"runs", "N", "Stop after this many schedules in all (default: no limit)", BZ_OPTION_NUMBER,
     offsetof(struct command, fuzz.runs), .least = 1, .most = BZ_RUNS_MAX},
    {"time", "T", "Stop after this time, counted from now: 30s, 5m, 8h (default: no limit)",
     BZ_OPTION_SECONDS, offsetof(struct command, fuzz.seconds)},
    {"jobs", "N", "Number of worker processes; it does not change the results (default 1)",
     BZ_OPTION_NUMBER32, offsetof(struct command, fuzz.jobs), .least = 1, .most = BZ_JOBS_MAX},
    {"sizes", "drawn|default", "Sizes of all arms, see 'buzzer run --help' (default: both kinds)",
     BZ_OPTION_WORD, offsetof(struct command, sizes), .is_stored = true},
    {"json", NULL, "Print one JSON document at the end", BZ_OPTION_FLAG,
     offsetof(struct command, is_json)},
    {"quiet", NULL, "Print no progress, and nothing at the end", BZ_OPTION_FLAG,
     offsetof(struct command, is_quiet)},
    {NULL},
};

/* --- targets ---------------------------------------------------------------------------------- */

/* Adds a target, unless the pair does not fit. Counts those that fit. */
static int add_target(struct command *command, const char *variant, size_t *fitting) {
    static struct bz_program program;
    struct bz_options *names = &command->options;
    if (!bz_options_fits(names, variant)) {
        return BZ_EXIT_OK;
    }
    names->variant = variant;
    int code = bz_options_program(names, &program);
    *fitting += code == BZ_EXIT_OK;
    return code == BZ_EXIT_OK && bz_fuzz_target_of(&command->fuzz, &program) == NULL ? BZ_EXIT_USAGE
                                                                                     : code;
}

/* The targets of a scenario: with the variants that were named, or else with those of the plug-ins
 * that fit, or else with the default. */
static int add_scenario(struct command *command, const char *scenario) {
    static struct bz_program program;
    const char *fitting[BZ_OPTION_VARIANTS_MAX];
    struct bz_options *names = &command->options;
    names->scenario = scenario;
    names->variant = NULL;
    const char *const *variants = names->variants;
    size_t count = names->variant_count;
    size_t added = 0;
    int code = BZ_EXIT_OK;
    if (count == 0) {
        count = bz_options_fitting(names, fitting, BZ_OPTION_VARIANTS_MAX);
        variants = fitting;
    }
    if (count == 0) { /* finds the default, or says why there is none */
        code = bz_options_program(names, &program);
        return code == BZ_EXIT_OK ? add_target(command, program.variant->name, &added) : code;
    }
    for (size_t index = 0; code == BZ_EXIT_OK && index < count; index++) {
        code = add_target(command, variants[index], &added);
    }
    return code != BZ_EXIT_OK || added > 0
               ? code
               : bz_cli_fail(BZ_EXIT_USAGE,
                             "no --variant offers a primitive that scenario '%s' can use ('%s list "
                             "variants' and '%s list scenarios' show which)",
                             scenario, bz_caller.program, bz_caller.program);
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
            return bz_cli_fail(BZ_EXIT_USAGE,
                               "variant '%s' fits none of the scenarios ('%s list variants' shows "
                               "what it offers)",
                               name, bz_caller.program);
        }
    }
    return BZ_EXIT_OK;
}

static bool is_set(const struct command *command, const char *setting) {
    return bz_options_setting(&command->options, setting) != NULL;
}

static int create(struct command *command) {
    int code =
        command->scenarios[0] != NULL
            ? BZ_EXIT_OK
            : bz_cli_fail(BZ_EXIT_USAGE, "a scenario is missing ('%s list scenarios' lists them)",
                          bz_caller.program);
    for (size_t index = 0; code == BZ_EXIT_OK && index < SCENARIOS_MAX; index++) {
        if (command->scenarios[index] != NULL) {
            code = add_scenario(command, command->scenarios[index]);
        }
    }
    code = code == BZ_EXIT_OK ? check_variants(command) : code;
    const struct bz_fuzz_fixed fixed = {
        .strategy = is_set(command, "strategy"),
        .order = is_set(command, "order"),
        .cancels = is_set(command, "cancel") || is_set(command, "max-cancels"),
        .sizes = command->sizes != 0,
        .has_default_sizes = command->sizes == BZ_OPTION_SIZES_DEFAULT};
    return code != BZ_EXIT_OK                                     ? code
           : bz_fuzz_create(&command->fuzz, command->out, &fixed) ? BZ_EXIT_OK
                                                                  : BZ_EXIT_USAGE;
}

/* --- while it runs ---------------------------------------------------------------------------- */

static void announce(void *context, const struct bz_kept_findings *kept) {
    bz_findings_announce(context, kept, 0);
}

static void show_progress(void *context, uint64_t runs, uint64_t findings) {
    struct command *command = (void *)((char *)context - offsetof(struct command, output));
    bz_progress_show(&command->progress, runs, findings);
}

/* An exit code: of a file, or of something that ran out. */
static int run(struct command *command) {
    struct bz_fuzz *fuzz = &command->fuzz;
    bz_progress_begin(&command->progress, command->is_quiet, fuzz->runs, fuzz->seconds);
    command->progress.runs_before = bz_fuzz_sum(fuzz).runs;
    bool is_ok = bz_fuzz_run(fuzz);
    (void)bz_progress_end(&command->progress);
    return is_ok ? BZ_EXIT_OK : command->output.code;
}

/* --- the end ---------------------------------------------------------------------------------- */

static void print_text(const struct bz_fuzz *fuzz, const struct bz_campaign_result *total) {
    char token[BZ_TOKEN_BYTES];
    for (uint32_t index = 0; index < fuzz->finding_count; index++) {
        const struct bz_fuzz_finding *finding = &fuzz->findings[index];
        bz_run_report_print_finding(stdout, &finding->kept, finding->arm->target->program.variant);
        if (!finding->kept.is_shrunk && finding->kept.small_path[0] != '\0') {
            printf("shrunk  %s\n", finding->kept.small_path);
        }
        printf("count   %" PRIu64 " runs\n\n", finding->kept.count);
    }
    printf("runs %" PRIu64 ", steps %" PRIu64 "; %" PRIu64 " runs failed, with %" PRIu32
           " different findings\n",
           total->runs, total->stats.steps, total->violations, fuzz->finding_count);
    if (total->out_of_steps > 0) {
        printf("%" PRIu64 " of the runs hit the step limit and were truncated (--max-steps)\n",
               total->out_of_steps);
    }
    printf("\n%10s %7s %9s %10s %7s  arm\n", "runs", "slices", "hand-offs", "situations", "failed");
    for (uint32_t index = 0; index < fuzz->arm_count; index++) {
        const struct bz_job *job = &fuzz->arms[index]->job;
        const struct bz_campaign_result *result = &fuzz->arms[index]->result;
        bz_token_format(&job->program, 0, 0, token, sizeof token);
        printf("%10" PRIu64 " %7" PRIu64 " %9" PRIu64 " %10" PRIu32 " %7" PRIu64 "  %.*s%s\n",
               result->runs, job->slices, result->handoff_orders, result->situations,
               result->violations, (int)strcspn(token, "#"), token,
               job->draws_sizes ? "" : ", default sizes");
    }
}

static void print_json(const struct bz_fuzz *fuzz, const struct bz_campaign_result *total,
                       const char *state) {
    static const struct bz_kept_findings none;
    static const struct bz_kept_finding no_cut;
    struct bz_json *root = bz_json_new_object();
    bz_json_add_string(root, "version", bz_engine_version());
    bz_json_add_string(root, "state", state);
    bz_json_add_number(root, "runs", total->runs);
    bz_json_add_number(root, "steps", total->stats.steps);
    bz_json_add_number(root, "violations", total->violations);
    bz_json_add_number(root, "out_of_steps", total->out_of_steps);
    struct bz_json *findings = bz_json_add_array(root, "findings");
    for (uint32_t index = 0; index < fuzz->finding_count; index++) {
        const struct bz_program *program = &fuzz->findings[index].arm->target->program;
        const struct bz_kept_finding *kept = &fuzz->findings[index].kept;
        struct bz_json *item = bz_json_append_object(findings);
        bz_json_add_string(item, "scenario", program->scenario->name);
        bz_json_add_string(item, "variant", program->variant->name);
        (void)bz_json_add_violation(item, kept, program->variant);
        if (!kept->is_shrunk && kept->small_path[0] != '\0') {
            bz_json_add_string(bz_json_add_object(item, "shrunk"), "trace", kept->small_path);
        }
    }
    struct bz_json *arms = bz_json_add_array(root, "arms");
    for (uint32_t index = 0; index < fuzz->arm_count; index++) {
        const struct bz_job *job = &fuzz->arms[index]->job;
        bz_run_report_add_json(bz_json_append_object(arms),
                               &(struct bz_run_report){.job = job,
                                                       .result = &fuzz->arms[index]->result,
                                                       .findings = &none,
                                                       .cut = &no_cut,
                                                       .seconds = (double)job->spent_ms / 1000});
    }
    bz_json_put(root);
}

/* The command that continues, with the plug-ins of all targets and what is left of the limits. */
static void print_command(const struct bz_fuzz *fuzz) {
    struct bz_text more = {0};
    for (uint32_t target = 0; target < fuzz->target_count; target++) {
        const struct bz_program *program = &fuzz->targets[target]->program;
        struct bz_text its = {0};
        bz_plugins_add_options(&its, program->scenario, program->variant);
        if (its.bytes != NULL && (more.bytes == NULL || strstr(more.bytes, its.bytes) == NULL)) {
            bz_text_add(&more, "%s", its.bytes);
        }
        bz_text_fini(&its);
    }
    if (fuzz->runs != 0) {
        bz_text_add(&more, " --runs %" PRIu64, fuzz->runs);
    }
    if (fuzz->seconds != 0) {
        uint64_t spent = (bz_wall_ns() - fuzz->began_ns) / 1000000000;
        bz_text_add(&more, " --time %" PRIu64 "s",
                    fuzz->seconds > spent ? fuzz->seconds - spent : 1);
    }
    bz_findings_print_resume("fuzz", fuzz->folders[0], &more);
    bz_text_fini(&more);
}

/* As of 'run': an interruption takes precedence over a violation, and a run that was cut proves
 * nothing. */
static int finish(const struct command *command) {
    const struct bz_fuzz *fuzz = &command->fuzz;
    const struct bz_campaign_result total = bz_fuzz_sum(fuzz);
    bool is_done = bz_fuzz_is_done(fuzz, total.runs);
    if (command->is_json) {
        print_json(fuzz, &total, is_done ? "done" : "interrupted");
    } else if (!command->is_quiet) {
        print_text(fuzz, &total);
    }
    if (!is_done) {
        print_command(fuzz);
    }
    return command->output.code != BZ_EXIT_OK ? command->output.code
           : !is_done                         ? BZ_EXIT_INTERRUPTED
           : total.violations > 0             ? BZ_EXIT_VIOLATION
           : total.out_of_steps > 0           ? BZ_EXIT_INTERRUPTED
                                              : BZ_EXIT_OK;
}

int bz_command_fuzz(int argc, char **argv) {
    static struct command command;
    command = (struct command){.fuzz = {.catalog = &bz_cli_catalog,
                                        .jobs = 1,
                                        .on_finding = announce,
                                        .on_progress = show_progress}};
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
    command.output = (struct bz_findings_output){.is_quiet = command.is_quiet};
    bz_findings_output_begin(&command.output, &command.fuzz.kept);
    if (bz_watchdog_has_begun_again() && command.resume == NULL) {
        command.resume = command.out; /* the arms are made before the first run */
    }
    if (code == BZ_EXIT_OK && command.resume != NULL) {
        code = bz_fuzz_open(&command.fuzz, command.resume) ? BZ_EXIT_OK : BZ_EXIT_USAGE;
    } else if (code == BZ_EXIT_OK) {
        code = create(&command);
    }
    code = code == BZ_EXIT_OK ? run(&command) : code;
    code = code == BZ_EXIT_OK ? finish(&command) : code;
    bz_fuzz_fini(&command.fuzz);
    return code;
}
