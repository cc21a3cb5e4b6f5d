/* Shared by the files of `buzzer run`: the options, and the state of a session. */
#ifndef BZ_TOOLS_CLI_RUN_OPTIONS_H
#define BZ_TOOLS_CLI_RUN_OPTIONS_H

#include "sim/session/campaign.h"
#include "tools/cli/options.h"
#include "tools/cli/progress.h"
#include "tools/cli/require_window.h"
#include "tools/report/ci.h"
#include "tools/session/checkpoint_file.h"
#include "tools/session/findings.h"
#include "tools/session/shard.h"
#include "tools/session/stored_traces.h"

struct bz_run {
    struct bz_options options;
    const char *selection; /* which of --seed, --seeds, --runs is given */
    uint64_t seed_first;
    bool has_seed_first;
    struct bz_shard shard; /* count 0: no --shard */
    uint64_t first_run;
    uint64_t campaign_runs; /* of all shards */
    uint64_t runs;
    uint64_t seconds; /* 0: no --time */
    uint32_t jobs;
    bool keep_going;
    bool repeats_all;
    bool has_default_sizes; /* --sizes default */
    bool keeps_size;        /* --no-shrink */
    struct bz_search_limits search;
    struct bz_require_window required;
    const char *out;
    bool is_strict;
    const char *resume;
    const char *corpus;       /* a folder of traces to try first */
    struct bz_stored *stored; /* their results */
    struct bz_stored *own;    /* what became of those in `out` */
    bool is_json;
    bool is_quiet;
    struct bz_ci ci;
    struct bz_progress progress;
    struct bz_program program;
    struct bz_checkpoint_file *file; /* NULL: no checkpoint */
    struct bz_campaign_state *state; /* to continue from */
    struct bz_kept_findings *findings;
    const char *name;   /* for messages */
    int findings_code;  /* the worst of their exit codes */
    uint64_t before_ms; /* spent in earlier sessions */
    bool was_time_up;   /* in an earlier session */
    uint64_t budget_ms; /* of this one; 0: no limit */
};

/* Sets what the options name. An exit code, as bz_options_parse() returns it; does not return after
 * misuse. */
int bz_run_options_parse(struct bz_run *run, int argc, char **argv);

#endif
