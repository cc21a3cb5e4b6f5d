/* Checks JSON text by recursive descent with a depth limit, before cJSON reads it. cJSON accepts
 * duplicate keys, any byte up to 32 as a blank, control characters and invalid UTF-8 in strings,
 * "\u0000" as the end of a string, and malformed numbers. */
#include "traces/json_check.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/json.h"
#include "traces/utf8.h"

struct span {
    const char *text;
    size_t length;
};

struct checker {
    const char *text;
    size_t length;
    size_t at;
    unsigned depth;
    unsigned depth_max;
    size_t values;
    struct span *keys; /* of all open objects, innermost last */
    size_t key_count;
    size_t key_capacity;
    struct bz_json_flaw *flaw;
};

static bool check_value(struct checker *checker);

__attribute__((format(printf, 3, 4))) static bool flawed(struct checker *checker, size_t offset,
                                                         const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(checker->flaw->what, sizeof checker->flaw->what, format, arguments);
    va_end(arguments);
    checker->flaw->offset = offset;
    return false;
}

/* The current byte; '\0', which no document contains, at the end. */
static char peek(const struct checker *checker) {
    return checker->at < checker->length ? checker->text[checker->at] : '\0';
}

static bool is_at_end(const struct checker *checker) {
    return checker->at == checker->length;
}

static void skip_blanks(struct checker *checker) {
    while (!is_at_end(checker) && strchr(" \t\n\r", peek(checker)) != NULL &&
           peek(checker) != '\0') {
        checker->at++;
    }
}

static bool unexpected(struct checker *checker, const char *wanted) {
    if (is_at_end(checker)) {
        return flawed(checker, checker->at, "the text ends where %s should be; it was cut off",
                      wanted);
    }
    unsigned char byte = (unsigned char)peek(checker);
    if (byte > 0x20 && byte < 0x7f) {
        return flawed(checker, checker->at, "'%c' stands where %s should be", byte, wanted);
    }
    return flawed(checker, checker->at, "byte 0x%02x stands where %s should be", byte, wanted);
}

/* --- strings ---------------------------------------------------------------------------------- */

static bool check_hex4(struct checker *checker, uint32_t *unit) {
    *unit = 0;
    for (unsigned digit = 0; digit < 4; digit++, checker->at++) {
        char byte = peek(checker);
        unsigned value = byte >= '0' && byte <= '9'   ? (unsigned)(byte - '0')
                         : byte >= 'a' && byte <= 'f' ? (unsigned)(byte - 'a') + 10
                         : byte >= 'A' && byte <= 'F' ? (unsigned)(byte - 'A') + 10
                                                      : 16;
        if (value == 16) {
            return unexpected(checker, "a hexadecimal digit of \\u");
        }
        *unit = *unit << 4u | value;
    }
    return true;
}

static bool check_unicode_escape(struct checker *checker, size_t start) {
    uint32_t unit;
    uint32_t low = 0;
    if (!check_hex4(checker, &unit)) {
        return false;
    }
    if (unit >= 0xd800 && unit < 0xdc00 && checker->length - checker->at >= 2 &&
        memcmp(checker->text + checker->at, "\\u", 2) == 0) {
        checker->at += 2;
        if (!check_hex4(checker, &low)) {
            return false;
        }
    }
    bool is_pair = unit >= 0xd800 && unit < 0xdc00 && low >= 0xdc00 && low < 0xe000;
    if (!is_pair && unit >= 0xd800 && unit < 0xe000) {
        return flawed(checker, start, "half of a surrogate pair, which is no character");
    }
    return unit != 0 || flawed(checker, start, "a NUL character, which no string may contain");
}

static bool check_escape(struct checker *checker) {
    size_t start = checker->at++;
    char byte = peek(checker);
    if (byte == 'u') {
        checker->at++;
        return check_unicode_escape(checker, start);
    }
    if (byte == '\0' || strchr("\"\\/bfnrt", byte) == NULL) {
        return unexpected(checker, "one of \" \\ / b f n r t u behind a backslash");
    }
    checker->at++;
    return true;
}

static bool check_character(struct checker *checker) {
    uint32_t code_point;
    size_t bytes =
        bz_utf8_read(checker->text + checker->at, checker->length - checker->at, &code_point);
    if (bytes == 0) {
        return flawed(checker, checker->at,
                      "byte 0x%02x is not valid UTF-8; save the file as UTF-8",
                      (unsigned char)peek(checker));
    }
    if (code_point < 0x20) {
        return flawed(checker, checker->at,
                      "control character 0x%02x inside a string; write it as \\u%04x",
                      (unsigned)code_point, (unsigned)code_point);
    }
    checker->at += bytes;
    return true;
}

static bool check_string(struct checker *checker, const char *wanted, bool is_key) {
    size_t start = checker->at;
    if (peek(checker) != '"') {
        return unexpected(checker, wanted);
    }
    checker->at++;
    while (peek(checker) != '"') {
        if (is_at_end(checker)) {
            return flawed(checker, start, "this string does not end; the text was cut off");
        }
        if (peek(checker) == '\\' && is_key) {
            return flawed(checker, checker->at, "an escape in a key; write the key in plain UTF-8");
        }
        if (!(peek(checker) == '\\' ? check_escape(checker) : check_character(checker))) {
            return false;
        }
    }
    checker->at++;
    return true;
}

/* --- numbers and words ------------------------------------------------------------------------ */

static bool check_digits(struct checker *checker) {
    if (peek(checker) < '0' || peek(checker) > '9') {
        return unexpected(checker, "a digit");
    }
    while (peek(checker) >= '0' && peek(checker) <= '9') {
        checker->at++;
    }
    return true;
}

static bool check_number(struct checker *checker) {
    size_t start = checker->at;
    checker->at += peek(checker) == '-';
    if (peek(checker) == '0') {
        checker->at++;
        if (peek(checker) >= '0' && peek(checker) <= '9') {
            return flawed(checker, start, "a number with a leading zero");
        }
    } else if (!check_digits(checker)) {
        return false;
    }
    if (peek(checker) == '.') {
        checker->at++;
        if (!check_digits(checker)) {
            return false;
        }
    }
    if (peek(checker) == 'e' || peek(checker) == 'E') {
        checker->at++;
        checker->at += peek(checker) == '+' || peek(checker) == '-';
        if (!check_digits(checker)) {
            return false;
        }
    }
    return checker->at - start <= BZ_JSON_NUMBER_BYTES_MAX ||
           flawed(checker, start, "a number of more than %u characters", BZ_JSON_NUMBER_BYTES_MAX);
}

static bool check_word(struct checker *checker, const char *word) {
    size_t length = strlen(word);
    if (checker->length - checker->at < length ||
        memcmp(checker->text + checker->at, word, length) != 0) {
        return unexpected(checker, "a value");
    }
    checker->at += length;
    return true;
}

/* --- objects and arrays ----------------------------------------------------------------------- */

static bool push_key(struct checker *checker, struct span key) {
    if (checker->key_count == checker->key_capacity) {
        size_t capacity = checker->key_capacity == 0 ? 64 : 2 * checker->key_capacity;
        struct span *larger = realloc(checker->keys, capacity * sizeof *larger);
        if (larger == NULL) {
            return flawed(checker, checker->at, "no memory is left to read on");
        }
        checker->keys = larger;
        checker->key_capacity = capacity;
    }
    checker->keys[checker->key_count++] = key;
    return true;
}

/* `first` is the index of the object's first key. Quadratic; the number of members is limited. */
static bool check_key(struct checker *checker, size_t first) {
    size_t start = checker->at;
    if (!check_string(checker, "a key in quotes", true)) {
        return false;
    }
    struct span key = {checker->text + start + 1, checker->at - start - 2};
    if (key.length > BZ_JSON_KEY_BYTES_MAX) {
        return flawed(checker, start, "a key of more than %u bytes", BZ_JSON_KEY_BYTES_MAX);
    }
    for (size_t index = first; index < checker->key_count; index++) {
        const struct span *other = &checker->keys[index];
        if (other->length == key.length && memcmp(other->text, key.text, key.length) == 0) {
            return flawed(checker, start,
                          "the key \"%.*s\" appears twice in one object; remove one",
                          (int)(key.length < 40 ? key.length : 40), key.text);
        }
    }
    if (checker->key_count - first == BZ_JSON_MEMBERS_MAX) {
        return flawed(checker, start, "an object with more than %u keys", BZ_JSON_MEMBERS_MAX);
    }
    return push_key(checker, key);
}

static bool check_members(struct checker *checker, bool is_object, char end) {
    size_t first_key = checker->key_count;
    checker->at++;
    skip_blanks(checker);
    bool is_more = peek(checker) != end;
    while (is_more) {
        skip_blanks(checker);
        if (is_object) {
            if (!check_key(checker, first_key)) {
                return false;
            }
            skip_blanks(checker);
            if (peek(checker) != ':') {
                return unexpected(checker, "':' behind a key");
            }
            checker->at++;
        }
        if (!check_value(checker)) {
            return false;
        }
        skip_blanks(checker);
        is_more = peek(checker) == ',';
        checker->at += is_more;
    }
    if (peek(checker) != end) {
        return unexpected(checker, is_object ? "',' or '}'" : "',' or ']'");
    }
    checker->at++;
    checker->key_count = first_key;
    return true;
}

static bool check_container(struct checker *checker) {
    if (checker->depth == checker->depth_max) {
        return flawed(checker, checker->at, "nested deeper than %u levels", checker->depth_max);
    }
    bool is_object = peek(checker) == '{';
    checker->depth++;
    bool is_good = check_members(checker, is_object, is_object ? '}' : ']');
    checker->depth--;
    return is_good;
}

static bool check_value(struct checker *checker) {
    skip_blanks(checker);
    if (checker->values++ == BZ_JSON_VALUES_MAX) {
        return flawed(checker, checker->at, "more than %u values in one file", BZ_JSON_VALUES_MAX);
    }
    switch (peek(checker)) {
    case '{':
    case '[':
        return check_container(checker);
    case '"':
        return check_string(checker, "a string", false);
    case 't':
        return check_word(checker, "true");
    case 'f':
        return check_word(checker, "false");
    case 'n':
        return check_word(checker, "null");
    case '-':
        return check_number(checker);
    default:
        if (peek(checker) >= '0' && peek(checker) <= '9') {
            return check_number(checker);
        }
        return unexpected(checker, "a value");
    }
}

bool bz_json_check(const char *text, size_t length, unsigned depth_max, struct bz_json_flaw *flaw) {
    struct checker checker = {.text = text, .length = length, .depth_max = depth_max, .flaw = flaw};
    bool is_good = check_value(&checker);
    if (is_good) {
        skip_blanks(&checker);
        is_good = is_at_end(&checker) || unexpected(&checker, "the end of the text");
    }
    free(checker.keys);
    return is_good;
}
