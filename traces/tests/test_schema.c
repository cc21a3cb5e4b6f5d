/* The schema, the tables that reader and writer go by, and the golden file say the same. */
#include "traces/json.h"
#include "traces/tests/sample.h"
#include "traces/trace_fields.h"

static struct bz_json *load(const char *path) {
    char error[300] = "";
    size_t length;
    char *text = tst_read_file(path, &length);
    struct bz_json *json = bz_json_parse(text, length, 32, path, error, sizeof error);
    cr_assert(ne(ptr, json, NULL), "%s", error);
    free(text);
    return json;
}

static bool lists(const struct bz_json *array, const char *word) {
    cr_assert(bz_json_is_array(array));
    for (const struct bz_json *next = bz_json_first(array); next != NULL;
         next = bz_json_next(next)) {
        if (strcmp(bz_json_string(next), word) == 0) {
            return true;
        }
    }
    return false;
}

static unsigned count_of(const struct bz_json *container) {
    unsigned count = 0;
    for (const struct bz_json *next = bz_json_first(container); next != NULL;
         next = bz_json_next(next)) {
        count++;
    }
    return count;
}

static void expect_words(const struct bz_json *words, const struct bz_vocabulary *vocabulary) {
    unsigned count = 0;
    for (unsigned number = 0; number < vocabulary->count; number++) {
        const char *word = vocabulary->word(number);
        if (word != NULL) {
            cr_assert(lists(words, word), "the schema lacks the %s %s", vocabulary->what, word);
            count++;
        }
    }
    cr_assert(eq(u32, count_of(words), count), "the schema has another %s", vocabulary->what);
}

static void expect_fields(const struct bz_json *schema, const char *name,
                          const struct bz_trace_field *fields) {
    const struct bz_json *object = bz_json_get(bz_json_get(schema, "$defs"), name);
    const struct bz_json *properties = bz_json_get(object, "properties");
    unsigned count = 0;
    unsigned required = 0;
    cr_assert(ne(ptr, (void *)bz_json_get(object, "additionalProperties"), NULL));
    for (; fields->key != NULL; fields++, count++) {
        static const char *const refs[] = {"#/$defs/number", NULL, "#/$defs/name", "#/$defs/text"};
        const struct bz_json *field = bz_json_get(properties, fields->key);
        cr_assert(ne(ptr, (void *)field, NULL), "%s lacks %s", name, fields->key);
        if (fields->is_required) {
            cr_assert(lists(bz_json_get(object, "required"), fields->key), "%s", fields->key);
            required++;
        }
        if (fields->type == BZ_FIELD_WORD) {
            expect_words(bz_json_get(field, "enum"), fields->vocabulary);
        } else {
            tst_text(bz_json_string(bz_json_get(field, "$ref")), refs[fields->type]);
        }
    }
    cr_assert(eq(u32, count_of(properties), count), "%s has other fields", name);
    cr_assert(eq(u32, count_of(bz_json_get(object, "required")), required), "%s", name);
}

Test(schema, agrees_with_the_tables) {
    struct bz_json *schema = load(TST_TRACES_FOLDER "/buzzer-trace.schema.json");
    expect_fields(schema, "object", bz_trace_object_fields);
    expect_fields(schema, "event", bz_trace_event_fields);
    expect_fields(schema, "choice", bz_trace_choice_fields);
    expect_fields(schema, "verdict", bz_trace_verdict_fields);
    const struct bz_json *properties = bz_json_get(schema, "properties");
    tst_text(bz_json_string(bz_json_get(bz_json_get(properties, "format"), "const")),
             "buzzer-trace/2");
    expect_words(bz_json_get(bz_json_get(properties, "order"), "enum"), &bz_vocabulary_order);
    bz_json_free(schema);
}

static void expect_limit(const struct bz_json *schema, const char *name, const char *limit,
                         uint64_t expected) {
    uint64_t value = 0;
    cr_assert(bz_json_number(bz_json_get(bz_json_get(schema, name), limit), &value), "%s", name);
    cr_assert(eq(u64, value, expected), "%s of %s", limit, name);
}

Test(schema, has_the_same_limits) {
    struct bz_json *schema = load(TST_TRACES_FOLDER "/buzzer-trace.schema.json");
    const struct bz_json *properties = bz_json_get(schema, "properties");
    expect_limit(properties, "params", "maxProperties", BZ_TRACE_PARAMS_MAX);
    expect_limit(properties, "tasks", "maxItems", BZ_TRACE_TASKS_MAX);
    expect_limit(properties, "objects", "maxItems", BZ_TRACE_OBJECTS_MAX);
    expect_limit(properties, "choices", "maxItems", BZ_TRACE_CHOICES_MAX);
    expect_limit(properties, "events", "maxItems", BZ_TRACE_EVENTS_MAX);
    const struct bz_json *defs = bz_json_get(schema, "$defs");
    expect_limit(defs, "name", "maxLength", BZ_TRACE_NAME_BYTES_MAX);
    expect_limit(defs, "text", "maxLength", BZ_TRACE_TEXT_BYTES_MAX);
    expect_limit(defs, "number", "maximum", BZ_TRACE_NUMBER_MAX);
    bz_json_free(schema);
}

Test(schema, requires_the_keys_of_a_trace_in_their_order) {
    struct bz_json *schema = load(TST_TRACES_FOLDER "/buzzer-trace.schema.json");
    struct bz_json *golden = load(TST_TRACES_FOLDER "/tests/golden.json");
    const struct bz_json *required = bz_json_first(bz_json_get(schema, "required"));
    const struct bz_json *property = bz_json_first(bz_json_get(schema, "properties"));
    for (const struct bz_json *next = bz_json_first(golden); next != NULL;
         next = bz_json_next(next)) {
        cr_assert(ne(ptr, (void *)property, NULL));
        tst_text(bz_json_key(property), bz_json_key(next));
        if (strcmp(bz_json_key(next), "checksum") != 0) { /* older files have none */
            cr_assert(ne(ptr, (void *)required, NULL));
            tst_text(bz_json_string(required), bz_json_key(next));
            required = bz_json_next(required);
        }
        property = bz_json_next(property);
    }
    cr_assert(eq(ptr, (void *)required, NULL));
    cr_assert(eq(ptr, (void *)property, NULL));
    bz_json_free(golden);
    bz_json_free(schema);
}
