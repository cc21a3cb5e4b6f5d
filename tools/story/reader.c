#include "tools/story/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/lack.h"
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
