#include "tools/cli/terminal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "traces/lack.h"

#define ENTER "\033[?1049h\033[?25l" /* the second screen, no cursor */
#define LEAVE "\033[?25h\033[?1049l"
#define ESCAPE_MS 50 /* bytes of one key come together */

static struct termios before;
static bool is_open;
static bz_lack_fn *lack_before;

/* --- the terminal ----------------------------------------------------------------------------- */

bool bz_screen_is_there(void) {
    const char *term = getenv("TERM");
    return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 && term != NULL &&
           term[0] != '\0' && strcmp(term, "dumb") != 0;
}

/* Only calls that a signal handler may make. */
static void restore(void) {
    if (is_open) {
        is_open = false;
        (void)!write(STDOUT_FILENO, LEAVE, sizeof LEAVE - 1);
        (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
    }
}

static void on_end(int number) {
    restore();
    signal(number, SIG_DFL);
    raise(number);
}

static void on_resize(int number) {
    (void)number; /* it interrupts the wait for a key */
}

static void on_lack(const char *sentence) {
    restore();
    lack_before(sentence);
}

static void handle(int number, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

bool bz_screen_open(void) {
    if (tcgetattr(STDIN_FILENO, &before) != 0) {
        return false;
    }
    struct termios raw = before;
    raw.c_iflag &= ~(tcflag_t)(BRKINT | ICRNL | INPCK | ISTRIP | IXON);
    raw.c_lflag &= ~(tcflag_t)(ECHO | ICANON | IEXTEN | ISIG); /* Ctrl-C is a key */
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    fflush(stdout);
    if (tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw) != 0) {
        return false;
    }
    is_open = true;
    static const int ends[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGSEGV, SIGABRT, SIGBUS};
    for (size_t index = 0; index < sizeof ends / sizeof ends[0]; index++) {
        handle(ends[index], on_end);
    }
    handle(SIGWINCH, on_resize);
    static bool is_registered;
    if (!is_registered) {
        is_registered = true;
        lack_before = bz_lack_handler;
        bz_lack_handler = on_lack;
        if (atexit(restore) != 0) {
            bz_lack_stop(NULL, "the end of the program");
        }
    }
    (void)!write(STDOUT_FILENO, ENTER, sizeof ENTER - 1);
    return true;
}

void bz_screen_close(void) {
    restore();
}

/* --- pages ------------------------------------------------------------------------------------ */

static uint32_t clamp(uint32_t value, uint32_t least, uint32_t most) {
    return value < least ? least : value > most ? most : value;
}

void bz_page_begin(struct bz_page *page) {
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    (void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    *page = (struct bz_page){
        .rows = size.ws_row == 0 ? 24 : clamp(size.ws_row, 4, BZ_SCREEN_ROWS_MAX),
        .columns = size.ws_col == 0 ? 80 : clamp(size.ws_col, 20, BZ_SCREEN_COLUMNS_MAX)};
}

__attribute__((format(printf, 3, 0))) static void set_line(struct bz_page *page, uint32_t row,
                                                           const char *format, va_list arguments) {
    char *line = page->lines[row];
    vsnprintf(line, page->columns, format, arguments); /* the last column stays free */
    for (; *line != '\0'; line++) {
        *line = *line >= ' ' && *line <= '~' ? *line : '?';
    }
}

void bz_page_add(struct bz_page *page, const char *format, ...) {
    va_list arguments;
    if (page->used < page->rows) {
        va_start(arguments, format);
        set_line(page, page->used++, format, arguments);
        va_end(arguments);
    }
}

void bz_page_put(struct bz_page *page, uint32_t from_end, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    set_line(page, page->rows - 1 - from_end, format, arguments);
    va_end(arguments);
}

void bz_page_mark(struct bz_page *page) {
    page->is_marked[page->used - 1] = true;
}

uint32_t bz_page_left(const struct bz_page *page, uint32_t reserved) {
    return page->used + reserved < page->rows ? page->rows - reserved - page->used : 0;
}

/* One write, so that nothing flickers. */
void bz_page_draw(const struct bz_page *page) {
    static char text[BZ_SCREEN_ROWS_MAX * (BZ_SCREEN_COLUMNS_MAX + 32)];
    size_t used = (size_t)snprintf(text, sizeof text, "\033[H");
    for (uint32_t row = 0; row < page->rows; row++) {
        bool is_marked = page->is_marked[row];
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s%s\033[K%s",
                                 is_marked ? "\033[7m" : "", page->lines[row],
                                 is_marked ? "\033[m" : "", row + 1 < page->rows ? "\r\n" : "");
    }
    for (size_t written = 0; written < used;) {
        ssize_t bytes = write(STDOUT_FILENO, text + written, used - written);
        if (bytes < 0 && errno != EINTR) {
            return;
        }
        written += bytes > 0 ? (size_t)bytes : 0;
    }
}

/* --- keys ------------------------------------------------------------------------------------- */

/* The next byte of an escape sequence; 0: none. */
static int more(void) {
    struct pollfd ready = {.fd = STDIN_FILENO, .events = POLLIN};
    unsigned char byte;
    bool is_there = poll(&ready, 1, ESCAPE_MS) == 1 && read(STDIN_FILENO, &byte, 1) == 1;
    return is_there ? byte : 0;
}

/* After ESC: the key, or ESC alone. */
static int escaped(void) {
    int first = more();
    if (first == 0) {
        return '\033';
    }
    if (first != '[' && first != 'O') {
        return BZ_KEY_OTHER;
    }
    int number = 0;
    int byte = more();
    for (; (byte >= '0' && byte <= '9') || byte == ';'; byte = more()) {
        number = byte == ';' ? number : byte - '0';
    }
    switch (byte) {
    case 'A':
        return BZ_KEY_UP;
    case 'B':
        return BZ_KEY_DOWN;
    case 'C':
        return BZ_KEY_RIGHT;
    case 'D':
        return BZ_KEY_LEFT;
    case 'H':
        return BZ_KEY_HOME;
    case 'F':
        return BZ_KEY_END;
    case '~':
        return number == 1 || number == 7   ? BZ_KEY_HOME
               : number == 4 || number == 8 ? BZ_KEY_END
                                            : BZ_KEY_OTHER;
    default:
        return BZ_KEY_OTHER;
    }
}

int bz_screen_key(void) {
    unsigned char byte;
    ssize_t bytes = read(STDIN_FILENO, &byte, 1);
    if (bytes < 0 && errno == EINTR) {
        return BZ_KEY_RESIZE;
    }
    if (bytes <= 0) {
        return BZ_KEY_END_OF_INPUT;
    }
    return byte == '\033' ? escaped() : byte;
}
