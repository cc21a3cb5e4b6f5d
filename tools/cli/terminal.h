/* A terminal as a page of lines and a source of keys, with the escape sequences that every terminal
 * of today knows. The terminal is as it was after bz_screen_close(), and also when a signal or a
 * lack of memory ends the program. */
#ifndef BZ_TOOLS_CLI_TERMINAL_H
#define BZ_TOOLS_CLI_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

#define BZ_SCREEN_COLUMNS_MAX 200u
#define BZ_SCREEN_ROWS_MAX 100u

enum bz_key {
    BZ_KEY_END_OF_INPUT = -1,
    BZ_KEY_RESIZE = -2, /* the size may have changed: draw again */
    BZ_KEY_UP = 0x100,  /* smaller ones are bytes */
    BZ_KEY_DOWN,
    BZ_KEY_LEFT,
    BZ_KEY_RIGHT,
    BZ_KEY_HOME,
    BZ_KEY_END,
    BZ_KEY_OTHER,
};

struct bz_page {
    uint32_t rows; /* of the terminal */
    uint32_t columns;
    uint32_t used; /* rows so far */
    char lines[BZ_SCREEN_ROWS_MAX][BZ_SCREEN_COLUMNS_MAX + 1];
    bool is_marked[BZ_SCREEN_ROWS_MAX]; /* in reverse video */
};

/* True if standard input and output are a terminal that can do this: TERM is neither empty nor
 * "dumb". */
bool bz_screen_is_there(void);

/* False: the terminal refuses. */
bool bz_screen_open(void);
void bz_screen_close(void);

/* An empty page of the terminal's size. */
void bz_page_begin(struct bz_page *page);

/* Appends a line, cut to fit; '?' stands for what is not ASCII. Does nothing on a full page. */
void bz_page_add(struct bz_page *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same at the last rows: `from_end` 0 is the last one. */
void bz_page_put(struct bz_page *page, uint32_t from_end, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Shows the last line that was added in reverse video. */
void bz_page_mark(struct bz_page *page);

/* How many rows are left above the last `reserved` ones. */
uint32_t bz_page_left(const struct bz_page *page, uint32_t reserved);

void bz_page_draw(const struct bz_page *page);

/* Waits for a key: a byte, or enum bz_key. */
int bz_screen_key(void);

#endif
