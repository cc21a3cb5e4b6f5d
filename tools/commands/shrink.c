/* buzzer shrink: the smallest run that fails in the same way. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/program/token.h"
#include "sim/shrink/shrink.h"
#include "tools/cli/cli.h"
#include "tools/cli/options.h"
#include "tools/cli/progress.h"
#include "tools/cli/run_argument.h"
#include "tools/report/diagnosis.h"
#include "tools/report/findings_output.h"
#include "tools/report/report.h"
#include "traces/text.h"

struct shrink {
    const char *input;
    const char *output;
    uint64_t runs_max;
    struct bz_search_limits limits;
    bool is_json;
    bool is_quiet;
    struct bz_named_run run;
    struct bz_findings_output progress;
    struct bz_shrink_result result;
    struct bz_trace trace; /* of the smallest run */
    char token_text[BZ_TOKEN_BYTES];
    const char *token; /* NULL: its choices do not fit into one */
};

static const struct bz_option options[] = {
    {"output", "FILE", "Write the trace of the smallest run", BZ_OPTION_TEXT,
     offsetof(struct shrink, output), .letter = 'o'},
    {"max-runs", "N", "Stop after so many runs (no limit)", BZ_OPTION_NUMBER,
     offsetof(struct shrink, runs_max), .least = 1, .most = UINT32_MAX},
    BZ_SEARCH_OPTIONS(struct shrink, limits),
    {"json", NULL, "Print one JSON document", BZ_OPTION_FLAG, offsetof(struct shrink, is_json)},
    {"quiet", NULL, "Print the token alone", BZ_OPTION_FLAG, offsetof(struct shrink, is_quiet)},
    {NULL},
};

static void check_options(void *target) {
    const struct shrink *shrink = target;
    if (shrink->is_json && shrink->is_quiet) {
        bz_cli_misuse("--json contradicts --quiet; give one of them");
    }
}

static int run_shrink(struct shrink *shrink) {
    char error[BZ_ERROR_BYTES];
    char text[BZ_ERROR_BYTES];
    struct bz_shrink_result *result = &shrink->result;
    bz_interrupt_catch();
    shrink->progress.is_quiet = shrink->is_quiet;
    struct bz_shrink_config config = {.program = &shrink->run.program,
                                      .trace = &shrink->run.trace,
                                      .budget = bz_search_limits_begin(&shrink->limits),
                                      .runs_max = shrink->runs_max,
                                      .on_progress = bz_findings_show_shrinking,
                                      .context = &shrink->progress};
    bool is_ok = bz_shrink(&config, result);
    (void)bz_time_limit_end();
    bz_findings_show_shrinking(&shrink->progress, result->runs, NULL);
    if (!is_ok) {
        return bz_cli_fail(result->end == BZ_SHRINK_UNREPEATABLE  ? BZ_EXIT_DIVERGED
                           : result->end == BZ_SHRINK_NO_RESOURCE ? BZ_EXIT_INTERNAL
                                                                  : BZ_EXIT_USAGE,
                           "%s", bz_shrink_end_text(result, text, sizeof text));
    }
    if (!bz_shrink_record(result, &shrink->trace, error, sizeof error)) {
        return bz_cli_fail(result->lack[0] != '\0' ? BZ_EXIT_INTERNAL : BZ_EXIT_DIVERGED, "%s",
                           error);
    }
    if (result->has_answers) {
        shrink->token = bz_token_format(&result->program, shrink->trace.seed, result->digest,
                                        shrink->token_text, sizeof shrink->token_text);
    }
    if (shrink->output != NULL &&
        !bz_trace_write(&shrink->trace, shrink->output, error, sizeof error)) {
        return bz_cli_fail(BZ_EXIT_USAGE, "the trace was not written: %s", error);
    }
    return result->end == BZ_SHRINK_INTERRUPTED ? BZ_EXIT_INTERRUPTED : BZ_EXIT_OK;
}

/* --- the result ------------------------------------------------------------------------------- */

static void print_row(const char *what, uint64_t before, uint64_t after) {
    printf("  %-16s %10" PRIu64 " %10" PRIu64 "\n", what, before, after);
}

static void print_text(const struct shrink *shrink) {
    const struct bz_shrink_size *before = &shrink->result.before;
    const struct bz_shrink_size *after = &shrink->result.after;
    char text[BZ_ERROR_BYTES];
    if (shrink->is_quiet) {
        if (shrink->token != NULL) {
            printf("%s\n", shrink->token);
        } else {
            (void)bz_cli_fail(BZ_EXIT_OK,
                              "the run is too long for a token; use --output to write a trace");
        }
        return;
    }
    printf("%-18s %10s %10s\n", "shrunk", "from", "to");
    print_row("deviations", before->deviations, after->deviations);
    print_row("cancels", before->cancels, after->cancels);
    print_row("tasks", before->tasks, after->tasks);
    if (before->helpers + after->helpers > 0) {
        print_row("helpers", before->helpers, after->helpers);
    }
    print_row("parameters", before->params, after->params);
    print_row("draws", before->draws, after->draws);
    print_row("steps", before->steps, after->steps);
    printf("%s\n\n", bz_shrink_end_text(&shrink->result, text, sizeof text));
    bz_diagnosis_print(stdout, &(struct bz_diagnosis){.trace = &shrink->trace,
                                                      .variant = shrink->result.program.variant,
                                                      .token = shrink->token,
                                                      .trace_path = shrink->output});
}

static void print_json(const struct shrink *shrink, int code) {
    static const char *const reasons[] = {"minimal", "1-minimal", "budget", "time", "interrupted"};
    const struct bz_shrink_result *result = &shrink->result;
    struct bz_json *root = bz_json_new_object();
    bz_json_add_string(root, "input", shrink->input);
    bz_json_add_program(root, &result->program);
    bz_json_add_number(root, "runs", result->runs);
    bz_json_add_bool(root, "minimal", result->end <= BZ_SHRINK_ONE_MINIMAL);
    bz_json_add_string(root, "reason", reasons[result->end]);
    bz_json_add_string(root, "oracle", result->violation.oracle);
    bz_json_add_string(root, "message", result->violation.message);
    bz_json_add_size(root, &result->after);
    bz_json_add_size(bz_json_add_object(root, "before"), &result->before);
    bz_json_add_string(root, "token", shrink->token);
    bz_json_add_string(root, "trace", shrink->output);
    bz_json_add_digest(root, "digest", result->digest);
    bz_json_add_number(root, "exit_code", (uint64_t)code);
    bz_json_put(root);
}

static int shrink_and_print(struct shrink *shrink) {
    int code = bz_named_run_load_failing(&shrink->run, shrink->input);
    code = code == BZ_EXIT_OK ? run_shrink(shrink) : code;
    if (code == BZ_EXIT_OK || code == BZ_EXIT_INTERRUPTED) {
        if (shrink->is_json) {
            print_json(shrink, code);
        } else {
            print_text(shrink);
        }
    }
    return code;
}

int bz_command_shrink(int argc, char **argv) {
    static struct shrink shrink;
    const struct bz_syntax syntax = {
        .options = options,
        .target = &shrink,
        .args_doc = "TRACE.json|TOKEN",
        .arguments = &shrink.input,
        .arguments_max = 1,
        .missing = "a trace file or a token",
        .plugins = BZ_PLUGINS_RUN,
        .check = check_options,
        .doc = "Searches for the smallest run that fails in the same way: same oracle, object, "
               "operation and window. Exit status: 0 done, 2 bad input, or nothing to shrink, 3 it "
               "does not replay, 5 interrupted."};
    shrink = (struct shrink){.input = NULL};
    int code = bz_options_parse(&syntax, argc, argv);
    if (code != BZ_EXIT_OK) {
        return code;
    }
    bz_trace_init(&shrink.trace);
    code = shrink_and_print(&shrink);
    bz_trace_fini(&shrink.trace);
    bz_shrink_fini(&shrink.result);
    bz_named_run_fini(&shrink.run);
    return code;
}
