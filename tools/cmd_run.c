/* buzzer run: many seeds of one program, and what came of them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/run/campaign.h"
#include "sim/run/settings.h"
#include "tools/cli.h"
#include "tools/diagnosis.h"
#include "tools/findings.h"
#include "tools/interrupt.h"
#include "tools/options.h"
#include "tools/plugins.h"
#include "tools/progress.h"
#include "tools/report_json.h"
#include "tools/required.h"
#include "tools/run_report.h"

#define RUNS_DEFAULT 10000u
#define RUNS_MAX ((uint64_t)INT64_MAX)

enum {
    OPTION_SEED = 0x2000,
    OPTION_SEEDS,
    OPTION_SEED_FIRST,
    OPTION_RUNS,
    OPTION_TIME,
    OPTION_JOBS,
    OPTION_KEEP_GOING,
    OPTION_REQUIRE_WINDOW,
    OPTION_OUT,
    OPTION_JSON,
    OPTION_QUIET,
};

static const struct argp_option options_table[] = {
    {"seed", OPTION_SEED, "N", 0, "Exactly this one run", 0},
    {"seeds", OPTION_SEEDS, "A..B", 0, "The seeds from A to B, both included", 0},
    {"runs", OPTION_RUNS, "N", 0, "That many seeds, from 0 or --seed-first (10000)", 0},
    {"time", OPTION_TIME, "T", 0, "As many seeds as this time allows: 30s, 5m, 2h", 0},
    {"seed-first", OPTION_SEED_FIRST, "N", 0, "Where --runs and --time begin (0)", 0},
    {"jobs", OPTION_JOBS, "N", 0, "Worker threads; results do not depend on it (1)", 0},
    {"keep-going", OPTION_KEEP_GOING, NULL, 0, "Do not stop at the first violation", 0},
    {"require-window", OPTION_REQUIRE_WINDOW, "WINDOWS", 0,
     "Exit with 4 unless cancels hit each of these, separated by commas: a window, or "
     "OPERATION:WINDOW, such as acquire:woken",
     0},
    {"out", OPTION_OUT, "DIR", 0, "Write a trace of each finding kept into this folder", 0},
    {"json", OPTION_JSON, NULL, 0, "Print one JSON document", 0},
    {"quiet", OPTION_QUIET, NULL, 0, "Print findings, and nothing else", 0},
    {0},
};

struct run {
    struct bz_options options;
    struct bz_plugins plugins;
    const char *selection; /* which of --seed, --seeds, --runs, --time was given */
    bool has_seed_first;
    uint64_t seed_first;
    uint64_t runs;
    uint64_t seconds; /* 0: no --time */
    uint32_t jobs;    /* 0 until --jobs is seen */
    bool keep_going;
    struct bz_required required;
    const char *out;
    bool is_json;
    bool is_quiet;
    struct bz_progress progress;
};

static void select_seeds(struct run *run, struct argp_state *state, const char *option) {
    if (run->selection != NULL && strcmp(run->selection, option) == 0) {
        argp_error(state, "--%s is given twice", option);
    } else if (run->selection != NULL) {
        argp_error(state, "--%s contradicts --%s; give one of them", option, run->selection);
    }
    run->selection = option;
}

static void parse_seeds(struct run *run, struct argp_state *state, const char *text) {
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

static error_t parse_seed_option(int key, char *arg, struct argp_state *state) {
    struct run *run = state->input;
    switch (key) {
    case OPTION_SEED:
        select_seeds(run, state, "seed");
        run->seed_first = bz_option_number(state, "seed", arg, 0, UINT64_MAX);
        run->runs = 1;
        return 0;
    case OPTION_SEEDS:
        select_seeds(run, state, "seeds");
        parse_seeds(run, state, arg);
        return 0;
    case OPTION_RUNS:
        select_seeds(run, state, "runs");
        run->runs = bz_option_number(state, "runs", arg, 1, RUNS_MAX);
        return 0;
    case OPTION_TIME:
        select_seeds(run, state, "time");
        run->seconds = bz_option_seconds(state, "time", arg);
        run->runs = RUNS_MAX;
        return 0;
    case OPTION_SEED_FIRST:
        if (run->has_seed_first) {
            argp_error(state, "--seed-first is given twice");
        }
        run->has_seed_first = true;
        run->seed_first = bz_option_number(state, "seed-first", arg, 0, UINT64_MAX);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state) {
    struct run *run = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &run->options;
        state->child_inputs[1] = &run->plugins;
        return 0;
    case OPTION_JOBS:
        if (run->jobs != 0) {
            argp_error(state, "--jobs is given twice");
        }
        run->jobs = (uint32_t)bz_option_number(state, "jobs", arg, 1, BZ_JOBS_MAX);
        return 0;
    case OPTION_KEEP_GOING:
        run->keep_going = true;
        return 0;
    case OPTION_REQUIRE_WINDOW:
        bz_required_parse(&run->required, state, arg);
        return 0;
    case OPTION_OUT:
        if (run->out != NULL) {
            argp_error(state, "--out is given twice");
        }
        run->out = arg;
        return 0;
    case OPTION_JSON:
        run->is_json = true;
        return 0;
    case OPTION_QUIET:
        run->is_quiet = true;
        return 0;
    case ARGP_KEY_END:
        run->jobs = run->jobs != 0 ? run->jobs : 1;
        if (run->has_seed_first && run->selection != NULL &&
            (strcmp(run->selection, "seed") == 0 || strcmp(run->selection, "seeds") == 0)) {
            argp_error(state, "--seed-first contradicts --%s; give one of them", run->selection);
        }
        return 0;
    default:
        break;
    }
    return parse_seed_option(key, arg, state);
}

/* --- the campaign -------------------------------------------------------------------------------
 */

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
    bz_interrupt_catch();
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
    /* A run that was cut short proves nothing about what would have come. */
    if (report->result->out_of_steps > 0) {
        return BZ_EXIT_INTERRUPTED;
    }
    char name[BZ_REQUIRED_NAME_BYTES];
    bool is_missed = bz_required_name(&report->missed, 0, name, sizeof name);
    return is_missed ? BZ_EXIT_UNPROVED : BZ_EXIT_OK;
}

static int command_run(int argc, char **argv) {
    const struct argp_child children[] = {
        {&bz_options_argp, 0, "The program:", 1}, {&bz_plugins_argp, 0, NULL, 1}, {0}};
    const struct argp argp = {.options = options_table,
                              .parser = parse_option,
                              .args_doc = "SCENARIO",
                              .doc = "Runs a scenario under many seeded schedules and judges every "
                                     "step. Exit status: 0 nothing found, 1 a violation, 2 usage, "
                                     "4 a required window was never hit, 5 interrupted or out of "
                                     "steps.",
                              .children = children};
    struct run run = {.runs = RUNS_DEFAULT};
    struct bz_program program;
    static struct bz_campaign_result result;
    struct bz_kept_findings findings = {.items = NULL};
    bz_cli_parse(&argp, argc, argv, &run);
    int code = bz_plugins_load(&run.plugins, argv[0]);
    code = code == BZ_EXIT_OK ? bz_options_program(&run.options, argv[0], &program) : code;
    code =
        code == BZ_EXIT_OK && run.out != NULL ? bz_findings_prepare_folder(argv[0], run.out) : code;
    if (code != BZ_EXIT_OK) {
        return code;
    }
    struct bz_run_report report = {.program = &program,
                                   .seed_first = run.seed_first,
                                   .result = &result,
                                   .findings = &findings};
    if (!run.is_json && !run.is_quiet) {
        bz_run_report_print_head(&report);
    }
    if (!run_campaign(&run, &program, &result, &report.seconds)) {
        return bz_cli_fail(argv[0], BZ_EXIT_INTERNAL, "out of memory or threads");
    }
    report.missed = bz_required_missed(&run.required, &result.stats);
    report.is_stopped = bz_interrupt_requested != 0 && result.is_interrupted;
    report.exit_code = exit_code_of(&report);
    code =
        bz_findings_keep(&findings, argv[0], &program, &result, run.out, &bz_interrupt_requested);
    report.exit_code = code != BZ_EXIT_OK ? code : report.exit_code;
    if (run.is_json) {
        bz_json_put(bz_run_report_json(&report));
    } else {
        bz_run_report_print(&report, run.is_quiet);
    }
    bz_findings_fini(&findings);
    return report.exit_code;
}

const struct bz_command bz_command_run = {
    .name = "run",
    .summary = "run a scenario under many seeded schedules",
    .run = command_run,
};
