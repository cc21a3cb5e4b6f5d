#include "tools/report/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/choice/strategy.h"
#include "sim/judge/judge.h"
#include "sim/program/settings.h"
#include "sim/program/sizes.h"
#include "tools/cli/cli.h"
#include "tools/report/diagnosis.h"
#include "tools/report/text_output.h"
#include "traces/text.h"

void bz_run_report_print_program(const struct bz_program *program) {
    struct bz_wrap wrap = {.out = stdout};
    struct bz_text text = {0};
    bz_wrap_printf(&wrap, 2, BZ_COLOUR_NONE, "scenario %s, variant %s", program->scenario->name,
                   program->variant->name);
    for (struct bz_setting_text item = {0}; bz_program_next_setting(program, &item);) {
        bz_text_add(&text, "%s%s=%s", item.index == 1 ? "" : " ", item.name, item.value);
    }
    bz_wrap_print(&wrap, "settings ", text.bytes, 9, BZ_COLOUR_NONE);
    bz_text_fini(&text);
}

/* The parameters that a campaign draws. */
static void print_sizes(const struct bz_program *program) {
    struct bz_wrap wrap = {.out = stdout};
    struct bz_text text = {0};
    for (uint32_t index = 0; program->scenario->params[index].name != NULL; index++) {
        if (bz_sizes_of(program->scenario, index) != NULL && (program->pinned >> index & 1u) == 0) {
            bz_text_add(&text, "%s%s", text.bytes == NULL ? "" : ", ",
                        program->scenario->params[index].name);
        }
    }
    if (text.bytes != NULL) {
        bz_text_add(&text, ": drawn in 1 of %u runs (--sizes)", BZ_SIZES_EVERY);
        bz_wrap_print(&wrap, "sizes    ", text.bytes, 9, BZ_COLOUR_NONE);
    }
    bz_text_fini(&text);
}

void bz_run_report_print_head(const struct bz_run_report *report) {
    printf("SEED 0x%" PRIx64 "\n", report->job->seed_first);
    bz_run_report_print_program(&report->job->program);
    if (report->job->draws_sizes) {
        print_sizes(&report->job->program);
    }
    printf("\n");
    fflush(stdout); /* before a seed can kill the program */
}

void bz_run_report_add_windows(struct bz_text *text, const struct bz_run_stats *stats,
                               unsigned op) {
    for (unsigned window = 1; window < BZ_WINDOW_COUNT; window++) {
        if (stats->windows[op][window] > 0) {
            bz_text_add(text, "%s%s=%" PRIu64, text->length > 0 ? " " : "",
                        bz_window_name((enum bz_window)window), stats->windows[op][window]);
        }
    }
}

void bz_run_report_print_windows(const struct bz_run_stats *stats) {
    struct bz_wrap wrap = {.out = stdout};
    struct bz_text text = {0};
    printf("\nCancels that struck, by operation and window:\n");
    for (unsigned op = 1; op < BZ_OP_COUNT; op++) {
        char prefix[32];
        bz_text_clear(&text);
        bz_run_report_add_windows(&text, stats, op);
        if (text.length > 0) {
            int columns = snprintf(prefix, sizeof prefix, "  %-8s ", bz_op_name((enum bz_op)op));
            bz_wrap_print(&wrap, prefix, text.bytes, (unsigned)columns, BZ_COLOUR_NONE);
        }
    }
    bz_text_fini(&text);
}

static const char *the_limit(const struct bz_campaign_result *result) {
    return result->cut[0] != '\0' ? "the step limit, or that of a check," : "the step limit";
}

static void print_tried(const struct bz_campaign_result *result) {
    const char *about = result->handoff_is_exact ? "" : "about ";
    struct bz_wrap wrap = {.out = stdout};
    bz_wrap_printf(&wrap, 2, BZ_COLOUR_NONE,
                   "runs %" PRIu64 ", steps %" PRIu64 ", distinct schedules %s%" PRIu64
                   ", injected cancels %" PRIu64,
                   result->runs, result->stats.steps, result->distinct_is_exact ? "" : "about ",
                   result->distinct, result->stats.injected);
    bz_wrap_printf(&wrap, 2, BZ_COLOUR_NONE,
                   "hand-off orders: %s%" PRIu64 " distinct, %s%" PRIu64
                   " seen once; chance that the next run shows a new order: %" PRIu32 ".%03" PRIu32
                   " %% (Good-Turing)",
                   about, result->handoff_orders, about, result->handoff_orders_once,
                   result->handoff_new_ppm / 10000, result->handoff_new_ppm % 10000 / 10);
    printf("digest %016" PRIx64 "\n", result->digest);
    if (result->out_of_steps > 0) {
        printf("%" PRIu64 " of the runs hit %s and were truncated (--max-steps)\n",
               result->out_of_steps, the_limit(result));
    }
    if (result->cut[0] != '\0') {
        bz_wrap_printf(&wrap, 2, BZ_COLOUR_NONE, "judged only in part: %s", result->cut);
    }
    bz_run_report_print_windows(&result->stats);
}

static const char *or_null(const char *text) {
    return text[0] != '\0' ? text : NULL;
}

void bz_run_report_print_finding(FILE *out, const struct bz_kept_finding *finding,
                                 const struct bz_variant *variant) {
    struct bz_diagnosis diagnosis = {.trace = &finding->trace,
                                     .variant = variant,
                                     .token = finding->token,
                                     .is_interrupted = finding->is_interrupted,
                                     .trace_path = or_null(finding->path)};
    if (finding->is_shrunk) {
        diagnosis.trace = &finding->small;
        diagnosis.found = &finding->trace;
        diagnosis.small_token = or_null(finding->small_token);
        diagnosis.small_path = or_null(finding->small_path);
    }
    bz_diagnosis_print(out, &diagnosis);
    if (finding->is_shrunk) {
        fprintf(out, "        %s\n", finding->small_end);
    }
    if (finding->fifo.token[0] != '\0') {
        bool needs_lag = finding->fifo.lag_ns > 0;
        fprintf(out, "fifo    also reachable on a %sFIFO loop%s%s: %s\n", needs_lag ? "" : "plain ",
                needs_lag ? " with slow steps, in sum " : "",
                needs_lag ? bz_cli_time_text(finding->fifo.lag_ns) : "", finding->fifo.token);
        if (finding->fifo.path[0] != '\0') {
            fprintf(out, "fifo    %s\n", finding->fifo.path);
        }
    } else if (finding->fifo.is_searched) {
        fprintf(
            out,
            "fifo    this finding was not found on a FIFO loop in %" PRIu64 " run%s;\n        %s\n",
            finding->fifo.runs, finding->fifo.runs == 1 ? "" : "s",
            finding->fifo.end[0] != '\0' ? finding->fifo.end : "--order fifo searches only those");
    }
}

/* How many runs have this finding, and what they have in common besides oracle and object. */
static void print_count(const struct bz_kept_finding *finding) {
    printf("count   %" PRIu64 " run%s", finding->count, finding->count == 1 ? "" : "s");
    if (finding->failure.violation.op != BZ_OP_NONE) {
        printf("; operation %s, window %s", bz_op_name(finding->failure.violation.op),
               bz_window_name(finding->failure.violation.window));
    }
    printf("\n");
}

static void print_findings(const struct bz_run_report *report) {
    const struct bz_campaign_result *result = report->result;
    uint64_t not_kept = result->violations;
    for (uint32_t index = 0; index < report->findings->count; index++) {
        const struct bz_kept_finding *finding = &report->findings->items[index];
        if (index > 0) {
            printf("\n");
        }
        bz_run_report_print_finding(stdout, finding, report->job->program.variant);
        if (result->violations > 1) {
            print_count(finding);
        }
        not_kept -= finding->count;
    }
    printf("\n%" PRIu64 " of %" PRIu64 " run%s violated:\n", result->violations, result->runs,
           result->runs == 1 ? "" : "s");
    for (unsigned index = 0; index < bz_oracle_count; index++) {
        if (result->by_oracle[index] > 0) {
            printf("  %-20s %" PRIu64 "\n", bz_oracles[index].name, result->by_oracle[index]);
        }
    }
    if (not_kept > 0) {
        printf("%" PRIu64 " of them %s not listed: %u different findings are kept\n", not_kept,
               not_kept == 1 ? "is" : "are", BZ_FINDINGS_MAX);
    }
}

const char *bz_run_report_end(const struct bz_run_report *report) {
    const struct bz_campaign_result *result = report->result;
    bool is_stopped_by_finding = !report->job->keep_going && result->violations > 0;
    return result->lack[0] != '\0'                          ? "no-resource"
           : report->is_stopped                             ? "interrupted"
           : is_stopped_by_finding                          ? "violation"
           : result->is_cut_off                             ? "step-limit"
           : result->is_complete                            ? "complete"
           : result->runs == 0 && report->stored_failed > 0 ? "stored-trace"
           : report->is_time_up                             ? "time"
                                                            : "runs";
}

/* The runs that hit the step limit, in a sentence. */
static void say_cut(FILE *out, const struct bz_run_report *report) {
    const struct bz_campaign_result *result = report->result;
    if (result->is_cut_off) {
        fprintf(out,
                "nothing proved: none of the first %" PRIu64 " runs ended within %" PRIu32
                " steps\n(--max-steps)%s, so the campaign stopped; --keep-going continues\n",
                result->runs, report->job->program.steps_max,
                result->cut[0] == '\0' ? "" : " and the limit of a check");
    } else if (result->out_of_steps == result->runs) {
        fprintf(out, "nothing proved: no run ended within %s (--max-steps)\n", the_limit(result));
    } else {
        fprintf(out, "%" PRIu64 " of the runs hit %s (--max-steps)\n", result->out_of_steps,
                the_limit(result));
    }
}

void bz_run_report_print_why(FILE *out, const struct bz_run_report *report) {
    const struct bz_campaign_result *result = report->result;
    if (report->is_stopped && result->lack[0] != '\0') {
        fprintf(out, "%s; %" PRIu64 " runs are complete\n", result->lack, result->runs);
    } else if (report->is_stopped) {
        fprintf(out, "%s; %" PRIu64 " runs are complete\n",
                bz_or(report->why_stopped, "interrupted"), result->runs);
    } else if (report->exit_code == BZ_EXIT_INTERRUPTED) {
        say_cut(out, report);
    }
    for (unsigned index = 0; report->exit_code == BZ_EXIT_UNPROVED && index < report->missed.count;
         index++) {
        fprintf(out, "nothing proved: the required window '%s' was never hit\n",
                report->missed.names[index]);
    }
}

#define ALONE " in the one schedule that there is: no run offers a choice"

static void print_verdict(const struct bz_run_report *report) {
    const struct bz_campaign_result *result = report->result;
    bool has_ended = result->out_of_steps == 0 || result->out_of_steps < result->runs;
    bool is_missed = report->exit_code == BZ_EXIT_UNPROVED && report->missed.count > 0;
    if (report->is_stopped || is_missed || (!has_ended && result->violations == 0)) {
        printf("\n");
        bz_run_report_print_why(stdout, report);
    }
    if (result->lack[0] == '\0' && result->violations == 0 && has_ended) {
        printf("\nno violation found%s%s%s%s\n", result->is_complete ? ALONE : "",
               result->out_of_steps > 0 ? " in the runs that ended" : "",
               report->stored_failed > 0 ? " in these runs, but a stored trace fails" : "",
               report->warnings.count > 0 ? ", but see the warning: little was tested" : "");
    }
}

void bz_run_report_print(const struct bz_run_report *report, bool is_quiet) {
    const struct bz_campaign_result *result = report->result;
    if (result->violations > 0) {
        print_findings(report);
    }
    if (report->cut->token[0] != '\0') {
        bz_diagnosis_print_cut(stdout,
                               &(struct bz_diagnosis){.trace = &report->cut->trace,
                                                      .variant = report->job->program.variant,
                                                      .token = report->cut->token});
    }
    if (is_quiet) {
        if (result->lack[0] == '\0') { /* else there is a message already */
            bz_run_report_print_why(stderr, report);
        }
        return;
    }
    if (result->violations > 0 || report->cut->token[0] != '\0') {
        printf("\n");
    }
    print_tried(result);
    print_verdict(report);
    fflush(stdout);
    fprintf(stderr, "%.2f s, %.0f runs/s\n", report->seconds,
            report->seconds > 0 ? (double)result->runs / report->seconds : 0.0);
}

int bz_run_report_exit_code(const struct bz_run_report *report) {
    if (report->is_stopped) {
        return BZ_EXIT_INTERRUPTED;
    }
    if (report->result->violations > 0 || report->stored_failed > 0) {
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
