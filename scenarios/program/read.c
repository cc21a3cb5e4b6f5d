/* Reads a script from a file. The text is not trusted: the JSON must be strict (traces/json.h),
 * every member known, every number within its limits, every name resolved. An error names its
 * place, as in "x.json: tasks[1].ops[0].object: ...". */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/program/script.h"
#include "scenarios/variants/variants.h"
#include "sim/program/catalog.h"
#include "traces/json.h"
#include "traces/text.h"

#define PATH_BYTES 256u
#define JSON_DEPTH_MAX (8u + 3u * BZ_SCRIPT_DEPTH_MAX)
#define CHILD_PREFIX "child-" /* of the tasks that groups create */

struct reader {
    struct bz_script *script;
    const struct bz_variant *variant;
    const char *origin;
    char *error;
    size_t error_bytes;
    char path[PATH_BYTES]; /* of what is being read */
    uint32_t task_first;   /* of the operations of the task that is being read */
    bool is_version_2;     /* of the format */
};

static bool fail(struct reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool fail(struct reader *reader, const char *format, ...) {
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return bz_fail(reader->error, reader->error_bytes, "%s: %s%s%s", reader->origin, reader->path,
                   reader->path[0] == '\0' ? "" : ": ", what);
}

/* --- members ---------------------------------------------------------------------------------- */

/* Every member of the object is one of `keys`, which end with NULL. */
static bool knows_all(struct reader *reader, const struct bz_json *object,
                      const char *const *keys) {
    size_t count = 0;
    if (!bz_json_is_object(object)) {
        return fail(reader, "must be an object, {...}");
    }
    while (keys[count] != NULL) {
        count++;
    }
    for (const struct bz_json *next = bz_json_first(object); next != NULL;
         next = bz_json_next(next)) {
        bool is_known = false;
        for (size_t index = 0; index < count; index++) {
            is_known = is_known || strcmp(bz_json_key(next), keys[index]) == 0;
        }
        if (!is_known) {
            const char *nearest = bz_nearest_name(bz_json_key(next), keys, count);
            return fail(reader, "has no member \"%.64s\"%s%s%s", bz_json_key(next),
                        nearest != NULL ? "; did you mean \"" : "", nearest != NULL ? nearest : "",
                        nearest != NULL ? "\"?" : "");
        }
    }
    return true;
}

static bool read_number(struct reader *reader, const struct bz_json *object, const char *key,
                        uint32_t least, uint32_t most, bool is_required, uint32_t *number) {
    const struct bz_json *member = bz_json_get(object, key);
    uint64_t value;
    if (member == NULL && !is_required) {
        return true;
    }
    if (member == NULL || !bz_json_number(member, &value) || value < least || value > most) {
        return fail(reader, "\"%s\" %s a whole number from %" PRIu32 " to %" PRIu32, key,
                    member == NULL ? "is missing:" : "must be", least, most);
    }
    *number = (uint32_t)value;
    return true;
}

/* The number of a word in a list with gaps of NULL. */
static bool read_word(struct reader *reader, const struct bz_json *object, const char *key,
                      const char *const *words, uint32_t count, uint32_t *number) {
    const char *names[64];
    size_t name_count = 0;
    const struct bz_json *member = bz_json_get(object, key);
    const char *word = member == NULL ? NULL : bz_json_string(member);
    if (word == NULL) {
        return fail(reader, "\"%s\" %s", key, member == NULL ? "is missing" : "must be a string");
    }
    for (uint32_t index = 0; index < count; index++) {
        if (words[index] == NULL) {
            continue;
        }
        if (strcmp(words[index], word) == 0) {
            *number = index;
            return true;
        }
        names[name_count++] = words[index];
    }
    const char *nearest = bz_nearest_name(word, names, name_count);
    return fail(reader, "\"%s\": there is no '%.64s'%s%s%s", key, word,
                nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
                nearest != NULL ? "'?" : "");
}

/* Into `name`, all zeros before. */
static bool read_name(struct reader *reader, const struct bz_json *object, char *name) {
    const struct bz_json *member = bz_json_get(object, "name");
    const char *text = member == NULL ? NULL : bz_json_string(member);
    size_t length = text == NULL ? 0 : strlen(text);
    if (length == 0 || length >= BZ_SCRIPT_NAME_BYTES ||
        strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-_") != length) {
        return fail(reader, "\"name\" must be 1 to %u characters of a-z, 0-9, '-' and '_'",
                    BZ_SCRIPT_NAME_BYTES - 1);
    }
    memcpy(name, text, length);
    return true;
}

/* Reads one element of an array, the `index`-th; `depth` counts the operations around it. */
typedef bool read_fn(struct reader *reader, const struct bz_json *element, uint32_t index,
                     uint32_t depth);

static bool read_each(struct reader *reader, const struct bz_json *array, read_fn *read,
                      uint32_t depth) {
    uint32_t index = 0;
    for (const struct bz_json *next = bz_json_first(array); next != NULL;
         next = bz_json_next(next), index++) {
        size_t length = strlen(reader->path);
        snprintf(reader->path + length, sizeof reader->path - length, "[%" PRIu32 "]", index);
        if (!read(reader, next, index, depth)) {
            return false;
        }
        reader->path[length] = '\0';
    }
    return true;
}

/* A member that is an array of at most `most`. */
static bool read_array(struct reader *reader, const struct bz_json *object, const char *key,
                       uint32_t most, read_fn *read, uint32_t depth) {
    const struct bz_json *array = bz_json_get(object, key);
    uint32_t count = 0;
    if (array == NULL || !bz_json_is_array(array)) {
        return fail(reader, "\"%s\" %s", key,
                    array == NULL ? "is missing" : "must be an array, [...]");
    }
    for (const struct bz_json *next = bz_json_first(array); next != NULL;
         next = bz_json_next(next)) {
        if (++count > most) {
            return fail(reader, "\"%s\" has more than %" PRIu32 " elements", key, most);
        }
    }
    size_t length = strlen(reader->path);
    snprintf(reader->path + length, sizeof reader->path - length, "%s%s", length == 0 ? "" : ".",
             key);
    if (!read_each(reader, array, read, depth)) {
        return false;
    }
    reader->path[length] = '\0';
    return true;
}

/* --- objects ---------------------------------------------------------------------------------- */

static bool read_kind(struct reader *reader, const struct bz_json *json,
                      struct bz_script_object *object) {
    const char *kinds[BZ_SCRIPT_PRIMITIVES];
    uint32_t kind = 0;
    for (uint32_t primitive = 0; primitive < BZ_SCRIPT_PRIMITIVES; primitive++) {
        kinds[primitive] = bz_primitive_name((enum bz_primitive)primitive);
    }
    if (!read_word(reader, json, "kind", kinds, BZ_SCRIPT_PRIMITIVES, &kind)) {
        return false;
    }
    if (!bz_variant_offers(reader->variant, (enum bz_primitive)kind)) {
        return fail(reader, "variant '%s' offers no %s", reader->variant->name, kinds[kind]);
    }
    object->primitive = (uint8_t)kind;
    return true;
}

static bool read_rank(struct reader *reader, const struct bz_json *json,
                      struct bz_script_object *object) {
    uint32_t rank = 0;
    if (bz_json_get(json, "rank") == NULL) {
        return true;
    }
    if (!reader->is_version_2) {
        return fail(reader, "this needs \"format\": \"%s\"", BZ_SCRIPT_FORMAT_2);
    }
    if (object->primitive != BZ_PRIMITIVE_LOCK && object->number != 1) {
        return fail(reader, "\"rank\": a semaphore with a rank has one permit");
    }
    if (!read_number(reader, json, "rank", 1, UINT8_MAX, true, &rank)) {
        return false;
    }
    object->rank = (uint8_t)rank;
    return true;
}

/* The lock that a condition shares: that of a condition before it, which has one of its own. */
static bool read_lock(struct reader *reader, const struct bz_json *json, uint32_t number) {
    struct bz_script *script = reader->script;
    const char *names[BZ_SCRIPT_OBJECTS_MAX] = {NULL};
    uint32_t found = 0;
    if (bz_json_get(json, "lock") == NULL) {
        return true;
    }
    for (uint32_t index = 0; index < number; index++) {
        bool has_lock = script->objects[index].primitive == BZ_PRIMITIVE_CONDITION &&
                        script->objects[index].lock == 0;
        names[index] = has_lock ? script->objects[index].name : NULL;
    }
    if (!reader->is_version_2) {
        return fail(reader, "this needs \"format\": \"%s\"", BZ_SCRIPT_FORMAT_2);
    }
    if (!bz_asyncio_shares_locks(reader->variant)) {
        return fail(reader, "\"lock\": in variant '%s' every condition has a lock of its own",
                    reader->variant->name);
    }
    if (!read_word(reader, json, "lock", names, number, &found)) {
        return false;
    }
    script->objects[number].lock = (uint8_t)(found + 1);
    return true;
}

static bool read_size(struct reader *reader, const struct bz_json *json,
                      const struct bz_script_kind *kind, struct bz_script_object *object) {
    enum bz_primitive primitive = (enum bz_primitive)object->primitive;
    const struct bz_json *member = bz_json_get(json, kind->number);
    uint64_t value;
    bool meets = kind->has_order && member != NULL && bz_json_number(member, &value) &&
                 value == BZ_QUEUE_RENDEZVOUS;
    object->number = BZ_QUEUE_RENDEZVOUS;
    if (!meets &&
        !read_number(reader, json, kind->number, kind->least, kind->most, true, &object->number)) {
        return false;
    }
    return bz_variant_offers_size(reader->variant, primitive,
                                  meets ? -1 : (int64_t)object->number) ||
           fail(reader, "variant '%s' offers no such %s: \"%s\" %" PRIu32, reader->variant->name,
                bz_primitive_name(primitive), kind->number, object->number);
}

static bool read_object(struct reader *reader, const struct bz_json *json, uint32_t number,
                        uint32_t depth) {
    struct bz_script *script = reader->script;
    struct bz_script_object *object = &script->objects[number];
    uint32_t order = BZ_QUEUE_ORDER_FIFO;
    (void)depth;
    if (!bz_json_is_object(json)) {
        return fail(reader, "must be an object, {...}");
    }
    if (!read_name(reader, json, object->name) || !read_kind(reader, json, object)) {
        return false;
    }
    const struct bz_script_kind *kind = &bz_script_kinds[object->primitive];
    const char *lock = object->primitive == BZ_PRIMITIVE_CONDITION ? "lock" : NULL;
    bool is_permits = object->primitive < BZ_PERMIT_PRIMITIVES;
    const char *keys[5] = {"name", "kind"};
    uint32_t key_count = 2;
    const char *const others[] = {kind->number != NULL ? kind->number : lock,
                                  kind->has_order ? "order" : NULL, is_permits ? "rank" : NULL};
    for (uint32_t index = 0; index < 3; index++) {
        keys[key_count] = others[index];
        key_count += others[index] != NULL;
    }
    if (!knows_all(reader, json, keys) ||
        (kind->number != NULL && !read_size(reader, json, kind, object)) ||
        (kind->has_order && bz_json_get(json, "order") != NULL &&
         !read_word(reader, json, "order", bz_script_orders, 3, &order)) ||
        (lock != NULL && !read_lock(reader, json, number)) ||
        (is_permits && !read_rank(reader, json, object))) {
        return false;
    }
    object->order = (uint8_t)order;
    for (uint32_t index = 0; index < number; index++) {
        if (strcmp(script->objects[index].name, object->name) == 0) {
            return fail(reader, "another object has the name '%s'", object->name);
        }
    }
    script->object_count++;
    return true;
}

/* --- operations ------------------------------------------------------------------------------- */

static read_fn read_op;

static struct bz_script_op *add(struct reader *reader, enum bz_script_verb verb) {
    struct bz_script *script = reader->script;
    if (script->op_count == BZ_SCRIPT_OPS_MAX ||
        script->op_count - reader->task_first == BZ_SCRIPT_TASK_OPS_MAX) {
        fail(reader, "more than %u operations in one task, or %u in all", BZ_SCRIPT_TASK_OPS_MAX,
             BZ_SCRIPT_OPS_MAX);
        return NULL;
    }
    return bz_script_add(script, verb);
}

/* "object", which must be of a kind that has this operation, and "key". */
static bool read_target(struct reader *reader, const struct bz_json *json,
                        struct bz_script_op *op) {
    const struct bz_script *script = reader->script;
    const char *names[BZ_SCRIPT_OBJECTS_MAX];
    uint32_t number = 0;
    for (uint32_t index = 0; index < script->object_count; index++) {
        names[index] = script->objects[index].name;
    }
    if (!read_word(reader, json, "object", names, script->object_count, &number)) {
        return false;
    }
    const struct bz_script_object *object = &script->objects[number];
    op->object = (uint8_t)number;
    if ((bz_script_verbs[op->verb].primitives >> object->primitive & 1u) == 0) {
        return fail(reader, "\"%s\" is nothing that one does with '%s': it is a %s",
                    bz_script_verbs[op->verb].name, object->name,
                    bz_primitive_name((enum bz_primitive)object->primitive));
    }
    return !bz_script_has_key(script, op) ||
           read_number(reader, json, "key", 0, object->number - 1, true, &op->number);
}

/* The members besides "op" and "object" that this operation may have. */
static void list_keys(const struct bz_script *script, const struct bz_script_op *op,
                      const char **keys) {
    const struct bz_script_verb_info *verb = &bz_script_verbs[op->verb];
    static const char *const names[] = {"ns",       "within", "task",  "count",
                                        "priority", "ops",    "tasks", "ops"};
    uint32_t count = 0;
    keys[count++] = "op";
    if (verb->primitives != 0) {
        keys[count++] = "object";
    }
    if (bz_script_has_key(script, op)) {
        keys[count++] = "key";
    }
    for (uint32_t index = 0; index < sizeof names / sizeof names[0]; index++) {
        if ((verb->fields >> index & 1u) != 0) {
            keys[count++] = names[index];
        }
    }
    keys[count] = NULL;
}

static bool read_fields(struct reader *reader, const struct bz_json *json,
                        struct bz_script_op *op) {
    const struct bz_script *script = reader->script;
    uint32_t fields = bz_script_verbs[op->verb].fields;
    const char *names[BZ_SCRIPT_TASKS_MAX];
    for (uint32_t index = 0; index < script->task_count; index++) {
        names[index] = script->tasks[index].name;
    }
    return ((fields & BZ_FIELD_NS) == 0 ||
            read_number(reader, json, "ns", 0, BZ_SCRIPT_NS_MAX, true, &op->ns)) &&
           ((fields & BZ_FIELD_WITHIN) == 0 ||
            read_number(reader, json, "within", 0, BZ_SCRIPT_NS_MAX, false, &op->within_ns)) &&
           ((fields & BZ_FIELD_COUNT) == 0 ||
            read_number(reader, json, "count", 1, BZ_SCRIPT_COUNT_MAX, false, &op->number)) &&
           ((fields & BZ_FIELD_PRIORITY) == 0 ||
            read_number(reader, json, "priority", 0, BZ_SCRIPT_COUNT_MAX, false, &op->number)) &&
           ((fields & BZ_FIELD_VICTIM) == 0 ||
            read_word(reader, json, "task", names, script->task_count, &op->number));
}

static bool read_child(struct reader *reader, const struct bz_json *json, uint32_t index,
                       uint32_t depth) {
    struct bz_script_op *child = add(reader, BZ_VERB_CHILD);
    (void)index;
    if (child == NULL) {
        return false;
    }
    if (!bz_json_is_array(json)) {
        return fail(reader, "must be an array of operations, [...]");
    }
    uint32_t first = reader->script->op_count;
    bool is_read = read_each(reader, json, read_op, depth);
    child->span = (uint16_t)(reader->script->op_count - first);
    return is_read;
}

static bool is_of_version_2(struct reader *reader) {
    return reader->is_version_2 ||
           fail(reader, "this needs \"format\": \"%s\"", BZ_SCRIPT_FORMAT_2);
}

/* Of a group, behind its children. */
static bool read_body(struct reader *reader, const struct bz_json *json, uint32_t depth) {
    struct bz_script_op *body = is_of_version_2(reader) ? add(reader, BZ_VERB_BODY) : NULL;
    if (body == NULL) {
        return false;
    }
    uint32_t first = reader->script->op_count;
    bool is_read = read_array(reader, json, "ops", BZ_SCRIPT_TASK_OPS_MAX, read_op, depth + 1);
    body->span = (uint16_t)(reader->script->op_count - first);
    return is_read;
}

/* The operations inside: "ops" of a timeout, or one list for each of the "tasks" of a group. */
static bool read_inside(struct reader *reader, const struct bz_json *json, struct bz_script_op *op,
                        uint32_t depth) {
    uint32_t first = reader->script->op_count;
    bool has_tasks = (bz_script_verbs[op->verb].fields & BZ_FIELD_TASKS) != 0;
    if (depth == BZ_SCRIPT_DEPTH_MAX) {
        return fail(reader, "more than %u operations inside each other", BZ_SCRIPT_DEPTH_MAX);
    }
    bool is_read = read_array(reader, json, has_tasks ? "tasks" : "ops", BZ_SCRIPT_TASK_OPS_MAX,
                              has_tasks ? read_child : read_op, depth + 1);
    if (is_read && op->verb == BZ_VERB_GROUP && bz_json_get(json, "ops") != NULL) {
        is_read = read_body(reader, json, depth);
    }
    op->span = (uint16_t)(reader->script->op_count - first);
    return is_read;
}

static bool read_op(struct reader *reader, const struct bz_json *json, uint32_t index,
                    uint32_t depth) {
    const char *verbs[BZ_VERB_COUNT];
    const char *keys[12];
    uint32_t verb = 0;
    (void)index;
    for (uint32_t next = 0; next < BZ_VERB_COUNT; next++) {
        verbs[next] = bz_script_verbs[next].name;
    }
    if (!bz_json_is_object(json)) {
        return fail(reader, "must be an object, {...}");
    }
    if (!read_word(reader, json, "op", verbs, BZ_VERB_COUNT, &verb)) {
        return false;
    }
    if (verb >= BZ_VERBS_OF_VERSION_1 && !is_of_version_2(reader)) {
        return false;
    }
    struct bz_script_op *op = add(reader, (enum bz_script_verb)verb);
    if (op == NULL || (bz_script_verbs[verb].primitives != 0 && !read_target(reader, json, op))) {
        return false;
    }
    list_keys(reader->script, op, keys);
    bool has_inside = (bz_script_verbs[verb].fields & (BZ_FIELD_OPS | BZ_FIELD_TASKS)) != 0;
    return knows_all(reader, json, keys) && read_fields(reader, json, op) &&
           (!has_inside || read_inside(reader, json, op, depth));
}

/* --- tasks ------------------------------------------------------------------------------------ */

/* The names first: an operation may cancel a task that comes later. */
static bool read_task_name(struct reader *reader, const struct bz_json *json, uint32_t number,
                           uint32_t depth) {
    static const char *const keys[] = {"name", "ops", NULL};
    struct bz_script *script = reader->script;
    struct bz_script_task *task = &script->tasks[number];
    (void)depth;
    if (!knows_all(reader, json, keys) || !read_name(reader, json, task->name)) {
        return false;
    }
    if (strncmp(task->name, CHILD_PREFIX, strlen(CHILD_PREFIX)) == 0) {
        return fail(reader, "\"name\": '" CHILD_PREFIX "...' is for the tasks of groups");
    }
    for (uint32_t index = 0; index < number; index++) {
        if (strcmp(script->tasks[index].name, task->name) == 0) {
            return fail(reader, "another task has the name '%s'", task->name);
        }
    }
    script->task_count++;
    return true;
}

static bool read_task_ops(struct reader *reader, const struct bz_json *json, uint32_t number,
                          uint32_t depth) {
    struct bz_script *script = reader->script;
    struct bz_script_task *task = &script->tasks[number];
    reader->task_first = script->op_count;
    bool is_read = read_array(reader, json, "ops", BZ_SCRIPT_TASK_OPS_MAX, read_op, depth);
    task->first = (uint16_t)reader->task_first;
    task->count = (uint16_t)(script->op_count - reader->task_first);
    return is_read;
}

static bool read_root(struct reader *reader, const struct bz_json *root) {
    static const char *const keys[] = {"format", "objects", "tasks", NULL};
    static const char *const formats[] = {BZ_SCRIPT_FORMAT, BZ_SCRIPT_FORMAT_2};
    uint32_t format = 0;
    if (!knows_all(reader, root, keys) || !read_word(reader, root, "format", formats, 2, &format)) {
        return false;
    }
    reader->is_version_2 = format == 1;
    if (!read_array(reader, root, "objects", BZ_SCRIPT_OBJECTS_MAX, read_object, 0) ||
        !read_array(reader, root, "tasks", BZ_SCRIPT_TASKS_MAX, read_task_name, 0) ||
        !read_array(reader, root, "tasks", BZ_SCRIPT_TASKS_MAX, read_task_ops, 0)) {
        return false;
    }
    return reader->script->task_count > 0 || fail(reader, "a program has at least one task");
}

bool bz_script_read(struct bz_script *script, const struct bz_variant *variant, const char *text,
                    size_t length, const char *origin, char *error, size_t error_bytes) {
    struct reader reader = {.script = script,
                            .variant = variant,
                            .origin = origin,
                            .error = error,
                            .error_bytes = error_bytes};
    struct bz_json *root = bz_json_parse(text, length, JSON_DEPTH_MAX, origin, error, error_bytes);
    if (root == NULL) {
        return false;
    }
    bool is_read = read_root(&reader, root);
    bz_json_free(root);
    return is_read;
}
