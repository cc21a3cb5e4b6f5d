/* buzzer run: runs many seeds of one program and reports the findings. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/run/campaign.h"
#include "sim/run/settings.h"
#include "tools/cli.h"
#include "tools/diagnosis.h"
#include "tools/findings.h"
#include "tools/options.h"
#include "tools/progress.h"
#include "tools/report.h"
#include "tools/require_window.h"

#define RUNS_DEFAULT 10000u
#define RUNS_MAX ((uint64_t)INT64_MAX)

struct run {
    struct bz_options options;
    const char *selection; /* which of --seed, --seeds, --runs, --time is given */
    uint64_t seed_first;
    bool has_seed_first;
    uint64_t runs;
    uint64_t seconds; /* 0: no --time */
    uint32_t jobs;
    bool keep_going;
    struct bz_require_window required;
    const char *out;
    bool is_strict;
    bool is_json;
    bool is_quiet;
    struct bz_progress progress;
};

static void parse_range(struct run *run, struct argp_state *state, const char *text) {
    const char *dots = strstr(text, "..");
    char first[40] = "";
    uint64_t last = 0;
    if (dots != NULL && (size_t)(dots - text) < sizeof first) {
        memcpy(first, text, (size_t)(dots - text));
    }
    if (dots == NULL || !bz_parse_u64(first, &run->seed_first) || !bz_parse_u64(dots + 2, &last)) {
        argp_error(state, "--seeds takes two whole numbers of 64 bits, A..B, and not '%s'", text);
    } else if (last < run->seed_first) {
        argp_error(state, "--seeds %s: the last seed is below the first", text);
    } else if (last - run->seed_first >= RUNS_MAX) {
        argp_error(state, "--seeds %s: more than %" PRIu64 " seeds", text, RUNS_MAX);
    }
    run->runs = last - run->seed_first + 1;
}

/* Exactly one of --seed, --seeds, --runs, --time selects the seeds. */
static void select_seeds(struct argp_state *state, void *target, const char *option, char *text) {
    struct run *run = target;
    if (run->selection != NULL) {
        argp_error(state, "--%s contradicts --%s; give one of them", option, run->selection);
    }
    run->selection = option;
    if (strcmp(option, "seed") == 0) {
        run->seed_first = bz_option_number(state, option, text, 0, UINT64_MAX);
        run->runs = 1;
    } else if (strcmp(option, "seeds") == 0) {
        parse_range(run, state, text);
    } else if (strcmp(option, "runs") == 0) {
        run->runs = bz_option_number(state, option, text, 1, RUNS_MAX);
    } else {
        run->seconds = bz_option_seconds(state, option, text);
        run->runs = RUNS_MAX;
    }
}

static void set_seed_first(struct argp_state *state, void *target, const char *option, char *text) {
    struct run *run = target;
    run->has_seed_first = true;
    run->seed_first = bz_option_number(state, option, text, 0, UINT64_MAX);
}

static void check_options(struct argp_state *state, void *target) {
    const struct run *run = target;
    if (run->has_seed_first && run->selection != NULL &&
        (strcmp(run->selection, "seed") == 0 || strcmp(run->selection, "seeds") == 0)) {
        argp_error(state, "--seed-first contradicts --%s; give one of them", run->selection);
    }
}

static const struct bz_option options[] = {
    {"seed", "N", "This run only", BZ_OPTION_PARSED, .is_once = true, .parse = select_seeds},
    {"seeds", "A..B", "The seeds from A to B, both included", BZ_OPTION_PARSED, .is_once = true,
     .parse = select_seeds},
    {"runs", "N", "That many seeds, from 0 or --seed-first (10000)", BZ_OPTION_PARSED,
     .is_once = true, .parse = select_seeds},
    {"time", "T", "As many seeds as this time allows: 30s, 5m, 2h", BZ_OPTION_PARSED,
     .is_once = true, .parse = select_seeds},
    {"seed-first", "N", "Where --runs and --time begin (0)", BZ_OPTION_PARSED, .is_once = true,
     .parse = set_seed_first},
    {"jobs", "N", "Worker processes; results do not depend on it (1)", BZ_OPTION_NUMBER32,
     offsetof(struct run, jobs), .is_once = true, .least = 1, .most = BZ_JOBS_MAX},
    {"keep-going", NULL, "Do not stop at the first violation", BZ_OPTION_FLAG,
     offsetof(struct run, keep_going)},
    {"require-window", "WINDOWS",
     "Exit with 4 unless cancels hit each of these, separated by commas: a window, or "
     "OPERATION:WINDOW, such as acquire:woken",
     BZ_OPTION_PARSED, offsetof(struct run, required), .parse = bz_require_window_parse},
    {"strict", NULL,
     "Exit with 4 after a warning: no operation ever waited, or no cancel struck one that did",
     BZ_OPTION_FLAG, offsetof(struct run, is_strict)},
    {"out", "DIR", "Write a trace of each finding kept into this folder", BZ_OPTION_TEXT,
     offsetof(struct run, out), .is_once = true},
    {"json", NULL, "Print one JSON document", BZ_OPTION_FLAG, offsetof(struct run, is_json)},
    {"quiet", NULL, "Print findings only", BZ_OPTION_FLAG, offsetof(struct run, is_quiet)},
    {NULL},
};

/* --- the campaign ----------------------------------------------------------------------------- */

static bool poll_campaign(void *context, const struct bz_campaign_result *so_far) {
    struct run *run = context;
    bz_progress_show(&run->progress, so_far->runs, so_far->violations);
    bool is_time_up = run->progress.deadline_ns != 0 && bz_wall_ns() >= run->progress.deadline_ns;
    return bz_interrupt_requested == 0 && !is_time_up;
}

static bool run_campaign(struct run *run, const struct bz_program *program,
                         struct bz_campaign_result *result, double *seconds) {
    struct bz_campaign_config config = {.program = program,
                                        .seed_first = run->seed_first,
                                        .runs = run->runs,
                                        .jobs = run->jobs,
                                        .keep_going = run->keep_going,
                                        .stop = &bz_interrupt_requested,
                                        .poll = poll_campaign,
                                        .context = run};
    bz_progress_begin(&run->progress, run->is_quiet, run->runs, run->seconds);
    bool is_done = bz_campaign_run(&config, result);
    *seconds = bz_progress_end(&run->progress);
    return is_done;
}

static int exit_code_of(const struct bz_run_report *report) {
    if (report->is_stopped) {
        return BZ_EXIT_INTERRUPTED;
    }
    if (report->result->violations > 0) {
        return BZ_EXIT_VIOLATION;
    }
    /* a truncated run proves nothing about its remaining steps */
    if (report->result->out_of_steps > 0) {
        return BZ_EXIT_INTERRUPTED;
    }
    bool is_unproved =
        report->missed.count > 0 || (report->is_strict && report->warnings.count > 0);
    return is_unproved ? BZ_EXIT_UNPROVED : BZ_EXIT_OK;
}

int bz_command_run(int argc, char **argv) {
    struct run run = {.runs = RUNS_DEFAULT, .jobs = 1};
    struct bz_program program;
    static struct bz_campaign_result result;
    static struct bz_kept_findings findings;
    const struct bz_syntax syntax = {
        .options = options,
        .target = &run,
        .args_doc = "SCENARIO",
        .arguments = &run.options.scenario,
        .arguments_max = 1,
        .takes_plugins = true,
        .program = &run.options,
        .check = check_options,
        .doc = "Runs a scenario under many seeded schedules and judges every step. Exit status: 0 "
               "nothing found, 1 a violation, 2 usage, 4 a required window was never hit, or a "
               "warning with --strict, 5 interrupted or out of steps."};
    int code = bz_options_parse(&syntax, argc, argv);
    code = code == BZ_EXIT_OK ? bz_options_program(&run.options, argv[0], &program) : code;
    code =
        code == BZ_EXIT_OK && run.out != NULL ? bz_findings_prepare_folder(argv[0], run.out) : code;
    if (code != BZ_EXIT_OK) {
        return code;
    }
    struct bz_run_report report = {.program = &program,
                                   .seed_first = run.seed_first,
                                   .result = &result,
                                   .findings = &findings,
                                   .is_strict = run.is_strict};
    if (!run.is_json && !run.is_quiet) {
        bz_run_report_print_head(&report);
    }
    bz_interrupt_catch();
    /* the report says what was found before something ran out */
    (void)bz_program_measure(&program); /* a lack shows below */
    if (!run_campaign(&run, &program, &result, &report.seconds)) {
        code = bz_cli_fail(argv[0], BZ_EXIT_INTERNAL, "%s", result.lack);
    }
    bz_require_window_missed(&run.required, &result.stats, &report.missed);
    bz_warnings_find(&program, &result, run.is_strict, &report.warnings);
    report.is_stopped =
        result.lack[0] != '\0' || (bz_interrupt_requested != 0 && result.is_interrupted);
    report.exit_code = exit_code_of(&report);
    /* A trace that cannot be written does not hide the other findings. */
    for (uint32_t index = 0; index < result.finding_count; index++) {
        int one = bz_findings_add(&findings, argv[0], &program, &result.findings[index], run.out);
        code = one > code ? one : code;
    }
    report.exit_code = code != BZ_EXIT_OK ? code : report.exit_code;
    if (run.is_json) {
        bz_json_put(bz_run_report_json(&report));
    } else {
        bz_run_report_print(&report, run.is_quiet);
    }
    for (uint32_t index = 0; index < report.warnings.count; index++) {
        (void)bz_cli_fail(argv[0], BZ_EXIT_OK, "warning, after %" PRIu64 " run%s: %s", result.runs,
                          result.runs == 1 ? "" : "s", report.warnings.items[index].text);
    }
    bz_findings_fini(&findings);
    return report.exit_code;
}
