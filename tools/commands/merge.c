/* buzzer merge: one report of the shards of a campaign.
 *
 * A file is taken as a whole or not at all: its checksum says whether it is one. Files of different
 * campaigns are refused, and so are two of one shard. A shard that is missing, or has not come to
 * its end, leaves a gap, which is named. Memory does not grow with the size of the files: each
 * is read twice, first for its place. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/campaign/totals.h"
#include "sim/session/checkpoint.h"
#include "sim/session/stop.h"
#include "tools/cli/cli.h"
#include "tools/cli/options.h"
#include "tools/cli/require_window.h"
#include "tools/report/cases.h"
#include "tools/report/ci.h"
#include "tools/report/findings_output.h"
#include "tools/report/report.h"
#include "traces/lack.h"
#include "traces/text.h"

#define ARGUMENTS_MAX 4096u

/* A shard of the campaign. */
struct part {
    const char *path; /* NULL: there is no file */
    uint64_t first;   /* run */
    uint64_t runs;    /* wanted */
    uint64_t done;
    bool is_finished;
};

struct shards {
    char **paths; /* of the files */
    size_t count;
    struct bz_job of;   /* the campaign, as the first file has it */
    struct part *parts; /* all of them, in order */
    uint32_t missing;   /* of them */
    uint64_t spent_ms;  /* by all of them */
};

struct merge {
    const char *paths[ARGUMENTS_MAX + 1]; /* the last one stays NULL */
    const char *out;
    bool is_strict;
    bool is_json;
    bool is_quiet;
    struct shards shards;
    struct bz_ci ci;
    struct bz_kept_findings findings;
    struct bz_findings_output output;
};

static void check_options(void *target) {
    const struct merge *merge = target;
    if (merge->paths[0] == NULL) {
        bz_cli_misuse("a folder is missing: name the --out folders of the shards");
    }
}

static const struct bz_option options[] = {
    {"out", "DIR", "Write report.json and a trace of each finding to DIR", BZ_OPTION_TEXT,
     offsetof(struct merge, out), .letter = 'o'},
    {"no-shrink", NULL, "Do not shrink findings", BZ_OPTION_FLAG,
     offsetof(struct merge, findings.keeps_size)},
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

#define SUFFIX ".checkpoint"
#define LISTED_MAX 20u /* shards that a text names */

/* --- which files ------------------------------------------------------------------------------ */

/* Not the checkpoint of a search, which is nothing to merge. */
static int is_result(const struct dirent *entry) {
    size_t length = strlen(entry->d_name);
    size_t suffix = sizeof SUFFIX - 1;
    bool is_checkpoint = length > suffix && strcmp(entry->d_name + length - suffix, SUFFIX) == 0;
    return is_checkpoint && strncmp(entry->d_name, "search", 6) != 0;
}

static void add_file(struct shards *shards, const char *folder, const char *name) {
    size_t bytes = strlen(folder) + strlen(name) + 2;
    size_t size = (shards->count + 1) * sizeof *shards->paths;
    char *path = bz_lack_check(malloc(bytes), "the names of files");
    snprintf(path, bytes, "%s%s%s", folder, folder[0] == '\0' ? "" : "/", name);
    shards->paths = bz_lack_check(realloc(shards->paths, size), "the names of files");
    shards->paths[shards->count++] = path;
}

static int add_path(struct shards *shards, const char *path) {
    struct stat status;
    struct dirent **entries;
    if (strlen(path) >= PATH_MAX - 256) {
        return bz_cli_fail(BZ_EXIT_USAGE, "the name '%.64s...' is too long", path);
    }
    if (stat(path, &status) != 0) {
        return bz_cli_fail(BZ_EXIT_USAGE, "'%s': %s", path, strerror(errno));
    }
    if (!S_ISDIR(status.st_mode)) {
        add_file(shards, "", path);
        return BZ_EXIT_OK;
    }
    int count = scandir(path, &entries, is_result, alphasort);
    if (count < 0) {
        return bz_cli_fail(bz_cli_exit_of_errno(errno), "'%s': %s", path, strerror(errno));
    }
    for (int index = 0; index < count; index++) {
        add_file(shards, path, entries[index]->d_name);
        free(entries[index]);
    }
    free(entries);
    return count > 0 ? BZ_EXIT_OK
                     : bz_cli_fail(BZ_EXIT_USAGE,
                                   "there is no result in '%s': 'run --shard I/N --out DIR' "
                                   "writes one",
                                   path);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* One that does not belong to the campaign is refused. */
static int check(const struct shards *shards, const struct bz_job *job, const char *path) {
    const struct bz_job *of = &shards->of;
    char reason[2 * BZ_TOKEN_BYTES + 64];
    if (strcmp(of->version, bz_engine_version()) != 0) {
        return bz_cli_fail(BZ_EXIT_USAGE,
                           "%s was written by version '%s', and this is %s: merge with the "
                           "program that ran the shards",
                           shards->paths[0], of->version, bz_engine_version());
    }
    if (bz_job_differs(of, job, reason, sizeof reason)) {
        return bz_cli_fail(BZ_EXIT_USAGE, "%s does not belong to %s: %s", path, shards->paths[0],
                           reason);
    }
    return BZ_EXIT_OK;
}

static int load(struct bz_job *job, struct bz_campaign_state *state, const char *path) {
    static struct bz_work_file file = {.kind = BZ_CHECKPOINT_KIND};
    char error[BZ_ERROR_BYTES];
    snprintf(file.path, sizeof file.path, "%s", path);
    return bz_checkpoint_load(job, state, &bz_cli_catalog, &file, error, sizeof error)
               ? BZ_EXIT_OK
               : bz_cli_fail(BZ_EXIT_USAGE, "%s", error);
}

/* The parts of the campaign, of which none is done. */
static void divide(struct shards *shards) {
    struct bz_shard shard = {1, shards->of.shard.count};
    shards->missing = shard.count;
    shards->parts = bz_lack_new(shard.count, sizeof *shards->parts, "the shards");
    for (; shard.number <= shard.count; shard.number++) {
        struct part *part = &shards->parts[shard.number - 1];
        part->first = bz_shard_first(&shard, shards->of.campaign_runs);
        part->runs = bz_shard_runs(&shard, shards->of.campaign_runs);
    }
}

/* Reads each for its place. */
static int survey(struct shards *shards, struct bz_campaign_state *state) {
    static struct bz_job job;
    for (size_t index = 0; index < shards->count; index++) {
        const char *path = shards->paths[index];
        int code = load(&job, state, path);
        if (code == BZ_EXIT_OK && index == 0) {
            shards->of = job;
            divide(shards);
        }
        code = code == BZ_EXIT_OK ? check(shards, &job, path) : code;
        if (code != BZ_EXIT_OK) {
            return code;
        }
        struct part *part = &shards->parts[job.shard.number - 1];
        if (part->path != NULL) {
            return bz_cli_fail(BZ_EXIT_USAGE,
                               "%s and %s overlap: both are shard %" PRIu32 " of %" PRIu32,
                               part->path, path, job.shard.number, job.shard.count);
        }
        part->path = path;
    }
    return BZ_EXIT_OK;
}

/* A shard that still runs may have replaced its file by now. */
static int join(struct shards *shards, struct part *part, struct bz_campaign_state *state,
                struct bz_campaign_state *sum) {
    static struct bz_job job;
    char error[BZ_ERROR_BYTES];
    int code = load(&job, state, part->path);
    code = code == BZ_EXIT_OK ? check(shards, &job, part->path) : code;
    if (code == BZ_EXIT_OK && &shards->parts[job.shard.number - 1] != part) {
        code = bz_cli_fail(BZ_EXIT_USAGE, "%s was changed while it was read", part->path);
    }
    if (code == BZ_EXIT_OK &&
        !bz_checkpoint_check_code(&job, state, part->path, error, sizeof error)) {
        code = bz_cli_fail(BZ_EXIT_USAGE, "%s", error);
    }
    if (code == BZ_EXIT_OK) {
        part->done = state->result.runs;
        part->is_finished = bz_job_is_finished(&job, state);
        shards->missing -= part->is_finished;
        shards->spent_ms += job.spent_ms;
        bz_tally_join(sum, state);
    }
    return code;
}

static int join_all(struct shards *shards, struct bz_campaign_state *sum) {
    struct bz_campaign_state *state = bz_lack_check(calloc(1, sizeof *state), "a shard");
    int code = survey(shards, state);
    for (uint32_t index = 0; code == BZ_EXIT_OK && index < shards->of.shard.count; index++) {
        if (shards->parts[index].path != NULL) {
            code = join(shards, &shards->parts[index], state, sum);
        }
    }
    free(state);
    return code;
}

/* --- what they cover -------------------------------------------------------------------------- */

/* Runs have numbers, but a shard with a limit of time has no last one. */
static void add_missing(const struct shards *shards, const struct part *part,
                        struct bz_text *text) {
    bool is_timed = shards->of.limit_ms != 0;
    bz_text_add(text, "missing  shard %zu/%" PRIu32 ": ", (size_t)(part - shards->parts) + 1,
                shards->of.shard.count);
    if (is_timed && part->path == NULL) {
        bz_text_add(text, "all of its time\n");
    } else if (is_timed) {
        bz_text_add(text, "the rest of its time, after %" PRIu64 " runs\n", part->done);
    } else {
        bz_text_add(text, "runs %" PRIu64 " to %" PRIu64 "\n", part->first + part->done,
                    part->first + part->runs - 1);
    }
}

static void add_shards_text(const struct shards *shards, struct bz_text *text) {
    uint32_t count = shards->of.shard.count;
    uint32_t listed = 0;
    bz_text_add(text, "shards   %" PRIu32 " of %" PRIu32 " complete\n", count - shards->missing,
                count);
    for (uint32_t index = 0; listed < LISTED_MAX && index < count; index++) {
        if (!shards->parts[index].is_finished) {
            add_missing(shards, &shards->parts[index], text);
            listed++;
        }
    }
    if (listed < shards->missing) {
        bz_text_add(text, "         and %" PRIu32 " further shards\n", shards->missing - listed);
    }
}

static void add_range(struct bz_json *ranges, uint64_t first, uint64_t runs) {
    if (runs > 0) {
        struct bz_json *range = bz_json_append_object(ranges);
        bz_json_add_hex(range, "first_run", first);
        bz_json_add_number(range, "runs", runs);
    }
}

static void add_shards_json(const struct shards *shards, struct bz_json *root) {
    uint32_t count = shards->of.shard.count;
    struct bz_json *object = bz_json_add_object(root, "shards");
    bz_json_add_number(object, "count", count);
    bz_json_add_number(object, "complete", count - shards->missing);
    struct bz_json *ranges = bz_json_add_array(object, "ranges");
    struct bz_json *missing = bz_json_add_array(object, "missing");
    uint64_t first = 0; /* of the range so far */
    uint64_t end = 0;
    for (uint32_t index = 0; index < count; index++) {
        const struct part *part = &shards->parts[index];
        if (part->first != end) {
            add_range(ranges, first, end - first);
            first = part->first;
        }
        end = part->first + part->done;
        if (!part->is_finished) {
            struct bz_json *item = bz_json_append_object(missing);
            bz_json_add_number(item, "shard", index + 1);
            bz_json_add_hex(item, "first_run", end);
            bz_json_add_hex(item, "runs", part->runs - part->done);
        }
    }
    add_range(ranges, first, end - first);
}

static void drop_files(struct shards *shards) {
    for (size_t index = 0; index < shards->count; index++) {
        free(shards->paths[index]);
    }
    free(shards->paths);
    free(shards->parts);
}

/* --- findings --------------------------------------------------------------------------------- */

/* Records each finding, shrinks it, and searches its witness: no shard has done it. */
static void take_findings(struct merge *merge, const struct bz_campaign_result *result) {
    struct bz_kept_findings *kept = &merge->findings;
    static struct bz_program program;
    kept->folder = merge->out;
    bz_findings_output_begin(&merge->output, kept);
    for (uint32_t index = 0; index < result->finding_count; index++) {
        const struct bz_finding *finding = &result->findings[index];
        bz_job_program(&merge->shards.of, finding->seed, &program);
        (void)bz_findings_keep(kept, index, &program, finding);
    }
    bz_findings_finish(kept, result, false);
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
    struct bz_json *root = bz_json_new_object();
    bz_run_report_add_json(root, report);
    add_shards_json(&merge->shards, root);
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
        add_shards_text(&merge->shards, &text);
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
                   : bz_cli_fail(BZ_EXIT_USAGE, "%s: cannot be written: %s", path, strerror(errno));
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

/* The joined result of the shards. */
static int report_all(struct merge *merge, const struct bz_campaign_result *result) {
    const struct bz_job *campaign = &merge->shards.of;
    static struct bz_kept_finding cut;
    static struct bz_program program;
    char why[128];
    uint32_t missing = merge->shards.missing;
    snprintf(why, sizeof why, "incomplete: %" PRIu32 " of %" PRIu32 " shards %s missing", missing,
             campaign->shard.count, missing == 1 ? "is" : "are");
    struct bz_run_report report = {.job = campaign,
                                   .result = result,
                                   .findings = &merge->findings,
                                   .cut = &cut,
                                   .seconds = (double)merge->shards.spent_ms / 1000,
                                   .is_stopped = missing > 0,
                                   .why_stopped = why,
                                   .is_strict = merge->is_strict};
    bz_require_window_missed(campaign->required, &result->stats, &report.missed);
    bz_warnings_find(&campaign->program, result, merge->is_strict, &report.warnings);
    if (result->out_of_steps > 0 && result->violations == 0) {
        bz_job_program(campaign, result->seed_cut, &program);
        bz_findings_keep_cut(&cut, &program, result->seed_cut);
    }
    take_findings(merge, result);
    report.exit_code =
        merge->output.code != BZ_EXIT_OK ? merge->output.code : bz_run_report_exit_code(&report);
    int code = merge->out != NULL ? write_report(merge, document(merge, &report)) : BZ_EXIT_OK;
    report.exit_code = code != BZ_EXIT_OK ? code : report.exit_code;
    code = write_cases(merge, &report);
    report.exit_code = code != BZ_EXIT_OK ? code : report.exit_code;
    if (merge->is_json) {
        bz_json_put(document(merge, &report));
    } else {
        print(merge, &report);
    }
    bz_findings_drop(&cut);
    return report.exit_code;
}

static int merge_campaign(struct merge *merge) {
    static struct bz_campaign_state sum;
    bz_campaign_begin(&sum);
    int code = join_all(&merge->shards, &sum);
    code = code == BZ_EXIT_OK ? bz_cases_name(&merge->ci, &merge->shards.of.program, true) : code;
    char error[BZ_ERROR_BYTES];
    if (code == BZ_EXIT_OK && merge->out != NULL &&
        !bz_folder_prepare(merge->out, error, sizeof error)) {
        code = bz_cli_fail(BZ_EXIT_USAGE, "%s", error);
    }
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
    int code = bz_options_parse(&syntax, argc, argv);
    merge.ci.has_json = merge.is_json;
    code = bz_ci_begin(&merge.ci, code, NULL, NULL);
    for (size_t index = 0; code == BZ_EXIT_OK && merge.paths[index] != NULL; index++) {
        code = add_path(&merge.shards, merge.paths[index]);
    }
    bz_interrupt_catch();
    if (code == BZ_EXIT_OK) {
        code = merge_campaign(&merge);
    }
    bz_findings_truncate(&merge.findings, 0);
    drop_files(&merge.shards);
    return code;
}
