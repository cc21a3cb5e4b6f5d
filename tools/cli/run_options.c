#include "tools/cli/run_options.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "tools/cli/cli.h"

static void parse_range(struct bz_run *run, struct argp_state *state, const char *text) {
    const char *dots = strstr(text, "..");
    char first[40] = "";
    uint64_t last = 0;
    if (dots != NULL && (size_t)(dots - text) < sizeof first) {
        memcpy(first, text, (size_t)(dots - text));
    }
    if (dots == NULL || !bz_parse_u64(first, &run->job.seed_first) ||
        !bz_parse_u64(dots + 2, &last)) {
        bz_cli_misuse(state, "--seeds takes two whole numbers of 64 bits, A..B, and not '%s'",
                      text);
    } else if (last < run->job.seed_first) {
        bz_cli_misuse(state, "--seeds %s: the last seed is below the first", text);
    } else if (last - run->job.seed_first >= BZ_RUNS_MAX) {
        bz_cli_misuse(state, "--seeds %s: more than %" PRIu64 " seeds", text, BZ_RUNS_MAX);
    }
    run->job.runs = last - run->job.seed_first + 1;
}

/* At most one of --seed, --seeds and --runs selects the seeds. */
static void select_seeds(struct argp_state *state, void *target, const char *option, char *text) {
    struct bz_run *run = target;
    if (run->selection != NULL) {
        bz_cli_misuse(state, "--%s contradicts --%s; give one of them", option, run->selection);
    }
    run->selection = option;
    if (strcmp(option, "seed") == 0) {
        run->job.seed_first = bz_option_number(state, option, text, 0, UINT64_MAX);
        run->job.runs = 1;
    } else if (strcmp(option, "seeds") == 0) {
        parse_range(run, state, text);
    } else {
        run->job.runs = bz_option_number(state, option, text, 1, BZ_RUNS_MAX);
    }
}

static void set_time(struct argp_state *state, void *target, const char *option, char *text) {
    ((struct bz_run *)target)->seconds = bz_option_seconds(state, option, text);
}

static void set_seed_first(struct argp_state *state, void *target, const char *option, char *text) {
    struct bz_run *run = target;
    run->has_seed_first = true;
    run->job.seed_first = bz_option_number(state, option, text, 0, UINT64_MAX);
}

static void set_sizes(struct argp_state *state, void *target, const char *option, char *text) {
    ((struct bz_run *)target)->job.draws_sizes = !bz_option_default_sizes(state, option, text);
}

static void set_shard(struct argp_state *state, void *target, const char *option, char *text) {
    bz_shard_parse(state, option, text, &((struct bz_run *)target)->job.shard);
}

/* One run has no parts, and a part without a folder leaves nothing to merge. */
static void check_shard(struct argp_state *state, const struct bz_run *run) {
    if (run->job.shard.count == 0) {
        return;
    }
    if (run->selection != NULL && strcmp(run->selection, "seed") == 0) {
        bz_cli_misuse(state, "--shard contradicts --seed, which is one run");
    } else if (run->out == NULL && run->resume == NULL) {
        bz_cli_misuse(state,
                      "--shard needs --out DIR: 'buzzer merge' joins the results in that folder");
    }
}

static void check_options(struct argp_state *state, void *target) {
    struct bz_run *run = target;
    check_shard(state, run);
    bool is_one = run->selection != NULL && strcmp(run->selection, "seed") == 0;
    if (is_one && run->seconds != 0) {
        bz_cli_misuse(state, "--time contradicts --seed; give one of them");
    }
    if (run->has_seed_first && run->selection != NULL &&
        (is_one || strcmp(run->selection, "seeds") == 0)) {
        bz_cli_misuse(state, "--seed-first contradicts --%s; give one of them", run->selection);
    }
    if (run->seconds != 0 && run->selection == NULL) {
        run->job.runs = BZ_RUNS_MAX;
    }
    if (run->resume == NULL) {
        return;
    }
    bool has_required = false;
    for (unsigned op = 0; op < BZ_OP_COUNT; op++) {
        has_required |= run->job.required[op] != 0;
    }
    const char *extra = run->options.scenario != NULL    ? run->options.scenario
                        : run->options.variant != NULL   ? "variant"
                        : run->options.setting_count > 0 ? run->options.settings[0].name
                        : run->selection != NULL         ? run->selection
                        : run->has_seed_first            ? "seed-first"
                        : run->job.shard.count > 0       ? "shard"
                        : run->job.keep_going            ? "keep-going"
                        : !run->job.draws_sizes          ? "sizes"
                        : has_required                   ? "require-window"
                        : run->out != NULL               ? "out"
                        : run->corpus != NULL            ? "corpus"
                                                         : NULL;
    if (extra != NULL) {
        bz_cli_misuse(
            state,
            "--resume takes the program, the seeds and the folder from the "
            "checkpoint: leave out '%s'. It can be combined with --plugin, --jobs, --time, "
            "--json and --quiet",
            extra);
    }
}

static const struct bz_option options[] = {
    {"seed", "N", "Run only this seed", BZ_OPTION_PARSED, .is_once = true, .parse = select_seeds},
    {"seeds", "A..B", "The seeds from A to B, both included", BZ_OPTION_PARSED, .is_once = true,
     .parse = select_seeds},
    {"runs", "N", "Number of seeds, from 0 or --seed-first on (default 10000)", BZ_OPTION_PARSED,
     .is_once = true, .parse = select_seeds},
    {"time", "T",
     "Run seeds for this long: 30s, 5m, 2h; with --runs or --seeds, stop at whichever comes "
     "first",
     BZ_OPTION_PARSED, .is_once = true, .parse = set_time},
    {"seed-first", "N", "First seed of --runs and --time (default 0)", BZ_OPTION_PARSED,
     .is_once = true, .parse = set_seed_first},
    {"shard", "I/N|auto|auto/N", BZ_SHARD_HELP, BZ_OPTION_PARSED, .is_once = true,
     .parse = set_shard},
    {"jobs", "N", "Number of worker processes; it does not change the results (default 1)",
     BZ_OPTION_NUMBER32, offsetof(struct bz_run, jobs), .is_once = true, .least = 1,
     .most = BZ_JOBS_MAX},
    {"keep-going", NULL, "Continue after a violation, and if the first runs all hit the step limit",
     BZ_OPTION_FLAG, offsetof(struct bz_run, job.keep_going)},
    {"check-determinism", NULL,
     "Run every seed twice and report any difference as nondeterminism (default: the first 50 "
     "seeds, then one in 8192)",
     BZ_OPTION_FLAG, offsetof(struct bz_run, repeats_all)},
    {"sizes", "drawn|default", BZ_OPTION_SIZES_HELP, BZ_OPTION_PARSED, .is_once = true,
     .parse = set_sizes},
    {"require-window", "WINDOWS",
     "Exit with 4 unless a cancel struck in each of these windows, separated by commas: WINDOW, "
     "or OPERATION:WINDOW, such as acquire:woken",
     BZ_OPTION_PARSED, offsetof(struct bz_run, job.required), .parse = bz_require_window_parse},
    {"strict", NULL,
     "Exit with 4 after a warning: no operation ever waited, no cancel struck one that did, or all "
     "runs were alike",
     BZ_OPTION_FLAG, offsetof(struct bz_run, is_strict)},
    {"no-shrink", NULL, "Do not shrink findings", BZ_OPTION_FLAG,
     offsetof(struct bz_run, job.keeps_size)},
    BZ_SEARCH_OPTIONS(struct bz_run, search),
    {"out", "DIR",
     "Write traces and a checkpoint to DIR. Existing traces for this scenario and variant are "
     "replayed first (with --order fifo, only those of this order); the exit status is 1 if one "
     "still fails",
     BZ_OPTION_TEXT, offsetof(struct bz_run, out), .is_once = true},
    {"corpus", "DIR",
     "Replay the traces of this scenario in DIR first (with --order fifo, only those of this "
     "order); if one fails, stop there, unless --keep-going",
     BZ_OPTION_TEXT, offsetof(struct bz_run, corpus), .is_once = true},
    {"resume", "DIR", "Continue the campaign that was started with --out DIR", BZ_OPTION_TEXT,
     offsetof(struct bz_run, resume), .is_once = true},
    BZ_CI_OPTIONS(struct bz_run, ci),
    {"json", NULL, "Print one JSON document", BZ_OPTION_FLAG, offsetof(struct bz_run, is_json)},
    {"quiet", NULL, "Print findings only", BZ_OPTION_FLAG, offsetof(struct bz_run, is_quiet)},
    {NULL},
};

int bz_run_options_parse(struct bz_run *run, int argc, char **argv) {
    const struct bz_syntax syntax = {
        .options = options,
        .target = run,
        .args_doc = "SCENARIO",
        .arguments = &run->options.scenario,
        .arguments_max = 1,
        .plugins = BZ_PLUGINS_RUN,
        .program = &run->options,
        .check = check_options,
        .doc = "Runs a scenario under many seeded schedules and judges every step. Exit status: 0 "
               "nothing found, 1 a violation, 2 usage, 4 a required window was never hit, or a "
               "warning with --strict, 5 interrupted or out of steps."};
    return bz_options_parse(&syntax, argc, argv);
}
