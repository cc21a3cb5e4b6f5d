/* Text for people: lines of at most 80 columns, colour on a terminal. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "traces/growing_text.h"

#define BZ_WRAP_COLUMNS 80u

enum bz_colour {
    BZ_COLOUR_NONE = 0,
    BZ_COLOUR_BAD = 1,   /* a violation */
    BZ_COLOUR_ODD = 2,   /* a cancel, a difference */
    BZ_COLOUR_FAINT = 3, /* what matters less */
};

/* True if `out` gets colour: a terminal, and neither NO_COLOR (not empty) nor TERM=dumb is set. */
bool bz_wrap_has_colour(FILE *out);

/* The columns that a text takes: 2 for a wide character, 0 for a combining one. A character
 * that a terminal could obey is escaped, and takes more: control characters, and those that turn
 * the direction of writing. */
size_t bz_wrap_columns(const char *text);

/* How text is laid out. Without memory, functions call bz_lack_stop() (traces/lack.h). */
struct bz_wrap {
    FILE *out;      /* NULL: nothing is printed, lines are counted */
    bool is_colour; /* see bz_wrap_has_colour() */
    size_t lines;   /* so far */
};

/* Prints `prefix` and then `text`, broken at blanks so that no line has more than 80 columns; the
 * next lines are indented by `indent` columns (40 at most). A word that is too long for a line is
 * broken. The text alone is coloured. `prefix` may be "". */
void bz_wrap_print(struct bz_wrap *wrap, const char *prefix, const char *text, unsigned indent,
                   enum bz_colour colour);

/* The same without a prefix, of a text that is made of `format`. */
void bz_wrap_printf(struct bz_wrap *wrap, unsigned indent, enum bz_colour colour,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* A line as it is, which may be longer: a token, a command. */
void bz_wrap_whole(struct bz_wrap *wrap, const char *prefix, const char *text);

/* Copies the next part of the text that takes at most `columns` columns, escaped, and fills it up
 * with blanks. Returns the rest of the text, behind the blank at which it was broken; the end of
 * the text if there is none. For texts side by side. `part` has space for BZ_WRAP_PART_BYTES. */
#define BZ_WRAP_PART_BYTES 512u
const char *bz_wrap_part(const char *text, unsigned columns, char *part);
