/* A script as a file: one object and one operation a line, in the manner of a trace, so that a diff
 * reads well. What the reader fills in itself is left out. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "scenarios/program/script.h"

struct writer {
    const struct bz_script *script;
    char *text;
    size_t text_bytes;
    size_t length; /* of the whole, whether it fits or not */
};

static void put(struct writer *writer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void put(struct writer *writer, const char *format, ...) {
    bool has_room = writer->length < writer->text_bytes;
    va_list arguments;
    va_start(arguments, format);
    int written = vsnprintf(has_room ? writer->text + writer->length : NULL,
                            has_room ? writer->text_bytes - writer->length : 0, format, arguments);
    va_end(arguments);
    writer->length += written > 0 ? (size_t)written : 0;
}

static void new_line(struct writer *writer, uint32_t indent) {
    put(writer, "\n%*s", (int)(2 * indent), "");
}

static void put_ops(struct writer *writer, uint32_t from, uint32_t to, uint32_t indent);

static void put_children(struct writer *writer, uint32_t from, uint32_t to, uint32_t indent) {
    const struct bz_script_op *ops = writer->script->ops;
    put(writer, "[");
    for (uint32_t index = from; index < to; index += 1u + ops[index].span) {
        put(writer, "%s", index == from ? "" : ",");
        new_line(writer, indent + 1);
        put_ops(writer, index + 1, index + 1u + ops[index].span, indent + 1);
    }
    if (from < to) {
        new_line(writer, indent);
    }
    put(writer, "]");
}

static void put_op(struct writer *writer, uint32_t index, uint32_t indent) {
    const struct bz_script *script = writer->script;
    const struct bz_script_op *op = &script->ops[index];
    const struct bz_script_verb_info *verb = &bz_script_verbs[op->verb];
    put(writer, "{\"op\": \"%s\"", verb->name);
    if (verb->primitives != 0) {
        put(writer, ", \"object\": \"%s\"", script->objects[op->object].name);
    }
    if (bz_script_has_key(script, op)) {
        put(writer, ", \"key\": %" PRIu32, op->number);
    }
    if ((verb->fields & BZ_FIELD_VICTIM) != 0) {
        put(writer, ", \"task\": \"%s\"", script->tasks[op->number].name);
    }
    if ((verb->fields & BZ_FIELD_COUNT) != 0) {
        put(writer, ", \"count\": %" PRIu32, op->number);
    }
    if ((verb->fields & BZ_FIELD_PRIORITY) != 0) {
        put(writer, ", \"priority\": %" PRIu32, op->number);
    }
    if ((verb->fields & BZ_FIELD_NS) != 0) {
        put(writer, ", \"ns\": %" PRIu32, op->ns);
    }
    if (op->within_ns != BZ_SCRIPT_NEVER) {
        put(writer, ", \"within\": %" PRIu32, op->within_ns);
    }
    if ((verb->fields & BZ_FIELD_OPS) != 0) {
        put(writer, ", \"ops\": ");
        put_ops(writer, index + 1, index + 1u + op->span, indent);
    }
    if ((verb->fields & BZ_FIELD_TASKS) != 0) {
        put(writer, ", \"tasks\": ");
        put_children(writer, index + 1, index + 1u + op->span, indent);
    }
    put(writer, "}");
}

static void put_ops(struct writer *writer, uint32_t from, uint32_t to, uint32_t indent) {
    const struct bz_script_op *ops = writer->script->ops;
    put(writer, "[");
    for (uint32_t index = from; index < to; index += 1u + ops[index].span) {
        put(writer, "%s", index == from ? "" : ",");
        new_line(writer, indent + 1);
        put_op(writer, index, indent + 1);
    }
    if (from < to) {
        new_line(writer, indent);
    }
    put(writer, "]");
}

static void put_object(struct writer *writer, const struct bz_script_object *object) {
    enum bz_primitive primitive = (enum bz_primitive)object->primitive;
    uint32_t least;
    uint32_t most;
    const char *number = bz_script_number(primitive, &least, &most);
    put(writer, "{\"name\": \"%s\", \"kind\": \"%s\"", object->name, bz_primitive_name(primitive));
    if (number != NULL) {
        put(writer, ", \"%s\": %" PRIu32, number, object->number);
    }
    if (primitive == BZ_PRIMITIVE_QUEUE) {
        put(writer, ", \"order\": \"%s\"", bz_script_orders[object->order]);
    }
    put(writer, "}");
}

size_t bz_script_print(const struct bz_script *script, char *text, size_t text_bytes) {
    struct writer writer = {.script = script, .text = text, .text_bytes = text_bytes};
    put(&writer, "{\n  \"format\": \"%s\",\n  \"objects\": [", BZ_SCRIPT_FORMAT);
    for (uint32_t index = 0; index < script->object_count; index++) {
        put(&writer, "%s\n    ", index == 0 ? "" : ",");
        put_object(&writer, &script->objects[index]);
    }
    put(&writer, "\n  ],\n  \"tasks\": [");
    for (uint32_t index = 0; index < script->task_count; index++) {
        const struct bz_script_task *task = &script->tasks[index];
        put(&writer, "%s\n    {\"name\": \"%s\", \"ops\": ", index == 0 ? "" : ",", task->name);
        put_ops(&writer, task->first, (uint32_t)task->first + task->count, 2);
        put(&writer, "}");
    }
    put(&writer, "\n  ]\n}\n");
    return writer.length;
}
