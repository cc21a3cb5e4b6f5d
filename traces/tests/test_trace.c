/* The trace as plain data: strings, tasks, comparison, text. */
#include "traces/tests/sample.h"
#include "traces/text.h"
#include "traces/trace_fields.h"

Test(trace, equal_strings_share_and_stay) {
    struct bz_trace trace;
    bz_trace_init(&trace);
    cr_assert(eq(ptr, (void *)bz_trace_string(&trace, NULL), NULL));
    char name[32];
    const char *kept[5000];
    for (unsigned number = 0; number < 5000; number++) {
        snprintf(name, sizeof name, "name-%u", number);
        kept[number] = bz_trace_string(&trace, name);
    }
    char *large = calloc(1, 100001);
    memset(large, 'x', 100000);
    const char *copy = bz_trace_string(&trace, large);
    cr_assert(ne(ptr, (void *)copy, large));
    tst_text(copy, large);
    for (unsigned number = 0; number < 5000; number++) {
        snprintf(name, sizeof name, "name-%u", number);
        tst_text(kept[number], name);
        cr_assert(eq(ptr, (void *)bz_trace_string(&trace, name), (void *)kept[number]));
    }
    free(large);
    bz_trace_fini(&trace);
    cr_assert(eq(sz, trace.name_count, 0));
}

Test(trace, tasks_are_found_by_name) {
    struct bz_trace trace;
    bz_trace_init(&trace);
    cr_assert(eq(u32, bz_trace_find_task(&trace, "worker-1"), 0));
    bz_trace_string(&trace, "worker-0");
    char name[32];
    for (unsigned number = 1; number <= 3000; number++) {
        snprintf(name, sizeof name, "worker-%u", number);
        bz_trace_add_task(&trace, name);
    }
    for (unsigned number = 0; number <= 3001; number++) {
        snprintf(name, sizeof name, "worker-%u", number);
        cr_assert(eq(u32, bz_trace_find_task(&trace, name), number == 3001 ? 0 : number));
    }
    cr_assert(eq(u32, bz_trace_find_task(&trace, NULL), 0));
    bz_trace_fini(&trace);
}

/* Whatever field differs, the events differ, but for what only people read. */
Test(trace, equality_sees_every_field) {
    struct bz_trace_event event = {1, 2, "t", "e", "o", "p", "s", "w", "a", "r", "b", 3, 4, "f:1"};
    char task[] = "t";
    struct bz_trace_event same = event;
    unsigned fields = 0;
    same.task = task;
    cr_assert(bz_trace_event_equal(&event, &same), "strings are compared, and not pointers");
    for (const struct bz_trace_field *field = bz_trace_event_fields; field->key != NULL; field++) {
        struct bz_trace_event other = event;
        bool is_for_people = false;
        if (field->type == BZ_FIELD_NUMBER) {
            (*bz_field_number(field, &other))++;
        } else {
            *bz_field_string(field, &other) = "z";
            is_for_people = bz_trace_event_equal(&event, &other);
            *bz_field_string(field, &other) = NULL;
        }
        bool is_left_out = strcmp(field->key, "where") == 0 || strcmp(field->key, "text") == 0 ||
                           strcmp(field->key, "held") == 0;
        is_for_people |= bz_trace_event_equal(&event, &other);
        cr_assert(eq(int, is_for_people, is_left_out), "%s", field->key);
        cr_assert(eq(int, bz_trace_event_equal(&event, &other), is_for_people), "%s", field->key);
        cr_assert(eq(int, bz_trace_event_equal(&other, &event), is_for_people), "%s", field->key);
        fields++;
    }
    cr_assert(eq(u32, fields, 15));
    cr_assert(eq(sz, sizeof event, 15 * sizeof(uint64_t)), "a field is missing in the table");
}

/* Version 1 does not say for how many a notification is, and how many permits are out. */
Test(trace, an_event_of_an_older_version) {
    struct bz_trace_event call = {.event = "call", .n = 2, .held = 1};
    bz_trace_event_restrict(&call, 2);
    cr_assert(call.n == 2 && call.held == 1);
    bz_trace_event_restrict(&call, 1);
    cr_assert(call.n == BZ_TRACE_ABSENT && call.held == BZ_TRACE_ABSENT);
    struct bz_trace_event resume = {.event = "resume", .n = 2, .held = BZ_TRACE_ABSENT};
    bz_trace_event_restrict(&resume, 1);
    cr_assert(resume.n == 2);
}

/* What is notified is a condition; else events say nothing of what an object is. */
Test(trace, lists_the_objects_of_version_1) {
    struct bz_trace trace;
    char text[100];
    bz_trace_init(&trace);
    bz_trace_add_event(&trace,
                       (struct bz_trace_event){.event = "call", .op = "wait", .object = "a"});
    bz_trace_add_event(&trace,
                       (struct bz_trace_event){.event = "call", .op = "notify", .object = "b"});
    bz_trace_add_event(&trace,
                       (struct bz_trace_event){.event = "call", .op = "wait", .object = "b"});
    trace.verdict.object = "c";
    bz_trace_list_objects(&trace);
    bz_trace_list_objects(&trace);
    tst_text(bz_trace_object_text(&trace, 0, text, sizeof text), "object 1: a");
    tst_text(bz_trace_object_text(&trace, 1, text, sizeof text), "object 2: condition b");
    tst_text(bz_trace_object_text(&trace, 2, text, sizeof text), "object 3: c");
    tst_text(bz_trace_object_text(&trace, 3, text, sizeof text), "no object 4");
    cr_assert(bz_trace_find_object(&trace, "b") == 2 && bz_trace_find_object(&trace, "d") == 0);
    bz_trace_fini(&trace);
}

Test(trace, a_line_for_people) {
    struct bz_trace trace;
    char buffer[200];
    tst_sample(&trace);
    static const char *const events[] = {"worker-2 spawn by=worker-1",
                                         "worker-2 resume ok n=2",
                                         "worker-2 suspend future",
                                         "callback callback",
                                         "clock time_ns=9007199254740991",
                                         "worker-1 cancel acquire window=woken by=canceller",
                                         "worker-1 return acquire permits cancelled"};
    static const char *const choices[] = {"data canceller patience n=1 value=5 below=8",
                                          "next worker-2 n=2", "next callback n=1", "delay value=1",
                                          "cancel worker-1 window=woken n=3"};
    cr_assert(eq(sz, trace.event_count, sizeof events / sizeof events[0]));
    cr_assert(eq(sz, trace.choice_count, sizeof choices / sizeof choices[0]));
    for (size_t index = 0; index < trace.event_count; index++) {
        tst_text(bz_trace_event_text(&trace.events[index], buffer, sizeof buffer), events[index]);
    }
    for (size_t index = 0; index < trace.choice_count; index++) {
        tst_text(bz_trace_choice_text(&trace.choices[index], buffer, sizeof buffer),
                 choices[index]);
    }
    tst_text(bz_trace_object_text(&trace, 1, buffer, sizeof buffer),
             "object 2: items jobs size=0 order=lifo partner=room");
    memset(buffer, 'x', sizeof buffer);
    tst_text(bz_trace_event_text(&trace.events[1], buffer, 11), "worker-2 r");
    cr_assert(eq(chr, buffer[11], 'x'));
    bz_trace_event_text(&trace.events[1], buffer, 0);
    cr_assert(eq(chr, buffer[0], 'w'), "no room, nothing written");
    bz_trace_fini(&trace);
}

Test(trace, the_nearest_word) {
    tst_text(bz_vocabulary_nearest(&bz_vocabulary_window, "wokn"), "woken");
    tst_text(bz_vocabulary_nearest(&bz_vocabulary_window, "wait"), "waiting");
    tst_text(bz_vocabulary_nearest(&bz_vocabulary_choice, "cancle"), "cancel");
    cr_assert(eq(u32, bz_edit_distance("kitten", "sitting"), 3));
    cr_assert(eq(u32, bz_edit_distance("", "abc"), 3));
    cr_assert(eq(u32, bz_edit_distance("abc", "abc"), 0));
}
