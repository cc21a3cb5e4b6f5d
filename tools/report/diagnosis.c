#include "tools/report/diagnosis.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/judge/judge.h"
#include "tools/cli/cli.h"
#include "tools/plugin/plugins.h"
#include "tools/story/timeline.h"
#include "traces/lack.h"
#include "traces/text.h"

/* --- the diagnosis --- */

/* The primitive of the verdict's object, or else the program's only one. BZ_PRIMITIVE_COUNT:
 * unknown. */
static enum bz_primitive primitive_of(const struct bz_trace *trace) {
    uint32_t number = bz_trace_find_object(trace, trace->verdict.object);
    const char *kind = number == 0 ? NULL : trace->objects[number - 1].kind;
    bool is_queue =
        bz_is(kind, bz_kind_name(BZ_KIND_ITEMS)) || bz_is(kind, bz_kind_name(BZ_KIND_SLOTS));
    const char *name = is_queue ? bz_primitive_name(BZ_PRIMITIVE_QUEUE)
                       : bz_is(kind, bz_kind_name(BZ_KIND_MODELLED)) ? NULL
                                                                     : kind;
    for (size_t index = 0; name == NULL && index < trace->param_count; index++) {
        name = bz_is(trace->params[index].name, "primitive") ? trace->params[index].value : NULL;
    }
    int primitive = 0;
    while (primitive < BZ_PRIMITIVE_COUNT &&
           !bz_is(name, bz_primitive_name((enum bz_primitive)primitive))) {
        primitive++;
    }
    return (enum bz_primitive)primitive;
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

/* --- the whole report ------------------------------------------------------------------------- */

#define REPORT_LINES_MAX 40u /* a run whose report is not longer is shown as a whole */
#define ASKERS_MAX 3u        /* who asked for cancels, by name */

/* "no cancel", "1 cancel", "2 cancels" */
static void add_count(struct bz_text *text, uint32_t count, const char *what) {
    if (count == 0) {
        bz_text_add(text, "no %s", what);
    } else {
        bz_text_add(text, "%" PRIu32 " %s%s", count, what, count == 1 ? "" : "s");
    }
}

/* "2 cancels: 1 injected, 1 by canceller" */
static void add_cancels(struct bz_text *text, const struct bz_story *story) {
    struct {
        const char *name;
        uint32_t count;
    } askers[ASKERS_MAX] = {{0}};
    uint32_t total = story->injected + story->own_cancels;
    uint32_t others = total;
    uint32_t too_late = 0;
    for (size_t index = 0; index < story->line_count; index++) {
        const struct bz_story_line *line = &story->lines[index];
        const struct bz_trace_event *event = &story->trace->events[line->event];
        if (line->window == NULL) {
            continue;
        }
        const char *name = line->is_injected  ? ""
                           : line->is_timeout ? "a timeout"
                                              : bz_or(event->by, "the loop");
        too_late += event->status != NULL && !bz_is(event->status, "ok");
        for (unsigned place = 0; place < ASKERS_MAX; place++) {
            if (askers[place].name == NULL || bz_is(askers[place].name, name)) {
                askers[place].name = name;
                askers[place].count++;
                others--;
                break;
            }
        }
    }
    add_count(text, total, "cancel");
    for (unsigned place = 0; place < ASKERS_MAX && askers[place].name != NULL; place++) {
        bool is_injected = askers[place].name[0] == '\0';
        bz_text_add(text, "%s%" PRIu32 " %s%s", place == 0 ? ": " : ", ", askers[place].count,
                    is_injected ? "injected" : "by ", askers[place].name);
    }
    if (others > 0) {
        bz_text_add(text, ", %" PRIu32 " by others", others);
    }
    if (too_late > 0) {
        bz_text_add(text, " (%" PRIu32 " of them too late)", too_late);
    }
}

static void print_place(const struct bz_diagnosis *diagnosis, struct bz_wrap *wrap) {
    const struct bz_trace *trace = diagnosis->trace;
    const struct bz_trace *found = diagnosis->found;
    const char *time = bz_cli_time_text(verdict_time_ns(trace));
    if (found == NULL) {
        bz_wrap_printf(wrap, 4, BZ_COLOUR_NONE,
                       "  seed 0x%" PRIx64 ", step %" PRIu64 ", virtual time %s", trace->seed,
                       trace->verdict.step, time);
    } else {
        bz_wrap_printf(wrap, 4, BZ_COLOUR_NONE,
                       "  seed 0x%" PRIx64 ", step %" PRIu64 "; shrunk to step %" PRIu64
                       ", virtual time %s:",
                       found->seed, found->verdict.step, trace->verdict.step, time);
    }
}

static void print_head(const struct bz_diagnosis *diagnosis, const struct bz_story *story,
                       struct bz_wrap *wrap) {
    const struct bz_trace *trace = diagnosis->trace;
    const struct bz_trace_verdict *verdict = &trace->verdict;
    uint32_t oracle = bz_oracle_index(verdict->oracle);
    bool is_known = oracle < bz_oracle_count;
    struct bz_text text = {0};
    bool is_own = strcmp(verdict->oracle, "assertion") == 0 && verdict->message != NULL;
    const char *summary = is_own     ? verdict->message /* the program's own check */
                          : is_known ? bz_oracles[oracle].summary
                                     : "";
    bz_wrap_printf(wrap, 2, BZ_COLOUR_BAD, "violation: %s%s%s", verdict->oracle,
                   summary[0] != '\0' ? ": " : "", summary);
    if (!is_own) {
        bz_wrap_print(wrap, "  ", bz_or(verdict->message, ""), 4, BZ_COLOUR_NONE);
    }
    bz_story_add_holders(story, &text);
    if (text.length > 0) {
        bz_wrap_print(wrap, "  ", text.bytes, 4, BZ_COLOUR_NONE);
        bz_text_clear(&text);
    }
    print_place(diagnosis, wrap);
    add_count(&text, story->deviations + story->jumps, "deviation");
    bz_text_add(&text, " from a FIFO loop");
    if (story->jumps > 0) {
        bz_text_add(&text, " (");
        add_count(&text, story->jumps, "slow step");
        bz_text_add(&text, "%s%s)", story->jumps == 1 ? " of " : ", in sum ",
                    bz_cli_time_text(story->lag_ns));
    }
    bz_text_add(&text, "; ");
    add_cancels(&text, story);
    bz_wrap_print(wrap, "  ", text.bytes, 4, BZ_COLOUR_NONE);
    bz_text_fini(&text);
    const struct bz_fault *fault = bz_diagnosis_declared(diagnosis->variant, trace);
    if (fault != NULL) {
        bz_wrap_printf(wrap, 4, BZ_COLOUR_NONE, "  declared fault found: %s (%s): %s", fault->issue,
                       fault->project, fault->summary);
    }
}

void bz_diagnosis_add_command(struct bz_text *text, const struct bz_diagnosis *diagnosis,
                              const char *command) {
    const char *name = diagnosis->trace->scenario; /* NULL: there was no memory for the trace */
    const struct bz_scenario *scenario =
        name == NULL ? NULL : bz_catalog_scenario(&bz_cli_catalog, name);
    bz_text_add(text, "%s", command);
    bz_plugins_add_options(text, scenario, diagnosis->variant);
    bz_text_add(text, "%s'%s'%s", command[strlen(command) - 1] == '=' ? "" : " ", diagnosis->token,
                bz_caller.replay_after);
}

static void print_command(const struct bz_diagnosis *diagnosis, struct bz_wrap *wrap,
                          const char *label, const char *command) {
    struct bz_text text = {0};
    bz_diagnosis_add_command(&text, diagnosis, command);
    bz_wrap_whole(wrap, label, text.bytes);
    bz_text_fini(&text);
}

/* True if `replay --gdb` shows where the process ends: not of a test in Python. */
static bool has_debugger(const struct bz_trace *trace) {
    const char *oracle = bz_or(trace->verdict.oracle, "");
    const struct bz_scenario *scenario =
        trace->scenario == NULL ? NULL : bz_catalog_scenario(&bz_cli_catalog, trace->scenario);
    return scenario != NULL && scenario->runtime == NULL &&
           strcmp(bz_caller.replay, "buzzer replay") == 0 &&
           (strcmp(oracle, "crash") == 0 || strcmp(oracle, "stack-overflow") == 0);
}

/* Lines that are copied as a whole: they may be longer. */
static void print_foot(const struct bz_diagnosis *diagnosis, struct bz_wrap *wrap) {
    const char *token = diagnosis->token;
    if (token != NULL) {
        bz_wrap_whole(wrap, "token   ", token);
    }
    if (diagnosis->trace_path != NULL) {
        bz_wrap_whole(wrap, "trace   ", diagnosis->trace_path);
    }
    if (token != NULL) {
        print_command(diagnosis, wrap, "replay  ", bz_caller.replay);
    }
    if (token != NULL && has_debugger(diagnosis->trace)) {
        print_command(diagnosis, wrap, "where   ", "buzzer replay --gdb");
    }
    if (token != NULL && diagnosis->is_interrupted) {
        char command[128];
        snprintf(command, sizeof command, "not yet, it was interrupted: %s shrink",
                 bz_caller.program);
        print_command(diagnosis, wrap, "shrunk  ", command);
    }
    if (diagnosis->small_token != NULL) {
        bz_wrap_whole(wrap, "shrunk  ", diagnosis->small_token);
    }
    if (diagnosis->small_path != NULL) {
        bz_wrap_whole(wrap, "shrunk  ", diagnosis->small_path);
    }
}

static void print_report(const struct bz_diagnosis *diagnosis, struct bz_timeline *timeline,
                         struct bz_wrap *wrap, bool is_whole) {
    print_head(diagnosis, &timeline->story, wrap);
    bz_timeline_print(timeline, wrap, is_whole);
    print_foot(diagnosis, wrap);
}

void bz_diagnosis_print(FILE *out, const struct bz_diagnosis *diagnosis) {
    struct bz_timeline timeline;
    struct bz_wrap counted = {0};
    struct bz_wrap wrap = {.out = out, .is_colour = bz_wrap_has_colour(out)};
    if (diagnosis->trace->verdict.oracle == NULL) {
        return;
    }
    bz_timeline_init(&timeline, diagnosis->trace);
    bool is_short = timeline.row_count <= REPORT_LINES_MAX;
    if (is_short) {
        print_report(diagnosis, &timeline, &counted, true);
    }
    print_report(diagnosis, &timeline, &wrap, is_short && counted.lines <= REPORT_LINES_MAX);
    bz_timeline_fini(&timeline);
}

/* --- a run that was cut ----------------------------------------------------------------------- */

#define LAST_ROWS 16u
#define PLACES_MAX 12u /* tasks whose place is reported */

/* Where each task is that has not ended: "poller  yields at pool.py:12". */
static void print_places(const struct bz_trace *trace, struct bz_wrap *wrap) {
    size_t bytes = (trace->task_count + 1) * sizeof(const struct bz_trace_event *);
    const struct bz_trace_event **last = bz_lack_check(calloc(1, bytes), "a diagnosis");
    unsigned shown = 0;
    for (size_t index = 0; index < trace->event_count; index++) {
        const struct bz_trace_event *event = &trace->events[index];
        uint32_t task = event->task == NULL ? 0 : bz_trace_find_task(trace, event->task);
        if (bz_is(event->event, "suspend") || bz_is(event->event, "exit")) {
            last[task] = event;
        }
    }
    for (size_t task = 1; task <= trace->task_count && shown < PLACES_MAX; task++) {
        const struct bz_trace_event *event = last[task];
        if (event == NULL || bz_is(event->event, "exit") || event->where == NULL) {
            continue;
        }
        bz_wrap_printf(wrap, 4, BZ_COLOUR_NONE, "  %s %s at %s", trace->tasks[task - 1],
                       bz_is(event->wait, "yield")   ? "yields"
                       : bz_is(event->wait, "sleep") ? "sleeps"
                                                     : "waits",
                       event->where);
        shown++;
    }
    if (shown > 0) {
        bz_wrap_whole(wrap, "", "");
    }
    free(last);
}

void bz_diagnosis_print_cut(FILE *out, const struct bz_diagnosis *diagnosis) {
    const struct bz_trace *trace = diagnosis->trace;
    struct bz_timeline timeline;
    struct bz_wrap wrap = {.out = out, .is_colour = bz_wrap_has_colour(out)};
    char verdict[BZ_TRACE_NAME_BYTES_MAX + 1];
    bz_wrap_printf(&wrap, 4, BZ_COLOUR_BAD, "%s: the run with seed 0x%" PRIx64 " had not ended",
                   bz_trace_verdict_text(&trace->verdict, verdict, sizeof verdict), trace->seed);
    if (trace->verdict.message != NULL) {
        bz_wrap_printf(&wrap, 4, BZ_COLOUR_NONE, "  %s", trace->verdict.message);
    }
    if (trace->event_count < BZ_TRACE_EVENTS_MAX) { /* else its end is not recorded */
        bz_wrap_printf(&wrap, 4, BZ_COLOUR_NONE, "  virtual time %s; its last lines:",
                       bz_cli_time_text(verdict_time_ns(trace)));
        bz_timeline_init(&timeline, trace);
        bz_timeline_print_end(&timeline, &wrap, LAST_ROWS);
        bz_timeline_fini(&timeline);
        print_places(trace, &wrap);
    }
    print_foot(diagnosis, &wrap);
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
