/* Full recording and replay: the same choices again, with all events compared. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/choice/strategy_replay.h"
#include "sim/judge/internal.h"
#include "sim/judge/record.h"
#include "traces/text.h"

/* --- the header of a trace -------------------------------------------------------------------- */

static void add_number(struct bz_trace *trace, const char *name, uint32_t number) {
    char text[16];
    snprintf(text, sizeof text, "%" PRIu32, number);
    bz_trace_add_param(trace, name, bz_trace_string(trace, text));
}

static void write_header(const struct bz_judge *judge, struct bz_trace *trace) {
    const struct bz_judge_config *config = &judge->config;
    char windows[BZ_TRACE_NAME_BYTES_MAX];
    trace->engine = bz_engine();
    if (trace->scenario != NULL) {
        return;
    }
    bz_windows_text(config->cancel_windows, ',', windows, sizeof windows);
    trace->scenario = bz_trace_string(trace, bz_or(config->program, "program"));
    trace->variant = bz_trace_string(trace, bz_or(config->variant, "variant"));
    trace->strategy = config->strategy->name;
    trace->order = bz_order_name(config->order);
    trace->cancel = bz_trace_string(trace, windows);
    add_number(trace, "max-cancels", config->cancels_max);
    add_number(trace, "max-steps", config->steps_max);
    add_number(trace, "starvation-bound", config->starvation_bound);
    if (config->lag_max_ns != BZ_LAG_MAX_DEFAULT_NS) {
        bz_trace_add_param(trace, "max-lag",
                           bz_trace_string(trace, bz_lag_text(config->lag_max_ns, windows)));
    }
}

/* --- comparing -------------------------------------------------------------------------------- */

struct comparison {
    const struct bz_trace *expected;
    struct bz_replay_report *report;
    struct bz_judge *judge;
    size_t next_event;
};

static void diverge(struct comparison *comparison, uint32_t step, const char *expected,
                    const char *got) {
    struct bz_replay_report *report = comparison->report;
    if (report->result == BZ_REPLAY_DIVERGED) {
        return;
    }
    report->result = BZ_REPLAY_DIVERGED;
    report->step = step;
    snprintf(report->expected, sizeof report->expected, "%s", expected);
    snprintf(report->got, sizeof report->got, "%s", got);
}

/* A choice that did not fit explains more than the events from its step on. */
static bool choice_diverged(struct comparison *comparison, uint64_t step) {
    const struct bz_replay_state *state = comparison->judge->strategy_state;
    if (!state->is_diverged || state->diverged_step > step) {
        return false;
    }
    const struct bz_trace_choice *choice = &comparison->expected->choices[state->diverged_entry];
    char text[BZ_REPLAY_TEXT_BYTES / 2];
    char expected[BZ_REPLAY_TEXT_BYTES];
    snprintf(expected, sizeof expected, "choice %zu: %s", state->diverged_entry,
             bz_trace_choice_text(choice, text, sizeof text));
    diverge(comparison, state->diverged_step, expected,
            "no such choice at this step: nobody of that identity is ready, or it was never asked");
    return true;
}

/* An event, after its step and time if these differ from those of the other one. */
static void place_text(const struct bz_trace_event *event, const struct bz_trace_event *other,
                       char *text, size_t bytes) {
    int used = 0;
    if (event->step != other->step || event->time_ns != other->time_ns) {
        used = snprintf(text, bytes, "step %" PRIu64 ", %" PRIu64 " ns: ", event->step,
                        event->time_ns);
    }
    bz_trace_event_text(event, text + used, bytes - (size_t)used);
    if (event->held != other->held && event->held != BZ_TRACE_ABSENT) {
        used = (int)strlen(text);
        snprintf(text + used, bytes - (size_t)used, ", %" PRIu64 " held", event->held);
    }
}

static void compare_event(struct bz_recorder *recorder, const struct bz_trace_event *event) {
    struct comparison *comparison = recorder->context;
    if (comparison->report->result == BZ_REPLAY_DIVERGED ||
        choice_diverged(comparison, event->step)) {
        return;
    }
    const struct bz_trace *trace = comparison->expected;
    struct bz_trace_event restricted = *event;
    char got[BZ_REPLAY_TEXT_BYTES];
    bz_trace_event_restrict(&restricted, trace->version);
    event = &restricted;
    bz_trace_event_text(event, got, sizeof got);
    if (comparison->next_event == trace->event_count) {
        diverge(comparison, (uint32_t)event->step, "the end of the run", got);
        return;
    }
    const struct bz_trace_event *expected = &trace->events[comparison->next_event++];
    if (!bz_trace_event_equal(expected, event) || expected->held != event->held) {
        char wanted[BZ_REPLAY_TEXT_BYTES];
        place_text(expected, event, wanted, sizeof wanted);
        place_text(event, expected, got, sizeof got);
        diverge(comparison, (uint32_t)event->step, wanted, got);
    }
}

static void describe_verdict(const struct bz_trace_verdict *verdict, char *text, size_t bytes) {
    snprintf(text, bytes, "verdict %s%s%s at step %" PRIu64 ", task %s, object %s", verdict->result,
             verdict->oracle == NULL ? "" : " of ", bz_or(verdict->oracle, ""), verdict->step,
             bz_or(verdict->task, "none"), bz_or(verdict->object, "none"));
}

/* Older programs wrote "pass" of a run that was cut by its step limit. */
static bool same_result(const char *expected, const char *got) {
    return bz_is(expected, got) || (bz_is(expected, "pass") && bz_is(got, "cut"));
}

static void compare_tasks(struct comparison *comparison, const struct bz_trace *got) {
    const struct bz_trace *trace = comparison->expected;
    uint32_t step = comparison->judge->step;
    char wanted[BZ_REPLAY_TEXT_BYTES];
    char text[BZ_REPLAY_TEXT_BYTES];
    for (size_t index = 0; index < trace->task_count && index < got->task_count; index++) {
        if (strcmp(trace->tasks[index], got->tasks[index]) != 0) {
            snprintf(wanted, sizeof wanted, "task %zu: %s", index + 1, trace->tasks[index]);
            snprintf(text, sizeof text, "task %zu: %s", index + 1, got->tasks[index]);
            diverge(comparison, step, wanted, text);
        }
    }
    if (trace->task_count != got->task_count) {
        snprintf(wanted, sizeof wanted, "%zu tasks", (size_t)trace->task_count);
        snprintf(text, sizeof text, "%zu tasks", (size_t)got->task_count);
        diverge(comparison, step, wanted, text);
    }
}

/* Version 1 lists none. */
static void compare_objects(struct comparison *comparison, const struct bz_trace *got) {
    const struct bz_trace *trace = comparison->expected;
    char wanted[BZ_REPLAY_TEXT_BYTES];
    char text[BZ_REPLAY_TEXT_BYTES];
    size_t most = trace->object_count > got->object_count ? trace->object_count : got->object_count;
    for (size_t index = 0; trace->version > 1 && index < most; index++) {
        bz_trace_object_text(trace, index, wanted, sizeof wanted);
        bz_trace_object_text(got, index, text, sizeof text);
        if (strcmp(wanted, text) != 0) {
            diverge(comparison, comparison->judge->step, wanted, text);
        }
    }
}

/* From the first difference on, or from a little before it. */
static void message_text(const char *message, size_t first, char *text, size_t bytes) {
    size_t start = first < 40 ? 0 : first - 40;
    while (start > 0 && ((unsigned char)message[start] & 0xc0u) == 0x80u) {
        start--; /* inside a character */
    }
    snprintf(text, bytes, "verdict's message: %s%s", start == 0 ? "" : "...",
             message == NULL ? "none" : message + start);
}

/* True if the message is the expected one, or adds clauses that older programs did not have. */
static bool has_clauses_more(const char *expected, const char *message) {
    size_t length = expected == NULL ? 0 : strlen(expected);
    return bz_is(expected, message) ||
           (expected != NULL && message != NULL && strncmp(message, expected, length) == 0 &&
            message[length] == ';');
}

/* The wording belongs to the version of the engine that made the trace. */
static void compare_message(struct comparison *comparison, const struct bz_trace *got) {
    const struct bz_trace *trace = comparison->expected;
    const char *expected = trace->verdict.message;
    char wanted[BZ_REPLAY_TEXT_BYTES];
    char text[BZ_REPLAY_TEXT_BYTES];
    size_t first = 0;
    bool is_old_cut = expected == NULL && bz_is(got->verdict.result, "cut");
    if (is_old_cut || has_clauses_more(expected, got->verdict.message) ||
        !bz_is(trace->engine, bz_engine())) {
        return;
    }
    while (expected != NULL && got->verdict.message != NULL &&
           expected[first] == got->verdict.message[first]) {
        first++;
    }
    message_text(expected, first, wanted, sizeof wanted);
    message_text(got->verdict.message, first, text, sizeof text);
    diverge(comparison, comparison->judge->step, wanted, text);
}

/* The comparison at the end of the run. */
static void compare_end(struct comparison *comparison, const struct bz_trace *got) {
    const struct bz_trace *trace = comparison->expected;
    const struct bz_judge *judge = comparison->judge;
    char wanted[BZ_REPLAY_TEXT_BYTES];
    char text[BZ_REPLAY_TEXT_BYTES];
    if (comparison->report->result == BZ_REPLAY_DIVERGED ||
        (!bz_replay_state_finish(judge->strategy_state, judge->step) &&
         choice_diverged(comparison, UINT64_MAX))) {
        return;
    }
    if (comparison->next_event < trace->event_count) {
        bz_trace_event_text(&trace->events[comparison->next_event], wanted, sizeof wanted);
        diverge(comparison, judge->step, wanted, "the end of the run");
    }
    if (!same_result(trace->verdict.result, got->verdict.result) ||
        !bz_is(trace->verdict.oracle, got->verdict.oracle) ||
        !bz_is(trace->verdict.task, got->verdict.task) ||
        !bz_is(trace->verdict.object, got->verdict.object) ||
        trace->verdict.step != got->verdict.step) {
        describe_verdict(&trace->verdict, wanted, sizeof wanted);
        describe_verdict(&got->verdict, text, sizeof text);
        diverge(comparison, judge->step, wanted, text);
    }
    compare_message(comparison, got);
    compare_tasks(comparison, got);
    compare_objects(comparison, got);
    if (trace->digest != got->digest) {
        snprintf(wanted, sizeof wanted, "digest %016" PRIx64, trace->digest);
        snprintf(text, sizeof text, "digest %016" PRIx64, got->digest);
        diverge(comparison, judge->step, wanted, text);
    }
}

static void report_run(struct bz_replay_report *report, const struct bz_judge *judge) {
    const char *object = bz_judge_object_name(judge, judge->violation.object);
    report->violation = judge->violation;
    snprintf(report->object, sizeof report->object, "%s", object == NULL ? "" : object);
    report->digest = judge->digest;
    report->steps = judge->step;
    report->end = judge->end;
    if (judge->end == BZ_RUN_NO_RESOURCE) {
        bz_lack_copy(report->lack, judge->violation.message);
    }
}

const char *bz_replay_verdict(const struct bz_replay_report *report) {
    return report->violation.oracle != NULL       ? report->violation.oracle
           : report->end == BZ_RUN_PASSED         ? "pass"
           : report->end != BZ_RUN_OUT_OF_STEPS   ? "cut short"
           : report->violation.message[0] != '\0' ? "cut short by the limit of a check"
                                                  : "cut short by its step limit";
}

/* Reports a source that broke a rule, or a lack of memory. */
static bool is_refused(const struct bz_judge *judge, char *error, size_t error_bytes) {
    const char *problem = bz_judge_error(judge);
    if (problem != NULL) {
        snprintf(error, error_bytes, "%s", problem);
    }
    return problem != NULL;
}

bool bz_judge_replay(struct bz_judge *judge, const struct bz_source *source,
                     const struct bz_trace *trace, struct bz_replay_report *report, char *error,
                     size_t error_bytes) {
    struct bz_tape tape;
    struct bz_trace got;
    struct bz_recorder recorder;
    *report = (struct bz_replay_report){.result = BZ_REPLAY_MATCHED};
    bz_tape_init(&tape, NULL);
    bool is_ok = bz_trace_to_tape(trace, &tape, error, error_bytes);
    if (is_ok) {
        struct comparison comparison = {.expected = trace, .report = report, .judge = judge};
        bz_trace_init(&got);
        bz_recorder_init(&recorder, judge, &got);
        recorder.on_event = compare_event;
        recorder.context = &comparison;
        (void)bz_judge_run(judge, source,
                           &(struct bz_run_start){.seed = trace->seed,
                                                  .strategy = &bz_strategy_replay_strict,
                                                  .tape = &tape,
                                                  .sink = bz_judge_log_events(judge)});
        bz_judge_log_replay(judge, &recorder.sink);
        bz_recorder_finish(&recorder);
        if (judge->end != BZ_RUN_NO_RESOURCE) {
            compare_end(&comparison, &got);
        }
        report_run(report, judge);
        bz_trace_fini(&got);
    }
    bz_tape_fini(&tape);
    return is_ok && !is_refused(judge, error, error_bytes);
}

/* Runs a tape with full recording. `context` is that of the strategy. */
static void run_tape(struct bz_judge *judge, const struct bz_source *source,
                     const struct bz_strategy *strategy, uint64_t seed, const struct bz_tape *tape,
                     void *context, struct bz_trace *record) {
    struct bz_recorder recorder;
    bz_recorder_init(&recorder, judge, record);
    (void)bz_judge_run(judge, source,
                       &(struct bz_run_start){.seed = seed,
                                              .strategy = strategy,
                                              .tape = tape,
                                              .sink = bz_judge_log_events(judge),
                                              .context = context});
    bz_judge_log_replay(judge, &recorder.sink);
    bz_recorder_finish(&recorder);
    write_header(judge, record);
}

/* The action of the run instead of a choice that it did not make: the first handle of that step. */
static void describe_instead(const struct bz_trace *record, const struct bz_trace_choice *choice,
                             const struct bz_judge *judge, char *text, size_t bytes) {
    char event[BZ_REPLAY_TEXT_BYTES / 2];
    snprintf(text, bytes, "the end of the run, after step %" PRIu32, judge->step);
    for (size_t index = 0; index < record->event_count; index++) {
        const struct bz_trace_event *entry = &record->events[index];
        if (entry->step == choice->step && strcmp(entry->event, "clock") != 0) {
            snprintf(text, bytes, "%s", bz_trace_event_text(entry, event, sizeof event));
            return;
        }
    }
}

/* Counts the choices that the run has made; describes the first that it has not. */
static void count_made(const struct bz_trace *trace, const uint8_t *made,
                       const struct bz_trace *record, const struct bz_judge *judge,
                       struct bz_replay_report *report) {
    char text[BZ_REPLAY_TEXT_BYTES / 2];
    report->choices = trace->choice_count;
    for (size_t index = 0; index < trace->choice_count; index++) {
        const struct bz_trace_choice *choice = &trace->choices[index];
        if (made[index] == 0 && report->choices_made == index) {
            report->step = (uint32_t)choice->step;
            snprintf(report->expected, sizeof report->expected, "choice %zu: %s", index,
                     bz_trace_choice_text(choice, text, sizeof text));
            describe_instead(record, choice, judge, report->got, sizeof report->got);
        }
        report->choices_made += made[index];
    }
}

bool bz_judge_replay_lenient(struct bz_judge *judge, const struct bz_source *source,
                             const struct bz_trace *trace, struct bz_trace *record,
                             struct bz_replay_report *report, char *error, size_t error_bytes) {
    struct bz_tape tape;
    *report = (struct bz_replay_report){.result = BZ_REPLAY_MATCHED};
    bz_tape_init(&tape, NULL);
    bool is_ok = bz_trace_to_tape(trace, &tape, error, error_bytes);
    if (is_ok) {
        /* shared, for a source that runs in child processes */
        size_t bytes = trace->choice_count + 1;
        uint8_t *made = bz_lack_check(bz_mem_alloc(judge->mem, bytes), "a replay");
        run_tape(judge, source, &bz_strategy_replay_lenient, trace->seed, &tape, made, record);
        report_run(report, judge);
        count_made(trace, made, record, judge, report);
        bz_mem_free(judge->mem, made, bytes);
    }
    bz_tape_fini(&tape);
    return is_ok && !is_refused(judge, error, error_bytes);
}

/* --- recording -------------------------------------------------------------------------------- */

void bz_judge_keep(const struct bz_judge *judge, struct bz_kept_run *run) {
    *run = (struct bz_kept_run){.seed = judge->seed,
                                .digest = judge->digest,
                                .steps = judge->step,
                                .violation = judge->violation};
    bz_tape_init(&run->tape, NULL);
    if (!bz_tape_copy(&run->tape, &judge->tape)) {
        bz_lack_stop(NULL, "the tape of a run that is kept");
    }
}

void bz_kept_run_fini(struct bz_kept_run *run) {
    bz_tape_fini(&run->tape);
}

static bool same_violation(const struct bz_violation *a, const struct bz_violation *b) {
    return bz_is(a->oracle, b->oracle) &&
           (a->oracle == NULL ||
            (a->step == b->step && a->task == b->task && a->object == b->object));
}

/* The run with the tape alone and the one with full recording must be equal. */
static void compare_runs(const struct bz_kept_run *light, const struct bz_judge *heavy,
                         struct bz_trace *trace, struct bz_replay_report *report) {
    const struct bz_replay_state *state = heavy->strategy_state;
    if (light->digest == heavy->digest && light->steps == heavy->step && !state->is_diverged &&
        same_violation(&light->violation, &heavy->violation)) {
        return;
    }
    report->result = BZ_REPLAY_DIVERGED;
    report->step = state->is_diverged ? state->diverged_step : heavy->step;
    snprintf(report->expected, sizeof report->expected, "digest %016" PRIx64 " after %u steps",
             light->digest, light->steps);
    snprintf(report->got, sizeof report->got, "digest %016" PRIx64 " after %u steps", heavy->digest,
             heavy->step);
    char message[BZ_MESSAGE_BYTES];
    snprintf(message, sizeof message,
             "the same tape gave two different runs, at step %u at the latest: %.100s, then "
             "%.100s",
             report->step, report->expected, report->got);
    trace->verdict.result = "violation";
    trace->verdict.oracle = "nondeterminism";
    trace->verdict.step = report->step;
    trace->verdict.message = bz_trace_string(trace, message);
}

void bz_judge_record(struct bz_judge *judge, const struct bz_source *source,
                     const struct bz_kept_run *run, struct bz_trace *trace,
                     struct bz_replay_report *report) {
    struct bz_kept_run last;
    if (run == NULL) {
        bz_judge_keep(judge, &last);
        bz_judge_record(judge, source, &last, trace, report);
        bz_kept_run_fini(&last);
        return;
    }
    *report = (struct bz_replay_report){.result = BZ_REPLAY_MATCHED};
    run_tape(judge, source, &bz_strategy_replay_strict, run->seed, &run->tape, NULL, trace);
    report_run(report, judge);
    if (judge->end != BZ_RUN_NO_RESOURCE) {
        bz_replay_state_finish(judge->strategy_state, judge->step);
        compare_runs(run, judge, trace, report);
    }
}
