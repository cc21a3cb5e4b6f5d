#include "tools/findings.h"

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

#include "tools/cli.h"
#include "traces/text.h"

#define NAME_TRIES_MAX 100000u

static bool make_folders(const char *folder) {
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
    if (!make_folders(folder)) {
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

/* SCENARIO_VARIANT_SEED.json, or with -2, -3, ...: the first name that is free or has the same
 * content. */
static bool choose_path(struct bz_kept_finding *finding, const char *folder) {
    char base[256];
    struct stat status;
    char *text = bz_trace_print(&finding->trace);
    snprintf(base, sizeof base, "%.100s_%.100s_0x%" PRIx64, finding->trace.scenario,
             finding->trace.variant, finding->trace.seed);
    for (char *character = base; *character != '\0'; character++) {
        *character = *character == '/' ? '_' : *character;
    }
    bool is_chosen = false;
    for (unsigned number = 1; text != NULL && !is_chosen && number < NAME_TRIES_MAX; number++) {
        char suffix[16] = "";
        if (number > 1) {
            snprintf(suffix, sizeof suffix, "-%u", number);
        }
        snprintf(finding->path, sizeof finding->path, "%s%s%s%s.json", folder,
                 folder[strlen(folder) - 1] == '/' ? "" : "/", base, suffix);
        is_chosen = (lstat(finding->path, &status) != 0 && errno == ENOENT) ||
                    file_holds(finding->path, text);
    }
    free(text);
    return is_chosen;
}

static int find_witness(struct bz_kept_finding *kept, const char *name,
                        const struct bz_program *program) {
    static struct bz_witness witness;
    if (!bz_witness_search(program, kept->oracle, &bz_interrupt_requested, &witness)) {
        return bz_cli_fail(name, BZ_EXIT_INTERNAL, "%s", witness.lack);
    }
    kept->fifo_is_searched = witness.is_searched && bz_interrupt_requested == 0;
    if (witness.is_found) {
        bz_token_format(&witness.program, witness.finding.seed, witness.finding.digest,
                        kept->fifo_token, sizeof kept->fifo_token);
    }
    return BZ_EXIT_OK;
}

int bz_findings_lock_folder(const char *folder) {
    int lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock >= 0) {
        (void)flock(lock, LOCK_EX);
    }
    return lock;
}

/* Chooses the name and writes the file under a lock of the folder, because a concurrent campaign
 * could choose the same name. Without a lock, the trace is written anyway. */
static bool write_trace(struct bz_kept_finding *kept, const char *folder, char *error,
                        size_t error_bytes) {
    int lock = bz_findings_lock_folder(folder);
    snprintf(error, error_bytes, "no name is free in '%s'", folder);
    bool is_written =
        choose_path(kept, folder) && bz_trace_write(&kept->trace, kept->path, error, error_bytes);
    if (lock >= 0) {
        close(lock);
    }
    return is_written;
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
    char error[BZ_TRACE_ERROR_BYTES];
    bz_token_format(program, finding->seed, finding->digest, kept->token, sizeof kept->token);
    if (!bz_record(program, finding->seed, &kept->trace, &report)) {
        keep_verdict(&kept->trace, finding);
        return bz_cli_fail(name, BZ_EXIT_INTERNAL,
                           "the finding of seed 0x%" PRIx64 " was not recorded: %s", finding->seed,
                           report.lack);
    }
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
    if (write_trace(kept, folder, error, sizeof error)) {
        return BZ_EXIT_OK;
    }
    kept->path[0] = '\0';
    return bz_cli_fail(name, BZ_EXIT_USAGE, "the trace was not written: %s", error);
}

int bz_findings_keep(struct bz_kept_findings *kept, uint32_t place, const char *name,
                     const struct bz_program *program, const struct bz_finding *finding,
                     const char *folder) {
    struct bz_kept_finding *item = &kept->items[place];
    if (place == kept->count) {
        kept->count++;
    } else {
        bz_trace_fini(&item->trace);
    }
    *item = (struct bz_kept_finding){.oracle = finding->violation.oracle,
                                     .op = finding->violation.op,
                                     .window = finding->violation.window};
    bz_trace_init(&item->trace);
    return keep(item, name, program, finding, folder);
}

int bz_findings_search_witness(struct bz_kept_findings *kept, uint32_t place, const char *name,
                               const struct bz_program *program) {
    struct bz_kept_finding *item = &kept->items[place];
    for (uint32_t index = 0; index < place; index++) {
        const struct bz_kept_finding *like = &kept->items[index];
        if (strcmp(like->oracle, item->oracle) == 0) {
            item->fifo_is_searched = like->fifo_is_searched;
            strcpy(item->fifo_token, like->fifo_token);
            return BZ_EXIT_OK;
        }
    }
    return find_witness(item, name, program);
}

void bz_findings_fini(struct bz_kept_findings *kept) {
    for (uint32_t index = 0; index < kept->count; index++) {
        bz_trace_fini(&kept->items[index].trace);
    }
}
