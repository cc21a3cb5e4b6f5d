/* buzzer run: runs many seeds of one program and reports the findings. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/program/settings.h"
#include "sim/program/sizes.h"
#include "tools/cli/cli.h"
#include "tools/cli/run_options.h"
#include "tools/report/cases.h"
#include "tools/report/diagnosis.h"
#include "tools/report/report.h"
#include "tools/report/text_output.h"

#define RUNS_DEFAULT 10000u
/* A campaign ends if all of its first runs are cut: so many, and more if they are short. */
#define CUT_RUNS_LEAST 20u
#define CUT_STEPS_LEAST 1000000u

/* --- the campaign ----------------------------------------------------------------------------- */

static bool poll_campaign(void *context, const struct bz_campaign_result *so_far) {
    struct bz_run *run = context;
    bz_progress_show(&run->progress, so_far->runs, so_far->violations);
    bool is_time_up = run->progress.deadline_ns != 0 && bz_wall_ns() >= run->progress.deadline_ns;
    return bz_interrupt_requested == 0 && !is_time_up;
}

/* The program of one run. */
static void program_of(const struct bz_run *run, uint64_t seed, struct bz_program *program) {
    *program = run->program;
    if (!run->has_default_sizes) {
        bz_sizes_draw(&run->program, seed, program);
    }
}

static void note_code(struct bz_run *run, int code) {
    run->findings_code = code > run->findings_code ? code : run->findings_code;
}

static void keep_finding(void *context, uint32_t place, const struct bz_finding *finding) {
    struct bz_run *run = context;
    static struct bz_program program;
    program_of(run, finding->seed, &program);
    note_code(run, bz_findings_keep(run->findings, place, run->name, &program, finding, run->out));
}

static void on_finding(void *context, uint32_t place, const struct bz_finding *finding) {
    struct bz_run *run = context;
    keep_finding(run, place, finding);
    bz_findings_announce(run->findings, place, run->name);
}

static void keep_state(void *context, const struct bz_campaign_state *state, bool is_last) {
    struct bz_run *run = context;
    if (run->file != NULL) {
        bz_checkpoint_file_write(run->file, state, is_last);
    }
}

/* How many first runs may be cut. */
static uint64_t cut_runs_max(const struct bz_run *run) {
    uint32_t steps_max = run->program.steps_max;
    uint64_t runs = steps_max == 0 ? BZ_RUNS_MAX : (CUT_STEPS_LEAST - 1) / steps_max + 1;
    return run->keep_going ? 0 : runs < CUT_RUNS_LEAST ? CUT_RUNS_LEAST : runs;
}

static bool run_campaign(struct bz_run *run, struct bz_campaign_result *result, double *seconds) {
    struct bz_campaign_config config = {.program = &run->program,
                                        .seed_first = run->seed_first,
                                        .first_run = run->first_run,
                                        .runs = run->runs,
                                        .jobs = run->jobs,
                                        .keep_going = run->keep_going,
                                        .repeats_all = run->repeats_all,
                                        .draws_sizes = !run->has_default_sizes,
                                        .cut_runs_max = cut_runs_max(run),
                                        .stop = &bz_interrupt_requested,
                                        .poll = poll_campaign,
                                        .from = run->state,
                                        .on_finding = on_finding,
                                        .on_state = keep_state,
                                        .context = run};
    bz_progress_begin(&run->progress, run->is_quiet, run->runs, (run->budget_ms + 999) / 1000);
    run->progress.runs_before = run->state->result.runs;
    if (run->budget_ms != 0) {
        run->progress.deadline_ns = run->progress.began_ns + run->budget_ms * 1000000;
    }
    bool is_done = bz_campaign_run(&config, result);
    *seconds = bz_progress_end(&run->progress);
    return is_done;
}

/* True if it ended before its work was done, which is a number of runs, or a time. */
static bool is_stopped(const struct bz_run *run, const struct bz_campaign_result *result) {
    bool is_time_all = run->file == NULL || run->file->checkpoint.limit_ms != 0;
    return result->lack[0] != '\0' ||
           (result->is_interrupted && (bz_interrupt_requested != 0 || !is_time_all));
}

/* --- where it begins -------------------------------------------------------------------------- */

/* The work that a checkpoint names, and the rest that is left. */
static void take_up(struct bz_run *run, struct bz_checkpoint_file *file) {
    const struct bz_checkpoint *checkpoint = &file->checkpoint;
    run->before_ms = file->before_ms;
    run->file = file;
    run->out = file->folder;
    run->program = checkpoint->program;
    run->seed_first = checkpoint->seed_first;
    run->shard = checkpoint->shard.count > 1 ? checkpoint->shard : run->shard;
    run->first_run = bz_checkpoint_first_run(checkpoint);
    run->campaign_runs = checkpoint->campaign_runs;
    run->runs = checkpoint->runs;
    run->keep_going = checkpoint->keep_going;
    run->keeps_size |= checkpoint->keeps_size;
    run->has_default_sizes = !checkpoint->draws_sizes;
    memcpy(run->required.windows, checkpoint->required, sizeof checkpoint->required);
    if (bz_checkpoint_is_finished(checkpoint, run->state)) {
        bz_cli_fail(run->name, BZ_EXIT_OK, "the campaign of '%s' is finished; its report follows",
                    file->path);
        run->was_time_up = run->state->result.runs < run->runs;
        run->runs = run->state->result.runs;
        run->file = NULL;
    } else if (checkpoint->limit_ms != 0) {
        run->budget_ms = checkpoint->limit_ms - checkpoint->spent_ms;
    }
}

/* Takes its part of the runs. One that ended with a violation would leave a gap. */
static void divide(struct bz_run *run) {
    run->campaign_runs = run->runs;
    if (run->shard.count > 0) {
        run->first_run = bz_shard_first(&run->shard, run->campaign_runs);
        run->runs = bz_shard_runs(&run->shard, run->campaign_runs);
        run->keep_going = true;
    }
}

/* A shard continues from what it has left, so an engine may start it as often as it likes. */
static int begin_shard(struct bz_run *run) {
    bool is_there;
    int code = bz_checkpoint_file_of_shard(run->file, run->out, run->state, &is_there);
    bz_shard_tell_engine();
    if (code == BZ_EXIT_OK && is_there) {
        run->resume = run->file->path;
        take_up(run, run->file);
    }
    return code;
}

/* A new campaign. */
static int begin(struct bz_run *run, struct bz_checkpoint_file *file) {
    int code = bz_options_program(&run->options, run->name, &run->program);
    if (code != BZ_EXIT_OK || run->out == NULL) {
        return code;
    }
    code = bz_findings_prepare_folder(run->name, run->out);
    if (code != BZ_EXIT_OK) {
        return code;
    }
    divide(run);
    file->name = run->name;
    file->checkpoint = (struct bz_checkpoint){.program = run->program,
                                              .seed_first = run->seed_first,
                                              .shard = run->shard,
                                              .campaign_runs = run->campaign_runs,
                                              .runs = run->runs,
                                              .limit_ms = run->budget_ms,
                                              .keep_going = run->keep_going,
                                              .keeps_size = run->keeps_size,
                                              .draws_sizes = !run->has_default_sizes};
    memcpy(file->checkpoint.required, run->required.windows, sizeof file->checkpoint.required);
    run->file = file;
    return run->shard.count > 0 ? begin_shard(run) : bz_checkpoint_file_create(run->file, run->out);
}

/* One that continues. --time is the time of this session; without it, a campaign with a limit takes
 * the rest. */
static int resume(struct bz_run *run, struct bz_checkpoint_file *file) {
    file->name = run->name;
    int code = bz_checkpoint_file_open(file, run->resume, run->state);
    if (code != BZ_EXIT_OK) {
        return code;
    }
    if (file->checkpoint.limit_ms != 0 && run->budget_ms != 0) {
        file->checkpoint.limit_ms = file->checkpoint.spent_ms + run->budget_ms;
    }
    take_up(run, file);
    return BZ_EXIT_OK;
}

static int prepare(struct bz_run *run, struct bz_checkpoint_file *file) {
    int code = run->resume != NULL ? resume(run, file) : begin(run, file);
    return code == BZ_EXIT_OK && run->resume != NULL
               ? bz_checkpoint_file_check_code(file, run->state)
               : code;
}

/* --- stored traces ---------------------------------------------------------------------------- */

static void put_json(const struct bz_run *run, const struct bz_run_report *report) {
    struct bz_json *root = bz_run_report_json(report);
    if (run->shard.count > 0) {
        bz_shard_add_json(root, &run->shard, run->first_run, report->result->runs);
    }
    if (run->corpus != NULL) {
        bz_stored_add_json(run->stored, root, "stored");
    }
    if (run->own->tried + run->own->cut + run->own->other > 0) {
        bz_stored_add_json(run->own, root, "stored_own");
    }
    bz_json_put(root);
}

/* The output for programs. A file that cannot be written hides nothing else. */
static void report_to_programs(struct bz_run *run, struct bz_run_report *report) {
    if (bz_ci_is_wanted(&run->ci)) {
        struct bz_outcome outcome;
        bz_cases_of_run(&outcome, report, run->stored, run->own);
        int code = bz_ci_end(&outcome);
        report->exit_code = code != BZ_EXIT_OK ? code : report->exit_code;
        bz_outcome_fini(&outcome);
    }
    if (run->is_json) {
        put_json(run, report);
    }
}

/* Those of --corpus. One that fails ends the session, unless it is to keep going. */
static int try_corpus(struct bz_run *run, struct bz_run_report *report) {
    int code = bz_stored_try(run->stored, run->name, run->corpus, &run->program);
    report->stored_failed += run->stored->failed;
    if (!run->is_json) {
        bz_stored_print(run->stored, &run->program, run->is_quiet);
    }
    if (code == BZ_EXIT_OK && run->stored->failed > 0 && !run->keep_going) {
        report->exit_code = bz_cli_fail(run->name, BZ_EXIT_VIOLATION,
                                        "a stored trace fails, so the campaign was not begun "
                                        "(--keep-going begins it anyway)");
        report_to_programs(run, report);
        code = report->exit_code;
    }
    return code;
}

/* Tries them. An exit code; not BZ_EXIT_OK, after a message: there is no campaign, and what there
 * is to report was reported. */
static int try_stored(struct bz_run *run, struct bz_run_report *report) {
    int code = BZ_EXIT_OK;
    bool has_own = run->out != NULL && run->resume == NULL && run->shard.count == 0 &&
                   (run->corpus == NULL || !bz_stored_is_same_folder(run->corpus, run->out));
    if (has_own) {
        code = bz_stored_try_own(run->own, run->name, run->out, &run->program);
        bz_stored_say_own(run->own, run->name, &run->program, run->is_quiet);
        report->stored_failed = run->own->failed;
    }
    if (code == BZ_EXIT_OK && run->corpus != NULL) {
        code = try_corpus(run, report);
    }
    return code;
}

/* --- the result ------------------------------------------------------------------------------- */

/* Records the findings of earlier sessions again; their files are there. */
static void keep_earlier_findings(struct bz_run *run) {
    for (uint32_t index = 0; index < run->state->result.finding_count; index++) {
        keep_finding(run, index, &run->state->result.findings[index]);
    }
}

/* Takes over the counts, shrinks, makes one of what is one, and searches witnesses. */
static int finish_findings(struct bz_run *run, const struct bz_campaign_result *result) {
    bool is_part = run->shard.count > 0; /* what follows is done once, by `merge` */
    for (uint32_t index = 0; index < result->finding_count; index++) {
        run->findings->items[index].count = result->findings[index].count;
        if (!run->keeps_size && !is_part) {
            note_code(run, bz_findings_shrink(run->findings, index, run->name, run->out));
        }
    }
    bz_findings_merge(run->findings);
    for (uint32_t index = 0; !is_part && index < run->findings->count; index++) {
        note_code(run, bz_findings_search_witness(run->findings, index, run->name, !run->keeps_size,
                                                  run->out));
    }
    return run->findings_code;
}

/* Warnings, and how to continue. */
static void print_last(const struct bz_run *run, const struct bz_run_report *report) {
    uint64_t runs = report->result->runs;
    struct bz_text text = {0};
    for (uint32_t index = 0; index < report->warnings.count; index++) {
        bz_text_clear(&text);
        bz_text_add(&text, "warning, after %" PRIu64 " run%s of %s: %s", runs, runs == 1 ? "" : "s",
                    run->program.scenario->name, report->warnings.items[index].text);
        bz_cli_note(run->name, text.bytes);
    }
    bz_text_fini(&text);
    if (report->is_stopped && run->file != NULL && !run->file->has_failed) {
        bz_checkpoint_file_print_command(run->file, run->is_strict);
    }
}

/* The parts of the report besides findings. */
static void sum_up(const struct bz_run *run, struct bz_run_report *report,
                   struct bz_kept_finding *cut) {
    const struct bz_campaign_result *result = report->result;
    if (run->shard.count == 0) { /* else of all shards together, which `merge` sees */
        bz_require_window_missed(&run->required, &result->stats, &report->missed);
        bz_warnings_find(&run->program, result, run->is_strict, &report->warnings);
    }
    report->is_stopped = is_stopped(run, result);
    report->is_time_up = run->was_time_up || result->is_interrupted;
    if (result->out_of_steps > 0 && result->violations == 0 && !report->is_stopped) {
        static struct bz_program program;
        program_of(run, result->seed_cut, &program);
        bz_findings_keep_cut(cut, &program, result->seed_cut);
    }
    report->exit_code = bz_run_report_exit_code(report);
}

/* Completes the report and passes it on. `code`: of the campaign. Returns the exit code. A trace
 * that cannot be written does not hide the other findings. */
static int finish(struct bz_run *run, struct bz_run_report *report, struct bz_kept_finding *cut,
                  int code) {
    sum_up(run, report, cut);
    int findings_code = finish_findings(run, report->result);
    if (bz_interrupt_requested != 0 && run->findings->count > 0 && run->shard.count == 0) {
        report->is_stopped = true; /* not all are shrunk, or have a witness */
        report->exit_code = bz_run_report_exit_code(report);
    }
    code = findings_code > code ? findings_code : code;
    code =
        run->file != NULL && run->file->has_failed && code < BZ_EXIT_USAGE ? BZ_EXIT_USAGE : code;
    report->exit_code = code != BZ_EXIT_OK ? code : report->exit_code;
    report->seconds += (double)run->before_ms / 1000;
    if (!run->is_json) {
        bz_run_report_print(report, run->is_quiet);
        if (run->shard.count > 0 && !run->is_quiet) {
            bz_shard_print(&run->shard, run->first_run, report->result->runs);
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
    static struct bz_stored stored;
    static struct bz_stored own;
    static struct bz_checkpoint_file file;
    struct bz_run run = {.runs = RUNS_DEFAULT,
                         .jobs = 1,
                         .state = &state,
                         .findings = &findings,
                         .stored = &stored,
                         .own = &own,
                         .name = argv[0]};
    int code = bz_run_options_parse(&run, argc, argv);
    run.ci.has_json = run.is_json;
    code = bz_ci_begin(&run.ci, argv[0], code, run.options.scenario, run.options.variant);
    bz_interrupt_catch();
    bz_campaign_begin(&state);
    run.budget_ms = run.seconds * 1000;
    findings.limits = run.search;
    findings.is_quiet = run.is_quiet;
    code = code == BZ_EXIT_OK ? prepare(&run, &file) : code;
    code = code != BZ_EXIT_OK ? code : bz_cases_name(&run.ci, &run.program, true);
    if (code != BZ_EXIT_OK) {
        return code;
    }
    struct bz_run_report report = {.program = &run.program,
                                   .seed_first = run.seed_first,
                                   .result = &result,
                                   .findings = &findings,
                                   .cut = &cut,
                                   .is_strict = run.is_strict,
                                   .draws_sizes = !run.has_default_sizes,
                                   .stops_at_first = !run.keep_going};
    if (!run.is_json && !run.is_quiet) {
        bz_run_report_print_head(&report);
    }
    /* the report says what was found before something ran out */
    (void)bz_program_measure(&run.program); /* a lack shows below */
    keep_earlier_findings(&run);
    code = try_stored(&run, &report);
    if (code != BZ_EXIT_OK) {
        return code;
    }
    if (!run_campaign(&run, &result, &report.seconds)) {
        code = bz_cli_fail(argv[0], BZ_EXIT_INTERNAL, "%s", result.lack);
    }
    report.exit_code = finish(&run, &report, &cut, code);
    bz_findings_drop_cut(&cut);
    bz_findings_fini(&findings);
    return report.exit_code;
}
