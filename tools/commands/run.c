/* buzzer run: runs many seeds of one program and reports the findings. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim/program/settings.h"
#include "sim/session/checkpoint.h"
#include "sim/session/fuzz.h"
#include "tools/cli/cli.h"
#include "tools/cli/options.h"
#include "tools/cli/progress.h"
#include "tools/cli/require_window.h"
#include "tools/cli/shard_option.h"
#include "tools/plugin/plugins.h"
#include "tools/report/cases.h"
#include "tools/report/ci.h"
#include "tools/report/findings_output.h"
#include "tools/report/report.h"
#include "tools/report/stored_report.h"
#include "tools/report/text_output.h"

#define RUNS_DEFAULT 10000u
/* A campaign ends if all of its first runs are cut: so many, and more if they are short. */
#define CUT_RUNS_LEAST 20u
#define CUT_STEPS_LEAST 1000000u

struct run {
    struct bz_options options;
    struct bz_job job;     /* shard.count 0: no --shard */
    const char *selection; /* which of --seed, --seeds, --runs is given */
    bool has_seed_first;
    uint64_t seconds; /* 0: no --time */
    uint32_t jobs;
    uint32_t sizes; /* BZ_OPTION_SIZES_...; 0: not given */
    bool repeats_all;
    struct bz_search_limits search;
    const char *out;
    bool is_strict;
    const char *resume;
    const char *corpus;       /* a folder of traces to try first */
    struct bz_stored *stored; /* what became of them */
    struct bz_stored *own;    /* what became of those in `out` */
    bool is_json;
    bool is_quiet;
    struct bz_ci ci;
    struct bz_progress progress;
    struct bz_work_file file;
    bool has_file;                   /* a checkpoint */
    struct bz_campaign_state *state; /* to continue from */
    struct bz_kept_findings *findings;
    struct bz_findings_output output;
    bool is_shard;      /* by --shard */
    bool was_time_up;   /* in an earlier session */
    uint64_t budget_ms; /* of this one; 0: no limit */
};

/* --- options ---------------------------------------------------------------------------------- */

static void parse_range(struct run *run, const char *text) {
    const char *dots = strstr(text, "..");
    char first[40] = "";
    uint64_t last = 0;
    if (dots != NULL && (size_t)(dots - text) < sizeof first) {
        memcpy(first, text, (size_t)(dots - text));
    }
    if (dots == NULL || !bz_parse_u64(first, &run->job.seed_first) ||
        !bz_parse_u64(dots + 2, &last)) {
        bz_cli_misuse("--seeds takes two whole numbers of 64 bits, A..B, and not '%s'", text);
    } else if (last < run->job.seed_first) {
        bz_cli_misuse("--seeds %s: the last seed is below the first", text);
    } else if (last - run->job.seed_first >= BZ_RUNS_MAX) {
        bz_cli_misuse("--seeds %s: more than %" PRIu64 " seeds", text, BZ_RUNS_MAX);
    }
    run->job.runs = last - run->job.seed_first + 1;
}

/* At most one of --seed, --seeds and --runs selects the seeds. */
static void select_seeds(void *target, const char *option, char *text) {
    struct run *run = target;
    if (run->selection != NULL) {
        bz_cli_misuse("--%s contradicts --%s; give one of them", option, run->selection);
    }
    run->selection = option;
    if (strcmp(option, "seed") == 0) {
        run->job.seed_first = bz_option_number(option, text, 0, UINT64_MAX);
        run->job.runs = 1;
    } else if (strcmp(option, "seeds") == 0) {
        parse_range(run, text);
    } else {
        run->job.runs = bz_option_number(option, text, 1, BZ_RUNS_MAX);
    }
}

static void set_seed_first(void *target, const char *option, char *text) {
    struct run *run = target;
    run->has_seed_first = true;
    run->job.seed_first = bz_option_number(option, text, 0, UINT64_MAX);
}

/* One run has no parts, and a part without a folder leaves nothing to merge. */
static void check_shard(const struct run *run) {
    if (run->job.shard.count == 0) {
        return;
    }
    if (run->selection != NULL && strcmp(run->selection, "seed") == 0) {
        bz_cli_misuse("--shard contradicts --seed, which is one run");
    } else if (run->out == NULL && run->resume == NULL) {
        bz_cli_misuse("--shard needs --out DIR: 'buzzer merge' joins the results in that folder");
    }
}

static void check_options(void *target) {
    struct run *run = target;
    check_shard(run);
    run->job.draws_sizes = run->sizes != BZ_OPTION_SIZES_DEFAULT;
    bool is_one = run->selection != NULL && strcmp(run->selection, "seed") == 0;
    if (is_one && run->seconds != 0) {
        bz_cli_misuse("--time contradicts --seed; give one of them");
    }
    if (run->has_seed_first && run->selection != NULL &&
        (is_one || strcmp(run->selection, "seeds") == 0)) {
        bz_cli_misuse("--seed-first contradicts --%s; give one of them", run->selection);
    }
    if (run->seconds != 0 && run->selection == NULL) {
        run->job.runs = BZ_RUNS_MAX;
    }
}

static const struct bz_option options[] = {
    {"seed", "N", "Run only this seed", BZ_OPTION_PARSED, .is_stored = true, .parse = select_seeds},
    {"seeds", "A..B", "The seeds from A to B, both included", BZ_OPTION_PARSED, .is_stored = true,
     .parse = select_seeds},
    {"runs", "N", "Number of seeds, from 0 or --seed-first on (default 10000)", BZ_OPTION_PARSED,
     .is_stored = true, .parse = select_seeds},
    {"time", "T",
     "Run seeds for this long: 30s, 5m, 2h; with --runs or --seeds, stop at whichever comes "
     "first",
     BZ_OPTION_SECONDS, offsetof(struct run, seconds)},
    {"seed-first", "N", "First seed of --runs and --time (default 0)", BZ_OPTION_PARSED,
     .is_stored = true, .parse = set_seed_first},
    {"shard", "I/N",
     "Do only part I of N, with I from 1 to N; 'buzzer merge' joins the parts. The README of tools "
     "has the variables that engines set",
     BZ_OPTION_PARSED, offsetof(struct run, job.shard), .is_stored = true, .parse = bz_shard_parse},
    {"jobs", "N", "Number of worker processes; it does not change the results (default 1)",
     BZ_OPTION_NUMBER32, offsetof(struct run, jobs), .least = 1, .most = BZ_JOBS_MAX},
    {"keep-going", NULL, "Continue after a violation, and if the first runs all hit the step limit",
     BZ_OPTION_FLAG, offsetof(struct run, job.keep_going), .is_stored = true},
    {"check-determinism", NULL,
     "Run every seed twice and report any difference as nondeterminism (default: the first 50 "
     "seeds, then one in 8192)",
     BZ_OPTION_FLAG, offsetof(struct run, repeats_all)},
    {"sizes", "drawn|default", BZ_OPTION_SIZES_HELP, BZ_OPTION_WORD, offsetof(struct run, sizes),
     .is_stored = true},
    {"require-window", "WINDOWS",
     "Exit with 4 unless a cancel struck in each of these windows, separated by commas: WINDOW, "
     "or OPERATION:WINDOW, such as acquire:woken",
     BZ_OPTION_PARSED, offsetof(struct run, job.required), .is_stored = true, .is_repeatable = true,
     .parse = bz_require_window_parse},
    {"strict", NULL,
     "Exit with 4 after a warning: no operation ever waited, no cancel struck one that did, or all "
     "runs were alike",
     BZ_OPTION_FLAG, offsetof(struct run, is_strict)},
    {"no-shrink", NULL, "Do not shrink findings", BZ_OPTION_FLAG,
     offsetof(struct run, job.keeps_size)},
    BZ_SEARCH_OPTIONS(struct run, search),
    {"out", "DIR",
     "Write traces and a checkpoint to DIR. Existing traces for this scenario and variant are "
     "replayed first (with --order fifo, only those of this order); the exit status is 1 if one "
     "still fails",
     BZ_OPTION_TEXT, offsetof(struct run, out), .is_stored = true},
    {"corpus", "DIR",
     "Replay the traces of this scenario in DIR first (with --order fifo, only those of this "
     "order); if one fails, stop there, unless --keep-going",
     BZ_OPTION_TEXT, offsetof(struct run, corpus), .is_stored = true},
    {"resume", "DIR", "Continue the campaign that was started with --out DIR", BZ_OPTION_TEXT,
     offsetof(struct run, resume)},
    BZ_CI_OPTIONS(struct run, ci),
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

static void keep_finding(struct run *run, uint32_t place, const struct bz_finding *finding) {
    static struct bz_program program;
    (void)bz_program_measure(&run->job.program); /* of a suite */
    bz_job_program(&run->job, finding->seed, &program);
    (void)bz_findings_keep(run->findings, place, &program, finding);
}

static void on_finding(void *context, uint32_t place, const struct bz_finding *finding) {
    struct run *run = context;
    keep_finding(run, place, finding);
    bz_findings_announce(&run->output, run->findings, place);
}

/* The next writing may succeed: file.has_failed has the last one. */
static void print_trouble(void *context, enum bz_trouble trouble, const char *message) {
    (void)context;
    (void)trouble;
    (void)bz_cli_fail(BZ_EXIT_USAGE, "%s", message);
}

static void keep_state(void *context, const struct bz_campaign_state *state, bool is_last) {
    struct run *run = context;
    if (run->has_file) {
        bz_checkpoint_save(&run->file, &run->job, state, is_last, print_trouble, run);
    }
}

/* How many first runs may be cut. */
static uint64_t cut_runs_max(const struct run *run) {
    uint32_t steps_max = run->job.program.steps_max;
    uint64_t runs = steps_max == 0 ? BZ_RUNS_MAX : (CUT_STEPS_LEAST - 1) / steps_max + 1;
    return run->job.keep_going ? 0 : runs < CUT_RUNS_LEAST ? CUT_RUNS_LEAST : runs;
}

static bool run_campaign(struct run *run, struct bz_campaign_result *result, double *seconds) {
    struct bz_campaign_config config = bz_job_campaign(&run->job);
    config.jobs = run->jobs;
    config.repeats_all = run->repeats_all;
    config.cut_runs_max = cut_runs_max(run);
    config.stop = &bz_interrupt_requested;
    config.poll = poll_campaign;
    config.from = run->state;
    config.on_finding = on_finding;
    config.on_state = keep_state;
    config.context = run;
    bz_progress_begin(&run->progress, run->is_quiet, run->job.runs, (run->budget_ms + 999) / 1000);
    run->progress.runs_before = run->state->result.runs;
    if (run->budget_ms != 0) {
        run->progress.deadline_ns = run->progress.began_ns + run->budget_ms * 1000000;
    }
    bool is_done = bz_campaign_run(&config, result);
    *seconds = bz_progress_end(&run->progress);
    return is_done;
}

/* True if it ended before its work was done, which is a number of runs, or a time. */
static bool is_stopped(const struct run *run, const struct bz_campaign_result *result) {
    bool is_time_all = run->job.limit_ms != 0;
    return result->lack[0] != '\0' ||
           (result->is_interrupted && (bz_interrupt_requested != 0 || !is_time_all));
}

/* --- where it begins -------------------------------------------------------------------------- */

/* Goes on from the job and the state of a checkpoint. --time is the time of this session; without
 * it, a campaign with a limit takes what is left of it. */
static void take_up(struct run *run) {
    struct bz_job *job = &run->job;
    bool has_limit = job->limit_ms != 0 && run->budget_ms != 0;
    run->out = run->file.folder;
    run->has_file = true;
    job->shard.count = job->shard.count > 1 || run->is_shard ? job->shard.count : 0;
    job->limit_ms = has_limit ? job->spent_ms + run->budget_ms : job->limit_ms;
    bz_work_file_begin(&run->file, job->spent_ms);
    if (bz_job_is_finished(job, run->state)) {
        bz_cli_fail(BZ_EXIT_OK, "the campaign of '%s' is finished; its report follows",
                    run->file.path);
        run->was_time_up = run->state->result.runs < job->runs;
        job->runs = run->state->result.runs;
        run->has_file = false;
    } else if (job->limit_ms != 0) {
        run->budget_ms = job->limit_ms - job->spent_ms;
    }
}

/* Takes its part of the runs. One that ended with a violation would leave a gap. */
static void divide(struct run *run) {
    struct bz_job *job = &run->job;
    job->campaign_runs = job->runs;
    if (run->is_shard) {
        job->runs = bz_shard_runs(&job->shard, job->campaign_runs);
        job->keep_going = true;
        snprintf(run->file.path, sizeof run->file.path,
                 "%.*s/shard-%" PRIu32 "-of-%" PRIu32 ".checkpoint", PATH_MAX - 64, run->out,
                 job->shard.number, job->shard.count);
    }
}

/* A shard continues from what it has left, so an engine may start it as often as it likes. */
static int resume_shard(struct run *run) {
    static struct bz_job wanted;
    char error[BZ_ERROR_BYTES];
    wanted = run->job;
    snprintf(wanted.version, sizeof wanted.version, "%s", bz_engine_version());
    bool keeps_size = run->job.keeps_size;
    if (!bz_checkpoint_load(&run->job, run->state, &bz_cli_catalog, &run->file, error,
                            sizeof error)) {
        return bz_cli_fail(BZ_EXIT_USAGE, "--shard: %s; delete it to start over", error);
    }
    if (bz_job_differs(&wanted, &run->job, error, sizeof error)) {
        return bz_cli_fail(BZ_EXIT_USAGE,
                           "--shard: '%s' belongs to another campaign: %s; name another folder",
                           run->file.path, error);
    }
    run->resume = run->file.path;
    run->job.keeps_size |= keeps_size;
    take_up(run);
    return BZ_EXIT_OK;
}

/* A new campaign, or a shard that was begun before. */
static int begin(struct run *run) {
    char error[BZ_ERROR_BYTES];
    int code = bz_options_program(&run->options, &run->job.program);
    run->job.limit_ms = run->budget_ms;
    if (code != BZ_EXIT_OK || run->out == NULL) {
        return code;
    }
    if (!bz_folder_prepare(run->out, error, sizeof error)) {
        return bz_cli_fail(BZ_EXIT_USAGE, "%s", error);
    }
    snprintf(run->file.folder, sizeof run->file.folder, "%s", run->out);
    divide(run);
    if (run->is_shard && access(run->file.path, F_OK) == 0) {
        return resume_shard(run);
    }
    run->has_file = true;
    bz_work_file_begin(&run->file, 0);
    keep_state(run, run->state, true);
    return run->file.has_failed ? BZ_EXIT_USAGE : BZ_EXIT_OK;
}

static int resume(struct run *run) {
    char error[BZ_ERROR_BYTES];
    bool keeps_size = run->job.keeps_size;
    if (bz_fuzz_is_of(run->resume)) {
        return bz_cli_fail(BZ_EXIT_USAGE,
                           "--resume: '%s' is of 'fuzz': use 'fuzz --resume %s', or name the file "
                           "of one arm",
                           run->resume, run->resume);
    }
    if (!bz_work_file_find(&run->file, run->resume, error, sizeof error)) {
        return bz_cli_fail(BZ_EXIT_USAGE, "%s", error);
    }
    if (!bz_checkpoint_load(&run->job, run->state, &bz_cli_catalog, &run->file, error,
                            sizeof error)) {
        return bz_cli_fail(BZ_EXIT_USAGE, "--resume: %s", error);
    }
    run->job.keeps_size |= keeps_size;
    take_up(run);
    return BZ_EXIT_OK;
}

static int prepare(struct run *run) {
    char error[BZ_ERROR_BYTES];
    run->file.kind = BZ_CHECKPOINT_KIND;
    run->is_shard = run->job.shard.count > 0;
    int code = run->resume != NULL ? resume(run) : begin(run);
    return code == BZ_EXIT_OK && run->resume != NULL &&
                   !bz_checkpoint_check_code(&run->job, run->state, run->file.path, error,
                                             sizeof error)
               ? bz_cli_fail(BZ_EXIT_USAGE, "%s", error)
               : code;
}

/* --- stored traces ---------------------------------------------------------------------------- */

static void put_json(const struct run *run, const struct bz_run_report *report) {
    struct bz_json *root = bz_json_new_object();
    bz_run_report_add_json(root, report);
    if (run->job.shard.count > 0) {
        bz_shard_add_json(root, &run->job.shard, bz_job_first_run(&run->job), report->result->runs);
    }
    if (run->corpus != NULL) {
        bz_stored_add_json(run->stored, root, "stored");
    }
    if (run->own->tried + run->own->cut + run->own->other > 0) {
        bz_stored_add_json(run->own, root, "stored_own");
    }
    bz_json_put(root);
}

/* The files that programs read. One that cannot be written hides nothing else. */
static void report_to_programs(struct run *run, struct bz_run_report *report) {
    if (bz_ci_is_wanted(&run->ci)) {
        struct bz_outcome outcome;
        bz_cases_of_run(&outcome, report, run->stored, run->own);
        int code = bz_ci_end(&outcome);
        report->exit_code = code != BZ_EXIT_OK ? code : report->exit_code;
        bz_outcome_fini(&outcome);
    }
    if (bz_json_is_wanted(run->is_json)) {
        put_json(run, report);
    }
}

static int try_folder(struct run *run, struct bz_stored *stored, const char *folder) {
    char error[BZ_ERROR_BYTES];
    return bz_findings_output_trouble(
        &run->output, bz_stored_try(stored, folder, &run->job.program, error, sizeof error), error);
}

/* Those of --corpus. One that fails ends the session, unless it is to keep going. */
static int try_corpus(struct run *run, struct bz_run_report *report) {
    int code = try_folder(run, run->stored, run->corpus);
    report->stored_failed += run->stored->failed;
    if (!run->is_json) {
        bz_stored_print(run->stored, &run->job.program, run->is_quiet);
    }
    if (code == BZ_EXIT_OK && run->stored->failed > 0 && !run->job.keep_going) {
        report->exit_code =
            bz_cli_fail(BZ_EXIT_VIOLATION, "a stored trace fails, so the campaign was not begun "
                                           "(--keep-going begins it anyway)");
        report_to_programs(run, report);
        code = report->exit_code;
    }
    return code;
}

/* Tries them. An exit code; not BZ_EXIT_OK, after a message: there is no campaign, and what there
 * is to report was reported. */
static int try_stored(struct run *run, struct bz_run_report *report) {
    int code = BZ_EXIT_OK;
    bool has_own = run->out != NULL && run->resume == NULL && run->job.shard.count == 0 &&
                   (run->corpus == NULL || !bz_stored_is_same_folder(run->corpus, run->out));
    if (has_own) {
        code = try_folder(run, run->own, run->out);
        bz_stored_say_own(run->own, &run->job.program, run->is_quiet);
        report->stored_failed = run->own->failed;
    }
    if (code == BZ_EXIT_OK && run->corpus != NULL) {
        code = try_corpus(run, report);
    }
    return code;
}

/* --- the result ------------------------------------------------------------------------------- */

/* Records the findings of earlier sessions again; their files are there. */
static void keep_earlier_findings(struct run *run) {
    for (uint32_t index = 0; index < run->state->result.finding_count; index++) {
        keep_finding(run, index, &run->state->result.findings[index]);
    }
}

static void print_command(const struct run *run) {
    struct bz_text more = {0};
    bz_plugins_add_options(&more, run->job.program.scenario, run->job.program.variant);
    bz_text_add(&more, "%s", run->is_strict ? " --strict" : "");
    bz_findings_print_resume(
        "run", bz_work_file_is_only(&run->file) ? run->file.folder : run->file.path, &more);
    bz_text_fini(&more);
}

/* Warnings, and how to continue. A test that was refused cannot. */
static void print_last(struct run *run, const struct bz_run_report *report) {
    uint64_t runs = report->result->runs;
    struct bz_text text = {0};
    for (uint32_t index = 0; index < report->warnings.count; index++) {
        bz_text_clear(&text);
        bz_text_add(&text, "warning, after %" PRIu64 " run%s of %s: %s", runs, runs == 1 ? "" : "s",
                    run->job.program.scenario->name, report->warnings.items[index].text);
        bz_cli_note(text.bytes);
    }
    bz_text_fini(&text);
    if (report->is_stopped && bz_cli_has_refused()) {
        bz_work_file_remove_new(&run->file);
    } else if (report->is_stopped && run->has_file && !run->file.has_failed) {
        print_command(run);
    }
}

/* The part of the report besides findings. */
static void sum_up(const struct run *run, struct bz_run_report *report,
                   struct bz_kept_finding *cut) {
    const struct bz_campaign_result *result = report->result;
    if (run->job.shard.count == 0) { /* else of all shards together, which `merge` sees */
        bz_require_window_missed(run->job.required, &result->stats, &report->missed);
        bz_warnings_find(&run->job.program, result, run->is_strict, &report->warnings);
    }
    report->is_stopped = is_stopped(run, result);
    report->is_time_up = run->was_time_up || result->is_interrupted;
    if (result->out_of_steps > 0 && result->violations == 0 && !report->is_stopped) {
        static struct bz_program program;
        bz_job_program(&run->job, result->seed_cut, &program);
        (void)bz_program_measure(&program); /* of a suite */
        bz_findings_keep_cut(cut, &program, result->seed_cut);
    }
    report->exit_code = bz_run_report_exit_code(report);
}

/* Completes the report and passes it on. `code`: of the campaign. Returns the exit code. A trace
 * that cannot be written does not hide the other findings. */
static int finish(struct run *run, struct bz_run_report *report, struct bz_kept_finding *cut,
                  int code) {
    sum_up(run, report, cut);
    for (uint32_t index = 0; index < report->result->finding_count; index++) {
        run->findings->items[index].count = report->result->findings[index].count;
    }
    if (run->job.shard.count == 0) { /* else `merge` does it once */
        bz_findings_finish(run->findings, report->result, true);
    }
    if (bz_interrupt_requested != 0 && run->findings->count > 0 && run->job.shard.count == 0) {
        report->is_stopped = true; /* not all are shrunk, or have a witness */
        report->exit_code = bz_run_report_exit_code(report);
    }
    code = run->output.code > code ? run->output.code : code;
    code = run->has_file && run->file.has_failed && code < BZ_EXIT_USAGE ? BZ_EXIT_USAGE : code;
    report->exit_code = code != BZ_EXIT_OK ? code : report->exit_code;
    report->seconds += (double)run->file.before_ms / 1000;
    if (!run->is_json) {
        bz_run_report_print(report, run->is_quiet);
        if (run->job.shard.count > 0 && !run->is_quiet) {
            bz_shard_print(&run->job.shard, bz_job_first_run(&run->job), report->result->runs);
        }
    }
    report_to_programs(run, report);
    print_last(run, report);
    return report->exit_code;
}

int bz_command_run(int argc, char **argv) {
    static struct bz_campaign_result result;
    static struct bz_kept_findings findings;
    static struct bz_kept_finding cut;
    static struct bz_campaign_state state;
    static struct bz_stored stored = {.catalog = &bz_cli_catalog};
    static struct bz_stored own = {.catalog = &bz_cli_catalog, .is_own = true};
    static struct run run;
    run = (struct run){.job = {.runs = RUNS_DEFAULT},
                       .jobs = 1,
                       .state = &state,
                       .findings = &findings,
                       .stored = &stored,
                       .own = &own};
    const struct bz_syntax syntax = {
        .options = options,
        .target = &run,
        .args_doc = "SCENARIO",
        .arguments = &run.options.scenario,
        .arguments_max = 1,
        .plugins = BZ_PLUGINS_RUN,
        .program = &run.options,
        .check = check_options,
        .doc = "Runs a scenario under many seeded schedules and judges every step. Exit status: 0 "
               "nothing found, 1 a violation, 2 usage, 4 a required window was never hit, or a "
               "warning with --strict, 5 interrupted or out of steps."};
    int code = bz_options_parse(&syntax, argc, argv);
    run.ci.has_json = run.is_json;
    code = bz_ci_begin(&run.ci, code, run.options.scenario, run.options.variant);
    run.output = (struct bz_findings_output){.is_quiet = run.is_quiet};
    bz_interrupt_catch();
    bz_campaign_begin(&state);
    run.budget_ms = run.seconds * 1000;
    code = code == BZ_EXIT_OK ? prepare(&run) : code;
    findings.limits = run.search;
    findings.folder = run.out;
    findings.keeps_size = run.job.keeps_size;
    bz_findings_output_begin(&run.output, &findings);
    code = code != BZ_EXIT_OK ? code : bz_cases_name(&run.ci, &run.job.program, true);
    if (code != BZ_EXIT_OK) {
        return code;
    }
    struct bz_run_report report = {.job = &run.job,
                                   .result = &result,
                                   .findings = &findings,
                                   .cut = &cut,
                                   .is_strict = run.is_strict};
    if (!run.is_json && !run.is_quiet) {
        bz_run_report_print_head(&report);
    }
    /* the report says what was found before something ran out */
    if (!bz_scenario_is_of_suite(run.job.program.scenario)) {
        (void)bz_program_measure(&run.job.program); /* a lack shows below */
    }
    keep_earlier_findings(&run);
    code = try_stored(&run, &report);
    if (code != BZ_EXIT_OK) {
        bz_work_file_remove_new(&run.file);
        return code;
    }
    if (!run_campaign(&run, &result, &report.seconds)) {
        code = bz_cli_fail(BZ_EXIT_INTERNAL, "%s", result.lack);
    }
    report.exit_code = finish(&run, &report, &cut, code);
    bz_findings_drop(&cut);
    bz_findings_truncate(&findings, 0);
    return report.exit_code;
}
