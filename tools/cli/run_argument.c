#include "tools/cli/run_argument.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/program/token.h"
#include "tools/cli/cli.h"

bool bz_named_run_is_token(const char *input) {
    unsigned colons = 0;
    for (const char *character = input; *character != '\0'; character++) {
        colons += *character == ':';
    }
    bool has_form = bz_token_looks_like(input) || (colons >= 3 && strstr(input, ".json") == NULL);
    return has_form && access(input, F_OK) != 0;
}

/* True if the program makes the run with that digest; then `run` is that run. */
static bool repeats_with(struct bz_named_run *run, uint64_t seed, uint64_t digest,
                         uint64_t lag_max_ns, enum bz_older older) {
    struct bz_named_run other = *run;
    bz_trace_init(&other.trace);
    other.program.lag_max_ns = lag_max_ns;
    other.program.older = older;
    bool is_it = bz_record(&other.program, seed, &other.trace, &other.report) &&
                 other.trace.digest == digest;
    bz_trace_fini(is_it ? &run->trace : &other.trace);
    if (is_it) {
        *run = other;
    }
    return is_it;
}

/* Older programs had fewer choices, and before that they knew no bound on lag. The digest
 * says which one made the run of the token. False: none did, and `run` is as it was. */
static bool repeats_as_once(struct bz_named_run *run, uint64_t seed, uint64_t digest) {
    struct bz_token token;
    char error[BZ_ERROR_BYTES];
    bool may_have_bound = run->program.lag_max_ns != BZ_LAG_MAX_DEFAULT_NS ||
                          !bz_token_split(&token, run->input, error, sizeof error) ||
                          (token.settings != NULL && strstr(token.settings, "max-lag=") != NULL);
    uint64_t lag_max_ns = run->program.lag_max_ns;
    return repeats_with(run, seed, digest, lag_max_ns, BZ_OLDER_NEVER_RETIMES) ||
           repeats_with(run, seed, digest, lag_max_ns, BZ_OLDER_PICKS_THE_FIRST) ||
           repeats_with(run, seed, digest, lag_max_ns, BZ_OLDER_WAKES_ON_TIME) ||
           repeats_with(run, seed, digest, lag_max_ns, BZ_OLDER_FAVOURS_NOTHING) ||
           (!may_have_bound &&
            repeats_with(run, seed, digest, BZ_LAG_MAX_ANY_NS, BZ_OLDER_FAVOURS_NOTHING));
}

/* Records the run of the token again and compares the digests. */
static int load_token(struct bz_named_run *run) {
    char error[BZ_ERROR_BYTES];
    uint64_t seed;
    uint64_t digest;
    struct bz_replay_report *report = &run->report;
    if (!bz_token_parse(run->input, &bz_cli_catalog, &run->program, &seed, &digest, error,
                        sizeof error)) {
        return bz_cli_fail(BZ_EXIT_USAGE, "%s", error);
    }
    if (!bz_record(&run->program, seed, &run->trace, report)) {
        return bz_cli_fail(BZ_EXIT_INTERNAL, "%s", report->lack);
    }
    if (run->trace.digest != digest && repeats_as_once(run, seed, digest)) {
        return BZ_EXIT_OK;
    }
    if (report->result == BZ_REPLAY_MATCHED && run->trace.digest != digest) {
        report->result = BZ_REPLAY_DIVERGED;
        report->step = report->steps;
        snprintf(report->expected, sizeof report->expected, "digest %016" PRIx64, digest);
        snprintf(report->got, sizeof report->got, "digest %016" PRIx64, run->trace.digest);
    }
    return BZ_EXIT_OK;
}

static int read_trace(struct bz_named_run *run, const char *variant) {
    char error[BZ_ERROR_BYTES];
    if (!bz_trace_read(&run->trace, run->input, error, sizeof error)) {
        return bz_cli_fail(BZ_EXIT_USAGE, "%s", error);
    }
    struct bz_trace named = run->trace; /* a shallow copy */
    named.variant = variant == NULL ? named.variant : variant;
    if (!bz_trace_program(&named, &bz_cli_catalog, &run->program, error, sizeof error)) {
        return bz_cli_fail(BZ_EXIT_USAGE, "%s: %s", run->input, error);
    }
    return BZ_EXIT_OK;
}

static int load_trace(struct bz_named_run *run, const char *variant) {
    char error[BZ_ERROR_BYTES];
    int code = read_trace(run, variant);
    if (code == BZ_EXIT_OK && variant == NULL &&
        !bz_replay_trace(&run->trace, &run->program, &run->report, error, sizeof error)) {
        bool is_lack = run->report.lack[0] != '\0';
        return bz_cli_fail(is_lack ? BZ_EXIT_INTERNAL : BZ_EXIT_USAGE, "%s: %s", run->input, error);
    }
    return code;
}

int bz_named_run_open(struct bz_named_run *run, const char *input, const char *variant) {
    *run = (struct bz_named_run){.input = input, .is_token = bz_named_run_is_token(input)};
    bz_trace_init(&run->trace);
    if (run->is_token) {
        return bz_cli_fail(BZ_EXIT_USAGE, "a trace file is needed here, and '%.64s' is a token",
                           input);
    }
    return read_trace(run, variant);
}

int bz_named_run_load_for(struct bz_named_run *run, const char *input, const char *variant) {
    *run = (struct bz_named_run){.input = input, .is_token = bz_named_run_is_token(input)};
    bz_trace_init(&run->trace);
    if (!run->is_token) {
        return load_trace(run, variant);
    }
    int code = load_token(run);
    if (code == BZ_EXIT_OK && variant != NULL) {
        char error[BZ_ERROR_BYTES];
        struct bz_trace named = run->trace;
        named.variant = variant;
        if (!bz_trace_program(&named, &bz_cli_catalog, &run->program, error, sizeof error)) {
            return bz_cli_fail(BZ_EXIT_USAGE, "%s", error);
        }
    }
    return code;
}

int bz_named_run_load(struct bz_named_run *run, const char *input) {
    return bz_named_run_load_for(run, input, NULL);
}

int bz_named_run_load_failing(struct bz_named_run *run, const char *input) {
    const struct bz_replay_report *report = &run->report;
    int code = bz_named_run_load(run, input);
    if (code != BZ_EXIT_OK) {
        return code;
    }
    if (report->result == BZ_REPLAY_DIVERGED) {
        return bz_cli_fail(BZ_EXIT_DIVERGED,
                           "the run does not replay: step %" PRIu32 ", expected %s, got %s",
                           report->step, report->expected, report->got);
    }
    return run->trace.verdict.oracle != NULL
               ? BZ_EXIT_OK
               : bz_cli_fail(BZ_EXIT_USAGE, "the run has no violation");
}

int bz_named_run_replay_leniently(struct bz_named_run *run, struct bz_trace *record) {
    char error[BZ_ERROR_BYTES];
    if (bz_replay_lenient(&run->trace, &run->program, NULL, record, &run->report, error,
                          sizeof error)) {
        return BZ_EXIT_OK;
    }
    bool is_lack = run->report.lack[0] != '\0';
    return bz_cli_fail(is_lack ? BZ_EXIT_INTERNAL : BZ_EXIT_USAGE, "%s", error);
}

void bz_named_run_fini(struct bz_named_run *run) {
    bz_trace_fini(&run->trace);
}

enum bz_cause bz_named_run_cause(const struct bz_named_run *run, char *text, size_t text_bytes) {
    const char *oracle = run->trace.verdict.oracle;
    char error[BZ_ERROR_BYTES];
    struct bz_token token;
    if (!run->is_token) {
        return bz_trace_cause(&run->trace, text, text_bytes);
    }
    if (oracle != NULL && strcmp(oracle, "nondeterminism") == 0) {
        snprintf(text, text_bytes, "something besides the choices decides: two runs differ");
        return BZ_CAUSE_CODE;
    }
    (void)bz_token_split(&token, run->input, error, sizeof error); /* it was split before */
    return bz_token_cause(&token, text, text_bytes);
}

const char *bz_named_run_token(const struct bz_named_run *run, char *token, size_t token_bytes) {
    uint64_t digest = run->trace.digest;
    char lack[BZ_LACK_BYTES];
    if (!run->is_token && !bz_seed_digest(&run->program, run->trace.seed, &digest, lack)) {
        exit(bz_cli_fail(BZ_EXIT_INTERNAL, "%s", lack));
    }
    return digest == run->trace.digest ? bz_token_format(&run->program, run->trace.seed,
                                                         run->trace.digest, token, token_bytes)
                                       : NULL;
}
