#include "tools/report/text_output.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "traces/utf8.h"

/* --- columns ---------------------------------------------------------------------------------- */

/* A character as it is printed. */
struct glyph {
    char bytes[16];
    unsigned columns;
    size_t length; /* of the character in the text */
};

/* It changes the direction of writing, or is not seen at all. */
static bool is_deceptive(uint32_t code) {
    return code == 0x61c || (code >= 0x200b && code <= 0x200f) ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) ||
           code == 0xfeff;
}

static unsigned columns_of(uint32_t code) {
    static const uint32_t wide[][2] = {{0x1100, 0x115f},   {0x2e80, 0x303e},  {0x3041, 0xa4cf},
                                       {0xa960, 0xa97f},   {0xac00, 0xd7a3},  {0xf900, 0xfaff},
                                       {0xfe30, 0xfe6f},   {0xff00, 0xff60},  {0xffe0, 0xffe6},
                                       {0x1f300, 0x1faff}, {0x20000, 0x3fffd}};
    for (unsigned index = 0; index < sizeof wide / sizeof wide[0]; index++) {
        if (code >= wide[index][0] && code <= wide[index][1]) {
            return 2;
        }
    }
    bool is_combining = (code >= 0x300 && code <= 0x36f) || (code >= 0xfe00 && code <= 0xfe0f) ||
                        (code >= 0x1ab0 && code <= 0x1aff) || (code >= 0x20d0 && code <= 0x20ff);
    return is_combining ? 0 : 1;
}

static struct glyph glyph_at(const char *text) {
    struct glyph glyph = {.columns = 1};
    uint32_t code = 0xfffd;
    glyph.length = bz_utf8_read(text, strnlen(text, 4), &code);
    if (glyph.length == 0) {
        glyph.length = 1;
        snprintf(glyph.bytes, sizeof glyph.bytes, "?");
    } else if (bz_utf8_is_control(code) || is_deceptive(code)) {
        glyph.columns = (unsigned)snprintf(glyph.bytes, sizeof glyph.bytes, "\\u%04x", code);
    } else {
        memcpy(glyph.bytes, text, glyph.length);
        glyph.columns = columns_of(code);
    }
    return glyph;
}

size_t bz_wrap_columns(const char *text) {
    size_t columns = 0;
    while (*text != '\0') {
        struct glyph glyph = glyph_at(text);
        columns += glyph.columns;
        text += glyph.length;
    }
    return columns;
}

bool bz_wrap_has_colour(FILE *out) {
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    return isatty(fileno(out)) == 1 && (no_color == NULL || no_color[0] == '\0') && term != NULL &&
           term[0] != '\0' && strcmp(term, "dumb") != 0;
}

/* Where the line must end that begins at `text` and may take `columns`: right behind its last
 * character. */
static const char *break_at(const char *text, size_t columns) {
    const char *blank = NULL;
    size_t used = 0;
    const char *at = text;
    while (*at != '\0') {
        struct glyph glyph = glyph_at(at);
        if (*at == ' ' && at > text) {
            blank = at;
        }
        if (used + glyph.columns > columns && at > text) {
            return blank != NULL ? blank : at;
        }
        used += glyph.columns;
        at += glyph.length;
    }
    return at;
}

static void put(const struct bz_wrap *wrap, const char *text, const char *end) {
    while (wrap->out != NULL && text < end) {
        struct glyph glyph = glyph_at(text);
        fputs(glyph.bytes, wrap->out);
        text += glyph.length;
    }
}

static const char *skip_blanks(const char *text) {
    while (*text == ' ') {
        text++;
    }
    return text;
}

void bz_wrap_print(struct bz_wrap *wrap, const char *prefix, const char *text, unsigned indent,
                   enum bz_colour colour) {
    static const char *const codes[] = {[BZ_COLOUR_NONE] = "",
                                        [BZ_COLOUR_BAD] = "\033[1;31m",
                                        [BZ_COLOUR_ODD] = "\033[33m",
                                        [BZ_COLOUR_FAINT] = "\033[2m"};
    bool is_colour = wrap->out != NULL && wrap->is_colour && colour != BZ_COLOUR_NONE;
    size_t used = bz_wrap_columns(prefix);
    put(wrap, prefix, prefix + strlen(prefix));
    do {
        size_t left = used < BZ_WRAP_COLUMNS ? BZ_WRAP_COLUMNS - used : 1;
        const char *end = break_at(text, left);
        if (is_colour) {
            fputs(codes[colour], wrap->out);
        }
        put(wrap, text, end);
        if (is_colour) {
            fputs("\033[0m", wrap->out);
        }
        wrap->lines++;
        text = *end == '\0' ? end : skip_blanks(end);
        if (wrap->out != NULL) {
            fprintf(wrap->out, "\n%*s", *text != '\0' ? (int)indent : 0, "");
        }
        used = indent;
    } while (*text != '\0');
}

void bz_wrap_printf(struct bz_wrap *wrap, unsigned indent, enum bz_colour colour,
                    const char *format, ...) {
    struct bz_text text = {0};
    va_list arguments;
    va_start(arguments, format);
    bz_text_add_arguments(&text, format, arguments);
    va_end(arguments);
    bz_wrap_print(wrap, "", text.bytes, indent, colour);
    bz_text_fini(&text);
}

void bz_wrap_whole(struct bz_wrap *wrap, const char *prefix, const char *text) {
    put(wrap, prefix, prefix + strlen(prefix));
    put(wrap, text, text + strlen(text));
    wrap->lines++;
    if (wrap->out != NULL) {
        fputc('\n', wrap->out);
    }
}

const char *bz_wrap_part(const char *text, unsigned columns, char *part) {
    const char *end = break_at(text, columns);
    size_t length = 0;
    size_t used = 0;
    while (text < end) {
        struct glyph glyph = glyph_at(text);
        size_t bytes = strlen(glyph.bytes);
        if (length + bytes + columns + 1 > BZ_WRAP_PART_BYTES) {
            break;
        }
        memcpy(part + length, glyph.bytes, bytes);
        length += bytes;
        used += glyph.columns;
        text += glyph.length;
    }
    while (used < columns) {
        part[length++] = ' ';
        used++;
    }
    part[length] = '\0';
    return *end == '\0' ? end : skip_blanks(end);
}
