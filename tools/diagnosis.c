#include "tools/diagnosis.h"

#include <inttypes.h>
#include <string.h>

#include "sim/judge/judge.h"
#include "tools/cli.h"
#include "tools/plugins.h"
#include "tools/timeline.h"

#define MOMENTS_MAX 15u

/* Objects of a program (scenarios/program) are named after their primitive: "lock-1". */
static bool is_named_after(const char *object, const char *primitive) {
    size_t length = strlen(primitive);
    return object != NULL && strncmp(object, primitive, length) == 0 && object[length] == '-';
}

/* Of what the verdict speaks: of the object, if its name says so, else of the program's only kind.
 */
static enum bz_primitive primitive_of(const struct bz_trace *trace) {
    for (int primitive = 0; primitive < BZ_PRIMITIVE_COUNT; primitive++) {
        if (is_named_after(trace->verdict.object,
                           bz_primitive_name((enum bz_primitive)primitive))) {
            return (enum bz_primitive)primitive;
        }
    }
    for (size_t index = 0; index < trace->param_count; index++) {
        const struct bz_trace_param *param = &trace->params[index];
        for (int primitive = 0; primitive < BZ_PRIMITIVE_COUNT; primitive++) {
            if (strcmp(param->name, "primitive") == 0 &&
                strcmp(param->value, bz_primitive_name((enum bz_primitive)primitive)) == 0) {
                return (enum bz_primitive)primitive;
            }
        }
    }
    return BZ_PRIMITIVE_COUNT; /* a trace from elsewhere may lack it */
}

const struct bz_fault *bz_diagnosis_declared(const struct bz_variant *variant,
                                             const struct bz_trace *trace) {
    enum bz_primitive primitive = primitive_of(trace);
    if (variant == NULL || trace->verdict.oracle == NULL || primitive == BZ_PRIMITIVE_COUNT) {
        return NULL;
    }
    return bz_variant_declared(variant, primitive, trace->verdict.oracle);
}

/* When the step of the verdict ran: the time of its last event, or of the last one before it. */
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
    struct bz_moment moments[MOMENTS_MAX];
    char step[24];
    char time[BZ_TIME_TEXT_BYTES];
    size_t left_out;
    const struct bz_trace_verdict *verdict = &trace->verdict;
    size_t count = bz_timeline(trace, verdict->step, moments, MOMENTS_MAX, &left_out);
    int task_width = longer(4, name_or_loop(verdict->task));
    int time_width = longer(4, bz_cli_time_text(time_ns, time, sizeof time));
    snprintf(step, sizeof step, "%" PRIu64, verdict->step);
    int step_width = longer(4, step);
    for (size_t index = 0; index < count; index++) {
        task_width = longer(task_width, name_or_loop(moments[index].task));
        time_width =
            longer(time_width, bz_cli_time_text(moments[index].time_ns, time, sizeof time));
    }
    fprintf(out, "\n  %*s  %*s  %-*s  what\n", step_width, "step", time_width, "time", task_width,
            "task");
    if (left_out > 0) {
        fprintf(out, "  %*s  (%zu earlier)\n", step_width, "...", left_out);
    }
    for (size_t index = 0; index < count; index++) {
        const struct bz_moment *moment = &moments[index];
        fprintf(out, "%c %*" PRIu64 "  %*s  %-*s  %s\n", moment->step == verdict->step ? '>' : ' ',
                step_width, moment->step, time_width,
                bz_cli_time_text(moment->time_ns, time, sizeof time), task_width,
                name_or_loop(moment->task), moment->text);
    }
    fprintf(out, "> %*" PRIu64 "  %*s  %-*s  *** %s ***\n\n", step_width, verdict->step, time_width,
            bz_cli_time_text(time_ns, time, sizeof time), task_width, name_or_loop(verdict->task),
            verdict->oracle);
}

void bz_diagnosis_print(FILE *out, const struct bz_trace *trace, const struct bz_variant *variant,
                        const char *token, const char *trace_path) {
    const struct bz_trace_verdict *verdict = &trace->verdict;
    char time[BZ_TIME_TEXT_BYTES];
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
            verdict->step, bz_cli_time_text(time_ns, time, sizeof time));
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
    char time[BZ_TIME_TEXT_BYTES];
    size_t index = first;
    while (index < trace->event_count && trace->events[index].step == trace->events[first].step) {
        const struct bz_trace_event *event = &trace->events[index++];
        fprintf(out, "%8" PRIu64 "  %12s  %s\n", event->step,
                bz_cli_time_text(event->time_ns, time, sizeof time),
                bz_trace_event_text(event, text, sizeof text));
    }
    return index;
}
