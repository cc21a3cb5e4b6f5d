#include "tools/report/stored_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/cli/cli.h"
#include "tools/plugin/plugins.h"
#include "tools/report/diagnosis.h"
#include "tools/report/report.h"
#include "traces/text.h"

/* --- one schedule ----------------------------------------------------------------------------- */

bool bz_carry_is_failure(enum bz_carry_result result) {
    return result == BZ_CARRY_FAILS || result == BZ_CARRY_FAILS_OTHERWISE;
}

/* "fifo of 'permits'"; "pass"; "cut by the limit of 9 steps". */
static const char *verdict_text(const struct bz_trace_verdict *verdict, char *text, size_t bytes) {
    bool has_object = verdict->oracle != NULL && verdict->object != NULL;
    char name[BZ_TRACE_NAME_BYTES_MAX + 1];
    snprintf(text, bytes, "%s%s%s%s", bz_trace_verdict_text(verdict, name, sizeof name),
             has_object ? " of '" : "", has_object ? verdict->object : "", has_object ? "'" : "");
    return text;
}

static const char *heading_of(const struct bz_carry *carry, const struct bz_trace *trace) {
    bool has_failed = trace->verdict.oracle != NULL;
    switch (carry->result) {
    case BZ_CARRY_FAILS:
        return "still fails";
    case BZ_CARRY_FAILS_OTHERWISE:
        return has_failed ? "fails otherwise" : "now fails";
    case BZ_CARRY_PASSES:
        return has_failed ? "now passes" : "still passes";
    case BZ_CARRY_CUT_SHORT:
        return "cut short";
    default:
        return "not applicable";
    }
}

void bz_carry_add_line(struct bz_text *line, const char *file, const struct bz_trace *trace,
                       const struct bz_carry *carry) {
    const struct bz_replay_report *report = &carry->report;
    char text[2 * BZ_TRACE_NAME_BYTES_MAX + 16];
    bz_text_add(line, "%-15s %s: ", heading_of(carry, trace), file);
    if (carry->verdict == NULL) {
        bz_text_add(line, "%s", carry->message);
        return;
    }
    if (carry->result == BZ_CARRY_CUT_SHORT) {
        bz_text_add(line, "it was stopped after %" PRIu32 " steps and proves nothing",
                    report->steps);
    } else if (bz_carry_is_failure(carry->result)) {
        bz_text_add(line, "%s at step %" PRIu64, verdict_text(carry->verdict, text, sizeof text),
                    carry->verdict->step);
    } else {
        bz_text_add(line, "%" PRIu32 " steps", report->steps);
    }
    bool is_same = carry->result == BZ_CARRY_FAILS ||
                   (carry->result == BZ_CARRY_PASSES && trace->verdict.oracle == NULL);
    if (carry->is_strict) {
        bz_text_add(line, ", every event as recorded");
    } else if (is_same) {
        bz_text_add(line, ", as recorded");
    } else {
        bz_text_add(line, "; recorded: %s", verdict_text(&trace->verdict, text, sizeof text));
    }
    if (!carry->is_strict && report->choices_made < report->choices) {
        bz_text_add(line,
                    "; %zu of %zu choices did not fit, the first at step %" PRIu32
                    ": expected %s, got %s",
                    report->choices - report->choices_made, report->choices, report->step,
                    report->expected, report->got);
    }
}

static void add_verdict(struct bz_json *item, const char *key,
                        const struct bz_trace_verdict *verdict) {
    if (verdict->oracle == NULL) {
        bz_json_add_string(item, key, NULL);
        return;
    }
    struct bz_json *object = bz_json_add_object(item, key);
    bz_json_add_string(object, "oracle", verdict->oracle);
    bz_json_add_string(object, "object", verdict->object);
    bz_json_add_number(object, "step", verdict->step);
    bz_json_add_string(object, "message", verdict->message);
}

void bz_carry_add_json(struct bz_json *item, const char *file, const struct bz_trace *trace,
                       const struct bz_carry *carry, bool is_as_expected) {
    const struct bz_replay_report *report = &carry->report;
    bz_json_add_string(item, "file", file);
    bz_json_add_string(item, "result", bz_carry_name(carry->result));
    add_verdict(item, "recorded", &trace->verdict);
    if (carry->verdict == NULL) {
        bz_json_add_string(item, "message", carry->message);
        return;
    }
    bz_json_add_bool(item, "as_expected", is_as_expected);
    bz_json_add_string(item, "variant", carry->program.variant->name);
    bz_json_add_bool(item, "lenient", !carry->is_strict);
    bz_json_add_number(item, "steps", report->steps);
    bz_json_add_digest(item, "digest", report->digest);
    add_verdict(item, "violation", carry->verdict);
    bz_json_add_number(item, "choices", trace->choice_count);
    bz_json_add_number(item, "choices_made",
                       carry->is_strict ? trace->choice_count : report->choices_made);
    if (!carry->is_strict && report->choices_made < report->choices) {
        bz_json_add_number(item, "step", report->step);
        bz_json_add_string(item, "expected", report->expected);
        bz_json_add_string(item, "got", report->got);
    }
}

/* --- those of a campaign ---------------------------------------------------------------------- */

/* "2 stored traces of contended pass now" */
static void say(uint64_t number, const struct bz_program *program, const char *singular,
                const char *plural) {
    if (number > 0) {
        (void)bz_cli_fail(BZ_EXIT_OK, "%" PRIu64 " stored trace%s of %s %s", number,
                          number == 1 ? "" : "s", program->scenario->name,
                          number == 1 ? singular : plural);
    }
}

void bz_stored_say_own(const struct bz_stored *stored, const struct bz_program *program,
                       bool is_quiet) {
    if (stored->failed > 0) {
        const struct bz_stored_failure *first = &stored->failures[0];
        (void)bz_cli_fail(
            BZ_EXIT_OK,
            "%" PRIu64 " stored trace%s of %s still fail%s: %s, step %" PRIu64 " of '%s'%s",
            stored->failed, stored->failed == 1 ? "" : "s", program->scenario->name,
            stored->failed == 1 ? "s" : "", first->record.verdict.oracle,
            first->record.verdict.step, first->path, stored->failed == 1 ? "" : " is the first");
    }
    if (is_quiet) {
        return;
    }
    say(stored->passed - stored->unfit, program, "passes now", "pass now");
    say(stored->unfit, program, "diverges: some of its choices no longer fit; it passes",
        "diverge: some of their choices no longer fit; they pass");
    say(stored->cut, program, "was cut short by its step limit, and proves nothing",
        "were cut short by their step limit, and prove nothing");
    say(stored->other, program, "is of the order any, and was not tried",
        "are of the order any, and were not tried");
    say(stored->slower, program, "has more lag than --max-lag allows, and was not tried",
        "have more lag than --max-lag allows, and were not tried");
    if (stored->is_cut_off) {
        (void)bz_cli_fail(BZ_EXIT_OK, "more than %u stored traces: the rest was not tried",
                          BZ_STORED_OWN_MAX);
    }
}

static uint64_t kept(const struct bz_stored *stored) {
    return stored->failed < BZ_STORED_MAX ? stored->failed : BZ_STORED_MAX;
}

void bz_stored_add_command(struct bz_text *text, const struct bz_stored_failure *failure,
                           const struct bz_program *program) {
    char quoted[4 * PATH_MAX];
    bz_text_add(text, "%s", bz_caller.replay);
    bz_plugins_add_options(text, program->scenario, program->variant);
    bool is_program = strncmp(bz_caller.replay, bz_caller.program, strlen(bz_caller.program)) == 0;
    if (is_program && !failure->is_same_run) { /* else it is no command of the program */
        bz_text_add(text, " --variant %s", program->variant->name);
    }
    bool is_variable = bz_caller.replay[strlen(bz_caller.replay) - 1] == '=';
    bz_text_add(text, "%s%s%s", is_variable ? "" : " ",
                bz_cli_quoted(failure->path, quoted, sizeof quoted), bz_caller.replay_after);
}

/* `has_timeline`: else the message alone. */
static void print_failure(const struct bz_stored_failure *failure, const struct bz_program *program,
                          bool has_timeline) {
    struct bz_text command = {0};
    const struct bz_trace_verdict *verdict = &failure->record.verdict;
    bool has_object = verdict->object != NULL;
    printf("stored trace %s fails%s: %s%s%s%s at step %" PRIu64 "\n", failure->path,
           failure->is_as_recorded ? " as recorded" : "", verdict->oracle,
           has_object ? " of '" : "", bz_or(verdict->object, ""), has_object ? "'" : "",
           verdict->step);
    if (has_timeline) {
        printf("\n");
        bz_diagnosis_print(
            stdout, &(struct bz_diagnosis){.trace = &failure->record, .variant = program->variant});
    } else {
        printf("  %s\n", bz_or(verdict->message, ""));
    }
    bz_stored_add_command(&command, failure, program);
    printf("  replay  %s\n\n", command.bytes);
    bz_text_fini(&command);
}

/* The first one has its timeline: the others are often the same run, made smaller. */
void bz_stored_print(const struct bz_stored *stored, const struct bz_program *program,
                     bool is_quiet) {
    for (uint64_t index = 0; index < kept(stored); index++) {
        print_failure(&stored->failures[index], program, index == 0);
    }
    if (!is_quiet) {
        printf("stored traces: %" PRIu64 " tried, %" PRIu64 " failed\n", stored->tried,
               stored->failed);
        if (stored->unfit > 0) {
            printf("  of those that passed, %" PRIu64 " diverged: some choices did not fit\n",
                   stored->unfit);
        }
        if (stored->other > 0) {
            printf("  %" PRIu64 " of order any: not tried, because this campaign's order is fifo\n",
                   stored->other);
        }
        printf("\n");
    }
}

void bz_stored_add_json(const struct bz_stored *stored, struct bz_json *object, const char *key) {
    struct bz_json *root = bz_json_add_object(object, key);
    bz_json_add_number(root, "tried", stored->tried);
    bz_json_add_number(root, "failed", stored->failed);
    bz_json_add_number(root, "passed", stored->passed);
    bz_json_add_number(root, "unfit", stored->unfit);
    bz_json_add_number(root, "cut_short", stored->cut);
    bz_json_add_number(root, "other_order", stored->other);
    bz_json_add_number(root, "more_lag", stored->slower);
    struct bz_json *array = bz_json_add_array(root, "failures");
    for (uint64_t index = 0; index < kept(stored); index++) {
        const struct bz_stored_failure *failure = &stored->failures[index];
        const struct bz_trace_verdict *verdict = &failure->record.verdict;
        struct bz_json *item = bz_json_append_object(array);
        bz_json_add_string(item, "trace", failure->path);
        bz_json_add_hex(item, "seed", failure->record.seed);
        bz_json_add_text(item, "token", failure->token);
        bz_json_add_bool(item, "as_recorded", failure->is_as_recorded);
        bz_json_add_string(item, "oracle", verdict->oracle);
        bz_json_add_string(item, "object", verdict->object);
        bz_json_add_number(item, "step", verdict->step);
        bz_json_add_string(item, "message", bz_or(verdict->message, ""));
    }
}
