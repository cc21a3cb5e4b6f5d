/* The only file that uses cJSON. cJSON stores numbers as doubles and may print them with 15 digits,
 * so whole numbers are written as raw text. Its parser is lenient, so json_check.c checks the text
 * first. It prints strings without checking them. */
#include "traces/json.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/runtime/check.h"
#include "traces/lack.h"
#include "traces/utf8.h"

#define NUMBER_MAX ((UINT64_C(1) << 53) - 1)

/* struct bz_json is a name for what the library calls cJSON. */
static cJSON *inside(const struct bz_json *json) {
    return (cJSON *)(uintptr_t)json;
}

/* The same for a new item. */
static struct bz_json *made(cJSON *item) {
    return bz_lack_check(item, "a JSON document");
}

static struct bz_json *append(struct bz_json *array, cJSON *item) {
    bool is_added = cJSON_AddItemToArray(inside(array), inside(made(item)));
    BZ_CHECK(is_added);
    return (struct bz_json *)item;
}

/* --- building --------------------------------------------------------------------------------- */

/* A copy with U+FFFD in place of each byte that is not UTF-8. */
static char *clean_copy(const char *text) {
    char *copy = bz_lack_check(malloc(3 * strlen(text) + 1), "a JSON document");
    char *to = copy;
    while (*text != '\0') {
        uint32_t code_point;
        size_t bytes = bz_utf8_read(text, 4, &code_point);
        size_t copied = bytes > 0 ? bytes : 3;
        memcpy(to, bytes > 0 ? text : "\xef\xbf\xbd", copied);
        to += copied;
        text += bytes > 0 ? bytes : 1;
    }
    *to = '\0';
    return copy;
}

struct bz_json *bz_json_new_object(void) {
    return made(cJSON_CreateObject());
}

void bz_json_add_string(struct bz_json *object, const char *key, const char *value) {
    if (value == NULL) {
        made(cJSON_AddNullToObject(inside(object), key));
        return;
    }
    char *copy = clean_copy(value);
    made(cJSON_AddStringToObject(inside(object), key, copy));
    free(copy);
}

/* Larger numbers are not exact in a reader that uses doubles. */
static const char *number_text(uint64_t value, char text[24]) {
    BZ_CHECK(value <= NUMBER_MAX);
    snprintf(text, 24, "%" PRIu64, value);
    return text;
}

void bz_json_add_number(struct bz_json *object, const char *key, uint64_t value) {
    char text[24];
    made(cJSON_AddRawToObject(inside(object), key, number_text(value, text)));
}

void bz_json_add_decimal(struct bz_json *object, const char *key, double value) {
    made(cJSON_AddNumberToObject(inside(object), key, value));
}

void bz_json_add_bool(struct bz_json *object, const char *key, bool value) {
    made(cJSON_AddBoolToObject(inside(object), key, value));
}

void bz_json_add_hex(struct bz_json *object, const char *key, uint64_t value) {
    char text[24];
    snprintf(text, sizeof text, "0x%" PRIx64, value);
    bz_json_add_string(object, key, text);
}

struct bz_json *bz_json_add_object(struct bz_json *object, const char *key) {
    return made(cJSON_AddObjectToObject(inside(object), key));
}

struct bz_json *bz_json_add_array(struct bz_json *object, const char *key) {
    return made(cJSON_AddArrayToObject(inside(object), key));
}

struct bz_json *bz_json_append_object(struct bz_json *array) {
    return append(array, cJSON_CreateObject());
}

void bz_json_append_number(struct bz_json *array, uint64_t value) {
    char text[24];
    append(array, cJSON_CreateRaw(number_text(value, text)));
}

void bz_json_append_string(struct bz_json *array, const char *value) {
    char *copy = clean_copy(value);
    append(array, cJSON_CreateString(copy));
    free(copy);
}

char *bz_json_print(const struct bz_json *json, bool is_pretty) {
    char *text = is_pretty ? cJSON_Print(inside(json)) : cJSON_PrintUnformatted(inside(json));
    return bz_lack_check(text, "a JSON document");
}

void bz_json_free(struct bz_json *root) {
    cJSON_Delete(inside(root));
}

/* --- reading ---------------------------------------------------------------------------------- */

struct bz_json *bz_json_parse(const char *text, size_t length, unsigned depth_max,
                              const char *origin, char *error, size_t error_bytes) {
    unsigned depth = depth_max < BZ_JSON_DEPTH_MAX ? depth_max : BZ_JSON_DEPTH_MAX;
    if (!bz_json_check(text, length, depth, origin, error, error_bytes)) {
        return NULL;
    }
    /* what passed the check is refused without memory only */
    return made(cJSON_ParseWithLengthOpts(text, length, NULL, false));
}

const struct bz_json *bz_json_get(const struct bz_json *object, const char *key) {
    return (struct bz_json *)cJSON_GetObjectItemCaseSensitive(inside(object), key);
}

bool bz_json_is_object(const struct bz_json *json) {
    return cJSON_IsObject(inside(json));
}

bool bz_json_is_array(const struct bz_json *json) {
    return cJSON_IsArray(inside(json));
}

const char *bz_json_string(const struct bz_json *json) {
    return cJSON_GetStringValue(inside(json));
}

bool bz_json_number(const struct bz_json *json, uint64_t *value) {
    if (!cJSON_IsNumber(inside(json))) {
        return false;
    }
    double number = inside(json)->valuedouble;
    if (!(number >= 0 && number <= (double)NUMBER_MAX) || number != (double)(uint64_t)number) {
        return false;
    }
    *value = (uint64_t)number;
    return true;
}

const struct bz_json *bz_json_first(const struct bz_json *container) {
    return (struct bz_json *)inside(container)->child;
}

const struct bz_json *bz_json_next(const struct bz_json *member) {
    return (struct bz_json *)inside(member)->next;
}

const char *bz_json_key(const struct bz_json *member) {
    return inside(member)->string;
}
