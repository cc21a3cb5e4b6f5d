#include "sim/session/work_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/session/folder.h"
#include "sim/session/stop.h"
#include "sim/session/work.h"
#include "traces/lack.h"
#include "traces/text.h"

#define FIRST_NS UINT64_C(100000000)
#define INTERVAL_NS UINT64_C(1000000000)
#define SHARE 20u /* of the time, one part at most */

bool bz_work_file_set_path(struct bz_work_file *file, unsigned number) {
    struct stat status;
    char suffix[16] = "";
    size_t length = strlen(file->folder);
    if (number > 1) {
        snprintf(suffix, sizeof suffix, "-%u", number);
    }
    snprintf(file->path, sizeof file->path, "%.*s%s%s%s.checkpoint", PATH_MAX - 128, file->folder,
             length > 0 && file->folder[length - 1] == '/' ? "" : "/", file->kind, suffix);
    return lstat(file->path, &status) == 0 || errno != ENOENT;
}

FILE *bz_work_file_open(const struct bz_work_file *file, char *error, size_t error_bytes) {
    int descriptor = bz_file_open(file->path, error, error_bytes);
    return descriptor < 0 ? NULL : bz_lack_check(fdopen(descriptor, "rb"), "a checkpoint");
}

/* One that cannot be read is unfinished. */
static bool is_finished(const struct bz_work_file *file) {
    char error[BZ_ERROR_BYTES];
    struct bz_work_head head;
    struct bz_work work;
    FILE *content = bz_work_file_open(file, error, sizeof error);
    if (content == NULL) {
        return false;
    }
    bool is_ok = bz_work_read_head(content, &head) && head.is_finished;
    rewind(content);
    is_ok = is_ok && bz_work_open(&work, content, file->kind, &head, "", error, sizeof error);
    (void)fclose(content);
    return is_ok;
}

/* --- which file ------------------------------------------------------------------------------- */

/* The files of a folder. */
struct census {
    unsigned count;
    unsigned unfinished;      /* of them */
    unsigned last_unfinished; /* its number; 0: none */
    char list[BZ_ERROR_BYTES];
};

static void take_census(const struct bz_work_file *file, struct census *census) {
    struct bz_work_file other = *file;
    *census = (struct census){.count = 0};
    for (unsigned number = 1; number < BZ_WORK_FILES_MAX; number++) {
        if (!bz_work_file_set_path(&other, number)) {
            continue;
        }
        census->count++;
        if (!is_finished(&other)) {
            size_t used = strlen(census->list);
            snprintf(census->list + used, sizeof census->list - used, "%s%s", used > 0 ? ", " : "",
                     other.path);
            census->unfinished++;
            census->last_unfinished = number;
        }
    }
}

/* Finds the unfinished work of the folder, or its only one. */
static bool choose(struct bz_work_file *file, char *error, size_t error_bytes) {
    struct census census;
    take_census(file, &census);
    (void)bz_work_file_set_path(file, census.unfinished > 0 ? census.last_unfinished : 1);
    if (census.count == 0) {
        return bz_fail(error, error_bytes,
                       "--resume: there is no '%s': only --out leaves one, and a search that has "
                       "ended removes it",
                       file->path);
    }
    if (census.unfinished > 1) {
        return bz_fail(error, error_bytes,
                       "--resume: '%s' has %u unfinished checkpoints; name one of the files: %s",
                       file->folder, census.unfinished, census.list);
    }
    return census.unfinished > 0 || census.count == 1 ||
           bz_fail(error, error_bytes,
                   "--resume: all %u campaigns in '%s' are finished; for the report of one, name "
                   "its file, as '%s'",
                   census.count, file->folder, file->path);
}

bool bz_work_file_find(struct bz_work_file *file, const char *argument, char *error,
                       size_t error_bytes) {
    struct stat status;
    if (argument[0] == '\0' || strlen(argument) > PATH_MAX - 600) {
        return bz_fail(error, error_bytes, "--resume takes the folder of a %s, and not '%.64s'",
                       file->kind, argument);
    }
    if (stat(argument, &status) == 0 && S_ISDIR(status.st_mode)) {
        snprintf(file->folder, sizeof file->folder, "%s", argument);
        return choose(file, error, error_bytes);
    }
    const char *slash = strrchr(argument, '/');
    size_t length = slash == NULL ? 0 : (size_t)(slash - argument);
    snprintf(file->path, sizeof file->path, "%s", argument);
    snprintf(file->folder, sizeof file->folder, "%.*s", length == 0 ? 1 : (int)length,
             slash == NULL ? "." : argument);
    return true;
}

bool bz_work_file_is_only(const struct bz_work_file *file) {
    struct census census;
    take_census(file, &census);
    return census.unfinished == 1;
}

/* --- writing ---------------------------------------------------------------------------------- */

void bz_work_file_begin(struct bz_work_file *file, uint64_t before_ms) {
    char partial[PATH_MAX + 16];
    if (file->path[0] != '\0') {
        snprintf(partial, sizeof partial, "%s.tmp-0", file->path);
        (void)unlink(partial); /* of a session that was killed while it wrote */
    }
    file->before_ms = before_ms;
    file->began_ns = bz_wall_ns();
    file->due_ns = file->began_ns + FIRST_NS;
}

uint64_t bz_work_file_spent_ms(const struct bz_work_file *file) {
    return file->before_ms + (bz_wall_ns() - file->began_ns) / 1000000;
}

bool bz_work_file_is_due(const struct bz_work_file *file) {
    return bz_wall_ns() >= file->due_ns;
}

bool bz_work_file_write(struct bz_work_file *file, bool (*write)(void *context, FILE *file),
                        void *context, char *error, size_t error_bytes) {
    uint64_t now_ns = bz_wall_ns();
    bool is_first = file->path[0] == '\0';
    bool has_last = !is_first && access(file->path, F_OK) == 0;
    int lock = is_first ? bz_folder_lock(file->folder) : -1;
    for (unsigned number = 1; is_first && number < BZ_WORK_FILES_MAX &&
                              bz_work_file_set_path(file, number) && !is_finished(file);
         number++) {
    }
    bool is_written = bz_file_replace_by(file->path, write, context);
    int problem = errno;
    bz_folder_unlock(lock);
    error[0] = '\0';
    if (!is_written && !file->has_failed) {
        bz_fail(error, error_bytes, "%s: cannot be written: %s%s", file->path, strerror(problem),
                !has_last ? "" : "; the last one that was written stays as it is");
    }
    if (!is_written && is_first) {
        file->path[0] = '\0';
    }
    file->is_new |= is_first && is_written;
    file->has_failed = !is_written;
    uint64_t pause_ns = (bz_wall_ns() - now_ns) * SHARE;
    file->due_ns = bz_wall_ns() + (pause_ns > INTERVAL_NS ? pause_ns : INTERVAL_NS);
    return is_written;
}

static const char *aside_path(const struct bz_work_file *file, char *path, size_t bytes) {
    snprintf(path, bytes, "%s" BZ_WORK_ASIDE, file->path);
    return path;
}

bool bz_work_file_set_aside(const struct bz_work_file *file) {
    char path[PATH_MAX + 16];
    return file->path[0] != '\0' &&
           (link(file->path, aside_path(file, path, sizeof path)) == 0 || errno == EEXIST);
}

void bz_work_file_remove(struct bz_work_file *file) {
    char path[PATH_MAX + 16];
    if (file->path[0] != '\0') {
        (void)unlink(file->path);
        (void)unlink(aside_path(file, path, sizeof path));
        file->path[0] = '\0';
    }
}

void bz_work_file_remove_new(struct bz_work_file *file) {
    if (file->is_new) {
        bz_work_file_remove(file);
    }
}
