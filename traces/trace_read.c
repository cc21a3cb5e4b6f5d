/* The reader. Traces come from bug reports and are not trusted. json_check.c checks the grammar;
 * this file checks every field against the tables of trace_fields.h, and every string for control
 * characters. Names are compared and printed, never opened. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/json.h"
#include "traces/text.h"
#include "traces/trace.h"
#include "traces/trace_fields.h"
#include "traces/utf8.h"

#define DEPTH_MAX 16u
#define WHERE_BYTES 224u
#define QUOTE_BYTES 64u

struct reader {
    struct bz_trace *trace;
    const char *origin;
    char *error;
    size_t error_bytes;
};

/* --- messages --------------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static bool fail(struct reader *reader, const char *where,
                                                       const char *format, ...) {
    char message[BZ_TRACE_ERROR_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return bz_fail(reader->error, reader->error_bytes, "%s: %s: %s", reader->origin, where,
                   message);
}

/* Text from the file in quotes, cut short, without control characters. */
static const char *quote(const char *text, char buffer[QUOTE_BYTES]) {
    size_t used = 0;
    buffer[used++] = '"';
    while (*text != '\0' && used + 4 + sizeof "...\"" < QUOTE_BYTES) {
        uint32_t code_point = 0;
        size_t bytes = bz_utf8_read(text, 4, &code_point);
        if (bytes == 0 || bz_utf8_is_control(code_point)) {
            bytes = bytes == 0 ? 1 : bytes;
            buffer[used++] = '?';
        } else {
            memcpy(buffer + used, text, bytes);
            used += bytes;
        }
        text += bytes;
    }
    snprintf(buffer + used, QUOTE_BYTES - used, "%s", *text != '\0' ? "...\"" : "\"");
    return buffer;
}

/* "choices[3]" and "task" give "choices[3].task". The key is not trusted. */
static const char *member_of(const char *where, const char *key, char buffer[WHERE_BYTES]) {
    char shown[QUOTE_BYTES];
    quote(key, shown);
    size_t length = strlen(shown);
    snprintf(buffer, WHERE_BYTES, "%s%s%.*s", where, where[0] == '\0' ? "" : ".", (int)(length - 2),
             shown + 1);
    return buffer;
}

/* --- values ----------------------------------------------------------------------------------- */

/* Copies a string of 1 to `bytes_max` bytes without control characters. */
static bool read_string(struct reader *reader, const struct bz_json *json, const char *where,
                        size_t bytes_max, const char **string) {
    const char *text = bz_json_string(json);
    if (text == NULL) {
        return fail(reader, where, "must be a string");
    }
    size_t length = strlen(text);
    if (length == 0 || length > bytes_max) {
        return fail(reader, where, "must have 1 to %zu bytes, and has %zu", bytes_max, length);
    }
    for (size_t bytes, at = 0; at < length; at += bytes) {
        uint32_t code_point = 0;
        bytes = bz_utf8_read(text + at, length - at, &code_point);
        if (bytes == 0 || bz_utf8_is_control(code_point)) {
            return fail(reader, where, "contains the control character U+%04X; remove it",
                        (unsigned)code_point);
        }
    }
    *string = bz_trace_string(reader->trace, text);
    return true;
}

static bool read_number(struct reader *reader, const struct bz_json *json, const char *where,
                        uint64_t *number) {
    return bz_json_number(json, number) ||
           fail(reader, where, "must be a whole number from 0 to 9007199254740991");
}

static bool read_word(struct reader *reader, const struct bz_json *json, const char *where,
                      const struct bz_vocabulary *vocabulary, const char **word) {
    const char *text = bz_json_string(json);
    char shown[QUOTE_BYTES];
    char writer[QUOTE_BYTES];
    if (text == NULL) {
        return fail(reader, where, "must be a string");
    }
    unsigned number = bz_vocabulary_find(vocabulary, text);
    if (number == vocabulary->count) {
        return fail(reader, where, "unknown %s %s; did you mean \"%s\"? (the file is of %s)",
                    vocabulary->what, quote(text, shown), bz_vocabulary_nearest(vocabulary, text),
                    quote(reader->trace->engine, writer));
    }
    *word = vocabulary->word(number);
    return true;
}

/* Reads `least` to 16 hexadecimal digits. */
static bool read_hex(struct reader *reader, const struct bz_json *json, const char *where,
                     const char *prefix, size_t least, uint64_t *number) {
    const char *text = bz_json_string(json);
    size_t prefix_bytes = strlen(prefix);
    bool is_good = text != NULL && strncmp(text, prefix, prefix_bytes) == 0;
    const char *digits = is_good ? text + prefix_bytes : "";
    size_t count = strspn(digits, "0123456789abcdefABCDEF");
    if (!is_good || digits[count] != '\0' || count < least || count > 16) {
        return fail(reader, where, "must be a string of %s",
                    least == 16 ? "16 hexadecimal digits"
                                : "\"0x\" and 1 to 16 hexadecimal digits");
    }
    *number = strtoull(digits, NULL, 16);
    return true;
}

/* --- entries: an event, a choice, the verdict ------------------------------------------------- */

static bool unknown_key(struct reader *reader, const char *where, const char *key,
                        const struct bz_trace_field *fields) {
    char shown[QUOTE_BYTES];
    char writer[QUOTE_BYTES];
    const char *nearest = fields->key;
    for (const struct bz_trace_field *field = fields; field->key != NULL; field++) {
        if (bz_edit_distance(field->key, key) < bz_edit_distance(nearest, key)) {
            nearest = field->key;
        }
    }
    return fail(reader, where, "unknown key %s; did you mean \"%s\"? (the file is of %s)",
                quote(key, shown), nearest, quote(reader->trace->engine, writer));
}

static bool read_field(struct reader *reader, const struct bz_json *json, const char *where,
                       const struct bz_trace_field *field, void *entry) {
    switch (field->type) {
    case BZ_FIELD_NUMBER:
        return read_number(reader, json, where, bz_field_number(field, entry));
    case BZ_FIELD_WORD:
        return read_word(reader, json, where, field->vocabulary, bz_field_string(field, entry));
    default:
        return read_string(reader, json, where,
                           field->type == BZ_FIELD_NAME ? BZ_TRACE_NAME_BYTES_MAX
                                                        : BZ_TRACE_TEXT_BYTES_MAX,
                           bz_field_string(field, entry));
    }
}

static bool read_entry(struct reader *reader, const struct bz_json *json, const char *where,
                       const struct bz_trace_field *fields, void *entry) {
    char path[WHERE_BYTES];
    const struct bz_trace_field *field;
    uint32_t present = 0; /* bits, by index of the field */
    if (!bz_json_is_object(json)) {
        return fail(reader, where, "must be an object, {...}");
    }
    for (field = fields; field->key != NULL; field++) {
        if (field->type == BZ_FIELD_NUMBER) {
            *bz_field_number(field, entry) = BZ_TRACE_ABSENT;
        } else {
            *bz_field_string(field, entry) = NULL;
        }
    }
    for (const struct bz_json *member = bz_json_first(json); member != NULL;
         member = bz_json_next(member)) {
        const char *key = bz_json_key(member);
        field = fields;
        while (field->key != NULL && strcmp(field->key, key) != 0) {
            field++;
        }
        if (field->key == NULL) {
            return unknown_key(reader, where, key, fields);
        }
        if (!read_field(reader, member, member_of(where, key, path), field, entry)) {
            return false;
        }
        present |= 1u << (field - fields);
    }
    for (field = fields; field->key != NULL; field++) {
        if (field->is_required && (present >> (field - fields) & 1u) == 0) {
            return fail(reader, where, "the key \"%s\" is missing; add it", field->key);
        }
    }
    return true;
}

/* --- the parts of a trace --------------------------------------------------------------------- */

/* A required top-level member; NULL with a message. */
static const struct bz_json *member(struct reader *reader, const struct bz_json *root,
                                    const char *key) {
    const struct bz_json *json = bz_json_get(root, key);
    if (json == NULL) {
        fail(reader, key, "this key is missing; a trace must have it (is the file cut off?)");
    }
    return json;
}

static bool read_name(struct reader *reader, const struct bz_json *root, const char *key,
                      const char **name) {
    const struct bz_json *json = member(reader, root, key);
    return json != NULL && read_string(reader, json, key, BZ_TRACE_NAME_BYTES_MAX, name);
}

static bool read_format(struct reader *reader, const struct bz_json *root) {
    const char *format = bz_json_string(bz_json_get(root, "format"));
    char shown[QUOTE_BYTES];
    if (format == NULL) {
        return fail(reader, "format",
                    "this is not a trace: its \"format\" should be \"buzzer-trace/%u\"",
                    BZ_TRACE_VERSION);
    }
    for (unsigned version = 1; version <= BZ_TRACE_VERSION; version++) {
        snprintf(shown, sizeof shown, "buzzer-trace/%u", version);
        if (strcmp(format, shown) == 0) {
            reader->trace->version = version;
            return true;
        }
    }
    return fail(reader, "format",
                "is %s, and this program reads \"buzzer-trace/1\" and \"buzzer-trace/%u\"; use "
                "one that fits, or record the trace again",
                quote(format, shown), BZ_TRACE_VERSION);
}

static bool read_params(struct reader *reader, const struct bz_json *root) {
    const struct bz_json *params = member(reader, root, "params");
    char path[WHERE_BYTES];
    if (params == NULL) {
        return false;
    }
    if (!bz_json_is_object(params)) {
        return fail(reader, "params", "must be an object, {...}");
    }
    for (const struct bz_json *next = bz_json_first(params); next != NULL;
         next = bz_json_next(next)) {
        const char *key = bz_json_key(next);
        const char *value;
        member_of("params", key, path);
        if (reader->trace->param_count == BZ_TRACE_PARAMS_MAX) {
            return fail(reader, path, "more than %u params", BZ_TRACE_PARAMS_MAX);
        }
        for (const char *at = key; *at != '\0'; at++) {
            if ((*at < 'a' || *at > 'z') && (*at < '0' || *at > '9') &&
                strchr("-_.", *at) == NULL) {
                return fail(reader, path, "a param's name is made of a-z, 0-9, '-', '_' and '.'");
            }
        }
        if (!read_string(reader, next, path, BZ_TRACE_TEXT_BYTES_MAX, &value)) {
            return false;
        }
        if (key[0] == '\0') {
            return fail(reader, "params", "a param without a name");
        }
        bz_trace_add_param(reader->trace, key, value);
    }
    return true;
}

typedef bool read_element_fn(struct reader *reader, const struct bz_json *json, const char *where);

static bool read_task(struct reader *reader, const struct bz_json *json, const char *where) {
    const char *name;
    char shown[QUOTE_BYTES];
    if (!read_string(reader, json, where, BZ_TRACE_NAME_BYTES_MAX, &name)) {
        return false;
    }
    if (bz_trace_find_task(reader->trace, name) != 0) {
        return fail(reader, where, "the name %s appears twice; each task needs its own",
                    quote(name, shown));
    }
    bz_trace_add_task(reader->trace, name);
    return true;
}

static bool read_object(struct reader *reader, const struct bz_json *json, const char *where) {
    struct bz_trace_object object;
    char shown[QUOTE_BYTES];
    if (!read_entry(reader, json, where, bz_trace_object_fields, &object)) {
        return false;
    }
    if (bz_trace_find_object(reader->trace, object.name) != 0) {
        return fail(reader, where, "the name %s appears twice; each object needs its own",
                    quote(object.name, shown));
    }
    bz_trace_add_object(reader->trace, object);
    return true;
}

/* Events, partners and the verdict name objects that are listed. */
static bool is_listed(struct reader *reader, const char *name, const char *key, size_t index) {
    char where[WHERE_BYTES];
    char shown[QUOTE_BYTES];
    if (name == NULL || bz_trace_find_object(reader->trace, name) != 0) {
        return true;
    }
    snprintf(where, sizeof where, "%s[%zu]", key, index);
    return fail(reader, index == SIZE_MAX ? key : where, "\"objects\" does not list %s; add it",
                quote(name, shown));
}

static bool check_objects(struct reader *reader) {
    const struct bz_trace *trace = reader->trace;
    bool is_good = is_listed(reader, trace->verdict.object, "verdict.object", SIZE_MAX);
    for (size_t index = 0; is_good && index < trace->object_count; index++) {
        is_good = is_listed(reader, trace->objects[index].partner, "objects", index);
    }
    for (size_t index = 0; is_good && index < trace->event_count; index++) {
        is_good = is_listed(reader, trace->events[index].object, "events", index);
    }
    return is_good;
}

static bool read_choice(struct reader *reader, const struct bz_json *json, const char *where) {
    struct bz_trace_choice choice;
    if (!read_entry(reader, json, where, bz_trace_choice_fields, &choice)) {
        return false;
    }
    bz_trace_add_choice(reader->trace, choice);
    return true;
}

static bool read_event(struct reader *reader, const struct bz_json *json, const char *where) {
    struct bz_trace_event event;
    if (!read_entry(reader, json, where, bz_trace_event_fields, &event)) {
        return false;
    }
    bz_trace_add_event(reader->trace, event);
    return true;
}

static bool read_array(struct reader *reader, const struct bz_json *root, const char *key,
                       size_t count_max, read_element_fn *read_element) {
    const struct bz_json *array = member(reader, root, key);
    char where[WHERE_BYTES];
    size_t index = 0;
    if (array == NULL) {
        return false;
    }
    if (!bz_json_is_array(array)) {
        return fail(reader, key, "must be an array, [...]");
    }
    for (const struct bz_json *next = bz_json_first(array); next != NULL;
         next = bz_json_next(next), index++) {
        if (index == count_max) {
            snprintf(where, sizeof where, "%s[%zu]", key, index);
            return fail(reader, where, "more than %zu %s", count_max, key);
        }
    }
    index = 0;
    for (const struct bz_json *next = bz_json_first(array); next != NULL;
         next = bz_json_next(next), index++) {
        snprintf(where, sizeof where, "%s[%zu]", key, index);
        if (!read_element(reader, next, where)) {
            return false;
        }
    }
    return true;
}

static bool read_verdict(struct reader *reader, const struct bz_json *root) {
    struct bz_trace_verdict *verdict = &reader->trace->verdict;
    const struct bz_json *json = member(reader, root, "verdict");
    if (json == NULL || !read_entry(reader, json, "verdict", bz_trace_verdict_fields, verdict)) {
        return false;
    }
    bool is_violation = strcmp(verdict->result, "violation") == 0;
    if (is_violation != (verdict->oracle != NULL)) {
        return fail(reader, "verdict",
                    is_violation ? "a violation must say which \"oracle\" found it"
                                 : "only a violation has an \"oracle\"; remove it");
    }
    return true;
}

static bool read_objects(struct reader *reader, const struct bz_json *root) {
    return reader->trace->version == 1 ||
           read_array(reader, root, "objects", BZ_TRACE_OBJECTS_MAX, read_object);
}

/* In a trace of version 1 they follow from the events. */
static bool list_objects(struct reader *reader) {
    if (reader->trace->version == 1) {
        bz_trace_list_objects(reader->trace);
        return true;
    }
    return check_objects(reader);
}

/* Files of older programs have none. */
static bool read_checksum(struct reader *reader, const struct bz_json *root) {
    const struct bz_json *json = bz_json_get(root, "checksum");
    reader->trace->has_checksum = json != NULL;
    return json == NULL || read_hex(reader, json, "checksum", "", 16, &reader->trace->checksum);
}

static bool fail_no_object(struct reader *reader) {
    return fail(reader, "1:1", "this is not a trace: it should be an object, {...}");
}

static bool read_root(struct reader *reader, const struct bz_json *root) {
    struct bz_trace *trace = reader->trace;
    const struct bz_json *json;
    if (!bz_json_is_object(root)) {
        return fail_no_object(reader);
    }
    return read_format(reader, root) && read_name(reader, root, "engine", &trace->engine) &&
           read_name(reader, root, "scenario", &trace->scenario) &&
           read_name(reader, root, "variant", &trace->variant) && read_params(reader, root) &&
           read_name(reader, root, "strategy", &trace->strategy) &&
           (json = member(reader, root, "order")) != NULL &&
           read_word(reader, json, "order", &bz_vocabulary_order, &trace->order) &&
           read_name(reader, root, "cancel", &trace->cancel) &&
           (json = member(reader, root, "seed")) != NULL &&
           read_hex(reader, json, "seed", "0x", 1, &trace->seed) &&
           read_array(reader, root, "tasks", BZ_TRACE_TASKS_MAX, read_task) &&
           read_objects(reader, root) &&
           read_array(reader, root, "choices", BZ_TRACE_CHOICES_MAX, read_choice) &&
           read_array(reader, root, "events", BZ_TRACE_EVENTS_MAX, read_event) &&
           read_verdict(reader, root) && list_objects(reader) &&
           (json = member(reader, root, "digest")) != NULL &&
           read_hex(reader, json, "digest", "", 16, &trace->digest) && read_checksum(reader, root);
}

bool bz_trace_parse(struct bz_trace *trace, const char *text, size_t length, const char *origin,
                    char *error, size_t error_bytes) {
    struct reader reader = {trace, origin, error, error_bytes};
    bz_trace_init(trace);
    if (length > BZ_TRACE_BYTES_MAX) {
        return bz_fail(error, error_bytes, "%s: larger than %zu bytes, the limit of traces", origin,
                       BZ_TRACE_BYTES_MAX);
    }
    if (length == 0) {
        return bz_fail(error, error_bytes, "%s: empty; record the trace again", origin);
    }
    size_t blanks = 0;
    while (blanks < length && strchr(" \t\n\r", text[blanks]) != NULL && text[blanks] != '\0') {
        blanks++;
    }
    if (blanks < length && text[blanks] == '[') {
        return fail_no_object(&reader); /* however large it is */
    }
    struct bz_json *root = bz_json_parse(text, length, DEPTH_MAX, origin, error, error_bytes);
    if (root == NULL) {
        return false;
    }
    bool is_read = read_root(&reader, root);
    bz_json_free(root);
    if (!is_read) {
        bz_trace_fini(trace);
    }
    return is_read;
}

/* --- files ------------------------------------------------------------------------------------ */

bool bz_trace_read(struct bz_trace *trace, const char *path, char *error, size_t error_bytes) {
    bz_trace_init(trace);
    size_t length;
    char *text = bz_file_read(path, BZ_TRACE_BYTES_MAX, &length, error, error_bytes);
    if (text == NULL) {
        return false;
    }
    bool is_read = bz_trace_parse(trace, text, length, path, error, error_bytes);
    free(text);
    return is_read;
}
