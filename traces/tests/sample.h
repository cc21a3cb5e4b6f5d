/* For the tests of this folder: a small trace that has every field, and files. */
#ifndef BZ_TRACES_TESTS_SAMPLE_H
#define BZ_TRACES_TESTS_SAMPLE_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/trace.h"

#define tst_text(actual, expected) cr_assert_str_eq((char *)(actual), (char *)(expected))

static inline void tst_sample_event(struct bz_trace *trace, struct bz_trace_event event) {
    event.n = event.n == 0 ? BZ_TRACE_ABSENT : event.n;
    event.held = event.held == 0 ? BZ_TRACE_ABSENT : event.held;
    bz_trace_add_event(trace, event);
}

/* Fills `trace` from the golden file; the caller ends it. */
static inline void tst_sample(struct bz_trace *trace) {
    char error[BZ_TRACE_ERROR_BYTES] = "";
    cr_assert(bz_trace_read(trace, TST_TRACES_FOLDER "/tests/golden.json", error, sizeof error),
              "%s", error);
}

/* The whole file as text; the caller frees it. */
static inline char *tst_read_file(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    cr_assert_not_null(file, "cannot open %s", path);
    char *text = calloc(1, 1 << 20);
    *length = fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    return text;
}

#endif
