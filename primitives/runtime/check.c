#include "primitives/runtime/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void (*bz_check_listener)(const char *text);

static void __attribute__((noreturn, format(printf, 1, 2))) fail(const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "buzzer: %s\n", text);
    if (bz_check_listener != NULL) {
        bz_check_listener(text);
    }
    abort();
}

void bz_check_failed(const char *condition, const char *file, int line) {
    fail("internal error: '%s' does not hold at %s:%d", condition, file, line);
}

void bz_contract_broken(const char *text) {
    fail("the adapter breaks the contract: %s", text);
}
