/* A small interface to cJSON, which only json.c includes.
 *
 * To build: make an object, add members, print, free the root. To read: parse, look up, free the
 * root. Strings handed out belong to the document. Write numbers above 2^53 as strings.
 *
 * Input is not trusted: grammar (RFC 8259), encoding and limits are checked before cJSON reads it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bz_json;

#define BZ_JSON_DEPTH_MAX 64u         /* an upper limit for bz_json_parse() */
#define BZ_JSON_VALUES_MAX 8000000u   /* of one document; each costs about 100 bytes of memory */
#define BZ_JSON_ELEMENTS_MAX 1048576u /* of one array */
#define BZ_JSON_MEMBERS_MAX 256u      /* of one object */
#define BZ_JSON_KEY_BYTES_MAX 128u
#define BZ_JSON_NUMBER_BYTES_MAX 40u /* characters of one number */

/* --- building; without memory, every function calls bz_lack_stop() -------------------------- */
struct bz_json *bz_json_new_object(void);
/* NULL: null. Invalid UTF-8 becomes U+FFFD. */
void bz_json_add_string(struct bz_json *object, const char *key, const char *value);
void bz_json_add_number(struct bz_json *object, const char *key, uint64_t value); /* <= 2^53 - 1 */
void bz_json_add_decimal(struct bz_json *object, const char *key, double value);  /* reports only */
void bz_json_add_bool(struct bz_json *object, const char *key, bool value);
void bz_json_add_hex(struct bz_json *object, const char *key, uint64_t value); /* "0x..." */
struct bz_json *bz_json_add_object(struct bz_json *object, const char *key);
struct bz_json *bz_json_add_array(struct bz_json *object, const char *key);
struct bz_json *bz_json_append_object(struct bz_json *array);
void bz_json_append_number(struct bz_json *array, uint64_t value); /* <= 2^53 - 1 */
void bz_json_append_string(struct bz_json *array, const char *value);

/* The text; the caller frees it with free(). `is_pretty`: indented, for people. */
char *bz_json_print(const struct bz_json *json, bool is_pretty);
void bz_json_free(struct bz_json *root);

/* --- reading ---------------------------------------------------------------------------------- */

/* Parses exactly one document: valid UTF-8 without NUL, nothing after it, no duplicate key, no
 * escape in a key, not deeper than `depth_max`. NULL with a message that names `origin`, line and
 * column (in bytes, from 1). */
struct bz_json *bz_json_parse(const char *text, size_t length, unsigned depth_max,
                              const char *origin, char *error, size_t error_bytes);
/* The check alone (json_check.c). O(length). */
bool bz_json_check(const char *text, size_t length, unsigned depth_max, const char *origin,
                   char *error, size_t error_bytes);

const struct bz_json *bz_json_get(const struct bz_json *object, const char *key); /* or NULL */
bool bz_json_is_object(const struct bz_json *json);
bool bz_json_is_array(const struct bz_json *json);
const char *bz_json_string(const struct bz_json *json);               /* NULL if it is none */
bool bz_json_number(const struct bz_json *json, uint64_t *value);     /* whole, 0..2^53-1 */
const struct bz_json *bz_json_first(const struct bz_json *container); /* members in order */
const struct bz_json *bz_json_next(const struct bz_json *member);
const char *bz_json_key(const struct bz_json *member); /* its key inside an object */
