#include "traces/trace.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/runtime/check.h"
#include "traces/lack.h"
#include "traces/text.h"
#include "traces/trace_fields.h"
#include "traces/words.h"

#define CHUNK_BYTES 16384u

/* Strings are stored end to end in chunks, which never move. */
struct bz_trace_chunk {
    struct bz_trace_chunk *next;
    size_t used;
    size_t capacity;
    char bytes[];
};

/* A slot of the hash table; text NULL: free. The numbers of the task and the object of that name.
 */
struct bz_trace_name {
    const char *text;
    uint32_t task;
    uint32_t object;
};

void bz_trace_init(struct bz_trace *trace) {
    *trace = (struct bz_trace){.version = BZ_TRACE_VERSION};
}

void bz_trace_fini(struct bz_trace *trace) {
    while (trace->chunks != NULL) {
        struct bz_trace_chunk *next = trace->chunks->next;
        free(trace->chunks);
        trace->chunks = next;
    }
    free(trace->names);
    free(trace->params);
    free(trace->tasks);
    free(trace->objects);
    free(trace->choices);
    free(trace->events);
    bz_trace_init(trace);
}

/* --- strings ---------------------------------------------------------------------------------- */

/* The slot of `text`, used or free. The table is never full. */
static struct bz_trace_name *slot_of(const struct bz_trace *trace, const char *text) {
    size_t mask = trace->name_capacity - 1;
    uint64_t hash = bz_checksum(text, strlen(text));
    size_t index = (size_t)(hash ^ hash >> 32u) & mask;
    while (trace->names[index].text != NULL && strcmp(trace->names[index].text, text) != 0) {
        index = (index + 1) & mask;
    }
    return &trace->names[index];
}

static void grow_names(struct bz_trace *trace) {
    struct bz_trace_name *old = trace->names;
    size_t old_capacity = trace->name_capacity;
    trace->name_capacity = old_capacity == 0 ? 64 : 2 * old_capacity;
    trace->names =
        bz_lack_check(calloc(trace->name_capacity, sizeof *trace->names), "the names of a trace");
    for (size_t index = 0; index < old_capacity; index++) {
        if (old[index].text != NULL) {
            *slot_of(trace, old[index].text) = old[index];
        }
    }
    free(old);
}

static const char *copy_into_chunk(struct bz_trace *trace, const char *text) {
    size_t bytes = strlen(text) + 1;
    struct bz_trace_chunk *chunk = trace->chunks;
    if (chunk == NULL || chunk->capacity - chunk->used < bytes) {
        size_t capacity = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        chunk = bz_lack_check(malloc(sizeof *chunk + capacity), "the texts of a trace");
        chunk->next = trace->chunks;
        chunk->used = 0;
        chunk->capacity = capacity;
        trace->chunks = chunk;
    }
    char *copy = memcpy(chunk->bytes + chunk->used, text, bytes);
    chunk->used += bytes;
    return copy;
}

static struct bz_trace_name *intern(struct bz_trace *trace, const char *text) {
    if (4 * (trace->name_count + 1) > 3 * trace->name_capacity) {
        grow_names(trace);
    }
    struct bz_trace_name *name = slot_of(trace, text);
    if (name->text == NULL) {
        name->text = copy_into_chunk(trace, text);
        trace->name_count++;
    }
    return name;
}

const char *bz_trace_string(struct bz_trace *trace, const char *text) {
    return text == NULL ? NULL : intern(trace, text)->text;
}

/* --- arrays ----------------------------------------------------------------------------------- */

void bz_trace_add_choice(struct bz_trace *trace, struct bz_trace_choice choice) {
    trace->choices = bz_lack_grow(trace->choices, trace->choice_count, &trace->choice_capacity,
                                  sizeof choice, "the entries of a trace");
    trace->choices[trace->choice_count++] = choice;
}

void bz_trace_add_event(struct bz_trace *trace, struct bz_trace_event event) {
    trace->events = bz_lack_grow(trace->events, trace->event_count, &trace->event_capacity,
                                 sizeof event, "the entries of a trace");
    trace->events[trace->event_count++] = event;
}

void bz_trace_add_param(struct bz_trace *trace, const char *name, const char *value) {
    struct bz_trace_param param = {bz_trace_string(trace, name), bz_trace_string(trace, value)};
    trace->params = bz_lack_grow(trace->params, trace->param_count, &trace->param_capacity,
                                 sizeof param, "the entries of a trace");
    trace->params[trace->param_count++] = param;
}

void bz_trace_add_task(struct bz_trace *trace, const char *name) {
    struct bz_trace_name *entry = intern(trace, name);
    BZ_CHECK(entry->task == 0); /* names of tasks are unique */
    trace->tasks = bz_lack_grow(trace->tasks, trace->task_count, &trace->task_capacity,
                                sizeof entry->text, "the entries of a trace");
    trace->tasks[trace->task_count++] = entry->text;
    entry->task = (uint32_t)trace->task_count;
}

void bz_trace_add_object(struct bz_trace *trace, struct bz_trace_object object) {
    struct bz_trace_name *entry = intern(trace, object.name);
    BZ_CHECK(entry->object == 0); /* as those of tasks */
    object.name = entry->text;
    trace->objects = bz_lack_grow(trace->objects, trace->object_count, &trace->object_capacity,
                                  sizeof object, "the entries of a trace");
    trace->objects[trace->object_count++] = object;
    entry->object = (uint32_t)trace->object_count;
}

uint32_t bz_trace_find_object(const struct bz_trace *trace, const char *name) {
    return trace->name_capacity == 0 || name == NULL ? 0 : slot_of(trace, name)->object;
}

static uint32_t list_object(struct bz_trace *trace, const char *name) {
    if (name != NULL && bz_trace_find_object(trace, name) == 0 &&
        trace->object_count < BZ_TRACE_OBJECTS_MAX) {
        bz_trace_add_object(trace, (struct bz_trace_object){.name = name, .size = BZ_TRACE_ABSENT});
    }
    return bz_trace_find_object(trace, name);
}

void bz_trace_list_objects(struct bz_trace *trace) {
    for (size_t index = 0; index < trace->event_count; index++) {
        const struct bz_trace_event *event = &trace->events[index];
        uint32_t object = list_object(trace, event->object);
        if (object != 0 && event->op != NULL && strcmp(event->op, "notify") == 0) {
            trace->objects[object - 1].kind = bz_kind_name(BZ_KIND_CONDITION);
        }
    }
    list_object(trace, trace->verdict.object);
}

uint32_t bz_trace_find_task(const struct bz_trace *trace, const char *name) {
    return trace->name_capacity == 0 || name == NULL ? 0 : slot_of(trace, name)->task;
}

/* --- lag -------------------------------------------------------------------------------------- */

static bool is_jump(const struct bz_trace_choice *choice) {
    return choice->label == NULL && choice->kind != NULL && strcmp(choice->kind, "delay") == 0 &&
           choice->value == 1;
}

/* The clock advances with the first event of the step. */
static uint64_t time_passed_ns(const struct bz_trace *trace, uint64_t step) {
    size_t low = 0;
    for (size_t high = trace->event_count; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (trace->events[middle].step < step) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    uint64_t before_ns = low == 0 ? 0 : trace->events[low - 1].time_ns;
    bool has_advanced = low < trace->event_count && trace->events[low].step == step &&
                        trace->events[low].time_ns > before_ns;
    return has_advanced ? trace->events[low].time_ns - before_ns : 0;
}

uint64_t bz_trace_lag_before_ns(const struct bz_trace *trace, uint64_t step) {
    for (size_t index = 0; index < trace->choice_count; index++) {
        if (trace->choices[index].step == step && is_jump(&trace->choices[index])) {
            return time_passed_ns(trace, step);
        }
    }
    return 0;
}

uint64_t bz_trace_lag_ns(const struct bz_trace *trace) {
    uint64_t lag_ns = 0;
    for (size_t index = 0; index < trace->choice_count; index++) {
        if (is_jump(&trace->choices[index])) {
            lag_ns += time_passed_ns(trace, trace->choices[index].step);
        }
    }
    return lag_ns;
}

/* --- comparison and text ---------------------------------------------------------------------- */

bool bz_trace_event_equal(const struct bz_trace_event *a, const struct bz_trace_event *b) {
    struct bz_trace_event left = *a;
    struct bz_trace_event right = *b;
    for (const struct bz_trace_field *field = bz_trace_event_fields; field->key != NULL; field++) {
        bool is_same = field->type == BZ_FIELD_NUMBER
                           ? *bz_field_number(field, &left) == *bz_field_number(field, &right)
                           : bz_is(*bz_field_string(field, &left), *bz_field_string(field, &right));
        if (!is_same && !field->is_beside) {
            return false;
        }
    }
    return true;
}

void bz_trace_event_restrict(struct bz_trace_event *event, unsigned version) {
    if (version == 1) {
        event->n = bz_is(event->event, "call") ? BZ_TRACE_ABSENT : event->n;
        event->held = BZ_TRACE_ABSENT;
    }
}

/* Adds a word, after a blank unless it is the first. */
static void say_word(struct bz_cut_text *line, const char *prefix, const char *word) {
    if (word != NULL) {
        bz_cut_add(line, "%s%s%s", line->length == 0 ? "" : " ", prefix, word);
    }
}

static void say_number(struct bz_cut_text *line, const char *prefix, uint64_t number) {
    if (number != BZ_TRACE_ABSENT) {
        bz_cut_add(line, " %s%" PRIu64, prefix, number);
    }
}

const char *bz_trace_event_text(const struct bz_trace_event *event, char *buffer,
                                size_t size_bytes) {
    struct bz_cut_text line = {buffer, size_bytes, 0};
    if (size_bytes > 0) {
        buffer[0] = '\0';
    }
    say_word(&line, "", event->task);
    say_word(&line, "", event->event);
    say_word(&line, "", event->op);
    say_word(&line, "", event->object);
    say_word(&line, "", event->wait);
    say_word(&line, "", event->role);
    say_word(&line, "", event->status);
    say_word(&line, "window=", event->window);
    say_word(&line, "by=", event->by);
    say_number(&line, "n=", event->n);
    if (bz_is(event->event, "clock")) {
        say_number(&line, "time_ns=", event->time_ns);
    }
    return buffer;
}

const char *bz_trace_object_text(const struct bz_trace *trace, size_t index, char *buffer,
                                 size_t size_bytes) {
    struct bz_cut_text line = {buffer, size_bytes, 0};
    if (index >= trace->object_count) {
        snprintf(buffer, size_bytes, "no object %zu", index + 1);
        return buffer;
    }
    const struct bz_trace_object *object = &trace->objects[index];
    bz_cut_add(&line, "object %zu:", index + 1);
    say_word(&line, "", object->kind);
    say_word(&line, "", object->name);
    say_number(&line, "size=", object->size);
    say_word(&line, "order=", object->order);
    say_word(&line, "partner=", object->partner);
    return buffer;
}

const char *bz_trace_verdict_text(const struct bz_trace_verdict *verdict, char *buffer,
                                  size_t size_bytes) {
    if (bz_is(verdict->result, "cut") && verdict->message != NULL) {
        snprintf(buffer, size_bytes, "cut short by the limit of a check");
    } else if (bz_is(verdict->result, "cut")) {
        snprintf(buffer, size_bytes, "cut by the limit of %" PRIu64 " step%s", verdict->step,
                 verdict->step == 1 ? "" : "s");
    } else {
        snprintf(buffer, size_bytes, "%s", verdict->oracle != NULL ? verdict->oracle : "pass");
    }
    return buffer;
}

const char *bz_trace_choice_text(const struct bz_trace_choice *choice, char *buffer,
                                 size_t size_bytes) {
    struct bz_cut_text line = {buffer, size_bytes, 0};
    if (size_bytes > 0) {
        buffer[0] = '\0';
    }
    say_word(&line, "", choice->kind);
    say_word(&line, "", choice->task);
    say_word(&line, "", choice->role);
    say_word(&line, "window=", choice->window);
    say_word(&line, "", choice->label);
    say_number(&line, "n=", choice->n);
    say_number(&line, "value=", choice->value);
    say_number(&line, "below=", choice->bound);
    return buffer;
}
