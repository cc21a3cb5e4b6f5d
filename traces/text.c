#include "traces/text.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "traces/lack.h"
#include "traces/utf8.h"

#define WORD_MAX 63u
#define TEMPORARY_NAMES 100u

/* Messages quote text from outside, and go to a terminal. */
static void make_printable(char *text) {
    for (size_t bytes; *text != '\0'; text += bytes) {
        uint32_t code_point;
        bytes = bz_utf8_read(text, 4, &code_point);
        if (bytes == 0 || bz_utf8_is_control(code_point)) {
            bytes = bytes == 0 ? 1 : bytes;
            memset(text, '?', bytes);
        }
    }
}

bool bz_fail(char *error, size_t error_bytes, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error, error_bytes, format, arguments);
    va_end(arguments);
    if (error_bytes > 0) {
        make_printable(error);
    }
    return false;
}

void bz_cut_add(struct bz_cut_text *cut, const char *format, ...) {
    bool has_room = cut->length < cut->bytes;
    va_list arguments;
    va_start(arguments, format);
    int written = vsnprintf(has_room ? cut->text + cut->length : NULL,
                            has_room ? cut->bytes - cut->length : 0, format, arguments);
    va_end(arguments);
    cut->length += written > 0 ? (size_t)written : 0;
}

uint64_t bz_checksum(const char *text, size_t length) {
    uint64_t checksum = UINT64_C(0xcbf29ce484222325);
    for (size_t index = 0; index < length; index++) {
        checksum = (checksum ^ (unsigned char)text[index]) * UINT64_C(0x100000001b3);
    }
    return checksum;
}

const char *bz_time_unit(uint64_t time_ns, uint64_t *count) {
    static const struct {
        uint64_t ns;
        const char *unit;
    } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
    unsigned index = 0;
    while (time_ns % units[index].ns != 0) {
        index++;
    }
    *count = time_ns / units[index].ns;
    return units[index].unit;
}

size_t bz_edit_distance(const char *a, const char *b) {
    size_t row[WORD_MAX + 1];
    size_t a_length = strnlen(a, WORD_MAX);
    size_t b_length = strnlen(b, WORD_MAX);
    for (size_t column = 0; column <= b_length; column++) {
        row[column] = column;
    }
    for (size_t line = 1; line <= a_length; line++) {
        size_t diagonal = row[0];
        row[0] = line;
        for (size_t column = 1; column <= b_length; column++) {
            size_t replaced = diagonal + (a[line - 1] != b[column - 1]);
            size_t shifted = 1 + (row[column] < row[column - 1] ? row[column] : row[column - 1]);
            diagonal = row[column];
            row[column] = replaced < shifted ? replaced : shifted;
        }
    }
    return row[b_length];
}

/* O_NONBLOCK: if a pipe replaced the file after stat(), open() does not wait for a writer. */
int bz_file_open(const char *path, char *error, size_t error_bytes) {
    struct stat status;
    bool is_there = stat(path, &status) == 0;
    int descriptor = -1;
    if (is_there && S_ISREG(status.st_mode)) {
        descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        is_there = descriptor >= 0 && fstat(descriptor, &status) == 0;
    }
    if (is_there && S_ISREG(status.st_mode)) {
        return descriptor;
    }
    if (is_there) {
        bz_fail(error, error_bytes, "%s: is %s, no regular file", path,
                S_ISDIR(status.st_mode) ? "a folder" : "a device or a pipe");
    } else {
        bz_fail(error, error_bytes, "%s: cannot be opened (%s); check the path", path,
                strerror(errno));
    }
    if (descriptor >= 0) {
        close(descriptor);
    }
    return -1;
}

/* Reads to the end of the file, which may grow meanwhile, at most to the limit. */
static char *read_all(int descriptor, size_t bytes_max, size_t *length) {
    size_t capacity = 65536;
    char *text = bz_lack_check(malloc(capacity), "the text of a file");
    *length = 0;
    while (*length <= bytes_max) {
        if (*length == capacity) {
            capacity *= 2;
            text = bz_lack_check(realloc(text, capacity), "the text of a file");
        }
        ssize_t got = read(descriptor, text + *length, capacity - *length);
        if (got == 0) {
            return text;
        }
        if (got < 0 && errno != EINTR) {
            break;
        }
        *length += got < 0 ? 0 : (size_t)got;
    }
    free(text);
    return NULL;
}

char *bz_file_read(const char *path, size_t bytes_max, size_t *length, char *error,
                   size_t error_bytes) {
    int descriptor = bz_file_open(path, error, error_bytes);
    if (descriptor < 0) {
        return NULL;
    }
    char *text = read_all(descriptor, bytes_max, length);
    if (text == NULL && *length > bytes_max) {
        bool is_small = bytes_max < 1u << 20u;
        bz_fail(error, error_bytes, "%s: larger than %zu %s, the limit", path,
                is_small ? bytes_max : bytes_max >> 20u, is_small ? "bytes" : "MiB");
    } else if (text == NULL) {
        bz_fail(error, error_bytes, "%s: cannot be read: %s", path, strerror(errno));
    }
    close(descriptor);
    return text;
}

/* --- writing ---------------------------------------------------------------------------------- */

static int create(const char *path) {
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
}

/* Creates a new file for the folder of `path`, without a name, so that it is gone if this process
 * is. -1: the file system cannot. */
static int create_nameless(const char *path) {
#ifdef O_TMPFILE
    char *folder = access("/proc/self/fd", F_OK) == 0 ? strdup(path) : NULL;
    int descriptor =
        folder == NULL ? -1 : open(dirname(folder), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    free(folder);
    return descriptor;
#else
    (void)path;
    return -1;
#endif
}

/* Gives it a name beside `path`, if it has none. False with errno. */
static bool give_name(int descriptor, const char *path, char *name, size_t name_bytes) {
    char nameless[32];
    if (name[0] != '\0') {
        return true;
    }
    snprintf(nameless, sizeof nameless, "/proc/self/fd/%d", descriptor);
    for (unsigned attempt = 0; attempt < TEMPORARY_NAMES; attempt++) {
        snprintf(name, name_bytes, "%s.tmp-%u", path, attempt);
        if (linkat(AT_FDCWD, nameless, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0) {
            return true;
        }
        if (errno != EEXIST) {
            break;
        }
    }
    name[0] = '\0';
    return false;
}

/* Creates a new file beside `path` and stores its name, "" if it has none yet. -1 with errno. */
static int create_beside(const char *path, char *name, size_t name_bytes) {
    int nameless = create_nameless(path);
    if (nameless >= 0) {
        name[0] = '\0';
        return nameless;
    }
    for (unsigned attempt = 0; attempt < TEMPORARY_NAMES; attempt++) {
        snprintf(name, name_bytes, "%s.tmp-%u", path, attempt);
        int descriptor = create(name);
        if (descriptor >= 0 || errno != EEXIST) {
            return descriptor;
        }
    }
    return -1;
}

static bool write_all(int descriptor, const char *text, size_t length) {
    while (length > 0) {
        ssize_t written = write(descriptor, text, length);
        if (written < 0 && errno != EINTR) {
            return false;
        }
        if (written > 0) {
            text += written;
            length -= (size_t)written;
        }
    }
    return true;
}

/* Makes the name of a file last, where the file system can do that. */
static void keep_name(const char *path) {
    char *folder = strdup(path);
    int descriptor =
        folder == NULL ? -1 : open(dirname(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor >= 0) {
        (void)fsync(descriptor);
        close(descriptor);
    }
    free(folder);
}

/* Closes a new file, after the function has written its content to the disk, and makes `path` its
 * name. `name` is its present name, or "". On failure no file stays, and errno says why. */
static bool fill(int descriptor, char *name, size_t name_bytes, const char *path,
                 bool (*write)(void *context, FILE *file), void *context) {
    FILE *file = fdopen(descriptor, "wb");
    bool is_written = file != NULL && write(context, file) && fflush(file) == 0 &&
                      fsync(descriptor) == 0 && give_name(descriptor, path, name, name_bytes);
    int problem = errno;
    if ((file != NULL ? fclose(file) : close(descriptor)) != 0 && is_written) {
        problem = errno;
        is_written = false;
    }
    if (is_written && strcmp(name, path) != 0 && rename(name, path) != 0) {
        problem = errno;
        is_written = false;
    }
    if (is_written) {
        keep_name(path);
    } else if (name[0] != '\0') {
        unlink(name);
    }
    errno = problem;
    return is_written;
}

bool bz_file_replace_by(const char *path, bool (*write)(void *context, FILE *file), void *context) {
    size_t name_bytes = strlen(path) + 32;
    char *name = bz_lack_check(malloc(name_bytes), "the name of a file");
    int descriptor = create_beside(path, name, name_bytes);
    bool is_written = descriptor >= 0 && fill(descriptor, name, name_bytes, path, write, context);
    int problem = errno;
    free(name);
    errno = problem;
    return is_written;
}

struct text {
    const char *bytes;
    size_t length;
};

static bool write_text(void *context, FILE *file) {
    const struct text *text = context;
    return fwrite(text->bytes, 1, text->length, file) == text->length;
}

bool bz_file_replace(const char *path, const char *text, size_t length) {
    return bz_file_replace_by(path, write_text, &(struct text){text, length});
}

bool bz_file_create(const char *path, const char *text, size_t length) {
    char name[PATH_MAX];
    int descriptor = create(path);
    snprintf(name, sizeof name, "%s", path);
    return descriptor >= 0 &&
           fill(descriptor, name, sizeof name, path, write_text, &(struct text){text, length});
}

/* The descriptor of a stream that this program prints to and that has this name; -1: none has it.
 */
static int own_stream(const struct stat *named) {
    struct stat status;
    for (int descriptor = STDOUT_FILENO; descriptor <= STDERR_FILENO; descriptor++) {
        if (fstat(descriptor, &status) == 0 && status.st_dev == named->st_dev &&
            status.st_ino == named->st_ino) {
            return descriptor;
        }
    }
    return -1;
}

bool bz_file_is_stream(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && !S_ISDIR(status.st_mode) &&
           (!S_ISREG(status.st_mode) || own_stream(&status) >= 0);
}

bool bz_file_put(const char *path, const char *text, size_t length) {
    struct stat status;
    if (!bz_file_is_stream(path)) {
        return bz_file_replace(path, text, length);
    }
    int own = stat(path, &status) == 0 ? own_stream(&status) : -1;
    if (own >= 0) { /* a file would be written from its beginning, and a socket cannot be opened */
        return fflush(NULL) == 0 && write_all(own, text, length);
    }
    int descriptor = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    bool is_written = descriptor >= 0 && write_all(descriptor, text, length);
    int problem = errno;
    if (descriptor >= 0 && close(descriptor) != 0 && is_written) {
        return false;
    }
    errno = problem;
    return is_written;
}
