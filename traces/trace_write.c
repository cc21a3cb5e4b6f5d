/* The writer: one entry a line, keys in a fixed order. Equal traces give equal bytes, and `git
 * diff` shows what changed. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "traces/growing_text.h"
#include "traces/text.h"
#include "traces/trace.h"
#include "traces/trace_fields.h"
#include "traces/utf8.h"

/* In quotes, with escapes. Invalid UTF-8 becomes U+FFFD, NULL an empty string. */
static void put_string(struct bz_text *out, const char *text) {
    bz_text_put(out, "\"");
    while (text != NULL && *text != '\0') {
        uint32_t code_point = 0xfffd;
        size_t bytes = bz_utf8_read(text, 4, &code_point);
        if (bytes == 0 || bz_utf8_is_control(code_point)) {
            bz_text_add(out, "\\u%04" PRIx32, code_point);
            bytes = bytes == 0 ? 1 : bytes;
        } else {
            bz_text_put(out, code_point == '"' || code_point == '\\' ? "\\" : "");
            bz_text_put_bytes(out, text, bytes);
        }
        text += bytes;
    }
    bz_text_put(out, "\"");
}

/* --- parts ------------------------------------------------------------------------------------ */

static void put_entry(struct bz_text *out, const struct bz_trace_field *fields, const void *entry) {
    const char *separator = "{\"";
    for (const struct bz_trace_field *field = fields; field->key != NULL; field++) {
        const void *member = (const char *)entry + field->offset;
        bool is_number = field->type == BZ_FIELD_NUMBER;
        if (is_number ? *(const uint64_t *)member == BZ_TRACE_ABSENT
                      : *(const char *const *)member == NULL) {
            continue;
        }
        bz_text_put(out, separator);
        bz_text_put(out, field->key);
        bz_text_put(out, "\":");
        separator = ",\"";
        if (is_number) {
            bz_text_add(out, "%" PRIu64, *(const uint64_t *)member);
        } else {
            put_string(out, *(const char *const *)member);
        }
    }
    bz_text_put(out, separator[0] == '{' ? "{}" : "}");
}

static void put_member(struct bz_text *out, const char *key, const char *value) {
    bz_text_add(out, "  \"%s\": ", key);
    put_string(out, value);
    bz_text_put(out, ",\n");
}

static void put_params(struct bz_text *out, const struct bz_trace *trace) {
    bz_text_put(out, "  \"params\": {");
    for (size_t index = 0; index < trace->param_count; index++) {
        bz_text_put(out, index == 0 ? "" : ", ");
        put_string(out, trace->params[index].name);
        bz_text_put(out, ": ");
        put_string(out, trace->params[index].value);
    }
    bz_text_put(out, "},\n");
}

/* Without fields, the entries are strings. */
static void put_array(struct bz_text *out, const char *key, const void *entries, size_t count,
                      size_t entry_bytes, const struct bz_trace_field *fields) {
    bz_text_add(out, "  \"%s\": [", key);
    for (size_t index = 0; index < count; index++) {
        const char *entry = (const char *)entries + index * entry_bytes;
        bz_text_put(out, index == 0 ? "\n    " : ",\n    ");
        if (fields != NULL) {
            put_entry(out, fields, entry);
        } else {
            put_string(out, *(const char *const *)(const void *)entry);
        }
    }
    bz_text_put(out, count == 0 ? "],\n" : "\n  ],\n");
}

/* All but the checksum and the end. */
static void put_content(struct bz_text *out, const struct bz_trace *trace) {
    bz_text_put(out, "{\n");
    bz_text_add(out, "  \"format\": \"buzzer-trace/%u\",\n", trace->version);
    put_member(out, "engine", trace->engine);
    put_member(out, "scenario", trace->scenario);
    put_member(out, "variant", trace->variant);
    put_params(out, trace);
    put_member(out, "strategy", trace->strategy);
    put_member(out, "order", trace->order);
    put_member(out, "cancel", trace->cancel);
    bz_text_add(out, "  \"seed\": \"0x%" PRIx64 "\",\n", trace->seed);
    put_array(out, "tasks", trace->tasks, trace->task_count, sizeof *trace->tasks, NULL);
    if (trace->version > 1) {
        put_array(out, "objects", trace->objects, trace->object_count, sizeof *trace->objects,
                  bz_trace_object_fields);
    }
    put_array(out, "choices", trace->choices, trace->choice_count, sizeof *trace->choices,
              bz_trace_choice_fields);
    put_array(out, "events", trace->events, trace->event_count, sizeof *trace->events,
              bz_trace_event_fields);
    bz_text_put(out, "  \"verdict\": ");
    put_entry(out, bz_trace_verdict_fields, &trace->verdict);
    bz_text_add(out, ",\n  \"digest\": \"%016" PRIx64 "\",\n", trace->digest);
}

char *bz_trace_print(const struct bz_trace *trace) {
    struct bz_text out = {.bytes = NULL};
    put_content(&out, trace);
    uint64_t checksum = bz_checksum(out.bytes, out.length);
    bz_text_add(&out, "  \"checksum\": \"%016" PRIx64 "\"\n}\n", checksum);
    return out.bytes;
}

enum bz_trace_seal bz_trace_seal(const struct bz_trace *trace) {
    if (!trace->has_checksum) {
        return BZ_TRACE_UNSEALED;
    }
    struct bz_text out = {.bytes = NULL};
    put_content(&out, trace);
    uint64_t checksum = bz_checksum(out.bytes, out.length);
    free(out.bytes);
    return checksum == trace->checksum ? BZ_TRACE_WHOLE : BZ_TRACE_EDITED;
}

/* --- files ------------------------------------------------------------------------------------ */

/* Refuses what the reader would refuse. */
static bool is_readable(const char *text, const char *path, char *error, size_t error_bytes) {
    struct bz_trace copy;
    bool is_read = bz_trace_parse(&copy, text, strlen(text), path, error, error_bytes);
    if (is_read) {
        bz_trace_fini(&copy);
    }
    return is_read;
}

bool bz_trace_write(const struct bz_trace *trace, const char *path, char *error,
                    size_t error_bytes) {
    struct stat status;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        return bz_fail(error, error_bytes, "%s: is a folder; choose another name", path);
    }
    char *text = bz_trace_print(trace);
    bool is_written = is_readable(text, path, error, error_bytes);
    if (is_written && !bz_file_put(path, text, strlen(text))) {
        is_written = bz_fail(error, error_bytes,
                             "%s: cannot be written (%s); free some space or choose another folder",
                             path, strerror(errno));
    }
    free(text);
    return is_written;
}
