#include "tools/commands/debug_run.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/judge/inspect.h"
#include "sim/native/inspect.h"
#include "tools/cli/cli.h"
#include "tools/cli/embedded.h"
#include "tools/cli/watchdog.h"
#include "tools/plugin/plugins.h"
#include "traces/text.h"

/* --- in the program that gdb runs ------------------------------------------------------------- */

/* gdb reads these where it stops, and writes the last one. It calls no function here: that would
 * need registers that not every machine lets a debugger write. The tasks are those right before the
 * step at which bz_debug_step() was called. */
struct {
    char *list; /* lines for people */
    char *map;  /* "NUMBER NAME PC SP FP" for each task, in hexadecimal; 0 0 0: no stack */
} bz_debug_tasks __attribute__((used));
uint32_t bz_debug_next __attribute__((used));

#define LINE_BYTES 256u /* of a task in a text */

__attribute__((noinline, used)) void bz_debug_step(uint32_t step) {
    /* gdb reads and writes these */
    __asm__ volatile("" : : "r"(step), "r"(&bz_debug_tasks), "r"(&bz_debug_next) : "memory");
}

static size_t list_task(const struct bz_world *world, uint32_t task, char *line) {
    struct bz_task_view view;
    char doing[128] = "";
    char owning[48] = "";
    (void)bz_judge_view_task(world->judge, task, &view);
    if (view.op != BZ_OP_NONE) {
        snprintf(doing, sizeof doing, "in %s of '%.64s'", bz_op_name(view.op),
                 view.object != NULL ? view.object : "?");
    }
    if (view.holdings > 0) {
        snprintf(owning, sizeof owning, "%sowns %" PRIu32 " permit%s", doing[0] != '\0' ? ", " : "",
                 view.holdings, view.holdings == 1 ? "" : "s");
    }
    bool is_quiet = doing[0] == '\0' && owning[0] == '\0';
    return (size_t)snprintf(line, LINE_BYTES, "%6" PRIu32 "  %-20.63s  %s%*s%s%s%s%s\n", task,
                            view.name, view.state, is_quiet ? 0 : 13 - (int)strlen(view.state), "",
                            doing, owning,
                            view.is_cancel_pending ? "  (a cancel is on its way)" : "",
                            view.is_helper ? "  (a helper of the variant)" : "");
}

static size_t map_task(const struct bz_world *world, uint32_t task, char *line) {
    char name[BZ_VIEW_NAME_BYTES];
    struct bz_saved_stack stack = {0, 0, 0};
    (void)bz_look_stack(world, task, &stack);
    return (size_t)snprintf(
        line, LINE_BYTES, "%" PRIu32 " %s %" PRIxPTR " %" PRIxPTR " %" PRIxPTR "\n", task,
        bz_judge_task_name(world->judge, task, name, sizeof name), stack.pc, stack.sp, stack.fp);
}

static void describe_tasks(const struct bz_world *world) {
    uint32_t count = bz_judge_task_count(world->judge);
    size_t bytes = (size_t)(count + 1) * LINE_BYTES;
    bz_debug_tasks.list = bz_lack_check(realloc(bz_debug_tasks.list, bytes), "a list of tasks");
    bz_debug_tasks.map = bz_lack_check(realloc(bz_debug_tasks.map, bytes), "a list of tasks");
    char *list = bz_debug_tasks.list;
    char *map = bz_debug_tasks.map;
    list += snprintf(list, LINE_BYTES, "number  task                  state\n");
    *map = '\0';
    for (uint32_t task = 1; task <= count; task++) {
        list += list_task(world, task, list);
        map += map_task(world, task, map);
    }
}

static bool before_step(void *context, struct bz_world *world, uint32_t step) {
    (void)context;
    if (step == bz_debug_next) {
        describe_tasks(world);
        printf("step %" PRIu32 " is next\n", step);
        fflush(stdout);
        bz_debug_step(step);
    }
    return true;
}

int bz_debug_once(const struct bz_named_run *run, uint64_t stop_step) {
    const struct bz_world_watch watch = {.before_step = before_step};
    struct bz_trace record;
    struct bz_replay_report report;
    char error[BZ_ERROR_BYTES];
    bz_debug_next = stop_step > UINT32_MAX ? UINT32_MAX : (uint32_t)stop_step;
    if (bz_debug_next == 0) {
        bz_debug_step(0);
    }
    bz_trace_init(&record);
    struct bz_program program = run->program;
    program.contain.is_on = false; /* the debugger is in this process */
    bz_watchdog_end();
    bool is_ok =
        bz_replay_lenient(&run->trace, &program, &watch, &record, &report, error, sizeof error);
    const struct bz_trace_verdict verdict = record.verdict;
    if (is_ok) {
        printf("the run ended after step %" PRIu32 ": %s\n", report.steps,
               verdict.oracle != NULL        ? verdict.oracle
               : report.end == BZ_RUN_PASSED ? "pass"
                                             : "cut short by its step limit");
    }
    int code = !is_ok ? bz_cli_fail(BZ_EXIT_USAGE, "%s", error)
                      : (verdict.oracle != NULL ? BZ_EXIT_VIOLATION : BZ_EXIT_OK);
    bz_trace_fini(&record);
    return code;
}

/* --- gdb -------------------------------------------------------------------------------------- */

struct scratch {
    char folder[64];
    char script[96];
    char trace[96]; /* empty: the user's own file is used */
};

static void remove_scratch(const struct scratch *scratch) {
    unlink(scratch->script);
    if (scratch->trace[0] != '\0') {
        unlink(scratch->trace);
    }
    rmdir(scratch->folder);
}

static int make_scratch(const struct bz_named_run *run, struct scratch *scratch) {
    char error[BZ_TRACE_ERROR_BYTES] = "";
    *scratch = (struct scratch){.folder = "/tmp/buzzer-gdb-XXXXXX"};
    if (mkdtemp(scratch->folder) == NULL) {
        return bz_cli_fail(BZ_EXIT_USAGE, "--gdb: cannot create a folder in /tmp: %s",
                           strerror(errno));
    }
    const char *text = bz_gdb_scripts[0].text;
    snprintf(scratch->script, sizeof scratch->script, "%s/buzzer_gdb.py", scratch->folder);
    if (!bz_file_create(scratch->script, text, strlen(text))) {
        snprintf(error, sizeof error, "cannot write '%s': %s", scratch->script, strerror(errno));
    } else if (run->is_token) {
        snprintf(scratch->trace, sizeof scratch->trace, "%s/run.json", scratch->folder);
        (void)bz_trace_write(&run->trace, scratch->trace, error, sizeof error);
    }
    if (error[0] == '\0') {
        return BZ_EXIT_OK;
    }
    remove_scratch(scratch);
    return bz_cli_fail(BZ_EXIT_USAGE, "--gdb: %s", error);
}

/* Ctrl-C is for gdb and for the program in it. */
static int run_gdb(char *const *arguments) {
    posix_spawnattr_t attributes;
    sigset_t heeded;
    pid_t child;
    fflush(stdout);
    sigemptyset(&heeded);
    sigaddset(&heeded, SIGINT);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &heeded);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    void (*before)(int) = signal(SIGINT, SIG_IGN);
    int number = posix_spawnp(&child, arguments[0], NULL, &attributes, arguments, environ);
    while (number == 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
    signal(SIGINT, before);
    posix_spawnattr_destroy(&attributes);
    return number == 0
               ? BZ_EXIT_OK
               : bz_cli_fail(BZ_EXIT_USAGE, "--gdb: cannot run gdb: %s%s", strerror(number),
                             number == ENOENT ? "; the package is called gdb: apt-get install gdb"
                                              : "");
}

int bz_debug_gdb(const struct bz_named_run *run, const char *variant, uint64_t stop_step) {
    static char program[PATH_MAX];
    struct scratch scratch;
    char step[24];
    const char *files[2];
    uint32_t file_count = bz_plugins_files(run->program.scenario, run->program.variant, files);
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0) {
        return bz_cli_fail(BZ_EXIT_USAGE, "--gdb: cannot find this program: %s", strerror(errno));
    }
    int code = make_scratch(run, &scratch);
    if (code != BZ_EXIT_OK) {
        return code;
    }
    snprintf(step, sizeof step, "%" PRIu64, stop_step);
    const char *arguments[24] = {
        "gdb",    "-q",    "-x",     scratch.script, "-ex", "break bz_debug_step", "-ex", "run",
        "--args", program, "replay", "--once",       step};
    size_t count = 13;
    for (uint32_t index = 0; index < file_count; index++) {
        arguments[count++] = "--plugin";
        arguments[count++] = files[index];
    }
    if (variant != NULL) {
        arguments[count++] = "--variant";
        arguments[count++] = variant;
    }
    arguments[count++] = "--";
    arguments[count++] = run->is_token ? scratch.trace : run->input;
    code = run_gdb((char *const *)(uintptr_t)arguments);
    remove_scratch(&scratch);
    return code;
}
