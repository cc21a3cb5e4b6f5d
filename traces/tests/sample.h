/* For the tests of this folder: a small trace that has every field, and files. */
#ifndef BZ_TRACES_TESTS_SAMPLE_H
#define BZ_TRACES_TESTS_SAMPLE_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/trace.h"

#define tst_text(actual, expected) cr_assert_str_eq((char *)(actual), (char *)(expected))

static inline void tst_sample_choices(struct bz_trace *trace) {
    const uint64_t absent = BZ_TRACE_ABSENT;
    bz_trace_add_choice(trace, (struct bz_trace_choice){.kind = "data",
                                                        .task = "canceller",
                                                        .label = "patience",
                                                        .step = 3,
                                                        .n = 1,
                                                        .bound = 8,
                                                        .value = 5});
    bz_trace_add_choice(trace, (struct bz_trace_choice){.kind = "next",
                                                        .task = "worker-2",
                                                        .step = 4,
                                                        .n = 2,
                                                        .bound = absent,
                                                        .value = absent});
    bz_trace_add_choice(trace, (struct bz_trace_choice){.kind = "next",
                                                        .role = "callback",
                                                        .step = 5,
                                                        .n = 1,
                                                        .bound = absent,
                                                        .value = absent});
    bz_trace_add_choice(trace,
                        (struct bz_trace_choice){
                            .kind = "delay", .step = 6, .n = absent, .bound = absent, .value = 1});
    bz_trace_add_choice(trace, (struct bz_trace_choice){.kind = "cancel",
                                                        .task = "worker-1",
                                                        .window = "woken",
                                                        .step = 7,
                                                        .n = 3,
                                                        .bound = absent,
                                                        .value = absent});
}

static inline void tst_sample_event(struct bz_trace *trace, struct bz_trace_event event) {
    event.n = event.n == 0 ? BZ_TRACE_ABSENT : event.n;
    event.held = event.held == 0 ? BZ_TRACE_ABSENT : event.held;
    bz_trace_add_event(trace, event);
}
#define TST_EVENT(...) tst_sample_event(trace, (struct bz_trace_event){__VA_ARGS__})

static inline void tst_sample_events(struct bz_trace *trace) {
    const uint64_t late = BZ_TRACE_NUMBER_MAX;
    TST_EVENT(.event = "spawn", .task = "worker-2", .by = "worker-1");
    TST_EVENT(.event = "resume", .task = "worker-2", .status = "ok", .step = 4, .n = 2);
    TST_EVENT(.event = "suspend", .task = "worker-2", .wait = "future", .step = 4,
              .where = "pool.py:12");
    TST_EVENT(.event = "callback", .role = "callback", .step = 5);
    TST_EVENT(.event = "clock", .step = 5, .time_ns = late);
    TST_EVENT(.event = "cancel", .task = "worker-1", .op = "acquire", .window = "woken",
              .by = "canceller", .step = 7, .time_ns = late);
    TST_EVENT(.event = "return", .task = "worker-1", .op = "acquire", .object = "permits",
              .status = "cancelled", .step = 8, .time_ns = late, .held = 3);
}

/* Fills `trace`; the caller ends it. */
static inline void tst_sample(struct bz_trace *trace) {
    bz_trace_init(trace);
    trace->engine = "buzzer 0.1.0";
    trace->scenario = "contended";
    trace->variant = "zoo/sem-barge";
    trace->strategy = "random";
    trace->order = "any";
    trace->cancel = "waiting,woken";
    trace->seed = UINT64_C(0xfedcba9876543210);
    trace->digest = UINT64_C(0x00000000000000af);
    bz_trace_add_param(trace, "workers", "3");
    bz_trace_add_param(trace, "primitive", "semaphore");
    bz_trace_add_task(trace, "worker-1");
    bz_trace_add_task(trace, "worker-2");
    bz_trace_add_task(trace, "canceller");
    bz_trace_add_object(
        trace, (struct bz_trace_object){.name = "permits", .kind = "semaphore", .size = 3});
    bz_trace_add_object(
        trace, (struct bz_trace_object){
                   .name = "jobs", .kind = "items", .size = 0, .order = "lifo", .partner = "room"});
    bz_trace_add_object(
        trace, (struct bz_trace_object){
                   .name = "room", .kind = "slots", .size = BZ_TRACE_ABSENT, .partner = "jobs"});
    tst_sample_choices(trace);
    tst_sample_events(trace);
    trace->verdict = (struct bz_trace_verdict){.result = "violation",
                                               .oracle = "fifo",
                                               .step = 8,
                                               .task = "worker-2",
                                               .object = "permits",
                                               .message = "\"2\" was overtaken \\ caf\xc3\xa9"};
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
