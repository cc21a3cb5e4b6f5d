#include "traces/growing_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/lack.h"
#include "traces/utf8.h"

static void reserve(struct bz_text *text, size_t bytes) {
    if (text->length + bytes + 1 > text->capacity) {
        text->capacity = 2 * (text->length + bytes + 1);
        text->bytes = bz_lack_check(realloc(text->bytes, text->capacity), "a text");
    }
}

void bz_text_add_arguments(struct bz_text *text, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    reserve(text, length < 0 ? 0 : (size_t)length);
    text->bytes[text->length] = '\0';
    if (length > 0) {
        vsnprintf(text->bytes + text->length, (size_t)length + 1, format, arguments);
        text->length += (size_t)length;
    }
}

void bz_text_add(struct bz_text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    bz_text_add_arguments(text, format, arguments);
    va_end(arguments);
}

void bz_text_put_bytes(struct bz_text *text, const char *bytes, size_t length) {
    reserve(text, length);
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void bz_text_put(struct bz_text *text, const char *string) {
    bz_text_put_bytes(text, string, strlen(string));
}

void bz_text_put_escaped(struct bz_text *text, const char *string,
                         const struct bz_escapes *escapes) {
    while (*string != '\0') {
        uint32_t code = 0;
        size_t bytes = bz_utf8_read(string, 4, &code);
        bool is_control = bz_utf8_is_control(code) && strchr(escapes->kept, (int)code) == NULL;
        if (bytes == 1 && strchr(escapes->special, (int)code) != NULL) {
            bz_text_add(text, "%s%" PRIu32 ";", escapes->before, code);
        } else if (bytes == 0 || is_control || code == 0xfffe || code == 0xffff) {
            bz_text_put(text, escapes->instead);
        } else {
            bz_text_put_bytes(text, string, bytes);
        }
        string += bytes == 0 ? 1 : bytes;
    }
}

void bz_text_clear(struct bz_text *text) {
    reserve(text, 0);
    text->length = 0;
    text->bytes[0] = '\0';
}

void bz_text_fini(struct bz_text *text) {
    free(text->bytes);
    *text = (struct bz_text){0};
}
