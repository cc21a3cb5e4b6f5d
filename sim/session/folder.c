#include "sim/session/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "traces/text.h"

#define NAME_TRIES_MAX 100000u

bool bz_folder_make(const char *folder) {
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

bool bz_folder_prepare(const char *folder, char *error, size_t error_bytes) {
    char probe[PATH_MAX + 32];
    if (folder[0] == '\0' || strlen(folder) > PATH_MAX - 600) {
        return bz_fail(error, error_bytes, "--out takes the name of a folder, and not '%.64s'%s",
                       folder, folder[0] == '\0' ? "" : "..., which is too long");
    }
    if (!bz_folder_make(folder)) {
        return bz_fail(error, error_bytes, "--out: cannot create the folder '%s': %s", folder,
                       strerror(errno));
    }
    /* Permissions are not enough: the file system may be read-only or full. */
    snprintf(probe, sizeof probe, "%s/.buzzer-XXXXXX", folder);
    int fd = mkstemp(probe);
    if (fd < 0) {
        return bz_fail(error, error_bytes, "--out: cannot create files in '%s': %s", folder,
                       strerror(errno));
    }
    close(fd);
    unlink(probe);
    return true;
}

static bool file_holds(const char *path, const char *text) {
    char error[BZ_TRACE_ERROR_BYTES];
    size_t length;
    char *content = bz_file_read(path, BZ_TRACE_BYTES_MAX, &length, error, sizeof error);
    bool is_same = content != NULL && length == strlen(text) && memcmp(content, text, length) == 0;
    free(content);
    return is_same;
}

void bz_folder_trace_path(const char *scenario, const char *variant, uint64_t seed,
                          const char *kind, const char *folder, unsigned number,
                          char path[PATH_MAX]) {
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
        bz_folder_trace_path(trace->scenario, trace->variant, seed, kind, folder, number, path);
        is_chosen = (lstat(path, &status) != 0 && errno == ENOENT) || file_holds(path, text);
    }
    free(text);
    return is_chosen;
}

int bz_folder_lock(const char *folder) {
    int lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock >= 0) {
        (void)flock(lock, LOCK_EX);
    }
    return lock;
}

void bz_folder_unlock(int lock) {
    if (lock >= 0) {
        close(lock);
    }
}

bool bz_folder_write_trace(const struct bz_trace *trace, uint64_t seed, const char *kind,
                           const char *folder, char path[PATH_MAX], char *error,
                           size_t error_bytes) {
    char reason[BZ_TRACE_ERROR_BYTES];
    int lock = bz_folder_lock(folder);
    snprintf(reason, sizeof reason, "no name is free in '%s'", folder);
    bool is_written = choose_path(trace, seed, kind, folder, path) &&
                      bz_trace_write(trace, path, reason, sizeof reason);
    bz_folder_unlock(lock);
    path[0] = is_written ? path[0] : '\0';
    return is_written || bz_fail(error, error_bytes, "the trace was not written: %s", reason);
}
