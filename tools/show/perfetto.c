/* Chrome's JSON trace events, for ui.perfetto.dev and chrome://tracing.
 *
 * Virtual time stands still for many steps, and a viewer shows nothing that has no length. So each
 * step takes a microsecond of the picture, added to the virtual clock:
 *
 *     ts = virtual time + step * 1 us
 *
 * Both grow, so the order of steps and the order of time stay as they are. The arguments have the
 * true step and the true time.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli.h"
#include "tools/show/show.h"
#include "traces/lack.h"

struct track {
    const struct bz_view *view;
    struct bz_paper *paper;
    uint64_t *times_ns; /* by step, up to the last one; the clock as the step begins */
    uint64_t *lines_ns; /* by line, in nanoseconds of the picture */
    uint64_t last;      /* step */
};

/* The clock at each step. Steps without events, if any, have that of the step before them. */
static void read_clock(struct track *track) {
    const struct bz_trace *trace = track->view->trace;
    uint64_t last = 0;
    for (size_t index = 0; index < trace->event_count; index++) {
        uint64_t step = trace->events[index].step;
        last = step > last ? step : last;
    }
    /* The steps of a hostile trace may have any number: there are no more than its events. */
    track->last = last < BZ_TRACE_EVENTS_MAX ? last : BZ_TRACE_EVENTS_MAX;
    track->times_ns = bz_lack_check(calloc((size_t)track->last + 1, sizeof(uint64_t)), "a picture");
    for (size_t index = 0; index < trace->event_count; index++) {
        const struct bz_trace_event *event = &trace->events[index];
        if (event->step <= track->last && event->time_ns > track->times_ns[event->step]) {
            track->times_ns[event->step] = event->time_ns;
        }
    }
    for (uint64_t step = 1; step <= track->last; step++) {
        if (track->times_ns[step] < track->times_ns[step - 1]) {
            track->times_ns[step] = track->times_ns[step - 1];
        }
    }
}

/* In nanoseconds of the picture. */
static uint64_t at_step(const struct track *track, uint64_t step) {
    return track->times_ns[step < track->last ? step : track->last] + step * 1000;
}

static void put_time(struct bz_paper *paper, const char *key, uint64_t time_ns) {
    bz_paper_printf(paper, ",\"%s\":%" PRIu64 ".%03u", key, time_ns / 1000,
                    (unsigned)(time_ns % 1000));
}

static void begin(struct track *track, const char *phase, uint32_t task) {
    bz_paper_printf(track->paper, ",\n{\"ph\":\"%s\",\"pid\":1,\"tid\":%" PRIu32, phase, task);
}

static void put_thread(struct track *track, uint32_t task) {
    begin(track, "M", task);
    bz_paper_put(track->paper, ",\"name\":\"thread_name\",\"args\":{\"name\":");
    bz_paper_json(track->paper, bz_show_task(track->view->trace, task));
    bz_paper_put(track->paper, "}}");
    begin(track, "M", task);
    bz_paper_printf(track->paper,
                    ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%" PRIu32 "}}", task);
}

static void put_span(struct track *track, const struct bz_span *span) {
    static const char *const names[] = {
        [BZ_SPAN_UNSTARTED] = "unstarted", [BZ_SPAN_READY] = "ready",
        [BZ_SPAN_RUNNING] = "running",     [BZ_SPAN_WAITING] = "waiting",
        [BZ_SPAN_WOKEN] = "woken",         [BZ_SPAN_STRUCK] = "cancelled",
        [BZ_SPAN_SLEEPING] = "sleeping",   [BZ_SPAN_DONE] = "done",
    };
    uint64_t end = span->end <= track->last ? span->end : track->last + 1;
    if (span->kind == BZ_SPAN_DONE || span->step >= end) {
        return;
    }
    uint64_t from_ns = at_step(track, span->step);
    begin(track, "X", span->task);
    bz_paper_put(track->paper, ",\"cat\":\"state\",\"name\":");
    bz_paper_json(track->paper, names[span->kind]);
    put_time(track->paper, "ts", from_ns);
    put_time(track->paper, "dur", at_step(track, end) - from_ns);
    bz_paper_printf(track->paper, ",\"args\":{\"step\":%" PRIu64 ",\"virtual_ns\":%" PRIu64,
                    span->step,
                    track->times_ns[span->step < track->last ? span->step : track->last]);
    if (span->object != NULL) {
        bz_paper_put(track->paper, ",\"object\":");
        bz_paper_json(track->paper, span->object);
    }
    bz_paper_put(track->paper, span->is_holding ? ",\"holding\":true}}" : "}}");
}

/* An arrow without a slice at its end is dropped. So the loop's own steps, its timers and
 * callbacks, have one, and so has a task that is done and is cancelled then. */
static void put_step_slices(struct track *track) {
    const struct bz_story *story = track->view->story;
    for (size_t index = 0; index < story->line_count; index++) {
        const struct bz_story_line *line = &story->lines[index];
        bool is_first = index == 0 || story->lines[index - 1].step != line->step ||
                        story->lines[index - 1].task != line->task;
        bool is_done = line->window != NULL && strcmp(line->window, "done") == 0;
        if ((line->task == 0 || is_done) && is_first && !line->is_violation) {
            begin(track, "X", line->task);
            bz_paper_printf(track->paper, ",\"cat\":\"state\",\"name\":\"%s\"",
                            is_done ? "done" : "running");
            put_time(track->paper, "ts", at_step(track, line->step));
            put_time(track->paper, "dur", 1000);
            bz_paper_printf(track->paper,
                            ",\"args\":{\"step\":%" PRIu64 ",\"virtual_ns\":%" PRIu64 "}}",
                            line->step, line->time_ns);
        }
    }
}

/* A line is an instant. The lines of a step share its microsecond, in their order. */
static void place_lines(struct track *track) {
    const struct bz_story *story = track->view->story;
    track->lines_ns =
        bz_lack_check(calloc(story->line_count + 1, sizeof *track->lines_ns), "a picture");
    for (size_t first = 0, end; first < story->line_count; first = end) {
        for (end = first; end < story->line_count; end++) {
            if (story->lines[end].step != story->lines[first].step) {
                break;
            }
        }
        for (size_t index = first; index < end; index++) {
            track->lines_ns[index] = at_step(track, story->lines[index].step) +
                                     (index - first + 1) * 1000 / (end - first + 1);
        }
    }
}

static void put_line(struct track *track, size_t index) {
    const struct bz_story_line *line = &track->view->story->lines[index];
    const char *message = track->view->trace->verdict.message;
    begin(track, "i", line->task);
    bz_paper_printf(track->paper,
                    ",\"s\":\"%s\",\"cat\":\"%s\",\"name\":", line->is_violation ? "p" : "t",
                    line->is_violation ? "violation" : "line");
    bz_paper_json(track->paper, line->text);
    put_time(track->paper, "ts", track->lines_ns[index]);
    bz_paper_printf(track->paper,
                    ",\"args\":{\"step\":%" PRIu64 ",\"virtual_ns\":%" PRIu64 ",\"cause\":%s",
                    line->step, line->time_ns, line->is_cause ? "true" : "false");
    if (line->window != NULL) {
        bz_paper_put(track->paper, ",\"window\":");
        bz_paper_json(track->paper, line->window);
    }
    if (line->is_violation && message != NULL) {
        bz_paper_put(track->paper, ",\"message\":");
        bz_paper_json(track->paper, message);
    }
    bz_paper_put(track->paper, "}}");
}

static void put_flow(struct track *track, size_t index) {
    const struct bz_arrow *arrow = &track->view->story->arrows[index];
    const char *name = arrow->kind == BZ_ARROW_WAKE     ? "wakes"
                       : arrow->kind == BZ_ARROW_CANCEL ? "cancels"
                                                        : NULL;
    if (name == NULL) {
        return;
    }
    const struct bz_story_line *lines = track->view->story->lines;
    begin(track, "s", lines[arrow->from].task);
    bz_paper_printf(track->paper, ",\"cat\":\"%s\",\"name\":\"%s\",\"id\":%zu", name, name, index);
    put_time(track->paper, "ts", track->lines_ns[arrow->from]);
    bz_paper_put(track->paper, "}");
    begin(track, "f", lines[arrow->to].task);
    bz_paper_printf(track->paper, ",\"bp\":\"e\",\"cat\":\"%s\",\"name\":\"%s\",\"id\":%zu", name,
                    name, index);
    put_time(track->paper, "ts", track->lines_ns[arrow->to]);
    bz_paper_put(track->paper, "}");
}

static void put_head(struct track *track) {
    const struct bz_trace *trace = track->view->trace;
    struct bz_paper *paper = track->paper;
    bz_paper_put(paper, "{\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"scenario\":");
    bz_paper_json(paper, trace->scenario);
    bz_paper_put(paper, ",\"variant\":");
    bz_paper_json(paper, trace->variant);
    bz_paper_printf(paper, ",\"seed\":\"0x%" PRIx64 "\",\"verdict\":", trace->seed);
    bz_paper_json(paper, bz_show_verdict(trace));
    bz_paper_put(paper, ",\"clock\":\"ts is virtual time plus one microsecond for each step; the "
                        "arguments have the true step and time\"},\n\"traceEvents\":[\n"
                        "{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"name\":\"process_name\",\"args\":{"
                        "\"name\":");
    bz_paper_json(paper, trace->scenario);
    bz_paper_put(paper, "}}");
}

void bz_show_perfetto(const struct bz_view *view, struct bz_paper *paper) {
    struct track track = {.view = view, .paper = paper};
    read_clock(&track);
    place_lines(&track);
    put_head(&track);
    for (uint32_t task = 0; task <= view->trace->task_count; task++) {
        put_thread(&track, task);
    }
    for (size_t index = 0; index < view->story->span_count; index++) {
        put_span(&track, &view->story->spans[index]);
    }
    put_step_slices(&track);
    for (size_t index = 0; index < view->story->line_count; index++) {
        put_line(&track, index);
    }
    for (size_t index = 0; index < view->story->arrow_count; index++) {
        put_flow(&track, index);
    }
    bz_paper_put(paper, "\n]}\n");
    free(track.lines_ns);
    free(track.times_ns);
}
