#include "sim/run/input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/judge/record.h"
#include "sim/run/settings.h"

static bool is_plain(char character) {
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9') ||
           (character != '\0' && strchr("._-/", character) != NULL);
}

/* NAME or NAME@DIGEST; `digest` 0: none was given. */
static bool split(const char *value, char *name, uint64_t *digest, char *error,
                  size_t error_bytes) {
    size_t length = strcspn(value, "@");
    *digest = 0;
    if (length == 0 || length >= BZ_FILE_NAME_BYTES) {
        snprintf(error, error_bytes, "file '%.64s' has no name, or one of more than %u characters",
                 value, BZ_FILE_NAME_BYTES - 1);
        return false;
    }
    for (size_t index = 0; index < length; index++) {
        if (!is_plain(value[index])) {
            snprintf(error, error_bytes,
                     "file '%.*s': its name may have letters, digits and . _ - / only, so that a "
                     "token can name it",
                     (int)length, value);
            return false;
        }
    }
    memcpy(name, value, length);
    name[length] = '\0';
    if (value[length] == '\0') {
        return true;
    }
    char digits[BZ_DIGEST_DIGITS + 3];
    snprintf(digits, sizeof digits, "0x%s", value + length + 1);
    if (strlen(value + length + 1) != BZ_DIGEST_DIGITS || !bz_parse_u64(digits, digest) ||
        *digest == 0) {
        snprintf(error, error_bytes,
                 "file '%.64s': behind '@' stands a digest of %u hexadecimal digits", value,
                 BZ_DIGEST_DIGITS);
        return false;
    }
    return true;
}

/* A descriptor of a regular file, or -1 with a message. O_NONBLOCK: opening a pipe does not wait
 * for a writer, should one have taken the file's place since the look at it. */
static int open_regular(const char *name, char *error, size_t error_bytes) {
    struct stat status;
    int descriptor = -1;
    errno = 0;
    if (stat(name, &status) == 0 && S_ISREG(status.st_mode)) {
        descriptor = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (descriptor >= 0 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) {
            return descriptor;
        }
    }
    snprintf(error, error_bytes, "%s: cannot be opened: %s", name,
             errno != 0 ? strerror(errno) : "it is no regular file");
    if (descriptor >= 0) {
        close(descriptor);
    }
    return -1;
}

/* One byte more than the limit is asked for, so that a file that is too large is seen to be. */
static bool read_file(const char *name, char *text, size_t *length, char *error,
                      size_t error_bytes) {
    int descriptor = open_regular(name, error, error_bytes);
    ssize_t got = 1;
    *length = 0;
    while (descriptor >= 0 && got != 0 && *length <= BZ_FILE_BYTES_MAX) {
        got = read(descriptor, text + *length, BZ_FILE_BYTES_MAX + 1 - *length);
        if (got < 0 && errno != EINTR) {
            snprintf(error, error_bytes, "%s: cannot be read: %s", name, strerror(errno));
            close(descriptor);
            return false;
        }
        *length += got < 0 ? 0 : (size_t)got;
    }
    if (descriptor < 0) {
        return false;
    }
    close(descriptor);
    if (*length > BZ_FILE_BYTES_MAX) {
        snprintf(error, error_bytes, "%s: larger than %u bytes, the limit", name,
                 BZ_FILE_BYTES_MAX);
        return false;
    }
    return true;
}

/* By the byte, so that it is the same on every machine; never 0, which means no file. */
static uint64_t digest_of(const char *text, size_t length) {
    uint64_t digest = bz_digest_word(BZ_DIGEST_SEED, length);
    for (size_t index = 0; index < length; index++) {
        digest = bz_digest_word(digest, (unsigned char)text[index]);
    }
    return digest != 0 ? digest : 1;
}

bool bz_input_set(struct bz_program *program, const char *value, char *error, size_t error_bytes) {
    struct bz_scenario_args args = program->args;
    char text[BZ_FILE_BYTES_MAX + 1];
    size_t length;
    uint64_t wanted;
    if (!split(value, args.file_name, &wanted, error, error_bytes) ||
        !read_file(args.file_name, text, &length, error, error_bytes)) {
        return false;
    }
    args.file_digest = digest_of(text, length);
    if (wanted != 0 && wanted != args.file_digest) {
        snprintf(error, error_bytes,
                 "%s: its content has changed: what was run had the digest %016" PRIx64
                 ", and this has %016" PRIx64 "; bring the old file back, or run the new one anew",
                 args.file_name, wanted, args.file_digest);
        return false;
    }
    memset(args.file, 0, sizeof args.file);
    if (!program->scenario->file->read(args.file, program->variant, text, length, args.file_name,
                                       error, error_bytes)) {
        return false;
    }
    program->args = args;
    return true;
}

void bz_input_print(const struct bz_program *program, char *value, size_t value_bytes) {
    snprintf(value, value_bytes, "%s@%016" PRIx64, program->args.file_name,
             program->args.file_digest);
}
