/* The scenario `program`. Files are read strictly, and errors name their place. A drawn program
 * that is written and read again runs as before. Drawn programs find nothing on the primitives that
 * ship, and find the window bug. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "scenarios/program/script.h"
#include "scenarios/tests/seeds.h"
#include "sim/native/internal.h"
#include "sim/program/replay.h"
#include "sim/program/token.h"

#define SEEDS 20000u

/* Of every kind of object and every operation one. */
static const char everything[] =
    "{'format': 'buzzer-program/1', 'objects': ["
    "{'name': 'sem', 'kind': 'semaphore', 'permits': 0},"
    "{'name': 'max', 'kind': 'bounded', 'permits': 2}, {'name': 'lock', 'kind': 'lock'},"
    "{'name': 'flag', 'kind': 'event'}, {'name': 'cond', 'kind': 'condition'},"
    "{'name': 'meet', 'kind': 'barrier', 'parties': 2},"
    "{'name': 'jobs', 'kind': 'queue', 'maxsize': 1, 'order': 'lifo'},"
    "{'name': 'keys', 'kind': 'pool', 'keys': 2}], 'tasks': [{'name': 'a', 'ops': ["
    "{'op': 'yield'}, {'op': 'sleep', 'ns': 5}, {'op': 'cancel', 'task': 'b'},"
    "{'op': 'acquire', 'object': 'sem', 'within': 3}, {'op': 'post', 'object': 'sem'},"
    "{'op': 'release', 'object': 'sem'}, {'op': 'timeout', 'ns': 7, 'ops': ["
    "{'op': 'acquire', 'object': 'lock'}, {'op': 'acquire', 'object': 'max'}]},"
    "{'op': 'group', 'tasks': [[{'op': 'fail'}], [{'op': 'wait', 'object': 'meet'}], []]},"
    "{'op': 'set', 'object': 'flag'}, {'op': 'clear', 'object': 'flag'},"
    "{'op': 'acquire', 'object': 'cond'}, {'op': 'notify', 'object': 'cond', 'count': 2},"
    "{'op': 'notify-all', 'object': 'cond'}, {'op': 'wait', 'object': 'cond', 'within': 0},"
    "{'op': 'release', 'object': 'cond'}]}, {'name': 'b', 'ops': ["
    "{'op': 'put', 'object': 'jobs', 'priority': 4}, {'op': 'try-put', 'object': 'jobs'},"
    "{'op': 'get', 'object': 'jobs'}, {'op': 'try-get', 'object': 'jobs'},"
    "{'op': 'done', 'object': 'jobs'}, {'op': 'join', 'object': 'jobs', 'within': 2},"
    "{'op': 'wait', 'object': 'flag', 'within': 9},"
    "{'op': 'acquire', 'object': 'keys', 'key': 1},"
    "{'op': 'release', 'object': 'keys', 'key': 1}, {'op': 'abort', 'object': 'meet'},"
    "{'op': 'reset', 'object': 'meet'}, {'op': 'shutdown', 'object': 'jobs'},"
    "{'op': 'shutdown-now', 'object': 'jobs'}]}]}";

/* The operations that version 2 adds. */
static const char newer[] =
    "{'format': 'buzzer-program/2', 'objects': [{'name': 'lock', 'kind': 'lock', 'rank': 7},"
    "{'name': 'jobs', 'kind': 'queue', 'maxsize': 1}],"
    "'tasks': [{'name': 'a', 'ops': [{'op': 'yield'}]}, {'name': 'b', 'ops': ["
    "{'op': 'locked', 'object': 'lock'}, {'op': 'size', 'object': 'jobs'},"
    "{'op': 'finally', 'ops': [{'op': 'sleep', 'ns': 1}]},"
    "{'op': 'try-acquire', 'object': 'lock', 'within': 3},"
    "{'op': 'catch', 'ops': [{'op': 'fail'}]}, {'op': 'uncancel'},"
    "{'op': 'await', 'task': 'a', 'within': 4}, {'op': 'misuse', 'object': 'lock'},"
    "{'op': 'shield', 'task': 'a'}, {'op': 'spawn', 'ops': [{'op': 'yield'}]},"
    "{'op': 'gather', 'tasks': [[], [{'op': 'fail'}]]}, {'op': 'gather-all', 'tasks': []},"
    "{'op': 'steal', 'object': 'lock'}, {'op': 'wait-for', 'ns': 3, 'ops': [{'op': 'yield'}]},"
    "{'op': 'create-task', 'ops': [{'op': 'reschedule', 'ns': 1, 'count': 2}]},"
    "{'op': 'misuse', 'object': 'jobs'},"
    "{'op': 'group', 'tasks': [[]], 'ops': [{'op': 'yield'}, {'op': 'fail'}]},"
    "{'op': 'yield'}]}]}";

static bool read_script(struct bz_script *script, const char *text, char *error,
                        size_t error_bytes) {
    memset(script, 0, sizeof *script);
    return bz_script_read(script, &bz_variant_buzzer, tst_json(text), strlen(text), "x.json", error,
                          error_bytes);
}

static struct bz_program new_program(const struct bz_variant *variant) {
    return tst_program(&bz_scenario_program, variant, BZ_ORDER_ANY);
}

/* Each test is a process of its own, which has a folder of its own for the time of the test. */
struct folder {
    char path[64];
};

static struct folder enter_folder(void) {
    struct folder folder = {"/tmp/buzzer-program-XXXXXX"};
    cr_assert(mkdtemp(folder.path) != NULL);
    cr_assert_eq(chdir(folder.path), 0);
    return folder;
}

static void leave_folder(const struct folder *folder) {
    (void)unlink("x.json");
    cr_assert_eq(chdir("/"), 0);
    cr_assert_eq(rmdir(folder->path), 0);
}

static void write_file(const char *text) {
    FILE *file = fopen("x.json", "w");
    cr_assert(file != NULL);
    cr_assert(fputs(tst_json(text), file) >= 0);
    cr_assert_eq(fclose(file), 0);
}

/* A program from a file of this content. */
static struct bz_program program_of(const struct bz_variant *variant, const char *text) {
    struct bz_program program = new_program(variant);
    struct folder folder = enter_folder();
    char error[BZ_ERROR_BYTES] = "";
    write_file(text);
    cr_assert(bz_program_set(&program, "file", "x.json", error, sizeof error), "%s", error);
    leave_folder(&folder);
    return program;
}

/* --- files ------------------------------------------------------------------------------------ */

Test(program, a_file_with_everything_survives_writing_and_reading) {
    static const struct {
        const char *text;
        const char *format;
        uint32_t first, end; /* verbs that it uses */
        uint32_t objects, tasks, children;
    } files[] = {
        {everything, BZ_SCRIPT_FORMAT, 0, BZ_VERBS_OF_VERSION_1, BZ_SCRIPT_PRIMITIVES, 2, 3},
        {newer, BZ_SCRIPT_FORMAT_2, BZ_VERBS_OF_VERSION_1, BZ_VERB_COUNT, 2, 2, 6},
    };
    static struct bz_script first;
    static struct bz_script second;
    static char text[BZ_FILE_BYTES_MAX];
    for (size_t file = 0; file < 2; file++) {
        char error[BZ_ERROR_BYTES] = "";
        bool is_used[BZ_VERB_COUNT] = {false};
        cr_assert(read_script(&first, files[file].text, error, sizeof error), "%s", error);
        cr_assert_eq(first.object_count, files[file].objects);
        cr_assert_eq(first.task_count, files[file].tasks);
        cr_assert_eq(first.child_count, files[file].children);
        for (uint32_t index = 0; index < first.op_count; index++) {
            is_used[first.ops[index].verb] = true;
        }
        for (uint32_t verb = files[file].first; verb < files[file].end; verb++) {
            cr_assert(is_used[verb], "verb %u", verb);
        }
        size_t length = bz_script_print(&first, text, sizeof text);
        cr_assert_eq(strlen(text), length);
        cr_assert(strstr(text, files[file].format) != NULL);
        cr_assert(read_script(&second, text, error, sizeof error), "%s", error);
        cr_assert_eq(memcmp(&first, &second, sizeof first), 0, "%s", text);
    }
}

#define TWO_CONDITIONS(lock)                                                                       \
    "{'format': 'buzzer-program/2', 'objects': ["                                                  \
    "{'name': 'c', 'kind': 'condition'},"                                                          \
    "{'name': 'd', 'kind': 'condition', 'lock': '" lock "'}],"                                     \
    "'tasks': [{'name': 't', 'ops': []}]}"

Test(program, conditions_share_a_lock_where_the_variant_has_that) {
    static struct bz_script first;
    static struct bz_script second;
    static char text[BZ_FILE_BYTES_MAX];
    char error[BZ_ERROR_BYTES] = "";
    const char *file = TWO_CONDITIONS("c");
    cr_assert_not(read_script(&first, file, error, sizeof error));
    cr_assert(strstr(error, "a lock of its own") != NULL, "%s", error);
    memset(&first, 0, sizeof first);
    cr_assert(bz_script_read(&first, &bz_variant_asyncio_313, tst_json(file), strlen(file),
                             "x.json", error, sizeof error));
    cr_assert_eq(bz_script_lock_of(&first, 1), 0);
    size_t length = bz_script_print(&first, text, sizeof text);
    cr_assert(bz_script_read(&second, &bz_variant_asyncio_313, text, length, "x.json", error,
                             sizeof error));
    cr_assert_eq(memcmp(&first, &second, sizeof first), 0, "%s", text);
    file = TWO_CONDITIONS("d");
    memset(&first, 0, sizeof first);
    cr_assert_not(bz_script_read(&first, &bz_variant_asyncio_313, tst_json(file), strlen(file),
                                 "x.json", error, sizeof error));
    cr_assert(strstr(error, "objects[1]: \"lock\": there is no 'd'") != NULL, "%s", error);
}

Test(program, what_does_not_fit_is_cut_and_measured) {
    static struct bz_script script;
    char error[BZ_ERROR_BYTES] = "";
    char text[32];
    memset(text, 'x', sizeof text);
    cr_assert(read_script(&script, everything, error, sizeof error), "%s", error);
    size_t whole = bz_script_print(&script, NULL, 0);
    cr_assert_eq(bz_script_print(&script, text, 16), whole);
    cr_assert_eq(strlen(text), 15);
    cr_assert_eq(text[16], 'x');
}

#define FILE_OF(objects, tasks)                                                                    \
    "{'format': 'buzzer-program/1', 'objects': [" objects "], 'tasks': [" tasks "]}"
#define LOCK "{'name': 'l', 'kind': 'lock'}"
#define POOL "{'name': 'p', 'kind': 'pool', 'keys': 2}"
#define TASK(ops) "{'name': 't', 'ops': [" ops "]}"

Test(program, hostile_files_are_refused_with_their_place) {
    static const struct {
        const char *text;
        const char *error; /* some of it */
    } cases[] = {
        {"", "x.json"},
        {"[]", "must be an object"},
        {"{}", "\"format\" is missing"},
        {"{'format': 'buzzer-program/3', 'objects': [], 'tasks': []}", "buzzer-program/"},
        {FILE_OF("", TASK("{'op': 'uncancel'}")), "tasks[0].ops[0]: this needs \"format\""},
        {FILE_OF("", TASK("{'op': 'group', 'tasks': [], 'ops': []}")), "buzzer-program/2"},
        {FILE_OF("", ""), "at least one task"},
        {FILE_OF("7", TASK("")), "objects[0]: must be an object"},
        {FILE_OF(LOCK "," LOCK, TASK("")), "objects[1]: another object has the name 'l'"},
        {FILE_OF("{'name': 'L', 'kind': 'lock'}", TASK("")), "objects[0]: \"name\""},
        {FILE_OF("{'name': 'l', 'kind': 'loc'}", TASK("")), "did you mean 'lock'"},
        {FILE_OF("{'name': 'l', 'kind': 'deferred'}", TASK("")), "'deferred'"},
        {FILE_OF("{'name': 's', 'kind': 'semaphore'}", TASK("")), "\"permits\" is missing"},
        {FILE_OF("{'name': 's', 'kind': 'semaphore', 'permits': 1001}", TASK("")),
         "from 0 to 1000"},
        {FILE_OF("{'name': 's', 'kind': 'semaphore', 'permits': 0.5}", TASK("")), "from 0 to 1000"},
        {FILE_OF("{'name': 'b', 'kind': 'barrier', 'parties': 0}", TASK("")), "from 1"},
        {FILE_OF("{'name': 'l', 'kind': 'lock', 'permits': 1}", TASK("")),
         "has no member \"permits\""},
        {FILE_OF("{'name': 'l', 'kind': 'lock', 'rank': 1}", TASK("")), "buzzer-program/2"},
        {FILE_OF("", "{'name': 'child-1', 'ops': []}"), "tasks[0]: \"name\""},
        {FILE_OF("", TASK("") "," TASK("")), "tasks[1]: another task has the name 't'"},
        {FILE_OF("", TASK("{'op': 'yeild'}")), "tasks[0].ops[0]: \"op\""},
        {FILE_OF("", TASK("{'op': 'yield', 'ns': 1}")), "has no member \"ns\""},
        {FILE_OF("", TASK("{'op': 'sleep'}")), "\"ns\" is missing"},
        {FILE_OF("", TASK("{'op': 'sleep', 'ns': -1}")), "from 0 to 1000000000"},
        {FILE_OF("", TASK("{'op': 'cancel', 'task': 'u'}")), "there is no 'u'"},
        {FILE_OF(LOCK, TASK("{'op': 'acquire', 'object': 'm'}")), "there is no 'm'"},
        {FILE_OF(LOCK, TASK("{'op': 'put', 'object': 'l'}")), "it is a lock"},
        {FILE_OF(LOCK, TASK("{'op': 'acquire', 'object': 'l', 'key': 0}")),
         "has no member \"key\""},
        {FILE_OF(POOL, TASK("{'op': 'acquire', 'object': 'p'}")), "\"key\" is missing"},
        {FILE_OF(POOL, TASK("{'op': 'acquire', 'object': 'p', 'key': 2}")), "from 0 to 1"},
        {FILE_OF("", TASK("{'op': 'group', 'tasks': [[], 3]}")),
         "tasks[0].ops[0].tasks[1]: must be an array"},
        {FILE_OF("", TASK("{'op': 'timeout', 'ns': 1, 'ops': [{}]}")),
         "tasks[0].ops[0].ops[0]: \"op\" is missing"},
        {FILE_OF("", TASK("{'op': 'child'}")), "there is no 'child'"},
    };
    static struct bz_script script;
    for (size_t index = 0; index < sizeof cases / sizeof cases[0]; index++) {
        char error[BZ_ERROR_BYTES] = "";
        cr_assert_not(read_script(&script, cases[index].text, error, sizeof error), "case %zu",
                      index);
        cr_assert_eq(strncmp(error, "x.json", 6), 0, "case %zu: %s", index, error);
        cr_assert(strstr(error, cases[index].error) != NULL, "case %zu: %s", index, error);
    }
}

/* A file that is cut off anywhere is refused, and nothing worse. */
Test(program, every_beginning_of_a_file_is_refused) {
    static struct bz_script script;
    for (size_t length = 0; length + 1 < sizeof everything; length++) {
        char error[BZ_ERROR_BYTES] = "";
        memset(&script, 0, sizeof script);
        cr_assert_not(bz_script_read(&script, &bz_variant_buzzer, tst_json(everything), length,
                                     "x.json", error, sizeof error),
                      "%zu bytes", length);
        cr_assert_lt(0, strlen(error));
    }
}

/* A task with an operation so many times, and the text behind them as often. */
static bool is_accepted(uint32_t count, const char *op, const char *separator, const char *behind) {
    static struct bz_script script;
    static char text[BZ_FILE_BYTES_MAX];
    char error[BZ_ERROR_BYTES] = "";
    char *end = stpcpy(text, "{'format': 'buzzer-program/1', 'objects': [], 'tasks': "
                             "[{'name': 't', 'ops': [");
    for (uint32_t index = 0; index < count; index++) {
        end = stpcpy(stpcpy(end, index == 0 ? "" : separator), op);
    }
    for (uint32_t index = 0; index < count; index++) {
        end = stpcpy(end, behind);
    }
    strcpy(end, "]}]}");
    return read_script(&script, text, error, sizeof error);
}

/* One more than the limit, of operations and of their depth; the limit itself is accepted. */
Test(program, limits_are_limits) {
    static const char *const yields = "{'op': 'yield'}";
    static const char *const groups = "{'op': 'group', 'tasks': [[";
    cr_assert(is_accepted(BZ_SCRIPT_TASK_OPS_MAX, yields, ",", ""));
    cr_assert_not(is_accepted(BZ_SCRIPT_TASK_OPS_MAX + 1, yields, ",", ""));
    cr_assert(is_accepted(BZ_SCRIPT_DEPTH_MAX, groups, "", "]]}"));
    cr_assert_not(is_accepted(BZ_SCRIPT_DEPTH_MAX + 1, groups, "", "]]}"));
}

Test(program, what_the_variant_lacks_is_refused) {
    static struct bz_script script;
    char error[BZ_ERROR_BYTES] = "";
    cr_assert_not(bz_script_read(&script, &bz_variant_zoo_lock_woken_cancel, tst_json(everything),
                                 strlen(everything), "x.json", error, sizeof error));
    cr_assert(strstr(error, "zoo/lock-woken-cancel") != NULL, "%s", error);
}

/* The schema knows every word that the reader knows. */
Test(program, the_schema_lists_every_operation_and_kind) {
    static char schema[BZ_FILE_BYTES_MAX];
    char word[64];
    FILE *file = fopen(TST_SCENARIOS_FOLDER "/program/program.schema.json", "r");
    cr_assert(file != NULL);
    size_t length = fread(schema, 1, sizeof schema - 1, file);
    fclose(file);
    cr_assert_lt(0, length);
    for (uint32_t verb = 0; verb < BZ_VERB_COUNT; verb++) {
        if (bz_script_verbs[verb].name == NULL) {
            continue;
        }
        snprintf(word, sizeof word, "\"%s\"", bz_script_verbs[verb].name);
        cr_assert(strstr(schema, word) != NULL, "%s", word);
    }
    for (uint32_t primitive = 0; primitive < BZ_SCRIPT_PRIMITIVES; primitive++) {
        snprintf(word, sizeof word, "\"%s\"", bz_primitive_name((enum bz_primitive)primitive));
        cr_assert(strstr(schema, word) != NULL, "%s", word);
    }
}

/* --- the setting ------------------------------------------------------------------------------ */

static void expect_refused(const char *value, const char *part) {
    struct bz_program program = new_program(&bz_variant_buzzer);
    char error[BZ_ERROR_BYTES] = "";
    cr_assert_not(bz_program_set(&program, "file", value, error, sizeof error), "%s", value);
    cr_assert(strstr(error, part) != NULL, "%s: %s", value, error);
    cr_assert_eq(program.args.file_digest, 0);
}

Test(program, names_that_are_no_file_are_refused) {
    struct folder folder = enter_folder();
    static char huge[BZ_FILE_BYTES_MAX + 2];
    memset(huge, ' ', sizeof huge - 1);
    expect_refused("", "no name");
    expect_refused("x.json", "cannot be opened");
    expect_refused(".", "no regular file");
    expect_refused("a b.json", "letters");
    expect_refused("x.json:y", "letters");
    write_file(everything);
    expect_refused("x.json@12", "digest");
    expect_refused("x.json@0000000000000001", "has changed");
    write_file(huge);
    expect_refused("x.json", "larger than");
    struct bz_program other = tst_program(&bz_scenario_handoff, &bz_variant_buzzer, BZ_ORDER_ANY);
    char error[BZ_ERROR_BYTES] = "";
    cr_assert_not(bz_program_set(&other, "file", "x.json", error, sizeof error));
    leave_folder(&folder);
}

/* Token and trace name the content, and refuse another. */
Test(program, a_token_and_a_trace_hold_on_to_the_content) {
    struct folder folder = enter_folder();
    char error[BZ_ERROR_BYTES] = "";
    char token[BZ_TOKEN_BYTES];
    struct bz_program program = new_program(&bz_variant_buzzer);
    struct bz_program parsed;
    struct bz_replay_report report;
    struct bz_trace trace;
    uint64_t seed;
    uint64_t digest;
    write_file(everything);
    cr_assert(bz_program_set(&program, "file", "x.json", error, sizeof error), "%s", error);
    bz_trace_init(&trace);
    cr_assert(bz_record(&program, 7, &trace, &report));
    cr_assert_eq(report.result, BZ_REPLAY_MATCHED);
    bz_token_format(&program, 7, report.digest, token, sizeof token);
    cr_assert(bz_token_parse(token, &tst_catalog, &parsed, &seed, &digest, error, sizeof error),
              "%s", error);
    cr_assert_eq(parsed.args.file_digest, program.args.file_digest);
    cr_assert_eq(memcmp(parsed.args.file, program.args.file, sizeof program.args.file), 0);
    cr_assert(bz_trace_program(&trace, &tst_catalog, &parsed, error, sizeof error), "%s", error);
    cr_assert(bz_replay_trace(&trace, &parsed, &report, error, sizeof error), "%s", error);
    cr_assert_eq(report.result, BZ_REPLAY_MATCHED, "%s", report.got);
    write_file(FILE_OF("", TASK("{'op': 'yield'}")));
    cr_assert_not(bz_trace_program(&trace, &tst_catalog, &parsed, error, sizeof error));
    cr_assert(strstr(error, "has changed") != NULL, "%s", error);
    cr_assert_not(
        bz_token_parse(token, &tst_catalog, &parsed, &seed, &digest, error, sizeof error));
    bz_trace_fini(&trace);
    leave_folder(&folder);
}

/* --- runs ------------------------------------------------------------------------------------- */

static bool is_draw(const struct bz_trace_event *event) {
    return strcmp(event->event, "draw") == 0;
}

/* Of the same events, but for the draws. */
static void expect_same_run(const struct bz_trace *drawn, const struct bz_trace *again,
                            uint64_t seed) {
    size_t next = 0;
    for (size_t index = 0; index < drawn->event_count; index++) {
        if (is_draw(&drawn->events[index])) {
            continue;
        }
        cr_assert_lt(next, again->event_count, "seed %llu", (unsigned long long)seed);
        cr_assert(bz_trace_event_equal(&drawn->events[index], &again->events[next++]),
                  "seed %llu, event %zu", (unsigned long long)seed, index);
    }
    cr_assert_eq(next, again->event_count, "seed %llu", (unsigned long long)seed);
}

/* A drawn program, written out and read again, runs under the same seed as it did. */
Test(program, a_drawn_program_runs_from_its_file_as_before) {
    static char text[BZ_FILE_BYTES_MAX];
    struct folder folder = enter_folder();
    char error[BZ_ERROR_BYTES] = "";
    uint64_t violations = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct bz_program program =
            new_program(seed % 2 == 0 ? &bz_variant_buzzer : &bz_variant_zoo_sem_woken_cancel);
        struct bz_replay_report drawn_report;
        struct bz_replay_report report;
        struct bz_trace drawn;
        struct bz_trace again;
        size_t length;
        bz_trace_init(&drawn);
        bz_trace_init(&again);
        cr_assert(bz_record(&program, seed, &drawn, &drawn_report));
        cr_assert(bz_trace_print_program(&drawn, &program, text, sizeof text, &length, error,
                                         sizeof error),
                  "%s", error);
        cr_assert_lt(length, sizeof text);
        write_file(text);
        cr_assert(bz_program_set(&program, "file", "x.json", error, sizeof error), "%s", error);
        cr_assert(bz_record(&program, seed, &again, &report));
        expect_same_run(&drawn, &again, seed);
        violations += report.violation.oracle != NULL;
        bz_trace_fini(&drawn);
        bz_trace_fini(&again);
    }
    cr_assert_lt(0, violations, "only runs that pass were compared");
    leave_folder(&folder);
}

/* The most ordinary tape is the simplest program. */
Test(program, with_nothing_drawn_nothing_is_done) {
    struct bz_program program = new_program(&bz_variant_buzzer);
    struct bz_tape tape;
    static char text[BZ_FILE_BYTES_MAX];
    bz_tape_init(&tape, NULL);
    program.strategy = &bz_strategy_fifo;
    struct bz_world *world = bz_program_new_world(&program);
    cr_assert_not_null(world);
    bz_judge_begin(world->judge, &(struct bz_run_start){.seed = 0});
    bz_world_begin(world);
    void *state = bz_scenario_program.setup(world, &program.args);
    bz_scenario_program.file->print(state, text, sizeof text);
    bz_world_run(world);
    cr_assert_eq(bz_judge_verdict(world->judge), BZ_RUN_PASSED);
    cr_assert(strstr(text, "\"op\"") == NULL, "%s", text);
    cr_assert(strstr(text, "\"name\": \"task-4\"") != NULL, "%s", text);
    bz_world_destroy(world);
    bz_tape_fini(&tape);
}

/* A file can deadlock, and is told so. */
Test(program, a_deadlock_in_a_file_is_found) {
    struct bz_program program =
        program_of(&bz_variant_buzzer, FILE_OF("{'name': 'e', 'kind': 'event'}",
                                               TASK("{'op': 'wait', 'object': 'e'}")));
    program.cancel_windows = BZ_WINDOWS_NONE;
    (void)tst_expect_found(&program, 1, "deadlock");
}

/* A permit that was acquired inside a timeout that ends early is given back there: otherwise the
 * second acquire of the lock would wait for its own task. */
Test(program, a_timeout_gives_back_what_was_acquired_inside) {
    struct bz_program program =
        program_of(&bz_variant_buzzer, FILE_OF(LOCK, TASK("{'op': 'timeout', 'ns': 5, 'ops': ["
                                                          "{'op': 'acquire', 'object': 'l'},"
                                                          "{'op': 'sleep', 'ns': 10},"
                                                          "{'op': 'release', 'object': 'l'}]},"
                                                          "{'op': 'acquire', 'object': 'l'}")));
    tst_expect_silence(&program, 1000);
}

/* Runs one task `t` without a cancel. Returns when its last step was, and whether a task "child-1"
 * was there. */
static uint64_t end_of(const struct bz_variant *variant, const char *text, bool *has_child) {
    struct bz_program program = program_of(variant, text);
    struct bz_replay_report report;
    struct bz_trace trace;
    uint64_t last_ns = UINT64_MAX;
    program.strategy = &bz_strategy_fifo;
    program.cancel_windows = BZ_WINDOWS_NONE;
    bz_trace_init(&trace);
    cr_assert(bz_record(&program, 0, &trace, &report));
    cr_assert_null((void *)report.violation.oracle);
    *has_child = false;
    for (size_t index = 0; index < trace.event_count; index++) {
        const struct bz_trace_event *event = &trace.events[index];
        const char *task = event->task != NULL ? event->task : ""; /* none: the loop */
        bool is_step = strcmp(task, "t") == 0 && strcmp(event->event, "resume") == 0;
        last_ns = is_step ? event->time_ns : last_ns;
        *has_child |= strcmp(task, "child-1") == 0;
    }
    bz_trace_fini(&trace);
    return last_ns;
}

#define NEW_FILE_OF(ops) "{'format': 'buzzer-program/2', 'objects': [], 'tasks': [" TASK(ops) "]}"
#define CHILDREN                                                                                   \
    "'tasks': [[{'op': 'sleep', 'ns': 2}, {'op': 'fail'}], [{'op': 'sleep', "                      \
    "'ns': 9}]]"

/* A gather ends with the first child that fails, a gather-all with the last. */
Test(program, a_gather_ends_with_the_first_failure) {
    bool has_child;
    cr_assert_eq(
        end_of(&bz_variant_buzzer, NEW_FILE_OF("{'op': 'gather', " CHILDREN "}"), &has_child), 2);
    cr_assert(has_child);
    cr_assert_eq(
        end_of(&bz_variant_buzzer, NEW_FILE_OF("{'op': 'gather-all', " CHILDREN "}"), &has_child),
        9);
}

/* The rule of the runtime; a timeout that has expired goes on. */
Test(program, wait_for_runs_a_task_in_asyncio_311_alone) {
    static const char text[] = NEW_FILE_OF("{'op': 'wait-for', 'ns': 3, 'ops': ["
                                           "{'op': 'sleep', 'ns': 7}]}");
    const struct bz_variant *const variants[] = {&bz_variant_asyncio_311, &bz_variant_asyncio_313,
                                                 &bz_variant_buzzer};
    for (int index = 0; index < 3; index++) {
        bool has_child;
        cr_assert_eq(end_of(variants[index], text, &has_child), 3);
        cr_assert_eq(has_child, index == 0);
    }
}

Test(program, drawn_ones_are_silent_on_what_ships) {
    for (uint32_t index = 0; index < bz_scenario_program.primitive_count; index++) {
        char settings[64];
        snprintf(settings, sizeof settings, "primitive=%s",
                 bz_primitive_name(bz_scenario_program.primitives[index]));
        tst_expect_silence_with(&bz_scenario_program, &bz_variant_buzzer, settings, SEEDS / 4);
    }
}

Test(program, large_ones_are_silent_too) {
    struct bz_program program = new_program(&bz_variant_buzzer);
    for (uint32_t index = 0; bz_scenario_program.params[index].name != NULL; index++) {
        if (strcmp(bz_scenario_program.params[index].name, "ns") != 0) {
            program.args.values[index] = bz_scenario_program.params[index].most;
        }
    }
    tst_expect_silence(&program, SEEDS / 4);
}

Test(program, drawn_ones_find_the_window_bug) {
    tst_expect_found_with(&bz_scenario_program, &bz_variant_zoo_lock_woken_cancel, NULL, SEEDS / 2,
                          "lost-wakeup");
    tst_expect_found_with(&bz_scenario_program, &bz_variant_zoo_sem_woken_cancel, NULL, SEEDS / 2,
                          "lost-wakeup");
}
