#include "tools/story/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/lack.h"
#include "traces/utf8.h"

/* A search among permits or open places of one task or object ends after this many: a hostile trace
 * has a million of them. */
#define SEARCH_MAX 1000u

static void *make_room(void *array, size_t count, size_t *capacity, size_t element_bytes) {
    if (count < *capacity) {
        return array;
    }
    *capacity = *capacity == 0 ? 64 : 2 * *capacity;
    return bz_lack_check(realloc(array, *capacity * element_bytes), "the story of a run");
}

/* --- objects ---------------------------------------------------------------------------------- */

/* The slot of the object of that name, or the one where it would be. */
static uint32_t *slot_of(struct bz_reader *reader, const char *name) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const char *byte = name; *byte != '\0'; byte++) {
        hash = (hash ^ (unsigned char)*byte) * UINT64_C(0x100000001b3);
    }
    uint32_t slot = (uint32_t)(hash >> 20u) & reader->slot_mask;
    while (reader->slots[slot] != 0) {
        const char *other = reader->objects[reader->slots[slot]].name;
        if (other == name || strcmp(other, name) == 0) {
            break;
        }
        slot = (slot + 1) & reader->slot_mask;
    }
    return &reader->slots[slot];
}

uint32_t bz_reader_object(struct bz_reader *reader, const char *name) {
    if (name == NULL) {
        return 0;
    }
    uint32_t *slot = slot_of(reader, name);
    if (*slot == 0) {
        *slot = ++reader->object_count;
        reader->objects[*slot] = (struct bz_story_object){
            .name = name,
            .root = *slot,
            .set_line = BZ_STORY_NONE,
            .take_line = BZ_STORY_NONE,
            .last_line = BZ_STORY_NONE,
        };
    }
    return *slot;
}

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
    story->lines =
        make_room(story->lines, story->line_count, &reader->line_capacity, sizeof *story->lines);
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
    uint32_t object = is_about_call ? reader->object : state->op != NULL ? state->object : 0;
    line->op = is_about_call ? reader->event->op : state->op;
    line->object = reader->objects[object].name;
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
    story->arrows = make_room(story->arrows, story->arrow_count, &reader->arrow_capacity,
                              sizeof *story->arrows);
    size_t place = story->arrow_count++;
    while (place > 0 && story->arrows[place - 1].to == to && story->arrows[place - 1].from > from) {
        story->arrows[place] = story->arrows[place - 1];
        place--;
    }
    story->arrows[place] = (struct bz_arrow){.from = from, .to = to, .kind = kind};
}

void bz_line_list_push(struct bz_line_list *list, uint32_t line) {
    list->lines = make_room(list->lines, list->count, &list->capacity, sizeof *list->lines);
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

/* --- spans ------------------------------------------------------------------------------------ */

static void end_span(struct bz_reader *reader, struct bz_story_task *state, uint64_t step) {
    struct bz_story *story = reader->story;
    if (step <= state->span.step) {
        return;
    }
    story->spans =
        make_room(story->spans, story->span_count, &reader->span_capacity, sizeof *story->spans);
    state->span.end = step;
    story->spans[story->span_count++] = state->span;
    state->span.step = step;
}

void bz_reader_begin_span(struct bz_reader *reader, uint32_t task, uint64_t step,
                          enum bz_span_kind kind, const char *object) {
    struct bz_story_task *state = &reader->tasks[task];
    if (task == 0) {
        return;
    }
    end_span(reader, state, step);
    state->span.task = task;
    state->span.kind = kind;
    state->span.object = object;
    state->span.is_holding = bz_reader_is_holding(reader, task);
}

/* --- permits ---------------------------------------------------------------------------------- */

void bz_reader_hold(struct bz_reader *reader, uint32_t task, uint32_t object, uint32_t line) {
    struct bz_story_object *held = &reader->objects[object];
    if (reader->holding_count == 0) {
        reader->holding_count = 1; /* number 0 is none */
    }
    reader->holdings = make_room(reader->holdings, reader->holding_count, &reader->holding_capacity,
                                 sizeof *reader->holdings);
    uint32_t number = (uint32_t)reader->holding_count++;
    reader->holdings[number] = (struct bz_story_holding){
        .object = object,
        .line = line,
        .below = reader->tasks[task].holding,
        .older = held->newest_holding,
    };
    if (held->newest_holding != 0) {
        reader->holdings[held->newest_holding].newer = number;
    }
    held->newest_holding = number;
    reader->tasks[task].holding = number;
}

/* The place of the number of the newest permit of that object. */
static uint32_t *find_holding(struct bz_reader *reader, uint32_t task, uint32_t object) {
    uint32_t *place = &reader->tasks[task].holding;
    for (unsigned count = 0; *place != 0 && count < SEARCH_MAX; count++) {
        if (reader->holdings[*place].object == object) {
            return place;
        }
        place = &reader->holdings[*place].below;
    }
    return NULL;
}

uint32_t bz_reader_give_up(struct bz_reader *reader, uint32_t task, uint32_t object) {
    uint32_t *place = find_holding(reader, task, object);
    if (place == NULL) {
        return BZ_STORY_NONE;
    }
    struct bz_story_holding *holding = &reader->holdings[*place];
    if (holding->newer != 0) {
        reader->holdings[holding->newer].older = holding->older;
    } else {
        reader->objects[object].newest_holding = holding->older;
    }
    if (holding->older != 0) {
        reader->holdings[holding->older].newer = holding->newer;
    }
    *place = holding->below;
    return holding->line;
}

void bz_reader_set_aside(struct bz_reader *reader, uint32_t task, uint32_t object, bool is_aside) {
    uint32_t *place = find_holding(reader, task, object);
    if (place != NULL) {
        reader->holdings[*place].is_given_up = is_aside;
    }
}

bool bz_reader_is_holding(const struct bz_reader *reader, uint32_t task) {
    uint32_t number = reader->tasks[task].holding;
    for (unsigned count = 0; number != 0 && count < SEARCH_MAX; count++) {
        if (!reader->holdings[number].is_given_up) {
            return true;
        }
        number = reader->holdings[number].below;
    }
    return false;
}

/* --- queues ----------------------------------------------------------------------------------- */

void bz_reader_join_queue(struct bz_reader *reader, uint32_t task) {
    struct bz_story_task *state = &reader->tasks[task];
    struct bz_story_object *object = &reader->objects[state->object];
    state->is_queued = true;
    state->queue_before = object->last_in_queue;
    state->queue_after = 0;
    if (object->last_in_queue != 0) {
        reader->tasks[object->last_in_queue].queue_after = task;
    }
    object->last_in_queue = task;
}

void bz_reader_leave_queue(struct bz_reader *reader, uint32_t task) {
    struct bz_story_task *state = &reader->tasks[task];
    struct bz_story_object *object = &reader->objects[state->object];
    if (!state->is_queued) {
        return;
    }
    state->is_queued = false;
    if (state->queue_after != 0) {
        reader->tasks[state->queue_after].queue_before = state->queue_before;
    } else {
        object->last_in_queue = state->queue_before;
    }
    if (state->queue_before != 0) {
        reader->tasks[state->queue_before].queue_after = state->queue_after;
    }
}
