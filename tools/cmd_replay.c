/* buzzer replay: repeats the run of a trace or a token and compares every event. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/run/replay.h"
#include "sim/run/token.h"
#include "tools/cli.h"
#include "tools/diagnosis.h"
#include "tools/options.h"
#include "tools/plugins.h"
#include "tools/report.h"
#include "traces/text.h"

struct replay {
    const char *name; /* for messages */
    const char *input;
    const char *variant;
    const char *program_out;
    bool is_log;
    bool is_step;
    bool is_json;
    bool is_token;
    uint64_t token_digest;
    struct bz_program program;
    struct bz_trace trace;  /* read from the file, or recorded from the token */
    struct bz_trace record; /* of a lenient replay */
    struct bz_replay_report report;
};

static const struct bz_option options[] = {
    {"variant", "V",
     "Play the choices to another implementation; a choice that does not fit is the default one",
     BZ_OPTION_TEXT, offsetof(struct replay, variant), .is_once = true},
    {"log", NULL, "Print every event with its step and time", BZ_OPTION_FLAG,
     offsetof(struct replay, is_log)},
    {"step", NULL, "The same, and wait for Enter after each step", BZ_OPTION_FLAG,
     offsetof(struct replay, is_step)},
    {"json", NULL, "Print one JSON document", BZ_OPTION_FLAG, offsetof(struct replay, is_json)},
    {"program-out", "FILE",
     "Write the program of a run of scenario 'program' to a new file, for --set file=FILE",
     BZ_OPTION_TEXT, offsetof(struct replay, program_out), .is_once = true},
    {NULL},
};

static void check_options(struct argp_state *state, void *target) {
    const struct replay *replay = target;
    if (replay->input == NULL) {
        argp_error(state, "a trace file or a token is missing");
    } else if (replay->is_step && (replay->is_json || replay->variant != NULL)) {
        argp_error(state, "--step goes with --log only, and not with --%s",
                   replay->is_json ? "json" : "variant");
    } else if (replay->is_json && replay->is_log) {
        argp_error(state, "--json contradicts --log; give one of them");
    } else if (replay->is_step && isatty(STDIN_FILENO) != 1) {
        argp_error(state, "--step waits for Enter, and stdin is no terminal");
    }
}

/* Records the run of the token again and compares the digests. */
static int load_token(struct replay *replay) {
    char error[BZ_ERROR_BYTES];
    uint64_t seed;
    if (!bz_token_parse(replay->input, &bz_cli_catalog, &replay->program, &seed,
                        &replay->token_digest, error, sizeof error)) {
        return bz_cli_fail(replay->name, BZ_EXIT_USAGE, "%s", error);
    }
    if (!bz_record(&replay->program, seed, &replay->trace, &replay->report)) {
        return bz_cli_fail(replay->name, BZ_EXIT_INTERNAL, "%s", replay->report.lack);
    }
    struct bz_replay_report *report = &replay->report;
    if (report->result == BZ_REPLAY_MATCHED && replay->trace.digest != replay->token_digest) {
        report->result = BZ_REPLAY_DIVERGED;
        report->step = report->steps;
        snprintf(report->expected, sizeof report->expected, "digest %016" PRIx64,
                 replay->token_digest);
        snprintf(report->got, sizeof report->got, "digest %016" PRIx64, replay->trace.digest);
    }
    return BZ_EXIT_OK;
}

static int exit_code_of_failure(const struct replay *replay) {
    return replay->report.lack[0] != '\0' ? BZ_EXIT_INTERNAL : BZ_EXIT_USAGE;
}

static int load_trace(struct replay *replay) {
    char error[BZ_ERROR_BYTES];
    if (!bz_trace_read(&replay->trace, replay->input, error, sizeof error)) {
        return bz_cli_fail(replay->name, BZ_EXIT_USAGE, "%s", error);
    }
    if (replay->variant != NULL) {
        return BZ_EXIT_OK; /* no strict replay: the recorded variant may not exist */
    }
    if (!bz_trace_program(&replay->trace, &bz_cli_catalog, &replay->program, error, sizeof error) ||
        !bz_replay_trace(&replay->trace, &replay->program, &replay->report, error, sizeof error)) {
        return bz_cli_fail(replay->name, exit_code_of_failure(replay), "%s: %s", replay->input,
                           error);
    }
    return BZ_EXIT_OK;
}

/* Applies the choices of the trace to another variant. */
static int replay_leniently(struct replay *replay) {
    char error[BZ_ERROR_BYTES];
    struct bz_trace named = replay->trace; /* a shallow copy with another name */
    named.variant = replay->variant;
    if (!bz_trace_program(&named, &bz_cli_catalog, &replay->program, error, sizeof error) ||
        !bz_replay_lenient(&replay->trace, &replay->program, &replay->record, &replay->report,
                           error, sizeof error)) {
        return bz_cli_fail(replay->name, exit_code_of_failure(replay), "%s", error);
    }
    return BZ_EXIT_OK;
}

/* --- what came of it -------------------------------------------------------------------------- */

/* Waits for Enter. False if the user wants no more stops. */
static bool wait_for_enter(void) {
    int character;
    fflush(stdout);
    fprintf(stderr, "-- Enter: next step, c: go on to the end -- ");
    fflush(stderr);
    int first = character = getchar();
    while (character != '\n' && character != EOF) {
        character = getchar();
    }
    return first != 'c' && character != EOF;
}

/* Prints every event; after a divergence, those up to it. */
static void print_log(const struct replay *replay, const struct bz_trace *trace) {
    bool is_stopping = replay->is_step;
    uint64_t last = replay->report.result == BZ_REPLAY_DIVERGED ? replay->report.step : UINT64_MAX;
    for (size_t index = 0; index < trace->event_count && trace->events[index].step <= last;) {
        index = bz_diagnosis_print_step(stdout, trace, index);
        is_stopping = is_stopping && index < trace->event_count && wait_for_enter();
    }
    printf("\n");
}

static int exit_code_of(const struct replay *replay) {
    if (replay->variant != NULL) {
        return replay->report.violation.oracle != NULL ? BZ_EXIT_VIOLATION : BZ_EXIT_OK;
    }
    return replay->report.result == BZ_REPLAY_MATCHED ? BZ_EXIT_OK : BZ_EXIT_DIVERGED;
}

/* The token of the replayed run, or NULL if the token would give another run: after a lenient
 * replay, or if the trace was edited or the strategy has changed. */
static const char *token_of(const struct replay *replay, const struct bz_trace *trace, char *token,
                            size_t token_bytes) {
    bool leads_back = replay->variant == NULL;
    if (leads_back && !replay->is_token) {
        struct bz_trace again;
        struct bz_replay_report report;
        bz_trace_init(&again);
        bool is_recorded = bz_record(&replay->program, trace->seed, &again, &report);
        if (!is_recorded) {
            exit(bz_cli_fail(replay->name, BZ_EXIT_INTERNAL, "%s", report.lack));
        }
        leads_back = again.digest == trace->digest;
        bz_trace_fini(&again);
    }
    return leads_back
               ? bz_token_format(&replay->program, trace->seed, trace->digest, token, token_bytes)
               : NULL;
}

static void print_json(const struct replay *replay) {
    char token[BZ_TOKEN_BYTES];
    struct bz_json *root = bz_json_new_object();
    bz_json_add_string(root, "input", replay->input);
    bz_json_add_program(root, &replay->program);
    bz_json_add_hex(root, "seed", replay->trace.seed);
    bz_json_add_bool(root, "lenient", replay->variant != NULL);
    bz_json_add_replay(root, &replay->report);
    bz_json_add_string(root, "token",
                       replay->report.result == BZ_REPLAY_MATCHED
                           ? token_of(replay, &replay->trace, token, sizeof token)
                           : NULL);
    bz_json_add_number(root, "exit_code", (uint64_t)exit_code_of(replay));
    bz_json_put(root);
}

static void print_text(const struct replay *replay, const struct bz_trace *trace) {
    const struct bz_replay_report *report = &replay->report;
    const char *oracle = report->violation.oracle;
    char token[BZ_TOKEN_BYTES];
    if (replay->is_log || replay->is_step) {
        print_log(replay, trace);
    }
    if (replay->variant == NULL && report->result == BZ_REPLAY_DIVERGED) {
        printf("replay diverged at step %" PRIu32 "\n  expected  %s\n  got       %s\n",
               report->step, report->expected, report->got);
        return;
    }
    if (replay->variant != NULL) {
        printf("the choices of %s:%s on variant %s: %s\n", trace->scenario, replay->trace.variant,
               replay->program.variant->name, oracle != NULL ? oracle : "pass");
    } else {
        printf("replay matched: %" PRIu32 " steps, digest %016" PRIx64 ", verdict %s\n",
               report->steps, report->digest, oracle != NULL ? oracle : "pass");
    }
    const char *own_token = token_of(replay, trace, token, sizeof token);
    if (own_token == NULL && replay->variant == NULL) {
        printf("note: seed 0x%" PRIx64 " does not lead to this run with strategy %s: the trace was "
               "edited, or the strategy has changed\n",
               trace->seed, replay->program.strategy->name);
    }
    if (oracle != NULL) {
        printf("\n");
        bz_diagnosis_print(stdout, trace, replay->program.variant, own_token, NULL);
    }
}

/* Writes the program to a file that must not exist. */
static int write_program(const struct replay *replay) {
    static char text[BZ_FILE_BYTES_MAX + 1];
    char error[BZ_ERROR_BYTES];
    size_t length;
    if (!bz_trace_print_program(&replay->trace, &replay->program, text, sizeof text, &length, error,
                                sizeof error)) {
        return bz_cli_fail(replay->name, BZ_EXIT_USAGE, "--program-out: %s", error);
    }
    if (length > BZ_FILE_BYTES_MAX) {
        return bz_cli_fail(replay->name, BZ_EXIT_INTERNAL,
                           "--program-out: the program is larger than any that can be read");
    }
    bool is_written = bz_file_create(replay->program_out, text, length);
    return is_written ? BZ_EXIT_OK
                      : bz_cli_fail(replay->name, bz_cli_exit_of_errno(errno),
                                    "--program-out: cannot write '%s': %s", replay->program_out,
                                    strerror(errno));
}

/* A strict replay runs the variant that was recorded; with a plug-in, that is expected to be one of
 * its own. */
static int check_plugin(const struct replay *replay) {
    const struct bz_variant *variant = replay->program.variant;
    if (replay->variant != NULL || !bz_options_has_plugins() || bz_plugins_file(variant) != NULL) {
        return BZ_EXIT_OK;
    }
    return bz_cli_fail(replay->name, BZ_EXIT_USAGE,
                       "the plug-in is not tested: the run is of the built-in variant '%s'; "
                       "--variant NAME plays its choices to a variant of the plug-in",
                       variant->name);
}

static int run_replay(struct replay *replay) {
    int code = replay->is_token ? load_token(replay) : load_trace(replay);
    code = code == BZ_EXIT_OK ? check_plugin(replay) : code;
    if (code == BZ_EXIT_OK && replay->variant != NULL) {
        code = replay_leniently(replay);
    }
    if (code == BZ_EXIT_OK && replay->program_out != NULL) {
        code = write_program(replay);
    }
    if (code != BZ_EXIT_OK) {
        return code;
    }
    if (replay->is_json) {
        print_json(replay);
    } else {
        print_text(replay, replay->variant != NULL ? &replay->record : &replay->trace);
    }
    return exit_code_of(replay);
}

/* Also true for a token without its digest, so that the message is about the token and not about a
 * missing file. */
static bool is_meant_as_token(const char *input) {
    unsigned colons = 0;
    for (const char *character = input; *character != '\0'; character++) {
        colons += *character == ':';
    }
    return bz_token_looks_like(input) || (colons >= 3 && strstr(input, ".json") == NULL);
}

int bz_command_replay(int argc, char **argv) {
    struct replay replay = {.name = argv[0]};
    const struct bz_syntax syntax = {
        .options = options,
        .target = &replay,
        .args_doc = "TRACE.json|TOKEN",
        .arguments = &replay.input,
        .arguments_max = 1,
        .takes_plugins = true,
        .check = check_options,
        .doc = "Replays one run and checks every event against the record. Exit status: 0 it "
               "matched, 3 it diverged, 2 bad input; with --variant 0 it passed, 1 a violation."};
    int code = bz_options_parse(&syntax, argc, argv);
    replay.is_token = is_meant_as_token(replay.input) && access(replay.input, F_OK) != 0;
    bz_trace_init(&replay.trace);
    bz_trace_init(&replay.record);
    code = code == BZ_EXIT_OK ? run_replay(&replay) : code;
    bz_trace_fini(&replay.record);
    bz_trace_fini(&replay.trace);
    return code;
}
