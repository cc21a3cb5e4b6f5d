/* Text from outside: the file that holds it, words that nearly fit, messages about it. And text
 * that is written to a file as a whole. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* True if two texts are equal; NULL is equal to NULL alone. */
static inline bool bz_is(const char *a, const char *b) {
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static inline const char *bz_or(const char *text, const char *otherwise) {
    return text != NULL ? text : otherwise;
}

/* A text that is written bit by bit, and cut to fit into its array. */
struct bz_cut_text {
    char *text;
    size_t bytes;
    size_t length; /* of the whole, whether it fits or not */
};
void bz_cut_add(struct bz_cut_text *cut, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes a message, cut to fit, with '?' for control characters and for bytes that are no UTF-8,
 * and returns false. */
bool bz_fail(char *error, size_t error_bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* FNV-1a, which any other program can compute: of the text before the member "checksum" of a file.
 */
uint64_t bz_checksum(const char *text, size_t length);

/* The largest unit of time that divides `time_ns`, "ms", and how many of it there are. */
const char *bz_time_unit(uint64_t time_ns, uint64_t *count);

/* Levenshtein's distance between two words, of which at most 63 bytes count. */
size_t bz_edit_distance(const char *a, const char *b);

/* A descriptor to read a regular file, or -1 with a message that begins with `path`. A folder, a
 * pipe or a device is refused. */
int bz_file_open(const char *path, char *error, size_t error_bytes);

/* The content of a regular file; the caller frees it. NULL with a message as of bz_file_open().
 * Without memory it calls bz_lack_stop(). */
char *bz_file_read(const char *path, size_t bytes_max, size_t *length, char *error,
                   size_t error_bytes);

/* Writes a new file; an existing one is refused (EEXIST). On failure errno is set, and no file
 * stays. */
bool bz_file_create(const char *path, const char *text, size_t length);

/* Writes a temporary file beside `path` and renames it, so that `path` is complete or untouched,
 * even if the process is killed. On failure errno is set, and no partial file stays. Without memory
 * it calls bz_lack_stop(). */
bool bz_file_replace(const char *path, const char *text, size_t length);

/* True if the name is that of a device, of a pipe, or of a stream that this program prints to, such
 * as /dev/stdout. Another file must not take its name. */
bool bz_file_is_stream(const char *path);

/* For a file that a user names: bz_file_replace(), or writes to the stream. */
bool bz_file_put(const char *path, const char *text, size_t length);

/* bz_file_replace(), but the function writes the content. It returns false with errno. */
bool bz_file_replace_by(const char *path, bool (*write)(void *context, FILE *file), void *context);
