#include "tools/session/fuzz/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/cli/cli.h"
#include "tools/cli/progress.h"
#include "tools/session/fuzz/corpus.h"
#include "tools/session/fuzz/status.h"
#include "traces/text.h"

#define STATE_FILE "fuzz.state"
#define SECOND_NS UINT64_C(1000000000)
#define SHARE 20u /* of the time, one part at most */
#define STATUS_EVERY_NS (5 * SECOND_NS)
#define CORPUS_EVERY_NS (60 * SECOND_NS)

static void path_of(const struct bz_fuzz_folder *folder, const char *file, char path[PATH_MAX]) {
    snprintf(path, PATH_MAX, "%.*s/%s", PATH_MAX - 300, folder->path, file);
}

/* --- opening ---------------------------------------------------------------------------------- */

/* Two campaigns must not write into one folder. */
static int lock(struct bz_fuzz_folder *folder, const char *option) {
    folder->lock = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->lock >= 0 && flock(folder->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        return bz_cli_fail(folder->name, BZ_EXIT_USAGE,
                           "--%s: another process runs the campaign of '%s'", option, folder->path);
    }
    folder->began_ns = bz_wall_ns();
    folder->state_due_ns = folder->began_ns;
    folder->status_due_ns = folder->began_ns;
    folder->corpus_due_ns = folder->began_ns + CORPUS_EVERY_NS;
    return BZ_EXIT_OK;
}

static int make_parts(const struct bz_fuzz_folder *folder) {
    static const char *const parts[] = {"findings", "corpus"};
    int code = BZ_EXIT_OK;
    for (size_t index = 0; code == BZ_EXIT_OK && index < sizeof parts / sizeof parts[0]; index++) {
        char path[PATH_MAX];
        path_of(folder, parts[index], path);
        code = bz_findings_prepare_folder(folder->name, path);
    }
    return code;
}

static bool has_state(const struct bz_fuzz_folder *folder, char path[PATH_MAX]) {
    struct stat status;
    path_of(folder, STATE_FILE, path);
    return lstat(path, &status) == 0 || errno != ENOENT;
}

int bz_fuzz_folder_create(struct bz_fuzz_folder *folder, const char *path) {
    char state[PATH_MAX];
    int code = bz_findings_prepare_folder(folder->name, path);
    if (code != BZ_EXIT_OK) {
        return code;
    }
    snprintf(folder->path, sizeof folder->path, "%s", path);
    code = lock(folder, "out");
    if (code == BZ_EXIT_OK && has_state(folder, state)) {
        return bz_cli_fail(
            folder->name, BZ_EXIT_USAGE,
            "--out: '%s' already has a campaign: continue it with --resume, or choose "
            "another folder",
            path);
    }
    return code == BZ_EXIT_OK ? make_parts(folder) : code;
}

int bz_fuzz_folder_open(struct bz_fuzz_folder *folder, const char *path, struct bz_fuzz *fuzz,
                        struct bz_fuzz_order *order) {
    char state[PATH_MAX];
    char error[BZ_ERROR_BYTES];
    size_t length;
    if (path[0] == '\0' || strlen(path) > PATH_MAX - 600) {
        return bz_cli_fail(folder->name, BZ_EXIT_USAGE,
                           "--resume takes the folder of a campaign, and not '%.64s'", path);
    }
    snprintf(folder->path, sizeof folder->path, "%s", path);
    if (!has_state(folder, state)) {
        return bz_cli_fail(folder->name, BZ_EXIT_USAGE,
                           "--resume: there is no '%s': only 'fuzz --out' writes one", state);
    }
    int code = lock(folder, "resume");
    if (code != BZ_EXIT_OK) {
        return code;
    }
    char *text = bz_file_read(state, BZ_FUZZ_BYTES_MAX, &length, error, sizeof error);
    bool is_read = text != NULL && bz_fuzz_parse(fuzz, order, &bz_cli_catalog, text, length, state,
                                                 error, sizeof error);
    free(text);
    if (!is_read) {
        return bz_cli_fail(folder->name, BZ_EXIT_USAGE, "--resume: %s", error);
    }
    folder->before_ms = order->spent_ms;
    folder->runs_before = fuzz->runs;
    return make_parts(folder);
}

void bz_fuzz_folder_close(struct bz_fuzz_folder *folder) {
    if (folder->lock >= 0) {
        close(folder->lock);
    }
}

uint64_t bz_fuzz_folder_spent_ms(const struct bz_fuzz_folder *folder) {
    return folder->before_ms + (bz_wall_ns() - folder->began_ns) / 1000000;
}

/* --- findings --------------------------------------------------------------------------------- */

static void keep_name(char *file, const char *path) {
    const char *slash = strrchr(path, '/');
    snprintf(file, BZ_FUZZ_FILE_BYTES, "%.*s", (int)BZ_FUZZ_FILE_BYTES - 1,
             slash == NULL ? path : slash + 1);
}

int bz_fuzz_folder_keep(struct bz_fuzz_folder *folder, struct bz_fuzz *fuzz, uint32_t index) {
    static struct bz_kept_findings kept; /* this one alone */
    static struct bz_program program;
    struct bz_fuzz_finding *finding = &fuzz->findings[index];
    char path[PATH_MAX];
    path_of(folder, "findings", path);
    bz_fuzz_program(fuzz, finding->arm, finding->finding.seed, &program);
    kept.is_quiet = true;
    int code = bz_findings_keep(&kept, 0, folder->name, &program, &finding->finding, path);
    if (code == BZ_EXIT_OK) {
        code = bz_findings_shrink(&kept, 0, folder->name, path);
    }
    const struct bz_kept_finding *item = &kept.items[0];
    snprintf(finding->token, sizeof finding->token, "%s", item->token);
    snprintf(finding->small_token, sizeof finding->small_token, "%s", item->small_token);
    keep_name(finding->file, item->path);
    keep_name(finding->small_file, item->small_path);
    bz_findings_fini(&kept);
    return code;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void report(struct bz_fuzz_folder *folder, const char *path, bool is_written, bool *is_ok) {
    if (!is_written && !folder->has_failed && *is_ok) {
        bz_cli_fail(folder->name, BZ_EXIT_USAGE, "%s: cannot be written: %s", path,
                    strerror(errno));
    }
    *is_ok = *is_ok && is_written;
}

static void replace(struct bz_fuzz_folder *folder, const char *file, const char *text,
                    bool *is_ok) {
    char path[PATH_MAX];
    path_of(folder, file, path);
    report(folder, path, bz_file_replace(path, text, strlen(text)), is_ok);
}

static void write_state(struct bz_fuzz_folder *folder, const struct bz_fuzz *fuzz,
                        const struct bz_fuzz_order *order, bool *is_ok) {
    uint64_t began_ns = bz_wall_ns();
    char *text = bz_fuzz_print(fuzz, order);
    replace(folder, STATE_FILE, text, is_ok);
    free(text);
    uint64_t now_ns = bz_wall_ns();
    folder->state_due_ns = now_ns + (now_ns - began_ns) * (SHARE - 1);
}

static void write_status(struct bz_fuzz_folder *folder, const struct bz_fuzz *fuzz,
                         const struct bz_fuzz_order *order, const char *state, bool *is_ok) {
    const struct bz_fuzz_status status = {.fuzz = fuzz,
                                          .order = order,
                                          .state = state,
                                          .session_ms = order->spent_ms - folder->before_ms,
                                          .session_runs = fuzz->runs - folder->runs_before,
                                          .examples = folder->examples};
    struct bz_text text = {NULL, 0, 0};
    bz_fuzz_status_text(&status, true, &text);
    replace(folder, "status.txt", text.bytes, is_ok);
    bz_text_clear(&text);
    bz_fuzz_status_html(&status, &text);
    replace(folder, "status.html", text.bytes, is_ok);
    bz_text_fini(&text);
    struct bz_json *root = bz_fuzz_status_json(&status);
    char *json = bz_json_print(root, true);
    replace(folder, "status.json", json, is_ok);
    free(json);
    bz_json_free(root);
    folder->status_due_ns = bz_wall_ns() + STATUS_EVERY_NS;
}

void bz_fuzz_folder_write(struct bz_fuzz_folder *folder, struct bz_fuzz *fuzz,
                          struct bz_fuzz_order *order, const char *state) {
    uint64_t now_ns = bz_wall_ns();
    bool is_last = strcmp(state, "running") != 0;
    bool has_written = false;
    bool is_ok = true;
    order->spent_ms = bz_fuzz_folder_spent_ms(folder);
    bz_fuzz_sample(fuzz, order->spent_ms);
    if (is_last || now_ns >= folder->state_due_ns) {
        write_state(folder, fuzz, order, &is_ok);
        has_written = true;
    }
    if (is_last || now_ns >= folder->corpus_due_ns) {
        char path[PATH_MAX];
        path_of(folder, "corpus", path);
        report(folder, path, bz_fuzz_corpus_write(fuzz, path, &folder->examples), &is_ok);
        folder->corpus_due_ns = bz_wall_ns() + CORPUS_EVERY_NS;
        has_written = true;
    }
    if (is_last || now_ns >= folder->status_due_ns) {
        write_status(folder, fuzz, order, state, &is_ok);
        has_written = true;
    }
    folder->has_failed = has_written ? !is_ok : folder->has_failed;
}
