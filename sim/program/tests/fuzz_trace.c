/* A trace is refused with a message, or read; written again, it is the same file. If its program
 * exists, the replay ends. */
#include "sim/program/replay.h"
#include "sim/tests/fuzz.h"
#include "traces/trace.h"

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
        free(first);
        free(second);
        bz_trace_fini(&again);
    }
    bz_trace_fini(&trace);
    free(text);
    return 0;
}
