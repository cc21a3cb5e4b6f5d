#include "tools/report/ci.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/session/folder.h"
#include "tools/cli/cli.h"
#include "tools/cli/exit_report.h"
#include "traces/text.h"

/* Of the command that runs: it may end anywhere. */
static struct {
    struct bz_ci files;
    char suite[256];
    char title[1024];
} ci;

bool bz_ci_is_wanted(const struct bz_ci *wanted) {
    return wanted->junit != NULL || wanted->is_github;
}

/* --- JUnit ------------------------------------------------------------------------------------ */

static int write_junit(const struct bz_outcome *outcome) {
    struct bz_text text = {0};
    bz_junit_add(&text, outcome);
    bool is_written = bz_file_put(ci.files.junit, text.bytes, text.length);
    int problem = errno;
    bz_text_fini(&text);
    return is_written ? BZ_EXIT_OK
                      : bz_cli_fail(bz_cli_exit_of_errno(problem), "--junit: cannot write '%s': %s",
                                    ci.files.junit, strerror(problem));
}

/* An outcome of one case, an error. */
static void begin_error(struct bz_outcome *outcome, const char *type, const char *message) {
    const char *blank = strrchr(bz_cli_prefix, ' ');
    bz_outcome_init(outcome, blank != NULL ? blank + 1 : bz_cli_prefix);
    bz_text_add(&outcome->suite, "%s", ci.suite);
    bz_text_add(&outcome->title, "%s", ci.title);
    struct bz_case *one = bz_outcome_case(outcome, BZ_CASE_ERROR, type);
    bz_text_add(&one->name, "%s", ci.title);
    bz_text_add(&one->message, "%s", message);
}

/* As --out does; whether the file can be written shows next. */
static void make_folder_of(const char *path) {
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (slash != NULL && slash != path && (size_t)(slash - path) < sizeof folder) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
        (void)bz_folder_make(folder);
    }
}

static int begin_junit(void) {
    struct stat status;
    struct bz_outcome outcome;
    if (stat(ci.files.junit, &status) == 0 && S_ISDIR(status.st_mode)) {
        return bz_cli_fail(BZ_EXIT_USAGE,
                           "--junit: '%s' is a folder; name a file in it, or another one",
                           ci.files.junit);
    }
    if (bz_file_is_stream(ci.files.junit) && access(ci.files.junit, W_OK) == 0) {
        return BZ_EXIT_OK; /* it takes one document */
    }
    make_folder_of(ci.files.junit);
    begin_error(&outcome, "unfinished",
                "the program has not ended, or was killed before it could say how it ended");
    int code = write_junit(&outcome);
    bz_outcome_fini(&outcome);
    return code;
}

/* --- GitHub ----------------------------------------------------------------------------------- */

/* NULL outside of GitHub Actions. */
static const char *summary_file(void) {
    const char *path = getenv("GITHUB_STEP_SUMMARY");
    return path != NULL && path[0] != '\0' ? path : NULL;
}

static int open_summary(int *file) {
    const char *path = summary_file();
    *file = path == NULL ? -1 : open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    return path == NULL || *file >= 0
               ? BZ_EXIT_OK
               : bz_cli_fail(BZ_EXIT_USAGE, "--github: cannot write '%s': %s", path,
                             strerror(errno));
}

static bool write_all(int file, const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t written = write(file, bytes, length);
        if (written < 0 && errno != EINTR) {
            return false;
        }
        bytes += written > 0 ? written : 0;
        length -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

/* Steps share the file, and its limit. */
static int write_summary(const struct bz_outcome *outcome) {
    int file;
    struct stat status;
    struct bz_text text = {0};
    int code = open_summary(&file);
    if (file < 0) {
        return code;
    }
    size_t used = fstat(file, &status) == 0 ? (size_t)status.st_size : 0;
    size_t most = BZ_GITHUB_SUMMARY_BYTES_MAX;
    bz_github_add_summary(&text, outcome, most > used ? most - used : 0);
    bool is_written = write_all(file, text.bytes, text.length);
    int problem = errno;
    is_written &= close(file) == 0;
    bz_text_fini(&text);
    return is_written ? BZ_EXIT_OK
                      : bz_cli_fail(BZ_EXIT_USAGE, "--github: cannot write '%s': %s",
                                    summary_file(), strerror(problem));
}

/* The runner reads both streams. */
static void print_annotations(const struct bz_outcome *outcome) {
    struct bz_text text = {0};
    bz_github_add_annotations(&text, outcome);
    if (text.length > 0) {
        fflush(stdout);
        fputs(text.bytes, ci.files.has_json ? stderr : stdout);
    }
    bz_text_fini(&text);
}

/* --- the whole -------------------------------------------------------------------------------- */

static int write_parts(const struct bz_outcome *outcome) {
    int code = ci.files.junit != NULL ? write_junit(outcome) : BZ_EXIT_OK;
    if (ci.files.is_github) {
        print_annotations(outcome);
        int summary_code = write_summary(outcome);
        code = code != BZ_EXIT_OK ? code : summary_code;
    }
    return code;
}

/* The command ends without results. */
static void tell(int code, const char *message) {
    struct bz_outcome outcome;
    begin_error(&outcome, code == BZ_EXIT_USAGE ? "bad-input" : "no-result", message);
    bz_outcome_property(&outcome, "exit_code", "%d", code);
    (void)write_parts(&outcome); /* the command fails anyway */
    bz_outcome_fini(&outcome);
}

static void set_names(const char *suite, const char *title) {
    snprintf(ci.suite, sizeof ci.suite, "%s", suite != NULL ? suite : "unknown");
    snprintf(ci.title, sizeof ci.title, "%s", title != NULL ? title : "unknown");
}

int bz_ci_begin(const struct bz_ci *wanted, int code, const char *suite, const char *title) {
    int file = -1;
    ci.files = *wanted;
    if (!bz_ci_is_wanted(wanted)) {
        return code;
    }
    set_names(suite, title);
    int own_code = ci.files.is_github ? open_summary(&file) : BZ_EXIT_OK;
    if (file >= 0) {
        close(file);
    }
    own_code = own_code == BZ_EXIT_OK && ci.files.junit != NULL ? begin_junit() : own_code;
    if (own_code == BZ_EXIT_OK) {
        bz_ending_owe(tell);
    }
    return code != BZ_EXIT_OK ? code : own_code;
}

int bz_ci_rename(const char *suite, const char *title) {
    set_names(suite, title);
    return ci.files.junit != NULL ? begin_junit() : BZ_EXIT_OK;
}

int bz_ci_end(const struct bz_outcome *outcome) {
    bz_ending_owe(NULL);
    return bz_ci_is_wanted(&ci.files) ? write_parts(outcome) : BZ_EXIT_OK;
}
