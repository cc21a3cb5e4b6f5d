/* The writer. It prints by hand what the reader takes apart with the library: one entry a line,
 * keys in a fixed order, so that equal traces are equal bytes and `git diff` shows what changed. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "traces/trace.h"
#include "traces/trace_fields.h"
#include "traces/utf8.h"

#define TEMPORARY_NAMES 100u

/* --- text ------------------------------------------------------------------------------------- */

struct output {
    char *text;
    size_t length;
    size_t capacity;
    bool is_broken; /* no memory was left */
};

static void put_bytes(struct output *output, const char *bytes, size_t count) {
    if (output->is_broken) {
        return;
    }
    if (output->capacity - output->length <= count) {
        size_t capacity = 2 * output->capacity + count + 256;
        char *larger = realloc(output->text, capacity);
        if (larger == NULL) {
            output->is_broken = true;
            return;
        }
        output->text = larger;
        output->capacity = capacity;
    }
    memcpy(output->text + output->length, bytes, count);
    output->length += count;
    output->text[output->length] = '\0';
}

static void put(struct output *output, const char *text) {
    put_bytes(output, text, strlen(text));
}

static void put_number(struct output *output, uint64_t number) {
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number);
    put(output, text);
}

/* In quotes, with escapes. Bytes that are no UTF-8 become U+FFFD, and a missing string is empty. */
static void put_string(struct output *output, const char *text) {
    size_t left = text == NULL ? 0 : strlen(text);
    put(output, "\"");
    while (left > 0) {
        uint32_t code_point = 0xfffd;
        size_t bytes = bz_utf8_read(text, left, &code_point);
        if (code_point == '"' || code_point == '\\') {
            put(output, "\\");
        }
        if (bytes == 0 || bz_utf8_is_control(code_point)) {
            char escape[16];
            snprintf(escape, sizeof escape, "\\u%04x", (unsigned)code_point);
            put(output, escape);
            bytes = bytes == 0 ? 1 : bytes;
        } else {
            put_bytes(output, text, bytes);
        }
        text += bytes;
        left -= bytes;
    }
    put(output, "\"");
}

/* --- parts ------------------------------------------------------------------------------------ */

static void put_entry(struct output *output, const struct bz_trace_field *fields, void *entry) {
    const char *separator = "{\"";
    for (const struct bz_trace_field *field = fields; field->key != NULL; field++) {
        bool is_number = field->type == BZ_FIELD_NUMBER;
        if (is_number ? *bz_field_number(field, entry) == BZ_TRACE_ABSENT
                      : *bz_field_string(field, entry) == NULL) {
            continue;
        }
        put(output, separator);
        put(output, field->key);
        put(output, "\":");
        if (is_number) {
            put_number(output, *bz_field_number(field, entry));
        } else {
            put_string(output, *bz_field_string(field, entry));
        }
        separator = ",\"";
    }
    put(output, separator[0] == '{' ? "{}" : "}");
}

static void put_member(struct output *output, const char *key, const char *value) {
    put(output, "  \"");
    put(output, key);
    put(output, "\": ");
    put_string(output, value);
    put(output, ",\n");
}

static void put_params(struct output *output, const struct bz_trace *trace) {
    put(output, "  \"params\": {");
    for (size_t index = 0; index < trace->param_count; index++) {
        put(output, index == 0 ? "" : ", ");
        put_string(output, trace->params[index].name);
        put(output, ": ");
        put_string(output, trace->params[index].value);
    }
    put(output, "},\n");
}

/* Before element `index` of an array, and, with `index` == `count`, behind the last one. */
static void put_element_start(struct output *output, size_t index, size_t count) {
    if (index < count) {
        put(output, index == 0 ? "\n    " : ",\n    ");
    } else {
        put(output, count == 0 ? "],\n" : "\n  ],\n");
    }
}

static void put_arrays(struct output *output, const struct bz_trace *trace) {
    size_t index;
    put(output, "  \"tasks\": [");
    for (index = 0; index < trace->task_count; index++) {
        put_element_start(output, index, trace->task_count);
        put_string(output, trace->tasks[index]);
    }
    put_element_start(output, index, trace->task_count);
    put(output, "  \"choices\": [");
    for (index = 0; index < trace->choice_count; index++) {
        put_element_start(output, index, trace->choice_count);
        put_entry(output, bz_trace_choice_fields, &trace->choices[index]);
    }
    put_element_start(output, index, trace->choice_count);
    put(output, "  \"events\": [");
    for (index = 0; index < trace->event_count; index++) {
        put_element_start(output, index, trace->event_count);
        put_entry(output, bz_trace_event_fields, &trace->events[index]);
    }
    put_element_start(output, index, trace->event_count);
}

static char *print(const struct bz_trace *trace, size_t *length) {
    struct output output = {NULL, 0, 0, false};
    struct bz_trace_verdict verdict = trace->verdict;
    char number[32];
    put(&output, "{\n");
    put_member(&output, "format", BZ_TRACE_FORMAT);
    put_member(&output, "engine", trace->engine);
    put_member(&output, "scenario", trace->scenario);
    put_member(&output, "variant", trace->variant);
    put_params(&output, trace);
    put_member(&output, "strategy", trace->strategy);
    put_member(&output, "order", trace->order);
    put_member(&output, "cancel", trace->cancel);
    snprintf(number, sizeof number, "0x%" PRIx64, trace->seed);
    put_member(&output, "seed", number);
    put_arrays(&output, trace);
    put(&output, "  \"verdict\": ");
    put_entry(&output, bz_trace_verdict_fields, &verdict);
    snprintf(number, sizeof number, "%016" PRIx64, trace->digest);
    put(&output, ",\n  \"digest\": ");
    put_string(&output, number);
    put(&output, "\n}\n");
    if (output.is_broken) {
        free(output.text);
        return NULL;
    }
    *length = output.length;
    return output.text;
}

char *bz_trace_print(const struct bz_trace *trace) {
    size_t length;
    return print(trace, &length);
}

/* --- files ------------------------------------------------------------------------------------ */

/* Creates a file beside `path` that did not exist, and says its name. -1 with errno. */
static int create_beside(const char *path, char *name, size_t name_bytes) {
    for (unsigned attempt = 0; attempt < TEMPORARY_NAMES; attempt++) {
        snprintf(name, name_bytes, "%s.tmp-%u", path, attempt);
        int descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (descriptor >= 0 || errno != EEXIST) {
            return descriptor;
        }
    }
    return -1;
}

static bool write_all(int descriptor, const char *text, size_t length) {
    while (length > 0) {
        ssize_t written = write(descriptor, text, length);
        if (written < 0 && errno != EINTR) {
            return false;
        }
        if (written > 0) {
            text += written;
            length -= (size_t)written;
        }
    }
    return fsync(descriptor) == 0;
}

/* errno says what went wrong. A file that is not whole does not stay. */
static bool replace(const char *path, const char *text, size_t length) {
    size_t name_bytes = strlen(path) + 32;
    char *name = malloc(name_bytes);
    if (name == NULL) {
        return false;
    }
    int descriptor = create_beside(path, name, name_bytes);
    bool is_written = descriptor >= 0 && write_all(descriptor, text, length);
    int problem = errno;
    if (descriptor >= 0) {
        bool is_closed = close(descriptor) == 0;
        problem = is_written && !is_closed ? errno : problem;
        bool is_there = is_written && is_closed && rename(name, path) == 0;
        if (!is_there) {
            problem = is_written && is_closed ? errno : problem;
            unlink(name);
        }
        is_written = is_there;
    }
    free(name);
    errno = problem;
    return is_written;
}

/* The reader is the judge of what a trace is: what it refuses would be found out too late. */
static bool is_readable(const char *text, size_t length, const char *path, char *error,
                        size_t error_bytes) {
    struct bz_trace copy;
    bool is_read = bz_trace_parse(&copy, text, length, path, error, error_bytes);
    if (is_read) {
        bz_trace_fini(&copy);
    }
    return is_read;
}

bool bz_trace_write(const struct bz_trace *trace, const char *path, char *error,
                    size_t error_bytes) {
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        snprintf(error, error_bytes, "%s: is there and is no regular file; choose another name",
                 path);
        return false;
    }
    size_t length = 0;
    char *text = print(trace, &length);
    if (text == NULL) {
        snprintf(error, error_bytes, "%s: no memory is left to write the trace", path);
        return false;
    }
    bool is_written = is_readable(text, length, path, error, error_bytes);
    if (is_written && !replace(path, text, length)) {
        snprintf(error, error_bytes,
                 "%s: cannot be written (%s); make room there or choose another folder", path,
                 strerror(errno));
        is_written = false;
    }
    free(text);
    return is_written;
}
