/* A text that grows; it starts as zeros. Without memory, functions call bz_lack_stop() (lack.h). */
#pragma once

#include <stdarg.h>
#include <stddef.h>

struct bz_text {
    char *bytes; /* NULL before the first addition */
    size_t length;
    size_t capacity;
};

void bz_text_add(struct bz_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void bz_text_add_arguments(struct bz_text *text, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
void bz_text_put(struct bz_text *text, const char *string); /* as it is */
void bz_text_put_bytes(struct bz_text *text, const char *bytes, size_t length);

/* The characters that have to be written otherwise in a markup language. */
struct bz_escapes {
    const char *special; /* these characters become their numbers: "&#60;" */
    const char *before;  /* of the number: "&#" */
    const char *kept;    /* control characters that stay as they are */
    const char *instead; /* of the others, and of what is no character */
};
void bz_text_put_escaped(struct bz_text *text, const char *string,
                         const struct bz_escapes *escapes);

void bz_text_clear(struct bz_text *text); /* makes it "" */
void bz_text_fini(struct bz_text *text);
