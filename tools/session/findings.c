#include "tools/session/findings.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/cli/cli.h"
#include "tools/cli/options.h"
#include "tools/cli/progress.h"
#include "traces/text.h"

#define NAME_TRIES_MAX 100000u

bool bz_findings_make_folders(const char *folder) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", folder);
    for (char *slash = path + 1; *slash != '\0'; slash++) {
        if (*slash == '/') {
            *slash = '\0';
            if (mkdir(path, 0777) != 0 && errno != EEXIST) {
                return false;
            }
            *slash = '/';
        }
    }
    return mkdir(path, 0777) == 0 || errno == EEXIST;
}

int bz_findings_prepare_folder(const char *name, const char *folder) {
    char probe[PATH_MAX + 32];
    if (folder[0] == '\0' || strlen(folder) > PATH_MAX - 600) {
        return bz_cli_fail(name, BZ_EXIT_USAGE,
                           "--out takes the name of a folder, and not '%.64s'%s", folder,
                           folder[0] == '\0' ? "" : "..., which is too long");
    }
    if (!bz_findings_make_folders(folder)) {
        return bz_cli_fail(name, BZ_EXIT_USAGE, "--out: cannot create the folder '%s': %s", folder,
                           strerror(errno));
    }
    /* Permissions are not enough: the file system may be read-only or full. */
    snprintf(probe, sizeof probe, "%s/.buzzer-XXXXXX", folder);
    int fd = mkstemp(probe);
    if (fd < 0) {
        return bz_cli_fail(name, BZ_EXIT_USAGE, "--out: cannot create files in '%s': %s", folder,
                           strerror(errno));
    }
    close(fd);
    unlink(probe);
    return BZ_EXIT_OK;
}

static bool file_holds(const char *path, const char *text) {
    char error[BZ_TRACE_ERROR_BYTES];
    size_t length;
    char *content = bz_file_read(path, BZ_TRACE_BYTES_MAX, &length, error, sizeof error);
    bool is_same = content != NULL && length == strlen(text) && memcmp(content, text, length) == 0;
    free(content);
    return is_same;
}

void bz_findings_path(const char *scenario, const char *variant, uint64_t seed, const char *kind,
                      const char *folder, unsigned number, char path[PATH_MAX]) {
    char base[256];
    char suffix[16] = "";
    snprintf(base, sizeof base, "%.100s_%.100s_0x%" PRIx64 "%s", scenario, variant, seed, kind);
    for (char *character = base; *character != '\0'; character++) {
        *character = *character == '/' ? '_' : *character;
    }
    if (number > 1) {
        snprintf(suffix, sizeof suffix, "-%u", number);
    }
    snprintf(path, PATH_MAX, "%s%s%s%s.json", folder, folder[strlen(folder) - 1] == '/' ? "" : "/",
             base, suffix);
}

/* The first name that is free or has the same content. */
static bool choose_path(const struct bz_trace *trace, uint64_t seed, const char *kind,
                        const char *folder, char path[PATH_MAX]) {
    struct stat status;
    char *text = bz_trace_print(trace);
    bool is_chosen = false;
    for (unsigned number = 1; text != NULL && !is_chosen && number < NAME_TRIES_MAX; number++) {
        bz_findings_path(trace->scenario, trace->variant, seed, kind, folder, number, path);
        is_chosen = (lstat(path, &status) != 0 && errno == ENOENT) || file_holds(path, text);
    }
    free(text);
    return is_chosen;
}

int bz_findings_lock_folder(const char *folder) {
    int lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock >= 0) {
        (void)flock(lock, LOCK_EX);
    }
    return lock;
}

int bz_findings_write_trace(const char *name, const struct bz_trace *trace, uint64_t seed,
                            const char *kind, const char *folder, char path[PATH_MAX]) {
    char error[BZ_TRACE_ERROR_BYTES];
    int lock = bz_findings_lock_folder(folder);
    snprintf(error, sizeof error, "no name is free in '%s'", folder);
    bool is_written = choose_path(trace, seed, kind, folder, path) &&
                      bz_trace_write(trace, path, error, sizeof error);
    if (lock >= 0) {
        close(lock);
    }
    if (is_written) {
        return BZ_EXIT_OK;
    }
    path[0] = '\0';
    return bz_cli_fail(name, BZ_EXIT_USAGE, "the trace was not written: %s", error);
}

/* Without memory for its trace, a finding keeps its verdict and its token. */
static void keep_verdict(struct bz_trace *trace, const struct bz_finding *finding) {
    bz_trace_fini(trace);
    trace->seed = finding->seed;
    trace->verdict = (struct bz_trace_verdict){.result = "violation",
                                               .oracle = finding->violation.oracle,
                                               .step = finding->violation.step,
                                               .message = finding->violation.message};
}

/* The two runs of the recording may be equal, and say less than those of the campaign anyway. */
static void keep_nondeterminism(struct bz_trace *trace, const struct bz_violation *violation) {
    bool is_task = violation->task > 0 && violation->task <= trace->task_count;
    trace->verdict =
        (struct bz_trace_verdict){.result = "violation",
                                  .oracle = violation->oracle,
                                  .step = violation->step,
                                  .task = is_task ? trace->tasks[violation->task - 1] : NULL,
                                  .message = bz_trace_string(trace, violation->message)};
}

static bool is_confirmed(const struct bz_trace *trace, const struct bz_finding *finding) {
    return trace->digest == finding->digest && trace->verdict.oracle != NULL &&
           strcmp(trace->verdict.oracle, finding->violation.oracle) == 0 &&
           trace->verdict.step == finding->violation.step;
}

static int keep(struct bz_kept_finding *kept, const char *name, const struct bz_program *program,
                const struct bz_finding *finding, const char *folder) {
    struct bz_replay_report report;
    bz_token_format(program, finding->seed, finding->digest, kept->token, sizeof kept->token);
    if (!bz_record(program, finding->seed, &kept->trace, &report)) {
        keep_verdict(&kept->trace, finding);
        return bz_cli_fail(name, BZ_EXIT_INTERNAL,
                           "the finding of seed 0x%" PRIx64 " was not recorded: %s", finding->seed,
                           report.lack);
    }
    memcpy(kept->failure.object, report.object, sizeof report.object);
    if (strcmp(finding->violation.oracle, "nondeterminism") == 0) {
        keep_nondeterminism(&kept->trace, &finding->violation);
    } else if (!is_confirmed(&kept->trace, finding)) {
        bz_trace_contradict(&kept->trace, &finding->violation, finding->digest);
    }
    if (folder == NULL) {
        return BZ_EXIT_OK;
    }
    if (kept->trace.event_count == BZ_TRACE_EVENTS_MAX) {
        return bz_cli_fail(name, BZ_EXIT_USAGE,
                           "the run of seed 0x%" PRIx64 " has more than the %u events that a trace "
                           "may have; its token replays it",
                           finding->seed, BZ_TRACE_EVENTS_MAX);
    }
    return bz_findings_write_trace(name, &kept->trace, finding->seed, "", folder, kept->path);
}

void bz_findings_drop(struct bz_kept_finding *item) {
    bz_trace_fini(&item->trace);
    bz_trace_fini(&item->small);
}

int bz_findings_keep(struct bz_kept_findings *kept, uint32_t place, const char *name,
                     const struct bz_program *program, const struct bz_finding *finding,
                     const char *folder) {
    struct bz_kept_finding *item = &kept->items[place];
    if (place == kept->count) {
        kept->count++;
    } else {
        bz_findings_drop(item);
    }
    *item = (struct bz_kept_finding){.failure.violation = finding->violation, .program = *program};
    bz_trace_init(&item->trace);
    bz_trace_init(&item->small);
    return keep(item, name, program, finding, folder);
}

/* --- the smallest run ------------------------------------------------------------------------- */

void bz_search_limits_parse_time(struct bz_parse *state, void *target, const char *option,
                                 char *text) {
    ((struct bz_search_limits *)target)->seconds = bz_option_seconds(state, option, text);
}

void bz_findings_announce(const struct bz_kept_findings *kept, uint32_t place, const char *name) {
    const struct bz_kept_finding *item = &kept->items[place];
    if (!kept->is_quiet) {
        (void)bz_cli_fail(name, BZ_EXIT_OK, "found %s at step %" PRIu64 ": %s",
                          item->failure.violation.oracle, (uint64_t)item->trace.verdict.step,
                          item->token);
    }
}

void bz_findings_show_shrinking(void *context, uint64_t runs, const struct bz_shrink_size *best) {
    char line[160];
    snprintf(line, sizeof line,
             "shrinking: %" PRIu64 " runs, the smallest: %" PRIu32 " deviations, %" PRIu32
             " cancels, %" PRIu32 " tasks, %" PRIu32 " steps",
             runs, best->deviations, best->cancels, best->tasks, best->steps);
    bz_progress_show_line(context, line);
}

static struct bz_budget begin_search(const struct bz_kept_findings *kept) {
    uint64_t seconds = kept->limits.seconds;
    bz_time_limit_begin(seconds != 0 ? seconds : BZ_SEARCH_SECONDS);
    return (struct bz_budget){.steps = kept->limits.steps, .stop = &bz_interrupt_requested};
}

static bool is_shrinkable(const struct bz_trace *trace) {
    const char *oracle = trace->verdict.oracle;
    return oracle != NULL && strcmp(oracle, "hang") != 0 && strcmp(oracle, "memory") != 0 &&
           strcmp(oracle, "nondeterminism") != 0;
}

/* Shrinks the run of `trace` into an empty trace. `is_shrunk` false: it stays as it is. Returns an
 * exit code, after a message unless it is BZ_EXIT_OK. */
static int shrink(const struct bz_kept_findings *kept, const char *name,
                  const struct bz_program *program, const struct bz_trace *trace,
                  struct bz_shrink_result *result, struct bz_trace *small, bool *is_shrunk) {
    char error[BZ_ERROR_BYTES];
    struct bz_progress progress;
    *is_shrunk = false;
    if (!is_shrinkable(trace) || bz_interrupt_requested != 0) {
        return BZ_EXIT_OK;
    }
    bz_progress_begin(&progress, kept->is_quiet, 0, 0);
    const struct bz_shrink_config config = {.program = program,
                                            .trace = trace,
                                            .budget = begin_search(kept),
                                            .on_progress = bz_findings_show_shrinking,
                                            .context = &progress};
    *is_shrunk = bz_shrink(&config, result) &&
                 result->end != BZ_SHRINK_INTERRUPTED; /* the next session does it */
    (void)bz_time_limit_end();
    (void)bz_progress_end(&progress);
    if (*is_shrunk && !bz_shrink_record(result, small, error, sizeof error)) {
        *is_shrunk = false; /* code that is not deterministic; the finding itself stands */
        bz_trace_fini(small);
        bz_trace_init(small);
    }
    if (result->lack[0] != '\0') {
        return bz_cli_fail(name, BZ_EXIT_INTERNAL, "a finding was not shrunk: %s", result->lack);
    }
    return BZ_EXIT_OK;
}

int bz_findings_shrink(struct bz_kept_findings *kept, uint32_t place, const char *name,
                       const char *folder) {
    struct bz_kept_finding *item = &kept->items[place];
    static struct bz_shrink_result result;
    result = (struct bz_shrink_result){.runs = 0};
    int code =
        shrink(kept, name, &item->program, &item->trace, &result, &item->small, &item->is_shrunk);
    item->is_interrupted =
        !item->is_shrunk && bz_interrupt_requested != 0 && is_shrinkable(&item->trace);
    if (item->is_shrunk) {
        item->small_size = result.after;
        item->small_program = result.program;
        bz_shrink_end_text(&result, item->small_end, sizeof item->small_end);
        if (result.has_answers) {
            bz_token_format(&result.program, item->small.seed, result.digest, item->small_token,
                            sizeof item->small_token);
        }
        if (folder != NULL) {
            code = bz_findings_write_trace(name, &item->small, item->trace.seed, "-shrunk", folder,
                                           item->small_path);
        }
    }
    bz_shrink_fini(&result);
    return code;
}

static bool is_same_when_small(const struct bz_kept_finding *a, const struct bz_kept_finding *b) {
    return a->is_shrunk && b->is_shrunk && a->small_token[0] != '\0' &&
           strcmp(a->small_token, b->small_token) == 0 &&
           strcmp(a->failure.violation.oracle, b->failure.violation.oracle) == 0;
}

static void merge(struct bz_kept_findings *kept) {
    uint32_t count = 0;
    for (uint32_t index = 0; index < kept->count; index++) {
        struct bz_kept_finding *item = &kept->items[index];
        uint32_t same = 0;
        while (same < count && !is_same_when_small(&kept->items[same], item)) {
            same++;
        }
        if (same < count) {
            kept->items[same].count += item->count;
            bz_findings_drop(item);
        } else if (count++ != index) {
            kept->items[same] = *item;
        }
    }
    kept->count = count;
}

/* --- the witness on a FIFO loop --------------------------------------------------------------- */

static int keep_witness(const struct bz_kept_findings *kept, struct bz_kept_finding *item,
                        const char *name, const struct bz_witness *witness, bool shrinks,
                        const char *folder) {
    static struct bz_shrink_result result;
    struct bz_trace trace;
    struct bz_trace small;
    struct bz_replay_report report;
    int code = BZ_EXIT_OK;
    bz_trace_init(&trace);
    bz_trace_init(&small);
    result = (struct bz_shrink_result){.runs = 0};
    bz_token_format(&witness->program, witness->finding.seed, witness->finding.digest,
                    item->fifo.token, sizeof item->fifo.token);
    if (!bz_record(&witness->program, witness->finding.seed, &trace, &report)) {
        code = bz_cli_fail(name, BZ_EXIT_INTERNAL, "%s", report.lack);
    } else if (!is_confirmed(&trace, &witness->finding)) {
        item->fifo.token[0] = '\0'; /* no witness: it does not come again */
    } else {
        bool is_shrunk = false;
        if (shrinks) {
            code = shrink(kept, name, &witness->program, &trace, &result, &small, &is_shrunk);
        }
        if (is_shrunk && result.has_answers) {
            bz_token_format(&result.program, small.seed, result.digest, item->fifo.token,
                            sizeof item->fifo.token);
        }
        item->fifo.lag_ns = bz_trace_lag_ns(is_shrunk && result.has_answers ? &small : &trace);
        if (folder != NULL && bz_interrupt_requested == 0) { /* else the next session does it */
            int written =
                bz_findings_write_trace(name, is_shrunk ? &small : &trace, witness->finding.seed,
                                        "-fifo", folder, item->fifo.path);
            code = code == BZ_EXIT_OK ? written : code;
        }
    }
    bz_shrink_fini(&result);
    bz_trace_fini(&small);
    bz_trace_fini(&trace);
    return code;
}

/* In the smallest run's program, with half of the budget, and then in its own. False without
 * memory. */
static bool search_programs(const struct bz_kept_findings *kept, const struct bz_kept_finding *item,
                            struct bz_witness *witness) {
    struct bz_budget budget = begin_search(kept);
    uint64_t steps = bz_budget_steps(&budget, &item->program);
    bool is_ok = true;
    *witness = (struct bz_witness){.is_found = false};
    if (item->is_shrunk) {
        budget.steps = (steps + 1) / 2;
        is_ok = bz_witness_search(&item->small_program, &item->failure, &budget, witness);
        steps -= witness->steps < steps ? witness->steps : steps - 1;
    }
    budget.steps = steps;
    return is_ok && (witness->is_found ||
                     bz_witness_search(&item->program, &item->failure, &budget, witness));
}

int bz_findings_search_witness(struct bz_kept_findings *kept, uint32_t place, const char *name,
                               bool shrinks, const char *folder) {
    static struct bz_witness witness;
    struct bz_kept_finding *item = &kept->items[place];
    for (uint32_t index = 0; index < place; index++) {
        const struct bz_kept_finding *like = &kept->items[index];
        if (bz_failures_are_alike(&like->failure, &item->failure)) {
            item->fifo = like->fifo;
            return BZ_EXIT_OK;
        }
    }
    bool is_ok = search_programs(kept, item, &witness);
    bool is_time_over = bz_time_limit_end();
    if (!is_ok) {
        return bz_cli_fail(name, BZ_EXIT_INTERNAL, "%s", witness.lack);
    }
    item->fifo.is_searched = witness.is_searched && bz_interrupt_requested == 0;
    item->fifo.runs = witness.runs;
    if (is_time_over) {
        snprintf(item->fifo.end, sizeof item->fifo.end, "the time was over (--shrink-time)");
    } else if (witness.is_cut) {
        snprintf(item->fifo.end, sizeof item->fifo.end,
                 "the budget of %" PRIu64 " steps was spent (--shrink-steps)",
                 bz_budget_steps(&(struct bz_budget){.steps = kept->limits.steps}, &item->program));
    }
    if (!witness.is_found) {
        return BZ_EXIT_OK;
    }
    return keep_witness(kept, item, name, &witness, shrinks, folder);
}

int bz_findings_finish(struct bz_kept_findings *kept, const struct bz_campaign_result *result,
                       const char *name, const char *folder, bool shrinks, bool merges) {
    int worst = BZ_EXIT_OK;
    for (uint32_t index = 0; index < result->finding_count; index++) {
        kept->items[index].count = result->findings[index].count;
        int code = shrinks ? bz_findings_shrink(kept, index, name, folder) : BZ_EXIT_OK;
        worst = code > worst ? code : worst;
    }
    if (merges) {
        merge(kept);
    }
    for (uint32_t index = 0; index < kept->count; index++) {
        int code = bz_findings_search_witness(kept, index, name, shrinks, folder);
        worst = code > worst ? code : worst;
    }
    return worst;
}

void bz_findings_keep_cut(struct bz_kept_finding *cut, const struct bz_program *program,
                          uint64_t seed) {
    struct bz_replay_report report;
    *cut = (struct bz_kept_finding){.count = 0};
    bz_trace_init(&cut->trace);
    bz_trace_init(&cut->small);
    if (bz_record(program, seed, &cut->trace, &report) && report.result == BZ_REPLAY_MATCHED &&
        strcmp(cut->trace.verdict.result, "cut") == 0) {
        bz_token_format(program, seed, cut->trace.digest, cut->token, sizeof cut->token);
    }
}

void bz_findings_drop_last(struct bz_kept_findings *kept) {
    bz_findings_drop(&kept->items[--kept->count]);
}

void bz_findings_fini(struct bz_kept_findings *kept) {
    while (kept->count > 0) {
        bz_findings_drop_last(kept);
    }
}
