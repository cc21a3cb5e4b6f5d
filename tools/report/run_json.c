#include "tools/report/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/choice/strategy.h"
#include "sim/judge/judge.h"
#include "tools/cli/cli.h"
#include "tools/cli/exit_report.h"
#include "tools/report/diagnosis.h"

void bz_json_add_digest(struct bz_json *object, const char *key, uint64_t digest) {
    char text[24];
    snprintf(text, sizeof text, "%016" PRIx64, digest);
    bz_json_add_string(object, key, text);
}

void bz_json_add_known(struct bz_json *object, const char *key, bool is_known, uint64_t number) {
    if (is_known) {
        bz_json_add_number(object, key,
                           number < BZ_TRACE_NUMBER_MAX ? number : BZ_TRACE_NUMBER_MAX);
    } else {
        bz_json_add_string(object, key, NULL);
    }
}

void bz_json_add_text(struct bz_json *object, const char *key, const char *text) {
    bz_json_add_string(object, key, text[0] != '\0' ? text : NULL);
}

void bz_json_add_program(struct bz_json *object, const struct bz_program *program) {
    bz_json_add_string(object, "scenario", program->scenario->name);
    bz_json_add_string(object, "variant", program->variant->name);
    bz_json_add_string(object, "strategy", program->strategy->name);
    bz_json_add_string(object, "order", bz_order_name(program->order));
    struct bz_json *settings = bz_json_add_object(object, "settings");
    for (struct bz_setting_text item = {0}; bz_program_next_setting(program, &item);) {
        bz_json_add_string(settings, item.name, item.value);
    }
}

void bz_json_add_windows(struct bz_json *object, const struct bz_run_stats *stats) {
    struct bz_json *windows = bz_json_add_object(object, "windows");
    for (unsigned op = 1; op < BZ_OP_COUNT; op++) {
        struct bz_json *row = NULL;
        for (unsigned window = 1; window < BZ_WINDOW_COUNT; window++) {
            if (stats->windows[op][window] > 0) {
                row = row != NULL ? row : bz_json_add_object(windows, bz_op_name((enum bz_op)op));
                bz_json_add_number(row, bz_window_name((enum bz_window)window),
                                   stats->windows[op][window]);
            }
        }
    }
}

static void add_findings_by_oracle(struct bz_json *object,
                                   const struct bz_campaign_result *result) {
    struct bz_json *counts = bz_json_add_object(object, "findings");
    for (unsigned index = 0; index < bz_oracle_count; index++) {
        if (result->by_oracle[index] > 0) {
            bz_json_add_number(counts, bz_oracles[index].name, result->by_oracle[index]);
        }
    }
}

void bz_json_add_size(struct bz_json *object, const struct bz_shrink_size *size) {
    bz_json_add_number(object, "deviations", size->deviations);
    bz_json_add_number(object, "cancels", size->cancels);
    bz_json_add_number(object, "tasks", size->tasks);
    bz_json_add_number(object, "helpers", size->helpers);
    bz_json_add_number(object, "parameters", size->params);
    bz_json_add_number(object, "draws", size->draws);
    bz_json_add_number(object, "steps", size->steps);
}

bool bz_json_add_violation(struct bz_json *item, const struct bz_kept_finding *finding,
                           const struct bz_variant *variant) {
    const struct bz_trace_verdict *verdict = &finding->trace.verdict;
    bool is_declared = bz_diagnosis_declared(variant, &finding->trace) != NULL;
    bz_json_add_string(item, "oracle", verdict->oracle);
    bz_json_add_hex(item, "seed", finding->trace.seed);
    bz_json_add_number(item, "step", verdict->step);
    bz_json_add_string(item, "task", verdict->task);
    bz_json_add_string(item, "message", verdict->message);
    bz_json_add_string(item, "token", finding->token);
    struct bz_text command = {0};
    bz_diagnosis_add_command(&command,
                             &(struct bz_diagnosis){.trace = &finding->trace,
                                                    .variant = variant,
                                                    .token = finding->token},
                             bz_caller.replay);
    bz_json_add_string(item, "replay", command.bytes);
    bz_text_fini(&command);
    bz_json_add_text(item, "trace", finding->path);
    bz_json_add_bool(item, "declared", is_declared);
    bz_json_add_bool(item, "fifo_searched", finding->fifo.is_searched);
    bz_json_add_text(item, "fifo_token", finding->fifo.token);
    bz_json_add_text(item, "fifo_trace", finding->fifo.path);
    if (finding->fifo.token[0] == '\0' && finding->fifo.end[0] != '\0') {
        bz_json_add_string(item, "fifo_end", finding->fifo.end);
    }
    if (finding->is_shrunk) {
        struct bz_json *small = bz_json_add_object(item, "shrunk");
        bz_json_add_size(small, &finding->small_size);
        bz_json_add_string(small, "reason", finding->small_end);
        bz_json_add_text(small, "token", finding->small_token);
        bz_json_add_text(small, "trace", finding->small_path);
    }
    bz_json_add_string(item, "operation", bz_op_name(finding->failure.violation.op));
    bz_json_add_string(item, "window", bz_window_name(finding->failure.violation.window));
    if (finding->count > 0) {
        bz_json_add_number(item, "count", finding->count);
    }
    return is_declared;
}

static bool add_violations(struct bz_json *object, const struct bz_run_report *report) {
    struct bz_json *violations = bz_json_add_array(object, "violations");
    bool is_declared_found = false;
    for (uint32_t index = 0; index < report->findings->count; index++) {
        is_declared_found |=
            bz_json_add_violation(bz_json_append_object(violations),
                                  &report->findings->items[index], report->job->program.variant);
    }
    return is_declared_found;
}

void bz_run_report_add_json(struct bz_json *root, const struct bz_run_report *report) {
    const struct bz_campaign_result *result = report->result;
    bz_json_add_program(root, &report->job->program);
    bz_json_add_string(root, "sizes", report->job->draws_sizes ? "drawn" : "default");
    bz_json_add_hex(root, "seed_first", report->job->seed_first);
    bz_json_add_number(root, "runs", result->runs);
    bz_json_add_number(root, "steps", result->stats.steps);
    bz_json_add_decimal(root, "seconds", report->seconds);
    bz_json_add_number(root, "distinct", result->distinct);
    bz_json_add_bool(root, "distinct_is_exact", result->distinct_is_exact);
    struct bz_json *handoffs = bz_json_add_object(root, "handoff_orders");
    bz_json_add_number(handoffs, "distinct", result->handoff_orders);
    bz_json_add_number(handoffs, "seen_once", result->handoff_orders_once);
    bz_json_add_number(handoffs, "new_ppm", result->handoff_new_ppm);
    bz_json_add_bool(handoffs, "is_exact", result->handoff_is_exact);
    bz_json_add_number(root, "situations", result->situations);
    bz_json_add_number(root, "injected", result->stats.injected);
    bz_json_add_number(root, "out_of_steps", result->out_of_steps);
    struct bz_json *cut = report->cut->token[0] == '\0' ? NULL : bz_json_add_object(root, "cut");
    if (cut != NULL) {
        bz_json_add_hex(cut, "seed", report->cut->trace.seed);
        bz_json_add_string(cut, "token", report->cut->token);
    }
    if (result->cut[0] != '\0') {
        bz_json_add_string(root, "not_judged", result->cut);
    }
    bz_json_add_number(root, "waited", result->waited);
    bz_json_add_windows(root, &result->stats);
    struct bz_json *missed = bz_json_add_array(root, "windows_missed");
    for (unsigned index = 0; index < report->missed.count; index++) {
        bz_json_append_string(missed, report->missed.names[index]);
    }
    struct bz_json *warnings = bz_json_add_array(root, "warnings");
    for (uint32_t index = 0; index < report->warnings.count; index++) {
        struct bz_json *item = bz_json_append_object(warnings);
        bz_json_add_string(item, "name", report->warnings.items[index].name);
        bz_json_add_string(item, "message", report->warnings.items[index].text);
    }
    bz_json_add_number(root, "violations_total", result->violations);
    add_findings_by_oracle(root, result);
    bool is_declared_found = add_violations(root, report);
    bz_json_add_bool(root, "declared_fault_found", is_declared_found);
    bz_json_add_bool(root, "interrupted", report->is_stopped);
    bz_json_add_string(root, "end", bz_run_report_end(report));
    bz_json_add_number(root, "exit_code", (uint64_t)report->exit_code);
    bz_json_add_digest(root, "digest", result->digest);
}

void bz_json_add_replay(struct bz_json *object, const struct bz_replay_report *report) {
    bool is_matched = report->result == BZ_REPLAY_MATCHED;
    bz_json_add_string(object, "result", is_matched ? "matched" : "diverged");
    if (!is_matched) {
        bz_json_add_number(object, "step", report->step);
        bz_json_add_string(object, "expected", report->expected);
        bz_json_add_string(object, "got", report->got);
    }
    bz_json_add_number(object, "steps", report->steps);
    bz_json_add_digest(object, "digest", report->digest);
    bz_json_add_bool(object, "cut_short", bz_replay_is_cut(report));
    if (report->violation.oracle == NULL) {
        bz_json_add_string(object, "violation", NULL);
        return;
    }
    struct bz_json *violation = bz_json_add_object(object, "violation");
    bz_json_add_string(violation, "oracle", report->violation.oracle);
    bz_json_add_number(violation, "step", report->violation.step);
    bz_json_add_string(violation, "message", report->violation.message);
}

void bz_json_add_cause(struct bz_json *object, enum bz_cause cause, const char *text) {
    bz_json_add_string(object, "cause", bz_cause_name(cause));
    bz_json_add_string(object, "cause_text", text);
}

bool bz_json_is_wanted(bool is_json) {
    return is_json || bz_caller.take_results != NULL;
}

void bz_json_put(struct bz_json *root) {
    if (bz_caller.take_results != NULL) {
        bz_caller.take_results(root);
        bz_json_free(root);
        bz_ending_has_json();
        return;
    }
    char *text = bz_json_print(root, true);
    puts(text);
    free(text);
    bz_json_free(root);
    bz_ending_has_json();
}
