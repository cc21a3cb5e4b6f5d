/* Files: round trip, the golden bytes, what is refused, and what a failed write leaves. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "traces/tests/sample.h"
#include "traces/text.h"

#define GOLDEN TST_TRACES_FOLDER "/tests/golden.json"

/* A folder of its own for each test. */
struct folder {
    char path[64];
};

static void folder_make(struct folder *folder) {
    snprintf(folder->path, sizeof folder->path, "/tmp/buzzer-traces-XXXXXX");
    cr_assert_not_null(mkdtemp(folder->path));
}

static const char *in(const struct folder *folder, const char *name, char buffer[128]) {
    snprintf(buffer, 128, "%s/%s", folder->path, name);
    return buffer;
}

/* Removes the folder, which must hold `expected` files. */
static void folder_end(struct folder *folder, unsigned expected) {
    DIR *list = opendir(folder->path);
    unsigned count = 0;
    for (struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list)) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder->path, entry->d_name);
        if (entry->d_name[0] != '.') {
            count++;
            remove(path);
        }
    }
    closedir(list);
    rmdir(folder->path);
    cr_assert_eq(count, expected, "files that were left behind");
}

static void expect_same(const struct bz_trace *a, const struct bz_trace *b) {
    char *left = bz_trace_print(a);
    char *right = bz_trace_print(b);
    tst_text(left, right);
    cr_assert_eq(a->event_count, b->event_count);
    for (size_t index = 0; index < a->event_count; index++) {
        cr_assert(bz_trace_event_equal(&a->events[index], &b->events[index]), "event %zu", index);
    }
    cr_assert_eq(a->seed, b->seed);
    cr_assert_eq(a->digest, b->digest);
    cr_assert_eq(a->choice_count, b->choice_count);
    cr_assert_eq(a->param_count, b->param_count);
    cr_assert_eq(a->task_count, b->task_count);
    cr_assert_eq(a->object_count, b->object_count);
    free(left);
    free(right);
}

Test(file, golden_bytes) {
    struct bz_trace trace;
    size_t length;
    tst_sample(&trace);
    char *golden = tst_read_file(GOLDEN, &length);
    char *printed = bz_trace_print(&trace);
    tst_text(printed, golden);
    bz_trace_fini(&trace);
    free(printed);
    free(golden);
}

/* A file of version 1 is written as it was read, and its seal holds. */
Test(file, version_1) {
    struct bz_trace trace;
    size_t length;
    char error[BZ_TRACE_ERROR_BYTES] = "";
    cr_assert(bz_trace_read(&trace, TST_TRACES_FOLDER "/tests/golden-1.json", error, sizeof error),
              "%s", error);
    char *golden = tst_read_file(TST_TRACES_FOLDER "/tests/golden-1.json", &length);
    char *printed = bz_trace_print(&trace);
    tst_text(printed, golden);
    cr_assert_eq(bz_trace_seal(&trace), BZ_TRACE_WHOLE);
    cr_assert_eq(trace.version, 1);
    cr_assert_eq(trace.object_count, 1, "what the events name");
    tst_text(trace.objects[0].name, "permits");
    cr_assert_null(trace.objects[0].kind, "and nothing is guessed");
    bz_trace_fini(&trace);
    free(printed);
    free(golden);
}

/* The golden file with `old` replaced: how its checksum judges it. */
static enum bz_trace_seal seal_of(const char *old, const char *new) {
    size_t length;
    char error[BZ_TRACE_ERROR_BYTES] = "";
    struct bz_trace trace;
    char *golden = tst_read_file(GOLDEN, &length);
    char *edited = malloc(length + strlen(new) + 1);
    const char *place = strstr(golden, old);
    cr_assert_not_null((void *)place, "%s", old);
    int bytes =
        sprintf(edited, "%.*s%s%s", (int)(place - golden), golden, new, place + strlen(old));
    cr_assert(bz_trace_parse(&trace, edited, (size_t)bytes, "f", error, sizeof error), "%s", error);
    enum bz_trace_seal seal = bz_trace_seal(&trace);
    bz_trace_fini(&trace);
    free(edited);
    free(golden);
    return seal;
}

Test(file, knows_whether_it_was_edited) {
    cr_assert_eq(seal_of("{", "{"), BZ_TRACE_WHOLE);
    cr_assert_eq(seal_of("\"format\": ", "\n\n\"other\": 7, \"format\":"), BZ_TRACE_WHOLE);
    cr_assert_eq(seal_of("af\",\n  \"checksum\": ", "af\", \"other\": "), BZ_TRACE_UNSEALED);
    static const char *const edits[][2] = {{"buzzer 0.1.0", "buzzer 0.0.9"},
                                           {"{\"step\":6,\"kind\":\"delay\",\"value\":1},", ""},
                                           {"\"time_ns\":0", "\"time_ns\":1"},
                                           {"was overtaken", "was taken over"},
                                           {"00000000000000af", "00000000000000ae"}};
    for (size_t index = 0; index < sizeof edits / sizeof edits[0]; index++) {
        cr_assert_eq(seal_of(edits[index][0], edits[index][1]), BZ_TRACE_EDITED, "%s",
                     edits[index][0]);
    }
}

Test(file, round_trip) {
    struct folder folder;
    char path[128];
    char error[BZ_TRACE_ERROR_BYTES] = "";
    struct bz_trace trace;
    struct bz_trace back;
    folder_make(&folder);
    in(&folder, "trace.json", path);
    tst_sample(&trace);
    for (unsigned round = 0; round < 2; round++) { /* the second replaces the first */
        cr_assert(bz_trace_write(&trace, path, error, sizeof error), "%s", error);
        cr_assert(bz_trace_read(&back, path, error, sizeof error), "%s", error);
        expect_same(&trace, &back);
        tst_text(back.choices[2].role, "callback");
        cr_assert_eq(back.choices[1].value, BZ_TRACE_ABSENT);
        cr_assert_eq(back.events[4].time_ns, BZ_TRACE_NUMBER_MAX);
        tst_text(back.params[1].name, "primitive");
        tst_text(back.verdict.message, trace.verdict.message);
        bz_trace_fini(&back);
        trace.seed = round;
    }
    bz_trace_fini(&trace);
    folder_end(&folder, 1);
}

Test(file, an_empty_run_is_a_trace) {
    struct bz_trace trace;
    struct bz_trace back;
    char error[BZ_TRACE_ERROR_BYTES] = "";
    bz_trace_init(&trace);
    trace.engine = trace.scenario = trace.variant = trace.strategy = "x";
    trace.order = "fifo";
    trace.cancel = "none";
    trace.verdict.result = "pass";
    char *text = bz_trace_print(&trace);
    cr_assert(bz_trace_parse(&back, text, strlen(text), "f", error, sizeof error), "%s", error);
    expect_same(&trace, &back);
    cr_assert_not_null(strstr(text, "\"events\": [],\n"));
    bz_trace_fini(&back);
    bz_trace_fini(&trace);
    free(text);
}

static void expect_refused(const char *path, const char *reason) {
    struct bz_trace trace;
    char error[BZ_TRACE_ERROR_BYTES] = "";
    cr_assert_not(bz_trace_read(&trace, path, error, sizeof error), "%s was read", path);
    cr_assert_eq(strncmp(error, path, strlen(path)), 0, "the message is: %s", error);
    cr_assert_not_null(strstr(error, reason), "the message is: %s", error);
    cr_assert_eq(trace.event_count, 0);
    cr_assert_null(trace.chunks, "the trace is empty");
}

Test(file, only_regular_files_are_read, .timeout = 20) {
    struct folder folder;
    char path[128];
    folder_make(&folder);
    expect_refused(folder.path, "is a folder");
    expect_refused("/dev/zero", "a device or a pipe");
    expect_refused(in(&folder, "missing.json", path), "No such file");
    cr_assert_eq(mkfifo(in(&folder, "fifo", path), 0600), 0);
    expect_refused(path, "a device or a pipe");
    fclose(fopen(in(&folder, "empty.json", path), "w"));
    expect_refused(path, "empty");
    cr_assert_eq(truncate(path, (off_t)BZ_TRACE_BYTES_MAX + 1), 0);
    expect_refused(path, "larger than 64 MiB");
    cr_assert_eq(truncate(path, 1000), 0);
    expect_refused(path, ":1:1: byte 0x00 stands where a value");
    cr_assert_eq(chmod(path, 0), 0);
    if (geteuid() != 0) { /* root may read everything */
        expect_refused(path, "Permission denied");
    }
    folder_end(&folder, 2);
}

static void expect_unwritten(const struct bz_trace *trace, const char *path, const char *reason) {
    char error[BZ_TRACE_ERROR_BYTES] = "";
    cr_assert_not(bz_trace_write(trace, path, error, sizeof error), "%s was written", path);
    cr_assert_eq(strncmp(error, path, strlen(path)), 0, "the message is: %s", error);
    cr_assert_not_null(strstr(error, reason), "the message is: %s", error);
}

Test(file, a_failed_write_leaves_all_as_it_was) {
    struct folder folder;
    char path[128];
    char other[128];
    size_t length;
    struct bz_trace trace;
    tst_sample(&trace);
    folder_make(&folder);
    FILE *file = fopen(in(&folder, "old.json", path), "w");
    fputs("old", file);
    fclose(file);
    expect_unwritten(&trace, in(&folder, "no/such/folder.json", other), "No such file");
    expect_unwritten(&trace, folder.path, "is a folder");
    expect_unwritten(&trace, "/dev/full", "No space left");
    struct rlimit limit = {.rlim_cur = 100, .rlim_max = RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    expect_unwritten(&trace, path, "File too large");
    limit.rlim_cur = RLIM_INFINITY;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    trace.verdict.oracle = NULL;
    expect_unwritten(&trace, path, "verdict: a violation must say");
    char *text = tst_read_file(path, &length);
    tst_text(text, "old");
    free(text);
    bz_trace_fini(&trace);
    folder_end(&folder, 1);
}

/* A device or a pipe is written to, and stays what it is. */
Test(file, a_stream_is_written_to) {
    struct folder folder;
    char path[128];
    char error[BZ_TRACE_ERROR_BYTES] = "";
    char text[16] = "";
    struct stat status;
    struct bz_trace trace;
    tst_sample(&trace);
    cr_assert(bz_file_is_stream("/dev/null"));
    cr_assert(bz_trace_write(&trace, "/dev/null", error, sizeof error), "%s", error);
    cr_assert(stat("/dev/null", &status) == 0 && S_ISCHR(status.st_mode));
    folder_make(&folder);
    in(&folder, "pipe", path);
    cr_assert_eq(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    cr_assert(bz_file_is_stream(path) && bz_file_put(path, "text", 4));
    cr_assert_eq((int)read(reader, text, sizeof text), 4);
    tst_text(text, "text");
    close(reader);
    cr_assert(stat(path, &status) == 0 && S_ISFIFO(status.st_mode));
    cr_assert_not(bz_file_is_stream(in(&folder, "new", path)));
    cr_assert_not(bz_file_is_stream(folder.path));
    unlink(in(&folder, "pipe", path));
    bz_trace_fini(&trace);
    folder_end(&folder, 0);
}

/* A temporary file of another writer, or of one that died, is not touched. */
Test(file, other_temporary_files_are_respected) {
    struct folder folder;
    char path[128];
    char other[128];
    char error[BZ_TRACE_ERROR_BYTES] = "";
    size_t length;
    struct bz_trace trace;
    tst_sample(&trace);
    folder_make(&folder);
    cr_assert_eq(symlink("/dev/null", in(&folder, "t.json.tmp-0", other)), 0);
    FILE *file = fopen(in(&folder, "t.json.tmp-1", other), "w");
    fputs("theirs", file);
    fclose(file);
    cr_assert(bz_trace_write(&trace, in(&folder, "t.json", path), error, sizeof error), "%s",
              error);
    char *text = tst_read_file(other, &length);
    tst_text(text, "theirs");
    free(text);
    bz_trace_fini(&trace);
    folder_end(&folder, 3);
}
