#include "tools/timeline.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/runtime/check.h"

/* What the reader of the events so far knows of a task. */
struct reader_task {
    const char *op; /* the operation that it is inside */
    const char *object;
    bool has_started;
    bool is_expected; /* it waits for something other than its turn: its return is worth a line */
};

struct reader {
    const struct bz_trace *trace;
    struct reader_task *tasks; /* by number; 0 is the loop */
    uint64_t injected_step;    /* of the last injected cancel */
    uint32_t injected_task;
};

static bool is(const char *text, const char *word) {
    return text != NULL && strcmp(text, word) == 0;
}

static const char *or_else(const char *text, const char *other) {
    return text != NULL ? text : other;
}

/* Looking a name up costs a search; runs of events of the same task are common. */
static uint32_t task_number(const struct reader *reader, const char *name) {
    return name == NULL ? 0 : bz_trace_find_task(reader->trace, name);
}

#define SAY(...) (snprintf(text, BZ_TIMELINE_TEXT_BYTES, __VA_ARGS__), true)

static bool say_call(struct reader_task *task, const struct bz_trace_event *event, char *text) {
    task->op = event->op;
    task->object = event->object;
    if (is(event->op, "acquire")) {
        return false; /* whether it acquires or waits is the next line */
    }
    if (is(event->op, "release")) {
        return SAY("releases '%s'", or_else(event->object, "?"));
    }
    return SAY("calls %s of '%s'", or_else(event->op, "?"), or_else(event->object, "?"));
}

static bool say_return(struct reader_task *task, const struct bz_trace_event *event, char *text) {
    const char *op = or_else(event->op, or_else(task->op, "?"));
    const char *object = or_else(event->object, or_else(task->object, "?"));
    task->op = NULL;
    if (is(op, "acquire") && is(event->status, "ok")) {
        return SAY("acquires '%s'", object);
    }
    if (is(op, "acquire") && is(event->status, "cancelled")) {
        return SAY("leaves '%s' without a permit (cancelled)", object);
    }
    if (is(event->status, "ok")) {
        return false;
    }
    return SAY("is refused: %s of '%s' says %s", op, object, or_else(event->status, "?"));
}

static bool say_suspend(struct reader_task *task, const struct bz_trace_event *event, char *text) {
    task->is_expected = !is(event->wait, "yield");
    if (task->op != NULL) {
        task->is_expected = true;
        return SAY("waits for '%s'", or_else(task->object, "?"));
    }
    if (is(event->wait, "sleep")) {
        return SAY("sleeps");
    }
    if (is(event->wait, "join")) {
        return SAY("waits for other tasks");
    }
    return is(event->wait, "future") && SAY("waits for a future");
}

static bool say_resume(struct reader_task *task, const struct bz_trace_event *event, char *text) {
    bool has_started = task->has_started;
    bool is_expected = task->is_expected;
    task->has_started = true;
    task->is_expected = false;
    if (is(event->status, "cancelled")) {
        return has_started ? SAY("resumes cancelled") : SAY("starts cancelled");
    }
    if (!has_started) {
        return SAY("starts");
    }
    if (!is(event->status, "ok")) {
        return SAY("resumes with %s", or_else(event->status, "?"));
    }
    return is_expected && SAY("resumes");
}

static bool say_cancel(const struct reader *reader, const struct bz_trace_event *event,
                       char *text) {
    bool is_injected = reader->injected_step == event->step &&
                       reader->injected_task == task_number(reader, event->task);
    char by[160] = "";
    if (is_injected) {
        snprintf(by, sizeof by, " (injected)");
    } else if (event->by != NULL) {
        snprintf(by, sizeof by, " by %.140s", event->by);
    }
    if (event->status != NULL && !is(event->status, "ok")) {
        return SAY("is cancelled%s, too late", by);
    }
    if (is(event->window, "cancelling")) {
        return SAY("is cancelled once more%s", by);
    }
    return SAY("is cancelled while %s%s", or_else(event->window, "?"), by);
}

/* True if the event is worth a line, which is then in `text`. Must see every event in order. */
static bool say(struct reader *reader, const struct bz_trace_event *event, char *text) {
    uint32_t number = task_number(reader, event->task);
    struct reader_task *task = &reader->tasks[number];
    if (is(event->event, "call")) {
        return say_call(task, event, text);
    }
    if (is(event->event, "return")) {
        return say_return(task, event, text);
    }
    if (is(event->event, "suspend")) {
        return say_suspend(task, event, text);
    }
    if (is(event->event, "resume")) {
        return say_resume(task, event, text);
    }
    if (is(event->event, "wake")) {
        return is(event->status, "cancelled")
                   ? false /* the cancel has a line of its own */
                   : SAY("is woken (%s)",
                         is(event->status, "ok") ? "result set" : or_else(event->status, "?"));
    }
    if (is(event->event, "inject")) {
        reader->injected_step = event->step;
        reader->injected_task = number;
        return false;
    }
    if (is(event->event, "cancel")) {
        return say_cancel(reader, event, text);
    }
    if (is(event->event, "exit")) {
        return SAY("ends (%s)", or_else(event->status, "?"));
    }
    if (is(event->event, "draw")) {
        return SAY("draws %" PRIu64, event->n);
    }
    if (is(event->event, "note")) {
        return event->n != BZ_TRACE_ABSENT && SAY("note %" PRIu64, event->n);
    }
    return false;
}

size_t bz_timeline(const struct bz_trace *trace, uint64_t step, struct bz_moment *moments,
                   size_t capacity, size_t *left_out) {
    struct reader reader = {.trace = trace, .injected_step = UINT64_MAX};
    struct bz_moment moment;
    size_t total = 0;
    reader.tasks = calloc(trace->task_count + 1, sizeof *reader.tasks);
    struct bz_moment *ring = calloc(capacity, sizeof *ring);
    BZ_CHECK(reader.tasks != NULL && ring != NULL);
    for (size_t index = 0; index < trace->event_count; index++) {
        const struct bz_trace_event *event = &trace->events[index];
        if (event->step > step) {
            break;
        }
        if (say(&reader, event, moment.text)) {
            moment.step = event->step;
            moment.time_ns = event->time_ns;
            moment.task = event->task;
            ring[total++ % capacity] = moment;
        }
    }
    size_t count = total < capacity ? total : capacity;
    for (size_t index = 0; index < count; index++) {
        moments[index] = ring[(total - count + index) % capacity];
    }
    *left_out = total - count;
    free(ring);
    free(reader.tasks);
    return count;
}
