/* buzzer replay: repeats the run of a trace or a token and compares every event. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/judge/record.h"
#include "sim/program/replay.h"
#include "tools/cli/cli.h"
#include "tools/cli/options.h"
#include "tools/cli/run_argument.h"
#include "tools/commands/debug_run.h"
#include "tools/plugin/plugins.h"
#include "tools/report/diagnosis.h"
#include "tools/report/report.h"
#include "tools/show/stepper.h"
#include "traces/text.h"

struct replay {
    const char *arguments[2]; /* the run; with --gdb, a step before it or behind it */
    const char *input;
    const char *variant;
    const char *program_out;
    const char *output;
    int output_code; /* of writing it */
    bool is_log;
    bool is_step;
    bool is_gdb;
    bool has_stop_step;
    uint64_t stop_step; /* of --gdb */
    uint64_t once;      /* NOT_ONCE, or the step to stop at */
    bool is_json;
    struct bz_named_run run;
    struct bz_trace record; /* of a lenient replay, or of the run that is written */
};

#define NOT_ONCE UINT64_MAX

static const struct bz_option options[] = {
    {"variant", "V",
     "Play the choices on another implementation; a choice that does not fit becomes the default "
     "choice",
     BZ_OPTION_TEXT, offsetof(struct replay, variant)},
    {"log", NULL, "Print every event with its step and time", BZ_OPTION_FLAG,
     offsetof(struct replay, is_log)},
    {"step", NULL,
     "Walk through the run on the terminal, in both directions; choose other handles, cancels, "
     "slow steps or draws, and save that run as a trace (? lists the keys). On a dumb terminal: "
     "print the log",
     BZ_OPTION_FLAG, offsetof(struct replay, is_step)},
    {"gdb", NULL,
     "Make exactly this run under gdb, and stop before the step of the violation, or before STEP, "
     "a number given before the run; 'help bz' in gdb lists the commands for tasks",
     BZ_OPTION_FLAG, offsetof(struct replay, is_gdb)},
    {"once", "STEP",
     "Make only this run, in this process, and call bz_debug_step before STEP: for a debugger "
     "that you start yourself; takes a trace",
     BZ_OPTION_NUMBER, offsetof(struct replay, once), .most = UINT32_MAX},
    {"json", NULL, "Print one JSON document", BZ_OPTION_FLAG, offsetof(struct replay, is_json)},
    {"output", "FILE",
     "Write the run as a trace of this version, with a checksum: a strict replay only if it "
     "matched; with --variant, the run on that variant",
     BZ_OPTION_TEXT, offsetof(struct replay, output), .letter = 'o'},
    {"program-out", "FILE",
     "Write the program of a run of scenario 'program' to a new file, for --set file=FILE",
     BZ_OPTION_TEXT, offsetof(struct replay, program_out)},
    {NULL},
};

/* Which argument is the run: with --gdb, the other one is a step. */
static void sort_arguments(struct replay *replay) {
    const char **arguments = replay->arguments;
    if (arguments[1] == NULL) {
        replay->input = arguments[0];
        return;
    }
    for (int index = 0; replay->is_gdb && !replay->has_stop_step && index < 2; index++) {
        replay->has_stop_step = bz_parse_u64(arguments[index], &replay->stop_step);
        replay->input = arguments[1 - index];
    }
    if (!replay->has_stop_step) {
        bz_cli_misuse("unexpected argument '%s'%s", arguments[1],
                      replay->is_gdb ? ": --gdb takes a step and a run" : "");
    }
}

static void check_options(void *target) {
    struct replay *replay = target;
    sort_arguments(replay);
    bool is_debugged = replay->is_gdb || replay->once != NOT_ONCE;
    if (replay->input == NULL) {
        bz_cli_misuse("a trace file or a token is missing");
    } else if (is_debugged && (replay->is_step || replay->is_log || replay->is_json ||
                               replay->program_out != NULL || replay->output != NULL)) {
        bz_cli_misuse("--%s can be combined with --variant and --plugin only",
                      replay->is_gdb ? "gdb" : "once");
    } else if (replay->is_step && replay->output != NULL) {
        bz_cli_misuse("--step contradicts --output: its key s saves a trace");
    } else if (replay->is_step && (replay->is_json || replay->variant != NULL)) {
        bz_cli_misuse("--step can be combined with --log only, not with --%s",
                      replay->is_json ? "json" : "variant");
    } else if (replay->is_json && replay->is_log) {
        bz_cli_misuse("--json contradicts --log; give one of them");
    } else if (replay->is_step && isatty(STDIN_FILENO) != 1) {
        bz_cli_misuse("--step reads keys, but stdin is not a terminal");
    }
}

/* --- the result ------------------------------------------------------------------------------- */

/* Prints every event; after a divergence, those up to it. */
static void print_log(const struct replay *replay, const struct bz_trace *trace) {
    uint64_t last =
        replay->run.report.result == BZ_REPLAY_DIVERGED ? replay->run.report.step : UINT64_MAX;
    for (size_t index = 0; index < trace->event_count && trace->events[index].step <= last;) {
        index = bz_diagnosis_print_step(stdout, trace, index);
    }
    printf("\n");
}

/* The result of the run itself, whether or not it is the recorded one. */
static int verdict_code_of(const struct replay *replay) {
    const struct bz_replay_report *report = &replay->run.report;
    return report->violation.oracle != NULL ? BZ_EXIT_VIOLATION
           : bz_replay_is_cut(report)       ? BZ_EXIT_INTERRUPTED
                                            : BZ_EXIT_OK;
}

static int exit_code_of(const struct replay *replay) {
    if (replay->output_code != BZ_EXIT_OK) {
        return replay->output_code;
    }
    if (replay->variant == NULL) {
        return replay->run.report.result == BZ_REPLAY_MATCHED ? BZ_EXIT_OK : BZ_EXIT_DIVERGED;
    }
    return verdict_code_of(replay);
}

static void print_json(const struct replay *replay) {
    char token[BZ_TOKEN_BYTES];
    struct bz_json *root = bz_json_new_object();
    bz_json_add_string(root, "input", replay->input);
    bz_json_add_program(root, &replay->run.program);
    bz_json_add_hex(root, "seed", replay->run.trace.seed);
    bz_json_add_bool(root, "lenient", replay->variant != NULL);
    bz_json_add_replay(root, &replay->run.report);
    if (replay->run.report.result == BZ_REPLAY_DIVERGED) {
        char cause[BZ_CAUSE_BYTES];
        bz_json_add_cause(root, bz_named_run_cause(&replay->run, cause, sizeof cause), cause);
    }
    bz_json_add_string(root, "token",
                       replay->run.report.result == BZ_REPLAY_MATCHED
                           ? bz_named_run_token(&replay->run, token, sizeof token)
                           : NULL);
    bz_json_add_number(root, "exit_code", (uint64_t)exit_code_of(replay));
    bz_json_put(root);
}

static void print_text(const struct replay *replay, const struct bz_trace *trace) {
    const struct bz_replay_report *report = &replay->run.report;
    const char *oracle = report->violation.oracle;
    const char *verdict = bz_replay_verdict(report);
    char token[BZ_TOKEN_BYTES];
    if (replay->is_log || replay->is_step) {
        print_log(replay, trace);
    }
    if (replay->variant == NULL && report->result == BZ_REPLAY_DIVERGED) {
        char cause[BZ_CAUSE_BYTES];
        bz_named_run_cause(&replay->run, cause, sizeof cause);
        printf("replay diverged at step %" PRIu32 "\n  expected  %s\n  got       %s\n"
               "  cause     %s\n",
               report->step, report->expected, report->got, cause);
        return;
    }
    if (replay->variant != NULL) {
        printf("the choices of %s:%s on variant %s: %s\n", trace->scenario,
               replay->run.trace.variant, replay->run.program.variant->name, verdict);
    } else {
        printf("replay matched: %" PRIu32 " steps, digest %016" PRIx64 ", verdict %s\n",
               report->steps, report->digest, verdict);
    }
    if (bz_replay_is_cut(report) && report->violation.message[0] != '\0') {
        printf("  %s: it proves nothing\n", report->violation.message);
    } else if (bz_replay_is_cut(report)) {
        printf("  it did not end within %" PRIu32 " steps, and proves nothing (max-steps)\n",
               report->steps);
    }
    const char *own_token = NULL;
    if (replay->variant == NULL) {
        own_token = bz_named_run_token(&replay->run, token, sizeof token);
    }
    if (own_token == NULL && replay->variant == NULL) {
        printf("note: seed 0x%" PRIx64 " does not lead to this run with strategy %s:\n"
               "  the trace was edited, or the strategy has changed\n",
               trace->seed, replay->run.program.strategy->name);
    }
    struct bz_diagnosis diagnosis = {
        .trace = trace, .variant = replay->run.program.variant, .token = own_token};
    if (oracle != NULL) {
        printf("\n");
        bz_diagnosis_print(stdout, &diagnosis);
    } else if (strcmp(trace->verdict.result, "cut") == 0) {
        printf("\n");
        bz_diagnosis_print_cut(stdout, &diagnosis);
    }
}

/* Writes the program to a file that must not exist. */
static int write_program(const struct replay *replay) {
    static char text[BZ_FILE_BYTES_MAX + 1];
    char error[BZ_ERROR_BYTES];
    size_t length;
    if (!bz_trace_print_program(&replay->run.trace, &replay->run.program, text, sizeof text,
                                &length, error, sizeof error)) {
        return bz_cli_fail(BZ_EXIT_USAGE, "--program-out: %s", error);
    }
    if (length > BZ_FILE_BYTES_MAX) {
        return bz_cli_fail(BZ_EXIT_INTERNAL,
                           "--program-out: the program is larger than any that can be read");
    }
    bool is_written = bz_file_create(replay->program_out, text, length);
    return is_written
               ? BZ_EXIT_OK
               : bz_cli_fail(bz_cli_exit_of_errno(errno), "--program-out: cannot write '%s': %s",
                             replay->program_out, strerror(errno));
}

/* Writes the run as this version records it: that of a token was recorded just now. */
static int write_trace(struct replay *replay) {
    char error[BZ_ERROR_BYTES];
    const struct bz_replay_report *report = &replay->run.report;
    bool is_strict = replay->variant == NULL;
    if (is_strict && report->result == BZ_REPLAY_DIVERGED) {
        return BZ_EXIT_OK; /* the exit status says so */
    }
    bool is_recorded = !is_strict || replay->run.is_token;
    const struct bz_trace *trace = is_strict && is_recorded ? &replay->run.trace : &replay->record;
    uint64_t digest = report->digest;
    int code =
        is_recorded ? BZ_EXIT_OK : bz_named_run_replay_leniently(&replay->run, &replay->record);
    if (code == BZ_EXIT_OK && trace->digest != digest) {
        return bz_cli_fail(BZ_EXIT_DIVERGED,
                           "'%s' was not written: another run of the same choices differs",
                           replay->output);
    }
    if (code == BZ_EXIT_OK && !bz_trace_write(trace, replay->output, error, sizeof error)) {
        code = bz_cli_fail(BZ_EXIT_USAGE, "the trace was not written: %s", error);
    }
    return code;
}

/* A strict replay runs the variant that was recorded; with a plug-in, that is expected to be one of
 * its own. */
static int check_plugin(const struct replay *replay) {
    const struct bz_program *program = &replay->run.program;
    if (replay->variant != NULL || !bz_options_has_plugins() || bz_plugins_have(program)) {
        return BZ_EXIT_OK;
    }
    return bz_cli_fail(BZ_EXIT_USAGE,
                       "the plug-in is not tested: the run uses the built-in variant '%s'; "
                       "--variant NAME plays its choices on a variant of the plug-in",
                       program->variant->name);
}

/* The step of the violation, or the last one. */
static uint64_t stop_step_of(const struct replay *replay) {
    const struct bz_replay_report *report = &replay->run.report;
    return replay->has_stop_step              ? replay->stop_step
           : report->violation.oracle != NULL ? report->violation.step
                                              : report->steps;
}

static int run_gdb(const struct replay *replay) {
    const struct bz_replay_report *report = &replay->run.report;
    if (replay->variant == NULL && report->result == BZ_REPLAY_DIVERGED) {
        bz_cli_fail(BZ_EXIT_OK,
                    "the replay diverges at step %" PRIu32 ": a choice that does not fit is the "
                    "default one",
                    report->step);
    }
    return bz_debug_gdb(&replay->run, replay->variant, stop_step_of(replay));
}

/* In gdb: nothing but the one run. */
static int run_once(struct replay *replay) {
    const char *variant = replay->variant;
    int code = bz_named_run_open(&replay->run, replay->input, variant);
    return code == BZ_EXIT_OK ? bz_debug_once(&replay->run, replay->once) : code;
}

bz_stepper_fn *bz_stepper;

/* On a terminal that shows one event after another, --step prints the log. */
static bool wants_stepper(const struct replay *replay) {
    const char *term = getenv("TERM");
    return replay->is_step && !replay->is_log && isatty(STDOUT_FILENO) == 1 && term != NULL &&
           term[0] != '\0' && strcmp(term, "dumb") != 0;
}

/* Options that need the runtime in C. */
static int check_runtime(const struct replay *replay) {
    if (replay->run.program.scenario->runtime == NULL ||
        !(replay->is_gdb || wants_stepper(replay))) {
        return BZ_EXIT_OK;
    }
    return bz_cli_fail(BZ_EXIT_USAGE,
                       "--%s is for scenarios of the runtime in C; --log shows every event, and a "
                       "test in Python stops at its breakpoint()",
                       replay->is_gdb ? "gdb" : "step");
}

static int run_replay(struct replay *replay) {
    if (replay->once != NOT_ONCE) {
        return run_once(replay);
    }
    int code = bz_named_run_load_for(&replay->run, replay->input, replay->variant);
    code = code == BZ_EXIT_OK ? check_plugin(replay) : code;
    code = code == BZ_EXIT_OK ? check_runtime(replay) : code;
    if (code == BZ_EXIT_OK && replay->variant != NULL) {
        code = bz_named_run_replay_leniently(&replay->run, &replay->record);
    }
    if (code == BZ_EXIT_OK && bz_stepper != NULL && wants_stepper(replay)) {
        code = bz_stepper(&replay->run);
        return code == BZ_EXIT_OK ? exit_code_of(replay) : code;
    }
    if (code == BZ_EXIT_OK && wants_stepper(replay)) {
        bz_cli_note("--step: this program has no stepper, because it was built "
                    "without ncurses (Debian: libncurses-dev). The log follows.");
    }
    if (code == BZ_EXIT_OK && replay->is_gdb) {
        return run_gdb(replay);
    }
    if (code == BZ_EXIT_OK && replay->program_out != NULL) {
        code = write_program(replay);
    }
    if (code != BZ_EXIT_OK) {
        return code;
    }
    if (replay->output != NULL) {
        replay->output_code = write_trace(replay);
    }
    if (bz_json_is_wanted(replay->is_json)) {
        print_json(replay);
    }
    if (!replay->is_json) {
        print_text(replay, replay->variant != NULL ? &replay->record : &replay->run.trace);
    }
    return exit_code_of(replay);
}

int bz_command_replay(int argc, char **argv) {
    struct replay replay = {.once = NOT_ONCE};
    const struct bz_syntax syntax = {
        .options = options,
        .target = &replay,
        .args_doc = "TRACE.json|TOKEN",
        .arguments = replay.arguments,
        .arguments_max = 2,
        .plugins = BZ_PLUGINS_RUN,
        .check = check_options,
        .doc =
            "Replays one run and checks every event against the record. Exit status: 0 it "
            "matched, 2 bad input, 3 it diverged; with --variant: 0 it passed, 1 a violation, 5 it "
            "hit its step limit."};
    int code = bz_options_parse(&syntax, argc, argv);
    if (code != BZ_EXIT_OK) {
        return code;
    }
    bz_trace_init(&replay.record);
    code = run_replay(&replay);
    bz_caller.verdict = verdict_code_of(&replay);
    bz_trace_fini(&replay.record);
    bz_named_run_fini(&replay.run);
    return code;
}
