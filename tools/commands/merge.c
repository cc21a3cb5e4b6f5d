/* buzzer merge: one report of the shards of a campaign. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/session/totals.h"
#include "tools/cli/cli.h"
#include "tools/cli/options.h"
#include "tools/cli/require_window.h"
#include "tools/report/cases.h"
#include "tools/report/ci.h"
#include "tools/report/report.h"
#include "tools/session/findings.h"
#include "tools/session/shard_files.h"
#include "traces/text.h"

#define ARGUMENTS_MAX 4096u

struct merge {
    const char *name;
    const char *paths[ARGUMENTS_MAX + 1]; /* the last one stays NULL */
    const char *out;
    bool keeps_size; /* --no-shrink */
    bool is_strict;
    bool is_json;
    bool is_quiet;
    struct bz_shard_files shards;
    struct bz_ci ci;
    struct bz_kept_findings findings;
    int findings_code; /* the worst of their exit codes */
};

static void check_options(struct argp_state *state, void *target) {
    const struct merge *merge = target;
    if (merge->paths[0] == NULL) {
        bz_cli_misuse(state, "a folder is missing: name the --out folders of the shards");
    }
}

static const struct bz_option options[] = {
    {"out", "DIR", "Write report.json and a trace of each finding to DIR", BZ_OPTION_TEXT,
     offsetof(struct merge, out), .is_once = true, .letter = 'o'},
    {"no-shrink", NULL, "Do not shrink findings", BZ_OPTION_FLAG,
     offsetof(struct merge, keeps_size)},
    BZ_SEARCH_OPTIONS(struct merge, findings.limits),
    {"strict", NULL,
     "Exit with 4 after a warning: no operation ever waited, no cancel struck one that did, or all "
     "runs were alike",
     BZ_OPTION_FLAG, offsetof(struct merge, is_strict)},
    BZ_CI_OPTIONS(struct merge, ci),
    {"json", NULL, "Print one JSON document", BZ_OPTION_FLAG, offsetof(struct merge, is_json)},
    {"quiet", NULL, "Print findings only", BZ_OPTION_FLAG, offsetof(struct merge, is_quiet)},
    {NULL},
};

/* --- findings --------------------------------------------------------------------------------- */

static void note_code(struct merge *merge, int code) {
    merge->findings_code = code > merge->findings_code ? code : merge->findings_code;
}

/* Records each finding, shrinks it, and searches its witness: no shard has done it. */
static void take_findings(struct merge *merge, const struct bz_campaign_result *result) {
    struct bz_kept_findings *kept = &merge->findings;
    static struct bz_program program;
    for (uint32_t index = 0; index < result->finding_count; index++) {
        const struct bz_finding *finding = &result->findings[index];
        bz_checkpoint_program(&merge->shards.of.checkpoint, finding->seed, &program);
        note_code(merge, bz_findings_keep(kept, index, merge->name, &program, finding, merge->out));
        kept->items[index].count = finding->count;
    }
    for (uint32_t index = 0; index < kept->count; index++) {
        if (!merge->keeps_size) {
            note_code(merge, bz_findings_shrink(kept, index, merge->name, merge->out));
        }
        note_code(merge, bz_findings_search_witness(kept, index, merge->name, !merge->keeps_size,
                                                    merge->out));
    }
}

/* The first finding with the same smallest run: they are one fault. `index` itself if none is. */
static uint32_t first_like(const struct bz_kept_findings *kept, uint32_t index) {
    const char *token = kept->items[index].small_token;
    for (uint32_t earlier = 0; token[0] != '\0' && earlier < index; earlier++) {
        if (strcmp(kept->items[earlier].small_token, token) == 0) {
            return earlier;
        }
    }
    return index;
}

static void print_same(const struct bz_kept_findings *kept) {
    for (uint32_t index = 0; index < kept->count; index++) {
        uint32_t first = first_like(kept, index);
        if (first != index) {
            printf("finding %" PRIu32 " has the smallest run of finding %" PRIu32 "\n", index + 1,
                   first + 1);
        }
    }
}

/* --- the report ------------------------------------------------------------------------------- */

static struct bz_json *document(const struct merge *merge, const struct bz_run_report *report) {
    struct bz_json *root = bz_run_report_json(report);
    bz_shard_files_add_json(&merge->shards, root);
    bz_json_add_bool(root, "counts_are_exact", bz_tally_has_all(report->result));
    struct bz_json *same = bz_json_add_array(root, "same_smallest_run");
    for (uint32_t index = 0; index < merge->findings.count; index++) {
        bz_json_append_number(same, first_like(&merge->findings, index));
    }
    return root;
}

static void print(const struct merge *merge, const struct bz_run_report *report) {
    struct bz_text text = {0};
    if (!merge->is_quiet) {
        bz_shard_files_text(&merge->shards, &text);
        bz_run_report_print_head(report);
        printf("%s\n", text.bytes);
    }
    bz_run_report_print(report, merge->is_quiet);
    print_same(&merge->findings);
    if (!bz_tally_has_all(report->result)) {
        printf("a finding may have failed in more runs than its count says\n");
    }
    bz_text_fini(&text);
}

/* Frees the document. */
static int write_report(const struct merge *merge, struct bz_json *root) {
    char path[PATH_MAX + 16];
    struct bz_text text = {0};
    char *json = bz_json_print(root, true);
    bz_json_free(root);
    bz_text_add(&text, "%s\n", json);
    free(json);
    snprintf(path, sizeof path, "%s/report.json", merge->out);
    int code = bz_file_replace(path, text.bytes, text.length)
                   ? BZ_EXIT_OK
                   : bz_cli_fail(merge->name, BZ_EXIT_USAGE, "%s: cannot be written: %s", path,
                                 strerror(errno));
    bz_text_fini(&text);
    return code;
}

static int write_cases(const struct merge *merge, const struct bz_run_report *report) {
    static const struct bz_stored none;
    struct bz_outcome outcome;
    if (!bz_ci_is_wanted(&merge->ci)) {
        return BZ_EXIT_OK;
    }
    bz_cases_of_run(&outcome, report, &none, &none);
    int code = bz_ci_end(&outcome);
    bz_outcome_fini(&outcome);
    return code;
}

static void say_missing(const struct bz_shard_files *shards, char *text, size_t bytes) {
    uint32_t missing = bz_shard_files_missing(shards);
    snprintf(text, bytes, "incomplete: %" PRIu32 " of %" PRIu32 " shards %s missing", missing,
             shards->of.checkpoint.shard.count, missing == 1 ? "is" : "are");
}

/* The joined result of the shards. */
static int report_all(struct merge *merge, const struct bz_campaign_result *result) {
    const struct bz_checkpoint *campaign = &merge->shards.of.checkpoint;
    static struct bz_kept_finding cut;
    static struct bz_program program;
    char why[128];
    say_missing(&merge->shards, why, sizeof why);
    struct bz_run_report report = {.program = &campaign->program,
                                   .seed_first = campaign->seed_first,
                                   .result = result,
                                   .findings = &merge->findings,
                                   .cut = &cut,
                                   .seconds = (double)merge->shards.spent_ms / 1000,
                                   .is_stopped = bz_shard_files_missing(&merge->shards) > 0,
                                   .why_stopped = why,
                                   .is_strict = merge->is_strict,
                                   .draws_sizes = campaign->draws_sizes};
    struct bz_require_window required;
    memcpy(required.windows, campaign->required, sizeof required.windows);
    bz_require_window_missed(&required, &result->stats, &report.missed);
    bz_warnings_find(&campaign->program, result, merge->is_strict, &report.warnings);
    if (result->out_of_steps > 0 && result->violations == 0) {
        bz_checkpoint_program(campaign, result->seed_cut, &program);
        bz_findings_keep_cut(&cut, &program, result->seed_cut);
    }
    take_findings(merge, result);
    report.exit_code = merge->findings_code != BZ_EXIT_OK ? merge->findings_code
                                                          : bz_run_report_exit_code(&report);
    int code = merge->out != NULL ? write_report(merge, document(merge, &report)) : BZ_EXIT_OK;
    report.exit_code = code != BZ_EXIT_OK ? code : report.exit_code;
    code = write_cases(merge, &report);
    report.exit_code = code != BZ_EXIT_OK ? code : report.exit_code;
    if (merge->is_json) {
        bz_json_put(document(merge, &report));
    } else {
        print(merge, &report);
    }
    bz_findings_drop_cut(&cut);
    return report.exit_code;
}

static int merge_campaign(struct merge *merge) {
    static struct bz_campaign_state sum;
    bz_campaign_begin(&sum);
    int code = bz_shard_files_join(&merge->shards, &sum);
    code = code == BZ_EXIT_OK
               ? bz_cases_name(&merge->ci, &merge->shards.of.checkpoint.program, true)
               : code;
    code = code == BZ_EXIT_OK && merge->out != NULL
               ? bz_findings_prepare_folder(merge->name, merge->out)
               : code;
    return code == BZ_EXIT_OK ? report_all(merge, &sum.result) : code;
}

int bz_command_merge(int argc, char **argv) {
    static struct merge merge;
    const struct bz_syntax syntax = {
        .options = options,
        .target = &merge,
        .args_doc = "DIR|FILE...",
        .arguments = merge.paths,
        .arguments_max = ARGUMENTS_MAX,
        .plugins = BZ_PLUGINS_RUN,
        .check = check_options,
        .doc = "Joins the results that the shards of a campaign left in these folders, as if one "
               "process had done all the work, and shrinks each finding once. Exit status: 0 "
               "nothing found, 1 a violation, 2 usage, or files that do not belong together, 4 a "
               "required window was never hit, or a warning with --strict, 5 a shard is missing or "
               "incomplete, or runs hit the step limit."};
    merge.name = argv[0];
    merge.shards.name = argv[0];
    int code = bz_options_parse(&syntax, argc, argv);
    merge.ci.has_json = merge.is_json;
    code = bz_ci_begin(&merge.ci, argv[0], code, NULL, NULL);
    for (size_t index = 0; code == BZ_EXIT_OK && merge.paths[index] != NULL; index++) {
        code = bz_shard_files_add(&merge.shards, merge.paths[index]);
    }
    bz_interrupt_catch();
    if (code == BZ_EXIT_OK) {
        code = merge_campaign(&merge);
    }
    bz_findings_fini(&merge.findings);
    bz_shard_files_fini(&merge.shards);
    return code;
}
