/* Untrusted input: whatever the file says, the answer is a message. Run under the sanitizers. */
#include "traces/tests/sample.h"

#define GOLDEN TST_TRACES_FOLDER "/tests/golden.json"

/* In an exact block, so that a sanitizer sees the first byte behind it. */
static bool parses(const char *text, size_t length, char error[BZ_TRACE_ERROR_BYTES]) {
    struct bz_trace trace;
    char *exact = malloc(length == 0 ? 1 : length);
    memcpy(exact, text, length);
    error[0] = '\0';
    bool is_read = bz_trace_parse(&trace, exact, length, "f", error, BZ_TRACE_ERROR_BYTES);
    cr_assert_eq(error[0] == '\0', is_read, "a refusal, and only that, has a message");
    for (const char *at = error; *at != '\0'; at++) {
        cr_assert_eq(*at == '\n' || *at == '\x1b', 0, "the message is safe to print");
    }
    bz_trace_fini(&trace);
    free(exact);
    return is_read;
}

Test(hostile, cut_off_at_every_byte) {
    size_t length;
    char error[BZ_TRACE_ERROR_BYTES];
    char *golden = tst_read_file(GOLDEN, &length);
    for (size_t kept = 0; kept < length; kept++) {
        bool is_whole = kept == length - 1; /* all but the last newline */
        cr_assert_eq(parses(golden, kept, error), is_whole, "%zu bytes: %s", kept, error);
    }
    free(golden);
}

/* A text of the golden file, its replacement, and a part of the expected message. */
struct edit {
    const char *old;
    const char *new;
    const char *message; /* NULL: it is still a trace */
};

static const struct edit edits[] = {
    {"buzzer-trace/2", "buzzer-trace/3", "f: format: is \"buzzer-trace/3\""},
    {"buzzer-trace/2", "buzzer-trace/1", NULL},
    {"\"buzzer-trace/2\"", "1", "f: format: this is not a trace"},
    {"\"engine\": \"buzzer 0.1.0\",", "", "f: engine: this key is missing"},
    {"\"buzzer 0.1.0\"", "\"something else\"", NULL},
    {"\"strategy\":", "\"later-version\": {\"a\":[1]}, \"strategy\":", NULL},
    {"\"strategy\":", "\"order\": 1, \"strategy\":", "f:8:3: the key \"order\" appears twice"},
    {"\"contended\"", "\"\"", "f: scenario: must have 1 to 128 bytes, and has 0"},
    {"\"contended\"", "null", "f: scenario: must be a string"},
    {"\"contended\"", "\"../../etc\"", NULL},
    {"zoo/sem", "\\u001b[2Jsem", "f: variant: contains the control character U+001B"},
    {"zoo/sem", "\xc2\x9bsem", "f: variant: contains the control character U+009B"},
    {"zoo/sem", "\x7fsem", "f: variant: contains the control character U+007F"},
    {"\"workers\": \"3\"", "\"workers\": 3", "f: params.workers: must be a string"},
    {"\"workers\": \"3\"", "\"wor kers\": \"3\"", "f: params.wor kers: a param's name is"},
    {"\"workers\": \"3\"", "\"\": \"3\"", "f: params: a param without a name"},
    {"\"any\"", "\"ane\"",
     "f: order: unknown loop order \"ane\"; did you mean \"any\"? (the file is of \"buzzer "
     "0.1.0\")"},
    {"0xfedcba9876543210", "fedcba9876543210", "f: seed: must be a string of \"0x\""},
    {"0xfedcba9876543210", "0x", "f: seed: must be"},
    {"0xfedcba9876543210", "0x10000000000000000", "f: seed: must be"},
    {"0xfedcba9876543210", "0x-1", "f: seed: must be"},
    {"0xfedcba9876543210", "0x0x1", "f: seed: must be"},
    {"\"0xfedcba9876543210\"", "1", "f: seed: must be"},
    {"0xfedcba9876543210", "0xF", NULL},
    {"00000000000000af", "af", "f: digest: must be a string of 16 hexadecimal digits"},
    {"\"worker-1\",\n", "\"worker-2\",\n", "f: tasks[1]: the name \"worker-2\" appears twice"},
    {"\"worker-1\",\n", "{},\n", "f: tasks[0]: must be a string"},
    {"\"objects\"", "\"things\"", "f: objects: this key is missing"},
    {"\"room\",\"kind\"", "\"permits\",\"kind\"",
     "f: objects[2]: the name \"permits\" appears twice"},
    {"\"partner\":\"jobs\"", "\"partner\":\"job\"",
     "f: objects[2]: \"objects\" does not list \"job\""},
    {"\"object\":\"permits\",\"status\"", "\"object\":\"p\",\"status\"",
     "f: events[6]: \"objects\" does not list \"p\"; add it"},
    {"\"object\":\"permits\",\"message\"", "\"object\":\"p\",\"message\"",
     "f: verdict.object: \"objects\" does not list \"p\""},
    {"\"slots\"", "\"slot\"",
     "f: objects[2].kind: unknown kind of object \"slot\"; did you mean \"slots\"?"},
    {"\"lifo\"", "\"lefo\"", "f: objects[1].order: unknown order of a queue"},
    {"\"held\":3", "\"held\":-3", "f: events[6].held: must be a whole number"},
    {"{\"step\":6,\"kind\":\"delay\",\"value\":1}", "[]", "f: choices[3]: must be an object"},
    {"\"delay\"", "\"dealy\"",
     "f: choices[3].kind: unknown kind of choice \"dealy\"; did you mean "
     "\"delay\"?"},
    {"\"kind\":\"delay\",", "", "f: choices[3]: the key \"kind\" is missing"},
    {"\"step\":6", "\"stepp\":6", "f: choices[3]: unknown key \"stepp\"; did you mean \"step\"?"},
    {"\"step\":6", "\"step\":-6", "f: choices[3].step: must be a whole number"},
    {"\"step\":6", "\"step\":6.5", "f: choices[3].step: must be a whole number"},
    {"\"step\":6", "\"step\":1e99", "f: choices[3].step: must be a whole number"},
    {"\"step\":6", "\"step\":9007199254740992", "f: choices[3].step: must be a whole number"},
    {"\"step\":6", "\"step\":\"6\"", "f: choices[3].step: must be a whole number"},
    {"\"step\":6", "\"step\":6,\"step\":7", "f:25:15: the key \"step\" appears twice"},
    {"\"task\":\"worker-1\",\"window\"", "\"task\":3,\"window\"", "f: choices[4].task: must be a "},
    {"\"window\":\"woken\",\"n\"", "\"window\":\"wokn\",\"n\"",
     "f: choices[4].window: unknown window \"wokn\"; did you mean \"woken\"?"},
    {"\"wait\":\"future\"", "\"wait\":\"past\"", "f: events[2].wait: unknown kind of wait"},
    {"\"resume\"", "\"\\u001b[31m\"", "f: events[1].event: unknown kind of event \"?[31m\""},
    {"\"status\":\"ok\"", "\"\\u00e9\":\"ok\"", "f:30:63: an escape in a key"},
    {"\"status\":\"ok\"", "\"st\xc2\x9b\":\"ok\"", "f: events[1]: unknown key \"st?\""},
    {"\"status\":\"ok\"", "\"status\":true", "f: events[1].status: must be a string"},
    {"\"oracle\":\"fifo\",", "", "f: verdict: a violation must say which"},
    {"\"violation\"", "\"pass\"", "f: verdict: only a violation has an"},
    {"\"violation\"", "\"cut\"", "f: verdict: only a violation has an"},
    {"\"violation\"", "\"error\"", "f: verdict.result: unknown result \"error\""},
    {"\"events\": [", "\"events\": 7, \"x\": [", "f: events: must be an array"},
    {"\"params\": {", "\"params\": 7, \"x\": {", "f: params: must be an object"},
    {"\"verdict\":", "\"verdickt\":", "f: verdict: this key is missing"},
    {"\"format\"", "\"FORMAT\"", "f: format: this is not a trace"},
};

Test(hostile, every_field_has_a_message) {
    size_t length;
    char error[BZ_TRACE_ERROR_BYTES];
    char *golden = tst_read_file(GOLDEN, &length);
    char *edited = malloc(length + 200);
    for (size_t index = 0; index < sizeof edits / sizeof edits[0]; index++) {
        const struct edit *edit = &edits[index];
        const char *place = strstr(golden, edit->old);
        cr_assert_not_null((void *)place, "case %zu fits nowhere", index);
        int count = sprintf(edited, "%.*s%s%s", (int)(place - golden), golden, edit->new,
                            place + strlen(edit->old));
        bool is_read = parses(edited, (size_t)count, error);
        cr_assert_eq(is_read, edit->message == NULL, "case %zu: %s", index, error);
        if (edit->message != NULL) {
            cr_assert_eq(strncmp(error, edit->message, strlen(edit->message)), 0,
                         "case %zu says: %s", index, error);
        }
    }
    free(edited);
    free(golden);
}

/* A value of a few bytes becomes a node of a hundred: an array is refused where it gets too long,
 * before anything is built. */
Test(hostile, a_large_array_is_refused_before_it_is_read) {
    enum { BYTES = 16 << 20 };
    static const char head[] = "{\"format\":\"buzzer-trace/2\",\"events\":";
    char error[BZ_TRACE_ERROR_BYTES];
    char *text = malloc(BYTES);
    for (size_t at = 0; at < BYTES; at += 2) {
        memcpy(text + at, "0,", 2);
    }
    text[0] = '[';
    text[BYTES - 1] = ']';
    cr_assert_not(parses(text, BYTES, error));
    tst_text(error, "f: 1:1: this is not a trace: it should be an object, {...}");
    memcpy(text, head, sizeof head - 1);
    text[sizeof head - 1] = '[';
    text[sizeof head] = ' ';
    text[BYTES - 2] = ']';
    text[BYTES - 1] = '}';
    cr_assert_not(parses(text, BYTES, error));
    unsigned column = 0;
    cr_assert_eq(sscanf(error, "f:1:%u: an array of more than 1048576 elements", &column), 1);
    cr_assert_lt(column, BYTES / 4, "%s", error);
    free(text);
}

Test(hostile, a_message_is_cut_to_its_buffer) {
    struct bz_trace trace;
    char error[24];
    memset(error, 'x', sizeof error);
    cr_assert_not(bz_trace_parse(&trace, "{}", 2, "name", error, 10));
    tst_text(error, "name: for");
    cr_assert_eq(error[10], 'x');
    cr_assert_not(bz_trace_parse(&trace, "{", 1, "name", error, 5));
    tst_text(error, "name");
}

/* Counts and lengths: the last that is taken, and the first that is not. */
static bool takes(struct bz_trace *trace, const char *message) {
    char error[BZ_TRACE_ERROR_BYTES];
    char *text = bz_trace_print(trace);
    bool is_read = parses(text, strlen(text), error);
    cr_assert_not_null(strstr(error, is_read ? "" : message), "%s", error);
    free(text);
    return is_read;
}

Test(hostile, names_and_params_have_limits) {
    char name[BZ_TRACE_NAME_BYTES_MAX + 2] = "";
    struct bz_trace trace;
    tst_sample(&trace);
    memset(name, 'n', BZ_TRACE_NAME_BYTES_MAX);
    trace.scenario = name;
    cr_assert(takes(&trace, ""));
    name[BZ_TRACE_NAME_BYTES_MAX] = 'n';
    cr_assert_not(takes(&trace, "scenario: must have 1 to 128 bytes, and has 129"));
    trace.scenario = "s";
    for (unsigned param = 2; param < BZ_TRACE_PARAMS_MAX; param++) {
        snprintf(name, sizeof name, "p%u", param);
        bz_trace_add_param(&trace, name, "1");
    }
    cr_assert(takes(&trace, ""));
    bz_trace_add_param(&trace, "one-more", "1");
    cr_assert_not(takes(&trace, "params.one-more: more than 64 params"));
    bz_trace_fini(&trace);
}

Test(hostile, tasks_and_objects_have_a_limit) {
    char name[32];
    struct bz_trace trace;
    tst_sample(&trace);
    while (trace.task_count < BZ_TRACE_TASKS_MAX) {
        snprintf(name, sizeof name, "t%zu", trace.task_count);
        bz_trace_add_task(&trace, name);
    }
    cr_assert(takes(&trace, ""));
    bz_trace_add_task(&trace, "one more");
    cr_assert_not(takes(&trace, "tasks[100000]: more than 100000 tasks"));
    trace.task_count = 1;
    while (trace.object_count < BZ_TRACE_OBJECTS_MAX) {
        snprintf(name, sizeof name, "o%zu", trace.object_count);
        bz_trace_add_object(&trace, (struct bz_trace_object){.name = name, .kind = "lock"});
    }
    cr_assert(takes(&trace, ""));
    bz_trace_add_object(&trace, (struct bz_trace_object){.name = "one more", .kind = "lock"});
    cr_assert_not(takes(&trace, "objects[100000]: more than 100000 objects"));
    bz_trace_fini(&trace);
}

/* Spliced, because printing a million choices takes far longer than refusing them. */
Test(hostile, choices_have_a_limit) {
    static const char key[] = "\"choices\": [";
    enum { LARGE = 2 * BZ_TRACE_CHOICES_MAX };
    char error[BZ_TRACE_ERROR_BYTES];
    size_t length;
    char *golden = tst_read_file(GOLDEN, &length);
    char *place = strstr(golden, key) + sizeof key - 1;
    size_t head = (size_t)(place - golden);
    char *text = malloc(LARGE + length);
    memcpy(text, golden, head);
    for (size_t at = 0; at < LARGE; at += 2) {
        memcpy(text + head + at, "0,", 2);
    }
    memcpy(text + head + LARGE, place, length - head);
    cr_assert_not(parses(text, LARGE + length, error));
    tst_text(error, "f: choices[1000000]: more than 1000000 choices");
    free(text);
    free(golden);
}
