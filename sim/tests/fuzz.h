/* The common part of the fuzz targets. A target is one function, LLVMFuzzerTestOneInput();
 * libFuzzer and AFL++ bring a main() of their own, and fuzz_main.c is one for the other builds. */
#ifndef BZ_SIM_TESTS_FUZZ_H
#define BZ_SIM_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/scenarios.h"
#include "sim/program/catalog.h"
#include "sim/program/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A broken property, as a crash that a fuzzer keeps. */
#define FUZZ_CHECK(condition, ...)                                                                 \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition);                        \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fprintf(stderr, "\n");                                                                 \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static const struct bz_catalog fuzz_catalog = {.scenarios = bz_scenarios, .variants = bz_variants};

/* A copy that ends with a NUL, in a block of its own, so that a sanitizer sees the byte after it.
 * The caller frees it. */
static inline char *fuzz_text(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    FUZZ_CHECK(text != NULL, "out of memory");
    memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

/* A message goes to a terminal: one line, without control characters. */
static inline void fuzz_check_message(const char *message) {
    FUZZ_CHECK(message[0] != '\0', "refused without a message");
    for (const char *at = message; *at != '\0'; at++) {
        FUZZ_CHECK((unsigned char)*at >= ' ' && *at != 0x7f, "control character %u: %s", *at,
                   message);
    }
}

/* All settings of a program, one name=value after the other. */
static inline void fuzz_print_settings(const struct bz_program *program, char *text, size_t bytes) {
    text[0] = '\0';
    for (struct bz_setting_text item = {0}; bz_program_next_setting(program, &item);) {
        size_t used = strlen(text);
        snprintf(text + used, bytes - used, "%s%s=%s", used == 0 ? "" : ",", item.name, item.value);
    }
}

#endif
