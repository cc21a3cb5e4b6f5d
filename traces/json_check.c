/* Checks JSON text by recursive descent with a depth limit, before cJSON reads it. cJSON accepts
 * duplicate keys, any byte up to 32 as a blank, control characters and invalid UTF-8 in strings,
 * "\u0000" as the end of a string, and malformed numbers. */
#include "traces/json.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/text.h"
#include "traces/utf8.h"

#define DIGITS "0123456789"

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
    const char *origin; /* for the message, as are the others */
    char *error;
    size_t error_bytes;
};

static bool check_value(struct checker *checker);

__attribute__((format(printf, 3, 4))) static bool flawed(struct checker *checker, size_t offset,
                                                         const char *format, ...) {
    char what[160];
    size_t line = 1;
    size_t line_start = 0;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    for (size_t index = 0; index < offset; index++) {
        if (checker->text[index] == '\n') {
            line++;
            line_start = index + 1;
        }
    }
    return bz_fail(checker->error, checker->error_bytes, "%s:%zu:%zu: %s", checker->origin, line,
                   offset - line_start + 1, what);
}

/* The current byte; '\0', which no document contains, at the end. */
static char peek(const struct checker *checker) {
    return checker->at < checker->length ? checker->text[checker->at] : '\0';
}

static bool is_at_end(const struct checker *checker) {
    return checker->at == checker->length;
}

/* Moves past the current byte if it is one of `bytes`. */
static bool take(struct checker *checker, const char *bytes) {
    bool is_taken = peek(checker) != '\0' && strchr(bytes, peek(checker)) != NULL;
    checker->at += is_taken;
    return is_taken;
}

static void skip_blanks(struct checker *checker) {
    while (take(checker, " \t\n\r")) {
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

static bool check_hex4(struct checker *checker, unsigned long *unit) {
    char digits[5] = "";
    for (unsigned index = 0; index < 4; index++) {
        digits[index] = peek(checker);
        if (!take(checker, DIGITS "abcdefABCDEF")) {
            return unexpected(checker, "a hexadecimal digit of \\u");
        }
    }
    *unit = strtoul(digits, NULL, 16);
    return true;
}

static bool check_unicode_escape(struct checker *checker, size_t start) {
    unsigned long unit = 0;
    unsigned long low = 0;
    if (!check_hex4(checker, &unit)) {
        return false;
    }
    bool is_high = unit >= 0xd800 && unit < 0xdc00;
    if (is_high && take(checker, "\\") && take(checker, "u") && !check_hex4(checker, &low)) {
        return false;
    }
    bool is_pair = is_high && low >= 0xdc00 && low < 0xe000;
    if (!is_pair && unit >= 0xd800 && unit < 0xe000) {
        return flawed(checker, start, "half of a surrogate pair, which is not a character");
    }
    return unit != 0 || flawed(checker, start, "a NUL character, which no string may contain");
}

static bool check_escape(struct checker *checker) {
    size_t start = checker->at++;
    if (take(checker, "u")) {
        return check_unicode_escape(checker, start);
    }
    return take(checker, "\"\\/bfnrt") ||
           unexpected(checker, "one of \" \\ / b f n r t u behind a backslash");
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

static bool check_string(struct checker *checker, bool is_key) {
    size_t start = checker->at++;
    while (!take(checker, "\"")) {
        bool is_escape = peek(checker) == '\\';
        if (is_at_end(checker)) {
            return flawed(checker, start, "this string does not end; the text was cut off");
        }
        if (is_escape && is_key) {
            return flawed(checker, checker->at, "an escape in a key; write the key in plain UTF-8");
        }
        if (!(is_escape ? check_escape(checker) : check_character(checker))) {
            return false;
        }
    }
    return true;
}

/* --- numbers and words ------------------------------------------------------------------------ */

static bool check_digits(struct checker *checker) {
    if (!take(checker, DIGITS)) {
        return unexpected(checker, "a digit");
    }
    while (take(checker, DIGITS)) {
    }
    return true;
}

static bool check_number(struct checker *checker) {
    size_t start = checker->at;
    take(checker, "-");
    if (take(checker, "0")) {
        if (take(checker, DIGITS)) {
            return flawed(checker, start, "a number with a leading zero");
        }
    } else if (!check_digits(checker)) {
        return false;
    }
    if (take(checker, ".") && !check_digits(checker)) {
        return false;
    }
    if (take(checker, "eE")) {
        take(checker, "+-");
        if (!check_digits(checker)) {
            return false;
        }
    }
    return checker->at - start <= BZ_JSON_NUMBER_BYTES_MAX ||
           flawed(checker, start, "a number of more than %u characters", BZ_JSON_NUMBER_BYTES_MAX);
}

static bool check_word(struct checker *checker) {
    static const char *const words[] = {"true", "false", "null"};
    for (size_t index = 0; index < sizeof words / sizeof words[0]; index++) {
        size_t length = strlen(words[index]);
        if (checker->length - checker->at >= length &&
            memcmp(checker->text + checker->at, words[index], length) == 0) {
            checker->at += length;
            return true;
        }
    }
    return unexpected(checker, "a value");
}

/* --- objects and arrays ----------------------------------------------------------------------- */

/* `keys` has the object's `count` keys so far. Quadratic; the number of members is limited. */
static bool check_key(struct checker *checker, struct span *keys, size_t count) {
    size_t start = checker->at;
    if (peek(checker) != '"') {
        return unexpected(checker, "a key in quotes");
    }
    if (!check_string(checker, true)) {
        return false;
    }
    struct span key = {checker->text + start + 1, checker->at - start - 2};
    if (key.length > BZ_JSON_KEY_BYTES_MAX) {
        return flawed(checker, start, "a key of more than %u bytes", BZ_JSON_KEY_BYTES_MAX);
    }
    for (size_t index = 0; index < count; index++) {
        if (keys[index].length == key.length &&
            memcmp(keys[index].text, key.text, key.length) == 0) {
            return flawed(checker, start,
                          "the key \"%.*s\" appears twice in one object; remove one",
                          (int)(key.length < 40 ? key.length : 40), key.text);
        }
    }
    if (count == BZ_JSON_MEMBERS_MAX) {
        return flawed(checker, start, "an object with more than %u keys", BZ_JSON_MEMBERS_MAX);
    }
    keys[count] = key;
    skip_blanks(checker);
    return take(checker, ":") || unexpected(checker, "':' behind a key");
}

static bool check_container(struct checker *checker) {
    struct span keys[BZ_JSON_MEMBERS_MAX]; /* 4 KiB on the stack at each level */
    size_t count = 0;
    bool is_object = peek(checker) == '{';
    const char *end = is_object ? "}" : "]";
    if (checker->depth++ == checker->depth_max) {
        return flawed(checker, checker->at, "nested deeper than %u levels", checker->depth_max);
    }
    checker->at++;
    skip_blanks(checker);
    bool is_more = peek(checker) != end[0];
    while (is_more) {
        skip_blanks(checker);
        if (!is_object && count == BZ_JSON_ELEMENTS_MAX) {
            return flawed(checker, checker->at, "an array of more than %u elements",
                          BZ_JSON_ELEMENTS_MAX);
        }
        if ((is_object && !check_key(checker, keys, count)) || !check_value(checker)) {
            return false;
        }
        count++;
        skip_blanks(checker);
        is_more = take(checker, ",");
    }
    checker->depth--;
    return take(checker, end) || unexpected(checker, is_object ? "',' or '}'" : "',' or ']'");
}

static bool check_value(struct checker *checker) {
    skip_blanks(checker);
    if (checker->values++ == BZ_JSON_VALUES_MAX) {
        return flawed(checker, checker->at, "more than %u values in one file", BZ_JSON_VALUES_MAX);
    }
    char byte = peek(checker);
    if (byte == '{' || byte == '[') {
        return check_container(checker);
    }
    if (byte == '"') {
        return check_string(checker, false);
    }
    return byte == '-' || (byte >= '0' && byte <= '9') ? check_number(checker)
                                                       : check_word(checker);
}

bool bz_json_check(const char *text, size_t length, unsigned depth_max, const char *origin,
                   char *error, size_t error_bytes) {
    struct checker checker = {.text = text,
                              .length = length,
                              .depth_max = depth_max,
                              .origin = origin,
                              .error = error,
                              .error_bytes = error_bytes};
    if (!check_value(&checker)) {
        return false;
    }
    skip_blanks(&checker);
    return is_at_end(&checker) || unexpected(&checker, "the end of the text");
}
