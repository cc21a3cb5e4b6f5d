/* The sentence of each event, and the arrows between them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/story/reader.h"
#include "traces/text.h"

#define BLOCKERS_MAX 8u /* arrows from holders to one waiter */

static struct bz_story_task *own(struct bz_reader *reader) {
    return &reader->tasks[reader->task];
}

static const struct bz_ledger_task *pending(const struct bz_reader *reader, uint32_t task) {
    return &reader->ledger->tasks[task];
}

static const char *object_name(const struct bz_reader *reader, uint32_t object) {
    return object == 0 ? "?" : reader->trace->objects[object - 1].name;
}

/* "acquire of 'tables'", or the program's words for it. */
static const char *call_of(struct bz_reader *reader, const char *text, const char *op,
                           uint32_t object) {
    snprintf(reader->call, sizeof reader->call, "%s of '%s'", op, object_name(reader, object));
    return bz_or(text, reader->call);
}

/* --- who does it ------------------------------------------------------------------------------ */

/* The line of the pending operation, which gets one now: something happens inside it. */
static uint32_t say_pending(struct bz_reader *reader, uint32_t task) {
    struct bz_story_task *state = &reader->tasks[task];
    state->is_call_unsaid = false;
    state->call_line =
        bz_reader_add_line(reader, task, "calls %s",
                           call_of(reader, state->call_text, bz_or(pending(reader, task)->op, "?"),
                                   pending(reader, task)->object));
    return state->call_line;
}

/* A line of the task that acts now, made of `format` if it has none in this step. */
static uint32_t actor_line(struct bz_reader *reader, uint32_t actor, const char *deed,
                           const char *patient) {
    const struct bz_story_task *state = &reader->tasks[actor];
    if (state->is_call_unsaid) {
        return say_pending(reader, actor);
    }
    uint32_t line = actor == 0 ? reader->loop_line : state->last_line;
    if (line != BZ_STORY_NONE && reader->story->lines[line].step == reader->step) {
        return line;
    }
    if (actor == 0 && (reader->is_timer || reader->is_callback) && reader->handle_task != 0) {
        return bz_reader_add_line(
            reader, 0, "runs a %s of %s", reader->is_timer ? "timer" : "callback",
            bz_trace_task_name(reader->trace, reader->handle_task, "the loop"));
    }
    return bz_reader_add_line(reader, actor, "%s %s", deed, patient);
}

/* --- operations ------------------------------------------------------------------------------- */

/* The lock of a condition, which its waiters give up; 0: not known. */
static uint32_t lock_of(const struct bz_reader *reader) {
    const struct bz_ledger_task *task = pending(reader, reader->task);
    const struct bz_ledger_object *object = &reader->ledger->objects[task->object];
    return object->kind == BZ_KIND_CONDITION && bz_is(task->op, "wait") ? object->partner : 0;
}

/* The line of the operation of the event, which does what it is for. */
static uint32_t say_op(struct bz_reader *reader) {
    static const char *const texts[][3] = {{"acquire", "acquires '", "'"},
                                           {"put", "puts an item ('", "')"},
                                           {"get", "gets an item ('", "')"},
                                           {"wait", "ends its wait for '", "'"},
                                           {"release", "releases '", "'"},
                                           {"notify", "notifies '", "'"},
                                           {"set", "sets '", "'"},
                                           {"clear", "clears '", "'"},
                                           {"abort", "aborts '", "'"},
                                           {"reset", "resets '", "'"},
                                           {"shutdown", "shuts down '", "'"},
                                           {"done", "calls task_done of '", "'"},
                                           {"create", "makes a resource of '", "'"},
                                           {"destroy", "destroys a resource of '", "'"}};
    const char *op = reader->event->op;
    const char *text = reader->event->text;
    const char *before = "calls something of '";
    const char *after = "'";
    if (text != NULL) {
        bool is_call = bz_is(reader->event->event, "call");
        return bz_reader_add_line(reader, reader->task, "%s %s", is_call ? "calls" : "completes",
                                  text);
    }
    for (unsigned index = 0; index < sizeof texts / sizeof texts[0]; index++) {
        if (bz_is(op, texts[index][0])) {
            before = texts[index][1];
            after = texts[index][2];
        }
    }
    if (bz_is(op, "wait") &&
        (pending(reader, reader->task)->op == NULL || own(reader)->wait_line == BZ_STORY_NONE)) {
        before = "need not wait for '";
    }
    return bz_reader_add_line(reader, reader->task, "%s%s%s", before,
                              object_name(reader, reader->object), after);
}

/* An operation that cannot wait: a line of its own, and what it leaves for others. */
static void say_deed(struct bz_reader *reader) {
    struct bz_story_object *object = &reader->objects[reader->object];
    const char *op = reader->event->op;
    uint32_t line = say_op(reader);
    own(reader)->call_line = line;
    if (bz_is(op, "release")) {
        bz_line_list_push(&object->left, line);
    } else if (bz_is(op, "set")) {
        object->set_line = line;
    } else if (bz_is(op, "clear") || bz_is(op, "reset") || bz_is(op, "abort") ||
               bz_is(op, "shutdown")) {
        object->set_line = BZ_STORY_NONE;
        object->take_line = line;
    }
}

static void say_call(struct bz_reader *reader) {
    struct bz_story_task *task = own(reader);
    task->call_text = reader->event->text;
    if (bz_op_never_waits(reader->event->op)) {
        say_deed(reader);
        return;
    }
    task->is_call_unsaid = true; /* the next event says whether it waits */
    task->call_line = BZ_STORY_NONE;
    task->wait_line = BZ_STORY_NONE;
    task->waker_line = BZ_STORY_NONE;
}

/* An accepted operation takes what an earlier one has left. */
static void take(struct bz_reader *reader) {
    bool is_pending = pending(reader, reader->task)->op != NULL;
    struct bz_story_object *object = &reader->objects[reader->object];
    uint32_t waker = is_pending ? own(reader)->waker_line : BZ_STORY_NONE;
    if (waker != BZ_STORY_NONE && bz_line_list_take(&object->left, waker) != BZ_STORY_NONE) {
        return; /* the arrow of the wake-up says so */
    }
    uint32_t found = bz_line_list_take(&object->left, BZ_STORY_NONE);
    if (bz_is(reader->event->op, "wait") && waker == BZ_STORY_NONE) {
        bool is_set = object->set_line != BZ_STORY_NONE;
        uint32_t last = reader->ledger->objects[reader->object]
                            .last; /* a barrier opens: all others have come */
        found = is_set      ? object->set_line
                : last != 0 ? reader->tasks[last].wait_line
                            : BZ_STORY_NONE;
    }
    bz_reader_add_arrow(reader, found, BZ_ARROW_TAKES);
}

/* It returned BZ_OK. */
static void say_done(struct bz_reader *reader) {
    const char *op = reader->event->op;
    struct bz_story_object *object = &reader->objects[reader->object];
    uint32_t line = say_op(reader);
    take(reader);
    if (bz_is(op, "put") || bz_is(op, "get")) {
        object->take_line = line;
        bz_line_list_push(&reader->objects[reader->ledger->objects[reader->object].partner].left,
                          line);
    }
}

/* It did not. */
static void say_failed(struct bz_reader *reader) {
    struct bz_story_task *task = own(reader);
    const char *op = bz_or(reader->event->op, "an operation");
    const char *call = call_of(reader, reader->event->text, op, reader->object);
    const char *status = bz_or(reader->event->status, "?");
    bool has_waited = pending(reader, reader->task)->op != NULL && task->wait_line != BZ_STORY_NONE;
    uint32_t line = task->last_line;
    if (bz_op_never_waits(op) && line != BZ_STORY_NONE && line == task->call_line) {
        bz_reader_set_text(reader, line, "is refused: %s returns %s", call, status);
    } else {
        line = bz_reader_add_line(
            reader, reader->task,
            has_waited ? "leaves: %s returns %s" : "is refused: %s returns %s", call, status);
    }
    if (bz_is(op, "release")) { /* nothing was given up */
        bz_line_list_take(&reader->objects[reader->object].left, line);
    }
    bz_line_list_push(&reader->objects[reader->object].failed, line);
}

static void say_return(struct bz_reader *reader) {
    struct bz_story_task *task = own(reader);
    if (bz_is(reader->event->status, "ok")) {
        say_done(reader);
    } else {
        say_failed(reader);
    }
    task->is_call_unsaid &= bz_op_never_waits(reader->event->op);
    task->call_line = BZ_STORY_NONE;
}

/* --- tasks ------------------------------------------------------------------------------------ */

static void say_spawn(struct bz_reader *reader) {
    if (reader->event->by != NULL) {
        uint32_t parent = bz_trace_find_task(reader->trace, reader->event->by);
        own(reader)->arrow_from =
            bz_reader_add_line(reader, parent, "spawns %s",
                               bz_trace_task_name(reader->trace, reader->task, "the loop"));
    }
}

/* The tasks that hold a permit of the object: the task waits for one of them. */
static void add_blockers(struct bz_reader *reader, uint32_t object) {
    uint32_t hold = reader->ledger->objects[object].newest;
    for (unsigned count = 0; object != 0 && hold != 0 && count < BLOCKERS_MAX; count++) {
        bz_reader_add_arrow(reader, reader->hold_lines[hold], BZ_ARROW_BLOCKS);
        hold = reader->ledger->holds[hold].older;
    }
}

/* " at pool.py:12"; nothing if the place is unknown. */
static const char *place(struct bz_reader *reader) {
    const char *where = reader->event->where;
    snprintf(reader->place, sizeof reader->place, "%s%s", where == NULL ? "" : " at ",
             bz_or(where, ""));
    return reader->place;
}

/* Why it waits: whoever waits before it, or who took what it needs. */
static void say_waits(struct bz_reader *reader) {
    struct bz_story_task *task = own(reader);
    const struct bz_ledger_task *call = pending(reader, reader->task);
    uint32_t ahead = reader->ledger->objects[call->object].last;
    task->is_call_unsaid = false;
    if (call->is_queued) {
        task->wait_line = bz_reader_add_line(
            reader, reader->task, "waits again, inside %s%s",
            call_of(reader, task->call_text, call->op, call->object), place(reader));
        add_blockers(reader, lock_of(reader));
        return;
    }
    task->wait_line = task->call_text != NULL
                          ? bz_reader_add_line(reader, reader->task, "waits in %s%s",
                                               task->call_text, place(reader))
                          : bz_reader_add_line(reader, reader->task, "waits for '%s'%s",
                                               object_name(reader, call->object), place(reader));
    if (ahead != 0) {
        bz_reader_add_arrow(reader, reader->tasks[ahead].wait_line, BZ_ARROW_QUEUE);
    } else {
        bz_reader_add_arrow(reader, reader->objects[call->object].take_line, BZ_ARROW_BLOCKS);
        add_blockers(reader, call->object);
    }
    if (lock_of(reader) != 0) { /* it is free for others */
        bz_line_list_push(&reader->objects[lock_of(reader)].left, task->wait_line);
    }
}

static void say_suspend(struct bz_reader *reader) {
    struct bz_story_task *task = own(reader);
    const struct bz_ledger_task *call = pending(reader, reader->task);
    const char *wait = bz_or(reader->event->wait, "?");
    reader->is_over = reader->running == reader->task;
    task->is_expected = !bz_is(wait, "yield") || call->op != NULL;
    if (bz_is(wait, "inside")) {
        task->is_inside = true;
        bz_reader_add_line(reader, reader->task, "runs it inside this call");
    } else if (call->op != NULL && bz_is(wait, "future")) {
        say_waits(reader);
    } else if (call->op != NULL) {
        task->is_call_unsaid = false;
        task->wait_line = bz_reader_add_line(
            reader, reader->task, "%s inside %s%s",
            bz_is(wait, "sleep")   ? "sleeps"
            : bz_is(wait, "yield") ? "yields"
                                   : "waits",
            call_of(reader, task->call_text, call->op, call->object), place(reader));
    } else if (!bz_is(wait, "yield")) {
        bz_reader_add_line(reader, reader->task, "%s%s",
                           bz_is(wait, "sleep")  ? "sleeps"
                           : bz_is(wait, "join") ? "waits for other tasks"
                                                 : "waits for a future",
                           place(reader));
    }
}

static void say_resume(struct bz_reader *reader) {
    struct bz_story_task *task = own(reader);
    const char *status = bz_or(reader->event->status, "?");
    bool has_started = pending(reader, reader->task)->has_started;
    const char *verb = task->is_inside ? "continues" : has_started ? "resumes" : "starts";
    bool is_said = task->is_expected || !has_started || !bz_is(status, "ok");
    reader->running = reader->task;
    task->is_expected = task->is_inside = false;
    if (bz_is(status, "ok") && is_said) {
        bz_reader_add_line(reader, reader->task, "%s", verb);
    } else if (is_said) {
        bz_reader_add_line(reader, reader->task,
                           bz_is(status, "cancelled") ? "%s %s" : "%s with %s", verb, status);
    }
}

static void say_exit(struct bz_reader *reader) {
    bz_reader_add_line(reader, reader->task, "ends (%s)", bz_or(reader->event->status, "?"));
}

/* --- wake-ups and cancels --------------------------------------------------------------------- */

static void say_wake(struct bz_reader *reader) {
    const char *status = bz_or(reader->event->status, "?");
    if (bz_is(status, "cancelled")) {
        return; /* the cancel has its own line */
    }
    bool is_own_timer = reader->is_timer && reader->handle_task == reader->task;
    uint32_t waker = BZ_STORY_NONE;
    if (is_own_timer) {
        waker = reader->jump_ns == reader->event->time_ns ? reader->jump_line : BZ_STORY_NONE;
    } else if (!reader->is_over) {
        waker = actor_line(reader, reader->running, "wakes",
                           bz_trace_task_name(reader->trace, reader->task, "the loop"));
    }
    bz_reader_add_line(
        reader, reader->task, "is woken %s%s (%s)", reader->is_over ? "from " : "by ",
        is_own_timer      ? "its timer"
        : reader->is_over ? "outside"
                          : bz_trace_task_name(reader->trace, reader->running, "the loop"),
        bz_is(status, "ok") ? is_own_timer ? "due" : "result set" : status);
    bz_reader_add_arrow(reader, waker, BZ_ARROW_WAKE);
    own(reader)->waker_line = waker;
}

static void say_inject(struct bz_reader *reader) {
    reader->is_injection = true;
    reader->injected = reader->task;
}

/* True if the task waits on: no event of this step wakes or resumes it. */
static bool keeps_waiting(const struct bz_reader *reader) {
    const struct bz_trace *trace = reader->trace;
    const struct bz_trace_event *event = reader->event;
    bool is_woken = !bz_is(event->window, "waiting");
    for (size_t index = reader->event_index + 1; !is_woken && index < trace->event_count; index++) {
        const struct bz_trace_event *next = &trace->events[index];
        if (next->step != event->step) {
            break;
        }
        is_woken = bz_is(next->task, event->task) &&
                   (bz_is(next->event, "wake") || bz_is(next->event, "resume"));
    }
    return !is_woken;
}

/* "is cancelled while waiting, by canceller" */
static uint32_t add_cancel_line(struct bz_reader *reader, uint32_t actor, bool is_injected) {
    static const char *const whens[][2] = {
        {"cancelling", "once more"},
        {"unstarted", "before its first step"},
        {"woken", "while woken, before it resumes"},
    };
    const char *window = bz_or(reader->event->window, "?");
    const char *when = window;
    for (unsigned index = 0; index < sizeof whens / sizeof whens[0]; index++) {
        when = bz_is(window, whens[index][0]) ? whens[index][1] : when;
    }
    const char *by = actor != 0 && actor == reader->task ? "itself"
                     : reader->is_timer && reader->event->by == NULL
                         ? "a timeout"
                         : bz_trace_task_name(reader->trace, actor, "the loop");
    bool is_refused = reader->event->status != NULL && !bz_is(reader->event->status, "ok");
    when = is_refused ? "too late" : when;
    return bz_reader_add_line(reader, reader->task, "is cancelled %s%s%s%s%s",
                              when == window ? "while " : "", when, is_injected ? "" : ", by ",
                              is_injected ? " (injected)" : by,
                              !is_refused && keeps_waiting(reader) ? "; it keeps waiting" : "");
}

static void say_cancel(struct bz_reader *reader) {
    bool is_injected = reader->is_injection && reader->injected == reader->task;
    uint32_t actor = bz_trace_find_task(reader->trace, reader->event->by);
    uint32_t from = BZ_STORY_NONE;
    bool is_timeout = reader->is_timer && reader->event->by == NULL;
    if (is_timeout && !is_injected) {
        from = reader->jump_ns == reader->event->time_ns ? reader->jump_line : BZ_STORY_NONE;
    } else if (!is_injected && actor != reader->task) {
        from = actor_line(reader, actor, "cancels",
                          bz_trace_task_name(reader->trace, reader->task, "the loop"));
    }
    uint32_t number = add_cancel_line(reader, actor, is_injected);
    struct bz_story_line *line = &reader->story->lines[number];
    line->window = bz_or(reader->event->window, "?");
    line->is_injected = is_injected;
    line->is_own_cancel = !is_injected;
    line->is_timeout = !is_injected && is_timeout;
    reader->story->injected += is_injected;
    reader->story->own_cancels += !is_injected;
    bz_reader_add_arrow(reader, from, BZ_ARROW_CANCEL);
}

static void say_uncancel(struct bz_reader *reader) {
    bool stays = reader->event->status != NULL && bz_is(reader->event->status, "cancelled");
    bz_reader_add_line(reader, reader->task, "takes back a cancel request (%" PRIu64 " left%s)",
                       reader->event->n == BZ_TRACE_ABSENT ? 0 : reader->event->n,
                       stays ? ", and is cancelled all the same" : "");
}

/* --- the rest --------------------------------------------------------------------------------- */

static void say_callback(struct bz_reader *reader) {
    reader->is_timer = bz_is(reader->event->role, "timer");
    reader->is_callback = !reader->is_timer;
    reader->handle_task = reader->task;
}

/* "step 6 of worker-2 takes 40 ms": the step before this one. */
static uint32_t say_lag(struct bz_reader *reader) {
    const struct bz_trace_event *events = reader->trace->events;
    uint32_t last = reader->event_index - 1;
    bool has_last = reader->event_index > 0 && events[last].step > 0;
    char step[32] = "the start";
    const char *task = NULL;
    uint64_t count;
    const char *unit = bz_time_unit(
        reader->event->time_ns - (reader->event_index > 0 ? events[last].time_ns : 0), &count);
    if (has_last) {
        snprintf(step, sizeof step, "step %" PRIu64, events[last].step);
    }
    for (uint32_t index = reader->event_index; has_last && task == NULL && index-- > 0;) {
        has_last = events[index].step == events[last].step;
        task = has_last && bz_is(events[index].event, "resume") ? events[index].task : NULL;
    }
    uint32_t line =
        bz_reader_add_line(reader, 0, "%s%s%s takes %" PRIu64 " %s", step,
                           task != NULL ? " of " : "", task != NULL ? task : "", count, unit);
    reader->story->lines[line].is_lag = true;
    return line;
}

/* The clock moves on; a choice says whether it does although work is ready. */
static void say_clock(struct bz_reader *reader) {
    const struct bz_trace *trace = reader->trace;
    reader->jump_line = BZ_STORY_NONE;
    for (; reader->jump < trace->choice_count; reader->jump++) {
        const struct bz_trace_choice *choice = &trace->choices[reader->jump];
        if (choice->step > reader->step) {
            return;
        }
        if (choice->step == reader->step && bz_is(choice->kind, "delay") && choice->label == NULL &&
            choice->value == 1) {
            reader->jump_line = say_lag(reader);
            reader->jump_ns = reader->event->time_ns;
            return;
        }
    }
}

/* The name of the present draw, or NULL: only values other than 0 have a choice. Choices and events
 * are in the order of the run. */
static const char *draw_label(struct bz_reader *reader) {
    const struct bz_trace *trace = reader->trace;
    while (reader->choice < trace->choice_count) {
        const struct bz_trace_choice *choice = &trace->choices[reader->choice];
        if (choice->label == NULL || choice->step < reader->step) {
            reader->choice++;
        } else if (choice->step == reader->step && choice->n == own(reader)->draws &&
                   bz_trace_find_task(trace, choice->task) == reader->task) {
            reader->choice++;
            return choice->label;
        } else {
            return NULL; /* it is about a later draw */
        }
    }
    return NULL;
}

/* True if a later draw, of those that follow at once, says what came of this one. */
static bool is_part_of_value(const struct bz_reader *reader) {
    const struct bz_trace *trace = reader->trace;
    const struct bz_trace_event *event = reader->event;
    if (event->text != NULL) {
        return false;
    }
    for (size_t index = reader->event_index + 1; index < trace->event_count; index++) {
        const struct bz_trace_event *next = &trace->events[index];
        if (!bz_is(next->task, event->task) || next->step != event->step) {
            return false;
        }
        if (!bz_is(next->event, "draw")) { /* a call, of which it has drawn the arguments */
            return next->text != NULL;
        }
        if (next->text != NULL) {
            return true;
        }
    }
    return false;
}

static void say_draw(struct bz_reader *reader) {
    struct bz_story_task *task = own(reader);
    uint64_t value = reader->event->n == BZ_TRACE_ABSENT ? 0 : reader->event->n;
    char text[BZ_STORY_TEXT_BYTES];
    task->draws++;
    const char *label = draw_label(reader);
    if (is_part_of_value(reader)) {
        return;
    }
    if (reader->event->text != NULL) {
        snprintf(text, sizeof text, "%s", reader->event->text);
    } else {
        snprintf(text, sizeof text, "%s%s%" PRIu64, bz_or(label, ""), label != NULL ? " " : "",
                 value);
    }
    bz_reader_add_line(reader, reader->task, "draws %s", text);
}

static void say_note(struct bz_reader *reader) {
    if (reader->event->n != BZ_TRACE_ABSENT) {
        bz_reader_add_line(reader, reader->task, "note %" PRIu64, reader->event->n);
    }
}

void bz_reader_say(struct bz_reader *reader) {
    static const struct {
        const char *event;
        void (*say)(struct bz_reader *reader);
    } sayings[] = {
        {"call", say_call},         {"return", say_return}, {"suspend", say_suspend},
        {"resume", say_resume},     {"wake", say_wake},     {"inject", say_inject},
        {"cancel", say_cancel},     {"exit", say_exit},     {"draw", say_draw},
        {"note", say_note},         {"spawn", say_spawn},   {"uncancel", say_uncancel},
        {"callback", say_callback}, {"clock", say_clock},
    };
    for (size_t index = 0; index < sizeof sayings / sizeof sayings[0]; index++) {
        if (bz_is(reader->event->event, sayings[index].event)) {
            sayings[index].say(reader);
            return;
        }
    }
}
