/* Writes a script as a file, with one object or operation a line, so that a diff reads well.
 * Defaults that the reader fills in are left out. */
#include <inttypes.h>

#include "scenarios/program/script.h"
#include "traces/text.h"

struct writer {
    const struct bz_script *script;
    struct bz_cut_text out;
};

static void new_line(struct writer *writer, uint32_t indent) {
    bz_cut_add(&writer->out, "\n%*s", (int)(2 * indent), "");
}

/* Where the children of a group end, and its body begins, if it has one. */
static uint32_t find_body(const struct bz_script *script, uint32_t group) {
    uint32_t index = group + 1;
    uint32_t end = index + script->ops[group].span;
    while (index < end && script->ops[index].verb == BZ_VERB_CHILD) {
        index += 1u + script->ops[index].span;
    }
    return index;
}

/* A list of operations, or of the children of a group. */
static void put_list(struct writer *writer, uint32_t from, uint32_t to, uint32_t indent,
                     void (*put_one)(struct writer *writer, uint32_t index, uint32_t indent)) {
    bz_cut_add(&writer->out, "[");
    for (uint32_t index = from; index < to; index += 1u + writer->script->ops[index].span) {
        bz_cut_add(&writer->out, "%s", index == from ? "" : ",");
        new_line(writer, indent + 1);
        put_one(writer, index, indent + 1);
    }
    if (from < to) {
        new_line(writer, indent);
    }
    bz_cut_add(&writer->out, "]");
}

static void put_op(struct writer *writer, uint32_t index, uint32_t indent);

static void put_child(struct writer *writer, uint32_t index, uint32_t indent) {
    put_list(writer, index + 1, index + 1u + writer->script->ops[index].span, indent, put_op);
}

static void put_number(struct writer *writer, bool is_there, const char *key, uint32_t number) {
    if (is_there) {
        bz_cut_add(&writer->out, ", \"%s\": %" PRIu32, key, number);
    }
}

static void put_op(struct writer *writer, uint32_t index, uint32_t indent) {
    const struct bz_script *script = writer->script;
    const struct bz_script_op *op = &script->ops[index];
    const struct bz_script_verb_info *verb = &bz_script_verbs[op->verb];
    bz_cut_add(&writer->out, "{\"op\": \"%s\"", verb->name);
    if (verb->primitives != 0) {
        bz_cut_add(&writer->out, ", \"object\": \"%s\"", script->objects[op->object].name);
    }
    put_number(writer, bz_script_has_key(script, op), "key", op->number);
    if ((verb->fields & BZ_FIELD_VICTIM) != 0) {
        bz_cut_add(&writer->out, ", \"task\": \"%s\"", script->tasks[op->number].name);
    }
    put_number(writer, (verb->fields & BZ_FIELD_COUNT) != 0, "count", op->number);
    put_number(writer, (verb->fields & BZ_FIELD_PRIORITY) != 0, "priority", op->number);
    put_number(writer, (verb->fields & BZ_FIELD_NS) != 0, "ns", op->ns);
    put_number(writer, op->within_ns != BZ_SCRIPT_NEVER, "within", op->within_ns);
    if ((verb->fields & (BZ_FIELD_OPS | BZ_FIELD_TASKS)) != 0) {
        bool is_group = (verb->fields & BZ_FIELD_TASKS) != 0;
        uint32_t end = index + 1u + op->span;
        uint32_t body = is_group ? find_body(script, index) : end;
        bz_cut_add(&writer->out, ", \"%s\": ", is_group ? "tasks" : "ops");
        put_list(writer, index + 1, body, indent, is_group ? put_child : put_op);
        if (body < end) {
            bz_cut_add(&writer->out, ", \"ops\": ");
            put_list(writer, body + 1, end, indent, put_op);
        }
    }
    bz_cut_add(&writer->out, "}");
}

static void put_object(struct writer *writer, const struct bz_script_object *object) {
    const struct bz_script_kind *kind = &bz_script_kinds[object->primitive];
    bz_cut_add(&writer->out, "{\"name\": \"%s\", \"kind\": \"%s\"", object->name,
               bz_primitive_name((enum bz_primitive)object->primitive));
    put_number(writer, kind->number != NULL, kind->number, object->number);
    put_number(writer, object->rank != 0, "rank", object->rank);
    if (object->lock != 0) {
        bz_cut_add(&writer->out, ", \"lock\": \"%s\"",
                   writer->script->objects[object->lock - 1].name);
    }
    if (kind->has_order) {
        bz_cut_add(&writer->out, ", \"order\": \"%s\"", bz_script_orders[object->order]);
    }
    bz_cut_add(&writer->out, "}");
}

static const char *format_of(const struct bz_script *script) {
    for (uint32_t index = 0; index < script->op_count; index++) {
        if (script->ops[index].verb >= BZ_VERBS_OF_VERSION_1) {
            return BZ_SCRIPT_FORMAT_2;
        }
    }
    for (uint32_t index = 0; index < script->object_count; index++) {
        if (script->objects[index].lock != 0 || script->objects[index].rank != 0) {
            return BZ_SCRIPT_FORMAT_2;
        }
    }
    return BZ_SCRIPT_FORMAT;
}

size_t bz_script_print(const struct bz_script *script, char *text, size_t text_bytes) {
    struct writer writer = {.script = script, .out = {.text = text, .bytes = text_bytes}};
    bz_cut_add(&writer.out, "{\n  \"format\": \"%s\",\n  \"objects\": [", format_of(script));
    for (uint32_t index = 0; index < script->object_count; index++) {
        bz_cut_add(&writer.out, "%s\n    ", index == 0 ? "" : ",");
        put_object(&writer, &script->objects[index]);
    }
    bz_cut_add(&writer.out, "\n  ],\n  \"tasks\": [");
    for (uint32_t index = 0; index < script->task_count; index++) {
        const struct bz_script_task *task = &script->tasks[index];
        bz_cut_add(&writer.out, "%s\n    {\"name\": \"%s\", \"ops\": ", index == 0 ? "" : ",",
                   task->name);
        put_list(&writer, task->first, (uint32_t)task->first + task->count, 2, put_op);
        bz_cut_add(&writer.out, "}");
    }
    bz_cut_add(&writer.out, "\n  ]\n}\n");
    return writer.out.length;
}
