#include "tools/diagnosis.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/judge/judge.h"
#include "tools/cli.h"
#include "tools/plugins.h"
#include "traces/lack.h"

#define MOMENTS_MAX 15u
#define MOMENT_TEXT_BYTES 192u

/* One line of the timeline. */
struct moment {
    uint64_t step;
    uint64_t time_ns;
    const char *task; /* belongs to the trace; NULL: the loop */
    char text[MOMENT_TEXT_BYTES];
};

/* --- the timeline ----------------------------------------------------------------------------- */

/* The state of a task after the events so far. */
struct reader_task {
    const char *op; /* the pending operation */
    const char *object;
    bool has_started;
    bool is_expected; /* it waits for more than its turn: its resume gets a line */
};

struct reader {
    const struct bz_trace *trace;
    struct reader_task *tasks; /* by number; 0 is the loop */
    uint64_t injected_step;    /* of the last injected cancel */
    struct reader_task *injected_task;
    /* The event that is read, its task, and the line about it. */
    const struct bz_trace_event *event;
    struct reader_task *task;
    char *text;
};

static bool is(const char *text, const char *word) {
    return text != NULL && strcmp(text, word) == 0;
}

static const char *or_else(const char *text, const char *other) {
    return text != NULL ? text : other;
}

#define SAY(...) (snprintf(reader->text, MOMENT_TEXT_BYTES, __VA_ARGS__), true)

static bool say_call(struct reader *reader) {
    reader->task->op = reader->event->op;
    reader->task->object = reader->event->object;
    if (is(reader->event->op, "acquire")) {
        return false; /* the next event says whether it acquires or waits */
    }
    if (is(reader->event->op, "release")) {
        return SAY("releases '%s'", or_else(reader->event->object, "?"));
    }
    return SAY("calls %s of '%s'", or_else(reader->event->op, "?"),
               or_else(reader->event->object, "?"));
}

static bool say_return(struct reader *reader) {
    const char *op = or_else(reader->event->op, or_else(reader->task->op, "?"));
    const char *object = or_else(reader->event->object, or_else(reader->task->object, "?"));
    reader->task->op = NULL;
    if (is(op, "acquire") && is(reader->event->status, "ok")) {
        return SAY("acquires '%s'", object);
    }
    if (is(op, "acquire") && is(reader->event->status, "cancelled")) {
        return SAY("leaves '%s' without a permit (cancelled)", object);
    }
    if (is(reader->event->status, "ok")) {
        return false;
    }
    return SAY("is refused: %s of '%s' says %s", op, object, or_else(reader->event->status, "?"));
}

static bool say_suspend(struct reader *reader) {
    reader->task->is_expected = !is(reader->event->wait, "yield");
    if (reader->task->op != NULL) {
        reader->task->is_expected = true;
        return SAY("waits for '%s'", or_else(reader->task->object, "?"));
    }
    if (is(reader->event->wait, "sleep")) {
        return SAY("sleeps");
    }
    if (is(reader->event->wait, "join")) {
        return SAY("waits for other tasks");
    }
    return is(reader->event->wait, "future") && SAY("waits for a future");
}

static bool say_resume(struct reader *reader) {
    bool has_started = reader->task->has_started;
    bool is_expected = reader->task->is_expected;
    reader->task->has_started = true;
    reader->task->is_expected = false;
    if (is(reader->event->status, "cancelled")) {
        return has_started ? SAY("resumes cancelled") : SAY("starts cancelled");
    }
    if (!has_started) {
        return SAY("starts");
    }
    if (!is(reader->event->status, "ok")) {
        return SAY("resumes with %s", or_else(reader->event->status, "?"));
    }
    return is_expected && SAY("resumes");
}

static bool say_cancel(struct reader *reader) {
    bool is_injected =
        reader->injected_step == reader->event->step && reader->injected_task == reader->task;
    char by[160] = "";
    if (is_injected) {
        snprintf(by, sizeof by, " (injected)");
    } else if (reader->event->by != NULL) {
        snprintf(by, sizeof by, " by %.140s", reader->event->by);
    }
    if (reader->event->status != NULL && !is(reader->event->status, "ok")) {
        return SAY("is cancelled%s, too late", by);
    }
    if (is(reader->event->window, "cancelling")) {
        return SAY("is cancelled once more%s", by);
    }
    return SAY("is cancelled while %s%s", or_else(reader->event->window, "?"), by);
}

static bool say_wake(struct reader *reader) {
    return !is(reader->event->status, "cancelled") && /* the cancel has its own line */
           SAY("is woken (%s)", is(reader->event->status, "ok")
                                    ? "result set"
                                    : or_else(reader->event->status, "?"));
}

static bool say_inject(struct reader *reader) {
    reader->injected_step = reader->event->step;
    reader->injected_task = reader->task;
    return false;
}

static bool say_exit(struct reader *reader) {
    return SAY("ends (%s)", or_else(reader->event->status, "?"));
}

static bool say_number(struct reader *reader) {
    const char *verb = is(reader->event->event, "draw") ? "draws" : "note";
    return reader->event->n != BZ_TRACE_ABSENT && SAY("%s %" PRIu64, verb, reader->event->n);
}

/* A function for each event: true if the event gets a line, which is then in reader->text. */
static const struct {
    const char *event;
    bool (*say)(struct reader *reader);
} sayings[] = {
    {"call", say_call},   {"return", say_return}, {"suspend", say_suspend}, {"resume", say_resume},
    {"wake", say_wake},   {"inject", say_inject}, {"cancel", say_cancel},   {"exit", say_exit},
    {"draw", say_number}, {"note", say_number},
};

static bool say(struct reader *reader, const struct bz_trace_event *event, char *text) {
    reader->task = &reader->tasks[bz_trace_find_task(reader->trace, event->task)];
    reader->event = event;
    reader->text = text;
    for (size_t index = 0; index < sizeof sayings / sizeof sayings[0]; index++) {
        if (is(event->event, sayings[index].event)) {
            return sayings[index].say(reader);
        }
    }
    return false;
}

/* Stores the last moments up to step `step` in a ring: moment n is at n % MOMENTS_MAX. Returns the
 * number of all moments. Bare yields are left out. */
static size_t list_moments(const struct bz_trace *trace, uint64_t step,
                           struct moment ring[MOMENTS_MAX]) {
    struct reader reader = {.trace = trace, .injected_step = UINT64_MAX};
    size_t total = 0;
    reader.tasks =
        bz_lack_check(calloc(trace->task_count + 1, sizeof *reader.tasks), "a diagnosis");
    for (size_t index = 0; index < trace->event_count && trace->events[index].step <= step;
         index++) {
        const struct bz_trace_event *event = &trace->events[index];
        struct moment *moment = &ring[total % MOMENTS_MAX];
        if (say(&reader, event, moment->text)) {
            moment->step = event->step;
            moment->time_ns = event->time_ns;
            moment->task = event->task;
            total++;
        }
    }
    free(reader.tasks);
    return total;
}

/* --- the diagnosis --- */

/* The primitive of the verdict's object, by the object's name ("lock-1" in scenarios/program), or
 * else the program's only one. BZ_PRIMITIVE_COUNT: unknown. */
static enum bz_primitive primitive_of(const struct bz_trace *trace) {
    const char *object = or_else(trace->verdict.object, "");
    enum bz_primitive only = BZ_PRIMITIVE_COUNT;
    for (int number = 0; number < BZ_PRIMITIVE_COUNT; number++) {
        enum bz_primitive primitive = (enum bz_primitive)number;
        const char *name = bz_primitive_name(primitive);
        if (strncmp(object, name, strlen(name)) == 0 && object[strlen(name)] == '-') {
            return primitive;
        }
        for (size_t index = 0; index < trace->param_count; index++) {
            if (is(trace->params[index].name, "primitive") &&
                is(trace->params[index].value, name)) {
                only = primitive;
            }
        }
    }
    return only;
}

const struct bz_fault *bz_diagnosis_declared(const struct bz_variant *variant,
                                             const struct bz_trace *trace) {
    enum bz_primitive primitive = primitive_of(trace);
    if (variant == NULL || trace->verdict.oracle == NULL || primitive == BZ_PRIMITIVE_COUNT) {
        return NULL;
    }
    return bz_variant_declared(variant, primitive, trace->verdict.oracle);
}

/* The time of the last event up to the step of the verdict. */
static uint64_t verdict_time_ns(const struct bz_trace *trace) {
    uint64_t time_ns = 0;
    for (size_t index = 0;
         index < trace->event_count && trace->events[index].step <= trace->verdict.step; index++) {
        time_ns = trace->events[index].time_ns;
    }
    return time_ns;
}

static int longer(int width, const char *text) {
    int length = (int)strlen(text);
    return length > width ? length : width;
}

static const char *name_or_loop(const char *task) {
    return task != NULL ? task : "loop";
}

static void print_timeline(FILE *out, const struct bz_trace *trace, uint64_t time_ns) {
    struct moment moments[MOMENTS_MAX];
    char step[24];
    const struct bz_trace_verdict *verdict = &trace->verdict;
    size_t total = list_moments(trace, verdict->step, moments);
    size_t left_out = total < MOMENTS_MAX ? 0 : total - MOMENTS_MAX;
    int task_width = longer(4, name_or_loop(verdict->task));
    int time_width = longer(4, bz_cli_time_text(time_ns));
    snprintf(step, sizeof step, "%" PRIu64, verdict->step);
    int step_width = longer(4, step);
    for (size_t index = 0; index < total - left_out; index++) {
        task_width = longer(task_width, name_or_loop(moments[index].task));
        time_width = longer(time_width, bz_cli_time_text(moments[index].time_ns));
    }
    fprintf(out, "\n  %*s  %*s  %-*s  what\n", step_width, "step", time_width, "time", task_width,
            "task");
    if (left_out > 0) {
        fprintf(out, "  %*s  (%zu earlier)\n", step_width, "...", left_out);
    }
    for (size_t number = left_out; number < total; number++) {
        const struct moment *moment = &moments[number % MOMENTS_MAX];
        fprintf(out, "%c %*" PRIu64 "  %*s  %-*s  %s\n", moment->step == verdict->step ? '>' : ' ',
                step_width, moment->step, time_width, bz_cli_time_text(moment->time_ns), task_width,
                name_or_loop(moment->task), moment->text);
    }
    fprintf(out, "> %*" PRIu64 "  %*s  %-*s  *** %s ***\n\n", step_width, verdict->step, time_width,
            bz_cli_time_text(time_ns), task_width, name_or_loop(verdict->task), verdict->oracle);
}

void bz_diagnosis_print(FILE *out, const struct bz_trace *trace, const struct bz_variant *variant,
                        const char *token, const char *trace_path) {
    const struct bz_trace_verdict *verdict = &trace->verdict;
    if (verdict->oracle == NULL) {
        return;
    }
    uint32_t oracle = bz_oracle_index(verdict->oracle);
    bool is_known = oracle < bz_oracle_count;
    uint64_t time_ns = verdict_time_ns(trace);
    fprintf(out, "violation: %s%s%s\n", verdict->oracle, is_known ? ": " : "",
            is_known ? bz_oracles[oracle].summary : "");
    fprintf(out, "  %s\n", verdict->message != NULL ? verdict->message : "");
    fprintf(out, "  seed 0x%" PRIx64 ", step %" PRIu64 ", virtual time %s\n", trace->seed,
            verdict->step, bz_cli_time_text(time_ns));
    const struct bz_fault *fault = bz_diagnosis_declared(variant, trace);
    if (fault != NULL) {
        fprintf(out, "  declared fault found: %s (%s): %s\n", fault->issue, fault->project,
                fault->summary);
    }
    print_timeline(out, trace, time_ns);
    if (token != NULL) {
        fprintf(out, "token   %s\n", token);
    }
    if (trace_path != NULL) {
        fprintf(out, "trace   %s\n", trace_path);
    }
    if (token != NULL) {
        const char *plugin = variant != NULL ? bz_plugins_file(variant) : NULL;
        fprintf(out, "replay  buzzer replay %s%s%s'%s'\n", plugin != NULL ? "--plugin '" : "",
                plugin != NULL ? plugin : "", plugin != NULL ? "' " : "", token);
    }
}

size_t bz_diagnosis_print_step(FILE *out, const struct bz_trace *trace, size_t first) {
    char text[512];
    size_t index = first;
    while (index < trace->event_count && trace->events[index].step == trace->events[first].step) {
        const struct bz_trace_event *event = &trace->events[index++];
        fprintf(out, "%8" PRIu64 "  %12s  %s\n", event->step, bz_cli_time_text(event->time_ns),
                bz_trace_event_text(event, text, sizeof text));
    }
    return index;
}
