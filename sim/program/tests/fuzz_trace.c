/* A trace is refused with a message, or read; written again, it is the same file. If its program
 * exists, the replay ends. */
#include "sim/program/replay.h"
#include "sim/tests/fuzz.h"
#include "traces/ledger.h"

#define STEPS_MAX 500u
#define PARAM_MAX 20 /* larger programs take their time */

static void replay(const struct bz_trace *trace) {
    static struct bz_program program;
    static struct bz_replay_report report;
    char error[BZ_ERROR_BYTES] = "";
    if (!bz_trace_program(trace, &fuzz_catalog, &program, error, sizeof error)) {
        fuzz_check_message(error);
        return;
    }
    for (size_t index = 0; index < BZ_PARAMS_MAX; index++) {
        if (program.args.values[index] > PARAM_MAX) {
            return;
        }
    }
    program.steps_max = program.steps_max < STEPS_MAX ? program.steps_max : STEPS_MAX;
    if (!bz_replay_trace(trace, &program, &report, error, sizeof error)) {
        fuzz_check_message(error);
    } else if (report.result == BZ_REPLAY_DIVERGED) {
        fuzz_check_message(report.expected);
        fuzz_check_message(report.got);
    }
}

/* Whatever the events say, the lists of permits and of waiting tasks end, and are counted. */
static void read_ledger(const struct bz_trace *trace) {
    struct bz_ledger ledger;
    bz_ledger_init(&ledger, trace);
    for (size_t index = 0; index < trace->event_count; index++) {
        bz_ledger_read(&ledger, &trace->events[index]);
    }
    for (uint32_t number = 1; number <= trace->object_count; number++) {
        uint32_t held = 0;
        size_t queued = 0;
        for (uint32_t hold = ledger.objects[number].newest; hold != 0; held++) {
            hold = ledger.holds[hold].older;
        }
        FUZZ_CHECK(held == ledger.objects[number].count, "%u of %u permits", held,
                   ledger.objects[number].count);
        for (uint32_t task = ledger.objects[number].last; task != 0; queued++) {
            task = ledger.tasks[task].before;
            FUZZ_CHECK(queued <= trace->task_count, "a queue without an end");
        }
    }
    bz_ledger_finish(&ledger);
    bz_ledger_fini(&ledger);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bz_trace trace;
    struct bz_trace again;
    char error[BZ_TRACE_ERROR_BYTES] = "";
    char *text = fuzz_text(data, size);
    if (!bz_trace_parse(&trace, text, size, "f", error, sizeof error)) {
        fuzz_check_message(error);
    } else {
        char *first = bz_trace_print(&trace);
        FUZZ_CHECK(bz_trace_parse(&again, first, strlen(first), "again", error, sizeof error), "%s",
                   error);
        char *second = bz_trace_print(&again);
        FUZZ_CHECK(strcmp(first, second) == 0, "written twice, it is two files");
        replay(&trace);
        read_ledger(&trace);
        free(first);
        free(second);
        bz_trace_fini(&again);
    }
    bz_trace_fini(&trace);
    free(text);
    return 0;
}
