#include "sim/campaign/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/choice/strategy_replay.h"
#include "sim/oracle/oracle.h"
#include "traces/record.h"

#define ENGINE "buzzer " BZ_ENGINE_VERSION

/* --- header of a trace ------------------------------------------------------------------------ */

/* Lists inside a trace are separated by commas, inside a token by '+'. */
static void plus_to_comma(char *text) {
    for (; *text != '\0'; text++) {
        *text = *text == '+' ? ',' : *text;
    }
}

static void write_header(const struct bz_program *program, struct bz_trace *trace) {
    trace->engine = ENGINE;
    trace->scenario = bz_trace_string(trace, program->scenario->name);
    trace->variant = bz_trace_string(trace, program->variant->name);
    trace->strategy = program->strategy->name;
    char value[BZ_SETTING_BYTES];
    bool is_default;
    const char *name;
    for (unsigned index = 0;
         (name = bz_program_setting(program, index, value, sizeof value, &is_default)) != NULL;
         index++) {
        if (strcmp(name, "order") == 0) {
            trace->order = bz_trace_string(trace, value);
        } else if (strcmp(name, "cancel") == 0) {
            plus_to_comma(value);
            trace->cancel = bz_trace_string(trace, value);
        } else {
            bz_trace_add_param(trace, bz_trace_string(trace, name), bz_trace_string(trace, value));
        }
    }
}

bool bz_trace_program(const struct bz_trace *trace, const struct bz_catalog *catalog,
                      struct bz_program *program, char *error, size_t error_bytes) {
    if (!bz_program_find(program, catalog, trace->scenario, trace->variant, trace->strategy, error,
                         error_bytes) ||
        !bz_program_set(program, "order", trace->order, error, error_bytes) ||
        !bz_program_set(program, "cancel", trace->cancel, error, error_bytes)) {
        return false;
    }
    for (size_t index = 0; index < trace->param_count; index++) {
        if (!bz_program_set(program, trace->params[index].name, trace->params[index].value, error,
                            error_bytes)) {
            return false;
        }
    }
    return true;
}

/* --- comparing -------------------------------------------------------------------------------- */

struct comparison {
    const struct bz_trace *expected;
    struct bz_replay_report *report;
    struct bz_world *world;
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
    bz_world_stop(comparison->world);
}

/* A choice that did not fit is the better explanation than the event that followed from it. */
static bool choice_diverged(struct comparison *comparison) {
    struct bz_replay_state *state = comparison->world->strategy_state;
    if (!state->is_diverged) {
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

static void compare_event(struct bz_recorder *recorder, const struct bz_trace_event *event) {
    struct comparison *comparison = recorder->context;
    if (comparison->report->result == BZ_REPLAY_DIVERGED || choice_diverged(comparison)) {
        return;
    }
    const struct bz_trace *trace = comparison->expected;
    char got[BZ_REPLAY_TEXT_BYTES];
    bz_trace_event_text(event, got, sizeof got);
    if (comparison->next_event == trace->event_count) {
        diverge(comparison, (uint32_t)event->step, "the end of the run", got);
        return;
    }
    const struct bz_trace_event *expected = &trace->events[comparison->next_event++];
    if (!bz_trace_event_equal(expected, event)) {
        char wanted[BZ_REPLAY_TEXT_BYTES];
        bz_trace_event_text(expected, wanted, sizeof wanted);
        diverge(comparison, (uint32_t)event->step, wanted, got);
    }
}

static void describe_verdict(const struct bz_trace_verdict *verdict, char *text, size_t bytes) {
    snprintf(text, bytes, "verdict %s%s%s at step %" PRIu64 "%s%s", verdict->result,
             verdict->oracle == NULL ? "" : " of ", verdict->oracle == NULL ? "" : verdict->oracle,
             verdict->step, verdict->task == NULL ? "" : ", task ",
             verdict->task == NULL ? "" : verdict->task);
}

static bool same_text(const char *a, const char *b) {
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* What is left to compare when the run is over. */
static void compare_end(struct comparison *comparison, const struct bz_trace *got) {
    const struct bz_trace *trace = comparison->expected;
    struct bz_world *world = comparison->world;
    char wanted[BZ_REPLAY_TEXT_BYTES];
    char text[BZ_REPLAY_TEXT_BYTES];
    if (comparison->report->result == BZ_REPLAY_DIVERGED ||
        (!bz_replay_state_finish(world->strategy_state, world->step) &&
         choice_diverged(comparison))) {
        return;
    }
    if (comparison->next_event < trace->event_count) {
        bz_trace_event_text(&trace->events[comparison->next_event], wanted, sizeof wanted);
        diverge(comparison, world->step, wanted, "the end of the run");
    }
    if (strcmp(trace->verdict.result, got->verdict.result) != 0 ||
        !same_text(trace->verdict.oracle, got->verdict.oracle) ||
        !same_text(trace->verdict.task, got->verdict.task) ||
        trace->verdict.step != got->verdict.step) {
        describe_verdict(&trace->verdict, wanted, sizeof wanted);
        describe_verdict(&got->verdict, text, sizeof text);
        diverge(comparison, world->step, wanted, text);
    }
    if (trace->digest != got->digest) {
        snprintf(wanted, sizeof wanted, "digest %016" PRIx64, trace->digest);
        snprintf(text, sizeof text, "digest %016" PRIx64, got->digest);
        diverge(comparison, world->step, wanted, text);
    }
}

static void report_run(struct bz_replay_report *report, const struct bz_world *world) {
    report->violation = world->violation;
    report->digest = world->digest;
    report->steps = world->step;
}

bool bz_replay_trace(const struct bz_trace *trace, const struct bz_program *program,
                     struct bz_replay_report *report, char *error, size_t error_bytes) {
    struct bz_tape tape;
    struct bz_trace got;
    struct bz_recorder recorder;
    *report = (struct bz_replay_report){.result = BZ_REPLAY_MATCHED};
    bz_tape_init(&tape);
    if (!bz_trace_to_tape(trace, &tape, error, error_bytes)) {
        bz_tape_fini(&tape);
        return false;
    }
    struct bz_world *world = bz_program_new_world(program, &bz_strategy_replay_strict);
    if (world == NULL) {
        snprintf(error, error_bytes, "no memory for a replay");
        bz_tape_fini(&tape);
        return false;
    }
    struct comparison comparison = {.expected = trace, .report = report, .world = world};
    bz_trace_init(&got);
    bz_recorder_init(&recorder, world, &got);
    recorder.on_event = compare_event;
    recorder.context = &comparison;
    bz_program_run(program, world, trace->seed, &tape, &recorder.sink);
    bz_recorder_finish(&recorder);
    compare_end(&comparison, &got);
    report_run(report, world);
    bz_trace_fini(&got);
    bz_world_destroy(world);
    bz_tape_fini(&tape);
    return true;
}

bool bz_replay_lenient(const struct bz_trace *trace, const struct bz_program *program,
                       struct bz_trace *record, struct bz_replay_report *report, char *error,
                       size_t error_bytes) {
    struct bz_tape tape;
    struct bz_recorder recorder;
    *report = (struct bz_replay_report){.result = BZ_REPLAY_MATCHED};
    bz_tape_init(&tape);
    struct bz_world *world = NULL;
    bool is_ok = bz_trace_to_tape(trace, &tape, error, error_bytes);
    if (is_ok) {
        world = bz_program_new_world(program, &bz_strategy_replay_lenient);
        is_ok = world != NULL;
        if (!is_ok) {
            snprintf(error, error_bytes, "no memory for a replay");
        }
    }
    if (is_ok) {
        bz_recorder_init(&recorder, world, record);
        bz_program_run(program, world, trace->seed, &tape, &recorder.sink);
        bz_recorder_finish(&recorder);
        write_header(program, record);
        report_run(report, world);
    }
    bz_world_destroy(world);
    bz_tape_fini(&tape);
    return is_ok;
}

bool bz_trace_print_program(const struct bz_trace *trace, const struct bz_program *program,
                            char *text, size_t text_bytes, size_t *length, char *error,
                            size_t error_bytes) {
    const struct bz_scenario *scenario = program->scenario;
    struct bz_tape tape;
    if (scenario->file == NULL) {
        snprintf(error, error_bytes, "scenario '%s' takes no file, and writes none",
                 scenario->name);
        return false;
    }
    bz_tape_init(&tape);
    struct bz_world *world = NULL;
    bool is_ok = bz_trace_to_tape(trace, &tape, error, error_bytes);
    if (is_ok) {
        world = bz_program_new_world(program, &bz_strategy_replay_lenient);
        is_ok = world != NULL;
        if (!is_ok) {
            snprintf(error, error_bytes, "no memory for a replay");
        }
    }
    if (is_ok) {
        bz_world_begin(world, trace->seed, &tape, NULL);
        *length = scenario->file->print(scenario->setup(world, &program->args), text, text_bytes);
    }
    bz_world_destroy(world);
    bz_tape_fini(&tape);
    return is_ok;
}

/* --- recording -------------------------------------------------------------------------------- */

static bool same_violation(const struct bz_violation *a, const struct bz_violation *b) {
    return same_text(a->oracle, b->oracle) &&
           (a->oracle == NULL ||
            (a->step == b->step && a->task == b->task && a->object == b->object));
}

/* The light run and the heavy one must be the same run. */
static void compare_runs(const struct bz_world *light, const struct bz_world *heavy,
                         struct bz_trace *trace, struct bz_replay_report *report) {
    const struct bz_replay_state *state = heavy->strategy_state;
    if (light->digest == heavy->digest && light->step == heavy->step && !state->is_diverged &&
        same_violation(&light->violation, &heavy->violation)) {
        return;
    }
    report->result = BZ_REPLAY_DIVERGED;
    report->step = state->is_diverged ? state->diverged_step : heavy->step;
    snprintf(report->expected, sizeof report->expected, "digest %016" PRIx64 " after %u steps",
             light->digest, light->step);
    snprintf(report->got, sizeof report->got, "digest %016" PRIx64 " after %u steps", heavy->digest,
             heavy->step);
    char message[BZ_MESSAGE_BYTES];
    snprintf(message, sizeof message,
             "the same tape gave two different runs, at step %u at the latest: %.100s, then "
             "%.100s",
             report->step, report->expected, report->got);
    trace->verdict.result = "violation";
    trace->verdict.oracle = bz_oracle_nondeterminism.name;
    trace->verdict.step = report->step;
    trace->verdict.message = bz_trace_string(trace, message);
}

bool bz_record(const struct bz_program *program, uint64_t seed, struct bz_trace *trace,
               struct bz_replay_report *report) {
    struct bz_recorder recorder;
    struct bz_tape tape;
    *report = (struct bz_replay_report){.result = BZ_REPLAY_MATCHED};
    struct bz_world *light = bz_program_new_world(program, NULL);
    struct bz_world *heavy = bz_program_new_world(program, &bz_strategy_replay_strict);
    bool is_ok = light != NULL && heavy != NULL;
    if (is_ok) {
        bz_program_run(program, light, seed, NULL, NULL);
        bz_tape_init(&tape);
        bz_tape_copy(&tape, &light->tape);
        bz_recorder_init(&recorder, heavy, trace);
        bz_program_run(program, heavy, seed, &tape, &recorder.sink);
        bz_replay_state_finish(heavy->strategy_state, heavy->step);
        bz_recorder_finish(&recorder);
        write_header(program, trace);
        compare_runs(light, heavy, trace, report);
        report_run(report, heavy);
        bz_tape_fini(&tape);
    }
    bz_world_destroy(light);
    bz_world_destroy(heavy);
    return is_ok;
}
