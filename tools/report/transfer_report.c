#include "tools/report/transfer_report.h"

#include <inttypes.h>
#include <stdio.h>

#include "tools/report/report.h"

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
