#include "tools/cli/exit_report.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "tools/cli/cli.h"
#include "traces/text.h"

static struct {
    pid_t process;
    const char *command; /* "run" */
    bool wants_json;     /* and has printed none */
    bool is_closed;
    int code;
    char message[1024];
    void (*tell)(int code, const char *message);
} ending;

void bz_ending_begin(const char *command) {
    memset(&ending, 0, sizeof ending);
    ending.process = getpid();
    ending.command = command;
}

void bz_ending_want_json(void) {
    ending.wants_json = true;
}

void bz_ending_has_json(void) {
    ending.wants_json = false;
}

void bz_ending_note(int code, const char *message) {
    ending.code = code;
    (void)bz_fail(ending.message, sizeof ending.message, "%s", message);
}

void bz_ending_owe(void (*tell)(int code, const char *message)) {
    ending.tell = tell;
}

/* Without the heap, which may be what has run out. The message has no control characters. */
static void put_document(int code) {
    printf("{\n\t\"command\":\t\"%s\",\n\t\"error\":\t\"", ending.command);
    for (const char *next = ending.message; *next != '\0'; next++) {
        if (*next == '"' || *next == '\\') {
            putchar('\\');
        }
        putchar(*next);
    }
    printf("\",\n\t\"exit_code\":\t%d\n}\n", code);
}

void bz_ending_close(int code) {
    if (ending.is_closed || ending.process != getpid()) {
        return;
    }
    ending.is_closed = true; /* what follows may run out of memory */
    if (ending.wants_json) {
        put_document(code);
    }
    if (ending.tell != NULL) {
        ending.tell(code, ending.message);
    }
}

void bz_ending_close_at_exit(void) {
    if (ending.code != BZ_EXIT_OK) {
        bz_ending_close(ending.code);
    }
}
