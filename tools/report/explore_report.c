#include "tools/report/explore_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli/cli.h"
#include "tools/report/report.h"
#include "tools/report/text_output.h"
#include "tools/report/warnings.h"
#include "traces/lack.h"
#include "traces/trace.h"

/* --- for people ------------------------------------------------------------------------------- */

void bz_explore_report_print_head(const struct bz_explore_report *report) {
    bz_run_report_print_program(report->program);
    printf("\n");
    fflush(stdout);
}

/* Prints a line, in 80 columns, and releases it. */
static void put_line(FILE *out, struct bz_text *line) {
    struct bz_wrap wrap = {.out = out};
    bz_wrap_print(&wrap, "", line->bytes, 2, BZ_COLOUR_NONE);
    bz_text_fini(line);
    *line = (struct bz_text){0};
}

/* "3 states" and the text after it. */
static void add_count(struct bz_text *line, uint64_t count, const char *what, const char *after) {
    if (count == UINT64_MAX) {
        bz_text_add(line, "more than 10^19 %ss%s", what, after);
    } else {
        bz_text_add(line, "%" PRIu64 " %s%s%s", count, what, count == 1 ? "" : "s", after);
    }
}

static void add_schedules(struct bz_text *line, const struct bz_explore_result *result,
                          const char *after) {
    if (result->schedules == 0) {
        bz_text_add(line, "no schedule ends, ");
    } else {
        add_count(line, result->schedules, "schedule", after);
    }
}

void bz_explore_report_print_round(const struct bz_explore_result *result, bool is_sweep) {
    struct bz_text line = {0};
    bz_text_add(&line, is_sweep ? "sweep: " : "round %u: ", result->rounds - 1);
    add_schedules(&line, result, result->has_cycles ? " without the loops in them, " : ", ");
    if (result->outcomes > 0) { /* else of whole runs */
        add_count(&line, result->states, "state", ", ");
        add_count(&line, result->transitions, "transition", ", ");
        add_count(&line, result->outcomes, "outcome", ", ");
    }
    bz_text_add(&line, "search depth %u", result->depth);
    put_line(stdout, &line);
    fflush(stdout);
}

/* The bounds of the search, in words. */
static void add_bounds_text(struct bz_text *line, const struct bz_explore_report *report) {
    const struct bz_explore_config *config = report->config;
    const struct bz_program *program = report->program;
    if (program->order == BZ_ORDER_FIFO) {
        bz_text_add(line, "the order of a FIFO loop, ");
    } else if (report->result->is_whole) {
        bz_text_add(line, "every order, ");
    } else {
        bz_text_add(line, "every order with at most ");
        add_count(line, config->delays_max, "delay", ", ");
    }
    if (program->cancels_max == 0 || program->cancel_windows == 0) {
        bz_text_add(line, "no cancel injected");
    } else {
        bz_text_add(line, "every placement of at most ");
        add_count(line, program->cancels_max, "cancel", "");
    }
}

static void print_reductions(FILE *out, const struct bz_explore_report *report) {
    const struct bz_explore_result *result = report->result;
    struct bz_text line = {0};
    if (report->program->scenario->runtime != NULL) {
        return;
    }
    const char *separator = " ";
    uint32_t reductions = result->reductions;
    if (result->has_outside_state) {
        fprintf(out, "the variant keeps state outside of the simulation's memory: no snapshots\n");
    }
    bz_text_add(&line, "in force:");
    for (unsigned index = 0; index < BZ_REDUCE_COUNT; index++) {
        if ((reductions >> index & 1u) != 0) {
            bz_text_add(&line, "%s%s", separator, bz_reduction_name(index));
            separator = ", ";
        }
    }
    bz_text_add(&line, "%s", reductions == 0 ? " no reduction, every prefix was run again" : "");
    put_line(out, &line);
}

/* Why the search ended before it was done, and what it has proved all the same. */
static void print_end(FILE *out, const struct bz_explore_report *report) {
    const struct bz_explore_result *result = report->result;
    struct bz_text line = {0};
    if (result->end == BZ_EXPLORE_MEMORY_MAX) {
        bz_text_add(&line, "the limit of %" PRIu64 " MiB was reached (--max-memory): ",
                    report->config->memory_max_bytes >> 20u);
    } else if (result->end == BZ_EXPLORE_INTERRUPTED) {
        bz_text_add(&line, "interrupted: ");
    } else if (result->end == BZ_EXPLORE_NO_RESOURCE) {
        bz_text_add(&line, "%s: ", result->lack);
    } else if (result->end == BZ_EXPLORE_STATES_MAX) {
        bz_text_add(&line, "the limit of %" PRIu64 " states%s was reached (--max-states): ",
                    report->config->states_max,
                    result->states > report->config->states_max
                        ? ""
                        : ", or 100 times as many transitions,");
    }
    if (result->end == BZ_EXPLORE_INTERRUPTED && result->is_all) {
        bz_text_add(&line, "proved: no schedule fails, within the bounds; but starvation and "
                           "livelock were judged in the rounds only");
    } else if (result->rounds == 0) {
        bz_text_add(&line, "nothing is proved: no round was finished");
    } else {
        bz_text_add(&line,
                    "proved: no schedule with at most %u deviations (delays, cancels, draws) fails",
                    result->rounds - 1);
    }
    put_line(out, &line);
}

static void print_limits(FILE *out, const struct bz_explore_report *report) {
    const struct bz_explore_result *result = report->result;
    struct bz_text line = {0};
    if (result->end != BZ_EXPLORE_DONE) {
        print_end(out, report);
    }
    if (result->sampled_draw != NULL) {
        bz_text_add(&line,
                    "no proof: the draw '%s' has more than %u values, of which three were tried; "
                    "set the parameter behind it lower",
                    result->sampled_draw, BZ_EXPLORE_DRAWS_MAX);
        put_line(out, &line);
    }
    if (result->is_out_of_steps) {
        fprintf(out, "no proof: schedules hit the step limit, or that of a check (--max-steps)\n");
    }
}

static void print_findings(const struct bz_explore_report *report) {
    struct bz_text line = {0};
    const struct bz_explore_result *result = report->result;
    for (uint32_t index = 0; index < report->findings->count; index++) {
        const struct bz_explore_finding *finding = &result->findings[index];
        printf("\n");
        bz_run_report_print_finding(stdout, &report->findings->items[index],
                                    report->program->variant);
        add_count(&line, finding->deviations.delays, "delay", ", ");
        add_count(&line, finding->deviations.cancels, "injected cancel", ", ");
        add_count(&line, finding->deviations.draws, "drawn value", " above the least");
        if (index == 0 && result->is_minimal) {
            bz_text_add(&line, ": no schedule with fewer fails");
        }
        put_line(stdout, &line);
    }
}

/* The result about schedules that never end. */
static void print_liveness(FILE *out, const struct bz_explore_report *report) {
    const struct bz_explore_result *result = report->result;
    struct bz_text line = {0};
    switch (result->liveness) {
    case BZ_LIVENESS_ENDS:
        bz_text_add(&line, "every schedule ends: no livelock, and no task waits forever while "
                           "others are served");
        break;
    case BZ_LIVENESS_FAIR:
        bz_text_add(&line, "some schedules never end; in every fair one there is no livelock, and "
                           "no task is overtaken forever");
        break;
    case BZ_LIVENESS_OPEN:
        bz_text_add(&line, "no verdict on starvation and livelock: %s; no ordinary run shows it",
                    result->liveness_text);
        break;
    case BZ_LIVENESS_UNJUDGED:
        bz_text_add(&line, "starvation and livelock were judged in the rounds only: %s",
                    result->liveness_text);
    }
    put_line(out, &line);
    if (result->liveness == BZ_LIVENESS_OPEN && result->liveness_token[0] != '\0') {
        fprintf(out, "  %s\n", result->liveness_token);
    }
}

static void print_complete(FILE *out, const struct bz_explore_report *report) {
    const struct bz_explore_result *result = report->result;
    struct bz_text line = {0};
    bz_text_add(&line, "complete: ");
    add_bounds_text(&line, report);
    bz_text_add(&line, "; ");
    add_schedules(&line, result, result->outcomes > 0 ? ", " : "; ");
    if (result->outcomes > 0) {
        add_count(&line, result->states, "state", "; ");
    }
    if (result->finding_count > 0) {
        add_count(&line, result->finding_count, "violation", "");
    } else {
        bz_text_add(&line, "no violation");
    }
    put_line(out, &line);
    if (result->finding_count == 0) {
        print_liveness(out, report);
    }
}

void bz_explore_report_print_conclusion(FILE *out, const struct bz_explore_report *report) {
    const struct bz_explore_result *result = report->result;
    if (bz_explore_is_complete(result)) {
        print_complete(out, report);
    } else if (result->end == BZ_EXPLORE_NONDETERMINISM) {
        fprintf(out, "no proof: the same choices do not lead to the same run\n");
    } else if (result->end != BZ_EXPLORE_FOUND) {
        print_limits(out, report);
    }
}

void bz_explore_report_print(const struct bz_explore_report *report, bool is_quiet) {
    const struct bz_explore_result *result = report->result;
    print_findings(report);
    if (is_quiet && (result->finding_count > 0 || bz_explore_is_complete(result))) {
        return;
    }
    printf(is_quiet ? "" : "\n");
    bz_explore_report_print_conclusion(stdout, report);
    if (is_quiet) {
        return;
    }
    print_reductions(stdout, report);
    fflush(stdout);
    fprintf(stderr, "%.2f s, %.0f transitions/s\n", report->seconds,
            report->seconds > 0 ? (double)result->transitions_total / report->seconds : 0.0);
}

void bz_explore_report_warn(const struct bz_explore_report *report) {
    const struct bz_explore_result *result = report->result;
    char text[BZ_WARNING_BYTES];
    if (result->has_waited || result->finding_count > 0 || !bz_explore_is_complete(result)) {
        return;
    }
    snprintf(text, sizeof text, "warning: %s", bz_warning_no_wait(report->program));
    bz_cli_note(text);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void add_bounds(struct bz_json *root, const struct bz_explore_report *report) {
    struct bz_json *bounds = bz_json_add_object(root, "bounds");
    uint32_t delays_max = report->config->delays_max;
    bz_json_add_known(bounds, "delays", delays_max != BZ_EXPLORE_UNBOUNDED, delays_max);
    bz_json_add_number(bounds, "cancels",
                       report->program->cancel_windows == 0 ? 0 : report->program->cancels_max);
    bz_json_add_number(bounds, "states", report->config->states_max);
    bz_json_add_known(bounds, "memory", report->config->memory_max_bytes > 0,
                      report->config->memory_max_bytes);
    bz_json_add_number(bounds, "rounds", report->result->rounds);
}

static void add_violations(struct bz_json *root, const struct bz_explore_report *report) {
    const struct bz_explore_result *result = report->result;
    struct bz_json *violations = bz_json_add_array(root, "violations");
    for (uint32_t index = 0; index < report->findings->count; index++) {
        const struct bz_explore_finding *finding = &result->findings[index];
        struct bz_json *item = bz_json_append_object(violations);
        (void)bz_json_add_violation(item, &report->findings->items[index],
                                    report->program->variant);
        bz_json_add_number(item, "delays", finding->deviations.delays);
        bz_json_add_number(item, "cancels", finding->deviations.cancels);
        bz_json_add_number(item, "draws", finding->deviations.draws);
        bz_json_add_bool(item, "minimal", index == 0 && result->is_minimal);
    }
}

static void add_reductions(struct bz_json *object, const char *key, uint32_t reductions) {
    struct bz_json *list = bz_json_add_array(object, key);
    for (unsigned index = 0; index < BZ_REDUCE_COUNT; index++) {
        if ((reductions >> index & 1u) != 0) {
            bz_json_append_string(list, bz_reduction_name(index));
        }
    }
}

static void add_proved(struct bz_json *object, const struct bz_explore_result *result) {
    bz_json_add_bool(object, "complete", bz_explore_is_complete(result));
    bz_json_add_bool(object, "every_order", result->is_whole);
    bz_json_add_known(object, "proved_deviations", result->rounds > 0, result->rounds - 1);
}

struct bz_json *bz_explore_report_json(const struct bz_explore_report *report) {
    static const char *const ends[] = {"done",           "violation",   "interrupted", "states",
                                       "nondeterminism", "no-resource", "memory"};
    const struct bz_explore_result *result = report->result;
    struct bz_json *root = bz_json_new_object();
    bz_json_add_program(root, report->program);
    add_proved(root, result);
    bz_json_add_string(root, "end", ends[result->end]);
    bz_json_add_number(root, "schedules", result->schedules);
    bz_json_add_number(root, "states", result->states);
    bz_json_add_number(root, "transitions", result->transitions);
    bz_json_add_number(root, "transitions_total", result->transitions_total);
    bz_json_add_number(root, "outcomes", result->outcomes);
    bz_json_add_digest(root, "outcomes_digest", result->outcomes_digest);
    bz_json_add_number(root, "depth", result->depth);
    bz_json_add_string(root, "sampled_draw", result->sampled_draw);
    bz_json_add_bool(root, "out_of_steps", result->is_out_of_steps);
    bz_json_add_bool(root, "loops", result->has_cycles);
    bz_json_add_string(root, "liveness", bz_liveness_name(result->liveness));
    bz_json_add_text(root, "liveness_text", result->liveness_text);
    bz_json_add_text(root, "liveness_token", result->liveness_token);
    bz_json_add_bool(root, "waited", result->has_waited);
    bz_json_add_bool(root, "outside_state", result->has_outside_state);
    bz_json_add_decimal(root, "seconds", report->seconds);
    add_bounds(root, report);
    add_reductions(root, "reductions", result->reductions);
    add_violations(root, report);
    bz_json_add_number(root, "exit_code", (uint64_t)report->exit_code);
    return root;
}
