#include "tools/report/cases.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/choice/strategy.h"
#include "sim/judge/record.h"
#include "sim/program/settings.h"
#include "tools/cli/cli.h"
#include "tools/report/diagnosis.h"
#include "tools/report/stored_report.h"
#include "tools/show/show.h"
#include "traces/lack.h"
#include "traces/text.h"

/* --- text that is printed elsewhere ----------------------------------------------------------- */

struct capture {
    FILE *out;
    char *bytes;
    size_t length;
};

static FILE *open_capture(struct capture *capture) {
    capture->out = bz_lack_check(open_memstream(&capture->bytes, &capture->length), "a report");
    return capture->out;
}

static void end_capture(struct capture *capture, struct bz_text *text) {
    bz_lack_check(fclose(capture->out) == 0 ? capture->bytes : NULL, "a report");
    bz_text_add(text, "%s", capture->bytes);
    free(capture->bytes);
}

/* --- what campaigns and searches share -------------------------------------------------------- */

static void add_title(struct bz_text *text, const struct bz_program *program, bool has_strategy) {
    bz_text_add(text, "%s", program->variant->name);
    if (has_strategy && strcmp(program->strategy->name, "portfolio") != 0) {
        bz_text_add(text, " strategy=%s", program->strategy->name);
    }
    for (struct bz_setting_text item = {0}; bz_program_next_setting(program, &item);) {
        if (!item.is_default) {
            bz_text_add(text, " %s=%s", item.name, item.value);
        }
    }
}

int bz_cases_name(const struct bz_ci *ci, const struct bz_program *program, bool has_strategy) {
    if (!bz_ci_is_wanted(ci)) {
        return BZ_EXIT_OK;
    }
    struct bz_text title = {0};
    add_title(&title, program, has_strategy);
    int code = bz_ci_rename(program->scenario->name, title.bytes);
    bz_text_fini(&title);
    return code;
}

static void begin(struct bz_outcome *outcome, const char *command, const struct bz_program *program,
                  bool has_strategy) {
    bz_outcome_init(outcome, command);
    bz_text_add(&outcome->suite, "%s", program->scenario->name);
    add_title(&outcome->title, program, has_strategy);
    bz_outcome_property(outcome, "scenario", "%s", program->scenario->name);
    bz_outcome_property(outcome, "variant", "%s", program->variant->name);
    if (has_strategy) {
        bz_outcome_property(outcome, "strategy", "%s", program->strategy->name);
    }
    for (struct bz_setting_text item = {0}; bz_program_next_setting(program, &item);) {
        bz_outcome_property(outcome, item.name, "%s", item.value);
    }
}

/* The line of the program where the violation's task, or else any task, was last suspended, as the
 * trace of a program in Python has it: "pool.py:12". */
static void add_place(struct bz_case *one, const struct bz_trace *trace) {
    const struct bz_trace_event *found = NULL;
    const char *task = trace->verdict.task;
    for (size_t index = 0; index < trace->event_count; index++) {
        const struct bz_trace_event *event = &trace->events[index];
        bool is_its = task != NULL && event->task != NULL && strcmp(event->task, task) == 0;
        bool was_its = found != NULL && task != NULL && strcmp(found->task, task) == 0;
        if (event->where != NULL && event->task != NULL && (is_its || !was_its)) {
            found = event;
        }
    }
    const char *colon = found == NULL ? NULL : strrchr(found->where, ':');
    if (colon != NULL && bz_parse_u64(colon + 1, &one->line)) {
        bz_text_add(&one->file, "%.*s", (int)(colon - found->where), found->where);
    }
}

static void add_picture(struct bz_case *one, const struct bz_trace *trace) {
    struct bz_story story;
    bz_story_init(&story, trace);
    bz_show_mermaid(&(struct bz_view){.trace = trace, .story = &story}, &one->picture);
    bz_story_fini(&story);
}

void bz_cases_add_run(struct bz_case *one, const struct bz_trace *trace,
                      const struct bz_variant *variant) {
    struct capture capture = {.out = NULL};
    bz_diagnosis_print(open_capture(&capture),
                       &(struct bz_diagnosis){.trace = trace, .variant = variant});
    end_capture(&capture, &one->story);
    add_picture(one, trace);
    add_place(one, trace);
}

/* "lost-wakeup of 'permits' (acquire, woken)" */
static void add_identity(struct bz_text *text, const struct bz_kept_finding *finding,
                         const struct bz_trace *trace) {
    const char *object = trace->verdict.object;
    bz_text_add(text, "%s", trace->verdict.oracle);
    if (object != NULL) {
        bz_text_add(text, " of '%s'", object);
    }
    if (finding->failure.violation.op != BZ_OP_NONE) {
        bz_text_add(text, " (%s, %s)", bz_op_name(finding->failure.violation.op),
                    bz_window_name(finding->failure.violation.window));
    }
}

/* `runs`: of the campaign; 0: of a search, which counts none. */
static void add_finding(struct bz_outcome *outcome, const struct bz_kept_finding *finding,
                        const struct bz_program *program, uint64_t runs) {
    const struct bz_trace *trace = finding->is_shrunk ? &finding->small : &finding->trace;
    struct bz_case *one =
        bz_outcome_case(outcome, BZ_CASE_FAILED, finding->failure.violation.oracle);
    struct capture capture = {.out = NULL};
    bz_text_add(&one->name, "%s: ", bz_outcome_text(&outcome->title));
    add_identity(&one->name, finding, trace);
    bz_outcome_distinguish(outcome, one);
    const char *message = trace->verdict.message;
    bz_text_add(&one->message, "%s", message != NULL ? message : finding->failure.violation.oracle);
    if (runs > 0) {
        bz_text_add(&one->message,
                    " (%" PRIu64 " of %" PRIu64 " runs, the first with seed 0x%" PRIx64 ")",
                    finding->count, runs, finding->trace.seed);
    }
    bz_run_report_print_finding(open_capture(&capture), finding, program->variant);
    end_capture(&capture, &one->story);
    bool has_small = finding->is_shrunk && finding->small_token[0] != '\0';
    struct bz_diagnosis diagnosis = {.trace = trace,
                                     .variant = program->variant,
                                     .token = has_small ? finding->small_token : finding->token};
    bz_diagnosis_add_command(&one->command, &diagnosis, bz_caller.replay);
    bz_text_add(&one->trace, "%s",
                finding->small_path[0] != '\0' ? finding->small_path : finding->path);
    if (trace->event_count > 0) { /* else there was no memory for it */
        add_picture(one, trace);
        add_place(one, trace);
    }
}

/* The case of the whole. Its message comes later. */
static struct bz_case *add_whole(struct bz_outcome *outcome, int exit_code) {
    bool is_proved = exit_code == BZ_EXIT_OK || exit_code == BZ_EXIT_VIOLATION;
    struct bz_case *one = bz_outcome_case(outcome,
                                          exit_code == BZ_EXIT_OK          ? BZ_CASE_PASSED
                                          : exit_code == BZ_EXIT_VIOLATION ? BZ_CASE_FAILED
                                                                           : BZ_CASE_ERROR,
                                          is_proved                          ? "violation"
                                          : exit_code == BZ_EXIT_UNPROVED    ? "unproved"
                                          : exit_code == BZ_EXIT_INTERRUPTED ? "incomplete"
                                          : exit_code == BZ_EXIT_INTERNAL    ? "no-resource"
                                                                             : "not-written");
    bz_text_add(&one->name, "%s", bz_outcome_text(&outcome->title));
    bz_outcome_property(outcome, "exit_code", "%d", exit_code);
    return one;
}

/* Why nothing was proved, in one line. */
static void end_whole(struct bz_case *one, const char *reason, int exit_code) {
    size_t length = strcspn(reason, "\n");
    if (exit_code == BZ_EXIT_USAGE) {
        bz_text_add(&one->message, "a file was not written, stderr says which; ");
    }
    if (one->result == BZ_CASE_ERROR && length > 0) {
        bz_text_add(&one->message, "%.*s; ", (int)length, reason);
        bz_text_add(&one->story, "%s", reason);
    }
}

static const char *plural(uint64_t count) {
    return count == 1 ? "" : "s";
}

/* The first run that the step limit cut: where it was. */
static void add_cut(struct bz_case *whole, const struct bz_run_report *report) {
    struct capture capture = {.out = NULL};
    struct bz_diagnosis diagnosis = {.trace = &report->cut->trace,
                                     .variant = report->job->program.variant,
                                     .token = report->cut->token};
    if (report->cut->token[0] == '\0') {
        return;
    }
    bz_text_add(&whole->story, "\n");
    bz_diagnosis_print_cut(open_capture(&capture), &diagnosis);
    end_capture(&capture, &whole->story);
    bz_diagnosis_add_command(&whole->command, &diagnosis, bz_caller.replay);
}

/* --- run -------------------------------------------------------------------------------------- */

/* One property for each operation: "waiting=3 woken=1". */
static void add_windows(struct bz_outcome *outcome, const struct bz_run_stats *stats) {
    char name[BZ_PROPERTY_NAME_BYTES];
    for (unsigned op = 1; op < BZ_OP_COUNT; op++) {
        struct bz_text text = {0};
        bz_run_report_add_windows(&text, stats, op);
        if (text.length > 0) {
            snprintf(name, sizeof name, "windows.%s", bz_op_name((enum bz_op)op));
            bz_outcome_property(outcome, name, "%s", text.bytes);
        }
        bz_text_fini(&text);
    }
}

static void add_counts(struct bz_outcome *outcome, const struct bz_run_report *report) {
    const struct bz_campaign_result *result = report->result;
    bz_outcome_property(outcome, "sizes", "%s", report->job->draws_sizes ? "drawn" : "default");
    bz_outcome_property(outcome, "seed_first", "0x%" PRIx64, report->job->seed_first);
    if (result->runs > 0) {
        bz_outcome_property(outcome, "seed_last", "0x%" PRIx64,
                            report->job->seed_first + (result->runs - 1));
    }
    bz_outcome_property(outcome, "runs", "%" PRIu64, result->runs);
    bz_outcome_property(outcome, "steps", "%" PRIu64, result->stats.steps);
    bz_outcome_property(outcome, "distinct", "%s%" PRIu64,
                        result->distinct_is_exact ? "" : "about ", result->distinct);
    bz_outcome_property(outcome, "injected", "%" PRIu64, result->stats.injected);
    bz_outcome_property(outcome, "digest", "%016" PRIx64, result->digest);
    bz_outcome_property(outcome, "violations_total", "%" PRIu64, result->violations);
    bz_outcome_property(outcome, "end", "%s", bz_run_report_end(report));
    add_windows(outcome, &result->stats);
}

static void add_stored(struct bz_outcome *outcome, const struct bz_stored *stored,
                       const struct bz_program *program) {
    for (uint64_t index = 0; index < stored->failed && index < BZ_STORED_MAX; index++) {
        const struct bz_stored_failure *failure = &stored->failures[index];
        struct bz_case *one =
            bz_outcome_case(outcome, BZ_CASE_FAILED, failure->record.verdict.oracle);
        bz_text_add(&one->name, "%s: stored trace %s", bz_outcome_text(&outcome->title),
                    failure->path);
        bz_text_add(&one->message, "%s", bz_or(failure->record.verdict.message, ""));
        bz_stored_add_command(&one->command, failure, program);
        bz_text_add(&one->trace, "%s", failure->path);
        bz_cases_add_run(one, &failure->record, program->variant);
    }
}

void bz_cases_of_run(struct bz_outcome *outcome, const struct bz_run_report *report,
                     const struct bz_stored *stored, const struct bz_stored *own) {
    const struct bz_campaign_result *result = report->result;
    struct capture capture = {.out = NULL};
    struct bz_text why = {0};
    begin(outcome, "run", &report->job->program, true);
    struct bz_case *whole = add_whole(outcome, report->exit_code);
    add_counts(outcome, report);
    outcome->seconds = report->seconds;
    bz_run_report_print_why(open_capture(&capture), report);
    end_capture(&capture, &why);
    for (uint32_t index = 0; index < report->warnings.count; index++) {
        bz_text_add(&outcome->warnings, "%s\n", report->warnings.items[index].text);
        if (report->is_strict && why.length == 0) {
            bz_text_add(&why, "--strict: %s", report->warnings.items[index].text);
        }
    }
    end_whole(whole, bz_outcome_text(&why), report->exit_code);
    bz_text_fini(&why);
    add_cut(whole, report);
    for (uint32_t index = 0; index < report->findings->count; index++) {
        add_finding(outcome, &report->findings->items[index], &report->job->program, result->runs);
    }
    add_stored(outcome, stored, &report->job->program);
    add_stored(outcome, own, &report->job->program);
    bz_text_add(&whole->message, "%" PRIu64 " violation%s in %" PRIu64 " run%s", result->violations,
                plural(result->violations), result->runs, plural(result->runs));
    if (report->stored_failed > 0) {
        bz_text_add(&whole->message, ", and %" PRIu64 " stored trace%s", report->stored_failed,
                    report->stored_failed == 1 ? " fails" : "s fail");
    }
}

/* --- explore ---------------------------------------------------------------------------------- */

void bz_cases_of_explore(struct bz_outcome *outcome, const struct bz_explore_report *report) {
    const struct bz_explore_result *result = report->result;
    struct capture capture = {.out = NULL};
    struct bz_text why = {0};
    begin(outcome, "explore", report->program, false);
    struct bz_case *whole = add_whole(outcome, report->exit_code);
    outcome->seconds = report->seconds;
    bz_outcome_property(outcome, "complete", bz_explore_is_complete(result) ? "true" : "false");
    bz_outcome_property(outcome, "rounds_done", "%u", result->rounds);
    bz_outcome_property(outcome, "states", "%" PRIu64, result->states);
    bz_outcome_property(outcome, "transitions", "%" PRIu64, result->transitions_total);
    bz_outcome_property(outcome, "outcomes", "%" PRIu64, result->outcomes);
    bz_outcome_property(outcome, "schedules", "%" PRIu64, result->schedules);
    bz_explore_report_print_conclusion(open_capture(&capture), report);
    end_capture(&capture, &why);
    end_whole(whole, bz_outcome_text(&why), report->exit_code);
    bz_text_fini(&why);
    for (uint32_t index = 0; index < report->findings->count; index++) {
        add_finding(outcome, &report->findings->items[index], report->program, 0);
    }
    bz_text_add(&whole->message, "%u violation%s in %" PRIu64 " states", report->findings->count,
                plural(report->findings->count), result->states);
}
