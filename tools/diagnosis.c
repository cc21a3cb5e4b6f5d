#include "tools/diagnosis.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/judge/judge.h"
#include "tools/cli.h"
#include "tools/plugins.h"
#include "tools/story/story.h"

static bool is(const char *text, const char *word) {
    return text != NULL && strcmp(text, word) == 0;
}

static const char *or_else(const char *text, const char *other) {
    return text != NULL ? text : other;
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

static const char *line_task(const struct bz_story *story, const struct bz_story_line *line) {
    return line->task == 0 ? "loop" : story->trace->tasks[line->task - 1];
}

static void print_timeline(FILE *out, const struct bz_trace *trace) {
    struct bz_story story;
    int task_width = 4;
    int time_width = 4;
    int step_width = 4;
    size_t left_out = 0;
    bz_story_init(&story, trace);
    for (size_t index = 0; index < story.line_count; index++) {
        const struct bz_story_line *line = &story.lines[index];
        char step[24];
        snprintf(step, sizeof step, "%" PRIu64, line->step);
        left_out += !line->is_cause;
        task_width = longer(task_width, line_task(&story, line));
        time_width = longer(time_width, bz_cli_time_text(line->time_ns));
        step_width = longer(step_width, step);
    }
    fprintf(out, "\n  %*s  %*s  %-*s  what\n", step_width, "step", time_width, "time", task_width,
            "task");
    for (size_t index = 0; index < story.line_count; index++) {
        const struct bz_story_line *line = &story.lines[index];
        if (line->is_cause) {
            fprintf(out, "%c %*" PRIu64 "  %*s  %-*s  %s\n",
                    line->step == trace->verdict.step ? '>' : ' ', step_width, line->step,
                    time_width, bz_cli_time_text(line->time_ns), task_width,
                    line_task(&story, line), line->text);
        }
    }
    fprintf(out, "(%zu lines that the violation does not depend on)\n\n", left_out);
    bz_story_fini(&story);
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
    print_timeline(out, trace);
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
