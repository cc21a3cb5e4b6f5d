#include "sim/program/program_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/judge/record.h"
#include "traces/text.h"

static bool is_plain(char character) {
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9') ||
           (character != '\0' && strchr("._-/", character) != NULL);
}

/* NAME or NAME@DIGEST; `digest` 0: none. */
static bool split(const char *value, char *name, uint64_t *digest, char *error,
                  size_t error_bytes) {
    size_t length = strcspn(value, "@");
    *digest = 0;
    if (length == 0 || length >= BZ_FILE_NAME_BYTES) {
        return bz_fail(error, error_bytes,
                       "file '%.64s' has no name, or one of more than %u characters", value,
                       BZ_FILE_NAME_BYTES - 1);
    }
    for (size_t index = 0; index < length; index++) {
        if (!is_plain(value[index])) {
            return bz_fail(
                error, error_bytes,
                "file '%.*s': its name may have letters, digits and . _ - / only, so that a "
                "token can name it",
                (int)length, value);
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
        return bz_fail(error, error_bytes,
                       "file '%.64s': behind '@' stands a digest of %u hexadecimal digits", value,
                       BZ_DIGEST_DIGITS);
    }
    return true;
}

/* Byte by byte, for the same result on every machine. Never 0, which means no file. */
static uint64_t digest_of(const char *text, size_t length) {
    uint64_t digest = bz_digest_word(BZ_DIGEST_SEED, length);
    for (size_t index = 0; index < length; index++) {
        digest = bz_digest_word(digest, (unsigned char)text[index]);
    }
    return digest != 0 ? digest : 1;
}

bool bz_input_set(struct bz_program *program, const char *value, char *error, size_t error_bytes) {
    struct bz_scenario_args args = program->args;
    size_t length;
    uint64_t wanted;
    if (!split(value, args.file_name, &wanted, error, error_bytes)) {
        return false;
    }
    const struct bz_scenario_file *file = program->scenario->file;
    char *text = bz_file_read(args.file_name, BZ_FILE_BYTES_MAX, &length, error, error_bytes);
    if (text == NULL) {
        return false;
    }
    bool is_read = false;
    args.file_digest = digest_of(text, length);
    if (wanted != 0 && wanted != args.file_digest) {
        bz_fail(error, error_bytes,
                "%s: its content has changed: the run had the digest %016" PRIx64
                ", and this file has %016" PRIx64 "; restore the old file, or run the new one",
                args.file_name, wanted, args.file_digest);
    } else {
        memset(args.file, 0, sizeof args.file);
        is_read = file->read(args.file, program->variant, text, length, args.file_name, error,
                             error_bytes);
    }
    free(text);
    if (is_read) {
        program->args = args;
    }
    return is_read;
}

void bz_input_print(const struct bz_program *program, char *value, size_t value_bytes) {
    snprintf(value, value_bytes, "%s@%016" PRIx64, program->args.file_name,
             program->args.file_digest);
}
