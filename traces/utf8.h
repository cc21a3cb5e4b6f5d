/* UTF-8 for untrusted text. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes the character at `text`, of which `left` >= 1 bytes can be read; 4 does for a string that
 * ends with NUL. Returns its length in bytes and sets `code_point`. Returns 0 for invalid bytes:
 * overlong forms, surrogates, numbers beyond U+10FFFF, stray or missing continuation bytes. */
static inline size_t bz_utf8_read(const char *text, size_t left, uint32_t *code_point) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = (unsigned char)text[0];
    size_t length = first < 0x80 ? 1 : first < 0xc0 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (length == 0 || length > left || first >= 0xf8) {
        return 0;
    }
    uint32_t code = length == 1 ? first : first & (0x7fu >> length);
    for (size_t index = 1; index < length; index++) {
        unsigned char byte = (unsigned char)text[index];
        if ((byte & 0xc0u) != 0x80u) {
            return 0;
        }
        code = code << 6u | (byte & 0x3fu);
    }
    if (code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
        return 0;
    }
    *code_point = code;
    return length;
}

/* A control character, which could affect a terminal: C0, DEL, C1. */
static inline bool bz_utf8_is_control(uint32_t code_point) {
    return code_point < 0x20 || (code_point >= 0x7f && code_point < 0xa0);
}
