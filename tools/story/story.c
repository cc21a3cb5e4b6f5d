#include "tools/story/story.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/story/reader.h"
#include "traces/lack.h"
#include "traces/text.h"
#include "traces/utf8.h"

/* A search among the lines of a list ends after this many: a hostile trace has a million. */
#define SEARCH_MAX 1000u

/* --- lines ------------------------------------------------------------------------------------ */

/* Ends the text before an incomplete character. */
static void trim(char *text) {
    size_t length = strlen(text);
    for (size_t at = 0; at < length;) {
        uint32_t code_point;
        size_t bytes = bz_utf8_read(text + at, length - at, &code_point);
        if (bytes == 0) {
            text[at] = '\0';
            return;
        }
        at += bytes;
    }
}

__attribute__((format(printf, 2, 0))) static void
print_text(struct bz_story_line *line, const char *format, va_list arguments) {
    int length = vsnprintf(line->text, sizeof line->text, format, arguments);
    if (length >= (int)sizeof line->text) {
        trim(line->text);
    }
}

uint32_t bz_reader_add_line(struct bz_reader *reader, uint32_t task, const char *format, ...) {
    struct bz_story *story = reader->story;
    struct bz_story_task *state = &reader->tasks[task];
    va_list arguments;
    story->lines = bz_lack_grow(story->lines, story->line_count, &reader->line_capacity,
                                sizeof *story->lines, "the story of a run");
    uint32_t number = (uint32_t)story->line_count++;
    struct bz_story_line *line = &story->lines[number];
    *line = (struct bz_story_line){
        .step = reader->step,
        .time_ns = reader->event != NULL ? reader->event->time_ns : 0,
        .task = task,
        .event = reader->event_index,
        .before = task == 0 ? BZ_STORY_NONE : state->last_line,
    };
    bool is_about_call =
        task == reader->task && reader->event != NULL && reader->event->object != NULL;
    const struct bz_ledger_task *pending = &reader->ledger->tasks[task];
    uint32_t object = is_about_call ? reader->object : pending->op != NULL ? pending->object : 0;
    line->op = is_about_call ? reader->event->op : pending->op;
    line->object = object == 0 ? NULL : reader->trace->objects[object - 1].name;
    line->object_before = BZ_STORY_NONE;
    if (object != 0) {
        struct bz_story_object *root = &reader->objects[reader->objects[object].root];
        line->object_before = root->last_line;
        root->last_line = number;
    }
    va_start(arguments, format);
    print_text(line, format, arguments);
    va_end(arguments);
    if (task == 0) {
        reader->loop_line = number;
    } else if (state->last_line == BZ_STORY_NONE) {
        bz_reader_add_arrow(reader, state->arrow_from, BZ_ARROW_SPAWN);
    }
    state->last_line = number;
    return number;
}

void bz_reader_set_text(struct bz_reader *reader, uint32_t line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print_text(&reader->story->lines[line], format, arguments);
    va_end(arguments);
}

/* Arrows to the newest line are the last ones, so they stay sorted. */
void bz_reader_add_arrow(struct bz_reader *reader, uint32_t from, enum bz_arrow_kind kind) {
    struct bz_story *story = reader->story;
    uint32_t to = (uint32_t)story->line_count - 1;
    if (from == BZ_STORY_NONE || from >= to) {
        return;
    }
    story->arrows = bz_lack_grow(story->arrows, story->arrow_count, &reader->arrow_capacity,
                                 sizeof *story->arrows, "the story of a run");
    size_t place = story->arrow_count++;
    while (place > 0 && story->arrows[place - 1].to == to && story->arrows[place - 1].from > from) {
        story->arrows[place] = story->arrows[place - 1];
        place--;
    }
    story->arrows[place] = (struct bz_arrow){.from = from, .to = to, .kind = kind};
}

void bz_line_list_push(struct bz_line_list *list, uint32_t line) {
    list->lines = bz_lack_grow(list->lines, list->count, &list->capacity, sizeof *list->lines,
                               "the story of a run");
    list->lines[list->count++] = line;
}

uint32_t bz_line_list_take(struct bz_line_list *list, uint32_t line) {
    size_t last = list->count > SEARCH_MAX ? list->count - SEARCH_MAX : 0;
    for (size_t place = list->count; place > last; place--) {
        if (line == BZ_STORY_NONE || list->lines[place - 1] == line) {
            uint32_t found = list->lines[place - 1];
            memmove(&list->lines[place - 1], &list->lines[place],
                    (list->count - place) * sizeof *list->lines);
            list->count--;
            return found;
        }
    }
    return BZ_STORY_NONE;
}

/* --- before the events are read --------------------------------------------------------------- */

/* Which objects share a state, and are one in the order of what happened: the items and the slots
 * of a queue, a condition and its lock, the keys "key", "key#2" and "key#3" of a pool. */
static void share_states(struct bz_reader *reader) {
    const struct bz_trace *trace = reader->trace;
    for (uint32_t number = 1; number <= trace->object_count; number++) {
        const struct bz_ledger_object *state = &reader->ledger->objects[number];
        struct bz_story_object *object = &reader->objects[number];
        const char *name = trace->objects[number - 1].name;
        char first[BZ_TRACE_NAME_BYTES_MAX + 1];
        uint32_t other = state->partner;
        if (state->kind == BZ_KIND_POOL || state->kind == BZ_KIND_UNKNOWN) {
            snprintf(first, sizeof first, "%.*s", (int)strcspn(name, "#"), name);
            other = bz_trace_find_object(trace, first);
        }
        if (other != 0) {
            uint32_t root = reader->objects[other].root;
            object->root = root < object->root ? root : object->root;
            reader->objects[other].root = object->root;
        }
    }
}

static void begin(struct bz_reader *reader, struct bz_story *story) {
    const struct bz_trace *trace = story->trace;
    *reader = (struct bz_reader){.story = story,
                                 .trace = trace,
                                 .ledger = &story->ledger,
                                 .loop_line = BZ_STORY_NONE,
                                 .jump_line = BZ_STORY_NONE};
    bz_ledger_init(reader->ledger, trace);
    reader->hold_lines =
        bz_lack_new(trace->event_count + 2, sizeof *reader->hold_lines, "the story of a run");
    reader->objects =
        bz_lack_new(trace->object_count + 1, sizeof *reader->objects, "the story of a run");
    reader->tasks = bz_lack_new(trace->task_count + 1, sizeof *reader->tasks, "the story of a run");
    for (size_t number = 0; number <= trace->task_count; number++) {
        struct bz_story_task *task = &reader->tasks[number];
        task->arrow_from = task->last_line = task->call_line = BZ_STORY_NONE;
        task->wait_line = task->waker_line = BZ_STORY_NONE;
    }
    for (uint32_t number = 0; number <= trace->object_count; number++) {
        struct bz_story_object *object = &reader->objects[number];
        object->set_line = object->take_line = object->last_line = BZ_STORY_NONE;
        object->root = number;
    }
    share_states(reader);
}

static void end(struct bz_reader *reader) {
    for (uint32_t number = 0; number <= reader->trace->object_count; number++) {
        free(reader->objects[number].left.lines);
        free(reader->objects[number].failed.lines);
    }
    free(reader->hold_lines);
    free(reader->objects);
    free(reader->tasks);
}

/* --- the events ------------------------------------------------------------------------------- */

static void read_event(struct bz_reader *reader, const struct bz_trace_event *event) {
    if (event->step != reader->step) {
        reader->step = event->step;
        reader->running = 0;
        reader->loop_line = BZ_STORY_NONE;
        reader->is_injection = reader->is_over = reader->is_timer = reader->is_callback = false;
        reader->handle_task = 0;
    }
    reader->event = event;
    reader->event_index = (uint32_t)(event - reader->trace->events);
    reader->task = bz_trace_find_task(reader->trace, event->task);
    reader->object = bz_trace_find_object(reader->trace, event->object);
    bz_reader_say(reader);
    bz_ledger_read(reader->ledger, event);
    if (reader->ledger->begun != 0) {
        reader->hold_lines[reader->ledger->begun] = reader->tasks[reader->task].last_line;
    }
}

static void count_deviations(struct bz_story *story) {
    for (size_t index = 0; index < story->trace->choice_count; index++) {
        const struct bz_trace_choice *choice = &story->trace->choices[index];
        bool moves_clock = bz_is(choice->kind, "delay") && choice->label == NULL;
        story->deviations += bz_is(choice->kind, "next") || (moves_clock && choice->value > 1);
        story->jumps += moves_clock && choice->value == 1;
    }
    story->lag_ns = bz_trace_lag_ns(story->trace);
}

/* --- what the violation depends on ------------------------------------------------------------ */

struct search {
    struct bz_story *story;
    uint32_t *open; /* marked lines, nearest first */
    size_t open_count;
    uint32_t distance; /* of the lines that are marked now */
};

static void mark(struct search *search, uint32_t line) {
    if (line != BZ_STORY_NONE && !search->story->lines[line].is_cause) {
        search->story->lines[line].is_cause = true;
        search->story->lines[line].distance = search->distance;
        search->open[search->open_count++] = line;
    }
}

/* The state of the object: who waits there, who owns it, what was left there and not taken, whose
 * operation failed after a wait, and what happened last. */
static void mark_object(struct search *search, const struct bz_reader *reader, uint32_t number) {
    const struct bz_story_object *object = &reader->objects[number];
    if (number == 0) {
        return;
    }
    mark(search, reader->objects[object->root].last_line);
    mark(search, object->set_line);
    const struct bz_ledger *ledger = reader->ledger;
    for (uint32_t task = ledger->objects[number].last; task != 0;
         task = ledger->tasks[task].before) {
        mark(search, reader->tasks[task].last_line);
    }
    for (uint32_t held = ledger->objects[number].newest; held != 0;
         held = ledger->holds[held].older) {
        mark(search, reader->hold_lines[held]);
    }
    for (size_t index = 0; index < object->left.count; index++) {
        mark(search, object->left.lines[index]);
    }
    for (size_t index = 0; index < object->failed.count; index++) {
        mark(search, object->failed.lines[index]);
    }
}

/* All tasks that have not ended, or all. */
static void mark_tasks(struct search *search, const struct bz_reader *reader, bool with_ended) {
    for (size_t number = 0; number <= reader->trace->task_count; number++) {
        if (with_ended || !reader->ledger->tasks[number].has_ended) {
            mark(search, reader->tasks[number].last_line);
        }
    }
}

/* Tasks that have ended and still own something: nobody else gives it back. */
static void mark_owners_that_ended(struct search *search, const struct bz_reader *reader) {
    for (size_t number = 1; number <= reader->trace->task_count; number++) {
        const struct bz_ledger_task *task = &reader->ledger->tasks[number];
        if (task->has_ended && task->hold != 0) {
            mark(search, reader->hold_lines[task->hold]);
            mark(search, reader->tasks[number].last_line);
        }
    }
}

static void mark_seeds(struct search *search, struct bz_reader *reader, uint32_t violation) {
    const struct bz_trace_verdict *verdict = &reader->trace->verdict;
    uint32_t object = bz_trace_find_object(reader->trace, verdict->object);
    bool concerns_all = bz_is(verdict->oracle, "deadlock") || bz_is(verdict->oracle, "livelock");
    mark(search, violation);
    mark_object(search, reader, object);
    mark_object(search, reader, reader->ledger->objects[object].partner);
    for (uint32_t line = violation;
         line-- > 0 && search->story->lines[line].step == verdict->step;) {
        mark(search, line);
    }
    /* The scenario's own check may look at anything that its tasks did. */
    bool is_about_any = bz_is(verdict->oracle, "assertion") || verdict->task == NULL;
    if (concerns_all) {
        mark_owners_that_ended(search, reader);
    }
    if (concerns_all || (is_about_any && verdict->object == NULL)) {
        mark_tasks(search, reader, !concerns_all);
    }
}

/* Happened before: backwards along the order of each task and of each object, and along the arrows.
 */
static void mark_causes(struct bz_story *story, struct bz_reader *reader, uint32_t violation) {
    struct search search = {
        .story = story,
        .open = bz_lack_new(story->line_count, sizeof *search.open, "the story of a run")};
    size_t *first = bz_lack_new(story->line_count + 1, sizeof *first,
                                "the story of a run"); /* arrow to each line */
    size_t arrow = 0;
    for (uint32_t line = 0; line <= story->line_count; line++) {
        first[line] = arrow;
        while (arrow < story->arrow_count && story->arrows[arrow].to == line) {
            arrow++;
        }
    }
    mark_seeds(&search, reader, violation);
    for (size_t next = 0; next < search.open_count; next++) {
        uint32_t line = search.open[next];
        search.distance = story->lines[line].distance + 1;
        mark(&search, story->lines[line].before);
        mark(&search, story->lines[line].object_before);
        for (arrow = first[line]; arrow < first[line + 1]; arrow++) {
            mark(&search, story->arrows[arrow].from);
        }
    }
    free(first);
    free(search.open);
}

/* The line after the last event. */
static uint32_t add_violation(struct bz_reader *reader) {
    const struct bz_trace_verdict *verdict = &reader->trace->verdict;
    reader->step = verdict->step;
    reader->task = BZ_STORY_NONE; /* the line is not about the last event's operation */
    uint32_t line = bz_reader_add_line(reader, bz_trace_find_task(reader->trace, verdict->task),
                                       "*** %s ***", verdict->oracle);
    struct bz_story_line *said = &reader->story->lines[line];
    said->object = verdict->object;
    said->is_violation = true;
    return line;
}

void bz_story_init(struct bz_story *story, const struct bz_trace *trace) {
    struct bz_reader reader;
    bool is_violation = trace->verdict.oracle != NULL;
    *story = (struct bz_story){.trace = trace};
    begin(&reader, story);
    for (size_t index = 0; index < trace->event_count; index++) {
        if (bz_ledger_is_over(trace, &trace->events[index])) {
            break;
        }
        read_event(&reader, &trace->events[index]);
    }
    bz_ledger_finish(&story->ledger);
    if (is_violation) {
        mark_causes(story, &reader, add_violation(&reader));
    } else {
        for (size_t line = 0; line < story->line_count; line++) {
            story->lines[line].is_cause = true;
        }
    }
    count_deviations(story);
    end(&reader);
}

void bz_story_fini(struct bz_story *story) {
    free(story->lines);
    free(story->arrows);
    bz_ledger_fini(&story->ledger);
    *story = (struct bz_story){0};
}

/* --- holders ---------------------------------------------------------------------------------- */

#define HOLDERS_MAX 4u

static bool is_waited_for(const struct bz_ledger *ledger, uint32_t object) {
    for (uint32_t task = 1; task <= ledger->trace->task_count; task++) {
        const struct bz_ledger_task *state = &ledger->tasks[task];
        if (state->op != NULL && state->object == object && !state->has_ended) {
            return true;
        }
    }
    return false;
}

/* "'door' is held by job-1 (ended), job-2", or "no task holds 'door'" for what tasks acquire. */
static void add_holders_of(const struct bz_story *story, uint32_t number, struct bz_text *text) {
    const struct bz_trace *trace = story->trace;
    const struct bz_ledger *ledger = &story->ledger;
    const struct bz_ledger_object *object = &ledger->objects[number];
    const char *name = trace->objects[number - 1].name;
    const char *separator = text->length > 0 ? "; " : "";
    uint32_t last = 0;
    unsigned count = 0;
    if (object->oldest == 0 && object->kind >= BZ_KIND_LOCK && object->kind <= BZ_KIND_POOL) {
        bz_text_add(text, "%sno task holds '%s'", separator, name);
    }
    for (uint32_t hold = object->oldest; hold != 0; hold = ledger->holds[hold].newer) {
        uint32_t task = ledger->holds[hold].task;
        if (count > 0 && task == last) {
            continue; /* it holds several */
        }
        if (count++ == HOLDERS_MAX) {
            bz_text_add(text, ", ...");
            break;
        }
        if (count == 1) {
            bz_text_add(text, "%s'%s' is held by ", separator, name);
        }
        bz_text_add(text, "%s%s%s", count > 1 ? ", " : "",
                    bz_trace_task_name(trace, task, "the loop"),
                    task != 0 && ledger->tasks[task].has_ended ? " (ended)" : "");
        last = task;
    }
}

void bz_story_add_holders(const struct bz_story *story, struct bz_text *text) {
    bool is_deadlock = bz_is(story->trace->verdict.oracle, "deadlock");
    for (uint32_t number = 1; is_deadlock && number <= story->trace->object_count; number++) {
        if (is_waited_for(&story->ledger, number)) {
            add_holders_of(story, number, text);
        }
    }
}
